"""Answers from large tables: `query`, `pareto`, `plot` and `best` on a folder of a million rows and more.

    .venv/bin/python -m benchmarks.large_results 1000000 FOLDER    make the folder (3 s and 30 MB a million rows)
    .venv/bin/python -m benchmarks.large_results time FOLDER       seconds of the commands on it, each in a process

The tables `static` and `loads` have rows of real networks, repeated with other names, sizes and distances, so that no
two are alike in topology, and that a Pareto front has many sizes.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from torusweep.all_columns import schema_of
from torusweep.networks.families import build
from torusweep.questions.how import How
from torusweep.questions.loads.stage import loads
from torusweep.questions.static.record import static_record
from torusweep.tables.parquet import ROW_GROUP, SCHEMA_VERSION

NETWORKS = [f"faulty(torus(k={k}, n=2), links=2, seed={seed})" for k in (4, 6, 8) for seed in range(8)]
COMMANDS = {
    "query, filter": ("query", "SELECT count(*) AS n, max(mean_distance) AS most FROM static WHERE nodes = 4096"),
    "query, rows": ("query", "SELECT topology, nodes, cost FROM static WHERE mean_distance < 2.001 LIMIT 10"),
    "query, all columns": ("query", "SELECT * FROM static WHERE topology = 'network(seed=77)'"),
    "pareto of two": ("pareto", "--minimise", "mean_distance,cost"),
    "pareto of three": ("pareto", "--minimise", "mean_distance,cost", "--maximise", "nodes"),
}


def make(rows: int, folder: Path) -> None:
    """Write the tables and their manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    networks = [build(name) for name in NETWORKS]
    real = {
        "static": [static_record(network) for network in networks],
        "loads": [loads(network, How()).record for network in networks],
    }
    entries = {}
    for name, records in real.items():
        path, schema = folder / f"{name}.parquet", schema_of(name)
        some = pa.Table.from_pylist(records, schema=schema)
        whole = schema.with_metadata({"schema_version": str(SCHEMA_VERSION), "table": name})
        with pq.ParquetWriter(path, whole, compression="zstd", write_page_checksum=True) as writer:
            for first in range(0, rows, ROW_GROUP):
                writer.write_table(_varied(some, np.arange(first, min(rows, first + ROW_GROUP))).cast(whole))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        entries[name] = {"sha256": digest, "rows": rows}
    (folder / "manifest.json").write_text(json.dumps({"sweep": folder.name, "tables": entries}))


def _varied(some: pa.Table, number: np.ndarray) -> pa.Table:
    """Rows of the table in turn, those of these numbers: other names, and other numbers in some columns."""
    table = some.take(pa.array(number % some.num_rows))
    random = np.random.default_rng(int(number[0]))
    factor = 1 + number // some.num_rows % 1000
    for name in ("nodes", "cost", "mean_distance", "saturation_load", "links"):
        place = table.schema.get_field_index(name)
        if place >= 0:
            kind = table.schema.field(place).type
            values = np.asarray(table.column(place)) * (
                factor if kind == pa.int64() else random.uniform(1, 9, len(number))
            )
            table = table.set_column(place, table.schema.field(place), pa.array(values, kind))
    names = pa.array([f"network(seed={one})" for one in number.tolist()])
    return table.set_column(0, table.schema.field(0), names)


def measure(folder: Path) -> None:
    """Print the seconds of each command, of the processor and by the clock."""
    for title, arguments in COMMANDS.items():
        arguments = tuple(str(folder / "plot.svg") if one == "/dev/null.svg" else one for one in arguments)
        code = "from torusweep.cli import main; main()"
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments, "--results", str(folder)], capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        said = (done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or [""])[-1]
        print(f"{title:20} {cpu:6.2f} s CPU {time.monotonic() - begun:6.2f} s  {said[:60]}", flush=True)


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    if what == "time":
        measure(where)
    else:
        make(int(what), where)
