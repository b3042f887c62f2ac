"""The file of an atlas: readers skip row groups of other sizes, it names what made it, its rows can be made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import torusweep
from torusweep.cli.run import run_step
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record
from torusweep.sweeps.points import stage_digest
from torusweep.tables.parquet import read_rows
from torusweep.tables.store import read_manifest

DIMENSIONS, NODES = 3, 40
CONFIG = "sweep: atlas\nscreen:\n" + "".join(
    f"  - {{family: lattices, dimensions: {n}, nodes: {{from: 32, to: 48}}}}\n" for n in (1, 2, 3)
)
FILTERS = [("dimensions", "==", DIMENSIONS), ("nodes", "==", NODES)]


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    """An atlas of small row groups, sorted by dimensions and nodes."""
    home = tmp_path_factory.mktemp("atlas")
    (home / "atlas.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torusweep.tables.parquet.ROW_GROUP", 200)
        for step in ("points", "static", "screen"):
            assert (
                run_step(step, home / "atlas.yaml", home / "results", {"workers": 0} if step != "points" else {}) == 0
            )
    return home / "results" / "screen.parquet"


def in_group(group: pq.RowGroupMetaData) -> bool:
    """Whether a row group may have rows of the size, by its statistics."""
    bounds = {column.path_in_schema: column.statistics for column in map(group.column, range(group.num_columns))}
    return all(bounds[name].min <= value <= bounds[name].max for name, _, value in FILTERS)


@pytest.fixture(scope="module")
def damaged(atlas: Path) -> Path:
    """The same file with nonsense in place of all row groups that cannot have rows of the size."""
    content, about = bytearray(atlas.read_bytes()), pq.read_metadata(atlas)
    others = [group for group in map(about.row_group, range(about.num_row_groups)) if not in_group(group)]
    assert about.num_row_groups - len(others) <= 4 < len(others)
    for group in others:
        for column in map(group.column, range(group.num_columns)):
            start = column.dictionary_page_offset or column.data_page_offset
            content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path = atlas.with_name("damaged.parquet")
    path.write_bytes(content)
    return path


def by_duckdb(path: Path) -> list[str]:
    condition = f"dimensions = {DIMENSIONS} AND nodes = {NODES}"
    return [name for (name,) in duckdb.sql(f"SELECT topology FROM '{path}' WHERE {condition}").fetchall()]


def by_dataset(path: Path) -> list[str]:
    condition = (pa.dataset.field("dimensions") == DIMENSIONS) & (pa.dataset.field("nodes") == NODES)
    return pa.dataset.dataset(path).to_table(filter=condition)["topology"].to_pylist()


READERS: dict[str, Callable[[Path], list[str]]] = {
    "duckdb": by_duckdb,
    "pyarrow.dataset": by_dataset,
    "pyarrow.parquet": lambda path: pq.read_table(path, filters=FILTERS)["topology"].to_pylist(),
    "pandas": lambda path: pandas.read_parquet(path, filters=FILTERS)["topology"].tolist(),
    "torusweep": lambda path: read_rows(path.read_bytes(), where={name: value for name, _, value in FILTERS})[
        "topology"
    ].to_pylist(),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_of_a_size_skips_other_row_groups(atlas, damaged, reader):
    """It would fail in them: nothing in them can be read."""
    rows = pq.read_table(atlas).to_pylist()
    wanted = [row["topology"] for row in rows if (row["dimensions"], row["nodes"]) == (DIMENSIONS, NODES)]
    assert len(wanted) > 100
    assert READERS[reader](atlas) == READERS[reader](damaged) == wanted


def test_the_damage_is_seen_without_the_filter(damaged):
    with pytest.raises((OSError, pa.ArrowException)):
        pq.read_table(damaged)


def test_the_file_is_sorted_and_names_what_made_it(atlas):
    table = pq.read_table(atlas)
    sizes = list(zip(table["dimensions"].to_pylist(), table["nodes"].to_pylist()))
    assert sizes == sorted(sizes)
    about = pq.read_metadata(atlas).metadata
    assert about[b"generator"].decode() == f"torusweep {torusweep.__version__}"
    assert about[b"code"].decode() == stage_digest("screen") == read_manifest(atlas.parent)["stage"]["screen"]


def test_rows_are_made_again_from_their_spellings(atlas):
    rows = pq.read_table(atlas).to_pylist()
    for row in rows[:: len(rows) // 12]:
        again = static_record(build(row["topology"]))
        for name in ("topology", "nodes", "links", "diameter", "distance_histogram", "mean_distance"):
            assert row[name] == again[name], name
