"""Formats that are read and not written: other names of nodes and another order of the lines change no answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest
from torusweep.interchange import FORMATS as WRITTEN
from torusweep.networks.families import build
from torusweep.networks.readers import FORMATS
from torusweep.networks.topology import Topology

from tests.meaning.answers import moves, numbers
from tests.meaning.cases import Case
from tests.meaning.plain_files import FABRICS, GRAPHS, Links

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

HOUSE = [("x0", "x1"), ("x1", "x2"), ("x2", "x3"), ("x3", "x0"), ("x3", "x4"), ("x4", "x2")]
TREE = [("s0", "s1"), ("s0", "s2"), ("s1", "h0"), ("s1", "h1"), ("s2", "h2")]
ASKED = (Case("describe", {"measures": ("distances", "connectivity")}), Case("loads", {"routing": "minimal"}))


def read(format: str, nodes: Sequence[str], links: Links) -> Topology:
    content = (GRAPHS | FABRICS)[format](nodes, links)
    Path("weights").write_bytes(content if isinstance(content, bytes) else content.encode())
    return build(f'graph(path="weights", format="{format}")')


def renamed(links: Links, seed: int) -> tuple[list[str], Links]:
    """Nodes of one letter swapped among each other but s0, which is the spine; links turned, and in another order."""
    draw = random.Random(seed)
    nodes = sorted({end for link in links for end in link})
    called = {"s0": "s0"}
    for letter in "xsh":
        alike = [node for node in nodes if node[0] == letter and node != "s0"]
        called |= dict(zip(alike, draw.sample(alike, len(alike))))
    other = [(called[v], called[u]) for u, v in draw.sample(links, len(links))]
    return draw.sample(nodes, len(nodes)), other


def answers(network: Topology) -> dict[str, object]:
    """The numbers that name no node."""
    found: dict[str, object] = {}
    for case in ASKED:
        for place, value in numbers(case.ask(network)).items():
            if isinstance(value, float | int) and "per_class" not in place:
                found[f"{case.question}.{place}"] = value
    return found


def histogram(links: Links) -> list[int]:
    """Pairs of terminals at each distance, by networkx; the hosts are the terminals, where there are some."""
    graph = nx.Graph(links)
    hosts = [node for node in graph if node[0] == "h"] or list(graph)
    apart = Counter(nx.shortest_path_length(graph, u, v) for u in hosts for v in hosts)
    return [apart[hops] for hops in range(max(apart) + 1)]


@pytest.mark.parametrize("format", [*GRAPHS, *FABRICS])
def test_other_names_and_another_order_of_the_lines_change_nothing(format: str):
    links = HOUSE if format in GRAPHS else TREE
    first = read(format, sorted({end for link in links for end in link}), links)
    assert Case("describe", {"measures": ("distances",)}).ask(first).record["distance_histogram"] == histogram(links)
    assert first.links == len(links)
    for seed in (1, 2):
        assert moves(answers(first), answers(read(format, *renamed(links, seed)))) == []


def test_every_format_is_written_here_or_by_export():
    """booksim writes anynet, astra-sim ns3's text; both are written here, too."""
    assert {*GRAPHS, *FABRICS} == {*FORMATS} - {*WRITTEN}
