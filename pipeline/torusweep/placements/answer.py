"""The answer to the question `place`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console

from torusweep.placements.job import Job
from torusweep.placements.machine import Machine
from torusweep.placements.operations import bound_name
from torusweep.placements.ranking import JobPlacement, LinkSpeed, Ranking
from torusweep.placements.text import axes_in_words, axes_of, print_placements, seconds_in_words
from torusweep.placements.words import deadlock_in_words, link_in_words, notes
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import rows_html, rows_text

SUFFIXES = (".npy", ".json")


@dataclass(frozen=True, repr=False, eq=False)
class Placements(Answer):
    """The best placements of a job on a slice, the fastest first, beside the row-major order of the nodes."""

    machine: Machine
    job: Job
    links: LinkSpeed
    ranking: Ranking
    took: float

    @property
    def devices(self) -> np.ndarray:
        """int32[axes]: the node of each rank, in the best placement."""
        return self.ranking.best[0].devices

    @property
    def seconds(self) -> float:
        """Of a step, in the best placement."""
        return self.ranking.best[0].seconds

    @property
    def rows(self) -> list[Row]:
        """A row for each placement: its place, seconds, seconds over the best's, ties, and where each axis lies."""
        best, plain = self.ranking.best, self.ranking.row_major
        return [
            {
                "placement": "row-major" if placement is plain else str(number),
                "seconds": placement.seconds,
                "to_the_best": placement.seconds / self.seconds,
                "ties": None if placement is plain else placement.ties,
                **axes_of(self.machine, self.job.axes, placement),
            }
            for number, placement in enumerate([*best, plain], 1)
        ]

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table."""
        return pa.Table.from_pylist(self.rows)

    @property
    def json(self) -> Row:
        """All that the text says, with numbers in full and the devices of the best."""
        machine, job, ranking = self.machine, self.job, self.ranking
        return {
            "topology": machine.topology.spelling,
            "nodes": machine.nodes,
            "axes": job.axes,
            "bandwidth": self.links.bandwidth,
            "latency": self.links.latency,
            "compared": ranking.compared,
            "routed": ranking.routed,
            "took": self.took,
            "deadlock": deadlock_in_words(machine, ranking.best[0]),
            "notes": notes(machine, job.axes, job.operations, ranking.best),
            "ranking": [self._value(placement) for placement in ranking.best],
            "row_major": self._value(ranking.row_major),
            "axis_names": list(job.axes),
            "devices": self.devices.tolist(),
        }

    def write(self, path: Path) -> None:
        """Write the best order of the devices: an array, or JSON with the names and sizes of the axes."""
        if path.suffix == ".npy":
            np.save(path, self.devices)
            return
        axes = self.job.axes
        value = {"axis_names": list(axes), "shape": list(axes.values()), "devices": self.devices.tolist()}
        path.write_text(json.dumps(value) + "\n")

    def print(self, console: Console, computed_by: str) -> None:
        print_placements(console, self.machine, self.job, self.links, self.ranking, self.took)

    def heading(self) -> str:
        axes = axes_in_words(self.machine, list(self.job.axes), self.ranking.best[0])
        return f"{self.machine.topology.spelling}, {seconds_in_words(self.seconds)} a step: {axes}"

    def __repr__(self) -> str:
        return rows_text(self.heading(), self.rows, list(self.rows[0]))

    def _repr_html_(self) -> str:
        return rows_html(self.heading(), self.rows, list(self.rows[0]), ())

    def _value(self, placement: JobPlacement) -> dict[str, Any]:
        machine = self.machine
        return {
            "seconds": placement.seconds,
            "ties": placement.ties,
            "axes": {
                name: {
                    "block": None
                    if block is None
                    else [
                        {"dimension": machine.names[part.dimension], "factor": part.factor, "stride": part.stride}
                        for part in block
                    ],
                    "order": order,
                }
                for name, block, order in zip(self.job.axes, placement.blocks, placement.orders, strict=True)
            },
            "operations": [
                {
                    **phase.operation._asdict(),
                    "seconds": phase.seconds,
                    "algorithm": phase.algorithm,
                    "busiest_link_bytes": phase.bytes,
                    "busiest_link": None if phase.link is None else link_in_words(machine, phase.link),
                    "longest_route": phase.hops,
                    "bound_seconds": phase.least,
                    "bound": bound_name(phase.operation.kind),
                }
                for phase in placement.phases
            ],
        }
