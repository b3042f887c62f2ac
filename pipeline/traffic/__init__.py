"""Who sends to whom: the table of traffic patterns, and the way from a spelling to a matrix.

To add a pattern: write one function in a module of this folder, from a topology (and parameters,
annotated as a family's are) to a `Traffic`, with a docstring whose first line describes it and whose
last names its source; name it in PATTERNS below; give it a row in tests/test_traffic.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.errors import BadInput, nearest
from pipeline.spelling import Spelling, parse, written
from pipeline.topologies import check_value, signature_of
from pipeline.topology import Topology
from pipeline.traffic.bits import bit_complement, bit_reversal, perfect_shuffle, transpose
from pipeline.traffic.demands import demand
from pipeline.traffic.digits import neighbour, tornado
from pipeline.traffic.drawn import random_permutation
from pipeline.traffic.even import all_to_all, uniform, uniform_other
from pipeline.traffic.halo import nearest_neighbour
from pipeline.traffic.hot import hot_region, hot_spot
from pipeline.traffic.matrix import Traffic

PATTERNS: dict[str, Callable[..., Traffic]] = {
    pattern.__name__: pattern
    for pattern in (
        *(uniform, uniform_other, all_to_all, nearest_neighbour),
        *(hot_region, hot_spot),
        *(bit_complement, bit_reversal, perfect_shuffle, transpose),
        *(tornado, neighbour, random_permutation, demand),
    )
}
SYMMETRIC = ("uniform", "uniform_other", "all_to_all", "nearest_neighbour")  # patterns that every automorphism keeps (Traffic.symmetric)


def traffic(spelling: str, topology: Topology) -> tuple[str, Traffic]:
    """(canonical spelling, matrix) of a pattern on a network: `uniform`, `hot_spot(node=3, percent=20)`.

    Spelled as networks are (pipeline.spelling), without parentheses where there are no parameters.
    Raises BadInput where name or parameters are wrong, or the pattern does not fit the network.
    """
    canonical, pattern, values = _bound(spelling)
    try:
        return canonical, pattern(topology, **values)
    except BadInput as refusal:
        raise type(refusal)(f"traffic {canonical} on {topology.spelling}: {refusal}") from None


def canonical(spelling: str) -> str:
    """The canonical spelling of a pattern, whatever the network. Raises BadInput where name or parameters are wrong."""
    return _bound(spelling)[0]


def files_of(spelling: str) -> list[Path]:
    """Every file that a pattern's spelling names. Raises BadInput where name or parameters are wrong."""
    _, pattern, values = _bound(spelling)
    return [Path(values["path"])] if pattern is demand else []


def _bound(spelling: str) -> tuple[str, Callable[..., Traffic], dict[str, Any]]:
    """(canonical spelling, pattern, its parameters' values)."""
    call = _parsed(spelling.strip())
    if call.name not in PATTERNS:
        raise BadInput(f"unknown traffic '{call.name}'{nearest(call.name, PATTERNS)}; the patterns are {', '.join(PATTERNS)}")
    pattern = PATTERNS[call.name]
    known = signature_of(pattern)[1:]  # the first is the topology
    names = [parameter.name for parameter in known]
    takes = f"{call.name} takes {', '.join(names) or 'no parameters'}"
    if call.inner is not None:
        raise BadInput(f"{call}: expected only name=value arguments, got '{call.inner}'; {takes}")
    for key in call.arguments:
        if key not in names:
            raise BadInput(f"{call}: unknown parameter '{key}'{nearest(key, names)}; {takes}")
    values: dict[str, Any] = {}
    for parameter in known:
        if parameter.name in call.arguments:
            values[parameter.name] = call.arguments[parameter.name]
            check_value(call, parameter, values[parameter.name])
        elif parameter.required:
            raise BadInput(f"{call}: parameter '{parameter.name}' is missing; {takes}")
    shown = [f"{p.name}={written(values[p.name])}" for p in known if p.name in values and values[p.name] != p.default]
    return f"{call.name}({', '.join(shown)})" if shown else call.name, pattern, values


def _parsed(spelling: str) -> Spelling:
    if not spelling.partition("(")[0].isidentifier():
        raise BadInput(f"expected a traffic pattern such as uniform or hot_spot(node=3, percent=20), got {spelling[:80]!r}")
    try:
        return parse(f"{spelling}()" if spelling.isidentifier() else spelling)
    except BadInput as refusal:
        reason = str(refusal).partition(";")[0]  # without the example, which is a network
        raise BadInput(f"traffic {reason}; patterns are written like uniform or hot_spot(node=3, percent=20)") from None


__all__ = ["PATTERNS", "SYMMETRIC", "Traffic", "canonical", "files_of", "traffic"]
