"""Read and validate a configuration, from a YAML file or a dictionary.

A dictionary is first converted to YAML, so that both are checked in the same way, and the YAML can be run as a file.
"""

from __future__ import annotations

import hashlib
import io
import numbers
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError
from ruamel.yaml import YAML

from torusweep import documents
from torusweep.documents import DEEPEST, LARGEST, RANGES, Document, Place, shown, spelled
from torusweep.errors import BadInput, located, nearest, printable
from torusweep.sweeps.configuration import documentation
from torusweep.sweeps.configuration.schema import Sweep

__all__ = ["Sweep", "load", "of_mapping"]

NAME = "the sweep"  # name of a dictionary in messages, in which a file has its path
MOST_CHARACTERS = 64  # greatest length of a sweep's name


def as_yaml(given: Mapping[Any, Any]) -> bytes:
    """Convert a dictionary to YAML. Tuples, ranges and arrays become lists; paths become text.

    Raises BadInput, with the key, for a value that no configuration can have, and if the YAML is too long for a file.
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
    """Convert a value to mappings, lists, texts, numbers, booleans and None; `place` is its key, for messages."""
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
    """Return a wrong value with its type, shortened, for a message."""
    text = " ".join(repr(value).split())
    return printable(f"the {type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}")


def load(path: str | Path) -> Sweep:
    """Read and check a configuration file.

    Raises BadInput, in the form `path:line:column: key: expected …, got …`, for an error. Whether the networks exist is
    checked later, by `torusweep.sweeps.expansion.expand`.
    """
    content = documents.read_bytes(located(path), "configuration file", documents.RANGES)
    return _checked(documents.parse(content, printable(path)), content)


def of_mapping(given: Mapping[Any, Any]) -> Sweep:
    """Check a configuration that is a dictionary. The sweep's text and digest are those of the equivalent YAML.

    Raises BadInput where `load` does, without path, line and column.
    """
    content = as_yaml(given)
    return _checked(documents.parse(content, NAME)._replace(is_file=False), content)


def _checked(document: Document, content: bytes) -> Sweep:
    """Validate a document that was read, and return its sweep. Raises BadInput for the first error."""
    if not isinstance(document.data, dict):
        got = "nothing" if document.data is None else shown(document.data)
        raise BadInput(
            f"{document.where(1, 1)}: expected a mapping with 'sweep' and 'topologies' or 'papers', got {got};"
            " config/default.yaml is an example"
        )
    try:
        sweep = Sweep.model_validate(document.data)
    except ValidationError as error:
        raise BadInput(_first(error, document)) from None
    sweep._source, sweep._text, sweep._digest = document.name, content.decode(), hashlib.sha256(content).hexdigest()
    if document.is_file:
        sweep._places.update(document.values)
    return sweep


def _first(error: ValidationError, document: Document) -> str:
    """Return the message for the first error in a configuration, where a misspelt key precedes the missing key."""
    details = error.errors(include_url=False)
    detail: dict[str, Any] = dict(
        next((d for d in details if d["type"] in ("extra_forbidden", "invalid_key")), details[0])
    )
    place = document.place_of(detail["loc"])
    for other in details:  # if a value fits no alternative, prefer the error that names the wrong part
        deeper = document.place_of(other["loc"])
        if detail["type"] not in ("extra_forbidden", "invalid_key", "missing") and deeper[:-1] == place:
            detail, place = dict(other), deeper
            break
    kind, parent = detail["type"], place
    if kind in ("extra_forbidden", "invalid_key"):
        name = str(detail["loc"][-1])  # pydantic gives no place for a number beyond 64 bits
        line, column = document.keys.get(place, document.values[place])
        parent = place[:-1] if place and str(place[-1]) == name else place
        siblings = documentation.at(parent)
        known = [] if siblings is None else [key for key in siblings.inside() if key]
        message = f"unknown key '{name}'{nearest(name, known)}; keys here are {', '.join(known)}"
    elif kind == "missing":
        line, column = document.values[place]
        message = f"missing key '{detail['loc'][-1]}': {_meaning((*place, detail['loc'][-1]))}"
    elif kind == "string_pattern_mismatch" and place == ("sweep",):
        (line, column), parent = document.values[place], ()
        message = f"sweep: {_of_name(str(detail['input']))}"
    else:
        line, column = document.values[place]
        stated = kind in ("value_error", "entry")
        message = (
            detail["msg"].removeprefix("Value error, ")
            if stated
            else f"expected {_meaning(place, got=shown(detail['input']))}"
        )
    where = f"{spelled(parent)}: " if parent else ""
    return printable(f"{document.where(line, column)}: {where}{message}")


def _meaning(place: Place, got: str = "") -> str:
    key = documentation.at(place)
    if key is None:
        return f"another value, got {got}"
    return (
        key.expected()
        + (f", got {got}" if got else "")
        + (f"; {place[-1]}: {key.description}" if key.description else "")
    )


def _of_name(name: str) -> str:
    """Return the message for a wrong name of a sweep, with the reason and a permitted name."""
    wrong = next((character for character in name if not re.fullmatch("[A-Za-z0-9_-]", character)), "")
    fitting = re.sub("[^A-Za-z0-9_-]+", "-", name).strip("-_")[:MOST_CHARACTERS]
    if wrong:
        reason = f", which has {'a blank' if wrong == ' ' else repr(wrong)}"
    elif len(name) > MOST_CHARACTERS:
        reason = f", which has {len(name)} characters"
    else:
        reason = ""
    return (
        f"expected letters, digits, - and _, at most {MOST_CHARACTERS}, a letter or digit first (it names a folder),"
        f" got {shown(name)}{reason}; write {fitting or 'my-sweep'}"
    )
