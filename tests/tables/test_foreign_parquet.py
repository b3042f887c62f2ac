"""Somebody else's Parquet: what ends the process that reads it, or stands for more than memory, is one line."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.errors import BadInput, Refused
from torusweep.tables import parquet

NODES = 8
DEMAND = pa.table(
    {
        "source": pa.array(np.arange(NODES)),
        "destination": pa.array((np.arange(NODES) + 1) % NODES),
        "demand": pa.array(np.linspace(1, 2, NODES)),
        "note": pa.array([f"task {number}" for number in range(NODES)]),
    }
)
MEMORY = 1 << 28


def content_of(table: pa.Table, path: Path) -> bytes:
    pq.write_table(table, path, store_schema=False)
    return path.read_bytes()


def test_a_table_is_what_was_written(tmp_path: Path):
    kinds = DEMAND.append_column("class", DEMAND["note"].dictionary_encode()).append_column("none", pa.nulls(NODES))
    kinds = kinds.append_column("lists", pa.array([[1, 2]] * NODES)).replace_schema_metadata({"nodes": "8"})
    pq.write_table(kinds, tmp_path / "a.parquet")
    found = parquet.foreign_table((tmp_path / "a.parquet").read_bytes(), MEMORY)
    assert found.equals(kinds)
    assert found.schema.metadata[b"nodes"] == b"8"


@pytest.mark.parametrize("rows", [100, 20_000])
def test_a_text_that_many_rows_repeat_is_counted_before_it_is_written_out(tmp_path: Path, rows: int):
    """2 kB for 20,000 rows of a megabyte each took 20 GB, in a column that nobody reads."""
    note = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 10**6]))
    ends = {name: pa.array([0] * rows) for name in ("source", "destination", "demand")}
    content = content_of(pa.table({**ends, "note": note}), tmp_path / "large.parquet")
    assert len(content) < 200_000
    if rows == 100:
        assert parquet.foreign_table(content, MEMORY)["note"][99].as_py() == "x" * 10**6
    else:
        with pytest.raises(Refused, match=r"^the column note is more than this machine's memory can hold: leave it"):
            parquet.foreign_table(content, MEMORY)


def test_a_text_that_many_rows_repeat_takes_no_memory(tmp_path: Path):
    """In a process of its own: the system keeps the largest of all children that a process ever had."""
    note = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * 10**6]))
    content_of(pa.table({"note": note}), tmp_path / "large.parquet")
    asked = (
        "import resource, sys; from pathlib import Path\n"
        "from torusweep.errors import Refused; from torusweep.tables import apart, parquet\n"
        f"try: parquet.foreign_table(Path(sys.argv[1]).read_bytes(), {MEMORY})\n"
        "except Refused: apart.end(); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    found = subprocess.run([sys.executable, "-c", asked, tmp_path / "large.parquet"], capture_output=True, text=True)
    assert 0 < int(found.stdout) < 1 << 20, "KiB"


KEPT = """
import os
from torusweep.tables import apart

def asked(name):
    found = apart.apart(f"noting:{name}", {}, b"", memory=1 << 20).about
    return found["seen"], found["parent"]

first = asked("note")
assert asked("note") == first and first[0] == 1, "one process, which keeps nothing of a file"
fork = os.fork()
if fork == 0:
    own = asked("note")
    os._exit(0 if own[0] == 1 and own != first else 1)
assert os.waitpid(fork, 0)[1] == 0, "a fork of ours has its own"
assert asked("note") == first
try:
    asked("end")
except ValueError as error:
    assert "(SIGABRT)" in str(error)
assert asked("note")[0] == 1, "another one"
assert asked("note") != first
"""


def test_one_process_is_kept_and_no_file_is_read_in_it(tmp_path: Path):
    (tmp_path / "noting.py").write_text(
        "import os\nfrom torusweep.tables.apart import Sent\nseen = []\ndef end(content): os.abort()\n"
        "def note(content):\n  seen.append(1)\n  return Sent({'seen': len(seen), 'parent': os.getppid()}, None)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", KEPT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_that_ends_the_process_which_reads_it_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ending.py").write_text("import os\ndef here(content, **given): os.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    content_of(DEMAND, tmp_path / "demand.parquet")
    call = parquet.apart
    monkeypatch.setattr(parquet, "apart", lambda function, *given, **more: call("ending:here", *given, **more))
    for asked in (
        lambda: ts.network("ring(k=8)").loads(traffic=f'demand(path="{tmp_path}/demand.parquet")'),
        lambda: ts.network(f"{tmp_path}/demand.parquet").describe(),
    ):
        with pytest.raises(BadInput, match=r"it ended the process that read it \(SIGABRT\)") as refusal:
            asked()
        assert "\n" not in str(refusal.value)


def flips(path: Path, count: int, seed: int) -> None:
    """Single bits, anywhere: the table that was written, or one line."""
    content, chance = content_of(DEMAND, path), random.Random(seed)
    for _ in range(count):
        flipped, bit = bytearray(content), chance.randrange(8 * len(content))
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            found = parquet.foreign_table(bytes(flipped), MEMORY)
        except (ValueError, BadInput) as error:
            said = str(error)
        else:
            said = ""
            assert found.num_rows <= MEMORY // 8
        assert "\n" not in said
        assert "Traceback" not in said


def test_single_flips(tmp_path: Path):
    flips(tmp_path / "demand.parquet", 4, 3)


@pytest.mark.faults
def test_two_hundred_single_flips(tmp_path: Path):
    flips(tmp_path / "demand.parquet", 200, 4)
