"""Sphinx extension: docstrings that are plain text, as a reader of the code likes them, as reStructuredText.

A paragraph whose lines are names, two or more spaces, and what the name means is a list of arguments:

    ports    int32[N, P]   neighbour through each port,
                           −1 = no link
    returns  int64[N]      distances in hops

becomes a definition list. `code` in single quotes is code. Everything else means itself: *, _ and | are no markup.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

ENTRY = re.compile(r"^(?P<name>\S+(?: \S+){0,3}?) {2,}(?P<meaning>\S.*)$")
TYPE = re.compile(r"^(?P<type>\S.*?) {2,}(?P<meaning>\S.*)$")
CODE = re.compile(r"`+([^`]+)`+")
MARKUP = re.compile(r"([\\*_|`])")
FIELD_NUMBER = re.compile(r"^Alias for field number \d+$")


def restructured(docstring: str) -> list[str]:
    """The lines of a docstring in reStructuredText.

    docstring  plain text, its indentation removed
    returns    lines
    """
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", docstring.strip("\n")):
        lines += [*_paragraph(paragraph.split("\n")), ""]
    return lines


def _paragraph(lines: list[str]) -> list[str]:
    if lines[0].startswith(">>>"):
        return lines
    if lines[0].startswith("- "):
        return [_escaped(line) for line in lines]
    if all(line.startswith(" ") for line in lines):
        return _block(lines)
    if _is_list(lines):
        return [line for entry in _joined(lines) for line in _definition(entry)]
    prose = next((index for index, line in enumerate(lines) if line.startswith(" ")), len(lines))
    if prose < len(lines) and all(line.startswith(" ") for line in lines[prose:]):
        return [*map(_escaped, lines[:prose]), "", *_block(lines[prose:])]
    return [_escaped(line.strip()) for line in lines]


def _block(lines: list[str]) -> list[str]:
    """Indented lines: a list of arguments, or else as they stand, such as a formula or a drawing."""
    inner = textwrap.dedent("\n".join(lines)).split("\n")
    if _is_list(inner):
        return [line for entry in _joined(inner) for line in _definition(entry)]
    return ["::", "", *(f"    {line}" for line in inner)]


def _is_list(lines: list[str]) -> bool:
    """Whether each line at the margin is a name with its meaning."""
    return all(ENTRY.match(line) for line in lines if not line.startswith(" "))


def _joined(lines: list[str]) -> list[str]:
    """Entries: each line that begins at the margin, with the indented lines that go on with it."""
    entries: list[str] = []
    for line in lines:
        if line.startswith(" ") and entries:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    return entries


def _definition(entry: str) -> Iterator[str]:
    name, meaning = ENTRY.match(entry).group("name", "meaning")
    typed = TYPE.match(meaning)
    if typed:
        yield f"``{name}`` : ``{typed['type'].replace('`', '')}``"
        yield f"    {_escaped(typed['meaning'])}"
    else:
        yield f"``{name}``"
        yield f"    {_escaped(meaning)}"


def _escaped(text: str) -> str:
    """Text without markup but for code."""
    parts = CODE.split(text)  # text and code alternate
    return "".join(_code(part) if index % 2 else MARKUP.sub(r"\\\1", part) for index, part in enumerate(parts))


def _code(text: str) -> str:
    return f"\\ ``{text.strip()}``\\ "


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Handler of autodoc-process-docstring: rewrites `lines` in place."""
    lines[:] = restructured("\n".join(lines))


def skip(app: Any, what: str, name: str, thing: Any, skipped: bool, options: Any) -> bool | None:
    """Handler of autodoc-skip-member: a field of a named tuple says only its number; its class describes it."""
    return True if FIELD_NUMBER.match(getattr(thing, "__doc__", None) or "") else None


def set_literally(app: Any, context: Any, lines: list[str]) -> None:
    """Handler of sphinx-click-process-description: examples and lists of names as they stand in the help.

    sphinx-click makes line blocks of them, whose quotes and columns would be lost.
    """
    literal: list[str] = []
    in_block = False
    for line in lines:
        text = line.removeprefix("| ") if line.startswith("| ") else ""
        if not line.startswith("|"):
            literal += ["", line] if in_block else [line]
            in_block = False
        elif text and not text.startswith(" "):
            literal += ["", f"{_escaped(text.removesuffix(':'))}::", ""]
            in_block = True
        else:
            literal += [f"  {text}"] if in_block else ["::", "", f"  {text}"]
            in_block = True
    lines[:] = literal


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("sphinx-click-process-description", set_literally)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
