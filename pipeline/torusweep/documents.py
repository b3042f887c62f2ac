"""Read a YAML file (a configuration, a job, a cost model) as plain data with the line and column of every value.

ruamel.yaml parses the file, with libyaml if that is installed. Only the necessary part of YAML 1.2 is allowed:
one document of mappings, lists and plain values. Anchors, aliases, tags and dates are refused, and so are
duplicate keys, which other loaders drop silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import ScalarNode

from torusweep.errors import BadInput, nearest, one_line, printable, unreadable

Place = tuple[str | int, ...]  # the way to a value: ("topologies", 2, "k")

LARGEST = 2**19  # bytes of a file; room for 20,000 networks written out one by one
RANGES = "write ranges or requirements instead of single networks"
DEEPEST = 20  # mappings and lists inside each other; the schema needs 5
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str")}


EXPECTED = {  # what was expected, by pydantic's type of error
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "literal_error": "{expected}",
    "greater_than_equal": "a number ≥ {ge}",
    "greater_than": "a number > {gt}",
    "less_than_equal": "a number ≤ {le}",
    "string_too_short": "text",
    "string_too_long": "at most {max_length} characters",
    "too_short": "{min_length} or more",
    "too_long": "at most {max_length}",
}


def spelled(place: Place) -> str:
    """Return the path to a value in the form topologies[2].k."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def expected_of(detail: Mapping[str, Any]) -> str:
    """Return what was expected, in words, from the details of a pydantic error."""
    said = EXPECTED.get(detail["type"], detail["msg"].removeprefix("Input should be "))
    return said.format(**detail.get("ctx", {}))


def shown(value: Any) -> str:
    """Return a short description of a value for messages: "a list", "null", or at most 60 characters of its repr."""
    listed = "a list" if value else "an empty list"
    names = {dict: "a mapping", list: listed, type(None): "null", bool: str(value).lower()}
    return one_line(names.get(type(value), repr(value)), 60)


def _fields(model: Any, place: Place) -> dict[str, Any]:
    """Return the fields of the pydantic model that describes the mapping at `place` in a document, by name."""
    for step in place:
        if step in model.model_fields:
            model = next(
                filter(lambda kind: hasattr(kind, "model_fields"), _kinds(model.model_fields[step].annotation)), model
            )
    return model.model_fields


def _kinds(annotation: Any) -> list[Any]:
    """Return a type annotation, followed by all types nested in it."""
    return [annotation, *(kind for part in get_args(annotation) for kind in _kinds(part))]


class Document(NamedTuple):
    """The contents of a YAML file, with the line and column of every value and key.

    data    mappings, lists, strings, whole numbers, floats, booleans, None
    values  line and column (from 1) at which each value starts
    keys    line and column (from 1) at which each key of a mapping starts
    name    name of the file, for messages
    is_file whether the user has such a file; False if the text was made from a dictionary
    """

    data: Any
    values: dict[Place, tuple[int, int]]
    keys: dict[Place, tuple[int, int]]
    name: str
    is_file: bool = True

    def place_of(self, location: Iterable[str | int]) -> Place:
        """Return the path in the data to an error, without the steps that pydantic adds for members of a union."""
        place: Place = ()
        inside = self.data
        for step in location:
            if step in (inside if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()):
                place, inside = (*place, step), inside[step]
        return place

    def where(self, line: int, column: int) -> str:
        """Return `name:line:column` for messages, or the name alone if the user has no such file."""
        return f"{self.name}:{line}:{column}" if self.is_file else self.name

    def refused(self, place: Place, message: str, *, at_key: bool = False) -> BadInput:
        """Return an error at a value or, if `at_key`, at its key; if nothing is at `place`, at what encloses it."""
        while place not in self.values and place:
            place = place[:-1]
        line, column = (at_key and self.keys.get(place)) or self.values.get(place, (1, 1))
        return BadInput(printable(f"{self.where(line, column)}: {one_line(message, 500)}"))

    def checked(self, model: Any) -> Any:
        """Return the data as an instance of a pydantic model, whose fields must have descriptions.

        Raises BadInput for the first fault, with its place; an unknown key is reported before any other fault.
        """
        try:
            return model.model_validate(self.data)
        except ValueError as error:  # pydantic's, which networks are read without
            details = error.errors(include_url=False)  # type: ignore[attr-defined]
        detail = next((entry for entry in details if entry["type"] == "extra_forbidden"), details[0])
        place, kind = self.place_of(detail["loc"]), detail["type"]
        parent = place[:-1] if kind == "extra_forbidden" else place
        fields = _fields(model, parent if kind in ("extra_forbidden", "missing") else place[:-1])
        key, where = "".join(map(str, detail["loc"][-1:])), f"{spelled(parent)}: " if parent else ""
        if kind == "extra_forbidden":
            message = f"unknown key '{key}'{nearest(key, fields)}; keys here are {', '.join(fields)}"
        elif kind == "missing":
            message = f"missing key '{key}': {fields[key].description}; add it"
        elif kind == "value_error":
            message = str(detail["ctx"]["error"])
        else:
            named = next((step for step in reversed(place) if step in fields), None)
            meaning = f" ({fields[named].description})" if named else ""
            message = f"expected {expected_of(detail)}{meaning}, got {shown(detail['input'])}; change it"
        raise self.refused(place, where + message, at_key=kind == "extra_forbidden")


def read_bytes(path: Path, kind: str, shorter: str) -> bytes:
    """Return the bytes of a file. Raises BadInput if it cannot be read, or has more than `LARGEST` bytes.

    kind      what the file should be, for the message
    shorter   remedy for a file that is too large, for the message
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("no regular file; name a file of text")  # a pipe would be waited for
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error, f"a {kind}") from None
    if len(content) > LARGEST:
        raise BadInput(f"{printable(path)}: expected a {kind} of at most {LARGEST // 1024} KiB, got more; {shorter}")
    return content


def parse(content: bytes, name: str) -> Document:
    """Parse the bytes of a YAML file. Raises BadInput with the message `name:line:column: what is wrong`."""
    text = _decode(content, name)
    found = _UNPRINTABLE.search(text)
    if found:
        before = text[: found.start()]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        what = (
            "a byte-order mark"
            if found.group() == "\ufeff"
            else f"the unprintable character U+{ord(found.group()):04X}"
        )
        raise BadInput(f"{name}:{line}:{column}: expected plain UTF-8 text, got {what}; remove it")
    try:
        try:
            return _Reader(text, name, pure=False).document()
        except YAMLError:  # ruamel's own parser, thirty times slower than libyaml, says better what is wrong
            return _Reader(text, name, pure=True).document()
    except MarkedYAMLError as error:
        raise BadInput(_explained(error, name)) from None
    except (YAMLError, ValueError, RecursionError, AssertionError) as error:  # ruamel asserts that it knows the version
        raise BadInput(f"{name}:1:1: expected YAML, got: {' '.join(str(error).split())[:200]}") from None


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise BadInput(
            f"{name}:{line}:{column}: expected UTF-8 text, got the byte 0x{content[error.start]:02x};"
            " save the file as UTF-8"
        ) from None


def _explained(error: MarkedYAMLError, name: str) -> str:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = " ".join(str(error.problem or error.context or "not YAML").split())
    remedy = ""
    if "mapping values are not allowed" in problem or "<block end>" in problem:
        remedy = "; check the indentation, and put a topology that holds ': ' in quotes"
    elif "expected ',' or ']'" in problem or "expected ',' or '}'" in problem:
        remedy = "; close the bracket, and put a topology that holds brackets in quotes"
    elif "\\t" in problem or "tab" in problem:
        remedy = "; indent with blanks, not tabs"
    return f"{name}:{line}:{column}: {problem}{remedy}"


def is_open(text: str) -> bool:
    """Return whether a text has more opening than closing parentheses."""
    return text.count("(") > text.count(")")


def is_cut(event: Any) -> bool:
    """Return whether YAML split unquoted text, such as torus(k=8, n=2), at a comma inside parentheses."""
    return type(event).__name__ == "ScalarEvent" and bool(event.implicit[0]) and is_open(event.value)


class _Reader:
    """Builder of a document from ruamel's parsing events, which ensures that only plain values are ever constructed."""

    def __init__(self, text: str, name: str, *, pure: bool) -> None:
        yaml = YAML(typ="safe", pure=pure)
        self.events = yaml.parse(text)
        self.resolver, self.constructor = yaml.resolver, yaml.constructor
        self.name = name
        self.values: dict[Place, tuple[int, int]] = {}
        self.keys: dict[Place, tuple[int, int]] = {}

    def document(self) -> Document:
        data, documents = None, 0
        for event in self.events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if event.version not in (None, (1, 2)) or event.tags:
                    self.fail(
                        event,
                        (
                            "expected YAML 1.2 and no directive, got another version, or %TAG;"
                            " remove the line that begins with %"
                        ),
                    )
                if documents > 1:
                    self.fail(event, "expected one document, got a second one after '---'; keep one a file")
                data = self.value(next(self.events), (), 0)
        return Document(data, self.values, self.keys, self.name)

    def fail(self, event: Any, message: str) -> NoReturn:
        mark = event.start_mark
        raise BadInput(f"{self.name}:{mark.line + 1}:{mark.column + 1}: {message}")

    def value(self, event: Any, place: Place, depth: int) -> Any:
        self.plain(event, depth)
        self.values[place] = (event.start_mark.line + 1, event.start_mark.column + 1)
        kind = type(event).__name__
        if kind == "ScalarEvent":
            return self.scalar(event)
        if kind == "SequenceStartEvent":
            return self.items(place, depth, in_brackets=event.flow_style)
        return self.mapping(place, depth, in_braces=event.flow_style)

    def plain(self, event: Any, depth: int) -> None:
        """Raise BadInput if an event has an alias, anchor or tag, or is nested deeper than `DEEPEST`."""
        if type(event).__name__ == "AliasEvent":
            self.fail(event, f"expected a value, got the alias *{printable(event.anchor)[:40]}; write the value out")
        if event.anchor is not None:
            self.fail(
                event,
                f"expected a value, got the anchor &{printable(event.anchor)[:40]}; write the value out where"
                " it is used",
            )
        if event.tag is not None and str(event.tag) != "!":
            self.fail(event, f"expected a plain value, got the tag {printable(str(event.tag))[:60]}; remove it")
        if depth > DEEPEST:
            self.fail(event, f"expected at most {DEEPEST} mappings and lists inside each other")

    def scalar(self, event: Any) -> Any:
        tag = str(self.resolver.resolve(ScalarNode, event.value, event.implicit))
        if tag.endswith((":merge", ":value")):
            tag = "tag:yaml.org,2002:str"
        if tag not in _PLAIN:
            self.fail(
                event,
                (
                    f"expected a number or text, got the {tag.rpartition(':')[2]} {event.value[:40]!r};"
                    " put it in quotes if it is text"
                ),
            )
        if tag.endswith(":str"):
            return event.value
        if len(event.value) > 40:
            self.fail(event, f"expected a number of at most 40 characters, got one of {len(event.value)}")
        return self.constructor.construct_object(ScalarNode(tag, event.value))

    def items(self, place: Place, depth: int, *, in_brackets: bool) -> list[Any]:
        items: list[Any] = []
        while type(event := next(self.events)).__name__ != "SequenceEndEvent":
            item = self.value(event, (*place, len(items)), depth + 1)
            items.append(self.joined(event, item) if in_brackets and is_cut(event) else item)
        return items

    def joined(self, first: Any, text: str) -> str:
        """Return the whole of a text such as torus(k=8, n=2) that YAML split at its comma inside a bracketed list."""
        while is_open(text):
            event = next(self.events)
            if type(event).__name__ != "ScalarEvent" or not event.implicit[0]:
                begun = printable(text)[:60]
                self.fail(first, f"expected ')' after {begun!r}, which ends there; put the whole in quotes")
            text = f"{text}, {event.value}"
        return text

    def mapping(self, place: Place, depth: int, *, in_braces: bool) -> dict[str | int, Any]:
        entries: dict[str | int, Any] = {}
        while type(event := next(self.events)).__name__ != "MappingEndEvent":
            self.plain(event, depth + 1)
            key = self.scalar(event) if type(event).__name__ == "ScalarEvent" else None
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                self.fail(event, "expected a key: a word or a whole number")
            here = (*place, key)
            if key in entries:
                line, column = self.keys[here]
                shown = printable(key)[:60]
                self.fail(event, f"duplicate key '{shown}', first given at {line}:{column}; keep one")
            self.keys[here] = (event.start_mark.line + 1, event.start_mark.column + 1)
            value = next(self.events)
            if in_braces and is_cut(value):
                got = printable(value.value)[:60]
                self.fail(value, f"expected ')' after {got!r}, which ends at the comma; put the whole in quotes")
            entries[key] = self.value(value, here, depth + 1)
        return entries
