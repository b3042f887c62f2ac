"""Certify that no lattice of a size has a smaller sum of distances. The checker itself examines all lattices."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import certificate
from torusweep.questions.screen.best import Best, Objective, best_lattices, objectives
from torusweep.questions.screen.spaces import Lattices, Space, screen_space

MOST_LATTICES = 3_000_000  # lattices of a size: the checker takes seconds
MOST_TURNED = 2_000_000  # lattices × symmetries whose classes the checker counts: a second in three dimensions


def check_exhaustion(space: Space, chosen: tuple[Objective, ...], narrowed: bool = False) -> None:
    """Raise BadInput for a question that has no certificate, Refused if there are too many lattices for the checker.

    narrowed   whether a condition excludes some lattices
    """
    first, *others = chosen
    if not isinstance(space, Lattices) or str(first) != "least mean_distance" or narrowed:
        raise BadInput(
            f"certificate of {space}, {first}: expected all lattices, by the least mean distance; leave out"
            " circulant steps, conditions and other objectives"
        )
    if others:
        raise BadInput("certificate: expected the mean distance as the only objective; leave out the others")
    if space.lattices > MOST_LATTICES:
        raise Refused(
            f"certificate of {space}: expected at most {MOST_LATTICES:,} lattices for the checker to search, got"
            f" {space.lattices:,}; choose fewer nodes or dimensions"
        )


def exhaustion_certificate(found: Best) -> str:
    """Return the certificate of a size's least mean distance, and of its classes if they are few enough to count.

    Raises BadInput for a question that has no certificate, Refused if there are too many lattices for the checker.
    """
    space = found.space
    check_exhaustion(space, found.objectives, found.kept != found.measured)
    assert isinstance(space, Lattices)
    n, nodes, best = space.dimensions, space.nodes, found.rows[0]
    countable = found.lattices * 2 ** (n - 1) * factorial(n) <= MOST_TURNED
    claim = {
        "topology": best["topology"],
        "dimensions": n,
        "nodes": nodes,
        "lattices": found.lattices,
        "classes": found.measured if countable else None,
        "mean_distance": Fraction(best["distance_sum"], nodes**2),  # the mean is over all pairs
        "attained": found.attained,
    }
    return certificate("exhaustion", claim, {})


def certificate_of_size(dimensions: int | None, nodes: int) -> str:
    """Return the certificate for all lattices of a size, after a new search. Raises as `check_exhaustion` does."""
    if dimensions is None:
        raise BadInput(f"certificate of {nodes:,} nodes: expected lattices, got other networks; choose a design space")
    space = Lattices(dimensions, nodes)
    check_exhaustion(space, chosen := objectives((), ()))
    return exhaustion_certificate(best_lattices(space, chosen, parts=screen_space(space), show=1))
