"""For all tests."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

# what a process compiles, and the script of the page, are kept: hundreds of processes that tests start need them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # or some libraries would report leaks


@pytest.fixture
def in_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's files are written, and named, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
