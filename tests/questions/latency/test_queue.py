"""Parhami & Kwai's queue: distributions and closed forms against a Markov chain and exact fractions, limits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.questions.latency import parhami_kwai
from torusweep.questions.latency import parhami_kwai as pk

from tests.questions.latency import plain_queue
from tests.questions.latency.composed import mean_latency, states_for, waiting

# degree, directed, flits, mean distance: P04's four classes at k = 16, L = 96 and 384, and awkward ones
NETWORKS = [
    (6, False, 6.0, 12.0),
    (4, False, 4.0, 12.1171875),
    (3, True, 3.0, 12.9990234375),
    (2, True, 2.0, 15.2080078125),
    (4, False, 16.0, 12.1171875),
    (2, False, 2.0, 4.0),  # a ring: one channel feeds another
    (1, True, 1.0, 8.0),
    (12, False, 100.0, 6.0),
]


@pytest.fixture(autouse=True)
def _strict():
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


def queue(busy: float, degree: int, directed: bool, flits: float, distance: float) -> pk.Arrivals:
    return pk.arrivals(busy, degree, flits, distance, directed=directed)


def exact_queue(busy: Fraction, degree: int, directed: bool, flits: float, distance: float) -> list[Fraction]:
    """q(i) by P04's definitions, in fractions."""
    length, inputs = Fraction(flits) * Fraction(distance), degree if directed else degree - 1
    return plain_queue.arrivals(inputs, busy * (1 - 1 / length) / inputs, busy / length)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("busy", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000)])
def test_arrivals_are_every_combination_of_inputs(network, busy):
    ours, exact = pk.arrival_distribution(queue(float(busy), *network)), exact_queue(busy, *network)
    assert ours.tolist() == pytest.approx([float(p) for p in exact], rel=1e-12, abs=1e-300)
    assert sum(exact) == 1
    assert sum(i * p for i, p in enumerate(exact)) == busy  # Σ i q(i) = ρ


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("busy", "states"), [(0.1, 30), (0.5, 60), (0.9, 300)])
def test_contenders_are_the_markov_chains_steady_state(network, busy, states):
    chain = plain_queue.stationary([float(p) for p in exact_queue(Fraction(busy), *network)], states)
    assert pk.contenders(queue(busy, *network), 25) == pytest.approx(chain[:25], abs=1e-11)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("busy", [Fraction(1, 2), Fraction(99, 100), Fraction(999, 1000)])
def test_positive_terms_are_the_printed_recurrence_without_its_rounding(network, busy):
    exact = plain_queue.printed_recurrence(exact_queue(busy, *network), 12)
    assert pk.contenders(queue(float(busy), *network), 12) == pytest.approx(
        [float(r) for r in exact], rel=1e-11, abs=1e-300
    )


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("busy", [1e-6, 0.1, 0.5, 0.9, 0.99, 0.999])
def test_closed_forms_are_the_recurrences_sums(network, busy):
    degree, directed, flits, distance = network
    arriving = queue(busy, *network)
    states = states_for(arriving, 1e-13)
    r, i = pk.contenders(arriving, states), np.arange(states)
    assert r.sum() == pytest.approx(1, abs=1e-12)
    beta = flits * ((i[2:] - 1) * r[2:]).sum()
    where = {"directed": directed}
    assert float(pk.contention_delay(busy, degree, flits, distance, **where)) == pytest.approx(
        beta * distance / busy, rel=1e-9
    )
    assert flits * float(waiting(arriving)) == pytest.approx(beta, rel=1e-9)
    assert float(pk.cut_through_probability(busy, degree, flits, distance, **where)) == pytest.approx(
        r[0] + (r[1:] / i[1:]).sum(), rel=1e-11
    )


@pytest.mark.parametrize(("network", "busy"), [(network, busy) for network in NETWORKS for busy in (0.5, 0.999)])
def test_states_left_out_are_as_unlikely_as_promised(network, busy):
    arriving = queue(busy, *network)
    for tail in (1e-3, 1e-6):
        states = states_for(arriving, tail)
        assert pk.contenders(arriving, states).sum() >= 1 - tail


def printed_latency(rate: float, degree: int, directed: bool, flits: float, distance: float, delay: float) -> float:
    """T by the paper's sentences, from the Markov chain: probabilities, buffer, Little's law."""
    busy = rate / degree * flits * distance
    r = plain_queue.stationary([float(p) for p in exact_queue(Fraction(busy), degree, directed, flits, distance)], 200)
    beta = sum((i - 1) * flits * chance for i, chance in enumerate(r) if i >= 2)
    free = r[0] + sum(chance / i for i, chance in enumerate(r) if i)
    return (flits + delay * (distance - 1)) * free + beta * distance / busy


@pytest.mark.parametrize("network", NETWORKS)
def test_latency_by_the_papers_sentences(network):
    degree, directed, flits, distance = network
    for share, delay in ((0.3, 3.0), (0.8, 7.0)):
        rate = share * degree / (flits * distance)
        ours = float(mean_latency(rate, degree, flits, distance, delay, directed=directed))
        assert ours == pytest.approx(printed_latency(rate, degree, directed, flits, distance, delay), rel=1e-9)


@pytest.mark.parametrize("network", NETWORKS)
def test_limits(network):
    degree, directed, flits, distance = network
    latency = lambda rate: float(mean_latency(rate, degree, flits, distance, 3.0, directed=directed))  # noqa: E731
    limit = float(pk.saturation_rate(degree, flits, distance))
    assert latency(0.0) == pytest.approx(flits + 3 * (distance - 1), rel=1e-14)
    assert latency(1e-12 * limit) == pytest.approx(latency(0.0), rel=1e-9)
    assert float(pk.utilization(limit, degree, flits, distance)) == pytest.approx(1)
    assert [latency(share * limit) for share in (1.0, 1.0000001, 2.0, 1e6)] == [np.inf] * 4
    rising = [latency(share * limit) for share in (0.9, 0.99, 0.999, 0.9999)]
    assert rising == sorted(rising)
    assert np.isfinite(rising).all()
    assert float(pk.cut_through_probability(1.0, degree, flits, distance, directed=directed)) == 0


def test_a_message_without_contention_stores_at_every_hop_or_cuts_through():
    assert float(pk.uncontended(6, 12, 3)) == 39
    assert float(pk.store_and_forward(6, 12, 3)) == 216
    assert float(pk.flits(96, 96 / 6)) == 6  # P04: links of 16, 24, 32 and 48 bits
    assert pk.flits(96, np.array([16, 24, 32, 48])).tolist() == [6, 4, 3, 2]


@pytest.mark.parametrize(("k", "classes"), [(8, (1.109375, 2.0)), (16, (2.05859375, 4.0))])
def test_saturation_of_the_pruned_torus_as_printed_and_in_truth(k, classes):
    distance = 0.75 * k + 2 / k - 2 / k**2
    assert (
        (distance - k / 2) / 2,
        k / 4,
    ) == classes  # hops in y and z are what they are in the torus, over half as many channels
    flits = pk.flits(96, 96 / 4)
    assert float(parhami_kwai.saturation_rate_of_classes(flits, k / 4)) == pytest.approx(1 / k, rel=1e-15)  # 4/k flits
    if k == 16:
        assert float(pk.saturation_rate(4, flits, distance)) == pytest.approx(0.0825, abs=5e-5)
        assert float(pk.saturation_rate(6, 6, 12)) == pytest.approx(0.0833, abs=5e-5)


# --- link classes ------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 12),
    st.booleans(),
    st.floats(1, 1000),
    st.lists(st.floats(0.1, 20), min_size=1, max_size=4),
    st.floats(0, 1.2),
    st.floats(0.1, 10),
)
def test_equal_classes_give_the_printed_latency(degree, directed, flits, hops, share, delay):
    distance = 1 + sum(hops)
    shares = [h * distance / sum(hops) for h in hops]
    load = distance / degree
    rate = share / (flits * load)
    printed = float(mean_latency(rate, degree, flits, distance, delay, directed=directed))
    by_class = parhami_kwai.mean_latency_of_classes(
        rate,
        degree,
        flits,
        delay,
        directed=directed,
        class_loads=[load] * len(hops),
        class_hops=shares,
        max_channel_load=load,
    )
    assert float(by_class) == pytest.approx(printed, rel=1e-9) or abs(share - 1) < 1e-9


def test_unequal_classes_are_waits_hop_by_hop():
    """One hop of each class at a time, by the Markov chain."""
    degree, flits, delay, loads, hops = 4, 4.0, 3.0, (2.05859375, 4.0), (4.1171875, 8.0)
    distance, rate = sum(hops), 0.05
    waits, free = 0.0, 0.0
    for load, share in zip(loads, hops):
        busy = rate * flits * load
        r = plain_queue.stationary([float(p) for p in exact_queue(Fraction(busy), degree, False, flits, distance)], 300)
        waits += share * sum((i - 1) * flits * chance for i, chance in enumerate(r) if i >= 2) / busy
        free += share / distance * (r[0] + sum(chance / i for i, chance in enumerate(r) if i))
    expected = (flits + delay * (distance - 1)) * free + waits
    given_ = {"directed": False, "class_loads": loads, "class_hops": hops}
    assert float(
        parhami_kwai.mean_latency_of_classes(rate, degree, flits, delay, **given_, max_channel_load=4.0)
    ) == pytest.approx(expected, rel=1e-9)
    assert float(
        parhami_kwai.mean_latency_of_classes(0.0, degree, flits, delay, **given_, max_channel_load=4.0)
    ) == pytest.approx(flits + delay * (distance - 1))
    # the busiest channel decides when it is over, even where its class is less busy on average
    assert (
        float(parhami_kwai.mean_latency_of_classes(rate, degree, flits, delay, **given_, max_channel_load=5.0))
        == np.inf
    )
    assert np.isfinite(
        float(parhami_kwai.mean_latency_of_classes(0.0624, degree, flits, delay, **given_, max_channel_load=4.0))
    )
    assert (
        float(parhami_kwai.mean_latency_of_classes(0.0625, degree, flits, delay, **given_, max_channel_load=4.0))
        == np.inf
    )


def test_a_class_that_a_network_has_not_changes_nothing():
    padded = {
        "class_loads": [[2.0, 0.0], [1.0, 3.0]],
        "class_hops": [[4.0, 0.0], [2.0, 6.0]],
        "max_channel_load": [2.0, 3.0],
    }
    both = parhami_kwai.mean_latency_of_classes(0.05, 4, [2.0, 3.0], 3.0, directed=False, **padded)
    alone = parhami_kwai.mean_latency_of_classes(
        0.05, 4, 2.0, 3.0, directed=False, class_loads=[2.0], class_hops=[4.0], max_channel_load=2.0
    )
    assert both[0] == pytest.approx(float(alone), rel=1e-14)


# --- what is refused, how fast -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pk.flits(96, 3 / 4), "raise the budget"),
        (lambda: pk.flits(10, 96 / 4), "one flit at least"),
        (lambda: pk.arrivals(1.0, 4, 4, 3, directed=False), "ρ < 1"),
        (lambda: pk.arrivals(-0.1, 4, 4, 3, directed=False), "got -0.1"),
        (lambda: pk.arrivals(0.5, 4, 0.25, 3, directed=False), "got 0.75"),
        (lambda: pk.arrivals(0.5, 1, 4, 3, directed=False), "2 channels"),
        (lambda: mean_latency(-0.01, 4, 4, 3, 3, directed=False), "0 ≤ ρ"),
    ],
)
def test_what_the_model_does_not_fit_is_refused_in_one_line(call, says):
    with pytest.raises(ValueError, match=r"expected") as caught:
        call()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_are_as_many_numbers():
    degree, directed, flits, distance = (np.array(column) for column in zip(*NETWORKS))
    rates = np.array([0.0, 0.3, 0.9, 1.0])[:, None] * pk.saturation_rate(degree, flits, distance)
    together = mean_latency(rates, degree, flits, distance, 3.0, directed=directed)
    assert together.shape == (4, len(NETWORKS))
    for (row, column), value in np.ndenumerate(together):
        d, way, f, hops = NETWORKS[column]
        assert value == float(mean_latency(rates[row, column], d, f, hops, 3.0, directed=way))
