"""The parts of a network that can fail (links, routers or cubes), and what is left after each draw of failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import NamedTuple

import numpy as np
from torusweep_kernels.failures import Failures, Network, Outcomes, Parts, after_failures
from torusweep_kernels.threads import in_threads, thread_count

from torusweep.collectives.operations import hops_between
from torusweep.errors import BadInput, nearest
from torusweep.networks.families import family_of
from torusweep.networks.families.slices import CUBE
from torusweep.networks.links import network_after
from torusweep.networks.topology import NO_PORT, Plan, Topology, addresses, node_index
from torusweep.questions.how import How

GRIDS = ("torus", "mesh", "slice", "pod_slice")  # families whose addresses are coordinates in space
PODS = ("cube_pod",)  # families in which the last digit of an address is the number of the cube


class Failing(NamedTuple):
    """A network and its parts that can fail, in the kernel's form.

    names   int64[M, K]: what identifies each part: the two ends of a link, the node of a router, the number of a cube
    """

    network: Network
    parts: Parts
    names: np.ndarray


def failing_parts(topology: Topology, fails: str) -> Failing:
    """List the parts of a network that can fail.

    fails   kind of part: "links" (both directions are one part, parallel links are several), "routers" (all working
            nodes, with or without terminals), or "cubes" (blocks of nodes that fail together, see `cube_of_node`)
    """
    terminals = np.bincount(topology.terminals, minlength=topology.nodes)
    network = Network(topology.ports, topology.capacity, terminals, topology.directed)
    parts, names = FAILS[fails](topology)
    return Failing(network, parts, names)


def _links(topology: Topology) -> tuple[Parts, np.ndarray]:
    width = topology.ports.shape[1]
    tail, head, port = (array.astype(np.int64) for array in topology.arcs)
    if not topology.directed:
        once = tail < head
        tail, head, port = tail[once], head[once], port[once]
    channels = [tail * width + port]
    if not topology.directed:
        back = np.nonzero(topology.ports[head] == tail[:, None])[1]  # the port back, exactly one for each link
        channels.append(head * width + back)
    ways = np.stack(channels, axis=1)
    names = np.stack([tail, head], axis=1)
    if topology.capacity is not None:
        each = np.repeat(np.arange(len(tail)), topology.capacity[tail, port])
        ways, names = ways[each], names[each]
    start = np.arange(len(ways) + 1) * ways.shape[1]
    return Parts(start, ways.reshape(-1), False), names


def _routers(topology: Topology) -> tuple[Parts, np.ndarray]:
    working = np.flatnonzero(topology.works)
    return Parts(np.arange(len(working) + 1), working, True), working[:, None]


def _cubes(topology: Topology) -> tuple[Parts, np.ndarray]:
    cube = cube_of_node(topology.spelling, topology.plan)
    nodes = np.argsort(cube, kind="stable")
    number, start = np.unique(cube[nodes], return_index=True)
    return Parts(np.append(start, len(nodes)), nodes, True), number[:, None]


FAILS: dict[str, Callable[[Topology], tuple[Parts, np.ndarray]]] = {
    "links": _links,
    "routers": _routers,
    "cubes": _cubes,
}


def fails_of(names: Iterable[str]) -> list[str]:
    """Return the given kinds of parts without repetitions. Raises BadInput for a name that is not in FAILS."""
    found = list(dict.fromkeys(names))
    for name in found:
        if name not in FAILS:
            raise BadInput(f"unknown part '{name}'{nearest(name, FAILS)}; expected {', '.join(FAILS)}")
    return found


def cube_count(spelling: str, plan: Plan) -> int:
    """Return the number of cubes of a network. Raises BadInput for a network without cubes."""
    family = family_of(spelling)
    if family in PODS:
        return plan.radices[-1]
    if family not in GRIDS:
        raise BadInput(
            f"cubes of {spelling}: expected one of {', '.join((*PODS, *GRIDS))}, whose nodes are blocks in space;"
            " let routers fail instead"
        )
    if any(side % CUBE for side in plan.radices):
        raise BadInput(
            f"cubes of {spelling}: expected sides that are multiples of {CUBE},"
            f" got {' × '.join(map(str, plan.radices))}; let routers fail instead"
        )
    return prod(side // CUBE for side in plan.radices)


def cube_of_node(spelling: str, plan: Plan) -> np.ndarray:
    """Return each node's cube, int64[N]: its last digit in a pod, in a grid a block with 4 nodes along each axis."""
    cube_count(spelling, plan)
    digits = addresses(plan.radices)
    if family_of(spelling) in PODS:
        return digits[:, -1].astype(np.int64)
    return node_index(digits // CUBE, [side // CUBE for side in plan.radices]).astype(np.int64)


def most_parts(plan: Plan, spelling: str, fails: str) -> int:
    """Return an upper bound of the parts that can fail; parallel links count once. Raises as `cube_count` does."""
    if fails == "cubes":
        return cube_count(spelling, plan)
    return plan.nodes if fails == "routers" else plan.nodes * plan.degree // (1 if plan.directed else 2)


def check_count(failing: Failing, fails: str, failures: int | None, spelling: str) -> None:
    """Raise BadInput if more parts are to fail than the network has."""
    most = len(failing.names)
    if failures is not None and failures > most:
        raise BadInput(f"expected at most the {most:,} {fails} of {spelling} to fail, got {failures:,}; choose fewer")


def left_after(topology: Topology, failing: Failing, failures: Failures, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, after a draw, each channel's remaining parallel links, int32[N, P], and which nodes work, bool[N]."""
    parts, (start, part) = failing.parts, failures
    failed = part[start[draw] : start[draw + 1]]
    member = np.concatenate([parts.member[:0], *(parts.member[parts.start[m] : parts.start[m + 1]] for m in failed)])
    present = topology.ports != NO_PORT
    left = np.where(present, 1 if topology.capacity is None else topology.capacity, 0).astype(np.int32)
    works = np.ones(topology.nodes, bool)
    if parts.of_nodes:
        works[member] = False
        left[~(works[:, None] & np.append(works, False)[topology.ports])] = 0
    else:
        np.subtract.at(left.reshape(-1), member, 1)
    return left, works


def outcomes_of(
    topology: Topology, failing: Failing, failures: Failures, options: How, *, distances: bool
) -> tuple[Outcomes, np.ndarray]:
    """Return the outcome of each draw, and bool[D]: whether a terminal survives and all survivors reach each other.

    If hosts forward nothing, draws are examined one by one, always with distances. `largest` then is the largest number
    of terminals that a terminal reaches and is reached from, including itself.
    """
    if topology.ends is None:
        network, parts, _ = failing
        backend, threads = options.backend, options.threads
        found = after_failures(network, parts, failures, distances=distances, backend=backend, threads=threads)
        return found, (found.surviving > 0) & (found.surviving == found.largest)

    def of_draw(draw: int) -> tuple[int, ...]:
        network = network_after(topology, *left_after(topology, failing, failures, draw))
        hosts, many = np.unique(network.terminals, return_counts=True)
        if not len(hosts):
            return 0, 0, 0, 0, 0
        hops = hops_between(network, hosts)[:, hosts]
        both = (hops >= 0) & (hops.T >= 0)
        away = np.maximum(hops, 0).astype(np.int64)
        return int(many.sum()), int((both @ many).max()), int(many @ away @ many), int(away.max()), int(both.all())

    drawn = in_threads(of_draw, range(len(failures.start) - 1), thread_count(options.threads))
    *columns, joined = np.array(drawn, np.int64).reshape(-1, 5).T
    return Outcomes(*columns), joined > 0
