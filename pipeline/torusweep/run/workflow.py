"""Provide what the Snakefile needs of a sweep: its folder, files, stages, digests of code, and job options."""

from __future__ import annotations

import logging
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from torusweep.errors import FOLDER, BadInput, nearest, printable
from torusweep.run.compute_table import merge, outcome_of
from torusweep.run.parts import PartJob, StagePart, division, gpu_options, jobs, read_parts
from torusweep.run.place import RECORDS, record_of
from torusweep.run.progress import logged, tell
from torusweep.run.steps import STEPS
from torusweep.sweeps.configuration import Sweep, load, of_mapping
from torusweep.sweeps.points import estimates, listed, stage_digest
from torusweep.sweeps.requested_points import (
    empty_stages,
    input_files,
    requested_derived,
    requested_points,
    requested_stages,
)
from torusweep.tables import current, store
from torusweep.tables.files import FILE_ROWS
from torusweep.tables.keys import program_digest

# backend, symmetry ("on" or "off") and workers, where the command line says otherwise than the configuration
Overrides = dict[str, Any]


SNAKEFILE = Path(__file__).parent / "Snakefile"
OVERRIDES = ("backend", "symmetry", "workers", "parts")  # how results are computed: none of these changes a result
DEFAULT = "config/default.yaml"


class StepFailed(Exception):
    """A short step has failed, and has already printed the reason."""


@dataclass(frozen=True)
class RequestedSweep:
    """A sweep, with what Snakemake's rules need.

    sweep     the configuration, read once
    config    path of the configuration's copy in the folder; steps read it, so that edits during a run change nothing
    folder    folder of the sweep's results
    declared  the folder as the rules name it; Snakemake adds a module's prefix to this name
    stages    requested stages that have points; each makes the table of its name
    derived   tables of other stages, and those derived from the stages' tables, verification last
    files     input files besides the configuration: graphs, demands, the papers' numbers
    options   the overrides, as options of `torusweep step`
    code      stage → digest of the code that computes its rows; "tables" → digest of all other tables' code
    path      PATH for the steps, with the folder of this torusweep first
    overrides settings of --config that override the configuration
    clustered whether Snakemake's jobs run on a cluster
    spawned   whether another Snakemake started this Snakemake for one of its jobs
    in_parts  whether stages are computed in parts, each a job, and merged: on a cluster, or if the user requests it
    is_module whether another workflow uses the rules as a module: then a rule writes its `config` as the configuration
    captions  folder of the captions of Snakemake's report
    """

    sweep: Sweep
    config: str
    folder: Path
    declared: Path
    stages: list[str]
    derived: list[str]
    files: list[str]
    options: str
    code: dict[str, str]
    path: str
    overrides: dict[str, Any]
    clustered: bool
    spawned: bool
    in_parts: bool
    is_module: bool = False
    captions: Path = Path(__file__).parent / "captions"

    @property
    def digests(self) -> list[str]:
        """The digests of the configuration and its files. (Snakemake takes its own checksums only after a step.)

        The files of a module may not exist yet, so they are left out; Snakemake compares their times.
        """
        files = [] if self.is_module else filter(os.path.isfile, self.files)
        return [self.sweep.digest, *current.digests_of(files).values()]

    def tables(self, names: list[str]) -> list[Path]:
        """Return the files of the named tables, as the rules name them."""
        return [self.declared / f"{name}.parquet" for name in names]

    @property
    def in_folders(self) -> bool:
        """Whether stages' tables are folders of files, as the sweep may have very many networks."""
        return self.sweep.limits.points > FILE_ROWS

    @cached_property
    def jobs(self) -> dict[str, dict[StagePart, PartJob]]:
        """A map from each stage to its parts, with the resources that each part requests from a cluster.

        The parts follow from the plan, which is made on first use. A job needs only the number and cores of the parts,
        for which it reads three columns of points.parquet. Raises BadInput or Refused if the plan refuses the sweep.
        """
        cluster = self.sweep.cluster_under(self.overrides)
        if self.spawned:
            divided = {
                stage: division(there.seconds, there.counts, cluster)
                for stage, there in listed(self.folder, self.stages).items()
            }
            return {stage: {name: PartJob({}, cores) for name in parts} for stage, (cores, parts) in divided.items()}
        by_stage: dict[str, dict[Any, float]] = {stage: {} for stage in self.stages}
        for point, seconds in estimates(requested_points(self.sweep)).items():
            by_stage[point.stage][point] = seconds
        return {stage: jobs(mine, cluster) for stage, mine in by_stage.items()}

    def outcomes(self, wildcards: Any, checkpoints: Any) -> list[Path]:
        """Return the files that the parts of a stage write. The number of parts is known once the input files exist."""
        if self.is_module and not all(Path(file).exists() for file in self.files):
            checkpoints.configuration.get()  # after the rules that make them
        return [outcome_of(self.declared, wildcards.stage, part) for part in self.jobs[wildcards.stage]]

    def job(self, wildcards: Any) -> PartJob:
        """Return the resources that a part of a stage requests from a cluster."""
        return self.jobs[wildcards.stage][StagePart.read(wildcards.part)]

    @property
    def threads(self) -> Any:
        """The threads of the rule `stage`: all cores on one machine, and on a cluster what each part's points need."""
        return (lambda wildcards: self.job(wildcards).cores) if self.clustered else os.cpu_count()

    def step(self, wildcards: Any, threads: int) -> str:
        """Return the command of a job of the rule `stage`, without its log and without `paths`.

        The command says only how to compute, because Snakemake ignores changes of params that are functions of threads.
        """
        words = [f"export PATH={self.path}; torusweep step {wildcards.stage}"]
        if self.in_parts:
            words.append(f"--part {StagePart.read(wildcards.part)}")
        if self.clustered or self.is_module:  # another workflow says how much of a machine its jobs take
            words.append(f"--cores {threads}")
        return " ".join([*words, self.options]).rstrip()

    def paths(self, wildcards: Any, threads: int) -> list[str]:
        """Return the paths of the configuration and of the folder, which are put after the command of `step`."""
        return [self.config, str(self.folder)]

    @property
    def resources(self) -> dict[str, Any]:
        """The resources of the rule `stage`: the whole machine, or on a cluster what each part's points need."""
        if not self.clustered:
            return {"machine": 1}  # with --resources machine=1, which `torusweep run` gives, one at a time
        cluster, backend = self.sweep.cluster, self.overrides.get("backend", self.sweep.backend)
        options = {} if cluster.scheduler or cluster.slurm else gpu_options(cluster, backend)
        # as Snakemake's Slurm executor names them, which makes options of sbatch and srun of them
        gpu = {"gpu" if name == "gpus" else name: value for name, value in options.items()}
        if self.spawned:  # and has its memory and time
            return gpu
        return {
            **gpu,
            "mem_mb": lambda wildcards, attempt: attempt * self.job(wildcards).mem_mb,
            "runtime": lambda wildcards, attempt: attempt * self.job(wildcards).minutes,
        }

    def write(self, log: Any) -> None:
        """Write a module's configuration to its file. Raises StepFailed, after printing the reason."""

        def publish() -> int:
            current.publish_configuration(self.folder, self.sweep.text.encode())
            return 0

        self._run("configuration", publish, log)

    def merge(self, stage: str, log: Any) -> None:
        """Merge a stage's parts into its table, in this process. Raises StepFailed, after printing the reason."""
        asked = self.sweep.digest, self.sweep.limits.points
        self._run(f"merge {stage}", lambda: merge(stage, self.folder, list(self.jobs[stage]), *asked), log)

    def make(self, step: str, log: Any = None) -> None:
        """Run a short step in this process, whose imports are done. Raises StepFailed after printing the reason.

        log  Snakemake's log of the rule, to which the step appends its lines; None for no log
        """
        self._run(step, lambda: STEPS[step](self.sweep, self.folder), log)

    def _run(self, step: str, run: Callable[[], int], log: Any) -> None:
        try:
            with logged(Path(str(log)) if log else None, step):
                status = run()
        except BadInput as refusal:
            print(f"torusweep: {printable(' '.join(str(refusal).split()))}", flush=True)
        except Exception:
            traceback.print_exc(file=sys.stdout)
        else:
            if status == 0:
                return
        raise StepFailed


def requested_sweep(workflow: Any, config: Mapping[str, Any]) -> RequestedSweep:
    """Return the sweep that Snakemake's options --configfile and --config results=, backend=, … request.

    In a module, the module's `config` is the configuration; its key `results` names the folder.
    """
    if FOLDER in os.environ:
        logging.raiseExceptions = False  # where its log's disk is full, Snakemake would say so by a traceback a line
    try:
        if not workflow.modifier.is_main_snakefile():
            return _of_module(workflow, dict(config))
        # `torusweep run` gives absolute paths, and runs Snakemake in a folder of its own
        called = os.path.abspath if FOLDER in os.environ else os.path.relpath
        files = [called(path) for path in workflow.config_settings.configfiles] or [DEFAULT]
        if len(files) > 1:
            raise BadInput(f"expected one --configfile, got {len(files)}: {', '.join(files)}; a sweep is one file")
        given = dict(workflow.config_settings.config or {})
        for name in given:
            if name not in (*OVERRIDES, "results"):
                raise BadInput(
                    f"--config: unknown key '{name}'{nearest(name, OVERRIDES)}; expected results,"
                    f" {', '.join(OVERRIDES)}: the rest stands in {files[0]}"
                )
        if "parts" in given:
            given["parts"] = read_parts(str(given["parts"]), "--config: parts: ")
        sweep = load(Path(files[0]))
        requested = of_configuration(sweep, str(given.pop("results", "results")), given, where_jobs_run(workflow))
        folder = requested.folder
        record = record_of(Path(RECORDS), str(folder / "points.parquet"))
        known = requested.spawned or FOLDER in os.environ or record is not None
        if not known and not current.holds(folder, sweep.digest):
            tell(f"{folder} has tables of another configuration, of which Snakemake knows nothing: --forcerun points")
        return requested
    except BadInput as refusal:
        from snakemake.exceptions import WorkflowError

        raise WorkflowError(str(refusal)) from None


def _of_module(workflow: Any, given: dict[str, Any]) -> RequestedSweep:
    """Return the sweep that a module's `config` describes. Raises BadInput if it describes none."""
    results = Path(str(given.pop("results", "results")))
    given.pop("pathvars", None)  # Snakemake's own
    if not given:
        raise BadInput("module: expected config: with the keys of a sweep's configuration (docs/config.md), got none")
    sweep = of_mapping(given)
    declared = results / sweep.sweep
    file = Path(workflow.modifier.modify_path(str(declared / current.CONFIGURATION)))
    requested = of_configuration(sweep, str(results), {}, where_jobs_run(workflow))
    missing = [one for one in requested.files if not Path(one).exists()]
    if missing and (file.parent / store.MANIFEST).exists() and not requested.spawned:
        _tell_once(f"{missing[0]}: no such file yet; unless a rule makes it, Snakemake leaves {file.parent} as it is")
    return replace(requested, config=str(file), folder=file.parent, is_module=True)


_tell_once = cache(tell)  # Snakemake reads a module again for each `use rule … with`


def where_jobs_run(workflow: Any) -> tuple[bool, bool]:
    """Return whether jobs run on a cluster, and whether another Snakemake started this one for one of its jobs.

    The executor is not known yet, but Snakemake sets `nodes` only if --jobs does not mean --cores, and then jobs go to
    a cluster.
    """
    clustered = workflow.resource_settings.nodes is not None or workflow.remote_exec
    return clustered, workflow.remote_exec or workflow.subprocess_exec


def of_configuration(
    sweep: Sweep, results: str, overrides: dict[str, Any], where: tuple[bool, bool] = (False, False)
) -> RequestedSweep:
    """Return what the rules need of a configuration that was read; `where` is the answer of `where_jobs_run`."""
    empty = empty_stages(sweep)
    stages = [name for name in requested_stages(sweep) if name not in empty]
    words = {name: value for name, value in overrides.items() if name != "parts"}
    return RequestedSweep(
        sweep=sweep,
        config=str(Path(results) / sweep.sweep / current.CONFIGURATION),
        folder=Path(results) / sweep.sweep,
        declared=Path(results) / sweep.sweep,
        stages=stages,
        derived=[*empty, *requested_derived(sweep)],
        files=input_files(sweep),
        options=" ".join(f"--{name} {shlex.quote(_word(value))}" for name, value in words.items()),
        code={**{name: stage_digest(name) for name in stages}, "tables": program_digest()},
        path=f"{shlex.quote(str(Path(sys.executable).parent))}:$PATH",
        overrides=overrides,
        clustered=where[0],
        spawned=where[1],
        # a Snakemake for one job is told its rule; without a cluster, that is a short step
        in_parts=any(where) or sweep.cluster_under(overrides).parts not in ("auto", 1),
    )


def _word(value: Any) -> str:
    """Return a value of --config as the user typed it, because Snakemake reads on and off as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
