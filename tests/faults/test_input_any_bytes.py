"""Any bytes as configuration, topology, graph, demand matrix, SQL or shard: one line and a status, or the right table.

What is drawn goes through the real command line. What is accepted is checked by oracles that share no code with it.
`corpus/` keeps small inputs that once broke it, or look as if they would: each is refused or answered as its name says.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, seed, settings
from hypothesis import strategies as st
from torusweep.sweep.points import Point
from torusweep.tables import store

from tests.faults.command_line import settled, torusweep
from tests.run.faulty_worker import made_up_rows
from tests.run.rings import Run
from tests.workloads import chakra_files

CORPUS = Path(__file__).parent / "corpus"
FEW, MANY = 25, 300  # examples in make test, in make test-faults


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def mixed(*words: bytes) -> st.SearchStrategy[bytes]:
    """Bytes: any at all, or words that the reader knows in any order."""
    return st.binary(max_size=120) | st.lists(
        st.sampled_from([*words, b" ", b"\n", b"\x00", b"\xff", "é\u202e".encode()]), max_size=30
    ).map(b"".join)


# --- topologies ----------------------------------------------------------------------------------

NAMES = [
    "ring",
    "torus",
    "mesh",
    "hypercube",
    "pruned_torus",
    "directed_torus",
    "rtt",
    "pt",
    "twisted_torus",
    "lattice",
    "ccc",
    "mh3dt",
    "graph",
    "x",
]
VALUES = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "-1",
    "1e308",
    "nan",
    "true",
    "[2, 3]",
    "[[2, 0], [0, 2]]",
    "{1: {0: 2}}",
    '"a\\u0000b"',
    '"\\ud800"',
    "split",
]
ARGUMENTS = st.tuples(
    st.sampled_from(["k", "n", "a", "m", "radices", "matrix", "twists", "levels", "q", "path", "links", "x"]),
    st.sampled_from(VALUES),
)
SPELLINGS = st.recursive(
    st.tuples(st.sampled_from(NAMES), st.lists(ARGUMENTS.map("=".join), max_size=3)).map(
        lambda parts: f"{parts[0]}({', '.join(parts[1])})"
    ),
    lambda inner: st.tuples(inner, st.lists(ARGUMENTS.map("=".join), max_size=2)).map(
        lambda parts: f"faulty({', '.join([parts[0], *parts[1]])})"
    ),
    max_leaves=2,
)


def a_topology(spelling: str) -> None:
    assume(not spelling.startswith("-"))  # an option
    said = torusweep("describe", spelling, "--json")
    if settled(said):
        record = json.loads(said.out, parse_constant=pytest.fail)
        assert json.loads(torusweep("describe", record["topology"], "--json").out) == record, (
            "the canonical spelling is another network"
        )
        assert sum(record["distance_histogram"]) <= record["terminals"] ** 2


# --- graph files ---------------------------------------------------------------------------------


def a_graph(content: bytes) -> None:
    for suffix in ("edges", "adjlist", "graphml", "anynet", "json", "parquet"):
        Path(f"any.{suffix}").write_bytes(content)
        said = torusweep("describe", f'graph(path="any.{suffix}")', "--json")
        if settled(said) and suffix == "edges":
            record = json.loads(said.out)
            assert (record["nodes"], record["links"], record["components"]) == plainly(content)


def plainly(content: bytes) -> tuple[int, int, int]:
    """(nodes, links, components) of an edge list, by a plain loop and networkx."""
    times: Counter[tuple[str, str]] = Counter()
    graph = nx.Graph()
    named = False
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.decode().split("#")[0].split("%")[0].replace(",", " ").split()
        if words:
            words = words[:2] if words[2:] and words[2].startswith("{") else words
            if not graph:  # the first line decides
                named = not all(word[0].isdigit() for word in words)
            tail, head = (word if named else str(int(word)) for word in words)
            graph.add_edge(tail, head)
            times[tail, head] += tail != head
    links = sum(max(times[tail, head], times[head, tail]) for tail, head in graph.edges if tail != head)
    return len(graph), links, nx.number_connected_components(graph)


PAIRS = st.lists(st.tuples(*[st.integers(0, 7) | st.integers(0, 2**62 - 1)] * 2), min_size=1, max_size=12)
EDGES = PAIRS.map(lambda pairs: "".join(f"{tail} {head}\n" for tail, head in pairs).encode())
# node-link JSON of anything, and of something close to a graph
SMALL = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["a", "b", "\ud800", 1e308, 2**40])
NODES = st.dictionaries(st.sampled_from(["id", "endpoints", "x"]), SMALL, max_size=3)
LINKS = st.dictionaries(
    st.sampled_from(["source", "target", "port", "target_port", "link_class", "multiplicity"]), SMALL, max_size=6
)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["nodes", "links", "edges", "graph", "directed"]),
    SMALL
    | st.lists(NODES | LINKS | SMALL, max_size=5)
    | st.dictionaries(st.sampled_from(["terminals", "ports", "classes"]), SMALL | st.lists(SMALL, max_size=3)),
    max_size=5,
).map(lambda document: json.dumps(document).encode())
# GraphML with the data that torusweep reads
KEYED = st.lists(
    st.sampled_from(
        [
            '<node id="a"/>',
            '<node id="b"><data key="endpoints">{}</data></node>',
            '<edge source="a" target="b"><data key="port">{}</data><data key="target_port">{}</data></edge>',
            '<edge source="b" target="a"><data key="multiplicity">{}</data></edge>',
            '<data key="terminals">{}</data>',
            '<data key="ports">{}</data>',
            '<data key="classes">{}</data>',
        ]
    ),
    max_size=6,
).flatmap(
    lambda parts: st.lists(
        st.sampled_from(["0", "1", "2.0", "-1", "a", "a b", "[1", '["x"]', "9" * 12, ""]), min_size=8, max_size=8
    ).map(lambda values: KEYS + "".join(part.format(*values) for part in parts) + "</graph></graphml>")
)
KEYS = "<graphml>" + "".join(
    f'<key id="{name}" for="{of}" attr.name="{name}" attr.type="long"/>'
    for of, names in (
        ("edge", ("port", "target_port", "multiplicity")),
        ("node", ("endpoints",)),
        ("graph", ("terminals", "ports", "classes")),
    )
    for name in names
)
KEYS += '<graph edgedefault="undirected">'
GRAPHS = (
    EDGES
    | DOCUMENTS
    | KEYED.map(str.encode)
    | mixed(
        *(
            b"0",
            b"1",
            b"2",
            b"-1",
            b"1.5",
            b"9223372036854775807",
            b",",
            b"#",
            b"\xef\xbb\xbf",
            b"\r",
            b"router ",
            b"node ",
            "²".encode(),
        ),
        *(
            b"<graphml>",
            b'<graph edgedefault="directed">',
            b'<node id="a"/>',
            b'<edge source="a" target="b"/>',
            b"</graph>",
            b"</graphml>",
        ),
        *(b'<!DOCTYPE x [<!ENTITY y "z">]>', b"&y;", b'<?xml version="1.0" encoding="utf-16"?>'),
        *(b'{"nodes": [', b'{"id": ', b'], "links": [', b'{"source": 0, "target": 1', b"}", b"]", b"[" * 3000),
    )
)
GRAPH_TABLE = io.BytesIO()
TRIANGLE = pa.table({"source": [0, 1, 2], "target": [1, 2, 0], "port": [0, 0, 0], "target_port": [1, 1, 1]})
ABOUT = {"nodes": "4", "directed": "false", "ports": "2", "terminals": "[0, 3, 1]", "classes": '["x"]'}
pq.write_table(TRIANGLE.replace_schema_metadata(ABOUT), GRAPH_TABLE)


def damaged_graph(changes: list[tuple[int, int]]) -> None:
    """As `damaged_demands`: what a checksum of another program does not cover may be read otherwise."""
    Path("any.parquet").write_bytes(changed(GRAPH_TABLE.getvalue(), changes))
    settled(torusweep("describe", "any.parquet", "--json"))


# --- demand matrices -----------------------------------------------------------------------------


def demands(content: bytes, suffix: str) -> None:
    Path(f"any.{suffix}").write_bytes(content)
    said = torusweep("loads", "ring(k=5)", "--traffic", f'demand(path="any.{suffix}")', "--json")
    if settled(said):
        rows = (
            csv.DictReader(io.StringIO(content.decode()))
            if suffix == "csv"
            else pq.read_table(io.BytesIO(content)).to_pylist()
        )
        sent = [(int(row["source"]), int(row["destination"]), float(row["demand"])) for row in rows]
        hops = sum(
            amount * min((source - destination) % 5, (destination - source) % 5) for source, destination, amount in sent
        )
        assert json.loads(said.out)["mean_hops"] == pytest.approx(hops / sum(amount for _, _, amount in sent), rel=1e-9)


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 1, 0.25, 1e-90, 1e90])), min_size=1, max_size=8
)
LISTED = ROWS.map(
    lambda rows: ("source,destination,demand\n" + "".join(f"{s},{d},{a!r}\n" for s, d, a in rows)).encode()
)
TABLES = LISTED | mixed(
    b"source",
    b"destination",
    b"demand",
    b",",
    b"0",
    b"1",
    b"-1",
    b"1e400",
    b"nan",
    b'"',
    b"source,destination,demand\n0,1,",
)
WHOLE = io.BytesIO()
pq.write_table(pa.table({"source": [0, 1], "destination": [1, 3], "demand": [1.0, 2.0]}), WHOLE)
CHANGES = st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4)


def changed(content: bytes, changes: list[tuple[int, int]], length: int | None = None) -> bytes:
    """Some bytes of a file overwritten, and its end cut off."""
    altered = bytearray(content)
    for place, value in changes:
        altered[place % len(altered)] = value
    return bytes(altered[:length])


def damaged_demands(changes: list[tuple[int, int]]) -> None:
    """Damage to values without a checksum cannot be detected in a file that another program wrote.

    So the file is either refused or computed from; no more is promised.
    """
    Path("any.parquet").write_bytes(changed(WHOLE.getvalue(), changes))
    settled(torusweep("loads", "ring(k=5)", "--traffic", 'demand(path="any.parquet")', "--json"))


# --- configurations ------------------------------------------------------------------------------

HEAD = b"sweep: a\ntopologies: ['ring(k=4)', {family: torus, k: [3, 4], n: 2}]\n"
SECTIONS = [
    "loads",
    "deadlock",
    "layout",
    "latency",
    "simulation",
    "cluster",
    "limits",
    "fault_nodes",
    "papers",
    "backend",
    "description",
]
ENTRIES = [
    "routing",
    "traffic",
    "vc_rule",
    "virtual_channels",
    "placement",
    "families",
    "nodes",
    "loads",
    "seeds",
    "model",
    "scheduler",
    "workers",
]
SCALARS = [
    "0",
    "-1",
    "3",
    "1e308",
    ".nan",
    "true",
    "null",
    "all",
    "torus",
    "uniform",
    "minimal",
    "none",
    "folded",
    "P98",
    "{from: 2, to: 9}",
    '"\\ud800"',
]
TREES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(ENTRIES), inner, max_size=4).map(
            lambda entries: "{" + ", ".join(f"{k}: {v}" for k, v in entries.items()) + "}"
        )
    ),
    max_leaves=8,
)
SWEEPS = st.dictionaries(st.sampled_from(SECTIONS), TREES, max_size=3).map(
    lambda sections: HEAD + "".join(f"{key}: {tree}\n" for key, tree in sections.items()).encode()
)
CONFIGS = SWEEPS | mixed(
    HEAD,
    b"loads: ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b": ",
    b"&a ",
    b"*a",
    b"!!python/object/apply:os.system ",
    b"'",
    b"\t",
    b"<<",
    b"|",
)


def a_config(content: bytes) -> None:
    Path("any.yaml").write_bytes(content)
    if settled(torusweep("step", "points", "any.yaml", "out/a")):
        table = pq.read_table("out/a/points.parquet")
        assert table.num_rows
        assert all(0 < seconds < 1e6 for seconds in table.column("estimated_seconds").to_pylist())
        rows = table.drop_columns(["key", "estimated_seconds"]).to_pylist()
        assert [Point.of_record(row).key for row in rows] == table.column("key").to_pylist()


# --- SQL -----------------------------------------------------------------------------------------

WORDS = [
    "SELECT ",
    "FROM static ",
    "WHERE ",
    "*",
    "nodes",
    "topology",
    "1",
    "'a'",
    "(",
    ")",
    ",",
    ";",
    "--",
    "/*",
    "COPY ",
    " TO 'any.txt'",
    "ATTACH 'a.db'",
]
KINDS = [
    "DATE",
    "TIMESTAMP",
    "INTERVAL",
    "HUGEINT",
    "BLOB",
    "UUID",
    "DECIMAL(38, 37)",
    "TIME",
    "BIT",
    "JSON",
    "DOUBLE",
    "VARCHAR[]",
    "MAP(INTEGER[], INTEGER)",
]
CAST = st.tuples(
    st.sampled_from(["infinity", "290000-01-01", "1", "nan", "[]", "{[1]=2}", "\x1b[2J"]), st.sampled_from(KINDS)
)
QUERIES = (
    CAST.map(lambda cast: f"SELECT '{cast[0]}'::{cast[1]} AS v FROM static")
    | st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
    | st.text(max_size=40)
)


def a_query(sql: str) -> None:
    assume("\x00" not in sql and not sql.startswith("-"))
    if not Path("results").exists():
        store.publish_table(Path("results"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2]}))
    before = (Path("results/static.parquet").read_bytes(), sorted(Path().rglob("*")))
    for style in ("json", "table"):
        said = torusweep("query", sql, "--results", "results", "--format", style)
        if settled(said) and style == "json":
            json.loads(said.out, parse_constant=pytest.fail)
    assert (Path("results/static.parquet").read_bytes(), sorted(Path().rglob("*"))) == before, "something was written"


# --- conditions of a front -----------------------------------------------------------------------

PARTS = [
    "nodes",
    "topology",
    "1",
    " < ",
    " = ",
    "'a'",
    "(",
    ")",
    " AND ",
    " OR ",
    ";",
    "--",
    "/*",
    "SELECT 1",
    ",",
    "\n",
    "IN ",
]
CONDITIONS = st.lists(st.sampled_from(PARTS), max_size=10).map("".join) | st.text(max_size=40)


def a_condition(text: str) -> None:
    assume("\x00" not in text)
    if not Path("fronts").exists():
        store.publish_table(
            Path("fronts"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2], "connected": [True, True]})
        )
    said = torusweep("pareto", "--minimise", "nodes", f"--where={text}", "--results", "fronts", "--json")
    if settled(said) and said.out.strip():
        assert {row["nodes"] for row in json.loads(said.out)} <= {1, 2}


# --- workloads -----------------------------------------------------------------------------------

MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(-1, 40), st.sampled_from(["", "m0", "m1", "m0 m1", "m9"])
    ),
    min_size=1,
    max_size=6,
).map(
    lambda rows: (
        "message,source,destination,flits,after\n"
        + "".join(f"m{number},{s},{d},{flits},{after}\n" for number, (s, d, flits, after) in enumerate(rows))
    ).encode()
)
WORKLOADS = MESSAGES | mixed(
    *(b"message", b"source", b"destination", b"flits", b"after", b",", b"0", b"1", b"-1", b"1e9", b"nan", b'"', b"m0"),
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


# --- the properties ------------------------------------------------------------------------------

LONGEST = 20.0  # seconds of one input

# what is drawn, what holds, its share of the examples
Properties = dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], None], int]]
PROPERTIES: Properties = {
    "topology": (SPELLINGS | st.text(max_size=40).filter(lambda text: "\x00" not in text), a_topology, 1),
    "graph": (GRAPHS, a_graph, 1),
    "damaged graph": (CHANGES, damaged_graph, 1),
    "demand": (TABLES, lambda content: demands(content, "csv"), 1),
    "damaged demand": (CHANGES, damaged_demands, 1),
    "config": (CONFIGS, a_config, 1),
    "query": (QUERIES, a_query, 20),
    "condition": (CONDITIONS, a_condition, 20),
    "workload": (WORKLOADS, a_workload, 1),
    "goal": (GOALS, a_schedule, 1),
    "chakra": (TRACES, a_trace, 1),
    "mix": (MIXES, a_mix, 1),
}


def hold(what: str, examples: int, begin: int | None = None, among: Properties | None = None) -> None:
    """Draw examples of a property, from a seed or at random; each takes at most LONGEST."""
    drawn, holds, dear = (among or PROPERTIES)[what]

    @settings(
        max_examples=max(3, examples // dear), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(drawn)
    def always(value: Any) -> None:
        for _ in range(2):  # the first call may compile kernels
            started = time.monotonic()
            holds(value)
            seconds = time.monotonic() - started
            if seconds < LONGEST:
                return
        raise AssertionError(f"{what}: too slow, {seconds:.0f} s")

    (always if begin is None else seed(begin)(always))()


@pytest.mark.parametrize("what", PROPERTIES)
def test_any_bytes_are_refused_in_one_line_or_read_right(what: str):
    hold(what, FEW)


@pytest.mark.faults
@pytest.mark.parametrize("what", PROPERTIES)
def test_many_more_bytes(what: str):
    hold(what, MANY)


@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.faults)])
def test_any_shard_is_whole_or_computed_again(rings: Run, monkeypatch: pytest.MonkeyPatch, examples: int):
    """The damaged file has its old name, or a name that matches its new content.

    In the first case, the digest shows the damage; in the second, only the content of the file can.
    """
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    rings.config.write_text("sweep: rings\ntopologies: ['ring(k=3)', 'ring(k=4)', 'ring(k=5)']\n")
    rings.here("points")
    rings.here("static", workers=0)
    clean, (path,) = rings.static(), rings.shards()
    whole = path.read_bytes()

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(CHANGES, st.none() | st.integers(0, len(whole)), st.booleans(), st.none() | st.binary(max_size=50))
    def always(changes: list[tuple[int, int]], length: int | None, renamed: bool, other: bytes | None) -> None:
        content = changed(whole, changes, length) if other is None else other
        for shard in rings.shards():
            shard.unlink()
        (path.parent / f"{store.digest(content) if renamed else path.stem}.parquet").write_bytes(content)
        assert rings.here("static", workers=0) == 0
        assert rings.static() == clean

    always()


# --- the corpus ----------------------------------------------------------------------------------

ASKED = {
    ".yaml": lambda path: ("step", "points", path, "out/a"),
    ".csv": lambda path: ("loads", "ring(k=5)", "--traffic", f'demand(path="{path}")'),
    ".parquet": lambda path: ("loads", "ring(k=5)", "--traffic", f'demand(path="{path}")'),
    ".sql": lambda path: ("query", Path(path).read_text(), "--json"),
    ".args": lambda path: json.loads(Path(path).read_text()),
}


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_is_refused_or_answered_as_its_names_say(path: Path):
    store.publish_table(Path("results/default"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2]}))
    Path("one.adjlist").write_text("0\n")
    asked = ASKED.get(path.suffix, lambda name: ("describe", f'graph(path="{name}")'))
    assert settled(torusweep(*asked(str(path)))) == path.name.startswith("answered-")
