"""What proves that no lattice of a size has a smaller sum of distances: one of each class, and that none is missing."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import certificate
from torusweep.questions.screen.best import Best, Objective, best_lattices, objectives
from torusweep.questions.screen.spaces import Lattices, Space, screen_space

MOST_STEPS = 10_000_000  # of the checker: about 20 seconds
FORM_STEPS = 40  # that a Hermite normal form takes


def check_exhaustion(space: Space, chosen: tuple[Objective, ...], narrowed: bool = False) -> None:
    """Raise BadInput for another question, Refused where the checker would search too many lattices.

    narrowed   by a condition that some lattices do not meet
    """
    first, *others = chosen
    if not isinstance(space, Lattices) or str(first) != "least mean_distance" or narrowed:
        raise BadInput(
            f"certificate of {space}, {first}: expected all lattices, by the least mean distance; leave out"
            " circulant steps, conditions and other objectives"
        )
    if others:
        raise BadInput("certificate: expected the mean distance as the only objective; leave out the others")
    if space.fewest_classes * _steps(space) > MOST_STEPS:
        raise _too_many(space)


def exhaustion_certificate(found: Best) -> str:
    """The certificate of a size's least mean distance.

    Raises BadInput for another question, Refused where the checker would search too many lattices.
    """
    space = found.space
    check_exhaustion(space, found.objectives, found.kept != found.measured)
    assert isinstance(space, Lattices)
    n, nodes, forms = space.dimensions, space.nodes, _forms(space)
    best = found.rows[0]
    claim = {
        "topology": best["topology"],
        "dimensions": n,
        "nodes": nodes,
        "lattices": found.lattices,
        "classes": len(forms),
        "mean_distance": Fraction(best["distance_sum"], nodes**2),  # which is over all pairs
        "attained": found.attained,
    }
    return certificate("exhaustion", claim, {"forms": forms.transpose(0, 2, 1).tolist()})


def certificate_of_size(dimensions: int | None, nodes: int) -> str:
    """The same of all lattices of a size, searched anew where the checker can follow."""
    if dimensions is None:
        raise BadInput(f"certificate of {nodes:,} nodes: expected lattices, got other networks; choose a design space")
    space = Lattices(dimensions, nodes)
    _forms(space)
    return exhaustion_certificate(best_lattices(space, objectives((), ()), parts=screen_space(space), show=1))


def _forms(space: Lattices) -> np.ndarray:
    """int32[C, n, n]: a Hermite normal form of each class. Raises Refused where the checker would search too many."""
    if space.fewest_classes * _steps(space) <= MOST_STEPS:
        forms = np.concatenate([part.forms for part in space.parts(True, None)])
        if len(forms) * _steps(space) <= MOST_STEPS:
            return forms
    raise _too_many(space)


def _steps(space: Lattices) -> int:
    """Steps of the checker for a class."""
    n = space.dimensions
    return 2 * n * space.nodes + 2 ** (n - 1) * factorial(n) * FORM_STEPS


def _too_many(space: Lattices) -> Refused:
    return Refused(
        f"certificate of {space}: expected at most {MOST_STEPS:,} steps of the checker, got {_steps(space):,} for each"
        f" of {space.fewest_classes:,} classes or more; choose fewer nodes or dimensions"
    )
