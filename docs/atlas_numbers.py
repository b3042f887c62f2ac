"""The numbers of docs/atlas.md from an atlas: python docs/atlas_numbers.py results/atlas [atlas-2026] (two minutes).

It prints the section "What it found", sentence by sentence, and what the folder and its data set take. Bounds of any
routing and of cuts are those of `torusweep loads SPELLING --bounds` and `torusweep describe`: they are not made here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from torusweep.questions.screen.best import BOUND, GREATEST_SATURATION, LEAST_MEAN, Objective, keep_best
from torusweep.questions.screen.bounds import front
from torusweep.questions.screen.dataset import INDEX, DataSet
from torusweep.questions.screen.spaces import Lattices
from torusweep.tables.store import read_manifest

FIRST = 16  # nodes: smaller sizes are left out
PEOPLE = 27, 54, 64  # from these sizes on: the front; hand-picked twists; cubes
TABLE = ((64, 2), (128, 2), (256, 2), (512, 2), (1024, 2), (64, 3), (128, 3), (256, 3), (512, 3), (1024, 3))
EQUAL = 1e-9

Row = dict[str, Any]
Size = tuple[int, int]  # dimensions, nodes


def main(results: Path, data: Path | None) -> None:
    best: dict[Size, dict[str, Row]] = {}
    for row in pq.read_table(results / "best.parquet").to_pylist():
        best.setdefault((row["dimensions"], row["nodes"]), {})[row["network"]] = row
    fronts = {size: found for size, *found in of_sizes(results / "screen.parquet")}
    flat = {nodes: rows for (n, nodes), rows in best.items() if n == 2 and nodes >= FIRST}
    deep = {nodes: rows for (n, nodes), rows in best.items() if n == 3 and nodes >= FIRST}
    most = max(deep)
    lattices = sum(rows[LEAST_MEAN]["lattices"] for rows in best.values())
    classes = sum(found[0] for found in fronts.values())
    print(f"**all lattices of up to {most:,} nodes**: {lattices:,} of {len(best):,} sizes, {classes:,} classes\n")
    print(f"- Two dimensions: {two_dimensions(flat, nearest(fronts, 2))}\n")
    print(f"- Three dimensions: {three_dimensions(deep, nearest(fronts, 3))}\n")
    print(f"- A size needs no factors: {factors(deep, most)}\n")
    for name, words in (("cube", "A cube"), ("PDTT, the FCC lattice", "PDTT"), ("PTT", "PTT"), ("BCC lattice", "BCC")):
        print(f"- {words}: {beside(deep, name, PEOPLE[2] if name == 'cube' else PEOPLE[1])}")
    print(f"\n- Few lattices are worth a look: {few(deep, fronts)}\n")
    print(f"- The shortest paths are not always the last to saturate: {two_winners(deep)}\n")
    for nodes in (500, 512, 1024):
        for topology, mean, diameter, saturation in fronts.get((3, nodes), (0, 0, []))[2]:
            print(f"| {nodes} | `{topology}` | {mean:.4f} | {diameter} | {saturation:.4f} |")
    print()
    for nodes, n in TABLE:
        if (n, nodes) in best:
            print(table_row(nodes, n, best[n, nodes], fronts[n, nodes][0]))
    print(f"\n{taken(results, data, classes)}")


def of_sizes(path: Path) -> Iterator[tuple[Size, int, int, list[tuple[str, float, int, float]]]]:
    """Of each size: its classes, those of degree 2n, and the front of mean distance, diameter and saturation."""
    columns = ["topology", "dimensions", "nodes", "degree", "distance_sum", "diameter", "max_channel_load"]
    file, held = pq.ParquetFile(path), None
    for group in range(file.num_row_groups):
        rows = file.read_row_group(group, columns=columns)
        size = rows["dimensions"].to_numpy() << 32 | rows["nodes"].to_numpy()
        for begin, end in zip(cuts := [0, *(np.flatnonzero(np.diff(size)) + 1)], [*cuts[1:], len(size)]):
            part = rows.slice(begin, end - begin)
            if held is not None and held[0] == size[begin]:
                held[1].append(part)
                continue
            if held is not None:
                yield front_of(held[1])
            held = size[begin], [part]
    if held is not None:
        yield front_of(held[1])


def front_of(parts: list[Any]) -> tuple[Size, int, int, list[tuple[str, float, int, float]]]:
    n, nodes, degree, total, diameter, busiest = (
        np.concatenate([part[place].to_numpy() for part in parts]) for place in range(1, 7)
    )
    values = np.column_stack([total, diameter, np.round(busiest, 9)])
    best = front(values)
    _, first = np.unique(values[best], axis=0, return_index=True)
    begins = np.cumsum([0, *map(len, parts)])
    found = []
    for place in best[first]:
        part = int(np.searchsorted(begins, place, "right")) - 1
        topology = parts[part]["topology"][int(place - begins[part])].as_py()
        saturation = 1 / busiest[place] if busiest[place] else np.inf
        found.append((topology, total[place] / nodes[0] ** 2, int(diameter[place]), float(saturation)))
    return (int(n[0]), int(nodes[0])), len(n), int((degree == 2 * n[0]).sum()), found


# --- sentences --------------------------------------------------------------------------------------


def nearest(fronts: dict[Size, list[Any]], dimensions: int) -> dict[int, int]:
    """The least diameter of each size: some lattice of the front has it."""
    return {nodes: min(one[2] for one in found[2]) for (n, nodes), found in fronts.items() if n == dimensions}


def two_dimensions(sizes: dict[int, dict[str, Row]], least: dict[int, int]) -> str:
    mean = [nodes for nodes, rows in sizes.items() if above(rows) <= EQUAL]
    near = [nodes for nodes, rows in sizes.items() if least[nodes] == rows[BOUND]["diameter"]]
    both = set(mean) & set(near)
    rtt = [rows for rows in sizes.values() if "RTT" in rows]
    optimal = sum(longer(rows, "RTT") <= EQUAL for rows in rtt)
    return (
        f"{len(both)} of {len(sizes)} sizes meet both bounds (mean {len(mean)}, diameter {len(near)}); RTT is optimal"
        f" at {optimal} of {len(rtt)} sizes; {beside(sizes, 'square torus', PEOPLE[1])}"
    )


def three_dimensions(sizes: dict[int, dict[str, Row]], least: dict[int, int]) -> str:
    mean = {nodes for nodes, rows in sizes.items() if above(rows) <= EQUAL}
    near = {nodes for nodes, rows in sizes.items() if least[nodes] == rows[BOUND]["diameter"]}
    worst = max(sizes, key=lambda nodes: above(sizes[nodes]))
    within = ", ".join(
        f"{share:.1%} from {max((nodes for nodes, rows in sizes.items() if above(rows) > share), default=0) + 1} on"
        for share in (0.03, 0.02, 0.015, 0.01, 0.0075, 0.005)
    )
    return (
        f"{len(mean)} of {len(sizes)} sizes meet the bound of the mean, {len(near)} that of the diameter"
        f" ({len(mean & near)} both); the best is at most {above(sizes[worst]):.1%} above the bound ({worst} nodes);"
        f" within {within}, up to {max(sizes)}"
    )


def factors(sizes: dict[int, dict[str, Row]], most: int) -> str:
    """Primes from half of the largest size on; rectangular tori, cubes included, of all sizes."""
    if most < PEOPLE[1]:
        return "none"
    upper = {nodes: above(rows) for nodes, rows in sizes.items() if nodes >= most // 2}
    primes = [nodes for nodes in upper if all(nodes % d for d in range(2, nodes))]
    others = [share for nodes, share in upper.items() if nodes not in primes]
    tori = [
        longer(rows, name)
        for nodes, rows in sizes.items()
        if nodes >= PEOPLE[1]
        for name in ("rectangular torus", "cube")
        if name in rows
    ]
    return (
        f"the {len(primes)} primes from {most // 2} to {most} are on average"
        f" {np.mean([upper[prime] for prime in primes]):.2%} above the bound, the others {np.mean(others):.2%};"
        f" of {len(tori)} sizes from {PEOPLE[1]} on that have a torus, cubes included, its mean is"
        f" {np.median(tori):.0%} or more above the best twist's for half"
    )


def beside(sizes: dict[int, dict[str, Row]], name: str, first: int) -> str:
    """What a network that people know has, of the best of its size; ranges over its sizes."""
    chosen = {nodes: rows for nodes, rows in sizes.items() if name in rows and nodes >= first}
    if not chosen:
        return "none"
    hops = [rows[name]["diameter"] - rows[LEAST_MEAN]["diameter"] for rows in chosen.values()]
    last = {nodes: rows[GREATEST_SATURATION]["saturation_load"] for nodes, rows in chosen.items()}
    own = {nodes: rows[name]["saturation_load"] for nodes, rows in chosen.items()}
    unbeaten = [nodes for nodes in chosen if own[nodes] >= last[nodes] * (1 - EQUAL)]
    return (
        f"from {min(chosen)} to {max(chosen)} nodes ({len(chosen)} sizes) a"
        f" {span([longer(rows, name) for rows in chosen.values()])} longer mean distance, diameter {min(hops)} to"
        f" {max(hops)} hops longer, saturates {span([1 - own[nodes] / last[nodes] for nodes in chosen])} earlier"
        f" (the best {span([last[nodes] / own[nodes] - 1 for nodes in chosen])} later); none later at {unbeaten};"
        f" largest size: {max(chosen)} nodes, {chosen[max(chosen)][LEAST_MEAN]['mean_distance']:.4f} hops instead of"
        f" {chosen[max(chosen)][name]['mean_distance']:.4f}, diameter {chosen[max(chosen)][LEAST_MEAN]['diameter']}"
        f" instead of {chosen[max(chosen)][name]['diameter']}"
    )


def few(sizes: dict[int, dict[str, Row]], fronts: dict[Size, list[Any]]) -> str:
    counts = {nodes: len(fronts[3, nodes][2]) for nodes in sizes if nodes >= PEOPLE[0]}
    most = max(counts, key=lambda nodes: counts[nodes])
    shown = ", ".join(
        f"of the {fronts[3, nodes][1]:,} classes of degree 6 of {nodes} nodes, {len(fronts[3, nodes][2])} on the front"
        for nodes in (512, 1024)
        if (3, nodes) in fronts
    )
    return (
        f"{shown}; of {len(counts)} sizes from {PEOPLE[0]} on, {sum(count == 1 for count in counts.values())} have one"
        f" choice, {sum(count <= 4 for count in counts.values())} at most four, none more than {counts[most]} ({most}"
        " nodes)"
    )


def two_winners(sizes: dict[int, dict[str, Row]]) -> str:
    chosen = [rows for nodes, rows in sizes.items() if nodes >= PEOPLE[0]]
    later = [rows[GREATEST_SATURATION]["saturation_load"] / rows[LEAST_MEAN]["saturation_load"] - 1 for rows in chosen]
    paths = [longer(rows, GREATEST_SATURATION) for rows in chosen]
    differ = sum(share > EQUAL for share in later)
    return (
        f"the two differ at {differ} of {len(chosen)} sizes from {PEOPLE[0]} on: at most {max(later):.1%} later, paths"
        f" at most {max(paths):.1%} longer"
    )


def table_row(nodes: int, n: int, rows: dict[str, Row], classes: int) -> str:
    shortest, latest = rows[LEAST_MEAN], rows[GREATEST_SATURATION]
    same = latest["mean_distance"] <= shortest["mean_distance"] * (1 + EQUAL)
    other = f"{latest['saturation_load']:.4f}, {latest['mean_distance']:.4f}"
    known = "; ".join(
        f"{row['topology']}: {row['mean_distance']:.5g}, {row['saturation_load']:.4f}"
        for name, row in rows.items()
        if name not in (LEAST_MEAN, GREATEST_SATURATION, BOUND)
    )
    return (
        f"| {nodes}, {n} | {shortest['lattices']:,} ({classes:,}) | {shortest['mean_distance']:.4f},"
        f" {shortest['saturation_load']:.4f} | {rows[BOUND]['mean_distance']:.4f} |"
        f" {'the same' if same else other} | {known} |"
    )


def taken(results: Path, data: Path | None, classes: int) -> str:
    """Seconds of the workers, bytes of the folder, of the data set, and of what `best` reads of it."""
    seconds = sum(shard.get("seconds", 0.0) for shard in read_manifest(results)["shards"])
    shards = sum(path.stat().st_size for path in (results / "shards").glob("*.parquet"))
    table = (results / "screen.parquet").stat().st_size
    found = [
        f"points: {seconds:,.0f} s of workers; screen.parquet {table / 1e6:,.0f} MB ({table / classes:.1f} bytes a"
        f" class), shards {shards / 1e6:,.0f} MB"
    ]
    if data is not None and (data / INDEX).exists():
        files = DataSet(data).files
        size, rows = sum(file.bytes for file in files), sum(file.rows for file in files)
        found.append(f"data set: {len(files)} files, {size / 1e6:,.0f} MB, {size / rows:.1f} bytes a class")
        reads, last = [], files[-1].last[1]
        objectives = (Objective("mean_distance", 1),)
        for nodes in sorted({500, 512, 840, 960, last}):
            opened = DataSet(data)
            if opened.whole(Lattices(3, nodes), lambda rows: keep_best(rows, objectives), ["mean_distance"]):
                reads.append(f"{nodes}: {opened.requests[1] / 1e6:.1f} MB in {opened.requests[0]}")
        found.append(f"best --remote reads, by nodes, in so many requests: {'; '.join(reads)}")
    return "\n".join(found)


# --- numbers ----------------------------------------------------------------------------------------


def above(rows: dict[str, Row]) -> float:
    """The least mean distance of a size above the bound, as a share."""
    return float(rows[LEAST_MEAN]["mean_distance"] / rows[BOUND]["mean_distance"] - 1)


def longer(rows: dict[str, Row], name: str) -> float:
    """A network's mean distance above the least one of its size, as a share."""
    return float(rows[name]["mean_distance"] / rows[LEAST_MEAN]["mean_distance"] - 1)


def span(shares: Iterable[float]) -> str:
    shares = list(shares)
    return f"{min(shares):.1%} to {max(shares):.1%}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
