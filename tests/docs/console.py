"""What documents show of a console: blocks ```console of `$ torusweep …` with what it printed.

`python -m tests.docs.console docs/gallery.md` runs a document's commands in the current folder, and writes what they
print into it; pictures that they draw are drawn again. The tests run them in an empty folder and compare.

A block whose first line is `# NAME`, where NAME has a suffix, is a file. In a pycon block, lines of >>> are run by
doctest. In what a command printed, a line … stands for any number of lines. Durations, workers, memory and the version
are not compared.
"""

from __future__ import annotations

import argparse
import doctest
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from tests.faults.command_line import torusweep

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?P<line>(?:.*\\\n)*.*)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.MULTILINE)
FILE = re.compile(r"^# (?P<name>[\w-]+\.\w+)\n")
VARIES = re.compile(r"[\d.,]+ (?:µs|ms|s|min|h)\b|on \d+ workers?|\d[\d.]* MiB|(?<=^torusweep )\d+\.\d+\.\d+")
ANY = "…"


class Command(NamedTuple):
    """A command line with what the document says that it printed; `span` is where that stands in the document."""

    line: str
    printed: str
    span: tuple[int, int]

    @property
    def arguments(self) -> list[str]:
        """What follows `torusweep`."""
        name, *arguments = shlex.split(self.line.replace("\\\n", " "))
        assert name == "torusweep", self.line
        return arguments


def commands(text: str) -> Iterator[Command]:
    """The commands of a document, in its order."""
    for block in BLOCK.finditer(text):
        if block["language"] == "console":
            for found in COMMAND.finditer(block["text"]):
                start = block.start("text")
                yield Command(found["line"], found["printed"], (start + found.start("printed"), start + found.end()))


def write_files(text: str, folder: Path) -> list[str]:
    """Write the files that the document shows; return their names."""
    names = []
    for block in BLOCK.finditer(text):
        named = FILE.match(block["text"])
        if named:
            (folder / named["name"]).write_text(block["text"])
            names.append(named["name"])
    return names


def failures_of_python(text: str, name: str) -> int:
    """How many lines of the document's pycon blocks answer something else."""
    shown = "\n".join(block["text"] for block in BLOCK.finditer(text) if block["language"] == "pycon")
    test = doctest.DocTestParser().get_doctest(shown, {}, name, None, 0)
    assert test.examples or not shown
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed


def run(command: Command) -> str:
    """What the command prints. It must succeed."""
    said = torusweep(*command.arguments)
    assert said.status == 0, (command.line, said.err)
    return said.out


def agree(printed: str, shown: str) -> bool:
    """Whether a command printed what a document shows."""
    actual, expected = ([_plain(line) for line in text.strip().split("\n")] for text in (printed, shown))
    if ANY not in expected:
        return actual == expected
    pattern = "\n".join("*" if line == ANY else re.sub(r"([*?[])", r"[\1]", line) for line in expected)
    return fnmatchcase("\n".join(actual), pattern)


def _plain(line: str) -> str:
    return " ".join(VARIES.sub("#", line).split())


def rewritten(text: str) -> str:
    """The document with what its commands print now."""
    for command in reversed([(command, run(command)) for command in commands(text)]):
        (shown, printed) = command
        if not agree(printed, shown.printed):
            lines = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").split("\n")) if printed.strip() else ""
            text = text[: shown.span[0]] + lines + text[shown.span[1] :]
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("document", type=Path)
    document = parser.parse_args().document
    write_files(document.read_text(), Path())
    document.write_text(rewritten(document.read_text()))
