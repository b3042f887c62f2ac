"""A search from beginning to end: so many seconds or moves, saved every few seconds, stopped where it is optimal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torusweep_kernels.annealing import BLOCK, choose_backend

from torusweep.errors import BadInput
from torusweep.graph_search.chains import advance, begin, is_optimal, load_kernel
from torusweep.graph_search.checkpoint import load, save
from torusweep.graph_search.results import publish
from torusweep.graph_search.wanted import Wanted

SAVE_SECONDS = 2.0  # between checkpoints


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
    """Search, write the best graph and its row (`torusweep.graph_search.columns`) to a folder, and return the row.

    seconds   to search, once the kernel is loaded; the search ends within a few blocks of moves of it
    moves     of each chain, rounded up to blocks of 256, those of an interrupted search included. The best graph
              depends on what is wanted and on these alone
    backend   what computes, as of `torusweep_kernels.annealing.anneal_chains`; the best graph does not depend on it
    progress  called with the share of the work done

    A search of the same in the same folder is continued. Raises BadInput for what cannot be searched, and for a
    damaged checkpoint; BackendUnavailable; CannotWrite.
    """
    wanted.check()
    if (folder / "points.parquet").exists():
        raise BadInput(f"{folder}: expected a folder of searches, got a sweep's results; choose another with --results")
    chosen = choose_backend(backend, wanted.chains, wanted.nodes, threads)
    checkpoint = folder / f"{wanted.name}.checkpoint.npz"
    chains = load(checkpoint, wanted)
    if chains is None:
        chains = begin(wanted)
        save(checkpoint, wanted, chains)  # a folder that cannot be written is refused before the work
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
