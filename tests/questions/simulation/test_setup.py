"""Defaults and refusals of a simulation's setup, and the use of both classes of a dateline."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest
import torusweep as ts
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.routing_case import deadlock_case
from torusweep.questions.how import How
from torusweep.questions.simulation.choice import may_use_both_classes
from torusweep.questions.simulation.parameters import Parameters, RunRequest, request_of
from torusweep.questions.simulation.presets import PRESETS
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.setup import set_up

from tests.questions.deadlock.plain_dependencies import Datelines, hops_of, rows, stepping

DEFAULTS = [
    ("torus(k=4, n=2)", {}, ("dimension_order", "dateline", 2, 8, "wormhole")),
    ("mesh(k=4, n=2)", {}, ("dimension_order", "none", 2, 8, "wormhole")),
    ("rtt(a=4)", {}, ("routing_record", "dateline", 2, 8, "wormhole")),
    ("mh3dt(m=3, n=2, levels=2, q=0)", {}, ("hierarchical", "r05_phases", 2, 8, "wormhole")),
    ("pruned_torus(k=4, n=3)", {}, ("up_down", "none", 2, 8, "wormhole")),
    ("torus(k=4, n=2, directed=true)", {}, ("dimension_order", "dateline", 2, 8, "wormhole")),
    ("torus(k=4, n=2)", {"routing": "valiant"}, ("valiant", "phases_dateline", 4, 8, "wormhole")),
    ("torus(k=4, n=2)", {"routing": "adaptive"}, ("adaptive", "dateline", 3, 8, "wormhole")),
    (
        "torus(k=4, n=2)",
        {"switching": "virtual-cut-through"},
        ("dimension_order", "dateline", 2, 16, "virtual-cut-through"),
    ),
    ("pdtt(a=2)", {"router": "bluegene"}, ("adaptive", "bubble", 3, 64, "virtual-cut-through")),
    ("pdtt(a=2)", {"router": "bluegene", "packet_flits": 40}, ("adaptive", "bubble", 3, 80, "virtual-cut-through")),
    ("torus(k=4, n=2)", {"vc_rule": "none", "allow_deadlock": True}, ("dimension_order", "none", 2, 8, "wormhole")),
]


@pytest.mark.parametrize(("spelling", "inputs", "expected"), DEFAULTS, ids=[f"{row[0]}-{row[1]}" for row in DEFAULTS])
def test_defaults_follow_from_network_and_router(spelling, inputs, expected):
    complete = set_up(build(spelling), Parameters(**inputs)).parameters
    assert (
        complete.routing,
        complete.vc_rule,
        complete.virtual_channels,
        complete.buffer_flits,
        complete.switching,
    ) == expected


@pytest.mark.parametrize(
    ("inputs", "speedup"),
    [({}, 1), ({"input_speedup": 2}, 2), ({"input_speedup": 5, "virtual_channels": 4}, 4), ({"router": "bluegene"}, 3)],
)
def test_input_speedup_is_limited_by_the_virtual_channels(inputs, speedup):
    """The router of Cámara et al. 2010 sends from all of its 3 (docs/simulation.md)."""
    setup = set_up(build("torus(k=4, n=2)"), Parameters(**inputs))
    assert (setup.router.input_speedup, setup.inputs["input_speedup"]) == (speedup, speedup)


@pytest.mark.parametrize(
    ("network", "routing", "shares"),
    [
        # two classes suffice (docs/papers.md); three where packets travel round a module's ring by more than one hop
        ("mh3dt(m=4, n=2, levels=2, q=0)", "hierarchical", {2: [1, 1], 3: [2, 1], 4: [2, 2]}),
        ("tesh(m=2, levels=2, q=0)", "hierarchical", {3: [2, 1]}),
        ("mh3dt(m=4, n=2, levels=2, q=0)", "hierarchical(tie=positive)", {3: [1, 1, 1], 4: [2, 1, 1]}),
        ("mh3dt(m=5, n=2, levels=2, q=0)", "hierarchical", {3: [1, 1, 1], 4: [2, 1, 1]}),
    ],
)
def test_unneeded_classes_have_no_channels(network, routing, shares):
    for channels, own in shares.items():
        setup = set_up(build(network), Parameters(routing=routing, vc_rule="r05_phases", virtual_channels=channels))
        assert setup.wiring.shares.tolist() == own


def test_parallel_links_have_a_virtual_channel_each(tmp_path):
    path = tmp_path / "three.edges"
    path.write_text("0 1\n0 1\n0 1\n1 2\n")
    topology = build(f'graph(path="{path}")')
    setup = set_up(topology, Parameters())
    assert setup.parameters.virtual_channels == 3
    assert sorted(setup.wiring.capacity[topology.ports >= 0].tolist()) == [1, 1, 3, 3]
    with pytest.raises(
        BadInput,
        match="expected a virtual channel for each of 3 parallel links, got virtual_channels=2; choose 3 or more",
    ):
        set_up(topology, Parameters(virtual_channels=2))


REFUSED = [
    ("torus(k=4, n=2)", {"router": "defalt"}, "unknown router 'defalt' (did you mean 'default'?)"),
    ("torus(k=4, n=2)", {"virtual_channels": 1}, "choose rule dateline with 2 virtual channels or more"),
    (
        "torus(k=4, n=2)",
        {"vc_rule": "none", "virtual_channels": 4},
        "choose rule dateline with 2 virtual channels or more, or allow deadlock",
    ),
    (
        "mh3dt(m=3, n=2, levels=2, q=0)",
        {"vc_rule": "r05_wrap"},
        "choose rule r05_phases with 2 virtual channels or more",
    ),
    ("rtt(a=3)", {"routing": "adaptive", "vc_rule": "dateline", "virtual_channels": 3}, "choose"),
    ("torus(k=4, n=2)", {"virtual_channels": 17}, "virtual_channels=17: expected 1 … 16"),
    ("torus(k=4, n=2)", {"vc_rule": "bubble"}, "rule bubble: expected switching virtual-cut-through"),
    ("torus(k=4, n=2)", {"router": "bluegene", "buffer_flits": 31}, "buffer_flits=31: expected room for two packets"),
    (
        "torus(k=4, n=2)",
        {"switching": "store-and-forward", "buffer_flits": 8},
        "buffer_flits=8: expected room for a packet",
    ),
    ("torus(k=4, n=2)", {"input_speedup": 0}, "input_speedup=0: expected 1 … 16"),
    ("torus(k=4, n=2)", {"warm_up": 10_000}, "warm_up=10000: expected 0 … 9,999"),
    ("torus(k=4, n=2)", {"traffic": "uniforn"}, "unknown traffic 'uniforn'"),
    ("torus(k=3, n=2)", {"traffic": "bit_reversal"}, "traffic bit_reversal on torus(k=3, n=2)"),
    ("directed_torus(k=4, n=2)", {}, "expected a deadlock-free routing, got none of dimension_order"),
]


@pytest.mark.parametrize(("spelling", "inputs", "message"), REFUSED, ids=[f"{row[0]}-{row[1]}" for row in REFUSED])
def test_refusals_take_one_line(spelling, inputs, message):
    with pytest.raises(BadInput) as caught:
        set_up(build(spelling), Parameters(**inputs))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "expected loads, a precision"),
        ({"loads": [0.1], "seeds": [1, 1]}, "all different"),
        ({"loads": [0.1], "packets_each": 3}, "packets_each=3"),
    ],
)
def test_refusals_of_numbers(inputs, message):
    with pytest.raises(BadInput, match=message.replace("(", r"\(")):
        simulation_records(build("ring(k=4)"), Parameters(), **inputs)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"load": 0.0}, "load=0.0: expected > 0"),
        ({"load": float("nan")}, "load=nan: expected > 0"),
        ({"load": float("inf")}, "load=inf: expected > 0"),
        ({"load": 0.1, "seeds": -1}, "seeds=-1: expected 0 …"),
        ({"load": 0.1, "seeds": 2**64}, "seeds=18446744073709551616: expected 0 …"),
        ({"saturation": True, "precision": -1.0}, "precision=-1.0: expected > 0 and ≤ 1"),
        ({"packets_each": 0}, "packets_each=0: expected 1 …"),
    ],
)
def test_numbers_out_of_range_are_refused_where_they_are_asked_for(inputs, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        ts.network("ring(k=4)").simulate(**inputs)


def test_memory_is_checked_before_a_run():
    with pytest.raises(Refused, match=r"the limit is 0\.1 GiB"):
        simulation_records(build("torus(k=8, n=3)"), Parameters(cycles=1_000_000), loads=[0.5], how=How(memory=10**8))


def test_a_request_has_one_spelling():
    one = RunRequest(Parameters(routing="dimension-order", vc_rule="dateline"), (0.1, 0.2), (3,)).canonical()
    assert request_of(one.spelled()) == one
    assert (
        one.spelled()
        == RunRequest(Parameters(routing=" dimension_order( )", vc_rule="dateline"), (0.1, 0.2), (3,))
        .canonical()
        .spelled()
    )


BOTH_CLASSES = [
    ("torus(k=4, n=2)", "dimension_order", "dateline", 2),
    ("torus(radices=[5, 3])", "dimension_order", "dateline", 2),
    ("rtt(a=3)", "routing_record", "dateline", 2),
    ("pdtt(a=2)", "routing_record", "dateline", 2),
    ("torus(k=4, n=2, directed=true)", "dimension_order", "dateline", 2),
    ("torus(k=4, n=2)", "random_order", "phases_dateline", 4),
    ("torus(k=5, n=2)", "dimension_order", "r05_wrap", 2),
]


@pytest.mark.parametrize(("spelling", "name", "rule", "channels"), BOTH_CLASSES)
def test_both_classes_of_a_dateline_keep_the_graph_acyclic(spelling, name, rule, channels):
    """With either class in every run that crosses no dateline, the routes have no cycle in networkx."""
    case = deadlock_case(build(spelling), routing=name, vc_rule=rule, virtual_channels=channels)
    assert may_use_both_classes(case.form, case.rule)
    step = stepping(case.form)
    lines = Datelines(case.form.topology.nodes, case.form.moves.port.shape[1], step)
    graph = nx.DiGraph()
    for source, _, runs in rows(case.form):
        hops = hops_of(source, runs, step)[0]
        per_run = [[hop for hop in hops if hop[3] == run] for run in range(len(runs))]
        ways = [[None] if any(map(lines.crosses, own)) else [0, 1] for own in per_run]
        for columns in product(*ways):
            channels_of = []
            for own, column in zip(per_run, columns):
                crossed = False
                for node, d, phase, _ in own:
                    crossed |= lines.crosses((node, d, phase, 0))
                    channels_of.append(
                        (node, step(node, d), int(case.rule.classes[phase, int(crossed) if column is None else column]))
                    )
            nx.add_path(graph, channels_of)
    assert nx.is_directed_acyclic_graph(graph)


@pytest.mark.parametrize(
    ("spelling", "name", "rule", "channels"),
    [
        ("mh3dt(m=3, n=2, levels=2, q=0)", "hierarchical", "r05_phases", 2),
        ("ring(k=4)", "dimension_order", "none", 2),
        ("torus(k=4, n=2)", "dimension_order", "r05_wrap(reading=path)", 2),
        ("pruned_torus(k=4, n=3)", "minimal_by_address", "dateline", 2),
        ("mesh(k=3, n=2)", "up_down", "none", 2),
    ],
)
def test_classes_stay_separate_where_routes_have_no_order_of_axes(spelling, name, rule, channels):
    case = deadlock_case(build(spelling), routing=name, vc_rule=rule, virtual_channels=channels)
    assert not may_use_both_classes(case.form, case.rule)


@pytest.mark.parametrize("router", PRESETS)
def test_presets_send_packets_of_16_flits(router):
    """docs/simulation.md and the help rely on it."""
    assert set_up(build("torus(k=4, n=2)"), Parameters(router=router)).flits == 16
