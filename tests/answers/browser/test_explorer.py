"""A reader explores the page in a real browser: selects, sorts, follows links, shares addresses."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright import sync_api
from torusweep.answers import page as report
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record

from tests.answers.browser.opened import DESKTOP, HOSTILE_NAME, Opened
from tests.answers.page_parts import HOSTILE, MANIFEST
from tests.answers.page_rows import verdict


def test_a_reader_explores(desktop: Opened) -> None:
    desktop.said("4 of 9 designs shown, 4 on the front")  # the window of most designs, of 64 nodes
    desktop.all_sizes()
    desktop.said("9 of 9 designs shown; no front is drawn over sizes that differ this much")
    desktop.page.get_by_role("button", name="mesh", exact=True).click()
    desktop.said("2 of 9 designs shown")
    assert set(desktop.listed()) == {"mesh(k=4, n=2)", "mesh(k=8, n=2)"}
    desktop.page.get_by_role("button", name="torus", exact=True).press("Enter")  # by keyboard; a second family joins
    desktop.said("5 of 9 designs shown")
    desktop.move("nodes-to", "ArrowLeft")  # 64 → 32 nodes at most
    desktop.said("2 of 9 designs shown, 2 on the front")  # 16 to 32 are alike
    assert desktop.page.locator("#explorer-nodes-to + output").text_content() == "32"
    desktop.move("nodes-to", "Home")  # stops at the other slider's 16
    desktop.said("2 of 9 designs shown")
    desktop.page.get_by_role("button", name="all families").click()
    desktop.all_sizes()
    desktop.said("9 of 9 designs shown")
    desktop.move("degree-from", "End")  # of six ports only
    desktop.said("2 of 9 designs shown")
    assert set(desktop.listed()) == {"torus(k=4, n=3)", "hypercube(n=6)"}


def test_a_front_compares_like_sizes(desktop: Opened) -> None:
    line = desktop.page.locator("#explorer-chart .mark-line path")
    sync_api.expect(line).to_have_count(1)
    desktop.all_sizes()
    desktop.said("no front is drawn")
    sync_api.expect(line).to_have_count(0)
    desktop.page.locator("#explorer-x").select_option(label="nodes")  # sizes are compared themselves
    desktop.said("on the front")
    sync_api.expect(line).to_have_count(1)
    desktop.page.locator("#explorer-window").select_option(label="about 16: 3 designs")
    desktop.said("3 of 9 designs shown")


def test_networks_of_switches_are_as_large_as_their_terminals(browser: Any, tmp_path: Path) -> None:
    """Of 16 terminals: a torus of 16 nodes and a fat tree of 24, of which 8 are switches."""
    names = ("torus(k=4, n=2)", "fat_tree(k=4, n=2)", "dragonfly(a=2, p=1, h=1)", "torus(k=6, n=2)")
    file = tmp_path / "report.html"
    file.write_text(report.page({"static": [static_record(build(name)) for name in names]}, MANIFEST))
    opened = Opened(browser, file, **DESKTOP)
    opened.said("2 of 4 designs shown, 1 on the front")
    assert set(opened.listed()) == set(names[:2])
    assert opened.column("terminals") == ["16", "16"]
    opened.all_sizes()
    opened.move("terminals-to", "ArrowLeft")  # 36 → 16 terminals
    opened.said("3 of 4 designs shown")
    assert opened.chosen()["terminals"] == ["6-16"]
    shared = Opened(browser, file, f"#{urlsplit(opened.page.url).fragment}", **DESKTOP)
    shared.said("3 of 4 designs shown")
    for one in (opened, shared):
        assert one.complaints == []
        one.context.close()


def test_nothing_selected_is_said_and_is_no_error(desktop: Opened) -> None:
    mesh = desktop.page.get_by_role("button", name="mesh", exact=True)
    mesh.click()
    desktop.move("degree-from", "End")  # six ports: no mesh here
    desktop.said("0 of 9 designs shown")
    sync_api.expect(desktop.page.locator("#explorer-chart")).to_contain_text("No design is left")
    assert desktop.listed() == []
    mesh.click()
    desktop.said("2 of 9 designs shown")
    sync_api.expect(desktop.page.locator("#explorer-chart svg")).to_be_attached()


def test_another_quantity_another_front(desktop: Opened, static: list[dict[str, Any]]) -> None:
    page = desktop.page
    alike = [record for record in static if record["nodes"] == 64]
    page.locator("#explorer-y").select_option(label="diameter")
    sync_api.expect(page.locator("#explorer-chart")).to_contain_text("diameter, hops")
    assert page.locator("#explorer-y-meaning").text_content().startswith("longest")

    def front(smaller_x: bool) -> set[str]:
        sign = 1 if smaller_x else -1
        cost = {record["topology"]: (sign * record["links"], record["diameter"]) for record in alike}
        return {
            name
            for name, mine in cost.items()
            if not any(other != mine and other[0] <= mine[0] and other[1] <= mine[1] for other in cost.values())
        }

    def marked() -> set[str]:
        rows = zip(desktop.listed(), desktop.column("front"), strict=True)
        return {name for name, mark in rows if mark == "front"}

    assert front(smaller_x=True) != front(smaller_x=False)
    assert marked() == front(smaller_x=True)
    page.locator("#explorer-x-better").select_option("larger")
    desktop.said(f"{len(alike)} of {len(static)} designs shown, {len(front(smaller_x=False))} on the front")
    assert marked() == front(smaller_x=False)
    page.locator("#explorer-front").check()
    assert set(desktop.listed()) == front(smaller_x=False)


def test_pickers_choose_routing_and_traffic(desktop: Opened) -> None:
    page = desktop.page
    assert page.locator("#explorer-x option").count() < 100
    assert page.locator("#explorer-x-choices select").count() == 0  # links are links, whatever the routing
    desktop.all_sizes()
    page.locator("#explorer-x").select_option(label="saturation load")
    desktop.said("8 of 9 designs shown")
    desktop.said("1 have no finite number")
    assert page.locator("#explorer-x-better").input_value() == "larger"
    routing, traffic = (page.locator(f"#explorer-x-choices select[data-key={key}]") for key in ("routing", "traffic"))
    assert traffic.locator("option").all_text_contents() == ["uniform", "tornado", "transpose"]
    before = desktop.column("saturation load")
    traffic.select_option("tornado")
    desktop.said("2 of 9 designs shown")
    routing.select_option("valiant")  # what it was not asked for is no longer offered
    desktop.said("2 of 9 designs shown")
    assert set(desktop.listed()) == {"torus(k=4, n=2)", "torus(k=8, n=2)"}
    assert desktop.column("saturation load") != before[:2]
    assert traffic.count() == 0
    labels = page.locator("#explorer-chart .role-axis-label text")
    sync_api.expect(labels.first).to_be_attached()
    assert not [text for text in labels.all_text_contents() if text.endswith("m")]  # 0.5, not 500m


def test_the_address_shows_the_same_again(desktop: Opened, browser: Any, file: Path) -> None:
    page = desktop.page
    page.locator("#explorer-x").select_option(label="saturation load")
    page.locator("#explorer-x-choices select[data-key=traffic]").select_option("tornado")
    page.locator("#explorer-y-better").select_option("larger")
    page.locator("#explorer-y-log").set_checked(not page.locator("#explorer-y-log").is_checked())
    desktop.all_sizes()
    page.get_by_role("button", name="torus", exact=True).click()
    page.locator("#explorer-front").check()
    page.locator("nav a", has_text="Glossary").click()
    desktop.said("2 of 9 designs shown")
    said = desktop.chosen()
    assert said["x"] == ["loads.saturation_load"]
    assert said["x.traffic"] == ["tornado"]
    assert said["family"] == ["torus"]
    assert said["at"] == ["glossary"]
    again = Opened(browser, file, "#" + urlsplit(page.url).fragment, **DESKTOP)
    again.said(desktop.status.text_content())
    assert again.listed() == desktop.listed()
    assert again.page.evaluate("scrollY") > 500
    controls = "[...document.querySelectorAll('#explorer :is(select, input[type=range])')].map(one => one.value)"
    assert again.page.evaluate(controls) == page.evaluate(controls)
    ticks = "[...document.querySelectorAll('#explorer [type=checkbox]')].map(one => one.checked)"
    assert again.page.evaluate(ticks) == page.evaluate(ticks)
    again.page.get_by_role("button", name="all families").click()
    assert "family" not in again.chosen()
    again.context.close()
    assert again.complaints == []


def test_an_address_of_nonsense_is_harmless(browser: Any, file: Path) -> None:
    nonsense = {"x": "loads.saturation_load", "x.traffic": HOSTILE, "y": HOSTILE, "nodes": "9-x", "degree": "7-3"}
    opened = Opened(browser, file, "#" + urlencode({**nonsense, "family": HOSTILE, "at": HOSTILE}), **DESKTOP)
    opened.said("4 of 9 designs shown")
    assert opened.page.locator("#explorer-x").evaluate("one => one.selectedOptions[0].text") == "saturation load"
    assert opened.page.locator("#explorer-y").evaluate("one => one.selectedOptions[0].text") == "mean distance"
    opened.page.evaluate("location.hash = '%E0%A4%A'")
    opened.said("4 of 9 designs shown")
    opened.context.close()
    assert opened.complaints == []


def test_the_table_sorts_and_its_lines_can_be_copied(desktop: Opened) -> None:
    page = desktop.page
    desktop.all_sizes()
    desktop.said("9 of 9")
    page.locator("#explorer-table th button", has_text="degree").click()
    degrees = [int(text) for text in desktop.column("degree")]
    assert degrees == sorted(degrees)
    assert degrees[0] < degrees[-1]
    desktop.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row = page.locator("#explorer-table tr", has_text="hypercube(n=6)")
    row.get_by_role("button").click()
    row.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == 'torusweep describe "hypercube(n=6)"'
    assert HOSTILE_NAME in desktop.listed()  # as it is
    page.locator("#explorer-table tr", has_text="graph").get_by_role("button").click()
    page.locator("#explorer-table tr", has_text="graph").get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"torusweep describe '{HOSTILE_NAME}'"  # for a shell


def test_a_long_table_is_searched_sorted_and_turned_over(desktop: Opened) -> None:
    frame = desktop.page.locator("#deadlock .table").last
    rows, said, search = frame.locator("tbody tr"), frame.locator("output"), frame.get_by_role("searchbox")
    sync_api.expect(said).to_have_text("rows 1 to 25 of 60")
    sync_api.expect(rows).to_have_count(25)
    seen = rows.locator("td:first-child").all_text_contents()
    for _ in range(2):
        frame.get_by_role("button", name="Next").click()
        seen += rows.locator("td:first-child").all_text_contents()
    sync_api.expect(said).to_have_text("rows 51 to 60 of 60")
    assert sorted(seen) == sorted(f"ring(k={k})" for k in range(4, 64))  # every row is reached
    assert frame.get_by_role("button", name="Next").is_disabled()
    search.fill("MINIMAL k=44")
    sync_api.expect(said).to_have_text("rows 1 to 1 of 1 found of 60")
    assert "ring(k=44)" in rows.inner_text()
    search.fill("no such network")
    sync_api.expect(said).to_have_text("no row found of 60")
    search.fill("")
    frame.locator("select").select_option("100")
    sync_api.expect(rows).to_have_count(60)
    for _ in range(2):
        frame.locator("th button", has_text="network").click()
    sorted_names = rows.locator("td:first-child").all_text_contents()
    assert sorted_names == [f"ring(k={k})" for k in range(63, 3, -1)]


def test_words_of_tables_are_explained(desktop: Opened) -> None:
    word = desktop.page.locator("#loads abbr", has_text="minimal").first
    said = "Divide packets equally among all shortest paths. No path passes through a host that forwards nothing."
    assert word.get_attribute("title") == said
    assert "list of steps" in desktop.page.locator("#glossary").inner_text()


def test_a_page_of_many_rows_has_few_elements(browser: Any, static: list[dict[str, Any]], tmp_path: Path) -> None:
    """Two tables of 2,000 rows; all rows as elements would be 44,000."""
    many = [
        {
            **static[0],
            "topology": f"torus(radices=[{i}, 3])",
            **dict.fromkeys(("nodes", "terminals"), 16 + 8 * i),
            "links": 5 + i,
            "diameter": 9 + i % 7,
        }
        for i in range(2000)
    ]
    verdicts = [verdict(f"ring(k={k})", "yes") for k in range(2000)]
    path = tmp_path / "report.html"
    path.write_text(report.page({"static": many, "deadlock": verdicts}, MANIFEST), encoding="utf-8")
    opened = Opened(browser, path, **DESKTOP)
    said = opened.page.locator("#networks .table").last.locator("output")
    sync_api.expect(said).to_have_text("rows 1 to 25 of 2,000")
    opened.wait("[...document.querySelectorAll('.chart')].every(one => one.querySelector('svg, canvas'))")
    assert 2000 < opened.page.evaluate("document.querySelectorAll('*').length") <= 15_000
    opened.page.locator("#networks .table input").last.fill("[1999,")
    sync_api.expect(said).to_have_text("rows 1 to 1 of 1 found of 2,000")
    opened.context.close()
    assert opened.complaints == []


def test_a_link_unfolds_its_section_and_no_other(browser: Any, file: Path) -> None:
    opened = Opened(browser, file, "#explorer", **DESKTOP)
    opened.said("4 of 9 designs shown")
    assert opened.page.locator("#explorer details").get_attribute("open") is None
    opened.context.close()


def test_dragging_over_the_chart_selects(desktop: Opened) -> None:
    desktop.all_sizes()
    desktop.page.locator("#explorer-x").select_option(label="nodes")
    desktop.said("9 of 9 designs shown")
    desktop.page.locator("#explorer-chart").scroll_into_view_if_needed()
    box = desktop.page.locator("#explorer-chart svg").bounding_box()
    left, middle = box["x"] + 60, box["x"] + box["width"] / 2
    desktop.page.mouse.move(left, box["y"] + 5)
    desktop.page.mouse.down()
    desktop.page.mouse.move(middle, box["y"] + 200)
    desktop.page.mouse.move(middle, box["y"] + box["height"] - 60)
    desktop.page.mouse.up()
    desktop.said("designs selected")
    nodes = [int(text) for text in desktop.column("nodes") if text]
    assert 0 < len(nodes) < 9
    assert max(nodes) <= 32  # the middle of 16 … 64 on a logarithmic axis


def test_every_chart_is_drawn_and_a_legend_singles_out(desktop: Opened) -> None:
    desktop.drawn()
    charts = desktop.page.locator(".chart").all()
    assert {chart.get_attribute("id") for chart in charts} >= {"wire_lengths", "simulated_0"}
    assert all(chart.locator("svg").count() == 1 for chart in charts)
    chart = desktop.page.locator("#distance_against_size")
    faint = chart.locator(".mark-symbol path[opacity='0.07']")
    assert faint.count() == 0
    chart.locator(".role-legend-label text", has_text="mesh").click()
    sync_api.expect(faint).to_have_count(7)  # all marks but the two meshes'


@pytest.mark.slow
def test_a_sweep_beyond_the_limit_is_sampled_and_still_moves(
    browser: Any, static: list[dict[str, Any]], tmp_path: Path
) -> None:
    draw = random.Random(1)
    columns = (
        "links",
        "diameter",
        "cost",
        "mean_distance",
        "mean_distance_distinct",
        "bisection_lower",
        "bisection_upper",
        "edge_connectivity",
    )
    many = [
        {**static[0], "topology": f"torus(radices=[{i}, 3, 5])", "parameters": {}}
        | dict.fromkeys(("nodes", "terminals"), draw.randrange(8, 1 << 20))
        | {column: draw.uniform(1, 1e6) for column in columns}
        for i in range(25_000)
    ]
    path = tmp_path / "report.html"
    path.write_text(report.page({"static": many}, MANIFEST), encoding="utf-8")
    assert path.stat().st_size < 5_000_000
    page = browser.new_page()
    page.goto(path.as_uri())
    sync_api.expect(page.locator("#explorer-chart canvas")).to_be_attached(timeout=30_000)
    assert re.search("A sample of [0-9,]+ of the 25,000 connected designs", page.locator("#explorer").inner_text())
    before = page.locator("#explorer-status").inner_text()
    page.locator("#explorer-nodes-to").press("PageDown")
    sync_api.expect(page.locator("#explorer-status")).not_to_have_text(before, timeout=30_000)
    page.close()
