"""What every network is: first a plan, which costs nothing, then a topology, which is arrays.

A family (pipeline/torusweep/networks/families/) is a function from parameters to a `Plan`: it checks the paper's
constraints and counts nodes and ports, so that a sweep of a million designs can be counted, and a
network of 10¹² nodes refused, before anything is allocated. `Plan.wire` then makes the arrays.

Numbering: dimension 0 is x; x varies fastest: index = a_0 + k_0 (a_1 + k_1 (a_2 + …)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import log10
from typing import NamedTuple

import numpy as np
import psutil

from torusweep.errors import BadInput, Refused

NO_PORT = -1


@dataclass(frozen=True)
class Whole:
    """A whole-number parameter of a family: its range and meaning, as `Annotated[int, Whole(2, …)]`."""

    minimum: int
    meaning: str
    maximum: int | None = None

    def holds(self, value: float) -> bool:
        return value >= self.minimum and (self.maximum is None or value <= self.maximum)

    def range(self) -> str:
        return f"≥ {self.minimum}" if self.maximum is None else f"{self.minimum} … {self.maximum}"


@dataclass(frozen=True)
class Number(Whole):
    """A parameter that takes decimals too: its range and meaning, as `Annotated[float, Number(0, …)]`."""


@dataclass(frozen=True)
class Meaning:
    """What any other parameter means, as `Annotated[bool, Meaning("…")]`."""

    meaning: str


class Wiring(NamedTuple):
    """A network's arrays, before they are checked.

    ports       int32[N, P]    node reached through each port, -1 = none
    link_class  int8[N, P]     dimension (or hierarchy level, or 0) of each port
    capacity    int32[N, P]    parallel links that a channel stands for; None = 1 everywhere
    terminals   int32[T]       nodes that send and receive, a node as often as it has terminals; None = each once
    """

    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None = None
    terminals: np.ndarray | None = None


def no_symmetries() -> list[np.ndarray]:
    return []


@dataclass(frozen=True)
class Plan:
    """A network's promises.

    nodes       number of nodes
    degree      most ports of any node
    radices     sides of the address space, x first; their product is `nodes`
    wire        makes the arrays
    directed    true where links have one direction
    symmetries  generators of a group of automorphisms, each an int32[N] permutation of the nodes
                (image of each node); checked before use, so a wrong one is an error, not a wrong table
    bisection   exact bisection width where a theorem gives it
    bisection_source   that theorem
    classes     names of the link classes, for pictures and tables
    notes       what a person should know of the network: what was left out of a file, which faults
    structure   how the network is made, for the routings that follow it: a Lattice, a Hierarchy, …; None: nothing to follow
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
    notes: tuple[str, ...] = ()
    structure: object | None = None

    @property
    def bytes(self) -> int:
        """Memory that the arrays and one breadth-first search over them need, about."""
        return self.nodes * (self.degree * 16 + 64)


@dataclass(frozen=True, eq=False)
class Topology:
    """A network as arrays, checked. Build one with `torusweep.networks.families.build`.

    ports int32[N, P], link_class int8[N, P], capacity int32[N, P] or None, terminals int32[T]:
    see `Wiring`. Rows may have fewer than P links; -1 may stand anywhere in a row.
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
        return self.ports.shape[0]

    @property
    def directed(self) -> bool:
        return self.plan.directed

    @cached_property
    def degrees(self) -> np.ndarray:
        """int64[N]: links leaving each node, parallel links counted."""
        present = self.ports != NO_PORT
        return (present if self.capacity is None else np.where(present, self.capacity, 0)).sum(axis=1, dtype=np.int64)

    @cached_property
    def works(self) -> np.ndarray:
        """bool[N]: nodes with a link or a terminal; the others have failed."""
        alive = self.degrees > 0
        alive[self.ports[self.ports != NO_PORT]] = True
        alive[self.terminals] = True
        return alive

    @cached_property
    def links(self) -> int:
        """Links, a bidirectional one counted once."""
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
    """Make a plan's arrays, and check that they are a network. Refuses what `memory` bytes cannot hold."""
    check_size(spelling, plan, memory)
    wiring = plan.wire()
    terminals = np.arange(plan.nodes, dtype=np.int32) if wiring.terminals is None else wiring.terminals
    topology = Topology(spelling, family, plan, wiring.ports, wiring.link_class, wiring.capacity, terminals)
    check(topology)
    return topology


@cache
def default_memory() -> int:
    """Bytes that one network may take unless the configuration says otherwise: half the machine's."""
    return psutil.virtual_memory().total // 2


def check_size(spelling: str, plan: Plan, memory: int) -> None:
    """Refuse a network that would not fit, naming what it needs and the limit."""
    if plan.nodes >= 2**31:
        needs = f"{_count(plan.nodes)} nodes, about {_count(plan.bytes >> 30)} GiB"
        raise Refused(
            f"{spelling} has {needs}; node numbers are 32-bit, so at most {2**31 - 1:,} are possible: choose smaller parameters"
        )
    if plan.bytes > memory:
        raise Refused(
            f"{spelling} has {plan.nodes:,} nodes of up to {plan.degree:,} ports and needs about {plan.bytes / 2**30:.1f} GiB;"
            f" the limit is {memory / 2**30:.1f} GiB: choose smaller parameters or raise limits.memory_gib"
        )


def _count(number: int) -> str:
    """A number as people read it, however large."""
    return f"{number:,}" if number < 10**18 else f"10^{log10(number):.0f}"


def check(topology: Topology) -> None:
    """What every network must satisfy; a violation is a defect of the family that built it."""
    ports, name = topology.ports, topology.spelling
    n, width = ports.shape
    assert (ports.dtype, topology.link_class.dtype, topology.terminals.dtype) == (np.int32, np.int8, np.int32), (
        f"{name}: dtypes"
    )
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
    assert not np.any(ports == np.arange(n, dtype=np.int32)[:, None]), f"{name}: a link from a node to itself"
    if not topology.directed and width:
        # a link used in both directions must stand in both rows: compare the sorted lists of arcs
        tail, head, port = topology.arcs
        weight = (
            np.ones(len(tail), np.int64)
            if topology.capacity is None
            else topology.capacity[tail, port].astype(np.int64)
        )
        forth = np.sort((tail.astype(np.int64) * n + head) * (int(weight.max(initial=1)) + 1) + weight)
        back = np.sort((head.astype(np.int64) * n + tail) * (int(weight.max(initial=1)) + 1) + weight)
        assert np.array_equal(forth, back), f"{name}: a link has one direction only in a network declared bidirectional"


# --- addresses ---------------------------------------------------------------------------------


def addresses(radices: Sequence[int]) -> np.ndarray:
    """int32[N, K]: every node's digits, x (digit 0) varying fastest."""
    grids = np.indices(tuple(reversed(radices)), dtype=np.int32)
    return np.ascontiguousarray(grids[::-1].reshape(len(radices), -1).T)


def node_index(digits: np.ndarray, radices: Sequence[int]) -> np.ndarray:
    """int32[…]: node numbers of digits int[…, K]; digits are taken modulo their radix."""
    index = np.zeros(digits.shape[:-1], dtype=np.int64)
    for dimension in reversed(range(len(radices))):
        index = index * radices[dimension] + digits[..., dimension] % radices[dimension]
    return index.astype(np.int32)


def simple_graph(ports: np.ndarray, link_class: np.ndarray) -> Wiring:
    """Drop links from a node to itself and second links between the same two nodes (radix 1 and 2)."""
    ports = ports.copy()
    ports[ports == np.arange(len(ports), dtype=ports.dtype)[:, None]] = NO_PORT
    for port in range(1, ports.shape[1]):
        repeated = (ports[:, :port] == ports[:, port, None]).any(axis=1)
        ports[repeated, port] = NO_PORT
    used = (ports != NO_PORT).any(axis=0)
    return Wiring(np.ascontiguousarray(ports[:, used]), np.ascontiguousarray(link_class[:, used]))


# --- parameters --------------------------------------------------------------------------------


def require(holds: bool, parameter: str, value: object, needs: str, why: str) -> None:
    """Refuse a parameter's value, saying which constraint it violates and why the constraint is there."""
    if not holds:
        raise BadInput(f"{parameter}={value}: expected {needs}; {why}")
