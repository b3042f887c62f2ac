"""Altered files and commands: each is answered, or refused in one line, within its time and memory (mutations.py)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.certify.show import signed
from tests.faults import children, mutations
from tests.faults.command_line import settled, torusweep

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 590  # seconds; a test of make test-faults may take 600
PAST = "0.33"  # a third of each kind


def surveyed(*options: str) -> None:
    """In a process of its own, which has no threads of other tests when it forks."""
    asked = [sys.executable, "-m", "tests.faults.mutations", *options]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.timeout(TIMEOUT)
def test_altered_inputs_are_answered_or_refused_in_one_line():
    surveyed("--count", "2000", "--seed", "0", "--past", PAST)


@pytest.mark.slow
def test_many_more_altered_inputs():
    surveyed("--count", "1000", "--seed", "1")


@pytest.mark.faults
def test_altered_configurations_are_run():
    surveyed("--count", "2", "--seed", "0", "--only", "run")


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
        ("signal.alarm(1); signal.pause()", "hangs"),
        ("sys.stderr.write('about 5.0 s\\n'); sys.stderr.flush(); signal.alarm(1); signal.pause()", "hangs"),
        ("sys.stderr.write('about 2 min\\n'); sys.stderr.flush(); signal.alarm(1); signal.pause()", "announced"),
    ],
)
def test_how_a_child_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, verdict: str):
    monkeypatch.setattr(children.cli, "main", lambda: exec(body, vars(children)))
    asked = children.Asked("command", 0, {"a/b": b"x"}, ["describe"])
    (how,) = children.judged([asked], tmp_path / "child")
    assert re.match(verdict, how)


def test_the_rest_of_a_lot_is_answered_by_another_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(children.cli, "main", lambda: exec(Path("body").read_text(), vars(children)))
    bodies = ["pass", "os.abort()", "1 / 0", "os._exit(0)", "raise SystemExit(1)", "pass"]
    lot = [children.Asked("command", place, {"body": body.encode()}, ["x"]) for place, body in enumerate(bodies)]
    hows = [how.partition(":")[0] for how in children.judged(lot, tmp_path / "child")]
    assert hows == ["answered", "dies of SIGABRT", "traceback", "answered", "status 1, 0 lines", "answered"]


def test_a_number_always_makes_the_same_input():
    commands = [mutations.mutation("graph", number) for number in range(200)]
    assert commands == [mutations.mutation("graph", number) for number in range(200)]
    assert len({str(one.files) for one in commands}) > 150


# file, contents, what place is given, and its status: what once ended in a traceback
TASKS = ["--tasks", "tasks.csv", "--restarts", "1"]
FOUND = [
    ("tasks.csv", b"source,destination,demand\n1e400,1,1.5\n1,2,2\n2,3,1\n", TASKS, 2),
    ("tasks.csv", b"source,destination,demand\n0,\xed\xa0\x80,1.5\n1,2,2\n", TASKS, 2),
    ("tasks.csv", b"source,destination,demand\n2020-01-01,2020-01-02,1.5\n2020-01-02,2020-01-03,2\n", TASKS, 0),
    ("tasks.csv", b"source,destination,demand\ntrue,false,1.5\nfalse,true,2\n", TASKS, 0),
]


@pytest.mark.parametrize(("name", "content", "given", "status"), FOUND)
def test_what_was_found_is_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, given: list[str], status: int
):
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    said = torusweep("place", "mesh(radices=[4, 2])", *given, "--json")
    assert settled(said) == (status == 0), said


@pytest.mark.parametrize("claimed", ["\ud800", "\x1b[2J", "\u202e"])
def test_what_a_certificate_claims_is_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str], claimed: str):
    path = tmp_path / "any.json"
    assert settled(torusweep("describe", "ring(k=5)", "--certificate", str(path)))
    given = json.loads(path.read_text().splitlines()[0])
    given["claim"] |= dict.fromkeys(given["claim"].keys() - {"topology"}, claimed)
    path.write_text(signed(given))
    assert children.check.main([str(path)])
    said = capsys.readouterr().out
    assert json.dumps(claimed)[1:-1] in said
    assert all(one.isprintable() or one == "\n" for one in said), said
