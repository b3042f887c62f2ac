"""GPU version of `draw_pairs`: one launch of pairs.cu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.pairs.reference import Tables

SOURCE = Path(__file__).with_name("pairs.cu")


def pairs(
    tables: Tables, first: int, number: int, key: tuple[int, int], threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """GPU version of `draw_pairs`: (source int32[B], destination int32[B])."""
    with cuda.gpu_errors("torusweep_kernels.pairs"):
        gpu = cuda.Gpu()
        source, destination = drawn(gpu, on_device(gpu, tables), first, number, key)
        return source.get(), destination.get()


def on_device(gpu: cuda.Gpu, tables: Tables) -> tuple[Any, ...]:
    """Return the arguments of kernels that draw from these tables: arrays on the device, then numbers (pairs.cuh)."""
    choices = tables.by_weight, tables.by_common, tables.by_pair
    uniform = sum(choice.uniform << place for place, choice in enumerate(choices))
    joined = (np.concatenate(parts) for parts in zip(*((choice.cdf, choice.guide) for choice in choices)))
    arrays = tables.source, tables.destination, tables.reduced_start, tables.reduced, tables.rejection
    sizes = map(np.int32, (tables.nodes, len(tables.source), uniform))
    return (
        *map(gpu.cupy.asarray, (*joined, *arrays)),
        *sizes,
        np.float64(tables.product_sum),
        np.float64(tables.own_sum),
    )


def drawn(gpu: cuda.Gpu, traffic: tuple[Any, ...], first: int, number: int, key: tuple[int, int]) -> tuple[Any, Any]:
    """Draw (source int32[B], destination int32[B]) on the device; `traffic` is the result of `on_device`."""
    (draw,) = gpu.kernels(SOURCE, "draw")
    source, destination = (gpu.cupy.empty(number, np.int32) for _ in range(2))
    words = np.uint64(first), *map(np.uint32, key)
    gpu.launch(draw, number, *traffic, *words, np.int32(number), source, destination)
    return source, destination
