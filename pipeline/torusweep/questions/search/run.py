"""Run a search for a graph, which ends after a number of seconds or moves, or when a graph is optimal.

The chains of a search are annealed in parallel, in cycles of cooling that get longer. The chains are saved every few
seconds, so that a stopped search can continue. The result is a graph file and a row of the table `search`.
"""

from __future__ import annotations

import io
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
from torusweep_kernels.annealing import BLOCK, Annealed, Quotient, anneal_chains, check, choose_backend, energy, lifted
from torusweep_kernels.distance import all_pairs_distance

from torusweep.errors import BadInput
from torusweep.networks.spelling import format_value
from torusweep.questions.search.columns import SEARCH
from torusweep.questions.search.wanted import Wanted, places, random_graph
from torusweep.tables import provenance, store
from torusweep.tables.columns import arrow_schema

FIRST_CYCLE = 64  # blocks of 256 moves in the first cycle; each cycle is twice as long as the previous one
HOTTEST = 0.25  # first temperature of a cycle, as a share of the number of paths that use a link
COOLING = 60.0  # first temperature of a cycle divided by its last temperature
ARRAYS = ("head", "shift", "mate")
LOCK = ".search.lock"  # held by the process that adds a row
SAME_SEARCH = ("nodes", "degree", "symmetry", "objective", "grid", "max_wire", "seed", "chains")
SAVE_SECONDS = 2.0  # time between checkpoints


class Chain(NamedTuple):
    """The state of a chain, which is a search that started from a graph of its own.

    graph    current graph
    best     best graph so far, whose `energy` and `diameter` follow
    moves    number of moves tried
    """

    graph: Quotient
    best: Quotient
    energy: int
    diameter: int
    moves: int


def begin(wanted: Wanted) -> list[Chain]:
    """Return all chains before their first move. Raises BadInput if no graph to start from is found."""
    graphs = [random_graph(wanted, number) for number in range(wanted.chains)]
    return [Chain(graph, graph, *energy(graph, wanted.goal), 0) for graph in graphs]


def advance(wanted: Wanted, chains: list[Chain], blocks: int, threads: int, backend: str = "numba") -> list[Chain]:
    """Return the chains after `blocks` more blocks of 256 moves. A chain whose best graph is optimal is not changed.

    The result does not depend on how blocks are divided among calls, nor on the backend of `anneal_chains`.
    """
    chains = list(chains)
    for moves in sorted({chain.moves for chain in chains if not is_optimal(wanted, chain)}):
        together = [number for number, chain in enumerate(chains) if chain.moves == moves]
        for first, temperatures in _cycles(wanted, moves // BLOCK, blocks):
            together = [number for number in together if not is_optimal(wanted, chains[number])]
            found = _annealed(wanted, chains, together, first, temperatures, threads, backend)
            for number, chain in zip(together, found):
                chains[number] = chain
    return chains


def load_kernel(wanted: Wanted, chains: list[Chain], threads: int, backend: str) -> None:
    """Load or compile the kernel of `advance` without trying a move. This may take seconds."""
    _annealed(wanted, chains[:1], [0], 0, np.zeros(0), threads, backend)


def is_optimal(wanted: Wanted, chain: Chain) -> bool:
    """Return whether the best graph of a chain attains the bound."""
    return chain.energy <= wanted.goal.energy and chain.diameter <= wanted.goal.diameter


def best_of(wanted: Wanted, chains: list[Chain]) -> Chain:
    """Return the chain with the best graph. If several are optimal, fewest moves decide; otherwise the first wins."""

    def order(chain: Chain) -> tuple[int, ...]:
        reached = (chain.diameter, chain.energy) if wanted.objective == "diameter" else (chain.energy, chain.diameter)
        return (*reached, chain.moves if is_optimal(wanted, chain) else 0)

    return min(chains, key=order)


def _annealed(
    wanted: Wanted,
    chains: list[Chain],
    numbers: list[int],
    first: int,
    temperatures: np.ndarray,
    threads: int,
    backend: str,
) -> list[Chain]:
    """Anneal the numbered chains for a part of one cycle, from block `first` on. A cycle starts from the best graph."""
    begins = _cycle_of(first)[0] == first
    found = anneal_chains(
        [chains[number].best if begins else chains[number].graph for number in numbers],
        temperatures,
        wanted.goal,
        chains=numbers,
        first=first * BLOCK,
        seed=wanted.seed,
        wires=wanted.wires,
        backend=backend,
        threads=threads,
    )
    return [_after(chains[number], annealed) for number, annealed in zip(numbers, found)]


def _after(chain: Chain, found: Annealed) -> Chain:
    moves = chain.moves + found.moves
    if found.best_energy < chain.energy:
        return Chain(found.graph, found.best, found.best_energy, found.best_diameter, moves)
    return chain._replace(graph=found.graph, moves=moves)


def _cycles(wanted: Wanted, first: int, blocks: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (number of the first block, temperature of each block) for each whole or partial cycle among the blocks."""
    hottest = HOTTEST * wanted.bound.distance_sum / wanted.nodes / wanted.degree
    end = first + blocks
    while first < end:
        start, length = _cycle_of(first)
        last = min(end, start + length)
        yield first, hottest * COOLING ** (-(np.arange(first, last) - start) / length)
        first = last


def _cycle_of(block: int) -> tuple[int, int]:
    """Return (number of the first block, number of blocks) of the cycle that contains a block."""
    length = FIRST_CYCLE * (1 << ((block // FIRST_CYCLE + 1).bit_length() - 1))
    return length - FIRST_CYCLE, length


def save(path: Path, wanted: Wanted, chains: list[Chain]) -> None:
    """Save the chains of a search to a file, atomically, so that the search can continue. Raises CannotWrite."""
    arrays: dict[str, np.ndarray] = {"wanted": np.array(repr(tuple(wanted)))}
    for number, chain in enumerate(chains):
        arrays[f"numbers{number}"] = np.array([chain.energy, chain.diameter, chain.moves], np.int64)
        for kind, graph in (("graph", chain.graph), ("best", chain.best)):
            arrays |= {f"{kind}{number}_{name}": array for name, array in zip(ARRAYS, graph[1:])}
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # its stub takes a keyword for an option
    store.publish(path, content.getvalue())


def load(path: Path, wanted: Wanted) -> list[Chain] | None:
    """Load the saved chains of a search; None without a file. Raises BadInput for a damaged file or another search."""
    if not path.exists():
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            if str(file["wanted"]) != repr(tuple(wanted)):
                raise ValueError
            return [_chain(file, wanted, number) for number in range(wanted.chains)]
    except (ValueError, KeyError, OSError, EOFError, MemoryError, BadZipFile, zlib.error):
        raise BadInput(f"{path} is damaged, or of another search: delete it, and the search begins anew") from None


def _chain(file: dict[str, np.ndarray], wanted: Wanted, number: int) -> Chain:
    graph, best = (
        Quotient(wanted.symmetry, *(file[f"{kind}{number}_{name}"] for name in ARRAYS)) for kind in ("graph", "best")
    )
    for quotient in (graph, best):
        check(quotient, np.zeros(0), 0)
        if quotient.head.shape != (wanted.orbits, wanted.degree):
            raise ValueError
    energy, diameter, moves = (int(value) for value in file[f"numbers{number}"])
    return Chain(graph, best, energy, diameter, moves)


def publish(folder: Path, wanted: Wanted, chains: list[Chain]) -> dict[str, Any]:
    """Write the best graph of a search and its row, which replaces an earlier row of the same search. Returns the row.

    Raises CannotWrite, and BadInput if the graph is not connected.
    """
    chain = best_of(wanted, chains)
    ports = lifted(chain.best)
    path = folder / f"{wanted.name}.edges"
    row = search_row(wanted, chain, ports, path)
    store.publish(path, _edge_list(wanted, ports).encode())
    schema = arrow_schema(SEARCH)
    table = folder / "search.parquet"
    with provenance.wait_for(folder / LOCK):
        before = store.open_current(table, schema).to_pylist() if table.exists() else []
        others = [other for other in before if any(other[name] != row[name] for name in SAME_SEARCH)]
        rows = sorted([*others, row], key=lambda each: [(each[name] is not None, each[name]) for name in SAME_SEARCH])
        store.publish_table(folder, "search", pa.Table.from_pylist(rows, schema=schema))
    return row


def search_row(wanted: Wanted, chain: Chain, ports: np.ndarray, path: Path) -> dict[str, Any]:
    """Return the row of the table `search` for a chain's best graph. Its distances are computed again, from all nodes.

    ports   int32[N, d]: the graph's port table
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
    """Return the text of an edge list, with a line for each link. On a grid, nodes are numbered row by row."""
    tail, port = np.nonzero(ports >= 0)
    head = ports[tail, port]
    if wanted.grid is not None:
        number = places(wanted) @ np.array([1, wanted.grid[0]])
        tail, head = number[tail], number[head]
    lines = [f"{u} {v}" for u, v in zip(tail.tolist(), head.tolist()) if u < v]
    return "\n".join(lines) + "\n"


def search(
    wanted: Wanted,
    folder: Path,
    *,
    seconds: float | None = None,
    moves: int | None = None,
    threads: int = 1,
    backend: str = "auto",
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Search for a graph, write the best graph and its row of the table `search` to a folder, and return the row.

    seconds   time to search after the kernel is loaded; the search ends a few blocks of moves later
    moves     number of moves of each chain, rounded up to blocks of 256, including those of an interrupted search. The
              best graph depends only on `wanted` and on this number
    backend   backend of `torusweep_kernels.annealing.anneal_chains`; the best graph does not depend on it
    progress  function that is called with the share of the work that is done

    An earlier search with equal parameters in the same folder is continued. Raises BadInput for parameters that no
    graph can have and for a damaged checkpoint, BackendUnavailable, and CannotWrite.
    """
    wanted.check()
    if (folder / "points.parquet").exists():
        raise BadInput(f"{folder}: expected a folder of searches, got a sweep's results; choose another with --results")
    chosen = choose_backend(backend, wanted.chains, wanted.nodes, threads)
    checkpoint = folder / f"{wanted.name}.checkpoint.npz"
    chains = load(checkpoint, wanted)
    if chains is None:
        chains = begin(wanted)
        save(checkpoint, wanted, chains)  # refuses a folder that cannot be written, before the work
    if not any(is_optimal(wanted, chain) for chain in chains):
        load_kernel(wanted, chains, threads, chosen)
    started = saved = time.monotonic()
    limit = None if moves is None else -(-moves // BLOCK)
    blocks = 1
    while not any(is_optimal(wanted, chain) for chain in chains):
        done = max(chain.moves for chain in chains) // BLOCK
        now = time.monotonic()
        if (seconds is not None and now - started >= seconds) or (limit is not None and done >= limit):
            break
        chains = advance(wanted, chains, blocks if limit is None else min(blocks, limit - done), threads, chosen)
        took = time.monotonic() - now
        left = SAVE_SECONDS if seconds is None else min(SAVE_SECONDS, max(started + seconds - time.monotonic(), 0.05))
        blocks = max(1, min(2 * blocks, int(blocks * left / max(took, 1e-6))))
        if time.monotonic() - saved > SAVE_SECONDS:
            save(checkpoint, wanted, chains)
            saved = time.monotonic()
        by_time = (time.monotonic() - started) / seconds if seconds else 0.0
        by_moves = max(chain.moves for chain in chains) / BLOCK / limit if limit else 0.0
        progress(min(1.0, max(by_time, by_moves)))
    save(checkpoint, wanted, chains)
    return publish(folder, wanted, chains)
