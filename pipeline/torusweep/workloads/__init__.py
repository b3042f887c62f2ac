"""What a parallel program sends: messages that wait for messages, from a file or made as an application's skeleton.

To add a workload: write one function in a module of this folder, from the number of terminals (and parameters, annotated as a
family's are) to a `Workload`, with a docstring whose first line says what it is and whose last names its source; name it in WORKLOADS
below; give it a row in tests/workloads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput
from torusweep.networks.naming import resolve
from torusweep.workloads.cg import cg
from torusweep.workloads.collectives import all_to_all, ring_all_reduce
from torusweep.workloads.files import file
from torusweep.workloads.is_ft import ft, integer_sort
from torusweep.workloads.lu import lu
from torusweep.workloads.messages import Program, Workload
from torusweep.workloads.mg import mg

WORKLOADS: dict[str, Callable[..., Workload]] = {
    "cg": cg,
    "is": integer_sort,
    "ft": ft,
    "lu": lu,
    "mg": mg,
    "ring_all_reduce": ring_all_reduce,
    "all_to_all": all_to_all,
    "file": file,
}
_SUFFIX = re.compile(r"[^()]+\.(csv|parquet)", re.IGNORECASE)


def workload(spelling: str, terminals: int) -> tuple[str, Workload]:
    """(canonical spelling, messages) of a workload for so many terminals: `cg`, `is(keys=65536)`, `file(path="messages.csv")`, or the file's name.

    Raises BadInput where name or parameters are wrong, the file is, or terminals do not suffice.
    """
    canonical_spelling, made, values = _bound(spelling)
    try:
        return canonical_spelling, made(terminals, **values)
    except BadInput as refusal:
        raise type(refusal)(f"workload {canonical_spelling}: {refusal}") from None


def canonical(spelling: str) -> str:
    """The canonical spelling, whatever the network. Raises BadInput where name or parameters are wrong."""
    return _bound(spelling)[0]


def files_of(spelling: str) -> list[Path]:
    """Every file that a workload's spelling names. Raises BadInput where name or parameters are wrong."""
    _, made, values = _bound(spelling)
    return [Path(values["path"])] if made is file else []


def _bound(spelling: str) -> tuple[str, Callable[..., Workload], dict[str, Any]]:
    """(canonical spelling, function, its parameters' values)."""
    if _SUFFIX.fullmatch(spelling.strip()):
        quoted = spelling.strip().replace("\\", "\\\\").replace('"', '\\"')
        spelling = f'file(path="{quoted}")'
    return resolve(spelling, WORKLOADS, kind="workload", example='cg(order=1400) or file(path="messages.csv")')


__all__ = ["WORKLOADS", "Program", "Workload", "canonical", "files_of", "workload"]
