"""The answer to the question `availability`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console

from torusweep.questions.answer import Records, Row
from torusweep.stages.availability.columns import AVAILABILITY
from torusweep.stages.availability.request import AvailabilityRequest
from torusweep.stages.availability.text import print_availability


@dataclass(frozen=True, repr=False, eq=False)
class Availability(Records):
    """What is left of a network after failures: rows of the table `availability`, one for each measure.

    asked   what fails: each has as many rows
    """

    asked: Sequence[AvailabilityRequest] = field(kw_only=True)
    columns = AVAILABILITY
    main = (
        *("fails", "failures", "probability", "measure", "measured", "intact", "mean", "mean_low", "mean_high"),
        *("q05", "q50", "q95", "worst"),
    )

    def heading(self) -> str:
        return f"{self.rows[0]['topology']} after failures"

    def of(self, measure: str) -> list[Row]:
        """The rows of one measure: connected, diameter, mean_distance, …."""
        return [row for row in self.rows if row["measure"] == measure]

    def print(self, console: Console, computed_by: str) -> None:
        each = len(self.rows) // len(self.asked)
        groups = [(one, self.rows[each * place :][:each]) for place, one in enumerate(self.asked)]
        print_availability(console, groups)
