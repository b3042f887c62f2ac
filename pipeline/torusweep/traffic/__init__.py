"""The table of traffic patterns, and the function that makes a traffic matrix from a spelling.

To add a pattern, see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput, located, naming
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Plan, Topology
from torusweep.traffic.by_plan import suits
from torusweep.traffic.demands import demand
from torusweep.traffic.matrix import Phase, Traffic
from torusweep.traffic.multicast import multicast, multicast_all
from torusweep.traffic.permutations import (
    bit_complement,
    bit_reversal,
    neighbour,
    perfect_shuffle,
    random_permutation,
    shift,
    tornado,
    transpose,
)
from torusweep.traffic.regions import (
    all_to_all,
    group_shift,
    hot_region,
    hot_spot,
    nearest_neighbour,
    uniform,
    uniform_other,
)
from torusweep.traffic.rings import all_reduce_by_dimension, ring_all_reduce

PATTERNS: dict[str, Callable[..., Traffic]] = {
    pattern.__name__: pattern
    for pattern in (
        *(uniform, uniform_other, all_to_all, nearest_neighbour),
        *(hot_region, hot_spot),
        *(bit_complement, bit_reversal, perfect_shuffle, transpose),
        *(tornado, neighbour, shift, group_shift, random_permutation, demand),
        *(ring_all_reduce, all_reduce_by_dimension),
        *(multicast, multicast_all),
    )
}
# patterns that every automorphism preserves (Traffic.symmetric)
SYMMETRIC = ("uniform", "uniform_other", "all_to_all", "nearest_neighbour")


@dataclass(frozen=True, eq=False)
class GivenTraffic:
    """A traffic matrix in memory, with a name for tables; it may stand wherever a spelling may."""

    name: str
    traffic: Traffic

    def __str__(self) -> str:
        return self.name


def traffic(spelling: str | GivenTraffic, topology: Topology, *, copies: bool = False) -> tuple[str, Traffic]:
    """Make the traffic of a pattern with a spelling such as `hot_spot(node=3, percent=20)` on a network.

    Returns (canonical spelling, traffic); for a `GivenTraffic`, its name and its own traffic.
    copies   whether the caller copies flits on their way; if it does not, multicast is refused
    Raises BadInput if the name or a parameter is wrong, or if the pattern does not suit the network.
    """
    if not len(topology.terminals):
        raise BadInput(
            f"traffic {spelling} on {topology.spelling}: expected terminals, which send, got none;"
            " choose a network with terminals"
        )
    if isinstance(spelling, GivenTraffic):
        return spelling.name, spelling.traffic
    canonical, pattern, values = _resolve(spelling)
    with naming(f"traffic {canonical} on {topology.spelling}"):
        found = pattern(topology, **values)
        if found.multicast and not copies:
            raise BadInput(
                "expected traffic whose flits have one destination, got multicast; exact loads take it (`loads`),"
                " without bounds"
            )
    return canonical, found


def canonical(spelling: str) -> str:
    """Return the canonical spelling of a pattern. Raises BadInput if the name or a parameter is wrong."""
    return _resolve(spelling)[0]


def suits_by_plan(spelling: str, plan: Plan) -> bool:
    """Return whether a network's plan alone shows that a pattern suits the network; False if only arrays can tell."""
    _, pattern, values = _resolve(spelling)
    return suits(pattern.__name__, values, plan)


def files_of(spelling: str) -> list[Path]:
    """List all files that the spelling of a pattern names. Raises BadInput if the name or a parameter is wrong."""
    _, pattern, values = _resolve(spelling)
    return [located(values["path"])] if pattern is demand else []


def _resolve(spelling: str) -> tuple[str, Callable[..., Traffic], dict[str, Any]]:
    """Return (canonical spelling, pattern, values of the pattern's parameters) of a spelling."""
    try:
        return resolve(spelling, PATTERNS, kind="traffic", example="uniform or hot_spot(node=3, percent=20)")
    except BadInput as refusal:
        if not spelling.strip().lower().startswith(("worst", "adversar")):
            raise
        worst = "'torusweep loads --bounds --worst-permutation FILE' finds the worst permutation of a routing"
        any_routing = "'torusweep capacity --traffic worst' bounds what any routing guarantees"
        raise BadInput(f'{refusal}; {worst}, which demand(path="FILE") reads; {any_routing}') from None


__all__ = [
    "PATTERNS",
    "SYMMETRIC",
    "GivenTraffic",
    "Phase",
    "Traffic",
    "canonical",
    "files_of",
    "suits_by_plan",
    "traffic",
]
