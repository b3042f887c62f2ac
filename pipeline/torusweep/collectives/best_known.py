"""Find the least known time of a collective operation, by theorems and by all suitable algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

from torusweep.collectives.algorithms import OPTIMUM, algorithms_for, schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.collectives.optimum import Optimum, optimum
from torusweep.errors import BadInput
from torusweep.networks.topology import Topology

MOST_TRIED = 1024  # most nodes, and terminals, of a network on which all algorithms are measured; some seconds
# optima of the networks in use, since the rows of all algorithms on a network have the same optimum
_known: WeakKeyDictionary[Topology, dict[tuple[str, int, bool], Optimum]] = WeakKeyDictionary()


def best_known(
    topology: Topology,
    operation: str,
    *,
    root: int = 0,
    use_symmetry: bool = True,
    bounds: Optimum | None = None,
    measured: Mapping[str, float] | None = None,
) -> Optimum:
    """Return the lower bound of `optimum`, with the least known time.

    If a theorem attains the bound, no algorithm is measured. Otherwise all algorithms are measured, on networks of up
    to `MOST_TRIED` nodes and terminals; on larger networks only the algorithms in `measured` count.

    bounds, measured   the network's `optimum`, and cycles of algorithms by name, if they are already known

    Raises BadInput and Refused where `optimum` does.
    """
    of_network = _known.setdefault(topology, {})
    key = (operation, root, use_symmetry)
    found = of_network.get(key)
    if found is None:
        found = bounds or optimum(topology, operation, root=root, use_symmetry=use_symmetry)
        if not found.met and max(topology.nodes, len(topology.terminals)) <= MOST_TRIED:
            found = _least(found, _measured(topology, operation, root, dict(measured or {})))
        of_network[key] = found
    return found if found.met else _least(found, measured or {})


def _measured(topology: Topology, operation: str, root: int, known: dict[str, float]) -> dict[str, float]:
    """Return the cycles of all suitable algorithms, by name; those in `known` are not measured again."""
    for algorithm in algorithms_for(operation, ["all"]):
        if algorithm == OPTIMUM or algorithm in known:
            continue
        try:
            known[algorithm] = cost_of(topology, schedule_of(topology, operation, algorithm, root=root)).cycles
        except BadInput:  # it does not suit
            continue
    return known


def _least(found: Optimum, cycles: Mapping[str, float]) -> Optimum:
    """Return the optimum, with the fastest algorithm's time if that beats the attained time or no time was known."""
    if not cycles:
        return found
    fastest = min(cycles, key=lambda name: cycles[name])
    if found.attained is not None and found.attained <= cycles[fastest]:
        return found
    return found._replace(attained=cycles[fastest], by=f"algorithm {fastest}")
