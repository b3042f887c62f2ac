"""What a reader takes along: each chart as SVG and PNG, each table as CSV, from a page without a network."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.answers.browser.opened import HOSTILE_NAME, PHONE, Opened


def saved(opened: Opened, button: Any) -> tuple[str, bytes]:
    """The name and content of the file that a button saves."""
    with opened.page.expect_download() as waited:
        button.click()
    return waited.value.suggested_filename, Path(waited.value.path()).read_bytes()


def test_every_chart_is_saved_as_svg_and_png(desktop: Opened) -> None:
    desktop.drawn()
    names = set()
    charts = desktop.page.locator("figure:has(.chart)").all()
    for figure in charts:
        name, picture = saved(desktop, figure.locator("[data-save=svg]"))
        root = ElementTree.fromstring(picture)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        marks = [
            one for one in root.iter() if "mark-symbol" in one.get("class", "") or "mark-rect" in one.get("class", "")
        ]
        assert marks
        title = figure.locator("h3, h4").all_text_contents() or ["mean distance, hops against links"]
        assert title[0] in "".join(root.itertext())
        names.add(name)
    assert len(names) == len(charts) > 4
    explorer = saved(desktop, desktop.page.locator("#explorer [data-save=svg]"))[1].decode()
    assert ">hypercube</text>" in explorer  # a legend of what is shown, which the page has as buttons
    assert ">ccc</text>" not in explorer
    name, picture = saved(desktop, charts[-1].locator("[data-save=png]"))
    assert name.endswith(".png")
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]) >= 2 * 760  # pixels across


def test_a_dark_phone_saves_a_light_picture(browser: Any, file: Path) -> None:
    opened = Opened(browser, file, color_scheme="dark", **PHONE)
    _, picture = saved(opened, opened.page.locator("#explorer [data-save=svg]"))
    text = picture.decode()
    assert "#1d2329" in text
    assert "#e7ebef" not in text
    opened.context.close()
    assert opened.complaints == []


def test_every_table_is_saved_with_all_rows_found(desktop: Opened) -> None:
    desktop.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    desktop.wait("document.querySelectorAll('#deadlock .tools').length")
    tables = desktop.page.locator(".table, #explorer-list").all()
    names = {saved(desktop, table.locator("[data-save=csv]"))[0] for table in tables}
    assert len(names) == len(tables) > 5
    desktop.page.wait_for_timeout(1500)  # Chromium lets a page begin ten downloads in a row, then waits for a second

    def rows(place: str) -> list[list[str]]:
        table = desktop.page.locator(place).last
        return list(csv.reader(io.StringIO(saved(desktop, table.locator("[data-save=csv]"))[1].decode(), newline="")))

    verdicts = rows("#deadlock .table")
    assert len(verdicts) == 1 + 60  # of which the page shows 25
    assert verdicts[0][:3] == ["network", "routing", "rule"]
    desktop.page.locator("#deadlock .table input").last.fill("ring(k=63)")
    desktop.wait("document.querySelector('#deadlock').innerText.includes('1 found of 60')")  # else the button moves
    assert [row[0] for row in rows("#deadlock .table")[1:]] == ["ring(k=63)"]
    networks = rows("#networks .table")
    assert HOSTILE_NAME in {row[0] for row in networks}
    assert {len(row) for row in networks} == {len(networks[0])}
    desktop.all_sizes()
    desktop.said("9 of 9 designs shown")
    designs = rows("#explorer-list")
    assert designs[0] == ["design", "front", "links", "mean distance", "nodes", "degree"]
    assert {row[0] for row in designs[1:]} == set(desktop.listed())


@pytest.mark.parametrize(
    ("shown", "written"),
    [("1,024", "1024"), ("–", ""), ("-1,234.5", "-1234.5"), ("4 … 2,046", "4 … 2,046"), ('a "b", c', 'a "b", c')],
)
def test_a_cell_of_a_file(desktop: Opened, shown: str, written: str) -> None:
    desktop.wait("document.querySelectorAll('#deadlock .tools').length")
    made = """(shown) => {
      const frame = document.querySelector('#deadlock .table').cloneNode(true);
      frame.querySelectorAll('.tools').forEach((one) => one.remove());
      const table = new PagedTable(frame);
      table.set([table.headers.map(() => shown)], []);
      return table.csv();
    }"""
    (_, first) = csv.reader(io.StringIO(desktop.page.evaluate(made, shown), newline=""))
    assert set(first) == {written}
