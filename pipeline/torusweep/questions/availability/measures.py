"""Measures of a network after failures. Each group of measures is a function of the draws of failures (`Survivors`)."""

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

SECONDS = 4.0  # time on one core for a costly measure if no number of draws is given, about
PATIENCE = 60.0  # the same for a measure that is costly on large networks only
FEWEST = 8  # draws of a costly measure; if the time allows fewer, the measure is left out
UP_DOWN = "up*/down* (Schroeder et al. 1991): one virtual channel if links have two directions and all are connected"
USUAL = ("connectivity", "distances", "saturation")  # measures by default


class Survivors(NamedTuple):
    """Draws of failures in a network, and whether the surviving terminals are connected after each draw.

    largest    int64[D]: number of terminals in the largest component
    connected  bool[D]: whether all surviving terminals reach each other, and at least one survives
    """

    topology: Topology
    failing: Failing
    failures: Failures
    largest: np.ndarray
    connected: np.ndarray
    options: How


Values = Mapping[str, np.ndarray]  # name of a measure → float64[D]; nan for a draw without a value


class Quantity(NamedTuple):
    """Properties of a measure.

    greater_is_worse  whether larger values are worse
    proportion        whether the value of a draw is always 0 or 1
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
    """The sizes of a network from which the time of a draw is estimated.

    sources   number of nodes with terminals
    channels  number of channels, both directions counted
    whole     whether all nodes have terminals and all links two directions
    """

    sources: int
    channels: int
    whole: bool

    @property
    def pairs(self) -> float:
        """Number of pairs that consist of a node with terminals and a channel."""
        return float(self.sources) * self.channels


def size_of(topology: Topology) -> DrawSize:
    sources = len(np.unique(topology.terminals))
    return DrawSize(sources, len(topology.arcs[0]), not topology.directed and sources == topology.nodes)


class Measure(NamedTuple):
    """A group of measures that are computed by one function.

    values   function of the draws that returns the values
    names    names of the measures in QUANTITIES
    seconds  approximate seconds of a draw on one core; None if all draws can be measured in little time
    costly   True: a sample is measured, with as many draws as SECONDS allows; False: as many draws as PATIENCE allows
    """

    values: Callable[[Survivors], Values]
    names: tuple[str, ...]
    seconds: Callable[[DrawSize], float] | None = None
    costly: bool = True

    @property
    def meaning(self) -> str:
        """Meaning of the measures for the help: the first line of the function's docstring, and a remark on samples."""
        said = (inspect.getdoc(self.values) or "").partition("\n")[0]
        return f"{said} Of a sample of the draws." if self.seconds is not None and self.costly else said

    def draws(self, size: DrawSize, most: int, sample: int | None) -> int:
        """Return how many draws to measure, at most `most`: the user's `sample`, or what time allows; 0 if too few."""
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
    """Diameter and mean distance over all ordered pairs of surviving terminals, including each terminal with itself."""
    outcomes, _ = outcomes_of(found.topology, found.failing, found.failures, found.options, distances=True)
    pairs = np.maximum(outcomes.surviving, 1).astype(float) ** 2
    joined = found.connected
    return {
        "diameter": np.where(joined, outcomes.diameter, np.nan),
        "mean_distance": np.where(joined, outcomes.hops / pairs, np.nan),
    }


def saturation(found: Survivors) -> Values:
    """Saturation load for uniform traffic and minimal routing, from exact loads, as in the table `loads`."""
    terminals, topology = found.failing.network.terminals, found.topology

    def of_draw(draw: int) -> float:
        left, works = left_after(topology, found.failing, found.failures, draw)
        network = network_after(topology, left, works)
        parted, weight = split(network), np.where(works, terminals, 0).astype(np.float64)
        roots, demand = np.flatnonzero(weight).astype(np.int32), weight
        if network.ends is not None:  # a host sends nothing to itself; its start and its end are separate nodes
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
        if len(np.unique(network.terminals)) < 2:  # terminals of one router have no links to each other
            return np.nan
        known = optimum(network, "all_reduce", use_symmetry=False).attained
        return np.nan if known is None else known

    return {"all_reduce": _of_connected(found, of_draw)}


def rerouting(found: Survivors) -> Values:
    """Whether up*/down* can route between all survivors without deadlock, with one virtual channel."""
    known = np.full(len(found.connected), np.nan) if found.topology.directed else found.connected.astype(float)
    if found.topology.ends is None or found.topology.directed:
        return {"deadlock_free": known}

    def of_draw(draw: int) -> float:
        network = _network(found, draw)
        try:  # if hosts forward nothing, connected terminals may be in parts that have no common root
            up_down(network, name_of(network, first_forwarding(network)))
        except BadInput:
            return 0.0
        return 1.0

    return {"deadlock_free": np.where(found.connected, _of_connected(found, of_draw), known)}


def minimal_rerouting(found: Survivors) -> Values:
    """Virtual channels that suffice for one minimal route of each pair, divided among layers without a cycle."""

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
    """Return `of_draw(draw)`, float64[D], for each draw that leaves all terminals connected; nan for other draws."""
    threads = 1 if found.options.backend == "cupy" else thread_count(found.options.threads)  # a GPU is shared
    values = np.full(len(found.connected), np.nan)
    chosen = np.flatnonzero(found.connected)
    values[chosen] = in_threads(of_draw, chosen.tolist(), threads)
    return values


def _network(found: Survivors, draw: int) -> Topology:
    return network_after(found.topology, *left_after(found.topology, found.failing, found.failures, draw))


def _layers_seconds(size: DrawSize) -> float:
    """Estimate the seconds of a draw of `minimal_rerouting`: to find each pair's path, and to search for cycles."""
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
