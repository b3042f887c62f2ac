"""Make a network from the links of a graph file: renumber nodes, count repeated links, keep the file's ports."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import ABSENT, BANDWIDTH, COST, MOST_PARALLEL, Listing, named
from torusweep.networks.families.graph_numbers import note_missing
from torusweep.networks.link_lists import LinkKinds, link_kinds
from torusweep.networks.names import names_or_none, order_of_names
from torusweep.networks.topology import NO_PORT, Wiring
from torusweep.quantities import counted

MOST_PORTS = 2**20  # ports of a node
MOST_CLASSES = 127  # largest number of a link class, stored as int8


class Graph(NamedTuple):
    """The network in a file. Each arc is listed once; arcs are ordered by tail and port.

    tail, head  int32[A]    ends of each arc; an undirected link is two arcs
    port        int32[A]    port of each arc at its tail; without port numbers in the file, ports are in order of heads
    parallel    int32[A]    number of parallel links of each arc
    terminals   int32[T]    node of each terminal (repeated if a node has several); None = one at every node
    notes       what was changed or left out
    link_class  int8[A]     None = 0 everywhere
    width       least number of ports of a node
    classes     names of the link classes
    bandwidths, latencies   of each link class, as in `Plan`
    names, terminal_names, rate, tick, hosts_end   as in `Plan`
    latency     int32[A]    latency of each arc in cycles, if there are too many for link classes; else None
    weight      float64[A]  routing weight of each arc; None if the file gives none
    """

    nodes: int
    directed: bool
    tail: np.ndarray
    head: np.ndarray
    port: np.ndarray
    parallel: np.ndarray
    terminals: np.ndarray | None
    notes: tuple[str, ...]
    link_class: np.ndarray | None = None
    width: int = 0
    classes: tuple[str, ...] = ()
    bandwidths: tuple[Fraction, ...] = ()
    latencies: tuple[int, ...] = ()
    names: tuple[Any, ...] | None = None
    terminal_names: tuple[Any, ...] | None = None
    rate: Fraction | None = None
    tick: Fraction | None = None
    latency: np.ndarray | None = None
    weight: np.ndarray | None = None
    hosts_end: bool = False


class ListedLinks(NamedTuple):
    """Links in the file's order, between renumbered nodes, without links from a node to itself.

    tails, heads  int64[L]
    parallel      int64[L]  number of parallel links; None = 1 everywhere
    numbers       column name → number of each link, int64[L], as in `Listing.numbers`
    """

    nodes: int
    directed: bool
    tails: np.ndarray
    heads: np.ndarray
    parallel: np.ndarray | None
    numbers: dict[str, np.ndarray]


def graph_of(path: Path, listing: Listing, directed: bool) -> Graph:
    """Renumber the nodes and drop self-loops. Keep the ports if every link has them; otherwise count repeated links.

    Raises BadInput for a file without nodes or terminals, and for impossible ports or numbers of parallel links.
    """
    tails, heads, listed = (np.asarray(numbers, np.int64) for numbers in (listing.tails, listing.heads, listing.nodes))
    ids = np.unique(np.concatenate([tails, heads, listed]))
    n = len(ids)
    if not n:
        raise BadInput(f"{printable(path)}: expected links or nodes, got an empty file")
    if listing.terminals is not None and not len(listing.terminals):
        raise BadInput(
            f"{printable(path)}: expected a terminal at some node, got none; leave the numbers of terminals out to"
            " have one at every node"
        )
    notes = list(listing.notes)
    terminals = None if listing.terminals is None else np.searchsorted(ids, listing.terminals).astype(np.int32)
    names = None if listing.names is None else names_or_none(listing.names)
    if ids[-1] != n - 1:
        notes.append(f"node numbers {ids[0]} … {ids[-1]} renumbered 0 … {n - 1}, in their order")
        tails, heads = np.searchsorted(ids, tails), np.searchsorted(ids, heads)
        names = tuple(ids.tolist())
    elif names is not None and (order := order_of_names(names)) is not None:
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        tails, heads = place[tails], place[heads]
        terminals = None if terminals is None else place[terminals].astype(np.int32)
        names = names_or_none([names[node] for node in order.tolist()])
    loops = int((tails == heads).sum())
    keep = slice(None)
    if loops:
        notes.append(f"{counted(loops, 'link')} from a node to itself left out")
        keep = tails != heads
        tails, heads = tails[keep], heads[keep]
    numbers = {name: column[keep] for name, column in listing.numbers.items()}
    links = _multiplicity(path, numbers, len(tails))
    if links is not None:
        _check_said(path, listing, "multiplicity", numbers["multiplicity"], notes)
    if "port" in numbers and not (missing := _without_ports(n, tails, heads, numbers, directed)):
        graph = _with_ports(path, listing, ListedLinks(n, directed, tails, heads, links, numbers), terminals, notes)
    else:
        notes += [f"port numbers not read: {missing}"] if "port" in numbers else []
        graph = _counted(path, listing, ListedLinks(n, directed, tails, heads, links, numbers), terminals, notes)
    return graph._replace(
        names=names,
        terminal_names=listing.terminal_names,
        rate=listing.units.get(BANDWIDTH),
        tick=listing.units.get("latency"),
        hosts_end=listing.hosts_end,
    )


def _counted(path: Path, listing: Listing, links: ListedLinks, terminals: np.ndarray | None, notes: list[str]) -> Graph:
    """Merge repeated links: list each arc once, with the number of times that the file lists it.

    Raises BadInput if links between the same nodes have different bandwidths, latencies or weights.
    """
    n, directed, tails, heads = links.nodes, links.directed, links.tails, links.heads
    arcs, parallel = np.unique(tails * n + heads, return_counts=True)
    if links.parallel is not None:
        place = np.searchsorted(arcs, tails * n + heads)
        parallel = np.bincount(place, links.parallel, len(arcs)).astype(np.int64)
    if not directed:
        # a link may be listed from one end or from both; the larger count is the number of parallel links
        backwards = arcs % n * n + arcs // n
        both = np.isin(arcs, backwards)
        if both.any() and not listing.mirrored:
            notes.append(f"{counted(int(both.sum()) // 2, 'link')} listed from both ends, read once")
        every = np.concatenate([arcs, backwards])
        order = np.argsort(every, kind="stable")
        arcs, first = np.unique(every[order], return_index=True)
        parallel = np.maximum.reduceat(np.concatenate([parallel, parallel])[order], first) if len(arcs) else parallel
    repeated = int((parallel > 1).sum()) // (1 if directed else 2)
    if repeated:
        reading = "read as parallel links" if listing.parallel else "read once, as in BookSim2"
        notes.append(f"{counted(repeated, 'link')} repeated, {reading}")
    if not listing.parallel:
        parallel = np.ones_like(parallel)
    kinds, latency, weight = _numbers_of_arcs(path, listing, links, arcs, notes)
    degrees = np.bincount(arcs // n, minlength=n)
    port = np.arange(len(arcs)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    graph = Graph(
        n,
        directed,
        (arcs // n).astype(np.int32),
        (arcs % n).astype(np.int32),
        port.astype(np.int32),
        parallel.astype(np.int32),
        terminals,
        tuple(notes),
    )._replace(latency=latency, weight=weight)
    if kinds is None:
        return graph
    classed = graph._replace(link_class=kinds.link_class, classes=kinds.classes)
    return classed._replace(bandwidths=kinds.bandwidths, latencies=kinds.latencies)


def _numbers_of_arcs(
    path: Path, listing: Listing, links: ListedLinks, arcs: np.ndarray, notes: list[str]
) -> tuple[LinkKinds | None, np.ndarray | None, np.ndarray | None]:
    """Return (kind, latency, weight) of arcs, by ascending tail · N + head; None for each that the file lacks."""
    told = [name for name in (BANDWIDTH, "latency", COST) if name in links.numbers]
    if not told or not len(arcs):
        return None, None, None
    n = links.nodes
    low, high = (links.tails, links.heads) if links.directed else np.sort([links.tails, links.heads], axis=0)
    pair = np.unique(low * n + high, return_inverse=True)[1].reshape(-1)
    numbers = {name: _said(links.numbers[name], pair) for name in told}
    for name in told:
        _check_said(path, listing, name, numbers[name], notes)
    ends = [(links.tails, links.heads)] if links.directed else [(links.tails, links.heads), (links.heads, links.tails)]
    place = np.concatenate([np.searchsorted(arcs, tails * n + heads) for tails, heads in ends])

    def of_arcs(column: np.ndarray | None) -> np.ndarray | None:
        if column is None:
            return None
        column = np.tile(column, len(ends))
        found = np.zeros(len(arcs), column.dtype)
        found[place] = column
        differ = np.flatnonzero(found[place] != column)
        if len(differ):
            tail, head = divmod(int(arcs[place[differ[0]]]), n)
            raise BadInput(
                f"{printable(path)}: expected equal {_listed(told)} of links between the same nodes, got different ones"
                f" between nodes {tail} and {head}; make them equal"
            )
        return found

    weight = of_arcs(numbers.get(COST))
    if told == [COST]:
        return None, None, weight
    kinds = _kinds(path, np.zeros(len(links.tails), np.int64), ("link",), numbers)
    found = of_arcs(kinds.link_class)
    assert found is not None
    return kinds._replace(link_class=found), of_arcs(kinds.latency), weight


def _listed(told: list[str]) -> str:
    """Return the names of the given columns for a message, such as "bandwidths and latencies"."""
    return " and ".join({BANDWIDTH: "bandwidths", "latency": "latencies", COST: "weights"}[name] for name in told)


def _check_said(path: Path, listing: Listing, name: str, column: np.ndarray, notes: list[str]) -> None:
    """Note or refuse (`note_missing`) links without a value in column `name`, unless the format makes it optional."""
    missing = int(((column == ABSENT) | (column != column)).sum())
    if name not in listing.usual:
        with named(path):
            note_missing(name, missing, name in listing.units, notes)


def _said(column: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Fill in missing values from other links between the same two nodes; equal `pair` means the same nodes."""
    known = np.full(int(pair.max(initial=-1)) + 1, column.dtype.type(ABSENT))
    np.fmax.at(known, pair, column)
    none = np.isnan(column) if column.dtype.kind == "f" else column == ABSENT
    return np.where(none, known[pair], column)


def _kinds(path: Path, link_class: np.ndarray, classes: tuple[str, ...], numbers: dict[str, np.ndarray]) -> LinkKinds:
    """Return `link_kinds` of the file's links, with the file's name before any error."""
    try:
        return link_kinds(link_class, classes, numbers.get(BANDWIDTH), numbers.get("latency"))
    except BadInput as refusal:
        raise BadInput(f"{printable(path)}: {refusal}") from None


def _multiplicity(path: Path, numbers: dict[str, np.ndarray], links: int) -> np.ndarray | None:
    """Return int64[L]: number of parallel links of each listed link; None for 1 everywhere."""
    column = numbers.get("multiplicity")
    if column is None or not links:
        return None
    parallel = np.where(column == ABSENT, 1, column)
    if parallel.min() < 1 or parallel.sum() > MOST_PARALLEL:
        got = int(parallel.min()) if parallel.min() < 1 else f"{parallel.sum():,} in all"
        raise BadInput(f"{printable(path)}: expected multiplicities of 1 or more, below 2³¹ in all, got {got}")
    return parallel


def _without_ports(
    nodes: int, tails: np.ndarray, heads: np.ndarray, numbers: dict[str, np.ndarray], directed: bool
) -> str:
    """Return the reason why the links' port numbers cannot be used; "" if they can."""
    for name in ("port",) if directed else ("port", "target_port"):
        column = numbers.get(name)
        if column is None:
            return f"links have no {name}"
        if (absent := int((column == ABSENT).sum())) > 0:
            return f"{counted(absent, 'link')} without {name}"
    pairs = tails * nodes + heads if directed else np.minimum(tails, heads) * nodes + np.maximum(tails, heads)
    if len(np.unique(pairs)) < len(pairs):
        return "two links join the same nodes; list them as one link with a multiplicity"
    return ""


def _with_ports(
    path: Path, listing: Listing, links: ListedLinks, terminals: np.ndarray | None, notes: list[str]
) -> Graph:
    """Make the network with the ports, link classes, bandwidths and latencies in the file."""
    numbers = links.numbers
    classes = numbers.get("link_class", np.zeros(len(links.tails), np.int64))
    ends = [(links.tails, links.heads, numbers["port"], classes)]
    if not links.directed:
        far = numbers.get("target_link_class", np.full(len(classes), ABSENT))
        ends.append((links.heads, links.tails, numbers["target_port"], np.where(far == ABSENT, classes, far)))
    tail, head, port, kind = (np.concatenate(parts) for parts in zip(*ends))
    kind = np.where(kind == ABSENT, 0, kind)
    parallel = np.ones(len(links.tails), np.int64) if links.parallel is None else links.parallel
    parallel = np.concatenate([parallel] * len(ends))
    width = max(int(port.max(initial=-1)) + 1, listing.width or 0)
    if width > MOST_PORTS:
        raise BadInput(f"{printable(path)}: expected at most {MOST_PORTS:,} ports of a node, got {width:,}")
    if kind.max(initial=0) > MOST_CLASSES:
        raise BadInput(f"{printable(path)}: expected link classes of 0 … {MOST_CLASSES}, got {kind.max()}")
    names, kinds, latency = listing.classes, None, None
    if BANDWIDTH in numbers or "latency" in numbers:
        every = {name: np.tile(numbers[name], len(ends)) for name in (BANDWIDTH, "latency") if name in numbers}
        kinds = _kinds(path, kind, names, every)
        kind, names = kinds.link_class, kinds.classes
        latency = kinds.latency
    weight = numbers.get(COST)
    for name in (BANDWIDTH, "latency", COST, "link_class"):
        if name in numbers:
            _check_said(path, listing, name, numbers[name], notes)
    place = tail * width + port
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if len(twice):
        at = order[twice[0]]
        raise BadInput(
            f"{printable(path)}: expected one link at each port of a node,"
            f" got another at port {port[at]} of node {tail[at]}"
        )
    graph = Graph(
        links.nodes,
        links.directed,
        tail[order].astype(np.int32),
        head[order].astype(np.int32),
        port[order].astype(np.int32),
        parallel[order].astype(np.int32),
        terminals,
        tuple(notes),
        kind[order].astype(np.int8),
        width,
        names,
    )._replace(
        latency=None if latency is None else latency[order],
        weight=None if weight is None else np.tile(weight, len(ends))[order],
    )
    return graph if kinds is None else graph._replace(bandwidths=kinds.bandwidths, latencies=kinds.latencies)


def degree(found: Graph) -> int:
    """Return the number of ports that every node gets, including unused ports."""
    return max(found.width, int(found.port.max(initial=-1)) + 1)


def wire(found: Graph) -> Wiring:
    """Return the arrays of the network: one row of ports per node."""
    shape = found.nodes, degree(found)

    def table(column: np.ndarray | None, empty: int = 0) -> np.ndarray | None:
        if column is None:
            return None
        numbers = np.full(shape, empty, column.dtype)
        numbers[found.tail, found.port] = column
        return numbers

    ports = np.full(shape, NO_PORT, np.int32)
    ports[found.tail, found.port] = found.head
    link_class = np.zeros(shape, np.int8) if found.link_class is None else table(found.link_class)
    assert link_class is not None
    capacity = table(found.parallel) if (found.parallel > 1).any() else None
    return Wiring(ports, link_class, capacity, found.terminals, table(found.latency), table(found.weight))
