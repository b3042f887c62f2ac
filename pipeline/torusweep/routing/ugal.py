"""Routings that choose between the minimal route and one by way of a random group: the routes, not the choice.

A dependency graph holds what packets may do. Which route a packet takes depends on queues, so that these routings have
no expected loads; each packet keeps to its route once it has chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.routing.by_group import by_group
from torusweep.routing.forms import LayeredRouting, TableRouting
from torusweep.routing.tables.as_table import joined
from torusweep.routing.tables.rows import TableRows, table_routing
from torusweep.routing.valiant_by_group import (
    BEFORE,
    INJECTED,
    check_detours,
    detours,
    from_before,
    near_rows,
    rows_onwards,
)

View = Annotated[
    Literal["local", "global"],
    Meaning("whose queues decide: of the source's router, or of all routers; the routes are the same"),
]
MOST_THRESHOLD = 1 << 30
Threshold = Annotated[
    int,
    Whole(
        -MOST_THRESHOLD,
        "how much larger the minimal route's estimate may be, in flits · hops (view=global: flits)",
        MOST_THRESHOLD,
    ),
]
DECIDING = 3  # state of a packet on its minimal route that may still leave it


def ugal(topology: Topology, view: View = "local", threshold: Threshold = 0) -> TableRouting:
    """At the source, the route of by_group or one of valiant_by_group, for packets between groups.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Singh 2005; Kim et al. 2008, sec. 4.1.
    """
    shape, minimal = check_detours("ugal", topology), by_group(topology)
    return table_routing(topology, joined(list(_rows(minimal, shape, (INJECTED,)))))


def progressive(topology: Topology, threshold: Threshold = 0) -> TableRouting:
    """As ugal with view=local; a packet on its minimal route may also leave it at later routers of the source's group.

    Constraint: a dragonfly or megafly, at most 127 ports a router.
    Source: Jiang et al. 2009 (progressive adaptive routing).
    """
    shape, minimal = check_detours("progressive", topology), by_group(topology)
    return table_routing(topology, joined(list(_rows(minimal, shape, (INJECTED, DECIDING)))))


def _rows(minimal: LayeredRouting, shape: Grouped, deciding: tuple[int, ...]) -> Iterator[TableRows]:
    """The rows of by_group, and of detours from the states `deciding`: of a packet's first hop, and of later ones."""
    onwards = rows_onwards(minimal)
    yield onwards
    yield near_rows(onwards, shape)
    if shape.groups > 2:
        far = onwards.at // shape.size != onwards.destination // shape.size
        later = deciding[-1] if len(deciding) > 1 else BEFORE
        for state in deciding:
            yield from_before(onwards, far, state, later)
    yield from detours(minimal, shape, dict.fromkeys(deciding, np.arange(minimal.topology.nodes)))
