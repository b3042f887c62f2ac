"""A stand-in for CuPy on a machine without a GPU: NumPy's arrays, and .cu files run through cuda_shim.h.

It is as strict as CuPy where a slip would otherwise go unseen: arrays of the two libraries do not
mix, `take` knows no mode, `bitwise_or` no reduce, and a kernel's arguments must have its parameters'
types. Memory is counted, so that running out of it can be tried.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
import time
import warnings
import weakref
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

SHIM = Path(__file__).with_name("cuda_shim.h")
KERNEL = re.compile(r"__global__ void (\w+)\(([^)]*)\)")
TYPEDEF = re.compile(r"^typedef ([\w ]+) (\w+);$", re.MULTILINE)
SHARED = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?unsigned int (\w+)\[\];")
TYPES = {
    "word_t": np.uint64,
    "Piece": np.uint64,  # two of them
    "unsigned long long": np.uint64,
    "long long": np.int64,
    "unsigned int": np.uint32,
    "int": np.int32,
}
TYPES |= {
    "short": np.int16,
    "unsigned short": np.uint16,
    "unsigned char": np.uint8,
    "signed char": np.int8,
    "double": np.float64,
}

USUAL = 48 * 2**10  # bytes of shared memory that a block gets without being asked for by name


class OutOfMemoryError(MemoryError):
    pass


class CompileException(Exception):
    pass


class CudaError(RuntimeError):
    """status: the number of the error."""

    def __init__(self, status: int) -> None:
        super().__init__(f"CUDA error {status}")
        self.status = status


class CUDARuntimeError(CudaError):
    pass


class CUDADriverError(CudaError):
    pass


class Device:
    """Number `current` unless another is named."""

    def __init__(self, number: int | None = None) -> None:
        self.id = current[0] if number is None else number

    def use(self) -> None:
        current[0] = self.id


current = [0]


class Event:
    """A moment; launches end before they return."""

    def record(self) -> None:
        self.moment = time.perf_counter()


class Pool:
    """Keeps nothing; an array may take `most` bytes."""

    def __init__(self, memory: int) -> None:
        self.memory = self.most = memory

    def free_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        pass

    def set_limit(self, size: int) -> None:
        """0: none but that of the device."""
        self.most = min(size or self.memory, self.memory)


class DeviceArray(np.ndarray):
    """An array that only admits its own kind."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if method != "__call__" and not (method == "reduce" and ufunc in (np.add, np.maximum, np.logical_or)):
            raise NotImplementedError(f"{ufunc.__name__}.{method}")
        options.update({"out": tuple(map(on_host, out))} if out else {})
        result = on_device(getattr(ufunc, method)(*map(on_host, inputs), **options))
        return out[0] if out else result

    def __getitem__(self, key: Any) -> Any:
        return on_device(on_host(self)[index(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        on_host(self)[index(key)] = on_host(value)

    def get(self) -> np.ndarray:
        return np.array(self.view(np.ndarray))

    @property
    def data(self) -> Any:
        """Its address, as a kernel's struct holds it: `ptr`."""
        pointers[self.ctypes.data] = owner(self)
        return SimpleNamespace(ptr=self.ctypes.data)


# addresses that were asked for → the arrays that own the memory, while they live
pointers: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()


def owner(array: np.ndarray) -> np.ndarray:
    return owner(array.base) if isinstance(array.base, np.ndarray) else array


def index(key: Any) -> Any:
    return (
        tuple(map(on_host, key))
        if isinstance(key, tuple)
        else key
        if isinstance(key, slice | int) or key is None
        else on_host(key)
    )


def on_host(value: Any) -> Any:
    if isinstance(value, DeviceArray):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return value


def on_device(value: Any) -> Any:
    return np.asarray(value).view(DeviceArray) if isinstance(value, np.ndarray | np.generic) else value


class RawModule:
    """Compiles CUDA source as C++ with the ziglang wheel."""

    folder: Path
    backwards: bool
    shared: int
    multiprocessors: int
    registers: int = 0

    def __init__(self, code: str, options: tuple[str, ...], enable_cooperative_groups: bool = False) -> None:
        self.cooperative = enable_cooperative_groups
        stem = (
            self.folder
            / hashlib.sha256(SHIM.read_bytes() + Path(__file__).read_bytes() + code.encode()).hexdigest()[:16]
        )
        source, library = stem.with_suffix(".cpp"), stem.with_suffix(".so")
        self.shares = SHARED.search(code) is not None
        types = TYPES | {name: TYPES[of] for of, name in TYPEDEF.findall(code)}
        self.parameters = {
            name: [kind(p, types) for p in parameters.split(",")] for name, parameters in KERNEL.findall(code)
        }
        if not library.exists():
            own = f".{os.getpid()}"  # other workers may build the same
            self.build(code, source.with_suffix(f"{own}.cpp"), library.with_suffix(f"{own}.so"))
            library.with_suffix(f"{own}.so").replace(library)
        self.open(library)

    def open(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))

    def build(self, code: str, source: Path, library: Path) -> None:
        runs = "".join(
            f'\nextern "C" void run_{name}(unsigned int grid, unsigned int block, void** arguments) '
            f"{{ launch({name}, grid, block, arguments); }}"
            for name in self.parameters
        )
        structs = {
            struct
            for parameters in self.parameters.values()
            for pointer, struct in parameters
            if isinstance(struct, str)
        }
        sizes = "".join(f'\nextern "C" {{ unsigned int size_of_{name} = sizeof({name}); }}' for name in sorted(structs))
        source.write_text(f'#include "{SHIM}"\n{code}{runs}{sizes}\n')
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "c++",
            "-shared",
            "-fPIC",
            "-O1",
            "-nostdlib++",
            "-fno-exceptions",
            "-ffp-contract=off",
            "-Wall",
            "-Werror",
        ]
        command += ["-DBARRIERS"] if "__syncthreads" in code else []
        command += [f"-DSHARED={name}" for name in sorted(set(SHARED.findall(code)))]
        command.append("-Wl,-Bsymbolic")  # or a kernel called like a function of the C library would be taken for it
        caches = {f"ZIG_{which}_CACHE_DIR": str(self.folder / "zig") for which in ("GLOBAL", "LOCAL")}
        done = subprocess.run(
            [*command, str(source), "-o", str(library)], env={**os.environ, **caches}, capture_output=True, text=True
        )
        if done.returncode:
            raise CompileException(done.stderr)

    def get_function(self, name: str) -> Any:
        parameters = self.parameters[name]

        def kernel(grid: tuple[int], block: tuple[int], arguments: tuple[Any, ...], shared_mem: int = 0) -> None:
            granted = min(kernel.max_dynamic_shared_size_bytes, self.shared)  # type: ignore[attr-defined]
            assert shared_mem <= granted, f"{name}: {shared_mem} bytes of shared memory, {granted} granted"
            assert len(arguments) == len(parameters), (
                f"{name}: {len(arguments)} arguments for {len(parameters)} parameters"
            )
            for i, (argument, parameter) in enumerate(zip(arguments, parameters)):
                self.check(f"{name}: argument {i}", argument, *parameter)
            assert 1 <= block[0] <= 1024
            assert grid[0] >= 1
            blocks = self.at_once(grid[0], block[0]) if self.cooperative else grid[0]
            self.launch(name, blocks, block[0], arguments, -(-shared_mem // 4))

        kernel.max_dynamic_shared_size_bytes = USUAL  # type: ignore[attr-defined]
        if self.registers:
            kernel.num_regs = self.registers  # type: ignore[attr-defined]
        return kernel

    def at_once(self, grid: int, block: int) -> int:
        """Blocks of a cooperative launch: CuPy takes fewer, and warns, where not all can run at once."""
        warps, registers = -(-block // 32), self.registers or 32
        most = self.multiprocessors * min(32, 64 // warps, 2**16 // (-(-registers // 8) * 256) // 4 * 4 // warps)
        if grid > most:
            warnings.warn(f"The grid size will be reduced from {grid} to {most}", stacklevel=2)
        return min(grid, most)

    def check(self, what: str, argument: Any, pointer: bool, kind: np.dtype[Any] | str) -> None:
        if isinstance(kind, str):
            assert type(argument) is np.ndarray, f"{what} is {type(argument)}, its parameter a {kind}"
            size = ctypes.c_uint.in_dll(self.library, f"size_of_{kind}").value
            assert argument.nbytes == size, f"{what} has {argument.nbytes} bytes, a {kind} has {size}"
            for name, address in addresses(argument):
                assert address in pointers, f"{what}: {name} is no address of an array"
            return
        assert isinstance(argument, DeviceArray if pointer else np.generic), f"{what} is {type(argument)}"
        assert argument.dtype == kind, f"{what} is {argument.dtype}, its parameter {kind}"
        assert not pointer or argument.flags.c_contiguous, f"{what} is not contiguous"

    def launch(self, name: str, grid: int, block: int, arguments: tuple[Any, ...], shared_words: int) -> None:
        """Run a kernel, whose arguments have been checked."""
        given = (ctypes.c_void_p * len(arguments))()
        kept = []
        for i, (argument, (pointer, dtype)) in enumerate(zip(arguments, self.parameters[name])):
            if isinstance(dtype, str):
                given[i] = argument.ctypes.data
                continue
            holder = (
                ctypes.c_void_p(argument.ctypes.data)
                if pointer
                else np.ctypeslib.as_ctypes_type(dtype)(argument.item())
            )
            kept.append(holder)
            given[i] = ctypes.addressof(holder)
        if self.shares:
            ctypes.c_uint.in_dll(self.library, "shared_words").value = shared_words
        ctypes.c_int.in_dll(self.library, "backwards").value = self.backwards
        ctypes.c_int.in_dll(self.library, "cooperative").value = self.cooperative
        self.library[f"run_{name}"](ctypes.c_uint(grid), ctypes.c_uint(block), given)


def addresses(struct: np.ndarray) -> list[tuple[str, int]]:
    """The fields of a struct that are addresses, but for null, and their names."""
    names = [name for name in struct.dtype.names or () if struct.dtype[name] == np.uintp]
    return [(name, int(struct[name][0])) for name in names if struct[name][0]]


def kind(parameter: str, types: dict[str, Any] = TYPES) -> tuple[bool, np.dtype[Any] | str]:
    """(is it a pointer, its element's type, or the name of a struct) of a C parameter."""
    words = re.sub(r"\b(const|__restrict__)\b", "", parameter).replace("*", " * ").split()
    pointer, name = "*" in words, " ".join(word for word in words[:-1] if word != "*")
    return pointer, np.dtype(types[name]) if pointer or name in types else name


def module(
    folder: Path,
    *,
    multiprocessors: int = 1,
    cache: int = 2**20,
    memory: int = 2**30,
    free: int | None = None,
    devices: int = 1,
    shared: int = 227 * 2**10,
    backwards: bool = False,
    registers: int = 0,
) -> ModuleType:
    """A module to stand in sys.modules["cupy"]: one device of so many multiprocessors and bytes of cache.

    shared: bytes that a block may share. memory: bytes that an array may take; free: bytes that the device says are
    free, `memory` by default. devices: so many of them. backwards: blocks and threads run from the last one on.
    registers: of a thread of every kernel, 0 = not told.
    """
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "none"
    pool = Pool(memory)
    current[0] = 0

    def on_the_device(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            options = {name: on_host(value) for name, value in options.items()}
            result = on_device(
                function(*[on_host(a) if isinstance(a, DeviceArray | np.ndarray) else a for a in arguments], **options)
            )
            if isinstance(result, DeviceArray) and result.nbytes > pool.most:
                raise OutOfMemoryError(f"Out of memory allocating {result.nbytes:,} bytes")
            return result

        return call

    creation = np.empty, np.zeros, np.ones, np.full, np.arange
    for function in (
        *creation,
        np.cumsum,
        np.take_along_axis,
        np.bincount,
        np.flatnonzero,
        np.argsort,
        np.where,
        np.bitwise_count,
        np.bitwise_or,
        np.bitwise_xor,
        np.minimum,
        np.searchsorted,
    ):
        setattr(cupy, function.__name__, on_the_device(function))
    cupy.asarray = lambda array: on_device(np.array(array))
    cupy.stack = lambda arrays: on_device(np.stack([on_host(array) for array in arrays]))
    cupy.concatenate = lambda arrays, axis=0: on_device(np.concatenate([on_host(array) for array in arrays], axis=axis))
    cupy.take = lambda a, indices, axis=None, out=None: on_device(
        np.take(on_host(a), on_host(indices), axis=axis, out=on_host(out), mode="clip")
    )
    cupy.get_default_memory_pool = lambda: pool
    properties = {
        "multiProcessorCount": multiprocessors,
        "l2CacheSize": cache,
        "sharedMemPerBlockOptin": shared,
        "name": b"a processor that plays a GPU",
        "regsPerMultiprocessor": 2**16,
        "maxThreadsPerMultiProcessor": 2048,
    }
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Event=Event,
        get_elapsed_time=lambda begin, end: 1e3 * (end.moment - begin.moment),
        driver=SimpleNamespace(CUDADriverError=CUDADriverError),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        compiler=SimpleNamespace(CompileException=CompileException),
        runtime=SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            getDeviceCount=lambda: devices,
            getDeviceProperties=lambda device: properties,
            memGetInfo=lambda: (free or memory, memory),
            deviceSynchronize=lambda: None,
        ),
    )
    members = {"folder": folder, "backwards": backwards, "shared": shared, "registers": registers}
    members |= {"multiprocessors": multiprocessors}
    cupy.RawModule = type("RawModule", (RawModule,), members)
    return cupy
