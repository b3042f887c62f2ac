"""The numbers of an answer by where they stand, without what names the network or the machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

# what names the network or says how long the answer took
NAMES = ("topology", "took", "method", "family", "parameters", "bounds_method")


def numbers(answer: Any) -> dict[str, Any]:
    """Every value of an answer and of its tables, by its place."""
    found = dict(_flat(answer.json, ""))
    for part in getattr(answer, "asked_parts", ()):
        found |= dict(_flat(getattr(answer, part), part))
    return found


def _flat(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, pa.Table):
        value = value.to_pydict()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in NAMES:
                yield from _flat(inner, f"{place}.{name}".strip("."))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{place}[{number}]")
    else:
        yield place, value


def moves(one: Mapping[str, Any], other: Mapping[str, Any], near: float = 1e-9) -> list[str]:
    """Where two answers differ."""
    places = [place for place in {**one, **other} if (place in one) != (place in other)]
    for place in one.keys() & other.keys():
        first, second = one[place], other[place]
        if isinstance(first, float | int) and isinstance(second, float | int):
            if abs(first - second) > near * max(abs(first), abs(second), 1e-30):
                places.append(place)
        elif first != second:
            places.append(place)
    return sorted(places)
