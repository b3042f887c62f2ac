"""Flows of routes on a GPU: one launch of runs.cu, a thread a packet."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.routes.lines import Lines
from torusweep_kernels.routes.task import Task

SOURCE = Path(__file__).with_name("runs.cu")
OPTIONS = ("--std=c++17",)
THREADS = 256  # a block
RESIDENT = 2048  # threads that a multiprocessor holds
NONE = 2**31 - 1  # no packet


def flows(task: Task, lines: Lines) -> tuple[np.ndarray, int | None]:
    """(flow int64[N, D], the first packet that cannot go on | None); see `route_flows`."""
    with backends.gpu_errors("kernels/torusweep_kernels/routes"):
        cupy = backends.array_module("cupy")
        device = cupy.cuda.Device().id
        change, stranded = cupy.zeros(len(lines.node), np.uint64), cupy.full(1, NONE, np.int32)
        where = cupy.asarray(lines.place), cupy.asarray(lines.node)
        what = map(cupy.asarray, (task.start, task.row, task.direction, task.hops, task.amount))
        sizes = (
            *map(np.int32, task.next.shape),
            np.int32(task.hops.shape[1]),
            np.int32(task.stride),
            np.int32(task.packets),
        )
        most = cupy.cuda.runtime.getDeviceProperties(device)["multiProcessorCount"] * RESIDENT
        blocks = -(-max(1, min(task.packets, most)) // THREADS)
        function(cupy, device)((blocks,), (THREADS,), (*where, *what, *sizes, change, stranded))
        first = int(stranded.get()[0])
        flow = cupy.cumsum(change)[where[0][:, :, 0]].get().view(np.int64)
        return flow, None if first == NONE else first


@cache
def function(cupy: Any, device: int) -> Any:
    """follow, compiled once for a device."""
    return cupy.RawModule(code=backends.cuda_source(SOURCE), options=OPTIONS).get_function("follow")
