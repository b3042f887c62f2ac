"""What a search looks for, what is wrong with it, and the bounds."""

from __future__ import annotations

from typing import NamedTuple

from torusweep_kernels.annealing import Goal

from torusweep.errors import BadInput
from torusweep.screening import bounds

OBJECTIVES = ("mean_distance", "diameter")
MOST_NODES = 2**14
MOST_DEGREE = 64
MOST_CHAINS = 256
PENALTY = 16  # a hop beyond the bound of the diameter counts as so many, where the diameter is minimised


class Wanted(NamedTuple):
    """A graph to look for.

    degree    most links of a node
    objective  of OBJECTIVES
    symmetry  the rotation by 1/symmetry of the nodes is an automorphism; 1: none is wanted
    seed      of the random numbers
    chains    searches that begin from graphs of their own
    """

    nodes: int
    degree: int
    objective: str = "mean_distance"
    symmetry: int = 1
    seed: int = 1
    chains: int = 1

    @property
    def name(self) -> str:
        """Of its files."""
        return (
            f"{self.objective}-{self.nodes}-{self.degree}-symmetry{self.symmetry}-seed{self.seed}-chains{self.chains}"
        )

    @property
    def orbits(self) -> int:
        """Nodes that the rotation does not map to each other."""
        return self.nodes // self.symmetry

    @property
    def levels(self) -> list[int]:
        """The most nodes at distance 0, 1, 2, … of any graph of this size and degree."""
        return bounds.moore_levels(self.nodes, self.degree)

    @property
    def goal(self) -> Goal:
        """A graph that attains the bound is optimal, and ends the search."""
        if self.objective == "diameter":
            return Goal(bounds.diameter(self.levels), PENALTY, 2**62)
        return Goal(self.nodes, 1, bounds.distance_sum(self.levels) * self.orbits)

    def check(self) -> None:
        """Raise BadInput where there is no such graph."""
        if self.objective not in OBJECTIVES:
            raise BadInput(f"objective: expected one of {', '.join(OBJECTIVES)}, got '{self.objective}'")
        for name, value, least, most in (
            ("nodes", self.nodes, 3, MOST_NODES),
            ("degree", self.degree, 2, MOST_DEGREE),
            ("symmetry", self.symmetry, 1, self.nodes),
            ("chains", self.chains, 1, MOST_CHAINS),
            ("seed", self.seed, 0, 2**63 - 1),
        ):
            if not least <= value <= most:
                raise BadInput(f"{name}: expected {least} … {most:,}, got {value:,}")
        if self.degree >= self.nodes:
            raise BadInput(
                f"degree: expected less than the {self.nodes:,} nodes, got {self.degree}: no node has more neighbours"
            )
        if self.nodes % self.symmetry:
            raise BadInput(
                f"symmetry: expected a divisor of the {self.nodes:,} nodes, got {self.symmetry};"
                f" {_nearest_divisor(self.nodes, self.symmetry)} is one"
            )


def _nearest_divisor(number: int, near: int) -> int:
    return min((divisor for divisor in range(1, number + 1) if number % divisor == 0), key=lambda d: abs(d - near))
