"""The commands in help texts, README and documents can be parsed; the files that documents name exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from torusweep.cli import COMMANDS, torusweep

from tests.docs.examples import examples

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def help_of(name: str) -> str:
    with click.Context(torusweep) as context:
        return torusweep.get_command(context, name).help or ""


EXAMPLES = {example: name for name in COMMANDS for example in examples(help_of(name))}
EXAMPLES |= {example: path.name for path in DOCUMENTS for example in examples(path.read_text())}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_can_be_parsed(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # completions are written where the command runs
    _, name, *arguments = shlex.split(example)
    with click.Context(torusweep) as context:
        command = torusweep.get_command(context, name)
        assert command is not None
        if "--help" not in arguments:
            command.make_context(name, arguments, parent=context)


def test_examples_are_found():
    assert len(EXAMPLES) > 70
    assert {example.split()[1] for example in EXAMPLES} == set(COMMANDS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_linked_files_exist(document):
    assert [link for link in LINK.findall(document.read_text()) if not (document.parent / link).exists()] == []
