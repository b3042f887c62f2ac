"""Figs. 7 to 16 of Parhami & Kwai 2004: latency under contention, as printed and with the exact loads of the links.

Figs. 14 to 16 divide the latency of the pruned torus by another network's latency.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, spread
from torusweep.charts.looks import SIX
from torusweep.papers.figures.figure import Figure, Record, Row, Tables
from torusweep.papers.figures.p04_distances import CLASSES, radix_and_dimensions, radix_axis
from torusweep.questions.latency.parhami_kwai import PINS, arrivals, contenders, flits
from torusweep.tables.rows import stored_rows

MODEL = "parhami-kwai-2004"
VARIANTS = {"as printed": "mean_latency", "corrected": "mean_latency_corrected"}
RADIX = 16
DELAY, SLOW_DELAY = 3, 7  # cycles of a switch, s
RATE = 0.01  # messages per node and cycle
SHORT, LONG = 96, 384  # message bits, L
LEAST = 3  # fewest points of a line
MOST_MARKS = 42  # marks of a line in a chart against the rate
UTILIZATIONS = (0.1, 0.5, 0.9)
CONTENDERS = 12  # most in Fig. 7
CEILING = 1000  # cycles, where latencies are drawn on a logarithmic axis
THREE = ("torus", "pruned_torus", "directed_torus")
CONTENTION = Chart(
    title="How many packets contend for a channel",
    caption="At light load two packets rarely contend; at 90 % utilization the distribution is nearly geometric, with a"
    " long tail. For the pruned torus, k = 16, L = 96 (the paper names no network; it matters little).",
    x=Axis("contenders", "packets that contend for a channel, i", zero=True, whole=True),
    y=Axis("probability", "probability r(i)", zero=True),
    looks=SIX,
    tips={"line": "utilization", "contenders": "contenders", "probability": "probability"},
)
CYCLES = {
    "topology": "network",
    "variant": "model",
    "rate": "messages per node and cycle",
    "message_bits": "message bits",
    "utilization": "utilization (as printed)",
    "latency": "latency, cycles",
}
TABLES = ("static", "latency")
BOTH = (
    "  Dashed: as printed, with all links equally busy. Solid: corrected, with the loads that the links really have."
    " Where there is no dashed line, the two coincide."
)
MOST_LINES = 5  # lines whose names have room side by side
PRUNED_WIDTH = PINS // 4  # bits of a pruned torus's channel


def latencies(tables: Tables) -> list[Row]:
    """Return the finite latencies of the four classes in three dimensions, with k and family; a row per variant."""
    if not tables.get("latency"):
        return []
    networks = {
        record["topology"]: record
        for record in stored_rows(tables, "static").among("family", CLASSES)
        if (radix_and_dimensions(record) or (0, 0))[1] == 3
    }
    rows = []
    for point in stored_rows(tables, "latency").among("topology", networks):
        if (point["model"], point["constant"], point["budget"]) == (MODEL, "pins", PINS):
            record = networks[point["topology"]]
            columns = ("topology", "rate", "message_bits", "switch_delay", "utilization")
            own = {**{name: point[name] for name in columns}, "family": record["family"], "k": _radix(record)}
            found = {variant: point[column] for variant, column in VARIANTS.items()}
            rows += [
                {**own, "variant": variant, "latency": cycles}
                for variant, cycles in found.items()
                if cycles is not None and math.isfinite(cycles)
            ]
    return rows


def _radix(record: Record) -> int:
    return int(dict(record["parameters"])["k"])


def whole_lines(rows: Iterable[Row], along: str) -> list[Row]:
    """Return the rows of lines of LEAST points or more, line by line along the axis; [] if fewer than two remain."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["line"], row["variant"], row.get("message_bits", 0)), []).append(row)
    whole = {
        key: sorted(group, key=lambda row: row[along])
        for key, group in groups.items()
        if len({row[along] for row in group}) >= LEAST
    }
    return [row for group in whole.values() for row in group] if len({line for line, *_ in whole}) > 1 else []


# --- Fig. 7 -----------------------------------------------------------------------------------


def contention(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 7: probability of i contenders in the pruned torus of radix 16, messages of 96 bits."""
    networks = [
        r
        for r in stored_rows(tables, "static").among("family", ["pruned_torus"])
        if radix_and_dimensions(r) == (RADIX, 3)
    ]
    rows = []
    for record in networks[:1]:
        degree = record["degree_max"]
        for busy in UTILIZATIONS:
            queue = arrivals(busy, degree, flits(SHORT, PINS / degree), record["mean_distance"], directed=False)
            chances = contenders(queue, CONTENDERS + 1).tolist()
            rows += [
                {"line": f"ρ = {busy}", "contenders": i, "probability": chance} for i, chance in enumerate(chances)
            ]
    return rows


# --- Figs. 8 to 13: cycles ----------------------------------------------------------------------


def against_rate(
    tables: Tables, message_bits: int, switch_delay: int, families: tuple[str, ...] = tuple(CLASSES)
) -> list[Row]:
    """Return the rows of Figs. 8 to 12: rate and latency of each class at k = 16, in both variants."""
    wanted = (RADIX, message_bits, switch_delay)
    chosen = [
        row
        for row in latencies(tables)
        if row["family"] in families and (row["k"], row["message_bits"], row["switch_delay"]) == wanted
    ]
    return whole_lines(({**row, "line": CLASSES[row["family"]].name} for row in chosen), "rate")


def against_radix(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 13: latency by radix k at 0.01 messages per node and cycle, with labels on lines."""
    chosen = [
        row
        for row in latencies(tables)
        if at_rate(row, RATE) and row["family"] in THREE and row["message_bits"] in (SHORT, LONG)
    ]
    found = whole_lines(
        ({**row, "line": CLASSES[row["family"]].name} for row in chosen if row["switch_delay"] == DELAY), "k"
    )
    named = [
        min((row for row in found if row["message_bits"] == bits), key=lambda row: (abs(row["k"] - 20), row["latency"]))
        for bits in {row["message_bits"] for row in found}
    ]
    labels = {id(row): f"{row['message_bits']:g} bits" for row in named}
    return [{**row, "label": labels.get(id(row), "")} for row in found]


def at_rate(row: Row, rate: float) -> bool:
    return math.isclose(row["rate"], rate, rel_tol=1e-9)


def _ends(rows: Sequence[Record], *, logarithmic: bool = False) -> dict[str, Any]:
    first = [
        min((row for row in rows if row["line"] == line), key=lambda row: row["rate"])["latency"]
        for line in {row["line"] for row in rows}
    ]
    most = CEILING if logarithmic else math.ceil(3 * max(first))  # shows the crossings, and where each line rises
    return {"y": Axis("latency", "mean latency, cycles", logarithmic, domain=(math.floor(0.9 * min(first)), most))}


AGAINST_RATE = Chart(
    x=Axis("rate", "messages per node and cycle, m", zero=True, format="~g"),
    y=Axis("latency", "mean latency, cycles"),
    of_rows=_ends,
    looks=tuple(CLASSES.values()),
    size=18,
    marks=MOST_MARKS,
    cut=True,
    tips=CYCLES,
)
AGAINST_RADIX = AGAINST_RATE._replace(
    x=radix_axis("k³"),
    y=Axis("latency", "mean latency, cycles", log=True, domain=(10, CEILING)),
    of_rows=None,
    detail="message_bits",
    size=40,
    marks=0,
    names="label",
)


# --- the table of them ----------------------------------------------------------------------------


def latency_figure(number: int, title: str, caption: str, rows: Callable[[Tables], list[Row]], chart: Chart) -> Figure:
    chart = chart._replace(title=title, caption=caption)
    return Figure(f"p04-fig-{number}", "P04", f"Fig. {number}", TABLES, rows, chart)


def _four(number: int, message_bits: int, switch_delay: int, caption: str) -> Figure:
    title = f"Latency of the four classes, k = {RADIX}, L = {message_bits}, s = {switch_delay}"
    rows = partial(against_rate, message_bits=message_bits, switch_delay=switch_delay)
    return latency_figure(number, title, caption + BOTH, rows, AGAINST_RATE)


FIGURES = (
    Figure("p04-fig-7", "P04", "Fig. 7", ("static",), contention, CONTENTION),
    _four(
        8,
        SHORT,
        DELAY,
        "Away from saturation, the pruned torus and the directed torus are each faster than the plain torus. As"
        " printed, both changes together are slower than either alone, but faster than the plain torus from 0.020 to"
        " 0.059, and pruning is also best at heavy load. Corrected, the pruned torus saturates at 0.0625, not 0.0825,"
        " long before the directed one, which is best from 0.022 to 0.071.",
    ),
    _four(
        9,
        SHORT,
        SLOW_DELAY,
        "A slower switch increases the effect of distance: the directed torus is no longer faster than the plain"
        " torus at light load. As printed, pruning is best until close to saturation; corrected, up to 0.038.",
    ),
    _four(
        10,
        LONG,
        DELAY,
        "Long messages: the plain torus suffers most from its narrow channels. Both changes together are no longer"
        " as slow as in Fig. 8, and are best at medium load. As printed, the pruned torus becomes faster than the"
        " directed one at heavy load; corrected, nowhere.",
    ),
    _four(
        11,
        LONG,
        SLOW_DELAY,
        "As Fig. 10 with the slower switch (the paper prints the caption of Fig. 10 twice; s = 7 follows from its"
        " text). Corrected, pruning is best at light load only.",
    ),
    latency_figure(
        12,
        "Up to saturation: torus, pruned, directed, 4096 nodes",
        "As Fig. 8, up to the load where queues grow without bound. As printed, all three saturate within 8 % of each"
        " other, and pruning is better than the plain torus until close to saturation. Corrected, the pruned torus"
        " saturates at three quarters of the load of the plain one." + BOTH,
        partial(against_rate, message_bits=SHORT, switch_delay=DELAY, families=THREE),
        AGAINST_RATE._replace(of_rows=partial(_ends, logarithmic=True)),
    ),
    latency_figure(
        13,
        "Latency against radix at m = 0.01",
        "Short messages: pruned and directed differ by a few per cent. Long messages: the directed torus is faster"
        " until it nears saturation, from k = 28 on, where the printed model makes pruning the best. Corrected, the"
        " pruned torus is saturated there already, beyond k = 24." + BOTH,
        against_radix,
        AGAINST_RADIX,
    ),
)


def relative(tables: Tables, by: str, other: str, other_delay: int) -> list[Row]:
    """Return the rows of Figs. 14 to 16: k, and the pruned torus's latency (s = 3) divided by that of class `other`.

    by  'message_bits': a line per message length, at 0.01 messages per node and cycle; 'rate': a line per rate, 96 bits
    Rows without a finite latency are left out.
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
    """Return the rows of at most MOST_LINES lines with enough radices, chosen at even distances."""
    several = sorted({row[by] for row in rows if len({r["k"] for r in rows if r[by] == row[by]}) >= LEAST})
    chosen = spread(several, MOST_LINES)
    return sorted((row for row in rows if row[by] in chosen), key=lambda row: row[by])


def _ratio_chart(y: str, domain: tuple[float, float]) -> Chart:
    tips = {name: CYCLES[name] for name in ("topology", "variant", "rate", "message_bits")}
    return Chart(
        x=radix_axis("k³"),
        y=Axis("ratio", y, domain=domain),
        looks=SIX,
        level=1.0,
        cut=True,
        tips=tips | {"latency": "pruned, cycles", "over": "the other, cycles", "ratio": "ratio"},
    )


def _over_torus(number: int, title: str, caption: str, by: str) -> Figure:
    rows = partial(relative, by=by, other="torus", other_delay=DELAY)
    return latency_figure(number, title, caption + BOTH, rows, _ratio_chart("latency, pruned ÷ plain", (0.5, 1.3)))


RATIO_FIGURES = (
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
        _ratio_chart("latency, pruned (s = 3) ÷ directed (s = 7)", (0.4, 1.2)),
    ),
)
