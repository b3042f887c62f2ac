"""The data set: a folder that stands alone, read by others and by ranges, whose views have every column of screen."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.all_columns import schema_of
from torusweep.answers.dataset import croissant, write_dataset
from torusweep.errors import BadInput
from torusweep.questions.screen.before import read_data_set
from torusweep.questions.screen.best import best_table
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.dataset import DataSet, _OpenFile, screen_rows, stored
from torusweep.questions.screen.spaces import Lattices, screen_space
from torusweep.run.command import summary
from torusweep.tables import store
from torusweep.tables.parquet import Streamed

SIZES = [(n, nodes) for n in (1, 2, 3) for nodes in range(1, 37)]


@pytest.fixture(scope="module")
def screen() -> list[pa.Table]:
    return [part.rows for size in SIZES for part in screen_space(Lattices(*size))]


def published(folder: Path, parts: list[pa.Table]) -> Path:
    store.publish_points(folder, pa.table({"stage": ["screen"]}), {"sweep": "atlas"}, {"screen": True, "best": True})
    store.publish_table(folder, "screen", Streamed(parts[0].schema, parts))
    store.publish_table(folder, "best", best_table(parts))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory, screen) -> Path:
    """A data set of several files of a few row groups, moved after it was written."""
    home = tmp_path_factory.mktemp("dataset")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torusweep.tables.parquet.ROW_GROUP", 100)
        write_dataset(published(home / "results", screen), home / "first", largest=30_000)
    shutil.move(home / "first", home / "data set")
    return home / "data set"


def test_the_views_have_every_column_and_value_of_the_table(folder, screen):
    with duckdb.connect(str(folder / "lattices.duckdb"), read_only=True) as connection:
        connection.execute(f"SET file_search_path = '{folder}'")
        found = connection.sql("SELECT * FROM screen").to_arrow_table().to_pylist()
        winners = connection.sql("SELECT * FROM best").to_arrow_table().to_pylist()
    expected = pa.concat_tables(screen).to_pylist()
    assert [list(row) for row in found[:1]] == [[column.name for column in SCREEN]]
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        assert ours.pop("load") == pytest.approx(theirs.pop("load"), rel=1e-7)
        assert ours == theirs
    assert winners == best_table(screen).to_pylist()


def test_files_are_small_whole_and_named_in_the_index(folder):
    files = DataSet(folder).files
    assert len(files) > 5
    assert all(file.bytes == (folder / file.name).stat().st_size <= 30_000 for file in files)
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in sums.items())
    for file in files:
        rows = pq.read_table(folder / file.name).to_pylist()
        sizes = [(row["dimensions"], row["nodes"]) for row in rows]
        assert (sizes[0], sizes[-1], len(rows)) == (file.first, file.last, file.rows)
        assert sizes == sorted(sizes)


def test_a_row_group_has_lattices_of_one_number_of_dimensions(folder):
    """Others would be read for sizes of which they have nothing."""
    for file in DataSet(folder).files:
        about = pq.read_metadata(folder / file.name)
        place = pq.read_schema(folder / file.name).names.index("dimensions")
        bounds = [about.row_group(group).column(place).statistics for group in range(about.num_row_groups)]
        assert all(bound.min == bound.max for bound in bounds)


@pytest.mark.parametrize("table", ["screen", "data set"])
def test_loads_are_stored_by_place_and_other_numbers_by_value(tmp_path, screen, folder, table):
    path = folder / "lattices-000.parquet"
    if table == "screen":
        path = published(tmp_path / "results", screen) / "screen.parquet"
    group = pq.read_metadata(path).row_group(0)
    columns = {column.path_in_schema: column.encodings for column in map(group.column, range(group.num_columns))}
    by_place = {name for name, encodings in columns.items() if "BYTE_STREAM_SPLIT" in encodings}
    loads = {"load.list.element", "max_channel_load", "saturation_load", "guarantee_lower"}
    assert by_place == (loads & columns.keys()) >= {"load.list.element", "max_channel_load"}
    assert all(
        "RLE_DICTIONARY" in columns[name] for name in ("topology", "distance_sum", "distance_histogram.list.element")
    )


def test_the_answer_from_a_folder_needs_no_compiler(folder):
    said = "import atexit, sys; atexit.register(lambda: print('numba' in sys.modules, file=sys.stderr))"
    words = ["best", "--nodes", "32", "--results", str(folder), "--digest", DataSet(folder).digest]
    command = [sys.executable, "-c", f"{said}; from torusweep.cli import main; main()", *words]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "proved: least mean_distance" in found.stdout
    assert found.stderr == "False\n"


def test_others_find_the_best_of_a_size(folder):
    least = min(row["distance_sum"] for part in screen_space(Lattices(3, 32)) for row in part.rows.to_pylist())
    names = sorted(str(path) for path in folder.glob("lattices-*.parquet"))
    condition = "dimensions = 3 AND nodes = 32"
    assert duckdb.sql(f"SELECT min(distance_sum) FROM read_parquet({names}) WHERE {condition}").fetchall() == [(least,)]
    parts = [pandas.read_parquet(name, filters=[("dimensions", "==", 3), ("nodes", "==", 32)]) for name in names]
    assert pandas.concat(parts)["distance_sum"].min() == least
    of_size = polars.scan_parquet(names).filter((polars.col("dimensions") == 3) & (polars.col("nodes") == 32))
    assert of_size.select(polars.col("distance_sum").min()).collect().item() == least


class Ranges(SimpleHTTPRequestHandler):
    """Answers range requests, as servers of data do."""

    sent = 0
    whole = False

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content, status = path.read_bytes(), 200
        if (wanted := self.headers.get("Range")) and not self.whole:
            first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted).groups()
            content, status = content[int(first) : int(last) + 1], 206
        type(self).sent += len(content)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def address(folder):
    handler = type("Handler", (Ranges,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()


@pytest.mark.parametrize(
    "asked",
    [
        {"nodes": 32},
        {"nodes": 30, "dimensions": 2, "minimise": ("diameter",), "maximise": ("saturation_load",)},
        {"nodes": 36, "where": "degree = 6 AND diameter <= 4", "maximise": ("saturation_load",)},
        {"nodes": 1},
    ],
)
def test_best_of_a_size_by_ranges_is_the_computed_one(folder, address, monkeypatch, asked):
    computed = ts.best(**asked, show=100)
    monkeypatch.setattr("torusweep.answers.best.screen_space", None)  # nothing is computed
    place, handler = address
    for given in ({"results": (place,)}, {"results": (folder,)}):
        found = ts.best(**asked, **given, show=100, digest=DataSet(folder).digest)
        assert not found.remarks
        assert found.heading() == computed.heading()
        for ours, theirs in zip(found.rows, computed.rows, strict=True):
            assert ours == theirs, "winners are computed anew"
    if "where" not in asked:
        assert handler.sent < sum(file.bytes for file in DataSet(folder).files)


@pytest.mark.parametrize(("column", "sign"), [("diameter", 1), ("saturation_load", -1), ("mean_distance", 1)])
def test_histograms_and_loads_of_a_whole_row_group_are_not_read_for_a_few_rows(folder, monkeypatch, column, sign):
    """They are half of its bytes; those of the rows that are shown are measured again."""
    read, rows = set(), _OpenFile.rows
    monkeypatch.setattr(_OpenFile, "rows", lambda self, group, names: read.update(names) or rows(self, group, names))
    found = read_data_set(b"", address=str(folder), size=(3, 32), chosen=[(column, sign)], wanted="")
    assert {"matrix", "distance_sum"} <= read
    assert not read & {"load", "distance_histogram", "topology"}
    assert 0 < found.table.num_rows < found.about["measured"]


def test_a_size_that_it_lacks_is_computed(folder):
    lacking = ts.best(nodes=37, dimensions=2, results=(folder,))
    assert lacking.found.lattices == 38
    assert lacking.remarks == [
        f"note: {folder}: not all lattices(dimensions=2, nodes=37) are there; computed here instead"
    ]


def test_servers_and_folders_without_a_data_set_are_one_line(address, tmp_path):
    place, handler = address
    handler.whole = True
    with pytest.raises(BadInput, match="the server answers no range requests"):
        ts.best(nodes=8, results=(place,))
    for wrong in (f"{place}/nowhere", "http://127.0.0.1:9"):
        with pytest.raises(BadInput, match="expected a data set of 'torusweep dataset', got: ") as refusal:
            ts.best(nodes=8, results=(wrong,))
        assert "\n" not in str(refusal.value)
    with pytest.raises(BadInput, match="expected a sweep with a section screen, or a data set, got none"):
        ts.best(nodes=8, results=(tmp_path,))


def test_what_makes_no_data_set_is_refused(tmp_path, screen):
    results = published(tmp_path / "results", screen[:3])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="expected a new or empty folder"):
        write_dataset(results, tmp_path / "there")
    with pytest.raises(BadInput, match="expected rows sorted by dimensions, then nodes"):
        write_dataset(published(tmp_path / "mixed", screen[2:0:-1]), tmp_path / "out")
    with pytest.raises(BadInput, match="expected a sweep with lattices"):
        write_dataset(published(tmp_path / "none", [screen[0].slice(0, 0)]), tmp_path / "empty")


def test_stored_rows_give_the_rows_back(screen):
    table = pa.concat_tables(screen)
    again = screen_rows(stored(table))
    assert again.schema.equals(table.schema)
    assert again.drop_columns("load").equals(table.drop_columns("load"))


def test_metadata_name_every_file_and_column(folder):
    described = json.loads((folder / "croissant.json").read_text())
    files = {file["@id"]: file for file in described["distribution"]}
    assert {file.name: file.sha256 for file in DataSet(folder).files}.items() <= {
        name: file["sha256"] for name, file in files.items()
    }.items()
    for rows in described["recordSet"]:
        named = {field["source"]["fileObject"]["@id"] for field in rows["field"]}
        (name,) = named
        columns = pq.read_schema(folder / name).names
        assert [field["source"]["extract"]["column"] for field in rows["field"]] == columns
        assert all(field["description"] for field in rows["field"])
    remote = croissant(folder, {"screen": [DataSet(folder).files[0].name]}, {"generator": ""}, "https://a.org/x/")
    assert remote["distribution"][0]["contentUrl"] == "https://a.org/x/lattices-000.parquet"


@pytest.mark.skipif(not importlib.util.find_spec("mlcroissant"), reason="needs mlcroissant; pip install mlcroissant")
def test_metadata_are_valid_croissant(folder):
    import mlcroissant

    data = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    first = next(iter(data.records("lattices-000")))
    assert first["lattices-000/nodes"] == 1


def test_the_numbers_of_the_documents_come_from_the_folder(tmp_path, screen, folder):
    """The front of a size by comparing all rows with each other; what the program prints of all sizes."""
    program = Path(__file__).parents[2] / "docs" / "atlas_numbers.py"
    results = published(tmp_path / "results", screen)
    spec = importlib.util.spec_from_file_location("atlas_numbers", program)
    numbers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(numbers)
    of_sizes = {size: found for size, *found in numbers.of_sizes(results / "screen.parquet")}
    assert sorted(of_sizes) == SIZES
    rows = [row for row in pa.concat_tables(screen).to_pylist() if (row["dimensions"], row["nodes"]) == (3, 32)]
    values = {(row["distance_sum"], row["diameter"], round(row["max_channel_load"], 9)) for row in rows}
    best = sorted(
        one for one in values if not any(all(a <= b for a, b in zip(other, one)) for other in values if other != one)
    )
    classes, whole, found = of_sizes[3, 32]
    assert (classes, whole) == (len(rows), sum(row["degree"] == 6 for row in rows))
    assert [(mean * 32**2, diameter, round(1 / load, 9)) for _, mean, diameter, load in found] == best
    command = [sys.executable, str(program), str(results), str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lattices = sum(row["class_size"] for row in pa.concat_tables(screen).to_pylist())
    assert said.startswith(f"**all lattices of up to 36 nodes**: {lattices:,} of 108 sizes")
    assert "21 of 21 sizes meet both bounds (mean 21, diameter 21); RTT is optimal at 2 of 2 sizes" in said


def test_examples_of_the_readme_find_rows_of_a_small_atlas(folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = Path("README.md").read_text().replace("ADDRESS", str(folder))
    asked = re.findall(r"duckdb (-c|lattices\.duckdb) \"(.*)\"", said)
    assert len(asked) == 3
    for database, sql in asked:
        with duckdb.connect(":memory:" if database == "-c" else database, read_only=database != "-c") as connection:
            rows = connection.sql(sql).fetchall()
        assert rows
        assert None not in rows[0]
    (size,) = {int(size) for size in re.findall(r'"nodes"(?:, "==", |\) == )(\d+)', said)}
    assert size in {nodes for _, nodes in SIZES}
    files = len(list(folder.glob("*.parquet")))
    assert f"{files - Path('best.parquet').exists()} Parquet file" in said


def test_a_query_of_a_data_set_names_what_reads_it(folder, tmp_path):
    with pytest.raises(BadInput, match=r"got a data set of lattices, which DuckDB reads: cd '.*data set' && duckdb "):
        ts.results(folder)


def test_the_query_that_follows_a_run_finds_rows_of_a_small_atlas(tmp_path, screen):
    folder = published(tmp_path / "results", screen)
    store.publish_table(folder, "static", schema_of("static").empty_table())
    (folder / "checked.txt").write_text("none")
    said = re.search(r'torusweep query "(.*)" --results', summary(folder))
    assert said is not None
    assert len(ts.results(folder).query(said[1]).arrow())
