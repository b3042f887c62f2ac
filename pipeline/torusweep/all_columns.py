"""Declarations of every table of a sweep: the stages' tables, tables derived from them, and the table of points.

The Parquet schemas, `torusweep query --schema`, the captions of the results page and docs/tables.md use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pyarrow as pa

from torusweep import questions
from torusweep.stages import STAGES
from torusweep.tables.columns import NUMBERS, PURE, Column, arrow_schema
from torusweep.tables.table import Declaration

_ARROW = {int: "int64", float: "double", str: "string", bool: "bool"}
LABELS = Declaration(
    "labels",
    "a network of the configuration with a label or a comparison: name, year, source",
    (
        Column("topology", "string", "", "canonical spelling"),
        Column("label", "string", "", "name of the machine that has this network; empty for networks compared with it"),
        Column("year", "int64", "year", "year in which the machine was built or described", "neither"),
        Column("source", "string", "", "publication that describes the network"),
        Column("note", "string", "", "how the network here differs from the machine's"),
        Column(
            "comparison", "string", "", "title of the page's table that compares this network; empty if there is none"
        ),
    ),
    title="Machines",
    apart=("comparison",),
    joined=False,
    asked="topologies with a label",
)
VERIFICATION = Declaration(
    "verification",
    "a paper's number and ours",
    (
        Column("paper", "string", "", "short name: P98, P04, D90, C10, R05 (docs/papers.md)"),
        Column("place", "string", "", "table, theorem or section"),
        Column("row", "string", "", "row and column in that table, theorem or section"),
        Column("topology", "string", "", "canonical spelling"),
        Column("quantity", "string", "", "our column with which the paper's number is compared"),
        Column("paper_value", "double", "of the quantity", "the number printed in the paper", "neither"),
        Column("our_value", "double", "of the quantity", "our number; null if it is not computed yet", "neither"),
        Column(
            "capacity",
            "double",
            "of the quantity",
            "for simulated quantities: the same quantity at the greatest load that links can carry, exact or by a"
            " linear program; null for other quantities",
            "neither",
        ),
        Column("difference", "double", "of the quantity", "our_value - paper_value", "neither"),
        Column(
            "tolerance",
            "double",
            "of the quantity",
            "half a unit of the last digit printed, or the error that the paper states for a fit",
            "neither",
        ),
        Column("verdict", "string", "", "agrees | paper in error | departs | not run | waits | unexplained"),
        Column("reason", "string", "", "why the paper is in error or our value departs, or what the row waits for"),
    ),
    title="The papers' numbers and ours",
    joined=False,
)


def _of_questions() -> list[Declaration]:
    """Return the tables that each question declares in its module `columns`: first the stages', in stage order."""
    folders = sorted(path.parent.name for path in Path(questions.__file__).parent.glob("*/columns.py"))
    modules = [import_module(f"torusweep.questions.{name}.columns") for name in dict.fromkeys([*STAGES, *folders])]
    found = [table for module in modules for table in vars(module).values() if isinstance(table, Declaration)]
    return sorted(found, key=lambda table: table.name not in STAGES.names)


OF_QUESTIONS = _of_questions()


CERTIFICATES = Declaration(
    "certificates",
    "a proof of rows of another table, which certify/check.py checks",
    (
        Column("topology", "string", "", "canonical spelling of the network or best lattice; null if there is none"),
        Column("stage", "string", "", "the table whose rows the certificate proves"),
        Column("asked", "string", "", "columns of these rows on which the proof depends, with their values, as JSON"),
        Column(
            "kind",
            "string",
            "",
            "what is proved: bisection | capacity | collective | deadlock | exhaustion | symmetry; null if nothing is",
        ),
        Column(
            "claim", "string", "", "what certify/check.py finds proved, as JSON of whole numbers, fractions, spellings"
        ),
        Column("certificate", "string", "", "a line that certify/check.py reads (docs/certificates.md)"),
        Column("reason", "string", "", "why there is no certificate; null if there is one"),
    ),
    apart=("kind", "asked"),
    joined=False,
    made_of=tuple(table.name for table in OF_QUESTIONS if table.certified is not None),
)


def _request_columns() -> Iterator[Column]:
    """Yield one column for each field name in the stages' requests; stages with the same field share its column."""
    stages: dict[str, list[str]] = {}
    columns: dict[str, Column] = {}
    for stage in STAGES.values():
        hints = get_type_hints(stage.Request)
        own = {column.name: column for column in stage.columns}
        for field in fields(stage.Request):
            stages.setdefault(field.name, []).append(stage.name)
            (kind,) = {*(get_args(hints[field.name]) or (hints[field.name],))} - {type(None)}
            same = own.get(field.name)
            meaning = field.metadata.get("meaning") or (same.meaning if same else "as requested")
            number = _ARROW[kind] in NUMBERS
            unit = same.unit if same else PURE if number else ""
            own_column = Column(field.name, _ARROW[kind], unit, meaning, "neither" if number else "")
            columns.setdefault(field.name, own_column)
    for name, column in columns.items():
        yield column._replace(meaning=f"of {', '.join(stages[name])}: {column.meaning}")


@cache
def _points() -> Declaration:
    columns = (
        Column(
            "key", "string", "", "digest of the network, the files it names, the request, and the code that computes it"
        ),
        Column("stage", "string", "", "table in which the point has its rows"),
        Column("topology", "string", "", "canonical spelling"),
        *_request_columns(),
        Column(
            "entry",
            "int64",
            PURE,
            "number, from 0, of the entry in the stage's section that requests the point; null if the point is for"
            " every network, or for a paper's number",
            "neither",
        ),
        Column(
            "estimated_seconds",
            "double",
            "s",
            "estimated time on one core, within a factor of about five; long points are computed first",
            "less",
        ),
    )
    return Declaration("points", "what the sweep asks for", columns, joined=False)


class Declared(dict[str, Declaration]):
    """Declarations by table name; `points` is made when first requested, as its columns need every stage imported."""

    def __missing__(self, name: str) -> Declaration:
        if name != "points":
            raise KeyError(name)
        return _points()


DECLARED = Declared((table.name, table) for table in (*OF_QUESTIONS, CERTIFICATES, LABELS, VERIFICATION))
SHARED = DECLARED["loads"].choose  # if two tables both have these columns, a join compares these columns, too
HOW = {name for table in DECLARED.values() for name in table.how}


def all_tables() -> dict[str, Declaration]:
    """Return the declaration of every table, by its name."""
    return {"points": _points(), **DECLARED}


def schema_of(table: str) -> pa.Schema:
    """Return the Arrow schema of a table."""
    return arrow_schema(DECLARED[table].columns)


def markdown() -> str:
    """Return the text of docs/tables.md, which lists the columns of every table. `make docs` writes the file."""
    lines = [
        "# Tables",
        "",
        "`make docs` makes this page from each question's columns.py; `torusweep query --schema all` prints the same.",
        "",
    ]
    for name, table in all_tables().items():
        lines += [f"## {name}", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning} |" for column in table.columns]
        lines.append("")
    return "\n".join(lines)
