"""Bytes, flits, cycles and seconds have one meaning in every question: tables by hand, and what must not change."""

from __future__ import annotations

from fractions import Fraction as F
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torusweep as ts
from torusweep.collectives.cost import cost_of
from torusweep.collectives.schedule import Transfers, schedule
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.physical import LinkSpeed, clock_of, host_rates, unit_of, waiting_of

from tests.networks.one_network import (
    BYTES,
    FILES,
    GB,
    all_to_all,
    direct_all_reduce,
    ns3,
    ring_all_reduce,
    transfer,
    write,
)

RING = 'with_links(torus(radices=[8]), bandwidths=["100 Gb/s"], latencies=["50 ns"])'
MESH = 'with_links(mesh(radices=[4, 2]), bandwidths=["100 Gb/s", "200 Gb/s"], latencies=["20 ns", "40 ns"])'
ROUND = [0, 1, 2, 3, 7, 6, 5, 4]  # a ring on the mesh: 6 steps along x, 2 along y
RING_REDUCE = ("one_way_ring", "direct")
DIRECT = ("direct", "direct")


def network(name: str, folder: Path) -> ts.Network:
    if name == "star":
        graph = nx.Graph()
        graph.add_edges_from((leaf, 8) for leaf in range(8))
        nx.set_edge_attributes(graph, "50 GB/s", "bandwidth")
        nx.set_edge_attributes(graph, "10 ns", "latency")
        return ts.network(graph, terminals=list(range(8)))
    if name not in FILES:
        return ts.network(name)
    (folder / name).write_text(FILES[name])
    more = ", directed=true" if name == "one_way.csv" else ""
    return ts.network(f'graph(path="{folder / name}"{more})')


def microseconds(size: float, gigabits: float, nanoseconds: float) -> float:
    return 1e6 * size / (gigabits * GB) + nanoseconds / 1e3


# name: (ends of the transfer, its Gb/s, ns; ring or direct all-reduce: bytes through the busiest link over its Gb/s, ns
# of all steps; all-to-all likewise, its busiest link and longest path; most that a simulation takes over these)
S, EIGHTH, QUARTER = BYTES, BYTES / 8, BYTES / 4
TABLE = {
    # all-to-all: shares to 1, 2, 3 hops and half of those to 4 each way: 1 + 2 + 3 + 4/2 over each link
    RING: ((0, 1, 100, 50), (14 * EIGHTH, 100, 14 * 50), (8 * EIGHTH, 100, 4 * 50), RING_REDUCE),
    # all-to-all: over the middle of x go 4 · 4 shares over two links; longest path 3 of x and 1 of y
    MESH: ((0, 1, 100, 20), (14 * EIGHTH, 100, 14 * 40), (8 * EIGHTH, 100, 3 * 20 + 40), RING_REDUCE),
    "star": ((0, 7, 400, 20), (14 * EIGHTH, 400, 2 * 20), (7 * EIGHTH, 400, 20), DIRECT),
    "two.txt": ((0, 1, 100, 2000), (S, 100, 2 * 2000), (S / 2, 100, 2000), DIRECT),
    # each leaf has as much upwards as its four hosts have
    "leaves.txt": ((0, 7, 100, 400), (14 * EIGHTH, 100, 2 * 400), (7 * EIGHTH, 100, 400), DIRECT),
    # each link carries the shares to 1, 2 and 3 hops: 1 + 2 + 3
    "one_way.csv": ((0, 1, 100, 100), (6 * QUARTER, 100, 6 * 100), (6 * QUARTER, 100, 3 * 100), RING_REDUCE),
    "delays.txt": ((0, 3, 100, 100 + 800), (6 * QUARTER, 100, 2 * 1200), (3 * QUARTER, 100, 1200), DIRECT),
    "mix.txt": ((0, 1, 400, 200), (6 * QUARTER, 50, 2 * 200), (3 * QUARTER, 50, 200), DIRECT),
}
PAGE = Path(__file__).parents[2] / "docs" / "collectives.md"
WORDS = dict(
    zip(
        TABLE,
        (
            "ring of 8, 100 Gb/s, 50 ns",
            "mesh of 4 × 2, x 100 Gb/s and 20 ns, y 200 Gb/s and 40 ns",
            "star of 8, 50 GB/s, 10 ns",
            "ns-3: 2 hosts, 100 Gb/s, 1 µs",
            "ns-3: 8 hosts, 2 leaves, 2 spines, 100 and 200 Gb/s, 100 ns",
            "one-way ring of 4, 100 Gb/s, 100 ns",
            "ns-3: 4 hosts, 100 Gb/s, 100 … 800 ns",
            "ns-3: 4 hosts of 400, 400, 50 and 50 Gb/s, 100 ns",
        ),
    )
)
FRAMING, CONTENTION = 0.05, 0.45  # most that the simulator adds to a transfer, and to many messages at once


def seconds_of_one(net: ts.Network, source: int, destination: int, size: int) -> float:
    """A single message as an algorithm's only transfer, as `collective` times it."""
    topology = net.topology
    sent = Transfers()
    sent.add(0, source, np.array([destination]), 0)
    ends = np.array([source]), np.array([destination])
    one = schedule("broadcast", topology.terminals, (1, np.ones(1, np.int64)), ends, sent)
    speed = LinkSpeed(unit_of(topology.plan), *waiting_of(topology.plan))
    return cost_of(topology, one).seconds(size, speed)


@pytest.mark.parametrize("name", TABLE)
def test_one_network_has_one_time(name, tmp_path):
    """By hand, by the loads of channels, by `collective`, by `simulate`, and by `place` where it takes the network."""
    (source, end, *link), reduce, exchange, algorithms = TABLE[name]
    net = network(name, tmp_path)
    ranks = len(net.topology.terminals)
    ring = ROUND if name == MESH else list(range(ranks))
    reduced = ring_all_reduce(ring) if algorithms is RING_REDUCE else direct_all_reduce(ranks)
    cases = {
        "transfer": (microseconds(BYTES, *link), transfer(source, end)),
        "all_reduce": (microseconds(*reduce), reduced),
        "all_to_all": (microseconds(*exchange), all_to_all(ranks, pieces=16 if name in (RING, MESH) else 1)),
    }
    asked = {"virtual_channels": 4} if name in (RING, MESH, "one_way.csv") else {}
    cells = []
    for operation, (hand, messages) in cases.items():
        row = net.simulate(workload=write(tmp_path / f"{operation}.csv", messages), **asked).rows[0]
        simulated = row["delivery_time"] * row["cycle_ns"] / 1e3
        if operation == "transfer":
            computed = 1e6 * seconds_of_one(net, source, end, BYTES)
        else:
            algorithm = algorithms[operation == "all_to_all"]
            computed = 1e6 * net.collective(operation, [algorithm], bytes=[BYTES]).rows[1]["times"][0]["seconds"]
        assert computed == pytest.approx(hand, rel=1e-9), operation
        most = FRAMING if operation == "transfer" else CONTENTION
        assert hand * 0.97 <= simulated <= hand * (1 + most), operation
        cells.append(f"{hand:.4g} / {simulated:.4g}")
    assert f"| {WORDS[name]} | {' | '.join(cells)} |" in PAGE.read_text()


@pytest.mark.parametrize("name", TABLE)
def test_loads_agree_without_latencies(name, tmp_path):
    """The load of the busiest channel is the cycles that a byte of the traffic takes there."""
    (source, end, gigabits, _), _, (through, of, _), _ = TABLE[name]
    net = network(name, tmp_path)
    ranks, unit = len(net.topology.terminals), unit_of(net.topology.plan)
    one = np.zeros((ranks, ranks))
    one[source, end] = BYTES
    everyone = BYTES / ranks * (1 - np.eye(ranks))
    for matrix, seconds in ((one, BYTES / gigabits / GB), (everyone, through / of / GB)):
        busiest = net.loads("minimal", matrix).record["max_channel_load"]  # at a flit a cycle of the mean terminal
        assert busiest * matrix.sum() / ranks / unit == pytest.approx(seconds, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "operation", "micro"),
    [
        (RING, "permute", microseconds(BYTES, 100, 50)),
        (RING, "all_reduce", microseconds(14 * EIGHTH / 2, 100, 14 * 50)),  # half each way round
        (RING, "all_to_all", microseconds(8 * EIGHTH, 100, 4 * 50)),
        (MESH, "all_reduce", microseconds(14 * EIGHTH / 2, 100, 14 * 40)),  # the slowest step of each, along y
    ],
)
def test_place_agrees(name, operation, micro):
    net, job = ts.network(name), {"operations": [{"axis": "a", "operation": operation, "bytes": BYTES}]}
    assert net.place({"axes": {"a": 8}, **job}, top=1).seconds == pytest.approx(micro / 1e6, rel=1e-9)
    if operation != "permute":
        algorithm = "ring" if operation == "all_reduce" else "direct"
        times = net.collective(operation, [algorithm], bytes=[BYTES]).rows[1]["times"]
        assert times[0]["seconds"] == pytest.approx(micro / 1e6, rel=1e-9)


@pytest.mark.parametrize(
    ("bandwidths", "latencies", "change"),
    [
        ('["200 Gb/s"]', '["25 ns"]', 0.5),  # twice as fast in all
        ('["100e9 b/s"]', '["0.05 us"]', 1.0),  # the same in other units
        ('["12.5 GB/s"]', '["50 ns"]', 1.0),
    ],
)
def test_units_scale(bandwidths, latencies, change, tmp_path):
    """Twice the bandwidth and half the latency halves all times; the same numbers in other units change none."""

    def times(net: ts.Network) -> list[float]:
        row = net.simulate(workload=write(tmp_path / "w.csv", direct_all_reduce(8)), virtual_channels=4).rows[0]
        job = {"axes": {"a": 8}, "operations": [{"axis": "a", "operation": "all_gather", "bytes": BYTES}]}
        return [
            row["delivery_time"] * row["cycle_ns"] * 1e-9,
            net.collective("all_reduce", ["ring"], bytes=[BYTES]).rows[1]["times"][0]["seconds"],
            net.place(job, top=1).seconds,
        ]

    other = f"with_links(torus(radices=[8]), bandwidths={bandwidths}, latencies={latencies})"
    assert times(ts.network(other)) == pytest.approx([change * time for time in times(ts.network(RING))], rel=1e-12)


@pytest.mark.parametrize(
    ("spelling", "flit_bytes", "cycle", "longest"),
    [
        ("torus(k=4, n=2)", None, None, 1),  # nothing is said: nothing changes
        ('with_links(torus(k=4, n=2), latencies=["5 ns"])', None, F(5, 10**9), 1),  # a cycle is a tick
        ('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"])', None, F(32, 10**11), 1),
        ('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"], latencies=[3])', None, F(32, 10**11), 3),
        ('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"], latencies=["1 us"])', None, F(32, 10**11), 3125),
        ('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"], latencies=["1 us"])', 100, F(8, 10**9), 125),
        # 31,250 cycles are too many: flits of 16 bytes
        ('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"], latencies=["10 us"])', None, F(128, 10**11), 7813),
    ],
)
def test_the_clock_of_a_simulation(spelling, flit_bytes, cycle, longest):
    row = ts.network(spelling).simulate(packets_each=1, flit_bytes=flit_bytes).rows[0]
    clock = clock_of(build(spelling).plan, flit_bytes, 10_000, 3 if "[3]" in spelling else 1)
    assert clock.cycle == cycle
    assert row["cycle_ns"] == (None if cycle is None else pytest.approx(float(cycle * 10**9)))
    over = clock.over_links(build(spelling))
    assert (1 if over is None else over.max()) == longest


def test_what_cannot_be_is_refused_in_one_line():
    network = ts.network('with_links(torus(k=4, n=2), bandwidths=["100 Gb/s"], latencies=["10 us"])')
    with pytest.raises(BadInput, match=r"at most 10,000 cycles, got 31,250; choose flit_bytes=13 or more"):
        network.simulate([0.1], flit_bytes=4)
    assert clock_of(network.topology.plan, 13).of_link(1) <= 10_000
    with pytest.raises(BadInput, match="time_unit: expected cycles on"):
        ts.network("torus(k=4, n=2)").simulate([0.1], time_unit="us")


def test_hosts_send_and_receive_at_the_rate_of_their_links(tmp_path):
    """As `mix.txt`; `loads` saturates there too, where a terminal of a forwarding node has a flit a cycle."""
    topology = network("mix.txt", tmp_path).topology
    sent, received = host_rates(topology) or ([], [])
    assert list(sent) == list(received) == [8, 8, 1, 1, 0]
    pair = np.zeros((4, 4))
    pair[0, 1] = 1
    record = ts.network(f'graph(path="{tmp_path / "mix.txt"}")').loads("minimal", pair).record
    assert record["terminal_saturation_load"] == record["saturation_load"] == 2  # of the mean terminal: 8 / 4
    assert (
        ts.network(f'graph(path="{tmp_path / "mix.txt"}")')
        .simulate(traffic=pair, saturation=True, precision=0.2, cycles=2000)
        .saturation
        > 1.7
    )
    assert host_rates(build("torus(k=4, n=2)")) is None


def test_each_link_has_its_latency(tmp_path):
    """A transfer takes those of its path; one that is longer by x takes x more, to the cycle."""
    text = ns3(3, 1, [(0, 3, 100, 10), (1, 3, 100, 320), (2, 3, 100, 640)])
    (tmp_path / "n.txt").write_text(text)
    net = ts.network(f'graph(path="{tmp_path / "n.txt"}")')
    cycles = [
        net.simulate(workload=write(tmp_path / "t.csv", transfer(0, end))).rows[0]["delivery_time"] for end in (1, 2)
    ]
    assert cycles[1] - cycles[0] == 320 / 0.32
    speed = [seconds_of_one(net, 0, end, 100) for end in (1, 2)]
    assert speed == pytest.approx([8e-9 + 330e-9, 8e-9 + 650e-9])
