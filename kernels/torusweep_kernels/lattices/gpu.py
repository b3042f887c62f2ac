"""Distances and loads of lattice graphs on a GPU (measure.cu): a block per lattice, a launch per range of sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.lattices import reference

SOURCE = Path(__file__).with_name("measure.cu")
OWN = 4  # nodes of a thread, where a block need not have more threads than it may
LEAST, MOST = 32, 1024  # threads of a block
NUMBERED = 2**16 - 1  # nodes that 16 bits number

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # (degree, histogram, load)


def measure(forms: np.ndarray, loads: bool, threads: int) -> Arrays:
    """GPU version of `measure_lattices`: (degree, histogram int32[B, N/2 + 1], load).

    For lattices that are too large for a block's shared memory, CuPy runs the specification.
    """
    lattices, n = forms.shape[:2]
    nodes = np.diagonal(forms, axis1=1, axis2=2).astype(np.int64).prod(axis=1)
    found: list[tuple[np.ndarray, Arrays]] = []  # rows, and what they have
    with cuda.gpu_errors("torusweep_kernels.lattices"):
        device = cuda.Gpu()
        (kernel,) = device.kernels(SOURCE, "measure")
        fits = (shared(nodes, n, loads) <= device.shared) & (nodes <= NUMBERED)
        alike = np.where(fits, np.ceil(np.log2(nodes)), -1)  # within a factor of two
        for size in np.unique(alike).tolist():
            some = np.flatnonzero(alike == size)
            if size < 0:
                found.append((some, reference.measure(forms[some], loads, threads, device.cupy)))
                continue
            largest = int(nodes[some].max())

            def run(together: int, some: np.ndarray = some, largest: int = largest) -> list[tuple[np.ndarray, Arrays]]:
                parts = (some[first : first + together] for first in range(0, len(some), together))
                return [(part, measured(device.cupy, kernel, forms[part], largest, loads)) for part in parts]

            fitting = max(1, device.free() // 2 // size_of(largest, n, loads))
            found += cuda.halve_until_it_fits(min(len(some), fitting), run)
    if len(found) == 1:
        return found[0][1]
    degree, histogram = np.zeros(lattices, np.int32), np.zeros((lattices, int(nodes.max()) // 2 + 1), np.int32)
    load = np.zeros((lattices, n * loads))
    for part, (of_part, counts, carried) in found:
        degree[part], histogram[part, : counts.shape[1]], load[part] = of_part, counts, carried
    return degree, histogram, load


def shared(nodes: Any, n: int, loads: bool) -> Any:
    """Return a block's shared memory in bytes. nodes: a number or an array of numbers of nodes."""
    numbers = loads * (2 * nodes + n * ((nodes + 1) // 2))
    return 16 + 8 * numbers + 2 * (2 * n + 1) * nodes


def size_of(nodes: int, n: int, loads: bool) -> int:
    """Return the device memory of a lattice in bytes."""
    return 4 * n * n + 4 + 4 * (nodes // 2 + 1) + 8 * n * loads


def measured(cupy: Any, kernel: Any, forms: np.ndarray, largest: int, loads: bool) -> Arrays:
    """Measure lattices of at most `largest` nodes each, by one launch."""
    lattices, n = forms.shape[:2]
    width = largest // 2 + 1
    degree, histogram = cupy.empty(lattices, np.int32), cupy.zeros((lattices, width), np.int32)
    load = cupy.empty((lattices, n * loads))
    threads = min(MOST, -(-largest // (OWN * LEAST)) * LEAST)
    kernel.max_dynamic_shared_size_bytes = memory = int(shared(largest, n, loads))
    arrays = cupy.asarray(forms), degree, histogram, load
    kernel((lattices,), (threads,), (*arrays, np.int32(n), np.int32(width), np.int32(loads)), shared_mem=memory)
    return degree.get(), histogram.get(), load.get()
