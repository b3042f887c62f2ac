"""Simulated networks: conservation, bounds, latency of empty networks, an analytical model, a predicted deadlock."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.deadlock.dependencies import dependencies
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import deadlock_case
from torusweep.questions.how import How
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.presets import PRESETS, Preset
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.static.record import static_record
from torusweep_kernels.dependencies import DEPENDS


def simulate(spelling: str, loads=(0.1,), seeds=(1,), **inputs):
    options = {name: inputs.pop(name) for name in ("precision", "packets_each") if name in inputs}
    parameters = Parameters(**{"cycles": 3000, **inputs})
    return simulation_records(build(spelling), parameters, loads=loads, seeds=seeds, **options)


NETWORKS = [
    ("torus(k=4, n=2)", {}),
    ("torus(k=4, n=2)", {"routing": "adaptive", "switching": "virtual-cut-through", "virtual_channels": 3}),
    ("torus(k=4, n=2)", {"routing": "valiant"}),
    ("mesh(k=4, n=2)", {"switching": "store-and-forward"}),
    ("rtt(a=4)", {"router": "bluegene"}),
    ("torus(k=4, n=2, directed=true)", {}),
    ("hypercube(n=4)", {"router": "booksim2"}),
    ("ccc(n=3)", {"traffic": "uniform_other"}),
    ("faulty(torus(k=4, n=2), links=3, seed=1)", {}),
]


@pytest.mark.parametrize(("spelling", "inputs"), NETWORKS, ids=[f"{row[0]}-{row[1]}" for row in NETWORKS])
def test_below_saturation_the_offered_load_is_accepted(spelling, inputs):
    (row,) = simulate(
        spelling, loads=[0.12], seeds=[1, 2], **{"packet_flits": 4, "cycles": 4000, "warm_up": 500, **inputs}
    )
    assert list(row) == [column.name for column in SIMULATION]
    assert not row["saturated"]
    assert row["accepted_load"] == pytest.approx(row["generated_load"], rel=0.02)
    assert abs(row["accepted_load"] - 0.12) < 3 * row["accepted_load_error"]
    assert row["p50_latency"] <= row["p99_latency"]
    assert row["network_latency"] <= row["total_latency"]
    assert sum(entry["packets"] for entry in row["latency_histogram"]) == row["packets"]


@pytest.mark.parametrize("pattern", ["uniform", "tornado", "transpose"])
def test_channels_carry_their_exact_loads(pattern):
    """Mean use of a class = offered load × exact load, within 4 %; the packets of 12,000 cycles vary by about 1 %."""
    (row,) = simulate("torus(k=4, n=2)", loads=[0.2], traffic=pattern, packet_flits=2, cycles=12_000, warm_up=1000)
    topology = build("torus(k=4, n=2)")
    exact = exact_loads(topology, routing="dimension_order", traffic=pattern).load
    for number, name in enumerate("xy"):
        expected = row["generated_load"] * exact[topology.link_class == number].mean()
        assert row["per_class_utilization"][name]["mean"] == pytest.approx(expected, rel=0.04, abs=1e-9)


BOUNDED = [
    ("torus(k=4, n=2)", {"traffic": "tornado"}, "dimension_order"),
    ("torus(k=8, n=2)", {"traffic": "transpose"}, "dimension_order"),
    ("mesh(k=4, n=2)", {}, "dimension_order"),
    ("rtt(a=4)", {"virtual_channels": 4}, "routing_record"),
    ("ring(k=8)", {}, "dimension_order"),
]


@pytest.mark.parametrize(("spelling", "inputs", "routing"), BOUNDED, ids=[f"{row[0]}-{row[1]}" for row in BOUNDED])
def test_saturation_lies_below_the_channels_bound(spelling, inputs, routing):
    (row,) = simulate(spelling, loads=(), precision=0.02, **inputs)
    loads = exact_loads(build(spelling), routing=routing, traffic=inputs.get("traffic", "uniform"))
    bound = min(1, 1 / loads.load.max())
    # 2 % less than what is offered still counts as accepted
    assert 0.3 * bound < row["simulated_saturation"] <= bound / 0.98 + 0.01
    assert row["saturation_precision"] == 0.02
    assert row["offered_load"] == row["simulated_saturation"]
    overload = simulate(spelling, loads=[1.5 * bound], **inputs)[0]
    assert overload["saturated"]
    if "traffic" not in inputs:  # all terminals are equivalent: none is favoured
        assert overload["accepted_load"] < bound
    assert overload["max_channel_utilization"] <= 1


@pytest.mark.parametrize(
    ("spelling", "bound"), [("rtt(a=8)", 0.752941), ("torus(k=8, n=2)", 1.0), ("torus(k=16, n=2)", 0.5)]
)
def test_camaras_router_approaches_the_channels_bound(spelling, bound):
    """At least 85 % of the bound, with equivalent channels and uniform traffic (torus: 8 / k)."""
    (row,) = simulate(spelling, loads=[1.1 * bound], router="bluegene", cycles=4000, warm_up=2000)
    assert 0.85 * bound <= row["accepted_load"] < bound


@pytest.mark.parametrize("links", [1, 2])
def test_parallel_links_share_their_traffic(tmp_path, links):
    """A path of four nodes: an end link carries the packets of one node, the middle 2 · 2/3 = 4/3 of that."""
    path = tmp_path / "path.edges"
    path.write_text("0 1\n" + "1 2\n" * links + "2 3\n")
    inputs = {"traffic": "uniform_other", "virtual_channels": 4, "packet_flits": 4, "cycles": 6000, "warm_up": 1000}
    below, beyond = simulate(f'graph(path="{path}")', loads=[0.55, 0.75], **inputs)
    assert below["accepted_load"] == pytest.approx(0.55, rel=0.03)
    assert below["max_channel_utilization"] == pytest.approx(0.55 * max(4 / 3 / links, 1), rel=0.05)
    assert beyond["saturated"] == (links == 1)


@pytest.mark.parametrize("switching", ["wormhole", "virtual-cut-through", "store-and-forward"])
@pytest.mark.parametrize("router", ["default", "booksim2", "rahman-2005"])
def test_latency_of_an_empty_network(router, switching):
    """One packet in 25,000 cycles per terminal: H + 1 pipelines, H channels, and the flits behind the head."""
    inputs = {
        "router": router,
        "switching": switching,
        "buffer_flits": 32,
        "packet_flits": 5,
        "traffic": "uniform_other",
        "cycles": 40_000,
    }
    (row,) = simulate("mesh(k=3, n=2)", loads=[2e-4], warm_up=0, **inputs)
    preset, network = PRESETS[router], build("mesh(k=3, n=2)")
    hops = np.array([[sum(abs(a // 3**i % 3 - b // 3**i % 3) for i in range(2)) for a in range(9)] for b in range(9)])
    pipeline = preset.route_delay + preset.vc_delay + preset.switch_delay
    latencies = {
        int((h + 1) * pipeline + h + 4 * (h if switching == "store-and-forward" else 1)) for h in np.unique(hops) if h
    }
    assert network.nodes == 9
    found = {entry["latency"] for entry in row["latency_histogram"]}
    assert found <= {latency if latency < 32 else latency // 2 * 2 for latency in latencies}
    assert len(found) >= 3


@pytest.mark.parametrize(("load", "flits"), [(0.05, 16), (0.1, 16), (0.1, 64)])
def test_contention_at_low_load_against_parhami_and_kwai(monkeypatch, load, flits):
    """P04, sec. 5: virtual cut-through, one queue a channel, uniform traffic, closed form of T_c without source queues.

    Within a quarter: in dimension order, a third of the hops continue straight, which P04 does not model.
    """
    monkeypatch.setitem(
        PRESETS, "one queue", Preset("virtual-cut-through", 1, 1024, 16, 0, 0, 1, 1, "dimension_order", "bubble")
    )
    (row,) = simulate(
        "torus(k=8, n=3)",
        loads=[load],
        router="one queue",
        packet_flits=flits,
        buffer_flits=16 * flits,
        cycles=8000,
        warm_up=1500,
    )
    distance, degree = static_record(build("torus(k=8, n=3)"))["mean_distance_distinct"], 6
    busy, whole = load * 511 / 512 * distance / degree, flits * distance
    contention = busy / (2 * (1 - busy)) * ((degree - 2) * whole + 2 - degree / whole) / (degree - 1)
    empty = (distance + 1) + distance + flits - 1
    assert row["network_latency"] - empty == pytest.approx(contention, rel=0.25)
    assert row["network_latency"] == pytest.approx(empty + contention, rel=0.05)


MH3DT = "mh3dt(m=4, n=2, levels=2, q=0)"


@pytest.mark.parametrize("rule", ["r05_wrap", "r05_phases"])
def test_mh3dt_deadlocks_under_the_rule_of_the_proof_only(rule):
    """Rahman et al. 2005, Theorem 1. The cyclic wait is a cycle of the dependency graph."""
    topology = build(MH3DT)
    verdict = deadlock_record(topology, routing="hierarchical", vc_rule=rule, virtual_channels=2)
    (row,) = simulate(MH3DT, loads=[1.0], router="rahman-2005", vc_rule=rule, cycles=6000, allow_deadlock=True)
    assert verdict["deadlock_free"] == ("yes" if rule == "r05_phases" else "no")
    assert row["deadlocked"] == (rule == "r05_wrap")
    assert row["saturated"]
    if rule == "r05_phases":
        assert row["waiting"] is None
        return
    assert row["deadlock_cycle"] < 6000
    case = deadlock_case(topology, routing="hierarchical", vc_rule=rule, virtual_channels=2)
    depends = dependencies(case.form, case.rule, 2).channels.depends
    channels = [_channel(case.form.moves, text) for text in row["waiting"]]
    assert len(channels) >= 2
    for (node, current), (after, requested) in zip(channels, [*channels[1:], channels[0]]):
        assert topology.ports[node, current // 2] == after
        assert depends[node, current, requested] & DEPENDS


def _channel(moves, text: str) -> tuple[int, int]:
    """(node, port · 2 + virtual channel) of '17 (1,0,1,0,0,0) x+ vc1'."""
    node, name, sign, channel = re.fullmatch(r"(\d+) \([\d,]+\) (.+)([+-]) vc(\d)", text).groups()
    return int(node), int(moves.port[int(node), 2 * moves.names.index(name) + (sign == "-")]) * 2 + int(channel)


def test_a_row_depends_only_on_its_load_and_seeds():
    inputs = {"cycles": 1500, "routing": "valiant"}
    together = simulate("torus(k=4, n=2)", loads=[0.05, 0.1, 0.2], seeds=[4, 5], **inputs)
    for row in together:
        assert simulate("torus(k=4, n=2)", loads=[row["offered_load"]], seeds=[4, 5], **inputs) == [row]
    apart = simulation_records(
        build("torus(k=4, n=2)"),
        Parameters(**inputs),
        loads=[0.05, 0.1, 0.2],
        seeds=[4, 5],
        how=How(memory=2_000_000, threads=1),
    )
    assert apart == together
    assert (
        simulate("torus(k=4, n=2)", loads=[0.1], seeds=[4], **inputs)[0]["accepted_load"]
        != together[1]["accepted_load"]
    )


def test_a_batch_is_sent_whole_with_any_source_queue():
    """Cámara et al.'s source queues hold 8 packets. Each of 4 nodes sends 20 to its neighbour, a flit a cycle."""
    (row,) = simulate("ring(k=4)", loads=(), packets_each=20, traffic="neighbour", router="bluegene")
    assert (row["packets"], row["refused_packets"], row["source_queue"], row["injection"]) == (80, 0, None, None)
    assert 20 * 16 <= row["delivery_time"] <= 20 * 16 + 2 * 4 + 1
    for more in ({"injection": "poisson"}, {"source_queue": 4}, {"warm_up": 10}):
        with pytest.raises(BadInput, match="expected without packets_each"):
            simulate("ring(k=4)", loads=(), packets_each=20, **more)


@pytest.mark.parametrize(("runs", "threads"), [(1, 1), (3, 1), (3, 2)])
def test_progress_of_runs(runs, threads):
    """A third after 2000 of 6000 cycles, never decreasing; the rows do not depend on the callback."""
    shares: list[float] = []
    inputs, loads = Parameters(cycles=6000), [0.1, 0.2, 0.3][:runs]
    rows = simulation_records(
        build("ring(k=4)"), inputs, loads=loads, how=How("numba", threads=threads), progress=shares.append
    )
    assert shares == sorted(shares)
    assert shares[-1] == runs
    assert len(shares) >= 3 * runs
    if threads == 1:
        assert 1 / 3 <= shares[0] < 1 / 2
    assert rows == simulation_records(build("ring(k=4)"), inputs, loads=loads, how=How("numba", threads=threads))


def test_progress_of_a_batch():
    shares: list[float] = []
    (row,) = simulation_records(
        build("ring(k=4)"), Parameters(cycles=2**30), packets_each=2000, progress=shares.append, how=How("numba")
    )
    slices = int(row["delivery_time"]) // 2000
    assert slices >= 4
    np.testing.assert_allclose(shares[:slices], 2000 / row["delivery_time"] * np.arange(1, slices + 1), atol=0.05)


def test_accepted_load_of_an_incomplete_batch():
    """An eighth of the packets, 16,000 flits, goes to its own source; the run delivers about 40 packets."""
    (row,) = simulate("ring(k=8)", loads=(), packets_each=1000, cycles=100)
    assert row["packets"] > 0
    assert row["accepted_load"] == pytest.approx(row["packets"] * 16 / 8 / 100)
    (whole,) = simulate("ring(k=8)", loads=(), packets_each=10, seeds=[1])
    assert whole["accepted_load"] == pytest.approx(10 * 16 / (whole["delivery_time"] + 1))


def test_delivery_time_is_that_of_the_last_packet():
    """On a ring of 4, every packet makes one hop; the 3 packets of 8 flits of a node leave in succession."""
    (row,) = simulate("ring(k=4)", loads=(), packets_each=3, traffic="neighbour", packet_flits=8, virtual_channels=2)
    assert row["offered_load"] is None
    assert row["saturated"] is None
    assert row["packets"] == 12
    empty = 2 * 3 + 1 + 7
    assert empty + 2 * 8 <= row["delivery_time"] <= empty + 1 + 3 * 8
    assert simulate("ring(k=4)", loads=(), packets_each=30, traffic="neighbour", cycles=50)[0]["delivery_time"] is None


@pytest.mark.parametrize(
    ("spelling", "load", "cycles"),
    [("torus(k=4, n=2)", 0.2, 2000), ("mesh(k=4, n=2)", 0.3, 2000), ("hypercube(n=4)", 0.5, 2000)],
)
def test_intervals_of_short_simulations_hold_the_long_run(spelling, load, cycles):
    """Those of 100 seeds each, of total and network latency: the binomial's deviation is 2.2 %."""
    topology = build(spelling)
    (long,) = simulation_records(topology, Parameters(cycles=60_000), loads=[load])
    inside = []
    for seed in range(100):
        (row,) = simulation_records(topology, Parameters(cycles=cycles), loads=[load], seeds=[seed + 1])
        for name in ("total_latency", "network_latency"):
            if row[f"{name}_error"] is None:
                continue
            inside.append(abs(row[name] - long[name]) <= row[f"{name}_error"])
    assert len(inside) >= 180
    assert np.mean(inside) >= 0.92


@pytest.mark.parametrize(
    ("network", "terminals", "routers", "channels"),
    [("ring(k=2)", 1, 2, 2), ("hamming(radices=[4])", 1, 4, 12), ("hyperx(radices=[2], terminals=4)", 4, 2, 2)],
)
def test_packets_to_their_own_router_take_valiants_way_in_loads_only(network, terminals, routers, channels):
    """All routers are neighbours: a half takes a hop unless the random node is its other end, one of N."""
    hops = 2 * (1 - 1 / routers)
    a_channel = routers * terminals * hops / channels
    loads = exact_loads(build(network), routing="valiant", traffic="uniform")
    assert loads.load.max() == pytest.approx(a_channel)
    (row,) = simulate(
        network, (0.2,), routing="valiant", vc_rule="phases", virtual_channels=4, cycles=200_000, warm_up=500
    )
    own = 1 / routers
    assert row["mean_channel_utilization"] == pytest.approx(0.2 * a_channel * (1 - own), rel=0.06)
    sent = row["packets"] * 16 / (row["generated_load"] * 199_500 * routers * terminals)
    assert sent == pytest.approx(1 - own, abs=0.03)
