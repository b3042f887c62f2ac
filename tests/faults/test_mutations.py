"""Altered files and commands: each is answered, or refused in one line, within its time and memory (mutations.py)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import mutations
from tests.faults.command_line import torusweep

ROOT = Path(__file__).resolve().parents[2]


def surveyed(count: int, seed: int) -> None:
    """In a process of its own, which has no threads of other tests when it forks."""
    asked = [
        sys.executable,
        "-m",
        "tests.faults.mutations",
        "--count",
        str(count),
        "--seed",
        str(seed),
        "--past",
        "0.15",
    ]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_altered_inputs_are_answered_or_refused_in_one_line():
    surveyed(400, 0)


@pytest.mark.faults
def test_many_more_altered_inputs():
    surveyed(2000, 1)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("pass", "answered"),
        ("raise SystemExit(2)", "status 2, 0 lines"),
        ("sys.stderr.write('torusweep: no\\n'); raise SystemExit(2)", "refused"),
        ("sys.stderr.write('torusweep: no\\nand why\\n'); raise SystemExit(2)", "status 2, 2 lines"),
        ("sys.stderr.write('torusweep: \\x1b[2J\\n'); raise SystemExit(2)", "status 2, 1 lines"),
        ("raise SystemExit(1)", "status 1, 0 lines"),
        ("1 / 0", "traceback: .*ZeroDivisionError"),
        ("bytearray(4 << 30)", "traceback: .*MemoryError"),
        ("os.abort()", "dies of SIGABRT"),
        ("signal.alarm(1); time.sleep(9)", "hangs"),
    ],
)
def test_how_a_child_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, verdict: str):
    monkeypatch.setattr(mutations.cli, "main", lambda: exec(body, vars(mutations)))
    asked = mutations.Asked("command", 0, {"a/b": b"x"}, ["describe"])
    assert re.match(verdict, mutations.ended(asked, tmp_path / "child"))


def test_a_number_always_makes_the_same_input():
    commands = [mutations.mutation("graph", number) for number in range(200)]
    assert commands == [mutations.mutation("graph", number) for number in range(200)]
    assert len({str(one.files) for one in commands}) > 150


# kind, file, contents, arguments: what once ended in a traceback
FOUND = [
    (
        "tasks.csv",
        "source,destination,demand\n1e400,1,1.5\n1,2,2\n2,3,1\n",
        ["--tasks", "tasks.csv", "--restarts", "1"],
    ),
]


@pytest.mark.parametrize(("name", "content", "given"), FOUND)
def test_what_was_found_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, given: list[str]
):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    said = torusweep("place", "mesh(radices=[4, 2])", *given, "--json")
    assert said.status == 2, said
