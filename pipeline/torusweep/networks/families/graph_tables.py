"""Read tables of links as text: a heading, then one row per link, with nodes by number or name.

pandas, spreadsheets and Gephi write such files. Gephi's column Type says whether links are directed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torusweep.errors import one_line
from torusweep.networks.families.graph_listing import LARGEST, Listing, named, note_names, note_unread
from torusweep.networks.families.graph_numbers import ALSO_CALLED, KNOWN, direction_of, known_names, set_numbers
from torusweep.networks.readers.fields import SHOWN, check_quotes, fail, fields_of, notes_on_signs, text_lines


def links_of_table(path: Path, heading: list[str], places: list[int], line: int, delimiter: str | None) -> Listing:
    """Read a table of links whose heading has more than two columns; the links' ends are in the columns `places`.

    Numeric attributes of links and their direction (`direction_of`) are read. An index of pandas and empty columns are
    dropped; a note names other columns.
    """
    listing, inside = Listing(), list[str]()
    rows: list[int] = []
    table: list[list[str]] = []
    for number, text in text_lines(path, inside):
        if number <= line:
            continue
        check_quotes(path, number, text)
        fields = fields_of(text, delimiter)
        if len(fields) != len(heading):
            fail(path, number, f"expected {len(heading)} fields, as in the heading, got {len(fields)}")
        if not all(fields[place] for place in places):
            fail(path, number, "expected a node at both ends, got an empty field")
        rows.append(number)
        table.append(fields)
    at = {name: heading.index(name) for name in heading}
    columns = {name: [fields[place] or None for fields in table] for name, place in at.items()}
    listing.lines = rows
    with named(path, rows):
        called = known_names(heading, listing.notes)
        set_numbers(listing, {known: columns[name] for known, name in called.items() if any(columns[name])})
    with named(path):
        typed, listing.directed = direction_of(columns)
    ends = [[fields[place] for fields in table] for place in places]
    names: dict[str, int] = {}
    whole = all(text.isdigit() for end in ends for text in end)
    numbered: Callable[[Path, int, str], int] = node_number if whole else numbering(names)
    for number, tail, head in zip(rows, *ends):
        listing.link(numbered(path, number, tail), numbered(path, number, head))
    read = {*(heading[place] for place in places), *called.values(), typed}
    left = [name for name in heading if name not in read and not is_index(name) and any(columns[name])]
    note_unread(listing, {"columns": left}, (*KNOWN, *ALSO_CALLED))
    listing.notes += notes_on_signs(inside)
    note_names(listing, names)
    return listing


def is_index(name: str) -> bool:
    """Return whether a column is named like the row numbers that pandas writes as an index."""
    return name.lower() in ("", "index", "unnamed: 0", "__index_level_0__")


def node_number(path: Path, line: int, word: str) -> int:
    """Parse the number of a node. Raises BadInput if the word is no such number."""
    if not (word.isascii() and word.isdigit() and len(word) <= 19 and int(word) < LARGEST):
        fail(path, line, f"expected a node's number (0 … 2⁶²), got {word[:40]!r}")
    return int(word)


def is_name(word: str) -> bool:
    """Return whether a word of the first line shows that nodes have names instead of numbers."""
    return word[0].isalpha() or word[0] in "_("


def numbering(names: dict[str, int]) -> Callable[[Path, int, str], int]:
    """Return a function that numbers names in the order of their first appearance."""

    def number(path: Path, line: int, word: str) -> int:
        if not word.isprintable():
            fail(path, line, f"expected a node's name of printable characters, got {one_line(word, SHOWN)!r}")
        return names.setdefault(word, len(names))

    return number
