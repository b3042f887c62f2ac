"""Figs. 6 to 8 and delay variants of Dally 1990: k-ary n-cubes of equal bisection width, by their dimension."""

from __future__ import annotations

from functools import partial

from torusweep.charts import Axis
from torusweep.charts.drawing import VARIANTS, Chart
from torusweep.charts.looks import SIX, Look
from torusweep.papers.figures.figure import Figure, Row, Tables
from torusweep.questions.latency.dally import cube, wire_density
from torusweep.tables.rows import stored_rows

MODEL = "dally-1990"
MESSAGE_BITS = 150
LARGEST = 2**20  # nodes of the largest network; a row of its layout has 1024
NODES = (2**8, 2**14, LARGEST)
ENDINGS = dict(zip(VARIANTS, ("", "_corrected")))  # endings of columns that depend on the length of the wires
ROW = (Look("binary 20-cube", "#006DAD", "circle"), Look("2D torus", "#B84300", "square", (5, 3)))
DENSITY = Chart(
    title="Wire density along a row of the layout",
    caption="1024 nodes in a row; both networks have the same bisection width. The wire density of the binary cube"
    " peaks at 1364, a third of the way along the row; it is 1024 in the middle, and low at the edges. The torus has"
    " 1024 everywhere.",
    x=Axis("position", "position in the row, nodes from its edge", domain=(0, 1024)),
    y=Axis("wires", "wires across the row, bits", zero=True),
    looks=ROW,
    size=8,
    tips={"line": "network", "position": "position", "wires": "wires"},
)
PINS = Chart(
    title="Pins per node against dimension",
    caption="With equal bisection width, low dimensions have wide channels: nk pins a node. The torus of 1M nodes would"
    " need 2048 pins (the paper omits it as unrealizable); four dimensions need 128.",
    x=Axis("dimension", "dimension n", whole=True),
    y=Axis("pins", "pins per node", log=True),
    looks=SIX,
    size=30,
    tips={"nodes": "nodes", "dimension": "dimension n", "radix": "radix k", "pins": "pins per node"}
    | {"longest_wire": "longest wire, pitches", "mean_latency": "latency, cycles", "variant": "wires"},
)
LATENCY = PINS._replace(y=Axis("mean_latency", "latency without contention, cycles", log=True), ringed="best")


def against_dimension(tables: Tables, wire_delay: str) -> list[Row]:
    """Return the rows of Figs. 7 and 8: pins and latency of cubes of real radix, with a line per number of nodes.

    In the rows, `best` says whether the latency is the least of the line. If a cycle grows with the wires, there is a
    row for each variant: with the wires of Eq. 13, and with the wires of the folded rings of the paper's layout.
    """
    rows = []
    endings = {"": ""} if wire_delay == "constant" else ENDINGS
    for point in stored_rows(tables, "latency").among("nodes", NODES):
        columns = ("model", "message_bits", "wire_delay", "locality", "radices")
        wanted = (MODEL, MESSAGE_BITS, wire_delay, 1.0, "real")
        if tuple(point[name] for name in columns) == wanted:
            own = {
                **{name: point[name] for name in ("nodes", "dimension", "radix", "pins")},
                "line": f"N = {_binary(point['nodes'])}",
            }
            for variant, ending in endings.items():
                best = point["dimension"] == point[f"best_dimension{ending}"]
                of_wires = {name: point[f"{name}{ending}"] for name in ("longest_wire", "mean_latency")}
                rows.append({**own, **of_wires, "best": best, **({"variant": variant} if variant else {})})
    return sorted(rows, key=lambda row: (row.get("variant", ""), row["nodes"], row["dimension"]))


def _binary(nodes: int) -> str:
    """Return a number of nodes in the paper's abbreviation, in which 1K is 1024 and 1M is 1024²."""
    return next(
        (f"{nodes >> bits}{unit}" for unit, bits in (("M", 20), ("K", 10)) if nodes % (1 << bits) == 0), str(nodes)
    )


def density(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 6: wires across each gap in a row of 1024 nodes, for a 20-cube and an equal 2D torus."""
    if not any(point["model"] == MODEL for point in stored_rows(tables, "latency").among("nodes", [LARGEST])):
        return []
    rows = []
    for line, dimensions in zip(ROW, (20, 2)):
        radix = round(LARGEST ** (1 / dimensions))
        width = float(cube(LARGEST, dimensions).width)
        wires = (wire_density([radix] * (dimensions // 2)) * width).tolist()
        ends = (0, len(wires) - 1)  # always drawn: the torus's line needs two points
        changes = [p for p in range(len(wires)) if p in ends or wires[p] != wires[p - 1]]
        rows += [{"line": line.name, "position": p + 1, "wires": wires[p]} for p in changes]
    return rows


def _latency(id: str, place: str, wire_delay: str, caption: str) -> Figure:
    chart = LATENCY._replace(title=f"Latency against dimension, {wire_delay} wire delay", caption=caption)
    return Figure(id, "D90", place, ("latency",), partial(against_dimension, wire_delay=wire_delay), chart)


FIGURES = (
    Figure("d90-fig-6", "D90", "Fig. 6", ("latency",), density, DENSITY),
    Figure("d90-fig-7", "D90", "Fig. 7", ("latency",), partial(against_dimension, wire_delay="constant"), PINS),
    _latency(
        "d90-fig-8",
        "Fig. 8",
        "constant",
        "Messages of 150 bits. Low dimensions have long paths, high dimensions have narrow channels. The minimum"
        " (circled) is at 2, 4 and 5 dimensions for 256, 16K and 1M nodes, although long wires cost nothing here."
        " Wormhole routing, no contention, real-valued radix.",
    ),
    _latency(
        "d90-logarithmic",
        "Sec. 5.1, logarithmic delay",
        "logarithmic",
        "As Fig. 8, with a cycle of 1 + log₂ of the longest wire. With the wires of Eq. 13 (dashed: as printed) the"
        " minimum moves to 2, 2 and 5 dimensions. The paper's own layout folds the rings, so that wires are twice as"
        " long, except in binary cubes (solid: corrected); the minimum is then at 2, 3 and 5. Binary cubes become"
        " worse in both cases. The available text ends before the paper's own figure.",
    ),
    _latency(
        "d90-linear",
        "Sec. 5.1, linear delay",
        "linear",
        "As Fig. 8, with a cycle proportional to the longest wire. Two dimensions are best at every size, with the"
        " wires of Eq. 13 (dashed: as printed) and with those of the paper's folded layout (solid: corrected), which"
        " double every cycle except that of binary cubes. The available text ends before the paper's own figure.",
    ),
)
