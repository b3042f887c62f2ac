"""Parse and format spellings of networks, such as `torus(k=8, n=3)`.

    spelling = name "(" [argument {"," argument}] ")"
    argument = key "=" value | spelling | file   (only the first may be a spelling, or a file in its place)
    value    = integer | decimal | "true" | "false" | word | string
             | "[" values "]" | "{" integer ":" value … "}" | spelling

A file is a path, quoted or with a suffix or folders: topology.conf stands for graph(path="topology.conf").
A word is one of the named values of a parameter, as in `tie=split`; all other text is a quoted string.

Spellings are parsed as data and never evaluated. `str(parse(text))` is the same network in the
canonical layout: one blank after commas, double quotes, no other blanks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Union

from torusweep.errors import BadInput, located

Value = Union[int, float, bool, str, "list[Value]", "dict[int, Value]", "Spelling"]

MAX_CHARACTERS = 20_000  # a 16×16 lattice matrix of 18-digit entries has about 5,000
MAX_DEPTH = 8  # nesting of networks, lists and maps together
_VALUES = 'a number, a word, true, false, a "string", a [list] or a {map}'
_TOKEN = re.compile(
    r"""\s*(?:
        ([A-Za-z_][A-Za-z0-9_]*)
      | ([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
      | ("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | ([()\[\]{},:=])
    )""",
    re.VERBOSE,
)
_FILE = re.compile(
    r"""\s*((?:[^\s(),=:{}\[\]"']*/)?[^\s(),=:{}\[\]"'/]*\.[A-Za-z]\w*|[^\s(),=:{}\[\]"']*/[^\s(),=:{}\[\]"']*)(?=\s*[,)])"""
)
_KINDS = ("", "name", "number", "string", "mark")  # kinds of tokens, by the number of the group in _TOKEN


class Word(str):
    """A text that `format_value` writes without quotes."""

    __slots__ = ()


@dataclass(frozen=True)
class Spelling:
    """A parsed spelling: the name of the family, its arguments, and the network that it modifies, if any."""

    name: str
    arguments: dict[str, Value]
    inner: Spelling | None = None

    def __str__(self) -> str:
        parts = [] if self.inner is None else [str(self.inner)]
        parts += [f"{key}={format_value(value)}" for key, value in self.arguments.items()]
        return f"{self.name}({', '.join(parts)})"

    def __hash__(self) -> int:
        return hash(str(self))

    def with_path(self, names: Sequence[str]) -> Spelling:
        """Turn a file that stands for a network into the argument `path`, if `names` has such a parameter."""
        file = self.inner is not None and self.inner.name == "graph" and list(self.inner.arguments) == ["path"]
        if self.inner is None or not file or "path" not in names or "path" in self.arguments:
            return self
        return Spelling(self.name, {**self.inner.arguments, **self.arguments})


def format_value(value: Value) -> str:
    """Format a value in the canonical layout."""
    if type(value) is int:  # the most frequent type
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value + 0.0).removesuffix(".0")  # the shortest text that reads back as the same number; −0.0 is 0
    if isinstance(value, str) and not isinstance(value, Word):
        # control and invisible characters are escaped
        return "".join(
            character if character.isprintable() else json.dumps(character)[1:-1]
            for character in json.dumps(value, ensure_ascii=False)
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(format_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {format_value(item)}" for key, item in value.items()) + "}"
    return str(value)


def file_of(text: str, names: Container[str]) -> str | None:
    """Return the text if it is a path, which names a file, or has a suffix or folders; None if it is a spelling.

    names   names in the table; a text that is one of these is a spelling, even if a file has the same name
    """
    path = text.strip()
    if path.lower().replace("-", "_") in names or path.endswith(")"):
        return None
    if "(" not in path and re.search(r"^\.|\.[A-Za-z]\w*$|/", path):
        return path
    try:
        return path if located(path).is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None


def parse(text: str, *, remedy: str = "networks are written like torus(k=8, n=3)") -> Spelling:
    """Parse a spelling. Raises BadInput with the position of the first error and `remedy` at its end."""
    if not isinstance(text, str):
        raise BadInput(f'expected a topology such as "torus(k=8, n=3)", got {text!r}')
    if len(text) > MAX_CHARACTERS:
        raise BadInput(
            f"topology of {len(text)} characters; at most {MAX_CHARACTERS} are read:"
            ' put large networks in a file, graph(path="…")'
        )
    reader = _Reader(text, remedy)
    spelling = reader.spelling(0)
    if reader.kind != "end":
        reader.fail("the end")
    return spelling


def _unescape(escape: re.Match[str]) -> str:
    """Return the character that a JSON escape sequence stands for."""
    code = escape.group(1)
    return (
        chr(int(code[1:], 16))
        if len(code) > 1
        else {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}.get(code, code)
    )


class _Reader:
    def __init__(self, text: str, remedy: str) -> None:
        self.text = text
        self.remedy = remedy
        self.position = 0
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            rest = self.text[self.position :]
            self.start = self.position + len(rest) - len(rest.lstrip())
            self.kind, self.token = ("end", "") if not rest.strip() else ("unknown", self.text[self.start])
            return
        group: int = found.lastindex  # type: ignore[assignment]  # one of the four groups matched
        self.kind = _KINDS[group]
        self.token = found[group]
        self.start, self.position = found.span(group)

    def fail(self, expected: str) -> None:
        got = "nothing more" if self.kind == "end" else repr(self.token)
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "…"
        raise BadInput(f"{shown!r}, character {self.start + 1}: expected {expected}, got {got}; {self.remedy}")

    def take(self, mark: str) -> None:
        if not self.at(mark):
            self.fail(f"'{mark}'")
        self.advance()

    def next_or_end(self, end: str) -> None:
        """Skip the comma before the next item, unless the list ends here."""
        if self.at(","):
            self.advance()
        elif not self.at(end):
            self.fail(f"',' or '{end}'")

    def at(self, mark: str) -> bool:
        return self.kind == "mark" and self.token == mark

    def spelling(self, depth: int) -> Spelling:
        if self.kind != "name":
            self.fail("a topology's name")
        name = self.token
        self.advance()
        return self.arguments(name, depth)

    def arguments(self, name: str, depth: int) -> Spelling:
        if depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of nesting")
        self.take("(")
        inner: Spelling | None = None
        arguments: dict[str, Value] = {}
        if path := self.file():
            inner = Spelling("graph", {"path": path})
            self.next_or_end(")")
        while not self.at(")"):
            if self.kind != "name":
                self.fail("a parameter's name")
            key, start = self.token, self.start
            self.advance()
            if self.at("(") and inner is None and not arguments:
                inner = self.arguments(key, depth + 1)
            else:
                self.take("=")
                if key in arguments:
                    self.kind, self.token, self.start = "name", key, start
                    self.fail(f"each parameter once ('{key}' is given twice)")
                arguments[key] = self.value(depth + 1)
            self.next_or_end(")")
        self.take(")")
        return Spelling(name, arguments, inner)

    def file(self) -> str | None:
        """Read and return the path of a file; None if no path begins here."""
        if self.kind == "string":
            return None if file_of(self.token[1:-1], ()) is None else str(self.value(0))
        found = _FILE.match(self.text, self.start)
        if found is None:
            return None
        self.position = found.end()
        self.advance()
        return found[1]

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of nesting")
        if self.kind == "number":
            return self.integer() if self.token.lstrip("+-").isdigit() else self.decimal()
        if self.kind == "string":
            body = self.token[1:-1]
            text = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescape, body)
            # as in JSON, two escapes (a surrogate pair) give one character beyond U+FFFF
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            self.advance()
            return text
        if self.kind == "name":
            name, start = self.token, self.start
            self.advance()
            if self.at("("):
                return self.arguments(name, depth + 1)
            if not (self.kind == "end" or (self.kind == "mark" and self.token in ",)]}")):
                # unquoted text, such as a path
                self.kind, self.token, self.start = "name", name, start
                self.fail('a value, with text in "quotes"')
            return name == "true" if name in ("true", "false") else Word(name)
        if self.at("["):
            return self.items(depth)
        if self.at("{"):
            return self.map(depth)
        self.fail(f"a value: {_VALUES}")
        raise AssertionError

    def decimal(self) -> float:
        number = float(self.token)
        if not math.isfinite(number) or len(self.token) > 40:
            self.fail("a number of at most 40 characters, below 1.8e308")
        self.advance()
        return number

    def integer(self) -> int:
        digits = self.token.lstrip("+-")
        if not digits.isdigit() or len(digits) > 18:
            self.fail("a whole number of at most 18 digits")
        number = int(self.token)
        self.advance()
        return number

    def items(self, depth: int) -> list[Value]:
        self.take("[")
        items: list[Value] = []
        while not self.at("]"):
            items.append(self.value(depth + 1))
            self.next_or_end("]")
        self.take("]")
        return items

    def map(self, depth: int) -> dict[int, Value]:
        self.take("{")
        entries: dict[int, Value] = {}
        while not self.at("}"):
            if self.kind != "number":
                self.fail("a dimension's number")
            number = (self.kind, self.token, self.start)
            key = self.integer()
            if key in entries:
                self.kind, self.token, self.start = number
                self.fail("each dimension once")
            self.take(":")
            entries[key] = self.value(depth + 1)
            self.next_or_end("}")
        self.take("}")
        return entries
