"""BookSim2's topology `anynet`: a file of routers and nodes, and a configuration to run it.

Source: booksim/booksim2, commit 28f4329 (2017): src/networks/anynet.cpp (the file's rules, min_anynet),
src/examples/anynet/README, src/booksim_config.cpp (settings and defaults). Its nodes are our terminals, its routers our
nodes. A link from router to router is listed at one end and gets both directions; a repeated one is the same link.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from torusweep.interchange.formats import Format, folder_command
from torusweep.interchange.links import links_of
from torusweep.networks.topology import Topology
from torusweep.stages.simulation.presets import PRESETS, round_trip
from torusweep.tables.store import publish

NETWORK, CONFIGURATION = "network.anynet", "booksim.cfg"
CONFIGURATION_TEXT = """\
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

traffic = {traffic};
packet_size = {packet_flits};
injection_rate_uses_flits = 1;
injection_rate = {load};

sim_type = latency;
seed = {seed};
"""


def anynet(topology: Topology) -> str:
    """The file of routers: a line for each, with its terminals and its neighbours of larger numbers."""
    links = links_of(topology)
    lines = [[f"router {node}"] for node in range(topology.nodes)]
    for terminal, node in enumerate(topology.terminals.tolist()):
        lines[node].append(f"node {terminal}")
    cycles = [None] * len(links.source) if links.latency is None else links.latency.tolist()
    for source, target, latency in sorted(set(zip(links.source.tolist(), links.target.tolist(), cycles))):
        lines[source].append(f"router {target}" if latency is None else f"router {target} {latency}")
    return "".join(f"{' '.join(line)}\n" for line in lines)


def configuration(
    spelling: str,
    *,
    network_file: str = NETWORK,
    router: str = "booksim2",
    traffic: str = "uniform",
    load: float = 0.1,
    packet_flits: int | None = None,
    seed: int = 1,
    buffer_flits: int = 0,
) -> str:
    """A configuration of BookSim2 for an anynet file.

    router        preset whose virtual channels, buffers and packets are used; delays are BookSim2's own
    traffic       BookSim2's name of the pattern
    load          flits per terminal and cycle
    packet_flits  None: the preset's
    buffer_flits  of a virtual channel, if more than the preset's
    """
    preset = PRESETS[router]
    return CONFIGURATION_TEXT.format(
        spelling=" ".join(spelling.split()),
        network_file=network_file,
        virtual_channels=preset.virtual_channels,
        buffer_flits=max(preset.buffer_flits, buffer_flits),
        packet_flits=packet_flits or preset.packet_flits,
        traffic=traffic,
        load=load,
        seed=seed,
    )


def write(topology: Topology, folder: Path) -> list[Path]:
    """Write network.anynet and booksim.cfg."""
    files = [folder / NETWORK, folder / CONFIGURATION]
    publish(files[0], anynet(topology).encode())
    publish(files[1], configuration(topology.spelling, buffer_flits=round_trip(topology, PRESETS["booksim2"])).encode())
    return files


def _remarks(topology: Topology) -> list[str]:
    has_cycle = len(np.unique(topology.arcs[0])) and topology.links >= topology.nodes
    if not has_cycle:
        return []
    return ["BookSim2's routing of anynet uses every virtual channel for every hop: at high loads it may deadlock"]


FORMAT = Format(
    "BookSim2: an anynet file and a configuration",
    "",
    frozenset({"terminals", "terminal order", "latencies"}),
    write,
    lambda files: folder_command(files, f"booksim {CONFIGURATION}"),
    simulates=True,
    remarks=_remarks,
)
