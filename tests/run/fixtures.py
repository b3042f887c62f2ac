"""Sweeps in folders of their own, and what an undisturbed one gives: fixtures of tests/run and tests/faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.rings import Run


@pytest.fixture
def rings(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path)
    yield run
    run.end()


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """static.parquet of an undisturbed run of `rings`, in one process, without Dask."""
    return undisturbed(Run(tmp_path_factory.mktemp("clean")))


def undisturbed(run: Run) -> bytes:
    """static.parquet of a sweep whose points nothing happens to."""
    assert run.here("points") == 0
    run.finish()
    assert len(run.shards()) > 1
    return run.static()
