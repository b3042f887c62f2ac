"""Draws docs/availability.svg: python docs/availability_figure.py (a minute or two)."""

from __future__ import annotations

from pathlib import Path

import altair as alt
from torusweep.charts import LIGHT, config, save, specification
from torusweep.networks.families import build
from torusweep.questions.availability.record import availability_rows
from torusweep.questions.availability.request import AvailabilityRequest
from torusweep.questions.availability.section import distribution, mark
from torusweep.questions.how import How

NETWORKS = {
    "torus 8 × 8 × 8": "torus(k=8, n=3)",
    "Dragonfly a=8, p=4, h=4": "dragonfly(a=8, p=4, h=4, groups=16)",
    "HyperX 8 × 8, 8 terminals": "hyperx(radices=[8, 8], terminals=8)",
    "Slim Fly q=8, 4 terminals": "slim_fly(q=8, terminals=4)",
    "8-ary 3-tree": "fat_tree(k=8, n=3)",
}
PROBABILITIES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05)
PANELS = (  # measure, whether relative to the network without failures, title of the axis
    ("diameter", False, ""),
    ("mean_distance", True, "mean distance / intact"),
    ("saturation_load", False, ""),
    ("saturation_load", True, "saturation load / intact"),
)
ENDS = ("low", "high")
VALUES = ("mean", "mean_low", "mean_high", "q05", "q95", "worst")
DRAWS, SAMPLE = 5000, 100


def main() -> None:
    rows = []
    for name, spelling in NETWORKS.items():
        network = build(spelling)
        for probability in PROBABILITIES:
            request = AvailabilityRequest("links", None, probability, draws=DRAWS, sample=SAMPLE)
            found = availability_rows(network, request, How())
            rows += [mark(row, name) for row in found if row["mean"] is not None]
            for row in found:
                print(name, probability, row["measure"], row["measured"], *(row[column] for column in VALUES))
    panels = []
    for measure, relative, title in PANELS:
        drawn = [row for row in rows if row["measure"] == measure]
        if relative:
            drawn = [
                row | {name: None if row[name] is None else row[name] / row["intact"] for name in (*VALUES, *ENDS)}
                for row in drawn
            ]
        chart = distribution("probability", "links", measure)
        chart = chart._replace(y=chart.y._replace(title=title or chart.y.title))
        panels.append(chart.draw(drawn).properties(width=330, height=230))
    chart = alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:]))
    finished = specification(chart)
    finished |= {"config": {**config(LIGHT), "background": LIGHT.paper}, "padding": 16}
    save(finished, Path(__file__).with_name("availability.svg"))


if __name__ == "__main__":
    main()
