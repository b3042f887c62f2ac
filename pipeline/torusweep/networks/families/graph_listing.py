"""Define `Listing`, the contents that every reader of graph files returns, with checks and notes that readers share."""

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

# names of the two columns with the ends of links; capitals are ignored
HEADINGS = {
    *(("source", "target"), ("source", "destination"), ("from", "to"), ("src", "dst"), ("u", "v"), ("tail", "head")),
    *(("node1", "node2"), ("node_1", "node_2"), ("node_a", "node_b"), ("start", "end"), ("from_node", "to_node")),
    *(("source_node", "target_node"), ("src_node", "dst_node")),
}
LARGEST = 2**62  # node numbers are below this; they are stored as int64
ABSENT = -1  # in a column of numbers: this link has none
# numbers that a format may give each link: the port and the link class at either end, the number of parallel links, and
# the latency of each of these in cycles
LINK_NUMBERS = ("port", "target_port", "link_class", "target_link_class", "multiplicity", "latency")
BANDWIDTH = "bandwidth"  # also a number of each link, which need not be whole: flits a cycle of one parallel link
COST = "cost"  # also a number of each link: routing by weights adds costs up
ENDPOINTS = {"endpoints", "terminals"}  # names of data that give a node's number of terminals
# data of a graph that do not describe its structure
TITLES = ("name", "label", "title", "comment", "creator", "description", "version")
MOST_PARALLEL = 2**31 - 1  # parallel links of one channel, stored as int32


def text_of(path: Path) -> str:
    """Read a file as text. Raises BadInput if it is not UTF-8, or contains a NUL byte."""
    content = path.read_bytes()
    if b"\0" in content:
        raise BadInput(f"{printable(path)}: expected text, got a NUL byte: this is a binary file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{printable(path)}: expected UTF-8 text, got other bytes at {error.start:,}") from None


@dataclass
class Listing:
    """The contents of a graph file, with the node numbers of the file.

    tails, heads  ends of each link as listed
    nodes         nodes that the file names; a node may be repeated, and ends of links may be missing
    terminals     node of each terminal; None: one terminal at every node
    directed      whether links have one direction; None: the format does not say
    parallel      whether a repeated link is a second, parallel link
    numbers       column name (LINK_NUMBERS, BANDWIDTH, COST) → number of each link; ABSENT, or for bandwidth and cost
                  NaN, for a link without a number
    weight        float64[L], a number of each link whose meaning the file does not say; NaN for a link without a number
    wrong_weight  error raised if the user wants weights to be read; None: all weights are numbers above 0
    lines         line of each link in the file, for that error; empty if lines are not known
    width         number of ports of a node, used or not; None: the format does not say
    classes       names of the link classes
    names         the file's names of nodes 0, 1, …; None: nodes are named by their numbers
    terminal_names   names of the terminals; None: terminals have no names of their own
    units         bits a second for a bandwidth of 1, and seconds for a latency of 1, if the file gives units
    unsaid        message that asks the user for `directed`; empty if the file says it
    mirrored      whether each link is listed from both ends
    usual         columns in which this format lets a link have no value, which means 1
    hosts_end     whether nodes with terminals are hosts that forward no packets, as in `Plan`
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
    """Return the places of the two columns that hold the ends of links; None unless there is exactly one such pair."""
    plain = [name.strip().lower() for name in columns]
    found = [pair for pair in HEADINGS if all(plain.count(end) == 1 for end in pair)]
    return [plain.index(end) for end in found[0]] if len(found) == 1 else None


def note_names(listing: Listing, names: dict[str, int]) -> None:
    """Store the nodes' names, if there are any, and add a note on the nodes' numbers."""
    if names:
        listing.names = tuple(names)
    if names and order_of_names(listing.names or ()) is None:
        some = ", ".join(f"{number} is {one_line(printable(name), 20)}" for name, number in islice(names.items(), 3))
        more = ", …" if len(names) > 3 else ""
        listing.notes.append(f"named nodes numbered in the order of the file: {some}{more}")


def note_unread(listing: Listing, unread: Mapping[str, Iterable[str]], known: Iterable[str] = ()) -> None:
    """Add one note on unread data; `unread` maps a kind ("data of links", "columns") to names.

    known  names that are read, to suggest the nearest one
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
    """Return the names of link classes if the value is a list of printable texts; otherwise ()."""
    if isinstance(value, list) and all(isinstance(name, str) and name.isprintable() for name in value):
        return tuple(value)
    return ()


def terminals_of(path: Path, counts: np.ndarray) -> np.ndarray:
    """Return int64[T]: node of each terminal, from the number of terminals of each node, int64[N].

    Raises Refused for more terminals than memory can hold: a few digits can stand for billions.
    """
    most = min(2**31 - 1, default_memory() // 64)
    if (counts > most).any() or counts.sum() > most:
        raise Refused(f"{printable(path)}: more than {most:,} endpoints are more than this machine's memory can hold")
    return np.repeat(np.arange(len(counts)), counts)


@contextmanager
def named(path: Path, lines: Sequence[int] = ()) -> Iterator[None]:
    """Prefix an error with the file's name and, if `lines` has it, the line of the link at fault."""
    try:
        yield
    except BadInput as refusal:
        line = f":{lines[refusal.row]}" if lines and refusal.row is not None else ""
        raise type(refusal)(f"{printable(path)}{line}: {refusal}") from None
