"""What the Snakefile knows of the sweep that it is run for: read from the configuration, once."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.errors import BadInput, nearest, printable
from torusweep.networks.families import files_of
from torusweep.papers.verification import FOLDER as EXPECTED
from torusweep.run.steps import STEPS
from torusweep.sweeps.configuration import Sweep, load
from torusweep.sweeps.configuration.schema import Family, Labelled
from torusweep.sweeps.points import program_digest, stage_digest
from torusweep.sweeps.requested_points import requested_derived, requested_files, requested_stages

SNAKEFILE = Path(__file__).parent / "Snakefile"
OVERRIDES = ("backend", "symmetry", "workers")  # how results are computed: none of these changes a result
DEFAULT = "config/default.yaml"


class StepFailed(Exception):
    """A short step has failed, and has said why."""


class RequestedSweep(NamedTuple):
    """A sweep, as the rules need it.

    config    path of the configuration
    folder    the sweep's results
    stages    the stages that it asks for; each makes the table of its name
    derived   the tables that are made of the stages', verification last
    inputs    files that say what is computed: the configuration, graphs, demands, the papers' numbers
    options   overrides, as `torusweep step` takes them
    code      by stage, the digest of the code that computes its rows; of "tables", of the code that makes all else
    path      PATH of the steps: this very torusweep comes first
    captions  folder of the captions of Snakemake's report
    """

    config: str
    folder: Path
    stages: list[str]
    derived: list[str]
    inputs: list[str]
    options: str
    code: dict[str, str]
    path: str
    captions: Path = Path(__file__).parent / "captions"

    def tables(self, names: list[str]) -> list[Path]:
        """Files of tables."""
        return [self.folder / f"{name}.parquet" for name in names]

    def make(self, step: str) -> None:
        """Run a short step in this process, which has imported what it needs. Raises StepFailed after it said why."""
        try:
            status = STEPS[step](Path(self.config), self.folder, {})
        except BadInput as refusal:
            print(f"torusweep: {printable(' '.join(str(refusal).split()))}", flush=True)
        except Exception:
            traceback.print_exc(file=sys.stdout)
        else:
            if status == 0:
                return
        raise StepFailed


def requested_sweep(workflow: Any) -> RequestedSweep:
    """The sweep of Snakemake's command line: --configfile (or config/default.yaml), --config results=, backend=, …"""
    try:
        files = [os.path.relpath(path) for path in workflow.config_settings.configfiles] or [DEFAULT]
        if len(files) > 1:
            raise BadInput(f"expected one --configfile, got {len(files)}: {', '.join(files)}; a sweep is one file")
        given = dict(workflow.config_settings.config or {})
        for name in given:
            if name not in (*OVERRIDES, "results"):
                raise BadInput(
                    f"--config: unknown key '{name}'{nearest(name, OVERRIDES)}; expected results,"
                    f" {', '.join(OVERRIDES)}: the rest stands in {files[0]}"
                )
        return of_configuration(load(Path(files[0])), files[0], str(given.pop("results", "results")), given)
    except BadInput as refusal:
        from snakemake.exceptions import WorkflowError

        raise WorkflowError(str(refusal)) from None


def of_configuration(sweep: Sweep, config: str, results: str, overrides: dict[str, Any]) -> RequestedSweep:
    """The rules' view of a configuration that was read."""
    stages = requested_stages(sweep)
    return RequestedSweep(
        config=config,
        folder=Path(results) / sweep.sweep,
        stages=stages,
        derived=requested_derived(sweep),
        inputs=[config, *input_files(sweep)],
        options=" ".join(f"--{name} {shlex.quote(_word(value))}" for name, value in overrides.items()),
        code={**{name: stage_digest(name) for name in stages}, "tables": program_digest()},
        path=f"{shlex.quote(str(Path(sys.executable).parent))}:$PATH",
    )


def input_files(sweep: Sweep) -> list[str]:
    """Files, besides the configuration, that results depend on: graphs and demands it names, its papers' numbers."""
    files: list[str] = []
    for entry in sweep.topologies:
        if isinstance(entry, str):
            files += map(str, files_of(entry))
        elif isinstance(entry, Labelled):
            files += [str(file) for spelling in entry.topology for file in files_of(spelling)]
        elif isinstance(entry, Family) and entry.family == "graph":
            paths = (entry.model_extra or {}).get("path", [])
            files += [paths] if isinstance(paths, str) else paths
    files += map(str, requested_files(sweep))
    return [*dict.fromkeys(files), *(str(EXPECTED / f"{paper.lower()}.csv") for paper in sweep.papers)]


def _word(value: Any) -> str:
    """A value of --config as it was typed: Snakemake reads on and off as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
