"""Split text files into lines and fields, with quotes and comments, for all readers of text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from torusweep.errors import BadInput, Refused, one_line, printable
from torusweep.networks.topology import default_memory

SHOWN = 60  # characters of a wrong text that a message shows
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# a quoted field, which begins where a field can begin; a sign that begins a comment; a sign within a field
SIGN = re.compile(
    r"""(?<![^\s,;({\[:=])(?:"(?:[^"]|"")*"|'[^']*'(?![^\s,;)}\]:]))|(?P<comment>(?<!\S)[#%])|(?P<inside>[#%])"""
)
# data in braces at the end of a line, where a field can begin, after fields in quotes
BRACES = re.compile(r"""(?<![^\s,])(?:"(?:[^"]|"")*"|'[^']*'(?![^\s,])|\([^()]*\)(?![^\s,])|(?P<braces>\{))""")
# a name in quotes, a tuple of Python, or a word
WORD = re.compile(r"""(?<![^\s,])(?:"([^"]*)"|'([^']*)'|(\([^()]*\)))(?![^\s,])|([^\s,]+)""")


def text_lines(path: Path, inside: list[str] | None = None) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of every line that has text before its comment.

    The signs # and % begin a comment at the beginning of a line or after a blank, unless in quotes. Fields with such a
    sign inside are appended to `inside`, for `notes_on_signs`. Raises BadInput for comments with // or ;.
    """
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if b"\0" in raw:
                fail(path, number, "expected text, got a NUL byte: this is a binary file")
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                got = f"byte 0x{raw[error.start]:02x} at position {error.start + 1}"
                fail(path, number, f"expected UTF-8 text, got {got}")
            if "#" in text or "%" in text:
                text = without_comment(text, inside)
            begun = text.lstrip()
            if begun[:1] in ("/", ";") and (sign := begun.split(maxsplit=1)[0][:2]) in ("//", ";", ";;"):
                what = "comments that begin with # or %"
                fail(path, number, f"expected {what}, got one that begins with {sign}; change them")
            if begun and begun.strip(", \t\r\n"):
                yield number, text


def without_comment(text: str, inside: list[str] | None = None) -> str:
    """Return a line up to its comment. Fields that contain a comment sign are appended to `inside`."""
    for found in SIGN.finditer(text):
        if found.lastgroup == "comment":
            return text[: found.start()]
        if found.lastgroup == "inside" and inside is not None:
            before = re.split(r"[\s,]", text[: found.start()])[-1]
            inside.append(before + re.split(r"[\s,]", text[found.start() :], maxsplit=1)[0])
    return text


def notes_on_signs(inside: list[str]) -> list[str]:
    """Return a note on fields that contain a comment sign; no note if there are no such fields."""
    if not inside:
        return []
    some = one_line(printable(inside[0]), SHOWN)
    return [f"# and % within a field read as part of it, as in {some}: a comment begins after a blank"]


def words_of(text: str) -> tuple[list[str], str]:
    """Split a line. Return (words between blanks or commas, without quotes; the data in braces at the line's end)."""
    data = ""
    if "{" in text:
        brace = next((found.start() for found in BRACES.finditer(text) if found.lastgroup), len(text))
        text, data = text[:brace], text[brace:].strip()
    if not any(mark in text for mark in "\"'("):
        return text.replace(",", " ").split(), data
    return [next(part for part in found if part) for found in WORD.findall(text) if any(found)], data


def fields_of(text: str, delimiter: str | None) -> list[str]:
    """Split a table's line into fields without quotes. `delimiter` is a comma or a tab; None for blanks."""
    if delimiter is None:
        return words_of(text)[0] if '"' in text or "'" in text else text.split()
    try:
        fields = next(csv.reader([text.strip("\r\n ")], skipinitialspace=True, delimiter=delimiter))
    except csv.Error:  # of a carriage return within the line, or a field of more than 131,072 characters
        fields = text.split(delimiter)
    return [field.strip() for field in fields]


def delimiter_of(text: str) -> str | None:
    """Return the delimiter of a line's fields: a comma, a tab, or None for blanks."""
    return next((mark for mark in (",", "\t") if mark in text), None)


def check_quotes(path: Path, line: int, text: str) -> None:
    """Refuse a line with an opening quote but no closing quote: fields that span several lines are not read."""
    if text.count('"') % 2 and re.search(r'(?<![^\s,])"', text):
        refuse(path, line, "a closing quote on the line", text.strip())


def fail(path: Path, line: int, reason: str) -> NoReturn:
    """Raise BadInput for a line of a file, in one line with the file's name and the line's number."""
    raise BadInput(f"{printable(path)}:{line}: {reason}")


def refuse(path: Path, line: int, expected: str, got: str, remedy: str = "") -> NoReturn:
    """Raise BadInput with the text `got`, which is a line or a part of it."""
    fail(path, line, f"expected {expected}, got '{one_line(printable(got), SHOWN)}'{remedy}")


def check_nodes(path: Path, nodes: int, node_bytes: int) -> None:
    """Raise Refused for more nodes than memory can hold: a few digits can stand for billions of nodes."""
    if nodes > default_memory() // node_bytes:
        raise Refused(f"{printable(path)}: {nodes:,} nodes are more than this machine's memory can hold")
