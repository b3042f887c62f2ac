"""docs/reliability.md names tests that exist, and a time for each."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]  # after the head


def test_every_test_that_is_named_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text())
    assert len(named) >= len(ROWS)
    functions = {
        path: {
            node.name for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.FunctionDef)
        }
        for path in {path for path, _ in named}
    }
    assert [(path, name) for path, name in named if name not in functions[path]] == []


def test_every_fault_has_its_row_its_test_and_its_time():
    numbers = {int(number) for row in ROWS for number in re.findall(r"\d+", row.split(" · ")[0])}
    assert set(range(1, 32)) <= numbers
    for row in ROWS:
        _, fault, promise, test, time, _ = re.split(r"(?<!\\)\|", row)
        assert fault.strip(), row
        assert promise.strip(), row
        assert "`tests/" in test, row
        assert re.fullmatch(r"< 1 s|\d+ s", time.strip()), row
