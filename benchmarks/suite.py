"""All benchmarks, ours and other libraries' side by side in one run: a table, a plot, and regressions.

    make bench                                  # or, in an environment that has requirements/bench.txt:
    python -m benchmarks.suite [--only distance loads …] [--large] [--turns 5] [--threads 2] [--record]

Machines change their speed from minute to minute, so contenders take turns, and only ratios are compared with
those recorded: benchmarks/recorded.parquet, which --record writes together with the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pyarrow as pa
from torusweep.tables import store
from torusweep.tables.parquet import foreign_table, parquet

from benchmarks.machine import described
from benchmarks.race import Row, rows
from benchmarks.regression import fallen
from benchmarks.table import SCHEMA, draw, markdown, replace

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded.parquet"
NAMES = (
    *(
        "distance",
        "loads",
        "walks",
        "network",
        "cuts",
        "collectives",
        "lattices",
        "blocks",
        "search",
        "graph_functions",
    ),
    *("limits", "growth", "sweep", "scheduler"),
)
RESULTS = HERE.parent / "results" / "bench"
MOST = 2**30  # bytes that the recorded rows may take


def raced(name: str, options: argparse.Namespace) -> Iterator[Row]:
    """The rows of one benchmark, its module imported only now: not every environment has its peers."""
    if name in ("sweep", "scheduler"):
        yield from (
            import_module("benchmarks.overhead").sweeps()
            if name == "sweep"
            else import_module("benchmarks.overhead").scaling()
        )
    elif name == "network":
        yield from import_module("benchmarks.network").rows(options.turns, 2)
    else:
        yield from rows(
            import_module(f"benchmarks.{name}").races(large=options.large, threads=options.threads), options.turns
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        nargs="+",
        choices=NAMES,
        default=NAMES,
        metavar="BENCHMARK",
        help=f"some of {', '.join(NAMES)}; all by default",
    )
    parser.add_argument("--large", action="store_true", help="larger networks too: igraph takes minutes there")
    parser.add_argument("--turns", type=int, default=5, help="turns of each contender")
    parser.add_argument("--threads", type=int, help="threads of ours; all by default. Theirs choose for themselves")
    parser.add_argument("--record", action="store_true", help="keep the ratios and the tables as those to compare with")
    options = parser.parse_args()
    about = described()
    print("\n".join(f"{name:18} {words}" for name, words in about.items()), flush=True)
    found: list[Row] = []
    for name in options.only:
        for row in raced(name, options):
            found.append(row)
            words = f"{row['seconds']:10.4g} s  {row['rate']:10.3g} {row['unit']:12} {row['ratio']:8.2f} ×"
            print(f"{row['benchmark']:16} {row['case']:26} {row['contender']:26} {words}", flush=True)
    table = pa.Table.from_pylist(found, SCHEMA)
    store.publish_table(RESULTS, "benchmarks", table, about)
    draw(found, RESULTS / "growth.svg")
    print(f"{RESULTS / 'benchmarks.parquet'}   {len(found)} rows; {RESULTS / 'growth.svg'}")
    if options.record:
        store.publish(RECORDED, parquet(table, about))
        replace(HERE / "README.md", markdown(found, about))
        draw(found, HERE / "growth.svg")
        return 0
    lost = fallen(found, foreign_table(RECORDED.read_bytes(), MOST).to_pylist()) if RECORDED.exists() else []
    print("\n".join(lost) or "no ratio fell")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
