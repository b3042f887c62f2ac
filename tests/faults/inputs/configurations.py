"""Any bytes as a configuration: refused in a line, or points."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import strategies as st
from torusweep.sweeps.points import Point

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import Properties, mixed

HEAD = b"sweep: a\ntopologies: ['ring(k=4)', {family: torus, k: [3, 4], n: 2}]\n"
SECTIONS = [
    "loads",
    "deadlock",
    "layout",
    "cost",
    "latency",
    "simulation",
    "cluster",
    "limits",
    "fault_nodes",
    "papers",
    "backend",
    "description",
]
ENTRIES = [
    "routing",
    "traffic",
    "vc_rule",
    "virtual_channels",
    "placement",
    "packing",
    "families",
    "nodes",
    "loads",
    "seeds",
    "model",
    "scheduler",
    "workers",
]
SCALARS = [
    "0",
    "-1",
    "3",
    "1e308",
    ".nan",
    "true",
    "null",
    "all",
    "torus",
    "uniform",
    "minimal",
    "none",
    "folded",
    "P98",
    "{from: 2, to: 9}",
    '"\\ud800"',
]
TREES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(ENTRIES), inner, max_size=4).map(
            lambda entries: "{" + ", ".join(f"{k}: {v}" for k, v in entries.items()) + "}"
        )
    ),
    max_leaves=8,
)
SWEEPS = st.dictionaries(st.sampled_from(SECTIONS), TREES, max_size=3).map(
    lambda sections: HEAD + "".join(f"{key}: {tree}\n" for key, tree in sections.items()).encode()
)
CONFIGS = SWEEPS | mixed(
    HEAD,
    b"loads: ",
    b"- ",
    b"{",
    b"}",
    b"[",
    b"]",
    b": ",
    b"&a ",
    b"*a",
    b"!!python/object/apply:os.system ",
    b"'",
    b"\t",
    b"<<",
    b"|",
)


def a_config(content: bytes) -> None:
    Path("any.yaml").write_bytes(content)
    if settled(torusweep("step", "points", "any.yaml", "out/a")):
        table = pq.read_table("out/a/points.parquet")
        assert table.num_rows
        assert all(0 < seconds < 1e6 for seconds in table.column("estimated_seconds").to_pylist())
        rows = table.drop_columns(["key", "estimated_seconds"]).to_pylist()
        assert [Point.of_record(row).key for row in rows] == table.column("key").to_pylist()


PROPERTIES: Properties = {
    "config": (CONFIGS, a_config, 1),
}
