"""Parameters of questions. A question's function declares them once for Python, its command and configurations.

    def loads(network, how, routing: Annotated[str, ROUTING] = "minimal", *,
              packets: Annotated[int, Whole(64, "packets at most", 10**12)] | None = None, …)

A parameter of type tuple[float, …] takes one value or several. A parameter of type Path is the name of a file or
folder. If the type is a union, Python accepts every member and a command only the first. A frozen dataclass is a group
whose fields are the parameters. A TypedDict (`**given: Unpack[Options]`) is a group, too; its members default to None.
The annotation's notes are the parameter's meaning and range (`Whole`, `Number`, `Meaning`, or `Spelled` for names),
the meaning of its absence (`Absent`), and how it differs in a configuration (`Swept`) or a command (`Typed`).
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from pkgutil import resolve_name
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from torusweep.errors import BadInput, as_known, check_path, nearest, one_line
from torusweep.networks.signature import check_size_of_number
from torusweep.networks.topology import Meaning, Whole
from torusweep.questions.stage import under

MOST_SHOWN = 10**40  # larger numbers are refused by their digits alone


@dataclass(frozen=True)
class Spelled:
    """A parameter whose text is a name from a table, possibly with arguments, as in dimension_order(tie=positive).

    table      "module:NAME" of the table, imported when the parameter is used; "" if the text has another form
    title      heading of the list of names in a command's help; "" if the help does not list them
    canonical  "module:function" that returns the canonical spelling of a text
    files      "module:function" that returns the files which a canonical spelling names
    given      "module:function" that converts (network, object given in Python) to the question's argument
    called     whether the names are functions with parameters
    skip       number of leading parameters of these functions that a text does not give, such as the network
    words      "module:function" that returns a name's meaning; "" for the first line of its docstring
    """

    meaning: str
    table: str = ""
    title: str = ""
    canonical: str = ""
    files: str = ""
    given: str = ""
    called: bool = True
    skip: int = 1
    words: str = ""


@dataclass(frozen=True)
class Absent:
    """What it means that a parameter is not given, in words such as "the router's"."""

    meaning: str


@dataclass(frozen=True)
class Swept:
    """How a parameter in a configuration differs from the parameter of a command.

    default  default in a configuration; ... for the command's default; None if a value is required (or with `inside`)
    never    whether configurations do not have the parameter
    several  whether a configuration may list several values, each for a request of its own; spellings always may
    inside   key of the mapping that contains the parameter, "" for none; `meaning` is the mapping's meaning
    column   name of the parameter in requests and tables; "" for the same name
    """

    default: Any = ...
    never: bool = False
    several: bool = False
    inside: str = ""
    meaning: str = ""
    column: str = ""


NOT_SWEPT = Swept(never=True)


@dataclass(frozen=True)
class Typed:
    """How a command takes a parameter, other than as an option with the parameter's name.

    option      name of the option, as in --find-saturation; "" for the parameter's name
    also        second name of the option, as in --minimize; "" for none
    positional  whether the parameter is a positional argument
    reader      "module:function" that converts the text, or the list of texts, to a value
    shown       word that the help prints in place of the type, as in SIZE
    """

    option: str = ""
    also: str = ""
    positional: bool = False
    reader: str = ""
    shown: str = "TEXT"


class Parameter(typing.NamedTuple):
    """A parameter of a question.

    kind      type of the value: int, float, bool, str or Path
    others    further types that Python may give
    choices   all values of a text that has few possible values; otherwise ()
    default   None if the parameter is required, or if its absence has a meaning of its own
    many      whether the value is a tuple, of one value or several
    """

    name: str
    kind: type
    others: tuple[type, ...]
    choices: tuple[str, ...]
    required: bool
    default: Any
    optional: bool
    many: bool
    meaning: str
    notes: tuple[Any, ...]

    def note(self, kind: type) -> Any:
        """Return the parameter's note of the given class, or None."""
        return next((note for note in self.notes if isinstance(note, kind)), None)

    @property
    def range(self) -> Whole | None:
        found: Whole | None = self.note(Whole)
        return found

    @property
    def spelled(self) -> Spelled | None:
        found: Spelled | None = self.note(Spelled)
        return found

    @property
    def sweep(self) -> Swept:
        return self.note(Swept) or Swept()

    @property
    def typed(self) -> Typed:
        return self.note(Typed) or Typed()

    @property
    def column(self) -> str:
        """Name of the parameter in requests and tables."""
        return self.sweep.column or self.name

    @property
    def usual(self) -> Any:
        """The default that help and documentation show."""
        absent: Absent | None = self.note(Absent)
        if absent is not None:
            return absent.meaning
        return self.sweep.default if self.sweep.inside and self.default is None else self.default

    @property
    def names(self) -> Mapping[str, Any]:
        """The table of names that the parameter's text may use; {} if there is no table."""
        found: Mapping[str, Any] = resolve_name(self.spelled.table) if self.spelled and self.spelled.table else {}
        return found

    def check(self, value: Any, network: Any = None) -> Any:
        """Convert a value given in Python to the question's argument. Raises BadInput for a wrong type or range."""
        if value is None and self.optional:
            return None
        check_size_of_number(self.name, value, MOST_SHOWN)
        if self.spelled is not None and isinstance(value, Path):
            value = str(value)
        if self.spelled is not None and self.spelled.given:
            return resolve_name(self.spelled.given)(network, value)
        if self.many:
            one = isinstance(value, str) or not isinstance(value, Iterable)
            return tuple(self._checked(part) for part in ((value,) if one else value))
        return self._checked(value)

    def canonical(self, value: Any) -> Any:
        """Check a value for a request. Texts become canonical spellings; objects given in Python stay as they are."""
        if value is None or self.spelled is None:
            return self.check(value)
        if not isinstance(value, str) or not self.spelled.canonical:
            return value
        with under(self.name):
            return resolve_name(self.spelled.canonical)(value)

    def _checked(self, value: Any) -> Any:
        if self.kind is Path and isinstance(value, str | Path):
            with under(self.name):
                check_path(Path(value))
        if isinstance(value, self.others):
            return value
        expected, fits = _FITS[self.kind]
        if self.choices:
            value = as_known(value, self.choices)
            expected, fits = f"one of {', '.join(self.choices)}", lambda given: given in self.choices
        if not fits(value) and self.names:
            known = list(self.names)
            expected = f"a name such as '{known[0]}'; there are {', '.join(known)}"
            raise BadInput(f"{self.name}={one_line(repr(value), 60)}: expected {expected}")
        if not fits(value):
            close = nearest(value, self.choices) if self.choices and isinstance(value, str) else ""
            meaning = "" if self.choices else f" ({self.meaning})"
            raise BadInput(f"{self.name}={one_line(repr(value), 60)}: expected {expected}{close}{meaning}")
        if self.range is not None:
            self.range.check(self.name, value)
        return value if self.choices else self.kind(value)


def _is(kind: type | UnionType) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


_FITS: dict[type, tuple[str, Callable[[Any], bool]]] = {
    int: ("a whole number", _is(Integral)),
    float: ("a number", _is(Real)),
    bool: ("True or False", lambda value: isinstance(value, bool)),
    str: ("a text", _is(str)),
    Path: ("the name of a file or folder", _is(str | Path)),
}


@cache
def parameters_of(function: Callable[..., Any], skip: int) -> tuple[Parameter, ...]:
    """Return the parameters of a question's function. The first `skip` are left out: the network and `How`."""
    return tuple(_parameter(one.name, hint, one.default) for one, hint in declared(function, skip))


def declared(function: Callable[..., Any], skip: int) -> list[tuple[inspect.Parameter, Any]]:
    """Return (parameter, type) of a function or TypedDict, without the first `skip`. Groups become their fields."""
    hints = typing.get_type_hints(function, include_extras=True)
    if typing.is_typeddict(function):
        keyword = inspect.Parameter.KEYWORD_ONLY
        return [(inspect.Parameter(name, keyword, default=None), hint | None) for name, hint in hints.items()]
    found = []
    for one in list(inspect.signature(function).parameters.values())[skip:]:
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            found += declared(get_args(hints[one.name])[0], 0)
        elif is_dataclass(hints[one.name]):
            fields = declared(hints[one.name], 0)
            found += [(field.replace(kind=inspect.Parameter.KEYWORD_ONLY), hint) for field, hint in fields]
        else:
            found.append((one, hints[one.name]))
    return found


def grouped(function: Callable[..., Any], skip: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert values by name to the function's arguments. The fields of a group become an object of its class."""
    taken = dict(values)
    for name, group, fields in _groups_of(function, skip):
        taken[name] = group(**{field: taken.pop(field) for field in fields if field in taken})
    return taken


@cache
def _groups_of(function: Callable[..., Any], skip: int) -> list[tuple[str, Any, list[str]]]:
    """Return (name, class, names of the fields) of each parameter that is a group."""
    hints = typing.get_type_hints(function)
    groups = [name for name in list(inspect.signature(function).parameters)[skip:] if is_dataclass(hints[name])]
    return [(name, hints[name], [field.name for field, _ in declared(hints[name], 0)]) for name in groups]


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    kind, optional = hint, False
    notes: tuple[Any, ...] = ()
    if get_origin(hint) in (UnionType, typing.Union):
        optional = type(None) in get_args(hint)
        (kind,) = (part for part in get_args(hint) if part is not type(None))
    if get_origin(kind) is Annotated:
        kind, *found = get_args(kind)
        notes = tuple(found)
    many = get_origin(kind) is tuple
    kind = get_args(kind)[0] if many else kind
    others: tuple[type, ...] = ()
    if get_origin(kind) in (UnionType, typing.Union):
        kind, *more = get_args(kind)
        others = tuple(get_origin(one) or one for one in more)
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    described = next((note for note in notes if isinstance(note, Whole | Meaning | Spelled)), None)
    assert described is not None, f"{name}: expected a parameter with a meaning"
    required = default is inspect.Parameter.empty
    kind = str if choices or isinstance(described, Spelled) else kind
    usual = None if required else default
    return Parameter(name, kind, others, choices, required, usual, optional, many, described.meaning, notes)
