"""Design spaces that were compared before, in a sweep's table or a data set, and how far their rows are trusted.

A table or data set may come from somebody else. Digests reveal damage, but whoever alters a table can alter its
digests too. So the winners are computed anew, and other rows are believed only if the digest is known from elsewhere.
Without a known digest, the best row is called best of all only if it meets a bound that holds for all lattices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from torusweep.errors import BadInput, check_path, one_line, printable
from torusweep.networks.families.algebra import hermite
from torusweep.networks.topology import default_memory
from torusweep.questions.screen import bounds
from torusweep.questions.screen.best import EQUAL_WITHIN, TIES, Objective, keep_best
from torusweep.questions.screen.columns import SCREEN
from torusweep.questions.screen.dataset import DataSet, is_remote
from torusweep.questions.screen.lattices import circulant_forms
from torusweep.questions.screen.spaces import (
    Circulants,
    Lattices,
    ScreenedSpace,
    Space,
    circulant_spellings,
    is_whole,
    screen_lattices,
)
from torusweep.questions.stage import under
from torusweep.tables import store
from torusweep.tables.apart import Sent, apart
from torusweep.tables.columns import arrow_schema
from torusweep.tables.store import INDEX

STEPS_OF = re.compile(r"circulant\(n=\d{1,5}, steps=\[(\d{1,5}(?:, \d{1,5})*)\]\)")
COMPARED = (
    *("nodes", "dimensions", "class_size", "degree", "diameter", "distance_sum", "max_channel_load"),
    *("guarantee_lower", "guarantee_upper"),
)
BOUNDS = {"mean_distance": "distance_sum", "diameter": "diameter"}  # objective with a bound of all lattices → column


class Before(NamedTuple):
    """A space that was compared before.

    parts   all rows of the space, or the best rows
    name    folder or address, for error messages
    source  kind and digest of the source, such as "data set, sha256 …"
    known   whether that digest is known from elsewhere
    """

    parts: list[ScreenedSpace]
    name: str
    source: str
    known: bool


def screened_before(folder: Path, space: Space, wanted: str = "") -> Before | None:
    """Return a whole design space from the table `screen` of a results folder; None if the table lacks the space.

    wanted  the table's digest, known from elsewhere; '': any
    Raises BadInput if the folder has no such table, or if the table was altered.
    """
    if folder.is_dir() and not (folder / "screen.parquet").exists():
        raise BadInput(
            f"{folder}: expected a sweep with a section screen, or a data set, got none; leave it out to compute"
        )
    where = {"dimensions": space.dimensions, "nodes": space.nodes}
    rows = space.rows_among(store.open_current(folder / "screen.parquet", arrow_schema(SCREEN), where))
    digest = str(store.read_manifest(folder)["tables"]["screen"]["sha256"])
    if wanted and wanted != digest:
        raise BadInput(f"{folder}: expected the table screen of sha256 {wanted}, got that of {digest}")
    if not is_whole(space, rows):
        return None
    return Before([ScreenedSpace(rows, 1.0)], str(folder), f"table screen, sha256 {digest}", bool(wanted))


def is_data_set(address: Path | str) -> bool:
    """Return whether a folder or an address contains a data set rather than the results of a sweep."""
    if is_remote(address):
        return True
    with under("results"):
        check_path(Path(address))
    return (Path(address) / INDEX).exists()


def of_data_set(
    address: Path | str, space: Space, chosen: Sequence[Objective], wanted: str = "", *, whole: bool = False
) -> Before | None:
    """Return the lattices of one size in a data set, read by a separate process; None if some are missing.

    chosen  objectives that choose rows; other rows, and columns that play no part in the choice, are not read
    wanted  the digest of the data set, known from elsewhere; '': any
    whole   whether to read all rows and columns
    Raises BadInput if there is no data set, if it has another digest, or if it is damaged.
    """
    if not isinstance(space, Lattices):
        return None
    given = {
        "address": str(address),
        "size": (space.dimensions, space.nodes),
        "chosen": [] if whole else list(chosen),
        "wanted": wanted,
    }
    try:
        found = apart("torusweep.questions.screen.before:read_data_set", given, memory=default_memory())
    except ValueError as error:
        raise BadInput(
            f"{printable(address)}/{INDEX}: expected a data set of 'torusweep dataset', got: {one_line(error)}"
        ) from None
    if found.table is None:
        return None
    part = ScreenedSpace(found.table, 1.0, found.about["measured"])
    return Before([part], str(address), f"data set, sha256 {found.about['digest']}", bool(wanted))


def read_data_set(
    _: bytes, *, address: str, size: tuple[int, int], chosen: Sequence[tuple[str, int]], wanted: str
) -> Sent:
    """Read a data set in the process that `of_data_set` starts. Send all rows and columns if `chosen` is empty."""
    data, objectives = DataSet(address, wanted), [Objective(*one) for one in chosen]
    reduce = (lambda rows: keep_best(rows, objectives)) if objectives else None
    found = data.whole(Lattices(*size), reduce, [one.column for one in objectives], [*TIES, "matrix"])
    if found is None:
        return Sent({}, None)
    (part,) = found
    return Sent({"digest": data.digest, "measured": part.measured}, part.rows)


def computed_anew(rows: Iterable[Mapping[str, Any]], space: Space, before: Before) -> list[dict[str, Any]]:
    """Compute rows `SCREEN` of a space's lattices anew, from the rows' matrices or steps alone.

    Raises BadInput if a row is not a lattice of the space, or if the computed numbers differ from the table's.
    """
    found = []
    for row in rows:
        where = f"{printable(before.name)}: {printable(one_line(row.get('topology') or row.get('matrix'), 80))}"
        form, spelling = _lattice(row, space, where)
        size = row["class_size"]
        if size is not None and isinstance(space, Lattices):
            size = class_size(form)
        one = screen_lattices(
            form[None],
            None if size is None else np.array([size], np.int32),
            spellings=None if spelling is None else pa.array([spelling]),
            backend="numpy",
        ).to_pylist()[0]
        for column in COMPARED:
            if row[column] is not None and not _equal(row[column], one[column]):
                raise BadInput(
                    f"{where}: the table says {column} {one_line(row[column], 40)}, computed anew it is {one[column]}:"
                    " it is damaged or was altered; believe nothing of it"
                )
        found.append(one)
    return found


def _equal(said: Any, computed: Any) -> bool:
    """Return whether two numbers are equal; floats, which may be sums (loads), are compared up to rounding."""
    if isinstance(said, float) and isinstance(computed, float):
        return abs(said - computed) <= EQUAL_WITHIN * abs(computed)
    return bool(said == computed)


def _lattice(row: Mapping[str, Any], space: Space, where: str) -> tuple[np.ndarray, str | None]:
    """Return a row's Hermite normal form, int32[n, n], and a circulant's spelling or None, or raise BadInput."""
    n = space.dimensions
    if isinstance(space, Circulants):
        steps = STEPS_OF.fullmatch(str(row["topology"]))
        chosen = np.array([[int(step) for step in steps[1].split(", ")]] if steps else [[]], np.int32)
        least, most = (0, 0) if not chosen.size else (int(chosen.min()), int(chosen.max()))
        common = np.gcd.reduce([space.nodes, *chosen[0]])
        if chosen.shape != (1, n) or not 1 <= least <= most <= space.nodes // 2 or common != 1:
            raise BadInput(f"{where}: expected a connected circulant of {space}, got another network")
        return circulant_forms(chosen, space.nodes)[0], str(circulant_spellings(chosen, space.nodes)[0])
    entries = row["matrix"]
    form = np.array(entries, np.int64).reshape(n, n) if len(entries) == n * n else np.zeros((n, n), np.int64)
    sides = [int(side) for side in np.diagonal(form)]
    upper = all(0 <= form[i, j] < sides[i] if j > i else form[i, j] == 0 for i in range(n) for j in range(n) if i != j)
    if not upper or min(sides) < 1 or prod(sides) != space.nodes:
        raise BadInput(f"{where}: expected a lattice of {space} in Hermite normal form, got another matrix")
    return form.astype(np.int32), None


def class_size(form: np.ndarray) -> int:
    """Return the number of lattices that equal `form`, int32[n, n], up to names and directions of the dimensions."""
    n = len(form)
    columns = form.tolist()
    images = {
        hermite([[sign * entry for entry in columns[place]] for place, sign in zip(order, signs)]).columns
        for order in permutations(range(n))
        for signs in product((1, -1), repeat=n)
        if signs[0] == 1  # turning all dimensions round keeps a lattice
    }
    assert 2 ** (n - 1) * factorial(n) % len(images) == 0, "an orbit's size divides the group's"
    return len(images)


def meets_bounds(row: Mapping[str, Any], space: Space, chosen: Sequence[Objective]) -> bool:
    """Return whether a row attains the bound for all lattices of the space in every objective."""
    levels = bounds.lattice_levels(space.nodes, space.dimensions)
    least = {"distance_sum": space.nodes * bounds.distance_sum(levels), "diameter": bounds.diameter(levels)}
    return all(
        one.sign > 0 and one.column in BOUNDS and row[BOUNDS[one.column]] == least[BOUNDS[one.column]] for one in chosen
    )
