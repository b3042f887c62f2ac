"""`python -m pipeline.snakemake_start snakemake GATE`: Snakemake that waits on a pipe for its arguments, and more for its environment.

It ends where there come none. Until they come it imports what it and the Snakefile need; but not pandas, a third of a
second, which its plug-in for Slurm wants for a report on what jobs took, and Snakemake itself to look whether a rule's
parameters are tables.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """In pandas' place, until somebody takes something out of it."""

    def __getattr__(self, name: str) -> Any:
        sys.modules.pop("pandas", None)
        return getattr(importlib.import_module("pandas"), name)


def load() -> None:
    """Import Snakemake, and what the Snakefile imports."""
    gc.set_threshold(50_000)  # imported objects stay: every 700 new ones Python would look through many of them for garbage
    sys.modules["pandas"] = Later("pandas")
    for name in ("snakemake.cli", "snakemake.report"):
        importlib.import_module(name)
    sys.modules["pandas"] = None  # type: ignore[assignment]  # to whoever asks, it is not installed
    for name in ("pipeline.workflow", "pipeline.expansion.asked"):
        importlib.import_module(name)


if __name__ == "__main__":
    load()
    from snakemake.cli import main

    with open(int(sys.argv[2]), encoding="ascii") as gate:
        told = gate.read()
    if told:
        arguments, environment = json.loads(told)
        os.environ.update(environment)
        sys.argv = ["snakemake", *arguments]
        main()
