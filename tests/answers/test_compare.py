"""Two results beside each other, against differences that were made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.answers.compare import compare
from torusweep.cli import torusweep
from torusweep.errors import BadInput
from torusweep.tables.store import publish_table

from tests.answers.small_results import STATIC

LOADS = pa.table(
    {
        "topology": ["a", "a", "b", "b", "b"],
        "routing": ["minimal", "minimal", "minimal", "valiant", None],
        "traffic": ["uniform", "transpose", "uniform", "uniform", "uniform"],
        "saturation_load": [1.0, 0.5, 2.0, 4.0, None],
        "method": ["exact"] * 5,
        "channels": pa.array([2**60, 2**60, 0, 0, 0], pa.int64()),
        "bounds": [[1, 2], [3], [], None, [4]],
    }
)


def with_values(table: pa.Table, column: str, changes: dict[int, object]) -> pa.Table:
    """The table with other values at some places of a column."""
    values = table.column(column).to_pylist()
    for place, value in changes.items():
        values[place] = value
    number = table.column_names.index(column)
    return table.set_column(number, table.schema.field(number), pa.array(values, table.schema.field(number).type))


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two results with equal tables, in another order of rows."""
    found = [tmp_path / name for name in ("left", "right")]
    for folder, loads in zip(found, (LOADS, LOADS.take([4, 2, 0, 1, 3]))):
        folder.mkdir()
        publish_table(folder, "static", STATIC)
        publish_table(folder, "loads", loads)
    return found


def found(folders: list[Path], **options: object) -> list[dict]:
    return compare(*folders, **options).to_pylist()


def test_equal_results_do_not_differ_whatever_the_order_of_rows(folders):
    assert found(folders) == []
    assert len(ts.results(folders[0]).compare(ts.results(folders[1]))) == 0
    assert len(ts.results(folders[0]).compare(str(folders[1]))) == 0


@pytest.mark.parametrize(
    ("column", "changes", "wanted"),
    [
        ("saturation_load", {1: 0.4, 3: 4.4}, (2, 0.2, "a", "0.5", "0.4")),
        ("saturation_load", {4: 1.0}, (1, None, "b", "null", "1.0")),
        ("saturation_load", {4: float("nan")}, (1, None, "b", "null", "nan")),
        ("channels", {0: 2**60 + 1}, (1, 0.0, "a", str(2**60), str(2**60 + 1))),
        ("channels", {2: 5}, (1, 1.0, "b", "0", "5")),
        ("bounds", {0: [1, 3], 3: []}, (2, None, "a", "[1, 2]", "[1, 3]")),
    ],
)
def test_values_that_differ_are_counted_and_the_first_is_shown(folders, column, changes, wanted):
    publish_table(folders[1], "loads", with_values(LOADS, column, changes))
    (row,) = found(folders)
    rows, largest, topology, left, right = wanted
    assert (row["table"], row["column"], row["of"]) == ("loads", column, 5)
    assert (row["rows"], row["topology"], row["left"], row["right"]) == (rows, topology, left, right)
    assert row["largest"] == (None if largest is None else pytest.approx(largest))


def test_rows_columns_and_tables_that_one_side_lacks(folders):
    publish_table(folders[1], "loads", LOADS.slice(0, 3).drop_columns("bounds"))
    publish_table(folders[0], "layout", pa.table({"topology": ["a"], "placement": ["folded"]}))
    assert [(row["table"], row["column"], row["rows"], row["left"], row["right"]) for row in found(folders)] == [
        ("layout", "(rows)", 1, "there", "missing"),
        ("loads", "bounds", 5, "there", "missing"),
        ("loads", "(rows)", 2, "there", "missing"),
    ]
    assert [row["column"] for row in found(folders, tables=["loads"])] == ["bounds", "(rows)"]


def test_a_column_of_another_type_is_said(folders):
    number = LOADS.column_names.index("channels")
    publish_table(folders[1], "loads", LOADS.set_column(number, "channels", pa.array([0.0] * 5)))
    (row,) = found(folders)
    assert (row["column"], row["left"], row["right"]) == ("channels", "int64", "double")


def test_small_differences_can_be_allowed_but_not_a_value_for_none(folders):
    publish_table(folders[1], "loads", with_values(LOADS, "saturation_load", {0: 1.0 + 1e-13, 1: 0.6, 4: 1e-300}))
    assert [row["rows"] for row in found(folders)] == [3]
    assert [row["rows"] for row in found(folders, tolerance=1e-12)] == [2]
    assert [row["rows"] for row in found(folders, tolerance=1.0)] == [1]


def test_one_table_may_be_named_by_a_text_and_a_tolerance_be_of_numpy(folders):
    publish_table(folders[1], "loads", with_values(LOADS, "saturation_load", {0: 1.5}))
    assert found(folders, tables="static") == []
    assert [row["rows"] for row in found(folders, tables="loads", tolerance=np.float64(0.25))] == [1]
    assert found(folders, tables="loads", tolerance=np.float64(0.5)) == []


def test_rows_that_nothing_tells_apart_are_compared_in_their_order(folders):
    twice = pa.table({"topology": ["a", "a", "a"], "nodes": [1, 2, 3]})
    publish_table(folders[0], "static", twice)
    publish_table(folders[1], "static", with_values(twice, "nodes", {1: 7}))
    (row,) = found(folders)
    assert (row["rows"], row["of"], row["left"], row["right"]) == (1, 3, "2", "7")


def test_the_command_says_whether_results_differ_by_its_status(folders):
    arguments = ["compare", *map(str, folders)]
    same = CliRunner().invoke(torusweep, arguments)
    assert (same.exit_code, same.output) == (0, "no difference\n")
    publish_table(folders[1], "loads", with_values(LOADS, "saturation_load", {0: 1.5}))
    other = CliRunner().invoke(torusweep, arguments)
    assert other.exit_code == 1
    assert "saturation_load" in other.output
    allowed = CliRunner().invoke(torusweep, [*arguments, "--tolerance", "0.5"])
    assert allowed.exit_code == 0


def test_what_cannot_be_compared_is_refused(folders, tmp_path):
    with pytest.raises(BadInput, match=r"unknown table 'load' \(did you mean 'loads'\?\); these results have"):
        compare(*folders, tables=["load"])
    with pytest.raises(BadInput, match="nothing of this name"):
        compare(folders[0], tmp_path / "none")
    for tolerance in (float("nan"), -1, 2, "0", None):
        with pytest.raises(BadInput, match=r"tolerance: expected a number of 0 … 1, got"):
            compare(*folders, tolerance=tolerance)
    (folders[1] / "loads.parquet").write_bytes((folders[1] / "static.parquet").read_bytes())
    with pytest.raises(BadInput, match="was altered"):
        compare(*folders)
