"""The file of --completions: when each message of a workload was sent and delivered, as CSV."""

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
    """A line for each seed and message. `sent` and `delivered` are cycles, empty if the run ended before."""
    messages = workload(spelling, terminals)[1]
    names = messages.names or range(len(messages.flits))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for seed, completion in zip(seeds, completions):
        columns = (messages.source, messages.destination, messages.flits, *completion)
        for row in zip(names, *(column.tolist() for column in columns)):
            writer.writerow([seed, *("" if value == -1 else value for value in row)])
