"""A point is one row to compute. Its key says whether an old row still answers for it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

import torusweep_kernels

import torusweep
from torusweep.errors import BadInput
from torusweep.networks.families import files_of

# Sources whose change may change a stage's rows: files, and folders with all that is in them.
SOURCES = {
    "static": (
        "torusweep_kernels/backend.py",
        "torusweep_kernels/cuts",
        "torusweep_kernels/distance",
        "torusweep_kernels/threads.py",
        "torusweep/sweep/evaluate.py",
        "torusweep/networks/cuts.py",
        "torusweep/networks/links.py",
        "torusweep/networks/naming.py",
        "torusweep/tables/records.py",
        "torusweep/routing",
        "torusweep/networks/spelling.py",
        "torusweep/stages/static",
        "torusweep/networks/symmetry.py",
        "torusweep/networks/families",
        "torusweep/networks/topology.py",
    ),
    "loads": (
        "torusweep_kernels/backend.py",
        "torusweep_kernels/cuts",
        "torusweep_kernels/distance",
        "torusweep_kernels/philox/draws.py",
        "torusweep_kernels/loads",
        "torusweep_kernels/philox/philox.cuh",
        "torusweep_kernels/philox/__init__.py",
        "torusweep_kernels/philox/cpu.py",
        "torusweep_kernels/routes",
        "torusweep_kernels/threads.py",
        "torusweep_kernels/walks",
        "torusweep/capacity",
        "torusweep/stages/loads/collectives.py",
        "torusweep/sweep/evaluate.py",
        "torusweep/stages/loads",
        "torusweep/networks/cuts.py",
        "torusweep/networks/links.py",
        "torusweep/networks/naming.py",
        "torusweep/tables/records.py",
        "torusweep/routing",
        "torusweep/networks/spelling.py",
        "torusweep/stages/static",
        "torusweep/networks/symmetry.py",
        "torusweep/networks/families",
        "torusweep/networks/topology.py",
        "torusweep/traffic",
    ),
    "deadlock": (
        "torusweep_kernels/backend.py",
        "torusweep_kernels/dependencies",
        "torusweep_kernels/distance",
        "torusweep_kernels/threads.py",
        "torusweep/counts.py",
        "torusweep/stages/deadlock",
        "torusweep/sweep/evaluate.py",
        "torusweep/networks/naming.py",
        "torusweep/tables/records.py",
        "torusweep/routing",
        "torusweep/networks/spelling.py",
        "torusweep/networks/symmetry.py",
        "torusweep/networks/families",
        "torusweep/networks/topology.py",
    ),
    "layout": (
        "torusweep/sweep/evaluate.py",
        "torusweep/stages/layout",
        "torusweep/networks/naming.py",
        "torusweep/tables/records.py",
        "torusweep/networks/spelling.py",
        "torusweep/networks/families",
        "torusweep/networks/topology.py",
    ),
    "simulation": (
        "torusweep_kernels/backend.py",
        "torusweep_kernels/dependencies",
        "torusweep_kernels/distance",
        "torusweep_kernels/philox/draws.py",
        "torusweep_kernels/router",
        "torusweep_kernels/philox/philox.cuh",
        "torusweep_kernels/philox/__init__.py",
        "torusweep_kernels/philox/cpu.py",
        "torusweep_kernels/routes",
        "torusweep_kernels/threads.py",
        "torusweep/counts.py",
        "torusweep/stages/deadlock",
        "torusweep/sweep/evaluate.py",
        "torusweep/networks/naming.py",
        "torusweep/tables/records.py",
        "torusweep/routing",
        "torusweep/stages/simulation",
        "torusweep/networks/spelling.py",
        "torusweep/networks/links.py",
        "torusweep/networks/symmetry.py",
        "torusweep/networks/families",
        "torusweep/networks/topology.py",
        "torusweep/traffic",
        "torusweep/workloads",
    ),
    "tables": ("torusweep",),  # what is made from the stages' tables: cheap, so any change makes it anew
}
_ROOTS = {package.__name__: Path(package.__path__[0]).parent for package in (torusweep, torusweep_kernels)}
_KNOWN = 1 << 16  # points whose keys are kept in mind
_CODE = {".css", ".cu", ".cuh", ".h", ".html", ".js", ".py"}


@dataclass(frozen=True)
class Point:
    """A network, a routing and the like, by their canonical spellings, and what is asked of them: a row, of a simulation several.

    fault_nodes        of its static record: node faults at a time for its fault diameter
    routing, traffic   its loads
    packets            of loads: sampled with so many packets at most; None: exact
    seed               of the sample
    relative_error     of the sample: it ends once the largest load's standard error is that share of it
    bounds             of loads: what the best routing could carry, and the worst permutation, too
    routing, vc_rule, virtual_channels   whether it can deadlock
    placement          its layout
    simulation, traffic   its simulation (torusweep.stages.simulation.Request.spelled): a row for each load
    """

    topology: str
    fault_nodes: int | None = None
    routing: str | None = None
    traffic: str | None = None
    packets: int | None = None
    seed: int | None = None
    relative_error: float | None = None
    bounds: bool = False
    vc_rule: str | None = None
    virtual_channels: int | None = None
    placement: str | None = None
    simulation: str | None = None

    @property
    def stage(self) -> str:
        """The table that it is a row of."""
        if self.simulation is not None:
            return "simulation"
        if self.placement is not None:
            return "layout"
        return "deadlock" if self.vc_rule is not None else "static" if self.traffic is None else "loads"

    def __str__(self) -> str:
        if self.simulation is not None:
            return f"{self.topology} simulated, {self.simulation}"
        if self.placement is not None:
            return f"{self.topology}, {self.placement}"
        if self.vc_rule is not None:
            return f"{self.topology} under {self.routing}, {self.vc_rule} with {self.virtual_channels} virtual channels"
        return self.topology if self.traffic is None else f"{self.topology} under {self.routing}, {self.traffic}"

    @property
    def key(self) -> str:
        """sha256 of the spellings, the options, the contents of every file that they name, and the code that computes it.

        The files are read anew each time: they may have changed. Backend, symmetry and workers are no part
        of it, because a row does not depend on them. Raises BadInput for a file that cannot be read.
        """
        return _key(self, tuple(_digest_of(file) for file in _files_of(self)), stage_digest(self.stage))


@lru_cache(_KNOWN)
def _key(point: Point, files: tuple[str, ...], code: str) -> str:
    digest = _digest_begun(code).copy()
    digest.update(json.dumps([vars(point), files]).encode())
    return digest.hexdigest()


@cache
def _digest_begun(code: str) -> hashlib._Hash:
    """With what the keys of a stage's points have in common: its code, and versions of the libraries whose choices a row may show."""
    libraries = {
        name: version(name) for name in ("igraph", "numpy", "pymetis", "scipy")
    }  # the partitioner's cut, an eigenvalue's last digits
    return hashlib.sha256(json.dumps([code, libraries]).encode())


@lru_cache(_KNOWN)
def _files_of(point: Point) -> tuple[Path, ...]:
    """Every file that a point's spellings name. What it has none of is not imported: traffic takes SciPy."""
    files = files_of(point.topology)
    if point.traffic is not None:
        from torusweep.traffic import files_of as traffic_files

        files += traffic_files(point.traffic)
    workload = None if point.simulation is None else json.loads(point.simulation).get("workload")
    if workload is not None:
        from torusweep.workloads import files_of as workload_files

        files += workload_files(workload)
    return tuple(files)


def _digest_of(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(
            f"{file}: expected a file, got: {error.strerror}; check the path, which is relative to the working directory"
        ) from None


@cache
def stage_digest(stage: str) -> str:
    """sha256 of the sources that a stage's rows depend on, by their names inside the packages: the same wherever they are installed."""
    digest = hashlib.sha256()
    for name, file in sorted(sources(stage).items()):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def sources(stage: str) -> dict[str, Path]:
    """The source files of a stage, by name as in kernels/torusweep_kernels/backend.py."""
    found: dict[str, Path] = {}
    for entry in SOURCES[stage]:
        root = _ROOTS[entry.partition("/")[0]]
        start = root / entry
        files = start.rglob("*") if start.is_dir() else [start]
        found |= {file.relative_to(root).as_posix(): file for file in files if file.suffix in _CODE and file.is_file()}
    return found
