"""What the compiler says of every kernel: registers, spills, stack, and how many blocks fit into a multiprocessor.

    python -m benchmarks.gpu_registers [--architecture 90] [--cuda 13]

Needs no GPU: NVRTC comes with the project's extra `test`. Shared memory that a launch asks for is not the compiler's to
know: where it limits the blocks, docs/gpu.md says so.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torusweep_kernels
from torusweep_kernels import cuda

from benchmarks.gpu_jobs import cells
from tests.kernels import nvrtc

MOST = {90: (65_536, 64), 80: (65_536, 64), 100: (65_536, 64), 75: (65_536, 32), 86: (65_536, 48), 89: (65_536, 48)}
THREADS = {
    "total_up": (1024,),
    "measure": (128, 1024),
    "anneal": (512, 1024),
    "advance of router.cu": (64, 512),
}
OF_LOADS = (256, 512)
THREADS |= {f"{name} of {source}.cu": OF_LOADS for name in ("search", "search_twice") for source in ("flows", "wide")}
THREADS |= {"advance_in_shared of router.cu": (64, 256)}
FUNCTION = re.compile(
    r"entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers",
    re.DOTALL,
)
# at commit 3b5cd04, by nvcc 13.0 for sm_90, where it was audited: registers, spills (stores, loads), stack
BEFORE = {
    "dense of levels.cu": (40, 0, 0, 0),  # then `advance`, of 8 bytes a thread
    "tally of levels.cu": (48, 0, 0, 0),
    "reach of walks.cu": (48, 0, 0, 0),
    "walk of walks.cu": (46, 0, 0, 0),
    "add_up of flows.cu": (42, 0, 0, 0),
    "advance of router.cu": (64, 36, 104, 560),
}


# sources that are compiled for several purposes: constants of the usual one, and of those with another name
BUILDS = {
    "levels.cu": {
        "": ("-DDEGREE=6", "-DREMOVED=0", "-DCHOSEN=0", "-DNEWS=0"),
        ", eccentricities": ("-DDEGREE=6", "-DREMOVED=0", "-DCHOSEN=0", "-DNEWS=1"),
        ", lists and all options": (),
    }
}


class Function(NamedTuple):
    """A compiled kernel; bytes of spills and stack a thread."""

    name: str
    registers: int
    stores: int
    loads: int
    stack: int


def functions(version: int, architecture: int, pattern: str = "*.cu") -> Iterator[Function]:
    """Of every CUDA source whose name fits. Raises RuntimeError where the compiler refuses it or says nothing of it."""
    for source in sorted(Path(torusweep_kernels.__file__).parent.rglob(pattern)):
        names = re.findall(r"__global__ void (\w+)\(", cuda.cuda_source(source))
        for build, constants in BUILDS.get(source.name, {"": ()}).items():
            options = (*cuda.OPTIONS, *constants, "--ptxas-options=-v")
            log, code = nvrtc.compile_for(version, architecture, source, options)
            found = sorted(FUNCTION.findall(log))
            if not code or sorted(names) != [name for name, *_ in found]:
                raise RuntimeError(f"{source.name}: expected registers of {', '.join(names)}, got:\n{log}")
            for name, *numbers in found:
                stack, stores, loads, registers = map(int, numbers)
                yield Function(f"{name} of {source.name}{build}", registers, stores, loads, stack)


def table(version: int, architecture: int) -> str:
    registers, warps = MOST[architecture]
    head = ("kernel", "registers", "before", "spills: stores, loads", "stack", "threads", "blocks a multiprocessor")
    lines = [cells(*head, "of its threads"), cells("---", *["--:"] * len(head))]
    for one in functions(version, architecture):
        sizes = THREADS.get(one.name) or THREADS.get(one.name.partition(" ")[0])
        for threads in sizes or (cuda.THREADS,):
            blocks = cuda.blocks_that_fit(one.registers, threads, registers, warps)
            share = f"{blocks * threads / (warps * cuda.WARP):.0%}"
            before = BEFORE.get(one.name)
            spills = f"{one.stores}, {one.loads}"
            lines.append(
                cells(one.name, one.registers, before[0] if before else None, spills, one.stack, threads, blocks, share)
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architecture", type=int, choices=sorted(MOST), default=90)
    parser.add_argument("--cuda", type=int, choices=sorted(nvrtc.PATTERNS), default=13)
    options = parser.parse_args()
    print(table(options.cuda, options.architecture))


if __name__ == "__main__":
    main()
