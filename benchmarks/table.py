"""The rows of a run as a Markdown table in a page, and times against sizes as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import pyarrow as pa
from torusweep.charts import finished, save

from benchmarks.growth import exponent
from benchmarks.race import Row

TEXTS, NUMBERS = ("benchmark", "case", "contender", "unit"), ("seconds", "rate", "ratio", "ratio_low", "ratio_high")
SCHEMA = pa.schema(
    [("nodes", pa.int64()), *((name, pa.string()) for name in TEXTS), *((name, pa.float64()) for name in NUMBERS)]
)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def markdown(rows: Sequence[Row], about: Mapping[str, str]) -> str:
    """A table a benchmark, after the machine's description."""
    lines = [f"- {name}: {words}" for name, words in about.items()]
    names = [*dict.fromkeys(row["benchmark"] for row in rows)]
    for benchmark, part in ((name, [row for row in rows if row["benchmark"] == name]) for name in names):
        lines += [
            "",
            f"### {benchmark}",
            "",
            "| case | who | seconds | rate | ratio (least – greatest) | note |",
            "|---|---|--:|--:|--:|---|",
        ]
        for row in part:
            spread = (
                "" if row["ratio_low"] == row["ratio_high"] else f" ({row['ratio_low']:.2f} – {row['ratio_high']:.2f})"
            )
            figures = f"{row['seconds']:.3g} | {row['rate']:.3g} {row['unit']} | {row['ratio']:.2f}{spread}"
            lines.append(f"| {row['case']} | {row['contender']} | {figures} | {row['note']} |")
    return "\n".join(lines)


def replace(page: Path, text: str) -> None:
    """Put the text between the page's marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def draw(rows: Sequence[Row], out: Path) -> None:
    """Seconds against size, both logarithmic, with one line per benchmark and contender of at least three sizes.

    The name of a line ends with the power of the size that fits it.
    """
    drawn = []
    for (benchmark, contender), part in lines_of(rows).items():
        if len(part) >= 3:
            power = exponent([row["nodes"] for row in part], [row["seconds"] for row in part])
            drawn += [
                {"nodes": row["nodes"], "seconds": row["seconds"], "line": f"{benchmark}, {contender}: N^{power:.2f}"}
                for row in part
            ]
    if not drawn:
        return
    x = alt.X("nodes:Q", title="nodes, or points of a sweep", scale=alt.Scale(type="log"))
    y = alt.Y("seconds:Q", scale=alt.Scale(type="log"))
    colour = alt.Color(
        "line:N", title=None, legend=alt.Legend(labelLimit=320, columns=1)
    )  # side by side, a browser's wider letters overlap
    chart = (
        alt.Chart(alt.Data(values=drawn))
        .mark_line(point=True)
        .encode(x=x, y=y, color=colour, strokeDash=alt.StrokeDash("line:N", title=None))
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    save(finished(chart, "Time against size"), out)


def lines_of(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows by (what is measured, contender); for sweeps, by (sweep, case), since their cases differ in workers.

    Other races are over several kinds of networks, so they give no line.
    """
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["benchmark"].endswith("growth"):
            found.setdefault((row["benchmark"].removesuffix(", growth"), row["contender"]), []).append(row)
        elif row["benchmark"] == "sweep" and row["contender"] == "torusweep":
            found.setdefault(("sweep", row["case"]), []).append(row)
    return found
