"""Compare interconnection networks: distances, channel loads, deadlock, layout, simulation, collective operations.

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
>>> square.simulate([0.1, 0.2], traffic=demand, cycles=2000).table.column_names[:3]
['topology', 'routing', 'vc_rule']

Read a sweep's configuration, and query the tables that `torusweep run small.yaml` wrote:

>>> ts.load_configuration("small.yaml").sweep
'small'
>>> sql = "SELECT nodes, diameter FROM static WHERE topology = 'torus(k=4, n=2)'"
>>> ts.query(sql, "results/small").to_pylist()
[{'nodes': 16, 'diameter': 4}]

Sweeps and their results, in a script or a notebook:

>>> sweep = ts.sweep("small.yaml")  # or a dictionary with the same keys
>>> sweep.name
'small'
>>> results = ts.results("results/small")
>>> results["static"].duckdb().filter("topology = 'torus(k=4, n=2)'").project("nodes, diameter").fetchall()
[(16, 4)]

Questions about several networks, or about none:

>>> ts.best(nodes=32, dimensions=2).topology
'lattice(matrix=[[8, 4], [0, 4]])'

best, search        find the best lattice of a size, with proof, or a graph of a size and degree with short distances
screen              compare whole design spaces, or given networks, by the few numbers that decide between them
cost, latency       compare networks by what they carry at equal cost, or by their latency in a paper's model
network             make a network from a spelling (`torusweep topologies` lists the families), a file or a graph
Network             a network; each method computes one result, which prints as text and displays in a notebook
Topology            the arrays of a network, `Network.topology`: the neighbour of every node through every port
load_configuration  read and validate a sweep from a YAML file
sweep               make a sweep from a YAML file or a dictionary: `plan` estimates its work, `run` computes it
results             read the results in a sweep's folder: tables for Arrow, pandas, Polars and DuckDB, and the manifest
Sweep, Results, Table, Plan   the types of the objects that these functions return
query               run one SELECT over the tables of a results folder; returns an Arrow table
RunFailed           raised when a sweep ends with an error after it has begun
BadInput, Refused   raised, with a message of one line, for invalid input and for input that exceeds a limit

docs/tables.md describes the columns, docs/config.md the configuration.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from torusweep.errors import nearest
from torusweep.questions import FUNCTIONS, question_named
from torusweep.version import __version__ as __version__

if TYPE_CHECKING:
    from torusweep.answers.query import query
    from torusweep.errors import BadInput, Refused, RunFailed
    from torusweep.library.asked import best as best
    from torusweep.library.asked import cost as cost
    from torusweep.library.asked import latency as latency
    from torusweep.library.asked import screen as screen
    from torusweep.library.asked import search as search
    from torusweep.library.network import Network, network
    from torusweep.library.results import Results, Table
    from torusweep.library.sweep import Sweep
    from torusweep.library.sweep import SweepPlan as Plan
    from torusweep.networks.topology import Topology
    from torusweep.sweeps.configuration import load as load_configuration

__all__ = [
    "BadInput",
    "Network",
    "Plan",
    "Refused",
    "Results",
    "RunFailed",
    "Sweep",
    "Table",
    "Topology",
    "load_configuration",
    "network",
    "query",
    "results",
    "sweep",
    *FUNCTIONS,
]
_PLACES = {
    "BadInput": "torusweep.errors:BadInput",
    "Network": "torusweep.library.network:Network",
    "Plan": "torusweep.library.sweep:SweepPlan",
    "Refused": "torusweep.errors:Refused",
    "Results": "torusweep.library.results:Results",
    "RunFailed": "torusweep.errors:RunFailed",
    "Sweep": "torusweep.library.sweep:Sweep",
    "Table": "torusweep.library.results:Table",
    "Topology": "torusweep.networks.topology:Topology",
    "load_configuration": "torusweep.sweeps.configuration:load",
    "network": "torusweep.library.network:network",
    "query": "torusweep.answers.query:query",
}


def sweep(given: str | os.PathLike[str] | Mapping[str, Any]) -> Sweep:
    """Read and check a sweep, from the path of a YAML file or a dictionary with the same keys (docs/config.md).

    Raises BadInput with the message that the command line prints.
    """
    return __getattr__("Sweep")(given)


def results(folder: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Results:
    """Read the results in a sweep's folder, such as results/default; the results of several folders are joined.

    Raises BadInput if a folder has no results.
    """
    several = list(folder) if isinstance(folder, Iterable) and not isinstance(folder, str) else [folder]
    if not several or not all(isinstance(one, str | os.PathLike) for one in several):
        raise __getattr__("BadInput")(f"expected a folder of results, or a list of several, got {folder!r:.60}")
    return __getattr__("Results")(several[0], tuple(several[1:]))


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562), because `torusweep --help` needs none of them."""
    if name in FUNCTIONS:
        method = import_module("torusweep.library.method")
        value = method.function_of(question_named(name), __getattr__("network"))
    elif name in _PLACES:
        module, attribute = _PLACES[name].split(":")
        value = getattr(import_module(module), attribute)
    elif name.startswith("_") or find_spec(f"torusweep.{name}"):  # `from torusweep import` of a module asks here first
        raise AttributeError(f"module 'torusweep' has no attribute '{name}'")
    else:
        asked = import_module("torusweep.library.network").asked_of_networks()
        there = f"; a network has it: network(…).{asked[name]}" if name in asked else nearest(name, reversed(__all__))
        raise AttributeError(f"module 'torusweep' has no attribute '{name}'{there}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])
