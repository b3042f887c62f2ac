"""A page that is open in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright import sync_api

from tests.answers.page_parts import HOSTILE

# a network's name that a page must show as it is
HOSTILE_NAME = f'graph(path="{HOSTILE}$(x)")'
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
SECONDS = 60  # for a machine that has other work, too: what is waited for comes within one
sync_api.expect.set_options(timeout=1000 * SECONDS)
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}


class Opened:
    """The page in a window of its own, and what it said and asked for there."""

    def __init__(self, browser: Any, file: Path, address: str = "", **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * SECONDS)
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
        for _ in range(20 * SECONDS):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"not within {SECONDS} s: {condition}")

    def chosen(self) -> dict[str, list[str]]:
        """What the page's address says, once it says it."""
        self.wait("location.hash.includes('x=')")
        # changes that follow each other are written together, 150 ms after the last: a timer that begins now ends later
        self.page.evaluate("new Promise((done) => { setTimeout(done, 150); })")
        return parse_qs(urlsplit(self.page.url).fragment)

    def column(self, name: str) -> list[str]:
        """The cells of a listed column, as shown."""
        titles = self.page.locator("#explorer-table th").all_text_contents()
        rows = self.page.locator("#explorer-table tbody tr").all()
        return [row.locator("td").nth(titles.index(name)).text_content() for row in rows]

    def move(self, slider: str, key: str) -> None:
        self.page.locator(f"#explorer-{slider}").press(key)
