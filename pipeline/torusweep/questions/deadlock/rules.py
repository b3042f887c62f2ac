"""Virtual-channel rules: a packet's class of virtual channels by its phase, datelines, hops, or a table.

To add a rule: write a function from a routing (and parameters, annotated like a family's) to a
`Rule`; describe the rule in the first line of its docstring and name the source in the last; list it in
RULES; add a row to the tests in tests/questions/deadlock/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Literal, NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import hops_from
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.families.hierarchies import Hierarchy
from torusweep.networks.signature import resolve
from torusweep.networks.topology import NO_PORT, Meaning, Topology, Whole, require
from torusweep.routing.forms import AdaptiveRouting, LayeredRouting, Routing, SourceRouting, TableRouting
from torusweep.routing.hierarchical import gate_phases, last_phases
from torusweep.routing.tables.as_table import table_of, with_hop_counts

MAX_VIRTUAL_CHANNELS = 16  # virtual channels of a physical channel
VIRTUAL_CHANNELS = Whole(1, "virtual channels of each physical channel", MAX_VIRTUAL_CHANNELS)
MOST_PAIRS = 1 << 22  # pairs of routers whose hops are counted: seconds
ALL_HOPS = -1  # in place of the link class whose hops are counted
EXAMPLE = "dateline or r05_wrap(reading=path)"
# The search tries these rules in this order for each number of virtual channels, without bubble, a flow control.
CANDIDATE_RULES = (
    *("none", "table"),
    *("r05_phases", "r05_phases(split=after_first)", "r05_phases(split=levels)"),
    *("dateline", "phases", "phases_dateline", "r05_wrap"),
)
COUNTING_RULES = ("hops", "class_hops")  # tried last, and only if routes are short
MOST_ROUTERS = 512  # largest number of routers with terminals for which rules that count hops are tried: seconds


class Rule(NamedTuple):
    """A virtual-channel rule of a routing.

    classes  int16[F, 2]  class 0, 1, …, by phase (a second pass has more phases) and by whether a dateline was crossed
    memory   how long a crossing counts: see `torusweep_kernels.dependencies.mark_routes`
    bubble   whether bubble flow control keeps a slot of every ring free
    form     the routing as a table that counts hops, whose phases are those of `classes`; None: the routing itself
    counted  link class whose hops the table `form` counts, −1 = all hops; None without a table
    """

    classes: np.ndarray
    memory: str = "run"
    bubble: bool = False
    form: TableRouting | None = None
    counted: int | None = None

    @property
    def number(self) -> int:
        """Number of classes of the rule."""
        return int(self.classes.max()) + 1

    def within(self, virtual_channels: int) -> np.ndarray:
        """Return the classes with only this many virtual channels, int8[F, 2]; higher classes become the last class."""
        return np.minimum(self.classes, virtual_channels - 1).astype(np.int8)

    def shares(self, virtual_channels: int) -> np.ndarray:
        """Return the number of virtual channels of each class, int64[C]; the lower classes take the remainder."""
        count = min(self.number, virtual_channels)
        return virtual_channels // count + (np.arange(count) < virtual_channels % count)


def none(routing: Routing) -> Rule:
    """Packets may use any virtual channel at any time.

    Source: the case that Dally & Seitz 1987, sec. 2, start from.
    """
    return Rule(np.zeros((_phases(routing), 2), np.int16))


def dateline(routing: Routing) -> Rule:
    """Class 0 until the packet crosses the dateline of the ring that it is in, class 1 from that hop on.

    A packet that does not cross a dateline uses class 0. A packet has one bit for every axis: if it returns to an
    axis in the same phase, it continues in the class that it had when it left the axis; a new phase starts at class 0.

    Constraint: a routing in directions, such as dimension_order.
    Source: Dally & Seitz 1987, sec. 4, with classes counted upwards.
    """
    _check_directions("dateline", routing)
    return Rule(_repeated([[0, 1]], _phases(routing)), "axis")


def phases(routing: Routing) -> Rule:
    """A class for every phase: an order of the dimensions (random_order), a half of the way (romm), a pass (valiant).

    Constraint: a routing in directions.
    Source: Seo et al. 2005 (O1TURN); Valiant & Brebner 1981 for the two passes.
    """
    _check_directions("phases", routing)
    each = np.arange(_phases(routing), dtype=np.int16)
    return Rule(np.stack([each, each], axis=1))


def phases_dateline(routing: Routing) -> Rule:
    """Two classes for every phase, told apart by a dateline.
    Also written phases+dateline.

    Constraint: a routing in directions.
    Source: the rules phases and dateline, combined.
    """
    _check_directions("phases_dateline", routing)
    first = np.arange(0, 2 * _phases(routing), 2, dtype=np.int16)
    return Rule(np.stack([first, first + 1], axis=1), "axis")


Reading = Annotated[
    Literal["dimension", "path", "will"],
    Meaning(
        "how long class 1 lasts: dimension: for the rest of the dimension; path: for the rest of the path;"
        " will: throughout a dimension whose wraparound is used"
    ),
]
Split = Annotated[
    Literal["last", "after_first", "levels"],
    Meaning(
        "where a higher class begins: last: in the destination's module; after_first: after the source's module;"
        " levels: at each level on the way"
    ),
]


def r05_wrap(routing: Routing, reading: Reading = "dimension") -> Rule:
    """Class 0 up to a wraparound link, class 1 from that link on.

    Constraint: a routing in directions, of one pass.
    Source: the rule in the proof of Rahman et al. 2005, Theorem 1, which leaves the three readings open.
    """
    _check_directions("r05_wrap", routing)
    if isinstance(routing, SourceRouting) and routing.passes > 1:
        raise BadInput(
            "rule r05_wrap: expected a routing of one pass, got one by way of a random node; choose phases_dateline"
        )
    memory = {"dimension": "run", "path": "path", "will": "ahead"}[reading]
    return Rule(_repeated([[0, 1]], _phases(routing)), memory)


def r05_phases(routing: Routing, split: Split = "last") -> Rule:
    """Classes by phase within modules, the highest in the destination's module; a dateline between modules.

    The dateline of the destination's module takes one virtual channel more than the split has classes.
    A torus module needs it if packets travel round its rings by more than one hop (m ≥ 5, or tie
    positive with m = 4).

    With L levels, the split by levels has L classes and is deadlock-free unless ties are split. A packet
    never returns to the class of a level that it has completed. Within that class it moves towards gates,
    which lie on at most three neighbouring planes, so no ring of a module closes. After a link of
    the level it moves only along the line of the level's gates, towards the gates of the next dimension.
    With two levels, last and levels are the same. With three, last is cyclic in mh3dt and h3dt,
    after_first in tesh.

    Constraint: routing hierarchical (tesh, h3dt, mh3dt).
    Source: with two levels, the rule that makes Theorem 1 of Rahman et al. 2005 true (docs/papers.md).
    """
    hierarchy = routing.topology.plan.structure
    if not (
        isinstance(routing, SourceRouting)
        and isinstance(hierarchy, Hierarchy)
        and routing.passes == 1
        and routing.phases == 2 * hierarchy.levels
    ):
        raise BadInput(
            "rule r05_phases: expected routing hierarchical, got another; choose dateline or phases_dateline"
        )
    classes = np.zeros((routing.phases, 2), np.int16)
    links, last = last_phases(hierarchy)
    classes[links] = [0, 1]
    classes[last] = [hierarchy.levels - 1, hierarchy.levels] if split == "levels" else [1, 2]
    for level in range(2, hierarchy.levels + 1):
        source, later = gate_phases(hierarchy, level)
        if split == "levels":
            classes[[source, later]] = hierarchy.levels - level
        elif split == "after_first":
            classes[later] = classes[last]
    return Rule(classes)


def bubble(routing: Routing) -> Rule:
    """Any virtual channel; a packet enters a ring only if room for one more packet remains free in it.

    This is a flow control of virtual cut-through switching, not a choice of channels. Injection or a turn
    into a ring needs room for two packets; a hop within the ring needs room for one.

    Constraint: a routing in directions.
    Source: Carrion et al. 1997; Puente et al. 2001.
    """
    _check_directions("bubble", routing)
    return Rule(np.zeros((_phases(routing), 2), np.int16), bubble=True)


def table(routing: Routing) -> Rule:
    """The class that the routing's table names for each hop, in its column virtual_channel.

    Constraint: a routing table, such as table(path="routes.csv").
    Source: the routing table itself.
    """
    if not isinstance(routing, TableRouting):
        raise BadInput("rule table: expected a routing table, got a routing of another form; choose rule none")
    each = np.arange(routing.kinds, dtype=np.int16)
    return Rule(np.stack([each, each], axis=1))


LinkClass = Annotated[int, Whole(0, "number of the link class, as in the network's description; 1: between groups")]


def hops(routing: Routing) -> Rule:
    """A class for every hop: the number of hops that the packet has made before.
    With fewer virtual channels than classes, the last class takes all later hops.

    Constraint: few enough routes to list.
    Source: Günther 1981 (hops so far).
    """
    topology = routing.topology
    return _counting("hops", routing, ALL_HOPS, topology.ports != NO_PORT)


def class_hops(routing: Routing, link_class: LinkClass = 1) -> Rule:
    """A class for every hop over links of one class: the number of such hops that the packet has made before.
    With fewer virtual channels than classes, the last class takes all later hops.

    Constraint: a network with this link class, and few enough routes to list.
    Source: Kim et al. 2008, sec. 4.1, whose virtual channel increases with every hop between groups.
    """
    topology = routing.topology
    classes = topology.plan.classes
    require(
        link_class < len(classes),
        "link_class",
        link_class,
        f"0 … {len(classes) - 1}",
        f"{topology.spelling} has the link classes {', '.join(classes)}",
    )
    return _counting("class_hops", routing, link_class, topology.link_class == link_class)


RULES: dict[str, Callable[..., Rule]] = {
    rule.__name__: rule
    for rule in (
        *(none, dateline),
        *(phases, phases_dateline),
        *(r05_wrap, r05_phases),
        *(bubble, table),
        *(hops, class_hops),
    )
}


def vc_rule(spelling: str, routing: Routing) -> tuple[str, Rule]:
    """Return (canonical spelling, rule) for a routing and a spelling such as `dateline` or `r05-wrap(reading=path)`.

    Raises BadInput if the rule's name or parameters are wrong, or if the routing does not fit the rule.
    """
    canonical, function, values = resolve(_canonical_name(spelling), RULES, kind="rule", example=EXAMPLE)
    return canonical, function(routing, **values)


def rule_spelling(spelling: str) -> str:
    """Return the canonical spelling of a rule, for any routing. Raises BadInput if its name or parameters are wrong."""
    return resolve(_canonical_name(spelling), RULES, kind="rule", example=EXAMPLE)[0]


def _canonical_name(spelling: str) -> str:
    """Replace `phases+dateline` at the start of a spelling by phases_dateline."""
    return re.sub(r"^\s*phases\s*\+\s*dateline", phases_dateline.__name__, spelling)


def _check_directions(rule: str, routing: Routing) -> None:
    if not isinstance(routing, SourceRouting):
        other = "a table" if isinstance(routing, TableRouting) else "one of shortest paths"
        raise BadInput(
            f"rule {rule}: expected a routing in directions such as dimension_order, got {other}; choose rule none"
        )


def _counting(rule: str, routing: Routing, link_class: int, counted: np.ndarray) -> Rule:
    """Return the rule whose class is the number of earlier hops over the channels in `counted`, bool[N, P]."""
    pairs = len(np.unique(routing.topology.terminals)) ** 2
    if pairs > MOST_PAIRS:
        raise Refused(
            f"rule {rule}: expected at most {MOST_PAIRS:,} pairs of routers whose hops to count, got {pairs:,};"
            " choose a smaller network"
        )
    table = with_hop_counts(table_of(routing), counted)
    each = np.arange(table.kinds, dtype=np.int16)
    return Rule(np.stack([each, each], axis=1), form=table, counted=link_class)


def _phases(routing: Routing) -> int:
    if isinstance(routing, TableRouting):
        return routing.kinds
    return routing.phases * routing.passes if isinstance(routing, SourceRouting) else 1


def _repeated(row: list[list[int]], times: int) -> np.ndarray:
    return np.repeat(np.array(row, np.int16), times, axis=0)


def candidate_rules(form: Routing | AdaptiveRouting) -> Iterator[str]:
    """Yield the rules to try for a routing; some may not fit the routing. The last rules are made only when reached.

    The last rules count hops. They are tried on networks of groups, for tables on networks of diameter two, and for
    shortest paths of no more hops than a channel can have virtual channels, since a class for each hop leaves no cycle.
    """
    yield from CANDIDATE_RULES
    if isinstance(form, LayeredRouting | TableRouting):
        topology, grouped = form.topology, isinstance(form.topology.plan.structure, Grouped)
        table_hops = 0 if topology.directed else 2
        if _are_near(topology, MAX_VIRTUAL_CHANNELS if grouped or isinstance(form, LayeredRouting) else table_hops):
            yield from COUNTING_RULES[: 1 + grouped]


def _are_near(topology: Topology, most: int) -> bool:
    """Return whether terminals are few, and any two are at most `most` hops apart."""
    terminals = np.unique(topology.terminals)
    if len(terminals) > MOST_ROUTERS or len(terminals) * topology.nodes > MOST_PAIRS:
        return False
    hops = hops_from(topology, terminals)[:, terminals]
    if topology.ends is not None:
        hops = hops[np.isfinite(hops)]  # pairs without a path send nothing to each other
    return bool((hops <= most).all())
