"""Networks of equal cost: widths by hand, from the papers' examples."""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.questions.latency import dally
from torusweep.questions.latency.normalisation import channel_width, cost_per_bit


def test_constant_pins_are_p04s_links():
    assert channel_width("pins", 96, degree_max=[6, 4, 3, 2]).tolist() == [16, 24, 32, 48]


@pytest.mark.parametrize(("k", "n"), [(16, 2), (4, 4), (2, 8), (32, 4)])
def test_constant_bisection_is_d90s_width(k, n):
    """A unidirectional cube cuts N/k channels each way; a wire a node is the bit-serial binary cube's."""
    nodes = k**n
    assert (
        float(channel_width("bisection", 1, bisection_upper=nodes // k, nodes=nodes))
        == float(dally.cube(nodes, n).width)
        == k / 2
    )


def test_constant_bisection_of_p04s_networks():
    """Table 1: 2k², k², k², 0.5k²: at the cost of a torus of 16 bits, pruned tori have 32 and the combination 64."""
    k = 16
    widths = np.array([2, 1, 1, 0.5]) * k * k
    budget = 16 * cost_per_bit("bisection", bisection_upper=2 * k * k, nodes=k**3)
    assert float(budget) == 4  # 16 bits x 512 links x 2 directions over 4096 nodes
    assert channel_width("bisection", budget, bisection_upper=widths, nodes=k**3).tolist() == [16, 32, 32, 64]


def test_constant_wiring_volume_is_bits_times_length():
    """A ring of 8: straight, 7 wires of 1 and one of 7; folded, 2 of 1 and 6 of 2. Length 14 either way."""
    assert cost_per_bit("wiring_volume", wire_length_total=14, directed=[False, True], nodes=8).tolist() == [3.5, 1.75]
    assert channel_width("wiring_volume", 14, wire_length_total=[14, 14], directed=False, nodes=8).tolist() == [4, 4]


@pytest.mark.parametrize("norm", ["bisection", "wiring_volume"])
def test_two_networks_side_by_side_are_as_wide_as_one(norm):
    one = {"bisection": {"bisection_upper": 32}, "wiring_volume": {"wire_length_total": 32, "directed": True}}[norm]
    two = {name: value if name == "directed" else 2 * value for name, value in one.items()}
    assert channel_width(norm, 3, **one, nodes=64) == channel_width(norm, 3, **two, nodes=128)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cost_per_bit("money", degree_max=3), "'money'"),
        (lambda: cost_per_bit("pins", bisection_upper=3), "degree_max"),
        (lambda: cost_per_bit("pins"), "got none"),
        (lambda: cost_per_bit("bisection", bisection_upper=[4, 0], nodes=8), "cost 0"),
    ],
)
def test_what_has_no_cost_is_refused(call, says):
    with pytest.raises(ValueError, match="expected") as caught:
        call()
    assert says in str(caught.value)
