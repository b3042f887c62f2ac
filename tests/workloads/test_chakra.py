"""Chakra execution traces as workloads, against plain loops and the workloads of `collectives`."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.workloads import files_of, workload
from torusweep.workloads.traces import replay
from torusweep.workloads.traces.chakra_messages import nodes_of
from torusweep.workloads.traces.operations import OPERATION_BYTES

from tests.faults import command_line
from tests.workloads.chakra_files import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BARRIER,
    BROADCAST,
    COLLECTIVE,
    COMPUTE,
    GATHER,
    LOAD,
    METADATA,
    RECEIVE,
    REDUCE,
    REDUCE_SCATTER,
    SEND,
    field,
    node,
    number,
    trace,
    write,
)
from tests.workloads.plain_times import message_cycles, messages, times

# examples/workload/microbenchmarks/all_reduce/4npus_1MB of astra-sim/astra-sim (MIT licence), ranks 0 and 1
ASTRA_SIM = (
    "070a05302e302e34481214616c6c5f7265647563655f346e7075735f314d421807520e0a0969735f6370755f6f70d80100520d0a09636f6d"
    "6d5f747970654800520f0a09636f6d6d5f73697a6548808040",
    "070a05302e302e344a08011214616c6c5f7265647563655f346e7075735f314d421807520e0a0969735f6370755f6f70d80100520d0a0963"
    "6f6d6d5f747970654800520f0a09636f6d6d5f73697a6548808040",
)


def chakra(first: Path, terminals: int = 16, **parameters: object):
    given = "".join(
        f", {name}={json.dumps(value) if name == 'groups' else value}" for name, value in parameters.items()
    )
    return workload(f'chakra(path="{first}"{given})', terminals)[1]


def everyone(folder: Path, ranks: int, kind: int, size: int, **attributes: int | str):
    """A trace in which every rank calls one collective."""
    calls = [[node(rank, COLLECTIVE, comm_type=kind, comm_size=size, **attributes)] for rank in range(ranks)]
    return write(folder, *calls)


def test_a_trace_of_astra_sim(tmp_path):
    """Two of its four files: an all_reduce of a mebibyte, on a ring of two halves, each sent twice."""
    for rank, content in enumerate(ASTRA_SIM):
        (tmp_path / f"all_reduce.{rank}.et").write_bytes(bytes.fromhex(content))
    one = chakra(tmp_path / "all_reduce.0.et")
    half = (1 << 20) // 2 // 4
    assert messages(one) == {(0, 1, half): 2, (1, 0, half): 2}
    assert one.notes == ()


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_an_all_reduce_is_that_of_the_workload(tmp_path, ranks):
    """As many messages of the same size between neighbours, in as many steps; ours may go round the other way."""
    one = chakra(everyone(tmp_path, ranks, ALL_REDUCE, 4 * 1000))
    ring = workload(f"ring_all_reduce(flits=1000, tasks={ranks})", 16)[1]
    share, steps = -(-1000 // ranks), 2 * (ranks - 1)
    assert Counter(one.flits[one.flits > 0].tolist()) == Counter(ring.flits[ring.flits > 0].tolist())
    assert Counter(one.source[one.flits > 0].tolist()) == dict.fromkeys(range(ranks), steps)
    assert max(times(one).values()) == steps * message_cycles(share)
    if ranks > 2:
        assert {abs(s - d) % ranks in (1, ranks - 1) for s, d, _ in messages(one)} == {True}


@pytest.mark.parametrize(
    ("kind", "algorithm", "sent", "steps"),
    [  # flits that each of 8 ranks sends, with 800 flits of comm_size, and steps one after another
        (ALL_REDUCE, "one_way_ring", [1400] * 8, 14),
        (ALL_REDUCE, "halving_doubling", [1400] * 8, 6),
        (ALL_REDUCE, "direct", [1400] * 8, 2),
        (REDUCE_SCATTER, "one_way_ring", [700] * 8, 7),
        (ALL_GATHER, "one_way_ring", [5600] * 8, 7),  # comm_size is a rank's part
        (ALL_GATHER, "ring", [5600] * 8, 7),
        (ALL_TO_ALL, "one_way_ring", [700] * 8, 1),
        (BROADCAST, "one_way_ring", [5600, *[0] * 7], 1),
        (REDUCE, "one_way_ring", [0, *[800] * 7], 1),
        (BARRIER, "one_way_ring", [3] * 8, 3),
    ],
)
def test_volumes_and_steps_of_collectives(tmp_path, kind, algorithm, sent, steps):
    one = chakra(everyone(tmp_path, 8, kind, 3200, root_rank=0), algorithm=algorithm)
    away = one.source != one.destination
    assert [int(one.flits[away & (one.source == rank)].sum()) for rank in range(8)] == sent
    last = max(times(one).values())
    longest = int(one.flits.max())
    assert steps * message_cycles(0) < last <= steps * message_cycles(longest)


@pytest.mark.parametrize("length", [127, 128, 129, 255, 256, 16383, 16384])
def test_messages_of_every_length_are_told_apart(length: int):
    """A length's byte of 128 is not its last byte."""
    longer = (field(1, 7) + field(3, COMPUTE) + field(2, "x" * name) for name in range(length))
    long = next(message for message in longer if len(message) == length)
    assert [one.id for one in nodes_of(trace(long, node(8, COMPUTE)))] == [7, 8]


def test_a_rank_begins_late_and_all_wait_for_it(tmp_path):
    """Rank 2 computes for 3 µs first; afterwards, rank 0 sends to rank 1: each step by hand."""
    late = [node(9, COMPUTE, micros=3), node(1, COLLECTIVE, [9], comm_type=BARRIER)]
    first = write(
        tmp_path,
        [node(1, COLLECTIVE, comm_type=BARRIER), node(2, SEND, [1], comm_dst=1, comm_size=40, comm_tag=5)],
        [node(1, COLLECTIVE, comm_type=BARRIER), node(2, RECEIVE, comm_src=0, comm_size=40, comm_tag=5)],
        late,
        [node(1, COLLECTIVE, comm_type=BARRIER)],
    )
    found = times(chakra(first))
    # rank 2 tells 3 in the first step and 0 in the second
    assert found["0.2"] == 3000 + message_cycles(1) + message_cycles(10)
    assert found["2.9.end"] == 3000
    assert times(chakra(first, cycles_per_us=10, flit_bytes=8))["0.2"] == 30 + message_cycles(1) + message_cycles(5)


def test_both_kinds_of_dependencies_count(tmp_path):
    first = write(
        tmp_path,
        [
            node(1, COMPUTE, micros=1),
            node(2, COMPUTE, micros=2),
            node(3, SEND, [1], control=[2], comm_dst=1, comm_size=4),
            node(4, LOAD, micros=7),
            node(5, SEND, [4, 1], comm_dst=1, comm_size=4),
        ],
        [node(1, RECEIVE, comm_src=0, comm_size=4), node(2, RECEIVE, comm_src=0, comm_size=4)],
    )
    one = chakra(first)
    found = times(one)
    assert found["0.3"] == 2000 + message_cycles(1)
    assert found["0.5"] == 7000 + message_cycles(1)
    assert one.notes == (
        "1 memory node of any size: replayed with the recorded duration",
        "2 calculations may overlap others of the same processor, since no dependency orders them",
    )


PYTORCH = '[\'[{"pg_name": "7", "ranks": [1, 3]}, {"pg_name": "8", "ranks": []}]\']'


def test_process_groups(tmp_path):
    """From metadata nodes, from a file, and all ranks: two ranks exchange halves, four a quarter a step."""
    part = node(2, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=16, pg_name="7")
    whole = node(3, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=16, pg_name="8")
    default = node(4, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=16, pg_name="0")
    named = node(1, METADATA, values=PYTORCH)
    first = write(
        tmp_path,
        [named, whole, default],
        [named, part, whole, default],
        [whole, default],
        [named, whole, part, default],
    )
    pairs = Counter((source, destination) for source, destination, _ in messages(chakra(first)).elements())
    assert sum(pairs.values()) == 2 * 4 * 6 + 2 * 2
    assert pairs[1, 3] == pairs[3, 1] == 2
    (tmp_path / "groups.json").write_text('{"7": [3, 1], "8": [0, 1, 2, 3]}')
    bare = write(tmp_path, [whole], [part, whole], [whole], [whole, part])
    assert sum(messages(chakra(bare, groups=str(tmp_path / "groups.json"))).values()) == 2 * 4 * 3 + 2 * 2
    spelled = f'chakra(path="{bare}", groups="{tmp_path}/groups.json")'
    assert files_of(spelled) == [tmp_path / f"t.{rank}.et" for rank in range(4)] + [tmp_path / "groups.json"]


def test_notes_of_a_trace_of_pytorch(tmp_path):
    """The launch of a collective on the host has a duration and no comm_size; its kernel on the GPU has a comm_size."""
    launch = node(1, COLLECTIVE, micros=85, is_cpu_op=True)
    kernel = node(2, COLLECTIVE, [1], comm_type=BROADCAST, comm_size=400, is_cpu_op=False, involved_dim=1)
    first = write(tmp_path, [launch, kernel, node(3, 0)], [kernel.replace(b"\x2a\x01\x01", b""), node(3, COMPUTE)])
    one = chakra(first)
    assert max(times(one).values()) == 85_000 + message_cycles(100)
    assert one.notes == (
        "1 communication node on the host without comm_size: replayed with the recorded duration",
        "2 broadcast or reduce calls without root_rank: from the first rank of the group",
        "2 collectives with involved_dim: not used, the process group counts",
        "1 node of type INVALID: no time",
        "1 node without a duration: no time",
    )


def test_a_trace_end_to_end_on_a_torus(tmp_path):
    """An all_reduce on a ring of 4: 6 steps of one hop, each 2 routers, a link and 15 more flits."""
    first = everyone(tmp_path, 4, ALL_REDUCE, 4 * 64)
    (row,) = simulation_records(build("ring(k=4)"), Parameters(workload=str(first)), seeds=(0,))
    assert row["delivery_time"] == 6 * (2 * 3 + 1 + 15)
    (row,) = simulation_records(build("torus(k=4, n=2)"), Parameters(workload=str(first)), seeds=(0,))
    assert row["messages"] == 4 * 6
    assert row["delivery_time"] >= 6 * (2 * 3 + 1 + 15)


def test_the_command_line_says_the_notes_after_the_result(tmp_path):
    first = everyone(tmp_path, 4, BROADCAST, 40)
    said = command_line.torusweep("simulate", "ring(k=4)", "--workload", str(first), "--json")
    (row,) = json.loads(said.out)
    assert row["messages"] == 3
    assert said.err.splitlines()[-1].endswith(
        'note: chakra(path="' + str(first) + '"): 4 broadcast or reduce calls without root_rank: from the first rank of'
        " the group"
    )


@pytest.mark.parametrize(
    ("ranks", "says"),
    [
        ([[node(1, COLLECTIVE, comm_type=BARRIER)], []], "rank 0 takes part in 1 collective of process group ''"),
        (
            [[node(1, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=size)] for size in (4, 8)],
            "t.1.et: node 1: expected all_reduce of 4 bytes as in",
        ),
        ([[node(1, COLLECTIVE, comm_type=GATHER, comm_size=4)]] * 2, "expected one of all_reduce, reduce, all_gather"),
        ([[node(1, COLLECTIVE, comm_type=0)]] * 2, "t.0.et: node 1: comm_size: expected a whole number"),
        ([[node(1, COLLECTIVE, comm_size=4)]] * 2, "t.0.et: node 1: comm_type: expected a whole number"),
        (
            [[node(1, COLLECTIVE, comm_type=0, comm_size=4, pg_name="x")]] * 2,
            "expected the ranks of process group 'x', got none",
        ),
        ([[node(1, SEND, comm_dst=1, comm_size=4)], []], "t.0.et: node 1: rank 0 sends 4 bytes to rank 1 with tag 0"),
        ([[node(1, SEND, comm_dst=2, comm_size=4)], []], "comm_dst: expected a rank of 0 … 1, a file each, got 2"),
        ([[node(1, SEND, comm_src=1, comm_dst=1, comm_size=4)], []], "expected comm_src 0, whose file it is in, got 1"),
        ([[node(1, SEND, comm_size=4)], []], "comm_dst: expected a whole number of 0"),
        ([[node(1, COMPUTE, [2])], []], "t.0.et: node 1: expected a node 2 that it depends on, got none"),
        ([[node(1, COMPUTE), node(1, COMPUTE)], []], "t.0.et: node 1: expected each node once, got it twice"),
        ([[node(1, 8)], []], "t.0.et: node 1: expected a type of 0 … 7, got 8"),
        ([[node(1, COMPUTE, [2]), node(2, COMPUTE, [1])], []], "got a cycle: '0."),
        ([[node(1, METADATA, values="['[{\"pg_name\": 1}]']")], []], "t.0.et: node 1: expected process groups"),
        ([[node(1, METADATA, values='[\'[{"pg_name": "1", "ranks": [4]}]\']')], []], "expected different ranks of 0"),
        ([[node(1, COMPUTE, micros=10**9)], []], "t.0.et: node 1: expected at most 536,870,912 cycles"),
        ([[], []], "t.0.et: expected messages between ranks, got none"),
    ],
)
def test_errors_name_the_file_and_the_node(tmp_path, ranks, says):
    with pytest.raises(BadInput) as refusal:
        chakra(write(tmp_path, *ranks))
    assert says in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_other_files_are_refused(tmp_path):
    barrier = node(1, COLLECTIVE, comm_type=BARRIER)
    first = write(tmp_path, [barrier], [barrier])
    for content, says in (
        (b"\xff" * 9, "t.1.et: expected a length at byte 0, got a number of more than 5 bytes"),
        (b"\xff", "expected a length at byte 0, got the end of the file"),
        (trace(barrier)[:-1], "expected a message of"),
        (number(2) + b"\x0a\x7f", "expected message 0 of Chakra's schema, got other bytes"),
        (trace(field(10, field(1, "x"))[:-1]), "expected message 1 of Chakra's schema, got other bytes"),
    ):
        (tmp_path / "t.1.et").write_bytes(content)
        with pytest.raises(BadInput, match=says):
            chakra(first)
    write(tmp_path, [barrier], [barrier])
    with pytest.raises(BadInput, match=r"expected the trace of rank 0, NAME\.0\.et"):
        workload(str(tmp_path / "t.1.et"), 8)
    with pytest.raises(BadInput, match="no such file"):
        workload(str(tmp_path / "u.0.et"), 8)
    with pytest.raises(BadInput, match="expected 1 … 1 ranks, a terminal for each, got 2"):
        chakra(first, 1)
    with pytest.raises(BadInput, match="between 3 ranks: expected a power of 2"):
        chakra(everyone(tmp_path, 3, ALL_REDUCE, 8), algorithm="halving_doubling")
    for text in ("x", "[1]", '{"7": [1, 1]}', '{"7": [9]}', '{"7": []}', "[" * 100_000):
        (tmp_path / "groups.json").write_text(text)
        with pytest.raises(BadInput, match=r"groups\.json: expected"):
            chakra(first, groups=str(tmp_path / "groups.json"))


def test_memory_of_a_trace(tmp_path):
    """Of many nodes, and of many steps of a collective."""
    first = write(tmp_path, [node(n, COMPUTE) for n in range(1, 4000)] + [node(0, COLLECTIVE, comm_type=9)])
    (tmp_path / "t.1.et").write_bytes(trace(node(0, COLLECTIVE, comm_type=9)))
    tracemalloc.start()
    chakra(first)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < OPERATION_BYTES * 4000
    large = everyone(tmp_path, 64, ALL_TO_ALL, 1 << 20)
    chakra(large, 64)  # the schedule is kept
    tracemalloc.start()
    chakra(large, 64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < replay.STEP_BYTES * 64 * 64
