"""What a sweep will take, against sums made here by hand."""

from __future__ import annotations

import pytest
from torusweep.quantities import duration, size
from torusweep.questions.deadlock.stage import DeadlockRequest
from torusweep.questions.static.stage import StaticRequest
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import of_mapping
from torusweep.sweeps.configuration.schema import Cluster
from torusweep.sweeps.forecast import START_SECONDS, forecast
from torusweep.sweeps.points import Point
from torusweep.sweeps.requested_points import forecast_of, of_papers, requested_points

STATIC = [Point("static", f"ring(k={k})", StaticRequest()) for k in range(3, 9)]
DEADLOCK = [Point("deadlock", f"ring(k={k})", DeadlockRequest("dimension_order", "none", 1)) for k in (3, 4)]
PAPER = {"papers": ["C10"]}
ESTIMATES = {point: float(cost) for cost, point in enumerate(STATIC, start=1)} | dict.fromkeys(DEADLOCK, 10.0)


@pytest.mark.parametrize(
    ("cluster", "workers", "seconds"),
    [
        ({"workers": 1}, 1, 21 + 20),
        ({"workers": 0}, 1, 21 + 20),
        ({"workers": 2}, 2, 10.5 + 10),
        ({"workers": 100}, 100, 6 + 10),  # no stage ends before its longest point
        ({"slurm": {"jobs": 3, "cores": 2}}, 6, 6 + 10),
        ({"scheduler": "tcp://127.0.0.1:8786"}, None, 21 + 20),
    ],
)
def test_stages_take_turns_and_share_the_workers(cluster, workers, seconds):
    found = forecast(ESTIMATES, Cluster(**cluster))
    assert found.workers == workers
    assert found.seconds == pytest.approx(START_SECONDS + seconds)
    assert found.points == 8
    assert [stage[:4] for stage in found.stages] == [("static", 6, 6, 21.0), ("deadlock", 2, 2, 20.0)]
    assert [seconds for _, seconds in found.expensive] == [10.0, 10.0, 6.0, 5.0, 4.0]


@pytest.mark.parametrize("networks", [["rtt(a=4)", "torus(k=4, n=2)"], ["ring(k=5)"]])
def test_what_papers_add_is_said_and_verify_adds_nothing(networks):
    """Beside the sets of (stage, network) with and without the paper: none of these networks has two points in one."""
    own = {"sweep": "small", "topologies": networks, "loads": [{"traffic": "uniform"}]}
    alone, verified, added = (requested_points(of_mapping(own | more)) for more in ({}, {"verify": ["C10"]}, PAPER))
    assert verified == alone
    left = {(point.stage, point.topology) for point in added} - {(point.stage, point.topology) for point in alone}
    found = of_papers(of_mapping(own | PAPER), added)
    assert len(found) == len(added) - len(alone) > 40
    assert {(point.stage, point.topology) for point in found} == left
    (note,) = forecast_of(of_mapping(own | PAPER)).notes
    assert note.startswith(f"papers add {len(left)} points, ")
    assert forecast_of(of_mapping(own | {"verify": ["C10"]})).notes == ()


def test_memory_is_that_of_the_largest_point():
    large = Point("static", "torus(k=64, n=3)", StaticRequest())
    small, both = (forecast(dict.fromkeys(points, 1.0), Cluster()) for points in (STATIC, [*STATIC, large]))
    assert both.memory > 64**3 * 6 * 4 > small.memory, "an entry of four bytes for each of its channels, at least"
    assert both.disk > small.disk


def test_more_sets_of_faults_than_a_float_holds_take_as_long_as_a_sample():
    """Of a million nodes, there are 10^3432 sets of 1000."""
    few, many = (Point("static", "torus(k=100, n=3)", StaticRequest(faults)).seconds for faults in (5, 1000))
    assert few == many < 60


def test_nothing_takes_no_points():
    assert forecast({}, Cluster()).stages == ()


def test_stages_come_in_their_order():
    mixed = dict(reversed(ESTIMATES.items()))
    names = [stage.stage for stage in forecast(mixed, Cluster()).stages]
    assert names == [name for name in STAGES if name in names]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.01, "< 0.1 s"),
        (2.34, "2.3 s"),
        (99.0, "99 s"),
        (120.0, "2.0 min"),
        (3600.0, "60 min"),
        (17.2 * 3600, "17 h"),
        (3 * 86_400, "3.0 days"),
    ],
)
def test_times_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(12, "12 bytes"), (1536, "1.5 KiB"), (43 << 20, "43 MiB"), (5 << 40, "5.0 TiB")]
)
def test_sizes_in_words(count, words):
    assert size(count) == words
