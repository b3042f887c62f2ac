"""Charts: what each part of a declaration draws, and that it keeps to Vega-Lite's schema."""

from __future__ import annotations

from typing import Any

from torusweep.charts import Axis, finished
from torusweep.charts.drawing import Chart, key
from torusweep.charts.looks import KINDS, SYMBOLS, value_looks

from tests.answers import vega_lite

CHART = Chart(Axis("x", "load, flits/cycle"), Axis("y", "latency, cycles"), "group", along="along", hollow="hollow")
ROWS = [
    {"x": 0.1, "y": 10.0, "group": "a", "along": 0.1, "hollow": False, "low": 9.0, "high": 11.0},
    {"x": 0.2, "y": 40.0, "group": "a", "along": 0.2, "hollow": True, "low": None, "high": None},
    {"x": 0.1, "y": 12.0, "group": "b", "along": 0.1, "hollow": False, "left": 0.05, "right": 0.15},
]


def layers(chart: Any) -> dict[str, list[dict[str, Any]]]:
    specification = finished(chart)
    vega_lite.check([specification])
    found: dict[str, list[dict[str, Any]]] = {}
    for layer in specification["layer"]:
        found.setdefault(layer["mark"]["type"], []).append(layer)
    return found


def test_a_line_marks_and_bars_for_each_group_with_one_title_an_axis() -> None:
    found = layers(CHART.draw(ROWS))
    assert {kind: len(of_kind) for kind, of_kind in found.items()} == {"rule": 2, "tick": 4, "line": 1, "point": 2}
    assert found["line"][0]["encoding"]["order"]["field"] == "along"
    ends = [(layer["encoding"]["x"]["field"], layer["encoding"]["y"]["field"]) for layer in found["rule"]]
    assert ends == [("x", "low"), ("left", "y")]
    everything = [layer for of_kind in found.values() for layer in of_kind]
    assert {layer["encoding"]["y"]["title"] for layer in everything} == {"latency, cycles"}


def test_without_errors_and_saturation_only_lines_and_marks() -> None:
    plain = [{name: row[name] for name in ("x", "y", "group", "along")} for row in ROWS]
    assert set(layers(CHART._replace(y=Axis("y", log=True)).draw(plain))) == {"line", "point"}


def test_every_kind_has_a_mark_with_an_area() -> None:
    """Marks are filled: Vega's symbol `stroke`, a line, is not seen."""
    assert {look.symbol for look in KINDS.values()} <= SYMBOLS.keys()


def test_an_axis_that_ends_cuts_the_lines() -> None:
    found = layers(CHART._replace(y=Axis("y", domain=(0, 30.0))).draw(ROWS))
    assert found["line"][0]["encoding"]["y"]["scale"]["domain"] == [0, 30]
    assert all(layer["mark"]["clip"] for layer in [*found["line"], *found["point"], *found["rule"]])


def test_a_legend_of_many_lines_stands_beside_the_chart() -> None:
    few = key(value_looks("abc")).to_dict()
    assert few["columns"] == 3
    assert "orient" not in few
    names = [f"torus(k={k}, n=3), dimension_order" for k in range(30)]
    many = key(value_looks(names)).to_dict()
    assert (many["orient"], many["columns"]) == ("right", 2)


def test_a_chart_holds_the_columns_that_it_shows_and_no_others() -> None:
    rows = [{**row, "secret": 1, "size": 2**40, "share": 0.5} for row in ROWS]
    chart = CHART._replace(tips={"size": "bytes", "share": ("share", ".1%"), "absent": "nothing"})
    points = layers(chart.draw(rows))["point"]
    shown = {tip["field"]: (tip["title"], tip["format"]) for tip in points[0]["encoding"]["tooltip"]}
    assert shown == {"size": ("bytes", ","), "share": ("share", ".1%")}
    (values,) = chart.draw(rows).to_dict()["datasets"].values()
    assert {name for row in values for name in row} == {*ROWS[0], "left", "right", "size", "share"}


def test_words_along_an_axis_are_rows_or_groups_of_bars() -> None:
    rows = [{"net": net, "part": part, "use": 0.5} for net in "pq" for part in "xy"]
    marks = Chart(x=Axis("use"), y=Axis("net", order="qp"), line="part", along=None).draw(rows)
    (names,) = [layer for layer in layers(marks)["text"] if layer["encoding"]["text"]["field"] == "net"]
    assert names["encoding"]["y"]["sort"] == ["q", "p"]
    few = Chart(x=Axis("use"), y=Axis("net", order="q"), line="part", along=None).draw(rows[:2])
    assert few.to_dict()["height"] < marks.to_dict()["height"]
    (bars,) = layers(Chart(x=Axis("net", order="pq"), y=Axis("use"), line="part", bar=True).draw(rows))["bar"]
    assert bars["encoding"]["xOffset"]["sort"] == ["x", "y"]


def test_a_level_a_ring_a_name_and_a_front_are_layers_of_their_own() -> None:
    rows = [{**row, "limit": 30.0, "best": row["x"] == 0.1, "name": "n" * (row["y"] > 30)} for row in ROWS]
    chart = CHART._replace(level="limit", ringed="best", names="name", front=[{"x": 0.1, "y": 9.0}], hollow="")
    found = layers(chart.draw(rows))
    assert {kind: len(of_kind) for kind, of_kind in found.items()} == {
        **{"line": 2, "rule": 3, "tick": 4, "point": 2, "text": 1},
    }
    assert found["line"][0]["mark"]["interpolate"] == "step-before"
    assert found["point"][1]["transform"] == [{"filter": "datum.best"}]
