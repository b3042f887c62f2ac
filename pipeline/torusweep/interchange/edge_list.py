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
from torusweep.networks.names import column_of
from torusweep.networks.topology import Topology
from torusweep.tables.store import publish

HEADING = b"source,target\n"  # Arrow would put the names in quotes


def write(topology: Topology, path: Path) -> list[Path]:
    """Write a line for each link; parallel links are lines of their own."""
    source, target = links_of(topology).repeated()
    names = topology.plan.names if _are_words(topology) else None
    table = pa.table({"source": column_of(names, source), "target": column_of(names, target)})
    with_commas = path.suffix.lower() == ".csv"
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter="," if with_commas else " ", quoting_style="none"
    )
    sink = BytesIO(HEADING if with_commas else b"")
    sink.seek(0, SEEK_END)
    pyarrow.csv.write_csv(table, sink, options)
    publish(path, sink.getvalue())
    return [path]


def _are_words(topology: Topology) -> bool:
    """Whether all names can stand in an edge list, and are read there as they are."""
    names = topology.plan.names
    if names is None or all(isinstance(name, int) for name in names):
        return names is not None
    texts = list(map(str, names))
    return all(text.split() == [text] and text[:1].isalpha() and not set(text) & set(",;#%'\"") for text in texts)


FORMAT = Format(
    "two nodes a line; networkx, igraph and nearly every other tool read it",
    ".edges",
    frozenset({"parallel"}),
    write,
    lambda files: f"torusweep describe {files[0]}",
)
