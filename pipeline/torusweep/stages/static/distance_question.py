"""The question `distances`: between all terminals of a network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.networks.links import surviving_network
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import Fact, value_text
from torusweep.questions.how import How
from torusweep.questions.question import Askable
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
    def json(self) -> Row:
        return self.record

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


def distances(network: Topology, how: How) -> Distances:
    """Distances between all terminals, exactly, without a table of pairs.

    They are in hops, over the pairs that a path joins. `describe` has them among other numbers of a network, which take
    longer.

    >>> import torusweep as ts
    >>> ts.network("torus(k=8, n=2)").distances().histogram.tolist()
    [64, 256, 512, 768, 896, 768, 512, 256, 64]
    """
    topology = surviving_network(network)
    group = orbits(topology, use_symmetry=how.use_symmetry)
    searches = searches_of(topology, group, use_symmetry=how.use_symmetry)
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
    numbers = distance_numbers(searches, found)
    return Distances(
        topology.spelling,
        numbers.mean,
        numbers.mean_distinct,
        numbers.diameter,
        np.array(numbers.histogram, np.int64),
        farthest[group.representatives][group.member[topology.terminals]],
    )


class DistancesQuestion(Askable):
    ask = staticmethod(distances)
    command = "distances"
    examples = (
        'distances "torus(k=8, n=2)"',
        'distances "faulty(torus(k=16, n=3), links=3, seed=1)" --json',
    )


QUESTION = DistancesQuestion()
