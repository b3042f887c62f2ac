"""Resolution of a spelling to a function in a table: traffic patterns, routings, virtual-channel rules.

The spelling follows the grammar of networks, as in `hot_spot(node=3, percent=20)`. The parentheses
may be omitted if there are no arguments, and names may contain hyphens or underscores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from torusweep.errors import BadInput, nearest
from torusweep.networks.signature import check_value, signature_of
from torusweep.networks.spelling import MAX_CHARACTERS, Spelling, Value, format_value, parse

Named = TypeVar("Named", bound=Callable[..., object])


def resolve(
    spelling: str, table: Mapping[str, Named], *, kind: str, example: str, others: Mapping[str, str] | None = None
) -> tuple[str, Named, dict[str, Value]]:
    """Return (canonical spelling, function, {parameter: value} of the given arguments).

    table    functions by name; the first parameter is the topology, the others are annotated as those of a family
    kind     what the functions are, for error messages: "traffic"
    example  a valid spelling, for error messages: "uniform or hot_spot(node=3, percent=20)"
    others   further names of functions, in small letters: {"dor": "dimension_order"}

    The canonical spelling has underscores in the name, arguments in the order of the signature, and no default values.
    Raises BadInput if the name or a parameter is unknown, or a value is missing, of the wrong type or out of range.
    """
    call = _parse(spelling, kind, example)
    name = call.name.lower()
    if call.name not in table and (others or {}).get(name, name) in table:
        call = replace(call, name=(others or {}).get(name, name))
    if call.name not in table:
        raise BadInput(f"unknown {kind} '{call.name}'{nearest(call.name, table)}; there are {', '.join(table)}")
    known = signature_of(table[call.name])[1:]
    names = [parameter.name for parameter in known]
    takes = f"{call.name} takes {', '.join(names) or 'no parameters'}"
    if call.inner is not None:
        raise BadInput(f"{call}: expected only name=value arguments, got '{call.inner}'; {takes}")
    for key in call.arguments:
        if key not in names:
            raise BadInput(f"{call}: unknown parameter '{key}'{nearest(key, names)}; {takes}")
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
    """Replace hyphens within words by underscores (dimension-order), except in quoted strings."""
    return re.sub(r"""("[^"]*"|'[^']*')|(?<=[A-Za-z])-(?=[A-Za-z])""", lambda found: found[1] or "_", arguments)
