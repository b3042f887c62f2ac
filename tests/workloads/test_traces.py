"""Traces as workloads: GOAL schedules and Chakra traces, against plain loops written from their definitions."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.workloads import canonical, files_of, workload
from torusweep.workloads.traces import operations

from tests.workloads.plain_times import message_cycles, messages, times


def goal(tmp_path: Path, text: str, terminals: int = 8, **parameters: int):
    path = tmp_path / "a.goal"
    path.write_text(text)
    given = "".join(f", {name}={value}" for name, value in parameters.items())
    return workload(f'goal(path="{path}"{given})', terminals)[1]


# --- GOAL ----------------------------------------------------------------------------------------

TWO_HOPS = """num_ranks 4
/* rank 0 thinks,
   rank 1 answers */
rank 0 {
l1: calc 100 cpu 0
l2: send 64b to 1 tag 7 cpu 0 nic 0   // 16 flits
l2 requires l1
}
rank 1 {
r: recv 64b from 0 tag 7
c: calc 50
c requires r
s: send 4b to 3
s requires c
}
rank 2 { }
rank 3 {
recv 4b from 1
}
"""


def test_a_trace_of_two_messages(tmp_path):
    one = goal(tmp_path, TWO_HOPS)
    assert one.tasks == 4
    assert messages(one) == {(0, 1, 16): 1, (1, 3, 1): 1}
    assert sorted(one.delay.tolist()) == [0, 0, 50, 100]
    assert one.notes == ()


def test_its_makespan_by_hand(tmp_path):
    """100 cycles; 2 routers of 3 cycles, a link and 15 more flits; 50 cycles; 3 routers and 2 links."""
    goal(tmp_path, TWO_HOPS)
    (row,) = simulation_records(build("ring(k=4)"), Parameters(workload=str(tmp_path / "a.goal")), seeds=(0,))
    assert row["delivery_time"] == 100 + (2 * 3 + 1 + 15) + 50 + (3 * 3 + 2)
    (half,) = simulation_records(
        build("ring(k=4)"),
        Parameters(workload=f'goal(path="{tmp_path}/a.goal", cycles_per_us=500, flit_bytes=8)'),
        seeds=(0,),
    )
    assert half["delivery_time"] == 50 + (2 * 3 + 1 + 7) + 25 + (3 * 3 + 2)
    assert (row["messages"], half["messages"]) == (2, 2)


def random_schedule(draw: random.Random) -> tuple[str, list[list[tuple]], list[list[tuple[int, str, int]]]]:
    """Text, operations (kind, peer, bytes, tag, nanoseconds) of each rank, its dependencies (later, word, other)."""
    ranks = draw.randint(2, 4)
    operations: list[list[tuple]] = [[] for _ in range(ranks)]
    needs: list[list[tuple[int, str, int]]] = [[] for _ in range(ranks)]
    for _ in range(draw.randint(3, 14)):
        source, destination = draw.sample(range(ranks), 2)
        size, tag = draw.randint(0, 40), draw.randint(0, 1)
        operations[source].append(("send", destination, size, tag, 0))
        operations[destination].append(("recv", source, size, tag, 0))
        rank = draw.randrange(ranks)
        operations[rank].append(("calc", -1, 0, 0, draw.randint(0, 30)))
    for rank, own in enumerate(operations):
        for later in range(1, len(own)):  # on earlier ones, so that there is no cycle
            for other in draw.sample(range(later), min(later, draw.randint(0, 2))):
                needs[rank].append((later, draw.choice(["requires", "irequires"]), other))
    lines = [f"num_ranks {ranks}"]
    for rank, own in enumerate(operations):
        lines.append(f"rank {rank} {{")
        for number, (kind, peer, size, tag, time) in enumerate(own):
            what = {"send": f"send {size}b to {peer} tag {tag}", "recv": f"recv {size}b from {peer} tag {tag}"}
            lines.append(f"l{number}: {what.get(kind, f'calc {time}')}")
        lines += [f"l{later} {word} l{other}" for later, word, other in needs[rank]]
        lines.append("}")
    return "\n".join(lines) + "\n", operations, needs


def play(operations, needs, eager: float) -> dict[str, int]:
    """When each send begins, by rounds over all operations until nothing changes: the definition, without a graph."""
    begin = [[0] * len(own) for own in operations]
    end = [[0] * len(own) for own in operations]

    def partner(rank: int, number: int) -> tuple[int, int]:
        kind, peer, _, tag, _ = operations[rank][number]
        other = {"send": "recv", "recv": "send"}[kind]
        turn = sum(one[:2] == (kind, peer) and one[3] == tag for one in operations[rank][:number])
        same = [at for at, one in enumerate(operations[peer]) if one[:2] == (other, rank) and one[3] == tag]
        return peer, same[turn]

    for _ in range(200):
        before = (json.dumps(begin), json.dumps(end))
        for rank, own in enumerate(operations):
            for number, (kind, _, size, _, time) in enumerate(own):
                begin[rank][number] = max(
                    [0]
                    + [
                        (end if word == "requires" else begin)[rank][other]
                        for later, word, other in needs[rank]
                        if later == number
                    ]
                )
                if kind == "calc":
                    end[rank][number] = begin[rank][number] + time
                    continue
                there, at = partner(rank, number)
                sent, posted = (begin[rank][number], begin[there][at])
                if kind == "recv":
                    sent, posted = posted, sent
                flits = max(1, -(-size // 4))
                arrived = (max(sent, posted) if size > eager else sent) + message_cycles(flits)
                if kind == "recv":
                    end[rank][number] = max(begin[rank][number], arrived)
                else:
                    end[rank][number] = arrived if size > eager else begin[rank][number]
        if before == (json.dumps(begin), json.dumps(end)):
            break
    else:
        raise AssertionError("waits in a circle")
    found = {}
    for rank, own in enumerate(operations):
        for number, (kind, _, size, _, _) in enumerate(own):
            if kind == "send":
                there, at = partner(rank, number)
                start = max(begin[rank][number], begin[there][at]) if size > eager else begin[rank][number]
                found[f"{rank}.l{number}"] = start + message_cycles(max(1, -(-size // 4)))
    return found


@pytest.mark.parametrize("eager", [None, 8])
def test_every_message_arrives_when_the_definition_says(tmp_path, eager):
    played = 0
    for seed in range(60):
        text, own, needs = random_schedule(random.Random(seed))
        try:
            expected = play(own, needs, float("inf") if eager is None else eager)
        except AssertionError:  # with rendezvous, two senders may wait for each other
            assert eager is not None
            with pytest.raises(BadInput, match="got a cycle"):
                goal(tmp_path, text, eager_bytes=eager)
            continue
        played += 1
        found = times(goal(tmp_path, text, **({} if eager is None else {"eager_bytes": eager})))
        assert {name: time for name, time in found.items() if name in expected} == expected
    assert played > 20


def test_messages_of_one_tag_keep_their_order(tmp_path):
    """The first receive gets the first message, although the second one is sent earlier."""
    text = """num_ranks 2
rank 0 {
c: calc 1000
a: send 4b to 1
a requires c
b: send 400b to 1
recv 4b from 1
recv 8b from 1
}
rank 1 {
x: recv 4b from 0
y: recv 400b from 0
s: send 4b to 0
s requires y
t: send 8b to 0
t requires x
}
"""
    found = times(goal(tmp_path, text))
    assert found["1.s"] == message_cycles(100) + message_cycles(1)
    assert found["1.t"] == 1000 + message_cycles(1) + message_cycles(2)


def test_notes_count_what_is_not_replayed(tmp_path):
    """Of four calculations on one processor the second and the third depend on the first only; lane 1 is another."""
    one = goal(
        tmp_path,
        "num_ranks 2\nrank 0 {\na: calc 5\nb: calc 5\nc: calc 5\nd: calc 5\ne: calc 5 cpu 1\nb requires a\n"
        "c requires a\nd requires b\nd requires c\nsend 9b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
    )
    assert one.notes == (
        "1 receive of another size than what is sent: the send's size counts",
        "1 calculation may overlap others of the same processor, since no dependency orders them",
    )


HEAD = "num_ranks 2\nrank 0 {\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a.goal: expected num_ranks N, got none"),
        ("rank 0 {\n}\n", "a.goal:1: expected num_ranks N before the first rank"),
        ("num_ranks 9\n", "a.goal:1: expected 1 … 8 ranks, a terminal for each, got 9; choose a larger network"),
        ("num_ranks 0\n", "a.goal:1: expected 1 … 8 ranks"),
        ("num_ranks 2\nnum_ranks 2\n", "a.goal:2: expected num_ranks once"),
        ("num_ranks 2\nrank 2 {\n}\n", "a.goal:2: expected a rank of 0 … 1, got 2"),
        (HEAD + "rank 1 {\n", "a.goal:3: expected } before another rank, got rank 1; end rank 0 first"),
        (HEAD + "}\n\nrank 0 {\n}\n", "a.goal:5: expected each rank once, got rank 0 again, after line 2"),
        (HEAD, "expected } to end rank 0, which begins in line 2"),
        ("num_ranks 2\ncalc 5\n", "a.goal:2: expected num_ranks, rank N {"),
        (HEAD + "sned 4b to 1\n}\n", "a.goal:3: expected num_ranks, rank N {, send, recv, calc"),
        (HEAD + "send 4 to 1\n}\n", "a.goal:3: expected num_ranks"),
        (HEAD + "send 4b to 2\n}\n", "a.goal:3: expected a rank of 0 … 1, got 2"),
        (HEAD + "recv 4b from -1\n}\n", "a.goal:3: expected the rank and the tag of one message, got -1"),
        (HEAD + "recv 4b from 1 tag -1\n}\n", "a.goal:3: expected the rank and the tag of one message, got -1"),
        (HEAD + "send 99999999999999999999b to 1\n}\n", "a.goal:3: expected whole numbers of at most"),
        (HEAD + "calc 600000000\n}\n", "a.goal:3: expected at most 536,870,912 cycles of calculation, got 600,000,000"),
        (HEAD + "a: calc 1\na: calc 1\n}\n", "a.goal:4: expected a label of its own, got 'a', which is also in"),
        (HEAD + "a: calc 1\na requires b\n}\n", "a.goal:4: expected labels of rank 0, got 'b', which no operation has"),
        (
            HEAD + "\nsend 4b to 1 tag 3\n}\nrank 1 {\n}\n",
            "a.goal:4: rank 0 sends 4 bytes to rank 1 with tag 3: expected its receive there, got 0 receives",
        ),
        (
            HEAD + "send 4b to 1\n}\nrank 1 {\nrecv 4b from 0\nrecv 4b from 0\n}\n",
            "a.goal:7: rank 1 receives from rank 0 with tag 0: expected its send there, got 1 send for 2 receives",
        ),
        (
            HEAD + "a: recv 4b from 1\nb: send 4b to 1\nb requires a\n}\n"
            "rank 1 {\nc: recv 4b from 0\nd: send 4b to 0\nd requires c\n}\n",
            "expected operations that can all begin, got a cycle: '0.a' waits for '1.d'",
        ),
        (HEAD + "a: calc 1\na requires a\n}\n", "a.goal:3: expected operations that can all begin, got a cycle: '0.a'"),
        (HEAD + "calc 5\n}\n", "a.goal: expected messages between ranks, got none"),
    ],
)
def test_errors_of_goal_name_the_line(tmp_path, text, says):
    with pytest.raises(BadInput) as refusal:
        goal(tmp_path, text)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_is_named_by_its_suffix(tmp_path):
    assert canonical("x.goal") == 'goal(path="x.goal")'
    assert canonical("y/x.0.et") == 'chakra(path="y/x.0.et")'
    assert files_of("x.goal") == [Path("x.goal")]
    with pytest.raises(BadInput, match="no such file"):
        workload(str(tmp_path / "none.goal"), 8)
    (tmp_path / "b.goal").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="as text, got other bytes"):
        workload(str(tmp_path / "b.goal"), 8)


def test_memory_of_a_schedule(tmp_path):
    count = 2000
    lines = (
        "".join(f"a{number}: send 1b to 1\n" for number in range(count)) + "}\nrank 1 {\n" + "recv 1b from 0\n" * count
    )
    tracemalloc.start()
    goal(tmp_path, HEAD + lines + "}\n")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < operations.OPERATION_BYTES * 2 * count


def test_a_trace_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(operations, "default_memory", lambda: 100)
    with pytest.raises(Refused, match="more than this machine's memory can hold"):
        goal(tmp_path, TWO_HOPS)
    monkeypatch.setattr(operations, "default_memory", lambda: 1_000_000)
    with pytest.raises(Refused, match="4,096 operations or more need about"):
        goal(tmp_path, HEAD + "calc 5\n" * 5000 + "}\n")
