"""Make workloads from spellings: messages with dependencies, from a file or from an application's skeleton.

To add a workload, see CONTRIBUTING.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torusweep.errors import located, naming
from torusweep.networks.physical import UNSAID, Clock
from torusweep.networks.signature import resolve
from torusweep.networks.spelling import Spelling
from torusweep.workloads.files import file
from torusweep.workloads.messages import Program, Target, Workload
from torusweep.workloads.skeletons import all_to_all, cg, ft, integer_sort, lu, mg, ring_all_reduce
from torusweep.workloads.traces import chakra, goal, rank_files

WORKLOADS: dict[str, Callable[..., Workload]] = {
    "cg": cg,
    "is": integer_sort,
    "ft": ft,
    "lu": lu,
    "mg": mg,
    "ring_all_reduce": ring_all_reduce,
    "all_to_all": all_to_all,
    "file": file,
    "goal": goal,
    "chakra": chakra,
}
READERS = {"csv": "file", "parquet": "file", "goal": "goal", "et": "chakra"}  # a file's suffix → the workload
_SUFFIX = re.compile(rf"[^()]+\.({'|'.join(READERS)})", re.IGNORECASE)


def workload(
    spelling: str, terminals: int, names: tuple[Any, ...] | None = None, clock: Clock = UNSAID
) -> tuple[str, Workload]:
    """Return (canonical spelling, messages) of a workload for a number of terminals.

    spelling   `cg`, `is(keys=65536)`, `file(path="messages.csv")`, `goal(path="app.goal", cycles_per_us=500)`, or just
               the name of the file
    names      names of the terminals, by which a file's messages may name tasks; None if terminals have only numbers
    clock      clock of the simulation, by which sizes in bytes become flits
    Raises BadInput if the name, a parameter or the file is wrong, or if there are too few terminals.
    """
    canonical_spelling, function, values = _resolve(spelling)
    with naming(f"workload {canonical_spelling}"):
        return canonical_spelling, function(Target(terminals, names, clock), **values)


def canonical(spelling: str) -> str:
    """Return the canonical spelling of a workload. Raises BadInput if the name or a parameter is wrong."""
    return _resolve(spelling)[0]


def flit_bytes_of(spelling: str) -> int | None:
    """Return the bytes per flit in a trace's spelling; None if it has none. Raises BadInput where `canonical` does."""
    return _resolve(spelling)[2].get("flit_bytes")


def files_of(spelling: str) -> list[Path]:
    """List all files that the spelling of a workload names. Raises BadInput if the name or a parameter is wrong."""
    _, function, values = _resolve(spelling)
    if function is chakra:
        groups = values.get("groups")
        return rank_files(values["path"]) + ([] if groups is None else [located(groups)])
    return [located(values["path"])] if "path" in values else []


def _resolve(spelling: str) -> tuple[str, Callable[..., Workload], dict[str, Any]]:
    """Return (canonical spelling, function, values of the function's parameters) of a workload's spelling."""
    if found := _SUFFIX.fullmatch(spelling.strip()):
        spelling = str(Spelling(READERS[found[1].lower()], {"path": spelling.strip()}))
    return resolve(spelling, WORKLOADS, kind="workload", example='cg(order=1400) or file(path="messages.csv")')


__all__ = ["WORKLOADS", "Program", "Workload", "canonical", "files_of", "flit_bytes_of", "workload"]
