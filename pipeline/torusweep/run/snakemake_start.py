"""`python -m torusweep.run.snakemake_start snakemake GATE`: Snakemake that waits on a pipe for its arguments, more for its environment, and what is
known of its configuration (torusweep.run.asked).

It ends where there come none. Until they come it imports what it and the Snakefile need; but not pandas, a third of a
second, which its plug-in for Slurm wants for a report on what jobs took, and Snakemake itself to look whether a rule's
parameters are tables.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """In pandas' place, until somebody takes something out of it."""

    def __init__(self) -> None:
        super().__init__("pandas")
        self.__spec__ = ModuleSpec("pandas", None)  # it is installed, says this to who asks

    def __getattr__(self, name: str) -> Any:
        return (
            Unmade(name, (), {})
            if name in ("DataFrame", "Index", "Series") and _there() is self
            else getattr(_loaded(), name)
        )


class Unmade(type):
    """A class of pandas that nothing can be an instance of before pandas is there: Snakemake asks it of every parameter of a rule."""

    def __instancecheck__(cls, value: object) -> bool:
        return not isinstance(_there(), Later) and isinstance(value, getattr(_loaded(), cls.__name__))

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return getattr(_loaded(), cls.__name__)(*arguments, **named)

    def __getattr__(cls, name: str) -> Any:
        return getattr(getattr(_loaded(), cls.__name__), name)


def _there() -> ModuleType | None:
    return sys.modules.get("pandas")


def _loaded() -> ModuleType:
    if isinstance(_there(), Later):
        del sys.modules["pandas"]
    return importlib.import_module("pandas")


def load() -> None:
    """Import Snakemake, and what the Snakefile imports."""
    gc.set_threshold(
        50_000
    )  # imported objects stay: every 700 new ones Python would look through many of them for garbage
    if importlib.util.find_spec("pandas") is not None:
        sys.modules["pandas"] = Later()
    for name in ("snakemake.cli", "snakemake.report", "torusweep.run.asked"):
        importlib.import_module(name)


if __name__ == "__main__":
    load()
    from snakemake.cli import main

    with open(int(sys.argv[2]), encoding="ascii") as gate:
        told = gate.read()
    if told:
        from torusweep.run import asked

        arguments, environment, about = json.loads(told)
        asked.told.append(asked.About(**about))
        os.environ.update(environment)
        sys.argv = ["snakemake", *arguments]
        main()
