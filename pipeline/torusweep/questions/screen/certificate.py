"""Certify that no lattice of a size has a smaller sum of distances; the checker looks at all lattices itself."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import certificate
from torusweep.questions.screen.best import Best, Objective, best_lattices, objectives
from torusweep.questions.screen.spaces import Lattices, Space, screen_space

MOST_LATTICES = 3_000_000  # of a size: the checker takes seconds
MOST_TURNED = 2_000_000  # lattices times symmetries, of which it counts the classes: a second in three dimensions


def check_exhaustion(space: Space, chosen: tuple[Objective, ...], narrowed: bool = False) -> None:
    """Raise BadInput for another question, Refused if the checker would search too many lattices.

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
    """The certificate of a size's least mean distance, and of its classes if they are few enough to count.

    Raises BadInput for another question, Refused if the checker would search too many lattices.
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
        "mean_distance": Fraction(best["distance_sum"], nodes**2),  # which is over all pairs
        "attained": found.attained,
    }
    return certificate("exhaustion", claim, {})


def certificate_of_size(dimensions: int | None, nodes: int) -> str:
    """The certificate of all lattices of a size, searched anew if the checker can follow."""
    if dimensions is None:
        raise BadInput(f"certificate of {nodes:,} nodes: expected lattices, got other networks; choose a design space")
    space = Lattices(dimensions, nodes)
    check_exhaustion(space, chosen := objectives((), ()))
    return exhaustion_certificate(best_lattices(space, chosen, parts=screen_space(space), show=1))
