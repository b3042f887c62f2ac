"""docs/interchange.md: its commands are run, its files begin as it says, its Python runs, its table has all formats."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from torusweep.cli import COMMANDS
from torusweep.interchange import FORMATS

from tests.docs.examples import examples
from tests.faults import command_line

DOCUMENT = (Path(__file__).parents[2] / "docs" / "interchange.md").read_text()
BEGINNINGS = re.findall(r"^`([^`]+)` begins:\n\n```\n(.*?)```", DOCUMENT, re.MULTILINE | re.DOTALL)
SNIPPETS = re.findall(r"^```python\n(.*?)```", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every command of the document was run, one after the other."""
    place = tmp_path_factory.mktemp("interchange")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for example in examples(DOCUMENT):
            said = command_line.torusweep(*shlex.split(example)[1:])
            assert said.status == 0, (example, said.err)
    return place


def test_files_begin_as_the_document_says(folder):
    assert len(BEGINNINGS) == 6
    for name, begins in BEGINNINGS:
        assert (folder / name).read_text().startswith(begins), name


def test_python_of_the_document(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert len(SNIPPETS) == 3
    for snippet in SNIPPETS:
        exec(snippet, {})


def test_every_format_is_described():
    assert set(re.findall(r"^\| `([^`]+)` \|", DOCUMENT, re.MULTILINE)) >= set(FORMATS)


def test_every_format_is_in_the_help():
    assert "export" in COMMANDS
    text = command_line.torusweep("export", "--help").out
    listed = re.findall(r"^    ([a-z-]+) {2,}\S", text[: text.index("Examples:")], re.MULTILINE)
    assert set(listed) >= set(FORMATS)
