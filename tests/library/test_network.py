"""A network's methods: the numbers of the command line, against networkx, SciPy and plain loops; and how they look."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse
import torusweep as ts
import torusweep.library
from mypy import api as mypy
from torusweep.library.method import Method
from torusweep.library.network import Network
from torusweep.networks.picture import SMALL
from torusweep.questions import FUNCTIONS, QUESTIONS, question_named

from tests.answers.page_parts import Page

FAMILIES = (
    "rtt(a=4)",
    "torus(k=4, n=2)",
    "pruned_torus(k=4, n=3)",
    "faulty(torus(k=4, n=2), links=3, nodes=1, seed=2)",
)
USER = Path(__file__).parent / "user_program.py"


@pytest.fixture(scope="module")
def club() -> ts.Network:
    graph = networkx.relabel_nodes(networkx.karate_club_graph(), lambda node: f"member {node}")
    return ts.network(graph, name="club")


def plain_loads(net: ts.Network, demand: np.ndarray) -> dict[tuple[int, int], Fraction]:
    """The loads of all shortest paths equally often, path by path."""
    graph = networkx.DiGraph([(int(u), int(v)) for u, v, _ in zip(*net.arcs)])
    scale = Fraction(len(net.terminals)) / Fraction(int(demand.sum()))
    found: dict[tuple[int, int], Fraction] = {}
    for s, t in np.argwhere(demand).tolist():
        paths = list(networkx.all_shortest_paths(graph, s, t))
        for path in paths:
            for hop in pairwise(path):
                found[hop] = found.get(hop, Fraction(0)) + scale * int(demand[s, t]) / len(paths)
    return found


@pytest.mark.parametrize("spelling", FAMILIES)
def test_distances_are_those_of_networkx(spelling: str) -> None:
    net = ts.network(spelling)
    graph = net.to_networkx()
    graph.remove_nodes_from([node for node, number in graph.nodes(data="terminals") if not number])
    lengths = dict(networkx.all_pairs_shortest_path_length(graph))
    every = [length for own in lengths.values() for length in own.values()]
    found = net.distances()
    assert found.histogram.tolist() == np.bincount(every).tolist()
    assert found.mean == sum(every) / len(every)
    assert found.diameter == max(every)
    assert found.eccentricities.tolist() == [max(lengths[node].values()) for node in net.terminals.tolist()]
    assert found.mean == net.static().mean_distance == ts.network(net.topology).static().mean_distance
    assert ts.network(spelling).static().record == net.static().record


def test_distances_of_directed_and_unconnected_graphs() -> None:
    graph = networkx.gnp_random_graph(40, 0.04, seed=5, directed=True)
    found = ts.network(graph).distances()
    lengths = dict(networkx.all_pairs_shortest_path_length(graph))
    assert found.histogram.tolist() == np.bincount([n for own in lengths.values() for n in own.values()]).tolist()
    assert found.eccentricities.tolist() == [max(lengths[node].values()) for node in graph]


@pytest.mark.parametrize("sparse", [False, True])
def test_loads_of_a_matrix_are_those_of_a_plain_loop(club: ts.Network, sparse: bool) -> None:
    demand = np.random.default_rng(1).integers(0, 4, (34, 34)) * (np.random.default_rng(2).random((34, 34)) < 0.1)
    np.fill_diagonal(demand, 0)
    found = club.loads(traffic=scipy.sparse.coo_array(demand) if sparse else demand)
    expected = plain_loads(club, demand)
    loads = found.channels.to_pydict()
    for tail, head, load in zip(loads["from"], loads["to"], loads["load"]):
        assert load == pytest.approx(float(expected.get((tail, head), 0)), rel=1e-12)
    most = max(expected, key=lambda channel: expected[channel])
    first = found.busiest(3)[0]
    assert first.load == pytest.approx(float(expected[most]), rel=1e-12) == found.max_channel_load
    assert {f"member {most[0]}", f"member {most[1]}"} <= {end for one in found.busiest(3) for end in one[:2]}
    assert found.saturation_load == pytest.approx(1 / found.max_channel_load)
    assert found.record["traffic"] == "matrix"
    assert club.loads(traffic=demand.tolist()).record == found.record


def test_the_methods_return_the_rows_of_the_command_line() -> None:
    """The commands' own tests compare these rows with oracles."""
    net = ts.network("torus(k=4, n=2)")
    sampled = net.loads(method="monte-carlo", packets=640, seed=3)
    assert (sampled.packets, sampled.seed) == (640, 3)
    bounded = net.loads("dimension_order", "transpose", bounds=True)
    assert bounded.capacity == pytest.approx(net.capacity("transpose").throughput)
    # a permutation of a torus, given as a matrix: the same loads, bounds and simulation
    matrix = np.zeros((16, 16))
    for node in range(16):
        matrix[node, node % 4 * 4 + node // 4] = 1
    given = net.loads("dimension_order", matrix, bounds=True)
    for name in ("max_channel_load", "capacity", "capacity_minimal", "worst_case_saturation_load", "cut_links"):
        assert getattr(given, name) == pytest.approx(getattr(bounded, name)), name
    assert net.capacity(matrix, routes="minimal").bound == pytest.approx(
        net.capacity("transpose", routes="minimal").bound
    )
    rows = [net.simulate(0.2, traffic=traffic, cycles=500).record for traffic in (matrix, "transpose")]
    assert rows[0].pop("traffic") == "matrix"
    assert rows[1].pop("traffic") == "transpose"
    assert rows[0] == rows[1]


def test_simulations() -> None:
    net = ts.network("torus(k=4, n=2)")
    found = net.simulate([0.1, 0.9], cycles=500, seeds=[1, 2], routing="dimension_order", vc_rule="dateline")
    assert [row["seeds"] for row in found.rows] == [[1, 2]] * 2
    assert (len(found), found.saturation) == (2, None)
    assert found.table.column("offered_load").to_pylist() == [0.1, 0.9]
    chart = found.figure(dark=True).to_dict()
    values = next(iter(chart["datasets"].values())) if "datasets" in chart else chart["layer"][0]["data"]["values"]
    assert sorted({value["offered_load"] for value in values}) == [0.1, 0.9]
    assert net.simulate(saturation=True, precision=0.2, cycles=300).saturation == pytest.approx(0.8, abs=0.4)
    done = net.simulate(packets_each=2, packet_flits=4)
    assert done.record["delivery_time"] > 8
    with pytest.raises(ts.BadInput, match="expected loads to draw"):
        done.figure()


def test_collectives_and_layouts() -> None:
    net = ts.network("torus(k=4, n=2)")
    found = net.collective("all_reduce", ["ring", "bucket"])
    assert [row["algorithm"] for row in found.rows] == ["optimum", "bucket", "ring"]
    assert found.optimum == found.rows[0]["cycles"] == 15 / 32  # 2 (N − 1)/N over the four channels of a node
    assert net.collective("all_gather", "ring", simulate=64).rows[1]["simulated_cycles"] > 0
    timed = net.collective("all_reduce", "ring", bytes=["1MiB:2MiB", 1 << 30], bandwidth="1GB/s", latency="0")
    assert [time["bytes"] for time in timed[1]["times"]] == [1 << 20, 1 << 21, 1 << 30]
    assert timed[1]["times"][2]["seconds"] == pytest.approx(timed[1]["cycles"] * (1 << 30) / 1e9)
    left_out = ts.network("mesh(k=3, n=2)").collective("all_gather").left_out
    assert "expected a power of 2 terminals, got 9" in left_out["halving_doubling"]
    assert net.layout().placement == "folded"
    assert net.layout().picture().startswith("<svg")
    assert net.cost().router_cost == pytest.approx(16 * (350.4 * 5 - 892.3))
    assert net.cost("2014-besta", "straight(dimensions=2, block=[2, 2])").cabinets == 4


def test_availability() -> None:
    net = ts.network("ring(k=8)")
    found = net.availability(links=[1, 2, 0.1], routers=1, measures=["connectivity", "distances"], draws=300)
    assert [row["mean"] for row in found.of("diameter")[:2]] == [7, None]  # a line, then parts
    assert [row["fails"] for row in found.of("connected")] == ["links", "links", "links", "routers"]
    assert found.of("connected")[2]["mean"] == pytest.approx(0.9**8 + 8 * 0.1 * 0.9**7)
    assert found.table.num_rows == len(found) == 16
    assert "ring(k=8) after failures" in repr(found)


def shown(result: Any) -> list[str]:
    """The text of what a notebook shows: elements that are closed in their order, and no script."""
    page = Page(result._repr_html_())
    assert not page.scripts
    return page.text


def test_results_print_and_show_themselves(club: ts.Network) -> None:
    torus = ts.network("torus(k=4, n=2)")
    expected: list[tuple[Any, str]] = [
        (torus, "degree"),
        (club, "78"),
        (club.static(), "mean distance"),
        (club.distances(), "2.337370242"),
        (club.loads(), "member 0 → member 31"),
        (torus.deadlock(), "1 → 3"),
        (torus.layout(), "longest wire"),
        (torus.cost(), "cost per terminal"),
        (torus.capacity(), "2 flits/cycle/terminal"),
        (torus.collective("all_reduce", "ring"), "optimum"),
        (torus.simulate([0.1, 0.2], cycles=300), "offered_load"),
    ]
    for result, content in expected:
        assert content in repr(result)
        assert content in " ".join(shown(result))
        assert "color:#" not in result._repr_html_()  # the notebook's own colours, light or dark
    assert torus._repr_html_().count("<svg") == 1
    assert "<svg" not in ts.network("torus(k=30, n=2)").loads()._repr_html_()


def test_names_are_escaped_where_they_are_shown() -> None:
    nasty = "<b>&\"'"
    net = ts.network(networkx.Graph([(f"{nasty}<script>", "b"), ("b", "c")]), name=nasty)
    for result in (net, net.loads(), net.distances(), net.static(), net.simulate(0.1, cycles=200)):
        assert "<b>" not in result._repr_html_()
        assert nasty in "".join(shown(result))


def test_columns_are_attributes() -> None:
    row = ts.network("torus(k=4, n=2)").static()
    assert row.edge_connectivity == row.record["edge_connectivity"] == 4
    assert "edge_connectivity" in dir(row)
    assert row.table.to_pylist()[0]["nodes"] == 16
    with pytest.raises(
        AttributeError, match=r"no attribute 'diametre' \(did you mean 'diameter'\?\); columns: topology"
    ):
        _ = row.diametre
    with pytest.raises(AttributeError):
        row.record = {}  # type: ignore[misc]


MODULES = [
    name
    for _, name, _ in pkgutil.iter_modules(torusweep.library.__path__, "torusweep.library.")
    if name.rpartition(".")[2] not in ("results", "sweep", "table")  # test_sweep.py runs these where a sweep is
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert name != "torusweep.library.network" or result.attempted > 5  # the others are of questions


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_examples_of_questions(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a search writes what it finds
    said = inspect.getdoc(type(question_named(name)).ask) or ""
    result = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(said, {}, name, None, 0))
    assert result.failed == 0
    assert result.attempted > 1


def test_questions_that_are_not_about_one_network_are_functions() -> None:
    """The table says so without importing them."""
    abouts = {name: question_named(name).about for name in QUESTIONS}
    assert sorted(FUNCTIONS) == sorted(name for name, about in abouts.items() if about != "network")
    for name in FUNCTIONS:
        assert getattr(ts, name).__doc__.startswith(inspect.getdoc(type(question_named(name)).ask).partition("\n")[0])
        assert name in dir(ts)
        assert name in ts.__all__
    methods = {question_named(name).method or name for name, about in abouts.items() if about}
    assert {name for name in methods if not isinstance(vars(Network)[name], Method)} == set()


@pytest.mark.parametrize("method", ["distances", "loads", "simulate"])  # simulate has a group of parameters
def test_a_second_call_reads_no_type_hints(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not change, and reading them takes a sixth of a small call."""
    net = ts.network("ring(k=8)")
    given = {"load": 0.2, "cycles": 200} if method == "simulate" else {}
    first = getattr(net, method)(**given)
    for module in [module for name, module in sys.modules.items() if name == "typing" or name.startswith("torusweep")]:
        if hasattr(module, "get_type_hints"):  # whoever imported it by name, too
            monkeypatch.setattr(module, "get_type_hints", _refused)
    assert str(getattr(net, method)(**given)) == str(first)


def _refused(*_given: Any, **_named: Any) -> Any:
    raise AssertionError("type hints are read again")


@pytest.mark.slow
def test_a_users_program_is_typed() -> None:
    """mypy reads the whole package for it, as `make lint` does."""
    out, errors, status = mypy.run(["--strict", "--no-incremental", "--cache-dir=/dev/null", str(USER)])
    assert (errors, status) == ("", 0), out


def test_a_users_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runner = importlib.import_module("tests.library.user_program")
    runner.main()
    assert capsys.readouterr().out.split() == ["4.0", "0.3333333333333333", "yes", "2"]


def test_the_table_of_a_routing_has_its_loads_to_the_last_bit() -> None:
    torus = ts.network("torus(k=5, n=2)")
    routing = torus.loads("dimension_order", "tornado", method="as-table")
    table = torus.loads(torus.routes("dimension_order"), "tornado", method="as-table")
    assert np.array_equal(routing.load, table.load)
    assert np.allclose(routing.load, torus.loads("dimension_order", "tornado").load, rtol=1e-14)


@pytest.mark.parametrize("spelling", [*(small[0] for small in SMALL.values()), FAMILIES[-1], "club"])
def test_networks_go_through_pickle_to_another_process(spelling: str, club: ts.Network) -> None:
    net = club if spelling == "club" else ts.network(spelling)
    again = pickle.loads(pickle.dumps(net))
    assert (again.spelling, again.labels, again.notes) == (net.spelling, net.labels, net.notes)
    for given, taken in zip((*net.arcs, net.terminals), (*again.arcs, again.terminals), strict=True):
        np.testing.assert_array_equal(given, taken)
    assert repr(again.static()) == repr(net.static())
    assert repr(again.screen()) == repr(net.screen())  # by the symmetries


@pytest.mark.parametrize("routing", ["minimal", "dimension_order", "valiant", "routing_record", "up_down"])
def test_answers_go_through_pickle(routing: str) -> None:
    net = ts.network("torus(k=4, n=2)")
    loads = net.loads(routing=routing, traffic="tornado")
    again = pickle.loads(pickle.dumps(loads))
    assert repr(again) == repr(loads)
    assert again.channels == loads.channels
    for answer in (net.deadlock(routing=routing), net.collective("all_reduce"), net.cost(), net.layout()):
        assert repr(pickle.loads(pickle.dumps(answer))) == repr(answer)


CTRL_C = """
import signal, threading, time
import torusweep as ts

network = ts.network("random_regular(nodes=20000, degree=6)")
network.distances()
began = time.perf_counter()
network.distances()
took = time.perf_counter() - began
for share in (0.2, 0.35, 0.5, 0.65, 0.8):
    threading.Timer(share * took, signal.pthread_kill, [threading.get_ident(), signal.SIGINT]).start()
    try:
        assert network.distances() is None or time.sleep(60)
    except KeyboardInterrupt:
        print(share)
"""


def test_ctrl_c_while_distances_are_searched_is_keyboard_interrupt() -> None:
    """SystemError in most of these before: arrays are made of what a compiled search returns by Python code."""
    # in a process of its own: where a test of this one ran the command, its watch would end them all
    done = subprocess.run([sys.executable, "-c", CTRL_C], capture_output=True, text=True, timeout=280)
    assert done.stdout.split() == ["0.2", "0.35", "0.5", "0.65", "0.8"], done.stderr
