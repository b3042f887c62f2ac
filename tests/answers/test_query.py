"""Questions to the results: right answers, and one line against everything else."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.answers.query import query
from torusweep.errors import BadInput, Refused, RunsOn
from torusweep.tables import store
from torusweep.tables.store import publish_table

from tests.answers.small_results import DISTANCES, STATIC


def ask(sql: str, folder: Path, time_limit: float = 20.0, memory_gib: float = 0.5, max_rows: int = 1000) -> list[dict]:
    """The answer as rows."""
    return query(sql, folder, time_limit=time_limit, memory_gib=memory_gib, max_rows=max_rows).to_pylist()


ANSWERED = [
    (
        "SELECT topology FROM static ORDER BY nodes, topology LIMIT 2",
        [{"topology": '</script>\x1b[31m"'}, {"topology": "ring(k=8)"}],
    ),
    ("SELECT parameters['k'] AS k FROM Static WHERE nodes = 8", [{"k": 8}]),
    ("SELECT max(len(distance_histogram)) AS n FROM static", [{"n": 5}]),
    (
        "SELECT s.nodes, d.pairs FROM static s JOIN distances d USING (topology) WHERE distance = 1",
        [{"nodes": 8, "pairs": 16}],
    ),
    ("WITH big AS (SELECT * FROM static WHERE nodes > 8) SELECT count(*) AS n FROM big", [{"n": 2}]),
    ("SELECT count(*) AS n FROM verification", [{"n": 0}]),
    ("SELECT topology FROM static WHERE false", []),
    ("SELECT sum(unnest) AS n FROM unnest([1, 2])", [{"n": 3}]),
    ("FROM distances SELECT max(pairs) AS n", [{"n": 16}]),
    ("SELECT d.distance FROM distances AS d WHERE 'static' = 'loads'", []),
    ("FROM query('SELECT min(nodes) AS n FROM static')", [{"n": 1}]),
    ("SELECT column_name FROM (DESCRIBE distances) LIMIT 1", [{"column_name": "topology"}]),
    ("SHOW TABLES", [{"name": "distances"}, {"name": "static"}, {"name": "verification"}]),
    ("SELECT 1 AS n -- a remark", [{"n": 1}]),
    ("SELECT 1 AS n;", [{"n": 1}]),
]


@pytest.mark.parametrize(("sql", "rows"), ANSWERED)
def test_a_select_is_answered(results, sql, rows):
    assert ask(sql, results) == rows


def test_an_answer_keeps_the_tables_types(results):
    assert query("SELECT * EXCLUDE (mean_distance) FROM static", results).equals(STATIC.drop_columns("mean_distance"))


NOT_ANSWERED = [
    ("", "expected one SELECT"),
    ("-- nothing", "got 0 statements"),
    ("SELECT 1; SELECT 2", "got 2 statements"),
    ("SELEC 1", "syntax error"),
    ("SELECT nope FROM static", '"nope" not found'),
    ("SELECT * FROM statics", 'Did you mean "static"?'),
    ("SELECT s.topology, d.topology FROM static s, distances d", "'topology'; tell them apart"),
    ("SELECT ?", "parameters"),
    ("COPY static TO '/tmp/out.csv'", "another statement"),
    ("SET threads = 1", "another statement"),
    ("PRAGMA database_list", "another statement"),
    ("ATTACH '/tmp/other.db'", "another statement"),
    ("INSTALL httpfs", "another statement"),
    ("LOAD httpfs", "another statement"),
    ("CREATE TABLE t (a INTEGER)", "another statement"),
    ("DROP VIEW static", "another statement"),
    ("CALL duckdb_settings()", "another statement"),
    ("EXPLAIN SELECT 1", "another statement"),
    ("SELECT * FROM read_csv('/etc/passwd')", "reads the results' tables and no files"),
    ("SELECT * FROM static WHERE EXISTS (SELECT 1 FROM read_text('/etc/passwd'))", 'Cannot access file "/etc/passwd"'),
    ("WITH t AS (SELECT * FROM glob('/*')) SELECT * FROM t", 'Cannot access file "/*"'),
    ("SELECT (SELECT count(*) FROM parquet_scan('static.parquet'))", "no files"),
    ("SELECT * FROM query('SELECT * FROM read_csv(''/etc/passwd'')')", 'Cannot access file "/etc/passwd"'),
    ("SELECT * FROM duckdb_secrets()", "disabled by configuration"),
    ("SELECT * FROM arrow_scan(1, 2, 3)", "No function matches"),
    ("SELECT * FROM pandas_scan(1)", "No function matches"),
    ("SELECT * FROM arrow_scan(1::POINTER, 2::POINTER, 3::POINTER)", "POINTER does not exist"),
    ("SELECT * FROM '/etc/passwd'", "does not exist"),
    ("SELECT * FROM 'https://example.org/a.parquet'", "disabled by configuration"),
    ("SELECT * FROM STATIC_TABLE", "does not exist"),
    ("SELECT diametre FROM static", "'torusweep query --schema' lists tables"),
    ("SELECT getenv('HOME')", "does not exist"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "depth"),
    ("SELECT " + "1+" * 9000 + "1", "depth"),
    ("SELECT '" + "x" * 30_000 + "'", "at most 20,000 characters"),
    ("SELECT '\ud800'", "surrogate"),
]


@pytest.mark.parametrize(
    ("sql", "says"), NOT_ANSWERED, ids=[row[0][:40].encode("ascii", "replace").decode() for row in NOT_ANSWERED]
)
def test_anything_else_is_refused_in_one_line(results, sql, says):
    STATIC_TABLE = STATIC  # noqa: F841  a Python variable must not be a table
    with pytest.raises(BadInput) as caught:
        ask(sql, results)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


TOO_MUCH = [
    # endless, but heeds an interrupt
    (
        "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
        "more than 0.5 seconds",
    ),
    # needs memory that DuckDB accounts for, and memory that it does not
    ("SELECT count(DISTINCT a.range * b.range) FROM range(100000000) a, range(100000000) b", "0.1 GiB"),
    ("SELECT repeat('x', 100000000) FROM range(100)", "0.1 GiB"),
    ("SELECT * FROM range(100000000)", "more than 1,000,000 rows"),
]


@pytest.mark.parametrize(("sql", "says"), TOO_MUCH)
def test_endless_and_boundless_queries_are_stopped(results, sql, says):
    start = time.perf_counter()
    with pytest.raises(Refused) as caught:
        query(sql, results, time_limit=0.5 if "seconds" in says else 30, memory_gib=0.1)
    assert says in str(caught.value)
    assert time.perf_counter() - start < 25


def test_a_query_that_heeds_no_interrupt_is_left_behind(results):
    """Its thread runs on, so its work must end by itself, after seconds."""
    with pytest.raises(RunsOn, match=r"more than 0\.1 seconds"):
        query("SELECT levenshtein(repeat('a', 45000), repeat('b', 45000))", results, time_limit=0.1)


def test_the_command_line_ends_with_its_line_while_a_query_runs_on(results):
    sql = "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))"
    command = [
        sys.executable,
        "-c",
        "from torusweep.cli import main; main()",
        "query",
        sql,
        "--results",
        str(results),
        "--time-limit",
        "0.5",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("torusweep: the query took more than 0.5 seconds and was stopped;")
    assert ended.stderr.count("\n") == 1


def test_a_query_that_is_stopped_leaves_the_next_ones_alone(results):
    with pytest.raises(Refused):
        query(TOO_MUCH[0][0], results, time_limit=0.2)
    assert ask("SELECT count(*) AS n FROM static", results) == [{"n": 4}]


def test_no_results(tmp_path, results):
    with pytest.raises(BadInput, match="got no such folder; paths are relative to "):
        query("SELECT 1", tmp_path / "nothing")
    publish_table(tmp_path, "static", STATIC.slice(0, 0))
    with pytest.raises(BadInput, match="static is empty"):
        ask("SELECT * FROM static", tmp_path)


def test_an_altered_table_is_refused_by_name(tmp_path):
    publish_table(tmp_path, "static", STATIC)
    content = bytearray((tmp_path / "static.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "static.parquet").write_bytes(content)
    with pytest.raises(BadInput, match=r"static\.parquet was altered"):
        ask("SELECT 1 FROM static", tmp_path)


def test_an_answer_is_of_the_bytes_that_were_checked(tmp_path, monkeypatch):
    """Whoever runs the sweep again in the meantime replaces the file."""
    folder = tmp_path / 'o\'clock; "x"'  # a name that SQL must quote
    publish_table(folder, "static", STATIC)
    assert ask("SELECT count(*) AS n FROM static", folder) == [{"n": 4}]

    def late(path):
        found = read_table(path)
        publish_table(folder, "static", STATIC.slice(0, 2))
        return found

    read_table = store.read_table
    monkeypatch.setattr(store, "read_table", late)
    assert ask("SELECT count(*) AS n FROM static", folder) == [{"n": 4}]
    assert ask("SELECT count(*) AS n FROM static", folder) == [{"n": 2}]


def test_a_query_reads_the_mentioned_tables_files_and_no_others(results, tmp_path):
    publish_table(tmp_path, "static", STATIC)
    for other in (tmp_path / "static.parquet", results / "manifest.json"):
        for reader in ("read_parquet", "read_csv", "read_text"):
            with pytest.raises(BadInput, match="and no files"):
                ask(f"SELECT * FROM static, {reader}('{other}')", results)


LOADS = {"topology": ["ring(k=8)", "hypercube(n=4)"], "routing": ["minimal"] * 2, "traffic": ["uniform"] * 2}


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """Two sweeps with networks in common, whose numbers differ."""
    home = tmp_path_factory.mktemp("sweeps")
    for name, saturation, rows in (("before", [1.0, 2.0], STATIC), ("after", [1.5, 3.0], STATIC.slice(1, 2))):
        publish_table(home / name, "static", rows)
        publish_table(home / name, "loads", pa.table({**LOADS, "saturation_load": saturation}))
    publish_table(home / "before", "distances", DISTANCES)
    return [home / "before", home / "after"]


def test_several_sweeps_are_one_table(sweeps):
    rows = ask("SELECT sweep, topology FROM static", sweeps)
    names = STATIC.column("topology").to_pylist()
    assert rows == [{"sweep": "before", "topology": name} for name in names] + [
        {"sweep": "after", "topology": name} for name in names[1:3]
    ]
    assert ask("SELECT DISTINCT sweep FROM distances", sweeps) == [{"sweep": "before"}], "the other one has none"


def test_the_view_of_several_sweeps_joins_none_with_another(sweeps):
    rows = ask("SELECT sweep, topology, saturation_load FROM designs ORDER BY ALL", sweeps)
    names = STATIC.column("topology").to_pylist()
    loads = {("before", "ring(k=8)"): 1.0, ("before", "hypercube(n=4)"): 2.0, ("after", "hypercube(n=4)"): 3.0}
    expected = [("before", name) for name in names] + [("after", name) for name in names[1:3]]
    assert rows == [
        {"sweep": sweep, "topology": name, "saturation_load": loads.get((sweep, name))}
        for sweep, name in sorted(expected)
    ]


def test_sweeps_of_one_name_are_told_apart_by_their_folders(sweeps, tmp_path):
    other = tmp_path / "before"
    publish_table(other, "static", STATIC.slice(0, 1))
    rows = ask("SELECT sweep, count(*) AS n FROM static GROUP BY sweep ORDER BY n", [other, sweeps[0]])
    assert rows == [{"sweep": str(other), "n": 1}, {"sweep": str(sweeps[0]), "n": 4}]


def test_sweeps_that_do_not_go_together_are_refused_in_one_line(sweeps, tmp_path, monkeypatch):
    monkeypatch.setattr("torusweep.answers.query._answer", None)  # nothing is computed
    publish_table(tmp_path, "static", STATIC.drop_columns(["cost"]))
    for folders, says in (
        (
            [sweeps[0], tmp_path],
            "are of different versions of torusweep: column cost differs; run the older sweep again",
        ),
        ([sweeps[0], sweeps[0]], "expected different folders, got this one twice"),
        ([sweeps[0], tmp_path / "nothing"], "nothing: expected a sweep's results, got no such folder"),
    ):
        with pytest.raises(BadInput) as caught:
            ask("SELECT * FROM static", folders)
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)


WORDS = re.findall(
    r"\S+",
    "SELECT FROM static WHERE * , ( ) 1 'a' nodes topology = ; -- GROUP BY ALL ORDER LIMIT COPY TO SET x read_csv"
    " [ ] { } :: INT",
)


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(WORDS),
            max_size=14,
        ).map(" ".join),
    )
)
@settings(max_examples=100, deadline=None)
def test_arbitrary_text_is_refused_or_answered(results, sql):
    try:
        ask(sql, results)
    except BadInput as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message
