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

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        made = hashlib.sha256(SHIM.read_bytes() + Path(__file__).read_bytes()).hexdigest()
        super().__init__(f"{type(self).mutated(code)}\n// {made} {self.sanitizer.name}\n", options)
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

    def launch(self, name: str, grid: int, block: int, arguments: tuple[Any, ...], shared_words: int) -> None:
        self.launches += 1
        given, taken = (self.program.with_suffix(f".{os.getpid()}.{which}") for which in ("in", "out"))
        numbers = struct.pack("=64sQ4I", name.encode(), self.launches, grid, block, shared_words, len(arguments))
        contents = [np.asarray(argument).tobytes() for argument in arguments]
        arrays = [isinstance(argument, np.ndarray) for argument in arguments]
        given.write_bytes(
            numbers + b"".join(struct.pack("=qq", a, len(c)) + c for a, c in zip(arrays, contents, strict=True))
        )
        try:
            status, said = ran(self.sanitizer, self.program, str(given), str(taken))
        except subprocess.TimeoutExpired:
            self.found.append(f"{name}: no end within {SECONDS} s")
            raise
        report = self.sanitizer.report.search(said)
        if report:
            self.found.append(f"{name}: {said[report.start() :][:4000]}")
        assert status in (0, FOUND), f"{name}: exit status {status}\n{said[-4000:]}"
        assert said.endswith("launched\n") or "\nlaunched\n" in said, (
            f"{name}: it did not come to its end\n{said[-4000:]}"
        )
        assert (status == FOUND) == bool(report), said[-4000:]
        content, at = taken.read_bytes(), 0
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                array = argument.view(np.ndarray)
                array[...] = np.frombuffer(content, array.dtype, array.size, at).reshape(array.shape)
                at += array.nbytes
        assert at == len(content)


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
    cupy.RawModule = type("RawModule", (Raced,), members | {"shared": cupy.RawModule.shared})
    return cupy, found
