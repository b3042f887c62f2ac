"""The network with its methods that `torusweep.network` returns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, nearest, one_line
from torusweep.interchange import Written, export
from torusweep.library import method
from torusweep.library.foreign import network_of, to_networkx
from torusweep.library.method import Method
from torusweep.networks.families import build
from torusweep.networks.picture_svg import svg_picture
from torusweep.networks.topology import Plan, Topology
from torusweep.questions.deadlock.layers import layers as layers_of
from torusweep.questions.deadlock.routing_case import classified_table
from torusweep.questions.deadlock.stage import Layered
from torusweep.questions.display import facts_of, html_of, text_of
from torusweep.routing.tables.as_table import rows_of
from torusweep.routing.tables.columns import columns_of
from torusweep.routing.tables.objects import routing_of

if TYPE_CHECKING:
    import networkx


def network(
    graph: object,
    nodes: int | None = None,
    directed: bool | None = None,
    terminals: object = None,
    name: str | None = None,
) -> Network:
    """A network: of a family, from a file, or from a graph in memory.

    graph      a spelling such as "rtt(a=4)" ('torusweep topologies' lists the families), the path of a graph file, a
               networkx or igraph graph, a SciPy sparse matrix, or an array of links int[E, 2]
    nodes      number of nodes of an array of links; by default the largest number in it, and one
    directed   whether links of an array or a matrix have one direction; graphs say so themselves
    terminals  nodes that send and receive, as the graph names them; by default all
    name       that stands for a graph in memory in tables; by default graph(nodes=N, links=E)

    Nodes of a file or a graph are numbered 0 … N − 1: whole numbers, also written as text, in their order, names in the
    order of the file or graph; `labels` has them in this order. Demands, routing tables, routing functions and messages
    name nodes as the file or graph does.

    Of a graph in memory, a repeated link is several parallel links, a link from a node to itself is left out, and
    weights are not used; `notes` says so. Links of networkx and igraph may have the attributes bandwidth (flits a
    cycle) and latency (cycles). A sweep cannot name it: for a sweep, write the graph to a file.
    Raises BadInput for what is no network, Refused for one that is too large.

    >>> import networkx
    >>> network(networkx.petersen_graph(), name="Petersen").distances().mean_distinct
    1.6666666666666667
    >>> network([(0, 1), (1, 2), (2, 0)]).links
    3
    """
    if isinstance(graph, Network):
        return graph
    if isinstance(graph, str | Path):
        given = {"nodes": nodes, "directed": directed, "terminals": terminals, "name": name}
        for key, value in given.items():
            if value is not None:
                raise BadInput(f"{key}: expected with a graph in memory only, got {graph}; leave it out")
        graph = build(str(graph))
    if isinstance(graph, Topology):
        return Network(graph, graph.plan.names)
    topology, labels = network_of(graph, nodes, directed, terminals, name)
    return Network(topology, labels)


def asked_of_networks() -> dict[str, str]:
    """Names of a network's methods, by these names and by those of their commands."""
    names = {name: name for name in vars(Network) if not name.startswith("_")}
    return names | {one.name: name for name, one in vars(Network).items() if isinstance(one, Method)}


class Network:
    """A network, with methods that compute its properties.

    topology  its arrays (`torusweep.Topology`): ports, link classes, capacities, terminals
    labels    the names that a file or a graph gives its nodes, in the order of their numbers; None: these numbers
    """

    def __init__(self, topology: Topology, labels: tuple[Any, ...] | None = None) -> None:
        if not isinstance(topology, Topology):
            shown = one_line(repr(topology), 60)
            raise BadInput(f"Network: expected a torusweep.Topology, got {shown}; torusweep.network({shown}) makes one")
        self.topology, self.labels = topology, labels

    @property
    def spelling(self) -> str:
        """The family and its parameters, as tables name the network."""
        return self.topology.spelling

    @property
    def family(self) -> str:
        """The name of the family, as in `torusweep topologies`."""
        return self.topology.family

    @property
    def plan(self) -> Plan:
        """The description of the network without its arrays: sizes, link classes, bandwidths, notes."""
        return self.topology.plan

    @property
    def nodes(self) -> int:
        """Number of nodes: routers, and switches without terminals."""
        return self.topology.nodes

    @property
    def links(self) -> int:
        """Number of links; a bidirectional link counts once."""
        return self.topology.links

    @property
    def directed(self) -> bool:
        """Whether links have one direction."""
        return self.topology.directed

    @property
    def degree_max(self) -> int:
        """Largest number of links that leave a node."""
        return int(self.topology.degrees.max(initial=0))

    @property
    def degrees(self) -> np.ndarray:
        """int64[N]: number of links that leave each node."""
        return self.topology.degrees

    @property
    def ports(self) -> np.ndarray:
        """int32[N, P]: node at the other end of each port, −1 = no link."""
        return self.topology.ports

    @property
    def link_class(self) -> np.ndarray:
        """int8[N, P]: dimension, or level, of the link of each port."""
        return self.topology.link_class

    @property
    def terminals(self) -> np.ndarray:
        """int32[T]: node of each terminal."""
        return self.topology.terminals

    @property
    def arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tail int32[A], head int32[A], port int32[A]) of every directed channel, in node and port order."""
        return self.topology.arcs

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks, such as omitted parts of a graph, or faults."""
        return self.topology.plan.notes

    def addresses(self) -> np.ndarray:
        """int32[N, K]: the digits of every node, x first."""
        return self.topology.addresses()

    def __repr__(self) -> str:
        return text_of(self.spelling, facts_of(self.topology))

    def _repr_html_(self) -> str:
        try:
            picture = self.picture()
        except BadInput:
            picture = ""
        return html_of(self.spelling, facts_of(self.topology), picture)

    if not TYPE_CHECKING:  # which would take every name for an attribute

        def __getattr__(self, name: str) -> None:
            """Raise AttributeError for a missing name, with its place elsewhere, or the nearest name."""
            known = asked_of_networks()
            there = f"; it is .{known[name]}" if name in known else "" if name[:1] == "_" else nearest(name, known)
            raise AttributeError(f"'Network' object has no attribute '{name}'{there}")

    static = Method("describe")

    distances = Method("distances")

    loads = Method("loads")

    deadlock = Method("deadlock")

    def layers(self, routing: object = "minimal") -> Layered:
        """The paths between all terminals in layers without a cycle: virtual channels that such an assignment needs.

        >>> network("ring(k=6)").layers("dimension_order").upper
        2
        """
        how: Any = routing_of(self.topology, routing)
        return Layered(layers_of(self.topology, how))

    def routes(self, routing: object = "minimal", vc_rule: str = "none", virtual_channels: int = 16) -> pa.Table:
        """A routing as a routing table, which `routing=` and 'table(path="…")' read as the same routing.

        Columns: at, destination, to, and where they are needed state, next_state, virtual_channel and share.

        >>> network("mesh(k=2, n=2)").routes("dimension_order").num_rows
        12
        """
        method.check_rule(vc_rule, virtual_channels)
        how: Any = routing_of(self.topology, routing)
        table = classified_table(self.topology, routing=how, vc_rule=vc_rule, virtual_channels=virtual_channels)
        return columns_of(self.topology, rows_of(table))

    def export(self, format: str | None = None, path: str | Path | None = None) -> Written:
        """Write the network for another tool, as 'torusweep export': its files, and what the format cannot hold.

        format  booksim, sst, astra-sim, caminos, graphml, networkx-json, edgelist or parquet; by default by the path's
                suffix
        path    of the file, or of the folder where there are several; by default named after the network
        """
        method.check_export(format, path)
        return export(self.topology, format, path)

    layout = Method("layout")

    screen = Method("screen")

    cost = Method("cost")

    latency = Method("latency")

    capacity = Method("capacity")

    collective = Method("collective")

    place = Method("place")

    availability = Method("availability")

    simulate = Method("simulate")

    def picture(self) -> str:
        """A drawing as SVG, of a smaller member of the family beyond 600 nodes. Raises BadInput if there is none."""
        return svg_picture(self.topology)

    def to_networkx(self) -> networkx.Graph:
        """The network as a graph of networkx, its nodes as labelled, parallel links as keys of a multigraph.

        Nodes have the attribute terminals (their number), links the attribute link_class, and bandwidth and latency
        where they are not 1 everywhere.

        >>> network("torus(k=4, n=2)").to_networkx().number_of_edges()
        32
        """
        return to_networkx(self.topology, self.labels)
