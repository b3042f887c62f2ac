"""All-reduce: Hamiltonian rings link by link, phases executed on data, times by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import addresses
from torusweep.questions.loads.channels import collective
from torusweep.questions.loads.exact import exact_loads
from torusweep.traffic import Phase, traffic
from torusweep.traffic.matrix import permutation
from torusweep.traffic.rings import hamiltonian_ring

from tests.networks import plain_networks as plain

# --- Hamiltonian rings ---


def lattice(matrix):
    return lambda nodes: plain.lattice(matrix, nodes)


RINGS = [
    ("torus(k=4, n=2)", plain.torus(4, 4)),
    ("torus(radices=[3, 5])", plain.torus(3, 5)),
    ("torus(radices=[3, 5, 3])", plain.torus(3, 5, 3)),
    ("torus(radices=[2, 3, 2])", plain.torus(2, 3, 2)),
    ("pt(a=3)", plain.torus(6, 3, 3)),
    ("ring(k=7)", plain.torus(7)),
    ("hypercube(n=1)", plain.torus(2)),
    ("hypercube(n=5)", plain.torus(*[2] * 5)),
    ("mesh(k=2, n=1)", plain.torus(2, wrap=False)),
    ("mesh(radices=[3, 4])", plain.torus(3, 4, wrap=False)),
    ("mesh(radices=[4, 3])", plain.torus(4, 3, wrap=False)),
    ("mesh(radices=[5, 3, 2])", plain.torus(5, 3, 2, wrap=False)),
    ("mesh(radices=[4, 3, 5])", plain.torus(4, 3, 5, wrap=False)),
    ("torus(k=3, n=3, directed=true)", plain.torus(3, 3, 3, steps=(1,))),
    ("torus(radices=[6, 2, 12], directed=true)", plain.torus(6, 2, 12, steps=(1,))),
    ("rtt(a=3)", plain.rtt(3)),
    ("rtt(a=4)", plain.rtt(4)),
    ("illiac(k=5)", plain.twisted((5, 5), {0: {1: 1}})),
    ("ptt(a=3)", plain.ptt(3)),
    ("pdtt(a=2)", plain.pdtt(2)),
    (
        "twisted_torus(radices=[4, 3, 5], twists={0: {2: 1}, 2: {1: 4}})",
        plain.twisted((4, 3, 5), {0: {2: 1}, 2: {1: 4}}),
    ),
    ("lattice(matrix=[[3, 1], [0, 3]])", lattice([[3, 1], [0, 3]])),
    ("lattice(matrix=[[7, 2], [0, 1]])", lattice([[7, 2], [0, 1]])),  # steps in y stay on the ring of x
    ("lattice(matrix=[[1, 0], [0, 5]])", lattice([[1, 0], [0, 5]])),  # steps in x return to the same node
]


@pytest.mark.parametrize(("spelling", "arcs"), RINGS, ids=[spelling for spelling, _ in RINGS])
def test_a_hamiltonian_ring_follows_links_through_every_node_once(spelling, arcs):
    topology = build(spelling)
    ring = hamiltonian_ring(topology).tolist()
    address = [tuple(digits) for digits in addresses(topology.plan.radices).tolist()]
    links = arcs(address) if callable(arcs) else arcs
    assert sorted(ring) == list(range(topology.nodes))
    assert all((address[a], address[b]) in links for a, b in zip(ring, [*ring[1:], ring[0]]))


@pytest.mark.parametrize(
    ("pattern", "spelling", "message"),
    [
        ("ring_all_reduce", "mesh(k=3, n=2)", "a mesh of odd sides [3, 3] has no Hamiltonian ring"),
        ("ring_all_reduce", "mesh(k=4, n=1)", "a line of nodes has no Hamiltonian ring"),
        (
            "ring_all_reduce",
            "ccc(n=3)",
            "no construction of a Hamiltonian ring is known here for ccc; there is one for ring, torus",
        ),
        (
            "ring_all_reduce",
            "faulty(ring(k=8), links=1)",
            "no construction of a Hamiltonian ring is known here for faulty",
        ),
        (
            "ring_all_reduce",
            "torus(radices=[3, 4], directed=true)",
            "for a directed torus of sides [3, 4]; there is one where each divides the next",
        ),
        ("ring_all_reduce", "lattice(matrix=[[1]])", "nodes=1: expected two or more"),
        ("all_reduce_by_dimension", "lattice(matrix=[[1]])", "nodes=1: expected two or more"),
        (
            "all_reduce_by_dimension",
            "directed_torus(k=4, n=2)",
            "expected a network whose dimensions are rings of nodes (or lines), got directed_torus",
        ),
        (
            "all_reduce_by_dimension(both=true)",
            "ring(k=4)",
            "unknown parameter 'both'; all_reduce_by_dimension takes bidirectional",
        ),
    ],
)
def test_refusals_of_networks_without_a_ring(pattern, spelling, message):
    with pytest.raises(BadInput) as refusal:
        traffic(pattern, build(spelling))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


# --- phases executed on data: the reduction of chunk c of the message ends at node c ---


def execute(phases, last):
    """What each node sends in each phase, in messages, when the phases reduce and spread N chunks among N nodes.

    last(name, node, chunk): whether the node keeps that chunk after the phase of that name
    """
    n = len(phases[0].traffic.common)
    sums = [{chunk: {node} for chunk in range(n)} for node in range(n)]  # the nodes whose data a node's sums contain
    sent = []
    for phase in phases:
        following = phase.traffic.rows(np.arange(n)).argmax(axis=1)
        scatter = phase.name.startswith("reduce-scatter")
        spread = [dict(chunks) for chunks in sums]
        volumes = []
        for owner in range(n):
            ring = [owner]
            while following[ring[-1]] != owner:
                ring.append(int(following[ring[-1]]))
            if scatter:  # the owner's chunks start at the next node and travel round the ring to the owner
                block = {chunk for node in ring for chunk in sums[node] if last(phase.name, owner, chunk)}
                whole = {chunk: set() for chunk in block}
                for node in [*ring[1:], owner]:
                    for chunk in block & set(sums[node]):
                        assert not whole[chunk] & sums[node][chunk]  # no node is added twice
                        whole[chunk] |= sums[node][chunk]
                spread[owner] = whole
            else:  # the owner's chunks travel round the ring to the node before the owner
                block = {chunk for chunk in sums[owner] if last(phase.name, owner, chunk)}
                for node in ring:
                    spread[node] |= {chunk: sums[owner][chunk] for chunk in block}
            volumes.append(Fraction(len(block) * (len(ring) - 1), n))
            assert len(ring) - 1 == phase.steps
        sums = spread
        sent.append(volumes)
    assert all(chunks == {chunk: set(range(n)) for chunk in range(n)} for chunks in sums)
    return sent


@pytest.mark.parametrize(
    "spelling",
    [
        *(
            "torus(k=4, n=2)",
            "torus(radices=[3, 2, 4])",
            "hypercube(n=4)",
            "mesh(radices=[3, 5])",
            "ring(k=5)",
            "torus(k=3, n=2, directed=true)",
        ),
        *(
            "rtt(a=3)",
            "rtt(a=4)",
            "ptt(a=2)",
            "pdtt(a=2)",
            "lattice(matrix=[[7, 2], [0, 1]])",
            "lattice(matrix=[[3, 1], [0, 3]])",
        ),
        *("lattice(matrix=[[1, 0], [0, 5]])", "lattice(matrix=[[4, 1, 2], [0, 2, 1], [0, 0, 3]])"),
    ],
)
def test_phases_by_dimension_reduce_and_send_their_volume(spelling):
    topology = build(spelling)
    digits, names = addresses(topology.plan.radices).tolist(), topology.plan.classes

    def last(name, node, chunk):
        done = names.index(name.partition(" ")[2]) + 1
        return digits[node][:done] == digits[chunk][:done]

    phases = traffic("all_reduce_by_dimension", topology)[1].phases
    sent = execute(phases, last)
    for phase, volumes in zip(phases, sent):
        assert phase.volume == pytest.approx(float(volumes[0]), rel=1e-14)
        assert set(volumes) == {volumes[0]}
    # on a product of rings, no algorithm sends less
    least = 2 * Fraction(topology.nodes - 1, topology.nodes)
    total = sum(volumes[0] for volumes in sent)
    assert total == least if topology.family in ("torus", "hypercube", "mesh", "ring") else total >= least


@pytest.mark.parametrize("spelling", ["torus(k=3, n=2)", "mesh(radices=[3, 4])", "rtt(a=3)", "hypercube(n=1)"])
def test_phases_on_one_ring_reduce_and_send_their_volume(spelling):
    phases = traffic("ring_all_reduce", build(spelling))[1].phases
    sent = execute(phases, lambda name, node, chunk: node == chunk)
    assert [phase.name for phase in phases] == ["reduce-scatter", "all-gather"]
    assert [phase.volume for phase in phases] == [pytest.approx(float(volumes[0]), rel=1e-14) for volumes in sent]


@pytest.mark.parametrize(
    ("spelling", "dimensions"),
    [
        ("lattice(matrix=[[7, 2], [0, 1]])", "x"),
        ("illiac(k=4)", "x"),
        ("lattice(matrix=[[1, 0], [0, 5]])", "y"),
        ("hypercube(n=3)", "xyz"),
    ],
)
def test_a_dimension_with_nothing_to_reduce_has_no_phase(spelling, dimensions):
    names = [phase.name for phase in traffic("all_reduce_by_dimension", build(spelling))[1].phases]
    assert names == [f"reduce-scatter {d}" for d in dimensions] + [f"all-gather {d}" for d in reversed(dimensions)]


# --- matrices and times by hand ---


@pytest.mark.parametrize("pattern", ["ring_all_reduce", "all_reduce_by_dimension"])
def test_bidirectional_is_half_of_each_direction(pattern):
    topology = build("rtt(a=3)")
    one, both = (traffic(spelling, topology)[1] for spelling in (pattern, f"{pattern}(bidirectional=true)"))
    rows = np.arange(topology.nodes)
    for there, mixed in zip(
        [*(phase.traffic for phase in one.phases), one], [*(phase.traffic for phase in both.phases), both], strict=True
    ):
        np.testing.assert_allclose(mixed.rows(rows), (there.rows(rows) + there.rows(rows).T) / 2, rtol=1e-14)
    assert [phase[:3] for phase in one.phases] == [phase[:3] for phase in both.phases]


def test_the_matrix_is_the_mean_of_the_phases_by_volume():
    volumes = [Fraction(2, 3), Fraction(3, 12), Fraction(3, 12), Fraction(2, 3)]
    found = traffic("all_reduce_by_dimension", build("mesh(radices=[3, 4])"))[1]
    names = ["reduce-scatter x", "reduce-scatter y", "all-gather y", "all-gather x"]
    assert [phase[:3] for phase in found.phases] == [
        (name, pytest.approx(float(v)), steps) for name, v, steps in zip(names, volumes, (2, 3, 3, 2))
    ]
    expected = np.zeros((12, 12))
    for node in range(12):
        x, y = node % 3, node // 3
        expected[node, (x + 1) % 3 + 3 * y] = Fraction(4, 3) / sum(volumes)
        expected[node, x + 3 * ((y + 1) % 4)] = Fraction(1, 2) / sum(volumes)
    np.testing.assert_allclose(found.rows(np.arange(12)), expected, rtol=1e-14)


# network, pattern, the maximum channel load of each phase, time, bus bandwidth, and that limited by terminals
HALF = Fraction(1, 2)
TIMES = [
    ("torus(k=4, n=2)", "all_reduce_by_dimension", [1, 1, 1, 1], Fraction(15, 8), 1, 1),
    ("torus(k=4, n=2)", "all_reduce_by_dimension(bidirectional=true)", [HALF] * 4, Fraction(15, 16), 2, 1),
    ("torus(k=4, n=2)", "ring_all_reduce", [1, 1], Fraction(15, 8), 1, 1),
    ("torus(k=4, n=2)", "ring_all_reduce(bidirectional=true)", [HALF] * 2, Fraction(15, 16), 2, 1),
    ("mesh(k=4, n=2)", "all_reduce_by_dimension", [1, 1, 1, 1], Fraction(15, 8), 1, 1),  # the other direction returns
    ("mesh(k=4, n=2)", "all_reduce_by_dimension(bidirectional=true)", [1, 1, 1, 1], Fraction(15, 8), 1, 1),
    ("torus(radices=[2, 4])", "all_reduce_by_dimension(bidirectional=true)", [1, HALF, HALF, 1],
     Fraction(11, 8), Fraction(14, 11), 1),
    ("rtt(a=2)", "all_reduce_by_dimension", [1, 1, 1, 1],
     2 * (Fraction(3, 4) + Fraction(3, 8)), Fraction(7, 9), Fraction(7, 9)),
]  # fmt: skip


@pytest.mark.parametrize(("spelling", "pattern", "loads", "time", "bus", "terminal_bus"), TIMES)
def test_times_and_bandwidths_by_hand(spelling, pattern, loads, time, bus, terminal_bus):
    topology = build(spelling)
    found = collective(traffic(pattern, topology)[1].phases, [float(load) for load in loads])
    assert found.cycles_per_flit == pytest.approx(float(time), rel=1e-14)
    assert found.algorithm_bandwidth == pytest.approx(float(1 / Fraction(time)), rel=1e-14)
    assert found.bus_bandwidth == pytest.approx(float(bus), rel=1e-14)
    assert found.terminal_bus_bandwidth == pytest.approx(float(terminal_bus), rel=1e-14)
    assert found.terminal_bus_bandwidth / found.terminal_algorithm_bandwidth == pytest.approx(
        2 - 2 / topology.nodes, rel=1e-14
    )
    assert found.terminal_cycles_per_flit * found.terminal_algorithm_bandwidth == pytest.approx(1, rel=1e-14)
    assert [phase.cycles_per_flit for phase in found.phases] == [
        phase.volume * phase.max_channel_load for phase in found.phases
    ]


def test_a_busy_terminal_delays_a_phase():
    to_one = Phase("gather", 0.5, 1, permutation(np.array([1, 1, 1, 1])))  # terminal 1 receives 4 flits a cycle
    found = collective([to_one, to_one], [2.0, 8.0])
    assert found.cycles_per_flit == 0.5 * 2 + 0.5 * 8
    assert found.terminal_cycles_per_flit == 0.5 * 4 + 0.5 * 8


def test_every_phase_has_a_load():
    phases = traffic("ring_all_reduce", build("ring(k=4)"))[1].phases
    with pytest.raises(ValueError, match="zip"):
        collective(phases, [1.0])


@pytest.mark.parametrize("pattern", ["ring_all_reduce", "all_reduce_by_dimension"])
def test_minimal_routing_uses_the_links_of_the_ring(pattern):
    topology = build("torus(radices=[5, 4])")
    found = exact_loads(topology, routing="minimal", traffic=pattern)
    rows = traffic(pattern, topology)[1].rows(np.arange(20))
    tail, head, port = topology.arcs
    np.testing.assert_allclose(found.load[tail, port], rows[tail, head], rtol=1e-14, atol=0)
    assert found.mean_hops == pytest.approx(1)
