"""What is measured after each draw of failures: a function of the survivors for each group of measures.

What can fail: the links, the routers, or the cubes of a network.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, Network, Parts, after_failures
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.threads import in_threads, thread_count

from torusweep.collectives.optimum import optimum
from torusweep.errors import BadInput, Refused, nearest
from torusweep.networks.families import family_of
from torusweep.networks.families.slices import CUBE
from torusweep.networks.links import network_after
from torusweep.networks.topology import NO_PORT, Plan, Topology, addresses, node_index
from torusweep.questions.deadlock.layers import layers
from torusweep.questions.how import How
from torusweep.routing import GivenRouting
from torusweep.routing.any_network import lowest_port

GRIDS = ("torus", "mesh", "slice", "pod_slice")  # families whose addresses are places in space
PODS = ("cube_pod",)  # families whose last digit is the cube


class Failing(NamedTuple):
    """The network and its parts, for the kernel.

    names   int64[M, K]  what each part is called: the two ends of a link, a router's node, the number of a cube
    """

    network: Network
    parts: Parts
    names: np.ndarray


def failing_parts(topology: Topology, fails: str) -> Failing:
    """The parts of a network that fail.

    links    of two directions once, parallel links one by one
    routers  nodes that work, with or without terminals
    cubes    blocks of nodes that fail together (`cube_of_node`)
    """
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    network = Network(topology.ports, topology.capacity, terminals, topology.directed)
    parts, names = FAILS[fails](topology)
    return Failing(network, parts, names)


def _links(topology: Topology) -> tuple[Parts, np.ndarray]:
    width = topology.ports.shape[1]
    tail, head, port = (array.astype(np.int64) for array in topology.arcs)
    if not topology.directed:
        once = tail < head
        tail, head, port = tail[once], head[once], port[once]
    channels = [tail * width + port]
    if not topology.directed:
        back = np.nonzero(topology.ports[head] == tail[:, None])[1]  # one each, also of no links at all
        channels.append(head * width + back)
    ways = np.stack(channels, axis=1)
    names = np.stack([tail, head], axis=1)
    if topology.capacity is not None:
        each = np.repeat(np.arange(len(tail)), topology.capacity[tail, port])
        ways, names = ways[each], names[each]
    start = np.arange(len(ways) + 1) * ways.shape[1]
    return Parts(start, ways.reshape(-1), False), names


def _routers(topology: Topology) -> tuple[Parts, np.ndarray]:
    working = np.flatnonzero(topology.works)
    return Parts(np.arange(len(working) + 1), working, True), working[:, None]


def _cubes(topology: Topology) -> tuple[Parts, np.ndarray]:
    cube = cube_of_node(topology.spelling, topology.plan)
    nodes = np.argsort(cube, kind="stable")
    number, start = np.unique(cube[nodes], return_index=True)
    return Parts(np.append(start, len(nodes)), nodes, True), number[:, None]


FAILS: dict[str, Callable[[Topology], tuple[Parts, np.ndarray]]] = {
    "links": _links,
    "routers": _routers,
    "cubes": _cubes,
}


def fails_of(names: Iterable[str]) -> list[str]:
    """The kinds of parts of some names. Raises BadInput for an unknown one."""
    found = list(dict.fromkeys(names))
    for name in found:
        if name not in FAILS:
            raise BadInput(f"unknown part '{name}'{nearest(name, FAILS)}; expected {', '.join(FAILS)}")
    return found


def cube_count(spelling: str, plan: Plan) -> int:
    """Cubes of a network. Raises BadInput for a network that has none."""
    family = family_of(spelling)
    if family in PODS:
        return plan.radices[-1]
    if family not in GRIDS:
        raise BadInput(
            f"cubes of {spelling}: expected one of {', '.join((*PODS, *GRIDS))}, whose nodes are blocks in space;"
            " let routers fail instead"
        )
    if any(side % CUBE for side in plan.radices):
        raise BadInput(
            f"cubes of {spelling}: expected sides that are multiples of {CUBE},"
            f" got {' × '.join(map(str, plan.radices))}; let routers fail instead"
        )
    return prod(side // CUBE for side in plan.radices)


def cube_of_node(spelling: str, plan: Plan) -> np.ndarray:
    """int64[N]: the cube of each node: of a pod its last digit, of a grid the block of 4 nodes along each dimension."""
    cube_count(spelling, plan)
    digits = addresses(plan.radices)
    if family_of(spelling) in PODS:
        return digits[:, -1].astype(np.int64)
    return node_index(digits // CUBE, [side // CUBE for side in plan.radices]).astype(np.int64)


def most_parts(plan: Plan, spelling: str, fails: str) -> int:
    """As many as the plan shows, parallel links once. Raises as `cube_count`."""
    if fails == "cubes":
        return cube_count(spelling, plan)
    return plan.nodes if fails == "routers" else plan.nodes * plan.degree // (1 if plan.directed else 2)


def check_count(failing: Failing, fails: str, failures: int | None, spelling: str) -> None:
    """Raise BadInput where more parts shall fail than there are."""
    most = len(failing.names)
    if failures is not None and failures > most:
        raise BadInput(f"expected at most the {most:,} {fails} of {spelling} to fail, got {failures:,}; choose fewer")


SECONDS = 4.0  # of a costly measure on one core, about, where no number of draws is given
PATIENCE = 60.0  # the same of a measure that is cheap but on large networks
FEWEST = 8  # draws of a costly measure; where time allows fewer, it is left out
UP_DOWN = "up*/down* (Schroeder et al. 1991): one virtual channel where links have two directions and all are joined"


class Survivors(NamedTuple):
    """A network's draws of failures, and which of them leave its terminals joined.

    largest    int64[D]: terminals of the largest component
    connected  bool[D]: whether all surviving terminals, at least one, reach each other
    """

    topology: Topology
    failing: Failing
    failures: Failures
    largest: np.ndarray
    connected: np.ndarray
    options: How


Values = Mapping[str, np.ndarray]  # by measure, float64[D]; nan where a draw has none


class Quantity(NamedTuple):
    """A measure.

    greater_is_worse  which end of its values is the worst
    proportion        whether a draw's value is 0 or 1
    """

    unit: str
    greater_is_worse: bool
    proportion: bool = False


QUANTITIES = {
    "connected": Quantity("", False, True),
    "largest_component": Quantity("", False),
    "diameter": Quantity("hops", True),
    "mean_distance": Quantity("hops", True),
    "saturation_load": Quantity("flits/cycle/terminal", False),
    "all_reduce": Quantity("cycles/flit", True),
    "deadlock_free": Quantity("", False, True),
    "virtual_channels": Quantity("", True),
}


class DrawSize(NamedTuple):
    """What the time of a draw depends on.

    sources   nodes with terminals
    channels  of both directions
    whole     whether all nodes have terminals, and links two directions
    """

    sources: int
    channels: int
    whole: bool

    @property
    def pairs(self) -> float:
        """Pairs of a node with terminals and a channel."""
        return float(self.sources) * self.channels


def size_of(topology: Topology) -> DrawSize:
    sources = len(np.unique(topology.terminals))
    return DrawSize(sources, len(topology.arcs[0]), not topology.directed and sources == topology.nodes)


class Measure(NamedTuple):
    """A group of measures that one function computes.

    values   of draws
    names    of QUANTITIES
    seconds  of a draw on one core, about; None: all draws are cheap
    costly   whether only a sample of draws is measured: the request's, or as many as take SECONDS; else PATIENCE
    """

    values: Callable[[Survivors], Values]
    names: tuple[str, ...]
    seconds: Callable[[DrawSize], float] | None = None
    costly: bool = True

    @property
    def meaning(self) -> str:
        """What its function says, and of which draws it is."""
        said = (inspect.getdoc(self.values) or "").partition("\n")[0]
        return f"{said} Of a sample of the draws." if self.seconds is not None and self.costly else said

    def draws(self, size: DrawSize, most: int, sample: int | None) -> int:
        """Draws that are measured, of `most`; 0: even few take too long."""
        if self.seconds is None:
            return most
        if self.costly and sample is not None:
            return min(sample, most)
        fitting = int((SECONDS if self.costly else PATIENCE) / self.seconds(size))
        return min(most, fitting) if fitting >= min(FEWEST, most) else 0


def connectivity(found: Survivors) -> Values:
    """Whether all surviving terminals reach each other, and the share of all terminals in the largest component."""
    terminals = int(found.failing.network.terminals.sum())
    return {"connected": found.connected.astype(float), "largest_component": found.largest / terminals}


def distances(found: Survivors) -> Values:
    """Diameter and mean distance, over ordered pairs of surviving terminals, a terminal and itself included."""
    network, parts, _ = found.failing
    outcomes = after_failures(
        network, parts, found.failures, backend=found.options.backend, threads=found.options.threads
    )
    pairs = np.maximum(outcomes.surviving, 1).astype(float) ** 2
    joined = found.connected
    return {
        "diameter": np.where(joined, outcomes.diameter, np.nan),
        "mean_distance": np.where(joined, outcomes.hops / pairs, np.nan),
    }


def saturation(found: Survivors) -> Values:
    """Saturation under uniform traffic and minimal routing, as in the table `loads`; the loads are exact."""
    terminals, topology = found.failing.network.terminals, found.topology

    def of_draw(draw: int) -> float:
        left, works = _left(found, draw)
        network = network_after(topology, left, works)
        weight = np.where(works, terminals, 0).astype(np.float64)
        roots = np.flatnonzero(weight).astype(np.int32)
        loads = minimal_loads(
            network.ports,
            roots,
            weight[roots] / weight.sum(),
            demand=weight,
            capacity=None if topology.capacity is None else np.maximum(left, 1),
            backend=found.options.backend,
            threads=1,
        )
        most = float(network.load_of(loads.load).max(initial=0.0))
        return 1 / most if most else np.nan

    return {"saturation_load": _of_connected(found, of_draw)}


def all_reduce(found: Survivors) -> Values:
    """The least time of an all-reduce, or what reduce-scatter and all-gather take where the least is not known."""

    def of_draw(draw: int) -> float:
        network = _network(found, draw)
        if len(np.unique(network.terminals)) < 2:  # those of one router have no links to each other
            return np.nan
        known = optimum(network, "all_reduce", use_symmetry=False).attained
        return np.nan if known is None else known

    return {"all_reduce": _of_connected(found, of_draw)}


def rerouting(found: Survivors) -> Values:
    """Whether up*/down* routes the survivors free of deadlock, with one virtual channel."""
    known = np.full(len(found.connected), np.nan) if found.topology.directed else found.connected.astype(float)
    return {"deadlock_free": known}


def minimal_rerouting(found: Survivors) -> Values:
    """Virtual channels that are enough for minimal routes, one a pair, in layers without a cycle."""

    def of_draw(draw: int) -> float:
        network = _network(found, draw)
        if len(np.unique(network.terminals)) < 2:
            return np.nan
        try:
            return float(layers(network, GivenRouting("minimal by the lowest port", lowest_port(network))).upper)
        except Refused:  # more layers than there are
            return np.nan

    return {"virtual_channels": _of_connected(found, of_draw)}


def _of_connected(found: Survivors, of_draw: Callable[[int], float]) -> np.ndarray:
    """float64[D]: a number of each draw that leaves the terminals joined, nan of the others."""
    threads = 1 if found.options.backend == "cupy" else thread_count(found.options.threads)  # a GPU is shared
    values = np.full(len(found.connected), np.nan)
    chosen = np.flatnonzero(found.connected)
    values[chosen] = in_threads(of_draw, chosen.tolist(), threads)
    return values


def _left(found: Survivors, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """(int32[N, P]: parallel links that are left of each channel; bool[N]: nodes that work) after a draw."""
    topology, parts = found.topology, found.failing.parts
    start, part = found.failures
    failed = part[start[draw] : start[draw + 1]]
    member = np.concatenate([parts.member[:0], *(parts.member[parts.start[m] : parts.start[m + 1]] for m in failed)])
    present = topology.ports != NO_PORT
    left = np.where(present, 1 if topology.capacity is None else topology.capacity, 0).astype(np.int32)
    works = np.ones(topology.nodes, bool)
    if parts.of_nodes:
        works[member] = False
        left[~(works[:, None] & np.append(works, False)[topology.ports])] = 0
    else:
        np.subtract.at(left.reshape(-1), member, 1)
    return left, works


def _network(found: Survivors, draw: int) -> Topology:
    return network_after(found.topology, *_left(found, draw))


def _layers_seconds(size: DrawSize) -> float:
    """A path of some hops for each pair, and searches for cycles that grow with them."""
    return 2e-3 + 4e-9 * (3.0 * size.sources**2) ** 1.5


MEASURES = {
    "connectivity": Measure(connectivity, ("connected", "largest_component")),
    "distances": Measure(
        distances, ("diameter", "mean_distance"), lambda size: 1e-5 + 4e-11 * size.pairs, costly=False
    ),
    "saturation": Measure(saturation, ("saturation_load",), lambda size: 1e-4 + 8e-9 * size.pairs),
    "all_reduce": Measure(
        all_reduce, ("all_reduce",), lambda size: 1e-3 + (1.2e-8 if size.whole else 3e-7) * size.pairs
    ),
    "rerouting": Measure(rerouting, ("deadlock_free",)),
    "minimal_rerouting": Measure(minimal_rerouting, ("virtual_channels",), _layers_seconds),
}
USUAL = ("connectivity", "distances", "saturation")  # that are measured where none is named
