"""Who sends to whom: the table of traffic patterns, and the way from a spelling to a matrix.

To add a pattern: write one function in a module of this folder, from a topology (and parameters,
annotated as a family's are) to a `Traffic`, with a docstring whose first line describes it and whose
last names its source; name it in PATTERNS below; give it a row in tests/test_traffic.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput
from torusweep.networks.naming import resolve
from torusweep.networks.topology import Topology
from torusweep.traffic.all_reduce import all_reduce_by_dimension, ring_all_reduce
from torusweep.traffic.bits import bit_complement, bit_reversal, perfect_shuffle, transpose
from torusweep.traffic.demands import demand
from torusweep.traffic.digits import neighbour, tornado
from torusweep.traffic.halo import nearest_neighbour
from torusweep.traffic.hot_spot import hot_region, hot_spot
from torusweep.traffic.matrix import Phase, Traffic
from torusweep.traffic.random_permutation import random_permutation
from torusweep.traffic.uniform import all_to_all, uniform, uniform_other

PATTERNS: dict[str, Callable[..., Traffic]] = {
    pattern.__name__: pattern
    for pattern in (
        *(uniform, uniform_other, all_to_all, nearest_neighbour),
        *(hot_region, hot_spot),
        *(bit_complement, bit_reversal, perfect_shuffle, transpose),
        *(tornado, neighbour, random_permutation, demand),
        *(ring_all_reduce, all_reduce_by_dimension),
    )
}
SYMMETRIC = (
    "uniform",
    "uniform_other",
    "all_to_all",
    "nearest_neighbour",
)  # patterns that every automorphism keeps (Traffic.symmetric)


def traffic(spelling: str, topology: Topology) -> tuple[str, Traffic]:
    """(canonical spelling, matrix) of a pattern on a network: `uniform`, `hot_spot(node=3, percent=20)`.

    Spelled as networks are (torusweep.networks.spelling), without parentheses where there are no parameters;
    `bit-complement` is `bit_complement`.
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
    return resolve(spelling, PATTERNS, kind="traffic", example="uniform or hot_spot(node=3, percent=20)")


__all__ = ["PATTERNS", "SYMMETRIC", "Phase", "Traffic", "canonical", "files_of", "traffic"]
