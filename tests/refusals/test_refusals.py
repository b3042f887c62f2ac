"""Bad input and the words that refuse it, in tables beside this file: a line each, `what is asked → words`.

questions.txt   driven through three doors: command line, library, configuration
commands.txt    what only the command line can be asked (in the shell's words; job.yaml is made here)
calls.txt       what only Python can pass; `n` is a network
sections.txt    what only a configuration can say, on its line 3, below a line of networks

Every refusal is one line. Words that are told apart by ` | ` come in this order; those after `^` come first.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torusweep as ts
from ruamel.yaml import YAML
from torusweep.cli import COMMANDS
from torusweep.cli.questions import command_of
from torusweep.errors import BadInput
from torusweep.questions import question_named
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.faults import command_line

JOB = "axes: {dp: 4, tp: 4}\noperations: [{axis: tp, operation: all_gather, bytes: 64MiB}]\n"
PROGRESS = re.compile(r"\A(?:[a-z][a-z_, ]+: (?:\d+ %|some [a-z ]+|left out|[\d.]+ cycles/flit.*)\n)*")
SWEPT = {"load": "loads", "algorithms": "algorithm"}  # parameters that a configuration calls otherwise


def rows(name: str) -> list[tuple[str, str]]:
    return list(_rows(name))


def _rows(name: str) -> Iterator[tuple[str, str]]:
    for line in (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            asked, _, words = line.partition(" → ")
            yield asked, words


def sections() -> Iterator[tuple[str, str, str]]:
    """Networks, a section and words."""
    networks = ""
    for line, words in rows("sections"):
        if line.startswith("topologies: "):
            networks = line
        else:
            yield networks, line, words


COMMAND_LINES = rows("commands")


def check(said: str, words: str) -> None:
    assert "\n" not in said
    assert words
    start = 0
    for part in words.removeprefix("^").split(" | "):
        start = said.find(part, start)
        assert start >= 0, (said, part)
    assert not words.startswith("^") or said.startswith(words[1:])


def refused_command(arguments: list[str], words: str) -> None:
    said = command_line.torusweep(*arguments)
    # on a slow machine, lines of progress stand before what is refused when it is computed
    said = said._replace(err=PROGRESS.sub("", said.err))
    assert not command_line.settled(said)
    check(said.err.rstrip("\n"), words)


def refused_section(folder: Path, networks: str, section: str, words: str) -> None:
    path = folder / "my.yaml"
    path.write_text(f"sweep: my\n{networks}\n{section}\n")
    with pytest.raises(BadInput) as refusal:
        requested_points(load(path))
    assert str(refusal.value).startswith(f"{path}:3:")
    check(str(refusal.value), words)


@pytest.mark.parametrize("door", ["command", "library", "configuration"])
@pytest.mark.parametrize(("asked", "words"), rows("questions"))
def test_a_question_is_refused_in_the_same_words_at_every_door(tmp_path: Path, door: str, asked: str, words: str):
    command, network, written = asked.split(" | ")
    question, values = question_named(command), YAML(typ="safe").load(written)
    if door == "command":
        options = {one.name: one for one in command_of(question).params}
        arguments = [command, network]
        for name, value in values.items():
            option = [] if options[name].param_type_name == "argument" else [options[name].opts[0]]
            arguments += [*option, str(value)]
        refused_command(arguments, words)
    elif door == "library":
        with pytest.raises(BadInput) as refusal:
            getattr(ts.network(network), command)(**values)
        check(str(refusal.value), words)
    else:
        entry = {SWEPT.get(name, name): value for name, value in values.items()}
        refused_section(tmp_path, f"topologies: ['{network}']", f"{question.name}: [{entry}]", words)


@pytest.mark.parametrize(("line", "words"), COMMAND_LINES)
def test_a_command_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str):
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(JOB)
    refused_command(shlex.split(line), words)
    assert [path.name for path in tmp_path.iterdir()] == ["job.yaml"], "nothing is written"


def test_every_command_has_bad_input():
    assert {line.partition(" ")[0] for line, _ in COMMAND_LINES} >= set(COMMANDS) - {"step"}


@pytest.mark.parametrize(("call", "words"), rows("calls"))
def test_a_call_is_refused_in_one_line(call: str, words: str):
    names: dict[str, Any] = {"n": ts.network("torus(k=4, n=2)"), "ts": ts, "np": np, "__file__": __file__}
    job = {"axes": {"t": 16}, "operations": [{"axis": "t", "operation": "all_gather", "bytes": "1MiB"}]}
    with pytest.raises(BadInput) as refusal:
        eval(call, {**names, "JOB": job})
    check(str(refusal.value), words)


@pytest.mark.parametrize(("networks", "section", "words"), list(sections()))
def test_an_entry_is_refused_where_it_stands(tmp_path: Path, networks: str, section: str, words: str):
    refused_section(tmp_path, networks, section, words)
