"""Design spaces of torus-like interconnection networks: static properties, channel loads, deadlock, layout, simulation.

>>> import torusweep
>>> torus = torusweep.network("torus(k=8, n=2)")
>>> torus.nodes, torus.ports.shape, torus.ports.dtype.name
(64, (64, 4), 'int32')
>>> record = torusweep.static_record(torus)
>>> record["diameter"], record["mean_distance"]
(8, 4.0)
>>> torusweep.loads_record(torus, routing="dimension_order", traffic="tornado")["saturation_load"]
0.3333333333333333
>>> torusweep.network("toruss(k=8, n=2)")
Traceback (most recent call last):
torusweep.errors.BadInput: unknown topology 'toruss' (did you mean 'torus'?); 'torusweep topologies' lists all

A sweep's configuration, and a question to the tables that `torusweep run small.yaml` wrote:

>>> torusweep.load_configuration("small.yaml").sweep
'small'
>>> sql = "SELECT nodes, diameter FROM static WHERE topology = 'torus(k=4, n=2)'"
>>> torusweep.query(sql, "results/small").to_pylist()
[{'nodes': 16, 'diameter': 4}]

network             a network from its spelling; `torusweep topologies` lists the families
Topology            what `network` returns: the neighbour of every node through every port
static_record       size, distances, connectivity, bisection and symmetry of a network: its row of the table `static`
loads_record        the load of the busiest channel under a routing and a traffic pattern: its row of the table `loads`
load_configuration  a validated sweep from a YAML file
query               one SELECT over the tables of a results folder, as an Arrow table
BadInput, Refused   input that does not fit, and input that asks for more than the limits allow: one line each

docs/tables.md describes the columns, docs/config.md the configuration.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torusweep.errors import BadInput, Refused
    from torusweep.networks.families import build as network
    from torusweep.networks.topology import Topology
    from torusweep.results.query import query
    from torusweep.stages.loads import loads_record
    from torusweep.stages.static import static_record
    from torusweep.sweep.configuration import load as load_configuration

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "Refused",
    "Topology",
    "load_configuration",
    "loads_record",
    "network",
    "query",
    "static_record",
]
_PLACES = {
    "BadInput": "torusweep.errors:BadInput",
    "Refused": "torusweep.errors:Refused",
    "Topology": "torusweep.networks.topology:Topology",
    "load_configuration": "torusweep.sweep.configuration:load",
    "loads_record": "torusweep.stages.loads:loads_record",
    "network": "torusweep.networks.families:build",
    "query": "torusweep.results.query:query",
    "static_record": "torusweep.stages.static:static_record",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used (PEP 562): `torusweep --help` needs none of them."""
    if name not in _PLACES:
        raise AttributeError(f"module 'torusweep' has no attribute '{name}'")
    module, attribute = _PLACES[name].split(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
