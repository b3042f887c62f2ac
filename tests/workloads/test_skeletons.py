"""Messages of applications and collectives: volumes by formula, dependencies by ancestors in the message graph."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from math import ceil

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.errors import BadInput, Refused
from torusweep.workloads import WORKLOADS, Program, Workload, canonical, messages, workload


def skeleton(spelling: str, terminals: int) -> Workload:
    return workload(spelling, terminals)[1]


def real(one: Workload) -> np.ndarray:
    """Messages between different tasks."""
    return np.flatnonzero(one.source != one.destination)


def graph(one: Workload) -> networkx.DiGraph:
    found = networkx.DiGraph()
    found.add_nodes_from(range(len(one.source)))
    found.add_edges_from((other, message) for message, other in one.waits.tolist())
    return found


def sources_before(one: Workload, message: int, among: set[int], waits: networkx.DiGraph | None = None) -> set[int]:
    """Sources of the messages in `among` on which a message depends, its own source included; waits: graph(one)."""
    before = networkx.ancestors(graph(one) if waits is None else waits, message)
    return {int(one.source[g]) for g in before & among} | {int(one.source[message])}


def depth(one: Workload) -> int:
    """Number of messages in the longest chain of dependencies."""
    longest = [0] * len(one.source)
    for g in networkx.topological_sort(waits := graph(one)):
        longest[g] = max((longest[h] for h in waits.predecessors(g)), default=0) + int(
            one.source[g] != one.destination[g]
        )
    return max(longest)


SMALL = [
    "cg(order=64)",
    "is(keys=4096, buckets=8)",
    "ft(nx=8, ny=8, nz=16)",
    "lu(side=6)",
    "mg(side=8)",
    "ring_all_reduce",
    "all_to_all(rounds=2)",
]


@pytest.mark.parametrize("terminals", [2, 8, 16])
@pytest.mark.parametrize("spelling", SMALL)
def test_invariants_of_all_skeletons(spelling, terminals):
    one = skeleton(spelling, terminals)
    assert one.tasks == terminals
    assert (one.waits[:, 0] > one.waits[:, 1]).all()  # no message depends on a later one
    assert (one.flits[real(one)] >= 1).all()
    assert not one.delay.any()
    for array in (one.source, one.destination):
        assert array.min() >= 0
        assert array.max() < terminals
    # a message depends on what its sender has received or done
    message, other = one.waits.T
    assert (one.destination[other] == one.source[message]).all()
    # the number of dependencies is proportional to the number of messages
    assert len(one.waits) <= 2 * len(one.source)


def test_ring_all_reduce():
    one = skeleton("ring_all_reduce(flits=100)", 8)
    sent = real(one)
    assert Counter(zip(one.source[sent].tolist(), one.destination[sent].tolist())) == {
        (task, (task + 1) % 8): 14 for task in range(8)
    }
    assert set(one.flits[sent].tolist()) == {13}
    assert depth(one) == 14
    # the last messages depend on all tasks
    assert sources_before(one, sent[-1], set(sent.tolist())) == set(range(8))


def test_all_to_all_waits_between_rounds():
    one = skeleton("all_to_all(flits=5, rounds=2)", 6)
    pairs = {(a, b): 2 for a in range(6) for b in range(6) if a != b}
    assert Counter((int(one.source[g]), int(one.destination[g])) for g in real(one)) == pairs
    assert (one.flits[real(one)] == 5).all()
    second = real(one)[30]
    assert sources_before(one, second, set(real(one)[:30].tolist())) == set(range(6))
    assert sources_before(one, real(one)[29], set(real(one).tolist())) == {int(one.source[real(one)[29]])}
    assert depth(one) == 2


@pytest.mark.parametrize(("tasks", "rows", "columns"), [(4, 2, 2), (8, 2, 4), (16, 4, 4), (32, 4, 8), (128, 8, 16)])
def test_cg_sums_rows_and_transposes(tasks, rows, columns):
    one = skeleton("cg(order=1000)", tasks)
    stages = columns.bit_length() - 1
    own = {task: [g for g in real(one) if one.source[g] == task] for task in range(tasks)}
    segment = ceil(1000 * 8 / columns / 4)
    waits, before = graph(one), {g for sent in own.values() for g in sent[:stages]}
    for task, sent in own.items():
        away = len(sent) == 3 * stages + 1  # otherwise the task is at its own transposed place
        sizes = [segment] * (stages + away) + [2] * 2 * stages
        assert one.flits[sent].tolist() == sizes
        row = set(range(task // columns * columns, task // columns * columns + columns))
        # the sum that is sent to the transposed place contains all tasks of the row
        if away:
            assert sources_before(one, sent[stages], before, waits) == row
            partner = int(one.destination[sent[stages]])
            assert one.destination[own[partner][stages]] == task  # an exchange
            if rows == columns:
                assert divmod(partner, columns) == divmod(task, columns)[::-1]
            else:  # of the matrix in squares of 2 × 1 tasks
                assert divmod(partner // 2, rows) == divmod(task // 2, rows)[::-1]
                assert partner % 2 == task % 2
        assert {int(one.destination[g]) for g in sent[:stages]} <= row
    on_diagonal = rows if rows == columns else 2 * rows
    assert sum(len(mine) == 3 * stages for mine in own.values()) == on_diagonal


def test_is_sums_buckets_then_sends_keys():
    one = skeleton("is(keys=4096, buckets=8)", 16)
    sizes = Counter(one.flits[real(one)].tolist())
    assert sizes == {8 + 5: 16 * 4, 1: 16 * 15, 4096 // 256: 16 * 15}
    sums = {g for g in real(one).tolist() if one.flits[g] == 13}
    for g in real(one).tolist():
        if one.flits[g] == 1:
            assert sources_before(one, g, sums) == set(range(16))
    assert depth(one) == 4 + 1 + 1


def test_ft_transposes_and_sums_to_task_0():
    one = skeleton("ft(nx=8, ny=16, nz=32, rounds=3)", 8)
    transposed = [g for g in real(one).tolist() if one.flits[g] == 8 * 16 * 32 * 16 // 64 // 4]
    sums = [g for g in real(one).tolist() if one.flits[g] == 4]
    assert (len(transposed), len(sums)) == (3 * 56, 3 * 7)
    last = [g for g in sums[:7] if one.destination[g] == 0][-1]
    # the last sum is that of the upper half of the tasks
    assert sources_before(one, last, set(sums[:7])) | {0} == {0, 4, 5, 6, 7}
    assert {int(one.source[g]) for g in sums[:7]} == set(range(1, 8))
    assert sources_before(one, transposed[56], set(transposed[:56])) == set(range(8))


@pytest.mark.parametrize(("tasks", "rows", "columns"), [(2, 1, 2), (4, 2, 2), (8, 2, 4), (16, 4, 4)])
def test_lu_is_a_wavefront(tasks, rows, columns):
    side = 8
    one = skeleton(f"lu(side={side})", tasks)
    width, height = ceil(40 * side / columns / 4), ceil(40 * side / rows / 4)
    planes, downwards, sidewards = side - 2, (rows - 1) * columns, rows * (columns - 1)
    expected = Counter[tuple[int, int]]()
    for row in range(rows):
        for column in range(columns):
            for other, flits in (((row + 1, column), width), ((row, column + 1), height)):
                if other[0] < rows and other[1] < columns:
                    a, b = row * columns + column, other[0] * columns + other[1]
                    expected[a, b] += planes * flits + 2 * side * flits
                    expected[b, a] += planes * flits + 2 * side * flits
    found = Counter[tuple[int, int]]()
    for g in real(one):
        found[int(one.source[g]), int(one.destination[g])] += int(one.flits[g])
    assert found == expected
    assert len(real(one)) == 2 * (planes + 1) * (downwards + sidewards)
    # to the last task, back to the first, then the layers along columns and rows
    assert depth(one) == 2 * (rows + columns - 2) + (rows > 1) + (columns > 1)


def test_mg_exchanges_faces_of_a_periodic_grid():
    """8 tasks, 4³ points: level 2 on the way down and at the bottom; level 4 twice, and at the top."""
    one = skeleton("mg(side=4)", 8)
    faces = 3 * 8 * 2
    # faces of one point of 8 bytes, and of 2 × 2 points
    assert Counter(one.flits[real(one)].tolist()) == {2: 2 * faces, 2 * 4: 3 * faces}
    assert depth(one) == 5 * 3
    # of 64 tasks in a 4 × 4 × 4 grid, only every other one has a part of 2³ points
    one = skeleton("mg(side=4)", 64)
    coarse = [g for g in real(one).tolist() if one.flits[g] == 2][: 2 * faces]
    at = [{int(end) // 4**axis % 4 for g in coarse for end in (one.source[g], one.destination[g])} for axis in range(3)]
    assert at == [{0, 2}] * 3
    # neighbours at the finest level are one apart, round the torus, in one dimension
    for g in real(one).tolist()[2 * faces :]:
        digits = [(int(one.source[g]) // 4**axis % 4, int(one.destination[g]) // 4**axis % 4) for axis in range(3)]
        assert sorted(min((a - b) % 4, (b - a) % 4) for a, b in digits) == [0, 0, 1]


def test_receives_block():
    program = Program(3)
    first = program.send(0, 1, 4)
    free = program.send(1, 2, 4)  # before it receives
    program.receive(1, [first])
    after = program.send(1, 2, 4)
    program.receive(2, [free, after])
    last = program.send(2, 0, 0)
    one = program.workload()
    assert (free in networkx.ancestors(graph(one), after), first in networkx.ancestors(graph(one), after)) == (
        False,
        True,
    )
    assert {first, free, after} <= networkx.ancestors(graph(one), last)
    assert one.flits[last] == 1


@pytest.mark.parametrize(
    ("spelling", "says"),
    [
        ("ring", "unknown workload 'ring'; there are cg, is, ft, lu, mg, ring_all_reduce"),
        ("cg(tasks=12)", "tasks=12: expected a power of 2; choose tasks=8"),
        ("cg(tasks=32)", "tasks=32: expected 2 … 16, a terminal for each"),
        ("lu(side=4, tasks=16)", None),
        ("lu(side=4, tasks=1)", "tasks=1: expected ≥ 2"),
        ("mg(side=12)", "side=12: expected a power of 2; choose 8"),
        ("ring_all_reduce(flits=0)", "flits=0: expected"),
    ],
)
def test_wrong_parameters_are_refused(spelling, says):
    if says is None:
        assert skeleton(spelling, 16).tasks == 16
        return
    with pytest.raises(BadInput) as refusal:
        workload(spelling, 16)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_memory_estimate(monkeypatch):
    for spelling in ("all_to_all", "lu(side=64)", "ring_all_reduce"):
        tracemalloc.start()
        one = skeleton(spelling, 128)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < (messages.MESSAGE_BYTES + messages.LISTED_BYTES * spelling.startswith("lu")) * len(one.source)
    monkeypatch.setattr(messages, "default_memory", lambda: 2**20)
    tracemalloc.start()
    for spelling, many in (
        ("all_to_all", "4,192,256 messages or more need about 0.7 GiB; the limit is 0.00098 GiB"),
        ("lu(side=64)", "messages"),
    ):
        with pytest.raises(Refused, match=many):
            skeleton(spelling, 2048)
    assert tracemalloc.get_traced_memory()[1] < 3 * 2**20
    tracemalloc.stop()


@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_exchange_equals_sends_then_receives(seed):
    rng = np.random.default_rng(seed)
    tasks = int(rng.integers(2, 6))
    together, apart = Program(tasks), Program(tasks)
    for _ in range(3):
        source = rng.integers(0, tasks, rng.integers(0, 8))
        sent = [
            (int(s), int(s + away) % tasks, int(flits))
            for s, away, flits in zip(source, rng.integers(1, tasks, 8), rng.integers(0, 4, 8))
        ]
        together.exchange(sent)
        arriving: dict[int, list[int]] = {}
        for message in sent:
            arriving.setdefault(message[1], []).append(apart.send(*message))
        for task, some in arriving.items():
            apart.receive(task, some)
        if sent:  # single messages between blocks
            task = sent[0][0]
            for program in (together, apart):
                program.receive(task, [program.send((task + 1) % tasks, task, 2)])
    for one, other in zip(together.workload(), apart.workload()):
        assert np.array_equal(one, other)


def test_spellings_are_canonical():
    assert canonical("all-to-all( flits = 64 )") == "all_to_all"
    assert canonical("is(buckets=3)") == "is(buckets=3)"
    assert canonical("some/Messages.csv") == 'file(path="some/Messages.csv")'
    assert set(WORKLOADS) == {"cg", "is", "ft", "lu", "mg", "ring_all_reduce", "all_to_all", "file", "goal", "chakra"}


@pytest.mark.parametrize("terminals", [2, 4, 8, 16])
@pytest.mark.parametrize("spelling", [*SMALL, *(f"{spelling[:-1]}, rounds=3)" for spelling in SMALL[:5])])
def test_rounds_are_counted_as_they_are_then_built(spelling, terminals, monkeypatch):
    """Exchanges counted by arithmetic are those made; messages are not more, and all but cg's transposition."""
    counted, made = [], []
    check, exchange = Program.check_rounds, Program.exchange
    monkeypatch.setattr(Program, "check_rounds", lambda own, *count: (counted.append(count), check(own, *count))[1])
    monkeypatch.setattr(Program, "exchange", lambda own, given: (made.append(1), exchange(own, given))[1])
    one = skeleton(spelling, terminals)
    [(rounds, exchanges, sent)] = counted
    assert rounds * exchanges == len(made)
    transposed = rounds * terminals if spelling.startswith("cg") else 0
    assert len(real(one)) - transposed <= rounds * sent <= len(real(one))


@pytest.mark.parametrize(
    ("spelling", "terminals"),
    [
        *(("cg(rounds=100000)", 16), ("is(rounds=1000000)", 2), ("ft(rounds=50000)", 8), ("lu(rounds=1000000)", 64)),
        *(("mg(rounds=100000)", 8), ("all_to_all(rounds=1000000)", 4), ("ring_all_reduce", 1 << 18)),
        *(("lu(side=4096, rounds=100)", 1 << 22), ("is", 1 << 24), ("mg(side=16384, rounds=100)", 1 << 20)),
    ],
)
def test_too_many_rounds_are_refused_before_any_is_built(spelling, terminals, monkeypatch):
    """A hundred thousand rounds took 9 s."""
    for built in ("_append", "_add"):
        monkeypatch.setattr(Program, built, lambda *given: pytest.fail("a message was appended"))
    monkeypatch.setattr(messages, "default_memory", lambda: 8 << 30)
    with pytest.raises(Refused, match=r"more than 100,000 exchanges .* rounds of|messages or more need about"):
        skeleton(spelling, terminals)


def test_as_many_rounds_as_can_be_built_are(monkeypatch):
    """The arithmetic refuses exactly where the exchanges themselves would."""
    monkeypatch.setattr("torusweep.workloads.messages.MOST_BLOCKS", 100)
    assert len(real(skeleton("all_to_all(rounds=50)", 4))) == 50 * 12
    with pytest.raises(Refused, match="more than 50 exchanges between tasks: 51 rounds of 1;"):
        skeleton("all_to_all(rounds=51)", 4)
    monkeypatch.setattr(Program, "check_rounds", lambda *given: None)
    with pytest.raises(Refused, match="more than 50 exchanges between tasks, "):
        skeleton("all_to_all(rounds=51)", 4)
