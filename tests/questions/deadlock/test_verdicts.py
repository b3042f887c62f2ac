"""Known verdicts on the papers' networks at the papers' sizes."""

from __future__ import annotations

import re
from itertools import product

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from torusweep import cli
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.deadlock.dependencies import cycles_lie_in_rings, dependencies, dependency_graph
from torusweep.questions.deadlock.record import deadlock_record, is_proved_free
from torusweep.questions.deadlock.routing_case import ALL_ROUTINGS, deadlock_case
from torusweep.questions.deadlock.rules import RULES as ALL_RULES
from torusweep.questions.deadlock.rules import rule_spelling, vc_rule
from torusweep.questions.deadlock.verdict import verdict
from torusweep.routing import Moves, routing

from tests.questions.deadlock.least import once
from tests.questions.deadlock.plain_dependencies import RULES, Datelines, graph, hops_of


def record(network, name, rule, number):
    return deadlock_record(build(network), routing=name, vc_rule=rule, virtual_channels=number)


# Dally & Seitz 1987: a ring needs two classes, a mesh and a hypercube one. The twisted tori of Cámara et al. 2010: two
TWO = ["torus(k=4, n=2)", "torus(k=5, n=2)", "torus(k=8, n=2)", "rt(a=4)"]
LATTICES = ["rt(a=4)", "rtt(a=4)", "pt(a=4)", "ptt(a=4)", "pdtt(a=4)"]
ONE = ["mesh(k=4, n=2)", "mesh(k=3, n=3)", "hypercube(n=6)", "torus(k=3, n=2)"]


@pytest.mark.parametrize(
    ("network", "name"),
    [*((network, "dimension_order") for network in TWO), *((network, "routing_record") for network in LATTICES)],
)
def test_rings_need_two_virtual_channels(network, name):
    one, two = record(network, name, "dateline", 1), record(network, name, "dateline", 2)
    assert (one["acyclic"], one["deadlock_free"]) == (False, "no")
    assert (two["acyclic"], two["deadlock_free"]) == (True, "yes")
    assert (
        (one["least_virtual_channels"], one["least_rule"])
        == (two["least_virtual_channels"], two["least_rule"])
        == (2, "dateline")
    )


@pytest.mark.parametrize("network", ONE)
def test_networks_that_need_one_virtual_channel(network):
    """In a ring of three nodes, packets make at most one hop."""
    found = record(network, "dimension_order", "none", 1)
    assert (found["acyclic"], found["least_virtual_channels"], found["least_rule"]) == (True, 1, "none")


def plain_records(sides, wraps):
    """(source, runs in the order x, y …) of every pair: the shortest displacements modulo the wrap vectors."""
    nodes = int(np.prod(sides))
    digits = [tuple(node // int(np.prod(sides[:i])) % side for i, side in enumerate(sides)) for node in range(nodes)]
    shifts = (
        [np.array(multiple) @ np.array(wraps) for multiple in np.ndindex(*[5] * len(sides))]
        if wraps is not None
        else []
    )
    shifts = [shift - 2 * np.array(wraps).sum(axis=0) for shift in shifts]
    known = {}
    for source in range(nodes):
        for there in digits:
            apart = tuple(np.subtract(there, digits[source]).tolist())
            if apart not in known:
                choices = [apart + shift for shift in shifts] if shifts else [np.array(apart)]
                least = min(abs(choice).sum() for choice in choices)
                known[apart] = [choice.tolist() for choice in choices if abs(choice).sum() == least]
            for choice in known[apart]:
                yield source, [(2 * i + (hops < 0), abs(hops), 0) for i, hops in enumerate(choice) if hops]


def lattice_step(sides, wraps):
    """One hop on a box whose dimension i wraps round by the vector wraps[i], or ends where wraps is None."""
    nodes = int(np.prod(sides))
    places = np.array(
        [[node // int(np.prod(sides[:i])) % side for i, side in enumerate(sides)] for node in range(nodes)]
    )
    number = {tuple(place): node for node, place in enumerate(places.tolist())}

    def step(node, d):
        place = places[node].copy()
        place[d // 2] += 1 - 2 * (d % 2)
        for i in reversed(range(len(sides))):  # the last dimension's wrap shifts the earlier ones
            while wraps is not None and not 0 <= place[i] < sides[i]:
                place = place - np.array(wraps[i]) * (1 if place[i] >= sides[i] else -1)
        return number.get(tuple(place.tolist()))

    table = [[step(node, d) for d in range(2 * len(sides))] for node in range(nodes)]
    return lambda node, d: table[node][d]


@pytest.mark.parametrize(
    ("network", "name", "sides", "wraps"),
    [
        ("torus(k=4, n=2)", "dimension_order", (4, 4), [(4, 0), (0, 4)]),
        ("torus(k=5, n=2)", "dimension_order", (5, 5), [(5, 0), (0, 5)]),
        ("torus(k=8, n=2)", "dimension_order", (8, 8), [(8, 0), (0, 8)]),
        ("mesh(k=4, n=2)", "dimension_order", (4, 4), None),
        ("rtt(a=4)", "routing_record", (8, 4), [(8, 0), (4, 4)]),
        ("ptt(a=4)", "routing_record", (8, 4, 4), [(8, 0, 0), (4, 4, 0), (0, 0, 4)]),
        ("pdtt(a=4)", "routing_record", (8, 4, 4), [(8, 0, 0), (4, 4, 0), (4, 0, 4)]),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_grids_and_lattices_against_plain_loops(network, name, sides, wraps, number):
    """The oracle shares no code with the routings: it tries every displacement."""
    step = lattice_step(sides, wraps)
    routes = [hops_of(source, runs, step)[0] for source, runs in plain_records(sides, wraps)]
    plain = graph(routes, RULES["dateline"], number, step, Datelines(int(np.prod(sides)), 2 * len(sides), step))
    found = record(network, name, "dateline", number)
    assert (found["channels"], found["dependencies"]) == (len(plain), plain.number_of_edges())
    assert found["acyclic"] == nx.is_directed_acyclic_graph(plain) == (number == 2 or wraps is None)


def hierarchical(network, rule, number, tie="sign"):
    """(acyclic, deadlock_free), without the search for the least number of virtual channels."""
    form = routing(f"hierarchical(tie={tie})", build(network))[1]
    _, own = vc_rule(rule, form)
    found = verdict(form, own, dependencies(form, own, number))
    return found.acyclic, found.deadlock_free


FAMILIES = [f"{family}(m=4, n=4, levels=2, q={q})" for family in ("mh3dt", "h3dt") for q in (0, 2)]
READINGS = [f"r05_wrap(reading={reading})" for reading in ("dimension", "path", "will")]
QUICK = (
    ("mh3dt(m=4, n=4, levels=2, q=0)", "r05_wrap(reading=dimension)"),
    ("mh3dt(m=4, n=4, levels=2, q=0)", "r05_phases"),
)


def r05(rules):
    return [
        pytest.param(network, rule, marks=() if (network, rule) in QUICK else pytest.mark.slow)
        for network in FAMILIES
        for rule in rules
    ]


@pytest.mark.parametrize(("network", "rule"), r05(READINGS))
def test_theorem_1_of_r05_under_the_rule_of_its_proof(network, rule):
    """Rahman et al. 2005: cyclic in all three readings; packets that have just entered close the cycle."""
    assert hierarchical(network, rule, 2) == (False, "no")


@pytest.mark.parametrize(("network", "rule"), r05(["r05_phases", "r05_phases(split=after_first)"]))
def test_theorem_1_of_r05_by_phases(network, rule):
    assert hierarchical(network, rule, 2) == (True, "yes")


@pytest.mark.parametrize(
    "network",
    [FAMILIES[0], FAMILIES[2], *(pytest.param(network, marks=pytest.mark.slow) for network in FAMILIES[1::2])],
)
def test_torus_modules_need_three_with_positive_ties(network):
    needs = 3 if network.startswith("mh3dt") else 2
    assert [hierarchical(network, "r05_phases", number, "positive")[0] for number in (1, 2, 3)] == [
        number >= needs for number in (1, 2, 3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("network", FAMILIES)
def test_one_virtual_channel_is_never_enough(network):
    assert not hierarchical(network, "r05_phases", 1)[0]


@pytest.mark.parametrize(
    ("network", "name", "rule", "number", "acyclic"),
    [
        ("mesh(k=4, n=2)", "random_order", "phases", 2, True),
        ("mesh(k=4, n=2)", "random_order", "none", 2, False),
        ("torus(k=4, n=2)", "random_order", "phases", 2, False),
        ("torus(k=4, n=2)", "random_order", "phases_dateline", 4, True),
        ("torus(k=4, n=3)", "valiant", "phases_dateline", 4, True),
        ("torus(k=4, n=3)", "valiant", "phases", 2, False),
        ("mesh(k=4, n=2)", "valiant", "phases", 2, True),
        ("faulty(torus(k=8, n=3), links=4, seed=1)", "up_down", "none", 1, True),
    ],
)
def test_known_graphs(network, name, rule, number, acyclic):
    assert record(network, name, rule, number)["acyclic"] == acyclic


@pytest.mark.parametrize(
    "network", ["torus(k=6, n=2)", "rtt(a=4)", "pdtt(a=4)", "hypercube(n=4)", "mesh(k=4, n=2)", "torus(k=2, n=3)"]
)
def test_bubble_prevents_deadlock_where_all_cycles_are_rings(network):
    found = record(network, "routing_record" if "tt" in network else "dimension_order", "bubble", 1)
    assert found["deadlock_free"] == "yes"
    assert found["argument"].startswith("acyclic" if found["acyclic"] else "bubble")
    assert found["least_virtual_channels"] == (1 if found["acyclic"] else 2)


@pytest.mark.parametrize(
    ("network", "name"),
    [("mesh(k=4, n=2)", "random_order"), ("torus(k=5, n=2)", "random_order"), ("torus(k=4, n=2)", "valiant")],
)
def test_bubble_proves_nothing_where_cycles_have_turns(network, name):
    found = record(network, name, "bubble", 1)
    assert (found["acyclic"], found["deadlock_free"]) == (False, "unknown")


def test_a_channel_in_two_rings_is_refused_by_the_bubble_proof():
    """A direction that alternates between x and y shares its x channels with the rings of x."""
    form = routing("dimension_order", build("torus(k=4, n=2)"))[1]
    graph = dependency_graph(dependencies(form, vc_rule("none", form)[1], 1))
    assert cycles_lie_in_rings(graph, form.moves)
    port = form.moves.port.copy()
    port[:, 2] = np.where(form.topology.addresses().sum(axis=1) % 2 == 0, port[:, 0], port[:, 2])
    assert not cycles_lie_in_rings(graph, Moves(form.topology, port, form.moves.names))


@pytest.mark.parametrize(("number", "shares"), [(2, (1, 1)), (3, (2, 1)), (4, (2, 2)), (5, (3, 2)), (16, (8, 8))])
def test_lower_classes_take_the_remaining_virtual_channels(number, shares):
    """A class of s virtual channels counts s times: against a count by networkx on k = 5."""
    step = lattice_step((5, 5), [(5, 0), (0, 5)])
    routes = [hops_of(source, runs, step)[0] for source, runs in plain_records((5, 5), [(5, 0), (0, 5)])]
    plain = graph(routes, RULES["dateline"], 2, step, Datelines(25, 4, step))
    found = record("torus(k=5, n=2)", "dimension_order", "dateline", number)
    assert found["channels"] == sum(shares[c] for *_, c in plain)
    assert found["dependencies"] == sum(shares[u[2]] * shares[v[2]] for u, v in plain.edges)


def test_a_cycle_names_the_first_virtual_channel_of_each_class():
    cycle = record("mh3dt(m=3, n=2, levels=2, q=0)", "hierarchical", "r05_wrap", 4)["cycle"]
    assert {words.rpartition(" ")[2] for words in cycle} <= {"vc0", "vc2"}


@pytest.mark.parametrize(
    ("network", "tie", "crossed"),
    [("torus(k=256, n=2)", "split", 128), ("torus(k=256, n=2)", "sign", 127), ("mesh(k=256, n=2)", "sign", 0)],
)
def test_65536_nodes_take_seconds(network, tie, crossed):
    """Channels by hand: 2k lines for each sign of direction, each with k − 1 links of class 0.

    In class 1, a ring has those of the longest run after its dateline: k/2 hops, or one less where a packet to
    half the ring does not cross it.
    """
    k = 256
    found = record(network, f"dimension_order(tie={tie})", "dateline", 2)
    assert found["acyclic"]
    assert found["channels"] == 4 * k * (k - 1 + crossed)


def test_more_phases_than_a_byte_counts():
    """240 phases: those of the second half follow the 120 of the first."""
    form = routing("valiant(by=random_order)", build("hypercube(n=5)"))[1]
    classes = vc_rule("phases", form)[1].classes
    assert classes[:, 0].tolist() == list(range(240))
    found = dependencies(form, vc_rule("phases", form)[1], 2)
    assert found.channels.used[:, 0::2].all()
    assert found.channels.used[:, 1::2].all()


@pytest.mark.parametrize(
    ("network", "name", "reason"),
    [
        (
            "ring(k=34)",
            "minimal",
            "none of the built-in rules removes the cycle (tried up to 16 virtual channels); not tried: hops",
        ),
        (
            "pruned_torus(k=4, n=3)",
            "clustering",
            "not determined: too large to try rule dateline with 2 virtual channels",
        ),
    ],
)
def test_reason_for_no_least_number(monkeypatch, network, name, reason):
    monkeypatch.setattr("torusweep.questions.deadlock.dependencies.MAX_PAIRS", 0)
    found = record(network, name, "none", 1)
    assert not found["acyclic"]
    assert (found["least_virtual_channels"], found["least_rule"], found["least_reason"]) == (None, None, reason)
    if name == "clustering":  # the other takes seconds
        printed = CliRunner().invoke(cli.torusweep, ["deadlock", network, "--routing", name]).output
        assert reason in " ".join(printed.split())


@pytest.mark.parametrize(
    ("network", "name", "rule"),
    [
        ("mh3dt(m=3, n=2, levels=2, q=0)", "hierarchical", "dateline"),
        ("torus(k=4, n=2)", "up_down", "none"),
        ("torus(k=4, n=2)", "adaptive", "dateline"),
    ],
)
def test_progress_is_reported_and_changes_nothing(monkeypatch, network, name, rule):
    inputs = {"routing": name, "vc_rule": rule, "virtual_channels": 2}
    expected = deadlock_record(build(network), **inputs)
    monkeypatch.setattr("torusweep.questions.deadlock.dependencies.STEPS_PER_REPORT", 100)
    monkeypatch.setattr("torusweep.questions.deadlock.verdict.MAX_MATRIX_CHANNELS", 0)
    shares: list[float] = []
    found = deadlock_record(build(network), **inputs, progress=shares.append)
    assert {**found, "dependencies": None, "cycle": None} == {**expected, "dependencies": None, "cycle": None}
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1


def test_case_and_spelling():
    deadlock_case(build("ring(k=4)"), routing="dimension-order", vc_rule="dateline", virtual_channels=2)
    with pytest.raises(BadInput, match="expected a routing in directions"):
        deadlock_case(build("ring(k=4)"), routing="minimal", vc_rule="dateline", virtual_channels=2)
    assert rule_spelling("r05-wrap( reading = dimension )") == "r05_wrap"
    assert rule_spelling("r05-wrap(reading=will)") == "r05_wrap(reading=will)"
    assert (
        rule_spelling("phases+dateline")
        == rule_spelling(" phases + dateline ")
        == rule_spelling("phases-dateline")
        == "phases_dateline"
    )


@pytest.mark.parametrize("spelling", ["torus(k=4, n=2)", "ring(k=3)", "mesh(k=3, n=2)", "rtt(a=3)", "ccc(n=3)"])
def test_proved_free_is_a_verdict_of_yes(spelling: str, monkeypatch: pytest.MonkeyPatch):
    network, verdicts = build(spelling), set()
    monkeypatch.setattr("torusweep.questions.deadlock.record.least_virtual_channels", once())
    numbers = (1, 2, 3) if network.nodes < 9 else (1, 2) if network.nodes <= 16 else (2,)
    for name, rule, many in product(ALL_ROUTINGS, ALL_RULES, numbers):
        try:
            case = deadlock_case(network, routing=name, vc_rule=rule, virtual_channels=many)
        except BadInput:
            continue
        answer = deadlock_record(network, routing=name, vc_rule=rule, virtual_channels=many)["deadlock_free"]
        verdicts.add(answer)
        assert is_proved_free(case) == (answer == "yes"), (name, rule, many)
    assert {"yes", "unknown"} <= verdicts


def test_two_packets_by_way_of_each_other_deadlock_valiant_routing():
    """0 → 1 → 0 → 3 and 1 → 0 → 1 → 2: each holds its first channel and waits for the other's, in the same class."""
    record = deadlock_record(build("torus(k=4, n=2)"), routing="valiant", vc_rule="dateline", virtual_channels=2)
    assert record["deadlock_free"] == "no"
    assert record["cycle"] == ["0 (0,0) x+ vc0", "1 (1,0) x- vc0"]
    assert record["packets"] == ["0 by way of 1 → 3", "1 by way of 0 → 2"]
    safe = deadlock_record(build("torus(k=4, n=2)"), routing="valiant", vc_rule="phases_dateline", virtual_channels=4)
    assert safe["deadlock_free"] == "yes"


@pytest.mark.parametrize(
    ("network", "rule", "virtual_channels", "answer"),
    [
        ("ring(k=2)", "none", 1, "unknown"),  # 0 → 1 → 0 and 1 → 0 → 1 only: each to its own source
        ("mesh(k=3, n=1)", "dateline", 2, "no"),  # 0 → 1 → 2, 1 → 2 → 1 → 0, 2 → 1 → 0, 1 → 0 → 1 → 2
        ("ring(k=3)", "phases_dateline", 2, "unknown"),
        ("ring(k=3)", "none", 1, "no"),  # 0 → 1 → 2, 1 → 2 → 0, 2 → 0 → 1
        ("ring(k=4)", "none", 1, "no"),  # 0 → 1 → 0 → 3 and 1 → 0 → 1 → 2
    ],
)
def test_no_deadlock_rests_on_packets_to_their_own_source(network, rule, virtual_channels, answer):
    record = deadlock_record(build(network), routing="valiant", vc_rule=rule, virtual_channels=virtual_channels)
    assert record["deadlock_free"] == answer
    assert not record["acyclic"]
    for packet in record["packets"] or ():
        source, *_, destination = re.findall(r"\d+", packet)
        assert source != destination
