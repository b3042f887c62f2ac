"""A plain writer of each format that is read and not written: nodes x0 … x4, or a tree of switches with hosts below.

A writer takes the names of the nodes in the order of the file, and links without direction; formats of numbers call x3
the number 3, or 4 where they count from one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence

import networkx as nx
import numpy as np

Links = Sequence[tuple[str, str]]
Writer = Callable[[Sequence[str], Links], str | bytes]


def number(name: str) -> int:
    return int(name[1:])


def both(links: Links) -> list[tuple[str, str]]:
    return [*links, *((v, u) for u, v in links)]


def lines(*texts: str) -> str:
    return "\n".join(texts) + "\n"


def neighbours(nodes: Sequence[str], links: Links) -> dict[str, list[str]]:
    return {node: [v for u, v in both(links) if u == node] for node in nodes}


def of_numbers(nodes: Sequence[str], links: Links) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(nodes)))
    graph.add_edges_from((number(u), number(v)) for u, v in links)
    return graph


def matrix(nodes: Sequence[str], links: Links) -> np.ndarray:
    return nx.to_numpy_array(of_numbers(nodes, links)).astype(int)


def array_file(save: Callable[[io.BytesIO, np.ndarray], None]) -> Writer:
    def write(nodes: Sequence[str], links: Links) -> bytes:
        file = io.BytesIO()
        save(file, matrix(nodes, links))
        return file.getvalue()

    return write


def ordered(nodes: Sequence[str]) -> list[str]:
    return sorted(nodes, key=number)


def adjacencies(first: str, nodes: Sequence[str], links: Links) -> str:
    """Each line a node's neighbours, counted from one, below the first."""
    near = neighbours(nodes, links)
    return lines(first, *(" ".join(str(number(other) + 1) for other in near[node]) for node in ordered(nodes)))


def gml(nodes: Sequence[str], links: Links) -> str:
    own = [f'node [ id {number(name)} label "{name}" ]' for name in nodes]
    return lines("graph [", *own, *(f"edge [ source {number(u)} target {number(v)} ]" for u, v in links), "]")


def gexf(nodes: Sequence[str], links: Links) -> str:
    own = [f'<node id="{name}"/>' for name in nodes]
    ends = [f'<edge id="{place}" source="{u}" target="{v}"/>' for place, (u, v) in enumerate(links)]
    return lines(
        '<gexf xmlns="http://gexf.net/1.2" version="1.2"><graph defaultedgetype="undirected">',
        *("<nodes>", *own, "</nodes>", "<edges>", *ends, "</edges>", "</graph></gexf>"),
    )


def brite(nodes: Sequence[str], links: Links) -> str:
    own = [f"{number(name)}\t1\t2\t3\t3\t-1\tRT_NODE" for name in nodes]
    ends = [f"{place}\t{number(u)}\t{number(v)}\t9.0\t0\t0\t-1\t-1\tE_RT\tU" for place, (u, v) in enumerate(links)]
    return lines(
        f"Topology: ( {len(nodes)} Nodes, {len(links)} Edges )",
        *("Model (1 - RTWaxman): 5", "", f"Nodes: ( {len(nodes)} )", *own, "", f"Edges: ( {len(links)} )", *ends),
    )


def repetita(nodes: Sequence[str], links: Links) -> str:
    place = {name: at for at, name in enumerate(nodes)}
    ends = [f"e{at} {place[u]} {place[v]} 1 10000 5" for at, (u, v) in enumerate(both(links))]
    return lines(
        *(f"NODES {len(nodes)}", "label x y", *(f"{name} 0 0" for name in nodes), ""),
        *(f"EDGES {len(ends)}", "label src dest weight bw delay", *ends),
    )


def sndlib(nodes: Sequence[str], links: Links) -> str:
    ends = [f"L{at} ( {u} {v} ) 0 0 0 0 ( 40.00 1.00 )" for at, (u, v) in enumerate(links)]
    own = [f"{name} ( 0.0 0.0 )" for name in nodes]
    return lines("?SNDlib native format; type: network; version: 1.0", "NODES (", *own, ")", "LINKS (", *ends, ")")


def sndlib_xml(nodes: Sequence[str], links: Links) -> str:
    ends = [f'<link id="L{at}"><source>{u}</source><target>{v}</target></link>' for at, (u, v) in enumerate(links)]
    return lines(
        '<network xmlns="http://sndlib.zib.de/network"><networkStructure><nodes>',
        *(
            *(f'<node id="{name}"/>' for name in nodes),
            "</nodes><links>",
            *ends,
            "</links></networkStructure></network>",
        ),
    )


def nccl(nodes: Sequence[str], links: Links) -> str:
    def element(node: str, others: Sequence[str]) -> str:
        nvlinks = [f'<nvlink target="0000:0{number(o)}:00.0" count="1" tclass="0x030200"/>' for o in others]
        gpu = f'<gpu dev="{number(node)}" sm="80">{"".join(nvlinks)}</gpu>'
        return f'<pci busid="0000:0{number(node)}:00.0" class="0x030200">{gpu}</pci>'

    near = neighbours(nodes, links)
    return lines('<system version="1"><cpu>', *(element(node, near[node]) for node in nodes), "</cpu></system>")


def gpu_table(nodes: Sequence[str], links: Links, own: str, yes: str, no: str) -> list[str]:
    called = [f"GPU{at}" for at in range(len(nodes))]
    pairs = {(number(u), number(v)) for u, v in both(links)}
    rows = [
        "\t".join([name, *(own if at == other else yes if (at, other) in pairs else no for other in range(len(nodes)))])
        for at, name in enumerate(called)
    ]
    return ["\t" + "\t".join(called), *rows]


def rocm(nodes: Sequence[str], links: Links) -> str:
    bar = "=" * 20
    return lines(
        *(f"{bar} Weight between two GPUs {bar}", *gpu_table(nodes, links, "0", "15", "40"), ""),
        *(f"{bar} Link Type between two GPUs {bar}", *gpu_table(nodes, links, "0", "XGMI", "PCIE"), ""),
    )


def cch(nodes: Sequence[str], links: Links) -> str:
    near = neighbours(nodes, links)
    rows = [
        f"{number(node)} @Paris ({len(near[node])}) -> {' '.join(f'<{number(o)}>' for o in near[node])} ={node} r0"
        for node in nodes
    ]
    return lines(*rows)


GRAPHS: dict[str, Writer] = {
    "adjlist": lambda n, e: lines(*(" ".join([u, *(v for a, v in e if a == u)]) for u in n)),
    "anynet": lambda n, e: lines(
        *(f"router {number(u)} node {number(u)}" for u in n), *(f"router {number(u)} router {number(v)}" for u, v in e)
    ),
    "as-relationships": lambda n, e: lines(*(f"{number(u)}|{number(v)}|0" for u, v in e)),
    "brite": brite,
    "containerlab": lambda n, e: json.dumps(
        {"topology": {"nodes": {u: {} for u in n}, "links": [{"endpoints": [f"{u}:e", f"{v}:e"]} for u, v in e]}}
    ),
    "cytoscape": lambda n, e: json.dumps(
        {"elements": [{"data": {"id": u}} for u in n] + [{"data": {"source": u, "target": v}} for u, v in e]}
    ),
    "dimacs": lambda n, e: lines(
        f"p edge {len(n)} {len(e)}", *(f"e {number(u) + 1} {number(v) + 1}" for u, v in e)
    ),
    "dot": lambda n, e: lines("graph {", *n, *(f"{u} -- {v};" for u, v in e), "}"),
    "gdf": lambda n, e: lines("nodedef>name", *n, "edgedef>node1,node2", *(f"{u},{v}" for u, v in e)),
    "gexf": gexf,
    "gml": gml,
    "graph6": lambda n, e: nx.to_graph6_bytes(of_numbers(n, e)),
    "jgf": lambda n, e: json.dumps({"graph": {"directed": False, "nodes": {u: {} for u in n}, "edges": [
        {"source": u, "target": v} for u, v in e]}}),
    "konect": lambda n, e: lines("% sym unweighted", *(f"{number(u) + 1} {number(v) + 1}" for u, v in e)),
    "leda": lambda n, e: lines("LEDA.GRAPH", "void", "void", "-2", str(len(n)), *["|{}|"] * len(n), str(len(e)), *(
        f"{number(u) + 1} {number(v) + 1} 0 |{{}}|" for u, v in e)),
    "lgf": lambda n, e: lines("@nodes", "label", *n, "@edges", "-", *(f"{u} {v}" for u, v in e)),
    "lgl": lambda n, e: lines(*(line for u in n for line in (f"# {u}", *(v for a, v in e if a == u)))),
    "matrix": lambda n, e: lines(*(" ".join(map(str, row)) for row in matrix(n, e).tolist())),
    "matrix-market": lambda n, e: lines(
        "%%MatrixMarket matrix coordinate pattern symmetric", f"{len(n)} {len(n)} {len(e)}",
        *("{} {}".format(*sorted((number(u) + 1, number(v) + 1), reverse=True)) for u, v in e)),
    "metis": lambda n, e: adjacencies(f"{len(n)} {len(e)}", n, e),
    "nccl": nccl,
    "netjson": lambda n, e: json.dumps({"type": "NetworkGraph", "nodes": [{"id": u} for u in n], "links": [
        {"source": u, "target": v} for u, v in e]}),
    "npy": array_file(lambda file, array: np.save(file, array)),
    "npz": array_file(lambda file, array: np.savez(file, array)),
    "nvidia-smi": lambda n, e: lines(*gpu_table(n, e, "X", "NV1", "SYS")),
    "pajek": lambda n, e: lines(f"*Vertices {len(n)}", *(f'{number(u) + 1} "{u}"' for u in n), "*Edges", *(
        f"{number(u) + 1} {number(v) + 1}" for u, v in e)),
    "repetita": repetita,
    "rocketfuel": lambda n, e: lines(*(f"P,+F{number(u)} P,+F{number(v)} 1" for u, v in both(e))),
    "rocketfuel-map": cch,
    "rocm-smi": rocm,
    "sif": lambda n, e: lines(*n, *(f"{u} to {v}" for u, v in e)),
    "snap": lambda n, e: lines("# Undirected graph: x", *(f"{number(u)}\t{number(v)}" for u, v in e)),
    "sndlib": sndlib,
    "sndlib-xml": sndlib_xml,
    "tgf": lambda n, e: lines(*n, "#", *(f"{u} {v}" for u, v in both(e))),
    "ucinet": lambda n, e: lines(f"dl n={len(n)} format=edgelist1", "labels embedded:", "data:", *(
        f"{u} {v}" for u, v in both(e))),
    "vis": lambda n, e: json.dumps({"nodes": [{"id": u} for u in n], "edges": [{"from": u, "to": v} for u, v in e]}),
    "vna": lambda n, e: lines("*Node data", "ID", *n, "*Tie data", "from to", *(f"{u} {v}" for u, v in both(e))),
}  # fmt: skip


def ports(nodes: Sequence[str], links: Links) -> dict[str, list[tuple[str, int]]]:
    """At each port of a node, from 1: the node at the other end, and its port."""
    found: dict[str, list[tuple[str, int]]] = {node: [] for node in nodes}
    for u, v in links:
        at = len(found[u]) + 1, len(found[v]) + 1
        found[u].append((v, at[1]))
        found[v].append((u, at[0]))
    return found


def is_host(name: str) -> bool:
    return name.startswith("h")


def guid(name: str) -> str:
    return f"00000000{name.encode().hex():0>8}"


def ibnetdiscover(nodes: Sequence[str], links: Links) -> str:
    def named(node: str) -> str:
        return f'"{"H" if is_host(node) else "S"}-{guid(node)}"'

    found = []
    for node, others in ports(nodes, links).items():
        head = f'{"Ca" if is_host(node) else "Switch"}\t8 {named(node)}\t# "{node}"'
        rows = [
            f'[{at}]\t{named(other)}[{port}]\t# "{other}" lid 1 4xEDR' for at, (other, port) in enumerate(others, 1)
        ]
        found += [f"vendid=0x1\n{'ca' if is_host(node) else 'switch'}guid=0x{guid(node)}", head, *rows, ""]
    return lines(*found)


def iblinkinfo(nodes: Sequence[str], links: Links) -> str:
    lids = {node: at for at, node in enumerate(nodes, 1)}
    found = []
    for node, others in ports(nodes, links).items():
        found.append(f"{'CA' if is_host(node) else 'Switch'}: 0x{guid(node)} {node}:")
        for at, (other, port) in enumerate(others, 1):
            state = "( 4X       25.78125 Gbps Active/  LinkUp)"
            found.append(f'   {lids[node]}  {at}[  ] =={state}==>  {lids[other]}  {port}[  ] "{other}" ( )')
    return lines(*found)


def lst(nodes: Sequence[str], links: Links) -> str:
    def end(node: str, port: int) -> str:
        kind, own = "CA" if is_host(node) else "SW", guid(node)
        return f"{{ {kind} Ports:08 SystemGUID:{own} NodeGUID:{own} Rev:0 {{{node}}} LID:0001 PN:{port:02X} }}"

    return lines(*(
        f"{end(node, at)} {end(other, port)} PHY=4x LOG=ACT SPD=25"
        for node, others in ports(nodes, links).items()
        for at, (other, port) in enumerate(others, 1)
    ))  # fmt: skip


def opareport(nodes: Sequence[str], links: Links) -> str:
    def end(node: str, at: int) -> str:
        return f"0x{guid(node)} {at:3} {'FI' if is_host(node) else 'SW'}   {node}"

    rows = [f"100g {end(u, at)}\n<->  {end(v, at)}" for at, (u, v) in enumerate(links, 1)]
    return lines("Rate NodeGUID          Port Type Name", *rows)


def below(nodes: Sequence[str], links: Links) -> list[tuple[str, list[str], list[str]]]:
    """Each switch with the hosts and the switches below it. The spine is s0."""
    near = neighbours(nodes, links)
    return [
        (
            node,
            [other for other in near[node] if is_host(other)],
            [other for other in near[node] if node == "s0" and not is_host(other)],
        )
        for node in nodes
        if not is_host(node)
    ]


def slurm(nodes: Sequence[str], links: Links) -> str:
    rows = []
    for node, hosts, others in below(nodes, links):
        listed = {"Nodes": hosts, "Switches": others}
        rows.append(" ".join([f"SwitchName={node}", *(f"{key}={','.join(own)}" for key, own in listed.items() if own)]))
    return lines(*rows)


def slurm_yaml(nodes: Sequence[str], links: Links) -> str:
    rows = []
    for node, hosts, others in below(nodes, links):
        listed = {"nodes": hosts, "children": others}
        rows.append({"switch": node, **{key: ",".join(own) for key, own in listed.items() if own}})
    return lines("- topology: tree", "  tree:", "    switches:", *(f"      - {json.dumps(row)}" for row in rows))


def miniedit(nodes: Sequence[str], links: Links) -> str:
    kinds = {kind: [{"opts": {"hostname": node}} for node in nodes if is_host(node) == (kind == "hosts")] for kind in (
        "hosts", "switches")}  # fmt: skip
    return json.dumps({**kinds, "links": [{"src": u, "dest": v, "opts": {}} for u, v in links]})


def ns3(nodes: Sequence[str], links: Links) -> str:
    place = {node: at for at, node in enumerate(nodes)}
    switches = [str(place[node]) for node in nodes if not is_host(node)]
    rows = [f"{place[u]} {place[v]} 100Gbps 0.001ms 0" for u, v in links]
    return lines(f"{len(nodes)} {len(switches)} {len(links)}", " ".join(switches), *rows)


FABRICS: dict[str, Writer] = {
    "ibnetdiscover": ibnetdiscover,
    "iblinkinfo": iblinkinfo,
    "subnet-list": lst,
    "opareport": opareport,
    "slurm": slurm,
    "slurm-yaml": slurm_yaml,
    "miniedit": miniedit,
    "ns3": ns3,
}
