"""A page as tests read it: its elements and scripts; a manifest and names that try to break out."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any

HOSTILE = '</script><script>alert("&1")</script>'
MANIFEST: dict[str, Any] = {
    "sweep": "small",
    "config": {"sha256": "c0ffee", "text": f"sweep: small # {HOSTILE}\n"},
    "notes": [f"loads leaves out latency (1 network){HOSTILE}"],
    "software": {"torusweep": "0.1.0", "commit": "abc+", "python": "3.12", "packages": {"numpy": "2.1"}},
    "shards": [
        {"sha256": "aa", "backend": "numba", "device": "a CPU", "host": "one", "seconds": 1.25},
        {"sha256": "bb", "backend": "numpy", "host": "two"},
    ],
    "tables": {"static": {"sha256": "beef", "rows": 3}},
    "failed": [{"stage": "static", "topology": "graph", "point": f'graph(path="{HOSTILE}")', "reason": HOSTILE}],
}


def unpacked(text: str) -> Any:
    """Data of the page, as its script reads them."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


class Page(HTMLParser):
    """Elements, scripts and visible text of a page; complains of elements closed in the wrong order."""

    VOID = ("meta", "link", "img", "br", "wbr", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append((dict(attributes), ""))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, so_far = self.scripts[-1]
            self.scripts[-1] = (attributes, so_far + data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)
