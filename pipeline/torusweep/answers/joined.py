"""Join a sweep's tables by network, and find the columns that a command names.

Tables other than `static` have several rows for each network, such as one for each routing and traffic pattern. A join
by `topology` alone mixes these rows. The view `designs` (answers/connection.py) takes one row of each table and keeps
the columns that identify it. A command takes the chosen rows and refuses mixed ones (answers/choices.py).

`overview` lists the tables, and `schema` lists their columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from torusweep.all_columns import DECLARED, HOW, SHARED, all_tables
from torusweep.answers.connection import SWEEP, VIEW, VIEWED, Folders, folders_of
from torusweep.answers.table_text import lacks_values
from torusweep.documents import parse
from torusweep.errors import BadInput, nearest
from torusweep.stages import STAGES
from torusweep.tables import store
from torusweep.tables.columns import Column
from torusweep.tables.table import Declaration, order, quoted

BEST, ALL = "best", "all"  # choices of a routing beside its name
OF_SWEEP = Column(SWEEP, "string", "", "the sweep that a row is of, where several are asked together")
SCHEMA = "'torusweep query --schema TABLE' lists a table's columns"


class Named(NamedTuple):
    """A column of the joined tables.

    name   name in the join: the column's own name, or TABLE_COLUMN if an earlier table has a column of that name
    """

    name: str
    table: str
    column: Column


class Join(NamedTuple):
    """Tables joined by network.

    tables   names of the joined tables; `base` is left out, because its columns are always joined
    columns  the columns by their names in the join
    sweeps   whether several sweeps are read together; a join never mixes sweeps, and column `sweep` names a row's sweep
    base     the table of networks: `static`, or `screen`, which no other table joins
    """

    tables: tuple[str, ...]
    columns: Mapping[str, Named]
    sweeps: bool = False
    base: str = "static"

    @property
    def of_network(self) -> list[str]:
        """The columns that identify a network; every table of the join has them."""
        return [*([SWEEP] if self.sweeps else ()), "topology"]

    def column(self, spelling: str) -> Named:
        """Return the column spelled `NAME`, `TABLE.NAME` or `TABLE_NAME`. Raises BadInput if the join lacks it."""
        if spelling in self.columns:
            return self.columns[spelling]
        for named in self.columns.values():
            if _own(named.table, spelling) == named.column.name:
                return named
        raise BadInput(f"unknown column '{spelling}'{nearest(spelling, self.columns)}; {SCHEMA}")

    def distinguishing(self) -> list[str]:
        """Return the columns of the join that distinguish a network's rows."""
        return [name for name, named in self.columns.items() if named.column.name in DECLARED[named.table].apart]


def joined_tables() -> dict[str, Declaration]:
    """Return the tables that can be joined with `static`: the stages' tables first, then the tables made from them."""
    places = list(DECLARED)
    found = [table for table in DECLARED.values() if table.joined and table.name != "static"]
    return {
        table.name: table
        for table in sorted(found, key=lambda table: max(map(places.index, table.made_of), default=-1))
    }


def join(
    wanted: Iterable[str],
    *,
    words: Iterable[str] = (),
    table: str | None = None,
    networks: bool = False,
    sweeps: bool = False,
) -> Join:
    """Return the smallest join of tables that has all wanted columns.

    wanted    columns, as NAME or TABLE.NAME
    words     words of a condition; words that name columns are wanted, too
    table     table whose rows are wanted; by default the first table that has all columns, or else several tables
    networks  whether to join only tables with rows for each network
    sweeps    whether several sweeps are read together, which adds a column `sweep`

    Raises BadInput for an unknown column or table, and for columns of tables that cannot be joined by network.
    """
    if table is not None and table not in ("points", *DECLARED):
        raise BadInput(
            f"unknown table '{table}'{nearest(table, ('points', *DECLARED))}; 'torusweep query --schema' lists all"
        )
    wanted = [name for name in dict.fromkeys(wanted) if not (sweeps and name == SWEEP)]
    drawn = ["static", *(joined_tables() if networks else (name for name in DECLARED if name != "static"))]
    for spelling in wanted:
        if not any(_own(name, spelling) for name in (table or "static", *DECLARED)):
            known = [column for declared in DECLARED.values() for column in declared.names]
            raise BadInput(f"unknown column '{spelling}'{nearest(spelling, known)}; {SCHEMA}")
    also = [word for word in dict.fromkeys(words) if any(_own(name, word) for name in joined_tables())]
    chosen = [table] if table else _one_table(drawn, [*wanted, *also]) or _one_table(drawn, wanted) or []
    for spelling in [*wanted, *also]:
        if not any(_own(name, spelling) for name in ("static", *chosen)):
            found = next((name for name in joined_tables() if _own(name, spelling)), None)
            if found is None or (chosen and chosen[0] not in ("static", *joined_tables())):
                raise BadInput(
                    "expected columns of one table, or of tables with rows for each network, got"
                    f" {', '.join(wanted)}; {SCHEMA}"
                )
            chosen.append(found)
    known = [*([table] if table else ()), *joined_tables(), *chosen]  # an order that does not depend on the columns'
    tables = tuple(name for name in dict.fromkeys(known) if name in chosen and name != "static")
    columns = _columns((*tables, "static"))
    return Join(tables, {SWEEP: Named(SWEEP, "static", OF_SWEEP), **columns} if sweeps else columns, sweeps)


def join_networks(wanted: Sequence[str], words: Sequence[str], results: Folders) -> Join:
    """Return `join` of tables with rows for each network, or the table `screen` alone, which no other table joins.

    `screen` is chosen if no other table has the columns, or if the sweep has not computed the other tables.
    """
    folders, drawn = folders_of(results), ["static", *joined_tables()]
    also = [word for word in words if any(_own(table, word) for table in drawn)]
    screened = all(_own("screen", name) for name in (*wanted, *also))
    if not screened or all(any(_own(table, name) for table in drawn) for name in wanted):
        joined = join(wanted, words=words, networks=True, sweeps=len(folders) > 1)
        rows = _rows(folders)
        if not screened or not rows["screen"] or all(rows[table] for table in ("static", *joined.tables)):
            return joined
    columns = _columns(["screen"])
    sweeps = {SWEEP: Named(SWEEP, "screen", OF_SWEEP)} if len(folders) > 1 else {}
    return Join((), sweeps | columns, bool(sweeps), "screen")


def words_of(condition: str | None) -> list[str]:
    """Return the words of an SQL condition outside quotes and comments. Each of them may name a column."""
    bare = re.sub(r"'(?:[^']|'')*'|--[^\n]*", " ", condition or "")
    return re.findall(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", bare)


def unnamed(sql: str) -> str:
    """Return a remark on a query that joins tables but names no columns that tell a network's rows apart.

    returns  '' if the query names the routing and the traffic, or selects all columns
    """
    words = [part.lower() for word in words_of(sql) for part in word.split(".")]
    if "join" not in words or "*" in sql:
        return ""
    for table, declared in joined_tables().items():
        missing = [key for key in SHARED if table in words and key in declared.apart and key not in words]
        if missing:
            return (
                f"note: {table} has a row for each {' and '.join(missing)}, which the query does not name;"
                f" add WHERE {' AND '.join(f'{key} = …' for key in missing)}, or select {' and '.join(missing)}"
                + (f"; the view {VIEW} has one row for each network" if table in VIEWED else "")
            )
    return ""


def remark(sql: str, answer: pa.Table, results: Folders) -> str:
    """Return remarks on a query's answer: which columns the query should name, and why rows or a column are missing."""
    words = [part for word in words_of(sql) for part in word.split(".")]
    why = uncomputed(results, [*words, *answer.column_names]) if lacks_values(answer) else ""
    return "\n".join(line for line in (unnamed(sql), why) if line)


def uncomputed(results: Folders, names: Iterable[str]) -> str:
    """Return why tables and columns of these names are empty, in the configuration's terms; '' if unknown."""
    words, reasons = {name.lower() for name in names}, dict[str, None]()
    stage: Any = STAGES["static"]
    columns = {table: {*DECLARED[table].names} for table in VIEWED}
    words |= {table for table in VIEWED if VIEW in words and words & (columns[table] - columns["static"])}
    for folder in folders_of(results):
        try:
            manifest = store.read_manifest(folder)
            configuration = parse(manifest["config"]["text"].encode(), "").data
            static = configuration.get("static")
            left_out = stage.left_out(static)
        except (BadInput, KeyError, ValueError, AttributeError):  # of an older version
            continue
        empty = {
            table.name: measures
            for table in DECLARED.values()
            if (measures := [measure for measure, of in left_out.items() if {*table.measured}.intersection(of)])
        }
        if static == "none":
            empty |= {name: ["distances"] for name in ("static", VIEW)}
        elif words & {"static", VIEW}:
            empty |= {column: [measure] for measure, of in left_out.items() for column in of}
        if lost := [name for name in empty if name in words]:
            measures = [measure for name in lost for measure in empty[name]]
            reasons[f"{', '.join(lost)}: {_why_unmeasured(static, measures)}"] = None
        for name in sorted(DECLARED.keys() & words - manifest["tables"].keys() - columns["static"]):
            table = DECLARED[name]
            asked_for = all(map(configuration.get, table.sections or (name,)))
            if name not in lost or (table.sections and not asked_for):
                reasons[f"{name}: {_why_absent(table, asked_for)}"] = None
    return "; ".join(reasons)


def _why_unmeasured(static: Any, measures: Iterable[str]) -> str:
    """Return why a sweep lacks measures, given its configuration's section `static`."""
    wanted = ", ".join(dict.fromkeys(measures))
    if static == "none":
        said, remedy = "none", f"say static: {{measures: [{wanted}]}}"
    else:
        measured = [static["measures"]] if isinstance(static["measures"], str) else static["measures"]
        said, remedy = f"{{measures: [{', '.join(measured)}]}}", f"add {wanted} to these"
    return f"not computed, as the configuration says static: {said}; {remedy}, and run it again"


def _why_absent(table: Declaration, asked_for: bool) -> str:
    """Return why a sweep lacks a table; `asked_for` says whether the configuration has the table's sections."""
    if table.command:
        return f"no sweep has it; {table.command} prints it"
    if asked_for:
        return "not computed yet, as its run has not come to its end; the same 'torusweep run' goes on"
    sections = table.sections or (table.name,)
    asked = table.asked or f"section{'s' * (len(sections) > 1)} {' and '.join(sections)}"
    return f"not computed, as the configuration has no {asked}; add it, and run it again"


def source(
    joined: Join, choices: Mapping[str, str | None], *, every_network: bool = False, faults: bool = False
) -> str:
    """Return SQL that joins the tables, for use after FROM.

    choices        column (routing, traffic, model) → its chosen value; BEST for routings only; ALL or None keep all
    every_network  whether to keep networks without a row in the first table, with nulls
    faults         whether to take every row of `static`; by default one for each network
    """
    for key, value in choices.items():
        if value is not None and not any(_own(table, key) for table in joined.tables):
            held = ", ".join(joined.tables) or joined.base
            raise BadInput(
                f"--{key} {value}: expected a column that depends on the {key}, got columns of {held};"
                f" leave --{key} out, or name another column"
            )
    ranked = [table for table in joined.tables if DECLARED[table].best and "routing" in DECLARED[table].apart]
    by_best = max(ranked, key=lambda table: len({*SHARED}.intersection(DECLARED[table].apart)), default=None)
    pieces = [_piece(table, joined, choices, best=table == by_best) for table in joined.tables]
    others = "*" if faults else f"DISTINCT ON ({', '.join(joined.of_network)}) *"
    static = f"(SELECT {others}{_renamed(joined.base, joined)} FROM {joined.base}) AS {joined.base}"
    if every_network or not pieces:
        pieces.insert(0, static)
    else:
        pieces.append(static)
    names = ["static", *joined.tables] if every_network or not joined.tables else [*joined.tables, "static"]
    seen = {*DECLARED[names[0]].names}
    text = pieces[0]
    for name, piece in zip(names[1:], pieces[1:]):
        shared = [key for key in SHARED if name != "static" and key in seen and _own(name, key)]
        text += f" LEFT JOIN {piece} USING ({', '.join([*joined.of_network, *shared])})"
        seen |= {*DECLARED[name].names}
    return text


def _piece(table: str, joined: Join, choices: Mapping[str, str | None], *, best: bool) -> str:
    """Return SQL for a table's rows that meet the choices. With `best`, a choice of BEST keeps its best routing."""
    own = DECLARED[table].names
    named = {key: value for key, value in choices.items() if key in own and value not in (None, ALL, BEST)}
    conditions = " AND ".join(f'"{key}" = {quoted(value)}' for key, value in named.items())
    text = f'SELECT *{_renamed(table, joined)} FROM "{table}"{" WHERE " + conditions if conditions else ""}'
    if best and choices.get("routing") == BEST:
        apart = [key for key in DECLARED[table].apart if key not in ("routing", *HOW)]
        partition = ", ".join(f'"{key}"' for key in (*joined.of_network, *apart))
        text = (
            f'SELECT *{_renamed(table, joined)} FROM (SELECT * FROM "{table}"'
            f"{' WHERE ' + conditions if conditions else ''}"
            f" QUALIFY row_number() OVER (PARTITION BY {partition} ORDER BY {order(DECLARED[table].best)}) = 1)"
        )
    return f'({text}) AS "{table}"'


def _renamed(table: str, joined: Join) -> str:
    """Return SQL that renames a table's columns to their names in the join; '' if none differs."""
    other = [named for named in joined.columns.values() if named.table == table and named.name != named.column.name]
    return f" RENAME ({', '.join(f'{named.column.name} AS {named.name}' for named in other)})" if other else ""


def _own(table: str, spelling: str) -> str | None:
    """Return a table's own name of a column spelled NAME, TABLE.NAME or TABLE_NAME; None if the table lacks it."""
    names = DECLARED[table].names
    if spelling in names:
        return spelling
    rest = spelling[len(table) + 1 :]
    return rest if spelling.startswith((f"{table}.", f"{table}_")) and rest in names else None


def _one_table(tables: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Return the first table that, with `static`, has all wanted columns; [] if there is none."""
    found = (name for name in tables if all(_own(name, spelling) or _own("static", spelling) for spelling in wanted))
    return [name for name in [next(found, None)] if name]


def _columns(tables: Sequence[str]) -> dict[str, Named]:
    """Return the columns of the given tables, by their names in the join."""
    columns: dict[str, Named] = {}
    before: set[str] = set()
    for table in tables:
        merged = {"topology", *(SHARED if table != "static" else ())} & before
        for column in DECLARED[table].columns:
            if column.name not in merged:
                name = f"{table}_{column.name}" if column.name in columns else column.name
                columns[name] = Named(name, table, column)
        before |= {*DECLARED[table].names}
    return columns


def view_table() -> Declaration:
    """Return the declaration of the view `designs`, in the form of a table's declaration."""
    columns = tuple(named.column._replace(name=name) for name, named in _columns(VIEWED).items())
    row = "a network: static, with the loads of its best routing and its layout of shortest wires"
    return Declaration(VIEW, row, columns)


def tables() -> dict[str, Declaration]:
    """Return the declarations of every table and of the view `designs`, by name."""
    return {VIEW: view_table(), **all_tables()}


def overview(results: Folders) -> pa.Table:
    """Return a row for each table: its number of rows in these folders, null if missing, its columns and meaning."""
    rows = _rows(folders_of(results))
    listed = [(name, rows.get(name), len(table.columns), table.row) for name, table in tables().items()]
    kinds = {"table": pa.string(), "rows": pa.int64(), "columns": pa.int64(), "a row is": pa.string()}
    return pa.table([pa.array(values, kind) for values, kind in zip(zip(*listed), kinds.values())], [*kinds])


def schema(table: str = ALL) -> pa.Table:
    """Return the columns of a table, or of ALL tables: name, type, unit, meaning. Raises BadInput for unknown names."""
    known = tables()
    if table == ALL:
        return pa.Table.from_pylist(
            [
                {"table": name, **column._asdict()}
                for name, declared in all_tables().items()
                for column in declared.columns
            ]
        )
    if table not in known:
        raise BadInput(f"unknown table '{table}'{nearest(table, known)}; 'torusweep query --schema' lists all")
    return pa.Table.from_pylist([column._asdict() for column in known[table].columns])


def _rows(folders: Iterable[Path]) -> Counter[str]:
    """Return the number of rows of each table, by the folders' manifests. A folder without a manifest has no rows."""
    rows = Counter[str]()
    for folder in folders:
        with suppress(BadInput):
            rows.update({name: entry["rows"] for name, entry in store.read_manifest(folder)["tables"].items()})
    return rows
