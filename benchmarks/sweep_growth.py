"""Growth of a whole sweep with its points, from command to tables and page: processor time, memory, files.

    .venv/bin/python -m benchmarks.sweep_growth FOLDER               screen and static, 10² to 10⁵ networks
    .venv/bin/python -m benchmarks.sweep_growth FOLDER 6 static      10⁶ networks of static alone

The networks are 4 × 4 tori less two links, a seed each; `static` has distances and connectivity. Every sweep is run
twice: the second time there is nothing to do. A line of the table is printed for each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

SECTIONS = {
    "screen": "static: none\nscreen: [{}]\n",
    "static": "static: {measures: [distances, connectivity]}\n",
}
NETWORKS = """sweep: {name}
topologies:
  - {{family: faulty, topology: "torus(k=4, n=2)", links: 2, seed: {{from: 0, to: {last}}}}}
limits: {{points: 2000000}}
"""


class Cost(NamedTuple):
    """What a command and its descendants took. gibibytes: the most of any one process"""

    processor: float
    clock: float
    gibibytes: float


def run(config: Path, results: Path) -> Cost:
    """Run a sweep in a process of its own, whose descendants alone are counted."""
    begun, handle = time.monotonic(), os.fork()
    if handle == 0:
        command = [sys.executable, "-c", "from torusweep.cli import main; main()", "run", str(config)]
        log = results / f"{config.stem}.log"
        with log.open("a", encoding="utf-8") as file:
            done = subprocess.run([*command, "--results", str(results)], stdout=file, stderr=file)
        os._exit(done.returncode)
    _, status, used = os.wait4(handle, 0)
    assert status == 0, f"{config} failed; {results / config.stem}.log says why"
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - begun, used.ru_maxrss / 2**20)


def measured(stage: str, exponent: int, results: Path) -> str:
    """A line of the table: the first run, the second, and what is on the disk."""
    name, number = f"{stage}{exponent}", 10**exponent
    config, folder = results / f"{name}.yaml", results / name
    shutil.rmtree(folder, ignore_errors=True)
    config.write_text(NETWORKS.format(name=name, last=number - 1) + SECTIONS[stage], encoding="utf-8")
    first, again = run(config, results), run(config, results)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 2**20
    page = (folder / "report.html").stat().st_size / 2**20
    costs = f"{first.processor:.1f} | {first.clock:.0f} | {first.gibibytes:.2f} | {again.processor:.1f}"
    return f"| {stage} | {number:,} | {costs} | {len(files)} | {size:.1f} | {page:.1f} |"


def main() -> None:
    """Measure what the command line asks for."""
    results = Path(sys.argv[1])
    results.mkdir(parents=True, exist_ok=True)
    exponents = [int(sys.argv[2])] if len(sys.argv) > 2 else [2, 3, 4, 5]
    print("| stage | points | CPU, s | clock, s | most of a process, GiB | again, CPU s | files | MiB | page, MiB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for exponent in exponents:
        for stage in sys.argv[3:] or SECTIONS:
            print(measured(stage, exponent, results), flush=True)


if __name__ == "__main__":
    main()
