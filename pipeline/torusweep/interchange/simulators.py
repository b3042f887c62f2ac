"""Write networks in the formats of simulators that route packets: BookSim2, CAMINOS, SST.

For BookSim2's topology `anynet`, a file of routers and nodes is written, and a configuration to run it.

Source: booksim/booksim2, commit 28f4329 (2017): src/networks/anynet.cpp (the file's rules, min_anynet),
src/examples/anynet/README, src/booksim_config.cpp (settings and defaults). Its nodes are our terminals, its routers our
nodes. A link from router to router is listed at one end and gets both directions; a repeated line is the same link.

For CAMINOS, the file of its topology `File` is written, and a configuration.

Source: nakacristo/caminos-lib, commit 172016e (2024, version 0.6.3): src/topology/neighbourslists.rs (file_adj reads
the file; the port at the other end is the place of the node in its neighbour's list), src/topology/mod.rs
(write_adjacencies_to_file writes it), src/policies.rs (policy Hops: virtual channel i in hop i, against deadlock),
src/defaults/main.cfg (a configuration).

For SST's Merlin, a Python configuration of its topology `anytopo` is written, which reads the network as GraphML.

Source: sstsimulator/sst-elements, commit f782290 (July 2026), src/sst/elements/merlin: topology/pymerlin-topo-any.py
(class topoAny: a networkx graph whose nodes have the attribute `endpoints`), topology/anytopo.h (virtual channel i in
hop i, so that more channels than hops prevent deadlock), tests/anytopo_complete_4_test.py (routers, endpoints, job).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.errors import BadInput
from torusweep.interchange import graphs
from torusweep.interchange.formats import Format, folder_command, links_of, terminal_counts
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.questions.simulation.presets import PRESETS, round_trip
from torusweep.tables.store import publish

BOOKSIM_NETWORK, BOOKSIM_CONFIGURATION = "network.anynet", "booksim.cfg"
BOOKSIM_CONFIGURATION_TEXT = """\
// {spelling}
topology = anynet;
network_file = {network_file};
// the shortest route by BookSim2's own table, one for each pair
routing_function = min;

num_vcs = {virtual_channels};
vc_buf_size = {buffer_flits};
wait_for_tail_credit = 0;
// BookSim2's defaults: a cycle each for route, virtual channel, switch and crossbar
routing_delay = 1;
vc_alloc_delay = 1;
sw_alloc_delay = 1;
st_final_delay = 1;

traffic = uniform;
packet_size = {packet_flits};
injection_rate_uses_flits = 1;
injection_rate = 0.1;

sim_type = latency;
seed = 1;
"""
CAMINOS_NETWORK, CAMINOS_CONFIGURATION = "network.caminos", "main.cfg"
SMALL = 4096  # most nodes for which NumPy measures distances faster than Numba is loaded
CAMINOS_CONFIGURATION_TEXT = """\
Configuration
{{
	random_seed: 1,
	warmup: 10000,
	measured: 10000,
	topology: File
	{{
		filename: "{network}",
		format: 0,
		servers_per_router: {per_node},
		legend_name: "{spelling}",
	}},
	traffic: HomogeneousTraffic
	{{
		pattern: Uniform,
		servers: {terminals},
		load: 0.1,
		message_size: 16,
	}},
	maximum_packet_size: 16,
	router: Basic
	{{
		virtual_channels: {channels},
		virtual_channel_policies: [ Hops, EnforceFlowControl, Random ],
		delay: 0,
		buffer_size: 64,
		bubble: false,
		flit_size: 16,
		intransit_priority: false,
		allow_request_busy_port: true,
		output_prioritize_lowest_label: false,
		output_buffer_size: 32,
	}},
	routing: Shortest,
	link_classes: [
		LinkClass {{ delay: 1 }},
		LinkClass {{ delay: 1 }},
	],
}}
"""
SST_NETWORK, SST_CONFIGURATION = "network.graphml", "merlin.py"
SST_CONFIGURATION_TEXT = '''\
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
LINK = {link:g}  # Gb/s
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
topo.link_latency = "{latency:g}ns"
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


def anynet(topology: Topology) -> str:
    """Return the text of BookSim2's network file: a line per router, with its terminals and higher neighbours."""
    links = links_of(topology)
    lines = [[f"router {node}"] for node in range(topology.nodes)]
    for terminal, node in enumerate(topology.terminals.tolist()):
        lines[node].append(f"node {terminal}")
    cycles = [None] * len(links.source) if links.latency is None else links.latency.tolist()
    for source, target, latency in sorted(set(zip(links.source.tolist(), links.target.tolist(), cycles))):
        lines[source].append(f"router {target}" if latency is None else f"router {target} {latency}")
    return "".join(f"{' '.join(line)}\n" for line in lines)


def booksim_configuration(topology: Topology) -> str:
    """Return BookSim2's configuration, with the virtual channels, buffers and packets of our preset booksim2."""
    preset = PRESETS["booksim2"]
    return BOOKSIM_CONFIGURATION_TEXT.format(
        spelling=" ".join(topology.spelling.split()),
        network_file=BOOKSIM_NETWORK,
        virtual_channels=preset.virtual_channels,
        buffer_flits=max(preset.buffer_flits, round_trip(topology, preset)),
        packet_flits=preset.packet_flits,
    )


def write_booksim(topology: Topology, folder: Path) -> list[Path]:
    """Write the files for BookSim2, network.anynet and booksim.cfg, to a folder; return their paths."""
    files = [folder / BOOKSIM_NETWORK, folder / BOOKSIM_CONFIGURATION]
    publish(files[0], anynet(topology).encode())
    publish(files[1], booksim_configuration(topology).encode())
    return files


def _remarks(topology: Topology) -> list[str]:
    has_cycle = len(np.unique(topology.arcs[0])) and topology.links >= topology.nodes
    if not has_cycle:
        return []
    return ["BookSim2's routing of anynet uses every virtual channel for every hop: at high loads it may deadlock"]


BOOKSIM = Format(
    "BookSim2: an anynet file and a configuration",
    "",
    frozenset({"terminals", "terminal order", "latencies"}),
    write_booksim,
    lambda files: folder_command(files, f"booksim {BOOKSIM_CONFIGURATION}"),
    simulates=True,
    remarks=_remarks,
)


def adjacencies(topology: Topology) -> str:
    """Return the text of CAMINOS's network file: routers, degree, and each router's neighbours in port order."""
    lines = [f"NODOS {topology.nodes}", f"GRADO {topology.plan.degree}"]
    for node, row in enumerate(topology.ports):
        lines += [f"N {node}", " ".join(map(str, row[row != NO_PORT].tolist()))]
    return "\n".join([*lines, ""])


def terminals_per_node(topology: Topology) -> int:
    """Number of terminals of every node. Raises BadInput if nodes have different numbers."""
    counts = terminal_counts(topology)
    if counts.min() != counts.max():
        raise BadInput(
            f"{topology.spelling} as caminos: expected as many terminals at every node, got {counts.min()} to"
            f" {counts.max()}; choose booksim, sst or astra-sim, which take any number"
        )
    return int(counts[0])


def caminos_configuration(topology: Topology) -> str:
    """Return CAMINOS's configuration, with shortest routes and a virtual channel for each hop of the longest route."""
    nodes = np.arange(topology.nodes, dtype=np.int32)
    backend = "numpy" if topology.nodes <= SMALL else "auto"
    found = all_pairs_distance(topology.ports, nodes, np.zeros_like(nodes), backend=backend)
    return CAMINOS_CONFIGURATION_TEXT.format(
        network=CAMINOS_NETWORK,
        spelling=" ".join(topology.spelling.split()).replace("\\", "/").replace('"', "'"),
        per_node=terminals_per_node(topology),
        terminals=len(topology.terminals),
        channels=max(1, found.histogram.shape[1] - 1),
    )


def write_caminos(topology: Topology, folder: Path) -> list[Path]:
    """Write the files for CAMINOS, network.caminos and main.cfg, to a folder; return their paths."""
    files = [folder / CAMINOS_NETWORK, folder / CAMINOS_CONFIGURATION]
    publish(files[1], caminos_configuration(topology).encode())
    publish(files[0], adjacencies(topology).encode())
    return files


def _check(topology: Topology) -> None:
    terminals_per_node(topology)


CAMINOS = Format(
    "CAMINOS: a file for its topology File, and a configuration",
    "",
    frozenset({"ports", "terminals"}),
    write_caminos,
    lambda files: folder_command(files, f"caminos {CAMINOS_CONFIGURATION}"),
    simulates=True,
    check=_check,
)


def sst_configuration(topology: Topology) -> str:
    """Return the text of the Python file that SST runs as its configuration."""
    spelling = " ".join(topology.spelling.split()).replace("\\", "/").replace('"', "'")
    plan = topology.plan
    # Merlin's anytopo gives all links the same bandwidth and latency
    link = 16.0 if plan.rate is None or plan.bandwidths else float(plan.rate / 10**9)
    latency = (
        20.0
        if plan.tick is None or len(set(plan.latencies)) > 1
        else float(plan.tick * 10**9 * max(plan.latencies, default=1))
    )
    return SST_CONFIGURATION_TEXT.format(spelling=spelling, network=SST_NETWORK, link=link, latency=latency)


def write_sst(topology: Topology, folder: Path) -> list[Path]:
    """Write the files for SST: merlin.py and network.graphml, in which nodes are numbers, as Merlin expects."""
    numbered = replace(topology, plan=replace(topology.plan, names=None))
    files = [folder / SST_NETWORK, folder / SST_CONFIGURATION]
    publish(files[0], graphs.graphml_text(numbered).encode())
    publish(files[1], sst_configuration(topology).encode())
    return files


SST = Format(
    "SST's Merlin: GraphML and a Python configuration (topology anytopo)",
    "",
    frozenset({"terminals", "units"}),
    write_sst,
    lambda files: folder_command(files, f"sst {SST_CONFIGURATION}"),
    simulates=True,
)
