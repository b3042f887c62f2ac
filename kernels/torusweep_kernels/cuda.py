"""Use CUDA through CuPy: sources, compilation, launches and errors, for the GPU modules of all packages."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from torusweep_kernels import backend as backends
from torusweep_kernels.backend import GpuLost, GpuOutOfMemory, KernelCompileError

Result = TypeVar("Result")

OPTIONS = ("--std=c++17", "--fmad=false")  # no fused multiply-add: the reference rounds each product
THREADS = 256  # a block
WARP = 32  # threads
RESIDENT = 2048  # resident threads of a multiprocessor, where it is not known how many fit
REGISTERS_AT_ONCE, WARPS_AT_ONCE = 256, 4  # allocation granularity: registers per warp, warps per multiprocessor
BLOCKS_AT_ONCE = 16  # of a multiprocessor, on every device
# levels of a search launched between two checks for its end, at first; even: both buffers return to their places
AHEAD = 16
CACHED = 0.7  # share of the L2 cache for the rows of a search
NO_MEMORY = 2  # cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY


class Gpu:
    """The current device. It compiles each kernel once, and launches at most as many threads as run at once."""

    def __init__(self) -> None:
        self.cupy = backends.array_module("cupy")
        number = backends.gpu_number()
        if number is not None:
            self.cupy.cuda.Device(number).use()  # of this thread; others have a current device of their own
        self.number = self.cupy.cuda.Device().id
        properties = self.cupy.cuda.runtime.getDeviceProperties(self.number)
        self.multiprocessors = properties["multiProcessorCount"]
        self.registers = properties.get("regsPerMultiprocessor")
        self.warps = properties.get("maxThreadsPerMultiProcessor", RESIDENT) // WARP
        self.cache = int(CACHED * properties["l2CacheSize"])  # bytes of the L2 cache for rows
        self.shared = properties["sharedMemPerBlockOptin"]  # shared memory of a block

    def kernels(self, source: Path, *names: str, together: bool = False, **constants: int) -> list[Any]:
        """Return the kernels of a .cu file, by name. constants: preprocessor constants with which they are compiled.

        together: whether blocks wait for each other, so that all must run at the same time (a cooperative launch).
        """
        defined = "".join(f"#define {name} {int(value)}\n" for name, value in constants.items())
        module = _module(self.cupy, self.number, defined + cuda_source(source), together)
        return [module.get_function(name) for name in names]

    def free(self) -> int:
        """Return the number of bytes that CuPy can still allocate."""
        return self.cupy.cuda.runtime.memGetInfo()[0] + self.cupy.get_default_memory_pool().free_bytes()

    def resident(self, kernel: Any) -> int:
        """Return how many of a kernel's threads run at once, by its registers, in blocks of THREADS without shared
        memory. A larger launch would need a second round, in which most of the device is idle.
        """
        registers = getattr(kernel, "num_regs", None)
        if not (registers and self.registers):
            return self.multiprocessors * RESIDENT
        return self.multiprocessors * THREADS * max(1, blocks_that_fit(registers, THREADS, self.registers, self.warps))

    def threads(self, kernel: Any, items: int, multiple: int | None = None) -> int:
        """Return the number of threads to launch: one per item, up to all that run at once, in whole `multiple`s."""
        multiple = THREADS if multiple is None else multiple
        return min(-(-items // multiple), max(1, self.resident(kernel) // multiple)) * multiple

    def launch(self, kernel: Any, items: int, *arguments: Any) -> None:
        """Run a kernel with one thread per item, but at most as many threads as run at once."""
        kernel((self.threads(kernel, items) // THREADS,), (THREADS,), arguments)


def blocks_that_fit(registers: int, threads: int, most_registers: int, most_warps: int) -> int:
    """Number of blocks that a multiprocessor runs at once, limited by registers and warps (as in CUDA's occupancy API).

    registers per thread, threads per block; most_registers and most_warps per multiprocessor
    """
    of_warp = -(-registers * WARP // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE
    warps = min(most_registers // of_warp // WARPS_AT_ONCE * WARPS_AT_ONCE, most_warps)
    return warps // -(-threads // WARP)


@cache
def _module(cupy: Any, device: int, code: str, together: bool) -> Any:
    return cupy.RawModule(code=code, options=OPTIONS, enable_cooperative_groups=together)


def cuda_source(source: Path) -> str:
    """Return the text of a .cu file, in which headers of its folder or this one replace their #include lines.

    NVRTC then needs no search path. CuPy, whose cache is keyed by the text, compiles again if a header changes.
    """

    def header(line: re.Match[str]) -> str:
        own = source.parent / line[1]
        return (own if own.exists() else Path(__file__).parent / line[1]).read_text()

    return re.sub(r'^#include "([\w/]+\.cuh)"$', header, source.read_text(), flags=re.MULTILINE)


@contextmanager
def gpu_errors(kernel: str) -> Iterator[None]:
    """Replace CuPy's errors by this package's own errors, which callers can catch without importing CuPy.

    These are GpuOutOfMemory, KernelCompileError (also if CuPy finds no CUDA headers), and GpuLost for all other
    errors, most of which make every later call of the process fail, too.
    """
    cupy = importlib.import_module("cupy")
    try:
        yield
    except (*cuda_errors(), cupy.cuda.memory.OutOfMemoryError) as error:
        if not is_out_of_memory(error):
            raise GpuLost(
                f"{kernel}: expected a GPU that works, got: {error}; start a new process, or use --backend numba"
            ) from error
        raise GpuOutOfMemory(
            f"{kernel}: expected enough GPU memory, got: {error}; make the work smaller, or use --backend numba"
        ) from error
    except cupy.cuda.compiler.CompileException as error:
        raise KernelCompileError(f"{kernel}: NVRTC could not compile its CUDA source:\n{error}") from error
    except RuntimeError as error:  # of CuPy, which wants headers even for sources that include none
        if "CUDA headers" not in str(error):
            raise
        raise KernelCompileError(
            f"{kernel}: expected the headers of CUDA's runtime, got: {error}; install what requirements/gpu12.txt or"
            " requirements/gpu13.txt lists, or use --backend numba"
        ) from error


def cuda_errors() -> tuple[type[Exception], ...]:
    """Return CuPy's exception classes for errors of CUDA's runtime and driver; their instances have a `status`."""
    cuda = importlib.import_module("cupy").cuda
    return cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error means that memory was too small for CuPy's pool, or CUDA's context, stack or launch."""
    cupy = importlib.import_module("cupy")
    return isinstance(error, cupy.cuda.memory.OutOfMemoryError) or getattr(error, "status", None) == NO_MEMORY


def halve_until_it_fits(width: int, run: Callable[[int], Result]) -> Result:
    """Return run(width). While the GPU's memory, which processes share, is too small, halve the width, down to 1."""
    cupy = importlib.import_module("cupy")
    while True:
        try:
            return run(width)
        except (*cuda_errors(), cupy.cuda.memory.OutOfMemoryError) as error:
            if width == 1 or not is_out_of_memory(error):
                raise
        width //= 2
        cupy.get_default_memory_pool().free_all_blocks()
