"""Distances between terminals: one breadth-first search for each orbit, weighted by the orbit's size, summed exactly.

If links take different numbers of cycles, distances are also measured in cycles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from torusweep_kernels.distance import Distances as NodeDistances
from torusweep_kernels.distance import Task, all_pairs_distance

from torusweep.networks.ends import split
from torusweep.networks.links import surviving_network
from torusweep.networks.products import eccentricities, factors_of, pairs_at_each_distance
from torusweep.networks.symmetry import Orbits, orbits
from torusweep.networks.topology import Topology, no_symmetries
from torusweep.quantities import counted
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import Fact, value_text
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.question import Askable
from torusweep.questions.stage import LazyNetwork

# from this number of (source, node) pairs on, a product's distances are combined from its factors' distances
LONG_SEARCH = 1 << 26
VISIT_SECONDS = 4e-11  # seconds per channel that a search from one source visits, with many sources searched together
MOST_VISITS = 1 << 28  # channels visited by all searches together; SciPy takes some 15 s
AT_ONCE = 1 << 22  # distances computed at once


class DistanceNumbers(NamedTuple):
    """Distances between terminals, in hops.

    histogram       ordered pairs at distance 0, 1, 2, …, including pairs of a terminal and itself
    mean            mean over all pairs of the histogram
    mean_distinct   mean over pairs of distinct terminals
    """

    histogram: list[int]
    diameter: int
    mean: float
    mean_distinct: float


class Searches(NamedTuple):
    """The kernel's searches for the distances between a network's terminals.

    tasks      one task for each binary digit of the largest number of terminals of a node
    weights    int64[G]  number of terminals that each source of a group represents
    terminals  number of terminals
    own        number of ordered pairs of terminals at the same host, if hosts forward nothing. The searches split each
               host into two nodes, so they count these pairs at distance 1 instead of 0
    """

    tasks: list[Task]
    weights: np.ndarray
    terminals: int
    own: int = 0


def terminal_distances(
    topology: Topology, orbits: Orbits, *, use_symmetry: bool, backend: str, threads: int | None, routers: bool = False
) -> DistanceNumbers:
    """Return distances over all ordered pairs of terminals with a path between them.

    orbits         orbits of the nodes, under proved automorphisms that keep the number of terminals
    use_symmetry   search from one node of each orbit instead of all nodes; the sums are the same
    routers        whether to count pairs of nodes instead of pairs of terminals

    A node with several terminals counts that many times as source and as destination; two terminals of one node
    are 0 hops apart. Means are exact quotients, rounded once. `mean` is over N² pairs, in which a node is 0 hops from
    itself (Parhami & Kwai 2004); `mean_distinct` is over N(N−1) pairs of distinct terminals. Without pairs both are 0.
    """
    searches = searches_of(topology, orbits, use_symmetry=use_symmetry, routers=routers)
    counted = replace(topology, terminals=np.arange(topology.nodes, dtype=np.int32)) if routers else topology
    factors = _factors(counted, searches) if use_symmetry else None
    if factors is not None:
        return _of_product(factors, counted)
    found = [
        all_pairs_distance(
            task.ports, task.sources, task.groups, counted=task.counted, backend=backend, threads=threads
        )
        for task in searches.tasks
    ]
    return distance_numbers(searches, found)


def router_distances(
    topology: Topology, hops: DistanceNumbers, orbits: Orbits, *, use_symmetry: bool, backend: str, threads: int | None
) -> DistanceNumbers:
    """Return distances over all ordered pairs of nodes with a path between them, including nodes without terminals.

    hops   distances between terminals; if every node has one terminal, they are the result
    """
    if np.array_equal(np.sort(topology.terminals), np.arange(topology.nodes)):
        return hops
    kernel: dict[str, Any] = {"backend": backend, "threads": threads}
    return terminal_distances(topology, orbits, use_symmetry=use_symmetry, routers=True, **kernel)


def searches_of(topology: Topology, orbits: Orbits, *, use_symmetry: bool, routers: bool = False) -> Searches:
    """Return the searches that `terminal_distances` needs."""
    terminals_at = np.bincount(topology.terminals, minlength=topology.nodes)
    if routers:
        terminals_at = np.ones_like(terminals_at)
    parted, own = split(topology), 0
    ports = topology.ports
    if topology.ends is not None:
        ports, own = parted.staying, int((terminals_at[topology.ends] ** 2).sum())
    sources = orbits.representatives if use_symmetry else np.arange(topology.nodes, dtype=np.int32)
    times = terminals_at[sources] * (orbits.sizes if use_symmetry else 1)
    sources, times = sources[times > 0], times[times > 0]
    weights, groups = np.unique(times, return_inverse=True)
    tasks = []
    # the kernel counts a destination at most once: one pass for each binary digit of its number of terminals
    for digit in range(int(terminals_at.max(initial=0)).bit_length()):
        counted = parted.arriving((terminals_at >> digit) & 1 == 1)
        tasks.append(
            Task(
                ports,
                sources.astype(np.int32),
                groups.astype(np.int32),
                None if counted.all() else counted,
                None,
                False,
            )
        )
    return Searches(tasks, weights, int(terminals_at.sum()), own)


def distance_numbers(searches: Searches, distances: Sequence[NodeDistances]) -> DistanceNumbers:
    """Add up the distances of all searches."""
    histogram: list[int] = [0]
    for digit, (found, _) in enumerate(distances):
        histogram += [0] * (found.shape[1] - len(histogram))
        for distance in range(found.shape[1]):
            histogram[distance] += (
                sum(int(weight) * int(pairs) for weight, pairs in zip(searches.weights, found[:, distance])) << digit
            )
    if searches.own:
        histogram[0] += searches.own
        histogram[1] -= searches.own
    while len(histogram) > 1 and not histogram[-1]:
        histogram.pop()
    return _numbers(histogram, searches.terminals)


def _factors(topology: Topology, searches: Searches) -> list[np.ndarray] | None:
    """Return a product's factors if searches are slow and all nodes have equally many terminals; otherwise None."""
    sources = max((len(task.sources) for task in searches.tasks), default=0)
    if sources * topology.nodes < LONG_SEARCH or len(topology.terminals) % topology.nodes or searches.own:
        return None
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    return factors_of(topology) if (terminals == terminals[0]).all() else None


def _of_product(factors: Sequence[np.ndarray], topology: Topology) -> DistanceNumbers:
    each = len(topology.terminals) // topology.nodes
    return _numbers([pairs * each**2 for pairs in pairs_at_each_distance(factors)], len(topology.terminals))


def _numbers(histogram: list[int], terminals: int) -> DistanceNumbers:
    pairs, hops = sum(histogram), sum(distance * number for distance, number in enumerate(histogram))
    distinct = pairs - terminals
    return DistanceNumbers(
        histogram, len(histogram) - 1, hops / pairs if pairs else 0.0, hops / distinct if distinct else 0.0
    )


@dataclass(frozen=True, repr=False, eq=False)
class Distances(Answer):
    """Distances between terminals in hops along links, over all pairs with a path between them.

    topology        the network's spelling
    mean            mean over ordered pairs, including a terminal and itself (divided by T²)
    mean_distinct   mean over ordered pairs of distinct terminals (divided by T (T − 1))
    diameter        the largest distance
    histogram       int64[D + 1], ordered pairs at each distance; D is the diameter
    eccentricities  int32[T], distance from each terminal to the farthest terminal that it reaches
    """

    topology: str
    mean: float
    mean_distinct: float
    diameter: int
    histogram: np.ndarray
    eccentricities: np.ndarray

    @property
    def radius(self) -> int:
        """The smallest eccentricity."""
        return int(self.eccentricities.min(initial=self.diameter))

    @property
    def json(self) -> Row:
        return self.record

    @property
    def record(self) -> Row:
        """The distances as a row of Python values, without the eccentricities."""
        names = ("topology", "mean", "mean_distinct", "diameter", "radius")
        return {name: getattr(self, name) for name in names} | {"histogram": self.histogram.tolist()}

    def heading(self) -> str:
        return f"{self.topology}, distances"

    def lines(self) -> list[Fact]:
        return [
            (
                "mean",
                counted(self.mean, "hop", ".10g"),
                "over ordered pairs of terminals, a terminal and itself included",
            ),
            ("mean_distinct", counted(self.mean_distinct, "hop", ".10g"), "over ordered pairs of distinct terminals"),
            ("diameter", value_text(self.diameter), "the largest distance, in hops"),
            ("radius", value_text(self.radius), "the smallest eccentricity, in hops"),
            ("histogram", value_text(self.histogram.tolist()), "ordered pairs of terminals at each distance"),
        ]


def distances(network: Topology, how: How) -> Distances:
    """Compute the distances between all terminals exactly, without a table of pairs.

    Distances are in hops, over pairs with a path. `describe` also gives them, with other numbers that take longer.

    >>> import torusweep as ts
    >>> ts.network("torus(k=8, n=2)").distances().histogram.tolist()
    [64, 256, 512, 768, 896, 768, 512, 256, 64]
    """
    topology = surviving_network(network)
    group = orbits(topology, use_symmetry=how.use_symmetry)
    searches = searches_of(topology, group, use_symmetry=how.use_symmetry)
    factors = _factors(topology, searches) if how.use_symmetry else None
    if factors is not None:
        return _answer(topology, _of_product(factors, topology), eccentricities(factors)[topology.terminals])
    farthest, found = np.zeros(topology.nodes, np.int32), []
    for task in searches.tasks:
        one = all_pairs_distance(
            task.ports,
            task.sources,
            task.groups,
            counted=task.counted,
            eccentricity=True,
            backend=how.backend,
            threads=how.threads,
        )
        assert one.eccentricity is not None
        farthest[task.sources] = np.maximum(farthest[task.sources], one.eccentricity)
        found.append(one)
    if topology.ends is not None:  # a host reaches its own split-off end by a hop; other hosts may be as near
        beside = np.zeros(topology.nodes, bool)
        tail, head, _ = topology.arcs
        beside[tail[np.isin(head, topology.terminals)]] = True
        farthest[topology.ends & (farthest == 1) & ~beside] = 0
    farthest = farthest[group.representatives][group.member[topology.terminals]]
    return _answer(topology, distance_numbers(searches, found), farthest)


def _answer(topology: Topology, numbers: DistanceNumbers, farthest: np.ndarray) -> Distances:
    return Distances(
        topology.spelling,
        numbers.mean,
        numbers.mean_distinct,
        numbers.diameter,
        np.array(numbers.histogram, np.int64),
        farthest,
    )


class DistancesQuestion(Askable):
    ask = staticmethod(distances)
    command = "distances"
    heeds = heeds("direction, terminals, forwarding")
    examples = ('distances "torus(k=8, n=2)"', 'distances "faulty(torus(k=16, n=3), links=3, seed=1)" --json')

    def estimate(self, network: LazyNetwork, values: Mapping[str, Any]) -> float:
        planned = network.plan
        alike = planned.symmetries is not no_symmetries
        return 0.0 if alike else VISIT_SECONDS * planned.nodes**2 * max(planned.degree, 1)


QUESTION = DistancesQuestion()


class PathLatencies(NamedTuple):
    """Latencies in cycles along the paths of fewest cycles, over pairs with a path.

    diameter  the largest latency
    mean      mean over ordered pairs of distinct terminals; two terminals of one node are 0 cycles apart
    """

    diameter: int
    mean: float


def terminal_latencies(
    topology: Topology, hops: DistanceNumbers, orbits: Orbits, *, use_symmetry: bool
) -> PathLatencies | None:
    """Return latencies between all terminals; None if searches would visit more than MOST_VISITS channels.

    hops          distances of the same network; if all links take equally long, latencies follow from them
    orbits        orbits of the nodes, under proved automorphisms that keep terminals and latencies
    use_symmetry  search from one node of each orbit instead of all nodes; the sums are the same
    """
    if topology.latency is None or len(set(topology.plan.latencies)) == 1:
        cycles = 1 if topology.latency is None else topology.plan.latencies[0]
        return PathLatencies(hops.diameter * cycles, hops.mean_distinct * cycles)
    tail, head, port = topology.arcs
    terminals_at = np.bincount(topology.terminals, minlength=topology.nodes)
    sources = orbits.representatives if use_symmetry else np.arange(topology.nodes)
    times = terminals_at[sources] * (orbits.sizes if use_symmetry else 1)
    sources, times = sources[times > 0], times[times > 0]
    if len(orbits.representatives[terminals_at[orbits.representatives] > 0]) * max(len(tail), 1) > MOST_VISITS:
        return None
    parted = split(topology)
    shape = parted.nodes, parted.nodes
    cycles_of = scipy.sparse.csr_array(
        scipy.sparse.coo_array(
            (topology.latency[tail, port].astype(np.float64), (tail, parted.arrive[head])), shape=shape
        )
    )
    step, longest, total, pairs = max(1, AT_ONCE // topology.nodes), 0, 0, 0
    reached = np.flatnonzero(terminals_at)
    for first in range(0, len(sources), step):
        some = sources[first : first + step]
        found = scipy.sparse.csgraph.dijkstra(cycles_of, indices=some)[:, parted.arrive[reached]]
        found[np.arange(len(some)), np.searchsorted(reached, some)] = 0
        joined = np.isfinite(found)
        whole = np.where(joined, found, 0).astype(np.int64)  # sums of whole numbers below 2^53 are exact
        longest = max(longest, int(whole.max(initial=0)))
        weights = times[first : first + step].astype(np.int64)
        total += int(weights @ (whole @ terminals_at[reached]))
        pairs += int(weights @ (joined @ terminals_at[reached]))
    distinct = pairs - len(topology.terminals)
    return PathLatencies(longest, total / distinct if distinct else 0.0)
