"""What a point will take, from its network's plan alone: enough to fill batches, to start the long ones first, and to refuse what cannot fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, prod

from torusweep.networks.families import plan
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.topology import Plan, no_symmetries
from torusweep.sweep.points import Point

LANES = 16  # roots whose loads are followed at once (torusweep_kernels.loads)
DEMANDS = 1 << 23  # written out at a time (torusweep.stages.loads.layered.BLOCK)
PAIRS = 1 << 20  # pairs whose routes are written out at a time (torusweep.stages.loads.source.BLOCK)
GROUPS = 32  # of packets (torusweep.stages.loads.monte_carlo.GROUPS)
DRAWN = 1 << 22  # packets in hand (torusweep.stages.loads.monte_carlo.ROUND)
DENSE = ("hot_region", "hot_spot", "demand")  # patterns, besides the symmetric ones, in which a source sends to many
CELLS = 64  # classes of nodes of a hierarchical network, about
INERTIA_NODES = 8_192  # nodes up to which the second eigenvalue is bounded where there is no symmetry (static.spectrum)
ROUTED_PAIR = 4e-7  # seconds that the length of a hierarchical route takes
MOST_ROUTED = 1 << 27  # pairs of which it is asked (static.route_lengths.MAX_PAIRS)
LONGEST_FAULT_SEARCH = 15.0  # seconds on a core; beyond that (static.faults.EXHAUSTIVE_WORK) the fault sets are sampled
NODE_CYCLE = 1e-7  # seconds that a simulated node takes a cycle: 0.6e-7 at light load, 1.2e-7 at much
SEVERAL = 4  # times as many where ports send several flits a cycle (bluegene: 1.6e-7 to 7e-7)
WORKLOAD_CYCLES = 100_000  # that a workload takes, for want of anything better
SATURATION_RUNS = 15  # experiments until saturation is found
LONGEST_BOUNDS = 60.0  # seconds of linear programs, mostly
LOADED = 0.3  # seconds: Numba takes longer to load, and CuPy
SMALL = 256  # nodes that are all searched from, level by level, in hundredths of a second by NumPy, too


def estimated_cost(point: Point) -> float:
    """Seconds that a point takes on one core, within a factor of about five.

    Symmetry that is declared makes the searches negligible beside the proofs, which read every link a few times.
    """
    planned = plan(point.topology)[1]
    arcs = planned.nodes * max(planned.degree, 1)
    if point.simulation is not None:
        from torusweep.stages.simulation import PRESETS, request_of

        asked = request_of(point.simulation)
        runs = (
            len(asked.loads) + (SATURATION_RUNS if asked.precision else 0) + (asked.parameters.workload is not None)
        ) * len(asked.seeds)
        cycles = WORKLOAD_CYCLES if asked.parameters.workload is not None else asked.parameters.cycles or 0
        speedup = asked.parameters.input_speedup or PRESETS[asked.parameters.router].input_speedup
        return 0.1 + NODE_CYCLE * (SEVERAL if speedup > 1 else 1) * planned.nodes * cycles * runs
    if point.placement is not None:
        return 1e-3 + 4e-7 * arcs
    if point.vc_rule is not None:
        if _pair_by_pair(point):
            return 2e-7 * planned.nodes**2
        walked = 2e-9 * arcs * planned.nodes * max(planned.degree, 1) if _over_states(point) else 5e-6 * arcs
        return 5e-3 + walked
    if point.traffic is not None:
        return 2e-3 + 5e-7 * arcs + _loads_seconds(planned, point, arcs)
    seconds = 2e-3 + 1e-6 * arcs
    if planned.symmetries is no_symmetries:
        seconds += 4e-11 * arcs * planned.nodes + (6e-6 * arcs if planned.nodes <= INERTIA_NODES else 0.0)
    if isinstance(planned.structure, Hierarchy):  # its own routing from a node of each cell, or from every one
        pairs = planned.nodes * prod(planned.structure.module)
        seconds += ROUTED_PAIR * pairs if pairs <= MOST_ROUTED else 0.0
    if point.fault_nodes is not None:
        seconds += min(1.3e-10 * arcs * comb(planned.nodes, point.fault_nodes), LONGEST_FAULT_SEARCH)
    return seconds


def estimates(points: Iterable[Point]) -> dict[Point, float]:
    """Every point with its estimated cost, in their order."""
    return {point: estimated_cost(point) for point in points}


def soonest(backend: str, estimated: Mapping[Point, float], *, use_symmetry: bool) -> str:
    """NumPy for `auto`, where so little is to compute that another backend would still be loading; else the backend that was asked for.

    Only static records: of symmetric networks they hardly search, and of small ones little. Rows do not depend on it.
    """
    if backend != "auto" or not use_symmetry or sum(estimated.values()) > LOADED:
        return backend
    return "numpy" if all(_hardly_searched(point) for point in estimated) else backend


def _hardly_searched(point: Point) -> bool:
    """Whether a record is static, and of a network that is searched from a node of each orbit only, or is small."""
    if point.stage != "static" or point.fault_nodes is not None:
        return False
    planned = plan(point.topology)[1]
    return planned.symmetries is not no_symmetries or planned.nodes <= SMALL


def loads_memory(planned: Plan, point: Point) -> int:
    """Bytes that the loads of a network take, about: its arrays, its channels' loads, and a block of roots, pairs or packets."""
    channels, own = planned.nodes * max(planned.degree, 1), planned.bytes + 80 * planned.nodes * max(planned.degree, 1)
    if point.packets is not None:
        return own + 24 * GROUPS * channels + 60 * min(point.packets, DRAWN)
    if not _over_states(point):
        return own + 120 * min(PAIRS, planned.nodes**2) + 60 * channels
    states = 3 if str(point.routing).startswith("up_down") else 1
    roots, demands = (LANES, min(DEMANDS, planned.nodes**2)) if _from_every_node(planned, point) else (1, planned.nodes)
    return own * states + 25 * planned.nodes * states * roots + 16 * demands


def _loads_seconds(planned: Plan, point: Point, arcs: int) -> float:
    seconds = min(1e-3 * arcs, LONGEST_BOUNDS) if point.bounds else 0.0
    if point.packets is not None:
        return seconds + 5e-7 * point.packets
    if _over_states(point):
        return seconds + (4e-9 * arcs * planned.nodes if _from_every_node(planned, point) else 0.0)
    if not _symmetric(point) and str(point.traffic).partition("(")[0] not in DENSE:
        return seconds + 1e-6 * planned.nodes
    return seconds + 1.5e-7 * planned.nodes * (
        planned.nodes if _from_every_node(planned, point) else min(CELLS, planned.nodes)
    )


def _over_states(point: Point) -> bool:
    """Whether the routing is one of shortest paths over a graph of states, not of routes settled at the source."""
    return str(point.routing).partition("(")[0] in ("minimal", "minimal_ecmp", "up_down")


def _pair_by_pair(point: Point) -> bool:
    """Whether the routes of all pairs are followed, whatever the symmetry."""
    return str(point.routing).startswith("hierarchical")


def _from_every_node(planned: Plan, point: Point) -> bool:
    """Whether loads are followed from every node, instead of one of each orbit."""
    return (
        planned.symmetries is no_symmetries
        or not _symmetric(point)
        or str(point.routing).startswith("up_down")
        or _pair_by_pair(point)
    )


def _symmetric(point: Point) -> bool:
    """Whether every automorphism keeps the traffic. The patterns take SciPy, which points without traffic do not wait for."""
    from torusweep.traffic import SYMMETRIC

    return str(point.traffic).partition("(")[0] in SYMMETRIC
