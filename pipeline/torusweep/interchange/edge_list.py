"""Edge list: two nodes a line, as networkx.write_edgelist(data=False) writes it; .csv with commas and a heading.

Source: the documentation of networkx 3.6, reading and writing graphs, "Edge List".
"""

from __future__ import annotations

from io import SEEK_END, BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from torusweep.interchange.formats import Format
from torusweep.interchange.links import links_of
from torusweep.networks.topology import Topology
from torusweep.tables.store import publish

HEADING = b"source,target\n"  # Arrow would put the names in quotes


def write(topology: Topology, path: Path) -> list[Path]:
    """Write a line for each link; parallel links are lines of their own."""
    source, target = links_of(topology).repeated()
    table = pa.table({"source": source, "target": target})
    with_commas = path.suffix.lower() == ".csv"
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter="," if with_commas else " ", quoting_style="none"
    )
    sink = BytesIO(HEADING if with_commas else b"")
    sink.seek(0, SEEK_END)
    pyarrow.csv.write_csv(table, sink, options)
    publish(path, sink.getvalue())
    return [path]


FORMAT = Format(
    "two nodes a line; networkx, igraph and nearly every other tool read it",
    ".edges",
    frozenset({"parallel"}),
    write,
    lambda files: f"torusweep describe {files[0]}",
)
