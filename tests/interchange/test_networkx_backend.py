"""networkx's functions through our backend: the same answers, the same errors, and networkx's own tests."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from torusweep.interchange import networkx_backend

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs:UserWarning")


def random_graph(seed: int, kind: type) -> Any:
    """A connected graph with a cycle through all nodes, links of a node to itself and, where it may, parallel links."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 40))
    graph = kind()
    names = [f"node {number}" if number % 3 else number for number in rng.permutation(count).tolist()]
    graph.add_nodes_from(names)
    networkx.add_cycle(graph, names)
    ends = rng.integers(0, count, (count, 2)).tolist()
    graph.add_edges_from((names[tail], names[head]) for tail, head in ends)
    return graph


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(6))
def test_answers_are_networkxs(kind: type, seed: int) -> None:
    graph = random_graph(seed, kind)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("average_shortest_path_length", {}),
        ("average_shortest_path_length", {"method": "unweighted"}),
        ("eccentricity", {}),
        ("eccentricity", {"v": next(iter(graph))}),
        ("eccentricity", {"v": list(graph)[:3]}),
        ("diameter", {}),
        ("diameter", {"usebounds": True}),
        ("radius", {}),
        ("all_pairs_shortest_path_length", {}),
        *(("all_pairs_shortest_path_length", {"cutoff": cutoff}) for cutoff in (2, 0, 1.5, 0.5, -0.5, -np.inf, np.inf)),
        *(("edge_betweenness_centrality", {"normalized": normalized}) for normalized in (True, False)),
        *(("betweenness_centrality", {"normalized": normalized}) for normalized in (True, False)),
    ]
    for name, options in calls:
        function = getattr(networkx, name)
        ours, theirs = function(graph, backend="torusweep", **options), function(graph, backend="networkx", **options)
        if name == "all_pairs_shortest_path_length":
            ours, theirs = dict(ours), dict(theirs)
        if isinstance(theirs, dict):
            assert list(ours) == list(theirs), (name, options)
        assert ours == (theirs if "between" not in name else pytest.approx(theirs, rel=1e-12, abs=1e-15)), name


@pytest.mark.parametrize(
    "graph",
    [
        networkx.Graph(),
        networkx.DiGraph(),
        networkx.empty_graph(1),
        networkx.empty_graph(2),
        networkx.Graph([(0, 1), (2, 3)]),
        networkx.DiGraph([(0, 1)]),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", networkx_backend.FUNCTIONS)
def test_errors_are_networkxs(name: str, graph: Any) -> None:
    def outcome(backend: str) -> tuple[Any, ...]:
        try:
            found = getattr(networkx, name)(graph, backend=backend)
            return ("found", found if isinstance(found, int | float | dict) else dict(found))
        except Exception as error:
            return type(error), str(error)

    assert outcome("torusweep") == outcome("networkx")


def test_what_is_left_to_networkx() -> None:
    graph = networkx.random_regular_graph(4, 120, seed=1)
    for name, args, options in (
        ("diameter", (), {"weight": "length"}),
        ("average_shortest_path_length", ("length",), {}),
        ("average_shortest_path_length", (), {"method": "dijkstra"}),
        ("betweenness_centrality", (5,), {}),
        ("betweenness_centrality", (), {"endpoints": True}),
    ):
        said = networkx_backend.can_run(name, (graph, *args), options)
        assert isinstance(said, str), (name, said)
        assert said.endswith("left to networkx")
    assert networkx_backend.can_run("diameter", (graph,), {}) is True
    assert networkx_backend.should_run("diameter", (graph,), {}) is True
    assert "fewer than" in str(networkx_backend.should_run("diameter", (networkx.path_graph(9),), {}))
    assert "too many links" in str(networkx_backend.should_run("diameter", (networkx.star_graph(9999),), {}))


def test_what_is_left_to_networkx_is_computed_only_where_networkx_may_choose() -> None:
    graph = networkx.cycle_graph(120)
    networkx.set_edge_attributes(graph, 2, "length")
    with pytest.raises(NotImplementedError):
        networkx.average_shortest_path_length(graph, weight="length", backend="torusweep")
    plain = networkx.average_shortest_path_length(graph)
    with networkx.config(backend_priority=["torusweep"]):
        assert networkx.average_shortest_path_length(graph, weight="length") == pytest.approx(2 * plain)


def test_lengths_to_nodes_are_in_the_order_of_distance() -> None:
    graph = networkx.convert_node_labels_to_integers(networkx.grid_graph([4, 5], periodic=True))
    asked = dict(networkx.all_pairs_shortest_path_length(graph, backend="torusweep"))
    for source, lengths in networkx.all_pairs_shortest_path_length(graph):
        assert asked[source] == lengths
        assert list(asked[source].values()) == list(lengths.values())


def test_betweenness_does_not_depend_on_the_order_of_nodes() -> None:
    """Rounded once: networkx's own sums differ in their last bits."""
    graph = random_graph(7, networkx.Graph)
    other = networkx.Graph()
    other.add_nodes_from(reversed(list(graph)))
    other.add_edges_from(graph.edges)
    found = networkx.betweenness_centrality(graph, backend="torusweep")
    assert found == networkx.betweenness_centrality(other, backend="torusweep")


def test_networkxs_own_tests_pass_through_the_backend(tmp_path: Path) -> None:
    """Their files of tests for these functions, with every graph converted; ours are called, and often."""
    spec = find_spec("networkx.algorithms")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    counted = tmp_path / "counted.py"
    counted.write_text(
        "import atexit, collections\n"
        "from torusweep.interchange import networkx_backend as backend\n"
        "calls = collections.Counter()\n"
        "def counting(name, function):\n"
        "    def counted(*args, **options):\n"
        "        calls[name] += 1\n"
        "        return function(*args, **options)\n"
        "    return counted\n"
        "for name, function in backend.FUNCTIONS.items():\n"
        "    setattr(backend, name, counting(name, function))\n"
        "atexit.register(lambda: print('calls', *sorted(calls)))\n",
        encoding="utf-8",
    )
    files = (
        "tests/test_distance_measures.py",
        "shortest_paths/tests/test_generic.py",
        "shortest_paths/tests/test_unweighted.py",
        "centrality/tests/test_betweenness_centrality.py",
    )
    told = ("-q", "-p", "no:cacheprovider", "-p", "counted", "--backend", "torusweep", "--fallback-to-nx")
    command = [sys.executable, "-m", "pytest", *told, *(str(folder / file) for file in files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-1].split()[1:] == sorted(networkx_backend.FUNCTIONS)
