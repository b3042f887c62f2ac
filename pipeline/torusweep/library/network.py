"""The class `Network`, which `torusweep.network` returns, with a method for each question."""

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

    from torusweep.library.asked import Asked
else:
    Asked = object


def network(
    graph: object,
    nodes: int | None = None,
    directed: bool | None = None,
    terminals: object = None,
    name: str | None = None,
) -> Network:
    """Return a network: of a family, from a file, or from a graph in memory.

    graph      a spelling such as "rtt(a=4)" ('torusweep topologies' lists the families), the path of a graph file, a
               networkx or igraph graph, a SciPy sparse matrix, or an array of links int[E, 2]
    nodes      number of nodes of an array of links; by default one more than the largest number in the array
    directed   whether links of an array or a matrix have one direction; other graphs say so themselves
    terminals  nodes that send and receive packets, as the graph names them; by default all nodes
    name       name of a graph in memory, for tables; by default graph(nodes=N, links=E)

    Nodes of a file or a graph are numbered 0 … N − 1: whole numbers (also as text) in ascending order, and names in the
    order of the file or graph. `labels` lists the names in the order of the numbers. Demands, routing tables, routing
    functions and messages name nodes as the file or graph does.

    In a graph in memory, a repeated link is several parallel links, a link from a node to itself is left out, and
    weights are not used; `notes` says so. Links of networkx and igraph may have the attributes bandwidth (flits per
    cycle) and latency (cycles). A sweep cannot name a graph in memory: write the graph to a file first.
    Raises BadInput if `graph` is no network, Refused if it is too large.

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
    """Return the names of a network's methods, both by the name of the method and by the name of its command."""
    names = {name: name for name in vars(Network) if not name.startswith("_")}
    return names | {one.name: name for name, one in vars(Network).items() if isinstance(one, Method)}


class Network(Asked):
    """A network, with methods that compute its properties.

    topology  the network's arrays (`torusweep.Topology`): ports, link classes, capacities, terminals
    labels    names of the nodes in a file or graph, in the order of their numbers; None if it has only numbers
    """

    def __init__(self, topology: Topology, labels: tuple[Any, ...] | None = None) -> None:
        if not isinstance(topology, Topology):
            shown = one_line(repr(topology), 60)
            raise BadInput(f"Network: expected a torusweep.Topology, got {shown}; torusweep.network({shown}) makes one")
        self.topology, self.labels = topology, labels

    @property
    def spelling(self) -> str:
        """The family and its parameters, which is the network's name in tables."""
        return self.topology.spelling

    @property
    def family(self) -> str:
        """The name of the family, as `torusweep topologies` lists it."""
        return self.topology.family

    @property
    def plan(self) -> Plan:
        """The description of the network without its arrays: sizes, link classes, bandwidths, notes."""
        return self.topology.plan

    @property
    def nodes(self) -> int:
        """Number of nodes: routers with terminals, and switches without terminals."""
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
        """int32[N, P]: node at the other end of each port; −1 where a port has no link."""
        return self.topology.ports

    @property
    def link_class(self) -> np.ndarray:
        """int8[N, P]: the class of each port's link, which is its dimension or level."""
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
        """Remarks on the network, such as parts of a graph that were left out, or faults."""
        return self.topology.plan.notes

    def addresses(self) -> np.ndarray:
        """Return int32[N, K]: the digits of each node's address, x first."""
        return self.topology.addresses()

    def __repr__(self) -> str:
        return text_of(self.spelling, facts_of(self.topology))

    def _repr_html_(self) -> str:
        try:
            picture = self.picture()
        except BadInput:
            picture = ""
        return html_of(self.spelling, facts_of(self.topology), picture)

    if not TYPE_CHECKING:  # type checkers read the stubs of these methods, and would take every other name for one
        static = Method("describe")
        distances = Method("distances")
        loads = Method("loads")
        deadlock = Method("deadlock")
        layout = Method("layout")
        screen = Method("screen")
        cost = Method("cost")
        latency = Method("latency")
        capacity = Method("capacity")
        collective = Method("collective")
        place = Method("place")
        availability = Method("availability")
        simulate = Method("simulate")

        def __getattr__(self, name: str) -> None:
            """Raise AttributeError for an unknown name; the message gives the right place or the nearest name."""
            known = asked_of_networks()
            there = f"; it is .{known[name]}" if name in known else "" if name[:1] == "_" else nearest(name, known)
            raise AttributeError(f"'Network' object has no attribute '{name}'{there}")

    def layers(self, routing: object = "minimal") -> Layered:
        """Divide the paths between all terminals into layers, one virtual channel each, without cyclic dependencies.

        >>> network("ring(k=6)").layers("dimension_order").upper
        2
        """
        how: Any = routing_of(self.topology, routing)
        return Layered(layers_of(self.topology, how))

    def routes(self, routing: object = "minimal", vc_rule: str = "none", virtual_channels: int = 16) -> pa.Table:
        """Return a routing as a routing table, which both `routing=` and 'table(path="…")' read as the same routing.

        The columns are at, destination, to and, if they are needed, state, next_state, virtual_channel and share.

        >>> network("mesh(k=2, n=2)").routes("dimension_order").num_rows
        12
        """
        method.check_rule(vc_rule, virtual_channels)
        how: Any = routing_of(self.topology, routing)
        table = classified_table(self.topology, routing=how, vc_rule=vc_rule, virtual_channels=virtual_channels)
        return columns_of(self.topology, rows_of(table))

    def export(self, format: str | None = None, path: str | Path | None = None) -> Written:
        """Write the network in another tool's format. Returns the files, and notes on what the format cannot hold.

        format  booksim, sst, astra-sim, caminos, graphml, networkx-json, edgelist or parquet; by default by the path's
                suffix
        path    path of the file, or of the folder if the format has several files; by default the network's name
        """
        method.check_export(format, path)
        return export(self.topology, format, path)

    def picture(self) -> str:
        """Return an SVG drawing; above 600 nodes, of a smaller member of the family. Raises BadInput if it has none."""
        return svg_picture(self.topology)

    def to_networkx(self) -> networkx.Graph:
        """Return the network as a networkx graph with the labels as nodes; a multigraph if links are parallel.

        Each node has the attribute terminals, their number. Links have the attribute link_class; also bandwidth and
        latency, unless all links have 1.

        >>> network("torus(k=4, n=2)").to_networkx().number_of_edges()
        32
        """
        return to_networkx(self.topology, self.labels)
