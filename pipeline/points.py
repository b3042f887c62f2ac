"""A point is one row to compute. Its key says whether an old row still answers for it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path

from pipeline.errors import BadInput
from pipeline.topologies import files_of, plan
from pipeline.topology import no_symmetries

# Sources whose change may change a stage's rows: files, and folders with all that is in them.
SOURCES = {
    "static": (
        "kernels/backend.py",
        "kernels/distance",
        "pipeline/evaluate.py",
        "pipeline/records.py",
        "pipeline/spelling.py",
        "pipeline/static",
        "pipeline/symmetry.py",
        "pipeline/topologies",
        "pipeline/topology.py",
    ),
    "tables": ("pipeline",),  # what is made from the static table: cheap, so any change makes it anew
}
LONGEST_FAULT_SEARCH = 8.0  # seconds; beyond that the fault sets are sampled
_ROOT = Path(__file__).parent.parent  # both packages lie in one folder, in a checkout and where they are installed
_CODE = {".py", ".cu", ".cuh", ".h", ".css", ".html"}


@dataclass(frozen=True)
class Point:
    """A network, by its canonical spelling, and the number of node faults at a time for its fault diameter."""

    topology: str
    fault_nodes: int | None = None

    @property
    def key(self) -> str:
        """sha256 of the spelling, the options, the contents of every file that it names, and the code that computes it.

        Computed anew each time: the files may have changed. Backend, symmetry and workers are no part
        of it, because a row does not depend on them. Raises BadInput for a file that cannot be read.
        """
        identity = {
            "topology": self.topology,
            "fault_nodes": self.fault_nodes,
            "files": [_digest_of(Path(file)) for file in files_of(self.topology)],
            "code": stage_digest("static"),
        }
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _digest_of(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{file}: expected a file, got: {error.strerror}; check the path, which is relative to the working directory") from None


@cache
def stage_digest(stage: str) -> str:
    """sha256 of the sources that a stage's rows depend on, by their names inside the packages: the same wherever they are installed."""
    digest = hashlib.sha256()
    for name, file in sorted(sources(stage).items()):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def sources(stage: str) -> dict[str, Path]:
    """The source files of a stage, by name as in kernels/backend.py."""
    found: dict[str, Path] = {}
    for entry in SOURCES[stage]:
        start = _ROOT / entry
        files = start.rglob("*") if start.is_dir() else [start]
        found |= {file.relative_to(_ROOT).as_posix(): file for file in files if file.suffix in _CODE and file.is_file()}
    return found


def estimated_cost(point: Point) -> float:
    """Seconds that a point takes on one core, within a factor of about five: enough to fill batches and to start the long ones first.

    From the plan alone, no array is built. Symmetry that is declared makes the searches negligible
    beside the proofs, which read every link a few times.
    """
    planned = plan(point.topology)[1]
    arcs = planned.nodes * max(planned.degree, 1)
    seconds = 1e-2 + 1e-6 * arcs
    if planned.symmetries is no_symmetries:
        seconds += 4e-11 * arcs * planned.nodes
    if point.fault_nodes is not None:
        seconds += min(1.3e-10 * arcs * comb(planned.nodes, point.fault_nodes), LONGEST_FAULT_SEARCH)
    return seconds
