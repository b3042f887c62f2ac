"""Figures of Rahman et al. 2005: Table 1 as bars (shortest paths, routed paths, printed numbers), and Figs. 4 to 6.

Figs. 4 to 6 have transfer time by throughput of networks of 4096 nodes, with wormhole routing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from torusweep.charts import Axis
from torusweep.charts.drawing import Chart, compared
from torusweep.charts.looks import SIX, Look
from torusweep.papers.figures.figure import Figure, Record, Row, Tables, panel_of
from torusweep.tables.rows import stored_rows

PAPER, PLACE = "R05", "Table 1"
MEASURES = tuple(
    Look(name, colour, "square")
    for name, colour in (("shortest", "#006DAD"), ("own routing", "#C48600"), ("printed", "#7C818A"))
)
ROUTER, TRAFFIC = "rahman-2005", "uniform"
MH3DT, H3DT, TESH, MESH = (
    "mh3dt(m=4, n=4, levels=2, q=2)",
    "h3dt(m=4, n=4, levels=2, q=2)",
    "tesh(m=2, levels=3, q=0)",
    "mesh(k=64, n=2)",
)
NETWORKS = {  # Fig. 4: network and virtual channels
    (MH3DT, 2): SIX[0]._replace(name="MH3DT"),
    (H3DT, 2): SIX[1]._replace(name="H3DT"),
    (TESH, 2): SIX[2]._replace(name="TESH"),
    (MESH, 1): SIX[3]._replace(name="mesh, 1 VC", dash=(5, 3)),
    (MESH, 2): SIX[4]._replace(name="mesh, 2 VCs"),
}
LENGTHS = {flits: line._replace(name=f"{flits} flits") for flits, line in zip((16, 64, 256), SIX)}
CHANNELS = {many: line._replace(name=f"{many} VCs") for many, line in zip((2, 3, 4), SIX)}


class Printed(NamedTuple):
    """A column of hops in Table 1 of the paper, and its counterparts here.

    row            ending of the line's rows in the table `verification`
    column         our column for shortest paths
    routed_column  our column for the network's own routing
    most           end of the axis; the mesh's bars are far longer, and are cut here
    """

    row: str
    column: str
    routed_column: str
    most: int


DIAMETER = Printed(": diameter", "diameter", "routed_diameter", 36)
MEAN = Printed(": average distance", "mean_distance", "routed_mean_distance", 20)


def bars(tables: Tables, printed: Printed) -> list[Row]:
    """Return a row for each network (in the paper's order) and measure; `shown` has the hops, cut at the axis's end."""
    lines = [
        line
        for line in tables.get("verification", ())
        if (line["paper"], line["place"]) == (PAPER, PLACE) and line["row"].endswith(printed.row)
    ]
    static = stored_rows(tables, "static").among("topology", (line["topology"] for line in lines))
    networks = {record["topology"]: record for record in static}
    rows = []
    for line in lines:
        if line["topology"] in networks:
            record = networks[line["topology"]]
            values = (record[printed.column], record[printed.routed_column], line["paper_value"])
            for measure, hops in zip(MEASURES, values, strict=True):
                if hops is not None:
                    own = {"network": line["row"].removesuffix(printed.row), "topology": line["topology"]}
                    own |= {"nodes": record["nodes"], "measure": measure.name, "hops": hops}
                    rows.append({**own, "shown": min(hops, printed.most), "label": _label(hops, printed.most)})
    return rows


def _label(hops: float, most: float) -> str:
    return f"{hops:.4g}" + (", cut" if hops > most else "")


def _chart(printed: Printed, x: str, title: str, caption: str) -> Chart:
    ticks = tuple(range(0, printed.most + 1, 4))  # beyond them stand labels only
    return Chart(
        title=title,
        caption=caption,
        wide=True,
        x=Axis("shown", x, domain=(0, printed.most * 1.3), ticks=ticks),
        y=Axis("network", order=()),
        line="measure",
        looks=MEASURES,
        names="label",
        bar=True,
        tips={"topology": "network", "nodes": "nodes", "measure": "measure", "hops": "hops"},
    )


FIGURES = (
    Figure(
        "r05-table-1-diameter",
        PAPER,
        "Table 1, diameter, as bars",
        ("static", "verification"),
        lambda tables: bars(tables, DIAMETER),
        _chart(
            DIAMETER,
            "longest path, hops",
            "Longest path: graph, routing, paper",
            "The paper's diameters of hierarchies (TESH, H3DT, MH3DT) are the longest paths of its routing algorithm."
            " The longest shortest paths are one to three hops shorter, in TESH ten. The paper's 22 for CCC comes from"
            " a formula; the graph's diameter is 20. The mesh's bars are cut.",
        ),
    ),
    Figure(
        "r05-table-1-mean",
        PAPER,
        "Table 1, average distance, as bars",
        ("static", "verification"),
        lambda tables: bars(tables, MEAN),
        _chart(
            MEAN,
            "mean path, hops",
            "Mean path: graph, routing, paper",
            "As for the diameter, the paper measures its hierarchies along its own routes. Its means of mesh and TESH"
            " are over distinct pairs, all others are divided by N. The paper's 12.75 for CCC comes from a formula; the"
            " graph's mean distance is 12.10. The mesh's bars are cut.",
        ),
    ),
)

Key = TypeVar("Key")


def networks(tables: Tables, buffer_flits: int) -> list[Row]:
    """Return the rows of Fig. 4, with messages of 16 flits: offered load, accepted load, latency within the network."""
    rows = [row for row in _simulated(tables) if (row["buffer_flits"], row["packet_flits"]) == (buffer_flits, 16)]
    return _drawn(rows, NETWORKS, lambda row: (row["topology"], row["virtual_channels"]))


def lengths(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 5: the columns of Fig. 4 for MH3DT, by message length; latency is divided by length."""
    rows = [
        row
        for row in _simulated(tables)
        if (row["topology"], row["buffer_flits"], row["virtual_channels"]) == (MH3DT, 2, 2)
    ]
    found = _drawn(rows, LENGTHS, lambda row: row["packet_flits"])
    return [{**row, "latency": row["latency"] / row["flits"]} for row in found]


def channels(tables: Tables) -> list[Row]:
    """Return the rows of Fig. 6: the columns of Fig. 4 for MH3DT, by number of virtual channels."""
    rows = [
        row
        for row in _simulated(tables)
        if (row["topology"], row["buffer_flits"], row["packet_flits"]) == (MH3DT, 2, 16)
    ]
    return _drawn(rows, CHANNELS, lambda row: row["virtual_channels"])


def _simulated(tables: Tables) -> list[Record]:
    rows = [row for row in tables.get("simulation", ()) if (row["router"], row["traffic"]) == (ROUTER, TRAFFIC)]
    return [row for row in rows if row["offered_load"] is not None and row["network_latency"] is not None]


def _drawn(rows: list[Record], lines: Mapping[Key, Look], which: Callable[[Record], Key]) -> list[Row]:
    """Return chart rows of the given lines, each by ascending load; `which` returns a row's line."""
    found = [
        {
            "topology": row["topology"],
            "line": lines[which(row)].name,
            "flits": row["packet_flits"],
            "offered": row["offered_load"],
            "accepted": row["accepted_load"],
            "latency": row["network_latency"],
        }
        for row in sorted(rows, key=lambda row: row["offered_load"])
        if which(row) in lines
    ]
    order = [line.name for line in lines.values()]
    return compared(sorted(found, key=lambda row: order.index(row["line"])), "offered")


def _simulated_chart(lines: Mapping[Key, Look], title: str) -> Chart:
    """Return a chart of latency by throughput, with curves from load to load even where throughput falls."""
    return Chart(
        x=Axis("accepted", "throughput, flits/cycle/node"),
        y=Axis("latency", title, log=True),
        looks=tuple(lines.values()),
        along="offered",
        tips={"topology": "network", "offered": "offered load, flits/cycle/node", "accepted": "accepted load"}
        | {"latency": title},
    )


def _figure(
    number: str,
    title: str,
    caption: str,
    rows: Callable[[Tables], list[Row]],
    lines: Mapping[Key, Look],
    y: str = "latency, cycles",
) -> Figure:
    chart = _simulated_chart(lines, y)._replace(title=title, caption=caption)
    return Figure(f"r05-fig-{number}-simulated", "R05", panel_of(number), ("simulation",), rows, chart)


SIMULATED_FIGURES = (
    _figure(
        "4a",
        "Transfer time against throughput, buffers of 2 flits",
        "As in the paper, MH3DT has the least transfer time at light load. It carries more than H3DT, TESH and a"
        " mesh with one virtual channel, and less than a mesh with two.",
        lambda tables: networks(tables, 2),
        NETWORKS,
    ),
    _figure(
        "4b",
        "Transfer time against throughput, buffers of 20 flits",
        "Transfer times have the same order, and MH3DT and TESH carry about the same load. In the paper both meshes"
        " carry less than MH3DT; here they carry more. With buffers for whole messages, the meshes come near the"
        " limit of their bisection, whereas the two channels of MH3DT belong to two classes of one channel each. With"
        " four channels MH3DT carries more than the mesh with one, with eight more than both.",
        lambda tables: networks(tables, 20),
        NETWORKS,
    ),
    _figure(
        "5",
        "Longer messages, MH3DT",
        "Longer messages take less time per flit, and the network carries more, because a path is set up once per"
        " message.",
        lengths,
        LENGTHS,
        "latency / message length, cycles/flit",
    ),
    _figure(
        "6",
        "More virtual channels, MH3DT",
        "As in the paper, the third channel helps much and the fourth little. Of the two classes of channels, the"
        " class for the way to the destination's module benefits from a second channel.",
        channels,
        CHANNELS,
    ),
)
