"""Measure a block of networks on a GPU by one launch of measure.cu: each network has its own block of threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.blocks import reference
from torusweep_kernels.blocks.reference import Measured, Task

SOURCE = Path(__file__).with_name("measure.cu")
PAIRS = 2048  # of a root and a node that a block takes at once: four blocks then share a multiprocessor of an H100
OF_THREAD, MOST_THREADS = 4, 512  # pairs of a thread, threads of a block
LEAST = 32  # pairs that a block has room for
NUMBERED = 2**16 - 2  # nodes and channels that 16 bits number


def measure(task: Task, threads: int | None = None) -> Measured:
    """GPU version of `reference.measure`, which describes the results.

    If loads do not fit a thread block's shared memory, each network's loads are computed alone. If distances do not fit
    either, CuPy runs the specification.
    """
    with cuda.gpu_errors("torusweep_kernels.blocks"):
        device = cuda.Gpu()
        networks, nodes, width = task.ports.shape
        loads = task.loads and shared(nodes, width, nodes, loads=True) <= device.shared
        if shared(nodes, width, nodes, loads=loads) > device.shared or nodes * width > NUMBERED:
            return reference.measure(task, threads, device.cupy)
        (kernel,) = device.kernels(SOURCE, "measure")

        def run(together: int) -> list[tuple[np.ndarray, ...]]:
            parts = (task.part(first, together) for first in range(0, networks, together))
            return [measured(device, kernel, part, loads) for part in parts]

        fitting = max(1, device.free() // 2 // size_of(nodes, width))
        parts = cuda.halve_until_it_fits(min(networks, fitting), run)
    histogram, eccentricity, connected, load, hops = (np.concatenate(column) for column in zip(*parts))
    alone = np.full(networks, task.loads and not loads)
    return histogram, eccentricity, connected, *((load, hops) if task.loads else (None, None)), alone


def shared(nodes: int, width: int, most: int, *, loads: bool) -> int:
    """Return a thread block's shared memory in bytes, for `most` pairs of a root and a node at once."""
    most, channels = max(most, LEAST), nodes * width
    numbers = 8 * (4 + loads * (3 * most + 2 * channels)) + 4 * (6 + nodes)
    return -(-(numbers + 2 * (channels + most + loads * (channels + nodes + 1)) + nodes) // 8) * 8


def size_of(nodes: int, width: int) -> int:
    """Return the device memory of a network in bytes."""
    return 16 * nodes * width + 24 * nodes + 8 * (nodes + 1) + 12


def measured(device: cuda.Gpu, kernel: Any, task: Task, loads: bool) -> tuple[np.ndarray, ...]:
    """Measure networks that fit in the device's memory together, by one launch."""
    cupy = device.cupy
    networks, nodes, width = task.ports.shape
    terminals = np.ones((networks, nodes), np.int32) if task.terminals is None else task.terminals
    share = reference.shares(terminals) if loads else np.zeros((1, 1))
    capacity = np.zeros((1, 1, 1), np.int32) if task.capacity is None else task.capacity
    histogram, eccentricity = cupy.zeros((networks, nodes + 1), np.uint64), cupy.empty((networks, nodes), np.int32)
    connected, overflow = cupy.empty(networks, np.int32), cupy.zeros(1, np.int32)
    load, hops = cupy.zeros(task.ports.shape if loads else (1, 1, 1)), cupy.empty(networks)
    roots = min(nodes, max(1, PAIRS // nodes))
    while roots > 1 and shared(nodes, width, roots * nodes, loads=loads) > device.shared:
        roots -= 1
    most = max(roots * nodes, LEAST)
    threads = min(MOST_THREADS, cuda.WARP * -(-most // (OF_THREAD * cuda.WARP)))
    kernel.max_dynamic_shared_size_bytes = memory = shared(nodes, width, most, loads=loads)
    given = (cupy.asarray(array) for array in (task.ports, capacity, terminals, share))
    found = histogram, eccentricity, connected, load, hops, overflow
    numbers = networks, nodes, width, roots, most, loads, task.capacity is not None
    kernel((networks,), (threads,), (*given, *found, *map(np.int32, numbers)), shared_mem=memory)
    if int(overflow.get()[0]):
        reference.refuse_paths()
    by_port = load.get() if loads else np.zeros(task.ports.shape)
    return histogram.get().view(np.int64), eccentricity.get(), connected.get() != 0, by_port, hops.get()
