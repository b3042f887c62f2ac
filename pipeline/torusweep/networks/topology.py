"""Define `Plan`, the description of a network without arrays, and `Topology`, its arrays.

A family (networks/families/) is a function from parameters to a `Plan`. It checks the constraints of
the paper and computes the numbers of nodes and ports, so that a sweep can count a million designs, or
refuse a network of 10¹² nodes, without allocating memory. `Plan.wire` makes the arrays.

Numbering: dimension 0 is x, and x varies fastest: index = a_0 + k_0 (a_1 + k_1 (a_2 + …)).
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput

NO_PORT = -1


@dataclass(frozen=True)
class Whole:
    """The range and meaning of an integer parameter, as in `Annotated[int, Whole(2, …)]`."""

    minimum: int
    meaning: str
    maximum: int | None = None

    def contains(self, value: float) -> bool:
        return value >= self.minimum and (self.maximum is None or value <= self.maximum)

    def check(self, name: str, value: Any) -> None:
        """Raise BadInput for a value of the parameter `name` that is out of range."""
        if not self.contains(value):
            raise BadInput(f"{name}={value}: expected {self.range()} ({self.meaning})")

    def range(self) -> str:
        return f"≥ {self.minimum:,}" if self.maximum is None else f"{self.minimum:,} … {self.maximum:,}"


@dataclass(frozen=True)
class Number(Whole):
    """The range and meaning of a float parameter, as in `Annotated[float, Number(0, …)]`.

    open   whether both ends are excluded
    above  whether the minimum is excluded
    """

    open: bool = False
    above: bool = False

    def contains(self, value: float) -> bool:
        excluded = (self.minimum, self.maximum) if self.open else (self.minimum,) if self.above else ()
        return isfinite(value) and super().contains(value) and value not in excluded

    def range(self) -> str:
        if self.open or self.above:
            most = "" if self.maximum is None else f" and {'<' if self.open else '≤'} {self.maximum:,}"
            return f"> {self.minimum}{most}"
        return super().range()


@dataclass(frozen=True)
class Meaning:
    """The meaning of a parameter that is neither an integer nor a float, as in `Annotated[bool, Meaning("…")]`."""

    meaning: str


class Wiring(NamedTuple):
    """The arrays of a network before they are checked.

    ports       int32[N, P]    node at the other end of each port, -1 = no link
    link_class  int8[N, P]     link class of each port: its dimension, or hierarchy level, or 0
    capacity    int32[N, P] or int8[N, P]   number of parallel links of each channel; None = 1 everywhere
    terminals   int32[T]       node of each terminal; None = one terminal at each node
    latency     int32[N, P]    cycles of each channel, if link classes cannot hold them; None = those of the classes
    weight      float64[N, P]  cost of each channel for routing by weights; None = the network gives none
    """

    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None = None
    terminals: np.ndarray | None = None
    latency: np.ndarray | None = None
    weight: np.ndarray | None = None


class Wirings(NamedTuple):
    """The arrays of B networks of one size.

    ports       int32[B, N, P]         as in `Wiring`; a network with fewer ports has no links at the last ports
    link_class  int8[B, N, P]
    capacity    int32[B, N, P] | None
    terminals   int32[B, N] | None     number of terminals at each node; None = one at each
    refused     place of each network that cannot exist → why its parameters are refused
    """

    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray | None
    refused: dict[int, str]


def no_symmetries() -> list[np.ndarray]:
    return []


@dataclass(frozen=True)
class Plan:
    """A network without its arrays.

    nodes       number of nodes
    degree      largest number of ports of a node
    radices     sides of the address space, x first; their product is `nodes`
    wire        function that makes the arrays
    directed    whether links have one direction
    symmetries  function that returns generators of a group of automorphisms, each a permutation int32[N] (image of each
                node); they are verified before use, so that a wrong one is an error and not a wrong table
    bisection   exact bisection width in links; None if no theorem gives it
    bisection_source   the theorem that gives it
    classes     names of the link classes, for pictures and tables
    bandwidths  flits a cycle of one link of each class; () = 1 each
    latencies   cycles that a flit takes over a link of each class; () = 1 each
    link_latencies   whether the arrays have a latency for each link, instead of one for each class
    weighted    whether the arrays have a routing weight for each link
    hosts_end   True: a node with terminals is a host, which forwards no packets, and sends and receives at the rate of
                its own links. False: every node forwards, and a terminal sends one flit a cycle
    notes       remarks for the user, such as what was left out of a file, or which links failed
    structure   construction of the network, for the routings that depend on it: a Lattice, a Hierarchy, …
    names       names of nodes in the user's file or graph (torusweep.networks.names); None: nodes have numbers only
    terminal_names   names of terminals, if the file has other names for them than for their nodes
    whole       the network before its faults; its routings are kept where their links remain. None without faults
    failed      upper bound of the number of links that its faults remove
    rate        bits a second that one flit a cycle stands for; None if the network does not say
    tick        seconds that a latency of 1 stands for; None if the network does not say
    terminals   number of terminals, if a family's parameters give it; None: one at each node, or as the arrays say
    joined      whether, for all parameters, every node reaches every other, and `terminals` counts the terminals, so
                that facts about a traffic need no arrays; False if the construction does not show it
    unequal     whether some nodes have more terminals than others
    """

    nodes: int
    degree: int
    radices: tuple[int, ...]
    wire: Callable[[], Wiring]
    directed: bool = False
    symmetries: Callable[[], Sequence[np.ndarray]] = no_symmetries
    bisection: int | None = None
    bisection_source: str = ""
    classes: tuple[str, ...] = ()
    bandwidths: tuple[Fraction, ...] = ()
    latencies: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    structure: object | None = None
    whole: Plan | None = None
    failed: int = 0
    joined: bool = False
    names: tuple[Any, ...] | None = None
    terminal_names: tuple[Any, ...] | None = None
    rate: Fraction | None = None
    tick: Fraction | None = None
    link_latencies: bool = False
    weighted: bool = False
    hosts_end: bool = False
    terminals: int | None = None
    unequal: bool = False

    @property
    def one_each(self) -> bool:
        """Whether every node has one terminal and reaches every other node, as `joined` shows."""
        return self.joined and not self.unequal and self.terminals in (None, self.nodes)

    @property
    def bytes(self) -> int:
        """Approximate memory, in bytes, of the arrays and one breadth-first search."""
        return self.nodes * (self.degree * 16 + 64) + 16 * (self.terminals or 0)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle, which cannot store functions: the arrays that they make replace them."""
        return vars(self) | {"wire": partial(Wiring, *self.wire()), "symmetries": partial(list, self.symmetries())}

    def class_name(self, number: int) -> str:
        """Return the name of a link class, or its number as text if the family gives no name."""
        return self.classes[number] if number < len(self.classes) else str(number)


@dataclass(frozen=True, eq=False)
class Topology:
    """A network as checked arrays, made by `torusweep.networks.families.build`.

    The arrays are as in `Wiring`: ports int32[N, P], link_class int8[N, P], capacity int32[N, P], int8[N, P] or
    None, terminals int32[T], link_latency int32[N, P] or None, weight float64[N, P] or None. A node may have fewer
    than P links; -1 may occur anywhere in its row. `capacity` is the number of parallel links, and `bandwidth` the
    flits per cycle that these carry together.
    """

    spelling: str
    family: str
    plan: Plan
    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray
    link_latency: np.ndarray | None = None
    weight: np.ndarray | None = None

    @property
    def nodes(self) -> int:
        return len(self.ports)

    @property
    def directed(self) -> bool:
        return self.plan.directed

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64[N]: number of links that leave each node, counting each of several parallel links."""
        present = self.ports != NO_PORT
        return (present if self.capacity is None else np.where(present, self.capacity, 0)).sum(axis=1, dtype=np.int64)

    @cached_property
    def bandwidth(self) -> np.ndarray | None:
        """float64[N, P]: flits a cycle of each channel, parallel links together; None = 1 everywhere."""
        if not self.plan.bandwidths:
            return None if self.capacity is None else self.capacity.astype(np.float64)
        one = self._by_class(np.array([float(width) for width in self.plan.bandwidths]))
        return one if self.capacity is None else one * self.capacity

    @cached_property
    def latency(self) -> np.ndarray | None:
        """int16[N, P], or int32 for long latencies: cycles that a flit takes over each channel; None = 1 everywhere."""
        if self.link_latency is not None:
            return self.link_latency
        cycles = self.plan.latencies
        return self._by_class(np.array(cycles, np.int16 if max(cycles) < 1 << 15 else np.int32)) if cycles else None

    @cached_property
    def kinds(self) -> np.ndarray | None:
        """int32[N, P]: number of each channel's kind, 0 = no channel; None = all channels are alike.

        Channels of one kind have the same number of parallel links, with equal bandwidth, latency and weight.
        """
        links = self.links_by_class
        names = list(dict.fromkeys(links))
        classes = np.array([1 + names.index(link) for link in links], np.int32)
        own = [numbers for numbers in (self.link_latency, self.weight) if numbers is not None]
        if len(names) == 1 and not own:
            return self.capacity
        kind = self._by_class(classes)
        if self.capacity is None and not own:
            return kind
        own += [kind] if self.capacity is None else [kind, self.capacity]
        _, numbered = np.unique(np.stack([each.ravel() for each in own], axis=1), axis=0, return_inverse=True)
        return np.where(self.ports == NO_PORT, 0, numbered.reshape(self.ports.shape) + 1).astype(np.int32)

    @cached_property
    def ends(self) -> np.ndarray | None:
        """bool[N]: whether each node is a host that forwards no packets; None if this affects no path.

        That is so if all nodes forward, or if every host has a single neighbour and so nothing to forward.
        """
        if not self.plan.hosts_end:
            return None
        hosts = np.zeros(self.nodes, bool)
        hosts[self.terminals] = True
        tail, head, _ = self.arcs
        into, out = hosts[head], hosts[tail]
        entered, left = (np.bincount(own, minlength=self.nodes) for own in (head[into], tail[out]))
        before = np.bincount(head[into], tail[into], self.nodes)
        after = np.bincount(tail[out], head[out], self.nodes)
        alone = (entered == 1) & (left == 1) & (before == after)
        return hosts if (hosts & (entered > 0) & (left > 0) & ~alone).any() else None

    @property
    def links_by_class(self) -> list[tuple[Fraction, int]]:
        """A list of (bandwidth, latency) of one link of each class."""
        classes = max(len(self.plan.classes), 1, len(self.plan.bandwidths), len(self.plan.latencies))
        widths = self.plan.bandwidths or (Fraction(1),) * classes
        return list(zip(widths, self.plan.latencies or (1,) * classes, strict=True))

    def class_name(self, number: int) -> str:
        """Return the name of a link class, or its number as text if the family gives no name."""
        return self.plan.class_name(number)

    def load_of(self, flits: np.ndarray) -> np.ndarray:
        """Return the load of each channel, float64[…, N, P]: its flits a cycle, divided by its bandwidth."""
        return flits if self.bandwidth is None else flits / np.where(self.bandwidth > 0, self.bandwidth, 1.0)

    def _by_class(self, of_class: np.ndarray) -> np.ndarray:
        """Return [N, P] of the dtype of `of_class`: the entry of each channel's link class, 0 = no channel."""
        return np.where(self.ports == NO_PORT, of_class.dtype.type(0), of_class[self.link_class])

    @cached_property
    def works(self) -> np.ndarray:
        """bool[N]: whether each node has a link or a terminal; all other nodes have failed."""
        alive = self.degrees > 0
        alive[self.ports[self.ports != NO_PORT]] = True
        alive[self.terminals] = True
        return alive

    @cached_property
    def links(self) -> int:
        """Number of links; an undirected link counts once."""
        arcs = int(self.degrees.sum())
        return arcs if self.directed else arcs // 2

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tail int32[A], head int32[A], port int32[A]) of every directed channel, ordered by node and port."""
        tail, port = np.nonzero(self.ports != NO_PORT)
        return tail.astype(np.int32), self.ports[tail, port], port.astype(np.int32)

    def addresses(self) -> np.ndarray:
        """Return int32[N, K]: the digits of every node, x first."""
        return addresses(self.plan.radices)


@cache
def default_memory() -> int:
    """Return the default limit on a network's memory, in bytes: half of what the machine and `ulimit` allow."""
    import psutil  # takes long to import

    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min([psutil.virtual_memory().total, *(one for one in limits if one != resource.RLIM_INFINITY)]) // 2


# --- addresses ---------------------------------------------------------------------------------


def addresses(radices: Sequence[int]) -> np.ndarray:
    """Return int32[N, K]: the digits of every node; digit 0 (x) varies fastest."""
    grids = np.indices(tuple(reversed(radices)), dtype=np.int32)
    return np.ascontiguousarray(grids[::-1].reshape(len(radices), -1).T)


def node_index(digits: np.ndarray, radices: Sequence[int]) -> np.ndarray:
    """Return int32[…]: node numbers of digits int[…, K], each taken modulo its radix."""
    index = np.zeros(digits.shape[:-1], dtype=np.int64)
    for dimension in reversed(range(len(radices))):
        index = index * radices[dimension] + digits[..., dimension] % radices[dimension]
    return index.astype(np.int32)


def simple_graph(ports: np.ndarray, link_class: np.ndarray) -> Wiring:
    """Drop self-loops and repeated links between two nodes (radix 1 and 2), then unused ports."""
    ports = ports.copy()
    ports[ports == np.arange(len(ports), dtype=ports.dtype)[:, None]] = NO_PORT
    for port in range(1, ports.shape[1]):
        repeated = (ports[:, :port] == ports[:, port, None]).any(axis=1)
        ports[repeated, port] = NO_PORT
    used = (ports != NO_PORT).any(axis=0)
    return Wiring(np.ascontiguousarray(ports[:, used]), np.ascontiguousarray(link_class[:, used]))


# --- parameters --------------------------------------------------------------------------------


def require(condition: bool, parameter: str, value: object, needs: str, why: str) -> None:
    """Raise BadInput with the text 'parameter=value: expected needs; why' unless `condition` holds."""
    if not condition:
        raise BadInput(f"{parameter}={value}: expected {needs}; {why}")
