"""Regressions: ratios to the contenders that are worse than recorded ones. Seconds of two runs are never compared."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.race import Row

NOISE = 0.6  # on a shared machine a ratio of medians was seen to move by a third
MORE = 1.3  # of overhead, which is a ratio to our own work


def fallen(found: Iterable[Row], recorded: Iterable[Row]) -> list[str]:
    """A line for each contender that has come closer to us than noise explains, and each overhead that has grown so."""
    before = {(row["benchmark"], row["case"], row["nodes"], row["contender"]): row["ratio"] for row in recorded}
    lines = []
    for row in found:
        then = before.get((row["benchmark"], row["case"], row["nodes"], row["contender"]))
        if then is None:
            continue
        where = f"{row['benchmark']}, {row['case']}"
        if row["contender"] == "torusweep":
            if row["ratio"] > MORE * then:
                lines.append(f"{where}: {row['ratio']:.2f} × its own work, {then:.2f} × when it was recorded")
        elif row["ratio"] < NOISE * then:
            lines.append(
                f"{where}: {row['contender']} takes {row['ratio']:.2f} × our time, {then:.2f} × when it was recorded"
            )
    return lines
