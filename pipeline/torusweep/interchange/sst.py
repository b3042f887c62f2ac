"""SST's Merlin: a Python configuration of its topology `anytopo`, which reads the network as GraphML.

Source: sstsimulator/sst-elements, commit f782290 (July 2026), src/sst/elements/merlin: topology/pymerlin-topo-any.py
(class topoAny: a networkx graph whose nodes have the attribute `endpoints`), topology/anytopo.h (virtual channel i in
hop i, so that more channels than hops prevent deadlock), tests/anytopo_complete_4_test.py (routers, endpoints, job).
"""

from __future__ import annotations

from pathlib import Path

from torusweep.interchange import graphml
from torusweep.interchange.formats import Format, folder_command
from torusweep.networks.topology import Topology
from torusweep.tables.store import publish

NETWORK, CONFIGURATION = "network.graphml", "merlin.py"
CONFIGURATION_TEXT = '''\
"""{spelling}: uniform traffic at a load of 0.1 on SST's Merlin; run with `sst merlin.py`."""

import os

import networkx as nx
import sst
from sst.merlin.base import *
from sst.merlin.endpoint import *
from sst.merlin.interface import *
from sst.merlin.targetgen import *
from sst.merlin.topology import *

LOAD = 0.1
LINK = 16  # Gb/s
here = os.path.dirname(os.path.abspath(__file__))
# parallel links are one link: topoAny builds those of a multigraph twice
graph = nx.Graph(nx.read_graphml(os.path.join(here, "{network}"), node_type=int))

topo = topoAny()
topo.routing_mode = "source_routing"
topo.topo_name = "torusweep"
topo.import_graph(graph)
routing_table = topo.calculate_routing_table()
# hop i uses virtual channel i: with one more than hops, no packet can wait for itself
hops = max(len(path) for paths in routing_table.values() for choices in paths.values() for _, path in choices)
topo.vcs_per_vn = hops + 1
topo.link_latency = "20ns"
topo.host_link_latency = "10ns"

router = hr_router()
router.link_bw = f"{{LINK}}Gb/s"
router.xbar_bw = f"{{2 * LINK}}Gb/s"
router.flit_size = "32B"
router.input_latency = "20ns"
router.output_latency = "20ns"
router.input_buf_size = "32kB"
router.output_buf_size = "32kB"
router.num_vns = 2
router.xbar_arb = "merlin.xbar_arb_rr"
topo.router = router

nic = EndpointNIC(use_reorderLinkControl=True, topo=topo)
nic.addPlugin("sourceRoutingPlugin", routing_table=routing_table)
nic.link_bw = f"{{LINK}}Gb/s"
nic.input_buf_size = "32kB"
nic.output_buf_size = "32kB"
nic.vn_remap = [0]

job = OfferedLoadJob(0, topo.getNumNodes())
job.setEndpointNIC(nic)
job.pattern = UniformTarget()
job.offered_load = LOAD
job.link_bw = f"{{LINK}}Gb/s"
job.message_size = "32B"
job.collect_time = "200us"
job.warmup_time = "200us"
job.drain_time = "1000us"

system = System()
system.setTopology(topo)
system.allocateNodes(job, "linear")
system.build()
'''


def configuration(topology: Topology) -> str:
    """The Python file that SST runs."""
    spelling = " ".join(topology.spelling.split()).replace("\\", "/").replace('"', "'")
    return CONFIGURATION_TEXT.format(spelling=spelling, network=NETWORK)


def write(topology: Topology, folder: Path) -> list[Path]:
    """Write network.graphml and merlin.py."""
    files = [folder / NETWORK, folder / CONFIGURATION]
    publish(files[0], graphml.text(topology).encode())
    publish(files[1], configuration(topology).encode())
    return files


FORMAT = Format(
    "SST's Merlin: GraphML and a Python configuration (topology anytopo)",
    "",
    frozenset({"terminals"}),
    write,
    lambda files: folder_command(files, f"sst {CONFIGURATION}"),
    simulates=True,
)
