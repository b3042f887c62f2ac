"""Parquet: a row for each link; for pandas, Polars, DuckDB and Spark, and for networks of millions of links.

Source: ours; the columns and the file's metadata are those of `torusweep.networks.families.graph_parquet`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from torusweep.interchange.formats import Format
from torusweep.interchange.graphml import FORMAT as GRAPHML
from torusweep.interchange.links import links_of, one_each
from torusweep.networks.topology import Topology
from torusweep.tables.parquet import parquet
from torusweep.tables.store import publish


def write(topology: Topology, path: Path) -> list[Path]:
    """Write the table of links, with nodes, directions, ports, classes and terminals as JSON in its metadata."""
    links = links_of(topology)
    table = pa.table({"source": links.source, "target": links.target, **links.numbers()})
    about = {
        "nodes": topology.nodes,
        "directed": topology.directed,
        "ports": topology.ports.shape[1],
        "classes": list(topology.plan.classes),
        "network": topology.spelling,
    }
    if topology.plan.names is not None:
        about["names"] = [name if isinstance(name, int) else str(name) for name in topology.plan.names]
    if not one_each(topology):
        about["terminals"] = topology.terminals.tolist()
    publish(path, parquet(table, {key: json.dumps(value) for key, value in about.items()}))
    return [path]


FORMAT = Format(
    "a row for each link: pandas, Polars, DuckDB, Spark; the smallest file",
    ".parquet",
    GRAPHML.holds,
    write,
    lambda files: f"torusweep describe {files[0]}",
)
