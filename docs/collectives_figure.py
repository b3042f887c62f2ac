"""Draws docs/collectives.svg: python docs/collectives_figure.py (some seconds)."""

from __future__ import annotations

from pathlib import Path

import altair as alt
from torusweep.charts import finished, inline, save
from torusweep.charts.looks import SIX
from torusweep.networks.families import build
from torusweep.questions.collectives.record import collective_record

NETWORKS = {
    "torus 8 × 8": "torus(k=8, n=2)",
    "torus 4 × 4 × 4": "torus(k=4, n=3)",
    "torus 8 × 4 × 4": "torus(radices=[8, 4, 4])",
    "torus 8 × 8 × 4": "torus(radices=[8, 8, 4])",
    "torus 4 × 4 × 2": "torus(radices=[4, 4, 2])",
    "PDTT(4), 128 nodes": "pdtt(a=4)",
    "mesh 8 × 8": "mesh(k=8, n=2)",
    "mesh 4 × 4 × 4": "mesh(k=4, n=3)",
    "torus 8 × 8 less a link": "faulty(torus(k=8, n=2), links=1, seed=1)",
    "torus 4 × 4 × 4 less a link": "faulty(torus(k=4, n=3), links=1, seed=1)",
}
BAR = "M-0.13,-1.7H0.13V1.7H-0.13Z"
ALGORITHMS = {  # name → (in the legend, colour, shape)
    "trees": ("optimum, reached by trees", "#000000", BAR),
    "rings": ("disjoint rings", SIX[0].colour, "circle"),
    "bucket": ("bucket", SIX[1].colour, "square"),
    "ring": ("one ring, both ways", SIX[2].colour, "triangle-up"),
    "direct": ("direct", SIX[3].colour, "diamond"),
}


def main() -> None:
    rows = []
    for network, spelling in NETWORKS.items():
        topology = build(spelling)
        for algorithm, (name, _, _) in ALGORITHMS.items():
            bandwidth = collective_record(topology, "all_reduce", algorithm)["bus_bandwidth"]
            if bandwidth is not None:
                rows.append({"network": network, "algorithm": name, "bandwidth": bandwidth})
    names, colours, shapes = (list(column) for column in zip(*ALGORITHMS.values()))
    title = "bus bandwidth of an all-reduce, in flits per cycle per terminal"
    chart = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=90, opacity=0.9)
        .encode(
            x=alt.X(
                "bandwidth:Q", title=title, scale=alt.Scale(domain=[0, 6.3], nice=False), axis=alt.Axis(format="d")
            ),
            y=alt.Y("network:N", title=None, sort=list(NETWORKS), axis=alt.Axis(labelLimit=260, grid=True)),
            shape=alt.Shape("algorithm:N", title=None, sort=names, scale=alt.Scale(domain=names, range=shapes)),
            color=alt.Color("algorithm:N", title=None, sort=names, scale=alt.Scale(domain=names, range=colours)),
        )
    )
    save(finished(chart, width=620, height=330), Path(__file__).with_name("collectives.svg"))


if __name__ == "__main__":
    main()
