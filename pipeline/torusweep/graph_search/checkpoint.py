"""A search on disk: its chains, so that one that was stopped goes on."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from torusweep_kernels.annealing import Quotient, check

from torusweep.errors import BadInput
from torusweep.graph_search.chains import Chain
from torusweep.graph_search.wanted import Wanted
from torusweep.tables import store

ARRAYS = ("head", "shift", "mate")


def save(path: Path, wanted: Wanted, chains: list[Chain]) -> None:
    """Write a search, whole or not at all. Raises CannotWrite."""
    arrays: dict[str, np.ndarray] = {"wanted": np.array(repr(tuple(wanted)))}
    for number, chain in enumerate(chains):
        arrays[f"numbers{number}"] = np.array([chain.energy, chain.diameter, chain.moves], np.int64)
        for kind, graph in (("graph", chain.graph), ("best", chain.best)):
            arrays |= {f"{kind}{number}_{name}": array for name, array in zip(ARRAYS, graph[1:])}
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]  # its stub takes a keyword for an option
    store.publish(path, content.getvalue())


def load(path: Path, wanted: Wanted) -> list[Chain] | None:
    """The chains of the same search; None where it has not begun. Raises BadInput for a file that is damaged."""
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
