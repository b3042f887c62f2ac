"""How the page looks in a real browser: wide, on a phone, in the dark, on paper, and without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api

from tests.answers.browser.opened import DESKTOP, PHONE, Opened


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


def test_without_scripts_the_page_says_what_is_missing(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, **DESKTOP)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "Without JavaScript" in page.locator("body").inner_text()
    assert page.locator("#deadlock tbody tr").count() >= 25
    assert page.locator("#glossary dt").count() > 40
    context.close()


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


def test_rows_of_a_phone_are_no_higher_than_their_names_need(browser: Any, file: Path) -> None:
    """Long words of columns further right do not push the rows apart."""
    opened = Opened(browser, file, **PHONE)
    opened.drawn()
    lines = """[...document.querySelectorAll('.table tbody tr')].filter((row) => row.offsetParent).map((row) => {
      const texts = [...row.cells].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect().height;
      });
      return row.cells[0].className === 'name' ? Math.max(...texts) - 1.5 * Math.max(texts[0], 26) : 0;
    })"""
    assert max(opened.page.evaluate(lines)) <= 0
    opened.context.close()


def test_each_chart_has_a_text_of_its_own_in_its_place(desktop: Opened) -> None:
    """Vega sets the text anew when it draws."""
    desktop.drawn()
    labels = [chart.get_attribute("aria-label") for chart in desktop.page.locator(".chart:has(svg)").all()]
    assert len(set(labels)) == len(labels) > 5
    assert any(label.startswith("Mean distance against size. mean distance, hops against nodes. ") for label in labels)
    explorer = desktop.page.locator("#explorer-chart")
    sync_api.expect(explorer).to_have_attribute(
        "aria-label", re.compile("^mean distance, hops against links. 4 designs")
    )
    desktop.page.locator("#explorer-y").select_option(label="diameter")
    sync_api.expect(explorer).to_have_attribute("aria-label", re.compile("^diameter, hops against links. "))
