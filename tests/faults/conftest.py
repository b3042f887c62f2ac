"""The sweeps that are hurt here: `rings`, and `many` that outlast many kills."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.fixtures import clean, rings, undisturbed
from tests.run.rings import Run

__all__ = ["clean", "clean_many", "many", "rings"]
MANY = "sweep: rings\ntopologies:\n  - {family: ring, k: {from: 3, to: 402}}\ncluster: {batch_seconds: 0.01}\n"


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path)
    run.config.write_text(MANY)
    yield run
    run.end()


@pytest.fixture(scope="session")
def clean_many(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """static.parquet of an undisturbed run of `many`."""
    run = Run(tmp_path_factory.mktemp("clean_many"))
    run.config.write_text(MANY)
    return undisturbed(run)
