"""Measures after each draw of failures: a function of the survivors for each group of measures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures
from torusweep_kernels.loads import minimal_loads
from torusweep_kernels.threads import in_threads, thread_count

from torusweep.collectives.optimum import optimum
from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import first_forwarding, split
from torusweep.networks.links import network_after
from torusweep.networks.names import name_of
from torusweep.networks.topology import Topology
from torusweep.questions.availability.failing import Failing, left_after, outcomes_of
from torusweep.questions.deadlock.layers import layers
from torusweep.questions.how import How
from torusweep.routing import GivenRouting
from torusweep.routing.any_network import lowest_port, up_down

SECONDS = 4.0  # of a costly measure on one core, about, where no number of draws is given
PATIENCE = 60.0  # the same of a measure that is cheap but on large networks
FEWEST = 8  # draws of a costly measure; where time allows fewer, it is left out
UP_DOWN = "up*/down* (Schroeder et al. 1991): one virtual channel where links have two directions and all are joined"
USUAL = ("connectivity", "distances", "saturation")  # that are measured where none is named


class Survivors(NamedTuple):
    """A network's draws of failures, and whether they leave its terminals joined.

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

    greater_is_worse  whether larger values are worse
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
    """The sizes that decide the time of a draw.

    sources   nodes with terminals
    channels  channels in both directions
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

    values   draws → values
    names    names of QUANTITIES
    seconds  approximate seconds of a draw on one core; None: all draws are cheap
    costly   whether only a sample of draws is measured: the request's, or as many as take SECONDS; else PATIENCE
    """

    values: Callable[[Survivors], Values]
    names: tuple[str, ...]
    seconds: Callable[[DrawSize], float] | None = None
    costly: bool = True

    @property
    def meaning(self) -> str:
        """The first line of its function, and the draws that it covers."""
        said = (inspect.getdoc(self.values) or "").partition("\n")[0]
        return f"{said} Of a sample of the draws." if self.seconds is not None and self.costly else said

    def draws(self, size: DrawSize, most: int, sample: int | None) -> int:
        """The number of draws to measure, of `most`; 0 if even a few take too long."""
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
    outcomes, _ = outcomes_of(found.topology, found.failing, found.failures, found.options, distances=True)
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
        left, works = left_after(topology, found.failing, found.failures, draw)
        network = network_after(topology, left, works)
        parted, weight = split(network), np.where(works, terminals, 0).astype(np.float64)
        roots, demand = np.flatnonzero(weight).astype(np.int32), weight
        if network.ends is not None:  # none of a host to itself, whose start and end are apart
            demand = parted.arriving(np.tile(weight, (len(roots), 1)))
            demand[np.arange(len(roots)), parted.arrive[roots]] = 0
        loads = minimal_loads(
            parted.ports,
            roots,
            weight[roots] / weight.sum(),
            demand=demand,
            capacity=None if topology.capacity is None else parted.channels(np.maximum(left, 1)),
            backend=found.options.backend,
            threads=1,
        )
        most = float(network.load_of(loads.load[: network.nodes]).max(initial=0.0))
        return 1 / most if most else np.nan

    return {"saturation_load": _of_connected(found, of_draw)}


def all_reduce(found: Survivors) -> Values:
    """The least time of an all-reduce, or the time of reduce-scatter and all-gather if the least is unknown."""

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
    if found.topology.ends is None or found.topology.directed:
        return {"deadlock_free": known}

    def of_draw(draw: int) -> float:
        network = _network(found, draw)
        try:  # hosts that forward nothing may join all terminals by parts that have no root in common
            up_down(network, name_of(network, first_forwarding(network)))
        except BadInput:
            return 0.0
        return 1.0

    return {"deadlock_free": np.where(found.connected, _of_connected(found, of_draw), known)}


def minimal_rerouting(found: Survivors) -> Values:
    """Virtual channels that suffice for minimal routes, one for each pair, in layers without a cycle."""

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
    """float64[D]: a number for each draw that leaves the terminals joined; nan for other draws."""
    threads = 1 if found.options.backend == "cupy" else thread_count(found.options.threads)  # a GPU is shared
    values = np.full(len(found.connected), np.nan)
    chosen = np.flatnonzero(found.connected)
    values[chosen] = in_threads(of_draw, chosen.tolist(), threads)
    return values


def _network(found: Survivors, draw: int) -> Topology:
    return network_after(found.topology, *left_after(found.topology, found.failing, found.failures, draw))


def _layers_seconds(size: DrawSize) -> float:
    """Seconds for a path of some hops for each pair, and for the growing searches for cycles."""
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
