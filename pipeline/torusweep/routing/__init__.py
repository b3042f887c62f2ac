"""The table of routings, and the function that makes a routing from its spelling.

To add a routing, see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from torusweep.errors import BadInput, located
from torusweep.networks.realisation import realise
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Topology, default_memory
from torusweep.routing.any_network import minimal, minimal_ecmp, up_down
from torusweep.routing.clustering import clustering
from torusweep.routing.d_mod_k import d_mod_k
from torusweep.routing.dimension_order import (
    dimension_order,
    negative_first,
    north_last,
    random_order,
    reverse_order,
    romm,
    west_first,
)
from torusweep.routing.faults import as_far_as_joined, on_faulty
from torusweep.routing.forms import LayeredRouting, Moves, Routes, Routing, SourceRouting, TableRouting
from torusweep.routing.groups import by_group, valiant_by_group
from torusweep.routing.hierarchical import hierarchical
from torusweep.routing.hosts import expect_hosts_end
from torusweep.routing.lattices import minimal_by_address, routing_record
from torusweep.routing.tables.columns import table
from torusweep.routing.valiant import valiant
from torusweep.routing.weighted import weighted

ROUTINGS: dict[str, Callable[..., Routing]] = {
    routing.__name__: routing
    for routing in (
        *(minimal, minimal_ecmp, weighted),
        *(dimension_order, reverse_order, random_order, romm),
        *(west_first, north_last, negative_first),
        hierarchical,
        *(routing_record, minimal_by_address, clustering, valiant, up_down),
        *(by_group, valiant_by_group, d_mod_k, table),
    )
}
# computed on the network with its faults; other routings are computed on the whole network, less the broken routes
AS_IT_IS = ("minimal", "minimal_ecmp", "weighted", "up_down", "minimal_by_address", "valiant", "table")
ROUTING_OF_FAMILY = dict.fromkeys(("tesh", "h3dt", "mh3dt"), "hierarchical")
BY_OCCUPANCY = ("adaptive", "ugal", "progressive")  # for deadlock analysis and simulation; they have no expected loads
TURN_MODELS = ("west_first", "north_last", "negative_first")
SHORTEST_PATHS = ("minimal", "minimal_ecmp", "up_down", *TURN_MODELS)  # routings of shortest paths: a LayeredRouting
MOST_TRIED = 4096  # nodes of a network on which all routings are tried
OTHER_NAMES = {
    "dor": "dimension_order",
    "xy": "dimension_order",
    "xyz": "dimension_order",
    "yx": "reverse_order",
    "zyx": "reverse_order",
    "o1turn": "random_order",
    "westfirst": "west_first",
    "northlast": "north_last",
    "negativefirst": "negative_first",
    "ecmp": "minimal_ecmp",
    "updown": "up_down",
}
EXAMPLE = "minimal or dimension_order(tie=positive)"


@dataclass(frozen=True, eq=False)
class GivenRouting:
    """A routing without a spelling, made from a table in memory or a function. It may stand in place of a spelling.

    name   name of the routing in tables and messages
    form   the routing itself, on one network
    """

    name: str
    form: Routing

    def __str__(self) -> str:
        return self.name


def routing(spelling: str | GivenRouting, topology: Topology) -> tuple[str, Routing]:
    """Make the routing with a spelling such as `dimension_order(tie=positive)` on a network.

    Returns (canonical spelling, routing); for a `GivenRouting`, its name and its own form.
    Raises BadInput if the name or a parameter is wrong, or if the routing does not suit the network.
    """
    if not len(topology.terminals):
        raise BadInput(
            f"routing {spelling} on {topology.spelling}: expected terminals, which send, got none;"
            " choose a network with terminals"
        )
    if isinstance(spelling, GivenRouting):
        if spelling.form.topology is not topology:
            raise BadInput(
                f"routing {spelling.name} on {topology.spelling}: expected a routing of this network, got one of"
                f" {spelling.form.topology.spelling}; make it for this network"
            )
        try:
            expect_hosts_end(spelling.form)
        except BadInput as refusal:
            raise BadInput(f"routing {spelling.name} on {topology.spelling}: {refusal}") from None
        return spelling.name, spelling.form
    _check_oblivious(spelling.partition("(")[0].strip())
    with naming_what_fits(topology):
        canonical, function, values = resolve(spelling, ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)
    try:
        if topology.plan.whole is not None and function.__name__ not in AS_IT_IS:
            return canonical, _on_faulty(topology, canonical)
        form = function(topology, **values)
        expect_hosts_end(form)
        divided = topology.plan.whole is not None or topology.ends is not None
        return canonical, as_far_as_joined(form) if divided else form
    except BadInput as refusal:
        reason, about = str(refusal), f"routing {function.__name__} on {topology.spelling}: "
        raise type(refusal)(reason if reason.startswith(about) else about + reason) from None


@contextmanager
def naming_what_fits(topology: Topology) -> Iterator[None]:
    """Add to the refusal of an unknown routing the routings that suit a network of at most `MOST_TRIED` nodes."""
    try:
        yield
    except BadInput as refusal:
        if not str(refusal).startswith("unknown routing") or topology.nodes > MOST_TRIED:
            raise
        fitting = []
        for name in ROUTINGS:
            with suppress(BadInput):  # a table needs a file
                fitting.append(routing(name, topology)[0])
        raise type(refusal)(f"{refusal}; {topology.spelling} takes {', '.join(fitting)}, and a table") from None


@lru_cache(maxsize=4)  # callers ask for the routing of a network several times
def _on_faulty(topology: Topology, spelling: str) -> Routing:
    """Make a routing on the network without its faults, then remove broken routes. spelling: canonical spelling."""
    whole = topology.plan.whole
    assert whole is not None, "the caller asks"
    _, function, values = resolve(spelling, ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)
    before = realise(topology.spelling, topology.family, whole, default_memory())
    return on_faulty(function(before, **values), topology)


def _check_oblivious(name: str) -> None:
    if name in BY_OCCUPANCY:
        raise BadInput(
            f"routing {name}: expected an oblivious routing, got one that depends on the occupancy of channels;"
            " 'torusweep deadlock' analyses it, and 'torusweep simulate' runs it"
        )


def canonical(spelling: str | GivenRouting) -> str:
    """Return the canonical spelling of a routing. Raises BadInput if the name or a parameter is wrong."""
    if isinstance(spelling, GivenRouting):
        return spelling.name
    _check_oblivious(spelling.partition("(")[0].strip())
    return resolve(spelling, ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)[0]


def files_of(spelling: str | GivenRouting | None) -> list[Path]:
    """Return the files that the spelling of a routing names: the path of a `table`, and none for other routings."""
    if not isinstance(spelling, str) or spelling.partition("(")[0].strip() != table.__name__:
        return []
    _, _, values = resolve(spelling, ROUTINGS, kind="routing", example=EXAMPLE, others=OTHER_NAMES)
    return [located(str(values["path"]))]


def own_routing(family: str) -> str | None:
    """Return the name of the routing that a network family's own paper defines; None if the paper defines none."""
    return ROUTING_OF_FAMILY.get(family)


__all__ = [
    "AS_IT_IS",
    "BY_OCCUPANCY",
    "ROUTINGS",
    "SHORTEST_PATHS",
    "TURN_MODELS",
    "GivenRouting",
    "LayeredRouting",
    "Moves",
    "Routes",
    "Routing",
    "SourceRouting",
    "TableRouting",
    "canonical",
    "files_of",
    "naming_what_fits",
    "own_routing",
    "routing",
]
