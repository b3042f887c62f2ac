"""Make the arrays of a plan, if they fit into memory, and check them."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10, prod

import numpy as np
from torusweep_kernels.adjacency import is_symmetric

from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import NO_PORT, Plan, Topology

ROWS_AT_ONCE = 1 << 16  # nodes whose ports are compared at once


def realise(spelling: str, family: str, plan: Plan, memory: int, alone: bool = True) -> Topology:
    """Make and check the arrays of a plan. Raises Refused if they need more than `memory` bytes.

    alone   whether to check the ports here; if False, the caller checks them with other networks' (`check_ports`)
    """
    check_size(spelling, plan, memory)
    wiring = plan.wire()
    terminals = np.arange(plan.nodes, dtype=np.int32) if wiring.terminals is None else wiring.terminals
    ports, link_class, capacity, _, latency, weight = wiring
    topology = Topology(spelling, family, plan, ports, link_class, capacity, terminals, latency, weight)
    _check(topology)
    if alone:
        check_ports([spelling], [plan], ports[None], None if capacity is None else capacity[None])
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


def _check(topology: Topology) -> None:
    """Assert the invariants of a network, except those of `check_ports`. A violation is a defect of its family."""
    ports, name, plan = topology.ports, topology.spelling, topology.plan
    n, width = ports.shape
    dtypes = (ports.dtype, topology.link_class.dtype, topology.terminals.dtype)
    assert dtypes == (np.dtype(np.int32), np.dtype(np.int8), np.dtype(np.int32)), f"{name}: dtypes"
    assert topology.link_class.shape == (n, width), f"{name}: link_class shape"
    for said, numbers in ((plan.link_latencies, topology.link_latency), (plan.weighted, topology.weight)):
        assert said is (numbers is not None), f"{name}: the plan and the arrays differ"
        assert numbers is None or numbers.shape == (n, width), f"{name}: shape of the links' numbers"
    assert n == plan.nodes, f"{name}: node count differs from the plan"
    assert not len(topology.terminals) or 0 <= topology.terminals.min() <= topology.terminals.max() < n, (
        f"{name}: a terminal outside the network"
    )
    _check_links(topology)


def check_ports(names: Sequence[str], plans: Sequence[Plan], ports: np.ndarray, capacity: np.ndarray | None) -> None:
    """Assert the invariants of the ports of B networks, int32[B, N, P], where smaller networks are padded.

    All must be directed, or none. A violation is a defect of a network's family.
    """
    many, n, width = ports.shape
    flat = ports.reshape(many, -1)
    looped, nodes = np.zeros(many, bool), np.array([plan.nodes for plan in plans])
    for low in range(0, n, ROWS_AT_ONCE):
        some = ports[:, low : low + ROWS_AT_ONCE]
        looped |= (some == np.arange(low, low + some.shape[1], dtype=np.int32)[:, None]).any(axis=(1, 2))
    wide = [width > plan.degree and (own != NO_PORT).any(axis=0).sum() > plan.degree for own, plan in zip(ports, plans)]
    for wrong, what in (
        (nodes != [prod(plan.radices) for plan in plans], "node count differs from the plan"),
        (np.array(wide), "more ports than the plan says"),
        (
            (flat.min(axis=1, initial=0) < NO_PORT) | (flat.max(axis=1, initial=NO_PORT) >= nodes),
            "a port leads outside the network",
        ),
        (looped, "a link from a node to itself"),
    ):
        assert not wrong.any(), f"{names[int(wrong.argmax())]}: {what}"
    if plans[0].directed or not width:
        return
    first = np.arange(many, dtype=np.int32)[:, None, None] * np.int32(n)
    whole = ports[0] if many == 1 else np.where(ports == NO_PORT, ports, ports + first).reshape(-1, width)
    if not is_symmetric(whole, None if capacity is None else capacity.reshape(-1, width)):
        each = (None if capacity is None else capacity[place] for place in range(many))
        name = next(name for name, *arrays in zip(names, ports, each) if not is_symmetric(*arrays))
        raise AssertionError(f"{name}: a link has one direction only in a network declared bidirectional")


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
