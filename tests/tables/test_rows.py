"""Rows of a file, of which only what is asked for is read: beside plain loops over the same records."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from torusweep.tables import parquet as files
from torusweep.tables import rows as module
from torusweep.tables.parquet import Streamed, TableFile, parquet
from torusweep.tables.rows import StoredRows, stored_rows

SCHEMA = pa.schema(
    [("name", pa.string()), ("size", pa.int64()), ("mean", pa.float64()), ("whole", pa.bool_())]
    + [("list", pa.list_(pa.int64()))]
)


def made_up(random: Random, count: int) -> list[dict[str, Any]]:
    return [
        {
            "name": random.choice("abcdefgh") * random.randrange(1, 4),
            "size": random.randrange(5),
            "mean": random.choice([None, 0.5, 1.25, math.inf]),
            "whole": random.random() < 0.5,
            "list": list(range(random.randrange(3))),
        }
        for _ in range(count)
    ]


@pytest.fixture(params=[1, 3, 1000])
def group(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many rows a row group, and records that are kept."""
    for of in (files, module):
        monkeypatch.setattr(of, "ROW_GROUP", request.param)


def both(records: list[dict[str, Any]]) -> tuple[StoredRows, StoredRows]:
    """The same rows of a file and of a list."""
    return StoredRows(TableFile(parquet(pa.Table.from_pylist(records, schema=SCHEMA), {}))), StoredRows(records)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("group")
def test_rows_of_a_file_are_those_of_a_list(seed: int) -> None:
    random = Random(seed)
    records = made_up(random, 40)
    places = np.array(random.choices(range(40), k=25), np.int64)
    for rows in both(records):
        assert list(rows) == rows.records() == records
        assert (len(rows), rows[0], rows[-1], rows[3:5]) == (40, records[0], records[-1], records[3:5])
        some, expected = rows.at(places), [records[place] for place in places]
        assert list(some) == some.records() == list(some) == expected
        assert list(some.at(np.array([7, 2, 7]))) == [expected[7], expected[2], expected[7]]
        for own, has in ((rows, records), (some, expected)):
            last = {record["name"]: record for record in has}
            assert list(own.distinct("name")) == list(last.values())
            assert list(own.sorted("size", "name")) == sorted(has, key=lambda one: (one["size"], one["name"]))
            for names in ([], ["a"], ["bb", "a", "zz"]):
                assert list(own.among("name", names)) == [one for one in has if one["name"] in names]
            groups = {
                size: [one for one in has if one["size"] == size] for size in dict.fromkeys(r["size"] for r in has)
            }
            assert {size: list(found) for size, found in own.groups("size").items()} == groups
            means = [math.nan if one["mean"] is None else one["mean"] for one in has]
            assert own.numbers("mean").tolist() == pytest.approx(means, nan_ok=True)
            assert own.numbers("whole").tolist() == [one["whole"] for one in has]
            names = [one["name"] for one in has]
            wanted = ["a", "zz", *names[:3]]
            assert own.find("name", pa.array(wanted)).tolist() == [
                names.index(name) if name in names else -1 for name in wanted
            ]


@pytest.mark.usefixtures("group")
def test_no_rows() -> None:
    for rows in both([]):
        assert not rows
        assert list(rows) == rows.records() == list(rows.at(np.empty(0, np.int64))) == []
        assert not rows.distinct("name")
        assert not rows.among("name", ["a"])
        assert rows.find("name", pa.array(["a", "b"])).tolist() == [-1, -1]
    assert len(stored_rows({}, "static")) == 0


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7, 13])
@pytest.mark.parametrize("sizes", [[13], [1] * 13, [0, 4, 0, 9], [5, 5, 3]])
def test_parts_of_any_sizes_make_the_same_bytes(count: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROW_GROUP", 6)
    table = pa.Table.from_pylist(made_up(Random(count), count), schema=SCHEMA)
    ends = np.cumsum(sizes).tolist()
    parts = [table.slice(end - size, size) for end, size in zip(ends, sizes)]
    streamed = parquet(Streamed(SCHEMA, iter(parts)), {"a": "b"})
    assert streamed == parquet(table, {"a": "b"})
    file = TableFile(streamed)
    assert [part.num_rows for part in file.groups()] == [6] * (count // 6) + [count % 6] * (count % 6 > 0 or not count)
