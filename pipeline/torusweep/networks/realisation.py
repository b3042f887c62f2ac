"""Make the arrays of a plan, if they fit into memory, and check them."""

from __future__ import annotations

from math import log10

import numpy as np
from torusweep_kernels.adjacency import is_symmetric

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import NO_PORT, Plan, Topology

ROWS_AT_ONCE = 1 << 16  # nodes whose ports are compared at once


def realise(spelling: str, family: str, plan: Plan, memory: int) -> Topology:
    """Make and check the arrays of a plan. Raises Refused if they need more than `memory` bytes."""
    check_size(spelling, plan, memory)
    wiring = plan.wire()
    terminals = np.arange(plan.nodes, dtype=np.int32) if wiring.terminals is None else wiring.terminals
    ports, link_class, capacity, _, latency, weight = wiring
    topology = Topology(spelling, family, plan, ports, link_class, capacity, terminals, latency, weight)
    check(topology)
    return topology


def check_size(spelling: str, plan: Plan, memory: int) -> None:
    """Raise Refused if the network has 2³¹ nodes or terminals or more, or needs more than `memory` bytes."""
    for things, number in (("node", plan.nodes), ("terminal", plan.terminals or 0)):
        if number >= 2**31:
            needs = f"{_count(number)} {things}s, about {_count(plan.bytes >> 30)} GiB"
            raise Refused(
                f"{spelling} has {needs}; {things} numbers are 32-bit, so at most {2**31 - 1:,} are possible:"
                " choose smaller parameters"
            )
    if plan.bytes > memory:
        raise Refused(
            f"{spelling} has {plan.nodes:,} nodes of up to {_count(plan.degree)} ports"
            f"{'' if plan.terminals is None else f' and {plan.terminals:,} terminals'}"
            f" and needs about {plan.bytes / 2**30:.1f} GiB; the limit is"
            f" {memory / 2**30:.1f} GiB: choose smaller parameters or raise limits.memory_gib"
        )


def _count(number: int) -> str:
    """Format a number in digits, or as a power of ten if it is large."""
    return f"{number:,}" if number < 10**18 else f"10^{log10(number):.0f}"


def check(topology: Topology) -> None:
    """Assert the invariants of a network. A violation is a defect of its family."""
    ports, name, plan = topology.ports, topology.spelling, topology.plan
    n, width = ports.shape
    dtypes = (ports.dtype, topology.link_class.dtype, topology.terminals.dtype)
    assert dtypes == (np.dtype(np.int32), np.dtype(np.int8), np.dtype(np.int32)), f"{name}: dtypes"
    assert topology.link_class.shape == (n, width), f"{name}: link_class shape"
    for said, numbers in ((plan.link_latencies, topology.link_latency), (plan.weighted, topology.weight)):
        assert said is (numbers is not None), f"{name}: the plan and the arrays differ"
        assert numbers is None or numbers.shape == (n, width), f"{name}: shape of the links' numbers"
    assert n == plan.nodes == int(np.prod(plan.radices, dtype=object)), f"{name}: node count differs from the plan"
    assert width <= plan.degree, f"{name}: more ports than the plan says"
    if width:
        assert NO_PORT <= ports.min() <= ports.max() < n, f"{name}: a port leads outside the network"
    assert not len(topology.terminals) or 0 <= topology.terminals.min() <= topology.terminals.max() < n, (
        f"{name}: a terminal outside the network"
    )
    for low in range(0, n, ROWS_AT_ONCE):
        own = np.arange(low, min(low + ROWS_AT_ONCE, n), dtype=np.int32)
        assert not np.any(ports[low : low + ROWS_AT_ONCE] == own[:, None]), f"{name}: a link from a node to itself"
    if not topology.directed and width:
        assert is_symmetric(ports, topology.capacity), (
            f"{name}: a link has one direction only in a network declared bidirectional"
        )
    _check_links(topology)


def _check_links(topology: Topology) -> None:
    """Check that all link classes in use have a bandwidth and a latency, if any class has.

    Raises BadInput if the two directions of a link have different bandwidths or latencies.
    """
    plan, name = topology.plan, topology.spelling
    used = int(topology.link_class.max(initial=0)) + 1
    for given in (plan.bandwidths, plan.latencies):
        assert not given or len(given) >= used, f"{name}: a link class without bandwidth or latency"
    if (
        not (plan.bandwidths or plan.latencies or plan.link_latencies)
        or topology.directed
        or not topology.ports.shape[1]
    ):
        return
    if not is_symmetric(topology.ports, topology.kinds):
        raise BadInput(
            f"{name}: expected equal bandwidths and latencies of classes that are the two directions of one link, got"
            " different ones; give both classes the same numbers"
        )
