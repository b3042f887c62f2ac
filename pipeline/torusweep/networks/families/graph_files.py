"""The family `graph`: a network read from a file."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, NamedTuple

from torusweep.errors import BadInput, Refused, located, nearest, printable, unreadable
from torusweep.networks.families.graph_links import Graph, degree, graph_of, wire
from torusweep.networks.families.graph_listing import Listing, named
from torusweep.networks.families.graph_numbers import Weights, with_weights
from torusweep.networks.readers import CONTENTS, FORMATS, NOT_READ, SUFFIXES, Told, told_of
from torusweep.networks.spelling import Spelling, file_of, parse
from torusweep.networks.topology import Meaning, Plan, Wiring, default_memory

# Peak memory per byte of the file. A link takes at least 4 bytes in the file, usually about 10; two
# numbers take 16 bytes, and the search for duplicates about 200 bytes a link (measured: 15.7 per byte).
MEMORY_PER_BYTE = 16
# the same by format. An empty object of JSON takes 3 bytes in the file and 72 in memory; files in the other formats, as
# networkx and igraph write them, took 13, 10, 7, 17 and 126 bytes per byte
MEMORY_PER_BYTE_OF = {"networkx-json": 32, "gml": 32, "dot": 64, "gexf": 32, "matrix": 64, "metis": 64, "graph6": 192}

SMALL = 1 << 13  # largest size, in bytes, of files whose plans are remembered

File = Annotated[str, Meaning("the file, relative to the current directory")]
Format = Annotated[str | None, Meaning(f"{', '.join(FORMATS)}; needed if neither name nor contents show it")]
Header = Annotated[
    bool | None,
    Meaning("whether the first line of an edge list has counts, or names of columns, instead of a link"),
]
Directed = Annotated[bool | None, Meaning("whether each line is a link in one direction; most formats say so")]

Weighing = Annotated[
    Weights | None,
    Meaning("what the weights of links are: bandwidth (flits a cycle), latency (cycles), cost (of a route) or none"),
]


def graph(
    path: File, format: Format = None, directed: Directed = None, weights: Weighing = None, header: Header = None
) -> Plan:
    """A network from a file of networkx, igraph, Gephi, Graphviz, Pajek, SciPy, a simulator, a fabric or others.

    The path is relative to the current directory. If no other parameter is given, the path alone stands for
    the network: my.graphml. Nodes may have names; they are renumbered without gaps, in the order of
    their numbers. Links from a node to itself are left out. A link listed twice is two parallel links (one
    in anynet, as in BookSim2); a link listed once at either end is one link. An anynet switch may have
    several terminals or none; means are over terminals. Files that `torusweep export` wrote as graphml, networkx-json
    or parquet keep their ports, link classes, parallel links and terminals. In these formats, links may have a
    bandwidth (flits a cycle of one link) and a latency (cycles); in anynet, a latency. Links with equal class,
    bandwidth and latency form a link class. `weights` says what the weights of links mean.

    Constraints: a format that the contents or the suffix show, or format="…": edgelist, adjlist, graphml, anynet,
    networkx-json, parquet, gml, pajek, dot, gexf, graph6, matrix-market, npy, npz, matrix, metis, dimacs, snap,
    konect, ucinet, gdf, tgf, lgf, vna, leda, lgl, sif, cytoscape, jgf, netjson, vis, ns3, caminos, miniedit,
    containerlab, slurm, slurm-yaml, ibnetdiscover, iblinkinfo, subnet-list, opareport, nccl, nvidia-smi, rocm-smi,
    sndlib, sndlib-xml, repetita, brite, rocketfuel, rocketfuel-map, as-relationships; directed must agree with the
    file.
    Source: the file.
    """
    file = located(path)
    signature = _file_signature(file)
    asked = Asked(file, _told(file, format), directed, signature, weights, header)
    planned = _planned if asked.signature[0] <= SMALL else _planned.__wrapped__
    return planned(asked)


class Asked(NamedTuple):
    """A file and how to read it: the parameters of `graph`, the format, and the signature from `_file_signature`."""

    file: Path
    told: Told
    directed: bool | None
    signature: tuple[int, ...]
    weights: Weights | None
    header: bool | None


@lru_cache(maxsize=1 << 15)  # the number of files that a configuration can list
def _planned(asked: Asked) -> Plan:
    """Return the plan of a file. The plan holds no links, because a sweep may keep the plans of many files."""
    found, file = _read(asked), asked.file

    def links() -> Wiring:
        if _file_signature(file) != asked.signature:
            raise BadInput(f"{printable(file)}: expected the file that was planned, got another; run the command again")
        return wire(_read(asked))

    return Plan(
        nodes=found.nodes,
        degree=degree(found),
        radices=(found.nodes,),
        directed=found.directed,
        wire=links,
        classes=found.classes or ("link",),
        bandwidths=found.bandwidths,
        latencies=found.latencies,
        notes=found.notes,
        names=found.names,
        terminal_names=found.terminal_names,
        rate=found.rate,
        tick=found.tick,
        link_latencies=found.latency is not None,
        weighted=found.weight is not None,
        hosts_end=found.hosts_end,
    )


def files_of(spelling: str | Spelling) -> list[Path]:
    """Return every file that a spelling names, including the files of nested networks, in the order of the spelling.

    Text that cannot name a file is skipped here without a check; `plan` checks it.
    """
    if isinstance(spelling, str):
        spelling = with_path(spelling)
    if isinstance(spelling, str) and not re.search(r"path|[./\"']", spelling):
        return []
    call = parse(spelling) if isinstance(spelling, str) else spelling
    found = [] if call.inner is None else files_of(call.inner)
    for key, value in call.arguments.items():
        if isinstance(value, Spelling):
            found += files_of(value)
        elif call.name == "graph" and key == "path" and isinstance(value, str):
            found.append(located(value))
    return found


def with_path(text: str) -> str | Spelling:
    """Return graph(path=…) if the text is the bare path of a file (`file_of`); otherwise the text itself."""
    path = file_of(text, ())
    return text if path is None else Spelling("graph", {"path": path})


def check_files(spelling: str | Spelling, memory: int | None) -> None:
    """Raise Refused, before reading, for a file that needs more than `memory` bytes; default: half of the machine's."""
    for path in files_of(spelling):
        try:
            size = path.stat().st_size
        except (OSError, ValueError):
            continue
        needed = size * MEMORY_PER_BYTE_OF.get(SUFFIXES.get(path.suffix.lower(), ""), MEMORY_PER_BYTE)
        limit = default_memory() if memory is None else memory
        if needed > limit:
            raise Refused(
                f"{printable(path)}: a file of {size / 2**30:.1f} GiB needs about {needed / 2**30:.1f} GiB to read;"
                f" the limit is {limit / 2**30:.1f} GiB: use a smaller graph or raise limits.memory_gib"
            )


def _told(path: Path, format: str | None) -> Told:
    """Find the format of a file. Raises BadInput if nothing shows the format, or if several formats fit equally."""
    try:
        told = told_of(path) if format is None else Told(format)
    except OSError as error:
        raise unreadable(path, error, "a readable file") from None
    if told.name in NOT_READ:
        resolve_name("torusweep.networks.readers.refused:refuse")(path, told.name)
    if format is not None and told.name not in FORMATS:
        raise BadInput(f"format={format!r}: expected one of {', '.join(FORMATS)}{nearest(format, FORMATS)}")
    if told.name is None:
        lists = ", ".join(name for name, known in FORMATS.items() if not known.begins)
        raise BadInput(
            f'{printable(path)}: expected a graph file; say format="…", one of {lists}; contents show the others'
        )
    if told.others and not told.by:
        raise BadInput(f"{printable(path)}: expected one format, got contents that fit {_either(told)}; say which")
    return told


def _either(told: Told) -> str:
    """List the formats that fit a file, each written as the user gives it: format="…"."""
    return " and ".join(f'format="{name}"' for name in (told.name, *told.others))


def _file_signature(path: Path) -> tuple[int, ...]:
    """Return the cache key of a file: its size, times and inode number, which change when its contents change.

    Programs can set the time of modification, but not the time of the last change. Raises BadInput for a missing file.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error, "a graph file") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "device or pipe"
        raise BadInput(f"{printable(path)}: expected a file, got a {kind}")
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


@lru_cache(maxsize=2)
def _read(asked: Asked) -> Graph:
    """Read the network of a file. If several formats fit the file, an error also names the other formats."""
    told = asked.told
    try:
        listing = _listing(asked)
        return graph_of(asked.file, listing, bool(listing.directed if asked.directed is None else asked.directed))
    except OSError as error:
        raise unreadable(asked.file, error, "a readable file") from None
    except BadInput as refusal:
        if not told.others:
            raise
        others = " or ".join(f'format="{name}"' for name in told.others)
        raise type(refusal)(f"{refusal}; if it is not {told.name}, say {others}") from None


def _listing(asked: Asked) -> Listing:
    """Read a file with its format's reader, and apply the user's parameters for weights and directions."""
    path, told, directed = asked.file, asked.told, asked.directed
    read: Callable[..., Listing] = resolve_name(FORMATS[str(told.name)].reader)
    if asked.header is not None and told.name != "edgelist":
        raise BadInput(f"{printable(path)}: expected header for an edge list only, got {told.name}; leave it out")
    listing = read(path) if asked.header is None else read(path, header=asked.header)
    with named(path, listing.lines):
        with_weights(listing, asked.weights)
    if told.others:
        others = " and ".join(f'format="{name}"' for name in told.others)
        says = "say" if told.by == CONTENTS else "says"
        listing.notes.insert(0, f"read as {told.name}, as {told.by} {says}; {others} fits, too")
    if listing.unsaid and directed is None:
        raise BadInput(f"{printable(path)}: {listing.unsaid}")
    if listing.directed is not None and directed is not None and directed != listing.directed:
        raise BadInput(
            f"{printable(path)}: expected directed={str(listing.directed).lower()}, as the file says,"
            f" got directed={str(directed).lower()}"
        )
    return listing
