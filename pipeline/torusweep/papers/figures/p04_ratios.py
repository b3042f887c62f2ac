"""Parhami & Kwai 2004, Figs. 14 to 16: the pruned torus's latency relative to another network's."""

from __future__ import annotations

from functools import partial

from torusweep.charts import Drawing
from torusweep.charts.drawing import Axis, Chart, cut_above
from torusweep.charts.looks import named_looks
from torusweep.models.parhami_kwai import PINS
from torusweep.papers.figures.figure import Figure, Row, Tables
from torusweep.papers.figures.p04_distances import radix_axis
from torusweep.papers.figures.p04_latency import (
    BOTH,
    CYCLES,
    DELAY,
    LEAST,
    RATE,
    SHORT,
    SLOW_DELAY,
    at_rate,
    latencies,
    latency_figure,
    whole_lines,
)

MOST_LINES = 5  # whose names have room side by side
PRUNED_WIDTH = PINS // 4  # bits of a pruned torus's channel


def relative(tables: Tables, by: str, other: str, other_delay: int) -> list[Row]:
    """Radix k and ratio: latency of the pruned torus (s = 3) over the other class's, both finite; in both variants.

    by  'message_bits': a line a message length, at 0.01 messages per node and cycle; 'rate': a line a rate, at 96 bits
    """
    rows = [
        row
        for row in latencies(tables)
        if (at_rate(row, RATE) if by == "message_bits" else row["message_bits"] == SHORT)
    ]
    beneath = {
        (r["k"], r[by], r["variant"]): r["latency"]
        for r in rows
        if (r["family"], r["switch_delay"]) == (other, other_delay)
    }
    found = []
    for row in rows:
        key = (row["k"], row[by], row["variant"])
        if (row["family"], row["switch_delay"]) == ("pruned_torus", DELAY) and key in beneath:
            name = f"F = {row[by] / PRUNED_WIDTH:g}" if by == "message_bits" else f"m = {row[by]:g}"
            columns = ("topology", "k", "variant", "rate", "message_bits")
            own = {**{column: row[column] for column in columns}, "line": name, "latency": row["latency"]}
            found.append({**own, "over": beneath[key], "ratio": row["latency"] / beneath[key]})
    return whole_lines(_some(found, by), "k")


def _some(rows: list[Row], by: str) -> list[Row]:
    """Rows of MOST_LINES at most, spread over those that run over several radices."""
    several = sorted({row[by] for row in rows if len({r["k"] for r in rows if r[by] == row[by]}) >= LEAST})
    count = min(MOST_LINES, len(several))
    chosen = {several[i * (len(several) - 1) // max(1, count - 1)] for i in range(count)}
    return sorted((row for row in rows if row[by] in chosen), key=lambda row: row[by])


def _ratio_chart(rows: list[Row], title: str, domain: tuple[float, float]) -> Drawing:
    tips = {name: CYCLES[name] for name in ("topology", "variant", "rate", "message_bits")}
    return Chart(
        x=radix_axis("k³"),
        y=Axis("ratio", title, domain=domain),
        looks=named_looks(row["line"] for row in rows),
        level=1.0,
        tips=tips | {"latency": "pruned, cycles", "over": "the other, cycles", "ratio": "ratio"},
    ).draw(cut_above(rows, "k", "ratio", domain[1]))


def _over_torus(number: int, title: str, caption: str, by: str) -> Figure:
    rows = partial(relative, by=by, other="torus", other_delay=DELAY)
    return latency_figure(
        number, title, caption + BOTH, rows, lambda found: _ratio_chart(found, "latency, pruned ÷ plain", (0.5, 1.3))
    )


FIGURES = (
    _over_torus(
        14,
        "Pruned over plain torus, m = 0.01, by message length",
        "Below the line, pruning is faster. As printed, it gains more for longer messages (F flits, in the pruned"
        " torus). With long messages it gains more in larger networks, until close to saturation; with F = 4, size"
        " hardly matters. Corrected, the gain of long messages becomes a loss where the pruned torus nears its true"
        " saturation.",
        "message_bits",
    ),
    _over_torus(
        15,
        "Pruned over plain torus, F = 4, by load",
        "As printed, pruning gains little at light load (no more in large networks than in small ones) and much at"
        " heavy load, until close to saturation. Corrected, the gain at heavy load is smaller, and vanishes before"
        " three quarters of the printed saturation.",
        "rate",
    ),
    latency_figure(
        16,
        "Pruned over directed torus with a slower switch (s = 3 against 7)",
        "If routing in the directed torus is slower, so that a hop takes 7 cycles instead of 3, the pruned torus has"
        " less than half its latency at light load (F = 4). Corrected, it is still faster until it nears its own"
        " saturation. Where a line falls at its end, the directed torus nears saturation." + BOTH,
        partial(relative, by="rate", other="directed_torus", other_delay=SLOW_DELAY),
        lambda rows: _ratio_chart(rows, "latency, pruned (s = 3) ÷ directed (s = 7)", (0.4, 1.2)),
    ),
)
