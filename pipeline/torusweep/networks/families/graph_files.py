"""The family `graph`: a network read from a file."""

from __future__ import annotations

import stat
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused, printable
from torusweep.networks.families.graph_formats import READERS, SUFFIXES, Listing
from torusweep.networks.spelling import Spelling, parse
from torusweep.networks.topology import NO_PORT, Meaning, Plan, Wiring, default_memory

# Peak memory per byte of the file. A link takes at least 4 bytes in the file, usually about 10; two
# numbers take 16 bytes, and the search for duplicates about 200 bytes a link (measured: 15.7 per byte).
MEMORY_PER_BYTE = 16

File = Annotated[str, Meaning("the file, relative to the current directory")]
Format = Annotated[str | None, Meaning("edgelist, adjlist, graphml or anynet, if the suffix does not tell")]
Directed = Annotated[bool | None, Meaning("each line is a link in one direction; a GraphML file says so itself")]


class Graph(NamedTuple):
    """The network of a file; each arc once, ordered by tail and head.

    tail, head  int32[A]    an undirected link is two arcs
    parallel    int32[A]    number of parallel links of each arc
    terminals   int32[T]    node of each terminal (repeated if a node has several); None = every node
    notes       what was changed or left out
    """

    nodes: int
    directed: bool
    tail: np.ndarray
    head: np.ndarray
    parallel: np.ndarray
    terminals: np.ndarray | None
    notes: tuple[str, ...]


def graph(path: File, format: Format = None, directed: Directed = None) -> Plan:
    """A network from a file: edgelist, adjlist, graphml or anynet (BookSim2), told by its suffix or format="…".

    The path is relative to the current directory; where no other parameter is given, the path alone stands for
    the network: my.graphml. Nodes may have names; they are renumbered without gaps, in the order of
    their numbers. Links from a node to itself are left out. A link listed twice is two parallel links (one
    in anynet, as in BookSim2); a link listed once at either end is one link. An anynet switch may have
    several terminals or none; means are over terminals.

    Constraints: a suffix of .edges, .edgelist, .el, .csv, .adj, .adjlist, .graphml, .xml or .anynet, or format="…";
    directed must agree with the file.
    Source: the file.
    """
    file = Path(path)
    reader = _reader(file, format)
    signature = _file_signature(file)
    found = _read(file, reader, directed, signature)
    degrees = np.bincount(found.tail, minlength=found.nodes)
    return Plan(
        nodes=found.nodes,
        degree=int(degrees.max(initial=0)),
        radices=(found.nodes,),
        directed=found.directed,
        wire=lambda: _wire(found, degrees),
        classes=("link",),
        notes=found.notes,
    )


def files_of(spelling: str | Spelling) -> list[Path]:
    """Every file that a spelling names, nested networks included, in the order of the spelling.

    Text without the word `path` is not parsed here, and may be invalid; `plan` checks it.
    """
    if isinstance(spelling, str):
        spelling = with_path(spelling)
    if isinstance(spelling, str) and "path" not in spelling:
        return []
    call = parse(spelling) if isinstance(spelling, str) else spelling
    found = [] if call.inner is None else files_of(call.inner)
    for key, value in call.arguments.items():
        if isinstance(value, Spelling):
            found += files_of(value)
        elif call.name == "graph" and key == "path" and isinstance(value, str):
            found.append(Path(value))
    return found


def with_path(text: str) -> str | Spelling:
    """A spelling, or for the bare path of a graph file the network graph(path=…)."""
    is_path = "(" not in text and Path(text.strip()).suffix.lower() in SUFFIXES
    return Spelling("graph", {"path": text.strip()}) if is_path else text


def check_files(spelling: str | Spelling, memory: int | None) -> None:
    """Raise Refused, before reading, for a file that needs more than `memory` bytes (None: half of the machine's).

    Missing files are reported when they are read.
    """
    for path in files_of(spelling):
        try:
            size = path.stat().st_size
        except (OSError, ValueError):
            continue
        needed, limit = size * MEMORY_PER_BYTE, default_memory() if memory is None else memory
        if needed > limit:
            raise Refused(
                f"{printable(path)}: a file of {size / 2**30:.1f} GiB needs about {needed / 2**30:.1f} GiB to read;"
                f" the limit is {limit / 2**30:.1f} GiB: use a smaller graph or raise limits.memory_gib"
            )


def _reader(path: Path, format: str | None) -> str:
    name = SUFFIXES.get(path.suffix.lower()) if format is None else format
    if name in READERS:
        return name
    if format is None:
        raise BadInput(
            f"{printable(path)}: expected a suffix of {', '.join(SUFFIXES)}, got {path.suffix!r};"
            f' say format="…": {", ".join(READERS)}'
        )
    raise BadInput(f"format={format!r}: expected one of {', '.join(READERS)}")


def _file_signature(path: Path) -> tuple[int, int]:
    """Return (bytes, modification time in ns), the cache key of the contents. Raises BadInput if it is not a file."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{printable(path)}: expected a graph file, got: {reason}; paths are relative to {Path.cwd()}"
        ) from None
    if not stat.S_ISREG(status.st_mode):
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "device or pipe"
        raise BadInput(f"{printable(path)}: expected a file, got a {kind}")
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=2)
def _read(path: Path, reader: str, directed: bool | None, signature: tuple[int, int]) -> Graph:
    try:
        listing = READERS[reader](path)
    except OSError as error:
        raise BadInput(f"{printable(path)}: expected a readable file, got: {error.strerror}") from None
    if listing.directed is not None and directed is not None and directed != listing.directed:
        raise BadInput(
            f"{printable(path)}: expected directed={str(listing.directed).lower()}, as the file says,"
            f" got directed={str(directed).lower()}"
        )
    return _normalise(path, listing, bool(listing.directed if directed is None else directed))


def _normalise(path: Path, listing: Listing, directed: bool) -> Graph:
    """Renumber the nodes, drop self-loops and count repeated links."""
    tails, heads, named = (np.asarray(numbers, np.int64) for numbers in (listing.tails, listing.heads, listing.nodes))
    ids = np.unique(np.concatenate([tails, heads, named]))
    n = len(ids)
    if not n:
        raise BadInput(f"{printable(path)}: expected links or nodes, got an empty file")
    notes = list(listing.notes)
    if ids[-1] != n - 1:
        notes.append(f"node numbers {ids[0]} … {ids[-1]} renumbered 0 … {n - 1}, in their order")
    tails, heads = np.searchsorted(ids, tails), np.searchsorted(ids, heads)
    loops = int((tails == heads).sum())
    if loops:
        notes.append(f"{counted(loops, 'link')} from a node to itself left out")
    keep = tails != heads
    arcs, parallel = np.unique(tails[keep] * n + heads[keep], return_counts=True)
    if not directed:
        # a link may be listed from one end or from both; the larger count is the number of parallel links
        backwards = arcs % n * n + arcs // n
        both = np.isin(arcs, backwards)
        if both.any():
            notes.append(f"{counted(int(both.sum()) // 2, 'link')} listed from both ends, read once")
        every = np.concatenate([arcs, backwards])
        order = np.argsort(every, kind="stable")
        arcs, first = np.unique(every[order], return_index=True)
        parallel = np.maximum.reduceat(np.concatenate([parallel, parallel])[order], first) if len(arcs) else parallel
    repeated = int((parallel > 1).sum()) // (1 if directed else 2)
    if repeated:
        reading = "read as parallel links" if listing.parallel else "read once, as in BookSim2"
        notes.append(f"{counted(repeated, 'link')} repeated, {reading}")
    if not listing.parallel:
        parallel = np.ones_like(parallel)
    terminals = None if listing.terminals is None else np.searchsorted(ids, listing.terminals).astype(np.int32)
    return Graph(
        n,
        directed,
        (arcs // n).astype(np.int32),
        (arcs % n).astype(np.int32),
        parallel.astype(np.int32),
        terminals,
        tuple(notes),
    )


def _wire(found: Graph, degrees: np.ndarray) -> Wiring:
    """Wiring with ports in the order of the neighbours' numbers."""
    port = np.arange(len(found.tail)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    ports = np.full((found.nodes, int(degrees.max(initial=0))), NO_PORT, np.int32)
    ports[found.tail, port] = found.head
    capacity = None
    if (found.parallel > 1).any():
        capacity = np.zeros(ports.shape, np.int32)
        capacity[found.tail, port] = found.parallel
    return Wiring(ports, np.zeros(ports.shape, np.int8), capacity, found.terminals)
