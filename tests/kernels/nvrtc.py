"""NVIDIA's run-time compiler through ctypes: it needs no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path

from torusweep_kernels.cuda import cuda_source

PATTERNS = {12: "cuda_nvrtc/lib/libnvrtc.so.12", 13: "cu13/lib/libnvrtc.so.13"}  # where the wheels put it


@cache
def library(cuda: int) -> ctypes.CDLL:
    """The compiler of CUDA 12 or 13."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []
    found = [folder / PATTERNS[cuda] for folder in folders if (folder / PATTERNS[cuda]).exists()]
    assert found, f"NVRTC of CUDA {cuda} is missing; it comes with the project's extra 'test'"
    return ctypes.CDLL(str(found[0]))


def architectures(cuda: int, oldest: int) -> list[int]:
    """Compute capabilities that it compiles for, as 75 for 7.5."""
    number = ctypes.c_int()
    assert library(cuda).nvrtcGetNumSupportedArchs(ctypes.byref(number)) == 0
    values = (ctypes.c_int * number.value)()
    assert library(cuda).nvrtcGetSupportedArchs(values) == 0
    return [value for value in values if value >= oldest]


def compile_for(cuda: int, architecture: int, source: Path, options: tuple[str, ...]) -> tuple[str, bytes]:
    """(log, machine code; empty where the source was refused)."""
    nvrtc, program, size = library(cuda), ctypes.c_void_p(), ctypes.c_size_t()
    assert (
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), cuda_source(source).encode(), source.name.encode(), 0, None, None
        )
        == 0
    )
    flags = [*options, f"--gpu-architecture=sm_{architecture}"]
    failed = nvrtc.nvrtcCompileProgram(
        program, len(flags), (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
    )
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = b""
    if not failed:
        assert nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value)
        assert nvrtc.nvrtcGetCUBIN(program, buffer) == 0
        code = buffer.raw
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode(), code
