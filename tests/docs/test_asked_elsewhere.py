"""The numbers of docs/asked-elsewhere.md and of the README's example, computed by networkx, plain loops or by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "asked-elsewhere.md").read_text()
README = (ROOT / "README.md").read_text()


def middle_channel() -> float:
    """The load from (1, 0) to (2, 0) in a mesh of 4 × 4 where each node sends 1/16 to each, first along x."""
    nodes = [*product(range(4), range(4))]
    return sum(1 / 16 for (x, y), (u, _) in product(nodes, nodes) if y == 0 and x <= 1 and u >= 2)


def mean_distance(graph: networkx.Graph) -> float:
    """Over ordered pairs, a node and itself included."""
    lengths = [length for _, reached in networkx.all_pairs_shortest_path_length(graph) for length in reached.values()]
    return sum(lengths) / len(lengths)


def without_a_node() -> networkx.Graph:
    graph = networkx.grid_graph([4, 4, 4], periodic=True)
    graph.remove_node((0, 0, 0))
    return graph


def dumbbell() -> networkx.Graph:
    found = re.search(r"# dumbbell\.edges\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return networkx.parse_edgelist(found[1].splitlines())


def bisection_width() -> int:
    graph = dumbbell()
    return min(networkx.cut_size(graph, half) for half in combinations(graph, len(graph) // 2))


def twisted() -> networkx.Graph:
    """The torus of 16 × 8 whose wraparound of y adds 8 to x."""
    graph = networkx.Graph()
    for x, y in product(range(16), range(8)):
        graph.add_edge((x, y), ((x + 1) % 16, y))
        graph.add_edge((x, y), ((x + 8 * (y == 7)) % 16, (y + 1) % 8))
    return graph


def of_random_regular_graphs() -> float:
    """Mean distance between distinct nodes, c links a node: Tishby, Biham, Kühn & Katzav 2022, arXiv 2202.11368."""
    nodes, links = 5000, 14
    gamma = 0.5772156649
    return math.log(nodes / links * (links - 2) / math.exp(gamma)) / math.log(links - 1) + 0.5


@pytest.mark.parametrize(
    ("text", "shown", "value", "within"),
    [
        (PAGE, r'n=2\)",dimension_order,uniform,1,2,x,([\d.]+)', middle_channel, 1e-12),
        (PAGE, r"n=2\)\nsaturates at +([\d.]+) .*\nrouting +dimension_order\n", lambda: 4 / 8, 1e-12),  # 4/k
        (PAGE, r"mean_distance +3 +([\d.]+)", lambda: mean_distance(without_a_node()), 1e-5),
        (PAGE, r"edge connectivity +(\d+)", lambda: networkx.edge_connectivity(dumbbell()), 0),
        (PAGE, r"bisection width +(\d+) ", bisection_width, 0),
        (PAGE, r"mean_distinct +([\d.]+)", of_random_regular_graphs, 0.01),
        (PAGE, r"optimum +([\d.]+) cycles", lambda: 2 * 7 / 20, 1e-12),  # 14 messages a flit over 20 channels
        (README, r"channels saturate at +([\d.]+)", lambda: 8 / 16, 1e-12),  # 8/k along the long rings
        (README, r"as much\nagain: ([\d.]+)\.", lambda: 4 / mean_distance(twisted()), 1e-3),  # all channels alike
    ],
)
def test_a_number_is_right(text: str, shown: str, value: Callable[[], float], within: float):
    found = re.search(shown, text)
    assert found
    assert float(found[1]) == pytest.approx(value(), rel=within, abs=0)


def test_there_are_ten_questions_each_with_its_thread_and_a_command():
    questions = PAGE.split("\n## ")[1:]
    assert len(questions) == 10
    assert [one for one in questions if "](http" not in one or "\n$ torusweep " not in one or "**" not in one] == []
