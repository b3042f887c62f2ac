"""The row of the table `static`, and its measures: groups of columns that are computed together or left out together.

Each property has its own module. The properties share the channel matrix, the proved automorphisms and their
orbits, which are computed here once, when a measure first needs them.

For networks with a routing of their own, as published, path lengths under this routing are measured here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from torusweep.errors import BadInput, nearest, one_line
from torusweep.networks.blocks import alone
from torusweep.networks.links import channel_matrix, link_orbits, surviving_network
from torusweep.networks.spelling import parse
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.blocks import BlockDistances, BlockNumbers, row_of
from torusweep.questions.how import How
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.stage import under
from torusweep.questions.static.bisection import bisection_bounds
from torusweep.questions.static.columns import DISTANCES, STATIC
from torusweep.questions.static.connectivity import Transitivity, components, decide_transitivity, edge_connectivity
from torusweep.questions.static.distances import (
    DistanceNumbers,
    router_distances,
    terminal_distances,
    terminal_latencies,
)
from torusweep.questions.static.fault_diameter import fault_diameter
from torusweep.questions.static.guarantee import guarantee
from torusweep.routing import ROUTINGS, SourceRouting, own_routing
from torusweep.tables.columns import arrow_schema
from torusweep.tables.parquet import Streamed, TableFile

MAX_PAIRS = 1 << 27  # pairs whose routes take half a minute on a core; with more pairs the columns are null
MOST_CHANNELS, MOST_VISITS = 1 << 19, 1 << 28  # of a network whose loads take up to a second
BLOCK = 1 << 16  # pairs at a time; their routes fit into cache
ALL = "all"
NOT_MEASURED = "not measured"


class RoutedNumbers(NamedTuple):
    """Path lengths in hops under a routing, over all N² pairs, including each node with itself at 0 hops."""

    diameter: int
    mean: float


def routed_distances(topology: Topology, *, use_symmetry: bool) -> RoutedNumbers | None:
    """Return the longest and mean path of the network's own routing; None without such a routing, or above MAX_PAIRS.

    With use_symmetry and a regular routing (`SourceRouting.regular`, checked), routes from one source of each cell are
    followed, otherwise routes from every source. In both cases, the limit counts the pairs from one source of each
    cell. Every node of such a network is a terminal.
    """
    name = own_routing(topology.family)
    if name is None:
        return None
    routing = ROUTINGS[name](
        topology, tie="positive"
    )  # both directions of a tie are equally long; positive needs no signs
    assert isinstance(routing, SourceRouting)
    nodes = topology.nodes
    representatives, sizes = np.unique(routing.cell, return_index=True, return_counts=True)[1:]
    if len(representatives) * nodes > MAX_PAIRS:
        return None
    if not (use_symmetry and routing.regular):
        representatives, sizes = np.arange(nodes), np.ones(nodes, np.int64)
    longest, total = 0, 0
    for start in range(0, len(representatives) * nodes, BLOCK):
        source, destination = np.divmod(np.arange(start, min(start + BLOCK, len(representatives) * nodes)), nodes)
        hops = routing.routes(routing.key(representatives[source], destination)).hops.sum(axis=1, dtype=np.int64)
        longest = max(longest, int(hops.max()))
        total += int((hops * sizes[source]).sum())
    return RoutedNumbers(longest, total / nodes**2)


class Measured:
    """A network without its failed nodes, and values that several measures share, each computed when first needed.

    measures  names of the chosen measures
    """

    def __init__(self, network: Topology, measures: Collection[str], how: How) -> None:
        self.topology, self.measures, self.use_symmetry = surviving_network(network), measures, how.use_symmetry
        self.how = how
        self.images = proved_symmetries(self.topology)
        self.orbits = orbits_under(self.topology.nodes, self.images)
        self.kernel: dict[str, Any] = {"backend": how.backend, "threads": how.threads}

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """int64[N, N]: the channels (links.channel_matrix)."""
        return channel_matrix(self.topology)

    @cached_property
    def degree_max(self) -> int:
        return int(self.topology.degrees.max(initial=0))

    @cached_property
    def hops(self) -> DistanceNumbers:
        """Distances between terminals."""
        return terminal_distances(self.topology, self.orbits, use_symmetry=self.use_symmetry, **self.kernel)

    @cached_property
    def routers(self) -> DistanceNumbers:
        """Distances between nodes, with or without terminals."""
        return router_distances(self.topology, self.hops, self.orbits, use_symmetry=self.use_symmetry, **self.kernel)

    @cached_property
    def components(self) -> int:
        """Number of components; 1 if measured distances join all pairs of nodes."""
        if "distances" in self.measures and sum(self.routers.histogram) == self.topology.nodes**2:
            return 1
        return components(self.topology, self.matrix)

    @cached_property
    def transitivity(self) -> Transitivity:
        return decide_transitivity(self.topology, self.matrix, self.images)

    @cached_property
    def connectivity(self) -> tuple[int | None, str]:
        """Edge connectivity and its method, by the known symmetries: found for transitivity, or declared."""
        nodes, links = self.orbits, None
        if "transitivity" in self.measures:
            nodes, links = self.transitivity.nodes, self.transitivity.links
        elif self.images:
            links = link_orbits(self.topology, self.images, nodes)
        return edge_connectivity(self.topology, self.matrix, nodes, links, connected=self.components == 1)


class NetworkNumbers(BlockNumbers):
    """A block that contains one network."""

    def __init__(self, network: Measured, how: How) -> None:
        super().__init__([network.topology.spelling], alone(network.topology), how)
        self.network, self.works = network, np.ones((1, self.nodes), bool)
        self.ends = network.topology.ends is not None

    @cached_property
    def components(self) -> np.ndarray:
        return np.array([self.network.components])

    @cached_property
    def connected(self) -> np.ndarray:
        return self.components == 1

    @cached_property
    def hops(self) -> BlockDistances:
        found = self.network.hops
        hops = BlockDistances(np.array([found.histogram], np.int64), np.zeros(1, np.int64))
        hops.mean, hops.mean_distinct = np.array([found.mean]), np.array([found.mean_distinct])
        return hops

    @cached_property
    def load(self) -> np.ndarray:
        if not self.connected[0] or not self.terminals[0]:  # some traffic has no path, or there is none
            return np.zeros(self.present.shape)
        return exact_loads(self.network.topology, use_symmetry=self.how.use_symmetry, **self.network.kernel).load[None]


def _distances(network: Measured | BlockNumbers) -> Iterable[Any]:
    hops, routers = network.hops, network.routers
    yield from (hops.diameter, hops.mean, hops.mean_distinct, hops.diameter * network.degree_max, hops.histogram)
    yield from (routers.diameter, routers.mean_distinct)


def _guarantee(network: Measured) -> Iterable[Any]:
    numbers, arcs = NetworkNumbers(network, network.how), int((network.topology.ports != NO_PORT).sum())
    loaded = arcs <= MOST_CHANNELS and arcs * len(network.orbits.sizes) <= MOST_VISITS
    return (bound[0].as_py() for bound in guarantee(numbers, loaded))


def _latencies(network: Measured) -> Iterable[Any]:
    return terminal_latencies(network.topology, network.hops, network.orbits, use_symmetry=network.use_symmetry) or (
        None,
        None,
    )


def _bisection(network: Measured) -> Iterable[Any]:
    # a theorem needs no other bound; if hosts forward nothing, edge connectivity does not bound a cut into halves
    needed = network.topology.plan.bisection is None and network.topology.ends is None
    least = network.connectivity[0] if needed else None
    return bisection_bounds(network.topology, network.matrix, network.images, edge_connectivity=least)


def _own_routing(network: Measured) -> Iterable[Any]:
    routed = routed_distances(network.topology, use_symmetry=network.use_symmetry)
    return (None, None, None) if routed is None else (*routed, routed.diameter * network.degree_max)


class StaticMeasure(NamedTuple):
    """Columns of the table `static` that are computed together or left out together.

    values   maps a network to values in the order of the columns; for the measure `distances`, also a block
    """

    meaning: str
    columns: tuple[str, ...]
    values: Callable[[Any], Iterable[Any]]


MEASURES = {
    "own_routing": StaticMeasure(
        "longest and mean path of the network's own routing",
        ("routed_diameter", "routed_mean_distance", "routed_cost"),
        _own_routing,
    ),
    "distances": StaticMeasure(
        "diameter, mean distance and histogram, between terminals and between routers",
        (
            *("diameter", "mean_distance", "mean_distance_distinct", "cost", "distance_histogram"),
            *("router_diameter", "router_mean_distance"),
        ),
        _distances,
    ),
    "latencies": StaticMeasure(
        "longest and mean latency in cycles, if links take different numbers of cycles",
        ("latency_diameter", "latency_mean"),
        _latencies,
    ),
    "guarantee": StaticMeasure(
        "bounds of the throughput under every admissible traffic", ("guarantee_lower", "guarantee_upper"), _guarantee
    ),
    "transitivity": StaticMeasure(
        "whether all nodes look alike, and all links, with proof",
        ("vertex_transitive", "edge_transitive", "transitivity_method"),
        lambda network: network.transitivity[:3],
    ),
    "connectivity": StaticMeasure(
        "the least number of links whose removal disconnects the network",
        ("edge_connectivity", "edge_connectivity_method"),
        lambda network: network.connectivity,
    ),
    "bisection": StaticMeasure(
        "bounds of the bisection width: eigenvalues from below, partitions from above",
        ("bisection_lower", "bisection_upper", "bisection_method"),
        _bisection,
    ),
}


def measures_of(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the named measures, each once and in the order of MEASURES; all measures for no names or `all`.

    names   a list, or a text with commas, as in requests
    Raises BadInput for an unknown measure.
    """
    return _named_in(names if isinstance(names, str) else ",".join(names or ()))


@lru_cache(64)  # each point of a sweep has the text of its request
def _named_in(text: str) -> tuple[str, ...]:
    given = [name.strip().replace("-", "_") for name in text.split(",") if name.strip()] or [ALL]
    for name in given:
        if name not in (*MEASURES, ALL):
            with under("measures"):
                shown = f"'{one_line(name, 40)}'{nearest(name, [*MEASURES, ALL])}"
                raise BadInput(f"unknown measure {shown}; expected {', '.join(MEASURES)}, or {ALL}")
    return tuple(name for name in MEASURES if name in given or ALL in given)


def lacking(choice: Any, columns: Iterable[str]) -> list[str]:
    """Return the measures that `columns` need, but a configuration's section `static` (a `Choice` or "none") omits."""
    chosen = () if choice == "none" else measures_of(None if choice is None else choice.measures)
    needed = set(columns)
    return [name for name, measure in MEASURES.items() if name not in chosen and needed.intersection(measure.columns)]


def static_record(
    topology: Topology,
    *,
    backend: str = "auto",
    use_symmetry: bool = True,
    fault_nodes: int | None = None,
    threads: int | None = None,
    measures: str | Iterable[str] | None = None,
) -> dict[str, Any]:
    """Return the row of the table `static` for one network, as Python values without NaN.

    use_symmetry  search distances from one node of each proved orbit, and follow routes from one node of each cell,
                  instead of from every node. Transitivity, edge connectivity, the spectral bound and the fault diameter
                  use the symmetries in any case
    fault_nodes   number of node faults for fault_diameter; None leaves that column null
    measures      names of MEASURES; None for all. The columns of other measures are null, and `notes` names them

    The values depend only on the network and fault_nodes, not on backend, threads, use_symmetry or other measures. The
    exception is edge_connectivity_method, since measuring transitivity may find more symmetries.
    Raises BadInput if fault_nodes does not fit the network, and for an unknown measure.
    """
    wanted, how = measures_of(measures), How(backend, use_symmetry, threads)
    network = Measured(topology, wanted, how)
    topology = network.topology
    # first, so that a refusal precedes the long work
    faulted = None if fault_nodes is None else fault_diameter(topology, network.orbits, fault_nodes, **network.kernel)
    found = {name: [[value] for value in MEASURES[name].values(network)] for name in wanted}
    # a graph in memory may have a name
    parameters = whole_numbers(topology.spelling) if "(" in topology.spelling else {}
    columns = columns_of(NetworkNumbers(network, how), [topology.family], [parameters], [topology.plan.notes], found)
    if faulted is not None:
        columns |= {"fault_nodes": [fault_nodes], "fault_diameter": [faulted.diameter]}
        columns |= {"fault_sets": [faulted.sets], "fault_method": [faulted.method]}
    return row_of(STATIC, columns)


def columns_of(
    numbers: BlockNumbers,
    families: list[str],
    parameters: Sequence[Mapping[str, int]],
    notes: Iterable[Sequence[str]],
    found: Mapping[str, Iterable[Any]],
) -> dict[str, Any]:
    """Return the columns of the table `static` for B networks, as arrays and lists.

    families, parameters, notes   one entry for each network
    found   for each chosen measure, the values of its columns
    """
    degrees, degree_max, nothing = numbers.degrees, numbers.degree_max, [None] * numbers.many
    columns: dict[str, Any] = {column.name: nothing for column in STATIC}
    for name, measure in MEASURES.items():
        if name in found:
            columns |= zip(measure.columns, found[name], strict=True)
        else:
            columns |= {one: [NOT_MEASURED] * numbers.many for one in measure.columns if one.endswith("_method")}
    left_out = ", ".join(name for name in MEASURES if name not in found)
    more = [f"{NOT_MEASURED}: {left_out}"] if left_out else []
    return columns | {
        "topology": numbers.block.spellings,
        "family": families,
        "parameters": [*parameters],
        "nodes": numbers.works.sum(axis=1),
        "terminals": numbers.terminals,
        "links": numbers.links,
        "directed": np.full(numbers.many, numbers.plan.directed),
        "degree_min": np.where(numbers.works, degrees, degree_max[:, None]).min(axis=1),
        "degree_max": degree_max,
        "ports_max": (degrees + numbers.at_nodes).max(axis=1),
        "connected": numbers.connected,
        "components": numbers.components,
        "notes": ["; ".join([*own, *more]) for own in notes],
    }


def whole_numbers(spelling: str) -> dict[str, int]:
    """Return the integer parameters of the outermost network in a spelling."""
    return {
        key: value
        for key, value in parse(spelling).arguments.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }


def pairs_by_distance(tables: Mapping[str, TableFile]) -> Streamed:
    """Return the histograms of the table `static` in long form: a row for each network and distance."""
    schema = arrow_schema(DISTANCES.columns)
    parts = tables["static"].groups(["topology", "distance_histogram"])
    return Streamed(schema, (pa.Table.from_arrays(_pairs_by_distance(part), schema=schema) for part in parts))


def _pairs_by_distance(table: pa.Table) -> list[Any]:
    histogram = table.column("distance_histogram")
    lengths = pc.list_value_length(histogram).to_numpy()
    pairs = pc.list_flatten(histogram).to_numpy()
    row = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    distance = np.arange(len(pairs)) - np.repeat(first, lengths)
    total = np.add.reduceat(pairs, first) if len(pairs) else pairs  # every network has a distance 0
    return [table.column("topology").take(pa.array(row, pa.int64())), distance, pairs, pairs / total[row]]
