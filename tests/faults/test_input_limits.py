"""Inputs at the limits: empty networks, and small inputs that stand for far too much.

Rows 35 and 37 of the table of faults.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.traffic import demands

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


@pytest.mark.parametrize("what", TOO_MUCH)
def test_what_is_far_too_much_is_refused_at_once(tmp_path: Path, what: str):
    """In a process of its own that may take three gibibytes."""
    (tmp_path / "my.yaml").write_text(f"sweep: a\n{TOO_MUCH[what]}\n")
    start = time.monotonic()
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({3 << 30},) * 2); "
            "from torusweep.cli import main; main()",
        ]
        + ["run", "my.yaml"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=100,
    )
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
