"""Estimated seconds of a sweep's stages beside what they take: seconds of this process on one core.

    .venv/bin/python -m benchmarks.estimates config/default.yaml config/machines.yaml config/atlas.yaml

Every point is computed alone, on a core that others may share: its seconds are those of the processor, not of the
clock. Stages that share work among points (`rows_of_many`) take less in a run; kernels are compiled before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from torusweep.questions.how import How
from torusweep.sweeps.configuration import load
from torusweep.sweeps.points import rows_of_many
from torusweep.sweeps.requested_points import weighed_points

HEAD = "| sweep | stage | points | estimated | taken | estimated over taken |\n|---|---|--:|--:|--:|--:|"


class Stage(NamedTuple):
    """A stage of a sweep: how many points, and their seconds together."""

    sweep: str
    name: str
    points: int
    estimated: float
    taken: float

    def __str__(self) -> str:
        seconds = f"{self.estimated:.3g} s | {self.taken:.3g} s | {self.estimated / self.taken:.2g}"
        return f"| `{self.sweep}` | {self.name} | {self.points:,} | {seconds} |"


def stages(config: Path) -> Iterator[Stage]:
    """Each stage of a configuration, in the order of its points. Raises what a point fails with."""
    sweep = load(config)
    points = weighed_points(sweep, Path(sweep.sweep))
    how = How("numba", sweep.symmetry, 1, None)
    for name in dict.fromkeys(point.stage for point in points):
        costs = {point: cost for point, cost in points.items() if point.stage == name}
        rows_of_many([min(costs, key=costs.__getitem__)], how)  # loads the kernels
        taken = 0.0
        for point in costs:
            before = time.process_time()
            (rows,) = rows_of_many([point], how)
            taken += time.process_time() - before
            if isinstance(rows, Exception):
                raise rows
        yield Stage(sweep.sweep, name, len(costs), sum(costs.values()), taken)


if __name__ == "__main__":
    print(HEAD)
    for path in sys.argv[1:]:
        for stage in stages(Path(path)):
            print(stage, flush=True)
