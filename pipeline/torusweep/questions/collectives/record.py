"""Compute a row of the table `collectives`."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep.collectives.algorithms import BEST_KNOWN, OPTIMUM, schedule_of
from torusweep.collectives.best_known import best_known
from torusweep.collectives.cost import AlgorithmCost, cost_of
from torusweep.collectives.operations import OPERATIONS
from torusweep.collectives.optimum import Cut, Optimum, Partition
from torusweep.errors import BadInput
from torusweep.networks.names import texts_of
from torusweep.networks.topology import Topology
from torusweep.questions.collectives.columns import COLLECTIVES


def collective_record(
    topology: Topology, operation: str, algorithm: str, root: int = 0, *, use_symmetry: bool = True
) -> dict[str, Any]:
    """Return the row of an algorithm, or of OPTIMUM. A row without a time has nulls, and the reason as its method."""
    try:
        best = best_known(topology, operation, root=root, use_symmetry=use_symmetry)
    except BadInput as refusal:
        return record_of(topology, operation, algorithm, root, None, None, str(refusal))
    if algorithm == OPTIMUM:
        return record_of(topology, operation, algorithm, root, best, None, best.method)
    try:
        cost = cost_of(topology, schedule_of(topology, operation, algorithm, root=root))
    except BadInput as refusal:
        return record_of(topology, operation, algorithm, root, best, None, str(refusal))
    return record_of(topology, operation, algorithm, root, best, cost, best.method)


def record_of(
    topology: Topology,
    operation: str,
    algorithm: str,
    root: int,
    best: Optimum | None,
    cost: AlgorithmCost | None,
    method: str,
) -> dict[str, Any]:
    """Make a row of Python values without NaN. best, cost: bound and time of the algorithm, or None."""
    terminals = len(topology.terminals)
    cycles = cost.cycles if cost else best.attained if best and algorithm == OPTIMUM else None
    bound = best.bound if best else None
    # rounding may give slightly more than 1
    share = min(1.0, bound / cycles) if bound and cycles else None
    met = best is not None and best.met
    link = _busiest(topology, cost) if cost else None
    proof = _proof(best.proof if best else None)
    values = {
        "topology": topology.spelling,
        "operation": operation,
        "algorithm": BEST_KNOWN if algorithm == OPTIMUM and best and not met else algorithm,
        "terminals": terminals,
        "root": root if OPERATIONS[operation].rooted else None,
        "cycles": cycles,
        "bound": bound,
        "best_known": best.attained if best else None,
        "optimum": bound if met else None,
        "optimum_share": share if met else None,
        "bound_share": share,
        "algorithm_bandwidth": 1 / cycles if cycles else None,
        "bus_bandwidth": OPERATIONS[operation].bus(terminals) / cycles if cycles else None,
        "steps": cost.steps if cost else None,
        "latency_hops": cost.hops if cost else None,
        "pipelined": cost.pipelined if cost else None,
        "busiest_link": link,
        "busiest_link_names": texts_of(topology.plan.names, link) if link else None,
        "ring_order": cost.ring.tolist() if cost and cost.ring is not None else None,
        **proof,
        "cut_node_names": texts_of(topology.plan.names, proof["cut_nodes"]) if proof["cut_nodes"] else None,
        "method": method,
    }
    return {column.name: values[column.name] for column in COLLECTIVES}


def _busiest(topology: Topology, cost: AlgorithmCost) -> list[int]:
    tail, head, _ = topology.arcs
    most = int(np.argmax(cost.load > cost.load.max() * (1 - 1e-12)))
    return [int(tail[most]), int(head[most])]


def _proof(proof: Cut | Partition | None) -> dict[str, Any]:
    names = ("cut_nodes", "cut_enters", "cut_terminals", "cut_capacity", "cut_bandwidth", "parts", "part_of_node")
    found: tuple[Any, ...] = (None,) * len(names)
    if isinstance(proof, Cut):
        found = (
            proof.nodes.tolist(),
            bool(proof.enters),
            proof.terminals,
            proof.links,
            float(proof.capacity),
            None,
            None,
        )
    elif isinstance(proof, Partition):
        alone = proof.parts == int((proof.part >= 0).sum())
        part = None if alone else proof.part.tolist()
        found = (None, None, None, proof.links, float(proof.capacity), proof.parts, part)
    return dict(zip(names, found))
