"""Random draws: what their intervals mean, and what they do not depend on."""

from __future__ import annotations

from dataclasses import replace
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats
from torusweep.errors import Refused
from torusweep.networks.families import build
from torusweep.questions.availability.measures import MEASURES, size_of
from torusweep.questions.availability.record import availability_rows, summary, wilson
from torusweep.questions.availability.request import AvailabilityRequest, draws_of, failures_of, numbers_of
from torusweep.questions.how import How

from tests.questions.availability import oracle

CUBE = AvailabilityRequest("links", 4, None, draws=2000, measures="connectivity, distances")
CONNECTED = 1 - 16 / comb(32, 4)  # of hypercube(n=4): only all links of one node disconnect it


def rows_of(request: AvailabilityRequest, spelling: str = "hypercube(n=4)", **options: Any) -> list[dict[str, Any]]:
    return availability_rows(build(spelling), request, How(**options))


def test_draws_depend_on_neither_threads_nor_backend():
    whole = rows_of(CUBE, threads=1)
    assert rows_of(CUBE, threads=2) == whole
    few = replace(CUBE, draws=100)
    assert rows_of(few, backend="numpy") == rows_of(few, backend="numba")
    assert rows_of(replace(CUBE, seed=1)) != whole


def test_an_exact_probability_is_in_the_interval():
    row = rows_of(replace(CUBE, draws=20_000))[0]
    assert row["mean_low"] <= CONNECTED <= row["mean_high"]
    assert row["mean"] < 1, "an example without a failure tests little"
    assert "20,000 random draws of 35,960 combinations" in row["method"]
    assert (row["seed"], row["interval"]) == (0, "Wilson (mean), order statistics (quantiles)")


def test_wilson_ends_where_the_share_is_improbable():
    """Its ends are the probabilities p with |share − p| = z √(p (1 − p) / n) (Wilson 1927)."""
    z = stats.norm.ppf(0.975)
    for number in (1, 10, 1000):
        for seen in {0, 1, number // 3, number - 1, number}:
            share = seen / number
            for end in wilson(share, number):
                assert 0 <= end <= 1
                assert abs(share - end) == pytest.approx(z * sqrt(end * (1 - end) / number), abs=1e-9)
    assert wilson(1.0, 1000)[1] == 1
    assert wilson(0.0, 1000)[0] == 0


def test_wilson_covers_a_probability_about_as_often_as_it_says():
    random = np.random.default_rng(1)
    seen = random.binomial(200, 0.93, 2000) / 200
    covered = sum(low <= 0.93 <= high for low, high in (wilson(share, 200) for share in seen))
    assert 0.93 < covered / 2000 < 0.97


def test_a_mean_has_the_interval_of_students_t():
    values = np.random.default_rng(2).normal(5, 2, 40)
    found = summary(values, None, proportion=False)
    low, high = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (found.mean.low, found.mean.high) == (pytest.approx(low), pytest.approx(high))
    assert found.standard_error == pytest.approx(stats.sem(values))
    assert found.interval == "Student's t (mean), order statistics (quantiles)"


def test_equal_values_say_nothing_of_rarer_ones():
    found = summary(np.full(50, 0.1), None, proportion=False)
    assert (found.mean.value, found.mean.low, found.mean.high, found.standard_error) == (0.1, None, None, 0)
    assert found.interval == "order statistics (quantiles)"


def test_values_that_rounding_alone_tells_apart_are_equal():
    """The saturation of a torus less one link is 1.8031830… after every draw, from sums in different orders."""
    found = summary(np.array([1.5, np.nextafter(1.5, 2)] * 10), None, proportion=False)
    assert (found.mean.low, found.mean.high, found.interval) == (None, None, "order statistics (quantiles)")
    apart = summary(np.array([1.5, 1.5 + 1e-9] * 10), None, proportion=False)
    assert apart.mean.low is not None


@pytest.mark.parametrize("number", [1, 5, 59, 60, 300, 5000])
def test_quantiles_are_enclosed_by_order_statistics(number: int):
    """Of 1 … n, the ranks are the values; a rank misses the quantile with at most 2.5 %, and the next one in with more.

    5 % of the draws are expected below the quantile: B of them, binomial.
    """
    values = np.random.default_rng(3).permutation(np.arange(1.0, number + 1))
    for q, (value, low, high) in zip((0.05, 0.5, 0.95), summary(values, None, proportion=False).quantiles):
        assert value == max(1, np.ceil(round(q * number, 9)))
        binomial = stats.binom(number, q)
        if low is None:
            assert binomial.cdf(0) > 0.025
        else:
            assert binomial.cdf(low - 1) <= 0.025 < binomial.cdf(low)
        if high is None:
            assert binomial.sf(number - 1) > 0.025
        else:
            assert binomial.sf(high - 1) <= 0.025 + 1e-12 < binomial.sf(high - 2)


def test_quantiles_of_combinations_are_by_their_probability():
    found = summary(np.array([3.0, 1.0, 2.0]), np.array([0.04, 0.05, 0.91]), proportion=False)
    assert [one.value for one in found.quantiles] == [1, 2, 2]
    assert found.mean.value == pytest.approx(0.12 + 0.05 + 1.82)
    assert found.standard_error is None


def test_costly_measures_take_a_sample_and_say_so():
    request = AvailabilityRequest("links", 2, None, draws=500, sample=20, measures="connectivity, saturation")
    connected, _, saturation = rows_of(request, "torus(k=6, n=2)")
    assert (connected["draws"], saturation["draws"]) == (500, 20)
    assert saturation["method"].startswith("the first 20 of 500 random draws of 2,556 combinations")
    alone = rows_of(replace(request, draws=20, measures="saturation"), "torus(k=6, n=2)")[0]
    assert alone | {"method": ""} == saturation | {"method": ""}


@pytest.mark.parametrize(
    ("count", "probability", "draws"), [(700, None, 10**6), (None, 0.5, 10**6), (1535, None, 10**6)]
)
def test_more_failed_parts_than_memory_holds_are_refused(count: int | None, probability: float | None, draws: int):
    request = AvailabilityRequest("links", count, probability, draws=draws, measures="connectivity")
    if count == 1535:  # all links but one: 1,536 combinations
        assert draws_of(1536, request, draws).number == 1536
        return
    with pytest.raises(Refused, match=r"expected at most 200,000,000 failed parts in all draws, got about"):
        draws_of(1536, request, draws)


def test_numbers_of_combinations_in_words():
    found = [draws_of(parts, replace(CUBE, failures=count), 10).method for parts, count in ((64, 2), (2000, 1000))]
    assert found[0] == "the first 10 of 2,000 random draws of 2,016 combinations (Philox, seed 0)"
    assert found[1] == "the first 10 of 2,000 random draws of about 10^600 combinations (Philox, seed 0)"


def test_what_takes_too_long_is_not_computed_and_says_so():
    large = build("torus(k=12, n=3)")
    size = size_of(large)
    assert MEASURES["minimal_rerouting"].draws(size, 1000, None) == 0
    assert MEASURES["minimal_rerouting"].draws(size, 1000, 3) == 3
    assert MEASURES["distances"].draws(size, 1000, 3) == 1000
    assert MEASURES["connectivity"].draws(size, 10**6, 3) == 10**6
    request = AvailabilityRequest("links", 2, None, draws=10, measures="minimal_rerouting")
    (row,) = availability_rows(large, request, How())
    assert (row["mean"], row["draws"]) == (None, 0)
    assert "takes too long; name a sample" in row["method"]


@pytest.mark.parametrize(
    ("text", "found"), [("2", (2, None)), ("0", (0, None)), ("0.5%", (None, 0.005)), ("0.01", (None, 0.01))]
)
def test_a_number_or_a_probability(text: str, found: tuple[int | None, float | None]):
    (number,) = numbers_of([text])
    assert failures_of(number) == found


def test_a_larger_network_against_a_loop_over_faulty_networks():
    """The mean over 60 seeds of `faulty`, each measured by networkx, is ours within four standard errors."""
    request = AvailabilityRequest("links", 6, None, draws=4000, measures="distances")
    mean = rows_of(request, "torus(k=6, n=2)")[1]
    faulty = [oracle.graph_of(f"faulty(torus(k=6, n=2), links=6, seed={seed})") for seed in range(60)]
    theirs = [float(found.mean) for found in (oracle.after(*one, ()) for one in faulty) if found.mean is not None]
    assert len(theirs) > 50
    error = sqrt(np.var(theirs, ddof=1) / len(theirs) + mean["standard_error"] ** 2)
    assert abs(np.mean(theirs) - mean["mean"]) < 4 * error
    assert mean["q05"] < np.median(theirs) < mean["q95"]
