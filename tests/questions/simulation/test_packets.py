"""Packets: their number, times and destinations, and their independence of other packets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.simulation.packets import Generator, one_length
from torusweep.traffic import traffic

CYCLES, LOAD, FLITS = 60_000, 0.4, 4
PATTERNS = [
    "uniform",
    "uniform_other",
    "transpose",
    "hot_spot(node=3, percent=20)",
    "hot_region",
    "nearest_neighbour",
    "bit_complement",
]


def generator(spelling: str, pattern: str, **how) -> Generator:
    topology = build(spelling)
    return Generator(
        topology, traffic(pattern, topology)[1], **{"lengths": one_length(FLITS), "seed": 7, "backend": "numba", **how}
    )


@pytest.mark.parametrize("injection", ["bernoulli", "poisson"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_pairs_occur_with_the_frequencies_of_the_traffic(pattern, injection):
    """Pearson's test over all pairs of 16 nodes; counts are Poisson or binomial, close to its assumption."""
    topology = build("torus(k=4, n=2)")
    packets = generator("torus(k=4, n=2)", pattern, injection=injection).at_load(LOAD, CYCLES)
    expected = traffic(pattern, topology)[1].rows(np.arange(16)) * LOAD / FLITS * CYCLES
    found = np.zeros((16, 16))
    np.add.at(found, (packets.source, packets.destination), 1)
    local = np.trace(expected)
    assert abs(len(packets.local) - local) <= 5 * np.sqrt(local)
    np.fill_diagonal(expected, 0)
    assert not found[expected == 0].any()
    some = expected > 0
    assert ((found - expected)[some] ** 2 / expected[some]).sum() < chi2.ppf(0.9999, some.sum())


def test_gaps_are_geometric_or_exponential():
    rounding = 1 / 6  # of both ends
    for injection, variance in (("bernoulli", (1 - 0.1) / 0.1**2), ("poisson", 1 / 0.1**2 + rounding)):
        packets = generator("torus(k=4, n=2)", "bit_complement", injection=injection).at_load(LOAD, CYCLES)
        gaps = np.concatenate([np.diff(packets.time[packets.first[s] : packets.first[s + 1]]) for s in range(16)])
        assert abs(gaps.mean() - 10) < 5 * np.sqrt(variance / len(gaps))
        assert gaps.var() == pytest.approx(variance, rel=0.03)
        assert (gaps.min() == 1) if injection == "bernoulli" else (gaps.min() == 0)


def test_the_first_cycle_is_like_any_other():
    topology = build("ring(k=4096)")
    packets = Generator(
        topology, traffic("tornado", topology)[1], lengths=one_length(1), seed=1, backend="numba"
    ).at_load(0.25, 4)
    counts = np.bincount(packets.time, minlength=4)
    assert (abs(counts - 1024) < 5 * np.sqrt(4096 * 0.25 * 0.75)).all()


def test_packets_are_ordered_by_node_and_time():
    packets = generator("torus(k=4, n=2)", "uniform", injection="poisson").at_load(LOAD, 500)
    for node in range(16):
        own = slice(packets.first[node], packets.first[node + 1])
        assert (packets.source[own] == node).all()
        assert (np.diff(packets.time[own]) >= 0).all()
    assert packets.first[-1] == len(packets.time)
    assert (packets.source != packets.destination).all()


def test_a_longer_run_begins_with_the_same_packets():
    short, long = (generator("torus(k=4, n=2)", "hot_region").at_load(LOAD, cycles) for cycles in (300, 3000))
    early = long.time < 300
    for name in ("time", "number", "source", "destination"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[early])
    np.testing.assert_array_equal(np.sort(short.local), np.sort(long.local[long.local < 300]))


def test_another_load_changes_only_the_times():
    low, high = (generator("torus(k=4, n=2)", "uniform").at_load(load, 2000) for load in (0.1, 0.4))
    destinations = dict(zip(high.number.tolist(), zip(high.destination.tolist(), high.time.tolist())))
    for number, there, time in zip(low.number.tolist(), low.destination.tolist(), low.time.tolist()):
        assert destinations[number][0] == there
        assert destinations[number][1] <= time


def test_each_generates_all_packets_in_cycle_0():
    packets = generator("torus(k=4, n=2)", "bit_complement").each(5)
    assert np.diff(packets.first).tolist() == [5] * 16
    assert not packets.time.any()


def test_backends_draw_the_same():
    one, other = (
        generator("mesh(k=3, n=2)", "hot_region", backend=backend).at_load(0.3, 400) for backend in ("numba", "numpy")
    )
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_more_than_a_packet_a_cycle_is_refused():
    assert len(generator("torus(k=4, n=2)", "uniform", lengths=one_length(1)).at_load(1.0, 10).time) + 10 >= 150
    with pytest.raises(BadInput, match=r"load=1\.2: expected at most a packet"):
        generator("torus(k=4, n=2)", "uniform", lengths=one_length(1)).at_load(1.2, 10)
    with pytest.raises(BadInput, match=r"unknown injection 'burst' \(did you mean 'bursts'"):
        generator("torus(k=4, n=2)", "uniform", injection="burst")
