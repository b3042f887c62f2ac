"""The picture of the page that the README shows.

python -m tests.answers.browser.picture results/default/report.html docs/page.png
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright import sync_api

from tests.answers.browser.conftest import CHROMIUM
from tests.answers.browser.opened import Opened

SIZE = {"viewport": {"width": 1280, "height": 1090}}


def write_picture(page: Path, picture: Path) -> None:
    """Draw what a browser shows of a page's explorer, of all sizes."""
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = Opened(browser, page.resolve(), **SIZE)
        opened.all_sizes()
        opened.page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    write_picture(*map(Path, sys.argv[1:3]))
