"""How answers and the schema are printed: JSON, CSV, Parquet, tables for people."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.all_columns import all_tables
from torusweep.answers import joined as schemas
from torusweep.answers import query as queries
from torusweep.answers.query import query
from torusweep.answers.table_text import print_aligned
from torusweep.errors import BadInput

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
    table = query(
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
        queries.style_of("parquet", None)
    queries.print_table(TYPES, "parquet", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").equals(TYPES)


@pytest.mark.parametrize(
    ("asked", "name", "style"),
    [
        *((None, f"out.{style}", style) for style in ("csv", "json", "parquet")),
        (None, "OUT.CSV", "csv"),
        (None, "out.txt", "table"),
        (None, "out", "table"),
        (None, None, "table"),
        ("json", "out.csv", "json"),
        ("table", "out.xlsx", "table"),
        ("csv", None, "csv"),
    ],
)
def test_a_file_is_of_the_style_that_its_suffix_says_unless_told(asked, name, style):
    assert queries.style_of(asked, None if name is None else Path(name)) == style


@pytest.mark.parametrize("style", ["table", "csv", "json", "parquet"])
def test_a_file_that_cannot_be_written(tmp_path, style):
    with pytest.raises(BadInput, match="expected a writable file"):
        queries.print_table(TYPES, style, tmp_path / "none" / "out")


def test_the_schema_is_every_tables_columns():
    rows = schemas.schema().to_pylist()
    assert [(row["table"], row["name"]) for row in rows] == [
        (name, column) for name, table in all_tables().items() for column in table.names
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
    assert rows.keys() == {"designs", *all_tables()}
    assert all(row["a row is"] for row in schemas.overview(results / "nothing").to_pylist())
    with pytest.raises(BadInput, match=r"unknown table 'lods' \(did you mean 'loads'"):
        schemas.schema("lods")


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
