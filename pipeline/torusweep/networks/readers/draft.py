"""Collect a network while a reader goes through a file: named nodes, links with attributes, names of unread data."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from torusweep.errors import BadInput, Refused, one_line, printable
from torusweep.networks.families.graph_listing import COST, LARGEST, Listing, fail, named, note_names, text_of
from torusweep.networks.families.graph_numbers import set_numbers
from torusweep.networks.readers.fields import refuse
from torusweep.networks.topology import default_memory
from torusweep.quantities import counted

NOTED = 200  # largest length of a note on what is not read
MEMORY_PER_BYTE = 32  # bytes of memory per byte of a file, while it is read
OPTIONAL = {"multiplicity"}  # numbers that a link may lack; without a multiplicity it is one link


class Draft:
    """A network that a reader collects, with nodes by name and links. `listing` turns it into a `Listing`.

    If all names are whole numbers, they are the nodes' numbers. If each link of a directed file has an equal link in
    the other direction, links have both directions.

    path      the file, for messages
    directed  as in `Listing`
    left      contents of the file that are not read; one note names them
    """

    def __init__(self, path: Path, *, directed: bool | None = False) -> None:
        if (size := path.stat().st_size) * MEMORY_PER_BYTE > default_memory():
            raise Refused(
                f"{printable(path)}: a file of {size / 2**30:.1f} GiB takes {MEMORY_PER_BYTE} times that in memory;"
                " write its links as Parquet"
            )
        self.path, self.directed = path, directed
        self.names: dict[str, int] = {}
        self.hosts: list[int] = []
        self.left: dict[str, None] = {}
        self.notes: list[str] = []
        self._tails, self._heads, self._lines = array("q"), array("q"), array("q")
        self._columns: dict[str, list[Any]] = {}
        self._pairs: set[tuple[int, int]] = set()

    def fail(self, line: int, expected: str, got: object) -> NoReturn:
        """Raise BadInput for a line: what was expected there, and what the line has instead."""
        refuse(self.path, line, expected, str(got))

    def whole(self, text: str, line: int, what: str, most: int = 10**9, least: int = 0) -> int:
        """Parse a whole number, `least` … `most`, which messages call `what`. Raises BadInput for other text."""
        if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
            self.fail(line, f"{what}, {least:,} … {most:,}", text)
        return int(text)

    def node(self, name: str, line: int, *, host: bool = False) -> int:
        """Return the number of a node, which may be new. Raises BadInput for an empty or unprintable name."""
        if name not in self.names and (not name or not name.isprintable()):
            self.fail(line, "a node's name of printable characters", name)
        number = self.names.setdefault(name, len(self.names))
        if host:
            self.hosts.append(number)
        return number

    def declare(self, name: str, line: int, *, host: bool = False) -> int:
        """Add a new node and return its number. Raises BadInput if it exists already."""
        if name in self.names:
            self.fail(line, "each node once", name)
        return self.node(name, line, host=host)

    def known(self, name: str, line: int) -> int:
        """Return the number of an existing node. Raises BadInput for a node that the file has not declared."""
        if name not in self.names:
            self.fail(line, "a node that the file declares", name)
        return self.names[name]

    def link(self, tail: int, head: int, line: int, **numbers: Any) -> None:
        """Add a link. Its numeric attributes have the form that `set_numbers` takes; None is a missing attribute."""
        for name, value in numbers.items():
            if value is not None:
                column = self._columns.setdefault(name, [])
                column.extend([None] * (len(self._tails) - len(column)))
                column.append(value)
        self._tails.append(tail)
        self._heads.append(head)
        self._lines.append(line)

    def link_once(self, one: int, other: int, line: int) -> None:
        """Add a link without attributes, unless this method has already joined the two nodes."""
        if (one, other) not in self._pairs:
            self._pairs |= {(one, other), (other, one)}
            self.link(one, other, line)

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self._tails)

    def listing(self, *, hosts_end: bool = False) -> Listing:
        """Return the contents of the file. `hosts_end` says whether hosts forward no packets.

        Raises BadInput for an empty file, and if some links have a numeric attribute that others lack.
        """
        if not self.names:
            raise BadInput(f"{printable(self.path)}: expected nodes and links, got none")
        listing = Listing(directed=self.directed, notes=list(self.notes), hosts_end=hosts_end)
        self._complete_columns()
        if self.directed and self._tails and self._both_ways():
            listing.directed, listing.mirrored = None, True
        numbers = [int(name) if _is_whole(name) else -1 for name in self.names]
        places = np.arange(len(numbers))
        if min(numbers) >= 0:
            places = np.array(numbers, np.int64)
        else:
            note_names(listing, self.names)
        ends = [np.frombuffer(side, np.int64) if side else np.zeros(0, np.int64) for side in (self._tails, self._heads)]
        listing.nodes, listing.tails, listing.heads = places, places[ends[0]], places[ends[1]]
        if self.hosts:
            listing.terminals = np.sort(places[np.unique(np.array(self.hosts, np.int64))])
        costs = self._columns.pop(COST, None)
        if costs is not None:
            listing.numbers[COST] = np.array([self._cost(*row) for row in zip(self._lines, costs)])
        listing.lines = self._lines
        with named(self.path, self._lines):
            set_numbers(listing, self._columns)
        if self.left:
            listing.notes.append(f"not read: {one_line(printable(', '.join(self.left)), NOTED)}")
        return listing

    def _complete_columns(self) -> None:
        """Fill up columns of attributes to the number of links. Raises BadInput if a link lacks a required one."""
        for name, column in self._columns.items():
            column.extend([None] * (len(self._tails) - len(column)))
            if None in column and name not in OPTIONAL:
                line, links = self._lines[column.index(None)], counted(column.count(None), "link")
                fail(self.path, line, f"expected a {name} of every link, got {links} without; add it, or leave all out")

    def _cost(self, line: int, text: object) -> float:
        """Parse a routing weight. Raises BadInput unless it is a finite number above 0."""
        try:
            value = float(str(text))
        except ValueError:
            value = 0.0
        if not 0 < value < inf:
            self.fail(line, "a cost above 0", text)
        return value

    def _both_ways(self) -> bool:
        """Return whether each link has a link in the other direction with the same attributes."""
        columns = [*self._columns.values()]
        links = Counter(zip(self._tails, self._heads, *columns))
        return links == Counter(zip(self._heads, self._tails, *columns))


def _is_whole(name: str) -> bool:
    """Return whether a name is a whole number below 2⁶² without leading zeros."""
    if not (name.isascii() and name.isdigit() and len(name) < 20):
        return False
    return (name == "0" or name[0] != "0") and int(name) < LARGEST


def lines_of(path: Path, comment: str = "") -> Iterator[tuple[int, str]]:
    """Yield (line number, text without its comment) of every line that is not blank."""
    for number, text in enumerate(text_of(path).splitlines(), start=1):
        text = text.partition(comment)[0] if comment else text
        if text.strip():
            yield number, text


class Rows:
    """The lines of a file that are not blank, taken one after another."""

    def __init__(self, draft: Draft, comment: str = "") -> None:
        self.draft, self.lines = draft, lines_of(draft.path, comment)

    def take(self, what: str) -> tuple[int, str]:
        """Return (number, text) of the next line. Raises BadInput, which names `what`, at the end of the file."""
        line, text = next(self.lines, (0, ""))
        if not line:
            raise BadInput(f"{printable(self.draft.path)}: expected {what}, got the end of the file")
        return line, text.strip()

    def words(self, what: str, least: int, most: int | None = None) -> tuple[int, list[str]]:
        """Return (number, words) of the next line. Raises BadInput unless it has `least` … `most` words."""
        line, text = self.take(what)
        words = text.split()
        if not least <= len(words) <= (least if most is None else most):
            self.draft.fail(line, what, text)
        return line, words

    def numbers(self, what: str, word: str = "") -> tuple[int, list[int]]:
        """Return (number of the next line, whole numbers in it). If `word` is given, the line must begin with it."""
        line, text = self.take(what)
        first, *others = text.split() if word else ("", *text.split())
        if first != word or not others or not all(re.fullmatch(r"-?\d{1,9}", other, re.ASCII) for other in others):
            self.draft.fail(line, what, text)
        return line, [*map(int, others)]

    def end(self) -> None:
        """Raise BadInput if a line is left, since the file then has more lines than its counts say."""
        for line, text in self.lines:
            self.draft.fail(line, "no more lines than the file says", text)
