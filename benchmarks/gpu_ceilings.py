"""What a GPU does at most: copies, reads from its L2 cache, and how long launches take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from torusweep_kernels import cuda
from torusweep_kernels.cuda import WARP

from benchmarks.gpu_jobs import Row

EMPTY = {6: "few", 13: "many"}  # parameters of the router, and of a level of distances
SOURCE = """
extern "C" __global__ void copy(const unsigned long long* __restrict__ from, unsigned long long* __restrict__ to,
                                long long words) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += threads) to[i] = from[i];
}
// The exclusive or of all words, `times` times, each time beginning elsewhere, so that no loop can be left out.
extern "C" __global__ void reread(const unsigned long long* __restrict__ from, unsigned long long* __restrict__ to,
                                  long long words, int times) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long sum = 0;
    for (int turn = 0; turn < times; ++turn)
        for (long long i = thread; i < words; i += threads) sum ^= from[(i + turn * 4096ll) % words] + turn;
    to[thread] = sum;
}
""" + "".join(
    f'extern "C" __global__ void {name}({", ".join(f"int p{i}" for i in range(number))}) {{}}\n'
    for number, name in EMPTY.items()
)


def ceilings(copied: int = 2**30, sizes: tuple[int, ...] = (8, 16, 32, 48), launches: int = 1000) -> Iterator[Row]:
    """copied: bytes of a copy; sizes: MiB that are read again and again; launches: so many for a mean."""
    with cuda.gpu_errors("ceilings"):
        gpu = cuda.Gpu()
        cupy, module = gpu.cupy, gpu.cupy.RawModule(code=SOURCE, options=cuda.OPTIONS)
        copy, reread = module.get_function("copy"), module.get_function("reread")
        words = copied // 8
        one, other = cupy.zeros(words, np.uint64), cupy.zeros(words, np.uint64)
        took = on_device(cupy, partial(gpu.launch, copy, words, one, other, np.int64(words)))
        yield fact(f"copy of {copied:,} bytes", f"{2 * copied / took / 1e12:.3g} TB/s, read and written")
        threads = gpu.threads(reread, 2**30)
        sums = cupy.zeros(threads, np.uint64)
        for size in sizes:
            some, times = size * 2**20 // 8, 20
            took = on_device(cupy, partial(gpu.launch, reread, threads, one, sums, np.int64(some), np.int32(times)))
            yield fact(f"reads of {size} MiB again and again", f"{8 * some * times / took / 1e12:.3g} TB/s")
        for number, name in EMPTY.items():
            launch = partial(module.get_function(name), (1,), (WARP,), (np.int32(0),) * number)
            waits = cupy.cuda.runtime.deviceSynchronize
            alone, waited = (of_launch(launch, waits, launches, every) for every in (False, True))
            yield fact(f"launch with {number} parameters", f"{alone:.3g} µs; {waited:.3g} µs with a wait")


def of_launch(launch: Callable[[], None], wait: Callable[[], None], launches: int, every: bool) -> float:
    """Microseconds of one of so many launches, with a wait after `every` one or after all."""
    begin = time.perf_counter()
    for _ in range(launches):
        launch()
        if every:
            wait()
    wait()
    return (time.perf_counter() - begin) / launches * 1e6


def on_device(cupy: Any, launch: Callable[[], None]) -> float:
    """Seconds of the second launch, by events."""
    launch()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    launch()
    end.record()
    cupy.cuda.runtime.deviceSynchronize()
    return cupy.cuda.get_elapsed_time(begin, end) / 1e3


def fact(case: str, said: str) -> Row:
    return Row("fact", "", case, said=said)
