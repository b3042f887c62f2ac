"""What a search found: a graph file, and a row of the table `search`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from torusweep_kernels.annealing import lifted
from torusweep_kernels.distance import all_pairs_distance

from torusweep.errors import BadInput
from torusweep.graph_search.chains import Chain, best_of
from torusweep.graph_search.columns import SEARCH
from torusweep.graph_search.wanted import Wanted, places
from torusweep.networks.spelling import format_value
from torusweep.tables import lock, store
from torusweep.tables.columns import arrow_schema

LOCK = ".search.lock"  # held by whoever adds a row
SAME_SEARCH = ("nodes", "degree", "symmetry", "objective", "grid", "max_wire", "seed", "chains")


def publish(folder: Path, wanted: Wanted, chains: list[Chain]) -> dict[str, Any]:
    """Write the best graph of a search and its row, in place of an earlier row of the same search; the row.

    Raises CannotWrite; BadInput where the graph is not connected.
    """
    chain = best_of(wanted, chains)
    ports = lifted(chain.best)
    path = folder / f"{wanted.name}.edges"
    row = search_row(wanted, chain, ports, path)
    store.publish(path, _edge_list(wanted, ports).encode())
    schema = arrow_schema(SEARCH)
    table = folder / "search.parquet"
    with lock.wait_for(folder / LOCK):
        before = store.open_current(table, schema).to_pylist() if table.exists() else []
        others = [other for other in before if any(other[name] != row[name] for name in SAME_SEARCH)]
        rows = sorted([*others, row], key=lambda each: [(each[name] is not None, each[name]) for name in SAME_SEARCH])
        store.publish_table(folder, "search", pa.Table.from_pylist(rows, schema=schema))
    return row


def search_row(wanted: Wanted, chain: Chain, ports: np.ndarray, path: Path) -> dict[str, Any]:
    """The row of the table `search` for a graph; its distances are searched again, from all nodes.

    ports   int32[N, d]  of the graph
    """
    nodes = len(ports)
    everyone = np.arange(nodes, dtype=np.int32)
    histogram = all_pairs_distance(ports, everyone, np.zeros(nodes, np.int32)).histogram[0]
    if histogram.sum() < nodes**2:
        raise BadInput(
            f"found no connected graph after {chain.moves:,} moves: repeat the command to go on, or permit longer wires"
        )
    total, diameter = int(histogram @ np.arange(len(histogram))), len(histogram) - 1
    least_diameter, least_sum = wanted.bound
    reached, least = (diameter, least_diameter) if wanted.objective == "diameter" else (total, least_sum)
    values = {
        "topology": f"graph(path={format_value(str(path))})",
        **{name: getattr(wanted, name) for name in SAME_SEARCH},
        "grid": None if wanted.grid is None else f"{wanted.grid[0]}x{wanted.grid[1]}",
        "moves": chain.moves,
        "diameter": diameter,
        "distance_sum": total,
        "mean_distance": total / nodes**2,
        "mean_distance_distinct": total / (nodes * (nodes - 1)),
        "diameter_bound": least_diameter,
        "mean_distance_bound": least_sum / nodes**2,
        "gap": reached / least - 1,
        "optimal": reached == least,
    }
    return {column.name: values[column.name] for column in SEARCH}


def _edge_list(wanted: Wanted, ports: np.ndarray) -> str:
    """A line for each link. On a grid, nodes are numbered row by row."""
    tail, port = np.nonzero(ports >= 0)
    head = ports[tail, port]
    if wanted.grid is not None:
        number = places(wanted) @ np.array([1, wanted.grid[0]])
        tail, head = number[tail], number[head]
    lines = [f"{u} {v}" for u, v in zip(tail.tolist(), head.tolist()) if u < v]
    return "\n".join(lines) + "\n"
