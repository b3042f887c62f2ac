"""A layered assignment: paths are divided among layers of virtual channels, so that no layer can deadlock."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy
from torusweep_kernels.forwarding import MOST_LAYERS, Channels, assign_layers, channels_of

from torusweep.errors import Refused
from torusweep.networks.topology import Topology
from torusweep.questions.deadlock.dependencies import is_acyclic
from torusweep.questions.deadlock.routing_case import check_reachability
from torusweep.questions.deadlock.window_dependencies import steps_of
from torusweep.routing import GivenRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.as_table import table_of
from torusweep.routing.tables.rows import table_of_kernel

MOST_SPLIT_PAIRS = 1 << 14  # of packets that draw between many ways, each of which has its dependencies
MOST_WAYS = 1.5  # rows of a configuration, on average, up to which there is no such limit
BOUND = "1 where all paths together have no cycle, otherwise at least 2"
METHOD = "greedy, path by path, as in LASH (Skeie et al. 2002); layers without a cycle (Dally & Seitz 1987)"


class Layers(NamedTuple):
    """The layer of the path, or paths, of every pair of terminals: packets keep to the virtual channel of their layer.

    topology, routing   spellings
    lower, upper        bounds on the least number of layers: fewer than `lower` cannot do, `upper` do
    source, destination, layer   int64[E], int64[E], int16[E]: of every pair
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
        """The bounds, and how many paths are in each layer."""
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
        """The layer of every pair: source, destination, layer."""
        names = ("source", "destination", "layer")
        return pa.table({name: getattr(self, name).astype(np.int32) for name in names})


def layers(topology: Topology, routing: str | GivenRouting) -> Layers:
    """Divide the paths between all terminals among as few layers as a greedy search finds.

    All paths of a pair are in one layer, whatever virtual channels the routing itself names. Two orders are tried, by
    destination and by source; the one with fewer layers is returned.

    Raises BadInput where the routing does not suit the network, Refused where it has too many routes, or where the
    search ends without layers for all.
    """
    name, form = routing_on(routing, topology)
    check_reachability(name, form)
    table = table_of(form)
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
    """int16[E]: the layer of every entry, placed in an order."""
    layer = np.empty(len(order), np.int16)
    layer[order] = assign_layers(kernel, channels, table.entry[order])
    return layer


def _acyclic(table: TableRouting) -> bool:
    """Whether the dependencies of all paths together, between physical channels, have no cycle."""
    size = table.topology.ports.size
    channel = table.at[table.owner].astype(np.int64) * table.topology.ports.shape[1] + table.port
    arcs = [np.zeros(0, np.int64)]
    for row, then in steps_of(table):
        arcs.append(np.unique(channel[row] * size + channel[then]))
    tail, head = np.divmod(np.unique(np.concatenate(arcs)), size)
    return is_acyclic(scipy.sparse.csr_array((np.ones(len(tail), bool), (tail, head)), shape=(size, size)))
