"""Make a network from a list of links in memory.

Links with equal class, bandwidth and latency form a link class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
from torusweep_kernels.adjacency import MOST_LINKS, Rows, rows_of_links, table_of_rows

from torusweep.errors import BadInput, Refused
from torusweep.networks.realisation import realise
from torusweep.networks.topology import NO_PORT, Plan, Topology, Wiring, default_memory
from torusweep.quantities import counted

WRITTEN = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?|[0-9]{1,12}/[0-9]{1,12}")  # a bandwidth written as text
MOST_BANDWIDTH = 2**20  # flits a cycle
MOST_DENOMINATOR = 10**6  # of a bandwidth
MOST_LATENCY = 10**9  # cycles
MOST_CLASSES = 128  # link classes are stored as int8
Value = TypeVar("Value")
NODE_BYTES = 64  # memory of a node without links, as in Plan.bytes
MOST_NODES = 2**31 - 1


class LinkKinds(NamedTuple):
    """Link classes: one for each combination of class, bandwidth and latency that occurs.

    link_class             int8[L]
    classes                names, as in `Plan`
    bandwidths, latencies, rate, tick  as in `Plan`
    latency                int32[L]  cycles of each link if there are too many combinations for `latencies`; else None
    """

    link_class: np.ndarray
    classes: tuple[str, ...]
    bandwidths: tuple[Fraction, ...]
    latencies: tuple[int, ...]
    rate: Fraction | None = None
    tick: Fraction | None = None
    latency: np.ndarray | None = None


def bandwidth_of(value: float | str) -> Fraction:
    """Return an exact bandwidth, in flits a cycle, from a fraction "25/12" or from a number.

    The simplest fraction near a number is taken: 0.1 gives 1/10. Raises BadInput for anything else, or out of range.
    """
    exact = Fraction(0)
    with suppress(ValueError, OverflowError, ZeroDivisionError):
        if not isinstance(value, str):
            exact = Fraction(value).limit_denominator(MOST_DENOMINATOR)
        elif WRITTEN.fullmatch(value):
            exact = Fraction(value)
    if not 0 < exact <= MOST_BANDWIDTH or exact.denominator > MOST_DENOMINATOR:
        raise BadInput(
            f'bandwidths: expected flits a cycle above 0, up to {MOST_BANDWIDTH:,}, such as 2, 0.5 or "25/12", with a'
            f" denominator up to 10⁶, got {str(value)[:40]!r}"
        )
    return exact


def of_classes(values: Sequence[Value], classes: int) -> tuple[Value, ...]:
    """Return one value per class. A single value is repeated for all classes; () if every value is 1."""
    return () if all(value == 1 for value in values) else tuple(values) * (classes // len(values))


def link_kinds(
    link_class: np.ndarray, classes: tuple[str, ...], bandwidth: np.ndarray | None, latency: np.ndarray | None
) -> LinkKinds:
    """Make link classes from the class, bandwidth and latency of each link.

    link_class  int[L]      class of each link, kept if all its links have one bandwidth and latency
    classes     names of these classes
    bandwidth   float64[L]  flits a cycle of each link; NaN and −1 mean 1. None: 1 for all links
    latency     int64[L]    cycles of each link; −1 means 1. None: 1 for all links

    Raises BadInput for numbers out of range, and for too many different numbers.
    """
    links = len(link_class)
    widths = np.ones(links) if bandwidth is None else np.where(np.isnan(bandwidth) | (bandwidth == -1), 1.0, bandwidth)
    cycles = np.ones(links, np.int64) if latency is None else np.where(latency == -1, 1, latency).astype(np.int64)
    if links and not 1 <= cycles.min() <= cycles.max() <= MOST_LATENCY:
        wrong = cycles.min() if cycles.min() < 1 else cycles.max()
        raise BadInput(f"latency: expected cycles of 1 … {MOST_LATENCY:,} of every link, got {wrong:,}")
    known, width = np.unique(widths, return_inverse=True)
    if len(known) > MOST_CLASSES:
        raise BadInput(f"bandwidth: expected at most {MOST_CLASSES} different ones, got {len(known):,}; round them")
    exact = [bandwidth_of(value) for value in known.tolist()]
    table = np.column_stack([np.asarray(link_class, np.int64), width.reshape(-1), cycles])
    if len(np.unique(table, axis=0)) > MOST_CLASSES and len(np.unique(cycles)) > 1:
        return link_kinds(link_class, classes, bandwidth, None)._replace(latency=cycles.astype(np.int32))
    kinds, member = np.unique(table, axis=0, return_inverse=True)
    old = kinds[:, 0].tolist()
    if len(set(old)) == len(old):  # each class has one bandwidth and one latency
        number = max(len(classes), 1 + max(old, default=0))
        of_class = {kind: (exact[place], cycle) for kind, place, cycle in kinds.tolist()}
        pairs = [of_class.get(kind, (Fraction(1), 1)) for kind in range(number)]
        names, found = classes, np.asarray(link_class, np.int8)
    else:
        if len(kinds) > MOST_CLASSES:
            raise BadInput(
                f"expected at most {MOST_CLASSES} kinds of links, of equal class and bandwidth, got {len(kinds):,};"
                " round their bandwidths"
            )
        pairs = [(exact[place], cycle) for _, place, cycle in kinds.tolist()]
        names = tuple(
            f"{classes[kind] if kind < len(classes) else kind}, {width} flits a cycle, {cycle} cycles"
            for kind, (width, cycle) in zip(old, pairs)
        )
        found = member.reshape(-1).astype(np.int8)
    bandwidths, latencies = zip(*pairs) if pairs else ((), ())
    return LinkKinds(found, names, of_classes(bandwidths, len(pairs)), of_classes(latencies, len(pairs)))


def network_of_links(
    links: np.ndarray,
    nodes: int,
    *,
    directed: bool,
    terminals: np.ndarray | None = None,
    name: str | None = None,
    notes: Sequence[str] = (),
    kinds: LinkKinds | None = None,
    names: tuple[Any, ...] | None = None,
    memory: int | None = None,
) -> Topology:
    """Make a network from a list of links. A node's ports are in the order of its neighbours' numbers.

    links      int32[E, 2] or int64[E, 2], the two ends of each link, 0 … N − 1. Links from a node to itself are left
               out; repeated links are parallel links; an undirected link that is listed from both ends is one link
    directed   whether each link leads only from its first end to its second
    terminals  int32[T], node of each terminal; None: one terminal at every node
    name       name of the network in tables; by default graph(nodes=N, links=E)
    notes      remarks that the network's tables carry
    kinds      classes of the links, with bandwidths and latencies; None: all links are alike
    names      names of the nodes; None: nodes are named by their numbers
    memory     limit in bytes; None for half of the machine's memory
    Raises BadInput if links between the same two nodes are of different kinds, Refused if the table of ports needs
    more memory.
    """
    limit = default_memory() if memory is None else memory
    _check_size(nodes, len(links), limit)
    rows = rows_of_links(np.ascontiguousarray(links), nodes, directed=directed)
    degree, spelling = int(rows.degree.max(initial=0)), name or f"graph(nodes={nodes}, links={rows.links})"
    plan = Plan(
        nodes=nodes,
        degree=degree,
        radices=(nodes,),
        directed=directed,
        wire=lambda: wiring,
        classes=("link",) if kinds is None else kinds.classes,
        bandwidths=() if kinds is None else kinds.bandwidths,
        latencies=() if kinds is None else kinds.latencies,
        notes=(*notes, *_remarks(rows)),
        names=names,
        rate=None if kinds is None else kinds.rate,
        tick=None if kinds is None else kinds.tick,
        link_latencies=kinds is not None and kinds.latency is not None,
    )
    if plan.bytes > limit:
        raise Refused(
            f"expected a graph whose table of nodes × ports fits into {limit / 2**30:.1f} GiB, got {nodes:,} nodes, the"
            f" busiest with {degree:,} links: about {plan.bytes / 2**30:.1f} GiB; choose a graph of more equal degrees"
        )
    ports, capacity = table_of_rows(rows)
    del rows  # which take as much memory as the table
    # if all links have the same class: one number, broadcast to the shape of the table
    link_class, latency = np.broadcast_to(np.int8(0), ports.shape), None
    if kinds is not None and len(kinds.classes) > 1:
        link_class = _numbers_of_ports(ports, links, kinds.link_class, directed)
    if kinds is not None and kinds.latency is not None:
        latency = _numbers_of_ports(ports, links, kinds.latency, directed)
    wiring = Wiring(ports, link_class, capacity, terminals, latency)
    return realise(spelling, "graph", plan, limit)


def _check_size(nodes: int, links: int, limit: int) -> None:
    """Raise Refused for more nodes or links than fit into a limit of bytes."""
    most = min(MOST_NODES, limit // NODE_BYTES)
    if nodes > most:
        raise Refused(
            f"expected at most {most:,} nodes, which fit into {limit / 2**30:.1f} GiB, got {nodes:,}; choose a smaller"
            " graph, or number its nodes without gaps"
        )
    if links > MOST_LINKS:
        raise Refused(f"expected at most {MOST_LINKS:,} links, got {links:,}; choose a smaller graph")


def _numbers_of_ports(ports: np.ndarray, links: np.ndarray, numbers: np.ndarray, directed: bool) -> np.ndarray:
    """Return each channel's value, [N, P], from its link's value. Raises BadInput if parallel links differ."""
    nodes = len(ports)
    tail, head = links[:, 0].astype(np.int64), links[:, 1].astype(np.int64)
    key, kind = tail * nodes + head, numbers
    if not directed:
        key, kind = np.append(key, head * nodes + tail), np.append(kind, kind)
    order = np.lexsort((kind, key))
    key, kind = key[order], kind[order]
    differ = np.flatnonzero((np.diff(key) == 0) & (np.diff(kind) != 0))
    if len(differ):
        u, v = divmod(int(key[differ[0]]), nodes)
        raise BadInput(
            "expected equal bandwidths and latencies of links between the same nodes, got different ones between"
            f" nodes {u} and {v}; make them equal"
        )
    found = np.zeros(ports.shape, numbers.dtype)
    at, port = np.nonzero(ports != NO_PORT)
    found[at, port] = kind[np.searchsorted(key, at * np.int64(nodes) + ports[at, port])]
    return found


def _remarks(rows: Rows) -> list[str]:
    found = []
    if rows.loops:
        found.append(f"{counted(rows.loops, 'link')} from a node to itself left out")
    if rows.both:
        found.append(f"{counted(rows.both, 'link')} listed from both ends, read once")
    if rows.repeated:
        found.append(f"{counted(rows.repeated, 'link')} repeated, read as parallel links")
    return found
