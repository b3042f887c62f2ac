"""The row of the table `screen` for a network of any family; distances of many small networks in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from torusweep_kernels.distance import Distances, many_distances

from torusweep.networks.links import channel_matrix, surviving_network
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork, Rows, attempt
from torusweep.screening import bounds
from torusweep.screening.columns import SCREEN
from torusweep.stages.loads.channels import record_of
from torusweep.stages.loads.exact import exact_loads
from torusweep.stages.static.connectivity import components
from torusweep.stages.static.distances import Searches, distance_numbers, searches_of


class BegunRow(NamedTuple):
    """A network without its failed nodes, and the searches for its distances."""

    topology: Topology
    searches: Searches


def network_row(network: Topology, options: How) -> dict[str, Any]:
    """Distances and loads, the same as in the tables `static` and `loads`; loads are null if it is not connected."""
    begun = begin(network, options)
    return finish(begun, distances_of([begun], options)[0], options)


def rows_together(networks: Sequence[LazyNetwork], options: How) -> list[Rows | Exception]:
    """The row of each network, or what it raises; the distances of all in one call."""
    begun = [attempt(begin, network.topology, options) for network in networks]
    whole = [network for network in begun if isinstance(network, BegunRow)]
    try:
        found = iter(distances_of(whole, options))
    except Exception:  # of one of them, or of all that they need together: one by one, each has its own
        return [attempt(_rows, network, options) for network in networks]
    return [
        attempt(lambda network: [finish(network, next(found), options)], network)
        if isinstance(network, BegunRow)
        else network
        for network in begun
    ]


def _rows(network: LazyNetwork, options: How) -> Rows:
    return [network_row(network.topology, options)]


def begin(network: Topology, options: How) -> BegunRow:
    """What comes before the distances."""
    topology = surviving_network(network)
    found = orbits(topology, use_symmetry=options.use_symmetry)
    return BegunRow(topology, searches_of(topology, found, use_symmetry=options.use_symmetry))


def distances_of(networks: Sequence[BegunRow], options: How) -> list[list[Distances]]:
    """The distances of each network's searches: all of them in one call, which a GPU answers in one launch."""
    tasks = [task for network in networks for task in network.searches.tasks]
    found = iter(many_distances(tasks, backend=options.backend, threads=options.threads))
    return [[next(found) for _ in network.searches.tasks] for network in networks]


def finish(begun: BegunRow, distances: Sequence[Distances], options: How) -> dict[str, Any]:
    """The row, once the distances are known."""
    topology = begun.topology
    hops = distance_numbers(begun.searches, distances)
    connected = components(topology, channel_matrix(topology)) == 1
    loads = None
    if connected:
        loads = record_of(
            exact_loads(topology, use_symmetry=options.use_symmetry, backend=options.backend, threads=options.threads)
        )
    busiest = loads["max_channel_load"] if loads else None
    degree = int(topology.degrees.max(initial=0))
    terminals = len(topology.terminals)
    limit = None
    if connected and len(np.unique(topology.terminals)) == terminals:  # those of one node are 0 hops apart
        limit = bounds.moore_levels(terminals, degree, directed=topology.directed)
    values = {
        "topology": topology.spelling,
        "nodes": topology.nodes,
        "dimensions": None,
        "matrix": None,
        "class_size": None,
        "degree": degree,
        "links": topology.links,
        "connected": connected,
        "diameter": hops.diameter,
        "distance_sum": sum(distance * pairs for distance, pairs in enumerate(hops.histogram)),
        "mean_distance": hops.mean,
        "mean_distance_distinct": hops.mean_distinct,
        "distance_histogram": hops.histogram,
        "load": [of_class["max"] for of_class in loads["per_class_load"].values()] if loads else None,
        "max_channel_load": busiest,
        "saturation_load": loads["saturation_load"] if loads else None,
        "diameter_bound": bounds.diameter(limit) if limit else None,
        "mean_distance_bound": bounds.distance_sum(limit) / terminals if limit else None,
        "lattice_diameter_bound": None,
        "lattice_mean_distance_bound": None,
    }
    return {column.name: values[column.name] for column in SCREEN}
