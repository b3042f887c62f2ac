"""The best lattices of a size. Every class is measured and compared, so that the answer is a proof.

Well-known lattices of the size are measured, too. The table `best` has the best lattices of every size that was
screened whole, next to known networks and the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.errors import BadInput, nearest
from torusweep.networks.families import plan
from torusweep.networks.families.algebra import Lattice, hermite
from torusweep.quantities import counted
from torusweep.questions.screen.columns import BEST, SCREEN
from torusweep.questions.screen.spaces import Lattices, ScreenedSpace, Space, is_whole, lattices_of, screen_lattices
from torusweep.tables.columns import arrow_schema
from torusweep.tables.parquet import TableFile

TWISTED_BOXES = {2: ("rtt",), 3: ("pdtt", "ptt")}  # 2aⁿ nodes
SPREAD = "uniform traffic over all shortest paths"
OBJECTIVES = {  # column → its unit, or a note
    "mean_distance": "hops, a node to itself included",
    "diameter": "hops",
    "max_channel_load": SPREAD,
    "saturation_load": SPREAD,
    "guarantee_lower": "what Valiant's routing guarantees under every admissible traffic",
    "guarantee_upper": "what no routing exceeds under some admissible traffic",
    "links": "fewer than n per node if generators vanish or coincide",
    "degree": "fewer than 2n links per node if generators vanish or coincide",
}
EQUAL_WITHIN = 1e-9  # relative; loads are sums of floats, and two lattices of equal load differ in the last bits
TIES = ("distance_sum", "diameter", "max_channel_load")  # columns by which equally good winners are ordered
LEAST_MEAN, GREATEST_SATURATION, BOUND = "least mean distance", "greatest saturation", "bound of lattices"


class Known(NamedTuple):
    """A well-known lattice: its name, its network's spelling, and its Hermite normal form, int32[n, n]."""

    name: str
    spelling: str
    form: np.ndarray


def known_lattices(nodes: int, dimensions: int) -> list[Known]:
    """Return the cube, rectangular torus, twisted tori and crystal lattices that have this number of nodes."""
    return [Known(name, spelling, form_of(spelling)) for name, spelling in _names(nodes, dimensions)]


def form_of(spelling: str) -> np.ndarray:
    """Return the Hermite normal form of a torus, twisted torus or lattice, int32[n, n]."""
    shape = plan(spelling)[1].structure
    assert isinstance(shape, Lattice), f"{spelling} is not a lattice"
    canonical = hermite([list(row) for row in zip(*shape.columns)])
    return np.array(canonical.columns, np.int32).T.copy()


def _names(nodes: int, n: int) -> Iterator[tuple[str, str]]:
    side = _root(nodes, n)
    if side > 1 and n > 1:
        yield ("square torus" if n == 2 else "cube"), f"torus(k={side}, n={n})"
    sides = _nearest_to_a_cube(nodes, n)
    if n > 1 and min(sides) > 1 and len(set(sides)) > 1:
        yield "rectangular torus", f"torus(radices={sides})"
    a = _root(nodes // 2, n) if nodes % 2 == 0 else 0
    if a > 1:
        for family in TWISTED_BOXES.get(n, ()):
            yield ("PDTT, the FCC lattice" if family == "pdtt" else family.upper()), f"{family}(a={a})"
    a = _root(nodes // 4, 3) if nodes % 4 == 0 and n == 3 else 0
    if a > 1:
        yield "BCC lattice", f"lattice(matrix=[[{-a}, {a}, {a}], [{a}, {-a}, {a}], [{a}, {a}, {-a}]])"
    if n == 1 and nodes > 1:
        yield "ring", f"ring(k={nodes})"


def _root(number: int, power: int) -> int:
    """Return the whole number whose given power is `number`; 0 if there is none."""
    root = round(number ** (1 / power))
    return root if root**power == number else 0


def _nearest_to_a_cube(nodes: int, n: int) -> list[int]:
    """Return n sides with product `nodes` and the least possible sum, longest side first."""
    if n == 1:
        return [nodes]
    candidates = [
        [side, *_nearest_to_a_cube(nodes // side, n - 1)] for side in range(1, nodes + 1) if nodes % side == 0
    ]
    return sorted(min(candidates, key=sum), reverse=True)


class Objective(NamedTuple):
    """A column to minimise (sign 1) or maximise (sign -1)."""

    column: str
    sign: int

    def __str__(self) -> str:
        return f"{'least' if self.sign > 0 else 'greatest'} {self.column}"


class Best(NamedTuple):
    """The winners among all lattices of a size.

    space       design space that was compared
    objectives  objectives in order: the second decides between lattices that are equal in the first
    lattices    number of lattices compared, of all classes
    measured    number of lattices measured: one of each class, or all
    kept        number of measured lattices that meet the condition
    winners     number of kept lattices that are best in all objectives
    attained    number of lattices in the winners' classes
    rows        rows `SCREEN` of the first winners
    known       rows of well-known networks of that size, with names; `meets_condition` says whether the condition holds
    source      the table or data set that was believed, with its digest; '' if all was computed here, or if the
                digest is known from elsewhere
    proved      whether the first winner is proved best: all lattices were compared here, or a bound for all is met
    """

    space: Space
    objectives: tuple[Objective, ...]
    lattices: int
    measured: int
    kept: int
    winners: int
    attained: int
    rows: list[dict[str, Any]]
    known: list[dict[str, Any]]
    source: str = ""
    proved: bool = True


def objectives(minimise: Sequence[str], maximise: Sequence[str]) -> tuple[Objective, ...]:
    """Return the objectives: columns to minimise, then columns to maximise; if there are none, the mean distance.

    Raises BadInput for a column that cannot be an objective, or that occurs twice.
    """
    chosen = [Objective(name, 1) for name in minimise] + [Objective(name, -1) for name in maximise]
    for place, objective in enumerate(chosen):
        name = objective.column
        if name not in OBJECTIVES:
            raise BadInput(f"objective '{name}'{nearest(name, OBJECTIVES)}: expected one of {', '.join(OBJECTIVES)}")
        if name in [other.column for other in chosen[:place]]:
            raise BadInput(f"objective '{name}': expected each column once, got it twice; leave one out")
    return tuple(chosen) or (Objective("mean_distance", 1),)


def best_lattices(
    space: Space,
    chosen: Sequence[Objective],
    *,
    parts: Iterable[ScreenedSpace],
    keep: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    show: int = 5,
    known: list[dict[str, Any]] | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Best:
    """Find the best lattices of a space, by an ordered list of objectives.

    parts     the space, as `screen_space` yields it
    keep      maps a table to the rows that may win
    show      number of winners to return
    known     rows of well-known networks (`known_rows`); None to measure them
    progress  called with the share of the space compared so far

    Raises BadInput if `keep` keeps no lattice.
    """
    measured = kept = 0
    ahead = arrow_schema(SCREEN).empty_table()  # the best so far
    for part in parts:
        among = keep(part.rows)
        ahead = keep_best(pa.concat_tables([ahead, among]), chosen)
        beaten = 0 if part.measured is None else part.measured - len(part.rows)
        measured, kept = measured + len(part.rows) + beaten, kept + len(among) + beaten
        progress(part.share)
    if not kept:
        raise BadInput(f"none of the {counted(space.lattices, space.things)} meets the condition; ask for less")
    rows = ahead.sort_by([(column, "ascending") for column in TIES]).slice(0, show)
    return Best(
        space=space,
        objectives=tuple(chosen),
        lattices=space.lattices,
        measured=measured,
        kept=kept,
        winners=len(ahead),
        attained=lattices_of(ahead),
        rows=rows.to_pylist(),
        known=known_rows(space, keep) if known is None else known,
    )


def known_rows(
    space: Space, keep: Callable[[pa.Table], pa.Table] = lambda rows: rows, backend: str = "numpy"
) -> list[dict[str, Any]]:
    """Return rows of well-known networks in a space: columns `SCREEN`, with their names and spellings.

    keep     maps a table to the rows that meet a condition; `meets_condition` of a row says whether the row does
    backend  backend of the kernel; for a single size numpy is quickest, since Numba takes longer to load
    """
    known = known_lattices(space.nodes, space.dimensions)
    forms = np.array([network.form for network in known], np.int32).reshape(-1, space.dimensions, space.dimensions)
    rows = screen_lattices(forms, backend=backend)
    meets = [len(keep(rows.slice(place, 1))) > 0 for place in range(len(known))]
    return [
        {**row, "name": network.name, "topology": network.spelling, "meets_condition": met}
        for network, row, met in zip(known, rows.to_pylist(), meets)
    ]


def keep_best(table: pa.Table, chosen: Sequence[Objective]) -> pa.Table:
    """Return the rows that are best in the first objective; among equal rows, the next objectives decide."""
    left = np.arange(len(table))
    for objective in chosen:
        values = table[objective.column].to_numpy()[left] * objective.sign
        if np.isnan(values).all():
            continue  # a single node sends nothing
        least = np.nanmin(values)
        left = left[values <= least + EQUAL_WITHIN * abs(least)]
    return table.take(left)


CHOSEN = {  # the second objective decides between lattices that are equal in the first
    LEAST_MEAN: (Objective("mean_distance", 1), Objective("saturation_load", -1)),
    GREATEST_SATURATION: (Objective("saturation_load", -1), Objective("mean_distance", 1)),
}


def winners(tables: Mapping[str, TableFile]) -> pa.Table:
    """Return the table `best` of a sweep, from its table `screen`."""
    return best_table(tables["screen"].groups())


def best_table(screen: Iterable[pa.Table]) -> pa.Table:
    """Return the table `best`, by dimensions and nodes, from parts of a table `screen`, without incomplete sizes."""
    found = {space: _of_size(space, lattices) for space, lattices in _sizes(screen)}
    return pa.Table.from_pylist([row for space in sorted(found) for row in found[space]], schema=arrow_schema(BEST))


def _sizes(screen: Iterable[pa.Table]) -> Iterator[tuple[Lattices, pa.Table]]:
    """Yield the lattices of each size that was screened whole. Circulants are left out, as they have their own space.

    If the table is sorted by size, only the rows of one size are held at a time.
    """
    held: dict[Lattices, list[pa.Table]] = {}
    for part in screen:
        lattices = part.filter(pc.and_(part["dimensions"].is_valid(), pc.starts_with(part["topology"], "lattice(")))
        dimensions, nodes = lattices["dimensions"].to_numpy(), lattices["nodes"].to_numpy()
        order = np.lexsort((nodes, dimensions))
        first = np.flatnonzero(np.diff(dimensions[order], prepend=0) | np.diff(nodes[order], prepend=0))
        for place in np.split(order, first)[1:]:
            space = Lattices(int(dimensions[place[0]]), int(nodes[place[0]]))
            held.setdefault(space, []).append(lattices.take(place))
            if is_whole(space, rows := pa.concat_tables(held[space])):
                del held[space]
                yield space, rows


def _of_size(space: Lattices, lattices: pa.Table) -> list[dict[str, Any]]:
    parts = [ScreenedSpace(lattices, 1.0)]
    known = known_rows(space, backend="auto")
    winners = {name: best_lattices(space, chosen, parts=parts, show=1, known=known) for name, chosen in CHOSEN.items()}
    (best,) = winners[LEAST_MEAN].rows
    mean = best["lattice_mean_distance_bound"]
    bound = {
        "network": BOUND,
        "degree": 2 * space.dimensions,
        "diameter": best["lattice_diameter_bound"],
        "mean_distance": mean,
        "saturation_load": 2 * space.dimensions / mean if mean else None,
    }
    rows = [
        *({**found.rows[0], "network": name, "attained": found.attained} for name, found in winners.items()),
        *({**row, "network": row["name"]} for row in known),
        bound,
    ]
    return [{**row, **space._asdict(), "lattices": space.lattices, "all_reduce": _all_reduce(row)} for row in rows]


def _all_reduce(row: dict[str, Any]) -> float | None:
    """Return the all-reduce time of a network whose nodes all look alike, (N − 1) / links (collectives.optimum)."""
    return (row["nodes"] - 1) / row["links"] if row.get("links") else None
