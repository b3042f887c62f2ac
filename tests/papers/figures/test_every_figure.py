"""All figures of the papers: what each needs, that it can be drawn, and where it stands on the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from torusweep import charts as figures
from torusweep.answers import page as report
from torusweep.answers.page.verification import papers_section
from torusweep.charts.drawing import cut_above
from torusweep.papers.figures import FIGURES, drawable, write_figures

from tests.answers import vega_lite
from tests.answers.page_parts import Page
from tests.papers.figures.values import CLASSES, Row, values


def test_every_figure_has_its_numbers_and_none_has_any_without(rows: dict[str, list[Row]]) -> None:
    assert list(rows) == [figure.id for figure in FIGURES]
    assert len(rows) == len(FIGURES) == 37
    assert drawable({}) == []


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_a_figure_needs_the_tables_that_it_names_and_no_others(
    figure: Any, tables: dict[str, list[Row]], rows: dict[str, list[Row]]
) -> None:
    assert figure.rows({name: tables[name] for name in figure.tables}) == rows[figure.id]
    for missing in figure.tables:
        assert figure.rows({name: tables[name] for name in figure.tables if name != missing}) == []


@pytest.mark.parametrize("topology", ["torus(k=16, n=3)", "torus(k=12, n=4)", "rtt(a=16)"])
def test_one_network_is_no_figure(topology: str, tables: dict[str, list[Row]]) -> None:
    alone = {name: [row for row in found if row["topology"] == topology] for name, found in tables.items()}
    assert alone["static"]
    assert drawable(alone) == []


@pytest.mark.parametrize("missing", CLASSES)
def test_a_figure_of_four_classes_needs_all_four(missing: str, tables: dict[str, list[Row]]) -> None:
    """Of the missing class, one network is left: no line."""
    found = [
        row
        for row in tables["static"]
        if not row["topology"].startswith(f"{missing}(") or row["topology"] == f"{missing}(k=8, n=3)"
    ]
    assert not {"p04-fig-4", "p04-fig-4-excess"} & {figure.id for figure, _ in drawable({"static": found})}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_a_figure_can_be_drawn_and_names_its_lines(figure: Any, rows: dict[str, list[Row]], tmp_path: Path) -> None:
    figures.save(figures.finished(figure.chart.draw(rows[figure.id]), figure.chart.title), tmp_path / "figure.svg")
    drawing = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    names = {row.get("line") or row["network"] for row in rows[figure.id]}
    assert len(names) > 1
    assert all(f">{name}<" in drawing for name in names)


def test_a_sweep_of_short_messages_alone(tables: dict[str, list[Row]]) -> None:
    short = [row for row in tables["latency"] if row["message_bits"] == 96 and row["switch_delay"] == 3]
    found = {figure.id: figure.chart.draw(rows).to_dict() for figure, rows in drawable({**tables, "latency": short})}
    assert {"p04-fig-8", "p04-fig-13", "p04-fig-15"} <= set(found)
    assert not {"p04-fig-9", "p04-fig-10", "p04-fig-14", "p04-fig-16", "d90-fig-8"} & set(found)


def test_files_of_the_figures_that_a_sweep_has(tables: dict[str, list[Row]], tmp_path: Path) -> None:
    out = tmp_path / "figures"
    out.mkdir()
    (out / "of-an-earlier-sweep.svg").touch()
    written = write_figures({"static": tables["static"], "loads": tables["loads"]}, out)
    assert sorted(out.iterdir()) == sorted(written)
    assert {path.stem for path in written} >= {"p04-fig-4", "p04-fig-5", "p04-fig-7", "c10-saturation", "c10-fig-10"}
    assert not {path.stem for path in written} & {"p04-fig-8", "d90-fig-8", "r05-table-1-mean"}
    assert "Parhami &amp; Kwai 2004, Fig. 4" in (out / "p04-fig-4.svg").read_text(encoding="utf-8")


def test_a_line_has_no_more_marks_than_can_be_told_apart(rows: dict[str, list[Row]]) -> None:
    drawn = next(figure for figure in FIGURES if figure.id == "p04-fig-8").chart.draw(rows["p04-fig-8"]).to_dict()
    marks = vega_lite.rows(drawn)[0]
    for variant in ("as printed", "corrected"):
        whole, shown = (
            values(found, "rate", "latency", line="torus", variant=variant) for found in (rows["p04-fig-8"], marks)
        )
        assert len(whole) == 83
        assert 30 <= len(shown) <= 46
        assert len(shown.items() - whole.items()) <= 1  # where the line leaves the axes
        assert min(shown) == min(whole)
        assert max(shown.values()) > drawn["layer"][0]["encoding"]["y"]["scale"]["domain"][1]  # and it does


def test_the_page_has_each_under_its_paper(tables: dict[str, list[Row]]) -> None:
    section = papers_section(tables)
    assert section is not None
    drawn, body = {panel.id: figures.specification(panel.drawing) for panel in section.panels}, section.body
    assert list(drawn) == [figure.id for figure in FIGURES]
    vega_lite.check(drawn.values())
    places = [
        body.index(text)
        for text in ("Parhami &amp; Kwai 2004", "p04-fig-16", "Dally 1990", "Cámara et al. 2010", "Rahman et al. 2005")
    ]
    assert places == sorted(places)
    page = Page(report.page({"static": tables["static"][:8], "latency": tables["latency"]}, {}))
    assert {"p04-fig-4", "d90-fig-8"} <= {own.get("id") for _, own in page.elements}
    assert papers_section({}) is None


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_line_cut_above_the_axis_leaves_it_where_it_did(logarithmic: bool) -> None:
    heights = [1.0, 8.0, 4000.0, 9000.0, 5.0]  # up, beyond, further, and back in
    rows = [{"line": "a", "k": float(k), "cycles": height} for k, height in enumerate(heights)]
    cut = cut_above(rows, "k", "cycles", 10.0, logarithmic=logarithmic)
    assert [row["cycles"] for row in cut] == [1.0, 8.0, 20.0, 20.0, 5.0]
    scale = math.log10 if logarithmic else float
    for left, right, found in (
        (rows[1], rows[2], cut[2]),
        (rows[3], rows[4], cut[3]),
    ):  # on the straight line between the two
        slope = (scale(right["cycles"]) - scale(left["cycles"])) / (right["k"] - left["k"])
        assert scale(left["cycles"]) + slope * (found["k"] - left["k"]) == pytest.approx(scale(20.0))
    other = [{"line": "b", "k": 0.0, "cycles": 99.0}, {"line": "b", "k": 1.0, "cycles": 98.0}]
    assert cut_above([*rows, *other], "k", "cycles", 10.0, logarithmic=logarithmic) == cut
