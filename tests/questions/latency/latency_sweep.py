"""Sweeps of latency in a test: written, run step by step in this process, asked for their rows; and the command."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner
from torusweep.cli.questions import command_of
from torusweep.cli.run import run_step
from torusweep.questions import question_named
from torusweep.sweeps.configuration import Sweep, load

command = command_of(question_named("latency"))


def run(folder: Path, text: str, *steps: str) -> Path:
    """A sweep's steps in this process; where its tables are."""
    config = folder / "my.yaml"
    config.write_text(f"sweep: my\n{text}")
    for step in steps:
        assert run_step(step, config, folder / "my", {"workers": 0}) == 0
    return folder / "my"


def of(table: pa.Table, **values: object) -> list[dict]:
    return [row for row in table.to_pylist() if all(row[name] == value for name, value in values.items())]


def load_sweep(folder: Path, text: str) -> Sweep:
    (folder / "my.yaml").write_text(f"sweep: my\n{text}")
    return load(folder / "my.yaml")


def said(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output
