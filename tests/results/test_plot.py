"""torusweep plot: what it draws, what it leaves out and says so, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from torusweep.charts import scatter
from torusweep.cli.plot import plot as command
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.results import plot
from torusweep.stages.loads import loads_record
from torusweep.stages.static import static_record
from torusweep.stages.tables import schema_of
from torusweep.tables import store

from tests.results import vega_lite

NAMES = (
    "torus(k=4, n=2)",
    "torus(k=8, n=2)",
    "mesh(k=4, n=2)",
    "rtt(a=4)",
    "torus(k=4, n=2, directed=true)",
    "pruned_xy(k=4)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep")
    static = [static_record(build(name)) for name in NAMES]
    static[3]["edge_connectivity"] = None
    loads = [
        loads_record(build(name), traffic=traffic)
        for name in NAMES[:4]
        for traffic in ("uniform", "tornado")
        if "rtt" not in name
    ]
    points = [{"key": str(i), "topology": name} for i, name in enumerate(NAMES)]
    store.publish_points(
        path, pa.Table.from_pylist(points, schema=schema_of("points")), {}, {"static": True, "loads": True}
    )
    store.publish_table(path, "static", pa.Table.from_pylist(static, schema=schema_of("static")))
    store.publish_table(path, "loads", pa.Table.from_pylist(loads, schema=schema_of("loads")))
    return path


def marks(drawn: plot.Plot) -> list[dict[str, Any]]:
    return vega_lite.rows(drawn.specification)[0]


def test_two_columns_of_static_coloured_by_family(folder: Path) -> None:
    drawn = plot.plot(folder, "nodes", "mean_distance", where="connected")
    assert {(mark["x"], mark["y"], mark["group"]) for mark in marks(drawn)} == {
        (16, 2.0, "torus"),
        (64, 4.0, "torus"),
        (16, 2.5, "mesh"),
        (32, 2.625, "rtt"),
        (16, 3.0, "torus, directed"),
    }
    assert (drawn.rows, drawn.left_out, drawn.drawn) == (5, 0, 5)
    assert plot.remarks(drawn) == ""


def test_columns_of_two_tables_a_row_for_each_of_the_second(folder: Path) -> None:
    drawn = plot.plot(folder, "mean_distance", "saturation_load", colour="traffic")
    assert {(mark["x"], mark["group"]) for mark in marks(drawn)} == {
        (x, t) for x in (2.0, 4.0, 2.5) for t in ("uniform", "tornado")
    }
    only = plot.plot(folder, "mean_distance", "saturation_load", where="traffic = 'uniform' AND family = 'torus'")
    assert {mark["x"]: mark["y"] for mark in marks(only)} == pytest.approx({2.0: 2.0, 4.0: 1.0})  # 8/k


def test_numbers_colour_by_a_scale_and_logarithms_are_the_axes_asked_for(folder: Path) -> None:
    encoding = plot.plot(folder, "nodes", "cost", colour="degree_max", log="x").specification["encoding"]
    assert encoding["color"]["type"] == "quantitative"
    assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"].get("type")) == ("log", None)


@pytest.mark.parametrize(("y", "shown"), [("mean_distance", ".6~r"), ("big", "~s")])
def test_an_axis_labels_small_numbers_plainly(y: str, shown: str) -> None:
    rows = [{"x": 0.01, "y": 20_000 if y == "big" else 0.02, "group": "a"}, {"x": 0.02, "y": 0.01, "group": "a"}]
    encoding = scatter.chart(rows, scatter.value_groups("a"), {"x": "", "y": "", "group": ""}, "").to_dict()["encoding"]
    assert [encoding[axis]["axis"]["format"] for axis in "xy"] == [".6~r", shown]  # ~s would say 10m for 0.01


def test_rows_without_a_number_are_counted_and_many_are_sampled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = plot.plot(folder, "nodes", "edge_connectivity")
    assert (drawn.rows, drawn.left_out, drawn.drawn) == (6, 1, 5)
    assert plot.remarks(drawn) == "1 of 6 rows lack a number and were left out"
    monkeypatch.setattr(plot, "MOST", 3)
    few = plot.plot(folder, "nodes", "mean_distance", where="connected")
    assert few.drawn == 3
    assert plot.remarks(few) == "a sample of 3 rows is drawn, since a picture holds 3"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nodes", "mean_distanc"), "unknown column 'mean_distanc' (did you mean 'mean_distance'?)"),
        (("nodes", "family"), "column 'family': expected numbers, got string"),
        (("nodes", "cost", "--table", "lods"), "unknown table 'lods' (did you mean 'loads'?)"),
        (("nodes", "saturation_load", "--table", "distances"), "unknown column 'saturation_load'"),
        (("saturation_load", "cycle_length"), "expected columns of one table, or of one and of static"),
        (
            ("nodes", "cost", "--colour", "distance_histogram"),
            "expected words or numbers to colour by, got list<int64>",
        ),
        (("nodes", "cost", "--where", "nodes > 1000"), "with both nodes and cost where nodes > 1000, got none"),
        (("nodes", "cost", "--where", "nodes >"), "the query cannot be read"),
        (
            ("nodes", "bisection_lower", "--log", "y", "--where", "NOT connected"),
            "expected numbers above 0 in bisection_lower, got 0",
        ),
        (("nodes", "cost", "--output", "a.jpg"), "expected a name that ends in .svg or .png, got 'a.jpg'"),
        (("nodes", "cost", "--output", "/nowhere/a.svg"), "expected a file that can be written"),
    ],
)
def test_refusals(folder: Path, arguments: tuple[str, ...], complaint: str) -> None:
    result = CliRunner().invoke(command, [*arguments, "--results", str(folder)])
    assert isinstance(result.exception, BadInput)
    assert complaint in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_file_is_a_picture(folder: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"picture{suffix}"
    result = CliRunner().invoke(command, ["nodes", "cost", "--results", str(folder), "-o", str(target), "--json"])
    assert json.loads(result.stdout) == {"output": str(target), "rows": 6, "left_out": 0, "drawn": 6}
    content = target.read_bytes()
    if suffix == ".png":
        assert content.startswith(b"\x89PNG")
    else:
        assert b"cost against nodes" in content
        assert len(re.findall(b'aria-roledescription="(?:circle|square|point)', content)) == 6
