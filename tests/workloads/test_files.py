"""Workloads from files: contents, order, and errors with line numbers."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.workloads import files_of, workload
from torusweep.workloads.files import MEMORY_PER_BYTE, MEMORY_PER_CELL

HEAD = "message,source,destination,flits,depends_on,delay\n"


def refused(reading: Callable[[], object], says: str) -> None:
    """Check that `reading` is refused in one line that contains `says`."""
    with pytest.raises(BadInput) as refusal:
        reading()
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def read(tmp_path: Path, text: str, terminals: int = 8):
    path = tmp_path / "w.csv"
    path.write_text(text)
    return workload(f'file(path="{path}")', terminals)[1]


def test_messages_in_any_order(tmp_path):
    one = read(tmp_path, "# comment\n" + HEAD + "late,1,2,7,first  step,\n\nfirst,0,1,5,,\nstep,1,1,0,first,30\n")
    assert one.names == ("first", "step", "late")
    assert one.tasks == 3
    assert one.source.tolist() == [0, 1, 1]
    assert one.destination.tolist() == [1, 1, 2]
    assert one.flits.tolist() == [5, 0, 7]
    assert one.delay.tolist() == [0, 30, 0]
    assert sorted(map(tuple, one.waits.tolist())) == [(1, 0), (2, 0), (2, 1)]


def test_the_order_of_the_file_is_kept_if_possible(tmp_path):
    rows = "".join(f"m{i},0,1,1,{'' if i % 3 else f'm{i + 1}' if i < 29 else ''},\n" for i in range(30))
    one = read(tmp_path, HEAD + rows)
    place = {name: i for i, name in enumerate(one.names)}
    expected: list[str] = []
    left = [f"m{i}" for i in range(30)]
    while left:  # the first message without pending dependencies
        name = next(n for n in left if int(n[1:]) % 3 or int(n[1:]) == 29 or f"m{int(n[1:]) + 1}" not in left)
        left.remove(name)
        expected.append(name)
    assert list(one.names) == expected
    assert (np.diff(one.waits) < 0).all()
    assert place["m1"] < place["m0"]


def test_bytes_and_columns_left_out(tmp_path):
    one = read(tmp_path, "destination,source,message,bytes\n1,0,a,9\n0,1,b,4\n")
    assert one.flits.tolist() == [3, 1]
    assert one.source.tolist() == [0, 1]
    assert not len(one.waits)
    assert read(tmp_path, "\ufeffmessage,source,destination,flits\na,0,1,3\n").names == ("a",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a line of column names and one for each message, got 0 lines"),
        (HEAD, "got 1 line;"),
        (
            HEAD + "a" * 200_000 + ",0,1,1,,\n",
            "w.csv:2: expected values separated by commas, got: field larger than field limit",
        ),
        (
            "message,source,destination\na,0,1\n",
            "w.csv:1: expected the columns message, source, destination and flits or bytes",
        ),
        ("message,source,destination,flits,bytes\na,0,1,1,1\n", "w.csv:1: expected the columns"),
        ("message,source,target,flits\na,0,1,1\n", "w.csv:1: unknown column 'target'"),
        ("message,source,destination,flits,flits\na,0,1,1,1\n", "w.csv:1: expected each column once"),
        (HEAD + "a,0,1,1,\n", "w.csv:2: expected 6 values, one a column, got 5"),
        (HEAD + "a,0,1,1,,\na,0,1,1,,\n", "w.csv:3: message 'a' is also in line 2"),
        (HEAD + "\n# x\na,0,1,1,b,\n", "w.csv:4: message 'a' depends on 'b', which does not exist"),
        (HEAD + "a,0,1,0,,\n", "w.csv:2: flits: expected a whole number of 1"),
        (HEAD + "a,0,1,1.5,,\n", "w.csv:2: flits: expected a whole number of 1 … 1099511627776, got '1.5'"),
        (HEAD + "a,-1,1,1,,\n", "w.csv:2: source: expected a whole number of 0"),
        (HEAD + "a,0,1,1,,-3\n", "w.csv:2: delay: expected a whole number"),
        (HEAD + "a b,0,1,1,,\n", "w.csv:2: message: expected a name without blanks"),
        (HEAD + "a,0,1,1,,\nb,3,8,1,,\n", "w.csv:3: expected tasks of 0 … 7, a terminal for each, got 8"),
        (HEAD + "a,0,1,1,a,\n", "w.csv:2: expected messages that can all be sent, got a cycle: 'a' waits for 'a'"),
        (
            HEAD + "x,0,1,1,c,\na,0,1,1,b,\nb,0,1,1,c,\nc,0,1,1,a,\n",
            "got a cycle: 'c' waits for 'a' waits for 'b' waits for 'c'; break it",
        ),
    ],
)
def test_errors_name_the_line(tmp_path, text, says):
    refused(lambda: read(tmp_path, text), says)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        workload("nowhere.csv", 8)
    with pytest.raises(BadInput, match="no regular file"):
        workload(f'file(path="{tmp_path}")', 8)
    (tmp_path / "w.csv").write_bytes(b"message,source\xff\n")
    with pytest.raises(BadInput, match="UTF-8"):
        workload(f'file(path="{tmp_path / "w.csv"}")', 8)
    assert files_of("a.csv") == [Path("a.csv")]
    assert files_of("cg") == []


def test_memory_estimate_for_csv(tmp_path):
    """Short lines need the most memory per byte."""
    path = tmp_path / "w.csv"
    path.write_text(
        "message,source,destination,flits,depends_on\n"
        + "".join(f"{i},0,1,1,{i - 1 if i else ''}\n" for i in range(20_000))
    )
    tracemalloc.start()
    workload(f'file(path="{path}")', 8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEMORY_PER_BYTE * path.stat().st_size


def in_parquet(tmp_path: Path, columns: dict[str, object], terminals: int = 8):
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table(columns), path)
    return workload(str(path), terminals)[1]


LISTED = {"message": ["late", "first", "step"], "source": [1, 0, 1], "destination": [2, 1, 1], "flits": [7, 5, 0]}
CSV = HEAD + "late,1,2,7,first step,\nfirst,0,1,5,,\nstep,1,1,0,first,30\n"


@pytest.mark.parametrize(
    "more",
    [
        {"depends_on": ["first step", None, "first"], "delay": [None, None, 30]},
        {"depends_on": [["first", "step"], [], ["first"]], "delay": [float("nan"), None, 30.0]},
        {
            "depends_on": pa.array(["first step", "", "first"]).dictionary_encode(),
            "delay": pa.array([0, 0, 30], pa.uint8()),
        },
        {
            "depends_on": ["first step", None, "first"],
            "delay": ["", "0", " 30"],
            "source": pa.array([1, 0, 1], pa.int8()),
        },
    ],
)
def test_parquet_equals_csv(tmp_path, more):
    if isinstance(more["delay"], list) and isinstance(more["delay"][0], float):
        more = more | {"delay": pa.array(more["delay"], from_pandas=True)}  # as pandas writes missing values
    one, other = in_parquet(tmp_path, LISTED | more), read(tmp_path, CSV)
    assert (one.names, one.tasks) == (other.names, other.tasks)
    for name in ("source", "destination", "flits", "delay", "waits"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_numbers_name_messages(tmp_path):
    one = in_parquet(
        tmp_path,
        {"message": [7, 8], "source": [0, 1], "destination": [1, 0], "bytes": [9, 4], "depends_on": [None, 7.0]},
    )
    assert (one.names, one.flits.tolist(), one.waits.tolist()) == (("7", "8"), [3, 1], [[1, 0]])


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            {"message": [], "source": [], "destination": [], "flits": []},
            "w.parquet: expected a row for each message, got none",
        ),
        (
            {"message": ["a"], "source": [0], "target": [1], "flits": [1]},
            "w.parquet: unknown column 'target'; there are",
        ),
        (
            {"message": ["a"], "source": [0], "destination": [1]},
            "w.parquet: expected the columns message, source, destination and flits or bytes",
        ),
        (LISTED | {"flits": [7, 5, -1]}, "w.parquet: row 3: flits: expected a whole number of 0"),
        (
            LISTED | {"flits": [7.0, 2.5, 0.0]},
            "w.parquet: row 2: flits: expected a whole number of 1 … 1099511627776, got '2.5'",
        ),
        (
            LISTED | {"source": [1, None, 1]},
            "w.parquet: row 2: source: expected a whole number of 0 … 2147483646, got ''",
        ),
        (
            LISTED | {"flits": [True, True, False]},
            "w.parquet: flits: expected text or whole numbers, got bool; write one of these",
        ),
        (LISTED | {"message": ["a", "b", "a"]}, "w.parquet: row 3: message 'a' is also in row 1"),
        (
            LISTED | {"depends_on": [["a"], [], []]},
            "w.parquet: row 1: message 'late' depends on 'a', which does not exist",
        ),
        (LISTED | {"destination": [2, 8, 1]}, "w.parquet: row 2: expected tasks of 0 … 7"),
    ],
)
def test_parquet_errors_name_the_row(tmp_path, columns, says):
    refused(lambda: in_parquet(tmp_path, columns), says)


def test_damaged_parquet_is_refused(tmp_path):
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table(LISTED), path)
    for content in (b"", CSV.encode(), path.read_bytes()[:-9]):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"w\.parquet: expected a Parquet file of messages, got: "):
            workload(str(path), 8)
    with pytest.raises(BadInput, match="no such file"):
        workload("nowhere.parquet", 8)
    assert files_of("a.parquet") == [Path("a.parquet")]


def test_memory_estimate_for_parquet(tmp_path):
    path, many = tmp_path / "w.parquet", 20_000
    before = [str(i - 1) if i else "" for i in range(many)]
    columns = {
        "message": list(map(str, range(many))),
        "source": [0] * many,
        "destination": [1] * many,
        "flits": [1] * many,
        "depends_on": before,
    }
    pq.write_table(pa.table(columns), path)
    tracemalloc.start()
    workload(str(path), 8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEMORY_PER_CELL * many * len(columns)


def test_parquet_of_more_rows_than_fit_is_refused(tmp_path, monkeypatch):
    """All rows are equal, so that the file is small."""
    many = 50_000
    monkeypatch.setattr(
        "torusweep.workloads.files.default_memory", lambda: many * 4 * MEMORY_PER_CELL - MEMORY_PER_CELL
    )
    with pytest.raises(
        Refused, match=r"w.parquet: 50,000 rows of 4 columns are more than this machine's memory can hold"
    ):
        in_parquet(
            tmp_path, {"message": ["a"] * many, "source": [0] * many, "destination": [1] * many, "flits": [1] * many}
        )


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (f"a,0,1,{'1' * 5000},,", ":2: flits: expected a whole number of 1 … 1099511627776, got '11111"),
        (f"a,{'9' * 5000},1,1,,", ":2: source: expected a whole number"),
        (f"a,0,1,1,,{'7' * 100_000}", ":2: delay: expected a whole number"),
        ("a,0,1,\u0665,,", ":2: flits: expected a whole number"),
        (f"{'n' * 5000} x,0,1,1,,", ":2: message: expected a name without blanks, got 'nnn"),
        ("a\tb,0,1,1,,", ":2: message: expected a name without blanks"),
        (f"a,0,1,1,{'n' * 5000},", ":2: message 'a' depends on 'nnn"),
    ],
)
def test_numbers_and_names_of_any_length_are_refused_in_a_short_line(tmp_path, row, says):
    with pytest.raises(BadInput) as refusal:
        read(tmp_path, HEAD + row + "\n")
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 500


def test_zeros_before_a_number_do_not_count(tmp_path):
    assert read(tmp_path, HEAD + f"a,0,1,{'0' * 5000}7,,\n").flits.tolist() == [7]


def test_more_exchanges_than_can_be_simulated_are_refused(monkeypatch):
    monkeypatch.setattr("torusweep.workloads.messages.MOST_BLOCKS", 100)
    refused(lambda: workload("all_to_all(rounds=1000)", 8), "more than 50 exchanges between tasks")
