"""Describe and check the parameters of functions that a spelling calls: their types, ranges and meanings.

`resolve` finds the function of a spelling in a table of traffic patterns, routings or virtual-channel rules.

The spelling follows the grammar of networks, as in `hot_spot(node=3, percent=20)`. The parentheses
may be omitted if there are no arguments, and names may contain hyphens or underscores.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import log10
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from torusweep.errors import BadInput, as_known, nearest
from torusweep.networks.spelling import MAX_CHARACTERS, Spelling, Value, Word, file_of, format_value, parse
from torusweep.networks.topology import Meaning, Plan, Whole

MOST_WHOLE = 2**64 - 1  # largest seed; sizes are limited by memory


class FamilyParameter(typing.NamedTuple):
    """One parameter of a family, as the family's signature declares it."""

    name: str
    kind: Any  # a type: int, float, bool, str, Literal, list, dict, or Plan for a network that the family modifies
    whole: Whole | None
    required: bool
    default: Any
    meaning: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that the parameter accepts, if its type lists them, with the default first."""
        return tuple(sorted(_choices(self.kind), key=lambda choice: choice != self.default))


@cache
def signature_of(function: Callable[..., Any]) -> tuple[FamilyParameter, ...]:
    """Return the parameters of a function, in order, with the ranges and meanings that its annotations give."""
    hints = typing.get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        kind, whole, meaning = hints[parameter.name], None, ""
        # the annotation is the type itself or, for an optional parameter, a member of a union
        annotated = next((part for part in (kind, *get_args(kind)) if get_origin(part) is Annotated), None)
        if annotated is not None and get_origin(kind) is not list:
            kind, *notes = get_args(annotated)
            whole = next((note for note in notes if isinstance(note, Whole)), None)
            meaning = next((note.meaning for note in notes if isinstance(note, Whole | Meaning)), "")
        required = parameter.default is inspect.Parameter.empty
        found.append(
            FamilyParameter(parameter.name, kind, whole, required, None if required else parameter.default, meaning)
        )
    return tuple(found)


def check_value(call: Spelling, parameter: FamilyParameter, value: Value) -> Value:
    """Return the value in the form that the function takes; one of several named choices becomes a `Word`.

    Raises BadInput for a value of the wrong type or out of range, and for a whole number of more than 64 bits.
    """
    check_size_of_number(f"{call.name}: {parameter.name}", value)
    choices = _choices(parameter.kind)
    if isinstance(value, Word):
        value = Word(as_known(value, choices))
    if not _fits(parameter.kind, value):
        hint = nearest(str(value), choices) if choices and isinstance(value, str) else ""
        if isinstance(value, Word) and _fits(parameter.kind, str(value)):
            hint = f'; put text in quotes: {parameter.name}="{value}"'
        got = repr(value) if isinstance(value, float) else format_value(value)
        raise BadInput(f"{call}: {parameter.name}: expected {_describe(parameter.kind)}, got {got}{hint}")
    whole = parameter.whole
    if whole is not None and isinstance(value, int | float) and not whole.contains(value):
        raise BadInput(f"{call}: {parameter.name}={format_value(value)}: expected {whole.range()} ({whole.meaning})")
    if isinstance(value, str) and value in choices:
        return Word(value)
    return value + 0.0 if isinstance(value, float) else value  # −0.0 is 0


def check_size_of_number(name: str, value: Any, most: int = MOST_WHOLE) -> None:
    """Raise BadInput for a whole number above `most`, even within a list or map; its message only counts the digits."""
    if isinstance(value, int | list | dict) and (large := _largest(value)) > most:
        digits = int(large.bit_length() * log10(2)) + 1
        raise BadInput(f"{name}: expected numbers below 2⁶⁴, got one of {digits:,} digits")


def _largest(value: Any) -> int:
    """Return the largest absolute value of the whole numbers in a value; 0 if it has none."""
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, list | dict):
        return max(map(_largest, value.values() if isinstance(value, dict) else value), default=0)
    return 0


def completions(table: Mapping[str, Callable[..., Any]], begun: str, *, skip: int = 0) -> list[tuple[str, str]]:
    """Return (text, meaning) of each continuation of an unfinished spelling such as "torus(k=8,", for shell completion.

    The texts have no blanks, because a shell would split them there.

    table   functions by name
    skip    number of leading parameters that are not written, such as the topology of a routing
    """
    begun = re.sub(r"\s", "", begun)
    name, place = _open_call(begun)
    if name is None:
        return [(called, "") for called in _calls(table, begun, skip)]
    function = table.get(name.replace("-", "_").lower())
    taken = signature_of(function)[skip:] if function is not None else ()
    *given, last = begun[place:].split(",")
    before, (key, equals, value) = begun.removesuffix(last), last.partition("=")
    if equals:
        choices = [choice for parameter in taken if parameter.name == key for choice in _choices(parameter.kind)]
        return [(f"{before}{key}={choice}", "") for choice in choices if choice.startswith(value)]
    if taken and taken[0].kind is Plan and not given:
        return [(f"{before}{called}", "") for called in _calls(table, last, skip)]
    written = {argument.partition("=")[0] for argument in given}
    return [
        (f"{before}{parameter.name}=", parameter.meaning)
        for parameter in taken
        if parameter.name not in written and parameter.name.startswith(key) and parameter.kind is not Plan
    ]


def _calls(table: Mapping[str, Callable[..., Any]], start: str, skip: int) -> list[str]:
    """Return the names in a table that begin with `start`, with a parenthesis if parameters are needed or skip is 0."""
    names = [name for name in table if name.startswith(start.replace("-", "_"))]
    return [f"{n}(" if skip == 0 or any(p.required for p in signature_of(table[n])[skip:]) else n for n in names]


def _open_call(begun: str) -> tuple[str | None, int]:
    """Return (name, place after its parenthesis) of the innermost open call; (None, 0) if no call is open."""
    opened: list[int] = []
    for place, character in enumerate(begun):
        if character == "(":
            opened.append(place)
        elif character == ")" and opened:
            opened.pop()
    if not opened:
        return None, 0
    return re.split(r"[(,\[{:]", begun[: opened[-1]])[-1], opened[-1] + 1


@cache
def _choices(kind: Any) -> tuple[str, ...]:
    """Return the words of a Literal type, or of a union that contains one; () for other types."""
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        return tuple(word for option in get_args(kind) for word in _choices(option))
    return get_args(kind) if get_origin(kind) is Literal else ()


def _fits(kind: Any, value: Value) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    origin = get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(option, value) for option in get_args(kind) if option is not type(None))
    if origin is Annotated:
        return _fits(get_args(kind)[0], value)
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if origin in (list, dict):
        items: Any = value.values() if isinstance(value, dict) else value
        return isinstance(value, origin) and all(_fits(get_args(kind)[-1], item) for item in items)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and not isinstance(value, Word)  # unquoted text is not a string


def _describe(kind: Any) -> str:
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        return " or ".join(_describe(option) for option in get_args(kind) if option is not type(None))
    origin = get_origin(kind)
    if origin is Annotated:
        return _describe(get_args(kind)[0])
    if origin is Literal:
        *others, last = get_args(kind)
        return f"{', '.join(others)} or {last}" if others else last
    if origin is list:
        item = get_args(kind)[0]
        if item == list[int | str]:
            return 'a list of pairs of nodes such as [[1, 2], [5, 6]], names in "quotes"'
        if item is bool:
            return "a list of true and false"
        if item in (float | str, int | str):
            return f'a list of {"whole " if item == int | str else ""}numbers or "strings"'
        return f"a list of {_describe(item)}s".replace("a whole number", "whole number").replace(
            "a list of a list", "a list of list"
        )
    if origin is dict:
        return "a map such as {1: {0: 8}}"
    return {int: "a whole number", float: "a number", bool: "true or false", str: 'a "string"'}.get(kind, str(kind))


Named = TypeVar("Named", bound=Callable[..., object])


def resolve(
    spelling: str, table: Mapping[str, Named], *, kind: str, example: str, others: Mapping[str, str] | None = None
) -> tuple[str, Named, dict[str, Value]]:
    """Return (canonical spelling, function, {parameter: value} of the given arguments).

    table    functions by name; the first parameter is the topology, the others are annotated like those of a family
    kind     what the functions are, for error messages: "traffic"
    example  a valid spelling, for error messages: "uniform or hot_spot(node=3, percent=20)"
    others   other names of functions, in lower case → name in the table: {"dor": "dimension_order"}

    The canonical spelling has underscores in the name, arguments in the order of the signature, and no default values.
    Raises BadInput if the name or a parameter is unknown, or a value is missing, of the wrong type or out of range.
    """
    call = _call(spelling, table, kind, example, others or {})
    if call.name not in table:
        raise BadInput(f"unknown {kind} '{call.name}'{nearest(call.name, table)}; there are {', '.join(table)}")
    known = signature_of(table[call.name])[1:]
    names = [parameter.name for parameter in known]
    takes = f"{call.name} takes {', '.join(names) or 'no parameters'}"
    call = call.with_path(names)
    if call.inner is not None:
        raise BadInput(f"{call}: expected only name=value arguments, got '{call.inner}'; {takes}")
    check_names(call, names, takes)
    values: dict[str, Value] = {}
    for parameter in known:
        if parameter.name in call.arguments:
            values[parameter.name] = check_value(call, parameter, call.arguments[parameter.name])
        elif parameter.required:
            raise BadInput(f"{call}: parameter '{parameter.name}' is missing; {takes}")
    shown = [
        f"{p.name}={format_value(values[p.name])}" for p in known if p.name in values and values[p.name] != p.default
    ]
    return f"{call.name}({', '.join(shown)})" if shown else call.name, table[call.name], values


def _call(
    spelling: str, table: Mapping[str, Callable[..., object]], kind: str, example: str, others: Mapping[str, str]
) -> Spelling:
    """Parse a spelling as a call; a bare path becomes a call of the file reader. `others`: alias → function name."""
    reader = next((name for name in table if any(p.name == "path" for p in signature_of(table[name])[1:])), "")
    path = file_of(spelling, {*table, *others}) if reader else None
    call = _parse(spelling, kind, example) if path is None else Spelling(reader, {"path": path})
    name = others.get(call.name.lower(), call.name.lower())
    return replace(call, name=name) if call.name not in table and name in table else call


def check_names(call: Spelling, names: list[str], takes: str) -> None:
    """Raise BadInput for an argument whose name is not in `names`; `takes` says in words which ones are accepted."""
    for key in call.arguments:
        if key not in names:
            raise BadInput(f"{call}: unknown parameter '{key}'{nearest(key, names)}; {takes}")


def _parse(spelling: str, kind: str, example: str) -> Spelling:
    prefix, opening, rest = spelling.strip().partition("(")
    name = prefix.rstrip().replace("-", "_")
    if not name.isidentifier():
        raise BadInput(f"expected a {kind} such as {example}, got {spelling[:80]!r}")
    if len(spelling) > MAX_CHARACTERS:
        raise BadInput(
            f"{kind} of {len(spelling)} characters; at most {MAX_CHARACTERS} are read: write it like {example}"
        )
    try:
        return parse(
            f"{name}{opening}{_with_underscores(rest)}" if opening else f"{name}()", remedy=f"write it like {example}"
        )
    except BadInput as refusal:
        raise BadInput(f"{kind} {refusal}") from None


def _with_underscores(arguments: str) -> str:
    """Replace hyphens in words (dimension-order) by underscores, except in quoted strings and names of files."""
    return re.sub(
        r"""("[^"]*"|'[^']*'|[^\s,()=]*[./][^\s,()=]*)|(?<=[A-Za-z])-(?=[A-Za-z])""",
        lambda found: found[1] or "_",
        arguments,
    )
