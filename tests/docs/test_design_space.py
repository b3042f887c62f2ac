"""The table of docs/design-space.md on single failed links, beside networkx."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import pytest
from torusweep.networks.families import build

PAGE = Path(__file__).parents[2] / "docs" / "design-space.md"


def saturation(graph: nx.DiGraph) -> float:
    """Uniform traffic, divided equally among all shortest paths."""
    return len(graph) / max(nx.edge_betweenness_centrality(graph, normalized=False).values())


@pytest.mark.parametrize("network", ["illiac(k=8)", "pruned_torus(k=4, n=3)"])
def test_one_failed_link_leaves_what_the_page_says(network: str) -> None:
    tail, head, _ = build(network).arcs
    intact = nx.DiGraph(zip(tail.tolist(), head.tolist()))
    left = []
    for one, other in [(one, other) for one, other in intact.edges if one < other]:
        failed = intact.copy()
        failed.remove_edges_from([(one, other), (other, one)])
        left.append(saturation(failed))
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {network} |"))
    links, *numbers = re.findall(r"[\d.]+", row.split("|", 2)[2])
    assert int(links) == len(left)
    expected = [saturation(intact), sum(left) / len(left), min(left)]
    assert [float(number) for number in numbers[:3]] == pytest.approx(expected, abs=6e-4)
