"""Import the stages, which are tables whose rows are computed point by point. To add one, see CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # which takes a while to import
    from torusweep.questions.stage import Stage

MODULES = "torusweep.questions.{}.stage"  # name of a stage's module, from the stage's name


@cache
def _stage(name: str) -> Any:
    return resolve_name(f"{MODULES.format(name)}:QUESTION")


class Stages(Mapping[str, "Stage"]):
    """Mapping from a stage's name to the stage, the object `QUESTION` in torusweep.questions.NAME.stage.

    Each stage is imported when it is first used, so a command about one network imports one stage only.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def __getitem__(self, name: str) -> Stage:
        if name not in self.names:
            raise KeyError(name)
        stage: Stage = _stage(name)
        return stage

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


# in the order in which they are computed; the table of each stage can be joined with that of static
STAGES = Stages(
    *("static", "loads", "deadlock", "layout", "simulation", "collectives", "cost", "availability", "screen"),
)
