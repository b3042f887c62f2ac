"""Demands from files: added up and scaled; what is wrong in one is refused in a line."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.families.graph_files import with_path
from torusweep.routing import canonical as routing_spelling
from torusweep.traffic import canonical as traffic_spelling
from torusweep.traffic import traffic
from torusweep.workloads import canonical as workload_spelling

LISTED = {"source": [0, 2, 0, 1], "destination": [1, 0, 1, 1], "demand": [1.0, 2.0, 3.0, 0.5]}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_demand_file_is_added_up_and_scaled(tmp_path, suffix):
    path = tmp_path / f"demand.{suffix}"
    if suffix == "csv":
        rows = zip(*(["", "x", "y", "z"], *LISTED.values()))
        path.write_text("note,source,destination,demand\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    else:
        pq.write_table(pa.table(LISTED), path)
    name, pattern = traffic(f'demand(path="{path}")', build("ring(k=4)"))
    expected = np.zeros((4, 4))
    expected[0, 1], expected[2, 0], expected[1, 1] = 4, 2, 0.5
    np.testing.assert_allclose(pattern.rows(np.arange(4)), expected * 4 / 6.5)
    assert name == f'demand(path="{path}")'
    assert not pattern.symmetric


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("source,destination\n0,1\n", "expected the columns source, destination, demand, got source, destination"),
        ("source,source,destination,demand\n0,0,1,1\n", "expected the columns"),
        ("source,destination,demand\n", "expected some demand above 0"),
        ("source,destination,demand\n0,1,0\n", "expected some demand above 0"),
        (
            "source,destination,demand\n0,1,1e308\n0,2,1e308\n",
            "demand: expected 0 or numbers of 1e-100 … 1e+100, got 1e+308 in row 1",
        ),
        ("source,destination,demand\n0,1,1e-320\n", "demand: expected 0 or numbers of"),
        (
            "source,destination,demand\n0,1,1\n0,4,1\n",
            "destination: expected numbers of terminals, 0 … 3, got 4 in row 2",
        ),
        ("source,destination,demand\n-1,1,1\n", "source: expected numbers of terminals, 0 … 3, got -1 in row 1"),
        ("source,destination,demand\n0,1,-2\n", "demand: expected 0 or numbers of 1e-100 … 1e+100, got -2.0 in row 1"),
        ("source,destination,demand\n0,1,\0\n", "a NUL byte: this is a binary file"),
        ("source,destination,demand\n0,1,nan\n", "demand: expected a number in every row, got 1 row without"),
        ("source,destination,demand\n0,1,inf\n", "demand: expected 0 or numbers of"),
        ("source,destination,demand\n0,1,\n", "demand: expected a number in every row, got 1 row without"),
        ("source,destination,demand\n0.5,1,1\n", "source: expected whole numbers"),
        ("source,destination,demand\n0,x,1\n", "destination: expected whole numbers"),
        ("source,destination,demand\n0,1\n", "expected a table"),
        ("", "expected a table"),
    ],
)
def test_a_bad_demand_file_is_refused(tmp_path, content, says):
    path = tmp_path / "demand.csv"
    path.write_text(content)
    with pytest.raises(BadInput) as refusal:
        traffic(f'demand(path="{path}")', build("ring(k=4)"))
    assert says in str(refusal.value)
    assert str(path) in str(refusal.value)


def test_nan_is_refused(tmp_path):
    pq.write_table(pa.table({"source": [0], "destination": [1], "demand": [math.nan]}), tmp_path / "demand.parquet")
    with pytest.raises(BadInput, match=r"demand: expected 0 or numbers of .*, got nan in row 1"):
        traffic(f'demand(path="{tmp_path / "demand.parquet"}")', build("ring(k=4)"))


@pytest.mark.parametrize("delimiter", [",", ";", " ", "\t"])
def test_a_matrix_as_numpy_writes_it(tmp_path, delimiter):
    matrix = np.arange(16.0).reshape(4, 4)
    np.savetxt(tmp_path / "demand.csv", matrix, delimiter=delimiter)
    pattern = traffic(f'demand(path="{tmp_path / "demand.csv"}")', build("ring(k=4)"))[1]
    np.testing.assert_allclose(pattern.rows(np.arange(4)), matrix * 4 / matrix.sum(), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "0,1\n1,0\n",
            "expected 4 lines of 4 numbers, one for each terminal, or a first line source,destination,demand",
        ),
        ("0,0,0,0\n" * 4, "expected some demand above 0"),
        ("0,1,0,0\n" * 3 + "0,0,-1,0\n", "got -1.0 in row 4, column 3"),
        ("0,1,0,0\n" * 3 + "0,0,0\n", "CSV parse error"),
        ("0,1,0,0\n" * 3 + "0,0,0,one\n", "column 4: expected numbers"),
    ],
)
def test_a_wrong_matrix_is_refused_in_one_line(tmp_path, text, says):
    (tmp_path / "demand.csv").write_text(text)
    with pytest.raises(BadInput) as refusal:
        traffic(f'demand(path="{tmp_path / "demand.csv"}")', build("ring(k=4)"))
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_parquet_file_of_too_many_rows_is_not_read(tmp_path):
    """Half a megabyte that stands for fifty million rows."""
    rows = 10_000_001
    pq.write_table(
        pa.table({"source": pa.repeat(0, rows), "destination": pa.repeat(1, rows), "demand": pa.repeat(1.0, rows)}),
        tmp_path / "demand.parquet",
    )
    with pytest.raises(BadInput, match="10,000,001 rows are more than the 10,000,000 that are read"):
        traffic(f'demand(path="{tmp_path / "demand.parquet"}")', build("ring(k=4)"))


@pytest.mark.parametrize(
    ("name", "says"),
    [("missing.csv", "missing.csv: no such file"), ("demand.txt", "suffix"), ("demand.parquet", "expected a table")],
)
def test_other_files_are_refused(tmp_path, name, says):
    if not name.startswith("missing"):
        (tmp_path / name).write_text("source,destination,demand\n0,1,1\n")
    with pytest.raises(BadInput, match=says):
        traffic(f'demand(path="{tmp_path / name}")', build("ring(k=4)"))


def test_a_table_of_noxim(tmp_path, monkeypatch):
    """Lines of source, destination and packets a cycle, of which % begins comments; the rates are those of a list."""
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("% source destination rate\n0 5 0.01\n1 2 0.03 0.03\n\n7 0 0.02\n")
    Path("t.csv").write_text("source,destination,demand\n0,5,1\n1,2,3\n7,0,2\n")
    topology = build("mesh(k=3, n=2)")
    (_, one), (_, other) = (traffic(path, topology) for path in ("t.txt", "t.csv"))
    assert np.allclose(one.rows(np.arange(9)), other.rows(np.arange(9)), rtol=1e-14, atol=0)
    Path("t.txt").write_text("0 5\n1 2\n")
    assert traffic("t.txt", topology)[1].sent().tolist() == [4.5, 4.5, *[0] * 7]
    for content, words in (
        ("0 5 0.1\n1 2\n", "got a rate on some lines only"),
        ("0 5 0.1 0.1 0 100 200\n", "got lines with times"),
        ("0.5 1 0.1\n", "expected numbers of terminals as source and destination, got a decimal"),
        ("0 99 0.1\n", "expected numbers of terminals, 0 … 8"),
    ):
        Path("t.txt").write_text(content)
        with pytest.raises(BadInput) as refusal:
            traffic("t.txt", topology)
        assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("canonical", "text", "spelling"),
    [
        (traffic_spelling, "demand.csv", 'demand(path="demand.csv")'),
        (traffic_spelling, "my folder/demand.parquet", 'demand(path="my folder/demand.parquet")'),
        (traffic_spelling, "there", 'demand(path="there")'),
        (traffic_spelling, "uniform", "uniform"),
        (routing_spelling, "routes.csv", 'table(path="routes.csv")'),
        (routing_spelling, "./minimal", 'table(path="./minimal")'),
        (routing_spelling, "minimal", "minimal"),
        (routing_spelling, "dimension-order", "dimension_order"),
        (routing_spelling, "DOR", "dimension_order"),
        (workload_spelling, "app.goal", 'goal(path="app.goal")'),
        (workload_spelling, "messages.txt", 'file(path="messages.txt")'),
        (lambda text: str(with_path(text)), "g.gml", 'graph(path="g.gml")'),
        (lambda text: str(with_path(text)), "there", 'graph(path="there")'),
        (lambda text: str(with_path(text)), "torus(k=4, n=2)", "torus(k=4, n=2)"),
    ],
)
def test_a_path_is_a_file(canonical, text, spelling, tmp_path, monkeypatch):
    """One that is there, or has a suffix or folders; a name of the table is the name, whatever files there are."""
    monkeypatch.chdir(tmp_path)
    for name in ("there", "minimal", "uniform", "dimension-order", "DOR"):
        Path(name).write_text("0 1\n")
    assert canonical(text) == spelling


def test_a_path_object_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("source,destination,demand\n0,1,1\n")
    network = ts.network("ring(k=4)")
    assert network.loads(traffic=Path("d.csv")).record == network.loads(traffic='demand(path="d.csv")').record
