"""Channel loads on every backend against closed forms, the papers, igraph, and fractions that follow the
definitions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import ModuleType
from typing import Any

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep.networks.families import build
from torusweep_kernels.loads import SPLITS, Loads, cpu, minimal_loads
from torusweep_kernels.loads.reference import order, share

from tests.kernels import loads_oracle, oracle
from tests.kernels.loads_cases import diamonds, drawn, large_task, small_tasks

BACKENDS = ("numpy", "numba", "cupy")
CLOSE = 1e-12
AsCupy = Callable[..., ModuleType]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, as_cupy: AsCupy) -> str:
    """Every backend in turn; cupy is the fake, with few threads, so that each takes several nodes."""
    if request.param == "cupy":
        as_cupy(multiprocessors=1, cache=2**19)
    return request.param


def all_to_all(ports: np.ndarray, backend: str = "numba", **options: Any) -> Loads:
    return minimal_loads(ports, np.arange(len(ports)), backend=backend, **options)


def ring(k: int) -> Fraction:
    """Load of a channel of a bidirectional ring under all-to-all traffic: sum of distances ÷ channels."""
    return Fraction(sum(min(d, k - d) for d in range(k)), 2)


def torus_loads(*radices: int) -> list[Fraction]:
    """Of each port of oracle.torus: every ring carries its own all-to-all traffic, once for each node elsewhere."""
    nodes = int(np.prod(radices))
    return [ring(k) * (nodes // k) for k in radices for _ in range(2)]


CLOSED_FORMS: dict[str, tuple[np.ndarray, list[Fraction] | list[int]]] = {
    "ring of 9": (oracle.torus(9), torus_loads(9)),
    "torus 6×6×6": (oracle.torus(6, 6, 6), torus_loads(6, 6, 6)),
    "torus 8×5×4": (oracle.torus(8, 5, 4), torus_loads(8, 5, 4)),
    "hypercube 7": (np.arange(128)[:, None] ^ (1 << np.arange(7)), [64] * 7),  # N/2
    "directed ring of 70": ((np.arange(70)[:, None] + 1) % 70, [70 * 69 // 2]),
    "complete graph of 40": ((np.arange(40)[:, None] + np.arange(1, 40)) % 40, [1] * 39),
    "a link twice": (np.array([[1, 1], [0, 0]]), [Fraction(1, 2)] * 2),
    "links to the own node": (np.array([[0, 1], [1, 0]]), [0, 1]),
    "40 nodes without links": (np.full((40, 3), -1), [0, 0, 0]),
    "40 nodes without ports": (np.zeros((40, 0)), []),
    "one node": (np.full((1, 2), -1), [0, 0]),
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms(name: str, split: str, backend: str) -> None:
    ports, per_port = CLOSED_FORMS[name]
    found = all_to_all(ports, backend, split=split)
    assert found.load.shape == ports.shape
    assert found.load.dtype == np.float64
    np.testing.assert_allclose(found.load, np.broadcast_to(np.array(per_port, float), ports.shape), rtol=CLOSE)
    assert found.hops == pytest.approx(float(sum(per_port)) * len(ports), rel=CLOSE)
    assert found.delivered + found.unreachable == len(ports) ** 2


@pytest.mark.parametrize("split", SPLITS)
def test_torus_of_16_cubed(split: str) -> None:
    found = all_to_all(oracle.torus(16, 16, 16), split=split)
    np.testing.assert_allclose(found.load, 4096 * 16 / 8, rtol=CLOSE)  # N·k/8
    assert (found.delivered, found.unreachable, found.hops) == (4096.0**2, 0, 4096.0**2 * 12)


@pytest.mark.parametrize("leaves", [1, 15, 300])
@pytest.mark.parametrize("split", SPLITS)
def test_hub(leaves: int, split: str, backend: str) -> None:
    found = all_to_all(oracle.table([list(range(1, leaves + 1)), *[[0]] * leaves]), backend, split=split)
    np.testing.assert_allclose(found.load[0], leaves, rtol=CLOSE)  # from every other node to that leaf
    np.testing.assert_allclose(found.load[1:, 0], leaves, rtol=CLOSE)
    assert not found.load[1:, 1:].any()


# P98 and P04 assume balanced loads; what path-uniform routing really puts on a channel, in flits per cycle at one
# flit per node and cycle: dimension 0 (z in T2) and the others. In FACTS.md's rounding, found by other code.
PRUNED = {
    "pruned_torus(k=8, n=3)": (0, 1.109375, 2.0),
    "pruned_torus(k=6, n=4)": (0, 1.3056, 2.25),
    "pruned_directed_torus(k=8, n=3)": (0, 3.741, 5.080),
    "pruned_t2(k=8)": (2, 1.367, 2.047),
    "directed_torus(k=8, n=3)": (0, 2.3307, 2.3307),
}
# C10's networks: 1 ÷ greatest load, in phits per cycle and node; exact for finite a
TWISTED = {
    "rtt(a=4)": 1.5238,
    "rtt(a=8)": 0.752941,
    "rtt(a=16)": 0.3753666,
    "ptt(a=4)": 1.5238,
    "pdtt(a=4)": 1.7455,
    "pdtt(a=8)": 0.860987,
    "pdtt(a=16)": 0.4290503,
}


def last_digit(value: float) -> float:
    """Half a unit of a printed number's last digit."""
    return 0.5 * 10.0 ** -len(repr(value).split(".")[1])


@pytest.mark.parametrize("name", PRUNED)
def test_pruned_tori_are_not_balanced(name: str) -> None:
    topology = build(name)
    axis, there, elsewhere = PRUNED[name]
    found = all_to_all(topology.ports)
    for kind in range(topology.link_class.max() + 1):
        of_class = found.load[(topology.ports >= 0) & (topology.link_class == kind)] / topology.nodes
        expected = there if kind == axis else elsewhere
        np.testing.assert_allclose(of_class, expected, atol=last_digit(expected))


@pytest.mark.parametrize("name", TWISTED)
def test_twisted_tori_saturate(name: str) -> None:
    topology = build(name)
    # a lattice: every node sees the same, so that what one node's traffic puts on all channels of a class, all nodes'
    # puts on each
    from_one = minimal_loads(
        topology.ports, np.zeros(1), demand=np.full(topology.nodes, 1 / topology.nodes), backend="numba"
    )
    load = np.array(
        [from_one.load[topology.link_class == kind].sum() / 2 for kind in range(topology.link_class.max() + 1)]
    )
    assert 1 / load.max() == pytest.approx(TWISTED[name], abs=last_digit(TWISTED[name]))
    if not name.startswith("ptt"):
        np.testing.assert_allclose(load, load[0], rtol=CLOSE)  # LU = 1


GRAPHS = {
    "sparse, in pieces": networkx.gnp_random_graph(150, 0.012, seed=1),
    "directed, in pieces": networkx.gnp_random_graph(130, 0.02, seed=2, directed=True),
    "cubic": networkx.random_regular_graph(3, 200, seed=3),
    "hubs": networkx.barabasi_albert_graph(200, 2, seed=4),
    "tree": networkx.random_labeled_tree(100, seed=5),
    "directed and dense": networkx.gnp_random_graph(60, 0.3, seed=6, directed=True),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_against_igraph(name: str, backend: str) -> None:
    graph = GRAPHS[name].to_directed()
    edges = [(int(tail), int(head)) for tail, head in graph.edges]
    expected = dict(zip(edges, igraph.Graph(len(graph), edges, directed=True).edge_betweenness(directed=True)))
    ports = oracle.table([graph.successors(node) for node in range(len(graph))])
    found = all_to_all(ports, backend)
    for node, row in enumerate(ports):
        np.testing.assert_allclose(
            found.load[node, row >= 0], [expected[node, head] for head in row[row >= 0].tolist()], rtol=CLOSE
        )
        assert not found.load[node, row < 0].any()
    reached = {source: len(lengths) for source, lengths in networkx.all_pairs_shortest_path_length(graph)}
    assert found.delivered == sum(reached.values())
    assert found.unreachable == len(graph) ** 2 - sum(reached.values())


def check(task: dict[str, Any], split: str, backend: str, **options: Any) -> Loads:
    """Against fractions."""
    roots, nodes = len(task["roots"]), len(task["ports"])
    demand = np.broadcast_to(1.0 if task["demand"] is None else task["demand"], (roots, nodes))
    capacity = None if task["capacity"] is None else task["capacity"].tolist()
    load, *totals = loads_oracle.loads(
        task["ports"].tolist(),
        task["roots"].tolist(),
        [Fraction(weight) for weight in task["weights"]],
        [[Fraction(amount) for amount in row] for row in demand],
        capacity,
        split,
    )
    found = minimal_loads(**task, split=split, backend=backend, **options)
    np.testing.assert_allclose(found.load, np.array(load, float).reshape(found.load.shape), rtol=CLOSE)
    assert list(found[1:4]) == pytest.approx([float(total) for total in totals], rel=CLOSE)
    return found


TASKS: dict[str, dict[str, Any]] = {
    "one root": {"nodes": 20, "degree": 3, "roots": 1, "demand": "by node", "capacity": False},
    "the most roots that are searched from singly": {
        "nodes": 20,
        "degree": 3,
        "roots": 8,
        "demand": "by root and node",
        "capacity": True,
    },
    "one more": {"nodes": 20, "degree": 3, "roots": 9, "demand": "by root and node", "capacity": False},
    "a block": {"nodes": 25, "degree": 3, "roots": 16, "demand": "uniform", "capacity": False},
    "a block and one": {"nodes": 25, "degree": 3, "roots": 17, "demand": "by root and node", "capacity": True},
    "several blocks": {"nodes": 30, "degree": 2, "roots": 100, "demand": "by root and node", "capacity": True},
    "few destinations": {"nodes": 30, "degree": 3, "roots": 100, "demand": "of few", "capacity": True},
    "the same few destinations": {"nodes": 40, "degree": 2, "roots": 50, "demand": "of few nodes", "capacity": False},
    "few destinations, searched from singly": {
        "nodes": 30,
        "degree": 3,
        "roots": 7,
        "demand": "of few",
        "capacity": False,
    },
    "no roots": {"nodes": 5, "degree": 2, "roots": 0, "demand": "by root and node", "capacity": True},
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", TASKS)
def test_random_tasks(name: str, split: str, backend: str) -> None:
    check(drawn(7, **TASKS[name]), split, backend)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("exact", [False, True])
def test_a_torus_less_some_links(exact: bool, split: str, backend: str) -> None:
    """Loops of one length, with arcs from a node to itself, where few nodes lack a link."""
    rng = np.random.default_rng(2)
    ports = oracle.torus_less_links(5, 6, links=3)
    task = {
        "ports": ports,
        "roots": rng.permutation(30),
        "weights": rng.integers(1, 9, 30) / 4,
        "demand": rng.integers(0, 9, (30, 30)) / 4,
        "capacity": rng.integers(1, 4, ports.shape),
    }
    check(task, split, backend, exact=exact)
    check({**task, "capacity": None}, split, backend, exact=exact)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    task=small_tasks(["uniform", "by node", "by root and node", "of few", "of few nodes"]),
    split=st.sampled_from(SPLITS),
)
def test_drawn_tasks(task: dict[str, Any], split: str, as_cupy: AsCupy) -> None:
    as_cupy(multiprocessors=1)
    loads = [check(task, split, backend).load for backend in BACKENDS]
    assert loads[0].tolist() == loads[1].tolist() == loads[2].tolist()  # to the bit


@pytest.mark.parametrize("split", SPLITS)
def test_the_same_bits_on_every_backend_with_any_threads(split: str, as_cupy: AsCupy) -> None:
    task = large_task()
    whole = minimal_loads(**task, split=split, backend="numba", threads=1)
    for threads in (2, 3, 8):
        again = minimal_loads(**task, split=split, backend="numba", threads=threads)
        assert again.load.tolist() == whole.load.tolist()
        assert again[1:4] == whole[1:4]
    as_cupy()
    for backend in ("numpy", "cupy"):
        other = minimal_loads(**task, split=split, backend=backend)
        assert other.load.tolist() == whole.load.tolist()
        assert list(other[1:4]) == pytest.approx(whole[1:4], rel=CLOSE)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("reach", [1, 3, 12])
def test_a_search_ends_with_the_farthest_demand(reach: int, split: str, as_cupy: AsCupy) -> None:
    """Every node of a torus of 400 sends to some at `reach` hops, or to its own: the same bits where all nodes are
    searched."""
    as_cupy()
    rng = np.random.default_rng(reach)
    ports = oracle.torus(20, 20)
    away = np.array(
        [
            [sum(min(abs(a - b), 20 - abs(a - b)) for a, b in zip(divmod(u, 20), divmod(v, 20))) for v in range(400)]
            for u in range(400)
        ]
    )
    demand = np.where((away == reach) & (rng.random(away.shape) < 0.1) | (away == 0), rng.random(away.shape), 0.0)
    found = [minimal_loads(ports, np.arange(400), demand=demand, split=split, backend=backend) for backend in BACKENDS]
    assert found[0].load.tolist() == found[1].load.tolist() == found[2].load.tolist()
    assert [part[1:4] for part in found] == [pytest.approx(found[0][1:4], rel=CLOSE)] * 3
    assert found[0].hops == pytest.approx(reach * demand[away == reach].sum(), rel=CLOSE)


@pytest.mark.parametrize("split", SPLITS)
def test_one_lane_gives_the_same_bits(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = large_task()
    wide = minimal_loads(**task, split=split, backend="numba")
    monkeypatch.setattr(cpu, "SCRATCH", 0)
    assert minimal_loads(**task, split=split, backend="numba").load.tolist() == wide.load.tolist()


@pytest.mark.parametrize("roots", [1, 8, 9, 16, 17, 1000, 1024, 1025, 5000])
def test_shares_keep_threads_and_lanes_busy(roots: int) -> None:
    size = share(roots)
    assert -(-roots // size) <= 64
    assert size == 1 if roots <= 8 else size % 16 == 0


def test_roots_of_a_block_are_near_one_another() -> None:
    side = 32
    roots = (
        np.random.default_rng(3).permutation(np.tile(np.arange(side * side), 2)).astype(np.int32)
    )  # every node twice
    places = order(oracle.torus(side, side), roots)
    assert sorted(places.tolist()) == list(range(len(roots)))
    blocks = roots[places].reshape(-1, 16)
    apart = 0
    for digit in (blocks % side, blocks // side):
        turn = np.abs(digit - digit[:, :1])
        apart = apart + np.minimum(turn, side - turn)
    assert (
        np.median(apart.max(axis=1)) <= 3
    )  # 25 nodes are within 3 hops of one; in random order it would be about 25 hops


def test_roots_of_exact_loads_are_an_even_number_of_hops_apart() -> None:
    """On a torus without odd cycles; of a block, fewer distances to a node differ. A clique is all odd cycles."""
    side, nodes = 32, np.arange(32 * 32, dtype=np.int32)
    ports = oracle.torus(side, side)
    blocks = {exact: order(ports, nodes, exact=exact).reshape(-1, 16) for exact in (False, True)}
    assert sorted(blocks[True].ravel().tolist()) == nodes.tolist()
    odd = (blocks[True] // side + blocks[True] % side) % 2
    assert np.mean(odd == odd[:, :1]) > 0.9
    away = np.arange(side)
    away = np.minimum(away, side - away)
    hops = away[np.abs(np.subtract.outer(nodes // side, nodes // side))]
    hops = hops + away[np.abs(np.subtract.outer(nodes % side, nodes % side))]
    different = {
        exact: np.mean([len(np.unique(hops[some, node])) for some in of for node in range(0, 1024, 97)])
        for exact, of in blocks.items()
    }
    assert different[True] < 0.8 * different[False]
    clique = oracle.table([[other for other in range(40) if other != node] for node in range(40)])
    assert order(clique, nodes[:40], exact=True).tolist() == order(clique, nodes[:40]).tolist()


def test_what_flows_in_flows_out() -> None:
    task = large_task()
    found = minimal_loads(**task)
    sent = np.zeros(400)
    np.add.at(sent, task["roots"], task["weights"] * task["demand"].sum(axis=1))
    received = task["weights"] @ task["demand"]
    arriving = np.bincount(task["ports"].ravel(), found.load.ravel(), 400)
    np.testing.assert_allclose(arriving + sent, found.load.sum(axis=1) + received, rtol=CLOSE)
    assert found.load.sum() == pytest.approx(found.hops, rel=CLOSE)


def test_next_hops_follow_destinations_and_paths_either_end() -> None:
    """From 0 to 5: over 1, then 2 or 3; or over 4. Two next hops, three paths."""
    ports = oracle.table([[1, 4], [2, 3], [6], [6], [7], [], [5], [6]])
    demand = np.zeros((1, 8))
    demand[0, 5] = 1
    assert minimal_loads(ports, np.array([0]), demand=demand).load[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    back = np.zeros((1, 8))
    back[0, 0] = 1
    assert minimal_loads(ports, np.array([5]), demand=back, split="next-hops").load[0].tolist() == [0.5, 0.5]
    all_pairs = np.random.default_rng(2).random((8, 8))
    turned = oracle.table([[tail for tail in range(8) if head in ports[tail]] for head in range(8)])
    forth, reverse = (
        minimal_loads(ports, np.arange(8), demand=all_pairs),
        minimal_loads(turned, np.arange(8), demand=all_pairs.T),
    )
    over = {
        (head, tail): reverse.load[head, port]
        for head in range(8)
        for port, tail in enumerate(turned[head])
        if tail >= 0
    }
    for tail in range(8):
        for port, head in enumerate(ports[tail]):
            assert head < 0 or forth.load[tail, port] == pytest.approx(over[head, tail], rel=CLOSE)


def test_many_paths(backend: str) -> None:
    ports = diamonds(1000)
    demand = np.zeros(len(ports))
    demand[-1] = 1
    found = minimal_loads(ports, np.array([0]), demand=demand, backend=backend)
    np.testing.assert_allclose(found.load[::3][:1000], 0.5, rtol=CLOSE)
    assert found.hops == 2000


def test_more_paths_than_can_be_counted(backend: str) -> None:
    ports = diamonds(1030)
    with pytest.raises(
        OverflowError, match=r"expected at most 1\.8e308 shortest paths between two nodes, got more; next-hops"
    ):
        minimal_loads(ports, np.array([0]), backend=backend)
    found = minimal_loads(ports, np.array([len(ports) - 1]), split="next-hops", backend=backend)
    np.testing.assert_allclose(
        found.load[3 * 1029], 3088 / 2, rtol=CLOSE
    )  # that node's own and all before it, on two links


def test_calls_from_several_threads_at_once() -> None:
    ports = oracle.torus(8, 8)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: all_to_all(ports, threads=2).load.tolist(), range(8)))
    assert results == [all_to_all(ports, threads=1).load.tolist()] * 8


RING = oracle.torus(6)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "next hops from sources": (
        {"split": "next-hops", "inward": False},
        "expected inward with split next-hops, got inward=False",
    ),
    "unknown split": ({"split": "links"}, "split of paths, next-hops, got 'links'"),
    "ports of one dimension": ({"ports": RING[:, 0]}, r"ports of shape \[N, P\], got \(6,\)"),
    "port outside": ({"ports": RING + 1}, "ports of -1 … 5, got 1 … 6"),
    "root outside": ({"roots": [0, 6]}, "roots of 0 … 5, got 0 … 6"),
    "negative root": ({"roots": [-1, 2]}, "roots of 0 … 5, got -1 … 2"),
    "weights of another length": ({"weights": [1.0]}, r"weights of shape \(2,\), one per root, got \(1,\)"),
    "negative weight": ({"weights": [1.0, -1.0]}, "weights ≥ 0 and finite, got -1"),
    "demand of another length": ({"demand": np.ones((6, 2))}, r"demand of shape \(6,\) or \(2, 6\), got \(6, 2\)"),
    "demand that is no number": ({"demand": np.full(6, np.nan)}, "demand ≥ 0 and finite, got nan"),
    "infinite demand": ({"demand": np.full(6, np.inf)}, "demand ≥ 0 and finite, got inf"),
    "capacity of another shape": ({"capacity": np.ones((6, 1))}, r"capacity of shape \(6, 2\), got \(6, 1\)"),
    "no capacity": ({"capacity": np.zeros((6, 2))}, "capacity ≥ 1 wherever a port leads somewhere, got 0"),
    "no threads": ({"threads": 0}, "threads ≥ 1 or None, got 0"),
    "unknown backend": ({"backend": "abacus"}, "expected a backend of .*, got 'abacus'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contradictions_are_refused(name: str) -> None:
    change, message = REFUSED[name]
    arguments: dict[str, Any] = {"ports": RING, "roots": [0, 1], "backend": "numpy", **change}
    ports, roots = (np.asarray(arguments.pop(key)) for key in ("ports", "roots"))
    with pytest.raises(ValueError, match=message):
        minimal_loads(ports, roots, arguments.pop("weights", None), **arguments)
