"""The stages: tables whose rows are computed point by point. To add a stage, see CONTRIBUTING.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # which takes a while to import
    from torusweep.questions.stage import Stage

MODULES = "torusweep.questions.{}.stage"  # of a stage, by its name


@cache
def _stage(name: str) -> Any:
    return resolve_name(f"{MODULES.format(name)}:QUESTION")


class Stages(Mapping[str, "Stage"]):
    """Stages by name; each is the `QUESTION` of its folder's module `stage`.

    A stage is imported when it is first used: a command about one network imports one stage.
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


# in the order in which they are computed; their tables join static's
STAGES = Stages(
    *("static", "loads", "deadlock", "layout", "simulation", "collectives", "cost", "availability", "screen"),
)
