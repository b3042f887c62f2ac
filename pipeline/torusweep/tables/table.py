"""Declare tables: their rows and columns, the columns that distinguish a network's rows, and which row is its best.

A question declares its tables once, in its columns.py; `torusweep.all_columns` lists all. Queries, plots, fronts, the
page and comparisons use the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from torusweep.tables.columns import Column


def quoted(text: object) -> str:
    """Return a text as a quoted string in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


class By(NamedTuple):
    """A term of a sort order, in SQL and in Python: rows with the least value of a column come first, null last.

    most    whether the greatest value comes first instead
    digits  number of decimals; numbers that differ only in further decimals are equal
    first   value whose rows come first; the order of all other rows is left open
    """

    column: str
    most: bool = False
    digits: int | None = None
    first: Any = ...  # no value

    @property
    def sql(self) -> str:
        """The term for ORDER BY in SQL."""
        value = self.column if self.digits is None else f"round({self.column}, {self.digits})"
        if self.first is not ...:
            return f"{value} IS DISTINCT FROM {'NULL' if self.first is None else quoted(self.first)}"
        return f"{value}{' DESC' if self.most else ''} NULLS LAST"

    def key(self, row: Mapping[str, Any]) -> tuple[bool, Any]:
        """Return the key by which Python sorts a row."""
        value = row[self.column]
        if self.first is not ...:
            return value != self.first, 0
        if value is None:
            return True, 0
        value = value if self.digits is None else round(value, self.digits)
        return False, -value if self.most else value


class Declaration(NamedTuple):
    """A table of a sweep: the table of a stage, or a derived table, made from stages' tables or the configuration."""

    name: str
    row: str  # what a row is about, in words
    columns: tuple[Column, ...]
    title: str = ""  # title on the page; "" for the name, if the table joins `static`, otherwise it is not on the page
    always: tuple[str, ...] = ()  # columns that have a value in every row; a file without one is refused
    apart: tuple[str, ...] = ()  # columns that distinguish a network's rows, the most important first
    choose: tuple[str, ...] = ()  # columns of `apart` that a reader chooses first, because others depend on them
    how: tuple[str, ...] = ()  # columns of `apart` on the method: rows that differ only in these can be compared
    usual: Mapping[str, str] = {}  # column → value that messages propose, and that the view `designs` prefers
    best: tuple[By, ...] = ()  # order of a network's rows, of which the first row represents the network
    along: str = ""  # column of `apart` along which a curve is drawn: a load, a rate
    of_curve: tuple[str, ...] = ()  # columns that describe a whole curve instead of one of its points
    joined: bool = True  # whether rows are about the sweep's networks, so that the table joins `static`
    designs: bool = False  # whether the view `designs` has the table's columns
    shown: tuple[str, ...] = ()  # columns that an answer prints next to the name of a network
    certified: tuple[str, ...] | None = None  # columns on which a row's certificate depends; None without certificates
    made_of: tuple[str, ...] = ()  # stages from whose tables a derived table is made, if the sweep requests them
    rows: str = ""  # "module:function" that makes a derived table from these tables; "": a step of the sweep makes it
    sections: tuple[str, ...] = ()  # sections of the configuration, all of which a derived table needs
    measured: tuple[str, ...] = ()  # columns of `static` that a derived table needs
    asked: str = ""  # what in a configuration requests the table, if not these sections or the section of its name
    command: str = ""  # command that makes a table which no sweep has

    @property
    def names(self) -> list[str]:
        """The names of the table's columns."""
        return [column.name for column in self.columns]

    def best_first(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the key by which Python sorts a row in the order `best`."""
        return tuple(term.key(row) for term in self.best)

    @property
    def usual_first(self) -> list[By]:
        """The order `best`, except that rows with usual values of other columns come first."""
        others = {name: value for name, value in self.usual.items() if name not in {term.column for term in self.best}}
        return [*(term for name in others for term in (By(name, first=others[name]), By(name))), *self.best]


def order(terms: Iterable[By]) -> str:
    """Return the text for ORDER BY in SQL."""
    return ", ".join(term.sql for term in terms)
