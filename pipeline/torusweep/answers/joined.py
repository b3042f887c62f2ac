"""The tables of a sweep joined by network, and the columns that a command names.

A table beside `static` has several rows a network: one for each routing and traffic pattern, say. A join by
`topology` alone mixes them. The view `designs` (answers/connection.py) takes one row of each table and keeps the
columns that name it; a command takes the rows that are chosen, and refuses what is mixed (answers/choices.py).

`overview` and `schema` say what tables there are, and their columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from torusweep.all_columns import TABLES
from torusweep.answers.connection import BEST_ROUTING, SWEEP, VIEW, VIEWED, Folders, folders_of, quoted
from torusweep.answers.table_text import lacks_values
from torusweep.documents import parse
from torusweep.errors import BadInput, nearest
from torusweep.questions.stage import listed
from torusweep.stages import STAGES
from torusweep.tables import store
from torusweep.tables.columns import Column

# of derived tables: the columns that distinguish a network's rows; of a stage's table, its `distinguishing`
DERIVED = {
    "latency": (
        *("model", "constant", "budget", "placement", "message_bits", "switch_delay", "wire_delay", "locality"),
        *("radices", "rate"),
    ),
    "equal_cost": ("traffic", "cost_model"),
}

# the same of tables that are not joined with others
DETAILS = {
    "distances": ("distance",),
    "channel_loads": ("routing", "traffic"),
    "best": ("dimensions", "network"),
    "certificates": ("kind", "asked"),
    "labels": ("comparison",),
}
BEST, ALL = "best", "all"  # choices of a routing beside its name
# keys that say how a number was computed; rows that differ only in these are comparable
SECONDARY = ("method", "packets", "seed", "vc_rule", "virtual_channels", "budget", "packing")
SHARED = ("routing", "traffic")  # two tables that both have these are joined by them, too
OF_SWEEP = Column(SWEEP, "string", "", "the sweep that a row is of, where several are asked together")
# tables that a sweep has without a section of their name, and what they are made of
MADE_OF = {"best": "section screen", "equal_cost": "sections cost and loads", "labels": "topologies with a label"}
OF_COMMANDS = {"channel_loads": "torusweep loads --channels", "search": "torusweep search"}  # no sweep has them
OF_DISTANCES = ("distances", "equal_cost")  # tables that need this measure of static
SCHEMA = "'torusweep query --schema TABLE' lists a table's columns"


class Named(NamedTuple):
    """A column of the joined tables.

    name   its name in the join: its own, or TABLE_COLUMN if an earlier table has a column of that name
    """

    name: str
    table: str
    column: Column


class Join(NamedTuple):
    """Tables joined by network.

    tables   tables without `static`, whose columns are always joined
    columns  columns by their names in the join
    sweeps   whether several sweeps are asked together: their rows are not joined, and `sweep` names a row's sweep
    """

    tables: tuple[str, ...]
    columns: Mapping[str, Named]
    sweeps: bool = False

    @property
    def of_network(self) -> list[str]:
        """The columns that all tables have, and that name a network."""
        return [*([SWEEP] if self.sweeps else ()), "topology"]

    def column(self, spelling: str) -> Named:
        """The column of `NAME`, `TABLE.NAME` or `TABLE_NAME`. Raises BadInput where the join has none."""
        if spelling in self.columns:
            return self.columns[spelling]
        for named in self.columns.values():
            if _own(named.table, spelling) == named.column.name:
                return named
        raise BadInput(f"unknown column '{spelling}'{nearest(spelling, self.columns)}; {SCHEMA}")

    def distinguishing(self) -> list[str]:
        """The columns of the join that tell a network's rows apart."""
        return [name for name, named in self.columns.items() if named.column.name in distinguishing(named.table)]


def joined_tables() -> dict[str, tuple[tuple[Column, ...], tuple[str, ...]]]:
    """(columns, those that distinguish a network's rows) of every table that is joined with `static`."""
    stages = {
        name: (stage.columns, stage.distinguishing)
        for name, stage in STAGES.items()
        if stage.of_networks and name != "static"
    }
    return stages | {name: (TABLES[name], distinguishing) for name, distinguishing in DERIVED.items()}


def distinguishing(table: str) -> tuple[str, ...]:
    """The columns of a table that tell a network's rows apart, the most important first."""
    return joined_tables()[table][1] if table in joined_tables() else DETAILS.get(table, ())


def join(
    wanted: Iterable[str],
    *,
    words: Iterable[str] = (),
    table: str | None = None,
    networks: bool = False,
    sweeps: bool = False,
) -> Join:
    """The fewest tables that have the wanted columns.

    wanted  columns, as NAME or TABLE.NAME
    words   words of a condition; columns among them are wanted, too
    table   table whose rows are wanted; None: the first table that has all columns, else several
    networks  whether to join only tables with rows for each network
    sweeps  whether several sweeps are asked together, so that there is a column `sweep`

    Raises BadInput for an unknown column or table, and for columns of tables that cannot be joined by network.
    """
    if table is not None and table not in TABLES:
        raise BadInput(f"unknown table '{table}'{nearest(table, TABLES)}; 'torusweep query --schema' lists all")
    wanted = [name for name in dict.fromkeys(wanted) if not (sweeps and name == SWEEP)]
    drawn = [
        "static",
        *(joined_tables() if networks else (name for name in TABLES if name not in ("static", "points"))),
    ]
    for spelling in wanted:
        if not any(_own(name, spelling) for name in ([table, *drawn] if table else drawn)):
            known = [column.name for name in drawn for column in TABLES[name]]
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


def words_of(condition: str | None) -> list[str]:
    """The words of an SQL condition outside quotes and remarks, which may be columns."""
    bare = re.sub(r"'(?:[^']|'')*'|--[^\n]*", " ", condition or "")
    return re.findall(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", bare)


def unnamed(sql: str) -> str:
    """A remark on a query that joins a table by network, but does not name every column that tells its rows apart.

    returns  '' if the query names the routing and the traffic, or takes all columns
    """
    words = [part.lower() for word in words_of(sql) for part in word.split(".")]
    if "join" not in words or "*" in sql:
        return ""
    for table in joined_tables():
        missing = [key for key in SHARED if table in words and key in distinguishing(table) and key not in words]
        if missing:
            return (
                f"note: {table} has a row for each {' and '.join(missing)}, which the query does not name;"
                f" add WHERE {' AND '.join(f'{key} = …' for key in missing)}, or select {' and '.join(missing)}"
                + (f"; the view {VIEW} has one row for each network" if table in VIEWED else "")
            )
    return ""


def remark(sql: str, answer: pa.Table, results: Folders) -> str:
    """Remarks beside a query's answer: columns that it does not name, and why it has no rows, or an empty column."""
    words = [part for word in words_of(sql) for part in word.split(".")]
    why = uncomputed(results, [*words, *answer.column_names]) if lacks_values(answer) else ""
    return "\n".join(line for line in (unnamed(sql), why) if line)


def uncomputed(results: Folders, names: Iterable[str]) -> str:
    """The reason, in the configurations' words, why tables and columns of these names are empty; '' if unknown."""
    words, reasons = {name.lower() for name in names}, dict[str, None]()
    stage: Any = STAGES["static"]
    columns = {table: {column.name for column in TABLES[table]} for table in VIEWED}
    words |= {table for table in VIEWED if VIEW in words and words & (columns[table] - columns["static"])}
    for folder in folders_of(results):
        try:
            manifest = store.read_manifest(folder)
            configuration = parse(manifest["config"]["text"].encode(), "").data
            static = configuration.get("static")
            left_out = stage.left_out(static)
        except (BadInput, KeyError, ValueError, AttributeError):  # of an older version
            continue
        empty = dict.fromkeys(OF_DISTANCES if "distances" in left_out else (), "distances")
        if static == "none":
            empty |= dict.fromkeys(["static", VIEW], "distances")
        elif words & {"static", VIEW}:
            empty |= {column: measure for measure, of in left_out.items() for column in of}
        if lost := [name for name in empty if name in words]:
            said = static if static == "none" else f"{{measures: [{', '.join(listed(static['measures']))}]}}"
            wanted = ", ".join(dict.fromkeys(empty[name] for name in lost))
            remedy = f"say static: {{measures: [{wanted}]}}" if static == "none" else f"add {wanted} to these"
            why = f"the configuration says static: {said}; {remedy}, and run it again"
            reasons[f"{', '.join(lost)}: not computed, as {why}"] = None
        for table in sorted(TABLES.keys() & words - manifest["tables"].keys() - {*lost, *columns["static"]}):
            made = MADE_OF.get(table, f"section {table}")
            why = f"not computed, as the configuration has no {made}; add it, and run it again"
            if configuration.get(table):
                why = "not computed yet, as its run has not come to its end; the same 'torusweep run' goes on"
            reasons[
                f"{table}: {f'no sweep has it; {OF_COMMANDS[table]} prints it' if table in OF_COMMANDS else why}"
            ] = None
    return "; ".join(reasons)


def source(
    joined: Join, choices: Mapping[str, str | None], *, every_network: bool = False, faults: bool = False
) -> str:
    """SQL of the joined tables, to stand after FROM.

    choices        column (routing, traffic, model) → the value that counts; BEST for routings; ALL or None: any
    every_network  networks without a row in the first table stay, with nulls
    faults         every row of `static`; otherwise one for each network
    """
    for key, value in choices.items():
        if value is not None and not any(_own(table, key) for table in joined.tables):
            held = ", ".join(joined.tables) or "static"
            raise BadInput(
                f"--{key} {value}: expected a column that depends on the {key}, got columns of {held};"
                f" leave --{key} out, or name another column"
            )
    by_best = next((table for table in BEST_ROUTING if table in joined.tables), None)
    pieces = [_piece(table, joined, choices, best=table == by_best) for table in joined.tables]
    others = "*" if faults else f"DISTINCT ON ({', '.join(joined.of_network)}) *"
    static = f"(SELECT {others}{_renamed('static', joined)} FROM static) AS static"
    if every_network or not pieces:
        pieces.insert(0, static)
    else:
        pieces.append(static)
    names = ["static", *joined.tables] if every_network or not joined.tables else [*joined.tables, "static"]
    seen = {column.name for column in TABLES[names[0]]}
    text = pieces[0]
    for name, piece in zip(names[1:], pieces[1:]):
        shared = [key for key in SHARED if name != "static" and key in seen and _own(name, key)]
        text += f" LEFT JOIN {piece} USING ({', '.join([*joined.of_network, *shared])})"
        seen |= {column.name for column in TABLES[name]}
    return text


def _piece(table: str, joined: Join, choices: Mapping[str, str | None], *, best: bool) -> str:
    """SQL of a table's rows that count."""
    own = {column.name for column in TABLES[table]}
    named = {key: value for key, value in choices.items() if key in own and value not in (None, ALL, BEST)}
    conditions = " AND ".join(f'"{key}" = {quoted(value)}' for key, value in named.items())
    text = f'SELECT *{_renamed(table, joined)} FROM "{table}"{" WHERE " + conditions if conditions else ""}'
    if best and choices.get("routing") == BEST:
        apart = [key for key in joined_tables()[table][1] if key not in ("routing", *SECONDARY)]
        partition = ", ".join(f'"{key}"' for key in (*joined.of_network, *apart))
        order = ", ".join(BEST_ROUTING[table])
        text = (
            f'SELECT *{_renamed(table, joined)} FROM (SELECT * FROM "{table}"'
            f"{' WHERE ' + conditions if conditions else ''}"
            f" QUALIFY row_number() OVER (PARTITION BY {partition} ORDER BY {order}) = 1)"
        )
    return f'({text}) AS "{table}"'


def _renamed(table: str, joined: Join) -> str:
    """SQL that gives a table's columns their names in the join."""
    other = [named for named in joined.columns.values() if named.table == table and named.name != named.column.name]
    return f" RENAME ({', '.join(f'{named.column.name} AS {named.name}' for named in other)})" if other else ""


def _own(table: str, spelling: str) -> str | None:
    """The table's column of a spelling: NAME, TABLE.NAME or TABLE_NAME."""
    names = {column.name for column in TABLES[table]}
    if spelling in names:
        return spelling
    rest = spelling[len(table) + 1 :]
    return rest if spelling.startswith((f"{table}.", f"{table}_")) and rest in names else None


def _one_table(tables: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The first table that has the wanted columns, together with `static`."""
    found = (name for name in tables if all(_own(name, spelling) or _own("static", spelling) for spelling in wanted))
    return [name for name in [next(found, None)] if name]


def _columns(tables: Sequence[str]) -> dict[str, Named]:
    """The columns of some tables, by their names in the join."""
    columns: dict[str, Named] = {}
    before: set[str] = set()
    for table in tables:
        merged = {"topology", *(SHARED if table != "static" else ())} & before
        for column in TABLES[table]:
            if column.name not in merged:
                name = f"{table}_{column.name}" if column.name in columns else column.name
                columns[name] = Named(name, table, column)
        before |= {column.name for column in TABLES[table]}
    return columns


def view_columns() -> list[Column]:
    """The columns of the view `designs`."""
    return [named.column._replace(name=name) for name, named in _columns(VIEWED).items()]


ROWS = {  # what a row of a table is
    "points": "what the sweep asks for",
    "static": "a network: distances, connectivity, bisection, cost",
    "distances": "a network and a distance: pairs of nodes",
    "loads": "a network, routing and traffic: loads of its channels, saturation",
    "channel_loads": "a network, routing, traffic and channel: its load",
    "deadlock": "a network, routing and virtual-channel rule: verdict",
    "layout": "a network and placement: wires, volume",
    "collectives": "a network, operation and algorithm: time, bound, share of the bound",
    "cost": "a network, cost model and packing: routers, cables, prices, watts",
    "availability": "a network, failures and measure: its distribution over draws",
    "screen": "a network, or a class of lattices: distances, loads, bounds",
    "best": "a size: the best lattice, a known network, or the bound",
    "equal_cost": "a network, cost model and traffic: throughput for its price, whether it is on the Pareto front",
    "certificates": "a proof of rows of another table, which certify/check.py checks",
    "labels": "a network of the configuration with a label or a comparison: name, year, source",
    "search": "a search by simulated annealing: the best graph that it found",
    "latency": "a network, model and rate: mean latency by a paper's model",
    "simulation": "a network, routing, traffic and offered load: latency, saturation",
    "verification": "a paper's number beside ours",
    VIEW: "a network: static, with the loads of its best routing and its layout of shortest wires",
}


def tables() -> dict[str, list[Column]]:
    """The columns of every table, and of the view `designs`."""
    return {VIEW: view_columns(), **{name: list(columns) for name, columns in TABLES.items()}}


def overview(results: Folders) -> pa.Table:
    """Every table: its rows in these folders (null if missing), columns, and the meaning of a row."""
    rows = Counter[str]()
    for folder in folders_of(results):
        rows.update(_rows(folder))
    listed = [
        {"table": name, "rows": rows.get(name), "columns": len(columns), "a row is": _row(name)}
        for name, columns in tables().items()
    ]
    kinds = {"table": pa.string(), "rows": pa.int64(), "columns": pa.int64(), "a row is": pa.string()}
    fields = [pa.field(name, kind) for name, kind in kinds.items()]
    return pa.Table.from_pylist(listed, schema=pa.schema(fields))


def schema(table: str = ALL) -> pa.Table:
    """The columns of a table, or of ALL: name, type, unit, meaning. Raises BadInput for an unknown table."""
    known = tables()
    if table == ALL:
        return pa.Table.from_pylist(
            [{"table": name, **column._asdict()} for name, columns in TABLES.items() for column in columns]
        )
    if table not in known:
        raise BadInput(f"unknown table '{table}'{nearest(table, known)}; 'torusweep query --schema' lists all")
    return pa.Table.from_pylist([column._asdict() for column in known[table]])


def _row(table: str) -> str:
    return ROWS.get(table) or (STAGES[table].description if table in STAGES else "")


def _rows(folder: Path) -> Mapping[str, int]:
    """The number of rows of each table of a folder, by its manifest; none without a whole manifest."""
    try:
        entries = store.read_manifest(folder).get("tables", {})
    except BadInput:
        return {}
    return {name: entry["rows"] for name, entry in entries.items()}
