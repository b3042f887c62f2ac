"""Placements beside a plain loop that routes each message hop by hop; known answers; what is proved of the best."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import get_args

import networkx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.physical import LinkSpeed
from torusweep.networks.picture import SMALL
from torusweep.questions.placement.blocks import AxisPart, corners, lay, orders, size_of
from torusweep.questions.placement.machine import JobOperation, Kind, least_bytes, machine
from torusweep.questions.placement.ranking import JobPlacement, rank

from tests.questions.placement.plain_slice import Slice, bucket_phases, ring_bytes
from tests.questions.placement.plain_twisted import Twisted, line_bucket

MIB = 2**20
BANDWIDTH, LATENCY = 50e9, 1e-6


def spelling(sides: tuple[int, ...], rings: tuple[bool, ...]) -> str:
    return f"slice(radices={list(sides)}, wrap=[{', '.join(str(ring).lower() for ring in rings)}])"


def groups_of(devices: np.ndarray, axis: int) -> list[list[int]]:
    return np.moveaxis(devices, axis, -1).reshape(-1, devices.shape[axis]).tolist()


def side_lines(slice_of: Slice, part: AxisPart) -> list[list[int]]:
    """The lines of one side of a block, from its definition: the digit coordinate // stride % factor varies."""
    lines: dict[tuple, list[int]] = {}
    for number, node in enumerate(slice_of.nodes):
        digit = node[part.dimension] // part.stride % part.factor
        first = (*node[: part.dimension], node[part.dimension] - digit * part.stride, *node[part.dimension + 1 :])
        lines.setdefault(first, []).append(number)
    return list(lines.values())


def plain_seconds(slice_of: Slice, placement: JobPlacement, place: int, axis: int) -> tuple[float, float]:
    """(seconds, bytes on the busiest link) of an operation of a placement: by rings or directly, or by the bucket."""
    operation = placement.phases[place].operation
    groups = groups_of(placement.devices, axis)
    size = len(groups[0])
    messages = [message for group in groups for message in ring_bytes(group, operation.kind, operation.bytes)]
    number = slice_of.busiest(messages)[0]
    steps = {"all_reduce": 2 * size - 2, "permute": 1, "exchange": 1}.get(operation.kind, size - 1)
    seconds = float(number) / BANDWIDTH + steps * LATENCY
    block = placement.blocks[axis] or ()
    own = len(block) > 1 and len({part.dimension for part in block}) == len(block)  # each side has its own links
    if operation.kind in ("all_gather", "reduce_scatter", "all_reduce") and own:
        passes = 2 if operation.kind == "all_reduce" else 1
        lines = [side_lines(slice_of, part) for part in block]
        bucket = passes * bucket_phases(slice_of, groups, lines, operation.bytes)
        longest = max(part.factor for part in block) - 1
        other = float(bucket) / BANDWIDTH + passes * len(block) * longest * LATENCY
        if other < seconds:
            return other * operation.times, float(bucket)
    return seconds * operation.times, float(number)


CASES = [  # sides, rings, axes
    ((4, 8), (False, True), {"a": 4, "b": 8}),
    ((4, 4), (True, True), {"a": 2, "b": 2, "c": 4}),
    ((6, 4), (True, False), {"a": 6, "b": 4}),
    ((2, 3, 4), (True, False, True), {"a": 4, "b": 6}),
    ((3, 5), (False, False), {"a": 15}),
    ((2, 3, 4), (False, False, True), {"a": 24}),  # three sides of a bucket
    ((3, 3), (True, True), {"a": 9}),
    ((8,), (False,), {"a": 4, "b": 2}),
    ((4, 6), (False, False), {"a": 3, "b": 8}),
]


@pytest.mark.parametrize(("sides", "rings", "axes"), CASES, ids=str)
def test_times_as_a_plain_loop_that_routes_each_message(sides, rings, axes):
    """Every operation of the ten best placements, and of the row-major order."""
    slice_of = Slice(sides, rings)
    operations = [
        JobOperation(axis, kind, 3 * MIB + 7 * place, place + 1)
        for place, (axis, kind) in enumerate((axis, kind) for axis in axes for kind in get_args(Kind))
    ]
    ranking = rank(machine(build(spelling(sides, rings))), axes, operations, LinkSpeed(BANDWIDTH, LATENCY))
    for placement in [*ranking.best, ranking.row_major]:
        assert sorted(placement.devices.ravel().tolist()) == list(range(len(slice_of.nodes)))
        assert placement.devices.shape == tuple(axes.values())
        for place, phase in enumerate(placement.phases):
            seconds, number = plain_seconds(slice_of, placement, place, list(axes).index(phase.operation.axis))
            assert phase.seconds == pytest.approx(seconds, rel=1e-12)
            assert phase.bytes == pytest.approx(number, rel=1e-12)
            assert phase.least <= phase.seconds * (1 + 1e-12)
    assert [placement.seconds for placement in ranking.best] == sorted(placement.seconds for placement in ranking.best)


@pytest.mark.parametrize(
    ("sides", "ring", "block", "name", "load"),
    [
        # of a message share, half of which goes each way round the ring
        ((8,), False, (AxisPart(0, 8, 1),), "row-major", 1.0),
        ((8,), False, (AxisPart(0, 8, 1),), "folded", 1.0),
        ((8,), True, (AxisPart(0, 8, 1),), "row-major", 0.5),
        ((4, 2), False, (AxisPart(0, 4, 1), AxisPart(1, 2, 1)), "cycle x, y", 0.5),
        ((16, 16), True, (AxisPart(0, 2, 1), AxisPart(1, 2, 1)), "cycle x, y", 0.5),
        ((16, 16), True, (AxisPart(0, 4, 1),), "row-major", 1.0),
        ((16, 16), True, (AxisPart(0, 4, 4),), "row-major", 2.0),  # four rings of four share each link
        ((6, 6), True, (AxisPart(0, 6, 1), AxisPart(1, 6, 1)), "helix x, y", 0.5),
        ((3, 3), True, (AxisPart(0, 3, 1), AxisPart(1, 3, 1)), "helix x, y", 0.5),  # a torus of odd rings has a cycle
    ],
)
def test_known_loads_of_rings(sides, ring, block, name, load):
    slice_of = machine(build(spelling(sides, (ring,) * len(sides))))
    by_name = {laid.order.name: laid.loads["ring"].messages / 2 for laid in lay(slice_of, {block: {"ring"}})[block]}
    assert by_name[name] == load


@pytest.mark.parametrize(("axes", "first"), [({"dp": 64, "tp": 4}, [0, 1, 17, 16])])
def test_rings_on_blocks_are_found(axes, first):
    """Tensor parallel 4 on 16 × 16: the ring … 0, 1, 17, 16 …, of dilation 1, half the load of four in a row."""
    slice_of = machine(build("torus(k=16, n=2)"))
    ranking = rank(slice_of, axes, [JobOperation("tp", "all_gather", 64 * MIB)], LinkSpeed(BANDWIDTH, 0.0))
    assert ranking.best[0].devices[0].tolist() == first
    assert ranking.best[0].phases[0].bytes == 64 * MIB * 3 / 4 / 2
    assert ranking.row_major.phases[0].bytes == 64 * MIB * 3 / 4
    assert ranking.row_major.devices[0].tolist() == [0, 1, 2, 3]


def is_neighbour(slice_of: Slice, a: int, b: int) -> bool:
    return len(slice_of.routes(slice_of.nodes[a], slice_of.nodes[b])[0][1]) == 1


@pytest.mark.parametrize(
    "factors",
    [(2, 2), (4, 2), (3, 2), (2, 5), (4, 6), (3, 4), (2, 2, 2), (3, 4, 3), (2, 3, 3), (5, 2, 3), (2, 2, 2, 3)],
)
def test_even_blocks_have_hamiltonian_cycles(factors):
    slice_of = Slice(factors, (False,) * len(factors))
    block = tuple(AxisPart(i, factor, 1) for i, factor in enumerate(factors))
    cycles = [
        order.offsets.tolist()
        for order in orders(block, factors, slice_of.rings, "xyzw")
        if order.name.startswith("cycle")
    ]
    assert cycles
    for members in cycles:
        assert sorted(members) == list(range(len(slice_of.nodes)))
        assert all(is_neighbour(slice_of, a, b) for a, b in zip(members, members[1:] + members[:1]))


@pytest.mark.parametrize("factors", [(3, 3), (3, 5), (5, 3), (7, 9), (3, 3, 3), (5, 3, 3)])
def test_odd_blocks_have_cycles_with_one_step_of_two_hops(factors):
    """Bipartite, with an odd number of nodes: networkx finds no Hamiltonian cycle's two-colouring either."""
    slice_of = Slice(factors, (False,) * len(factors))
    colours = networkx.bipartite.sets(networkx.grid_graph(list(factors)))
    assert len(colours[0]) != len(colours[1])
    block = tuple(AxisPart(i, factor, 1) for i, factor in enumerate(factors))
    found = orders(block, factors, slice_of.rings, "xyzw")
    assert not any(order.name.startswith("cycle") for order in found)
    near = [order.offsets.tolist() for order in found if order.name.startswith("near-cycle")]
    assert near
    for members in near:
        assert sorted(members) == list(range(len(slice_of.nodes)))
        hops = [
            len(slice_of.routes(slice_of.nodes[a], slice_of.nodes[b])[0][1])
            for a, b in zip(members, members[1:] + members[:1])
        ]
        assert sorted(hops) == [1] * (len(hops) - 1) + [2]


@pytest.mark.parametrize("factors", [(7,), (8,), (3, 4), (3, 3, 3)])
def test_foldings_have_dilation_two(factors):
    slice_of = Slice(factors, (False,) * len(factors))
    block = tuple(AxisPart(i, factor, 1) for i, factor in enumerate(factors))
    found = [o.offsets.tolist() for o in orders(block, factors, slice_of.rings, "xyzw") if "folded" in o.name]
    assert found
    for members in found:
        steps = zip(members, members[1:] + members[:1])
        assert max(len(slice_of.routes(slice_of.nodes[a], slice_of.nodes[b])[0][1]) for a, b in steps) == 2
    if factors == (8,):
        assert found == [[0, 2, 4, 6, 7, 5, 3, 1]]


def test_blocks_divide_the_nodes():
    block = (AxisPart(0, 2, 2), AxisPart(1, 3, 1))
    first = corners(block, (8, 6))
    members = orders(block, (8, 6), (False, False), "xy")[0].offsets
    assert size_of(block) * len(first) == 48
    assert sorted((first[:, None] + members).ravel().tolist()) == list(range(48))


def test_all_placements_are_counted():
    """8 × 2 for axes a and b of 4, by hand: one of them has 4 of the side of 8, the other the rest.

    With 4 of a in a row, those of b are 2 × 2: a may be the faster factor or the slower; and so the other way round.
    Four in a row have two orders (row-major, folded). Those of 2 × 2 have six that differ: row-major twice; cycle
    twice, which are the snakes, too; folded snakes twice. In 2 of a, 2 of b, 2 of a (or the other way round) each axis
    has two factors of 2, and six orders.
    """
    slice_of = machine(build("mesh(radices=[8, 2])"))
    ranking = rank(
        slice_of, {"a": 4, "b": 4}, [JobOperation("a", "permute", 1)], LinkSpeed(BANDWIDTH, LATENCY), top=1000
    )
    assert ranking.compared == 4 * 2 * 6 + 2 * 6 * 6
    assert sum(placement.ties for placement in ranking.best) == ranking.compared


def test_of_placements_that_take_the_same_one_of_few_factors_is_shown():
    """A permutation goes to neighbours in a ring of four and in a cycle of 2 × 2: the first needs one factor each."""
    slice_of = machine(build("torus(k=4, n=2)"))
    best = rank(slice_of, {"a": 4, "b": 4}, [JobOperation("a", "permute", 1)], LinkSpeed(BANDWIDTH, LATENCY)).best[0]
    assert best.ties > 1
    assert [len(block) for block in best.blocks] == [1, 1]


def test_no_order_of_eight_ranks_is_faster():
    """All orders of 2 × 4 nodes in two rings of 4: the best of the ranking is the best of all 8! of them."""
    slice_of = Slice((4, 2), (False, False))
    operation = JobOperation("tp", "all_gather", 64 * MIB)
    found = rank(
        machine(build("mesh(radices=[4, 2])")), {"dp": 2, "tp": 4}, [operation], LinkSpeed(BANDWIDTH, 0.0)
    ).best[0]
    number: dict[object, int] = {}  # of a link
    routes = {
        (a, b): [
            number.setdefault(link, len(number)) for link in slice_of.routes(slice_of.nodes[a], slice_of.nodes[b])[0][1]
        ]
        for a in range(8)
        for b in range(8)
    }
    loads = {pair: np.bincount(links, minlength=len(number)) for pair, links in routes.items()}

    def most(rest: tuple[int, ...]) -> int:
        """Messages on the busiest link where each rank sends to the next and to the previous one."""
        groups = ((0, *rest[:3]), rest[3:])
        pairs = [(group[i], group[(i + 1) % 4]) for group in groups for i in range(4)]
        return max(sum(loads[a, b] + loads[b, a] for a, b in pairs))

    least = min(most(rest) for rest in permutations(range(1, 8)))
    assert found.phases[0].bytes == 64 * MIB * Fraction(3, 8) * least
    assert least == 1


@pytest.mark.parametrize("network", ["slice(radices=[4, 6], wrap=[true, false])", "rtt(a=3)", "mesh(k=3, n=2)"])
def test_bounds_from_networkx(network):
    topology = build(network)
    graph = networkx.Graph([(int(a), int(b)) for a, b in zip(*topology.arcs[:2])])
    slice_of = machine(topology)
    apart = [sorted(lengths.values()) for _, lengths in networkx.all_pairs_shortest_path_length(graph)]
    channels, fewest = 2 * graph.number_of_edges(), min(dict(graph.degree).values())
    for size in (size for size in range(2, topology.nodes + 1) if topology.nodes % size == 0):
        expected = Fraction(6000, size) * sum(sum(row[:size]) for row in apart) / channels
        assert least_bytes(JobOperation("a", "all_to_all", 6000), size, slice_of) == pytest.approx(float(expected))
        gathered = Fraction(6000 * (size - 1), size * fewest)
        assert least_bytes(JobOperation("a", "all_gather", 6000), size, slice_of) == pytest.approx(float(gathered))
        reduced = Fraction(2 * 6000 * (size - 1) * topology.nodes, size * channels)
        assert least_bytes(JobOperation("a", "all_reduce", 6000), size, slice_of) == pytest.approx(float(reduced))


@pytest.mark.parametrize(
    ("network", "axes", "by"),
    [
        ("rtt(a=3)", {"a": 9, "b": 2}, {"ring", "direct"}),
        ("rtt(a=4)", {"a": 8, "b": 4}, {"ring", "direct"}),
        ("pod_slice(shape=[2, 4, 4], twisted=true)", {"a": 8, "b": 4}, {"ring", "bucket", "direct"}),
        ("pod_slice(shape=[3, 3, 6], twisted=true)", {"a": 9, "b": 6}, {"ring", "direct"}),
    ],
)
def test_times_on_a_twisted_slice_as_a_plain_loop(network, axes, by):
    topology = build(network)
    twisted, plain = Twisted(topology), Slice(topology.plan.radices, (False,) * len(topology.plan.radices))
    operations = [
        JobOperation("a", "all_gather", 600),
        JobOperation("a", "all_to_all", 600),
        JobOperation("b", "permute", 600),
    ]
    ranking = rank(machine(topology), axes, operations, LinkSpeed(BANDWIDTH, 0.0), top=6)
    seen = set()
    for placement in [*ranking.best, ranking.row_major]:
        for phase in placement.phases:
            axis = list(axes).index(phase.operation.axis)
            groups = groups_of(placement.devices, axis)
            if phase.algorithm == "bucket":
                lines = [side_lines(plain, part) for part in placement.blocks[axis]]
                number = line_bucket(twisted, groups, lines, phase.operation.bytes)
            else:
                sent = (ring_bytes(group, phase.operation.kind, phase.operation.bytes) for group in groups)
                number, longest = twisted.busiest([message for group in sent for message in group])
                assert phase.hops == longest
            assert phase.bytes == pytest.approx(float(number), rel=1e-12)
            seen.add(phase.algorithm)
    assert seen == by


@pytest.mark.parametrize(
    ("network", "axes", "message"),
    [
        ("torus(k=4, n=2)", {"tp": 4, "dp": 8}, "got tp 4 × dp 8 = 32"),
        ("ccc(n=3)", {"tp": 24}, "expected a slice, torus, mesh or twisted torus"),
        ("full_mesh(radices=[4, 2])", {"tp": 4, "dp": 2}, "expected a slice, torus, mesh or twisted torus"),
        ("faulty(torus(k=4, n=2), links=1)", {"tp": 16}, "with all its links"),
        ("pruned_xy(k=4)", {"tp": 64}, "expected a connected network, got 2 parts"),
        ("torus(k=4, n=2, directed=true)", {"tp": 16}, "links of two directions"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(network, axes, message):
    with pytest.raises(BadInput) as refusal:
        rank(machine(build(network)), axes, [], LinkSpeed(BANDWIDTH, LATENCY))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "network", [*(one for choices in SMALL.values() for one in choices.values()), "full_mesh(radices=[5])"]
)
def test_directions_of_what_is_taken_for_a_slice_are_steps_up_and_down_its_dimensions(network):
    """Of every family: links are named by a node and a direction, two for each dimension."""
    try:
        slice_of = machine(build(network))
    except BadInput:
        return
    sides, step, everyone = slice_of.sides, slice_of.ways.step, np.arange(slice_of.nodes)
    assert step.shape[1] == 2 * len(sides) == 2 * len(slice_of.names)
    for i, (side, stride) in enumerate(zip(sides, slice_of.strides)):
        digit = everyone // stride % side
        assert (step[digit < side - 1, 2 * i] == everyone[digit < side - 1] + stride).all()
        if side > 2:
            assert (step[digit > 0, 2 * i + 1] == everyone[digit > 0] - stride).all()


@pytest.mark.parametrize("network", ["torus(radices=[4, 6])", "mesh(radices=[3, 2, 4])", "hypercube(n=3)"])
def test_a_file_whose_numbers_are_those_of_a_grid_is_that_grid(network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = build(network)
    tail, head, _ = own.arcs
    links = [f"{one},{other}" for one, other in zip(tail.tolist(), head.tolist()) if one < other]
    Path("links.csv").write_text("\n".join(["source,target", *links]))
    axes, operations = {"a": 4, "b": own.nodes // 4}, [JobOperation("a", "all_reduce", 6000)]
    found, expected = (
        rank(machine(network), axes, operations, LinkSpeed(BANDWIDTH, LATENCY), top=1).best[0]
        for network in (build('graph(path="links.csv")'), own)
    )
    assert (found.phases, found.blocks) == (expected.phases, expected.blocks)
    assert np.array_equal(found.devices, expected.devices)


@pytest.mark.parametrize("network", ["torus(k=21, n=3)", "hypercube(n=5)"])
def test_what_is_too_large_is_refused(network):
    with pytest.raises(Refused, match=r"expected at most (8,192 nodes|4 dimensions)"):
        machine(build(network))


def test_the_example_of_the_document():
    """8 × 16, ep 16 × tp 8, by hand. Row-major: a ring on a line of 8 loads its busiest link by 7/8 of the data; an
    all-to-all on a ring of 16 sends 16²/8 of the pairs over each link. The best has tp on a cycle: half of that.
    """
    slice_of = machine(build("slice(radices=[8, 16], wrap=[false, true])"))
    operations = [JobOperation("tp", "all_gather", 64 * MIB, 8), JobOperation("ep", "all_to_all", 32 * MIB, 4)]
    ranking = rank(slice_of, {"ep": 16, "tp": 8}, operations, LinkSpeed(BANDWIDTH, LATENCY))
    assert [phase.bytes for phase in ranking.row_major.phases] == [56 * MIB, 16**2 // 8 * 2 * MIB]
    assert [phase.bytes for phase in ranking.best[0].phases] == [28 * MIB, 64 * MIB]
    assert ranking.compared > 10_000
