"""Stack the arrays of several networks into one block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import bind, build, built, parameters, plan
from torusweep.networks.families.dragonfly import dragonfly, megafly
from torusweep.networks.families.low_diameter import jellyfish, random_regular, xpander
from torusweep.networks.families.modified import faulty_networks
from torusweep.networks.families.wiring import UnitSteps, drawn_networks, wirings_of_steps
from torusweep.networks.realisation import check_ports, check_size
from torusweep.networks.seed_runs import SEED, Planned, SeedRun
from torusweep.networks.spelling import parse
from torusweep.networks.topology import NO_PORT, Plan, Topology, Wirings, default_memory

DRAWN = (random_regular, jellyfish, xpander, dragonfly, megafly)
# family → function that takes the family's arguments, with a range of seeds as the seed, and returns the arrays of all
# networks; it returns None if building the networks one by one gives a better error
BUILDERS: dict[str, Callable[[dict[str, Any]], Wirings | None]] = {
    "faulty": faulty_networks,
    **{family.__name__: partial(drawn_networks, family) for family in DRAWN},
}


class Block(NamedTuple):
    """B networks of at most N nodes, stacked into one set of arrays.

    spellings   B canonical spellings
    ports       int32[B, N, P]         N and P are the largest in the block. Smaller networks are padded with missing
                                       ports, and with nodes that have neither links nor terminals, like failed nodes
    link_class  int8[B, N, P]          link class of each port
    capacity    int32[B, N, P] | None  number of parallel links; None = 1 everywhere
    terminals   int32[B, N] | None     number of terminals at each node; None = 1 at each
    plans       B plans; None for a refused network. All networks of a run of seeds share one plan. All plans have
                the same direction, bandwidths and latencies of link classes
    refused     place of each refused network → why the network cannot exist; its ports have no links
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
        """The first plan of the block; None if all networks are refused."""
        return next(filter(None, self.plans), None)


def block_of_run(run: SeedRun) -> Block:
    """Build all networks of a run of seeds. `Block.refused` holds the reason for each network that cannot exist.

    Raises BadInput for an unknown family or parameter, or a value of the wrong type or out of range; Refused for a
    network that needs too much memory.
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
    plans = [planned if there else None for there in exists]
    refused = {place: BadInput(f"{spellings[place]}: {reason}") for place, reason in wired.refused.items()}
    return Block(spellings, wired.ports, wired.link_class, wired.capacity, wired.terminals, plans, refused)


def one_by_one(spellings: Sequence[str]) -> Block:
    """Build networks of equal size one after another, and stack their arrays into one block."""
    found: list[Block] = []
    for spelling in spellings:
        try:
            found.append(alone(build(spelling)))
        except Refused:
            raise
        except BadInput as refusal:
            nothing = np.zeros((1, 0, 0), np.int32)
            found.append(Block([spelling], nothing, nothing.astype(np.int8), None, None, [None], {0: refusal}))
    return joined(found)


def block_of_networks(networks: Iterable[Planned], memory: int | None = None) -> Block:
    """Put networks and runs of seeds into one block, in order. Raises what `torusweep.networks.families.build` does.

    networks   (canonical spelling or run of seeds, plan) of each; a run has the plan of its first network
    memory     limit in bytes, as in `torusweep.networks.families.build`
    Networks of a run of seeds that cannot exist are listed in `Block.refused`.
    """
    found = []
    for run, some in groupby(networks, lambda one: one[0] if isinstance(one[0], SeedRun) else None):
        listed = [(str(spelling), planned) for spelling, planned in some]
        found.append(_listed(listed, memory) if run is None else block_of_run(run))
    return joined(found)


def _listed(networks: list[tuple[str, Plan]], memory: int | None) -> Block:
    """Build networks, and check them; networks that are alike are built together. Return them as a block."""
    alike = defaultdict[Hashable, list[int]](list)
    for place, (spelling, planned) in enumerate(networks):
        check_size(spelling, planned, default_memory() if memory is None else memory)
        steps = planned.wire if isinstance(planned.wire, UnitSteps) else None
        alike[(steps.shape.order, steps.directed) if steps else place].append(place)
    found = []
    for places in alike.values():
        spellings, plans = zip(*(networks[place] for place in places))
        if wires := [planned.wire for planned in plans if isinstance(planned.wire, UnitSteps)]:
            wired = wirings_of_steps(wires)
            found.append(Block([*spellings], wired.ports, wired.link_class, None, wired.terminals, [*plans], {}))
        else:
            found.append(alone(built(spellings[0], plans[0], memory, alone=False)))
    spellings, plans = zip(*networks)
    block, order = joined(found), np.argsort([place for places in alike.values() for place in places])
    capacity, terminals = (None if array is None else array[order] for array in (block.capacity, block.terminals))
    block = Block([*spellings], block.ports[order], block.link_class[order], capacity, terminals, [*plans], {})
    check_ports(spellings, plans, block.ports, capacity)
    return block


def alone(network: Topology) -> Block:
    """Return a block of one network."""
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
