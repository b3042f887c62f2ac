"""Classes of answers, which print as text, show as tables in notebooks, and have their numbers as attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from rich.console import Console

from torusweep.errors import BadInput, nearest
from torusweep.questions.console import print_facts, print_note
from torusweep.questions.display import Fact, facts, html_of, rows_html, rows_text, text_of
from torusweep.tables.columns import Column, arrow_schema

Row = dict[str, Any]


@dataclass(frozen=True, repr=False, eq=False)
class WithNotes:
    """An answer with notes on what it leaves out.

    unheeded  spelling of a network → note on the attributes of the network that the answer leaves out
    """

    unheeded: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def notes_beside(self) -> list[str]:
        """The notes as lines of text, one for each network that has a note."""
        return [f"note: {note}" for note in self.unheeded.values()]


class Answer(WithNotes):
    """An answer that prints as lines of text and shows as a table in a notebook, from its `heading` and `lines`.

    remarks   warnings for the user, a line of text each; a command prints them on standard error
    below     labels of lines that a command prints below the others, in a form of their own
    heeded    attributes of the network (torusweep.questions.heeds) that this answer depends on, beyond its question's
    """

    remarks: Sequence[str] = ()
    heeded: Sequence[str] = ()
    below: ClassVar[tuple[str, ...]] = ()

    @property
    def json(self) -> Any:
        """The answer as a command prints it with --json: a row of the question's table, or a list of rows."""
        raise NotImplementedError

    def write(self, path: Path) -> None:
        """Write the answer to a file, as the option --output does; the file's suffix decides the format."""
        raise NotImplementedError

    def labelled(self, labels: tuple[Any, ...] | None) -> Answer:
        """Return the same answer, printed with these names of the graph's nodes; numbers if `labels` is None."""
        return self

    def heading(self) -> str:
        raise NotImplementedError

    def lines(self) -> list[Fact]:
        raise NotImplementedError

    def print(self, console: Console, computed_by: str) -> None:
        """Print the answer as a command does. computed_by: backends and device to name; '' to name none."""
        print_facts(console, self.heading(), (fact for fact in self.lines() if fact[0] not in self.below))
        self.print_below(console)
        if computed_by:
            print_note(console, f"computed by {computed_by}")

    def print_below(self, console: Console) -> None:
        """Print what a command shows below the lines, such as bars or a drawing."""

    def __repr__(self) -> str:
        return "\n".join([self.text(), *(f"  {note}" for note in self.notes_beside)])

    def _repr_html_(self) -> str:
        return self.html() + "".join(f"<div>{escape(note)}</div>" for note in self.notes_beside)

    def text(self) -> str:
        """Return the answer as text for Python's `print`, without the notes."""
        return text_of(self.heading(), self.lines())

    def html(self) -> str:
        """Return the answer as HTML for a notebook, without the notes."""
        return html_of(self.heading(), self.lines(), self._drawing())

    def _drawing(self) -> str:
        """SVG of a drawing that a notebook shows next to the table; '' for none."""
        return ""


class _NotOne(BadInput, AttributeError):
    """Error for a column's attribute of an answer with several rows. It is an AttributeError, so `hasattr` is False."""


@dataclass(frozen=True, repr=False)
class Record(Answer):
    """An answer that is one row of a table. `record` is the row as a dict; each column is also an attribute."""

    record: Row
    columns: ClassVar[Sequence[Column]] = ()
    main: ClassVar[tuple[str, ...]] = ()  # lines to print, as `display.facts` reads them
    usual: ClassVar[Mapping[str, Any]] = {}  # column → value, or column with the value, not to be printed

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name != "record" and name in self.record:
            return self.record[name]
        known = self._columns()
        close = "" if name.startswith("_") else nearest(name, known)
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{close}; columns: {', '.join(known)}")

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self.record])

    def _columns(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def json(self) -> Row:
        return self.record

    @property
    def table(self) -> pa.Table:
        """The row as an Arrow table, whose schema has the columns' units and meanings."""
        return pa.Table.from_pylist([self.record], schema=arrow_schema(self.columns))

    def said(self) -> Row:
        """Return texts that a question adds to the row for its printed lines."""
        return {}

    def heading(self) -> str:
        return str(self.record["topology"])

    def lines(self) -> list[Fact]:
        return facts(self.record | self.said(), self.columns, self.main, self.usual)


@dataclass(frozen=True, repr=False, eq=False)
class Records(Answer):
    """An answer that is several rows of a table."""

    rows: list[Row]
    columns: ClassVar[Sequence[Column]] = ()
    main: ClassVar[tuple[str, ...]] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def json(self) -> list[Row]:
        return self.rows

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    @property
    def record(self) -> Row:
        """The row of an answer with one row. For several rows, raises an AttributeError that is also a BadInput."""
        if len(self.rows) != 1:
            raise _NotOne(f"expected one row, got {len(self.rows)}; take one of .rows")
        return self.rows[0]

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table, whose schema has the columns' units and meanings."""
        names = [column.name for column in self.columns]
        rows = [{name: row[name] for name in names} for row in self.rows]
        return pa.Table.from_pylist(rows, schema=arrow_schema(self.columns))

    def heading(self) -> str:
        raise NotImplementedError

    def _shown(self) -> list[str]:
        """Return the names of the main columns that have a value in at least one row."""
        return [name for name in self.main if any(row[name] is not None for row in self.rows)]

    def text(self) -> str:
        return rows_text(self.heading(), self.rows, self._shown())

    def html(self) -> str:
        return rows_html(self.heading(), self.rows, self._shown(), self.columns)
