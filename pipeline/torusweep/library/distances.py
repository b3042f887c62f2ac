"""Distances between all terminals of a network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.networks.survivors import surviving_network
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import Fact, value_text
from torusweep.stages.static.distances import distance_numbers, searches_of


@dataclass(frozen=True, repr=False, eq=False)
class Distances(Answer):
    """Distances between terminals in hops, along links, over all pairs with a path between them.

    topology        the network's spelling
    mean            over ordered pairs, a terminal and itself included (divided by T²)
    mean_distinct   over ordered pairs of distinct terminals (divided by T (T − 1))
    diameter        the largest distance
    histogram       int64[D + 1], ordered pairs at each distance; D is the diameter
    eccentricities  int32[T], distance from each terminal to the farthest that it reaches
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
    def record(self) -> Row:
        """The numbers as Python values."""
        names = ("topology", "mean", "mean_distinct", "diameter", "radius")
        return {name: getattr(self, name) for name in names} | {"histogram": self.histogram.tolist()}

    def heading(self) -> str:
        return f"{self.topology}, distances"

    def lines(self) -> list[Fact]:
        return [
            ("mean", f"{self.mean:.10g} hops", "over ordered pairs of terminals, a terminal and itself included"),
            ("mean_distinct", f"{self.mean_distinct:.10g} hops", "over ordered pairs of distinct terminals"),
            ("diameter", value_text(self.diameter), "the largest distance, in hops"),
            ("radius", value_text(self.radius), "the smallest eccentricity, in hops"),
            ("histogram", value_text(self.histogram.tolist()), "ordered pairs of terminals at each distance"),
        ]


def distances_of(topology: Topology, backend: str = "auto") -> Distances:
    """The distances of a network: a search from a node of each orbit of its proved symmetries."""
    topology = surviving_network(topology)
    group = orbits(topology)
    searches = searches_of(topology, group, use_symmetry=True)
    farthest, found = np.zeros(topology.nodes, np.int32), []
    for task in searches.tasks:
        one = all_pairs_distance(
            task.ports, task.sources, task.groups, counted=task.counted, eccentricity=True, backend=backend
        )
        assert one.eccentricity is not None
        farthest[task.sources] = np.maximum(farthest[task.sources], one.eccentricity)
        found.append(one)
    numbers = distance_numbers(searches, found)
    return Distances(
        topology.spelling,
        numbers.mean,
        numbers.mean_distinct,
        numbers.diameter,
        np.array(numbers.histogram, np.int64),
        farthest[group.representatives][group.member[topology.terminals]],
    )
