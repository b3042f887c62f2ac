"""A block of networks on a GPU."""

from __future__ import annotations

import importlib

from torusweep_kernels.blocks import reference
from torusweep_kernels.blocks.reference import Measured, Task


def measure(task: Task, threads: int | None = None) -> Measured:
    """See `reference.measure`."""
    return reference.measure(task, threads, importlib.import_module("cupy"))
