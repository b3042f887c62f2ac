"""The row of the table `screen` for one network of any family."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep.networks.links import channel_matrix
from torusweep.networks.symmetry import orbits_under, proved_symmetries
from torusweep.networks.topology import Topology
from torusweep.screening import bounds
from torusweep.screening.columns import SCREEN
from torusweep.stages.loads import loads_record
from torusweep.stages.stage import Options
from torusweep.stages.static.connectivity import components
from torusweep.stages.static.distances import terminal_distances
from torusweep.stages.static.survivors import surviving_network


def network_row(network: Topology, options: Options) -> dict[str, Any]:
    """Distances and loads, the same as in the tables `static` and `loads`; loads are null if it is not connected."""
    topology = surviving_network(network)
    orbits = orbits_under(topology.nodes, proved_symmetries(topology))
    use_symmetry, backend, threads = options.use_symmetry, options.backend, options.threads
    hops = terminal_distances(topology, orbits, use_symmetry=use_symmetry, backend=backend, threads=threads)
    connected = components(topology, channel_matrix(topology)) == 1
    loads = None
    if connected:
        loads = loads_record(topology, use_symmetry=use_symmetry, backend=backend, threads=threads)
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
