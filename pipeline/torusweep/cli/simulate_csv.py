"""When each message of a workload was sent and delivered, as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TextIO

from torusweep.stages.simulation import Completion
from torusweep.workloads import workload

COLUMNS = ("seed", "message", "source", "destination", "flits", "sent", "delivered")


def write_completions(
    file: TextIO, spelling: str, terminals: int, seeds: Sequence[int], completions: Sequence[Completion]
) -> None:
    """A line for each seed and message; no cycle where it did not come to that."""
    messages = workload(spelling, terminals)[1]
    names = messages.names or range(len(messages.flits))
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(COLUMNS)
    for seed, done in zip(seeds, completions):
        for row in zip(
            names, *(column.tolist() for column in (messages.source, messages.destination, messages.flits, *done))
        ):
            lines.writerow([seed, *("" if value == -1 else value for value in row)])
