"""Functions that are named in a table and spelled as networks are: traffic patterns, routings, virtual-channel rules.

`bit_complement` or `hot_spot(node=3, percent=20)`: without parentheses where nothing is given, with
hyphens or underscores in the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from torusweep.errors import BadInput, nearest
from torusweep.networks.families import check_value, signature_of
from torusweep.networks.spelling import LONGEST, Spelling, Value, parse, written

Named = TypeVar("Named", bound=Callable[..., object])


def resolve(spelling: str, table: Mapping[str, Named], *, kind: str, example: str) -> tuple[str, Named, dict[str, Value]]:
    """(canonical spelling, function, values of its parameters that are given) of a spelling.

    table    name → function; its first parameter is the topology, the others are annotated as a family's are
    kind     what the functions are, for refusals: "traffic"
    example  how they are written: "uniform or hot_spot(node=3, percent=20)"

    The canonical spelling has underscores in the name, the signature's order and no defaults.
    Raises BadInput where the name or a parameter is unknown, missing, of the wrong kind or out of range.
    """
    call = _parsed(spelling, kind, example)
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
    shown = [f"{p.name}={written(values[p.name])}" for p in known if p.name in values and values[p.name] != p.default]
    return f"{call.name}({', '.join(shown)})" if shown else call.name, table[call.name], values


def _parsed(spelling: str, kind: str, example: str) -> Spelling:
    written_name, opening, rest = spelling.strip().partition("(")
    name = written_name.rstrip().replace("-", "_")
    if not name.isidentifier():
        raise BadInput(f"expected a {kind} such as {example}, got {spelling[:80]!r}")
    if len(spelling) > LONGEST:
        raise BadInput(f"{kind} of {len(spelling)} characters; at most {LONGEST} are read: write it like {example}")
    try:
        return parse(
            f"{name}{opening}{_underscored(rest)}" if opening else f"{name}()", remedy=f"write it like {example}"
        )
    except BadInput as refusal:
        raise BadInput(f"{kind} {refusal}") from None


def _underscored(arguments: str) -> str:
    """Words with hyphens, dimension-order, as the table names them; what stands in quotes is left alone."""
    return re.sub(r"""("[^"]*"|'[^']*')|(?<=[A-Za-z])-(?=[A-Za-z])""", lambda found: found[1] or "_", arguments)
