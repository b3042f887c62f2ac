"""On a machine with a GPU: what is true of its kernels, and which of their constants are best there.

    make gpu-check GPU=12      # or GPU=13: CuPy's CUDA version. Every kernel against its reference, with times
    make gpu-tune GPU=12       # settings of launches, one changed at a time
    PYTHONPATH=.:pipeline:kernels python3 -m benchmarks.gpu_check truth      # where nothing can be installed

Each takes at most 9 minutes: cases are in the order of their importance, and the table names those that no longer
fitted. Every case has a process of its own with a limit of time, so that one that crashes or hangs loses only itself. A
line of JSON is printed for each result at once, and kept in a file with --output; the table for benchmarks/README.md
comes last. Cases that are not timed run four at a time (--jobs) where there are 16 cores. CuPy, Numba, SciPy, psutil
and PyArrow are needed, and pytest and hypothesis for the tests that need a GPU.

Estimates are for an H200. Those of distances and of the largest network follow from the bytes that they move through
its caches and memory; loads and walks are taken as 20 times as fast as two CPU threads, batches of networks as 10⁹
nodes times cycles per second; moves of a search are estimated from compiled code (benchmarks/README.md).

Exits with status 1 if anything differs or did not come to its end, and with 2 if there is no GPU.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from torusweep_kernels.backend import gpu_count

from benchmarks.gpu_jobs import failed, ledger, run_one

MINUTES = 9.0
TOGETHER, CORES = 4, 16
COMMANDS = {"truth": "benchmarks.gpu_truth", "tuning": "benchmarks.gpu_tuning"}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["one"]:
        return run_one(*arguments[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="all of it ends within them (9)")
    parser.add_argument("--only", default="", metavar="WORDS", help="cases whose names contain these words")
    parser.add_argument("--output", metavar="FILE", help="keeps the lines of JSON, too")
    usual = TOGETHER if len(os.sched_getaffinity(0)) >= CORES else 1
    parser.add_argument(
        "--jobs", type=int, default=usual, help="jobs at a time that are not timed (4 where there are 16 cores)"
    )
    options = parser.parse_args(arguments)
    if not gpu_count():
        print(
            "gpu-check: expected a GPU that CuPy can use, found none; run it where there is one: "
            "make gpu-check GPU=12 (or GPU=13, its CUDA version)",
            file=sys.stderr,
        )
        return 2
    module = COMMANDS[options.command]

    def tell(line: str) -> None:
        print(line, flush=True)
        if options.output:
            with open(options.output, "a") as file:
                file.write(f"{line}\n")

    rows = ledger(module, 60 * options.minutes, tell, options.only, max(1, options.jobs))
    print(f"\n{import_module(module).table(rows)}")
    return int(failed(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
