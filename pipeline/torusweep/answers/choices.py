"""Choose rows that can be compared: all of one routing, traffic pattern and model, or each labelled with its own.

A command that draws or ranks numbers of several routings as if they belonged to the same one would mislead. Mixed rows
are refused; the message names the options that choose among them.

`pareto` and `front_of` return the values that no other row of a table dominates, and how many networks have each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep import traffic as patterns
from torusweep.all_columns import DECLARED, HOW, SHARED
from torusweep.answers.connection import SWEEP, Folders, folders_of
from torusweep.answers.joined import ALL, BEST, Join, Named, join_networks, source, uncomputed, words_of
from torusweep.answers.query import bracketed, query
from torusweep.errors import BadInput, nearest
from torusweep.questions.deadlock.routing_case import routing_spelling
from torusweep.questions.screen.bounds import front
from torusweep.tables.columns import NUMBERS
from torusweep.tables.parquet import arrow_places

SHOWN = 3  # values that a message names
# which value a message proposes, where it is there
USUAL = {key: value for table in DECLARED.values() for key, value in table.usual.items()}
FIRST = list(dict.fromkeys(key for table in DECLARED.values() for key in table.choose))
MOST_DESIGNS = 20_000_000  # of a front, whose columns are few
NONE_NAMED = "expected columns to minimise or maximise, got none; add for example --minimise mean_distance,cost"
EXCLUDED, TIED = b"rows_without_values", b"query_of_ties"  # keys of the answer's schema metadata
TIES = "networks"  # column of a front
NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)


class Choices(NamedTuple):
    """A user's choices. Each is a name, ALL (show the rows of every value, each named), or None (not chosen).

    routing   may also be BEST: the best routing of each network
    """

    routing: str | None = None
    traffic: str | None = None
    model: str | None = None

    def spelled(self) -> dict[str, str | None]:
        """Return the choice for each column, spelled as in the tables. Raises BadInput for an unknown name."""
        chosen: dict[str, str | None] = dict(self._asdict())
        if self.routing not in (None, ALL, BEST):
            chosen["routing"] = routing_spelling(self.routing)
        if self.traffic not in (None, ALL):
            chosen["traffic"] = patterns.canonical(self.traffic)
        return chosen

    def each(self) -> list[str]:
        """Return the columns whose choice is ALL or BEST, so that rows with different values may stand together."""
        return [name for name, value in self._asdict().items() if value in (ALL, BEST)]


def keys_of(joined: Join, named: Iterable[Named]) -> list[str]:
    """Return the columns that distinguish a network's rows in the tables of the given columns."""
    tables = {column.table for column in named}
    names = {table: {column.column.name for column in named if column.table == table} for table in tables}
    keys = []
    for key in joined.distinguishing():
        own = joined.columns[key].column.name
        held = {joined.columns[key].table, *(joined.tables if own in SHARED else ())} & tables
        held = {table for table in held if own in DECLARED[table].apart}
        of_curve = {
            table for table in held if own == DECLARED[table].along and names[table] <= {*DECLARED[table].of_curve}
        }
        keys += [key] if held - of_curve else []
    return [*([SWEEP] if joined.sweeps else ()), *keys]


def refuse_mixed(
    rows: pa.Table,
    keys: Sequence[str],
    numbers: Sequence[str],
    *,
    series: Sequence[str] | None,
    apart: Collection[str] = (),
    named: Sequence[str] = (),
) -> None:
    """Raise BadInput if rows that are to be compared differ in a key on which their numbers depend.

    rows     table with the columns topology, `keys` and `numbers`
    keys     columns that distinguish a network's rows
    numbers  columns that are compared
    series   columns by which the command draws separate series; None if the command has no series
    apart    keys that may differ, because the answer names their values
    named    the user's names of the numbers, if they differ from `numbers`
    """
    if not keys:
        return
    kept = [key for key in keys if key in apart]
    keys = [key for key in keys if key not in apart and not _is_idle(rows, key, keys, numbers)]
    mixed = [key for key in keys if key not in HOW and _count(rows, [key]) > 1]
    mixed = refining(rows, mixed or _differing_of_one(rows, ["topology", *kept], keys, numbers))
    if not mixed:
        return
    values = {key: _values(rows, key) for key in mixed}
    got = "; ".join(f"{key} {_listed(values[key])}" for key in mixed)
    options = " ".join(_option(key, values[key]) for key in mixed if key in Choices._fields)
    wheres = " AND ".join(_condition(key, values[key][0]) for key in mixed if key not in Choices._fields)
    remedy = " ".join(part for part in (options, f'--where "{wheres}"' if wheres else "") if part)
    instead = []
    if "routing" in mixed:
        instead.append("--routing best (of each network)")
    if series is not None:
        instead.append(f"--series {','.join([*(name for name in series if name.isidentifier()), *mixed])}")
    elif any(key in Choices._fields for key in mixed):
        instead.append(" ".join(f"--{key} all" for key in mixed if key in Choices._fields) + " (each named)")
    raise BadInput(
        f"{' and '.join(named or numbers)}: expected rows of one {' and one '.join(mixed)}, got {got};"
        f" add {remedy}{''.join(', or ' + other for other in instead)}"
    )


def refining(rows: pa.Table, keys: Iterable[str], given: Sequence[str] = ()) -> list[str]:
    """Return the keys that divide the rows further than `given` and the earlier keys do. Usual keys come first."""
    kept: list[str] = []
    count = _count(rows, given)
    for key in sorted(keys, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST)):
        finer = _count(rows, [*given, *kept, key])
        if finer > count:
            kept.append(key)
            count = finer
    return kept


def groups(rows: pa.Table, keys: Sequence[str], aggregations: Sequence[Any] = ()) -> pa.Table:
    """Return a row for each combination of the keys' values, by first occurrence, with Arrow's aggregations."""
    return rows.group_by(list(dict.fromkeys(keys)), use_threads=False).aggregate(list(aggregations))


def _count(rows: pa.Table, keys: Sequence[str]) -> int:
    """Return the number of different combinations of values in the given columns; 1 for no columns."""
    return groups(rows, keys).num_rows if keys else 1


def _is_idle(rows: pa.Table, key: str, keys: Iterable[str], numbers: Sequence[str]) -> bool:
    """Return whether some rows differ in this key alone, and such rows always have the same numbers."""
    others = ["topology", *(other for other in keys if other != key)]
    count = _count(rows, others)
    return _count(rows, [*others, key]) > count and _count(rows, [*others, *numbers]) == count


def _differing_of_one(
    rows: pa.Table, given: Sequence[str], keys: Sequence[str], numbers: Sequence[str]
) -> Sequence[str]:
    """Return the keys that differ within one group of rows: the first group in which keys and numbers both differ.

    given  columns by which the rows are grouped
    """
    different = groups(groups(rows, [*given, *numbers]), given, [([], "count_all")])
    apart = groups(rows, given, [(key, "count_distinct", pc.CountOptions(mode="all")) for key in keys])
    several = pa.array(different.column("count_all").to_numpy() > 1)
    counts = apart.filter(several).select([f"{key}_count_distinct" for key in keys])
    for group in counts.to_pylist():
        mixed = [key for key, values in zip(keys, group.values()) if values and values > 1]
        if mixed:
            return mixed
    return []


def refuse_absent(results: Folders, joined: Join, choices: Mapping[str, str | None]) -> None:
    """Raise BadInput if a chosen value does not occur in the results."""
    for key, value in choices.items():
        tables = [name for name in joined.tables if key in DECLARED[name].names]
        if value in (None, ALL, BEST) or not tables:
            continue
        found = query(f'SELECT DISTINCT "{key}" FROM "{tables[0]}" ORDER BY 1', results).column(0).to_pylist()
        there = [word for word in found if word is not None]
        if value not in there:
            raise BadInput(
                f"--{key} {value}: expected one that the sweep has computed, {_listed(there, most=12) or 'none'}, got"
                f" another{nearest(str(value), there)}; choose one, or add it to the configuration and run it"
            )


def require_tables(joined: Join, results: Folders, wanted: Sequence[str]) -> None:
    """Raise BadInput if no folder has a table of the join. Call this before looking up columns of these tables."""
    folders = folders_of(results)
    if not all(any(folder.glob("*.parquet")) for folder in folders):
        return  # the query says so
    for table in joined.tables:
        if not any((folder / f"{table}.parquet").exists() for folder in folders):
            owned = [name for name in wanted if joined.column(name).table == table]
            why = uncomputed(folders, [table]) or f"add a section {table} to its configuration and run it"
            raise BadInput(
                f"{', '.join(owned) or 'the condition'}: expected the table {table}, got a sweep without it; {why}"
            )


def _values(rows: pa.Table, key: str) -> list[Any]:
    """Return the different values of a key: the usual one first, then by decreasing frequency."""
    counted = groups(rows, [key], [([], "count_all")])
    count: dict[Any, int] = dict(zip(counted.column(key).to_pylist(), counted.column("count_all").to_numpy().tolist()))
    return sorted(count, key=lambda value: (value != USUAL.get(key), -count[value], str(value)))


def _listed(values: Sequence[Any], most: int = SHOWN) -> str:
    words = [
        "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values[:most]
    ]
    return ", ".join(words) + (f" and {len(values) - most} more" if len(values) > most else "")


def _option(key: str, values: Sequence[Any]) -> str:
    value = str(next(value for value in values if value is not None))
    return f"--{key} " + (f'"{value}"' if not value.replace("_", "").replace("-", "").isalnum() else value)


def _condition(key: str, value: Any) -> str:
    if value is None:
        return f"{key} IS NULL"
    return f"{key} = '{value}'" if isinstance(value, str) else f"{key} = {value}"


def left_out(front: pa.Table) -> int:
    """Return the number of rows that `pareto` left out because one of the named columns had no value."""
    return int((front.schema.metadata or {}).get(EXCLUDED, b"0"))


def lister(front: pa.Table) -> str:
    """Return the SQL query that lists the tied networks of the first tie in a result of `front_of`; '' without ties."""
    return (front.schema.metadata or {}).get(TIED, b"").decode()


def front_of(
    results_dir: Folders,
    *,
    minimise: Sequence[str],
    maximise: Sequence[str] = (),
    where: str | None = None,
    choices: Choices | None = None,
) -> pa.Table:
    """Return the Pareto front among the connected networks of a results folder that meet the SQL condition `where`.

    minimise, maximise  columns of the joined tables, as NAME or TABLE.NAME
    choices             routing, traffic and model whose numbers are compared
    results_dir         one results folder, or several; then the front is over all, and column `sweep` names each row's

    Disconnected networks are left out: their distances are within components, so they would seem better than they are.
    Networks with equal values share one row. It has the first network by spelling, the values, the routing, traffic,
    model and sweep if these vary, further columns of the network, and in `networks` how many networks share the row.
    Raises BadInput for unknown columns, if numbers of several routings, traffics or models would be compared, if no
    network has these values, and where `query` or `pareto` does.
    """
    spelled = [*minimise, *maximise]
    if not spelled:
        raise BadInput(NONE_NAMED)
    words = words_of(where)
    folders = folders_of(results_dir)
    joined = join_networks(spelled, words, folders)
    named = [joined.column(spelling) for spelling in spelled]
    numbers = [column.name for column in named]
    for column in named:
        if column.column.type not in (*NUMBERS, "bool"):
            raise BadInput(f"column '{column.name}': expected numbers, got {column.column.type}; choose another column")
        if numbers.count(column.name) > 1:
            raise BadInput(f"column '{column.name}' is named twice; name it once")
    require_tables(joined, folders, spelled)
    choices = choices or Choices()
    chosen = choices.spelled()
    faults = any(word.startswith("fault_") for word in (*numbers, *words))
    keys = [*keys_of(joined, named), *(["fault_nodes"] if faults and "fault_nodes" not in numbers else [])]
    beside = DECLARED[joined.base].shown
    columns = list(dict.fromkeys([*joined.of_network, *numbers, *keys, *beside]))
    listed = ", ".join(f'"{name}"' for name in columns)
    kept = f"connected AND {bracketed(where)}" if where else "connected"
    # where every network has one row, none must be told apart from others, nor put into order before the front is known
    single = not joined.tables and _are_single(joined, folders)
    rows = source(joined, chosen, every_network=True, faults=faults or single)
    rows = joined.base if single else rows
    select, order = ("SELECT", "") if single else ("SELECT DISTINCT", f" ORDER BY nodes, {listed}")
    sql = f"{select} {listed} FROM {rows} WHERE {kept}{order}"
    found = query(sql, folders, about=where, **({"max_rows": MOST_DESIGNS} if single else {}))
    has_values = _valued(found, numbers)
    valued = found.filter(has_values)
    if not valued.num_rows:
        refuse_absent(folders, joined, chosen)
        raise BadInput(
            f"expected connected networks with values of {' and '.join(spelled)}{f' where {where}' if where else ''},"
            f" got none; {uncomputed(folders, [*spelled, *words, joined.base]) or 'torusweep query shows what is'}"
        )
    apart = [key for key in keys if key in (*choices.each(), SWEEP, "fault_nodes")]
    telling = [key for key in keys if key in Choices._fields or (key in apart)]
    telling = [key for key in telling if valued.column(key).null_count < valued.num_rows]
    if not single:
        refuse_mixed(valued, keys, numbers, series=None, apart=apart)
        first = [*joined.of_network, *(key for key in apart if key != SWEEP)]
        found = _first_of_each(found, has_values, joined.of_network, first)
    best = pareto(found, numbers[: len(minimise)], numbers[len(minimise) :], apart)
    about: dict[Any, Any] = best.schema.metadata
    for row in best.filter(pa.array(best.column(TIES).to_numpy() > 1)).slice(0, 1).to_pylist():
        # a number with a point is a decimal one in SQL, a text becomes the nearest double
        values = {key: str(row[key]) if isinstance(row[key], float) else row[key] for key in (*numbers, *apart)}
        alike = " AND ".join(_condition(key, value) for key, value in values.items())
        told = ", ".join(joined.of_network)
        sql = f"SELECT DISTINCT {told} FROM {rows} WHERE {kept} AND {alike} ORDER BY {told}"
        about = about | {TIED: sql if "--" in sql else sql.replace("\n", " ")}
    shown = [*joined.of_network, *numbers, *telling, *beside, TIES]
    return best.select(list(dict.fromkeys(shown))).replace_schema_metadata(about)


def _are_single(joined: Join, folders: Sequence[Path]) -> bool:
    """Return whether each network has only one row in the table of networks."""
    # numbers are told apart faster than texts; two networks of one number would only take the longer way
    named = f"hash({', '.join(joined.of_network)})"
    found = query(f"SELECT count(DISTINCT {named}) = count(*) AS single FROM {joined.base}", folders)
    return bool(found.column("single")[0].as_py())


def _first_of_each(table: pa.Table, valued: pa.Array[Any], of_network: Sequence[str], apart: Sequence[str]) -> pa.Table:
    """Return one row of each network, or of each network and value of `apart`, preferably one that has values."""
    rows = table.select(apart)
    rows = rows.append_column("place", pa.array(np.arange(rows.num_rows))).append_column("valued", valued)
    with_values = groups(rows.filter(valued), apart, [("place", "min")])
    networks = groups(rows, of_network, [("place", "min"), ("valued", "any")])
    without = networks.filter(pc.invert(networks.column("valued_any")))
    chosen = [*with_values.column("place_min").chunks, *without.column("place_min").chunks]
    return table.take(np.sort(pa.chunked_array(chosen, pa.int64()).to_numpy()))


def _valued(table: pa.Table, names: Sequence[str]) -> pa.Array[Any]:
    """Return an array of booleans: whether each row has a number in all of these columns."""
    return reduce(pc.and_, [pc.invert(pc.is_null(table.column(name), nan_is_null=True)) for name in names])


def pareto(
    table: pa.Table, minimise: Sequence[str], maximise: Sequence[str] = (), apart: Sequence[str] = ()
) -> pa.Table:
    """Return a row for each value that no row dominates, which is to be nowhere worse and somewhere better.

    Rows with equal values become one row, with the first `topology`; the last column, `networks`, is their number. Rows
    that differ in the columns `apart` stay separate. Rows without a value (null or not a number) in a named column are
    left out; their number is in the answer's schema metadata under `rows_without_values`. The rows are sorted by the
    named columns, best first. The columns `topology` and the named ones come first.

    Raises BadInput for a column that is not a number.
    """
    named = [*minimise, *maximise]
    for name in named:
        kind = table.schema.field(name).type
        if not any(suits(kind) for suits in NUMERIC):
            raise BadInput(f"column '{name}': expected numbers, got {kind}; choose another column")
    rows = table.filter(_valued(table, named))
    costs = _costs(rows, minimise, maximise)
    chosen = front(costs)
    best, costs = rows.take(arrow_places(chosen)), costs[chosen]
    value = np.cumsum(np.append(False, np.any(costs[1:] != costs[:-1], axis=1))[: len(costs)])
    for key in apart:
        ranks = np.asarray(pc.rank(best.column(key), tiebreaker="dense"), np.int64)
        value = value * (ranks.max() + 1) + ranks
    _, first, number, count = np.unique(value, return_index=True, return_inverse=True, return_counts=True)
    if len(first) < len(value):
        alike = pa.table({"value": number, "topology": best.column("topology")})
        least = groups(alike, ["value"], [("topology", "min")]).sort_by("value").column("topology_min")
        first = np.flatnonzero(pc.equal(best.column("topology"), least.take(arrow_places(number))))
        first = first[np.argsort(number[first], kind="stable")]
    answer = best.take(arrow_places(first)).append_column(TIES, pa.array(count))
    columns = dict.fromkeys(["topology", *named, *answer.column_names])
    return answer.select(list(columns)).replace_schema_metadata({EXCLUDED: str(table.num_rows - rows.num_rows)})


def _costs(rows: pa.Table, minimise: Sequence[str], maximise: Sequence[str]) -> np.ndarray:
    """Return float64 or int64[rows, columns] whose order is exactly the order of the values; less is better."""
    values = [_array(rows.column(name)) for name in (*minimise, *maximise)]
    if all(_is_exact(column) for column in values):
        costs = np.column_stack([column.astype(np.float64) for column in values])
    else:  # ranks compare exactly, whatever the type
        costs = np.column_stack([np.unique(column, return_inverse=True)[1] for column in values])
    costs[:, len(minimise) :] *= -1
    return costs


def _array(column: pa.ChunkedArray[Any]) -> np.ndarray:
    """Return a column without nulls as an array. Numbers go through DLPack, as pyarrow would import pandas (1/6 s)."""
    whole = column.combine_chunks()
    kind = column.type
    return np.from_dlpack(whole) if pa.types.is_integer(kind) or pa.types.is_floating(kind) else np.asarray(whole)


def _is_exact(values: np.ndarray) -> bool:
    """Return whether float64 holds these numbers exactly, and their differences are finite."""
    if values.dtype.kind not in "iuf" or not len(values):
        return values.dtype.kind in "iufb"
    most = 2**53 if values.dtype.kind in "iu" else 1e300
    return bool(values.min() > -most and values.max() < most)
