"""Arguments of another type, names of functions, and what results say that has no room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx
import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.library.network import Network
from torusweep.networks.families import build
from torusweep.questions.display import LONGEST, html_of, rows_html, value_text
from torusweep.routing.tables.objects import routing_of

JOB = {"axes": {"t": 16}, "operations": [{"axis": "t", "operation": "all_gather", "bytes": "1MiB"}]}
REFUSED: dict[str, tuple[Callable[[Network], object], str]] = {
    "packets": (lambda n: n.loads(method="monte-carlo", packets="many"), "packets='many': expected a whole number"),
    "seed": (lambda n: n.loads(method="monte-carlo", seed=1.5), "seed=1.5: expected a whole number"),
    "error": (lambda n: n.loads(method="monte-carlo", relative_error="x"), "relative_error='x': expected a number"),
    "method": (lambda n: n.loads(method=3), "method=3: expected one of exact, as-table, monte-carlo"),
    "backend": (lambda n: n.loads(backend="gpus"), "backend='gpus': expected one of auto, numpy, numba, cupy"),
    "no backend": (lambda n: n.static(backend=None), "backend=None: expected one of auto"),
    "backend of distances": (lambda n: n.distances(backend="cuda"), "backend='cuda': expected one of auto"),
    "backend of runs": (lambda n: n.simulate(0.1, backend="gpus"), "backend='gpus': expected one of auto"),
    "faults": (lambda n: n.static(fault_nodes="two"), "fault_nodes='two': expected a whole number"),
    "cycles": (lambda n: n.simulate(0.1, cycles="many"), "cycles='many': expected a whole number (cycles of a run)"),
    "router": (lambda n: n.simulate(0.1, router=3), "router=3: expected a text (the router"),
    "permission": (lambda n: n.simulate(0.1, allow_deadlock="no"), "allow_deadlock='no': expected True or False"),
    "workload": (lambda n: n.simulate(workload=7), "workload=7: expected a text"),
    "packets each": (lambda n: n.simulate(packets_each="all"), "packets_each='all': expected a whole number"),
    "precision": (lambda n: n.simulate(saturation=True, precision="fine"), "precision='fine': expected a number"),
    "format": (lambda n: n.export(None), "format=None: expected a name such as 'booksim'; there are booksim, sst"),
    "path": (lambda n: n.export("graphml", 5), "path=5: expected the name of a file or folder; leave it out"),
    "operation": (lambda n: n.collective(None), "operation=None: expected a name such as 'all_gather'"),
    "algorithms": (lambda n: n.collective("all_reduce", 5), "algorithms=5: expected a name such as 'one_way_ring'"),
    "root": (lambda n: n.collective("broadcast", root="first"), "root='first': expected a whole number"),
    "flits": (lambda n: n.collective("all_reduce", simulate=True), "simulate=True: expected a whole number"),
    "placement": (lambda n: n.layout(5), "placement=5: expected a name such as 'straight'"),
    "routes": (lambda n: n.capacity(routes=1), "routes=1: expected a name such as 'all'; there are all, minimal"),
    "rule": (lambda n: n.deadlock(vc_rule=None), "vc_rule=None: expected a name such as 'none'"),
    "model": (lambda n: n.cost(5), "model=5: expected a name such as '2008-kim'"),
    "packing": (lambda n: n.cost(packing=3), "packing=3: expected a name such as 'straight' (which routers share"),
    "no networks": (lambda n: ts.cost(), "expected a topology, got none; 'torusweep topologies' lists the families"),
    "unpriced": (lambda n: n.cost("2014-bista"), "model: unknown cost model '2014-bista' (did you mean '2014-besta'?)"),
    "alone": (
        lambda n: n.cost(traffic="uniform"),
        "traffic: expected several networks, got one; add another, or leave",
    ),
    "no topology": (lambda n: ts.latency(rate=0.1), "expected a topology, got none; as in torusweep latency"),
    "rate": (lambda n: n.latency(rate="x"), "rate='x': expected a number (messages per node and cycle"),
    "message": (
        lambda n: n.latency(message_bits=0),
        "message_bits=0: expected > 0 and ≤ 1,000,000,000 (message length",
    ),
    "no rate": (lambda n: n.latency(rate=float("nan")), "rate=nan: expected 0 … 1000000000 (messages per node"),
    "cubes": (lambda n: n.latency(dimension=3), "dimension: expected with the model dally-1990 only, got parhami-kwai"),
    "no cubes": (
        lambda n: ts.latency(model="dally-1990", nodes=4, rate=1),
        "rate: expected with the model parhami-kwai",
    ),
    "dimension": (
        lambda n: ts.latency(model="dally-1990", nodes=8, dimension=9),
        "dimension: expected one of 2, 3 for 8",
    ),
    "option": (lambda n: n.latency(rates=1), "latency: unknown option 'rates' (did you mean 'rate'?); it takes model"),
    "no size": (
        lambda n: ts.best(dimensions=2),
        "best: missing a required argument: 'nodes'; it takes nodes, dimensions",
    ),
    "size": (lambda n: ts.best(nodes=-4), "nodes=-4: expected 1 … 65536 (nodes of the network)"),
    "objective": (lambda n: ts.best(nodes=8, minimise="diametre"), "objective 'diametre' (did you mean 'diameter'?)"),
    "condition": (lambda n: ts.best(nodes=8, where="diameter <"), "where: expected one SQL condition such as"),
    "column": (
        lambda n: ts.best(nodes=8, where="diametre < 9"),
        "where: the condition 'diametre < 9' cannot be answered",
    ),
    "spaces": (lambda n: ts.best(nodes=8, dimensions=2, circulant_steps=2), "circulant_steps: expected dimensions of"),
    "priced": (lambda n: ts.best(nodes=8, cost_model="x"), "cost_model: unknown cost model 'x'; there are 2008-kim"),
    "folder": (lambda n: ts.best(nodes=8, results="x" * 256), "results: expected names of at most 255 bytes, got 'xxx"),
    "degree": (lambda n: ts.search(nodes=8, degree=9), "degree: expected less than the 8 nodes, got 9: no node has"),
    "grid": (lambda n: ts.search(nodes=8, degree=3, grid="8"), "grid: expected columns x rows, as in 16x16, got '8'"),
    "length": (lambda n: ts.search(nodes=8, degree=3, seconds=1, moves=1), "moves: expected the time to search or its"),
    "results": (lambda n: ts.search(nodes=8, degree=3, results=__file__), "results: expected a folder, got the file"),
    "girth": (
        lambda n: ts.search(nodes=8, degree=3, minimise="girth"),
        "minimise='girth': expected one of mean_distance",
    ),
    "no job": (lambda n: n.place(), "place: missing a required argument: 'job'; it takes job, bandwidth, latency, top"),
    "job": (lambda n: n.place(3), "job=3: expected the name of a file or folder (YAML file"),
    "job without work": (lambda n: n.place({"axes": {"t": 4}}), "job: expected operations of an axis of two ranks"),
    "link": (lambda n: n.place(JOB, bandwidth="5"), "bandwidth: expected a bandwidth such as 50GB/s or 400Gbit/s"),
    "placements": (lambda n: n.place(JOB, top=0), "top=0: expected 1 … 100 (placements to show)"),
    "measures": (lambda n: n.availability(links=1, measures=3), "measures=3: expected a name such as 'connectivity'"),
    "no measures": (lambda n: n.availability(links=1, measures=[]), "expected a measure, got none; choose of"),
    "backend of draws": (lambda n: n.availability(links=1, backend="x"), "backend='x': expected one of auto, numpy"),
    "too many failures": (lambda n: n.availability(links=10**9), "failures=1000000000: expected at most the 32 links"),
    "channels": (lambda n: n.routes(virtual_channels="x"), "virtual_channels='x': expected 1 … 16, a whole number"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_another_type_is_refused_in_a_line(name: str):
    call, words = REFUSED[name]
    with pytest.raises(BadInput) as refusal:
        call(ts.network("torus(k=4, n=2)"))
    assert str(refusal.value).startswith(words)
    assert "\n" not in str(refusal.value)


def test_costs_have_the_currency_of_their_model():
    shown = str(ts.network("ring(k=4)").cost())
    assert "total_cost         858.464 USD\n" in shown  # 4 (3 · 350.4 − 892.3) + 4 · 40 (2 · 0.4079 + 0.5771)
    assert " currency" not in shown


def test_lambdas_have_names_that_tell_them_apart():
    topology = build("ring(k=3)")
    up, down = (lambda at, to: (at + 1) % 3), (lambda at, to: (at - 1) % 3)
    names = [str(routing_of(topology, one)) for one in (up, down, up)]
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("lambda ") for name in names)


def test_a_deadlock_names_the_nodes_as_the_graph_does():
    letters = networkx.relabel_nodes(networkx.cycle_graph(5), dict(enumerate("vwxyz")))
    found = ts.network(letters).deadlock("minimal")
    after = dict(zip("vwxyz", "wxyzv"))
    assert found.cycle_nodes is not None
    around = dict(zip(found.cycle_nodes, found.cycle_nodes[1:] + found.cycle_nodes[:1]))
    assert around in (after, {other: one for one, other in after.items()})
    assert f"{' → '.join([*found.cycle_nodes, found.cycle_nodes[0]])}" in repr(found)
    numbers = ts.network("ring(k=5)").deadlock("minimal")
    assert numbers.cycle_nodes is not None
    assert sorted(numbers.cycle_nodes) == list(range(5))
    assert "cycle nodes" not in repr(numbers)
    assert ts.network("mesh(k=2, n=2)").deadlock("dimension_order").cycle_nodes is None


def test_a_collective_without_algorithms_says_why():
    several = ts.network("dragonfly(p=2, a=4, h=2)").collective("all_reduce")
    assert several.reason.startswith("expected one terminal at each node, got 36 nodes with several; the optimum alone")
    assert several.reason in repr(several)
    assert several.reason in several._repr_html_()
    bare = ts.network(networkx.star_graph(3), terminals=[1, 2, 3]).collective("all_reduce")
    assert "got 1 node without a terminal;" in bare.reason
    ring = ts.network("ring(k=4)").collective("all_reduce")
    assert ring.reason == ""
    assert "no algorithm" not in repr(ring)


def test_what_is_cut_is_whole_in_a_tooltip():
    long = [f"word{number}" for number in range(40)]
    whole = ", ".join(long)
    assert len(value_text(long)) == LONGEST
    page = rows_html("heading", [{"a": long, "b": "short"}], ("a", "b"), ())
    assert f'title="{whole}"' in page
    assert page.count("title=") == 3  # of two columns' heads, and of the cell that is cut
    argument = ts.network("ring(k=5)").deadlock("minimal")
    assert argument.record["argument"] in argument._repr_html_()
    assert "title" in html_of("heading", [("name", "value", "meaning")])


def test_a_suffix_that_is_read_as_another_format_gives_a_note(tmp_path: Path):
    network = ts.network("ring(k=4)")
    wrong = network.export("networkx-json", tmp_path / "ring.graphml")
    expected = "ring.graphml is networkx-json, but its suffix is read as graphml; to read it back, name it *.json"
    assert wrong.notes[-1] == expected
    for format, name in (("networkx-json", "ring.json"), ("networkx-json", "ring"), ("graphml", "ring.xml")):
        assert not any("suffix" in note for note in network.export(format, tmp_path / name).notes)
