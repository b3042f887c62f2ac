"""Estimated seconds of a sweep's stages beside what they take: seconds of this process on one core.

    .venv/bin/python -m benchmarks.estimates config/default.yaml config/machines.yaml config/atlas.yaml

Points are computed in batches of those that take as long, as in a run, on a core that others may share: seconds are
those of the processor, not of the clock. Kernels are compiled before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from torusweep.questions.how import How
from torusweep.sweeps.batches import MOST_POINTS
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
        taken, order = 0.0, sorted(costs, key=costs.__getitem__)
        for first in range(0, len(order), MOST_POINTS):
            before = time.process_time()
            found = rows_of_many(order[first : first + MOST_POINTS], how)
            taken += time.process_time() - before
            for rows in found:
                if isinstance(rows, Exception):
                    raise rows
        yield Stage(sweep.sweep, name, len(costs), sum(costs.values()), taken)


if __name__ == "__main__":
    print(HEAD)
    for path in sys.argv[1:]:
        for stage in stages(Path(path)):
            print(stage, flush=True)
