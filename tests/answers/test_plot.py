"""torusweep plot: what it draws, what it leaves out and says so, and what it refuses."""

from __future__ import annotations

import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from torusweep import charts as charts_module
from torusweep.all_columns import schema_of
from torusweep.answers import plot
from torusweep.answers.choices import Choices
from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.cli.report import plot as command
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record
from torusweep.tables import store

from tests.answers import vega_lite
from tests.records import loads_record

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
    drawn = plot.plot(folder, "mean_distance", "saturation_load", series=["traffic"])
    assert {(mark["x"], mark["group"]) for mark in marks(drawn)} == {
        (x, t) for x in (2.0, 4.0, 2.5) for t in ("uniform", "tornado")
    }
    only = plot.plot(folder, "mean_distance", "saturation_load", where="traffic = 'uniform' AND family = 'torus'")
    assert {mark["x"]: mark["y"] for mark in marks(only)} == pytest.approx({2.0: 2.0, 4.0: 1.0})  # 8/k


def test_numbers_colour_by_a_scale_and_logarithms_are_the_axes_asked_for(folder: Path) -> None:
    encoding = plot.plot(folder, "nodes", "cost", series=["degree_max"], log="x").specification["encoding"]
    assert encoding["color"]["type"] == "quantitative"
    assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"].get("type")) == ("log", None)


@pytest.mark.parametrize(("y", "shown"), [("mean_distance", ".6~r"), ("big", "~s")])
def test_an_axis_labels_small_numbers_plainly(y: str, shown: str) -> None:
    rows = [{"x": 0.01, "y": 20_000 if y == "big" else 0.02, "group": "a"}, {"x": 0.02, "y": 0.01, "group": "a"}]
    encoding = Chart(Axis("x"), Axis("y"), "group", along=None).draw(rows).to_dict()["encoding"]
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
        (("nodes", "saturation_load", "--table", "distances"), "expected columns of one table, or of tables with rows"),
        (("saturation_load", "cycle_length"), "cycle_length: expected the table deadlock, got a sweep without it"),
        (("nodes", "saturation_load"), "of one traffic, got traffic uniform, tornado; add --traffic uniform"),
        (("nodes", "saturation_load", "--traffic", "transpose"), "computed, tornado, uniform, got another"),
        (("nodes", "cost", "--routing", "minimal"), "expected a column that depends on the routing"),
        (
            ("nodes", "cost", "--colour", "distance_histogram"),
            "expected words or numbers for a series, got list<int64>",
        ),
        (("nodes", "cost", "--where", "nodes > 1000"), "with both nodes and cost where nodes > 1000, got none"),
        (("nodes", "cost", "--where", "nodes >"), "got 'nodes >': syntax error"),
        (
            ("nodes", "bisection_lower", "--log", "y", "--where", "NOT connected"),
            "expected numbers above 0 in bisection_lower, got 0",
        ),
        (("nodes/links", "cost"), "unknown column 'nodes/links'"),
        (("nodes", "cost", "--output", "a.jpg"), "expected a name that ends in .svg, .pdf or .png, got 'a.jpg'"),
        (("nodes", "cost", "--output", "/nowhere/a.svg"), "expected a file that can be written"),
    ],
)
def test_refusals(folder: Path, arguments: tuple[str, ...], complaint: str) -> None:
    result = CliRunner().invoke(command, [*arguments, "--results", str(folder)])
    assert isinstance(result.exception, BadInput)
    assert complaint in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_the_file_is_a_picture(folder: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"picture{suffix}"
    result = CliRunner().invoke(command, ["nodes", "cost", "--results", str(folder), "-o", str(target), "--json"])
    assert json.loads(result.stdout) == {"output": str(target), "rows": 6, "left_out": 0, "drawn": 6}
    content = target.read_bytes()
    if suffix == ".png":
        assert content.startswith(b"\x89PNG")
    elif suffix == ".pdf":
        assert content.startswith(b"%PDF")
    else:
        assert b"cost against nodes" in content
        assert len(re.findall(b'aria-roledescription="(?:circle|square|point)', content)) == 6


# --- lines -----------------------------------------------------------------------------------------

CURVES = [  # network, routing, cycles, offered load, accepted load, latency, half its interval, saturated
    ("torus(k=4, n=2)", "dimension_order", 100, 0.1, 0.1, 20.0, 1.0, False),
    ("torus(k=4, n=2)", "dimension_order", 100, 0.3, 0.3, 30.0, 2.0, False),
    ("torus(k=4, n=2)", "dimension_order", 100, 0.5, 0.29, 300.0, 50.0, True),
    ("torus(k=4, n=2)", "adaptive", 100, 0.1, 0.1, 18.0, None, False),
    ("torus(k=4, n=2)", "adaptive", 100, 0.3, 0.3, 22.0, None, None),
    ("torus(k=10, n=2)", "dimension_order", 100, 0.1, 0.1, 25.0, 1.0, False),
]
COLUMNS = ("topology", "routing", "cycles", "offered_load", "accepted_load", "total_latency", "total_latency_error")


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("curves")
    static = [static_record(build(name)) for name in ("torus(k=4, n=2)", "torus(k=10, n=2)", "torus(k=4, n=3)")]
    rows = [dict(zip((*COLUMNS, "saturated"), row)) | {"traffic": "uniform"} for row in CURVES]
    histogram = [{"topology": "torus(k=4, n=2)", "distance": i, "pairs": n} for i, n in enumerate((16, 64, 96))]
    publish(path, "static", static)
    publish(path, "simulation", rows)
    publish(path, "distances", histogram)
    return path


def publish(folder: Path, table: str, rows: list[dict[str, Any]]) -> None:
    store.publish_table(folder, table, pa.Table.from_pylist(rows, schema=schema_of(table)))


def lines(drawn: plot.Plot) -> dict[str, list[tuple[float, float]]]:
    """(x, y) of each line, in the order in which it is drawn."""
    found: dict[str, list[tuple[float, float]]] = {}
    for mark in sorted(marks(drawn), key=lambda mark: mark["along"]):
        found.setdefault(mark["group"], []).append((mark["x"], mark["y"]))
    return found


def test_latency_against_load_is_a_line_for_each_network_and_routing(curves: Path) -> None:
    drawn = plot.plot(curves, "offered_load", "total_latency")
    vega_lite.check([drawn.specification])
    assert lines(drawn) == {
        "torus(k=4, n=2), dimension_order": [(0.1, 20.0), (0.3, 30.0), (0.5, 300.0)],
        "torus(k=4, n=2), adaptive": [(0.1, 18.0), (0.3, 22.0)],
        "torus(k=10, n=2), dimension_order": [(0.1, 25.0)],
    }
    bars = {(mark["x"], mark["low"], mark["high"]) for mark in marks(drawn) if "low" in mark}
    assert bars == {(0.1, 19.0, 21.0), (0.3, 28.0, 32.0), (0.5, 250.0, 350.0), (0.1, 24.0, 26.0)}
    assert [mark["y"] for mark in marks(drawn) if mark["hollow"]] == [300.0]
    assert drawn.cut == 75.0  # 2.5 times 30, the largest that is not saturated
    assert "the axis, which ends at 75; --log y shows them" in plot.remarks(drawn)
    assert plot.plot(curves, "offered_load", "total_latency", log="y").cut is None


def test_a_curve_runs_along_the_offered_load_whatever_the_axis_is(curves: Path) -> None:
    only = "routing = 'dimension_order' AND nodes = 16"
    bent = plot.plot(curves, "accepted_load", "total_latency", where=only)
    assert lines(bent) == {"torus(k=4, n=2)": [(0.1, 20.0), (0.3, 30.0), (0.29, 300.0)]}


def test_the_legend_sorts_numbers_by_size(curves: Path) -> None:
    domain = re.search(
        r'"domain": (\["torus[^]]*\])', json.dumps(plot.plot(curves, "offered_load", "total_latency")[0])
    )
    assert domain is not None
    assert json.loads(domain[1]) == [
        "torus(k=4, n=2), adaptive",
        "torus(k=4, n=2), dimension_order",
        "torus(k=10, n=2), dimension_order",
    ]


def test_lines_of_static_join_the_sizes_of_one_kind(curves: Path) -> None:
    drawn = plot.plot(curves, "nodes", "diameter", lines=True)
    assert lines(drawn) == {"torus n=2": [(16, 4), (100, 10)], "torus n=3": [(64, 6)]}
    named = plot.plot(curves, "nodes", "diameter", lines=True, series=["family", "degree_max"])
    assert lines(named) == {"torus, 4": [(16, 4), (100, 10)], "torus, 6": [(64, 6)]}


def test_more_kinds_than_colours_have_those_of_their_families(tmp_path: Path) -> None:
    names = [f"sequin(k=8, s={s}, t={t})" for s in range(8) for t in range(8)]
    names += ["sequin(k=9, s=0, t=0)", "ring(k=4)"]
    publish(tmp_path, "static", [static_record(build(name)) for name in names])
    drawn = plot.plot(tmp_path, "nodes", "cost", lines=True)
    vega_lite.check([drawn.specification])
    assert {mark["group"] for mark in marks(drawn)} == {"sequin", "ring"}
    along = Counter(mark["line"] for mark in marks(drawn) if mark["group"] == "sequin")
    assert along == {f"sequin s={s} t={t}": 2 if s == t == 0 else 1 for s in range(8) for t in range(8)}
    assert {layer["encoding"]["detail"]["field"] for layer in drawn.specification["layer"]} == {"line"}
    with pytest.raises(BadInput, match=r"--series topology: expected at most 56, .* got 66; choose another column"):
        plot.plot(tmp_path, "nodes", "cost", lines=True, series=["topology"])


def test_lines_of_each_routing_for_itself(curves: Path) -> None:
    only, each = "offered_load = 0.1", Choices(routing="all")
    drawn = plot.plot(curves, "nodes", "total_latency", lines=True, where=only, choices=each)
    assert lines(drawn) == {
        "torus n=2, dimension_order": [(16, 20.0), (100, 25.0)],
        "torus n=2, adaptive": [(16, 18.0)],
    }


def test_a_condition_on_another_table_draws_a_network_once(folder: Path) -> None:
    drawn = plot.plot(folder, "nodes", "cost", where="saturation_load > 0")
    assert (drawn.rows, drawn.drawn) == (3, 3)  # each has loads of two traffics


def test_a_line_names_what_tells_it_apart_and_not_what_follows_from_that(tmp_path: Path) -> None:
    static = [static_record(build(name)) for name in ("ring(k=4)", "ring(k=5)")]
    common = {"traffic": "uniform", "cycles": 9}
    rows = [
        {"topology": name, "routing": routing, "router": router, "buffer_flits": len(router), **common}
        | {"offered_load": load, "total_latency": 9.0 + load}
        for name, routing in (("ring(k=4)", "dimension_order"), ("ring(k=5)", "up_down"))
        for router in ("default", "fast")
        for load in (0.1, 0.2)
    ]
    publish(tmp_path, "static", static)
    publish(tmp_path, "simulation", rows)
    assert set(lines(plot.plot(tmp_path, "offered_load", "total_latency"))) == {
        f"ring(k={k}), {routing}, {router}"
        for k, routing in ((4, "dimension_order"), (5, "up_down"))
        for router in ("default", "fast")
    }
    with pytest.raises(BadInput) as caught:
        plot.plot(tmp_path, "nodes", "total_latency", where="offered_load = 0.1", choices=Choices(routing="up-down"))
    assert "of one router, got router default, fast; add --where \"router = 'default'\"" in str(caught.value)


def test_distances_are_lines(curves: Path) -> None:
    assert lines(plot.plot(curves, "distance", "pairs")) == {"torus(k=4, n=2)": [(0, 16), (1, 64), (2, 96)]}


def test_marks_or_lines_as_asked_for(curves: Path) -> None:
    first = "offered_load = 0.1"
    dots = plot.plot(curves, "offered_load", "total_latency", lines=False, series=["routing"], where=first)
    assert {(mark["y"], mark["group"]) for mark in marks(dots)} == {
        (20.0, "dimension_order"),
        (18.0, "adaptive"),
        (25.0, "dimension_order"),
    }
    best = plot.plot(curves, "nodes", "total_latency", where=first, choices=Choices(routing="all"))
    assert {mark["group"] for mark in marks(best)} == {"dimension_order", "adaptive"}


def test_marks_have_error_bars_too(curves: Path) -> None:
    dots = plot.plot(curves, "nodes", "total_latency", where="offered_load = 0.1 AND routing = 'dimension_order'")
    vega_lite.check([dots.specification])
    assert {layer["mark"]["type"] for layer in dots.specification["layer"]} == {"rule", "tick", "point"}
    assert {(mark["low"], mark["high"]) for mark in marks(dots)} == {(19.0, 21.0), (24.0, 26.0)}
    assert "95 % confidence" in dots.specification["title"]["subtitle"]


@pytest.mark.parametrize(
    ("x", "series", "where", "says"),
    [
        ("nodes", None, None, "expected rows of one routing and one offered_load, got routing dimension_order, adapt"),
        ("nodes", ["routing"], None, 'got offered_load 0.1, 0.3, 0.5; add --where "offered_load = 0.1"'),
        ("offered_load", ["topology"], None, "of one routing, got routing dimension_order, adaptive; add --routing"),
    ],
)
def test_rows_that_nothing_tells_apart_are_refused(
    curves: Path, x: str, series: list[str] | None, where: str | None, says: str
) -> None:
    with pytest.raises(BadInput) as caught:
        plot.plot(curves, x, "total_latency", series=series, where=where)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_axis_of_wide_range_is_logarithmic_unless_told(tmp_path: Path) -> None:
    static = [static_record(build(name)) for name in ("ring(k=4)", "ring(k=1000)")]
    publish(tmp_path, "static", static)

    def scales(log: str) -> list[str | None]:
        encoding = plot.plot(tmp_path, "nodes", "degree_max", log=log).specification["encoding"]
        return [encoding[axis]["scale"].get("type") for axis in "xy"]

    assert scales("auto") == ["log", None]
    assert scales("none") == [None, None]
    assert scales("both") == ["log", "log"]


# --- many lines, many rows, several routers ----------------------------------------------------------


def simulated(networks: int, **others: list[str]) -> list[dict[str, Any]]:
    """Two loads of each ring under each combination of the others."""
    rows = [{"topology": f"ring(k={k})", "traffic": "uniform", "cycles": 9} for k in range(4, 4 + networks)]
    for name, values in others.items():
        rows = [{**row, name: value} for row in rows for value in values]
    return [{**row, "offered_load": load, "total_latency": 9 + 99 * load} for row in rows for load in (0.1, 0.2)]


def charts(drawn: plot.Plot) -> dict[str, tuple[set[str], list[str]]]:
    """By title of each small chart: its lines, and what its legend names."""
    vega_lite.check([drawn.specification])
    found = {}
    for part in drawn.specification["concat"]:
        colour = next(layer["encoding"]["color"] for layer in part["layer"] if layer["mark"]["type"] == "point")
        rows = vega_lite.rows({**part, "datasets": drawn.specification["datasets"]})
        found[part["title"]["text"]] = ({row["group"] for row in rows[-1]}, colour["scale"]["domain"])
    return found


def test_many_lines_are_drawn_in_several_charts_with_legends_of_their_own(tmp_path: Path) -> None:
    publish(tmp_path, "static", [static_record(build(f"ring(k={k})")) for k in range(4, 16)])
    publish(tmp_path, "simulation", simulated(6, routing=["adaptive", "dimension_order"], router=["default"]))
    by_routing = charts(plot.plot(tmp_path, "offered_load", "total_latency"))
    names = {f"ring(k={k})" for k in range(4, 10)}
    assert {title: lines for title, (lines, _) in by_routing.items()} == {
        "routing adaptive": names,
        "routing dimension_order": names,
    }
    publish(tmp_path, "simulation", simulated(12, routing=["adaptive"], router=["default"]))
    in_order = charts(plot.plot(tmp_path, "offered_load", "total_latency"))
    assert {title: len(lines) for title, (lines, _) in in_order.items()} == {"1 of 2": 6, "2 of 2": 6}
    assert set.union(*(lines for lines, _ in in_order.values())) == {f"ring(k={k})" for k in range(4, 16)}
    for lines, named in [*by_routing.values(), *in_order.values()]:
        assert set(named) == lines
    publish(tmp_path, "simulation", simulated(8, routing=["adaptive"], router=["default"]))
    assert "concat" not in plot.plot(tmp_path, "offered_load", "total_latency").specification


def test_small_charts_have_the_same_axes_and_their_legends_stand_above_the_marks(tmp_path: Path) -> None:
    publish(tmp_path, "static", [static_record(build(f"ring(k={k})")) for k in range(4, 16)])
    publish(tmp_path, "simulation", simulated(12, routing=["adaptive"], router=["default"]))
    drawn = plot.plot(tmp_path, "offered_load", "total_latency")
    assert drawn.specification["resolve"]["scale"] == {
        **{"x": "shared", "y": "shared"},
        **{"color": "independent", "shape": "independent", "strokeDash": "independent"},
    }
    assert legends_beside_marks(drawn, tmp_path / "a.svg") == {f"ring(k={k})" for k in range(4, 16)}


@pytest.mark.parametrize("series", [["degree_max"], ["topology"], ["topology", "family", "nodes", "links", "cost"]])
def test_no_legend_stands_over_marks(tmp_path: Path, series: list[str]) -> None:
    publish(tmp_path, "static", [static_record(build(f"ring(k={k})")) for k in range(4, 44)])
    assert legends_beside_marks(plot.plot(tmp_path, "nodes", "mean_distance", series=series), tmp_path / "a.svg")


SIZES = (("760", "420"), ("360", "230"))  # of the areas of marks, whole and side by side


def legends_beside_marks(drawn: plot.Plot, path: Path) -> set[str]:
    """What the legends of a picture name, none of it within the area of marks."""
    charts_module.save(drawn.specification, path)
    areas, labels = [], []

    def walk(element: ElementTree.Element, x: float, y: float, role: str) -> None:
        moved = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        role = element.get("class", role)
        area = re.fullmatch(r"M[\d.]+,[\d.]+h([\d.]+)v([\d.]+)h-[\d.]+Z", element.get("d", ""))
        if area and area.groups() in SIZES:
            areas.append((x, y, x + float(area[1]), y + float(area[2])))
        if element.tag.endswith("text") and "role-legend-label" in role:
            labels.append((element.text or "", x, y))
        for child in element:
            walk(child, x, y, role)

    walk(ElementTree.parse(path).getroot(), 0, 0, "")
    assert areas
    assert labels
    for text, x, y in labels:
        assert not any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in areas), text
    return {text for text, _, _ in labels}


@pytest.mark.parametrize(
    "routings", [{"default": "dimension_order", "fast": "adaptive"}, {"default": "a", "fast": "a"}]
)
@pytest.mark.parametrize("x", ["offered_load", "nodes"])
def test_several_routers_are_refused_unless_named(tmp_path: Path, routings: dict[str, str], x: str) -> None:
    """Also where a routing has one router each: the legend would ascribe to the routing what is the router's."""
    publish(tmp_path, "static", [static_record(build(f"ring(k={k})")) for k in (4, 5)])
    rows = [
        {**row, "total_latency": row["total_latency"] + len(router)}
        for router, routing in routings.items()
        for row in simulated(2, routing=[routing], router=[router])
    ]
    publish(tmp_path, "simulation", rows)
    where, series = (None if x == "offered_load" else "offered_load = 0.1"), ["topology", "routing"]
    with pytest.raises(BadInput, match="of one router, got router default, fast; add --where") as caught:
        plot.plot(tmp_path, x, "total_latency", where=where, series=series)
    assert "\n" not in str(caught.value)
    if x == "offered_load":  # of its own accord it names them, as it does routings
        own = lines(plot.plot(tmp_path, x, "total_latency"))
        assert {name.split(", ")[-1] for name in own} == {"default", "fast"}
    named = plot.plot(tmp_path, x, "total_latency", where=where, series=[*series, "router"])
    assert {mark["group"].split(", ")[-1] for mark in marks(named)} == {"default", "fast"}
    only = f"router = 'fast'{f' AND {where}' if where else ''}"
    assert len(marks(plot.plot(tmp_path, x, "total_latency", where=only, series=series))) == (4 if where is None else 2)


def test_a_sample_holds_the_front_and_is_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    record = static_record(build("ring(k=8)"))
    many = [
        {**record, "topology": f"ring(k={i})", "nodes": draw.randrange(9, 999), "mean_distance": draw.uniform(1, 99)}
        for i in range(3000)
    ]
    publish(tmp_path, "static", many)
    monkeypatch.setattr(plot, "MOST", 200)
    drawn = plot.plot(tmp_path, "links", "mean_distance", where="nodes > 0")
    assert (drawn.rows, drawn.drawn) == (3000, 200)
    assert "a sample of 200 of 3,000 rows" in drawn.specification["title"]["subtitle"]
    drawn = plot.plot(tmp_path, "nodes", "mean_distance")
    shown = {(mark["x"], mark["y"]) for mark in marks(drawn)}
    points = {(row["nodes"], row["mean_distance"]) for row in many}
    assert shown <= points
    front = {p for p in points if not any(q != p and q[0] >= p[0] and q[1] <= p[1] for q in points)}  # many, and near
    assert front <= shown
    assert plot.plot(tmp_path, "nodes", "mean_distance") == drawn
    publish(tmp_path, "static", many[::-1])
    assert marks(plot.plot(tmp_path, "nodes", "mean_distance")) == marks(drawn)  # whatever the order of the table


def test_several_sweeps_are_drawn_apart(folder: Path, tmp_path: Path) -> None:
    """Their networks have the same names: a series is a sweep's, and a join is within a sweep."""
    other = tmp_path / "other"
    static = [{**static_record(build(NAMES[0])), "mean_distance": 9.0}]
    loads = [{**loads_record(build(NAMES[0])), "saturation_load": 0.125}]
    for name, rows in (("static", static), ("loads", loads)):
        store.publish_table(other, name, pa.Table.from_pylist(rows, schema=schema_of(name)))
    drawn = marks(plot.plot([folder, other], "mean_distance", "saturation_load", choices=Choices(traffic="uniform")))
    assert {(row["x"], row["y"]) for row in drawn if row["group"] == "other"} == {(9.0, 0.125)}
    of_one = marks(plot.plot(folder, "mean_distance", "saturation_load", choices=Choices(traffic="uniform")))
    shown = sorted((row["x"], row["y"]) for row in drawn if row["group"] == folder.name)
    assert shown == sorted((row["x"], row["y"]) for row in of_one)
