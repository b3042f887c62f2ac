"""Pareto fronts: the rows of a table that no other row dominates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.answers.choices import Choices, groups, keys_of, refuse_absent, refuse_mixed, require_tables
from torusweep.answers.joined import NUMBERS, join, source, words_of
from torusweep.answers.query import bracketed, query
from torusweep.errors import BadInput, nearest
from torusweep.stages.screen.bounds import front

NONE_NAMED = "expected columns to minimise or maximise, got none; add for example --minimise mean_distance,cost"
BESIDE = ("nodes", "degree_max", "diameter")
EXCLUDED = b"rows_without_values"  # key of the answer's schema metadata


def left_out(front: pa.Table) -> int:
    """How many rows `pareto` left out because a named column had no value."""
    return int((front.schema.metadata or {}).get(EXCLUDED, b"0"))


def front_of(
    results_dir: Path | str,
    *,
    minimise: Sequence[str],
    maximise: Sequence[str] = (),
    where: str | None = None,
    choices: Choices | None = None,
) -> pa.Table:
    """The Pareto front of the connected networks of a results folder that meet the SQL condition `where`.

    minimise, maximise  columns of the joined tables, as NAME or TABLE.NAME
    choices             the routing, traffic and model whose numbers count

    Distances of a disconnected network are within its components, so it would seem better than it is.
    The columns are topology, the named ones, what tells their rows apart (routing, traffic), and BESIDE.

    Raises BadInput for unknown columns, where numbers of several routings, traffics or models would be compared,
    where no network has these values, and as `query` and `pareto` do.
    """
    spelled = [*minimise, *maximise]
    if not spelled:
        raise BadInput(NONE_NAMED)
    words = words_of(where)
    joined = join(spelled, words=words, networks=True)
    named = [joined.column(spelling) for spelling in spelled]
    numbers = [column.name for column in named]
    for column in named:
        if column.column.type not in (*NUMBERS, "bool"):
            raise BadInput(f"column '{column.name}': expected numbers, got {column.column.type}; choose another column")
        if numbers.count(column.name) > 1:
            raise BadInput(f"column '{column.name}' is named twice; name it once")
    folder = Path(results_dir)
    require_tables(joined, folder, spelled)
    choices = choices or Choices()
    chosen = choices.spelled()
    faults = any(word.startswith("fault_") for word in (*numbers, *words))
    keys = [*keys_of(joined, named), *(["fault_nodes"] if faults and "fault_nodes" not in numbers else [])]
    columns = list(dict.fromkeys(["topology", *numbers, *keys, *BESIDE]))
    listed = ", ".join(f'"{name}"' for name in columns)
    kept = f"connected AND {bracketed(where)}" if where else "connected"
    rows = source(joined, chosen, every_network=True, faults=faults)
    found = query(f"SELECT DISTINCT {listed} FROM {rows} WHERE {kept} ORDER BY nodes, {listed}", folder, about=where)
    valued = found.filter(_valued(found, numbers))
    if not valued.num_rows:
        refuse_absent(folder, joined, chosen)
        raise BadInput(
            f"expected connected networks with values of {' and '.join(spelled)}{f' where {where}' if where else ''},"
            " got none; torusweep query shows what is there"
        )
    apart = [key for key in keys if key in choices.each() or key == "fault_nodes"]
    refuse_mixed(valued, keys, numbers, series=None, apart=apart)
    telling = [key for key in keys if key in Choices._fields or (key in apart)]
    telling = [key for key in telling if valued.column(key).null_count < valued.num_rows]
    designs = _first_of_each(found, _valued(found, numbers), apart)
    best = pareto(designs, numbers[: len(minimise)], numbers[len(minimise) :])
    return best.select(list(dict.fromkeys(["topology", *numbers, *telling, *BESIDE])))


def _first_of_each(table: pa.Table, valued: pa.Array[Any], apart: Sequence[str]) -> pa.Table:
    """A row of each network (and of each value of the keys `apart`): one with values, if there is one."""
    rows = table.select(["topology", *apart])
    rows = rows.append_column("place", pa.array(np.arange(rows.num_rows))).append_column("valued", valued)
    with_values = groups(rows.filter(valued), ["topology", *apart], [("place", "min")])
    networks = groups(rows, ["topology"], [("place", "min"), ("valued", "any")])
    without = networks.filter(pc.invert(networks.column("valued_any")))
    chosen = [*with_values.column("place_min").chunks, *without.column("place_min").chunks]
    return table.take(np.sort(pa.chunked_array(chosen, pa.int64()).to_numpy()))


def _valued(table: pa.Table, names: Sequence[str]) -> pa.Array[Any]:
    """Which rows have a number in each of these columns."""
    valued = np.ones(table.num_rows, bool)
    for name in names:
        valued &= ~np.asarray(pc.is_null(table.column(name), nan_is_null=True))
    return pa.array(valued)


def pareto(table: pa.Table, minimise: Sequence[str], maximise: Sequence[str] = ()) -> pa.Table:
    """The rows that no other row dominates: none is as good in every named column and better in one.

    Rows without a value (null or not a number) in one of the columns are left out; their number
    stands in the answer's schema metadata under `rows_without_values`. Sorted by the columns, best
    first; equal rows all stay. The named columns and `topology` come first, the others after them.

    Raises BadInput for a column that is unknown, not a number, or named twice, and where none is named.
    """
    named = [*minimise, *maximise]
    if not named:
        raise BadInput(NONE_NAMED)
    for name in named:
        if name not in table.column_names:
            raise BadInput(
                f"unknown column '{name}'{nearest(name, table.column_names)}; 'torusweep query --schema' lists all"
            )
        if named.count(name) > 1:
            raise BadInput(f"column '{name}' is named twice; name it once")
        kind = table.schema.field(name).type
        if not (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)
        ):
            raise BadInput(f"column '{name}': expected numbers, got {kind}; choose another column")
    rows = table.filter(_valued(table, named))
    ranks = np.empty((rows.num_rows, len(named)), np.int64)
    for i, name in enumerate(named):
        # ranks compare exactly, whatever the type
        ranks[:, i] = np.unique(np.asarray(rows.column(name)), return_inverse=True)[1]
        if name in maximise:
            ranks[:, i] *= -1
    chosen = front(ranks)
    first = [name for name in ("topology", *named) if name in table.column_names]
    answer = rows.take(pa.array(chosen)).select([*first, *(name for name in table.column_names if name not in first)])
    return answer.replace_schema_metadata({EXCLUDED: str(int(table.num_rows - rows.num_rows)).encode()})
