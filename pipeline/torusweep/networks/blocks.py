"""Blocks of networks: many networks of one size, stacked into one set of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import bind, build, built, parameters, plan
from torusweep.networks.families.dragonfly import dragonfly, megafly
from torusweep.networks.families.grids import drawn_networks
from torusweep.networks.families.low_diameter import jellyfish, random_regular, xpander
from torusweep.networks.families.modified import faulty_networks
from torusweep.networks.seed_runs import SEED, SeedRun, seed_run
from torusweep.networks.spelling import parse
from torusweep.networks.topology import NO_PORT, Plan, Topology, Wirings

DRAWN = (random_regular, jellyfish, xpander, dragonfly, megafly)
# family → a function that takes its arguments, with a range of seeds for the seed, and returns the arrays of all of its
# networks; None where one by one says more of what is wrong
BUILDERS: dict[str, Callable[[dict[str, Any]], Wirings | None]] = {
    "faulty": faulty_networks,
    **{family.__name__: partial(drawn_networks, family) for family in DRAWN},
}


class Block(NamedTuple):
    """B networks of at most N nodes, stacked into one set of arrays.

    spellings   canonical, B of them
    ports       int32[B, N, P]         N and P are the block's largest. Smaller networks are padded with missing ports
                                       and with nodes that have neither links nor terminals, as if these had failed
    link_class  int8[B, N, P]
    capacity    int32[B, N, P] | None  parallel links; None = 1 everywhere
    terminals   int32[B, N] | None     terminals of each node; None = 1 each
    plans       B plans; a run of seeds shares one. None for refused networks. Direction, bandwidths and
                latencies of link classes are the same of all
    refused     why networks do not exist, by their place; their ports have no links
    """

    spellings: list[str]
    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray | None
    plans: list[Plan | None]
    refused: dict[int, BadInput]

    @property
    def plan(self) -> Plan | None:
        """The first plan of the block; None where all networks are refused."""
        return next(filter(None, self.plans), None)


def block_of_run(run: SeedRun) -> Block:
    """The networks of a run of seeds. If one cannot exist, `Block.refused` says why.

    Raises BadInput for a name or a parameter that does not exist, or a value of the wrong type or out of range; Refused
    for a network that needs too much memory.
    """
    spellings = list(run.spellings)
    first = parse(spellings[0])
    _, values = bind(first)
    builder = BUILDERS.get(first.name)
    if builder is None:
        return one_by_one(spellings)
    if first.inner is not None:
        values[parameters(first.name)[0].name] = plan(first.inner)
    wired = builder(values | {SEED: range(run.first, run.last + 1)})
    if wired is None:
        return one_by_one(spellings)
    exists = [place not in wired.refused for place in range(run.size)]
    planned = plan(spellings[exists.index(True)])[1] if any(exists) else None
    return Block(
        spellings,
        wired.ports,
        wired.link_class,
        wired.capacity,
        wired.terminals,
        [planned if there else None for there in exists],
        {place: BadInput(f"{spellings[place]}: {reason}") for place, reason in wired.refused.items()},
    )


def one_by_one(spellings: Sequence[str]) -> Block:
    """Build networks of one size one after the other, and stack their arrays."""
    found: list[Block] = []
    for spelling in spellings:
        try:
            found.append(alone(build(spelling)))
        except Refused:
            raise
        except BadInput as refusal:
            nothing = np.zeros((1, 0, 0), np.int32)
            found.append(Block([spelling], nothing, nothing.astype(np.int8), None, None, [None], {0: refusal}))
    plans = [block.plan for block in found if block.plan]
    nodes = {planned.nodes for planned in plans}
    if len(nodes) > 1:
        raise BadInput(f"expected networks of one size in a block, got {min(nodes)} … {max(nodes)} nodes")
    if len({(planned.directed, planned.bandwidths, planned.latencies) for planned in plans}) > 1:
        raise BadInput("expected networks in a block whose link classes have the same bandwidths and latencies")
    return joined(found)


def block_of_networks(networks: Iterable[tuple[str, Plan]], memory: int | None = None) -> Block:
    """Put networks and runs of seeds into one block, in order.

    networks   (canonical spelling, plan) of each network; a run of seeds has the plan of its first network
    memory     limit in bytes, as for `torusweep.networks.families.build`, which also says what is raised. Networks of a
               run that cannot exist stand in `refused`
    """
    found = []
    for topology, planned in networks:
        run = seed_run(topology)
        if run is None:
            found.append(alone(built(topology, planned, memory)))
        else:
            found.append(block_of_run(run))
    return joined(found)


def alone(network: Topology) -> Block:
    """The block of one network."""
    terminals = np.bincount(network.terminals, minlength=network.nodes).astype(np.int32)
    return Block(
        [network.spelling],
        network.ports[None],
        network.link_class[None],
        None if network.capacity is None else network.capacity[None],
        None if (terminals == 1).all() else terminals[None],
        [network.plan],
        {},
    )


def joined(blocks: Sequence[Block]) -> Block:
    """Join blocks into one, with their networks in order."""
    if len(blocks) == 1:
        return blocks[0]
    shapes = [block.ports.shape for block in blocks]
    shape = sum(many for many, _, _ in shapes), *(max((size[axis] for size in shapes), default=0) for axis in (1, 2))
    ports, kind, terminals = np.full(shape, NO_PORT, np.int32), np.zeros(shape, np.int8), np.zeros(shape[:2], np.int32)
    capacity = None if all(block.capacity is None for block in blocks) else np.ones(shape, np.int32)
    spellings: list[str] = []
    plans: list[Plan | None] = []
    refused: dict[int, BadInput] = {}
    for block, (many, nodes, width) in zip(blocks, shapes):
        own = slice(len(plans), len(plans) + many), slice(nodes), slice(width)
        ports[own], kind[own] = block.ports, block.link_class
        if capacity is not None and block.capacity is not None:
            capacity[own] = block.capacity
        terminals[own[:2]] = 1 if block.terminals is None else block.terminals
        refused |= {len(plans) + place: reason for place, reason in block.refused.items()}
        spellings += block.spellings
        plans += block.plans
    return Block(spellings, ports, kind, capacity, None if (terminals == 1).all() else terminals, plans, refused)
