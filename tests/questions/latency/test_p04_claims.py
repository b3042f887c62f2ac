"""Claims of P04's Figs. 8 to 16, on their numbers: as printed, and where the real loads of the links reverse them.

Distances are Table 1's; of the pruned directed torus of radix 16, the breadth-first search's. A
pruned torus's messages make k/4 hops in y and z each, as in the torus, over half as many channels:
loads of k/4 there and (Δ - k/2)/2 in x. Torus and directed torus are edge-transitive.
"""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.questions.latency import parhami_kwai
from torusweep.questions.latency import parhami_kwai as pk

from tests.questions.latency.composed import mean_latency

TORUS, PRUNED, DIRECTED, BOTH = "torus", "pruned", "directed", "pruned and directed"
DEGREE = {TORUS: 6, PRUNED: 4, DIRECTED: 3, BOTH: 2}


def distance(network: str, k: int) -> float:
    if network == BOTH:
        return {16: 15.2080078125}[k]
    return 0.75 * k + {TORUS: 0, PRUNED: 2 / k - 2 / k**2, DIRECTED: 1 - 4 / k**3}[network]


def printed(network: str, k: int, rate: float, bits: int = 96, delay: float = 3) -> float:
    degree = DEGREE[network]
    return float(
        mean_latency(rate, degree, pk.flits(bits, 96 / degree), distance(network, k), delay, directed=degree < 4)
    )


def true(network: str, k: int, rate: float, bits: int = 96, delay: float = 3) -> float:
    """With the links' own loads; torus and directed torus are as printed."""
    if network != PRUNED:
        assert network != BOTH
        return printed(network, k, rate, bits, delay)
    hops = [distance(PRUNED, k) - k / 2, k / 4, k / 4]
    loads = [hops[0] / 2, k / 4, k / 4]
    classes = {"class_loads": loads, "class_hops": hops, "max_channel_load": k / 4}
    return float(
        parhami_kwai.mean_latency_of_classes(rate, 4, pk.flits(bits, 96 / 4), delay, directed=False, **classes)
    )


RATES = np.arange(0.005, 0.0651, 0.005)  # of Fig. 8, short of all four's saturation but for the last


@pytest.mark.parametrize("delay", [3, 7])
def test_fig_8_and_9_pruning_beats_the_torus_and_the_combination_beats_neither_part_away_from_saturation(delay):
    for rate in RATES:
        torus, pruned, directed, both = (
            printed(network, 16, rate, 96, delay) for network in (TORUS, PRUNED, DIRECTED, BOTH)
        )
        assert pruned < torus
        assert both > max(pruned, directed)
        assert directed < torus or (
            delay == 7 and rate < 0.02
        )  # a slower switch magnifies Δ, of which orientation has more


def test_fig_8_the_combination_is_worse_than_the_torus_at_light_load_only():
    """The text calls it no attractive option; by its own formulas it beats the plain torus from some 0.02 to 0.06."""
    worse = [rate for rate in RATES if printed(BOTH, 16, rate) > printed(TORUS, 16, rate)]
    assert worse == pytest.approx([0.005, 0.01, 0.015, 0.06, 0.065])


def test_fig_8_at_heavy_load_pruning_is_better_than_orientation_as_printed_and_worse_in_truth():
    heavy = [0.055, 0.06, 0.065, 0.07]
    assert all(printed(PRUNED, 16, rate) < printed(DIRECTED, 16, rate) for rate in heavy)
    assert printed(PRUNED, 16, 0.05) > printed(DIRECTED, 16, 0.05)
    assert all(true(PRUNED, 16, rate) > true(DIRECTED, 16, rate) for rate in [0.025, 0.03, 0.04, 0.05, *heavy])
    assert true(PRUNED, 16, 0.02) < true(DIRECTED, 16, 0.02)
    # who saturates first: printed directed, pruned, torus; in truth pruned, directed, torus
    limits = {
        network: float(pk.saturation_rate(DEGREE[network], DEGREE[network], distance(network, 16)))
        for network in DEGREE
    }
    assert sorted(limits, key=limits.__getitem__) == [BOTH, DIRECTED, PRUNED, TORUS]
    assert np.isinf(true(PRUNED, 16, 0.0625))
    assert np.isfinite([true(PRUNED, 16, 0.0624), true(DIRECTED, 16, 0.0769), true(TORUS, 16, 0.0833)]).all()


def test_fig_8_pruning_wins_at_heavy_load_as_printed_and_loses_to_the_torus_in_truth():
    assert all(printed(PRUNED, 16, rate) < printed(TORUS, 16, rate) for rate in np.arange(0.05, 0.0825, 0.0025))
    assert all(true(PRUNED, 16, rate) > true(TORUS, 16, rate) for rate in np.arange(0.0525, 0.0825, 0.0025))
    assert true(PRUNED, 16, 0.05) < true(TORUS, 16, 0.05)


@pytest.mark.parametrize("delay", [3, 7])
def test_figs_10_and_11_the_combination_is_no_longer_as_bad_with_longer_messages(delay):
    for rate in (0.005, 0.01, 0.02, 0.03):
        excess = {
            bits: printed(BOTH, 16, rate * 96 / bits, bits, delay) / printed(PRUNED, 16, rate * 96 / bits, bits, delay)
            for bits in (96, 384)
        }
        assert excess[384] < excess[96]
    assert all(
        printed(BOTH, 16, rate, 384, 3) < printed(TORUS, 16, rate, 384, 3) for rate in (0, 0.0025, 0.005, 0.01, 0.0125)
    )


def test_fig_12_pruning_improves_latency_uniformly_except_close_to_saturation():
    better = {
        rate: printed(PRUNED, 16, rate) < printed(TORUS, 16, rate)
        for rate in [*np.arange(0, 0.0815, 0.001), 0.082, 0.0824]
    }
    assert [rate for rate, is_better in better.items() if not is_better] == [0.082, 0.0824]


def test_fig_13_large_networks_and_long_messages_favour_pruning_over_orientation_as_printed_but_not_in_truth():
    """The text: directed tori are better for smaller networks, pruned ones for larger; true of long messages only."""
    even = range(4, 34, 2)
    assert [k for k in even if printed(PRUNED, k, 0.01, 384) < printed(DIRECTED, k, 0.01, 384)] == [28, 30, 32]
    assert [k for k in even if true(PRUNED, k, 0.01, 384) < true(DIRECTED, k, 0.01, 384)] == []
    assert [k for k in even if printed(PRUNED, k, 0.01, 96) > printed(DIRECTED, k, 0.01, 96)] == [32]
    assert [k for k in even if true(PRUNED, k, 0.01, 96) > true(DIRECTED, k, 0.01, 96)] == [26, 28, 30, 32]


RADICES = (12, 16, 20, 24, 28, 32)


def gain(latency, k: int, rate: float, bits: int = 96) -> float:
    """The pruned torus's latency as a share of the torus's."""
    return latency(PRUNED, k, rate, bits) / latency(TORUS, k, rate, bits)


def test_fig_14_prunings_gain_grows_with_radix_and_message_length_as_printed():
    for bits in (96, 192, 288):
        shares = [gain(printed, k, 0.01, bits) for k in RADICES]
        assert shares == sorted(shares, reverse=True), bits
    for k in RADICES:
        shares = [gain(printed, k, 0.01, bits) for bits in (96, 192, 288, 384)]
        assert shares == sorted(shares, reverse=True), k


def test_fig_14_in_truth_the_gain_turns_into_a_loss():
    assert gain(true, 16, 0.01, 384) < 1 < gain(true, 20, 0.01, 384)
    assert gain(true, 24, 0.01, 288) < 1 < gain(true, 28, 0.01, 288)
    assert gain(true, 24, 0.01, 192) < gain(true, 32, 0.01, 192) < 1


def test_fig_15_prunings_gain_grows_with_load_and_shows_in_larger_networks():
    for k in RADICES:
        shares = [gain(printed, k, rate) for rate in (0.005, 0.01, 0.015, 0.02, 0.025, 0.03)]
        assert shares == sorted(shares, reverse=True), k
    assert all(0.9 < gain(printed, k, 0.005) < 0.95 for k in (4, 8, *RADICES))  # little advantage at low traffic
    assert gain(printed, 32, 0.03) < 0.7 < 0.9 < gain(printed, 4, 0.03)


def test_fig_15_in_truth_the_gain_ends_where_the_pruned_links_fill():
    assert [gain(true, 32, rate) < 1 for rate in (0.02, 0.025, 0.03)] == [True, True, False]
    assert gain(true, 16, 0.04) < 0.9  # in smaller networks, and short of saturation, pruning still pays
    assert np.isinf(true(PRUNED, 28, 0.04))
    assert np.isfinite(true(TORUS, 28, 0.04))


def test_fig_16_a_slower_switch_for_orientation_settles_it_except_near_the_pruned_torus_saturation():
    for k in (4, 8, *RADICES):
        for rate in (0.005, 0.01, 0.02, 0.03):
            assert printed(PRUNED, k, rate) < 0.7 * printed(DIRECTED, k, rate, delay=7)
    assert true(PRUNED, 28, 0.03) < true(DIRECTED, 28, 0.03, delay=7)
    assert true(PRUNED, 32, 0.03) > 2 * true(DIRECTED, 32, 0.03, delay=7)
