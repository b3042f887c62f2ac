"""The page in a real browser: headless Chromium opens it as a file, and does with it what a reader does.

Skipped where there is no Chromium (Debian: apt-get install chromium); TORUSWEEP_CHROMIUM names one elsewhere.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from torusweep.networks.families import build
from torusweep.results import page as report
from torusweep.stages.layout import layout_record
from torusweep.stages.loads import loads_record
from torusweep.stages.static import static_record

from tests.results.test_report import HOSTILE, MANIFEST
from tests.results.test_report_deadlock import verdict
from tests.results.test_report_simulation import curve

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: install requirements-dev.txt")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("TORUSWEEP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: apt-get install chromium, or name one in TORUSWEEP_CHROMIUM"
)

TOPOLOGIES = (
    "torus(k=4, n=2)",
    "torus(k=8, n=2)",
    "torus(k=4, n=3)",
    "mesh(k=8, n=2)",
    "mesh(k=4, n=2)",
    "rtt(a=4)",
    "hypercube(n=6)",
    "ccc(n=3)",
)
HOSTILE_NAME = f'graph(path="{HOSTILE}$(x)")'
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    found = [static_record(build(topology)) for topology in TOPOLOGIES]
    return [*found, {**found[0], "topology": HOSTILE_NAME, "family": "graph", "parameters": {}, "nodes": 17}]


@pytest.fixture(scope="module")
def file(static: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    loads = [loads_record(build(topology)) for topology in TOPOLOGIES]
    asked = (("minimal", "tornado"), ("minimal", "transpose"), ("valiant", "tornado"))
    loads += [
        loads_record(build(topology), routing=routing, traffic=traffic)
        for topology in TOPOLOGIES[:2]
        for routing, traffic in asked
    ]
    deadlock = [verdict(f"ring(k={k})", "yes", "minimal") for k in range(4, 64)]
    layout = [
        layout_record(build(topology), placement) for topology in TOPOLOGIES[:2] for placement in ("straight", "folded")
    ]
    simulation = [row for topology in TOPOLOGIES[:2] for row in curve(topology, [20.0, 25.0, 500.0], 3)]
    path = tmp_path_factory.mktemp("page") / "report.html"
    tables = {"static": static, "loads": loads, "layout": layout, "simulation": simulation, "deadlock": deadlock}
    path.write_text(report.page(tables, MANIFEST), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]  # root has none
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()


class Opened:
    """The page in a window of its own, and what it said and asked for there."""

    def __init__(self, browser: Any, file: Path, address: str = "", **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri() + address)
        self.status = self.page.locator("#explorer-status")
        self.title = self.page.locator("#explorer-chart .role-axis-title text").first
        sync_api.expect(self.title).to_be_attached()

    def said(self, words: str) -> None:
        """Wait until the explorer's line of counts has these words."""
        sync_api.expect(self.status).to_contain_text(words)

    def all_sizes(self) -> None:
        """Widen the window of network sizes to all of them."""
        self.page.locator("#explorer-window").select_option(index=0)

    def listed(self) -> list[str]:
        """The designs listed."""
        return list(self.page.locator("#explorer-table code").all_text_contents())

    def drawn(self) -> None:
        """Wait until every chart that is not folded away is drawn."""
        self.wait(
            "[...document.querySelectorAll('.chart')].filter(one => one.offsetParent)"
            ".every(one => one.querySelector('svg'))"
        )

    def wait(self, condition: str) -> None:
        """Wait until a condition holds. The page's policy forbids Playwright's own way, which makes code of text."""
        for _ in range(100):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"not within 5 s: {condition}")

    def chosen(self) -> dict[str, list[str]]:
        """What the page's address says, once it says it."""
        self.wait("location.hash.includes('x=')")
        self.page.wait_for_timeout(300)  # changes that follow each other are written together
        return parse_qs(urlsplit(self.page.url).fragment)

    def column(self, name: str) -> list[str]:
        """The cells of a listed column, as shown."""
        titles = self.page.locator("#explorer-table th").all_text_contents()
        rows = self.page.locator("#explorer-table tbody tr").all()
        return [row.locator("td").nth(titles.index(name)).text_content() for row in rows]

    def move(self, slider: str, key: str) -> None:
        self.page.locator(f"#explorer-{slider}").press(key)


@pytest.fixture
def desktop(browser: Any, file: Path) -> Iterator[Opened]:
    opened = Opened(browser, file, **DESKTOP)
    yield opened
    opened.context.close()
    assert opened.complaints == []
    assert opened.requests == [file.as_uri()]


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
    assert word.get_attribute("title") == "Every shortest path, equally often."
    assert "list of steps" in desktop.page.locator("#glossary").inner_text()


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_is_cut_and_the_contents_stay(browser: Any, file: Path, width: int) -> None:
    opened = Opened(browser, file, viewport={"width": width, "height": 900})
    opened.drawn()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    cut = """[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1
        && !(WIDE < 1000 && getComputedStyle(one).overflowX === 'auto')).map(one => one.innerText.slice(0, 80))"""
    assert opened.page.evaluate(cut.replace("WIDE", str(width))) == []
    clipped = "[...document.querySelectorAll('td, th')].filter(one => getComputedStyle(one).overflow !== 'visible')"
    assert opened.page.evaluate(f"{clipped}.length") == 0
    first_number = "[...document.querySelectorAll('#explorer-table td.number')].map(one => one.getBoundingClientRect())"
    assert opened.page.evaluate(f"{first_number}[0].right") <= width  # before the tails of names
    opened.page.mouse.wheel(0, 4000)
    opened.wait("scrollY > 1000")
    assert opened.page.locator("nav").bounding_box()["y"] == 0  # the contents stay
    opened.context.close()
    assert opened.complaints == []


BROKEN = """[...document.querySelectorAll('td')].flatMap((cell) => {
  const [found, texts] = [[], document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const word of text.data.matchAll(/[A-Za-z]+|[0-9][0-9,.]*/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
})"""


@pytest.mark.parametrize("width", [1400, 390])
def test_no_word_of_a_table_is_broken(browser: Any, file: Path, width: int) -> None:
    opened = Opened(browser, file, viewport={"width": width, "height": 900})
    opened.drawn()
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert opened.page.locator("td", has_text="dimension_order").count() > 0
    assert opened.page.evaluate(BROKEN) == []
    narrow = "display: block; padding: 0; min-width: 0; max-width: 1.5rem; overflow-wrap: anywhere;"
    opened.page.add_style_tag(content=f"td, td.name {{ {narrow} }}")
    assert "order" in opened.page.evaluate(BROKEN)  # the check sees what is broken
    opened.context.close()


def test_the_script_breaks_words_where_the_page_does(browser: Any, file: Path) -> None:
    """The script writes the cells of every table anew."""
    cells = """[...document.querySelectorAll('.table')].filter((one) => one.querySelectorAll('tbody tr').length > 1)
        .map((one) => [...one.querySelectorAll('td')].map((cell) => cell.innerHTML.replaceAll(/<.?abbr[^>]*>/g, '')))"""
    context = browser.new_context(java_script_enabled=False, **DESKTOP)
    page = context.new_page()
    page.goto(file.as_uri())
    written = page.evaluate(cells)
    context.close()
    opened = Opened(browser, file, **DESKTOP)
    opened.wait("document.querySelectorAll('#deadlock .tools').length")
    assert opened.page.evaluate(cells) == written
    assert any("dimension_<wbr>order" in cell for table in written for cell in table)
    opened.context.close()


def test_a_page_of_many_rows_has_few_elements(browser: Any, static: list[dict[str, Any]], tmp_path: Path) -> None:
    """Two tables of 2,000 rows; all rows as elements would be 44,000."""
    many = [
        {
            **static[0],
            "topology": f"torus(radices=[{i}, 3])",
            "nodes": 16 + 8 * i,
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


def test_without_scripts_the_page_says_what_is_missing(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, **DESKTOP)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "Without JavaScript" in page.locator("body").inner_text()
    assert page.locator("#deadlock tbody tr").count() >= 25
    assert page.locator("#glossary dt").count() > 40
    context.close()


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


@pytest.mark.parametrize(
    ("options", "paper"),
    [
        (PHONE, "#ffffff"),
        ({**DESKTOP, "color_scheme": "dark"}, "#171b20"),
        ({**PHONE, "color_scheme": "dark"}, "#171b20"),
    ],
)
def test_phones_and_the_dark(browser: Any, file: Path, options: dict[str, Any], paper: str) -> None:
    opened = Opened(browser, file, **options)
    opened.drawn()
    wide = opened.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    assert (
        opened.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()") == paper
    )
    ends = opened.page.evaluate(
        "[...document.querySelectorAll('.role-legend text')].map((name) => name.getBoundingClientRect().right)"
    )
    assert ends
    assert max(ends) <= wide[1]
    assert opened.title.get_attribute("fill") == ("#1d2329" if paper == "#ffffff" else "#e7ebef")
    opened.page.get_by_role("button", name="mesh", exact=True).click()
    opened.said("1 of 9 designs shown")
    opened.context.close()
    assert opened.complaints == []


def test_on_paper_the_dark_page_is_light(desktop: Opened) -> None:
    desktop.drawn()
    desktop.page.emulate_media(media="print", color_scheme="dark")
    sync_api.expect(desktop.title).to_have_attribute("fill", "#e7ebef")
    sync_api.expect(desktop.title).to_have_css("fill", "rgb(29, 35, 41)")
    assert desktop.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not desktop.page.locator(".controls").is_visible()
    assert desktop.page.locator("#explorer-table th", has_text="mean distance").locator("button").is_visible()
    assert desktop.page.locator(".families").is_visible()  # what colours and symbols mean
    desktop.page.set_viewport_size({"width": 690, "height": 900})  # A4 but for its margins
    tables = desktop.page.locator(".scroll").evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert max(tables) <= 1


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
        {**static[0], "topology": f"torus(radices=[{i}, 3, 5])", "parameters": {}, "nodes": draw.randrange(8, 1 << 20)}
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
