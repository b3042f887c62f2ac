"""Sampled loads: packets follow the traffic, the same in any block and on any backend; errors and stopping."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.loads import monte_carlo
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import TrafficPackets, sampled_loads
from torusweep.questions.loads.record import record_of
from torusweep.traffic import traffic
from torusweep.traffic.matrix import Traffic

from tests.questions.static.networks import network

AsCupy = Callable[..., ModuleType]
PATTERNS = [
    *("uniform", "uniform_other", "nearest_neighbour", "hot_region", "hot_spot(node=3, percent=40)"),
    *("transpose", "random_permutation(seed=2)", "all_reduce_by_dimension"),
]


def draw(pattern: str, count: int, *, backend: str = "numba", first: int = 0) -> tuple[Traffic, np.ndarray, np.ndarray]:
    topology = build("torus(k=4, n=2)")
    matrix = traffic(pattern, topology)[1]
    source, destination = TrafficPackets(matrix, 11, backend).draw(first, count)
    return matrix, source, destination


@pytest.mark.parametrize("pattern", PATTERNS)
def test_packets_follow_the_traffic(pattern: str):
    """Pearson's chi-squared test over all pairs; pairs without traffic never occur."""
    count = 200_000
    matrix, source, destination = draw(pattern, count)
    expected = matrix.rows(np.arange(16)) / 16 * count
    found = np.zeros_like(expected)
    np.add.at(found, (source, destination), 1)
    assert (found[expected < 1e-9] == 0).all()
    pairs = expected > 1e-9
    degrees = pairs.sum() - 1
    squared = ((found[pairs] - expected[pairs]) ** 2 / expected[pairs]).sum()
    assert squared < degrees + 5 * np.sqrt(2 * degrees) + 1e-9  # five standard deviations of chi squared


@pytest.mark.parametrize("pattern", PATTERNS)
def test_packet_i_is_the_same_in_any_block_and_on_any_backend(pattern: str):
    _, source, destination = draw(pattern, 1000)
    for backend, first, count in (("numba", 700, 100), ("numpy", 0, 1000)):
        _, part, other = draw(pattern, count, backend=backend, first=first)
        np.testing.assert_array_equal(part, source[first : first + count])
        np.testing.assert_array_equal(other, destination[first : first + count])


@pytest.mark.parametrize(
    "routing", ["minimal", "minimal_ecmp", "dimension_order", "random_order", "valiant", "up_down"]
)
def test_a_sample_depends_neither_on_backend_nor_on_blocks(routing: str, monkeypatch: pytest.MonkeyPatch):
    topology = build("torus(k=4, n=2)")

    def sample(**options: object) -> tuple[bytes, object]:
        found = sampled_loads(topology, routing=routing, traffic="hot_region", packets=3000, seed=9, **options)
        return found.load.tobytes(), found.estimate

    reference = sample(backend="numpy")
    assert sample(backend="numba", threads=1) == reference
    assert sample(backend="numba", threads=3) == reference
    monkeypatch.setattr(monte_carlo, "ROUND", 1001)
    monkeypatch.setattr(monte_carlo, "BLOCK", 64)
    assert sample(backend="numba") == reference
    other = sampled_loads(topology, routing=routing, traffic="hot_region", packets=3000, seed=10)
    assert other.load.tobytes() != reference[0]


@pytest.mark.parametrize("routing", ["minimal", "minimal_ecmp", "dimension_order", "valiant", "up_down"])
@pytest.mark.parametrize("pattern", ["uniform_other", "hot_region", "transpose"])
def test_a_gpu_draws_the_same_packets(pattern: str, routing: str, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch):
    """Whatever its rounds are, and where it stops at an error."""
    topology = build("torus(k=4, n=2)")
    monkeypatch.setattr(monte_carlo, "ROUND", 1100)
    monkeypatch.setattr(monte_carlo, "GPU_ROUND", 1700)
    as_cupy(multiprocessors=1)
    for error in (None, 0.1):
        how: dict[str, Any] = {"packets": 5000, "seed": 9, "relative_error": error}
        here, there = (
            sampled_loads(topology, routing=routing, traffic=pattern, backend=backend, **how)
            for backend in ("numba", "cupy")
        )
        assert there.load.tobytes() == here.load.tobytes()
        assert there.estimate == here.estimate
        assert here.estimate is not None
        assert (here.estimate.packets < 5000) == (error is not None)


@pytest.mark.parametrize(
    ("routing", "launched"),
    [
        ("minimal", ["reach", "walk_drawn"]),
        ("up_down", ["draw", "reach", "walk"]),
        ("dimension_order", []),
        ("valiant", []),
    ],
)
def test_a_round_launches_each_kernel_once(routing: str, launched: list[str], as_cupy: AsCupy):
    """For all groups together; none for source routing, whose routes are followed on the CPU."""
    cupy = as_cupy()
    names, launch = [], cupy.RawModule.launch
    cupy.RawModule.launch = lambda *how: names.append(how[1]) or launch(*how)
    sampled_loads(build("torus(k=4, n=2)"), routing=routing, packets=1000, backend="cupy")
    assert names == launched


def test_sampling_stops_at_the_requested_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(monte_carlo, "ROUND", 4096)
    topology = build("torus(k=4, n=2)")
    counts: list[int] = []
    found = sampled_loads(topology, traffic="hot_region", packets=10**6, relative_error=0.02, progress=counts.append)
    estimate = found.estimate
    assert estimate is not None
    assert estimate.stderr <= 0.02 * found.load.max()
    assert estimate.packets == counts[-1] < 10**6
    assert counts == list(range(4096, estimate.packets + 1, 4096))
    before = sampled_loads(topology, traffic="hot_region", packets=counts[-2]).estimate
    assert before is not None
    assert before.stderr > 0.02 * found.load.max() * 0.9


def test_standard_error_against_repeated_samples():
    topology = build("torus(k=4, n=2)")
    channel = (0, 0)
    samples = [sampled_loads(topology, traffic="uniform", packets=4000, seed=seed) for seed in range(60)]
    deviation = np.std([sample.load[channel] for sample in samples], ddof=1)
    claimed = np.mean([sample.estimate.stderr for sample in samples if sample.estimate])
    assert claimed == pytest.approx(deviation, rel=0.35)  # four standard errors of the deviation of 60 samples


def test_the_bounds_converge_to_the_exact_maximum():
    """All channels are equal: the sampled maximum is too large, and its measurement on the other half has no bias."""
    topology, most = build("torus(k=4, n=2)"), exact_loads(build("torus(k=4, n=2)")).load.max()
    width = []
    for packets in (2_000, 200_000):
        found = sampled_loads(topology, packets=packets)
        assert found.estimate is not None
        assert found.load.max() > most
        assert found.estimate.low < found.load.max()
        assert abs(found.estimate.low - most) < 4 * found.estimate.low_stderr
        width.append(found.load.max() - found.estimate.low)
    assert width[1] < width[0] / 3


def test_the_record_describes_the_sample():
    record = record_of(sampled_loads(build("rtt(a=2)"), routing="routing_record", packets=640, seed=4))
    assert (record["method"], record["packets"], record["seed"]) == ("monte-carlo", 640, 4)
    assert record["max_channel_load_low"] <= record["max_channel_load"]
    assert record["max_channel_load_stderr"] > 0
    assert record["max_channel_load_low_stderr"] > 0
    assert record["mean_hops"] == pytest.approx(sum(record["per_class_hops"].values()), rel=1e-12)


def test_parallel_links_and_several_terminals_at_a_node():
    topology = network(3, [(0, 1, 3), (1, 2), (0, 2)], terminals=[0, 0, 1, 2])
    exact, sample = exact_loads(topology), sampled_loads(topology, packets=100_000)
    np.testing.assert_allclose(sample.load, exact.load, atol=0.02)
    assert sample.ejected == exact.ejected


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"routing": "routing_record"}, r"^routing routing_record on pruned_xy\(k=4\): "),
        (
            {"packets": 1000},
            r"^routing minimal on pruned_xy\(k=4\): [\d,]+ of 1,000 packets have no path to their destination",
        ),
    ],
)
def test_refusals(inputs: dict[str, object], message: str):
    with pytest.raises(BadInput, match=message):
        sampled_loads(build("pruned_xy(k=4)"), **inputs)


@pytest.mark.parametrize("inputs", [{"packets": 63}, {"seed": -1}, {"seed": 2**64}, {"relative_error": 1.0}])
def test_a_sample_out_of_range_is_refused_where_it_is_asked_for(inputs: dict[str, object]):
    with pytest.raises(BadInput, match=rf"^{next(iter(inputs))}=\S+: expected "):
        ts.network("torus(k=4, n=2)").loads(method="monte-carlo", **inputs)
