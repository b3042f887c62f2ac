"""Routing tables of fabric tools and of Noxim, in the form in which these write them, followed hop by hop by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.loads.exact import exact_loads

LEAVES, SPINES, HOSTS = 3, 2, 4  # hosts of a leaf
# what is what: names, GUIDs and LIDs, which are in no order
GUIDS = {f"leaf{i}": 0xE41D2D0300A0 + 16 * i for i in range(LEAVES)} | {
    f"spine{i}": 0x2C9020048 + i for i in range(SPINES)
}
LIDS = {name: 3 * place + 2 for place, name in enumerate(GUIDS)}
ADAPTERS = {f"node{i:02} mlx5_0": (0x8F104039600 + 4 * i, 100 + 7 * (i * 5 % 12)) for i in range(LEAVES * HOSTS)}
LIDS |= {name: lid for name, (_, lid) in ADAPTERS.items()}
# (node, port) → (node, port): hosts at ports 1 … 4 of a leaf, uplinks at 20 and 21; of a spine, leaf i at port i + 5
WIRES = {(f"leaf{i // HOSTS}", i % HOSTS + 1): (name, 1) for i, name in enumerate(ADAPTERS)}
WIRES |= {(f"leaf{i}", 20 + j): (f"spine{j}", i + 5) for i in range(LEAVES) for j in range(SPINES)}
WIRES |= {there: here for here, there in WIRES.items()}


def ident(name: str) -> str:
    return f"S-{GUIDS[name]:016x}" if name in GUIDS else f"H-{ADAPTERS[name][0]:016x}"


def discovered() -> str:
    """As ibnetdiscover prints it (ibnetdiscover.c: out_switch, out_ca, out_switch_port, out_ca_port)."""
    lines = ["#", "# Topology file: generated on Tue Jun  5 14:15:10 2007", "#"]
    for name, guid in GUIDS.items():
        lines += ["", "vendid=0x2c9", "devid=0xd2f0", f"switchguid=0x{guid:x}({guid:x})"]
        lines.append(f'Switch\t36 "{ident(name)}"\t\t# "{name}" enhanced port 0 lid {LIDS[name]} lmc 0')
        for (here, port), (there, far) in sorted(WIRES.items()):
            if here == name:
                lines.append(f'[{port}]\t"{ident(there)}"[{far}] \t\t# "{there}" lid {LIDS[there]} 4xEDR')
    for name, (guid, lid) in ADAPTERS.items():
        leaf, port = WIRES[name, 1]
        lines += ["", "vendid=0x2c9", "devid=0x1017", f"caguid=0x{guid:x}", f'Ca\t1 "{ident(name)}"\t\t# "{name}"']
        lines.append(
            f'[1]({guid + 1:x}) \t"{ident(leaf)}"[{port}]\t\t# lid {lid} lmc 0 "{leaf}" lid {LIDS[leaf]} 4xEDR'
        )
    return "\n".join([*lines, ""])


def out_port(switch: str, name: str) -> int:
    """Port 0 at the switch itself; down where the adapter is; up by LID modulo the spines, as fat-tree routing does."""
    if switch == name:
        return 0
    down = [port for (here, port), (there, _) in WIRES.items() if here == switch and there == name]
    if down:
        return down[0]
    if switch.startswith("spine"):
        leaf = name if name.startswith("leaf") else WIRES.get((name, 1), ("leaf0", 0))[0]
        return next(port for (here, port), (there, _) in WIRES.items() if here == switch and there == leaf)
    return 20 + LIDS[name] % SPINES


def dumped(tool: str) -> str:
    """As dump_fts and ibroute print tables (dump_fts.c: dump_unicast_tables, dump_lid); as OpenSM dumps them."""
    blocks = []
    for switch, guid in GUIDS.items():
        entries = sorted((lid, out_port(switch, name), name) for name, lid in LIDS.items())
        if tool == "opensm":
            blocks.append(
                f"Unicast lids [0-{max(LIDS.values())}] of switch Lid {LIDS[switch]} guid 0x{guid:016x} ('{switch}'):"
            )
        else:
            where = f"Lid {LIDS[switch]}" if tool == "ibroute" else "DR path slid 0; dlid 0; 0,1,19,32"
            blocks.append(
                f"Unicast lids [0x0-0x{max(LIDS.values()):x}] of switch {where} guid 0x{guid:016x} ({switch}):"
            )
            blocks += ["  Lid  Out   Destination", "       Port     Info "]
        for lid, port, name in entries:
            kind = "Switch" if name in GUIDS else "Channel Adapter"
            number = GUIDS[name] if name in GUIDS else ADAPTERS[name][0] + 1
            if tool == "opensm":
                blocks.append(f"0x{lid:04x} {port:03} # {kind} portguid 0x{number:016x}: '{name}'")
            elif tool == "brief":
                blocks.append(f"0x{lid:04x} {port:03} : ")
            else:
                blocks.append(f"0x{lid:04x} {port:03} : ({kind} portguid 0x{number:016x}: '{name}')")
        blocks.append(f"{len(entries)} valid lids dumped ")
    return "\n".join([*blocks, ""])


def walked() -> Counter[tuple[str, str]]:
    """How many pairs of adapters use each link, from the tables above."""
    used: Counter[tuple[str, str]] = Counter()
    for source in ADAPTERS:
        for goal in ADAPTERS.keys() - {source}:
            at, to = source, WIRES[source, 1][0]
            while True:
                used[at, to] += 1
                if to == goal:
                    break
                at, to = to, WIRES[to, out_port(to, goal)][0]
    return used


@pytest.fixture(autouse=True)
def _in_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fabric.txt").write_text(discovered())


@pytest.mark.parametrize("tool", ["ibroute", "dump_fts", "brief", "opensm"])
def test_forwarding_tables_of_a_fabric(tool):
    Path("lfts.dump").write_text(dumped(tool))
    topology = build("fabric.txt")
    names = topology.plan.names
    load = exact_loads(topology, routing="lfts.dump", traffic="uniform_other").load
    found = {
        (names[node], names[topology.ports[node, port]]): load[node, port] * (len(ADAPTERS) - 1)
        for node, port in np.argwhere(load > 0).tolist()
    }
    assert found == pytest.approx(walked())
    assert ts.network("fabric.txt").deadlock(routing="lfts.dump").deadlock_free == "yes"


@pytest.mark.parametrize(
    ("network", "edit", "words"),
    [
        ("torus(k=4, n=2)", ("", ""), "run ibnetdiscover > fabric.ibnetdiscover, and take that file as the network"),
        (
            "fabric.txt",
            ("Unicast lids", "Multicast mlids"),
            "line 1: expected a unicast table of a switch with its guid",
        ),
        (
            "fabric.txt",
            (f"guid 0x{GUIDS['leaf0']:016x}", "guid 0x00000000000000aa"),
            "line 1: expected a switch of the network, got guid 0x00000000000000aa",
        ),
        (
            "fabric.txt",
            (f"0x{LIDS['node11 mlx5_0']:04x} 02", f"0x{LIDS['node11 mlx5_0']:04x} 03"),
            "a port of leaf0 with a link, got 3",
        ),
    ],
)
def test_forwarding_tables_that_do_not_fit(network, edit, words):
    Path("lfts.dump").write_text(dumped("ibroute").replace(*edit) if edit[0] else dumped("ibroute"))
    with pytest.raises(BadInput) as refusal:
        exact_loads(build(network), routing="lfts.dump", traffic="uniform_other")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


WIDTH = 4


def noxim_outputs(node: int, goal: int) -> list[int]:
    """West first: all hops west, then any that are nearer."""
    (x, y), (to_x, to_y) = ((place % WIDTH, place // WIDTH) for place in (node, goal))
    if to_x < x:
        return [node - 1]
    return [node + 1] * (to_x > x) + [node + WIDTH] * (to_y > y) + [node - WIDTH] * (to_y < y)


def noxim_table(nodes: int) -> str:
    """A line: node, the link that a packet came by, destination, and from column 22 on the outputs, with commas."""
    lines = ["% node in-link dst   outputs"]
    for node in range(nodes):
        beside = [node - 1] * (node % WIDTH > 0) + [node + 1] * (node % WIDTH < WIDTH - 1)
        beside += [other for other in (node - WIDTH, node + WIDTH) if 0 <= other < nodes]
        for source in (node, *beside):
            for goal in set(range(nodes)) - {node}:
                outputs = ", ".join(f"{node}->{to}" for to in noxim_outputs(node, goal))
                lines.append(f" {node} {source}->{node} {goal}".ljust(22) + outputs)
    return "\n".join([*lines, "", "what follows an empty line is not read"])


def test_routing_tables_of_noxim():
    """The mean over all orders of the admissible outputs, by recursion."""
    Path("west_first.txt").write_text(noxim_table(WIDTH * WIDTH))
    topology = build(f"mesh(k={WIDTH}, n=2)")
    expected: Counter[tuple[int, int]] = Counter()

    def send(node: int, goal: int, share: float) -> None:
        outputs = noxim_outputs(node, goal) if node != goal else []
        for to in outputs:
            expected[node, to] += share / len(outputs)
            send(to, goal, share / len(outputs))

    for source in range(WIDTH * WIDTH):
        for goal in range(WIDTH * WIDTH):
            send(source, goal, 1 / (WIDTH * WIDTH - 1))
    load = exact_loads(topology, routing="west_first.txt", traffic="uniform_other").load
    found = {(node, int(topology.ports[node, port])): load[node, port] for node, port in np.argwhere(load > 0).tolist()}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("start", "outputs", "words"),
    [
        (" 0 0->0 5", "0->5", "expected a link from 0 to 5, as packets to 5 take it, got none"),
        (" 0 0->0 99", "0->1", "line 1: expected nodes 0 … 15, and a link to node 0"),
        (" 0 0->0 5", "1->2", "line 1: expected outputs of node 0, got 1->2"),
        (" 0 0->0 5 0->1", "", "outputs from column 22 on"),
    ],
)
def test_routing_tables_of_noxim_that_do_not_fit(start, outputs, words):
    Path("one.txt").write_text((start.ljust(22) if outputs else start) + outputs + "\n")
    with pytest.raises(BadInput) as refusal:
        exact_loads(build("mesh(k=4, n=2)"), routing="one.txt", traffic="uniform_other")
    assert words in str(refusal.value)
