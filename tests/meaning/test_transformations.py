"""Answers about a network and about the same one transformed: what they must have in common, whoever computes them.

Every question, algorithm, routing, router, workload format and file format of the tables takes part.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torusweep.all_columns import all_tables
from torusweep.errors import BadInput
from torusweep.interchange import FORMATS, export
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions import question_named
from torusweep.questions.simulation.presets import PRESETS
from torusweep.routing import ROUTINGS

from tests.meaning.answers import moves, numbers
from tests.meaning.attributes import with_bandwidths, with_latencies, with_plan
from tests.meaning.cases import NETWORKS, Case, cases, write_files

UNITS = {column.name: column.unit for table in all_tables().values() for column in table.columns}
# of a terminal, which has a rate of its own
OF_TERMINALS = ("ejection_load", "injection_load", "terminal_saturation_load", "terminal_bus_bandwidth")


@pytest.fixture(autouse=True)
def _in_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


def ask(question: str, network: Topology, **values: Any) -> Any:
    """The answer of a question to a network."""
    return Case(question, values).ask(network)


def some(every: list[Any], often: int) -> list[object]:
    """All of them: one in `often` in `make test`, the others in `make test-faults`."""
    marks = [() if number % often == 0 else pytest.mark.faults for number in range(len(every))]
    return [pytest.param(one, id=str(one).replace("/", " "), marks=mark) for one, mark in zip(every, marks)]


# --- all bandwidths doubled ------------------------------------------------------------------------


SCALES = {"cycles/flit": -1, "flits/cycle": -1, "flits/cycle/terminal": 1}  # of columns in this unit
GROWS = ("throughput", "capacity", "algorithm_bandwidth", "bus_bandwidth", "cut_bandwidth")
NODES = ("busiest_link", "cut_nodes", "ring_order")
FALLS = ("load", "seconds", "time", "busiest_link", "value", "in_order")


def power(question: str, place: str) -> int | None:
    """By which power of the bandwidths a value of an answer grows; None: not known."""
    names = [name for part in place.split(".") if (name := part.partition("[")[0])]
    if set(names) & {*OF_TERMINALS, "pieces", "gap"} or (question == "collective" and names[-1] in NODES):
        return None
    if names[-1] in GROWS or (question, names[-1]) == ("capacity", "bound"):
        return 1
    if names[-1] in FALLS or (question, names[-1]) == ("place", "bound"):
        return -1
    return next((SCALES[UNITS[name]] for name in reversed(names) if UNITS.get(name) in SCALES), 0)


DOUBLED = [
    *(case for name in ("loads", "capacity", "collective", "screen") for case in cases(name)),
    Case("place", {"tasks": [[0, 4, 1], [0, 0, 2], [3, 0, 0]], "least": "load", "restarts": 0}),
]


@pytest.mark.parametrize("case", some(DOUBLED, 5))
def test_twice_the_bandwidth_halves_serial_times_and_doubles_saturation(case: Case):
    if case.values.keys() & {"packets", "simulate", "sends"} or "monte" in str(case):
        case = case._replace(
            values={k: v for k, v in case.values.items() if k not in ("packets", "simulate", "sends", "method")}
        )
    more = {"latency": "0"} if "bytes" in case.values else {}
    case = case._replace(values={**case.values, **more})
    for spelling in NETWORKS:
        network = with_latencies(build(spelling), 2, 1)
        weighted = replace(with_plan(network, weighted=True), weight=np.where(network.ports >= 0, 1.0, 0.0))
        try:
            one, two = (numbers(case.ask(with_bandwidths(weighted, *widths))) for widths in ((1, 3), (2, 6)))
        except BadInput:
            continue
        break
    else:
        pytest.fail(f"{case} suits no network")
    assert one.keys() == two.keys()
    for place, value in one.items():
        grows = power(case.question, place)
        if isinstance(value, float | int) and not isinstance(value, bool) and grows is not None:
            assert two[place] == pytest.approx(value * 2.0**grows, rel=1e-6), place
            assert grows == 0 or value == 0 or two[place] != value


# --- units -----------------------------------------------------------------------------------------

SPELLED = ((["100 Gb/s", "200 Gb/s"], ["5 ns", "15 ns"]), (["100000 Mb/s", "25GB/s"], ["0.005us", "0.000015 ms"]))


@pytest.mark.parametrize(
    "case",
    some(
        [
            next(cases(name))
            for name in (
                "describe",
                "loads",
                "capacity",
                "collective",
                "place",
                "availability",
                "simulate",
                "cost",
                "screen",
                "deadlock",
                "layout",
                "distances",
            )
        ],
        1,
    ),
)
def test_the_same_quantities_in_other_units_change_nothing(case: Case):
    found = []
    for bandwidths, latencies in SPELLED:
        spelled = f"with_links(torus(k=4, n=2), bandwidths={json.dumps(bandwidths)}, latencies={json.dumps(latencies)})"
        found.append(numbers(case.ask(build(spelled))))
    assert moves(*found) == []


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("collective", {"operation": "all_reduce", "bytes": "1MiB", "latency": "0"}),
        ("place", {"axes": "tp=4,dp=4", "latency": "0"}),
    ],
)
def test_a_unit_twice_as_large_halves_times(question: str, values: dict[str, Any]):
    """Or the answer's note names the unit that it leaves out."""
    network = with_bandwidths(build("torus(k=4, n=2)"), 1, 2)
    one, two = (ask(question, with_plan(network, rate=Fraction(rate)), **values) for rate in (10**11, 2 * 10**11))
    if "unit (" in " ".join(one.notes_beside):
        return
    times = {place: value for place, value in numbers(one).items() if place.endswith("seconds")}
    assert times
    assert {place: 2 * numbers(two)[place] for place in times} == pytest.approx(times)


@pytest.mark.parametrize("values", [{"bytes": "1MiB"}, {"bytes": "1KiB", "algorithms": ("direct",)}])
def test_a_unit_twice_as_large_for_half_the_numbers_takes_as_long(values: dict[str, Any]):
    network = with_plan(build("torus(k=4, n=2)"), rate=Fraction(100 * 10**9), tick=Fraction(1, 10**8))
    other = with_plan(network, rate=Fraction(50 * 10**9), tick=Fraction(1, 2 * 10**8))
    one = numbers(
        ask("collective", with_latencies(with_bandwidths(network, 2, 4), 2, 4), operation="all_gather", **values)
    )
    two = numbers(
        ask("collective", with_latencies(with_bandwidths(other, 4, 8), 4, 8), operation="all_gather", **values)
    )
    seconds = {place: value for place, value in one.items() if place.endswith("seconds")}
    assert seconds
    assert {place: two[place] for place in seconds} == pytest.approx(seconds, rel=1e-9)


# --- a slower link ---------------------------------------------------------------------------------


def random_network(seed: int, *, nodes: int = 6) -> Topology:
    """A connected graph of which each link is a class of its own, of a random bandwidth."""
    draw = random.Random(seed)
    pairs = {tuple(sorted((node, draw.randrange(node)))) for node in range(1, nodes)}
    pairs |= {tuple(sorted(draw.sample(range(nodes), 2))) for _ in range(nodes)}
    links = [
        {"source": f"n{u}", "target": f"n{v}", "bandwidth": draw.choice([2, 4, 8]), "latency": draw.choice([1, 2, 5])}
        | {"link_class": number}
        for number, (u, v) in enumerate(sorted(pairs))
    ]
    return read_links(links)


def read_links(links: list[dict[str, Any]], name: str = "network.json", **graph: Any) -> Topology:
    """The network of a node-link document."""
    names = dict.fromkeys(end for link in links for end in (link["source"], link["target"]))
    said = {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": one} for one in names],
        "edges": links,
    }
    Path(name).write_text(json.dumps({**said, **graph}))
    return build(f'graph(path="{name}")')


# what may not fall when a link gets slower, and what may not grow
WORSE = {
    "loads": ({}, ("max_channel_load",), ("saturation_load",)),
    "capacity": ({}, (), ("throughput", "bound")),
    "screen": ({}, ("[0].max_channel_load",), ("[0].saturation_load",)),
    "collective": ({"operation": "all_gather"}, ("[0].bound", "[0].best_known"), ("[0].bus_bandwidth",)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("question", WORSE)
def test_a_slower_link_never_helps_and_hurts_where_it_is_the_bottleneck(question: str, seed: int):
    values, costs, gains = WORSE[question]
    network = random_network(seed)
    if question == "screen":
        network = replace(network)
    before, widths, hurt = numbers(ask(question, network, **values)), network.plan.bandwidths, 0
    for slow in range(len(widths)):
        slower = with_plan(network, bandwidths=tuple(w / 2 if c == slow else w for c, w in enumerate(widths)))
        after = numbers(ask(question, slower, **values))
        for place in costs:
            assert after[place] >= before[place] * (1 - 1e-6), (slow, place)
        for place in gains:
            assert after[place] <= before[place] * (1 + 1e-6), (slow, place)
        hurt += bool(moves({p: before[p] for p in (*costs, *gains)}, {p: after[p] for p in (*costs, *gains)}, 1e-6))
    assert hurt, "some link is the bottleneck"


# --- one message -----------------------------------------------------------------------------------

MESSAGES = {
    "file": 'file(path="one.csv")',
    "goal": 'goal(path="one.goal")',
    "chakra": 'chakra(path="t.0.et")',
}


@pytest.mark.parametrize("router", PRESETS)
@pytest.mark.parametrize("workload", MESSAGES)
def test_one_message_alone_takes_the_latency_that_its_path_gains(workload: str, router: str):
    """From the first to the second node of a ring of four, and to the third: over one link, and over two."""
    Path("one.csv").write_text("message,source,destination,flits\na,0,1,5\n")
    Path("one.goal").write_text("num_ranks 2\nrank 0 {\nsend 640b to 1 tag 7\n}\nrank 1 {\nrecv 640b from 0 tag 7\n}\n")
    path = build("mesh(k=4, n=1)")
    for terminals, hops in (([0, 1], 1), ([0, 3], 3)):
        network = replace(
            path, plan=replace(with_plan(path).plan, joined=False), terminals=np.array(terminals, np.int32)
        )
        times = []
        for cycles in (1, 4, 40):
            answer = ask("simulate", with_latencies(network, cycles), workload=MESSAGES[workload], router=router)
            times.append(answer.rows[0]["delivery_time"])
        # buffers grow with the latency, so that a packet of many flits is not held up by credits
        assert [times[1] - times[0], times[2] - times[0]] == [3 * hops, 39 * hops]


# --- hosts that end packets ------------------------------------------------------------------------


def rails() -> Topology:
    """Hosts h0 … h3: the only way from h0 to h3 of two hops passes h1; a longer one passes switches."""
    ends = [("h0", "s0"), ("h1", "s0"), ("h1", "s1"), ("h3", "s1"), ("s0", "s2"), ("s2", "s3"), ("s3", "s1")]
    links = [{"source": u, "target": v} for u, v in ends]
    network = read_links(links)
    names = list(network.plan.names or ())
    terminals = np.array([names.index(f"h{number}") for number in (0, 1, 3)], np.int32)
    return replace(with_plan(network, hosts_end=True, joined=False), terminals=terminals)


@pytest.mark.parametrize("routing", [name for name in ROUTINGS if name != "table"])
def test_a_host_that_does_not_forward_carries_nothing_of_others(routing: str):
    network = rails()
    Path("demand.csv").write_text("source,destination,demand\nh0,h3,1\nh3,h0,1\n")
    if routing == "weighted":
        network = replace(with_plan(network, weighted=True), weight=np.where(network.ports >= 0, 1.0, 0.0))
    values = {"routing": routing, "traffic": 'demand(path="demand.csv")'}
    try:
        answer = ask("loads", network, **values)
    except BadInput:
        return  # of the networks of some family
    if "forwarding" not in question_named("loads").heeds:
        assert "forwarding (" in answer.notes_beside[0]
        return
    tail, head, port = network.arcs
    host = list(network.plan.names or ()).index("h1")
    assert answer.load[tail[(tail == host) | (head == host)], port[(tail == host) | (head == host)]].max() == 0
    assert answer.record["mean_hops"] == 5


def test_nor_does_it_in_the_best_routing():
    Path("demand.csv").write_text("source,destination,demand\nh0,h3,1\nh3,h0,1\n")
    network = rails()
    answer = ask("capacity", network, traffic='demand(path="demand.csv")')
    if "forwarding" not in question_named("capacity").heeds:
        assert "forwarding (" in answer.notes_beside[0]
        return
    load = answer.load
    host = list(network.plan.names or ()).index("h1")
    tail, head, port = network.arcs
    assert load[tail[(tail == host) | (head == host)], port[(tail == host) | (head == host)]].max() == 0


# --- names, order, formats -------------------------------------------------------------------------

# of numbers alone: what names nodes or follows their order is left out
SCALARS = {
    "describe": ({"measures": ("distances", "latencies", "connectivity")}, ()),
    "loads": ({}, ()),
    "capacity": ({}, ("method",)),
    "deadlock": ({}, ("cycle", "packets", "waiting", "least", "argument", "remedy")),
    "collective": ({"operation": "all_gather", "algorithms": ("direct",)}, ("busiest", "cut_", "ring", "root")),
    "distances": ({}, ()),
    "screen": ({}, ("load[",)),
}


def plain(question: str, network: Topology) -> dict[str, Any]:
    """The numbers of an answer that do not name nodes or link classes."""
    values, others = SCALARS[question]
    found = numbers(ask(question, network, **values))
    return {
        place: value
        for place, value in found.items()
        if isinstance(value, float | int) and "per_class" not in place and not any(other in place for other in others)
    }


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("question", SCALARS)
def test_other_names_and_another_order_of_the_lines_change_nothing(question: str, seed: int):
    network = random_network(seed)
    links = json.loads(Path("network.json").read_text())["edges"]
    draw = random.Random(seed)
    names = dict.fromkeys(end for link in links for end in (link["source"], link["target"]))
    called = dict(zip(names, draw.sample([f"x{number}" for number in range(len(names))], len(names))))
    other = [
        dict(link, source=called[link["target"]], target=called[link["source"]])
        for link in draw.sample(links, len(links))
    ]
    assert moves(plain(question, network), plain(question, read_links(other, "other.json"))) == []


@pytest.mark.parametrize("format", [name for name, form in FORMATS.items() if form.suffix])
@pytest.mark.parametrize("question", SCALARS)
def test_another_format_that_holds_it_changes_nothing(question: str, format: str):
    """As far as it holds it: a format without bandwidths or latencies gets a network without."""
    network, holds = random_network(3), FORMATS[format].holds
    if "bandwidths" not in holds:
        network = with_plan(network, bandwidths=(), latencies=())
    export(network, format, f"written{FORMATS[format].suffix}")
    assert (
        moves(plain(question, network), plain(question, build(f'graph(path="written{FORMATS[format].suffix}")'))) == []
    )
