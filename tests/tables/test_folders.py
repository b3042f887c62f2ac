"""The table of a sweep that may have very many networks is a folder of files, which every reader takes for a table."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.answers.compare import compare
from torusweep.answers.query import query
from torusweep.errors import BadInput
from torusweep.tables import files, store
from torusweep.tables.parquet import Streamed

from tests.tables.test_store import SCHEMA, publish_static, record

MANY = 2_000_000  # networks that a sweep may have
ROWS = pa.Table.from_pylist([record("k" * (1 + row), nodes=row % 7) for row in range(20)], schema=SCHEMA)


@pytest.fixture
def six(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files have six rows, row groups three."""
    monkeypatch.setattr("torusweep.tables.parquet.ROW_GROUP", 3)
    monkeypatch.setattr("torusweep.tables.files.FILE_GROUPS", 2)


def published(folder: Path, cuts: tuple[int, ...] = (), most: int = MANY) -> Path:
    """The folder of a table that was made of parts."""
    publish_static(folder)
    edges = [0, *cuts, len(ROWS)]
    some = (ROWS.slice(begin, end - begin) for begin, end in pairwise(edges))
    store.publish_table(folder, "static", Streamed(SCHEMA, some), most=most)
    return folder / "static.parquet"


def test_files_have_the_rows_in_order_and_a_digest_each(tmp_path: Path, six: None):
    path = published(tmp_path)
    parts = sorted(path.iterdir())
    assert [file.name for file in parts] == [f"00000{number}.parquet" for number in range(4)]
    rows = ROWS.to_pylist()
    for number, file in enumerate(parts):
        assert pq.ParquetFile(file).read().to_pylist() == rows[6 * number : 6 * number + 6]
    entry = json.loads((tmp_path / "manifest.json").read_bytes())["tables"]["static"]
    assert entry["rows"] == 20
    assert entry["files"] == [hashlib.sha256(file.read_bytes()).hexdigest() for file in parts]
    assert entry["sha256"] == hashlib.sha256("".join(entry["files"]).encode()).hexdigest()


@pytest.mark.parametrize("cuts", [(1, 2, 19), (6, 12), (3, 7, 7, 15)])
def test_files_are_the_same_bytes_whatever_the_cut(tmp_path: Path, six: None, cuts: tuple[int, ...]):
    one, other = published(tmp_path / "one"), published(tmp_path / "other", cuts)
    assert [file.read_bytes() for file in sorted(one.iterdir())] == [f.read_bytes() for f in sorted(other.iterdir())]


@pytest.mark.parametrize("large", [True, False])
def test_our_readers_and_others_read_all_rows(tmp_path: Path, six: None, large: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "LARGE", 1 if large else 1 << 40)
    path, rows = published(tmp_path), ROWS.to_pylist()
    (path / ".snakemake_timestamp").touch()  # which Snakemake leaves in a folder that it made
    assert store.open_table(path).to_pylist() == rows
    for nodes in (0, 5, 77):
        assert store.open_table(path, {"nodes": nodes}).to_pylist() == [row for row in rows if row["nodes"] == nodes]
    file = store.open_file(path, SCHEMA)
    assert len(file) == 20
    assert [len(group) for group in file.groups()] == [3, 3, 3, 3, 3, 3, 2]
    assert file.read(["topology"])["topology"].to_pylist() == [row["topology"] for row in rows]
    for places in (np.arange(20), np.array([19, 0, 7, 7, 11, 6, 5]), np.empty(0, np.int64)):
        assert file.take(places).to_pylist() == [rows[place] for place in places]
    store.check_tables(tmp_path)
    names = [row["topology"] for row in rows]
    assert query("SELECT topology FROM static", tmp_path)["topology"].to_pylist() == names
    for found in (duckdb.sql(f"SELECT topology FROM '{path}'").fetchall(), polars.scan_parquet(path).collect().rows()):
        assert [row[0] for row in found] == names
    assert pq.read_table(path)["topology"].to_pylist() == names


def test_a_folder_and_a_file_of_the_same_rows_do_not_differ(tmp_path: Path, six: None):
    published(tmp_path / "files"), published(tmp_path / "file", most=100_000)
    assert (tmp_path / "file" / "static.parquet").is_file()
    assert compare(tmp_path / "files", tmp_path / "file").num_rows == 0


def _altered(path: Path) -> str:
    content = (path / "000002.parquet").read_bytes()
    (path / "000002.parquet").write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    return "000002.parquet was altered"


def _exchanged(path: Path) -> str:
    for old, new in (("000000", "x"), ("000001", "000000"), ("x", "000001")):
        (path / f"{old}.parquet").rename(path / f"{new}.parquet")
    return "static.parquet was altered"


def _fewer(path: Path) -> str:
    (path / "000003.parquet").unlink()
    return "static.parquet was altered"


def _more(path: Path) -> str:
    (path / "000004.parquet").write_bytes((path / "000003.parquet").read_bytes())
    return "static.parquet was altered"


def _none(path: Path) -> str:
    for file in path.iterdir():
        file.unlink()
    return "static.parquet was altered"


@pytest.mark.parametrize("change", [_altered, _exchanged, _fewer, _more, _none])
@pytest.mark.parametrize("large", [True, False])
def test_a_changed_file_is_named(tmp_path, six, change, large, monkeypatch):
    monkeypatch.setattr(store, "LARGE", 1 if large else 1 << 40)
    path = published(tmp_path)
    said = change(path)
    for read in (lambda: store.open_table(path), lambda: store.open_file(path, SCHEMA), lambda: store.read_table(path)):
        with pytest.raises(BadInput, match=said):
            read()
    with pytest.raises(BadInput, match=said):
        store.check_tables(tmp_path)


@pytest.mark.parametrize("how", ["exchanged", "removed"])
def test_files_that_change_while_they_are_read_are_refused(
    tmp_path: Path, six: None, monkeypatch: pytest.MonkeyPatch, how: str
):
    """A run beside a reader publishes other rows: never rows of both."""
    monkeypatch.setattr(store, "LARGE", 1)
    file = store.open_file(published(tmp_path), SCHEMA)
    groups = file.groups()
    assert len(next(groups)) == 3
    if how == "removed":
        (tmp_path / "static.parquet" / "000002.parquet").unlink()
    else:
        store.publish_table(tmp_path, "static", Streamed(SCHEMA, [ROWS.slice(5)]), most=MANY)
    for read in (lambda: list(groups), lambda: file.take(np.array([13, 1])), lambda: file.read(["nodes"])):
        with pytest.raises(BadInput, match="run the sweep again"):
            read()


def test_of_a_folder_elsewhere_the_link_is_removed_and_not_its_files(tmp_path: Path, six: None):
    path, elsewhere = published(tmp_path), tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    files.remove(path)
    assert not path.exists()
    assert len(list(elsewhere.iterdir())) == 4
