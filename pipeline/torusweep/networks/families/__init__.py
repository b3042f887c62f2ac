"""The table of families, and the way from a spelling to a network.

To add a family: write one function in a module of this folder (parameters annotated, constraints
through `require`, a docstring whose first line describes it and whose last names its source), name
it in FAMILIES below, and give it a row in tests/test_topologies.py.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin

from torusweep.errors import BadInput, nearest
from torusweep.networks.families.ccc import ccc
from torusweep.networks.families.cubes import hypercube, mesh, ring, torus
from torusweep.networks.families.faults import faulty
from torusweep.networks.families.graph_files import check_files, files_of, graph
from torusweep.networks.families.hierarchies import h3dt, mh3dt, tesh
from torusweep.networks.families.lattices import illiac, lattice, pdtt, pt, ptt, rt, rtt, twisted_torus
from torusweep.networks.families.pruned import (
    directed_torus,
    partly_pruned_torus,
    pruned_directed_torus,
    pruned_t1,
    pruned_t2,
    pruned_torus,
    pruned_xy,
)
from torusweep.networks.families.sequin import sequin
from torusweep.networks.spelling import Spelling, Value, Word, parse, written
from torusweep.networks.topology import Meaning, Plan, Topology, Whole, check_size, default_memory, realise

FAMILIES: dict[str, Callable[..., Plan]] = {
    family.__name__: family
    for family in (
        *(ring, torus, mesh, hypercube),
        *(pruned_torus, partly_pruned_torus, pruned_t1, pruned_t2, pruned_xy, directed_torus, pruned_directed_torus),
        *(rt, rtt, pt, ptt, pdtt, twisted_torus, lattice, illiac, sequin),
        *(ccc, tesh, h3dt, mh3dt),
        *(graph, faulty),
    )
}


class Parameter(typing.NamedTuple):
    """One parameter of a family, as its signature declares it; meaning: '' where nothing says it."""

    name: str
    kind: Any  # int, float, bool, str, Literal, list or dict types, or Plan for the network a family is made from
    whole: Whole | None
    required: bool
    default: Any
    meaning: str = ""


@cache
def parameters(name: str) -> tuple[Parameter, ...]:
    """The parameters of a family, in the order of its signature."""
    return signature_of(FAMILIES[name])


def signature_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters of a function that is spelled like a family, in order."""
    hints = typing.get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        kind, whole, meaning = hints[parameter.name], None, ""
        annotated = next(
            (part for part in (kind, *get_args(kind)) if get_origin(part) is Annotated), None
        )  # bare, or one of a union
        if annotated is not None and get_origin(kind) is not list:
            kind, whole = (
                get_args(annotated)[0],
                next((x for x in get_args(annotated)[1:] if isinstance(x, Whole)), None),
            )
            meaning = next((x.meaning for x in get_args(annotated)[1:] if isinstance(x, Whole | Meaning)), "")
        required = parameter.default is inspect.Parameter.empty
        found.append(Parameter(parameter.name, kind, whole, required, None if required else parameter.default, meaning))
    return tuple(found)


def plan(spelling: str | Spelling, *, memory: int | None = None) -> tuple[str, Plan]:
    """(canonical spelling, plan) of a network.

    memory   bytes that reading a file may take (a plan needs nothing else); None: half the machine's
    Raises BadInput where name, parameters or constraints are wrong, Refused for a file that is too large.
    """
    place = _remembered(spelling) if isinstance(spelling, str) else []
    if place:
        return place[0]
    call = spelling if isinstance(spelling, Spelling) else parse(spelling)
    if files_of(call):
        with _naming(call):
            check_files(call, memory)
        return _planned(call)
    found = _planned(call)
    for known in (place, _remembered(found[0])):
        known[:] = [found]
    return found


@lru_cache(1 << 14)
def _remembered(text: str) -> list[tuple[str, Plan]]:
    """Where `plan` keeps what it said of a text, for a sweep's networks are counted, weighed and built one after the other; at first nothing.

    Nothing for good where files are named, which change.
    """
    return []


def _planned(call: Spelling) -> tuple[str, Plan]:
    if call.name not in FAMILIES:
        raise BadInput(
            f"unknown topology '{call.name}'{nearest(call.name, FAMILIES)}; 'torusweep topologies' lists all"
        )
    canonical, values = _bind(call)
    with _naming(call):
        return canonical, FAMILIES[call.name](**values)


def build(spelling: str | Spelling, *, memory: int | None = None) -> Topology:
    """The network of a spelling. Raises BadInput, or Refused where it needs more than `memory` bytes (None: half the machine's)."""
    canonical, planned = plan(spelling, memory=memory)
    with _naming(canonical):
        return realise(canonical, canonical.partition("(")[0], planned, default_memory() if memory is None else memory)


@contextmanager
def _naming(spelling: str | Spelling) -> Iterator[None]:
    """A refusal from inside says which network it is about."""
    try:
        yield
    except BadInput as refusal:
        reason, name = str(refusal), str(spelling)
        raise type(refusal)(reason if reason.startswith(name.partition("(")[0]) else f"{name}: {reason}") from None


def _bind(call: Spelling) -> tuple[str, dict[str, Any]]:
    """Arguments checked against the family's signature, and the canonical spelling (signature's order, no defaults)."""
    known = parameters(call.name)
    names = [parameter.name for parameter in known]
    takes_network = bool(known) and known[0].kind is Plan
    for key in call.arguments:
        if key not in names:
            raise BadInput(
                f"{call}: unknown parameter '{key}'{nearest(key, names)}; {call.name} takes {', '.join(names)}"
            )
    if call.inner is not None and not takes_network:
        raise BadInput(
            f"{call}: expected only name=value arguments, got a network; {call.name} takes {', '.join(names)}"
        )
    values: dict[str, Any] = {}
    shown: list[str] = []
    for parameter in known:
        if parameter.kind is Plan:
            given = call.inner if call.inner is not None else call.arguments.get(parameter.name)
            if not isinstance(given, Spelling):
                raise BadInput(
                    f"{call}: expected a network as the first argument, as in {call.name}(torus(k=8, n=3), links=4)"
                )
            # a sweep makes many networks from one, which is remembered where its text tells all: 8.0 is written 8
            told = given.inner is None and all(type(value) is int for value in given.arguments.values())
            inner, values[parameter.name] = plan(str(given)) if told else _planned(given)
            shown.append(inner)
            continue
        if parameter.name not in call.arguments:
            if parameter.required:
                raise BadInput(f"{call}: parameter '{parameter.name}' is missing; {call.name} takes {', '.join(names)}")
            continue
        value = check_value(call, parameter, call.arguments[parameter.name])
        values[parameter.name] = value
        if value != parameter.default or isinstance(value, bool) != isinstance(parameter.default, bool):
            shown.append(f"{parameter.name}={written(value)}")
    return f"{call.name}({', '.join(shown)})", values


def check_value(call: Spelling, parameter: Parameter, value: Value) -> Value:
    """The value as its parameter takes it: a choice is a word, whole or decimal numbers of one size are one number.

    Raises BadInput for a value of the wrong kind or outside its range.
    """
    if not _fits(parameter.kind, value):
        choices = _choices(parameter.kind)
        hint = nearest(str(value), choices) if choices and isinstance(value, str) else ""
        if isinstance(value, Word) and _fits(parameter.kind, str(value)):
            hint = f'; put text in quotes: {parameter.name}="{value}"'
        raise BadInput(
            f"{call}: {parameter.name}: expected {_describe(parameter.kind)}, got {repr(value) if isinstance(value, float) else written(value)}{hint}"
        )
    whole = parameter.whole
    if whole is not None and isinstance(value, int | float) and not whole.holds(value):
        raise BadInput(f"{call}: {parameter.name}={written(value)}: expected {whole.range()} ({whole.meaning})")
    if isinstance(value, str) and value in _choices(parameter.kind):
        return Word(value)
    return value + 0.0 if isinstance(value, float) else value  # −0.0 is 0


def _choices(kind: Any) -> tuple[str, ...]:
    """The words of a parameter that has names for its values."""
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        return tuple(word for option in get_args(kind) for word in _choices(option))
    return get_args(kind) if get_origin(kind) is Literal else ()


def _fits(kind: Any, value: Value) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(kind, types.UnionType) or get_origin(kind) is typing.Union:
        return any(_fits(option, value) for option in get_args(kind) if option is not type(None))
    origin = get_origin(kind)
    if origin is Annotated:
        return _fits(get_args(kind)[0], value)
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if origin is list:
        return isinstance(value, list) and all(_fits(get_args(kind)[0], item) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(get_args(kind)[1], item) for item in value.values())
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and not isinstance(value, Word)  # a word is never a string such as a path


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
        return f"a list of {_describe(get_args(kind)[0])}s".replace("a whole number", "whole number").replace(
            "a list of a list", "a list of list"
        )
    if origin is dict:
        return "a map such as {1: {0: 8}}"
    return {int: "a whole number", float: "a number", bool: "true or false", str: 'a "string"'}.get(kind, str(kind))


__all__ = [
    "FAMILIES",
    "Parameter",
    "build",
    "check_size",
    "check_value",
    "default_memory",
    "files_of",
    "parameters",
    "plan",
    "signature_of",
]
