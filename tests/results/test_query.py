"""Questions to the results: right answers, one line against everything else, and fronts against a plain loop."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.errors import BadInput, Refused
from torusweep.results import query as queries
from torusweep.results import schema as schemas
from torusweep.results.pareto import EXCLUDED, front, front_of, pareto
from torusweep.results.query import answer, query
from torusweep.results.query_limits import crashed
from torusweep.results.table_text import print_aligned
from torusweep.stages.all_columns import TABLES
from torusweep.tables.store import publish_table

STATIC = pa.table(
    {
        "topology": ["ring(k=8)", "torus(k=4, n=2)", "hypercube(n=4)", '</script>\x1b[31m"'],
        "nodes": [8, 16, 16, 1],
        "degree_max": [2, 4, 4, 0],
        "diameter": [4, 4, 4, 0],
        "cost": pa.array([8, 16, 16, None], pa.int64()),
        "mean_distance": [2.0, 2.0, 2.0, float("nan")],
        "connected": [True, True, True, None],
        "parameters": pa.array([[("k", 8)], [("k", 4), ("n", 2)], [("n", 4)], None], pa.map_(pa.string(), pa.int64())),
        "distance_histogram": [[8, 16, 16, 16, 8], [16, 64, 96, 64, 16], None, [1]],
    }
)
DISTANCES = pa.table({"topology": ["ring(k=8)", "ring(k=8)"], "distance": [0, 1], "pairs": [8, 16]})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    publish_table(folder, "static", STATIC)
    publish_table(folder, "distances", DISTANCES)
    publish_table(folder, "verification", pa.table({"verdict": pa.array([], pa.string())}))
    return folder


def ask(sql: str, folder: Path, time_limit: float = 20.0, memory_gib: float = 0.5, max_rows: int = 1000) -> list[dict]:
    """The answer as rows, computed in this process."""
    return answer(sql, folder, time_limit=time_limit, memory_gib=memory_gib, max_rows=max_rows).to_pylist()


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
    ("SHOW TABLES", [{"name": "distances"}, {"name": "static"}, {"name": "verification"}]),
    ("SELECT 1 AS n -- a remark", [{"n": 1}]),
    ("SELECT 1 AS n;", [{"n": 1}]),
]


@pytest.mark.parametrize(("sql", "rows"), ANSWERED)
def test_a_select_is_answered(results, sql, rows):
    assert ask(sql, results) == rows


def test_the_process_that_answers_gives_the_same(results):
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
    ("SELECT * FROM read_csv('/etc/passwd')", "'read_csv'"),
    ("SELECT * FROM static WHERE EXISTS (SELECT 1 FROM read_text('/etc/passwd'))", "'read_text'"),
    ("WITH t AS (SELECT * FROM glob('/*')) SELECT * FROM t", "'glob'"),
    ("SELECT (SELECT count(*) FROM parquet_scan('static.parquet'))", "'parquet_scan'"),
    ("SELECT * FROM query('SELECT 1')", "'query'"),
    ("SELECT * FROM duckdb_settings()", "'duckdb_settings'"),
    ("SELECT * FROM arrow_scan(1, 2, 3)", "'arrow_scan'"),
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
    ("SELECT count(DISTINCT a.range * b.range) FROM range(100000000) a, range(100000000) b", "0.25 GiB"),
    ("SELECT range(1000000000)", "0.25 GiB"),
    ("SELECT repeat('x', 1000000000) FROM range(10)", "0.25 GiB"),
    ("SELECT * FROM range(100000000)", "more than 1,000,000 rows"),
]


@pytest.mark.parametrize(("sql", "says"), TOO_MUCH)
def test_endless_and_boundless_queries_are_stopped(results, sql, says):
    start = time.perf_counter()
    with pytest.raises(Refused) as caught:
        query(sql, results, time_limit=0.5 if "seconds" in says else 30, memory_gib=0.25)
    assert says in str(caught.value)
    assert time.perf_counter() - start < 25


def test_a_query_that_heeds_no_interrupt_is_killed(results, monkeypatch):
    monkeypatch.setattr(queries, "GRACE", 1.5)
    with pytest.raises(Refused, match=r"more than 0\.5 seconds"):
        query("SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))", results, time_limit=0.5)


def test_an_error_crosses_the_process_as_one_line(results):
    with pytest.raises(BadInput) as caught:
        query("SELECT * FROM read_csv('/etc/passwd')", results)
    assert type(caught.value) is BadInput
    assert "'read_csv'" in str(caught.value)


def test_no_results(tmp_path, results):
    with pytest.raises(BadInput, match="got no table"):
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


# --- how answers are printed ---------------------------------------------------------------------

TYPES = pa.table(
    {
        "text": ['a "b", c', "</script>\x1b[2J"],
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "list": [[1, None], []],
        "number": [0.1, float("inf")],
        "whole": pa.array([2**60, None], pa.int64()),
        "sure": [True, None],
    }
)


def test_json_is_one_array_with_nulls_for_what_json_has_no_word_for(capsys):
    queries.print_table(TYPES, "json")
    assert json.loads(capsys.readouterr().out) == [
        {"text": 'a "b", c', "map": {"k": 1}, "list": [1, None], "number": 0.1, "whole": 2**60, "sure": True},
        {"text": "</script>\x1b[2J", "map": None, "list": [], "number": None, "whole": None, "sure": None},
    ]


def test_an_empty_answer_is_an_empty_array_and_a_heading(capsys):
    queries.print_table(TYPES.slice(0, 0), "json")
    assert json.loads(capsys.readouterr().out) == []
    queries.print_table(TYPES.slice(0, 0), "csv")
    assert capsys.readouterr().out == "text,map,list,number,whole,sure\n"


def test_numbers_from_sql_are_numbers_in_json(results, capsys):
    table = answer(
        "SELECT sum(nodes) AS n, 1.50 AS d, DATE '2020-01-02' AS day FROM static",
        results,
        time_limit=20,
        memory_gib=1,
        max_rows=9,
    )
    queries.print_table(table, "json")
    assert json.loads(capsys.readouterr().out) == [{"n": 41, "d": 1.5, "day": "2020-01-02"}]


def test_csv_reads_back(capsys):
    queries.print_table(TYPES, "csv")
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [
        TYPES.column_names,
        ['a "b", c', '{"k": 1}', "[1, null]", "0.1", str(2**60), "true"],
        ["</script>\x1b[2J", "", "[]", "", "", ""],
    ]


def test_a_table_for_people_is_not_folded_when_piped_and_holds_no_control_characters(capsys):
    wide = pa.table({"topology": ["x" * 300], "n": [1]})
    queries.print_table(wide, "table")
    queries.print_table(TYPES, "table")
    out = capsys.readouterr().out
    assert "x" * 300 in out
    assert "\x1b" not in out
    assert "2 rows" in out


def test_a_table_for_people_is_rounded_and_the_others_are_not(capsys):
    """Six digits, and all before the point."""
    numbers = pa.table(
        {"a": [0.1 + 0.2, 1234567.25, -2 / 3e7, 3.0], "b": [[1 / 3], [], [2.5], None], "c": [2**60, 1, 2, 3]}
    )
    queries.print_table(numbers, "table")
    _, *lines, count = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["0.3", "[0.333333]", str(2**60)],
        ["1234567.0", "[]", "1"],
        ["-6.66667e-08", "[2.5]", "2"],
        ["3.0", "–", "3"],
    ]
    assert count.split() == ["4", "rows"]
    queries.print_table(numbers.slice(0, 1), "table")
    assert capsys.readouterr().out.splitlines()[-1].split() == ["1", "row"]
    queries.print_table(numbers, "json")
    assert [row["a"] for row in json.loads(capsys.readouterr().out)] == numbers["a"].to_pylist()
    queries.print_table(numbers, "csv")
    assert [float(row["a"]) for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == numbers["a"].to_pylist()


def test_parquet_needs_a_file_and_reads_back(tmp_path):
    with pytest.raises(BadInput, match="--output FILE"):
        queries.print_table(TYPES, "parquet")
    queries.print_table(TYPES, "parquet", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").equals(TYPES)


@pytest.mark.parametrize("style", ["table", "csv", "json", "parquet"])
def test_a_file_that_cannot_be_written(tmp_path, style):
    with pytest.raises(BadInput, match="--output"):
        queries.print_table(TYPES, style, tmp_path / "none" / "out")


def test_the_schema_is_every_tables_columns():
    rows = schemas.schema().to_pylist()
    assert [(row["table"], row["name"]) for row in rows] == [
        (table, column.name) for table, columns in TABLES.items() for column in columns
    ]
    assert {"type", "unit", "meaning"} <= set(rows[0])


def test_the_schema_of_one_table_and_the_list_of_all(results):
    hops = [row["name"] for row in schemas.schema("static").to_pylist() if row["unit"] == "hops"]
    assert {"diameter", "mean_distance"} <= set(hops)
    assert {"saturation_load", "routing", "traffic", "cost", "placement"} <= {
        row["name"] for row in schemas.schema("designs").to_pylist()
    }
    rows = {row["table"]: row["rows"] for row in schemas.overview(results).to_pylist()}
    assert (rows["static"], rows["distances"], rows["verification"], rows["loads"]) == (4, 2, 0, None)
    assert rows.keys() == {"designs", *TABLES}
    assert all(row["a row is"] for row in schemas.overview(results / "nothing").to_pylist())
    with pytest.raises(BadInput, match=r"unknown table 'lods' \(did you mean 'loads'"):
        schemas.schema("lods")


# --- tables in a terminal ------------------------------------------------------------------------


def in_a_terminal(table: pa.Table, width: int, **options: bool) -> list[str]:
    """What a terminal of so many characters shows, without colours and blanks at the end."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setenv("TERM", "xterm")
        print_aligned(table, file := Terminal(), **options)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in file.getvalue().splitlines()]


def test_a_table_that_does_not_fit_has_a_line_for_each_column():
    wide = pa.table({f"column_{i}": [i, 10 * i] for i in range(12)} | {"network": ["ring(k=8)", "mesh(k=4, n=2)"]})
    lines = in_a_terminal(wide, 60)
    assert lines[0] == "row 1"
    assert [line.split(maxsplit=1) for line in lines[1:14]] == [
        *([f"column_{i}", str(i)] for i in range(12)),
        ["network", "ring(k=8)"],
    ]
    assert lines[14] == "row 2"
    assert lines[-1] == "2 rows"
    assert all(len(line) <= 60 for line in lines)
    assert in_a_terminal(wide, 200)[0].split() == wide.column_names


def test_only_sentences_are_folded():
    table = pa.table({"name": ["a" * 20], "number": [123456], "meaning": ["some words " * 10]})
    lines = in_a_terminal(table, 60)
    assert lines[0].split() == ["name", "number", "meaning"]
    assert lines[1].startswith("a" * 20 + "  123456  some words")
    assert all(len(line) <= 60 for line in lines)
    columns = pa.table({name: ["word " * 8] for name in ("name", "type", "unit", "meaning")})
    assert in_a_terminal(columns, 100, columns=True)[0].split() == ["name", "type", "unit", "meaning"]


# --- fronts --------------------------------------------------------------------------------------


def by_plain_loops(values: np.ndarray) -> list[int]:
    return [i for i, v in enumerate(values) if not any((w <= v).all() and (w < v).any() for w in values)]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rows", [0, 1, 2, 40, 700])
@pytest.mark.parametrize("levels", [3, 1000])
def test_a_front_is_what_plain_loops_find(rows, columns, levels):
    values = np.random.default_rng(rows + columns + levels).integers(-levels, levels, (rows, columns))
    assert sorted(front(values)) == by_plain_loops(values)


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_a_front_of_everything_stays_whole(columns):
    """Points of a sphere do not dominate each other."""
    directions = np.abs(np.random.default_rng(7).normal(size=(600, columns)))
    sphere = -(directions / np.linalg.norm(directions, axis=1)[:, None])
    ranks = np.stack([np.unique(sphere[:, i], return_inverse=True)[1] for i in range(columns)], axis=1)
    assert sorted(front(ranks)) == by_plain_loops(ranks)


def test_a_hundred_thousand_rows_take_about_a_second():
    values = np.random.default_rng(1).integers(0, 2**40, (100_000, 3))
    start = time.perf_counter()
    assert len(front(values)) > 1
    assert time.perf_counter() - start < 5


DESIGNS = pa.table(
    {
        "nodes": [16, 16, 64, 64, 16, 16],
        "topology": ["a", "b", "c", "d", "e", "f"],
        "cost": [4, 4, 2, 9, 3, None],
        "mean_distance": [2.0, 2.0, 3.0, 1.0, float("nan"), 0.5],
        "bisection": pa.array([8, 8, 9, 1, 5, 2], pa.int64()),
    }
)


def test_the_best_designs_come_first_and_equals_stay():
    found = pareto(DESIGNS, ["mean_distance", "cost"])
    assert found.column("topology").to_pylist() == ["d", "a", "b", "c"]
    assert found.column_names == ["topology", "mean_distance", "cost", "nodes", "bisection"]
    assert found.schema.metadata[EXCLUDED] == b"2"


def test_larger_can_be_better():
    assert pareto(DESIGNS, [], ["bisection"]).column("topology").to_pylist() == ["c"]
    assert pareto(DESIGNS, ["nodes"], ["bisection"]).column("topology").to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("minimise", "maximise", "says"),
    [
        ([], [], "expected columns"),
        (["costs"], [], "did you mean 'cost'?"),
        (["cost", "cost"], [], "named twice"),
        (["cost"], ["cost"], "named twice"),
        (["topology"], [], "expected numbers, got string"),
    ],
)
def test_columns_that_make_no_front(minimise, maximise, says):
    with pytest.raises(BadInput) as caught:
        pareto(DESIGNS, minimise, maximise)
    assert says in str(caught.value)


def test_a_front_of_results_under_a_condition(results):
    assert front_of(results, minimise=["mean_distance", "cost"]).column("topology").to_pylist() == ["ring(k=8)"]
    assert front_of(results, minimise=["cost", "nodes"]).column_names == [
        "topology",
        "cost",
        "nodes",
        "degree_max",
        "diameter",
    ]
    found = front_of(results, minimise=["mean_distance", "cost"], where="nodes = 16 -- as many as a 4-cube's")
    assert found.column("topology").to_pylist() == ["hypercube(n=4)", "torus(k=4, n=2)"]


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("nodes >", "got 'nodes >': syntax error"),
        ("nodes = 16) OR (true", "got 'nodes = 16) OR (true': syntax error"),
        ("nodes = 16); DROP VIEW static; --", "syntax error"),
        ("nodes = 16;", "leave out the semicolon"),
        ("nodes = 16; SELECT 1", "more than a condition"),
        ("nodes = 16; DROP TABLE static", "more than a condition; leave out what follows it"),
        ("true; PRAGMA database_list", "more than a condition; leave out what follows it"),
        ("true LIMIT 1", "more than a condition"),
        ("true GROUP BY nodes", "more than a condition"),
        ("true UNION SELECT 1", "more than a condition"),
        ("true\nORDER BY\nnodes", "got 'true ORDER BY nodes': more than a condition"),
        ("\n", "syntax error"),
        ('topology = "ring"', "text stands in single quotes: 'ring'"),
        ("nodez > 1", "--where 'nodez > 1' cannot be answered"),
        ("nodes IN (SELECT * FROM read_csv('/etc/passwd'))", "'read_csv'"),
    ],
)
def test_a_condition_is_one_expression(results, where, says):
    with pytest.raises(BadInput) as caught:
        front_of(results, minimise=["cost"], where=where)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "CONDITION" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (-9, "", "ended by SIGKILL, as where 2 GiB of memory are too little"),
        (-6, "terminate called", "ended by SIGABRT, as where 2 GiB"),
        (1, "Traceback\n  File x\nMemoryError", "needs more than 2 GiB of memory"),
        (1, "terminate: std::bad_alloc", "needs more than 2 GiB of memory"),
        (-15, "", "ended by SIGTERM and without an answer, saying: no message"),
        (1, "Traceback\n  File x\nKeyError: 'a'", "with status 1 and without an answer, saying: KeyError: 'a'"),
    ],
)
def test_a_query_process_that_crashes_is_explained(status, message, words):
    refusal = str(crashed(status, message, 2.0))
    assert words in refusal
    assert "\n" not in refusal
