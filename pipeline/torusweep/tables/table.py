"""What a table is: its rows and columns, what tells a network's rows apart, and which of them counts for a network.

A question declares its tables once, in its columns.py; `torusweep.all_columns` lists all. Queries, plots, fronts, the
page and comparisons read the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from torusweep.tables.columns import Column


def quoted(text: object) -> str:
    """A text in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


class By(NamedTuple):
    """A term of an order of rows, in SQL and in Python: the least value of a column first, null last.

    most    the greatest first
    digits  decimals; numbers that differ only beyond these are equal
    first   rows with this value come first, and all others are equal
    """

    column: str
    most: bool = False
    digits: int | None = None
    first: Any = ...  # no value

    @property
    def sql(self) -> str:
        """What stands after ORDER BY."""
        value = self.column if self.digits is None else f"round({self.column}, {self.digits})"
        if self.first is not ...:
            return f"{value} IS DISTINCT FROM {'NULL' if self.first is None else quoted(self.first)}"
        return f"{value}{' DESC' if self.most else ''} NULLS LAST"

    def key(self, row: Mapping[str, Any]) -> tuple[bool, Any]:
        """A key of Python's sort."""
        value = row[self.column]
        if self.first is not ...:
            return value != self.first, 0
        if value is None:
            return True, 0
        value = value if self.digits is None else round(value, self.digits)
        return False, -value if self.most else value


class Declaration(NamedTuple):
    """A table of a sweep. A derived table is made of stages' tables, or of the configuration."""

    name: str
    row: str  # what a row is
    columns: tuple[Column, ...]
    title: str = ""  # on the page, if not the name; the page reads tables that join `static`, and others with a title
    always: tuple[str, ...] = ()  # columns that have a value in every row; a file without one is refused
    apart: tuple[str, ...] = ()  # columns that tell a network's rows apart, the most important first
    choose: tuple[str, ...] = ()  # columns of these that a reader chooses first, as they decide others
    how: tuple[str, ...] = ()  # columns of these that say how a number was made: rows that differ only here compare
    usual: Mapping[str, str] = {}  # by column: the value that a message proposes, and that the view `designs` prefers
    best: tuple[By, ...] = ()  # the first of a network's rows in this order counts
    along: str = ""  # column of `apart` along which a curve runs: a load, a rate
    of_curve: tuple[str, ...] = ()  # columns about a whole curve, not about a point of it
    joined: bool = True  # whether it joins `static`: its rows are of the sweep's networks
    designs: bool = False  # whether the view `designs` has its columns
    shown: tuple[str, ...] = ()  # columns that stand beside the name of a network in an answer
    certified: tuple[str, ...] | None = None  # columns that a row's certificates depend on; None: it has none
    made_of: tuple[str, ...] = ()  # the stages whose tables a derived table is made of, if the sweep requests them
    rows: str = ""  # what makes a derived table of these tables by name, "module:function"; "": the sweep's own step
    sections: tuple[str, ...] = ()  # of the configuration, all of which ask for a derived table
    measured: tuple[str, ...] = ()  # columns of `static` without which a sweep does not have a derived table
    asked: str = ""  # what of the configuration asks for the table, if not these sections, or that of its name
    command: str = ""  # what prints a table that no sweep has

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def best_first(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The order `best`, as a key of Python's sort."""
        return tuple(term.key(row) for term in self.best)

    @property
    def usual_first(self) -> list[By]:
        """The order `best`, of rows that differ in other columns, too: those with usual values come first."""
        others = {name: value for name, value in self.usual.items() if name not in {term.column for term in self.best}}
        return [*(term for name in others for term in (By(name, first=others[name]), By(name))), *self.best]


def order(terms: Iterable[By]) -> str:
    """What stands after ORDER BY."""
    return ", ".join(term.sql for term in terms)
