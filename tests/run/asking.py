"""What a sweep is asked for, and what is said where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.run.rings import Run


def computed(run: Run, stage: str, **how: object) -> list[dict[str, object]]:
    """Rows of a stage's table, computed in this process or by workers from nothing."""
    for path in run.shards():
        path.unlink()
    assert run.here("static", **how) == run.here(stage, **how) == 0
    return pq.read_table(run.folder / f"{stage}.parquet").to_pylist()


def refused_at_its_line(folder: Path, networks: str, section: str, entry: str) -> str:
    """What is said of an entry that cannot be computed; the line is the entry's."""
    path = folder / "my.yaml"
    path.write_text(f"sweep: my\ntopologies: {networks}\n{section}: [{entry}]\n")
    with pytest.raises(BadInput) as caught:
        requested_points(load(path))
    said = str(caught.value)
    assert said.startswith(f"{path}:3:")
    return said


def refused_as_too_many(folder: Path, config: str, limit: int) -> str:
    path = folder / "my.yaml"
    path.write_text(f"{config}limits: {{points: {limit}}}\n")
    with pytest.raises(Refused) as caught:
        requested_points(load(path))
    return str(caught.value)


def plain(run: Run, code: str, *arguments: str) -> tuple[int, str]:
    process = run.start(*arguments, command=(sys.executable, "-c", code))
    said = process.communicate(timeout=60)[0]
    return process.returncode, said
