"""The result of every reader of graph files, and the refusals that readers share."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from torusweep.errors import BadInput, Refused, nearest, one_line, printable
from torusweep.networks.names import order_of_names
from torusweep.networks.readers.fields import SHOWN as SHOWN
from torusweep.networks.readers.fields import fail as fail
from torusweep.networks.topology import default_memory

# names of the columns of a link's ends, in any capitals
HEADINGS = {
    *(("source", "target"), ("source", "destination"), ("from", "to"), ("src", "dst"), ("u", "v"), ("tail", "head")),
    *(("node1", "node2"), ("node_1", "node_2"), ("node_a", "node_b"), ("start", "end"), ("from_node", "to_node")),
    *(("source_node", "target_node"), ("src_node", "dst_node")),
}
LARGEST = 2**62  # node number; they are stored as int64
ABSENT = -1  # in a column of numbers: this link has none
# numbers that a format may give each link: the port at either end, its class there, how many parallel links it is, and
# the cycles over each of these
LINK_NUMBERS = ("port", "target_port", "link_class", "target_link_class", "multiplicity", "latency")
BANDWIDTH = "bandwidth"  # the same, as a number that need not be whole: flits a cycle of one link
COST = "cost"  # the same: what routing by weights adds up
ENDPOINTS = {"endpoints", "terminals"}  # names of the number of terminals of a node
# of a graph, which say nothing of it
TITLES = ("name", "label", "title", "comment", "creator", "description", "version")
MOST_PARALLEL = 2**31 - 1  # links of one channel; they are stored as int32


def text_of(path: Path) -> str:
    """Read a file as text. Raises BadInput if it is not UTF-8, or holds a byte NUL."""
    content = path.read_bytes()
    if b"\0" in content:
        raise BadInput(f"{printable(path)}: expected text, got a NUL byte: this is a binary file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{printable(path)}: expected UTF-8 text, got byte {error.start:,} that is none") from None


@dataclass
class Listing:
    """Contents of a graph file, with the node numbers of the file.

    tails, heads  ends of each link as listed
    nodes         nodes that the file names; it may repeat them, and omit the ends of links
    terminals     node of each terminal; None: one terminal at every node
    directed      whether links have one direction; None: the format does not say
    parallel      whether a repeated link is a second, parallel link
    numbers       the file's columns of LINK_NUMBERS, BANDWIDTH and COST, a number for each link; ABSENT if it has none
                  (NaN for bandwidth and cost)
    weight        float64[L], a number of each link whose meaning the file does not say; NaN if it has none
    wrong_weight  why a weight is wrong, raised if weights are read; None: all are numbers above 0
    lines         line of each link, for that refusal; empty if they are not known
    width         ports of a node, used or not; None: the format does not say
    classes       names of the link classes
    names         the file's names of the nodes 0, 1, …; None: their numbers
    terminal_names   names of the terminals, if they have names of their own
    units         bits a second for a bandwidth of 1, and seconds for a latency of 1, if the file says
    unsaid        why the user must give `directed`; empty if not needed
    mirrored      whether each link is listed from both ends
    usual         columns in which a missing number means 1 in this format
    hosts_end     whether nodes with terminals are hosts that only end packets, as in `Plan`
    """

    tails: array[int] | np.ndarray = field(default_factory=lambda: array("q"))
    heads: array[int] | np.ndarray = field(default_factory=lambda: array("q"))
    nodes: array[int] | np.ndarray = field(default_factory=lambda: array("q"))
    terminals: list[int] | np.ndarray | None = None
    directed: bool | None = None
    parallel: bool = True
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    weight: np.ndarray | None = None
    wrong_weight: BadInput | None = None
    lines: Sequence[int] = ()
    width: int | None = None
    classes: tuple[str, ...] = ()
    names: tuple[Any, ...] | None = None
    terminal_names: tuple[Any, ...] | None = None
    notes: list[str] = field(default_factory=list)
    units: dict[str, Fraction] = field(default_factory=dict)
    unsaid: str = ""
    mirrored: bool = False
    usual: tuple[str, ...] = ()
    hosts_end: bool = False

    def link(self, tail: int, head: int) -> None:
        assert isinstance(self.tails, array)
        assert isinstance(self.heads, array)
        self.tails.append(tail)
        self.heads.append(head)

    def name(self, node: int) -> None:
        assert isinstance(self.nodes, array)
        self.nodes.append(node)


def ends_of(columns: Sequence[str]) -> list[int] | None:
    """The places of the two columns with the ends of links; None unless exactly one such pair exists."""
    plain = [name.strip().lower() for name in columns]
    found = [pair for pair in HEADINGS if all(plain.count(end) == 1 for end in pair)]
    return [plain.index(end) for end in found[0]] if len(found) == 1 else None


def note_names(listing: Listing, names: dict[str, int]) -> None:
    """Keep the names, if there are any, and note which numbers they got."""
    if names:
        listing.names = tuple(names)
    if names and order_of_names(listing.names or ()) is None:
        some = ", ".join(f"{number} is {one_line(printable(name), 20)}" for name, number in islice(names.items(), 3))
        more = ", …" if len(names) > 3 else ""
        listing.notes.append(f"named nodes numbered in the order of the file: {some}{more}")


def note_unread(listing: Listing, unread: Mapping[str, Iterable[str]], known: Iterable[str] = ()) -> None:
    """Add one note on unread data: its kind ("data of links", "columns") → its names.

    known  names that are read, for suggestions
    """
    parts = list[str]()
    for of, names in unread.items():
        left = list(dict.fromkeys(name for name in names if name))
        if left:
            near = next((found for name in left if (found := nearest(name, known))), "")
            shown = one_line(printable(", ".join(left)), SHOWN)
            parts.append(f"{of}{'' if parts else ' not read'}: {shown}{near}")
    if parts:
        listing.notes.append("; ".join(parts))


def class_names(value: object) -> tuple[str, ...]:
    """Names of link classes from a list of texts; () for anything else, which another program wrote."""
    if isinstance(value, list) and all(isinstance(name, str) and name.isprintable() for name in value):
        return tuple(value)
    return ()


def terminals_of(path: Path, counts: np.ndarray) -> np.ndarray:
    """int64[T]: node of each terminal, from the number of terminals of each node, int64[N].

    Raises Refused for more than memory can hold: a few digits can stand for billions.
    """
    most = min(2**31 - 1, default_memory() // 64)
    if (counts > most).any() or counts.sum() > most:
        raise Refused(f"{printable(path)}: more than {most:,} endpoints are more than this machine's memory can hold")
    return np.repeat(np.arange(len(counts)), counts)


@contextmanager
def named(path: Path, lines: Sequence[int] = ()) -> Iterator[None]:
    """Prefix a refusal with the file's name, and with its link's line if `lines` has it."""
    try:
        yield
    except BadInput as refusal:
        line = f":{lines[refusal.row]}" if lines and refusal.row is not None else ""
        raise type(refusal)(f"{printable(path)}{line}: {refusal}") from None
