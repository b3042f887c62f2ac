"""Formats of graph files: their suffixes, what their contents begin with, and the function that reads each.

A file is read as what it begins with, else as its suffix says, else as what its lines look like. To add a format: its
line in FORMATS, and a function (path) → `Listing`.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

HEAD = 1 << 16  # bytes that are looked at
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class FileFormat(NamedTuple):
    """A format of graph files.

    reader    "module:function"; a text of this form counts as an import (torusweep.tables.keys)
    suffixes  of files that are read as it
    begins    a pattern at the beginning of its files, or of a line there; empty: nothing tells it
    """

    reader: str
    suffixes: str = ""
    begins: bytes = b""


FORMATS = {
    "edgelist": FileFormat("torusweep.networks.families.graph_formats:edge_list", ".edges .edgelist .el .csv .ncol"),
    "adjlist": FileFormat("torusweep.networks.families.graph_formats:adjacency_list", ".adj .adjlist"),
    "graphml": FileFormat(
        "torusweep.networks.families.graph_graphml:graphml", ".graphml .xml", rb"\A\s*<[^\0]*<(\w+:)?graphml\b"
    ),
    "anynet": FileFormat(
        "torusweep.networks.families.graph_formats:anynet", ".anynet", rb"^[ \t]*router\s+\d+\s+(node|router)\s+\d+"
    ),
    "networkx-json": FileFormat("torusweep.networks.families.graph_json:node_link", ".json", rb"\A\s*\{"),
    "parquet": FileFormat("torusweep.networks.families.graph_parquet:parquet_links", ".parquet", rb"\APAR1"),
    "gexf": FileFormat("torusweep.networks.readers.gexf:gexf", ".gexf", rb"\A\s*<[^\0]*<(\w+:)?gexf\b"),
    "gml": FileFormat("torusweep.networks.readers.libraries:gml", ".gml", rb"^[ \t]*graph\s*\["),
    "pajek": FileFormat(
        "torusweep.networks.readers.libraries:pajek", ".net .paj", rb"^[ \t]*\*(?i:vertices|network)\b"
    ),
    "matrix-market": FileFormat("torusweep.networks.readers.libraries:matrix_market", ".mtx", rb"\A%%MatrixMarket\b"),
    "npy": FileFormat("torusweep.networks.readers.libraries:npy", ".npy", rb"\A\x93NUMPY"),
    "npz": FileFormat("torusweep.networks.readers.libraries:npz", ".npz", rb"\APK\x03\x04"),
    "dot": FileFormat(
        "torusweep.networks.readers.text:dot",
        ".dot .gv",
        rb"\A(?:\s|//[^\n]*|#[^\n]*|/\*(?s:.*?)\*/)*+(strict\s+)?(?i:di)?graph\b[^\[\n]*\s*\{",
    ),
    "graph6": FileFormat(
        "torusweep.networks.readers.text:graph6",
        ".g6 .s6 .d6 .graph6 .sparse6 .digraph6",
        rb"\A>>(di)?(graph|sparse)6<<",
    ),
    "dimacs": FileFormat(
        "torusweep.networks.readers.text:dimacs", ".gr .col .dimacs .max", rb"^p\s+(edge|col|sp|max|min)\s+\d+\s+\d+"
    ),
    "matrix": FileFormat("torusweep.networks.readers.text:matrix"),
    "snap": FileFormat("torusweep.networks.readers.text:snap", "", rb"\A#\s*(Und|D)irected graph\b"),
    "ns3": FileFormat(
        "torusweep.networks.readers.fabrics:ns3", "", rb"^[ \t]*\d+\s+\d+\s+\d[\d.]*[kKMGT]?bps\s+\d[\d.]*(n|u|m)?s\s"
    ),
    "slurm": FileFormat(
        "torusweep.networks.readers.slurm:slurm", "", rb"^[ \t]*(?i:SwitchName|BlockName|BlockSizes|RingName)\s*="
    ),
    "slurm-yaml": FileFormat("torusweep.networks.readers.slurm:slurm_yaml", "", rb"^[ \t]*-[ \t]+topology[ \t]*:"),
    "ibnetdiscover": FileFormat(
        "torusweep.networks.readers.fabrics:ibnetdiscover", ".ibnetdiscover", rb"^(switchguid|caguid|vendid)=0x"
    ),
}
SUFFIXES = {suffix: name for name, format in FORMATS.items() for suffix in format.suffixes.split()}
_BEGINS = {name: re.compile(format.begins, re.MULTILINE) for name, format in FORMATS.items() if format.begins}


def format_of(path: Path) -> str | None:
    """The name of a file's format, None where neither its name nor its contents tell. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        rest = bool(file.read(1))
    head = head.removeprefix(b"\xef\xbb\xbf")
    for name, begins in _BEGINS.items():
        if begins.search(head):
            return name
    named = SUFFIXES.get(path.suffix.lower())
    if named is not None and path.suffix.lower() != ".csv":
        return named
    return _of_lines(head, rest, path.suffix.lower() == ".csv") or named


def _of_lines(head: bytes, rest: bool, with_heading: bool) -> str | None:
    """A matrix, or a list of links, by its first lines; None: neither.

    rest          whether the file goes on behind `head`
    with_heading  whether the first line may have names of columns
    """
    try:
        text = head.decode(errors="ignore")
        lines = (re.split(r"[#%]|^\s*//", line, maxsplit=1)[0].strip() for line in text.splitlines())
        rows = [re.split(r"\s*[,;\t]\s*|\s+", line) for line in islice(filter(None, lines), 4)]
    except ValueError:
        return None
    if not rows or b"\0" in head:
        return None
    width = len(rows[0])
    if with_heading and len(rows) > 1 and width > 1 and rows[0][:2] == ["", rows[1][0]]:  # a data frame, with its index
        return "matrix"
    numbers = all(len(row) == width and all(map(NUMBER.fullmatch, row)) for row in rows)
    three = numbers and width == 3 == len(rows) and not rest and not any(float(row[i]) for i, row in enumerate(rows))
    if (numbers and width > 3) or three:
        return "matrix"
    return "edgelist" if all(len(row) in (2, 3) for row in rows) else None
