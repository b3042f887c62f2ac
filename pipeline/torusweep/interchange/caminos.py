"""CAMINOS: the file of its topology `File`, and a configuration.

Source: nakacristo/caminos-lib, commit 172016e (2024, version 0.6.3): src/topology/neighbourslists.rs (file_adj reads
the file; the port at the other end is the place of the node in its neighbour's list), src/topology/mod.rs
(write_adjacencies_to_file writes it), src/policies.rs (policy Hops: virtual channel i in hop i, against deadlock),
src/defaults/main.cfg (a configuration).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from torusweep_kernels.distance import all_pairs_distance

from torusweep.interchange.formats import Format, folder_command, terminals_per_node
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.tables.store import publish

NETWORK, CONFIGURATION = "network.caminos", "main.cfg"
SMALL = 4096  # nodes up to which NumPy measures distances sooner than Numba is loaded
CONFIGURATION_TEXT = """\
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


def adjacencies(topology: Topology) -> str:
    """The file of a network: its routers, their degree, and the neighbours of each in the order of its ports."""
    lines = [f"NODOS {topology.nodes}", f"GRADO {topology.plan.degree}"]
    for node, row in enumerate(topology.ports):
        lines += [f"N {node}", " ".join(map(str, row[row != NO_PORT].tolist()))]
    return "\n".join([*lines, ""])


def configuration(topology: Topology) -> str:
    """A configuration with shortest routes, and as many virtual channels as the longest has hops."""
    nodes = np.arange(topology.nodes, dtype=np.int32)
    backend = "numpy" if topology.nodes <= SMALL else "auto"
    found = all_pairs_distance(topology.ports, nodes, np.zeros_like(nodes), backend=backend)
    return CONFIGURATION_TEXT.format(
        network=NETWORK,
        spelling=" ".join(topology.spelling.split()).replace("\\", "/").replace('"', "'"),
        per_node=terminals_per_node(topology, "caminos"),
        terminals=len(topology.terminals),
        channels=max(1, found.histogram.shape[1] - 1),
    )


def write(topology: Topology, folder: Path) -> list[Path]:
    """Write network.caminos and main.cfg."""
    files = [folder / NETWORK, folder / CONFIGURATION]
    publish(files[1], configuration(topology).encode())
    publish(files[0], adjacencies(topology).encode())
    return files


def _check(topology: Topology) -> None:
    terminals_per_node(topology, "caminos")


FORMAT = Format(
    "CAMINOS: a file for its topology File, and a configuration",
    "",
    frozenset({"ports", "terminals"}),
    write,
    lambda files: folder_command(files, f"caminos {CONFIGURATION}"),
    simulates=True,
    check=_check,
)
