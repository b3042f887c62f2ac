"""D90's cubes: its own examples, its equations written out, whole radices by trying all, wires counted one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.questions.latency import dally
from torusweep.questions.latency.dally import whole_radices
from torusweep.questions.layout.record import layout_record

from tests.questions.latency.composed import best_dimension

SIZES = (2**8, 2**14, 2**20)
BEST = {  # by wire delay, for L = 150: Fig. 8 and its variants
    "constant": ((2, 33.75), (4, 47.14392129), (5, 56.25)),
    "logarithmic": ((2, None), (2, None), (5, None)),
    "linear": ((2, None), (2, None), (2, None)),
}


def latency(nodes: int, n: int, bits: float, delay: str) -> float:
    """Eqs. 1, 7, 11 to 13."""
    k = nodes ** (1 / n)
    wire = k ** (n / 2 - 1)
    cycle = {"constant": 1.0, "logarithmic": 1 + math.log2(wire), "linear": wire}[delay]
    return cycle * (n * (k - 1) / 2 + bits / (k / 2))


@pytest.mark.parametrize(
    ("delay", "nodes", "best"), [(delay, nodes, best) for delay, row in BEST.items() for nodes, best in zip(SIZES, row)]
)
def test_the_best_dimension(delay, nodes, best):
    every = {n: latency(nodes, n, 150, delay) for n in range(2, nodes.bit_length())}
    ours = best_dimension(nodes, 150, delay=delay)
    assert ours[0] == best[0] == min(every, key=every.__getitem__)
    assert ours[1] == pytest.approx(every[best[0]], rel=1e-12)
    if best[1] is not None:
        assert ours[1] == pytest.approx(best[1], rel=1e-9)
    for n, cube in dally.designs(nodes):
        assert float(dally.wormhole(cube, 150, delay=delay)) == pytest.approx(every[n], rel=1e-9)


def test_the_best_dimensions_with_the_longer_wires_of_a_folded_layout():
    """Rings of more than two nodes fold: their wires are twice Eq. 13's (docs/papers.md).

    By hand at N = 2^14, logarithmic delay: in two dimensions wires of 2, cycles of 1 + 1, 2 (127 + 150/64) = 258.69;
    three have k = 2^(14/3), wires of 2 · 2^(7/3) and cycles of 13/3, so 13/3 (36.5976 + 150/12.6992) = 209.77.
    """

    def best(nodes: int, delay: str) -> int:
        cycles = {n: float(dally.wormhole(cube.folded(), 150, delay=delay)) for n, cube in dally.designs(nodes)}
        return min(cycles, key=cycles.__getitem__)

    assert [[best(nodes, delay) for nodes in SIZES] for delay in BEST] == [[2, 4, 5], [2, 3, 5], [2, 2, 2]]
    both = [float(dally.wormhole(dally.cube(2**14, n).folded(), 150, delay="logarithmic")) for n in (2, 3)]
    assert both == pytest.approx([258.6875, 13 / 3 * (1.5 * (2 ** (14 / 3) - 1) + 300 / 2 ** (14 / 3))], rel=1e-12)


@pytest.mark.parametrize(
    "radices", [(16, 16), (4, 4, 4, 4), (2,) * 6, (2, 4, 4, 8), (2, 2, 3), (3, 3, 3), (2, 2, 2, 2, 6)]
)
def test_folded_wires_are_those_of_a_folded_layout(radices):
    """Counted where the nodes stand, digits dealt to the plane's sides by turns."""
    placed = layout_record(build(f"torus(radices={list(radices)}, directed=true)"), "folded(dimensions=2)")
    assert float(dally.whole_cube(radices).folded().longest_wire) == placed["wire_length_max"]
    if len(set(radices)) == 1 and len(radices) % 2 == 0:
        assert float(dally.cube(math.prod(radices), len(radices)).folded().longest_wire) == placed["wire_length_max"]


def test_least_latency_is_where_distance_and_length_are_about_equal():
    for nodes in SIZES[1:]:
        best, _ = best_dimension(nodes, 150)
        cube = dally.cube(nodes, best)
        assert 0.5 < float(cube.mean_distance) / (150 / float(cube.width)) < 2.1


@pytest.mark.parametrize(
    ("nodes", "n", "pins", "width", "wire", "hops"),
    [
        (2**20, 2, 2048, 512, 1, 1023),
        (2**20, 4, 128, 16, 32, 62),
        (2**20, 20, 40, 1, 512, 10),
        (2**14, 7, 28, 2, 32, 10.5),
        (2**8, 2, 32, 8, 1, 15),
    ],
)
def test_pins_widths_and_wires(nodes, n, pins, width, wire, hops):
    for cube in (dally.cube(nodes, n), dally.whole_cube([round(nodes ** (1 / n))] * n)):
        assert (float(cube.pins), float(cube.width), float(cube.mean_distance)) == (pins, width, hops)
        if n % 2 == 0:
            assert float(cube.longest_wire) == wire


@pytest.mark.parametrize("radices", [(16, 16), (8, 4), (4, 4, 2), (8, 4, 4, 2), (6, 2, 2), (2,) * 6])
def test_every_cube_has_as_many_wires_across_its_middle_as_nodes(radices):
    """Wires across the middle of the largest dimension, both directions of its rings, folded or not: N."""
    cube = dally.whole_cube(radices)
    largest, nodes = max(radices), math.prod(radices)
    crossing = 2 * nodes // largest  # a ring crosses twice
    assert crossing * float(cube.width) == nodes
    hops = sum(
        sum((b - a) % k for a, b, k in zip(x, y, radices))
        for x in itertools.product(*map(range, radices))
        for y in [tuple(0 for _ in radices)]
    )
    assert float(cube.mean_distance) == hops / nodes
    assert float(cube.pins) == 2 * len(radices) * float(cube.width)


@pytest.mark.parametrize("nodes", [8, 12, 64, 96, 210, 720, 1024])
def test_whole_radices_are_the_best_of_all(nodes):
    divisors = [d for d in range(2, nodes + 1) if nodes % d == 0]
    for n in (2, 3, 4):
        every = [c for c in itertools.combinations_with_replacement(divisors, n) if math.prod(c) == nodes]
        best = min(every, key=lambda radices: (max(radices), sum(radices), radices), default=None)
        assert whole_radices(nodes).get(n) == (None if best is None else sorted(best, reverse=True))


def test_whole_radices_of_a_highly_composite_number():
    """1,396,755,360 = 2^5 3^3 5 7 11 13 17 19 has millions of factorisations."""
    nodes = 1396755360
    found = whole_radices(nodes)
    assert list(found) == list(range(2, 15))
    assert all(math.prod(radices) == nodes and len(radices) == n for n, radices in found.items())
    assert found[14] == [19, 17, 13, 11, 7, 5, 3, 3, 3, 2, 2, 2, 2, 2]
    assert found[2] == [
        next(d for d in range(math.isqrt(nodes) + 1, nodes) if nodes % d == 0),
        max(d for d in range(1, 37374) if nodes % d == 0),
    ]


def test_whole_radices_are_the_real_ones_where_these_are_whole():
    for nodes, n in ((2**20, 2), (2**20, 4), (2**20, 5), (3**6, 3), (10**6, 6)):
        assert whole_radices(nodes)[n] == [round(nodes ** (1 / n))] * n
    assert whole_radices(2**20)[3] == [128, 128, 64]
    assert [n for n, _ in dally.designs(30, whole=True)] == [2, 3]  # 30 = 2 · 3 · 5 has no fourth factor
    assert best_dimension(2**14, 150, whole=True) == (4, 40.75)  # 16, 16, 8, 8: W = 8, D = 22, L/W = 18.75


def counted_wires(radices: tuple[int, ...]) -> list[int]:
    """Ring by ring, folded: every link by its two places on the row, over each gap that it spans."""
    nodes = math.prod(radices)
    gaps = [0] * (nodes - 1)
    for node in range(nodes):
        stride = 1
        for k in radices:
            digit, base = node // stride % k, node - node // stride % k * stride
            order = [*range(0, k, 2), *reversed(range(1, k, 2))] if k > 2 else [0, 1]  # a ring as it is folded
            here = order.index(digit)
            ends = sorted((node, base + order[(here + 1) % k] * stride))
            for gap in range(*ends):
                gaps[gap] += 1
            stride *= k
    return gaps


@pytest.mark.parametrize("radices", [(2,) * 6, (4, 4), (8,), (2, 3, 4), (5, 2)])
def test_wire_density_is_every_link_over_every_gap(radices):
    counted = np.array(counted_wires(radices))
    ours = dally.wire_density(radices)
    assert len(ours) == math.prod(radices) - 1
    assert ours.tolist() == counted.tolist()


def test_wire_density_of_figure_6():
    row = dally.wire_density([2] * 10)  # half of a binary 20-cube's dimensions, bit-serial
    assert row.max() == 1364
    assert int(row.argmax()) + 1 == 341  # wires that pass from the 341st node on
    assert row[511] == 1024
    torus = dally.wire_density([1024]) * float(dally.cube(2**20, 2).width)
    assert set(torus.tolist()) == {1024}


def test_store_and_forward_is_distance_times_length():
    cube = dally.cube(2**14, [2, 4, 7])
    assert dally.store_and_forward(cube, 150).tolist() == pytest.approx(
        [127 * 150 / 64, float(cube.mean_distance[1]) * 150 / float(cube.width[1]), 10.5 * 75]
    )
    assert (
        dally.store_and_forward(cube, 150, delay="linear") == dally.store_and_forward(cube, 150) * cube.longest_wire
    ).all()


def test_locality_helps_cubes_of_few_dimensions():
    """Sec. 5.1: low dimensions are limited by distance, high ones by length."""
    few, many = dally.cube(2**20, 2), dally.cube(2**20, 20)
    shares = [float(dally.wormhole(cube, 150, locality=0.25) / dally.wormhole(cube, 150)) for cube in (few, many)]
    assert shares == pytest.approx([(1023 / 4 + 150 / 512) / (1023 + 150 / 512), (2.5 + 150) / 160])
    assert best_dimension(2**20, 150, locality=0.1)[0] < best_dimension(2**20, 150)[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dally.cube(256, 1), "2 … log2"),
        (lambda: dally.cube(256, 9), "radix of 2"),
        (lambda: dally.whole_cube([8]), "two at least"),
        (lambda: dally.whole_cube([8, 1]), "2 at least"),
        (lambda: dally.wormhole(dally.cube(256, 2), 150, locality=0), "0 < locality"),
        (lambda: dally.designs(3), "4 at least"),
        (lambda: dally.designs(17, whole=True), "whole radices"),
    ],
)
def test_cubes_that_there_are_not_are_refused(call, says):
    with pytest.raises(ValueError, match="expected") as caught:
        call()
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
