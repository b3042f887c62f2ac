"""Networks of equal cost: widths by hand, from the papers' examples."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.models import dally
from pipeline.models.normalisation import budget_of, channel_width, cost_per_bit


def test_constant_pins_are_p04s_links():
    assert channel_width("pins", 96, degree_max=[6, 4, 3, 2]).tolist() == [16, 24, 32, 48]


@pytest.mark.parametrize(("k", "n"), [(16, 2), (4, 4), (2, 8), (32, 4)])
def test_constant_bisection_is_d90s_width(k, n):
    """A unidirectional cube cuts N/k channels each way; N wires are the bit-serial binary cube's."""
    nodes = k**n
    assert float(channel_width("bisection", nodes, bisection_upper=nodes // k)) == float(dally.cube(nodes, n).width) == k / 2


def test_constant_bisection_of_p04s_networks():
    """Table 1: 2k², k², k², 0.5k²: what the unpruned torus pays for 16 bits gives the pruned one 32, and the combination 64."""
    k = 16
    budget = budget_of("bisection", 16, bisection_upper=2 * k * k)
    assert channel_width("bisection", budget, bisection_upper=np.array([2, 1, 1, 0.5]) * k * k).tolist() == [16, 32, 32, 64]


def test_constant_wiring_volume_is_bits_times_length():
    """A ring of 8 straight: 7 wires of 1 and one of 7; folded: 2 of 1 and 6 of 2. The same length, so the same width."""
    assert cost_per_bit("wiring_volume", wire_length_total=14, directed=[False, True]).tolist() == [28, 14]
    assert channel_width("wiring_volume", 112, wire_length_total=[14, 14], directed=False).tolist() == [4, 4]
    assert float(budget_of("wiring_volume", 4, wire_length_total=14, directed=True)) == 56


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cost_per_bit("money", degree_max=3), "'money'"),
        (lambda: cost_per_bit("pins", bisection_upper=3), "degree_max"),
        (lambda: cost_per_bit("pins"), "got none"),
        (lambda: cost_per_bit("bisection", bisection_upper=[4, 0]), "cost 0"),
    ],
)
def test_what_has_no_cost_is_refused(call, says):
    with pytest.raises(ValueError, match="expected") as caught:
        call()
    assert says in str(caught.value)
