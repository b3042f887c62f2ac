"""Compare two results: list the rows and values that differ between versions, machines or configurations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from torusweep.all_columns import DECLARED
from torusweep.answers.connection import OUT_OF_MEMORY, connect
from torusweep.answers.query import MEMORY_GIB
from torusweep.errors import BadInput, Refused, nearest
from torusweep.tables import store

DIGEST = "key"  # of a point: differs with the code that computes it, though all else is equal
ROWS = "(rows)"  # in place of a column, of rows that one of the results lacks
FOUND = ("rows", "largest", "topology", "left", "right")  # of a column, by one SELECT
HERE, MISSING = "there", "missing"  # in place of values
_KINDS = {"rows": pa.int64(), "of": pa.int64(), "largest": pa.float64()}
DIFFERENCES = pa.schema(
    pa.field(name, _KINDS.get(name, pa.string()))
    for name in ("table", "column", "rows", "of", "largest", "topology", "left", "right")
)


def compare(left: Path | str, right: Path | str, *, tables: Sequence[str] = (), tolerance: float = 0.0) -> pa.Table:
    """Return the differences of two results: a row for each table and column that differs.

    tables     names of the tables to compare, or a single name; () for all
    tolerance  numbers are equal if they differ by at most this share of the larger one; 0 … 1

    Rows are matched by network and by the columns that distinguish a network's rows (`Declaration.apart`), and in
    order where all these are equal.

    returns  DIFFERENCES: table, column (ROWS for rows that one side lacks), number of differing rows, number of rows,
             largest difference between numbers as a share of the larger one, network and values of the first such row
    Raises BadInput where a folder has no results, a table was altered, a table's name is unknown, or the tolerance is
    outside 0 … 1; Refused if a table is too large for the memory.
    """
    if not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        raise BadInput(f"tolerance: expected a number of 0 … 1, got {tolerance!r}; give a share of the larger number")
    folders = Path(left), Path(right)
    present = [store.read_manifest(folder).get("tables", {}) for folder in folders]
    known = sorted({*present[0], *present[1]})
    tables = [tables] if isinstance(tables, str) else tables
    for name in tables:
        if name not in known:
            raise BadInput(f"unknown table '{name}'{nearest(str(name), known)}; these results have {', '.join(known)}")
    try:
        named = {name: [name in names for names in present] for name in tables or known}
        found = [row for name, there in named.items() for row in _differences(name, folders, there, float(tolerance))]
    except OUT_OF_MEMORY:
        raise Refused(f"expected tables that fit into {MEMORY_GIB:g} GiB, got larger ones; name smaller ones") from None
    return pa.Table.from_pylist(found, schema=DIFFERENCES)


def _differences(
    name: str, folders: Sequence[Path], there: Sequence[bool], tolerance: float
) -> Iterator[dict[str, Any]]:
    """Yield one table's rows of DIFFERENCES; `there` says for each folder whether its manifest names the table."""
    tables = [store.open_table(folder / f"{name}.parquet") for folder, named in zip(folders, there) if named]
    if len(tables) < 2:
        yield {"table": name, "column": ROWS, "rows": len(tables[0]), "of": len(tables[0])} | _sides(there)
        return
    columns = {column: [column in table.column_names for table in tables] for column in _names(tables)}
    kinds = {
        column: [table.schema.field(column).type for table in tables] for column in columns if all(columns[column])
    }
    rows = max(len(table) for table in tables)
    for column, sides in columns.items():
        if not all(sides):
            yield {"table": name, "column": column, "rows": rows, "of": rows} | _sides(sides)
        elif kinds[column][0] != kinds[column][1]:
            values = {"left": str(kinds[column][0]), "right": str(kinds[column][1])}
            yield {"table": name, "column": column, "rows": rows, "of": rows} | values
    alike = [column for column, (one, other) in kinds.items() if one == other and column != DIGEST]
    apart = DECLARED[name].apart if name in DECLARED else ()
    keys = [column for column in ("topology", *apart) if column in alike]
    keys = keys if name != "points" else alike
    yield from ({"table": name} | row for row in _matched(tables, keys, alike, tolerance))


def _names(tables: Sequence[pa.Table]) -> list[str]:
    """Return the columns of all tables, each once, in order of first occurrence."""
    return list(dict.fromkeys(column for table in tables for column in table.column_names))


def _sides(there: Sequence[bool]) -> dict[str, str]:
    return {side: HERE if exists else MISSING for side, exists in zip(("left", "right"), there)}


def _matched(
    tables: Sequence[pa.Table], keys: Sequence[str], columns: Sequence[str], tolerance: float
) -> Iterator[dict[str, Any]]:
    """Yield the differences between two tables, after pairing rows with equal keys."""
    listed = ", ".join(f'"{key}"' for key in keys) or "NULL"
    same = " AND ".join(f'l."{key}" IS NOT DISTINCT FROM r."{key}"' for key in (*keys, "torusweep_nth"))
    values = [column for column in columns if column not in keys]
    kinds = [tables[0].schema.field(column).type for column in values]
    with connect(MEMORY_GIB) as connection:
        for side, table in zip("lr", tables):
            place = pa.array(range(len(table)), pa.int64())
            connection.register(f"{side}_rows", table.select(columns).append_column("torusweep_place", place))
            connection.execute(
                f"CREATE TEMP VIEW {side} AS SELECT *, row_number() OVER"
                f" (PARTITION BY {listed} ORDER BY torusweep_place) AS torusweep_nth FROM {side}_rows"
            )
        joined = f"FROM l FULL JOIN r ON {same}"
        topology = "coalesce(l.topology, r.topology)" if "topology" in columns else "NULL"
        for side, other in ("lr", "rl"):
            count, first = connection.execute(
                f"SELECT count(*), arg_min({topology}, {side}.torusweep_place) {joined}"
                f" WHERE {other}.torusweep_place IS NULL"
            ).fetchall()[0]
            if count:
                sides = _sides([side == "l", side == "r"])
                yield {"column": ROWS, "rows": count, "of": len(tables["lr".index(side)]), "topology": first} | sides
        if not values:
            return
        numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds]
        asked = ", ".join(_asked(column, topology, number, tolerance) for column, number in zip(values, numbers))
        both, *found = connection.execute(f"SELECT count(*), {asked} FROM l JOIN r ON {same}").fetchall()[0]
    for column, differs in zip(values, zip(*[iter(found)] * len(FOUND))):
        if differs[0]:
            yield {"column": column, "of": both, **dict(zip(FOUND, differs))}


def _asked(column: str, topology: str, number: bool, tolerance: float) -> str:
    """Return SQL that computes the values FOUND for one column of the views `l` and `r`."""
    left, right = f'l."{column}"', f'r."{column}"'
    differ, share = f"{left} IS DISTINCT FROM {right}", "NULL::DOUBLE"
    if number:
        share = f"abs({left}::DOUBLE - {right}::DOUBLE) / greatest(abs({left}::DOUBLE), abs({right}::DOUBLE))"
        differ += f" AND NOT coalesce({share} <= {tolerance!r}, false)" if tolerance else ""
    first = [topology, *(f"coalesce({value}::VARCHAR, 'null')" for value in (left, right))]
    values = ["count(*)", f"max({share})", *(f"arg_min({value}, l.torusweep_place)" for value in first)]
    return ", ".join(f"{value} FILTER ({differ})" for value in values)
