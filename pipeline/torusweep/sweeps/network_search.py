"""Find all networks that meet a requirement, such as "every family with 4000 to 4200 nodes and degree at most 6".

*Every family* means every family whose parameters are whole numbers or are given under `parameters`. Graph files,
matrices of lattices, faulty networks and mixed radices are only included if they are given. The same holds for
parameters that do not change the number of nodes and may have many values (the length of a twist gives thousands of
networks). If such a parameter has few values (q, the number of intact dimensions), all are tried. A parameter with a
default (directed) keeps its default. A family with random links has a network of every size, so it must be named, or
its seed be given.

The number of nodes grows with every size parameter. Therefore sizes are found by bisection, with a few hundred plans
for each family, however large the networks are.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from torusweep.errors import BadInput, Refused, nearest
from torusweep.networks.families import FAMILIES, parameters, plan
from torusweep.networks.signature import FamilyParameter
from torusweep.networks.spelling import Spelling, parse
from torusweep.networks.topology import Plan
from torusweep.sweeps.configuration.schema import Requirement

_RANGE = ("from", "to", "step", "count")
_EXAMPLE = "{from: 4, to: 32, step: 4}"
LARGEST = 10**18  # numbers in configurations and spellings have fewer than 19 digits
SIZE_GAP = 64  # greatest difference of successive permitted sizes of a family: k even and a multiple of n - 1 ≤ 29
OUTER_GAP = 4  # the same for other parameters, such as dimensions and levels
MOST_GIVEN = 10_000  # combinations of given parameters, each of which is searched
LOOKED_AT = 4  # sizes that are examined, as a multiple of limits.points; a degree or a constraint may exclude some
SEED = "seed"  # parameter of families with random links
MANY = 32  # more values than q or the number of intact dimensions (at most 28) can have


def values_of(parameter: FamilyParameter, given: Any) -> Sequence[Any]:
    """Return the values that a configuration gives for a parameter: one value, a list of values, or a range.

    If values are lists themselves, [8, 4, 4] is one value and [[8, 4, 4], [16, 8]] are two. A range such as
    {from: 4, to: 32, step: 4} is not listed. A network inside a network is given as a spelling. Raises BadInput for
    anything else.
    """
    if isinstance(given, dict) and any(isinstance(key, str) for key in given):
        return _range(given)
    many = isinstance(given, list) and _depth(given) > _depth_of_kind(parameter.kind)
    values = given if many else [given]
    if not values:
        raise BadInput("expected at least one value, got an empty list")
    return [_value(parameter, value) for value in values]


def count(choices: Iterable[Sequence[Any]]) -> int:
    """Return the number of combinations of one value from each sequence."""
    return prod(len(values) for values in choices)


def _value(parameter: FamilyParameter, value: Any) -> Any:
    if parameter.kind is Plan:
        if not isinstance(value, str):
            raise BadInput(f"expected a topology such as torus(k=8, n=3), got {value!r}")
        return parse(value)
    if not _is_data(value):
        raise BadInput(f"expected a whole number, a list of values or a range {_EXAMPLE}, got {value!r}")
    return value


def _is_data(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_data(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, int) and _is_data(item) for key, item in value.items())
    return isinstance(value, (int, str, Spelling))


def _range(given: dict[Any, Any]) -> range:
    for key, number in given.items():
        if key not in _RANGE:
            raise BadInput(f"unknown key '{key}'{nearest(str(key), _RANGE)}; a range is written {_EXAMPLE}")
        if not isinstance(number, int) or isinstance(number, bool):
            raise BadInput(f"{key}: expected a whole number, got {number!r}")
    if "from" not in given or "to" not in given:
        raise BadInput(f"expected a range with 'from' and 'to', as in {_EXAMPLE}, got {given}")
    first, last, many = given["from"], given["to"], given.get("count")
    step = given.get("step", 1)
    if many is not None:
        if "step" in given or many < 2 or first >= last or (last - first) % (many - 1):
            raise BadInput(
                "expected a range with step, or with a count of 2 or more that divides it into whole numbers,"
                f" got {given}; write {_EXAMPLE} or {{from: 4, to: 32, count: 8}}"
            )
        step = (last - first) // (many - 1)
    if step < 1 or first > last or max(abs(first), abs(last)) >= LARGEST:
        raise BadInput(
            f"expected from ≤ to, fewer than 19 digits and a step ≥ 1, got from {first} to {last} step {step}"
        )
    return range(first, last + 1, step)


def _depth(value: Any) -> int:
    return 1 + _depth(value[0]) if isinstance(value, list) and value else int(isinstance(value, list))


def _depth_of_kind(kind: Any) -> int:
    """Return the depth of nested lists in a value of a parameter's type: 0 for k, 1 for radices, 2 for a matrix."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, types.UnionType) or origin is typing.Union:
        return max(_depth_of_kind(option) for option in inner)
    return 1 + _depth_of_kind(inner[0]) if origin is list else 0


class SizeParameter(NamedTuple):
    """A parameter of whole numbers, whose values are searched."""

    name: str
    minimum: int
    maximum: int | None


def meeting(requirement: Requirement, limit: int) -> Iterator[tuple[str, Plan]]:
    """Yield (canonical spelling, plan) of every network that meets a requirement, family by family.

    Raises BadInput for an unknown family or parameter, and for a listed family that cannot be searched. Raises Refused
    if far more than `limit` networks would have to be examined.
    """
    families = _families(requirement)
    known = {parameter.name for name in families for parameter in parameters(name)}
    for key in requirement.parameters:
        if key not in known:
            raise BadInput(
                f"parameters: unknown parameter '{key}'{nearest(key, known)};"
                f" the families asked take {', '.join(sorted(known))}"
            )
    tried = 0
    for name in families:
        given = {p.name: _given(p, requirement) for p in parameters(name) if p.name in requirement.parameters}
        tried += count(given.values())
        if tried > MOST_GIVEN:
            raise Refused(
                f"parameters: {tried:,} combinations up to {name};"
                f" at most {MOST_GIVEN:,} are tried: give fewer values, or name the families"
            )
        for values in product(*given.values()):
            yield from _Family(name, dict(zip(given, values)), requirement, limit).networks()


def _given(parameter: FamilyParameter, requirement: Requirement) -> Sequence[Any]:
    """Return the given values of a parameter, except those outside the range that the family allows."""
    try:
        values = values_of(parameter, requirement.parameters[parameter.name])
    except BadInput as error:
        raise BadInput(f"parameters.{parameter.name}: {error}") from None
    whole = parameter.whole
    if whole is None or not values or not all(type(value) is int for value in (values[0], values[-1])):
        return values
    if isinstance(values, range):  # is not listed, because it may be long
        most = values[-1] if whole.maximum is None else min(values[-1], whole.maximum)
        first = values.start + max(0, -(-(whole.minimum - values.start) // values.step)) * values.step
        return range(first, most + 1, values.step)
    return [value for value in values if type(value) is not int or whole.contains(value)]


def _families(requirement: Requirement) -> list[str]:
    """Return the families to search. 'all' leaves out families that cannot be searched; in a list they are errors."""
    wanted = list(FAMILIES) if requirement.families == "all" else list(dict.fromkeys(requirement.families))
    for name in [*wanted, *requirement.excluded]:
        if name not in FAMILIES:
            raise BadInput(f"unknown family '{name}'{nearest(name, FAMILIES)}; 'torusweep topologies' lists all")
    found = []
    for name in wanted:
        missing = [p.name for p in parameters(name) if p.name not in requirement.parameters and _needed(p)]
        if missing and requirement.families != "all":
            raise BadInput(
                f"family '{name}' has no size of its own: give {', '.join(missing)} under parameters,"
                " or write its networks one by one"
            )
        drawn = any(p.name == SEED and p.name not in requirement.parameters for p in parameters(name))
        if not missing and name not in requirement.excluded and not (drawn and requirement.families == "all"):
            found.append(name)
    return found


def _needed(parameter: FamilyParameter) -> bool:
    return parameter.required and parameter.whole is None


class _Family:
    """A search in one family with given parameters. The first free parameter is the size, varied in the inner loop."""

    def __init__(self, name: str, given: dict[str, Any], requirement: Requirement, limit: int) -> None:
        self.name, self.given, self.limit = name, given, limit
        self.requirement = requirement
        self.lowest, self.highest = requirement.nodes.lowest, requirement.nodes.highest
        free = [
            SizeParameter(p.name, p.whole.minimum, p.whole.maximum)
            for p in parameters(name)
            if p.whole is not None and p.name not in given and (p.required or p.default is None)
        ]
        self.size: SizeParameter | None = free[0] if free else None
        self.outer = free[1:]
        self.growing: set[str] = set()  # outer parameters that make the network larger

    def networks(self) -> Iterator[tuple[str, Plan]]:
        if self.size is None:
            found = self.plan({})
            if found is not None and self.fits(found[1]):
                yield found
            return
        self.growing = {
            parameter.name for parameter in self.outer if self.effect(parameter, range(1, OUTER_GAP + 1)) is True
        }
        many = [parameter.name for parameter in self.outer if self.effect(parameter, [MANY]) is False]
        if not many:
            yield from self.walk(self.outer, {})
        elif self.requirement.families != "all":
            raise BadInput(
                f"family '{self.name}': {' and '.join(many)} may have many values at one size;"
                " give some under parameters"
            )

    def plan(self, values: dict[str, Any]) -> tuple[str, Plan] | None:
        """Return (canonical spelling, plan) of the network with these values; None if the family's rules forbid it."""
        try:
            return plan(Spelling(self.name, self.given | values))
        except BadInput:
            return None

    def fits(self, found: Plan) -> bool:
        wanted = self.requirement
        return (
            self.lowest <= found.nodes <= self.highest
            and (wanted.degree is None or wanted.degree.lowest <= found.degree <= wanted.degree.highest)
            and (wanted.directed is None or wanted.directed == found.directed)
        )

    def effect(self, parameter: SizeParameter, steps: Iterable[int]) -> bool | None:
        """Return whether increasing a parameter by one of `steps`, at the same size, changes the number of nodes.

        Returns None if the parameter cannot be increased at any size.
        """
        assert self.size is not None
        others = {other.name: other.minimum for other in self.outer}
        for step, size in product(steps, range(self.size.minimum, self.size.minimum + SIZE_GAP)):
            first = self.plan({**others, self.size.name: size})
            second = self.plan({**others, parameter.name: parameter.minimum + step, self.size.name: size})
            if first is not None and second is not None:
                return first[1].nodes != second[1].nodes
        return None

    def walk(self, outer: Sequence[SizeParameter], values: dict[str, int]) -> Iterator[tuple[str, Plan]]:
        """Yield the networks for all values of the outer parameters whose smallest network is not too large."""
        if not outer:
            yield from self.sizes(values)
            return
        for value, least in self.values(outer, values):
            if least <= self.highest:
                yield from self.walk(outer[1:], {**values, outer[0].name: value})

    def values(self, outer: Sequence[SizeParameter], values: dict[str, int]) -> Iterator[tuple[int, int]]:
        """Yield (value of the first outer parameter, nodes of its smallest network) while these may be small enough."""
        parameter, *rest = outer
        grows = parameter.name in self.growing
        misses, value = 0, parameter.minimum
        while misses < OUTER_GAP and (parameter.maximum is None or value <= parameter.maximum):
            least = self.least(rest, {**values, parameter.name: value})
            misses = misses + 1 if least is None else 0
            if least is not None:
                yield value, least
                if (grows and least > self.highest) or (not grows and value - parameter.minimum >= MANY):
                    return
            value += 1

    def least(self, outer: Sequence[SizeParameter], values: dict[str, int]) -> int | None:
        """Return the number of nodes of the smallest network with these values; None if there is no such network."""
        if not outer:
            assert self.size is not None
            return self.nodes_from(self.size.minimum, values)
        return min((least for _, least in self.values(outer, values)), default=None)

    def nodes_from(self, start: int, values: dict[str, int]) -> int | None:
        """Return the number of nodes at the least permitted size from `start` on; None if there is no such size."""
        assert self.size is not None
        for size in range(start, start + SIZE_GAP):
            if (found := self.plan({**values, self.size.name: size})) is not None:
                return found[1].nodes
        return None

    def sizes(self, values: dict[str, int]) -> Iterator[tuple[str, Plan]]:
        """Yield the networks of all permitted sizes that meet the requirement."""
        assert self.size is not None
        sizes = range(self.first_above(self.lowest - 1, values), self.first_above(self.highest, values))
        if len(sizes) > LOOKED_AT * self.limit + SIZE_GAP:
            least = ", ".join(f"{key}={value}" for key, value in {**self.given, **values}.items())
            raise Refused(
                f"{self.name}({least}): about {len(sizes):,} networks to look at; limits.points is {self.limit:,}:"
                " narrow 'nodes', except the family, or give 'parameters' that leave them out, as n: {from: 2, to: 30}"
            )
        for size in sizes:
            found = self.plan({**values, self.size.name: size})
            if found is not None and self.fits(found[1]):
                yield found

    def first_above(self, nodes: int, values: dict[str, int]) -> int:
        """Return the least size from which on all networks exceed `nodes` nodes; about LARGEST if there is none."""
        assert self.size is not None

        def above(size: int) -> bool:
            found = self.nodes_from(size, values)
            return found is None or found > nodes

        low, step = self.size.minimum - 1, 1
        while step < LARGEST and not above(low + step):
            low, step = low + step, 2 * step
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if above(middle) else (middle, high)
        return high
