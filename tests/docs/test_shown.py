"""What README, tutorial, gallery and answers to questions asked elsewhere show is what the commands print."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from torusweep.cli import torusweep as command_group

from tests.docs.console import Command, agree, commands, failures_of_python, run, write_files

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTS = {name: (DOCS / name).read_text() for name in ("tutorial.md", "gallery.md")}
QUICK_DOCUMENTS = {name: (DOCS / name).read_text() for name in ("asked-elsewhere.md", "../README.md")}
SECTIONS = {
    part.partition("\n")[0]: part
    for text in QUICK_DOCUMENTS.values()
    for part in text.split("\n## ")
    if next(commands(part), None)
}
SHOWN = {command.line: command for text in DOCUMENTS.values() for command in commands(text)}
QUICK = {"--version", "describe", "loads", "deadlock", "layout"}  # milliseconds, and no sweep
TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")


def is_quick(command: Command) -> bool:
    return command.arguments[0] in QUICK and "--svg" not in command.arguments


@pytest.mark.parametrize("line", SHOWN)
def test_a_command_can_be_parsed(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "gallery").mkdir(parents=True)
    name, *arguments = SHOWN[line].arguments
    if name != "--version":
        with click.Context(command_group) as context:
            command = command_group.get_command(context, name)
            assert command is not None
            command.make_context(name, arguments, parent=context)


@pytest.mark.parametrize("line", [line for line, command in SHOWN.items() if is_quick(command)])
def test_a_quick_command_prints_what_is_shown(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in DOCUMENTS.values():
        write_files(text, tmp_path)
    printed = run(SHOWN[line])
    assert agree(printed, SHOWN[line].printed), printed


def test_quick_commands_are_found():
    assert sum(map(is_quick, SHOWN.values())) >= 9


def test_the_way_of_a_row_is_true():
    text = (DOCS / "the-way-of-a-row.md").read_text()
    assert failures_of_python(text, "the-way-of-a-row.md") == 0


def check_commands(text: str, folder: Path) -> None:
    """Run all of a document's commands in a folder, one after another."""
    write_files(text, folder)
    for command in commands(text):
        printed = run(command)
        assert agree(printed, command.printed), (command.line, printed)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_quick_commands_is_true(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_commands(SECTIONS[section], tmp_path)


@pytest.mark.faults
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_true(document, tmp_path, monkeypatch):
    """All of its commands, one after another, and its lines of Python."""
    monkeypatch.chdir(tmp_path)
    gallery = tmp_path / "docs" / "gallery"
    gallery.mkdir(parents=True)
    shutil.copy(DOCS / "gallery" / "gallery.yaml", gallery)
    text = DOCUMENTS[document]
    check_commands(text, tmp_path)
    assert failures_of_python(text, document) == 0
    if document == "gallery.md":
        drawn = sorted(path.name for path in gallery.glob("*.svg"))
        assert drawn == sorted(path.name for path in (DOCS / "gallery").glob("*.svg"))
        for name in drawn:  # the places of words depend on fonts; the words do not
            assert TEXT.findall((gallery / name).read_text()) == TEXT.findall((DOCS / "gallery" / name).read_text()), (
                name
            )


def test_every_picture_is_drawn_by_a_command_and_shown():
    text = DOCUMENTS["gallery.md"]
    pictures = {f"gallery/{path.name}" for path in (DOCS / "gallery").glob("*.svg")}
    assert set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)) == pictures
    drawn = {
        word.removeprefix("docs/")
        for command in commands(text)
        for word in shlex.split(command.line)
        if word.endswith(".svg")
    }
    assert drawn == pictures
    assert text.count("\n## ") == 10


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("nodes  8\n", "nodes 8\n", True),
        ("nodes  9\n", "nodes 8\n", False),
        ("about 12 s on 2 workers\n", "about 3 s on 64 workers\n", True),
        ("first\nsecond\nlast\n", "first\n…\nlast\n", True),
        ("first\nsecond\nlast\n", "first\n…\nmiddle\n", False),
        ("first\nsecond\n", "first\n", False),
        ("a [1] b\n", "a [1] b\n…\n", False),
    ],
)
def test_printed_and_shown_are_compared(printed, shown, same):
    assert agree(printed, shown) is same


def test_commands_and_python_of_a_document_are_found(capsys):
    text = "```console\n$ torusweep plot a \\\n    b\nc\n$ torusweep --version\n```\n\n```pycon\n>>> 1 + 1\n3\n```\n"
    assert [(command.arguments, command.printed) for command in commands(text)] == [
        (["plot", "a", "b"], "c\n"),
        (["--version"], ""),
    ]
    assert failures_of_python(text, "text") == 1
