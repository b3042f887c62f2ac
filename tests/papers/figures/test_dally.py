"""Dally 1990: latencies, pins and wires against the paper's formulas."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.papers.figures.values import Row, values


@pytest.mark.parametrize(
    ("figure", "variant", "cycle", "best"),
    [
        ("d90-fig-8", None, lambda wire: 1.0, {256: (2, 33.75), 2**14: (4, 47.144), 2**20: (5, 56.25)}),
        (
            "d90-logarithmic",
            "as printed",
            lambda wire: 1 + math.log2(wire),
            {256: (2, 33.75), 2**14: (2, 129.34375), 2**20: (5, 393.75)},
        ),
        (
            "d90-logarithmic",
            "corrected",
            lambda wire: 1 + math.log2(wire),
            {256: (2, 67.5), 2**14: (3, 209.774), 2**20: (5, 450.0)},
        ),
        (
            "d90-linear",
            "as printed",
            lambda wire: wire,
            {256: (2, 33.75), 2**14: (2, 129.34375), 2**20: (2, 1023.29297)},
        ),
        ("d90-linear", "corrected", lambda wire: wire, {256: (2, 67.5), 2**14: (2, 258.6875), 2**20: (2, 2046.58594)}),
    ],
)
def test_dally_latency_and_its_least(
    figure: str,
    variant: str | None,
    cycle: Callable[[float], float],
    best: dict[int, tuple[int, float]],
    rows: dict[str, list[Row]],
) -> None:
    """T = T_c (n(k-1)/2 + 2L/k), k = N^(1/n), L = 150, wires of k^(n/2-1) (Eqs. 12 and 13), twice that if folded."""
    drawn = [row for row in rows[figure] if row.get("variant") == variant]
    for row in drawn:
        k, n = row["nodes"] ** (1 / row["dimension"]), row["dimension"]
        wire = k ** (n / 2 - 1) * (2 if variant == "corrected" and 2**n < row["nodes"] else 1)
        assert row["mean_latency"] == pytest.approx(cycle(wire) * (n * (k - 1) / 2 + 300 / k))
    assert {(row["nodes"], row["dimension"]) for row in drawn} == {
        (2**e, n) for e in (8, 14, 20) for n in range(2, e + 1)
    }
    assert len(drawn) == 7 + 13 + 19
    found = {row["nodes"]: (row["dimension"], row["mean_latency"]) for row in drawn if row["best"]}
    assert {nodes: dimension for nodes, (dimension, _) in found.items()} == {
        nodes: dimension for nodes, (dimension, _) in best.items()
    }
    assert [found[nodes][1] for nodes in best] == pytest.approx([cycles for _, cycles in best.values()], rel=1e-4)
    least = {
        nodes: min((r for r in drawn if r["nodes"] == nodes), key=lambda r: r["mean_latency"])["dimension"]
        for nodes in best
    }
    assert least == {nodes: dimension for nodes, (dimension, _) in best.items()}
    of_binary_cubes = [
        row["mean_latency"] / found[row["nodes"]][1] for row in drawn if 2 ** row["dimension"] == row["nodes"]
    ]
    if figure == "d90-logarithmic":  # they fall further behind than with a constant cycle (Fig. 8)
        assert all(
            now > then for now, then in zip(of_binary_cubes, (154 / 33.75, 157 / 47.144, 160 / 56.25), strict=True)
        )


def test_dally_pins(rows: dict[str, list[Row]]) -> None:
    pins = values(rows["d90-fig-7"], "dimension", "pins", nodes=2**20)
    assert (pins[2], pins[4]) == pytest.approx((2048, 128))
    assert {row["line"] for row in rows["d90-fig-7"]} == {"N = 256", "N = 16K", "N = 1M"}


def test_dally_wire_density(rows: dict[str, list[Row]]) -> None:
    """Every channel of the row counted: two between nodes whose numbers differ in one of ten bits."""
    crossing = [0] * 1025
    for node in range(1024):
        for bit in range(10):
            if not node >> bit & 1:
                for position in range(node + 1, node + (1 << bit) + 1):
                    crossing[position] += 2
    cube = values(rows["d90-fig-6"], "position", "wires", line="binary 20-cube")
    assert all(crossing[position] == wires for position, wires in cube.items())
    assert {position for position in range(2, 1024) if crossing[position] != crossing[position - 1]} <= set(cube)
    assert max(cube.values()) == cube[341] == 1364
    assert cube[512] == 1024
    assert values(rows["d90-fig-6"], "position", "wires", line="2D torus") == {1: 1024, 1023: 1024}
