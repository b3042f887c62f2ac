"""Any bytes as messages, a GOAL schedule or a Chakra trace, any mix of packet lengths: refused in a line, or run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import Properties, mixed
from tests.workloads import chakra_files

MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(-1, 40), st.sampled_from(["", "m0", "m1", "m0 m1", "m9"])
    ),
    min_size=1,
    max_size=6,
).map(
    lambda rows: (
        "message,source,destination,flits,depends_on\n"
        + "".join(f"m{number},{s},{d},{flits},{after}\n" for number, (s, d, flits, after) in enumerate(rows))
    ).encode()
)
WORKLOADS = MESSAGES | mixed(
    *(
        b"message",
        b"source",
        b"destination",
        b"flits",
        b"depends_on",
        b",",
        b"0",
        b"1",
        b"-1",
        b"1e9",
        b"nan",
        b'"',
        b"m0",
    ),
    b"message,source,destination,flits\nm0,0,1,",
)


def a_workload(content: bytes) -> None:
    Path("any_workload.csv").write_bytes(content)
    said = torusweep("simulate", "mesh(k=2, n=2)", "--workload", "any_workload.csv", "--cycles", "3000", "--json")
    if settled(said):
        (row,) = json.loads(said.out)
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert row["messages"] == sum(int(one["source"]) != int(one["destination"]) for one in rows)


GOAL_LINES = st.lists(
    st.sampled_from(
        [
            *("a: send 8b to 1", "b: recv 8b from 1 tag 0", "send 4b to 0 tag 1 cpu 0 nic 1", "recv 4b from 0 tag 1"),
            *(
                "c: calc 9",
                "c requires a",
                "a irequires c",
                "a requires b",
                "}",
                "rank 1 {",
                "rank 2 { }",
                "num_ranks 3",
            ),
            *("// x", "/* x", "*/", "send 8b to 9", "recv 1b from -1", "calc 99999999999"),
        ]
    ),
    max_size=12,
).map(lambda lines: "\n".join(["num_ranks 3", "rank 0 {", *lines, "}", ""]).encode())
GOALS = GOAL_LINES | mixed(
    *(b"num_ranks 3", b"rank", b"0", b"{", b"}", b"send", b"8b", b"to", b"1", b"recv", b"from", b"calc", b"requires"),
    b"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
)


def a_schedule(content: bytes) -> None:
    """What is accepted sends as many messages as it has sends to other ranks."""
    Path("any.goal").write_bytes(content)
    said = torusweep("simulate", "mesh(k=2, n=2)", "--workload", "any.goal", "--cycles", "3000", "--json")
    if settled(said):
        (row,) = json.loads(said.out)
        assert 1 <= row["messages"] <= content.count(b"send")


NODES = st.lists(
    st.builds(
        chakra_files.node,
        st.integers(0, 4),
        st.integers(0, 9),
        st.lists(st.integers(0, 4), max_size=2),
        micros=st.sampled_from([0, 1, 2**62]),
        values=st.sampled_from(["", '[\'[{"pg_name": "1", "ranks": [0]}]\']', "pg_name"]),
        comm_type=st.integers(0, 11),
        comm_size=st.sampled_from([0, 9, 2**62]),
        comm_dst=st.integers(0, 2),
        comm_src=st.integers(0, 2),
        pg_name=st.sampled_from(["", "0", "1", "é\u202e"]),
    ),
    max_size=4,
)
BARRIER = chakra_files.node(1, 7, comm_type=9)
TRACES = NODES.map(lambda nodes: chakra_files.trace(*nodes)) | mixed(
    *(b"\x07\n\x051.0.0", b"\x04\x08\x01\x18\x07", b"\x80", b"\x7f", chakra_files.trace(BARRIER))
)


def a_trace(content: bytes) -> None:
    """The file of rank 0; rank 1 calls a barrier. What is accepted sends something."""
    Path("any.0.et").write_bytes(content)
    Path("any.1.et").write_bytes(chakra_files.trace(BARRIER))
    said = torusweep("simulate", "mesh(k=2, n=2)", "--workload", "any.0.et", "--cycles", "3000", "--json")
    if settled(said):
        (row,) = json.loads(said.out)
        assert row["messages"] >= 2


MIXES = st.lists(st.sampled_from(["1", "5", ":", ",", "0.5", "1e9", "-", " ", "nan", "x", "١"]), max_size=8).map(
    "".join
)


def a_mix(text: str) -> None:
    said = torusweep("simulate", "ring(k=3)", "--load", "0.1", "--cycles", "60", f"--packet-mix={text}", "--json")
    if settled(said):
        (row,) = json.loads(said.out)
        shares = [float(part.partition(":")[2]) for part in row["packet_mix"].split(",")]
        assert sum(shares) == pytest.approx(1)


PROPERTIES: Properties = {
    "workload": (WORKLOADS, a_workload, 1),
    "goal": (GOALS, a_schedule, 1),
    "chakra": (TRACES, a_trace, 1),
    "mix": (MIXES, a_mix, 1),
}
