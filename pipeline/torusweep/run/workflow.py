"""What the Snakefile knows of a sweep, and the short steps that its rules call; the long one is run/compute_table.py.

Every step takes the configuration's path, the sweep's folder and overrides, and returns an exit status.
"""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from torusweep.all_columns import TABLES, schema_of
from torusweep.errors import BadInput, nearest, printable
from torusweep.networks.families import files_of
from torusweep.papers.verification import COMPARED, summary, verification_rows
from torusweep.papers.verification import FOLDER as EXPECTED
from torusweep.quantities import counted
from torusweep.sweeps.configuration import Sweep, load
from torusweep.sweeps.configuration.schema import Family, Labelled
from torusweep.sweeps.points import program_digest, stage_digest
from torusweep.sweeps.requested_points import (
    DERIVED,
    points_table,
    requested_derived,
    requested_files,
    requested_stages,
    weighed_points,
)
from torusweep.tables import store
from torusweep.tables.provenance import software

# backend, symmetry ("on" or "off") and workers, where the command line says otherwise than the configuration
Overrides = dict[str, Any]


def points(config: Path, folder: Path, overrides: Overrides) -> int:
    """points.parquet and manifest.json: what the configuration requests. Other tables are removed."""
    sweep = load(config)
    about = {
        "sweep": sweep.sweep,
        "description": sweep.description,
        "papers": list(sweep.papers),
        "config": {"sha256": sweep.digest, "text": sweep.text},
        "software": software(),
    }
    requested = [*requested_stages(sweep), *requested_derived(sweep)]
    tables = {name: name in requested for name in TABLES.keys() - {"points"}}
    store.publish_points(folder, points_table(weighed_points(sweep, folder)), about, tables)
    return 0


def derived(config: Path, folder: Path, overrides: Overrides) -> int:
    """All tables made of stages' tables, one after the other: verification compares the others' numbers, too."""
    for name in requested_derived(load(config)):
        STEPS[name](config, folder, overrides)
    return 0


def derived_table(name: str, config: Path, folder: Path, overrides: Overrides) -> int:
    """A table made of stages' tables."""
    sweep, listed = load(config), store.read_manifest(folder)["tables"]
    wanted = [stage for stage in DERIVED[name].stages if stage in requested_stages(sweep)]
    for stage in wanted:
        if stage not in listed:
            raise BadInput(
                f"{folder / store.MANIFEST} is damaged: expected the table {stage} in it;"
                " delete it and run the sweep again"
            )
    opened = store.open_parts if DERIVED[name].in_parts else store.open_current
    tables: dict[str, Any] = {stage: opened(folder / f"{stage}.parquet", schema_of(stage)) for stage in wanted}
    store.publish_table(folder, name, DERIVED[name].rows(sweep, tables))
    return 0


def verification(config: Path, folder: Path, overrides: Overrides) -> int:
    """verification.parquet: the papers' numbers against ours. An unexplained row ends the run in the step `check`."""
    names = store.read_manifest(folder)["tables"].keys() & COMPARED
    tables = {name: store.open_current(folder / f"{name}.parquet", schema_of(name)) for name in names}
    rows = verification_rows(tables, load(config).papers)
    store.publish_table(folder, "verification", pa.Table.from_pylist(rows, schema=schema_of("verification")))
    return 0


def report(config: Path, folder: Path, overrides: Overrides) -> int:
    """report.html, and figures/*.svg: the papers' figures that the sweep has numbers for."""
    # only this step draws, and the drawing library takes long to import
    from torusweep.answers.page import write_report
    from torusweep.papers.figures import write_figures

    write_figures(write_report(folder, folder / "report.html"), folder / "figures")
    return 0


def check(config: Path, folder: Path, overrides: Overrides) -> int:
    """checked.txt: nothing failed, nothing is unexplained. Otherwise status 1 and a line for each; tables stay."""
    rows = store.open_current(folder / "verification.parquet", schema_of("verification")).to_pylist()
    failed = store.read_manifest(folder).get("failed", [])
    unexplained = [row for row in rows if row["verdict"] == "unexplained"]
    for failure in failed:
        _say(f"{failure['point']} failed: {failure['reason']}")
    for row in unexplained:
        _say(
            f"{row['paper']} {row['place']}, {row['row']}: {row['quantity']} of {row['topology']} is unexplained:"
            f" {row['reason']}"
        )
    if failed or unexplained:
        numbers = f"{counted(len(unexplained), 'number')} {'is' if len(unexplained) == 1 else 'are'} unexplained"
        _say(f"{counted(len(failed), 'point')} failed, {numbers}; the tables in {folder} are complete but for these")
        return 1
    counts = [f"{count} {verdict}" for verdict, count in summary(rows).items() if count]
    store.publish(folder / "checked.txt", ((", ".join(counts) or "none were requested") + "\n").encode())
    return 0


STEPS: dict[str, Callable[[Path, Path, Overrides], int]] = {
    "points": points,
    "derived": derived,
    **{name: partial(derived_table, name) for name in DERIVED},
    "verification": verification,
    "report": report,
    "check": check,
}


def _say(line: str) -> None:
    print(line, flush=True)


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
