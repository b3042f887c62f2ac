"""`ts.results` against the files read by pyarrow, Polars and DuckDB directly."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.all_columns import DECLARED, all_tables, schema_of
from torusweep.tables import current, store
from torusweep.tables.store import publish_table

from tests.answers.page_parts import Page

STATIC = [
    {
        "topology": "ring(k=8)",
        "family": "ring",
        "parameters": [("k", 8)],
        "nodes": 8,
        "diameter": 4,
        "mean_distance": 2.0,
    },
    {"topology": "torus(k=4, n=2)", "family": "torus", "parameters": [("k", 4), ("n", 2)], "nodes": 16, "diameter": 4},
    {"topology": '</td><script>"', "family": "graph", "parameters": None, "nodes": 1, "diameter": 0},
]
LOADS = [
    {"topology": "ring(k=8)", "routing": "minimal", "traffic": "uniform", "saturation_load": 1.0},
    {"topology": "torus(k=4, n=2)", "routing": "minimal", "traffic": "uniform", "saturation_load": 2.0},
    {"topology": "torus(k=4, n=2)", "routing": "valiant", "traffic": "uniform", "saturation_load": 1.0},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "mine"
    publish_table(folder, "static", pa.Table.from_pylist(STATIC, schema=schema_of("static")))
    publish_table(folder, "loads", pa.Table.from_pylist(LOADS, schema=schema_of("loads")))
    (folder / "checked.txt").write_text("none\n")
    return folder


@pytest.fixture(scope="module")
def results(folder: Path) -> ts.Results:
    return ts.results(folder)


@pytest.fixture(scope="module")
def designs(results: ts.Results) -> ts.Table:
    return results["designs"]


def test_tables_are_attributes(folder: Path, results: ts.Results):
    assert results.static.arrow().equals(results["static"].arrow())
    assert {"static", "loads", "designs", "query"} <= set(dir(results))
    with pytest.raises(
        AttributeError, match="no 'statc' \\(did you mean 'static'\\?\\); tables: designs, loads, static"
    ):
        _ = results.statc
    assert pickle.loads(pickle.dumps(ts.results(folder))).tables == results.tables
    results.static.duckdb()  # opens a connection, which is no part of the table
    assert repr(pickle.loads(pickle.dumps(results.static))) == repr(results.static)


def test_the_package_shows_its_public_names_alone():
    assert dir(ts) == sorted(["__version__", *ts.__all__])
    assert not [name for name in dir(ts) if not hasattr(ts, name)]


def test_tables_are_named_and_counted(results: ts.Results):
    assert results.tables == list(results) == ["designs", "loads", "static"]
    assert len(results) == 3
    assert "static" in results
    assert "layout" not in results
    assert len(results["static"]) == 3
    assert results["static"].columns == DECLARED["static"].names
    assert results.manifest["tables"]["loads"]["rows"] == 3


def test_arrow_is_what_the_file_holds(folder: Path, results: ts.Results):
    assert results["static"].arrow().equals(pq.ParquetFile(folder / "static.parquet").read(), check_metadata=True)
    assert pa.table(results["static"]).equals(results["static"].arrow()), "by Arrow's interface between libraries"


def test_pandas_has_the_same_values_and_maps_are_dicts(results: ts.Results):
    frame = results["static"].pandas()
    for name in ("topology", "nodes", "diameter"):
        assert frame[name].tolist() == [row[name] for row in STATIC]
    assert frame["parameters"].tolist() == [{"k": 8}, {"k": 4, "n": 2}, None]


def test_polars_has_the_same_values(folder: Path, results: ts.Results):
    frame = results["static"].polars()
    plain = [name for name in frame.columns if name != "parameters"]
    assert frame.select(plain).equals(polars.read_parquet(folder / "static.parquet", columns=plain))
    assert frame.filter(polars.col("diameter") <= 3)["nodes"].to_list() == [1]
    assert polars.DataFrame(results["static"]).equals(frame)


def test_a_duckdb_relation_has_the_same_values_and_joins_the_other_tables(folder: Path, results: ts.Results):
    static, loads = results["static"].duckdb(), results["loads"].duckdb()
    with duckdb.connect() as direct:
        (expected,) = direct.execute(
            f"SELECT sum(nodes * saturation_load) FROM '{folder}/static.parquet'"
            f" JOIN '{folder}/loads.parquet' USING (topology)"
        ).fetchall()
    joined = static.join(loads, "topology").aggregate("sum(nodes * saturation_load)")
    assert joined.fetchall() == [expected]
    assert results.query("SELECT 8 AS nodes").duckdb().join(static, "nodes").fetchall()[0][1] == "ring(k=8)"
    assert ts.results(folder)["static"].describe().duckdb().filter("unit = 'hops'").fetchall()


@pytest.mark.parametrize(
    "harm",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY (SELECT 1) TO 'stolen.csv'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "ATTACH 'other.db'",
    ],
)
def test_the_relations_connection_reads_no_files(results: ts.Results, harm: str):
    with pytest.raises(duckdb.Error):
        results["static"].duckdb().query("static", harm).fetchall()


def test_queries_and_the_view_of_designs(results: ts.Results, designs: ts.Table):
    rows = results.query("SELECT topology FROM static WHERE nodes > 4 ORDER BY nodes").arrow().to_pylist()
    assert rows == [{"topology": "ring(k=8)"}, {"topology": "torus(k=4, n=2)"}]
    best = {row["topology"]: row["saturation_load"] for row in designs.arrow().to_pylist()}
    assert best == {"ring(k=8)": 1.0, "torus(k=4, n=2)": 2.0, '</td><script>"': None}
    with pytest.raises(ts.BadInput, match="expected a SELECT"):
        results.query("DROP TABLE static")
    with pytest.raises(ts.Refused, match="more than 2 rows"):
        results.query("SELECT * FROM static", max_rows=2)


def test_every_column_says_its_unit_and_meaning(results: ts.Results, designs: ts.Table):
    declared = {
        name: [(column.unit, column.meaning) for column in table.columns] for name, table in all_tables().items()
    }
    for name in ("static", "loads"):
        described = results[name].describe().arrow().to_pylist()
        assert [row["column"] for row in described] == results[name].columns
        assert [(row["unit"], row["meaning"]) for row in described] == declared[name]
    described = designs.describe().arrow().to_pylist()
    assert [row["column"] for row in described] == designs.columns
    assert all(row["meaning"] for row in described)
    meanings = {(row["unit"], row["meaning"]) for row in described}
    # the tables' topology is one column here
    assert meanings - {*declared["static"], *declared["loads"], *declared["layout"]} == set()


def test_the_text_shows_the_first_rows_and_says_how_many_there_are(results: ts.Results):
    first, blank, heads, *rows = repr(results["static"]).splitlines()
    assert first.startswith("static: 3 rows, ")
    assert f" of {len(DECLARED['static'].columns)} columns" in first
    assert blank == ""
    assert heads.split()[:3] == ["topology", "family", "parameters"]
    assert len(rows) == 3
    assert all(len(line) <= 112 for line in rows)
    long = results.query("SELECT range AS n, repeat('x', 500) AS text FROM range(1000)")
    assert repr(long).startswith("query: 8 of 1,000 rows, 2 columns\n")
    assert "…" in repr(long)
    for line in ("  static   3 rows", "  loads    3 rows", "  designs  a row for each network"):
        assert line in repr(results).splitlines()


def tags_of(shown: ts.Results | ts.Table) -> list[str]:
    """The elements that a notebook shows, each closed in its turn."""
    return [tag for tag, _ in Page(shown._repr_html_()).elements]


def test_a_notebooks_table_is_whole_and_escaped(results: ts.Results, designs: ts.Table):
    for table in (results["static"], designs):
        tags = tags_of(table)
        assert "script" not in tags
        assert tags.count("tr") == 4
        assert tags.count("th") == min(40, len(table.columns))
    assert tags_of(results).count("tr") == 3


def test_what_is_missing_is_said_in_one_line(folder: Path, results: ts.Results, tmp_path: Path):
    def refused(folder: Path) -> str:
        with pytest.raises(ts.BadInput) as error:
            ts.results(folder)
        assert "\n" not in str(error.value)
        return str(error.value)

    nowhere = tmp_path / "nowhere"
    assert refused(nowhere) == (
        f"{nowhere}: expected a folder of results, got nothing of this name; run the sweep first, or name another"
    )
    assert "manifest.json is missing: run the sweep" in refused(tmp_path)
    assert refused(folder.parent) == (
        f"{folder.parent}: expected the folder of one sweep, got one that holds mine; write {folder}"
    )
    with pytest.raises(ts.BadInput, match=r"unknown table 'statc' \(did you mean 'static'\?\); it has designs, loads"):
        results["statc"]


def test_an_unfinished_sweep_and_an_altered_table_are_told(tmp_path: Path):
    publish_table(tmp_path, "static", pa.Table.from_pylist(STATIC, schema=schema_of("static")))
    results = ts.results(tmp_path)
    assert not results.complete
    assert "not finished" in repr(results)
    with pytest.raises(ts.BadInput, match=r"unknown table 'loads'.*the sweep is not finished: run it again"):
        results["loads"]
    file = tmp_path / "static.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(ts.BadInput, match="was altered"):
        results["static"]
    file.unlink()
    with pytest.raises(ts.BadInput, match=r"cannot read .*run the sweep first \('torusweep run CONFIG'\)"):
        results["static"]


@pytest.mark.parametrize("lost", ["points", "static"])
def test_a_sweep_that_lacks_a_table_is_not_complete(tmp_path: Path, lost: str):
    """Snakemake removes the output of a step that fails, and puts back what the step was to update."""
    current.publish_configuration(tmp_path, b"sweep: a")
    config = {"sha256": store.digest(b"sweep: a")}
    store.publish_points(tmp_path, pa.table({"stage": ["static"]}), {"config": config}, {"static": True})
    publish_table(tmp_path, "static", pa.Table.from_pylist(STATIC, schema=schema_of("static")))
    (tmp_path / store.CHECKED).touch()
    assert ts.results(tmp_path).complete
    (tmp_path / f"{lost}.parquet").unlink()
    assert not ts.results(tmp_path).complete


def test_the_functions_keep_their_names_whatever_is_imported():
    """torusweep.answers and torusweep.sweeps are rooms, too."""
    code = (
        "import torusweep.answers.connection, torusweep.sweeps.forecast, torusweep as ts;"
        "from torusweep.answers import connection; from torusweep.sweeps import forecast as batches;"
        "print(type(ts.results).__name__, type(ts.sweep).__name__, connection.VIEW, batches.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["function", "function", "designs", "torusweep.sweeps.forecast"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, results: ts.Results, library: str):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ts.BadInput, match=f"expected {library}, which is not installed here; pip install {library}"):
        getattr(results["static"], library)()


def test_several_sweeps_together(folder: Path, tmp_path: Path) -> None:
    """Every table has the rows of each, which its column `sweep` names."""
    other = tmp_path / "other"
    publish_table(other, "static", pa.Table.from_pylist(STATIC[:1], schema=schema_of("static")))
    both = ts.results([folder, other])
    of_one = ts.results(folder)["static"].arrow().to_pylist()
    expected = [{"sweep": folder.name, **row} for row in of_one] + [{"sweep": "other", **of_one[0]}]
    assert both["static"].arrow().to_pylist() == expected
    assert both.query("SELECT DISTINCT sweep FROM loads").arrow().to_pylist() == [{"sweep": folder.name}]
    assert str(folder) in repr(both)
    assert str(other) in repr(both)
    assert repr(ts.results(one for one in (folder, other))) == repr(both)
    for wrong, says in (([], r"got \[\]"), ([folder, 3], "expected a folder"), ([folder, folder], "this one twice")):
        with pytest.raises(ts.BadInput, match=says):
            ts.results(wrong)
    with pytest.raises(ts.BadInput, match="two by two"):
        both.compare(ts.results(folder))
