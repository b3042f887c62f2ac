"""Blocks of networks: the arrays for many values of a parameter, by a builder or one by one, and of several such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import FAMILIES, bind, build, built, parameters, plan
from torusweep.networks.families.cubes import grids
from torusweep.networks.families.dragonfly import dragonfly, megafly
from torusweep.networks.families.grids import drawn_networks
from torusweep.networks.families.low_diameter import jellyfish, random_regular, xpander
from torusweep.networks.families.modified import faulty_networks
from torusweep.networks.seed_runs import SEED, seed_run
from torusweep.networks.signature import FamilyParameter, check_value
from torusweep.networks.spelling import Spelling, Value, format_value, parse
from torusweep.networks.topology import NO_PORT, Plan, Topology, Wirings

DRAWN = (random_regular, jellyfish, xpander, dragonfly, megafly)
# family → a function that takes its arguments, of which the named parameter is a list of values, and returns the arrays
# of all of them; None where it has no way to do so for that parameter
BUILDERS: dict[str, Callable[[dict[str, Any], str], Wirings | None]] = {
    "faulty": faulty_networks,
    "torus": partial(grids, wrap=True),
    "mesh": partial(grids, wrap=False),
    **{family.__name__: partial(drawn_networks, family) for family in DRAWN},
}


class Block(NamedTuple):
    """B networks of N nodes, of which the arrays of each one alone are a part.

    spellings   canonical, B of them
    ports       int32[B, N, P]         N and P are those of the networks with most; the others have no links at the last
                                       ports, and neither links nor terminals at the last nodes, as if these had failed
    link_class  int8[B, N, P]
    capacity    int32[B, N, P] | None  parallel links; None = 1 everywhere
    terminals   int32[B, N] | None     terminals of each node; None = 1 each
    plans       B; of a run of seeds they are that of one. None of those that are refused. Direction, bandwidths and
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
        """The first of its plans; None where all networks are refused."""
        return next(filter(None, self.plans), None)


def block_of(spelling: str | Spelling, parameter: str, values: Sequence[Value]) -> Block:
    """The networks of a spelling with each of the values of a parameter, which it need not have.

        block_of("faulty(torus(k=4, n=2), links=2)", "seed", range(1000))
        block_of("torus()", "radices", [[8, 8], [16, 4], [4, 4, 4]])

    Raises BadInput for a name or a parameter that does not exist, a value of the wrong type or out of range, or
    networks of different sizes; Refused for a network that needs too much memory. What a single network is refused for
    stands in `Block.refused`.
    """
    call = parse(spelling) if isinstance(spelling, str) else spelling
    if not len(values):
        return one_by_one([])
    calls = Calls(call, parameter, values)
    builder = BUILDERS.get(calls.name)
    wired = None if builder is None else builder({**calls.fixed, parameter: calls.values}, parameter)
    spellings = list(map(calls.spelling, calls.values))
    if wired is None:
        return one_by_one(spellings)
    first = next((place for place in range(len(values)) if place not in wired.refused), None)
    planned = None if first is None else plan(spellings[first])[1]
    return Block(
        spellings,
        wired.ports,
        wired.link_class,
        wired.capacity,
        wired.terminals,
        [None if place in wired.refused else planned for place in range(len(values))],
        {place: BadInput(f"{spellings[place]}: {reason}") for place, reason in wired.refused.items()},
    )


class Calls:
    """A call with each of many values of a parameter, checked as the family's signature has them.

    fixed   the other arguments; a network as (canonical spelling, plan)
    values  of the parameter
    """

    def __init__(self, call: Spelling, parameter: str, values: Sequence[Value]) -> None:
        call = replace(call, name=call.name.lower(), arguments={**call.arguments, parameter: values[0]})
        if call.name not in FAMILIES:
            plan(call)  # says which there are
        _, given = bind(call)
        known = parameters(call.name)
        self.name, self.fixed = call.name, dict(given)
        self.parameter = next(one for one in known if one.name == parameter)
        if self.parameter.kind is Plan:
            raise BadInput(f"{call}: expected a parameter with values, got '{parameter}', which is a network")
        for one in known:
            if one.kind is Plan:
                own = call.inner if call.inner is not None else call.arguments[one.name]
                assert isinstance(own, Spelling)
                self.fixed[one.name] = plan(own)
        self.values = self.checked(call, values)
        names = [one.name for one in known if one.name in given]
        shown = [self.shown(one, self.fixed[one.name]) for one in known if one.name in given]
        place = names.index(parameter)
        self.before, self.after = shown[:place], shown[place + 1 :]

    def checked(self, call: Spelling, values: Sequence[Value]) -> Sequence[Any]:
        """The values as the family takes them. Raises BadInput for one of the wrong type or out of range."""
        if isinstance(values, range) and self.parameter.kind is int:
            for end in (values[0], values[-1]):
                check_value(call, self.parameter, end)
            return values
        return [check_value(call, self.parameter, value) for value in values]

    def shown(self, parameter: FamilyParameter, value: Any) -> str:
        """The argument in the canonical spelling; empty where it has the default."""
        if parameter.kind is Plan:
            return str(value[0])
        if value == parameter.default and isinstance(value, bool) == isinstance(parameter.default, bool):
            return ""
        return f"{parameter.name}={format_value(value)}"

    def spelling(self, value: Any) -> str:
        """The canonical spelling with a value."""
        arguments = *self.before, self.shown(self.parameter, value), *self.after
        return f"{self.name}({', '.join(filter(None, arguments))})"


def one_by_one(spellings: Sequence[str]) -> Block:
    """The arrays of networks of one size that are built one after the other."""
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
    """Networks and runs of seeds in a block, in order.

    networks   (canonical spelling, plan) of each network; of a run (torusweep.networks.seed_runs) that of its first
    memory     as of `torusweep.networks.families.build`, which also says what is raised; what networks of a run are
               refused for stands in `refused`
    """
    found = []
    for topology, planned in networks:
        run = seed_run(topology)
        if run is None:
            found.append(alone(built(topology, planned, memory)))
        else:
            found.append(block_of(f"{run.before})", SEED, range(run.first, run.last + 1)))
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
    """The networks of some blocks in one, in order."""
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
