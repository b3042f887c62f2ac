"""A stand-in for CuPy whose launches run under sanitizers, all threads of all blocks at once (race_shim.h)."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.kernels import fake_cupy

SHIM = Path(__file__).with_name("race_shim.h")
VOLATILE = re.compile(r"\*\(volatile ([\w ]+)\*\)(&?[\w.\[\]]+)")
FOUND = 66  # exit status of a program with reports
SECONDS = 120  # a launch; a mutated kernel may run for ever


@dataclass(frozen=True, eq=False)
class Sanitizer:
    """command: of the compiler; options: for the program, in its environment; report: how a report begins."""

    name: str
    command: tuple[str, ...]
    options: dict[str, str]
    report: re.Pattern[str]


THREAD = Sanitizer(
    "ThreadSanitizer",
    (sys.executable, "-m", "ziglang", "c++", "-DRACES", "-fsanitize=thread", "-g", "-O1", "-ffp-contract=off"),
    {"TSAN_OPTIONS": f"exitcode={FOUND} halt_on_error=0 history_size=4"},
    re.compile("WARNING: ThreadSanitizer: data race"),
)
# zig has no AddressSanitizer: a compiler of the machine builds these
MEMORY = Sanitizer(
    "AddressSanitizer and UndefinedBehaviorSanitizer",
    (
        *(next(filter(None, map(shutil.which, ("g++", "clang++"))), "g++"), "-std=c++17", "-w", "-g", "-O1"),
        *("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-ffp-contract=off"),
    ),
    {"ASAN_OPTIONS": f"exitcode={FOUND}:detect_leaks=0", "UBSAN_OPTIONS": f"exitcode={FOUND}:print_stacktrace=1"},
    re.compile("ERROR: AddressSanitizer|runtime error: "),
)


class Raced(fake_cupy.RawModule):
    """Programs that run one launch, built by the ziglang wheel.

    found  receives the report of every launch that has one, or that never ends
    """

    found: list[str]
    mutated: Callable[[str], str]
    sanitizer: Sanitizer

    def __init__(self, code: str, options: tuple[str, ...], enable_cooperative_groups: bool = False) -> None:
        made = hashlib.sha256(SHIM.read_bytes() + Path(__file__).read_bytes()).hexdigest()
        text = f"{type(self).mutated(code)}\n// {made} {self.sanitizer.name}\n"
        super().__init__(text, options, enable_cooperative_groups)
        self.launches = 0

    def build(self, code: str, source: Path, library: Path) -> None:
        shared = fake_cupy.SHARED.search(code)
        if shared:
            code = fake_cupy.SHARED.sub(f"unsigned int* const {shared[1]} = shared_memory();", code)
        calls = "".join(
            f'    if (!strcmp(name, "{name}")) return launch({name}, arguments);\n' for name in self.parameters
        )
        main = f"static void run_kernel(const char* name, void** arguments) {{\n{calls}    abort();\n}}\n"
        relaxed = VOLATILE.sub(r"volatile_at<\1>(\2)", code)
        source.write_text(f'#include "{SHIM}"\n{relaxed}\n{main}')
        build(self.sanitizer, source, library, self.folder)

    def open(self, library: Path) -> None:
        self.program = library

    def check(self, what: str, argument: Any, pointer: bool, kind: np.dtype[Any] | str) -> None:
        if isinstance(kind, np.dtype):  # no library tells the size of a struct; fake_cupy compares it
            super().check(what, argument, pointer, kind)

    def launch(self, name: str, grid: int, block: int, arguments: tuple[Any, ...], shared_words: int) -> None:
        self.launches += 1
        given, taken = (self.program.with_suffix(f".{os.getpid()}.{which}") for which in ("in", "out"))
        given.write_bytes(self.launch_file(name, grid, block, arguments, shared_words))
        try:
            status, said = ran(self.sanitizer, self.program, str(given), str(taken))
        except subprocess.TimeoutExpired:
            self.found.append(f"{name}: no end within {SECONDS} s")
            raise
        report = self.sanitizer.report.search(said)
        if report:
            self.found.append(f"{name}: {said[report.start() :][:4000]}")
            assert self.mutated is str, "a mutated source needs no more than one report"
        assert status in (0, FOUND), f"{name}: exit status {status}\n{said[-4000:]}"
        assert said.endswith("launched\n") or "\nlaunched\n" in said, (
            f"{name}: it did not come to its end\n{said[-4000:]}"
        )
        assert (status == FOUND) == bool(report), said[-4000:]
        content, at = taken.read_bytes(), 0
        for array in self.arrays(arguments):
            array[...] = np.frombuffer(content, array.dtype, array.size, at).reshape(array.shape)
            at += array.nbytes
        assert at == len(content)

    @staticmethod
    def arrays(arguments: tuple[Any, ...]) -> list[np.ndarray]:
        """What a launch may change: arguments, then arrays that structs point to."""
        passed = [argument.view(np.ndarray) for argument in arguments if isinstance(argument, fake_cupy.DeviceArray)]
        return [*passed, *(array for _, _, array, _ in pointed(arguments))]

    def launch_file(self, name: str, grid: int, block: int, arguments: tuple[Any, ...], shared_words: int) -> bytes:
        """What race_shim.h reads: the launch, its arguments, the arrays that structs point to and where they do."""
        links = pointed(arguments)
        head = name.encode(), self.launches, grid, block, shared_words, len(arguments), len(links)
        contents = [np.asarray(argument).tobytes() for argument in arguments]
        are_arrays = [isinstance(argument, fake_cupy.DeviceArray) for argument in arguments]
        pieces = [struct.pack("=64sQ5I", *head)]
        pieces += [struct.pack("=qq", a, len(c)) + c for a, c in zip(are_arrays, contents, strict=True)]
        for argument, field, array, ranges in links:
            content = array.tobytes()
            pieces.append(struct.pack("=4q", argument, field, len(content), len(ranges)) + content)
            pieces += [struct.pack("=qq", *gap) for gap in ranges]
        return b"".join(pieces)


# addresses of arrays → (begin, end) in bytes of what no kernel may touch in them
gaps: dict[int, list[tuple[int, int]]] = {}


def pointed(arguments: tuple[Any, ...]) -> list[tuple[int, int, np.ndarray, list[tuple[int, int]]]]:
    """The arrays that structs point to, in flat form: (number of the argument, byte of the field, array, its gaps)."""
    found = []
    for number, argument in enumerate(arguments):
        if type(argument) is not np.ndarray:
            continue
        for name, address in fake_cupy.addresses(argument):
            array = fake_cupy.pointers[address]
            assert address == array.ctypes.data, f"{name}: expected the begin of an array"
            fields = argument.dtype.fields
            assert fields
            flat = np.frombuffer(array.data, np.uint8) if array.size else np.zeros(0, np.uint8)
            found.append((number, fields[name][1], flat, gaps.get(address, [])))
    return found


def build(sanitizer: Sanitizer, source: Path, program: Path, folder: Path) -> None:
    """Raises CompileException; zig compiles its sanitizer itself the first time, which takes minutes."""
    caches = {f"ZIG_{which}_CACHE_DIR": str(folder / "zig") for which in ("GLOBAL", "LOCAL")}
    done = subprocess.run(
        [*sanitizer.command, str(source), "-o", str(program)],
        env={**os.environ, **caches},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise fake_cupy.CompileException(done.stderr)


def ran(sanitizer: Sanitizer, program: Path, *arguments: str) -> tuple[int, str]:
    """(exit status, standard error). Addresses are not randomised: the sanitizer's shadow memory has a fixed place."""
    setarch = shutil.which("setarch")
    command = [*([setarch, "--addr-no-randomize"] if setarch else []), str(program), *arguments]
    done = subprocess.run(
        command, env={**os.environ, **sanitizer.options}, capture_output=True, text=True, timeout=SECONDS
    )
    return done.returncode, done.stderr


def device_of(cupy: Any) -> dict[str, int]:
    return {name: getattr(cupy.RawModule, name) for name in ("shared", "multiprocessors")}


def module(
    folder: Path, sanitizer: Sanitizer, mutated: Callable[[str], str] = str, **device: Any
) -> tuple[ModuleType, list[str]]:
    """(a module to stand in sys.modules["cupy"], the reports of its launches).

    mutated   what is compiled instead of a source
    """
    cupy: Any = fake_cupy.module(folder, **device)
    found: list[str] = []
    members = {"folder": folder, "backwards": False, "found": found, "mutated": staticmethod(mutated)}
    members |= {"sanitizer": sanitizer}
    cupy.RawModule = type("RawModule", (Raced,), members | device_of(cupy))
    return cupy, found
