"""A configuration that is a dictionary, as the text of a YAML file: one reader checks both, and the file can be run."""

from __future__ import annotations

import io
import numbers
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from torusweep.documents import DEEPEST, LARGEST, RANGES, Place
from torusweep.errors import BadInput, printable
from torusweep.sweeps.configuration.schema import spelled

NAME = "the sweep"  # in messages, where a file has its path


def as_yaml(given: Mapping[Any, Any]) -> bytes:
    """A dictionary as YAML. Tuples, ranges and arrays become lists, NumPy's numbers numbers, paths text.

    Raises BadInput, naming the key, for a value that no configuration holds, and for more than a file may have.
    """
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # its stubs say None
    yaml.allow_unicode = True
    yaml.width = 2**20  # one value a line
    text = io.StringIO()
    yaml.dump(_plain(given, ()), text)
    content = text.getvalue().encode()
    if len(content) > LARGEST:
        raise BadInput(
            f"{NAME}: expected at most {LARGEST // 1024} KiB of YAML, got {len(content) // 1024} KiB; {RANGES}"
        )
    return content


def _plain(value: Any, place: Place) -> Any:
    """The same of mappings, lists, text, numbers, booleans and None."""
    where = f"{NAME}: {spelled(place)}: " if place else f"{NAME}: "
    if len(place) > DEEPEST:
        raise BadInput(f"{where[:80]}… expected at most {DEEPEST} mappings and lists inside each other")
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str | numbers.Integral) or isinstance(key, bool)]
        if wrong:
            raise BadInput(f"{where}expected keys that are words or whole numbers, got {_shown(wrong[0])}")
        return {
            (str(key) if isinstance(key, str) else int(key)): _plain(entry, (*place, key))
            for key, entry in value.items()
        }
    if isinstance(value, list | tuple | range | np.ndarray):
        return [_plain(entry, (*place, number)) for number, entry in enumerate(value)]
    if value is None or isinstance(value, bool | np.bool_):
        return value if value is None else bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, str | os.PathLike):
        return str(os.fspath(value))
    raise BadInput(f"{where}expected text, a number, a list or a dict, got {_shown(value)}")


def _shown(value: Any) -> str:
    """A wrong value in a message."""
    text = " ".join(repr(value).split())
    return printable(f"the {type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}")
