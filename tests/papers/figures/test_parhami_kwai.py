"""Parhami & Kwai 2004: distances and latencies against the printed model, and the claims of the captions."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.papers.figures.values import CLASSES, RADICES, Row, values


def test_fig_4_is_the_papers_table(rows: dict[str, list[Row]]) -> None:
    """P04 Table 1, exact for k a multiple of 4; its fit for the fourth class."""
    excess: dict[str, Callable[[int], float]] = {
        "torus": lambda k: 0,
        "pruned": lambda k: 2 / k - 2 / k**2,
        "directed": lambda k: 1 - 4 / k**3,
    }
    for line, formula in excess.items():
        found = values(rows["p04-fig-4-excess"], "k", "excess", line=line)
        assert found == pytest.approx(
            {k: formula(k) if (line, k) != ("directed", 6) else 5.06481 - 4.5 for k in RADICES}, abs=1e-5
        )
    both = values(rows["p04-fig-4"], "k", "mean_distance", line="both")
    assert all(2 < both[k] - 0.75 * k < 3.5 for k in RADICES)
    assert {k: both[k] for k in (4, 8, 16, 32)} == {4: 5.0625, 8: 8.8203125, 16: 15.2080078125, 32: 27.3648681640625}


def test_fig_5_pruning_costs_less_the_larger_and_more_in_five_dimensions(rows: dict[str, list[Row]]) -> None:
    lines = {
        name: values(rows["p04-fig-5"], "k", "mean_distance", line=name)
        for name in ("4D torus", "4D pruned", "5D torus", "5D pruned")
    }
    assert lines["4D torus"] == {6: 6, 12: 12}
    assert lines["5D torus"] == {4: 5, 8: 10}
    four = [lines["4D pruned"][k] - k for k in (6, 12)]
    five = [lines["5D pruned"][k] - 5 * k / 4 for k in (4, 8)]
    assert 0 < four[1] < four[0]
    assert four[0] < five[1] < five[0]


def printed_latency(
    rate: float, degree: int, distance: float, message_bits: int, delay: int, *, directed: bool
) -> float:
    """P04 sec. 5 as it stands: the recurrence of r(i), summed; 96 pins."""
    flits = message_bits * degree / 96
    busy = rate / degree * flits * distance
    inputs = degree if directed else degree - 1
    through = busy * (1 - 1 / (flits * distance)) / inputs
    p = [math.comb(inputs, i) * (1 - through) ** (inputs - i) * through**i for i in range(inputs + 1)]
    own = busy / (flits * distance)
    q = [(1 - own) * a + own * b for a, b in zip([*p, 0], [0, *p])]
    r = [1 - busy]
    for i in range(400):
        known = r[0] * (q[i] if i < len(q) else 0) + sum(
            r[j] * q[i + 1 - j] for j in range(max(1, i + 2 - len(q)), i + 1)
        )
        r.append((r[i] - known) / q[0])
    waiting = sum((i - 1) * flits * r[i] for i in range(2, len(r))) * distance / busy if busy else 0.0
    free = r[0] + sum(r[i] / i for i in range(1, len(r)))
    return (flits + delay * (distance - 1)) * free + waiting


@pytest.mark.parametrize(("number", "message_bits", "delay"), [(8, 96, 3), (9, 96, 7), (10, 384, 3), (11, 384, 7)])
def test_figs_8_to_11_are_the_printed_model(
    number: int, message_bits: int, delay: int, rows: dict[str, list[Row]]
) -> None:
    shape = {"torus": (6, 12.0), "pruned": (4, 12.1171875), "directed": (3, 12.9990234375), "both": (2, 15.2080078125)}
    chosen = [row for row in rows[f"p04-fig-{number}"] if row["variant"] == "as printed" and row["utilization"] < 0.9]
    assert len(chosen) > 200
    for row in chosen[::7]:
        degree, distance = shape[row["line"]]
        expected = printed_latency(
            row["rate"], degree, distance, message_bits, delay, directed=row["line"] in ("directed", "both")
        )
        assert row["latency"] == pytest.approx(expected, rel=1e-6)


def test_fig_7_is_light_then_geometric(rows: dict[str, list[Row]]) -> None:
    light, medium, heavy = (
        values(rows["p04-fig-7"], "contenders", "probability", line=f"ρ = {busy}") for busy in (0.1, 0.5, 0.9)
    )
    assert [found[0] for found in (light, medium, heavy)] == pytest.approx([0.9, 0.5, 0.1])
    assert sum(light[i] for i in range(2, 13)) < 0.01
    decay = [heavy[i + 1] / heavy[i] for i in range(4, 12)]
    assert max(decay) - min(decay) < 0.02
    assert sum(medium.values()) == pytest.approx(1, abs=1e-6)


class Curves:
    """A figure's latencies by rate; beyond its saturation, a class's is infinite."""

    def __init__(self, found: list[Row], variant: str) -> None:
        self.lines = {
            line: values(found, "rate", "latency", line=line, variant=variant)
            for line in {row["line"] for row in found}
        }
        self.rates = sorted(max(self.lines.values(), key=len))

    def below(self, one: str, other: str) -> list[tuple[float, float]]:
        """The intervals of rates at which one's latency is less."""
        mine, others = self.lines[one], self.lines[other]
        found: list[list[float]] = []
        before = False
        for rate in self.rates:
            less = mine.get(rate, math.inf) < others.get(rate, math.inf)
            if less and not before:
                found.append([rate, rate])
            elif less:
                found[-1][1] = rate
            before = less
        return [(first, last) for first, last in found]


BOTH = "both"


def test_fig_8_either_alone_and_not_both(rows: dict[str, list[Row]]) -> None:
    """Short messages: either alone beats the torus up to near saturation; both together neither of them."""
    printed, corrected = (Curves(rows["p04-fig-8"], variant) for variant in ("as printed", "corrected"))
    assert printed.below("pruned", "torus") == [(0, 0.081)]
    assert printed.below("directed", "torus") == [(0, 0.071)]
    assert printed.below(BOTH, "pruned") == printed.below(BOTH, "directed") == []
    # against the plain torus, both together win in between only
    assert printed.below(BOTH, "torus") == [(0.020, 0.059)]
    # "at heavy loads, pruning is more effective than orientation": of the printed model only
    assert printed.below("pruned", "directed") == [(0, 0.038), (0.055, 0.082)]
    assert corrected.below("pruned", "directed") == [(0, 0.021)]
    assert corrected.below(BOTH, "directed") == []
    assert corrected.below(BOTH, "pruned") == [(0.038, 0.048)]
    assert corrected.below("pruned", "torus") == [(0, 0.050)]
    assert corrected.below("directed", "torus") == [(0, 0.071)]
    assert (max(printed.lines["pruned"]), max(corrected.lines["pruned"])) == (0.082, 0.062)  # 0.08253 and 0.0625
    assert corrected.lines["torus"] == pytest.approx(printed.lines["torus"])  # all links alike


def test_fig_9_a_slower_switch(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (Curves(rows["p04-fig-9"], variant) for variant in ("as printed", "corrected"))
    assert printed.below("directed", "torus") == [(0.018, 0.072)]
    assert printed.below("pruned", "directed") == [(0, 0.082)]
    assert printed.below("pruned", "torus") == [(0, 0.081)]
    assert corrected.below("pruned", "directed") == [(0, 0.038)]
    assert corrected.below("pruned", "torus")[0][1] > 0.038


@pytest.mark.parametrize(("number", "best", "from_rate"), [(10, (0.003, 0.0125), 0), (11, (0.0095, 0.0115), 0.00175)])
def test_figs_10_and_11_both_together_no_longer_as_bad(
    number: int, best: tuple[float, float], from_rate: float, rows: dict[str, list[Row]]
) -> None:
    """With long messages, both together beat the plain torus from light load on, and in between either alone."""
    printed = Curves(rows[f"p04-fig-{number}"], "as printed")
    (beats_torus,) = printed.below(BOTH, "torus")
    assert beats_torus[0] == from_rate
    (beats_directed,) = printed.below(BOTH, "directed")
    (beats_pruned,) = printed.below(BOTH, "pruned")
    assert (max(beats_directed[0], beats_pruned[0]), min(beats_directed[1], beats_pruned[1])) == best


def test_figs_10_and_11_pruning_against_direction(rows: dict[str, list[Row]]) -> None:
    """Pruning overtakes direction at heavy load in the printed model only."""
    assert Curves(rows["p04-fig-10"], "as printed").below("pruned", "directed") == [(0.01425, 0.0205)]
    assert Curves(rows["p04-fig-10"], "corrected").below("pruned", "directed") == []
    assert Curves(rows["p04-fig-11"], "as printed").below("pruned", "directed") == [(0, 0.00425), (0.014, 0.0205)]
    assert Curves(rows["p04-fig-11"], "corrected").below("pruned", "directed") == [(0, 0.00225)]


def test_fig_12_what_saturates_first(rows: dict[str, list[Row]], tables: dict[str, list[Row]]) -> None:
    corrected = Curves(rows["p04-fig-12"], "corrected")
    assert set(corrected.lines) == {"torus", "pruned", "directed"}
    assert {line: max(found) for line, found in corrected.lines.items()} == {
        "torus": 0.082,
        "pruned": 0.062,
        "directed": 0.076,
    }
    points = {row["topology"]: row for row in tables["latency"] if row["message_bits"] == 96}
    three = [points[f"{family}(k=16, n=3)"] for family in CLASSES[:3]]
    assert [row["saturation_rate"] for row in three] == pytest.approx([1 / 12, 1 / 12.1171875, 1 / 12.9990234375])
    assert [row["saturation_rate_corrected"] for row in three] == pytest.approx([1 / 12, 1 / 16, 1 / 12.9990234375])


def test_fig_13_long_messages_and_large_networks(rows: dict[str, list[Row]]) -> None:
    found = rows["p04-fig-13"]
    pruned, directed = (
        {bits: values(found, "k", "latency", line=line, variant="as printed", message_bits=bits) for bits in (96, 384)}
        for line in ("pruned", "directed")
    )
    assert all(abs(pruned[96][k] / directed[96][k] - 1) < 0.07 for k in RADICES)
    assert [k for k in RADICES if pruned[384][k] < directed[384][k]] == [28, 32]
    assert max(values(found, "k", "latency", line="pruned", variant="corrected", message_bits=384)) == 24
    assert max(values(found, "k", "latency", line="directed", variant="corrected", message_bits=384)) == 32


def ratios(found: list[Row], variant: str) -> dict[str, dict[int, float]]:
    return {
        line: values(found, "k", "ratio", line=line, variant=variant)
        for line in dict.fromkeys(row["line"] for row in found)
    }


def test_fig_14_the_gain_grows_with_size_and_length(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-14"], variant) for variant in ("as printed", "corrected"))
    assert list(printed) == ["F = 4", "F = 8", "F = 12", "F = 16"]
    for shorter, longer in pairwise(printed.values()):
        assert all(longer[k] < shorter[k] < 1 for k in RADICES)
    assert all(line[32] < line[4] for line in printed.values())
    assert max(printed["F = 4"].values()) - min(printed["F = 4"].values()) < 0.03
    assert all(printed["F = 16"][large] < printed["F = 16"][small] for small, large in pairwise(RADICES) if large < 32)
    assert all(ratio < 1 for line in ("F = 4", "F = 8") for ratio in corrected[line].values())
    assert corrected["F = 12"][24] < 1 < corrected["F = 12"][28]
    assert corrected["F = 16"][16] < 1 < corrected["F = 16"][20]
    assert max(corrected["F = 16"]) == 24  # then saturated
    assert all(corrected[line][k] >= printed[line][k] for line in corrected for k in corrected[line])


def test_fig_15_the_gain_grows_with_load(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-15"], variant) for variant in ("as printed", "corrected"))
    assert list(printed) == [f"m = {m}" for m in (0.002, 0.005, 0.01, 0.02, 0.04)]  # five of the six
    for lighter, heavier in pairwise(printed.values()):
        assert all(heavier[k] < lighter[k] for k in RADICES if k > 6)
    light, heavy = printed["m = 0.002"], printed["m = 0.04"]
    assert all(light[a] < light[b] for a, b in pairwise(RADICES))
    assert light[32] > 0.95
    assert (
        min(printed["m = 0.005"].values()) > printed["m = 0.005"][4] - 0.005
    )  # no more in large networks than in small ones
    assert heavy[32] < 0.65
    assert max(corrected["m = 0.04"]) == 24  # saturates at 1/k, where 4/(3k) is printed
    assert corrected["m = 0.04"][20] > 0.95


def test_fig_16_pruning_wins_against_a_slower_switch(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-16"], variant) for variant in ("as printed", "corrected"))
    assert all(ratio < 1 for line in printed.values() for ratio in line.values())
    assert all(ratio < 0.5 for k, ratio in printed["m = 0.002"].items())
    assert corrected["m = 0.04"][20] < 1 < corrected["m = 0.04"][24]
