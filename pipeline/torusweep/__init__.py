"""Design spaces of torus-like interconnection networks: static properties, channel loads, deadlock, layout, simulation.

>>> import torusweep as ts
>>> torus = ts.network("torus(k=8, n=2)")
>>> torus
torus(k=8, n=2)
  nodes   64
  links   128
  degree  4
>>> torus.distances().mean, torus.static().bisection_upper
(4.0, 16)
>>> torus.loads(routing="dimension_order", traffic="tornado").saturation_load
0.3333333333333333
>>> ts.network("toruss(k=8, n=2)")
Traceback (most recent call last):
torusweep.errors.BadInput: unknown topology 'toruss' (did you mean 'torus'?); 'torusweep topologies' lists all

A graph and a traffic of your own: from networkx or igraph, a SciPy matrix, or an array of links.

>>> import numpy
>>> square = ts.network(numpy.array([[0, 1], [1, 2], [2, 3], [3, 0]]), name="square")
>>> demand = numpy.array([[0, 3, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
>>> square.loads(traffic=demand).busiest(1)
[Channel(tail=0, head=1, load=2.0, link_class='link')]
>>> square.simulate([0.1, 0.2], traffic=demand, cycles=2000).table.column_names[-3:]
['deadlocked', 'deadlock_cycle', 'waiting']

A sweep's configuration, and a question to the tables that `torusweep run small.yaml` wrote:

>>> ts.load_configuration("small.yaml").sweep
'small'
>>> sql = "SELECT nodes, diameter FROM static WHERE topology = 'torus(k=4, n=2)'"
>>> ts.query(sql, "results/small").to_pylist()
[{'nodes': 16, 'diameter': 4}]

network             a network from its spelling (`torusweep topologies` lists the families), a file, a graph in memory
Network             what `network` returns; its methods compute, and return what prints itself and shows in a notebook
Topology            a network's arrays, `Network.topology`: the neighbour of every node through every port
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
    from torusweep.library.network import Network, network
    from torusweep.library.records import loads_record, static_record
    from torusweep.networks.topology import Topology
    from torusweep.results.query import query
    from torusweep.sweep.configuration import load as load_configuration

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "Network",
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
    "Network": "torusweep.library.network:Network",
    "Refused": "torusweep.errors:Refused",
    "Topology": "torusweep.networks.topology:Topology",
    "load_configuration": "torusweep.sweep.configuration:load",
    "loads_record": "torusweep.library.records:loads_record",
    "network": "torusweep.library.network:network",
    "query": "torusweep.results.query:query",
    "static_record": "torusweep.library.records:static_record",
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
