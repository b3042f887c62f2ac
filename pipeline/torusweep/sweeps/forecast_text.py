"""A forecast as text and as JSON."""

from __future__ import annotations

from textwrap import shorten
from typing import Any

from torusweep.counts import counted, duration, size
from torusweep.questions.display import aligned
from torusweep.sweeps.forecast import Forecast

WIDTH = 100  # characters of a point; a simulation's may be long, and `--json` has all of it
HEADS = ("stage", "points", "rows", "time of one core", "longest point")


def text(sweep: str, forecast: Forecast) -> str:
    """The answer first, then each stage, then the most expensive points."""
    rows = [HEADS]
    for stage in forecast.stages:
        times = duration(stage.seconds), duration(stage.longest)
        rows.append((stage.stage, f"{stage.points:,}", f"{stage.rows:,}", *times))
    width = max(len(row[0]) for row in rows)
    lines = [
        f"{sweep}: {counted(forecast.points, 'point')}, {forecast.time};"
        f" memory {size(forecast.memory)} for the largest point, disk {size(forecast.disk)}",
        "",
        *aligned([(row[0].ljust(width), *row[1:]) for row in rows], gap=3),
    ]
    if forecast.expensive:
        lines += ["", "most expensive points:"]
        lines += [
            f"  {duration(seconds):>8}  {point.stage}  {shorten(str(point), WIDTH, placeholder=' …')}"
            for point, seconds in forecast.expensive
        ]
    return "\n".join(lines)


def record(sweep: str, forecast: Forecast) -> dict[str, Any]:
    """The same as one object: times in seconds, sizes in bytes."""
    return {
        "sweep": sweep,
        "points": forecast.points,
        "seconds": forecast.seconds,
        "workers": forecast.workers,
        "memory": forecast.memory,
        "disk": forecast.disk,
        "stages": [stage._asdict() for stage in forecast.stages],
        "expensive": [
            {"stage": point.stage, "point": str(point), "seconds": seconds} for point, seconds in forecast.expensive
        ],
    }
