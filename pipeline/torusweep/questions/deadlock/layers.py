"""Assignments of virtual channels that break every cycle of a routing: the remedy if no rule does.

Layers divide the paths among virtual channels so that no layer can deadlock. Datelines are a set of channels that
meets every cycle: after each dateline on its way, a packet moves to the next virtual channel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy
from torusweep_kernels.forwarding import MOST_LAYERS, Channels, assign_layers, channels_of

from torusweep.errors import Refused
from torusweep.networks.names import name_of
from torusweep.networks.topology import Topology
from torusweep.questions.deadlock.dependencies import is_acyclic
from torusweep.questions.deadlock.routing_case import check_reachability
from torusweep.questions.deadlock.window_dependencies import steps_of
from torusweep.routing import GivenRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.forms import AdaptiveRouting, Routing, TableRouting
from torusweep.routing.tables.as_table import table_of, with_hop_counts
from torusweep.routing.tables.rows import table_of_kernel

MOST_SPLIT_PAIRS = 1 << 14  # pairs whose packets draw among many ways, each of which has its own dependencies
MOST_REMEDIED = 1 << 14  # pairs of routers, or channels, for which a remedy is searched for: seconds
CYCLIC = 2  # least number of virtual channels if one virtual channel has a cycle
MOST_WAYS = 1.5  # mean rows of a configuration up to which MOST_SPLIT_PAIRS does not apply
BOUND = "1 if all paths together have no cycle, otherwise at least 2"
METHOD = "greedy, path by path, as in LASH (Skeie et al. 2002); layers without a cycle (Dally & Seitz 1987)"


class Layers(NamedTuple):
    """The layer of each path between terminals. A packet keeps to the virtual channel of its path's layer.

    topology, routing   spellings
    lower, upper        bounds of the least number of layers: fewer than `lower` do not suffice, `upper` suffice
    source, destination, layer   int64[E], int64[E], int16[E]: the E pairs, and the layer of each
    """

    topology: str
    routing: str
    lower: int
    upper: int
    source: np.ndarray
    destination: np.ndarray
    layer: np.ndarray

    @property
    def record(self) -> dict[str, Any]:
        """The bounds, and the number of paths in each layer."""
        return {
            "topology": self.topology,
            "routing": self.routing,
            "least_layers": self.lower,
            "layers": self.upper,
            "paths": np.bincount(self.layer, minlength=self.upper).tolist(),
            "method": METHOD,
            "bound": BOUND,
        }

    @property
    def table(self) -> pa.Table:
        """A table of all pairs: source, destination, layer."""
        names = ("source", "destination", "layer")
        return pa.table({name: getattr(self, name).astype(np.int32) for name in names})


def layers(topology: Topology, routing: str | GivenRouting) -> Layers:
    """Divide the paths between all terminals among few layers by a greedy search. Raises as `layers_of_form` does."""
    name, form = routing_on(routing, topology)
    check_reachability(name, form)
    return layers_of_form(name, form)


def layers_of_form(name: str, form: Routing) -> Layers:
    """Divide the paths of a routing among few layers by a greedy search. name: the routing's spelling.

    All paths of a pair are in one layer, whatever virtual channels the routing itself names. Two orders are tried, by
    destination and by source; the result with fewer layers is returned.

    Raises BadInput if the routing does not suit the network, Refused if it has too many routes, or if the search does
    not find layers for all paths.
    """
    topology, table = form.topology, table_of(form)
    if len(table.entry) > MOST_SPLIT_PAIRS and len(table.port) > MOST_WAYS * len(table.at):
        raise Refused(
            f"layers of routing {name} on {topology.spelling}: expected at most {MOST_SPLIT_PAIRS:,} pairs whose"
            f" packets have several ways, got {len(table.entry):,}; choose a routing with one way, or a smaller network"
        )
    kernel, channels = table_of_kernel(table), channels_of(topology.ports)
    destination, source = np.divmod(table.entry_pair, topology.nodes)
    found = [
        _assigned(kernel, channels, table, order)
        for order in (np.arange(len(source)), np.lexsort((destination, source)))
    ]
    placed = [each for each in found if each.min(initial=0) >= 0]
    if not placed:
        raise Refused(
            f"routing {name} on {topology.spelling}: expected at most {MOST_LAYERS} layers, got more; choose another"
        )
    layer = min(placed, key=lambda each: int(each.max(initial=0)))
    upper = int(layer.max(initial=0)) + 1
    return Layers(topology.spelling, name, 1 if _acyclic(table) else 2, upper, source, destination, layer)


def _assigned(kernel: Any, channels: Channels, table: TableRouting, order: np.ndarray) -> np.ndarray:
    """Return the layer of every entry of the table, int16[E], with entries placed in the given order."""
    layer = np.empty(len(order), np.int16)
    layer[order] = assign_layers(kernel, channels, table.entry[order])
    return layer


def _acyclic(table: TableRouting) -> bool:
    """Return whether the dependencies of all paths together, between physical channels, have no cycle."""
    return is_acyclic(_graph(table, _arcs(table)))


def _arcs(table: TableRouting) -> np.ndarray:
    """Return every dependency between two channels of a table, int64[4, A]: both physical channels, both classes."""
    channel = table.at[table.owner].astype(np.int64) * table.topology.ports.shape[1] + table.port
    parts = [
        np.unique(np.stack([channel[row], channel[then], table.kind[row], table.kind[then]]), axis=1)
        for row, then in steps_of(table)
    ]
    return np.unique(np.concatenate([np.zeros((4, 0), np.int64), *parts], axis=1), axis=1)


def _graph(table: TableRouting, arcs: np.ndarray) -> scipy.sparse.csr_array:
    """Return int64[N · P, N · P], nonzero where packets that hold the row's physical channel request the column's."""
    size = table.topology.ports.size
    return scipy.sparse.csr_array((np.ones(arcs.shape[1], np.int64), (arcs[0], arcs[1])), shape=(size, size))


class Remedy(NamedTuple):
    """Two assignments of virtual channels, each of which breaks every cycle of a routing.

    virtual_channels   number of virtual channels that suffice with datelines; at least 2, since there is a cycle with 1
    datelines          int64[D, 2]: both ends of the channels after which packets change their virtual channel
    table              the routing, with the virtual channel of each hop
    layers             the layers; None if there would be too many, or too many ways to search for them
    """

    virtual_channels: int
    datelines: np.ndarray
    table: TableRouting
    layers: Layers | None

    @property
    def record(self) -> dict[str, Any]:
        """Virtual channels by datelines and by layers, each with whether this number is the least."""
        own, pairs = self.layers, self.datelines.tolist()
        return {
            "virtual_channels": self.virtual_channels,
            "is_least": self.virtual_channels == CYCLIC,
            "datelines": [" → ".join(str(name_of(self.table.topology, node)) for node in ends) for ends in pairs],
            "layers": own and own.upper,
            "is_least_layers": own and own.upper == own.lower,
            "paths": own and own.record["paths"],
        }


def remedy_of(name: str, form: Routing | AdaptiveRouting) -> Remedy | None:
    """Find a remedy for a routing that has a cycle with one virtual channel; None if the search would be too large.

    A greedy search removes channels, the datelines, from the dependency graph until it has no cycle. The virtual
    channel of a hop is the number of datelines that the packet has passed. Successive virtual channels that together
    have no cycle are merged. Between the remaining virtual channels, dependencies only lead upwards (Dally & Seitz
    1987).
    """
    topology = form.topology
    pairs = len(np.unique(topology.terminals)) ** 2
    if isinstance(form, AdaptiveRouting) or pairs > MOST_REMEDIED or int((topology.ports >= 0).sum()) > MOST_REMEDIED:
        return None
    try:
        table = table_of(form)
    except Refused:
        return None
    graph = _graph(table, _arcs(table))
    cuts = [_cut(graph, first) for first in (None, _downwards(topology))]
    tables = [_fewest(with_hop_counts(table, cut.reshape(topology.ports.shape))) for cut in cuts]
    place = min(range(len(cuts)), key=lambda i: tables[i].kinds)
    node, port = np.divmod(np.flatnonzero(cuts[place]), topology.ports.shape[1])
    try:
        layered = layers_of_form(name, form)
    except Refused:
        layered = None
    return Remedy(tables[place].kinds, np.column_stack([node, topology.ports[node, port]]), tables[place], layered)


def _fewest(table: TableRouting) -> TableRouting:
    """Merge successive classes of a table as long as no cycle results. A packet's class never decreases on its way."""
    arcs, first, merged = _arcs(table), 0, np.zeros(table.kinds, np.int16)
    for kind in range(1, table.kinds):
        inside = (arcs[2] >= first) & (arcs[3] <= kind)
        ends = not is_acyclic(_graph(table, arcs[:, inside]))
        first = kind if ends else first
        merged[kind] = merged[kind - 1] + ends
    return replace(table, kind=merged[table.kind], kinds=int(merged[-1]) + 1)


def _downwards(topology: Topology) -> np.ndarray:
    """Return bool[N · P]: channels to lower-numbered nodes; without them no path returns (as in Gopal 1985)."""
    return ((topology.ports >= 0) & (topology.ports < np.arange(topology.nodes)[:, None])).ravel()


def _cut(graph: scipy.sparse.csr_array, first: np.ndarray | None) -> np.ndarray:
    """Return bool[V]: a set of vertices that meets every cycle, none of which can be left out.

    first  vertices to begin with; None: take from each strong component in turn the vertex on most paths through it
    """
    left, order = np.ones(graph.shape[0], bool), []
    if first is not None:
        left, order = ~first, np.flatnonzero(first).tolist()
    inside, component = _on_cycles(graph, left)
    while len(inside):
        part = graph[inside][:, inside]
        ways = part.sum(axis=0) * part.sum(axis=1)
        best = np.lexsort((inside, -ways, component))
        taken = inside[best[np.append(True, np.diff(component[best]) > 0)]]
        left[taken] = False
        order += taken.tolist()
        inside, component = _on_cycles(graph, left)
    for vertex in reversed(order):
        left[vertex] = True
        left[vertex] = not len(_on_cycles(graph, left)[0])
    return ~left


def _on_cycles(graph: scipy.sparse.csr_array, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices in strong components of at least two, and these components. left: bool[V], vertices to use."""
    vertex = np.flatnonzero(left)
    component = scipy.sparse.csgraph.connected_components(graph[vertex][:, vertex], connection="strong")[1]
    inside = np.bincount(component, minlength=1)[component] > 1
    return vertex[inside], component[inside]
