"""Formats of graph files: suffixes, patterns of their beginnings, and the function that reads each format.

The beginning of a file shows its format; otherwise its suffix or the look of its lines does. To add a format, add a
line to FORMATS and a function (path) → `Listing`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from torusweep.networks.readers.detection import is_plain, is_square, lists_of

HEAD = 1 << 16  # bytes at a file's beginning that are searched
ROOT = rb"\A\s*(?:<!--(?s:.*?)-->\s*|<[?!][^>]*>\s*)*+<(?:\w+:)?"  # beginning of XML up to its root's name
# kinds of files that contain no network, which `torusweep.networks.readers.refused` refuses
NOT_READ = {
    "hwloc": ROOT + rb"topology\b",
    "nccl-graph": ROOT + rb"graphs\b",
    "omnetpp": rb"^[ \t]*submodules:",
    "python": rb"\A(?:\s|#[^\n]*\n|\"\"\"(?s:.*?)\"\"\")*+"
    rb"(?:import|from)[ \t]+[\w.]+(?:[ \t]+import\b|[ \t]+as\b|,|[ \t]*$)"
    rb"(?:[^\n]*\n)*?[^\n#(=]*[(=]",
    "garnet": rb"^\[system\.ruby\.network",
    "booksim-config": rb"^[ \t]*topology[ \t]*=[ \t]*\w+[ \t]*;",
    "astra-sim-network": rb"^npus_count[ \t]*:",
    "noxim": rb"^(?i:mesh_dim_x)[ \t]*:",
    "caminos-config": rb"^[ \t]*Configuration\s*\{",
    "lldp": rb"^LLDP neighbors:",
    "hosts": rb"^[ \t]*(127\.0\.0\.1[ \t]+localhost\b|[^\s#]+[ \t]+(max_)?slots[ \t]*=[ \t]*\d)",
    "graphviz-plain": rb"\Agraph [\d.]+ [\d.]+ [\d.]+\s",
    "tulip": rb"\A\s*\(tlp\b",
    "xgmml": ROOT + rb"graph\b[^>]*XGMML",
    "nvlink-status": rb"^GPU \d+: [^\n]*\n\s*Link \d+:",
    "amd-smi": rb"^LINK TYPE TABLE:",
    "netlab": rb"^links:[ \t]*\n(?:[ \t]*-[^\n]*\n)",
    "goal": rb"\A(?:\s|/\*(?s:.*?)\*/|//[^\n]*\n)*+num_ranks\s+\d+",
}
SUFFIX, CONTENTS = "its suffix", "its contents"
LISTS = ("edgelist", "adjlist", "metis", "graph6", "matrix")  # formats that the look of lines shows


class FileFormat(NamedTuple):
    """A format of graph files.

    reader    "module:function"; torusweep.tables.keys counts a text of this form as an import
    suffixes  file suffixes of the format, separated by blanks
    begins    pattern of the beginning of the format's files, or of a line there; empty: contents do not show the format
    """

    reader: str
    suffixes: str = ""
    begins: bytes = b""


FORMATS = {
    "edgelist": FileFormat("torusweep.networks.families.graph_formats:edge_list", ".edges .edgelist .el .csv .ncol"),
    "adjlist": FileFormat("torusweep.networks.families.graph_formats:adjacency_list", ".adj .adjlist"),
    "graphml": FileFormat(
        "torusweep.networks.families.graph_graphml:graphml", ".graphml .xml", rb"\A\s*<([^\0]*<)?(\w+:)?graphml\b"
    ),
    "anynet": FileFormat(
        "torusweep.networks.families.graph_formats:anynet", ".anynet", rb"^[ \t]*router\s+\d+\s+(node|router)\s+\d+"
    ),
    "cytoscape": FileFormat(
        "torusweep.networks.readers.json_graphs:json_graph", ".cyjs", rb'\A\s*\{[^\0]*"elements"\s*:\s*[\[{]'
    ),
    "jgf": FileFormat(
        "torusweep.networks.readers.json_graphs:json_graph", ".jgf", rb'\A\s*\{\s*"graphs?"\s*:\s*(\[\s*)?\{\s*"'
    ),
    "netjson": FileFormat(
        "torusweep.networks.readers.json_graphs:json_graph", "", rb'\A\s*\{[^\0]*"type"\s*:\s*"NetworkGraph"'
    ),
    "miniedit": FileFormat(
        "torusweep.networks.readers.json_graphs:json_graph", ".mn", rb'\A\s*\{[^\0]*"switches"\s*:\s*\['
    ),
    "vis": FileFormat(
        "torusweep.networks.readers.json_graphs:json_graph", "", rb'\A\s*\{[^\0]*"edges"\s*:\s*\[\s*\{[^{}]*"from"\s*:'
    ),
    "networkx-json": FileFormat("torusweep.networks.readers.json_graphs:json_graph", ".json", rb'\A\s*\{\s*["}]'),
    "parquet": FileFormat("torusweep.networks.families.graph_parquet:parquet_links", ".parquet", rb"\APAR1"),
    "gexf": FileFormat("torusweep.networks.readers.gexf:gexf", ".gexf", rb"\A\s*<([^\0]*<)?(\w+:)?gexf\b"),
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
    "matrix": FileFormat("torusweep.networks.readers.libraries:matrix"),
    "metis": FileFormat("torusweep.networks.readers.text:metis", ".graph .metis .chaco"),
    "snap": FileFormat("torusweep.networks.readers.text:snap", "", rb"\A#\s*(Und|D)irected graph\b"),
    "ns3": FileFormat(
        "torusweep.networks.readers.fabrics:ns3",
        "",
        rb"\A(?:\s|#[^\n]*\n)*+\d+[ \t]+\d+[ \t]+\d+[ \t]*\r?\n(?:[\d \t]*+\r?\n)*?"
        rb"[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[kKMGT]?i?[bB](?:ps|/s|it/s)\s",
    ),
    "slurm": FileFormat(
        "torusweep.networks.readers.slurm:slurm", "", rb"^[ \t]*(?i:SwitchName|BlockName|BlockSizes|RingName)\s*="
    ),
    "slurm-yaml": FileFormat("torusweep.networks.readers.slurm:slurm_yaml", "", rb"^[ \t]*-[ \t]+topology[ \t]*:"),
    "nccl": FileFormat("torusweep.networks.readers.accelerators:nccl", "", ROOT + rb"system\b"),
    "nvidia-smi": FileFormat(
        "torusweep.networks.readers.accelerators:nvidia_smi",
        "",
        rb"\A(?:\s|\x1b\[[\d;]*m)*GPU0\b[^\n]*+\n\s*+GPU0[ \t]+X\b",
    ),
    "rocm-smi": FileFormat(
        "torusweep.networks.readers.accelerators:rocm_smi", "", rb"^=+ (Weight|Hops|Link Type) between two GPUs =+"
    ),
    "iblinkinfo": FileFormat("torusweep.networks.readers.infiniband:iblinkinfo", "", rb"==\([^\n]{0,80}\)==>"),
    "subnet-list": FileFormat(
        "torusweep.networks.readers.infiniband:subnet_list", ".lst", rb"^\{ (CA|SW|Rt)(-SM)?\s+Ports:"
    ),
    "opareport": FileFormat(
        "torusweep.networks.readers.infiniband:opareport",
        "",
        rb"^[ \t]*Rate[ \t]+(MTU[ \t]+)?NodeGUID[ \t]+Port[ \t]+Type[ \t]+Name",
    ),
    "sndlib": FileFormat("torusweep.networks.readers.planning:sndlib", "", rb"\A\?SNDlib native format"),
    "sndlib-xml": FileFormat("torusweep.networks.readers.planning:sndlib_xml", "", ROOT + rb"network\b[^>]*sndlib"),
    "repetita": FileFormat("torusweep.networks.readers.planning:repetita", "", rb"\ANODES[ \t]+\d+\s+label\b"),
    "brite": FileFormat("torusweep.networks.readers.planning:brite", ".brite", rb"\ATopology:\s*\(\s*\d+\s+Nodes?\b"),
    "rocketfuel": FileFormat(
        "torusweep.networks.readers.planning:rocketfuel",
        ".intra",
        rb"\A(?=[^\n]{1,200},\+)[A-Z]\S*\d[ \t]+[A-Z]\S*\d[ \t]+[\d.]+\s",
    ),
    "rocketfuel-map": FileFormat("torusweep.networks.readers.planning:rocketfuel_map", ".cch", rb"^-?\d+ @[^\n]*->"),
    "as-relationships": FileFormat(
        "torusweep.networks.readers.planning:as_relationships", "", rb"\A(?:#[^\n]*\n)*+\d+\|\d+\|(-1|0|1|2)\b"
    ),
    "konect": FileFormat("torusweep.networks.readers.public_graphs:konect", "", rb"\A%\s*(sym|asym|bip)\s+\w+"),
    "ucinet": FileFormat(
        "torusweep.networks.readers.ucinet:ucinet", ".dl", rb"\A\s*(?i:dl)\s+(?i:n|nr|nc|nm|format)\s*="
    ),
    "gdf": FileFormat("torusweep.networks.readers.public_graphs:gdf", ".gdf", rb"\A\s*nodedef\s*>"),
    "tgf": FileFormat(
        "torusweep.networks.readers.public_graphs:tgf",
        ".tgf",
        rb"\A(?:[^#%\s][^\n]*\n)++#[ \t]*\r?\n[ \t]*[^#%\s]+[ \t]+[^#%\s]",
    ),
    "lgf": FileFormat("torusweep.networks.readers.public_graphs:lgf", ".lgf", rb"^@(nodes|arcs|edges)\b"),
    "vna": FileFormat(
        "torusweep.networks.readers.public_graphs:vna", ".vna", rb"^\*(?i:node data|tie data|node properties)\b"
    ),
    "leda": FileFormat("torusweep.networks.readers.public_graphs:leda", ".lgr", rb"\A(?:#[^\n]*\n|\s)*+LEDA\.GRAPH\b"),
    "lgl": FileFormat("torusweep.networks.readers.public_graphs:lgl", ".lgl"),
    "sif": FileFormat("torusweep.networks.readers.public_graphs:sif", ".sif"),
    "caminos": FileFormat("torusweep.networks.readers.public_graphs:caminos", "", rb"\ANODOS\s+\d+\s+GRADO\b"),
    "containerlab": FileFormat(
        "torusweep.networks.readers.containerlab:containerlab",
        "",
        rb"^topology:[ \t]*(?:#[^\n]*)?\n(?:[ \t]+[^\n]*\n|\n)*?[ \t]+(nodes|links):",
    ),
    "ibnetdiscover": FileFormat(
        "torusweep.networks.readers.fabrics:ibnetdiscover", ".ibnetdiscover", rb"^(switchguid|caguid|vendid)=0x"
    ),
}
SUFFIXES = {suffix: name for name, format in FORMATS.items() for suffix in format.suffixes.split()}
_BEGINS = {
    name: re.compile(begins, re.MULTILINE)
    for name, begins in {**NOT_READ, **{name: format.begins for name, format in FORMATS.items()}}.items()
    if begins
}


class Told(NamedTuple):
    """The format of a file, as recognised by its contents and its name.

    name    the format; None if it is unknown
    others  other formats that the contents fit; read as one of these, the file would be another network
    by      what decided between the formats: SUFFIX or CONTENTS; empty if nothing did
    """

    name: str | None
    others: tuple[str, ...] = ()
    by: str = ""


def format_of(path: Path) -> str | None:
    """Return the name of a file's format; None if neither its name nor its contents show it. May raise OSError."""
    return told_of(path).name


def told_of(path: Path) -> Told:
    """Find the format of a file: by its beginning, else by its lines, else by its suffix. May raise OSError."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        rest = bool(file.read(1))
    head = head.removeprefix(b"\xef\xbb\xbf")
    for name, begins in _BEGINS.items():
        if begins.search(head):
            return Told(name)
    suffix = path.suffix.lower()
    named = SUFFIXES.get(suffix)
    fits = lists_of(path, head, rest, suffix)
    if fits == ["matrix"] and suffix != ".csv" and not is_square(path, symmetric=named == "adjlist"):
        fits = [] if named is not None else fits
    if named == "adjlist" and fits:  # any lines of words fit it
        surer = fits[0] in ("metis", "graph6", "matrix")
        return Told(fits[0], (named,), CONTENTS) if surer else Told(named, _as_adjacencies(fits, head), SUFFIX)
    if named in fits:
        return Told(named, tuple(name for name in fits if name != named), SUFFIX)
    if named == "metis":  # damaged METIS files look like lists of links, except lists with a node 0 or names
        spoilt = is_plain(head, zero=False)
    elif named == "edgelist":  # a damaged list, with a short line, looks like an adjacency list
        spoilt = fits == ["adjlist"]
    else:  # a damaged file of another format hardly has numbers alone, unless only its suffix shows the format
        spoilt = named not in (None, *LISTS) and (named not in _BEGINS or not is_plain(head, zero=True))
    if fits and not spoilt:
        return Told(fits[0], tuple(fits[1:]))
    return Told(named, tuple(fits), SUFFIX)


def _as_adjacencies(fits: list[str], head: bytes) -> tuple[str, ...]:
    """Return other formats that an adjacency list may have; none if its first lines look like links."""
    pairs = all(len(line.replace(b",", b" ").split()) <= 2 for line in head.splitlines()[:4])
    return () if pairs or fits != ["edgelist"] else ("edgelist",)
