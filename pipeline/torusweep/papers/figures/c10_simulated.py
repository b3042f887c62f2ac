"""Figs. 8 to 12 of Cámara et al. 2010: straight and twisted tori simulated with the paper's router."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, compared
from torusweep.charts.looks import Look
from torusweep.networks.spelling import parse
from torusweep.papers.figures.c10 import FAMILIES, class_bars
from torusweep.papers.figures.figure import Figure, Record, Row, Tables, panel_of
from torusweep.papers.verification.quantities import SimulatedRows

ROUTER = "bluegene"
PLANE, SPACE = ("rt", "rtt"), ("pt", "ptt", "pdtt")
SMALLEST = {PLANE: 16, SPACE: 8}  # the smallest side that is drawn; the paper has 16 and 32
PERMUTATIONS = {
    "bit_complement": "bit complement",
    "bit_reversal": "bit reversal",
    "perfect_shuffle": "perfect shuffle",
}
DASHES = ((1, 0), (5, 3), (2, 2))  # by size
UTILIZATION = class_bars("mean use of a link, flits/cycle", "", "")
BOTH = ("loads", "simulation")
RULES = "Horizontal lines: the load that the links can carry."


def throughput(tables: Tables, families: tuple[str, ...], traffic: str) -> list[Row]:
    """Return rows of offered and accepted load, and capacity, the load that the links can carry (None if unknown)."""
    return compared(_curves(tables, families, traffic), "offered") if "loads" in tables else []


def latency(tables: Tables, families: tuple[str, ...]) -> list[Row]:
    """Return rows of offered load and total latency, up to saturation."""
    curves = _curves({"simulation": tables.get("simulation", ())}, families, "uniform")
    return compared([row for row in curves if not row["saturated"]], "offered")


def utilization(tables: Tables) -> list[Row]:
    """Return rows of the mean `use` of each link class at the largest accepted load, for the largest networks."""
    rows = []
    for families in (PLANE, SPACE):
        found = _simulated(tables, families, "uniform")
        largest = max((_side(row) for row in found), default=0)
        for name in dict.fromkeys(row["topology"] for row in found if _side(row) == largest):
            best = max((row for row in found if row["topology"] == name), key=lambda row: row["accepted_load"])
            for kind, own in sorted(dict(best["per_class_utilization"]).items()):
                rows.append(
                    {
                        "topology": name,
                        "line": _name(best),
                        "class": kind,
                        "use": own["mean"],
                        "offered": best["offered_load"],
                    }
                )
    return compared(rows, "class")


def permutations(tables: Tables, families: tuple[str, ...]) -> list[Row]:
    """Return rows of the largest accepted load (most), its gain over the straight torus, and the links' capacity."""
    if "loads" not in tables:
        return []
    rows = []
    for traffic, words in PERMUTATIONS.items():
        curves = _curves(tables, families, traffic)
        best = {
            name: max((row for row in curves if row["topology"] == name), key=lambda row: row["accepted"])
            for name in _names(curves)
        }
        for name, row in best.items():
            straight = best.get(f"{families[0]}({name.partition('(')[2]}")
            gain = None if straight is None else row["accepted"] / straight["accepted"] - 1
            own = {column: row[column] for column in ("topology", "line", "capacity")}
            rows.append({**own, "traffic": words, "most": row["accepted"], "gain": gain})
    return compared(rows, "traffic")


def _curves(tables: Tables, families: tuple[str, ...], traffic: str) -> list[Row]:
    bounds = SimulatedRows((), tables.get("loads", ()))
    return [
        {
            "topology": row["topology"],
            "line": _name(row),
            "offered": row["offered_load"],
            "accepted": row["accepted_load"],
            "latency": row["total_latency"],
            "saturated": row["saturated"],
            "capacity": bounds.capacity(row),
        }
        for row in _simulated(tables, families, traffic)
    ]


def _simulated(tables: Tables, families: tuple[str, ...], traffic: str) -> list[Record]:
    """Return simulations of the paper's networks with its router, ordered by size, family and offered load."""
    rows = [
        row
        for row in tables.get("simulation", ())
        if (row["router"], row["traffic"]) == (ROUTER, traffic) and row["offered_load"] is not None
    ]
    own = [row for row in rows if _family(row) in families and _side(row) >= SMALLEST[families]]
    return sorted(own, key=lambda row: (_side(row), families.index(_family(row)), row["offered_load"]))


def _family(row: Record) -> str:
    return parse(row["topology"]).name


def _side(row: Record) -> int:
    return int(str(row["topology"]).partition("a=")[2].rstrip(")"))


def _name(row: Record) -> str:
    """Return the name of a row's network as the paper writes it, such as RTT 32 × 16."""
    family, a = _family(row), _side(row)
    return f"{FAMILIES[family].name} {' × '.join(map(str, (2 * a, *[a] * (1 if family in PLANE else 2))))}"


def _names(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["topology"] for row in rows))


def _lines(rows: Sequence[Record]) -> tuple[Look, ...]:
    """Return the look of each network's line: colour and symbol by its family, dash by its size."""
    sizes = sorted({row["line"].partition(" ")[2] for row in rows}, key=len)
    by_name = {line.name: line for line in FAMILIES.values()}
    names = list(dict.fromkeys(row["line"] for row in rows))
    return tuple(
        by_name[name.split()[0]]._replace(name=name, dash=DASHES[sizes.index(name.partition(" ")[2]) % len(DASHES)])
        for name in names
    )


CURVES = Chart(
    x=Axis("offered", "offered load, flits/cycle/node"),
    y=Axis("accepted", "accepted load, flits/cycle/node", zero=True),
    tips={"topology": "network", "offered": "offered load, flits/cycle/node", "accepted": "accepted load"}
    | {"latency": "latency, cycles", "capacity": "what the links can carry"},
    of_rows=lambda rows: {"looks": _lines(rows)},
)
BARS = Chart(
    x=Axis("traffic", order=tuple(PERMUTATIONS.values())),
    y=Axis("most", "largest accepted load, flits/cycle/node", zero=True),
    bar=True,
    level="capacity",
    tips={"topology": "network", "most": "most accepted, flits/cycle/node"}
    | {"gain": ("gain over the straight torus", ".1%"), "capacity": "what shortest paths can carry"},
    of_rows=lambda rows: {"looks": _lines(rows)},
)


THROUGHPUT = CURVES._replace(level="capacity")
LATENCY = CURVES._replace(y=Axis("latency", "mean latency, cycles", zero=True))


def _figure(
    number: str, tables: tuple[str, ...], title: str, caption: str, rows: Callable[[Tables], list[Row]], chart: Chart
) -> Figure:
    chart = chart._replace(title=title, caption=caption)
    return Figure(f"c10-fig-{number}-simulated", "C10", panel_of(number), tables, rows, chart)


FIGURES = (
    _figure(
        "8a",
        BOTH,
        "Accepted load, uniform traffic, two dimensions",
        "Accepted load equals offered load up to saturation; the twisted torus (RTT) saturates later than the"
        f" straight one (RT). {RULES}",
        lambda tables: throughput(tables, PLANE, "uniform"),
        THROUGHPUT,
    ),
    _figure(
        "8b",
        BOTH,
        "Accepted load, uniform traffic, three dimensions",
        f"One twist (PTT) carries more than none (PT), and two (PDTT) more than one. {RULES}",
        lambda tables: throughput(tables, SPACE, "uniform"),
        THROUGHPUT,
    ),
    _figure(
        "9a",
        ("simulation",),
        "Latency, uniform traffic, two dimensions",
        "From a packet's generation to its arrival, up to saturation. The twisted torus (RTT) has shorter paths, and"
        " less latency at every load.",
        lambda tables: latency(tables, PLANE),
        LATENCY,
    ),
    _figure(
        "9b",
        ("simulation",),
        "Latency, uniform traffic, three dimensions",
        "One twist (PTT) reduces latency at every load and raises the saturation load; a second twist (PDTT) adds"
        " little.",
        lambda tables: latency(tables, SPACE),
        LATENCY,
    ),
    _figure(
        "10",
        ("simulation",),
        "Use of the links where most is accepted",
        "Uniform traffic. Straight tori leave half the capacity of the short dimensions unused; a twist in xy loads"
        " x and y equally, two twists load all three equally.",
        utilization,
        UTILIZATION,
    ),
    _figure(
        "11a",
        BOTH,
        "Accepted load, hot region, two dimensions",
        "A quarter of the traffic goes to an eighth of the nodes. The twist helps, but less than under uniform"
        f" traffic. {RULES}",
        lambda tables: throughput(tables, PLANE, "hot_region"),
        THROUGHPUT,
    ),
    _figure(
        "11b",
        BOTH,
        "Accepted load, hot region, three dimensions",
        "A quarter of the traffic goes to an eighth of the nodes. As in the paper, one twist (PTT) gains about as"
        " much as under uniform traffic, and two (PDTT) gain less.",
        lambda tables: throughput(tables, SPACE, "hot_region"),
        THROUGHPUT,
    ),
    _figure(
        "12a",
        BOTH,
        "Largest accepted load, permutations, two dimensions",
        "Under bit complement the twisted torus (RTT) accepts a quarter more, as in the paper. The paper's gains"
        " under bit reversal and perfect shuffle do not appear here. Ticks: the load that shortest paths can carry if"
        " all nodes get an equal share; beyond it, some nodes send more than others.",
        lambda tables: permutations(tables, PLANE),
        BARS,
    ),
    _figure(
        "12b",
        BOTH,
        "Largest accepted load, permutations, three dimensions",
        "Under bit complement and perfect shuffle, twists help, two (PDTT) more than one (PTT), as in the paper but"
        " less. Under bit reversal only two twists help.",
        lambda tables: permutations(tables, SPACE),
        BARS,
    ),
)
