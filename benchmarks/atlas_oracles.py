"""An atlas beside what is computed apart: python -m benchmarks.atlas_oracles results/atlas; status 1 where one differs.

It shares no code with torusweep: it reads screen.parquet, enumerates Hermite normal forms, searches and counts itself.
Up to 1,024 nodes, 10,000 rows by igraph take a quarter of an hour of a core, all else five minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import prod
from pathlib import Path

import duckdb
import igraph
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Size = tuple[int, int]  # dimensions, nodes
LARGEST = {2: (21, 25), 3: (55, 63), 4: (117, 129)}  # diameter → nodes (Dougherty & Faber 1994), vectors in Z³ so near


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare an atlas with what is computed apart.")
    parser.add_argument("results", type=Path, help="folder of a sweep with all lattices of some sizes")
    parser.add_argument("--rows", type=int, default=10_000, help="random rows by igraph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--burnside", type=int, default=1024, help="nodes up to which classes are counted")
    parser.add_argument("--search", type=int, nargs=2, default=(128, 32), help="nodes of a plain search, n = 2 and 3")
    parser.add_argument("--older", type=Path, help="folder of an older atlas, whose rows it should have")
    options = parser.parse_args()
    file = pq.ParquetFile(options.results / "screen.parquet")
    sizes = by_size(file)
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "lattices of a size: Σ d^(n−1) × those of N/d nodes": lambda: wrong_counts(sizes),
        "classes of a size: Burnside's lemma": lambda: wrong_classes(sizes, options.burnside),
        "least distances of a size: plain search": lambda: wrong_winners(sizes, dict(zip((2, 3), options.search))),
        "least diameter in two dimensions: the theorem": lambda: wrong_theorem(sizes),
        "largest of degree 6 and diameter 2, 3, 4": lambda: wrong_largest(sizes),
        f"{options.rows:,} random rows: igraph": lambda: wrong_rows(file, options.rows, options.seed),
    }
    if options.older is not None:
        checks["rows of an older atlas: all columns"] = lambda: wrong_older(options.results, options.older)
    failed = 0
    for name, check in checks.items():
        found = list(check())
        *differences, compared = found
        failed += len(differences)
        print(f"{name}: {compared}, {len(differences)} differ", *differences[:9], sep="\n  ", flush=True)
    raise SystemExit(failed > 0)


# --- what the table says of each size --------------------------------------------------------------


def by_size(file: pq.ParquetFile) -> dict[Size, dict[str, int]]:
    """Of each size: its classes, lattices, least distance_sum, the lattices that have it, the least diameter."""
    found: dict[Size, dict[str, int]] = {}
    names = ["dimensions", "nodes", "class_size", "distance_sum", "diameter"]
    for group in range(file.num_row_groups):
        n, nodes, members, total, diameter = (
            column.to_numpy() for column in file.read_row_group(group, columns=names).columns
        )
        for one in np.unique(n << 32 | nodes).tolist():
            size = one >> 32, one & 0xFFFFFFFF
            here = (n == size[0]) & (nodes == size[1])
            least = int(total[here].min())
            new = {
                "classes": int(here.sum()),
                "lattices": int(members[here].sum()),
                "sum": least,
                "attained": int(members[here & (total == least)].sum()),
                "diameter": int(diameter[here].min()),
            }
            old = found.get(size, new | {"classes": 0, "lattices": 0, "attained": 0})
            both = min(old["sum"], least)
            found[size] = {
                "classes": old["classes"] + new["classes"],
                "lattices": old["lattices"] + new["lattices"],
                "sum": both,
                "attained": sum(one["attained"] for one in (old, new) if one["sum"] == both),
                "diameter": min(old["diameter"], new["diameter"]),
            }
    return found


def wrong_counts(sizes: dict[Size, dict[str, int]]) -> Iterator[str]:
    """1, σ(N), Σ d·σ(d) over d | N, summed over sizes by sieves."""
    most = max(nodes for _, nodes in sizes)
    counts = {0: [1] + [0] * most}
    counts[1] = [1] * (most + 1)
    for n in range(2, 1 + max(n for n, _ in sizes)):
        counts[n] = [0] * (most + 1)
        for divisor in range(1, most + 1):
            for times in range(1, most // divisor + 1):
                counts[n][divisor * times] += divisor ** (n - 1) * counts[n - 1][times]
    for (n, nodes), row in sizes.items():
        if row["lattices"] != counts[n][nodes]:
            yield f"N = {nodes}, n = {n}: {counts[n][nodes]:,} lattices, the atlas has {row['lattices']:,}"
    yield f"{len(sizes):,} sizes of {sum(row['lattices'] for row in sizes.values()):,} lattices"


# --- Burnside's lemma --------------------------------------------------------------------------------


def hermite_forms(nodes: int, n: int) -> Iterator[np.ndarray]:
    """int32[n, n, B] each: upper triangular matrices of this determinant; right of a diagonal entry is less than it."""
    above = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for sides in product([side for side in range(1, nodes + 1) if nodes % side == 0], repeat=n):
        if prod(sides) == nodes:
            most = [sides[i] for i, _ in above]
            entries = np.indices(most, np.int32).reshape(len(most), prod(most))
            forms = np.zeros((n, n, prod(most)), np.int32)
            for i, side in enumerate(sides):
                forms[i, i] = side
            for (i, j), entry in zip(above, entries):
                forms[i, j] = entry
            yield forms


Signed = tuple[tuple[int, ...], tuple[int, ...]]  # order of the dimensions, and their signs


def group(n: int) -> list[Signed]:
    """All 2ⁿ n! signed permutations."""
    return list(product(permutations(range(n)), product((1, -1), repeat=n)))


def conjugates(n: int) -> list[tuple[Signed, int]]:
    """One element of each class under conjugation and −1, and how many are in it: they fix as many lattices."""
    matrices = {one: tuple(map(tuple, _matrix(one).tolist())) for one in group(n)}
    left, found = dict(zip(matrices.values(), matrices)), []
    while left:
        element = next(iter(left.values()))
        one = _matrix(element)
        alike = {
            tuple(map(tuple, (sign * (other @ one @ other.T)).tolist()))
            for other in map(_matrix, matrices)
            for sign in (1, -1)
        }
        found.append((element, len(alike)))
        for other in alike:
            del left[other]
    return found


def _matrix(element: Signed) -> np.ndarray:
    order, signs = element
    matrix = np.zeros((len(order), len(order)), int)
    matrix[range(len(order)), order] = signs
    return matrix


def fixed(forms: np.ndarray, element: Signed) -> int:
    """How many lattices a signed permutation maps to themselves: it maps each column to a sum of columns.

    Back substitution finds the sum: no normal form of an image is computed.
    """
    order, signs = element
    inside = np.ones(forms.shape[2], bool)
    for column in range(len(order)):
        left = [sign * forms[place, column] for place, sign in zip(order, signs)]
        for i in reversed(range(len(order))):
            times, rest = np.divmod(left[i], forms[i, i])
            inside &= rest == 0
            for above in range(i):
                left[above] = left[above] - times * forms[above, i]
    return int(inside.sum())


def burnside(nodes: int, n: int, elements: list[tuple[Signed, int]] | None = None) -> int:
    """Orbits of lattices under signed permutations: the mean number that one of these maps to themselves.

    elements  with how many fix as many each; by default one of each class of conjugates
    """
    elements = elements or conjugates(n)
    total = sum(weight * fixed(forms, one) for forms in hermite_forms(nodes, n) for one, weight in elements)
    order = sum(weight for _, weight in elements)
    assert total % order == 0
    return total // order


def wrong_classes(sizes: dict[Size, dict[str, int]], most: int) -> Iterator[str]:
    chosen = [size for size in sizes if size[1] <= most]
    elements = {n: conjugates(n) for n, _ in chosen}
    for n, nodes in chosen:
        count = burnside(nodes, n, elements[n])
        if count != sizes[n, nodes]["classes"]:
            yield f"N = {nodes}, n = {n}: {count:,} classes, the atlas has {sizes[n, nodes]['classes']:,}"
    yield f"{len(chosen):,} sizes of up to {most:,} nodes, {sum(sizes[one]['classes'] for one in chosen):,} classes"


# --- plain search -------------------------------------------------------------------------------------


def plain_search(form: list[list[int]]) -> list[int]:
    """Nodes at distance 0, 1, 2, …: sums of unit vectors, reduced into the box column by column."""
    n = len(form)

    def reduced(vector: list[int]) -> tuple[int, ...]:
        for i in reversed(range(n)):
            times = vector[i] // form[i][i]
            vector = [value - times * form[row][i] for row, value in enumerate(vector)]
        return tuple(vector)

    border = {(0,) * n}
    seen, levels = set(border), [1]
    while border:
        steps = (
            [x + sign * (i == d) for i, x in enumerate(node)] for node in border for d in range(n) for sign in (1, -1)
        )
        border = set(map(reduced, steps)) - seen
        seen |= border
        levels += [len(border)] if border else []
    return levels


def plain_winners(nodes: int, n: int) -> dict[str, int]:
    """The least sum of distances over all pairs, how many lattices have it, and the least diameter."""
    sums, diameters = [], []
    for forms in hermite_forms(nodes, n):
        for place in range(forms.shape[2]):
            levels = plain_search(forms[:, :, place].tolist())
            sums.append(nodes * sum(distance * count for distance, count in enumerate(levels)))
            diameters.append(len(levels) - 1)
    return {"sum": min(sums), "attained": sums.count(min(sums)), "diameter": min(diameters)}


def wrong_winners(sizes: dict[Size, dict[str, int]], most: dict[int, int]) -> Iterator[str]:
    chosen = [(n, nodes) for n, nodes in sizes if nodes <= most.get(n, 0)]
    for n, nodes in chosen:
        plain = plain_winners(nodes, n)
        if any(sizes[n, nodes][name] != value for name, value in plain.items()):
            yield f"N = {nodes}, n = {n}: {plain}, the atlas has {sizes[n, nodes]}"
    yield f"{len(chosen):,} sizes, up to {most[2]} nodes in two dimensions, {most[3]} in three"


# --- theorems -----------------------------------------------------------------------------------------


def wrong_theorem(sizes: dict[Size, dict[str, int]]) -> Iterator[str]:
    """⌈(√(2N − 1) − 1) / 2⌉: d is enough where 2d² + 2d + 1 ≥ N (Wong & Coppersmith 1974; Boesch & Wang 1985)."""
    chosen = {nodes: row["diameter"] for (n, nodes), row in sizes.items() if n == 2 and nodes > 4}
    for nodes, diameter in chosen.items():
        wanted = next(d for d in range(nodes) if 2 * d * d + 2 * d + 1 >= nodes)
        if diameter != wanted:
            yield f"N = {nodes}: {wanted}, the atlas has {diameter}"
    yield f"{len(chosen):,} sizes from 5 nodes on"


def wrong_largest(sizes: dict[Size, dict[str, int]]) -> Iterator[str]:
    compared = 0
    for diameter, (largest, bound) in LARGEST.items():
        for nodes in range(largest, bound + 1):
            if (3, nodes) in sizes:
                compared += 1
                if (sizes[3, nodes]["diameter"] <= diameter) != (nodes == largest):
                    yield f"N = {nodes}: the atlas has diameter {sizes[3, nodes]['diameter']}"
    yield f"{compared} sizes"


def wrong_older(results: Path, older: Path) -> Iterator[str]:
    """By a query: rows of the older table that this one has not, value by value."""
    new, old = (f"(SELECT {{}} FROM '{folder / 'screen.parquet'}')" for folder in (results, older))
    columns = ", ".join(pq.read_schema(older / "screen.parquet").names)
    same = f"SEMI JOIN {old.format('dimensions, nodes')} USING (dimensions, nodes)"
    lacking = f"FROM ({old.format(columns)} EXCEPT ALL FROM {new.format(columns)} {same})"
    for (topology,) in duckdb.sql(f"SELECT topology {lacking}").fetchall():
        yield f"{topology}: another row"
    ((rows,),) = duckdb.sql(f"SELECT count(*) FROM {old.format('topology')}").fetchall()
    yield f"{rows:,} rows"


# --- random rows --------------------------------------------------------------------------------------


def plain_graph(form: np.ndarray) -> tuple[igraph.Graph, np.ndarray]:
    """The lattice graph, of vectors reduced into the box, and the dimension of each edge."""
    sides = form.diagonal()
    nodes = np.indices(sides).reshape(len(sides), -1)
    strides = np.append(np.cumprod(sides[::-1])[-2::-1], 1)
    edges: dict[tuple[int, int], int] = {}
    for dimension in range(len(sides)):
        heads = nodes.copy()
        heads[dimension] += 1
        for i in reversed(range(len(sides))):
            heads = heads - heads[i] // sides[i] * form[:, i, None]
        for tail, head in enumerate((strides @ heads).tolist()):
            if tail != head:
                edges.setdefault((min(tail, head), max(tail, head)), dimension)
    return igraph.Graph(nodes.shape[1], list(edges)), np.array(list(edges.values()), int)


def by_igraph(form: np.ndarray) -> dict[str, object]:
    """What a row says of a lattice: all pairs' distances, and loads by edge betweenness."""
    graph, dimension = plain_graph(form)
    n, nodes, busy = len(form), graph.vcount(), np.array(graph.edge_betweenness())
    pairs = np.bincount(np.array(graph.distances(), int).ravel()) if nodes > 1 else np.array([1])
    total = int(pairs @ np.arange(len(pairs)))
    load = [float(busy[dimension == d].max(initial=0)) / nodes for d in range(n)]
    return {
        "nodes": nodes,
        "dimensions": n,
        "degree": max(graph.degree()),
        "links": graph.ecount(),
        "connected": graph.is_connected(),
        "diameter": len(pairs) - 1,
        "distance_histogram": pairs.tolist(),
        "distance_sum": total,
        "mean_distance": total / nodes**2,
        "mean_distance_distinct": total / max(nodes * (nodes - 1), 1),
        "load": load,
        "max_channel_load": max(load),
        "saturation_load": 1 / max(load) if max(load) else None,
    }


def wrong_rows(file: pq.ParquetFile, count: int, seed: int) -> Iterator[str]:
    rows, begin = file.metadata.num_rows, 0
    chosen = np.sort(np.random.default_rng(seed).choice(rows, min(count, rows), replace=False))
    for number in range(file.num_row_groups):
        end = begin + file.metadata.row_group(number).num_rows
        mine = chosen[(chosen >= begin) & (chosen < end)] - begin
        begin = end
        if len(mine):
            table = file.read_row_group(number).take(pa.array(mine))
            for row in table.filter(pc.starts_with(table["topology"], "lattice(")).to_pylist():
                form = np.array(row["matrix"]).reshape(row["dimensions"], -1)
                for name, value in by_igraph(form).items():
                    if not _equal(row[name], value):
                        yield f"{row['topology']}: {name} {value}, the atlas has {row[name]}"
                if row["topology"] != f"lattice(matrix={form.tolist()})":
                    yield f"{row['topology']}: the matrix is {form.tolist()}"
    yield f"{len(chosen):,} of {rows:,} rows"


def _equal(ours: object, theirs: object) -> bool:
    """Whole numbers are the same; others differ by less than 10⁻⁹ of them."""
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(_equal, ours, theirs))
    if isinstance(theirs, float):
        return isinstance(ours, float) and abs(ours - theirs) <= 1e-9 * max(1e-300, abs(theirs))
    return ours == theirs


if __name__ == "__main__":
    main()
