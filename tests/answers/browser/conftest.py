"""A page of small results, and headless Chromium to open it.

Skipped where there is no Chromium (Debian: apt-get install chromium); TORUSWEEP_CHROMIUM names one elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api
from torusweep.answers import page as report
from torusweep.networks.families import build
from torusweep.questions.layout.record import layout_record
from torusweep.questions.static.record import static_record

from tests.answers.browser.opened import DESKTOP, HOSTILE_NAME, Opened
from tests.answers.page_parts import MANIFEST
from tests.answers.page_rows import curve, verdict
from tests.records import loads_record

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("TORUSWEEP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
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


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    found = [static_record(build(topology)) for topology in TOPOLOGIES]
    hostile = {"topology": HOSTILE_NAME, "family": "graph", "parameters": {}, "nodes": 17, "terminals": 17}
    return [*found, {**found[0], **hostile}]


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
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium, or name one in TORUSWEEP_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        sandbox = [] if os.geteuid() else ["--no-sandbox"]  # root has none
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()


@pytest.fixture
def desktop(browser: Any, file: Path) -> Iterator[Opened]:
    opened = Opened(browser, file, **DESKTOP)
    yield opened
    opened.context.close()
    assert opened.complaints == []
    assert opened.requests == [file.as_uri()]
