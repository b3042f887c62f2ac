"""A row of the table `loads` as a dict, of one network, for tests that make tables of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

from torusweep.library.network import Network
from torusweep.library.network import network as made
from torusweep.networks.topology import Topology
from torusweep.questions.how import How
from torusweep.questions.loads.stage import loads
from torusweep.routing.tables.objects import routing_of
from torusweep.traffic.given import traffic_of


class Sample(NamedTuple):
    """Random packets of `loads_record`."""

    packets: int
    seed: int = 0
    relative_error: float | None = None


def loads_record(
    network: Network | Topology | str,
    *,
    routing: object = "minimal",
    traffic: object = "uniform",
    sample: Sample | None = None,
    bounds: bool = False,
    backend: str = "auto",
    use_symmetry: bool = True,
    threads: int | None = None,
) -> dict[str, Any]:
    """The row of the table `loads`, as Python values without NaN.

    routing, traffic  as `Network.loads` takes them
    sample            estimate the loads from random packets; None: exact loads
    bounds            include the capacity under the best routing, and this routing's worst permutation
    Raises BadInput where routing or traffic are unknown or do not fit the network.
    """
    topology = _topology(network)
    options: dict[str, Any] = {} if sample is None else sample._asdict()
    how = How(backend, use_symmetry, threads)
    return loads(
        topology, how, routing_of(topology, routing), traffic_of(topology, traffic), bounds=bounds, **options
    ).record


def _topology(network: Network | Topology | str) -> Topology:
    return made(network).topology
