"""What proves that no lattice of a size has a smaller sum of distances: one of each class, and that none is missing."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.certificates import certificate
from torusweep.questions.screen.best import Best
from torusweep.questions.screen.spaces import Lattices

MOST_STEPS = 10_000_000  # of the checker: about 20 seconds
FORM_STEPS = 40  # that a Hermite normal form takes


def exhaustion_certificate(found: Best) -> str:
    """The certificate of a size's least mean distance.

    Raises BadInput for another question, Refused where the checker would search too many lattices.
    """
    space, first = found.space, found.objectives[0]
    if not isinstance(space, Lattices) or str(first) != "least mean_distance" or found.kept != found.measured:
        raise BadInput(
            f"certificate of {space}, {first}: expected all lattices, by the least mean distance; leave out"
            " circulant steps, conditions and other objectives"
        )
    n, nodes = space.dimensions, space.nodes
    forms = np.concatenate([part.forms for part in space.parts(True, None)])
    steps = len(forms) * (2 * n * nodes + 2 ** (n - 1) * factorial(n) * FORM_STEPS)
    if steps > MOST_STEPS:
        raise Refused(
            f"certificate of {space}: expected at most {MOST_STEPS:,} steps of the checker, got about {steps:,} for"
            f" {len(forms):,} classes; choose fewer nodes or dimensions"
        )
    best = found.rows[0]
    claim = {
        "topology": best["topology"],
        "dimensions": n,
        "nodes": nodes,
        "lattices": found.lattices,
        "classes": len(forms),
        "mean_distance": Fraction(best["distance_sum"], nodes**2),  # which is over all pairs
        "attained": _attained(found),
    }
    return certificate("exhaustion", claim, {"forms": forms.transpose(0, 2, 1).tolist()})


def _attained(found: Best) -> int:
    """Lattices with the least sum of distances."""
    if len(found.objectives) > 1:
        raise BadInput("certificate: expected the mean distance as the only objective; leave out the others")
    return found.attained
