"""Inputs at the limits: empty networks, and small inputs that stand for far too much.

Rows 35 and 37 of the table of faults.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.traffic import demands

from tests.faults import test_input_results
from tests.faults.command_line import settled, torusweep

NETWORKS = {
    "one node": ("one.adjlist", "0\n"),
    "two nodes, no link": ("two.adjlist", "0\n1\n"),
    "two parts": ("parts.edges", "0 1\n2 3\n3 4\n"),
    "one way": ("one_way.edges", "0 1\n"),
    "one terminal": ("one_terminal.anynet", "router 0 node 0 router 1\n"),
}
COMMANDS = [
    "describe",
    "describe --symmetry off",
    "loads",
    "loads --routing up_down",
    "loads --bounds",
    "loads --method monte-carlo --packets 64",
    "deadlock --routing minimal --vc-rule none --virtual-channels 1",
    "simulate --load 0.1 --cycles 200",
]
ANSWERED = {"one node", "one terminal"}  # all else has traffic without a path
FACTS = {  # nodes, links, components, diameter
    "one node": (1, 0, 1, 0),
    "two nodes, no link": (2, 0, 2, 0),
    "two parts": (5, 3, 2, 2),
    "one way": (2, 1, 2, 1),
    "one terminal": (2, 1, 1, 0),
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("command", COMMANDS)
def test_networks_with_little_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str, command: str):
    """A number or null, never a not-a-number; where traffic has no path, one line."""
    monkeypatch.chdir(tmp_path)
    name, content = NETWORKS[network]
    Path(name).write_text(content)
    directed = ", directed=true" if network == "one way" else ""
    verb, *options = command.split()
    said = torusweep(verb, f'graph(path="{name}"{directed})', *options, "--json")
    assert settled(said) == (verb == "describe" or network in ANSWERED), said
    if said.status == 0:
        record = json.loads(said.out, parse_constant=pytest.fail)
        if verb == "describe":
            assert tuple(record[column] for column in ("nodes", "links", "components", "diameter")) == FACTS[network]
            assert record["connected"] == (FACTS[network][2] == 1)


TOO_MUCH = {
    "a thousand million points": (
        "topologies: [{family: torus, k: {from: 2, to: 40000}, n: 1}, "
        "{family: mesh, k: {from: 2, to: 1000000000}, n: 1}]"
    ),
    "a network of 10^12 nodes": "topologies: ['torus(k=10000, n=3)']",
    "an alias for each alias": "a: &a [x, x]\nb: &b [*a, *a]\ntopologies: [*b]",
}


def limited(arguments: list[str], folder: Path, memory: int) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own that may take this much memory."""
    code = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({memory},) * 2); "
    code += "from torusweep.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_is_far_too_much_is_refused_at_once(tmp_path: Path, what: str):
    """In a process of its own that may take three gibibytes."""
    (tmp_path / "my.yaml").write_text(f"sweep: a\n{TOO_MUCH[what]}\n")
    start = time.monotonic()
    process = limited(["run", "my.yaml"], tmp_path, 3 << 30)
    assert (process.returncode, process.stdout, process.stderr.count("\n")) == (2, "", 1), process.stderr
    assert process.stderr.startswith("torusweep: my.yaml:")
    assert time.monotonic() - start < 60
    assert {path.name for path in tmp_path.iterdir()} == {"my.yaml"}


def test_a_small_file_of_very_many_rows_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    many = 2_000_000
    path = tmp_path / "many.parquet"
    pq.write_table(
        pa.table({"source": pa.repeat(0, many), "destination": pa.repeat(1, many), "demand": pa.repeat(1.0, many)}),
        path,
    )
    assert path.stat().st_size < 30_000
    monkeypatch.setattr(demands, "default_memory", lambda: 3 * (many * 3 * 8) - 1)
    said = torusweep("loads", "ring(k=4)", "--traffic", f'demand(path="{path}")')
    assert not settled(said)
    assert "2,000,000 rows of 3 columns are more than this machine's memory can hold" in said.err
    monkeypatch.setattr(demands, "default_memory", lambda: 3 * (many * 3 * 9))  # with which values are there
    assert settled(torusweep("loads", "ring(k=4)", "--traffic", f'demand(path="{path}")', "--json"))


@pytest.mark.faults
def test_a_small_table_that_stands_for_more_than_memory_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody else's results: a text of a megabyte, which a dictionary holds once, in each of 4,000 rows."""
    monkeypatch.chdir(tmp_path)
    test_input_results.fresh()
    path, rows = test_input_results.FOLDER / "static.parquet", 4000
    table = pq.read_table(path).slice(0, 1).take(pa.array([0] * rows))
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 10**6]))
    table = table.set_column(table.column_names.index("family"), "family", text)
    pq.write_table(table, path, compression="zstd", store_schema=False)
    test_input_results.enter("tables", "", "static", path.read_bytes(), rows)
    assert path.stat().st_size < 30_000
    for name in ("verify", "report", "compare", "designs", "static"):
        where = () if name == "compare" else ("--results", str(test_input_results.FOLDER))
        ended = limited([*test_input_results.ASKED[name], *where], tmp_path, 2 << 30)
        assert ended.returncode in (0, 1, 2), ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr
        assert ended.returncode < 2 or ended.stderr.count("\n") == 1, ended.stderr


@pytest.mark.parametrize("command", ["query", "pareto", "plot", "report", "verify", "compare", "dataset"])
def test_a_command_that_reads_results_takes_no_more_than_the_machines_memory(command: str, monkeypatch):
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append((kind, limits[0])))
    assert settled(torusweep(command, "--help"))
    ((kind, most),) = {*asked}
    assert kind == resource.RLIMIT_DATA
    assert 0 < most <= psutil.virtual_memory().total
