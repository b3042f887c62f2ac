"""Parameters of questions: what a question's function declares of them, once, for every way in which it is asked.

def loads(network, how, routing: Annotated[str, ROUTING] = "minimal", *,
          packets: Annotated[int, Whole(64, "packets at most", 10**12)] | None = None, …)
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from pkgutil import resolve_name
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from torusweep.errors import BadInput, nearest, one_line
from torusweep.networks.topology import Meaning, Number, Whole


@dataclass(frozen=True)
class Spelled:
    """A text that calls a function of a table, as dimension_order(tie=positive): `Annotated[str, Spelled(…)]`.

    table      "module:NAME"; it is imported when the parameter is used
    title      of the table's names in a command's help
    canonical  "module:function": a text → its canonical spelling
    files      "module:function": a canonical spelling → the files that it names
    given      "module:function": (network, object) → what the question takes, for what only Python can pass
    """

    meaning: str
    table: str
    title: str
    canonical: str
    files: str
    given: str


@dataclass(frozen=True)
class Inside:
    """Where a parameter stands in a configuration: in a mapping of this key, and its default there."""

    key: str
    default: Any
    meaning: str = ""  # of the mapping, at the first of its parameters


@dataclass(frozen=True)
class NotSwept:
    """Of a parameter that a configuration does not have: rows do not depend on it."""


class Parameter(typing.NamedTuple):
    """A parameter of a question.

    kind      int, float, bool or str; choices: of a text, where it has few
    default   None where it is required or where its absence means something
    """

    name: str
    kind: type
    choices: tuple[str, ...]
    required: bool
    default: Any
    optional: bool
    meaning: str
    range: Whole | None
    spelled: Spelled | None
    inside: Inside | None
    swept: bool

    @property
    def usual(self) -> Any:
        """The default that a reader is told."""
        return self.inside.default if self.inside is not None and self.default is None else self.default

    @property
    def names(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that its spelling can call."""
        found: Mapping[str, Callable[..., Any]] = resolve_name(self.spelled.table) if self.spelled else {}
        return found

    def check(self, value: Any, network: Any = None) -> Any:
        """A value given in Python as the question takes it. Raises BadInput for another type and out of range."""
        if value is None and self.optional:
            return None
        if self.spelled is not None:
            return resolve_name(self.spelled.given)(network, value)
        expected, fits = _FITS[self.kind]
        if self.choices:
            expected, fits = f"one of {', '.join(self.choices)}", lambda given: given in self.choices
        if not fits(value):
            close = nearest(value, self.choices) if self.choices and isinstance(value, str) else ""
            meaning = "" if self.choices else f" ({self.meaning})"
            raise BadInput(f"{self.name}={one_line(repr(value), 60)}: expected {expected}{close}{meaning}")
        if self.range is not None and not self.range.contains(value):
            raise BadInput(f"{self.name}={value}: expected {self.range.range()} ({self.meaning})")
        return value if self.choices else self.kind(value)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


_FITS: dict[type, tuple[str, Callable[[Any], bool]]] = {
    int: ("a whole number", _is(Integral)),
    float: ("a number", _is(Real)),
    bool: ("True or False", lambda value: isinstance(value, bool)),
    str: ("a text", _is(str)),
}


@cache
def parameters_of(function: Callable[..., Any], skip: int = 2) -> tuple[Parameter, ...]:
    """The parameters of a question's function, without the first ones: the network, and how it is computed."""
    hints = typing.get_type_hints(function, include_extras=True)
    own = list(inspect.signature(function).parameters.values())[skip:]
    return tuple(_parameter(one.name, hints[one.name], one.default) for one in own)


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    kind, optional = hint, False
    notes: tuple[Any, ...] = ()
    if get_origin(hint) in (UnionType, typing.Union):
        optional = type(None) in get_args(hint)
        (kind,) = (part for part in get_args(hint) if part is not type(None))
    if get_origin(kind) is Annotated:
        kind, *found = get_args(kind)
        notes = tuple(found)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    described = next((note for note in notes if isinstance(note, Whole | Meaning | Spelled)), None)
    assert described is not None, f"{name}: expected a parameter with a meaning"
    required = default is inspect.Parameter.empty
    return Parameter(
        name,
        str if choices or isinstance(described, Spelled) else kind,
        choices,
        required,
        None if required else default,
        optional,
        described.meaning,
        described if isinstance(described, Whole) else None,
        described if isinstance(described, Spelled) else None,
        next((note for note in notes if isinstance(note, Inside)), None),
        not any(isinstance(note, NotSwept) for note in notes),
    )


__all__ = ["Inside", "Meaning", "NotSwept", "Number", "Parameter", "Spelled", "Whole", "parameters_of"]
