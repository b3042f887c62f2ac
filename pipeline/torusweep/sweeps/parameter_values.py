"""What a configuration gives a family's parameter: one value, a list of values, or a range of whole numbers."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from torusweep.errors import BadInput, nearest
from torusweep.networks.families import FamilyParameter
from torusweep.networks.spelling import Spelling, parse
from torusweep.networks.topology import Plan

_RANGE = ("from", "to", "step", "count")
_EXAMPLE = "{from: 4, to: 32, step: 4}"


def values_of(parameter: FamilyParameter, given: Any) -> Sequence[Any]:
    """The values that `given` stands for, uncounted ranges included: {from: 4, to: 32, step: 4} is never written out.

    A list is a list of values, unless the parameter takes lists itself: then [8, 4, 4] is one value
    and [[8, 4, 4], [16, 8]] are two. A network inside a network is written as a spelling.
    Raises BadInput.
    """
    if isinstance(given, dict) and any(isinstance(key, str) for key in given):
        return _range(given)
    many = isinstance(given, list) and _depth(given) > _depth_of_kind(parameter.kind)
    values = given if many else [given]
    if not values:
        raise BadInput("expected at least one value, got an empty list")
    return [_value(parameter, value) for value in values]


def count(choices: Iterable[Sequence[Any]]) -> int:
    """Combinations of some values."""
    return prod(len(values) for values in choices)


def _value(parameter: FamilyParameter, value: Any) -> Any:
    if parameter.kind is Plan:
        if not isinstance(value, str):
            raise BadInput(f"expected a topology such as torus(k=8, n=3), got {value!r}")
        return parse(value)
    if not _is_data(value):
        raise BadInput(f"expected a whole number, a list of values or a range {_EXAMPLE}, got {value!r}")
    return value


def _is_data(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_data(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, int) and _is_data(item) for key, item in value.items())
    return isinstance(value, (int, str, Spelling))


def _range(given: dict[Any, Any]) -> range:
    for key, number in given.items():
        if key not in _RANGE:
            raise BadInput(f"unknown key '{key}'{nearest(str(key), _RANGE)}; a range is written {_EXAMPLE}")
        if not isinstance(number, int) or isinstance(number, bool):
            raise BadInput(f"{key}: expected a whole number, got {number!r}")
    if "from" not in given or "to" not in given:
        raise BadInput(f"expected a range with 'from' and 'to', as in {_EXAMPLE}, got {given}")
    first, last, many = given["from"], given["to"], given.get("count")
    step = given.get("step", 1)
    if many is not None:
        if "step" in given or many < 2 or first >= last or (last - first) % (many - 1):
            raise BadInput(
                "expected a range with step, or with a count of 2 or more that divides it into whole numbers,"
                f" got {given}; write {_EXAMPLE} or {{from: 4, to: 32, count: 8}}"
            )
        step = (last - first) // (many - 1)
    if step < 1 or first > last or max(abs(first), abs(last)) >= 10**18:
        raise BadInput(
            f"expected from ≤ to, fewer than 19 digits and a step ≥ 1, got from {first} to {last} step {step}"
        )
    return range(first, last + 1, step)


def _depth(value: Any) -> int:
    return 1 + _depth(value[0]) if isinstance(value, list) and value else int(isinstance(value, list))


def _depth_of_kind(kind: Any) -> int:
    """How many lists a parameter's value has inside each other: 0 for k, 1 for radices, 2 for a matrix."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, types.UnionType) or origin is typing.Union:
        return max(_depth_of_kind(option) for option in inner)
    return 1 + _depth_of_kind(inner[0]) if origin is list else 0
