"""What is measured after each draw of failures: a function of the survivors for each group of measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, after_failures
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.threads import in_threads, thread_count

from torusweep.collectives.optimum import optimum
from torusweep.errors import Refused
from torusweep.networks.links import network_after
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.how import How
from torusweep.routing import GivenRouting
from torusweep.routing.any_network import lowest_port
from torusweep.stages.availability.parts import Failing
from torusweep.stages.deadlock.layers import layers

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
        if len(network.terminals) < 2:
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


def _all_reduce_seconds(size: DrawSize) -> float:
    return 1e-3 + (1.2e-8 if size.whole else 3e-7) * size.pairs


def _layers_seconds(size: DrawSize) -> float:
    """A path of some hops for each pair, and searches for cycles that grow with them."""
    return 2e-3 + 4e-9 * (3.0 * size.sources**2) ** 1.5


MEASURES = {
    "connectivity": Measure(connectivity, ("connected", "largest_component")),
    "distances": Measure(
        distances, ("diameter", "mean_distance"), lambda size: 1e-5 + 4e-11 * size.pairs, costly=False
    ),
    "saturation": Measure(saturation, ("saturation_load",), lambda size: 1e-4 + 8e-9 * size.pairs),
    "all_reduce": Measure(all_reduce, ("all_reduce",), _all_reduce_seconds),
    "rerouting": Measure(rerouting, ("deadlock_free",)),
    "minimal_rerouting": Measure(minimal_rerouting, ("virtual_channels",), _layers_seconds),
}
USUAL = ("connectivity", "distances", "saturation")  # that are measured where none is named
