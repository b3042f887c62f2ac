"""GPU version of `route_flows`: one launch of runs.cu, a thread for each packet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.routes.reference import Lines
from torusweep_kernels.routes.task import Task

SOURCE = Path(__file__).with_name("runs.cu")
NONE = 2**31 - 1  # no packet


def flows(task: Task, lines: Lines, threads: int | None = None) -> tuple[np.ndarray, int | None]:
    """GPU version of `route_flows`: (flow int64[G, N, D], the first packet that cannot go on, or None)."""
    with cuda.gpu_errors("torusweep_kernels.routes"):
        gpu = cuda.Gpu()
        cupy = gpu.cupy
        slots = len(lines.node)
        change, stranded = cupy.zeros(task.groups * slots, np.uint64), cupy.full(1, NONE, np.int32)
        where = cupy.asarray(lines.place), cupy.asarray(lines.node)
        what = map(cupy.asarray, (task.start, task.row, task.direction, task.hops, task.amount))
        sizes = map(
            np.int32, (*task.next.shape, task.hops.shape[1], task.stride, task.packets, task.groups, task.first, slots)
        )
        (follow,) = gpu.kernels(SOURCE, "follow")
        gpu.launch(follow, max(1, task.packets), *where, *what, *sizes, change, stranded)
        first = int(stranded.get()[0])
        # the changes of a group sum to 0, so that the sums of the next group begin with 0
        flow = cupy.cumsum(change).reshape(task.groups, slots)[:, where[0][:, :, 0]].get().view(np.int64)
        return flow, None if first == NONE else first
