"""Refuse files of known tools that contain no network in a readable form, and say what to do instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from torusweep.documents import parse, read_bytes
from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import text_of

LIST = "write its links as a list, a line each: one other"


class Foreign(NamedTuple):
    """The kind of a file that is not a network, and what the user can do instead."""

    what: str
    remedy: str


KNOWN = {
    "hwloc": Foreign(
        "hwloc's tree of one machine", "`nvidia-smi topo -m` and NCCL_TOPO_DUMP_FILE give the links of its GPUs"
    ),
    "nccl-graph": Foreign(
        "NCCL's rings and trees (NCCL_GRAPH_DUMP_FILE)", "let NCCL write its topology: NCCL_TOPO_DUMP_FILE"
    ),
    "omnetpp": Foreign(
        "a description in NED of OMNeT++, which is a language", f"{LIST}, or give the family by its name"
    ),
    "python": Foreign(
        "a Python program, as for SST, Mininet and gem5, which is not run",
        "let it write networkx.write_graphml(graph, path)",
    ),
    "garnet": Foreign("gem5's config.ini", "list src_node and dst_node of its int_links, a line each"),
    "caminos-config": Foreign(
        "a configuration of CAMINOS",
        "let CAMINOS write the topology's adjacencies (NODOS, GRADO), or give the family by its name",
    ),
    "lldp": Foreign(
        "lldpctl's list of one host's neighbours", "join the lists of all hosts as a list of links: host switch"
    ),
    "hosts": Foreign("a list of hosts, as for MPI or in /etc/hosts", f"it names no links; {LIST}"),
    "graphviz-plain": Foreign("a drawing by Graphviz (-Tplain)", "give the file in DOT that it was made from"),
    "tulip": Foreign("a graph in Tulip's TLP", "let Tulip export it as GML"),
    "xgmml": Foreign("a network in XGMML", "let Cytoscape export it as .cyjs or GraphML"),
    "nvlink-status": Foreign("NVLinks without their other ends", "`nvidia-smi topo -m` names both"),
    "amd-smi": Foreign("tables of amd-smi", "`rocm-smi --showtopo` is read"),
    "netlab": Foreign("a lab of netlab", "`netlab create` writes clab.yml, which is read"),
    "goal": Foreign("a schedule of GOAL", "`torusweep simulate NETWORK --workload FILE` takes it"),
}


def refuse(path: Path, name: str) -> NoReturn:
    """Raise BadInput for a file of a tool in NOT_READ. The message says what the file is and what to do instead."""
    what, remedy = SPELLED[name](path) if name in SPELLED else KNOWN[name]
    raise BadInput(f"{printable(path)}: expected a network, got {what}; {remedy}")


def booksim(path: Path) -> Foreign:
    """Describe a configuration of BookSim2. The remedy is the spelling of its network, if a family here makes it.

    Source: booksim2, src/networks.
    """
    text = re.sub(r"//[^\n]*", "", text_of(path))
    given = dict(re.findall(r"(\w+)\s*=\s*([^;\s]+)\s*;", text))
    topology = given.get("topology", "torus")
    k, n, c = (_whole(path, name, given.get(name, usual)) for name, usual in (("k", "8"), ("n", "2"), ("c", "1")))
    spelling = {
        "torus": f"torus(k={k}, n={n})",
        "mesh": f"mesh(k={k}, n={n})",
        "fattree": f"fat_tree(k={k}, n={n})",
        "flatfly": f"hyperx(radices={[k] * min(n, 20)}, terminals={c})",
        "dragonflynew": f"dragonfly(a={2 * k}, p={k}, h={k})",
    }.get(topology)
    if topology == "anynet":
        remedy = f"give its network_file, {printable(given.get('network_file', ''))[:60] or 'which it leaves out'}"
    elif spelling is None:
        remedy = "no family here is its network; write it as BookSim2's anynet, which is read"
    else:
        remedy = f"give the network as '{spelling}'"
    if topology == "dragonflynew":
        remedy += ", whose global links may be arranged otherwise"
    return Foreign(f"a configuration of BookSim2 ({printable(topology)[:20]})", remedy)


def astra_sim(path: Path) -> Foreign:
    """Describe ASTRA-sim's network.yml (analytical backend). The remedy is the spelling of its network, if it has one.

    Bandwidths are in GB/s, latencies in ns.
    Source: astra-network-analytical, NetworkParser.cpp and input/.
    """
    given = _yaml(path, "network.yml of ASTRA-sim")
    kinds, counts = given.get("topology"), given.get("npus_count")
    if not isinstance(kinds, list) or not isinstance(counts, list) or not kinds or len(kinds) != len(counts):
        raise BadInput(
            f"{printable(path)}: expected lists topology and npus_count of one length in ASTRA-sim's network.yml"
        )
    sides = [_whole(path, "npus_count", str(count)) for count in counts]
    alike = str(kinds[0]) if len({*map(str, kinds)}) == 1 else ""
    family = {"Ring": "torus", "FullyConnected": "hamming"}.get(alike)
    spelling = f"{family}(radices={sides})"
    units = []
    for name, unit, key in (("bandwidths", "GB/s", "bandwidth"), ("latencies", "ns", "latency")):
        values = given.get(key)
        if isinstance(values, list) and len(values) == len(sides) and all(isinstance(v, int | float) for v in values):
            different = values if len(set(values)) > 1 else values[:1]
            shown = ", ".join(f'"{value:g} {unit}"' for value in different)
            units.append(f"{name}=[{shown}]")
    whole = f"with_links({spelling}, {', '.join(units)})" if units else spelling
    remedy = (
        "no family here has dimensions of different kinds; list its links"
        if family is None
        else f"give the network as '{whole}'"
    )
    return Foreign("a network.yml of ASTRA-sim", remedy)


def noxim(path: Path) -> Foreign:
    """Describe a configuration of Noxim. The remedy is the spelling of its network, if that is a mesh."""
    given = {str(key).lower(): value for key, value in _yaml(path, "configuration of Noxim").items()}
    sides = [_whole(path, key, str(given.get(key))) for key in ("mesh_dim_x", "mesh_dim_y")]
    kind = str(given.get("topology", "MESH")).upper()
    remedy = (
        f"give the network as 'mesh(radices={sides})'"
        if kind == "MESH"
        else f"no family here is {printable(kind)[:20]}"
    )
    return Foreign("a configuration of Noxim", remedy)


def _yaml(path: Path, what: str) -> dict[Any, Any]:
    data = parse(read_bytes(path, what, "shorten it"), printable(path)).data
    if not isinstance(data, dict):
        raise BadInput(f"{printable(path)}: expected a {what}, a mapping of keys")
    return data


def _whole(path: Path, name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,7}", text, re.ASCII):
        raise BadInput(f"{printable(path)}: expected a whole number above 0 as {name}, got '{printable(text)[:20]}'")
    return int(text)


SPELLED = {"booksim-config": booksim, "astra-sim-network": astra_sim, "noxim": noxim}
