"""Blocks of networks of one size: the arrays for many values of a parameter, by a builder or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import FAMILIES, bind, build, parameters, plan
from torusweep.networks.families.cubes import grids
from torusweep.networks.families.dragonfly import dragonfly, megafly
from torusweep.networks.families.grids import drawn_networks
from torusweep.networks.families.low_diameter import jellyfish, random_regular, xpander
from torusweep.networks.families.modified import faulty_networks
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
    ports       int32[B, N, P]         P is that of the network with most; the others have no links at the last ones
    link_class  int8[B, N, P]
    capacity    int32[B, N, P] | None  parallel links; None = 1 everywhere
    terminals   int32[B, N] | None     terminals of each node; None = 1 each
    plan        of the first network that is not refused; direction, bandwidths and latencies of its link classes
                are those of all. None where all are refused
    refused     why networks do not exist, by their place; their ports have no links
    """

    spellings: list[str]
    ports: np.ndarray
    link_class: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray | None
    plan: Plan | None
    refused: dict[int, BadInput]


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
    built = None if builder is None else builder({**calls.fixed, parameter: calls.values}, parameter)
    spellings = list(map(calls.spelling, calls.values))
    if built is None:
        return one_by_one(spellings)
    first = next((place for place in range(len(values)) if place not in built.refused), None)
    return Block(
        spellings,
        built.ports,
        built.link_class,
        built.capacity,
        built.terminals,
        None if first is None else plan(spellings[first])[1],
        {place: BadInput(f"{spellings[place]}: {reason}") for place, reason in built.refused.items()},
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
    """The arrays of networks that are built one after the other."""
    found: dict[int, Topology] = {}
    refused: dict[int, BadInput] = {}
    for place, spelling in enumerate(spellings):
        try:
            found[place] = build(spelling)
        except Refused:
            raise
        except BadInput as refusal:
            refused[place] = refusal
    nodes = {topology.nodes for topology in found.values()}
    if len(nodes) > 1:
        raise BadInput(f"expected networks of one size in a block, got {min(nodes)} … {max(nodes)} nodes")
    plans = {(one.directed, one.plan.bandwidths, one.plan.latencies) for one in found.values()}
    if len(plans) > 1:
        raise BadInput("expected networks in a block whose link classes have the same bandwidths and latencies")
    width = max((topology.ports.shape[1] for topology in found.values()), default=0)
    shape = len(spellings), nodes.pop() if nodes else 0, width
    ports, kind = np.full(shape, NO_PORT, np.int32), np.zeros(shape, np.int8)
    parallel = any(topology.capacity is not None for topology in found.values())
    capacity = np.ones(shape, np.int32) if parallel else None
    terminals = np.ones(shape[:2], np.int32)
    for place, topology in found.items():
        used = topology.ports.shape[1]
        ports[place, :, :used], kind[place, :, :used] = topology.ports, topology.link_class
        if capacity is not None and topology.capacity is not None:
            capacity[place, :, :used] = topology.capacity
        terminals[place] = np.bincount(topology.terminals, minlength=shape[1])
    some = next(iter(found.values()), None)
    alike = bool((terminals == 1).all())
    return Block(
        list(spellings), ports, kind, capacity, None if alike else terminals, some.plan if some else None, refused
    )
