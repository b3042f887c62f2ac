"""Simulated workloads: nothing is lost; delivery takes the critical path, or longer with contention."""

from __future__ import annotations

import csv

import networkx
import numpy as np
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.cli.questions import command_of
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.how import How
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.packets import terminals_of, workload_packets
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.questions.simulation.stage import QUESTION
from torusweep.workloads import workload

simulate = command_of(QUESTION)
PIPELINE = 3  # cycles of the default router: route, virtual channel, switch


def simulate_workload(spelling: str, seeds=(1,), **inputs):
    options = {name: inputs.pop(name) for name in ("how", "completions") if name in inputs}
    (row,) = simulation_records(build(spelling), Parameters(**inputs), seeds=seeds, **options)
    return row


def distances(topology) -> dict[int, dict[int, int]]:
    links = [(node, int(there)) for node in range(topology.nodes) for there in topology.ports[node] if there >= 0]
    return dict(networkx.all_pairs_shortest_path_length(networkx.DiGraph(links)))


def latency(hops: int, flits: int) -> int:
    """The latency of a packet in an empty network (docs/simulation.md)."""
    return (hops + 1) * PIPELINE + hops + flits - 1


def critical_path(spelling: str, name: str) -> int:
    """Cycles until the last message arrives without contention, from the distances of networkx."""
    topology, one = build(spelling), workload(name, build(spelling).nodes)[1]
    away = distances(topology)
    done = [0] * len(one.source)
    waits: list[list[int]] = [[] for _ in done]
    for g, h in one.waits.tolist():
        waits[g].append(h)
    for g, (source, destination) in enumerate(zip(one.source.tolist(), one.destination.tolist())):
        start = max((done[h] for h in waits[g]), default=0) + int(one.delay[g])
        done[g] = start + (latency(away[source][destination], int(one.flits[g])) if source != destination else 0)
    return max(done)


def flit_hops(spelling: str, name: str) -> int:
    topology, one = build(spelling), workload(name, build(spelling).nodes)[1]
    away = distances(topology)
    return sum(int(f) * away[int(s)][int(d)] for s, d, f in zip(one.source, one.destination, one.flits))


SMALL = [
    "cg(order=128)",
    "is(keys=4096, buckets=16)",
    "ft(nx=8, ny=8, nz=16)",
    "lu(side=6)",
    "mg(side=8)",
    "ring_all_reduce(flits=128)",
    "all_to_all(flits=8)",
]


@pytest.mark.parametrize("name", SMALL)
def test_nothing_is_lost_and_nothing_is_early(name):
    spelling = "torus(k=4, n=2)"
    row = simulate_workload(spelling, workload=name, packet_flits=16, buffer_flits=16)
    assert list(row) == [column.name for column in SIMULATION]
    assert row["delivery_time"] >= critical_path(spelling, name)
    one = workload(name, 16)[1]
    apart = one.source != one.destination
    assert row["messages"] == apart.sum()
    assert row["packets"] == (-(-one.flits[apart] // 16)).sum()
    # dimension order is minimal: every flit crosses as many channels as the distance of its ends
    end = row["delivery_time"] + 1
    assert row["mean_channel_utilization"] * 64 * end == pytest.approx(flit_hops(spelling, name))
    assert row["accepted_load"] * 16 * end == pytest.approx(one.flits[apart].sum())
    assert {row[column] for column in ("traffic", "injection", "offered_load", "saturated", "cycles")} == {None}
    assert row["placement"] == "consecutive"


@pytest.mark.parametrize(("nodes", "flits"), [(4, 32), (8, 64), (5, 50)])
def test_a_ring_all_reduce_on_its_ring_takes_its_critical_path(nodes, flits):
    """In every step, each channel of one direction carries one packet; the next step begins after its arrival."""
    row = simulate_workload(f"ring(k={nodes})", workload=f"ring_all_reduce(flits={flits})")
    share = -(-flits // nodes)
    assert (
        row["delivery_time"]
        == 2 * (nodes - 1) * latency(1, share)
        == critical_path(f"ring(k={nodes})", f"ring_all_reduce(flits={flits})")
    )
    assert row["message_latency"] == row["p99_message_latency"] == latency(1, share)
    # bandwidth alone: every channel of that direction carries 2 (N − 1) shares
    assert row["delivery_time"] >= 2 * (nodes - 1) * share


def test_a_file_with_computation(tmp_path):
    """On a line, by hand: 0 → 3 (three hops, 5 flits), 20 cycles of computation, then 3 → 1, then 3 → 2."""
    path, out = tmp_path / "w.csv", tmp_path / "done.csv"
    path.write_text(
        "message,source,destination,flits,depends_on,delay\n"
        "think,3,3,0,go,20\ngo,0,3,5,,\none,3,1,5,think,\ntwo,3,2,5,one,\n"
    )
    result = CliRunner().invoke(
        simulate, ["mesh(k=4, n=1)", "--workload", str(path), "--completions", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "delivered after" in result.stdout
    go = latency(3, 5)
    one = go + 20 + latency(2, 5)
    with out.open() as lines:
        rows = list(csv.reader(lines))
    assert rows == [
        ["seed", "message", "source", "destination", "flits", "sent", "delivered"],
        ["0", "go", "0", "3", "5", "0", str(go)],
        ["0", "think", "3", "3", "0", str(go + 20), str(go + 20)],
        ["0", "one", "3", "1", "5", str(go + 20), str(one)],
        ["0", "two", "3", "2", "5", str(one), str(one + latency(1, 5))],
    ]
    assert f"{one + latency(1, 5):,} cycles" in result.stdout


def test_completions_in_python():
    torus = ts.network("ring(k=4)")
    done = torus.simulate(workload="ring_all_reduce(flits=8)", seeds=(1, 2), cycles=20).completions
    assert done.column_names == ["seed", "message", "source", "destination", "flits", "sent", "delivered"]
    real = np.asarray(done["source"]) != np.asarray(done["destination"])
    assert real.sum() == 2 * 4 * 6  # seeds, nodes, steps
    assert 0 < done["delivered"].null_count < done.num_rows  # 20 cycles do not suffice
    assert done["sent"].null_count <= done["delivered"].null_count
    with pytest.raises(BadInput, match="completions: expected a simulation of a workload"):
        _ = torus.simulate(0.1, cycles=100).completions


def test_the_file_of_completions_is_checked_first(tmp_path):
    result = CliRunner().invoke(
        simulate, ["ring(k=4)", "--workload", "nowhere.csv", "--completions", str(tmp_path / "no" / "done.csv")]
    )
    assert "done.csv: expected a file that can be written, got no folder" in str(result.exception)
    with pytest.raises(BadInput, match="--completions: expected with --workload only"):
        CliRunner().invoke(
            simulate,
            ["ring(k=4)", "--load", "0.1", "--completions", str(tmp_path / "done.csv")],
            catch_exceptions=False,
        )


def test_a_workload_within_nodes_sends_no_packets(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits,delay\na,0,0,5,30\nb,1,1,0,7\n")
    for backend in ("numpy", "numba"):
        row = simulate_workload("ring(k=4)", workload=str(path), how=How(backend))
        assert (
            row["delivery_time"],
            row["messages"],
            row["packets"],
            row["message_latency"],
            row["accepted_load"],
        ) == (30, 0, 0, None, 0)


def test_a_long_message_becomes_several_packets(tmp_path):
    """40 flits in packets of 16: 16, 16, 8. The message is delivered with the last flit."""
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits\na,0,1,40\n")
    row = simulate_workload("ring(k=4)", workload=str(path))
    assert row["packets"] == 3
    assert latency(1, 40) <= row["delivery_time"] <= latency(1, 40) + 2 * PIPELINE
    packets = workload_packets(workload(str(path), 4)[1], build("ring(k=4)"), "consecutive", 16, 0)
    assert packets.length.tolist() == [16, 16, 8]
    assert simulate_workload("ring(k=4)", workload=str(path), cycles=20)["delivery_time"] is None


def test_random_placement_is_drawn_for_each_seed():
    places = [terminals_of(16, 64, "random", seed) for seed in range(300)]
    assert all(len(set(place.tolist())) == 16 for place in places)
    counts = np.bincount(np.concatenate(places), minlength=64)
    # χ² of 63 degrees of freedom exceeds 103 once in 1000 (less often here, since no terminal occurs twice)
    assert ((counts - 75) ** 2 / 75).sum() < 130
    inputs = {"workload": "all_to_all(tasks=8)", "placement": "random"}
    rows = [simulate_workload("torus(k=4, n=2)", seeds=(seed,), **inputs) for seed in (1, 2, 3)]
    assert len({row["delivery_time"] for row in rows}) > 1
    together = simulate_workload("torus(k=4, n=2)", seeds=(1, 2, 3), **inputs)
    assert together["delivery_time"] == pytest.approx(np.mean([row["delivery_time"] for row in rows]))
    consecutive = inputs | {"placement": "consecutive"}
    assert (
        simulate_workload("torus(k=4, n=2)", seeds=(1,), **consecutive)["delivery_time"]
        == simulate_workload("torus(k=4, n=2)", **consecutive)["delivery_time"]
    )


def test_terminals_of_one_node_do_not_use_the_network(tmp_path):
    network, path = tmp_path / "g.anynet", tmp_path / "w.csv"
    network.write_text("router 0 node 0 node 1 router 1\nrouter 1 node 2\n")
    path.write_text("message,source,destination,flits,depends_on\na,0,1,50,\nb,1,2,4,a\n")
    row = simulate_workload(f'graph(path="{network}")', workload=str(path))
    assert (row["packets"], row["delivery_time"]) == (1, latency(1, 4))


@pytest.mark.parametrize("inputs", [{}, {"router": "bluegene", "placement": "random"}])
def test_backends_agree(inputs):
    rows = [
        simulate_workload("rtt(a=4)", seeds=(4, 5), workload="cg(order=64)", how=How(backend), **inputs)
        for backend in ("numpy", "numba")
    ]
    assert rows[0] == rows[1]


def test_messages_can_deadlock(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(
        "message,source,destination,flits,depends_on\n"
        + "".join(f"a{i},{i},{(i + 2) % 5},64,\nb{i},{i},{i},0,a{i}\n" for i in range(5))
    )
    inputs = {"workload": str(path), "packet_flits": 64, "virtual_channels": 1}
    row = simulate_workload("ring(k=5)", vc_rule="none", allow_deadlock=True, **inputs)
    assert (row["deadlocked"], row["delivery_time"]) == (True, None)
    assert len(row["waiting"]) == 5
    row = simulate_workload("ring(k=5)", vc_rule="dateline", **(inputs | {"virtual_channels": 2}))
    assert (row["deadlocked"], row["delivery_time"] is None) == (False, False)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"workload": "cg", "traffic": "tornado"}, "traffic=tornado: expected without a workload"),
        ({"workload": "cg", "injection": "poisson"}, "injection=poisson: expected without a workload"),
        ({"workload": "cg", "source_queue": 4}, "source_queue=4: expected without a workload"),
        ({"workload": "cg", "warm_up": 4}, "warm_up=4: expected without a workload"),
        ({"placement": "random"}, "placement=random: expected with a workload only"),
        ({"workload": "cg", "placement": "best"}, "placement='best': expected one of consecutive, random"),
        ({"workload": "cg(tasks=32)"}, "tasks=32: expected 2 … 16"),
        ({"source_queue": -1}, "source_queue=-1: expected 0"),
    ],
)
def test_refusals(inputs, message):
    with pytest.raises(BadInput) as refusal:
        simulation_records(build("torus(k=4, n=2)"), Parameters(**inputs), loads=() if "workload" in inputs else (0.1,))
    assert message in str(refusal.value)


def test_neither_loads_nor_packets_each_beside_a_workload():
    for more in ({"loads": (0.1,)}, {"precision": 0.1}, {"packets_each": 3}):
        with pytest.raises(BadInput, match="leave them out"):
            simulation_records(build("ring(k=4)"), Parameters(workload="all_to_all"), **more)


def test_a_bounded_source_queue_bounds_latency_and_refuses_the_rest():
    inputs = {"cycles": 4000, "warm_up": 1000}

    def row(**more):
        (found,) = simulation_records(build("torus(k=4, n=2)"), Parameters(**inputs, **more), loads=(1.5,), seeds=(1,))
        return found

    bounded, free = row(source_queue=4), row()
    assert (free["refused_packets"], free["source_queue"]) == (0, None)
    assert bounded["generated_load"] == free["generated_load"]  # it includes refused packets
    assert bounded["saturated"]
    assert bounded["accepted_load"] == pytest.approx(free["accepted_load"], rel=0.05)
    assert bounded["total_latency"] < 0.5 * free["total_latency"]
    # generated = accepted + refused + the contents of queues and buffers
    missing = (bounded["generated_load"] - bounded["accepted_load"]) * 16 * 3000 / 16 - bounded["refused_packets"]
    assert abs(missing) <= 16 * (4 + 2) + 16 * 4 * 2
