"""Workloads simulated: no sooner than the longest chain allows, exactly then where nothing is in the way, and nothing lost."""

from __future__ import annotations

import csv

import networkx
import numpy as np
import pytest
from click.testing import CliRunner
from torusweep.cli.simulate import simulate
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.stages.simulation import Parameters, simulation_records
from torusweep.stages.simulation.placement import placed, terminals_of
from torusweep.tables.records import SIMULATION
from torusweep.workloads import workload

PIPELINE = 3  # cycles of the default router: route, virtual channel, switch


def simulated(spelling: str, seeds=(1,), **asked):
    how = {name: asked.pop(name) for name in ("backend", "completions") if name in asked}
    (row,) = simulation_records(build(spelling), Parameters(**asked), seeds=seeds, **how)
    return row


def latency(hops: int, flits: int) -> int:
    """Of a lone packet (docs/simulation.md)."""
    return (hops + 1) * PIPELINE + hops + flits - 1


def longest_chain(spelling: str, asked: str) -> int:
    """Cycles until the last message is there if none is ever in another's way; by plain relaxation over distances of networkx."""
    topology, one = build(spelling), workload(asked, build(spelling).nodes)[1]
    network = networkx.DiGraph(
        [(node, int(there)) for node in range(topology.nodes) for there in topology.ports[node] if there >= 0]
    )
    away = dict(networkx.all_pairs_shortest_path_length(network))
    done = [0] * len(one.source)
    waits: list[list[int]] = [[] for _ in done]
    for g, h in one.waits.tolist():
        waits[g].append(h)
    for g, (source, destination) in enumerate(zip(one.source.tolist(), one.destination.tolist())):
        start = max((done[h] for h in waits[g]), default=0) + int(one.delay[g])
        done[g] = start + (latency(away[source][destination], int(one.flits[g])) if source != destination else 0)
    return max(done)


def flit_hops(spelling: str, asked: str) -> int:
    topology, one = build(spelling), workload(asked, build(spelling).nodes)[1]
    network = networkx.DiGraph(
        [(node, int(there)) for node in range(topology.nodes) for there in topology.ports[node] if there >= 0]
    )
    away = dict(networkx.all_pairs_shortest_path_length(network))
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


@pytest.mark.parametrize("asked", SMALL)
def test_nothing_is_lost_and_nothing_is_early(asked):
    spelling = "torus(k=4, n=2)"
    row = simulated(spelling, workload=asked, packet_flits=16, buffer_flits=16)
    assert list(row) == [column.name for column in SIMULATION]
    assert row["delivery_time"] >= longest_chain(spelling, asked)
    one = workload(asked, 16)[1]
    apart = one.source != one.destination
    assert row["messages"] == apart.sum()
    assert row["packets"] == (-(-one.flits[apart] // 16)).sum()
    # dimension order is minimal: every flit over as many channels as its ends are apart
    end = row["delivery_time"] + 1
    assert row["mean_channel_utilization"] * 64 * end == pytest.approx(flit_hops(spelling, asked))
    assert row["accepted_load"] * 16 * end == pytest.approx(one.flits[apart].sum())
    assert (row["traffic"], row["injection"], row["offered_load"], row["saturated"], row["cycles"]) == (
        None,
        None,
        None,
        None,
        None,
    )
    assert row["placement"] == "consecutive"


@pytest.mark.parametrize(("nodes", "flits"), [(4, 32), (8, 64), (5, 50)])
def test_a_ring_all_reduce_on_its_ring_takes_its_longest_chain(nodes, flits):
    """Every step uses every channel of one direction for one packet, and the next begins when all of it is there."""
    row = simulated(f"ring(k={nodes})", workload=f"ring_all_reduce(flits={flits})")
    share = -(-flits // nodes)
    assert (
        row["delivery_time"]
        == 2 * (nodes - 1) * latency(1, share)
        == longest_chain(f"ring(k={nodes})", f"ring_all_reduce(flits={flits})")
    )
    assert row["message_latency"] == row["p99_message_latency"] == latency(1, share)
    # bandwidth alone: every channel of that direction carries 2 (N − 1) shares
    assert row["delivery_time"] >= 2 * (nodes - 1) * share


def test_a_file_with_computation(tmp_path):
    """0 → 3 (three hops, 5 flits), 20 cycles of computation, 3 → 1 and 3 → 2 one behind the other; on a line, by hand."""
    path, out = tmp_path / "w.csv", tmp_path / "done.csv"
    path.write_text(
        "message,source,destination,flits,depends_on,delay\nthink,3,3,0,go,20\ngo,0,3,5,,\none,3,1,5,think,\ntwo,3,2,5,one,\n"
    )
    said = CliRunner().invoke(
        simulate, ["mesh(k=4, n=1)", "--workload", str(path), "--completions", str(out)], catch_exceptions=False
    )
    assert said.exit_code == 0
    assert "delivered after" in said.stdout
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
    assert f"{one + latency(1, 5):,} cycles" in said.stdout


def test_completions_that_cannot_be_written_are_refused_first(tmp_path):
    said = CliRunner().invoke(
        simulate, ["ring(k=4)", "--workload", "nowhere.csv", "--completions", str(tmp_path / "no" / "done.csv")]
    )
    assert said.exit_code == 2
    assert "No such file or directory" in said.stderr
    assert "done.csv" in said.stderr
    with pytest.raises(BadInput, match="--completions: expected with --workload only"):
        CliRunner().invoke(
            simulate,
            ["ring(k=4)", "--load", "0.1", "--completions", str(tmp_path / "done.csv")],
            catch_exceptions=False,
        )


def test_a_workload_within_its_nodes_sends_nothing(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits,delay\na,0,0,5,30\nb,1,1,0,7\n")
    for backend in ("numpy", "numba"):
        row = simulated("ring(k=4)", workload=str(path), backend=backend)
        assert (
            row["delivery_time"],
            row["messages"],
            row["packets"],
            row["message_latency"],
            row["accepted_load"],
        ) == (30, 0, 0, None, 0)


def test_a_long_message_is_cut_into_packets(tmp_path):
    """40 flits in packets of 16: 16, 16, 8, of which two share the injection port; delivered with the last flit of the three."""
    path = tmp_path / "w.csv"
    path.write_text("message,source,destination,flits\na,0,1,40\n")
    row = simulated("ring(k=4)", workload=str(path))
    assert row["packets"] == 3
    assert latency(1, 40) <= row["delivery_time"] <= latency(1, 40) + 2 * PIPELINE
    packets = placed(workload(str(path), 4)[1], build("ring(k=4)"), "consecutive", 16, 0)
    assert packets.length.tolist() == [16, 16, 8]
    assert simulated("ring(k=4)", workload=str(path), cycles=20)["delivery_time"] is None


def test_random_placement_is_drawn_for_each_seed():
    places = [terminals_of(16, 64, "random", seed) for seed in range(300)]
    assert all(len(set(place.tolist())) == 16 for place in places)
    counts = np.bincount(np.concatenate(places), minlength=64)
    assert (
        (counts - 75) ** 2 / 75
    ).sum() < 130  # χ² of 63 degrees of freedom (less, since none occurs twice): beyond 103 once in 1000
    asked = {"workload": "all_to_all(tasks=8)", "placement": "random"}
    rows = [simulated("torus(k=4, n=2)", seeds=(seed,), **asked) for seed in (1, 2, 3)]
    assert len({row["delivery_time"] for row in rows}) > 1
    together = simulated("torus(k=4, n=2)", seeds=(1, 2, 3), **asked)
    assert together["delivery_time"] == pytest.approx(np.mean([row["delivery_time"] for row in rows]))
    consecutive = asked | {"placement": "consecutive"}
    assert (
        simulated("torus(k=4, n=2)", seeds=(1,), **consecutive)["delivery_time"]
        == simulated("torus(k=4, n=2)", **consecutive)["delivery_time"]
    )


def test_terminals_of_one_node_do_not_use_the_network(tmp_path):
    network, path = tmp_path / "g.anynet", tmp_path / "w.csv"
    network.write_text("router 0 node 0 node 1 router 1\nrouter 1 node 2\n")
    path.write_text("message,source,destination,flits,depends_on\na,0,1,50,\nb,1,2,4,a\n")
    row = simulated(f'graph(path="{network}")', workload=str(path))
    assert (row["packets"], row["delivery_time"]) == (1, latency(1, 4))


@pytest.mark.parametrize("asked", [{}, {"router": "bluegene", "placement": "random"}])
def test_backends_agree(asked):
    rows = [
        simulated("rtt(a=4)", seeds=(4, 5), workload="cg(order=64)", backend=backend, **asked)
        for backend in ("numpy", "numba")
    ]
    assert rows[0] == rows[1]


def test_a_deadlock_is_one_with_messages_too(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(
        "message,source,destination,flits,depends_on\n"
        + "".join(f"a{i},{i},{(i + 2) % 5},64,\nb{i},{i},{i},0,a{i}\n" for i in range(5))
    )
    asked = {"workload": str(path), "packet_flits": 64, "virtual_channels": 1}
    row = simulated("ring(k=5)", vc_rule="none", allow_deadlock=True, **asked)
    assert (row["deadlocked"], row["delivery_time"]) == (True, None)
    assert len(row["waiting"]) == 5
    row = simulated("ring(k=5)", vc_rule="dateline", **(asked | {"virtual_channels": 2}))
    assert (row["deadlocked"], row["delivery_time"] is None) == (False, False)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"workload": "cg", "traffic": "tornado"}, "traffic=tornado: expected without a workload"),
        ({"workload": "cg", "injection": "poisson"}, "injection=poisson: expected without a workload"),
        ({"workload": "cg", "source_queue": 4}, "source_queue=4: expected without a workload"),
        ({"workload": "cg", "warm_up": 4}, "warm_up=4: expected without a workload"),
        ({"placement": "random"}, "placement=random: expected with a workload only"),
        ({"workload": "cg", "placement": "best"}, "placement=best: expected one of consecutive, random"),
        ({"workload": "cg(tasks=32)"}, "tasks=32: expected 2 … 16"),
        ({"source_queue": -1}, "source_queue=-1: expected 0"),
    ],
)
def test_refused(asked, says):
    with pytest.raises(BadInput) as refusal:
        simulation_records(build("torus(k=4, n=2)"), Parameters(**asked), loads=() if "workload" in asked else (0.1,))
    assert says in str(refusal.value)


def test_neither_loads_nor_packets_each_beside_a_workload():
    for more in ({"loads": (0.1,)}, {"precision": 0.1}, {"packets_each": 3}):
        with pytest.raises(BadInput, match="leave them out"):
            simulation_records(build("ring(k=4)"), Parameters(workload="all_to_all"), **more)


def test_a_bounded_source_queue_bounds_latency_and_refuses_the_rest():
    asked = {"cycles": 4000, "warm_up": 1000}

    def row(**more):
        (found,) = simulation_records(build("torus(k=4, n=2)"), Parameters(**asked, **more), loads=(1.5,), seeds=(1,))
        return found

    bounded, free = row(source_queue=4), row()
    assert (free["refused_packets"], free["source_queue"]) == (0, None)
    assert bounded["generated_load"] == free["generated_load"]  # offered: what is refused counts
    assert bounded["saturated"]
    assert bounded["accepted_load"] == pytest.approx(free["accepted_load"], rel=0.05)
    assert bounded["total_latency"] < 0.5 * free["total_latency"]
    # generated = accepted + refused, but for what the queues and buffers hold
    missing = (bounded["generated_load"] - bounded["accepted_load"]) * 16 * 3000 / 16 - bounded["refused_packets"]
    assert abs(missing) <= 16 * (4 + 2) + 16 * 4 * 2
