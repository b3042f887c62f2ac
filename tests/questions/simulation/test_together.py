"""Simulations of several points together: rows are those of each point alone, errors too; calls and memory counted."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.questions import stage
from torusweep.questions.how import How
from torusweep.questions.simulation import choice, record, runs
from torusweep.questions.simulation.parameters import Parameters, RunRequest
from torusweep.questions.simulation.setup import set_up
from torusweep.questions.simulation.stage import SimulationRequest
from torusweep.questions.stage import LazyNetwork
from torusweep.stages import STAGES
from torusweep.sweeps.points import Point, keyed, rows_of_many
from torusweep.tables.parquet import parquet
from torusweep_kernels.backend import GpuLost
from torusweep_kernels.router import Simulated, simulate

from benchmarks.gpu_launches import watched

TORUS, RING, FLY = "torus(k=4, n=2)", "ring(k=6)", "dragonfly(a=4, p=2, h=2)"
BROKEN = "faulty(torus(k=4, n=2), links=3, seed=1)"
STAGE = STAGES["simulation"]
MOST_ALONE = 10  # experiments of a point below in one call: the five loads of a search's step, two seeds each


def point(
    network: str, loads: tuple[float, ...] = (0.2,), seeds: tuple[int, ...] = (1,), precision: float | None = None,
    **parameters: Any,
) -> Point:  # fmt: skip
    if "workload" not in parameters:
        parameters = {"cycles": 400} | parameters
    request = RunRequest(Parameters(**parameters), loads, seeds, precision).canonical()
    return Point("simulation", network, SimulationRequest(str(request.parameters.traffic), request.spelled()))


ADAPTIVE: dict[str, Any] = {"routing": "adaptive", "switching": "virtual-cut-through", "virtual_channels": 3}
BLOCKED: dict[str, Any] = {"vc_rule": "none", "virtual_channels": 1, "allow_deadlock": True, "cycles": 4500}
UNPROVED = point(TORUS, vc_rule="none", allow_deadlock=True)
POINTS = [
    point(TORUS, (0.1, 0.3), (1, 2)),
    point(TORUS, traffic="transpose"),
    point(TORUS, (0.05, 0.2, 0.4), (7,), traffic="tornado"),
    point(TORUS, injection="poisson", seeds=(2**63 - 1,)),
    point(TORUS, injection="bursts(peak=0.9)"),
    point(TORUS, packet_mix="1:0.5,5:0.5"),
    point(TORUS, packet_flits=5),
    point(TORUS, warm_up=100),
    point(TORUS, warm_up=100, traffic="bit_complement"),
    point(TORUS, cycles=500),
    point(TORUS, (), precision=0.2),
    point(TORUS, (0.1,), (3, 4), precision=0.1, traffic="bit_reversal"),
    point(TORUS, routing="valiant"),
    point(TORUS, routing="valiant", seeds=(5,), traffic="neighbour"),
    point(TORUS, (), workload="all_to_all"),
    point(TORUS, (), (1, 2), workload="ring_all_reduce", placement="random"),
    point(TORUS, (), workload="ring_all_reduce"),
    point(TORUS, (0.3, 0.9), **ADAPTIVE),
    point(TORUS, (0.5,), traffic="transpose", **ADAPTIVE),
    point(TORUS, router="bluegene"),
    point(TORUS, router="bluegene", traffic="tornado", packet_flits=3),
    point(TORUS, (0.9,), router="bluegene", source_queue=1),
    point(RING, (0.9,), **BLOCKED),
    point(RING, (0.9, 0.01), (1, 2), traffic="neighbour", **BLOCKED),
    point(FLY, routing="progressive"),
    point(FLY, (0.1, 0.4), routing="progressive", traffic="group_shift", seeds=(3,)),
    point(FLY, routing="ugal(view=global)", traffic="group_shift"),
    point(BROKEN, (0.1, 0.3)),
    point(BROKEN, traffic="transpose"),
    point(TORUS, (), workload="all_to_all", cycles=400),
    point(TORUS, routing="adaptive", virtual_channels=3),
    point(TORUS, router="booksim2"),
    UNPROVED,
]
OF_TORUS = [one for one in POINTS if one.topology == TORUS]


def alone(one: Point) -> pa.Table:
    return keyed(one, STAGE.rows(LazyNetwork(one.topology), one.request, How("numba")))


@pytest.fixture(scope="module")
def rows_alone() -> dict[Point, bytes]:
    return {one: parquet(alone(one), {}) for one in POINTS}


def compare(found: list[pa.Table | Exception], points: list[Point], expected: dict[Point, bytes]) -> None:
    assert len(found) == len(points)
    for one, rows in zip(points, found):
        assert isinstance(rows, pa.Table), (one, rows)
        assert parquet(rows, {}) == expected[one], one


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Receives the number of experiments of each call of the kernel."""
    numbers: list[int] = []

    def counted(*arguments: Any, **options: Any) -> Simulated:
        numbers.append(len(arguments[5].first))
        return simulate(*arguments, **options)

    monkeypatch.setattr(runs, "simulate", counted)
    return numbers


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("together", [runs.TOGETHER, 2**20, 0])
def test_rows_of_many_are_those_of_each(rows_alone, monkeypatch, calls, together, threads):
    """To the byte, whatever shares a call."""
    monkeypatch.setattr(runs, "TOGETHER", together)
    compare(rows_of_many(POINTS, How("numba", threads=threads)), POINTS, rows_alone)
    assert (max(calls) > MOST_ALONE) == bool(together)


@pytest.mark.parametrize("seed", range(6))
def test_neither_order_nor_neighbours_matter(rows_alone, seed):
    draw = random.Random(seed)
    some = draw.sample(POINTS, draw.randint(2, 12))
    compare(rows_of_many(some, How("numba", threads=1)), some, rows_alone)


def test_a_plan_counts_the_rows(rows_alone):
    for one in POINTS:
        rows = pq.read_metadata(io.BytesIO(rows_alone[one])).num_rows
        assert rows == STAGE.row_count(LazyNetwork(one.topology), one.request), one


def test_the_specification_gives_the_same(rows_alone):
    some = [POINTS[0], POINTS[1], POINTS[3]]
    compare(rows_of_many(some, How("numpy")), some, rows_alone)


def test_a_deadlock_is_its_own_points(rows_alone):
    """One of two rings is blocked; the cases above are none without it."""
    blocked, flows = (alone(one).to_pylist() for one in POINTS if one.topology == RING)
    assert [row["deadlocked"] for row in blocked + flows] == [True, False, False]


def test_points_that_are_alike_share_calls(calls):
    """Two loads of a point and one of another; the searches of two points, step by step."""
    rows_of_many([point(TORUS, (0.1, 0.3)), point(TORUS, traffic="transpose")], How("numba"))
    assert calls == [3]
    calls.clear()
    searches = [point(TORUS, (), precision=precision, traffic="tornado") for precision in (0.2, 0.03)]
    for one in searches:
        alone(one)
    one_by_one = calls.copy()
    calls.clear()
    rows_of_many(searches, How("numba"))
    assert sum(calls) == sum(one_by_one)
    assert max(calls) == 2 * max(one_by_one)
    assert len(calls) < len(one_by_one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"cycles": 500}),
        ({}, {"warm_up": 100}),
        ({}, {"buffer_flits": 31}),
        ({}, {"routing": "valiant"}),
        ({}, {"virtual_channels": 4}),
        ({"loads": (), "workload": "all_to_all"}, {}),
    ],
)
def test_others_do_not(calls, one, other):
    points = [point(TORUS, **one), point(TORUS, **other)]
    assert all(isinstance(rows, pa.Table) for rows in rows_of_many(points, How("numba")))
    assert calls == [1, 1]


def test_a_network_is_built_and_its_routing_proved_once(monkeypatch):
    built: list[str] = []
    proved: list[object] = []
    monkeypatch.setattr(stage, "built", counting(built, stage.built))
    monkeypatch.setattr(choice, "is_proved_free", counting(proved, choice.is_proved_free))
    alone(POINTS[0])
    once = len(proved)
    rows_of_many([POINTS[0], POINTS[27], *POINTS[1:5]], How("numba"))
    assert built == [TORUS, TORUS, BROKEN]
    proofs_of_torus = [case for case in proved[once:] if case.form.topology.spelling == TORUS]
    assert len(proofs_of_torus) == once > 0


def counting(seen: list[Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def counted(first: Any, *others: Any, **options: Any) -> Any:
        seen.append(first)
        return plain(first, *others, **options)

    return counted


BAD: list[tuple[Point, type[Exception], str]] = [
    (point('graph(path="nowhere.edges")'), BadInput, "nowhere.edges"),
    (point(TORUS, vc_rule="none"), BadInput, "choose rule dateline"),
    (point(TORUS, (0.1, 50)), BadInput, "load=50"),
    (point(TORUS, (0.6,), cycles=2**30), Refused, "GiB"),
    (point(TORUS, routing="ugal"), BadInput, "expected a dragonfly"),
    (point("torus(k=2000, n=3)"), Refused, "choose smaller parameters"),
]


@pytest.mark.parametrize("refused_together", [False, True])
def test_a_point_that_fails_fails_alone(rows_alone, monkeypatch, refused_together):
    """Also where the kernel refuses all of them together: each is then tried alone."""
    expected = rows_alone | {one: b"" for one, *_ in BAD}
    good = [UNPROVED, POINTS[0], POINTS[1], POINTS[10], POINTS[11], POINTS[14], POINTS[27]]
    mixed = list(good)
    for place, (one, *_) in enumerate(BAD):
        mixed.insert(2 * place, one)

    def refusing(*arguments: Any, **options: Any) -> Simulated:
        if len(arguments[5].first) > MOST_ALONE:
            raise MemoryError("made up")
        return simulate(*arguments, **options)

    if refused_together:
        monkeypatch.setattr(runs, "simulate", refusing)
    found = dict(zip(mixed, rows_of_many(mixed, How("numba", memory=2**28)), strict=True))
    for one, kind, said in BAD:
        assert isinstance(found[one], kind), found[one]
        assert said in str(found[one])
    compare([found[one] for one in good], good, expected)


def test_a_point_that_the_kernel_refuses_fails_alone(rows_alone, monkeypatch):
    """Among those that share its call; so does one whose figures cannot be made."""

    def refusing(*arguments: Any, **options: Any) -> Simulated:
        if arguments[5].time.max() >= 400:
            raise ValueError("made up")
        return simulate(*arguments, **options)

    def late(setup: Any, *arguments: Any) -> Any:
        packets = generated(setup, *arguments)
        return packets._replace(time=packets.time + 400) if "tornado" in setup.parameters.traffic else packets

    def broken(setup: Any, *arguments: Any, **options: Any) -> Any:
        if "bit_complement" in setup.parameters.traffic:
            raise ArithmeticError("made up")
        return row(setup, *arguments, **options)

    generated, row = runs._generated, record._row
    monkeypatch.setattr(runs, "simulate", refusing)
    monkeypatch.setattr(runs, "_generated", late)
    monkeypatch.setattr(record, "_row", broken)
    points = [POINTS[1], POINTS[2], point(TORUS, traffic="bit_complement"), POINTS[0]]
    first, second, third, last = rows_of_many(points, How("numba"))
    compare([first, last], [points[0], points[-1]], rows_alone)
    assert isinstance(second, BadInput)
    assert isinstance(third, ArithmeticError)


def test_a_lost_gpu_is_asked_once(monkeypatch):
    """No later call of this process would work; the driver ends it."""
    calls = []

    def lose(*arguments: Any, **options: Any) -> Simulated:
        calls.append(options["backend"])
        raise GpuLost("made up")

    monkeypatch.setattr(runs, "simulate", lose)
    found = rows_of_many(POINTS[:2], How("numba"))
    assert [type(rows) for rows in found] == [GpuLost, GpuLost]
    assert calls == ["numba"]


@pytest.mark.parametrize("memory", [None, 2_000_000, 300_000])
def test_what_shares_a_call_fits_into_memory(rows_alone, monkeypatch, memory):
    """The sum of `bytes_of`, unless it is that of one experiment, or of one point whose memory is the limit."""
    monkeypatch.setattr(runs, "TOGETHER", 1_500_000)
    limit = min(1_500_000, memory or 1_500_000)
    packed: list[list[tuple[Any, Any]]] = []
    plain = runs._run_group

    def kept(experiments: Any, *arguments: Any, **options: Any) -> Any:
        packed.append(list(experiments))
        return plain(experiments, *arguments, **options)

    def taken(group: list[tuple[Any, Any]]) -> int:
        return sum(runs.bytes_of(setup, [one])[0] for setup, one in group)

    monkeypatch.setattr(runs, "_run_group", kept)
    some = OF_TORUS[:9]
    compare(rows_of_many(some, How("numba", memory=memory)), some, rows_alone)
    of_several = [group for group in packed if len({id(setup) for setup, _ in group}) > 1]
    assert all(taken(group) <= limit for group in of_several)
    assert all(taken(group) <= (memory or 2**40) for group in packed)
    assert of_several or memory == 300_000


def test_a_gpu_has_more_of_them_at_once(monkeypatch):
    asked: list[int] = []

    def together(requests: Any, how: How) -> Iterator[Any]:
        asked.append(len(requests))
        yield from (RuntimeError() for _ in requests)

    monkeypatch.setattr(runs, "_run_together", together)
    setup = set_up(LazyNetwork(TORUS).topology, Parameters(cycles=400))
    some = [(setup, [runs.Experiment(0.2, seed) for seed in range(100)]) for _ in range(30)]
    for gpus, backend in ((0, "auto"), (1, "auto"), (1, "cupy"), (1, "numba")):
        monkeypatch.setattr(runs, "gpu_count", lambda gpus=gpus: gpus)
        asked.clear()
        list(runs.run_many(some, How(backend)))
        assert (len(asked) == 1) == (gpus == 1 and backend != "numba")


def test_a_gpu_simulates_them_in_one_launch(rows_alone, as_cupy: Callable[..., Any]):
    """On a stand-in; the numbers are the CPU's."""
    as_cupy(multiprocessors=132, cache=60 * 2**20, memory=2**36)
    some = [one for one in OF_TORUS[:7] if '"packet_flits": 5' not in one.request.simulation]
    with watched() as launches:
        compare(rows_of_many(some, How("cupy")), some, rows_alone)
    assert launches.counts() == {"advance_in_shared": 1}
