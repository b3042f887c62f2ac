"""What the models know of one network, measured: its distances, and the loads of its channels."""

from __future__ import annotations

from pipeline.errors import BadInput
from pipeline.loads import exact_loads, record_of
from pipeline.models.table import Network, network_of
from pipeline.static.connectivity import components
from pipeline.static.distances import terminal_distances
from pipeline.static.links import channel_matrix
from pipeline.static.working import working
from pipeline.symmetry import orbits_under, proved_symmetries
from pipeline.topologies import build


def measured(spelling: str, *, backend: str = "auto") -> tuple[Network, str]:
    """The network of that spelling, and '' or why the loads of its channels are not known.

    The numbers are those of the tables `static` and `loads` (minimal routing, uniform traffic).
    Raises BadInput for a network that cannot be built, ValueError for one that the models do not fit.
    """
    topology = build(spelling)
    survivors = working(topology)
    hops = terminal_distances(
        survivors, orbits_under(survivors.nodes, proved_symmetries(survivors)), use_symmetry=True, backend=backend, threads=None
    )
    static = {
        "topology": topology.spelling,
        "nodes": survivors.nodes,
        "terminals": len(survivors.terminals),
        "connected": components(survivors, channel_matrix(survivors)) == 1,
        "directed": survivors.directed,
        "degree_max": int(survivors.degrees.max(initial=0)),
        "mean_distance": hops.mean,
    }
    network = network_of(static)
    try:
        loads = exact_loads(topology, routing="minimal", traffic="uniform", backend=backend)
    except BadInput as refusal:
        return network, str(refusal)
    return network_of(static, record_of(loads)), ""
