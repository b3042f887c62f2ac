"""The page and its charts: everything is in it, nothing gets out of it, and names cannot break it."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
import vl_convert
from torusweep import charts as figures
from torusweep.all_columns import schema_of
from torusweep.answers import page as report
from torusweep.answers.page import explorer, glossary
from torusweep.answers.page.verification import provenance_section, verification_section
from torusweep.charts import Axis
from torusweep.charts.drawing import Chart
from torusweep.charts.looks import KINDS, SIX, kind, series
from torusweep.errors import BadInput
from torusweep.networks import picture_svg
from torusweep.networks.families import build
from torusweep.papers.verification import verification_rows
from torusweep.questions.deadlock.rules import RULES
from torusweep.questions.layout.placements import PLACEMENTS
from torusweep.questions.static import section as networks
from torusweep.questions.static.record import static_record
from torusweep.routing import ROUTINGS
from torusweep.tables import parquet, store
from torusweep.tables import rows as stored
from torusweep.traffic import PATTERNS

from tests.answers import vega_lite
from tests.answers.page_parts import HOSTILE, MANIFEST, Page, unpacked

TOPOLOGIES = (
    *(
        f"{family}(k={k}, n=3)"
        for family in ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
        for k in (4, 6)
    ),
    "torus(k=3, n=4)",
    "pruned_torus(k=3, n=4)",
    "pruned_xy(k=4)",
    "rtt(a=4)",
    "ccc(n=3)",
    "mesh(k=4, n=2)",
    "torus(k=4, n=2, directed=true)",
)


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    return [static_record(build(topology)) for topology in TOPOLOGIES]


@pytest.fixture(scope="module")
def verification(static: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        row
        for row in verification_rows({"static": static}, ["P04", "C10"])
        if row["our_value"] is not None or row["verdict"] == "waits"
    ]


PICTURE = "data:image/svg+xml;base64,"


@pytest.fixture(scope="module")
def page(static: list[dict[str, Any]], verification: list[dict[str, Any]]) -> Page:
    hostile = {**static[0], "topology": f'graph(path="{HOSTILE}")', "family": "graph", "nodes": 99, "parameters": {}}
    wrong = {**verification[0], "verdict": "unexplained", "reason": HOSTILE, "topology": HOSTILE}
    return Page(report.page({"static": [*static, hostile], "verification": [*verification, wrong]}, MANIFEST))


def test_names_cannot_break_out(page: Page) -> None:
    assert len(page.scripts) == 3  # the charts, the designs and the program; a fourth would be the hostile name's
    text = "".join(page.text)
    assert text.count(HOSTILE) >= 5  # in tables, reasons, the configuration and what failed: as text
    charts = json.loads(page.scripts[0][1])
    rows = vega_lite.rows(charts["specifications"]["distance_against_size"])[0]
    assert f'graph(path="{HOSTILE}")' in {row["topology"] for row in rows}


def test_only_the_pages_own_script_may_run_and_nothing_is_loaded(page: Page) -> None:
    attributes = dict(
        next(attributes for tag, attributes in page.elements if tag == "meta" and "http-equiv" in attributes)
    )
    assert attributes["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in str(attributes["content"]).split(";"))
    assert policy["default-src"] == "'none'"
    kind, script = page.scripts[-1]
    assert kind == {}
    assert policy["script-src"] == f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    assert [kind for kind, _ in page.scripts[:-1]] == [
        {"type": "application/json", "id": "charts"},
        {"type": "text/plain", "id": "designs"},
    ]
    for tag, own in page.elements:
        assert not {"onclick", "onload", "srcset", "action"} & set(own), (tag, own)
        assert str(own.get("src", PICTURE)).startswith(PICTURE)
        assert tag == "img" or "src" not in own
        assert not own.get("href") or str(own["href"]).startswith("#")


def test_everything_is_in_the_page(page: Page, static: list[dict[str, Any]]) -> None:
    text = "".join(page.text)
    for expected in (
        "torusweep: small",
        "Unexplained",
        "multiple of 4 only",
        "waits",
        f"Note: {MANIFEST['notes'][0]}.",
        "Pictures",
        "numpy 2.1",
        "abc+",
        "numba, numpy",
        "1.2 s",
    ):
        assert expected in text
    for record in static:
        assert record["topology"] in text
    anchors = [str(own["href"])[1:] for tag, own in page.elements if tag == "a"]
    ids = [own["id"] for _, own in page.elements if "id" in own]
    assert len(ids) == len(set(ids))
    assert set(anchors) <= set(ids)
    charts = json.loads(page.scripts[0][1])
    assert set(charts["specifications"]) >= set(OVERVIEWS)
    assert set(charts["specifications"]) <= set(ids)


def test_every_chart_has_a_text_in_its_place_and_every_chart_and_table_a_download(page: Page) -> None:
    classes = [str(own.get("class", "")) for _, own in page.elements]
    saves = [own["data-save"] for _, own in page.elements if "data-save" in own]
    charts = classes.count("chart")
    assert charts > 3
    assert (saves.count("svg"), saves.count("png")) == (charts, charts)
    assert saves.count("csv") == sum(tag == "table" for tag, _ in page.elements) > 3
    labels = [own.get("aria-label") for _, own in page.elements if own.get("class") == "chart"]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    pictures = [own.get("alt") for tag, own in page.elements if tag == "img"]
    assert all(pictures)
    assert len(set(pictures)) == len(pictures) > 3


def test_a_text_in_place_of_a_chart_has_title_axes_lines_and_ends() -> None:
    rows = [{"x": 1, "y": 2000.5, "line": "a", "topology": "p"}, {"x": 2, "y": 4.0, "line": "b", "topology": "q"}]
    chart = Chart(Axis("x", "load"), Axis("y", "latency, cycles"), title="A title", where=lambda row: row["y"] > 3)
    said = chart.alternative([*rows, {"x": 3, "y": 3.0, "line": "c", "topology": "r"}])
    assert said == "A title. latency, cycles against load. a; b. Least 4 (q), most 2,000.5 (p)."
    assert chart.draw(rows).to_dict()["description"] == said
    many = [{"x": i, "y": i + 9, "line": f"line {i}"} for i in range(9)]
    assert "line 5; 3 more. Least 9 (line 0), most 17 (line 8)" in chart.alternative(many)
    assert chart.alternative([]) == "A title. latency, cycles against load."


def test_charts_keep_to_the_schema(page: Page) -> None:
    charts = json.loads(page.scripts[0][1])
    vega_lite.check([*charts["specifications"].values(), charts["explorer"]])
    with pytest.raises(jsonschema.ValidationError, match="nowhere"):
        vega_lite.check([{**charts["explorer"], "mark": "nowhere"}])


def test_same_tables_same_page(static: list[dict[str, Any]], verification: list[dict[str, Any]]) -> None:
    first = report.page({"static": static, "verification": verification}, MANIFEST)
    assert report.page(copy.deepcopy({"static": static, "verification": verification}), MANIFEST) == first
    elsewhere = report.page({"static": static, "verification": verification}, {**MANIFEST, "shards": []})
    assert elsewhere != first
    assert elsewhere.partition('<section id="provenance">')[0] == first.partition('<section id="provenance">')[0]
    assert len(first.encode()) < 5_000_000


def test_write_report(tmp_path: Path, static: list[dict[str, Any]], verification: list[dict[str, Any]]) -> None:
    points = [{"key": str(i), "topology": record["topology"], "fault_nodes": None} for i, record in enumerate(static)]
    table = pa.Table.from_pylist(points, schema=schema_of("points"))
    about = {name: MANIFEST[name] for name in ("sweep", "config", "software")}
    store.publish_points(tmp_path, table, about, {"static": True, "verification": True})
    store.publish_table(tmp_path, "static", pa.Table.from_pylist(static, schema=schema_of("static")))
    store.publish_table(tmp_path, "verification", pa.Table.from_pylist(verification, schema=schema_of("verification")))
    out = tmp_path / "else" / "page.html"
    report.write_report(tmp_path, out)
    text = "".join(Page(out.read_text(encoding="utf-8")).text)
    assert "pruned_torus(k=6, n=3)" in text
    assert store.read_manifest(tmp_path)["tables"]["static"]["sha256"] in text
    (tmp_path / "static.parquet").write_bytes(b"x")
    with pytest.raises(BadInput, match=r"static\.parquet was altered"):
        report.write_report(tmp_path, out)


def test_a_run_that_was_stopped_has_no_page(tmp_path: Path, static: list[dict[str, Any]]) -> None:
    about = {name: MANIFEST[name] for name in ("sweep", "config", "software")}
    store.publish_points(tmp_path, pa.Table.from_pylist([], schema=schema_of("points")), about, {"static": True})
    store.publish_table(tmp_path, "static", pa.Table.from_pylist(static, schema=schema_of("static")))
    with pytest.raises(BadInput, match=r"cannot read .*verification\.parquet"):
        report.write_report(tmp_path, tmp_path / "page.html")


@pytest.mark.parametrize("measures", ["connectivity", "distances", "transitivity, bisection"])
def test_a_sweep_that_measures_little_has_a_page(measures: str) -> None:
    """Networks of papers' figures among them: what was not measured is a dash, and in no chart."""
    few = [static_record(build(name), measures=measures) for name in ("rtt(a=4)", "torus(k=4, n=3)", "ccc(n=3)")]
    text = report.page({"static": few, "verification": []}, MANIFEST)
    assert "rtt(a=4)" in "".join(Page(text).text)
    assert ("Mean distance against size" in text) == (measures == "distances")


def test_a_page_reads_few_rows_of_a_large_table(static: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the page of the same records, and at most what it shows is read of the file, which none reads whole."""
    monkeypatch.setattr(networks, "MOST_NETWORKS", 60)
    monkeypatch.setattr(networks, "MOST_DRAWN", 50)
    monkeypatch.setattr(explorer, "MOST", 70)
    monkeypatch.setattr(parquet, "ROW_GROUP", 64)
    monkeypatch.setattr(stored, "ROW_GROUP", 64)
    many = [{**static[0], "topology": f"torus(k=4, n={i})", "nodes": i, "cost": 1 + i * i % 97} for i in range(2, 902)]
    sweep = [*static, *many, {**static[1], "fault_nodes": 1, "fault_diameter": 5}]
    file = parquet.TableFile(parquet.parquet(pa.Table.from_pylist(sweep, schema=schema_of("static")), {}))
    read: list[int] = []
    take = parquet.TableFile.take
    monkeypatch.setattr(parquet.TableFile, "take", lambda self, at: read.append(len(at)) or take(self, at))
    monkeypatch.setattr(parquet.TableFile, "groups", None)
    text = report.page({"static": stored.StoredRows(file)}, MANIFEST)
    assert max(read) <= 70
    assert text == report.page({"static": sweep}, MANIFEST)


def test_an_empty_sweep_has_a_page() -> None:
    text = "".join(Page(report.page({}, {})).text)
    assert "torusweep: networks" in text
    assert "Networks" not in text


# --- sections -------------------------------------------------------------------------------------


def verification_body(rows: list[dict[str, Any]]) -> str:
    section = verification_section(rows)
    assert section is not None
    return section.body


def test_verification_leads_with_what_needs_an_eye(verification: list[dict[str, Any]]) -> None:
    unexplained = {**verification[0], "verdict": "unexplained", "reason": "no reason"}
    body = verification_body([unexplained, *verification])
    places = [body.index(title) for title in ("Unexplained", "Errors of the papers", "Not compared yet", "<details>")]
    assert places == sorted(places)
    assert "Unexplained" not in verification_body(verification)
    assert verification_section([]) is None


def test_the_capacity_stands_where_something_is_simulated(verification: list[dict[str, Any]]) -> None:
    for capacity, columns in ((None, 8), (0.75, 9)):
        body = verification_body([{**verification[0], "verdict": "agrees", "capacity": capacity}])
        assert len(re.findall("<th ", body)) == len(re.findall("<td", body)) == columns
        assert ("0.75" in body) == (capacity is not None)


def test_what_is_not_compared_is_counted_by_what_it_needs(verification: list[dict[str, Any]]) -> None:
    def lacking(topology: str, needed: str) -> dict[str, Any]:
        return {
            **verification[0],
            "paper": "C10",
            "topology": topology,
            "verdict": "not run",
            "reason": f"{topology} is not in the sweep; {needed}",
        }

    body = verification_body(
        [lacking("rt(a=4)", "<a> simulates it"), lacking("rtt(a=4)", "b"), lacking("rtt(a=8)", "<a> simulates it")]
    )
    items = [f"Cámara et al. 2010, {text}" for text in ("2 numbers: &lt;a&gt; simulates it", "1 number: b")]
    assert "".join(f"<li>{item}</li>" for item in items) in body


def test_a_large_sweep_shows_some_of_each_family(static: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MOST_NETWORKS", 1000)
    rings = [{**static[0], "topology": f"ring(k={k})", "family": "ring", "nodes": k} for k in range(3, 3000)]
    section = networks.section({"static": [*rings, *static]})
    assert section is not None
    body = section.body.partition("Pictures")[0]
    (packed,) = re.findall('data-rows="([^"]*)"', body)
    shown = [row[0] for row in unpacked(packed)["rows"]]
    rings = [name for name in shown if name.startswith("ring")]
    assert 100 <= len(rings) <= len(shown) <= 1000
    assert [rings[0], rings[-1]] == ["ring(k=3)", "ring(k=2999)"]
    assert {record["topology"] for record in static} <= set(shown)


def test_the_sweeps_answers_come_first_and_the_papers_are_folded(page: Page) -> None:
    sections = [str(own["id"]) for tag, own in page.elements if tag == "section"]
    assert sections[:2] == ["explorer", "networks"]
    assert sections[-4:] == ["verification", "papers", "glossary", "provenance"]
    at = page.elements.index(("section", {"id": "verification"}))
    assert [tag for tag, _ in page.elements[at : at + 4]] == ["section", "h2", "details", "summary"]


def test_the_glossary_has_every_routing_pattern_rule_and_placement() -> None:
    words = {word for part in glossary.entries().values() for word in part}
    assert words >= {*ROUTINGS, *PATTERNS, *RULES, *PLACEMENTS}
    assert all(meaning for part in glossary.entries().values() for meaning in part.values())
    assert "list of steps" in glossary.entries()["Routings"]["routing_record"]


def test_provenance_without_a_run_is_short() -> None:
    assert provenance_section({}).body == "<dl></dl>"


# --- charts ---------------------------------------------------------------------------------------


OVERVIEWS = ("distance_against_size", "cost_against_size")


def overviews(static: list[dict[str, Any]]) -> dict[str, figures.Drawing]:
    section = networks.section({"static": static})
    assert section is not None
    return {panel.id: panel.drawing for panel in section.panels}


@pytest.mark.parametrize("name", OVERVIEWS)
def test_charts_can_be_drawn(name: str, static: list[dict[str, Any]], tmp_path: Path) -> None:
    specification = figures.finished(overviews(static)[name], "A title", "and a subtitle")
    figures.save(specification, tmp_path / "chart.svg")
    drawing = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "A title" in drawing
    assert drawing.count("<path") > len(vega_lite.rows(specification)[-1]) / 2  # marks, not an empty frame
    with pytest.raises(BadInput, match=r"expected a name that ends in \.svg, \.pdf or \.png, got '\.jpg'"):
        figures.save(specification, tmp_path / "chart.jpg")


def test_charts_leave_out_what_is_not_connected_and_count_a_network_once(static: list[dict[str, Any]]) -> None:
    chart = overviews([*static, {**static[0], "fault_nodes": 2}])["distance_against_size"]
    for rows in vega_lite.rows(figures.specification(chart)):
        assert sorted(row["topology"] for row in rows) == sorted(set(TOPOLOGIES) - {"pruned_xy(k=4)"})


@pytest.mark.parametrize(
    ("topology", "expected", "line"),
    [
        ("torus(k=4, n=2, directed=true)", "directed", "torus n=2 directed"),
        ("pruned_torus(k=4, n=3)", "pruned", "pruned_torus n=3"),
        ("ccc(n=3)", "hierarchical", "ccc"),
        ("rtt(a=4)", "twisted", "rtt"),
        ("mesh(k=4, n=2)", "mesh", "mesh n=2"),
    ],
)
def test_kinds_and_series(topology: str, expected: str, line: str) -> None:
    record = static_record(build(topology))
    assert kind(record) == expected
    assert series(record) == line
    assert kind({**record, "family": "graph", "directed": False}) == "other"


def test_front_of_size_and_cost() -> None:
    rows = [
        {"topology": str(i), "nodes": nodes, "cost": cost}
        for i, (nodes, cost) in enumerate([(8, 4), (8, 5), (16, 9), (32, 9), (20, 3), (64, 30)])
    ]
    assert [(row["nodes"], row["cost"]) for row in networks.largest_for_cost(rows)] == [(20, 3), (32, 9), (64, 30)]
    assert networks.largest_for_cost([]) == []


def test_networks_of_switches_are_as_large_as_what_they_connect(static: list[dict[str, Any]]) -> None:
    """A fat tree of 8 switches has 16 terminals, a HyperX of 16 routers 64."""
    switched = [static_record(build(name)) for name in ("fat_tree(k=4, n=2)", "hyperx(radices=[4, 4], terminals=4)")]
    for records, size in (([*static, *switched], "terminals"), (static, "nodes")):
        for drawing in overviews(records).values():
            specification = figures.specification(drawing)
            assert {layer["encoding"]["x"]["field"] for layer in specification["layer"]} == {size}
            assert {row["topology"]: row.get(size) for row in vega_lite.rows(specification)[-1]}.items() >= {
                (record["topology"], record[size]) for record in records if record["connected"] and record["nodes"] > 1
            }
        headings = networks.section({"static": records}).body.partition("All networks")[2]  # type: ignore[union-attr]
        assert (">terminals<" in headings) == (size == "terminals")
    front = networks.largest_for_cost(switched, "terminals")
    assert [row["terminals"] for row in front] == [16, 64]  # costs 8 and 12


def test_bundle_holds_no_address_that_is_loaded() -> None:
    """vega-embed can load schemas and editors; the page's policy forbids it, and the page does not ask."""
    text = "".join((Path(report.__file__).parent / name).read_text(encoding="utf-8") for name in report.SCRIPTS)
    assert "actions: false" in text
    assert "ast: true" in text  # else the policy, which forbids making code from text, would stop every chart
    assert "http" not in text
    assert vl_convert.javascript_bundle(text)


# --- contrast (WCAG 2.1: 4.5 for text, 3 for marks) -------------------------------------------------


def _luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2.1 defines it."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _pages() -> dict[str, dict[str, str]]:
    """The style sheet's colours, by theme."""
    style = (Path(report.__file__).parent / "page.css").read_text(encoding="utf-8")
    return {
        theme: dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for theme, block in zip(("light", "dark"), re.findall(r":root \{([^}]*)\}", style))
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_stand_out(theme: str) -> None:
    page = _pages()[theme]
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    for paper in (page["paper"], page["panel"]):
        for text in ("ink", "muted", "accent", "good", "warn", "bad"):
            assert _contrast(page[text], paper) >= 4.5, (text, paper)
    chart = getattr(figures, theme.upper())
    assert (chart.paper, chart.ink, chart.muted) == (page["paper"], page["ink"], page["muted"])
    for colour in (*picture_svg.PALETTE, *(look.colour for look in (*KINDS.values(), *SIX))):
        assert _contrast(colour, page["paper"]) >= 3, colour
