"""Networks in simulators' formats, read by plain parsers that are written from the simulators' rules."""

from __future__ import annotations

import json
import runpy
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import networkx as nx
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.interchange import astra_sim, export
from torusweep.networks.families import build
from torusweep.networks.topology import Topology

from tests.interchange.networks import channels, links, with_parallel_links

SPELLINGS = ("torus(k=4, n=2)", "mesh(k=3, n=2)", "rtt(a=2)", "ccc(n=3)", "hypercube(n=3)")
Arcs = set[tuple[int, int]]


@pytest.fixture(params=[*SPELLINGS, "parallel links"])
def topology(request) -> Topology:
    return with_parallel_links() if request.param == "parallel links" else build(request.param)


def both_ways(pairs: Any) -> Arcs:
    return {(u, v) for a, b in pairs for u, v in ((a, b), (b, a))}


# --- BookSim2 ------------------------------------------------------------------------------------


def booksim_reads(text: str) -> tuple[Arcs, dict[int, int]]:
    """(channels between routers, router of each node), as AnyNet::readFile takes the words of each line."""
    arcs: Arcs = set()
    router_of: dict[int, int] = {}
    for line in text.split("\n"):
        words = [word for word in line.split(" ") if word]
        if not words:
            continue
        assert len(words) % 2 == 0, "no latencies"
        (kind, head), *others = [(words[at], int(words[at + 1])) for at in range(0, len(words), 2)]
        assert kind == "router"
        for other, number in others:
            if other == "node":
                assert router_of.setdefault(number, head) == head
            else:
                assert other == "router"
                arcs |= {(head, number), (number, head)}
    return arcs, router_of


def test_booksim(topology):
    written = export(topology, "booksim", "out")
    arcs, router_of = booksim_reads(Path("out/network.anynet").read_text())
    assert arcs == set(links(topology))
    assert [router_of[terminal] for terminal in sorted(router_of)] == topology.terminals.tolist()
    assert sorted(router_of) == list(range(len(topology.terminals))), "BookSim2 wants them sequential"
    settings = dict(
        line.removesuffix(";").split(" = ")
        for line in Path("out/booksim.cfg").read_text().splitlines()
        if line and not line.startswith("//")
    )
    assert {key: settings[key] for key in ("topology", "network_file", "routing_function", "num_vcs")} == {
        "topology": "anynet",
        "network_file": "network.anynet",
        "routing_function": "min",
        "num_vcs": "4",
    }
    assert any("may deadlock" in note for note in written.notes)


def test_a_tree_cannot_deadlock():
    assert not any("may deadlock" in note for note in export(build("mesh(k=5, n=1)"), "booksim", "out").notes)


# --- SST -----------------------------------------------------------------------------------------


class Recorder:
    """Takes any attribute and any call, as Merlin's classes do, and keeps itself among those made."""

    made: ClassVar[list[Any]] = []

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.__dict__["called"] = []
        self.__dict__["arguments"] = arguments
        Recorder.made.append(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments, **named: self.called.append((name, arguments))


class TopoAny(Recorder):
    """As Merlin's topoAny: the graph is undirected, numbered by integers, and has `endpoints` at every node."""

    def import_graph(self, graph: nx.Graph) -> None:
        assert not graph.is_directed()
        assert not graph.is_multigraph()
        assert all(type(node) is int for node in graph)
        self.__dict__["links"] = [tuple(sorted(edge)) for edge in graph.edges()]
        self.__dict__["endpoints"] = {node: int(graph.nodes[node]["endpoints"]) for node in graph}
        self.__dict__["graph"] = graph

    def calculate_routing_table(self) -> dict[int, dict[int, list[tuple[float, list[int]]]]]:
        found = nx.all_pairs_dijkstra_path(self.graph)
        return {source: {to: [(1.0, path[1:])] for to, path in paths.items()} for source, paths in found}

    def getNumNodes(self) -> int:
        return sum(self.endpoints.values())


@pytest.fixture
def fake_sst(monkeypatch) -> type[Recorder]:
    monkeypatch.setattr(Recorder, "made", [])
    names = {
        "sst": (),
        "sst.merlin": (),
        "sst.merlin.base": ("System", "hr_router"),
        "sst.merlin.endpoint": ("OfferedLoadJob",),
        "sst.merlin.interface": ("EndpointNIC",),
        "sst.merlin.targetgen": ("UniformTarget",),
        "sst.merlin.topology": ("topoAny",),
    }
    for name, classes in names.items():
        module = ModuleType(name)
        for made in classes:
            base = TopoAny if made == "topoAny" else Recorder
            setattr(module, made, type(made, (base,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    return Recorder


def test_sst(topology, fake_sst):
    export(topology, "sst", "out")
    runpy.run_path("out/merlin.py")
    made = {type(one).__name__: one for one in fake_sst.made}
    topo = made["topoAny"]
    assert Counter(topo.links) == Counter({tuple(sorted(pair)): 1 for pair in links(topology)})
    assert topo.endpoints == {node: topology.terminals.tolist().count(node) for node in range(topology.nodes)}
    hops = nx.diameter(nx.Graph(list(links(topology))))
    assert topo.__dict__["vcs_per_vn"] == hops + 1
    assert made["OfferedLoadJob"].arguments == (0, len(topology.terminals))
    assert [name for name, _ in made["System"].called] == ["setTopology", "allocateNodes", "build"]


def test_sst_numbers_nodes_that_have_names(fake_sst):
    Path("named.csv").write_text("source,target\nleaf 1,spine\nleaf 2,spine\n")
    written = export(build("named.csv"), "sst", "out")
    runpy.run_path("out/merlin.py")
    (topo,) = (one for one in fake_sst.made if type(one).__name__ == "topoAny")
    assert sorted(topo.links) == [(0, 1), (1, 2)]
    assert "not held: what nodes are called; 0 … 2 stand for leaf 1, spine, leaf 2" in written.notes


# --- ASTRA-sim -----------------------------------------------------------------------------------


def ns3_reads(text: str) -> tuple[int, Arcs, dict[int, int]]:
    """(switches, channels between switches, switch of each host), as SetupNetwork takes the words of the file."""
    words = iter(text.split())
    nodes, switches, count = (int(next(words)) for _ in range(3))
    switch = {int(next(words)) for _ in range(switches)}
    arcs: Arcs = set()
    at: dict[int, int] = {}
    first = nodes - switches
    for _ in range(count):
        one, other, rate, delay, errors = (next(words) for _ in range(5))
        assert (rate, delay, errors) == ("400Gbps", "0.0005ms", "0")
        ends = sorted((int(one), int(other)))
        assert max(ends) < nodes
        if ends[0] in switch:
            arcs |= both_ways([(ends[0] - first, ends[1] - first)])
        else:
            assert ends[1] in switch, "a host does not forward packets"
            assert at.setdefault(ends[0], ends[1] - first) == ends[1] - first
    assert next(words, None) is None
    return switches, arcs, at


def test_astra_sim_with_ns3(topology):
    export(topology, "astra-sim", "out")
    switches, arcs, at = ns3_reads(Path("out/topology.txt").read_text())
    assert switches == topology.nodes
    assert arcs == set(links(topology))
    assert [at[host] for host in range(len(at))] == topology.terminals.tolist()


def analytical_reads(text: str) -> Arcs:
    """The links of a product of blocks, by a plain loop over addresses, of which the first digit varies fastest."""
    lines = dict(line.split("#")[0].split(":") for line in text.splitlines())
    kinds, sides = ([word.strip() for word in lines[key].strip(" []").split(",")] for key in ("topology", "npus_count"))
    sides = [int(side) for side in sides]
    arcs: Arcs = set()
    for reverse in product(*(range(side) for side in reversed(sides))):
        address = list(reversed(reverse))
        for dimension, (kind, side) in enumerate(zip(kinds, sides)):
            for step in (1, side - 1) if kind == "Ring" else range(1, side):
                other = address.copy()
                other[dimension] = (other[dimension] + step) % side
                arcs.add((number(address, sides), number(other, sides)))
    return arcs


def number(address: list[int], sides: list[int]) -> int:
    total, unit = 0, 1
    for digit, side in zip(address, sides):
        total, unit = total + digit * unit, unit * side
    return total


@pytest.mark.parametrize(
    ("spelling", "kinds", "dims"),
    [
        ("torus(radices=[5, 4, 2])", "Ring, Ring, FullyConnected", ["5", "4", "2"]),
        ("ring(k=6)", "Ring", ["6"]),
        ("hypercube(n=3)", "FullyConnected, FullyConnected, FullyConnected", ["2", "2", "2"]),
        ("complete.edges", "FullyConnected", ["5"]),
    ],
)
def test_astra_sim_analytical(spelling, kinds, dims):
    Path("complete.edges").write_text("".join(f"{u} {v}\n" for u in range(5) for v in range(u)))
    topology = build(spelling)
    written = export(topology, "astra-sim", "out")
    text = Path("out/network.yml").read_text()
    assert f"topology: [ {kinds} ]\n" in text
    assert analytical_reads(text) == set(links(topology))
    assert json.loads(Path("out/logical_topology.json").read_text()) == {"logical-dims": dims}
    assert "network.yml" in written.command


@pytest.mark.parametrize(
    "spelling", ["mesh(k=4, n=2)", "rtt(a=4)", "pruned_torus(k=4, n=3)", "faulty(ring(k=5), links=1)", "chord.edges"]
)
def test_the_analytical_backend_holds_products_only(spelling):
    Path("chord.edges").write_text("0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n0 2\n")
    written = export(build(spelling), "astra-sim", "out")
    assert not Path("out/network.yml").exists()
    assert any(note.startswith("no network.yml: ") for note in written.notes)
    assert "topology.txt" in written.command


def test_astra_sim_has_the_bandwidths_and_latencies_of_links():
    """In units where the network has them; else a flit a cycle is 400 Gb/s, a cycle 500 ns."""
    for bandwidths, latencies, expected, yml in (
        ('["100 Gb/s", "50 Gb/s"]', '["5 ns", "10 ns"]', [(100, 5), (50, 10)], ("12.5, 6.25", "5.0, 10.0")),
        ("[1, 2]", "[1, 3]", [(400, 500), (800, 1500)], ("50.0, 100.0", "500.0, 1500.0")),
    ):
        topology = build(f"with_links(torus(radices=[4, 3]), bandwidths={bandwidths}, latencies={latencies})")
        written = export(topology, "astra-sim", "out")
        assert any("1 flit a cycle is written as 400 Gb/s" in note for note in written.notes) == (yml[0][0] == "5")
        for line in Path("out/topology.txt").read_text().splitlines()[2:]:
            one, other, rate, delay, _ = line.split()
            if int(one) >= 12:  # links between switches, which stand in rows of four
                along_x = (int(one) - 12) // 4 == (int(other) - 12) // 4
                assert (float(rate.removesuffix("Gbps")), float(delay.removesuffix("ms")) * 10**6) == pytest.approx(
                    expected[0] if along_x else expected[1]
                )
        text = Path("out/network.yml").read_text()
        assert f"bandwidth: [ {yml[0]} ]" in text
        assert f"latency: [ {yml[1]} ]" in text
    topology = build('with_links(torus(k=4, n=2), bandwidths=["200 Gb/s"], latencies=["30 ns"])')
    back = export(topology, "astra-sim", "out") and build("out/topology.txt").plan
    assert (back.rate, back.tick) == (topology.plan.rate, topology.plan.tick)


def test_the_analytical_backend_holds_equal_links_of_a_dimension_only():
    Path("ring.edges").write_text("0 1 100Gb/s\n1 2 100Gb/s\n2 3 100Gb/s\n3 0 50Gb/s\n")
    written = export(build("ring.edges"), "astra-sim", "out")
    assert "no network.yml: the analytical backend holds only equal links within a dimension" in written.notes
    assert not Path("out/network.yml").exists()


@pytest.mark.parametrize(
    ("network", "link", "latency"),
    [("ring(k=4)", "16", "20"), ('with_links(ring(k=4), bandwidths=["200 Gb/s"], latencies=["30 ns"])', "200", "30")],
)
def test_sst_has_the_one_bandwidth_and_latency(network, link, latency):
    export(build(network), "sst", "out")
    text = Path("out/merlin.py").read_text()
    assert f"LINK = {link}  # Gb/s" in text
    assert f'topo.link_latency = "{latency}ns"' in text


def test_astra_sim_has_addresses_for_so_many(monkeypatch):
    monkeypatch.setattr(astra_sim, "MOST_HOSTS", 8)
    with pytest.raises(Refused, match="at most 8 terminals"):
        export(build("ring(k=9)"), "astra-sim", "out")


# --- CAMINOS -------------------------------------------------------------------------------------


def caminos_reads(text: str) -> list[list[int]]:
    """The neighbours of each router, as NeighboursLists::file_adj takes the lines."""
    lines = iter(text.splitlines())
    word, nodes = next(lines).split()
    assert word == "NODOS"
    word, degree = next(lines).split()
    assert word == "GRADO"
    lists: list[list[int]] = [[] for _ in range(int(nodes))]
    for line in lines:
        word, at = line.split()
        assert word == "N"
        lists[int(at)] += [int(other) for other in next(lines).split()]
    assert max(map(len, lists)) <= int(degree)
    return lists


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_caminos(spelling):
    topology = build(spelling)
    export(topology, "caminos", "out")
    lists = caminos_reads(Path("out/network.caminos").read_text())
    of_ports: list[list[int]] = [[] for _ in range(topology.nodes)]
    for (node, _), (neighbour, _, _) in sorted(channels(topology).items()):
        of_ports[node].append(neighbour)
    assert lists == of_ports
    # the port at the other end is where the node stands first in its neighbour's list: it must stand there once
    assert all(lists[other].count(node) == 1 for node, others in enumerate(lists) for other in others)
    text = Path("out/main.cfg").read_text()
    hops = nx.diameter(nx.Graph(list(links(topology))))
    assert f"virtual_channels: {hops}," in text
    assert "servers_per_router: 1," in text
    assert f"servers: {topology.nodes}," in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("style", ["booksim", "sst", "astra-sim", "caminos"])
def test_a_network_of_terminals_nowhere_is_refused(style):
    Path("a.json").write_text(
        json.dumps({"graph": {"terminals": []}, "nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]})
    )
    with pytest.raises(BadInput, match="expected a terminal at some node, got none"):
        export(build("a.json"), style, "out")
