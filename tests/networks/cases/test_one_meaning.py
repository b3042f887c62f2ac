"""Small files that were read or answered wrongly once: each with its command and the right value, file by file.

The values are by hand, by networkx or by plain loops, and stand beside the files as they were reported; none was read
off the code under test. Letters are those of the report.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torusweep as ts

from tests.faults.command_line import torusweep

HERE = Path(__file__).parent / "meaning"
CLOS4 = {"terminals": 4, "mean_distance": 2.5, "mean_distance_distinct": pytest.approx(10 / 3)}
STAR_OF_STARS = {"nodes": 5, "links": 4, "diameter": 4}
RING = {"nodes": 4, "links": 4, "degree_max": 2, "diameter": 2, "connected": True, "directed": False}
COSTS = 'graph(path="ospf.graphml", weights="cost")'
MICROSECOND = 1e-6


class Row(NamedTuple):
    """The letter of the report, a command, what its JSON says, and words of what it prints beside."""

    letter: str
    command: tuple[str, ...]
    right: dict[str, Any]
    words: str = ""


def microseconds(answer: dict[str, Any]) -> float:
    """From the first flit's start until all of one message is there."""
    return float(answer["message_latency"] * answer["cycle_ns"] / 1e3)


def best_milliseconds(answer: dict[str, Any]) -> float:
    return float(answer["ranking"][0]["seconds"] * 1e3)


def of_direct(answer: list[dict[str, Any]]) -> float:
    """Microseconds of the algorithm direct, for the first size."""
    (found,) = (row for row in answer if row["algorithm"] == "direct")
    return float(found["times"][0]["seconds"] / MICROSECOND)


CALLED: dict[str, Callable[..., float]] = {"µs": microseconds, "ms": best_milliseconds, "direct µs": of_direct}
TORUS = 'with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"])'
ROWS = [
    Row("A", ("place", TORUS, "--axes", "tp=4,dp=4"), {"ms": pytest.approx(8.061, abs=5e-4)}),
    Row("A", ("place", "torus(k=4, n=2)", "--axes", "tp=4,dp=4", "--bandwidth", "12.5GB/s"), {
        "ms": pytest.approx(8.061, abs=5e-4)}),
    # 1 MB at 100 Gb/s is 80 µs, and two links of 1 µs
    Row("A", ("simulate", "two.txt", "--workload", "m1.csv"), {"µs": pytest.approx(82, rel=0.01)}),
    Row("A", ("simulate", "two10.txt", "--workload", "m1.csv"), {"µs": pytest.approx(802, rel=0.01)}),
    # 8,000 flits over links of 8 flits a cycle; 8,000 cycles would be those of one flit a cycle
    Row("A", ("simulate", "mix.txt", "--workload", "m8.csv"), {"message_latency": pytest.approx(1200, abs=200)}),
    # 8 × 1 KiB / 8 to each of 7 others twice at 50 GB/s, and two steps of two links of 10 ns
    Row("B", ("collective", "star8.graphml", "all_reduce", "--bytes", "1KiB:1MiB", "--algorithm", "direct,ring"), {
        "direct µs": pytest.approx(0.0758, abs=5e-5)}),
    Row("C", ("loads", "rails.txt", "--traffic", "d03.csv"), {}, "got none: hosts forward nothing"),
    # one route of four links carries all that the four terminals send
    Row("C", ("loads", "railspine.txt", "--traffic", "d03.csv"), {
        "mean_hops": 4, "max_channel_load": 4, "mean_channel_load": pytest.approx(4 * 4 / 20), "lost_pairs": 0}),
    Row("C", ("deadlock", "railspine.txt"), {"acyclic": True, "deadlock_free": "yes", "least_virtual_channels": 1}),
    Row("D", ("describe", "sharp.ibnet"), CLOS4, "3 aggregation nodes of SHARP read as devices"),
    Row("D", ("describe", "fab.ibnet"), CLOS4),
    Row("D", ("collective", "sharp.ibnet", "all_gather"), {"algorithm": "optimum", "terminals": 4, "cycles": 0.75}),
    Row("E", ("describe", "hash4.csv"), STAR_OF_STARS),
    Row("E", ("describe", "hash2.edges"), STAR_OF_STARS, "as in sw#1"),
    Row("F", ("describe", "metis-ring.graph"), RING),
    Row("F", ("describe", "ringc.graph"), RING),
    Row("F", ("describe", "nm.edges"), {}, "may be either; say header=true (5 nodes, 4 links) or header=false"),
    Row("F", ("describe", 'graph(path="nm.edges", header=true)'), {"nodes": 5, "links": 4, "diameter": 4}),
    Row("F", ("describe", 'graph(path="nm.edges", header=false)'), {"nodes": 6, "links": 5, "diameter": 5}),
    Row("H", ("loads", "nullbw.parquet"), {}, "1 link without bandwidth, taken as 1 flit a cycle"),
    Row("H", ("loads", "nanbw.parquet"), {}, "got nan"),
    Row("I", ("describe", "gephid.csv"), {"directed": True, "nodes": 4, "links": 4, "diameter": 3,
                                         "mean_distance_distinct": 2}),
    Row("15", ("loads", "ospf.graphml", "--traffic", "d02.csv"), {}, 'say weights="bandwidth"'),
    # all of 0 → 2 on two links, or on the one that costs ten, with a note
    Row("15", ("loads", COSTS, "--traffic", "d02.csv", "--routing", "weighted(by=weight)"), {
        "mean_hops": 2, "lost_pairs": 0}),
    Row("15", ("loads", COSTS, "--traffic", "d02.csv"), {"mean_hops": 1}, "this answer leaves out: weight"),
    # three GPUs, two NVLinks, one and one; four of them in a ring, two and one in turn
    Row("files", ("describe", "nccl.xml"), {"nodes": 3, "terminals": 3, "links": 4, "diameter": 1}),
    Row("files", ("describe", "smi.txt"), {"nodes": 4, "terminals": 4, "links": 6, "diameter": 2}),
    # a host below each leaf: 0, 2 twice, 4 three times
    Row("files", ("describe", "topology.yaml"), {
        "nodes": 9, "terminals": 6, "links": 8, "diameter": 4, "distance_histogram": [6, 0, 12, 0, 18]}),
    # leaf1 has n01, n02, n04; leaf2 n03, n05, n06, gpu1
    Row("files", ("describe", "topo2.conf"), {
        "nodes": 10, "terminals": 7, "links": 9, "diameter": 4, "distance_histogram": [7, 0, 18, 0, 24]}),
    Row("files", ("describe", "topo3.conf"), {}, "topology/block, which names nodes that are near, and no links"),
    Row("files", ("describe", "ring.snd"), RING, "undirected unless directed=true"),
    Row("files", ("describe", "rep.graph"), {"nodes": 4, "links": 8, "diameter": 2, "directed": True}),
]  # fmt: skip
NAMES = ["_".join([row.letter, *row.command[:2]]) for row in ROWS]


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch):
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_file_has_the_right_value(row: Row):
    said = torusweep(*row.command, "--json")
    assert row.words in said.err + said.out
    assert (said.status, said.out == "") == ((0, False) if row.right or "taken as" in row.words else (2, True)), said
    if row.right:
        answer = json.loads(said.out)
        first = answer[0] if isinstance(answer, list) else answer
        for name, right in row.right.items():
            found = CALLED[name](answer if name == "direct µs" else first) if name in CALLED else first[name]
            assert found == right, name


def test_every_file_has_a_row():
    named = " ".join(word for row in ROWS for word in row.command)
    assert {name for name in os.listdir(HERE) if not re.search(rf'(^|[ "]){re.escape(name)}($|[ "])', named)} == set()
    assert {row.letter for row in ROWS} == {*"ABCDEFHI", "15", "files"}


def test_the_one_route_over_the_spine():
    """0-6-8-7-3, by the table of next nodes."""
    table = ts.network("railspine.txt").routes("minimal").to_pylist()
    steps = {(row["at"], row["destination"]): row["to"] for row in table}
    assert len(steps) == len(table)
    route = [0]
    while route[-1] != 3:
        route.append(steps[route[-1], 3])
    assert route == [0, 6, 8, 7, 3]
