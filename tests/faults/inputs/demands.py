"""Any bytes as a demand matrix: refused in a line, or the right loads."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import CHANGES, Properties, changed, mixed


def demands(content: bytes, suffix: str) -> None:
    Path(f"any.{suffix}").write_bytes(content)
    said = torusweep("loads", "ring(k=5)", "--traffic", f'demand(path="any.{suffix}")', "--json")
    if settled(said):
        rows = (
            csv.DictReader(io.StringIO(content.decode()))
            if suffix == "csv"
            else pq.read_table(io.BytesIO(content)).to_pylist()
        )
        sent = [(int(row["source"]), int(row["destination"]), float(row["demand"])) for row in rows]
        hops = sum(
            amount * min((source - destination) % 5, (destination - source) % 5) for source, destination, amount in sent
        )
        assert json.loads(said.out)["mean_hops"] == pytest.approx(hops / sum(amount for _, _, amount in sent), rel=1e-9)


ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 1, 0.25, 1e-90, 1e90])), min_size=1, max_size=8
)
LISTED = ROWS.map(
    lambda rows: ("source,destination,demand\n" + "".join(f"{s},{d},{a!r}\n" for s, d, a in rows)).encode()
)
TABLES = LISTED | mixed(
    b"source",
    b"destination",
    b"demand",
    b",",
    b"0",
    b"1",
    b"-1",
    b"1e400",
    b"nan",
    b'"',
    b"source,destination,demand\n0,1,",
)
WHOLE = io.BytesIO()
pq.write_table(pa.table({"source": [0, 1], "destination": [1, 3], "demand": [1.0, 2.0]}), WHOLE)


def damaged_demands(changes: list[tuple[int, int]]) -> None:
    """Damage to values without a checksum cannot be detected in a file that another program wrote.

    So the file is either refused or computed from; no more is promised.
    """
    Path("any.parquet").write_bytes(changed(WHOLE.getvalue(), changes))
    settled(torusweep("loads", "ring(k=5)", "--traffic", 'demand(path="any.parquet")', "--json"))


PROPERTIES: Properties = {
    "demand": (TABLES, lambda content: demands(content, "csv"), 1),
    "damaged demand": (CHANGES, damaged_demands, 1),
}
