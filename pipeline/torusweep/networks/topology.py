"""`Plan`, the description of a network without arrays, and `Topology`, its arrays.

A family (networks/families/) is a function from parameters to a `Plan`. It checks the constraints of
the paper and computes the numbers of nodes and ports, so that a sweep can count a million designs, or
refuse a network of 10¹² nodes, without allocating memory. `Plan.wire` makes the arrays.

Numbering: dimension 0 is x; x varies fastest: index = a_0 + k_0 (a_1 + k_1 (a_2 + …)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from math import isfinite, log10
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.adjacency import is_symmetric

from torusweep.errors import BadInput, Refused

NO_PORT = -1
ROWS_AT_ONCE = 1 << 16  # nodes whose ports are compared at once


@dataclass(frozen=True)
class Whole:
    """Range and meaning of an integer parameter: `Annotated[int, Whole(2, …)]`."""

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
    """Range and meaning of a float parameter: `Annotated[float, Number(0, …)]`.

    open   without its ends
    above  without its minimum
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
    """Meaning of a parameter of another type: `Annotated[bool, Meaning("…")]`."""

    meaning: str


class Wiring(NamedTuple):
    """The arrays of a network, not yet checked.

    ports       int32[N, P]    node at the other end of each port, -1 = no link
    link_class  int8[N, P]     dimension (or hierarchy level, or 0) of each port
    capacity    int32[N, P] or int8[N, P]   number of parallel links of each channel; None = 1 everywhere
    terminals   int32[T]       node of each terminal; None = one terminal at each node
    """

    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None = None
    terminals: np.ndarray | None = None


class Wirings(NamedTuple):
    """The arrays of B networks of one size.

    ports       int32[B, N, P]         as of `Wiring`; a network with fewer ports has no links at the last ones
    link_class  int8[B, N, P]
    capacity    int32[B, N, P] | None
    terminals   int32[B, N] | None     terminals of each node; None = one at each
    refused     what is wrong with values that make no network, by their place
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
    wire        makes the arrays
    directed    whether links have one direction
    symmetries  returns generators of a group of automorphisms, each a permutation int32[N] (image of each
                node); verified before use, so that a wrong one is an error and not a wrong table
    bisection   exact bisection width in links, if a theorem gives it
    bisection_source   that theorem
    classes     names of the link classes, for pictures and tables
    bandwidths  flits a cycle of one link of each class; () = 1 each
    latencies   cycles that a flit takes over a link of each class; () = 1 each
    notes       remarks for the user: what was left out of a file, which faults
    structure   construction of the network, for the routings that depend on it: a Lattice, a Hierarchy, …
    names       of the nodes in the user's file or graph (torusweep.networks.names); None: their numbers
    terminal_names   of the terminals, where the file has others for them than for their nodes
    whole       the network before its faults, whose routings it keeps as far as their links are left; None: no faults
    failed      links that its faults take, at most
    rate        bits a second that one flit a cycle stands for; None: not said
    tick        seconds that a cycle stands for; None: not said
    joined      whether every node has one terminal and reaches every other, whatever the parameters: what is then
                known of a traffic needs no arrays; False where the construction does not show it
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

    @property
    def bytes(self) -> int:
        """Approximate memory, in bytes, of the arrays and one breadth-first search."""
        return self.nodes * (self.degree * 16 + 64)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, which takes no functions of functions: in their place, what they return."""
        return vars(self) | {"wire": partial(Wiring, *self.wire()), "symmetries": partial(list, self.symmetries())}

    def class_name(self, number: int) -> str:
        """The name of a link class; its number where the family gives none."""
        return self.classes[number] if number < len(self.classes) else str(number)


@dataclass(frozen=True, eq=False)
class Topology:
    """A network as checked arrays, made by `torusweep.networks.families.build`.

    ports int32[N, P], link_class int8[N, P], capacity int32[N, P], int8[N, P] or None, terminals int32[T]:
    see `Wiring`. A row may have fewer than P links; -1 may occur anywhere in a row.
    `capacity` counts parallel links, `bandwidth` says how much they carry.
    """

    spelling: str
    family: str
    plan: Plan
    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray

    @property
    def nodes(self) -> int:
        return len(self.ports)

    @property
    def directed(self) -> bool:
        return self.plan.directed

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64[N]: number of links that leave each node, parallel links included."""
        present = self.ports != NO_PORT
        return (present if self.capacity is None else np.where(present, self.capacity, 0)).sum(axis=1, dtype=np.int64)

    @cached_property
    def bandwidth(self) -> np.ndarray | None:
        """float64[N, P]: flits a cycle of each channel, its parallel links together; None = 1 everywhere."""
        if not self.plan.bandwidths:
            return None if self.capacity is None else self.capacity.astype(np.float64)
        one = self._by_class(np.array([float(width) for width in self.plan.bandwidths]))
        return one if self.capacity is None else one * self.capacity

    @cached_property
    def latency(self) -> np.ndarray | None:
        """int16[N, P]: cycles that a flit takes over each channel, int32 where one is longer; None = 1 everywhere."""
        cycles = self.plan.latencies
        return self._by_class(np.array(cycles, np.int16 if max(cycles) < 1 << 15 else np.int32)) if cycles else None

    @cached_property
    def kinds(self) -> np.ndarray | None:
        """int32[N, P]: a number for each channel, 0 = no channel; None = all channels are alike.

        Equal numbers: as many parallel links, of equal bandwidth and latency. An automorphism keeps them.
        """
        if not self.plan.bandwidths and not self.plan.latencies:
            return self.capacity
        names = list(dict.fromkeys(self.links_by_class))
        if len(names) == 1:
            return self.capacity
        kind = self._by_class(np.array([1 + names.index(link) for link in self.links_by_class], np.int32))
        if self.capacity is None:
            return kind
        _, numbered = np.unique(kind + np.int64(len(names) + 1) * self.capacity, return_inverse=True)
        return np.where(self.ports == NO_PORT, 0, numbered.reshape(kind.shape) + 1).astype(np.int32)

    @property
    def links_by_class(self) -> list[tuple[Fraction, int]]:
        """(bandwidth, latency) of one link of each class."""
        classes = max(len(self.plan.classes), 1, len(self.plan.bandwidths), len(self.plan.latencies))
        widths = self.plan.bandwidths or (Fraction(1),) * classes
        return list(zip(widths, self.plan.latencies or (1,) * classes, strict=True))

    def class_name(self, number: int) -> str:
        """The name of a link class; its number where the family gives none."""
        return self.plan.class_name(number)

    def load_of(self, flits: np.ndarray) -> np.ndarray:
        """float64[…, N, P]: the load of each channel, its flits a cycle, float64[…, N, P], over its bandwidth."""
        return flits if self.bandwidth is None else flits / np.where(self.bandwidth > 0, self.bandwidth, 1.0)

    def _by_class(self, of_class: np.ndarray) -> np.ndarray:
        """[N, P] of the same type: the entry of each channel's class, 0 = no channel."""
        return np.where(self.ports == NO_PORT, of_class.dtype.type(0), of_class[self.link_class])

    @cached_property
    def works(self) -> np.ndarray:
        """bool[N]: whether each node has a link or a terminal; the others have failed."""
        alive = self.degrees > 0
        alive[self.ports[self.ports != NO_PORT]] = True
        alive[self.terminals] = True
        return alive

    @cached_property
    def links(self) -> int:
        """Number of links; a bidirectional link counts once."""
        arcs = int(self.degrees.sum())
        return arcs if self.directed else arcs // 2

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tail int32[A], head int32[A], port int32[A]) of every directed channel, in node and port order."""
        tail, port = np.nonzero(self.ports != NO_PORT)
        return tail.astype(np.int32), self.ports[tail, port], port.astype(np.int32)

    def addresses(self) -> np.ndarray:
        """int32[N, K]: the digits of every node, x first."""
        return addresses(self.plan.radices)


def realise(spelling: str, family: str, plan: Plan, memory: int) -> Topology:
    """Make and check the arrays of a plan. Raises Refused if they need more than `memory` bytes."""
    check_size(spelling, plan, memory)
    wiring = plan.wire()
    terminals = np.arange(plan.nodes, dtype=np.int32) if wiring.terminals is None else wiring.terminals
    topology = Topology(spelling, family, plan, wiring.ports, wiring.link_class, wiring.capacity, terminals)
    check(topology)
    return topology


@cache
def default_memory() -> int:
    """Default limit on the memory of one network, in bytes: half of the machine's memory."""
    import psutil  # takes long to import

    return psutil.virtual_memory().total // 2


def check_size(spelling: str, plan: Plan, memory: int) -> None:
    """Raise Refused if the network has 2³¹ nodes or more, or needs more than `memory` bytes."""
    if plan.nodes >= 2**31:
        needs = f"{_count(plan.nodes)} nodes, about {_count(plan.bytes >> 30)} GiB"
        raise Refused(
            f"{spelling} has {needs}; node numbers are 32-bit, so at most {2**31 - 1:,} are possible:"
            " choose smaller parameters"
        )
    if plan.bytes > memory:
        raise Refused(
            f"{spelling} has {plan.nodes:,} nodes of up to {plan.degree:,} ports"
            f" and needs about {plan.bytes / 2**30:.1f} GiB; the limit is"
            f" {memory / 2**30:.1f} GiB: choose smaller parameters or raise limits.memory_gib"
        )


def _count(number: int) -> str:
    """Return a number in digits, or as a power of ten if it is large."""
    return f"{number:,}" if number < 10**18 else f"10^{log10(number):.0f}"


def check(topology: Topology) -> None:
    """Assert the invariants of a network; a violation is a defect of the family."""
    ports, name = topology.ports, topology.spelling
    n, width = ports.shape
    dtypes = (ports.dtype, topology.link_class.dtype, topology.terminals.dtype)
    assert dtypes == (np.dtype(np.int32), np.dtype(np.int8), np.dtype(np.int32)), f"{name}: dtypes"
    assert topology.link_class.shape == (n, width), f"{name}: link_class shape"
    assert n == topology.plan.nodes == int(np.prod(topology.plan.radices, dtype=object)), (
        f"{name}: node count differs from the plan"
    )
    assert width <= topology.plan.degree, f"{name}: more ports than the plan says"
    if width:
        assert NO_PORT <= ports.min() <= ports.max() < n, f"{name}: a port leads outside the network"
    assert not len(topology.terminals) or 0 <= topology.terminals.min() <= topology.terminals.max() < n, (
        f"{name}: a terminal outside the network"
    )
    for low in range(0, n, ROWS_AT_ONCE):
        own = np.arange(low, min(low + ROWS_AT_ONCE, n), dtype=np.int32)
        assert not np.any(ports[low : low + ROWS_AT_ONCE] == own[:, None]), f"{name}: a link from a node to itself"
    if not topology.directed and width:
        assert is_symmetric(ports, topology.capacity), (
            f"{name}: a link has one direction only in a network declared bidirectional"
        )
    _check_links(topology)


def _check_links(topology: Topology) -> None:
    """Check the bandwidths and latencies of the link classes against the channels.

    Raises BadInput where the two directions of a link are of classes with different ones.
    """
    plan, name = topology.plan, topology.spelling
    used = int(topology.link_class.max(initial=0)) + 1
    for given in (plan.bandwidths, plan.latencies):
        assert not given or len(given) >= used, f"{name}: a link class without bandwidth or latency"
    if not (plan.bandwidths or plan.latencies) or topology.directed or not topology.ports.shape[1]:
        return
    if not is_symmetric(topology.ports, topology.kinds):
        raise BadInput(
            f"{name}: expected equal bandwidths and latencies of classes that are the two directions of one link, got"
            " different ones; give both classes the same numbers"
        )


# --- addresses ---------------------------------------------------------------------------------


def addresses(radices: Sequence[int]) -> np.ndarray:
    """int32[N, K]: the digits of every node; x (digit 0) varies fastest."""
    grids = np.indices(tuple(reversed(radices)), dtype=np.int32)
    return np.ascontiguousarray(grids[::-1].reshape(len(radices), -1).T)


def node_index(digits: np.ndarray, radices: Sequence[int]) -> np.ndarray:
    """int32[…]: node numbers of digits int[…, K], each taken modulo its radix."""
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
    """Raise BadInput unless `condition` holds: 'parameter=value: expected needs; why'."""
    if not condition:
        raise BadInput(f"{parameter}={value}: expected {needs}; {why}")
