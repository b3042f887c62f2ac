"""Snakemake around the steps: what the Snakefile needs to know, and `torusweep run`."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torusweep.counts import counted
from torusweep.errors import BadInput, nearest
from torusweep.run.asked import CONFIG, OVERRIDES, About
from torusweep.run.snakemake import Snakemake, say
from torusweep.run.steps_process import StepsProcess
from torusweep.sweep.configuration import Sweep, load
from torusweep.sweep.configuration.schema import Family
from torusweep.sweep.configuration.yaml import shown
from torusweep.tables import lock, store

ROOT = Path(__file__).resolve().parents[3]
SNAKEFILE = Path(__file__).with_name("Snakefile")
QUIET = ["--quiet", "progress", "rules", "host", "reason"]
# Snakemake ends no sooner than that span after its last rule began to run, by default a second; and else asks a solver of linear programs what to run
PROMPT = ["--max-jobs-per-timespan", "100/0s", "--scheduler", "greedy"]
PLACED = (
    "--profile",
    "--executor",
    "-e",
    "--cores",
    "-c",
    "--jobs",
    "-j",
)  # options that say how much may run, and where
OURS = "--config"  # what it, short -C, and --configfile say to Snakemake, we say to it
PLACEHOLDERS = "{}<>"
# what Snakemake's --config, which strips quotes and reads the rest as YAML, takes for something else
ALTERED = re.compile(r"""[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|:\s|\s\#|[:'"\s]$""")
DRY = {"-n", "--dry-run", "--dryrun"}
CLOCK_SECONDS = 1.0  # by which clocks of a file system and of this machine may differ
RUN_LOCK = ".run.lock"  # held by `torusweep run` from beginning to end


def about(sweep: Sweep) -> About:
    """What Snakemake needs to know of a configuration."""
    from torusweep.papers.verification import expected_deadlock, expected_loads
    from torusweep.sweep.points import stage_digest
    from torusweep.sweep.requested import latency_asked, layout_asked

    later = {
        "loads": sweep.loads or expected_loads(sweep.papers),
        "deadlock": sweep.deadlock or expected_deadlock(sweep.papers),
        "layout": layout_asked(sweep),
        "simulation": sweep.simulation,
        "latency": latency_asked(sweep),
    }
    return About(
        sha256=sweep.digest,
        sweep=sweep.sweep,
        inputs=inputs(sweep),
        later=[stage for stage, wanted in later.items() if wanted],
        code={stage: stage_digest(stage) for stage in store.STAGES},
        program=stage_digest("tables"),
    )


def inputs(sweep: Sweep) -> list[str]:
    """The files, besides the configuration, that a sweep's results depend on: graphs and demands that it names, its papers' numbers."""
    from torusweep.networks.families import files_of
    from torusweep.papers.verification import FOLDER

    graphs: list[str] = []
    for entry in sweep.topologies:
        if isinstance(entry, str):
            graphs += map(str, files_of(entry))
        elif isinstance(entry, Family) and entry.family == "graph":
            paths = (entry.model_extra or {}).get("path", [])
            graphs += [paths] if isinstance(paths, str) else paths
    patterns = [
        pattern for entries in (sweep.loads, sweep.simulation) for entry in entries for pattern in entry.traffic
    ]
    demands: list[str] = []
    if patterns:
        from torusweep.traffic import files_of as traffic_files

        demands = [str(file) for pattern in patterns for file in traffic_files(pattern)]
    return [*dict.fromkeys([*graphs, *demands]), *(str(FOLDER / f"{paper.lower()}.csv") for paper in sweep.papers)]


def run_snakemake(
    snakemake: Snakemake,
    steps: StepsProcess,
    config: Path,
    results: Path,
    *,
    overrides: Mapping[str, Any],
    options: Sequence[str],
) -> tuple[int, Path]:
    """Run the whole pipeline on a configuration: the function behind `torusweep run`.

    snakemake  loading, while the points are counted
    steps      the process for its steps, importing
    results    folder that holds the sweeps' folders
    overrides  backend, symmetry ("on" or "off"), workers, where they differ from the configuration
    options    options for Snakemake; without any, it says only what went wrong, and the steps speak
    returns    exit status: 0; 1 where a step failed (Snakemake and the step said why); 130, 143 after Ctrl-C, SIGTERM; the sweep's folder
    Raises BadInput, before anything is computed, for a wrong configuration, a folder that is in use or cannot be written; at the
    end, for a table that somebody altered.
    """
    from torusweep.sweep.points_table import points_table, weighed_points

    _check_options(options)
    sweep = load(config)
    known = about(sweep)
    folder = results / sweep.sweep
    without_workers = sweep.cluster_under(overrides).workers == 0  # linear algebra has all cores then
    if not without_workers and not is_dry(options) and (options or not _as_before(known, folder)):
        steps.prepare()
    _check_names([str(config), str(results), *known.inputs])
    if ALTERED.search(str(results)):
        raise BadInput(
            f"{shown(str(results))}: expected a folder without control characters, ': ' or ' #', and none of : ' \" or a blank at its end"
        )
    where = os.path.abspath(config)  # as --configfile is understood, wherever --directory may lead
    read, given = (
        (["--configfile", where], {}) if ALTERED.search(where) else ([], {CONFIG: where})
    )  # Snakemake need not read it itself
    given |= {"results": os.path.join(os.curdir, results), **overrides}
    cores = [] if any(option.startswith(PLACED) for option in options) else ["--cores", "all"]
    arguments = [
        "--snakefile",
        str(SNAKEFILE),
        *read,
        "--config",
        *(f"{name}={value}" for name, value in given.items()),
    ]
    arguments += [*cores, "--keep-going", "--rerun-incomplete", *PROMPT, *_again(folder), *(options or QUIET)]
    weighed = weighed_points(sweep, folder)
    points = points_table(weighed)
    with lock.held(folder / RUN_LOCK):
        if lock.holder(folder / store.LOCK) is not None:
            raise BadInput(
                f"{folder} is in use by {lock.described(folder / store.LOCK)}; wait until it ends, or stop it, and run again"
            )
        say(f"{sweep.sweep}: {counted(points.num_rows, 'point')} → {folder}")
        snakemake.unlock(arguments)
        _not_from_the_future([config, *map(Path, known.inputs), *folder.glob("[!.]*.*")])
        with store.drafted_points(folder, points) as draft:
            known = known._replace(draft=draft)
            status = snakemake.run(
                arguments, steps.announce(), known, folder / store.LOCK, lambda: steps.start(snakemake.group)
            )
        if status == 0 and not is_dry(options) and is_complete(folder):
            store.check_tables(folder)  # one that nothing had to read again, too
        return status, folder


def is_dry(options: Sequence[str]) -> bool:
    """Whether these options make Snakemake say what it would do, and do nothing."""
    return not DRY.isdisjoint(options)


def is_complete(folder: Path) -> bool:
    """Whether a sweep was made to its end. Options such as --until make less of it."""
    return (folder / "checked.txt").exists()


def outcome(folder: Path) -> dict[str, Any]:
    """What a finished run wrote, as `torusweep run --json` says it: tables with their rows, the page, the papers' verdicts."""
    from torusweep.papers.verification import summary as verdicts

    tables = {name: entry["rows"] for name, entry in sorted(store.read_manifest(folder)["tables"].items())}
    rows = store.open_table(folder / "verification.parquet").to_pylist()
    return {"results": str(folder), "rows": tables, "report": str(folder / "report.html"), "verdicts": verdicts(rows)}


def _check_names(paths: Iterable[str]) -> None:
    """Refuse in one line paths that Snakemake would take for patterns."""
    for path in paths:
        if set(path) & set(PLACEHOLDERS):
            raise BadInput(
                f"{shown(path)}: expected a path without any of {' '.join(PLACEHOLDERS)}, which Snakemake fills in; rename it"
            )


def _check_options(options: Sequence[str]) -> None:
    """Refuse in one line an option that neither this command nor Snakemake has, for which Snakemake would print its whole usage; and ours of its."""
    if not options:
        return
    from snakemake.cli import get_argument_parser

    actions = get_argument_parser()._actions  # argparse has no public list
    known = [name for action in actions for name in action.option_strings]
    bundled = re.compile(
        f"-[{''.join(name[1] for action in actions if action.nargs == 0 for name in action.option_strings if len(name) == 2)}]*C"
    )
    ours = [f"--{name}" for name in (*OVERRIDES, "results", "json")]
    for option in options:
        name = option.partition("=")[0]
        if name.startswith(OURS) or bundled.match(name):
            raise BadInput(
                f"{option}: expected the configuration as the first argument, and --results, --backend, --symmetry or --workers after it"
            )
        if name.startswith("--") and name != "--" and not any(full.startswith(name) for full in known):
            raise BadInput(
                f"unknown option {name}{nearest(name, [*ours, *known])}; 'torusweep run --help' lists ours, 'snakemake --help' the others"
            )


def summary(folder: Path) -> str:
    """What a finished run wrote, the papers' verdicts, and what to type next."""
    tables = store.read_manifest(folder)["tables"]
    lines = [f"{folder / name}.parquet   {counted(entry['rows'], 'row')}" for name, entry in sorted(tables.items())]
    return "\n".join(
        [
            *lines,
            f"{folder / 'report.html'}",
            f"papers' numbers: {(folder / 'checked.txt').read_text().strip()}",
            f'next: torusweep query "SELECT topology, diameter, cost FROM static ORDER BY cost LIMIT 5" --results {shlex.quote(str(folder))}',
        ]
    )


def _as_before(known: About, folder: Path) -> bool:
    """Whether the results there seem to be this configuration's, by this code, so that there is little or nothing to do."""
    try:
        manifest = store.read_manifest(folder)
    except BadInput:
        return False
    stages = {"static", *known.later} & known.code.keys()
    same = manifest.get("config", {}).get("sha256") == known.sha256 and manifest.get("stage") == {
        stage: known.code[stage] for stage in stages
    }
    return same and not manifest.get("failed")


def _again(folder: Path) -> list[str]:
    """Points that failed the last time are tried again."""
    try:
        failed = store.read_manifest(folder).get("failed", [])
    except BadInput:
        return []
    stages = sorted({entry.get("stage", "static") for entry in failed})
    return ["--forcerun", *stages] if stages else []


def _not_from_the_future(files: Iterable[Path]) -> None:
    """Snakemake refuses what it makes from files that are newer than now, as they are where a clock was set back: they are made of now."""
    now = time.time()
    for file in files:
        try:
            if file.stat().st_mtime > now + CLOCK_SECONDS:
                os.utime(file, (now, now))
                say(f"{file} was from the future: its time is now's")
        except OSError as error:
            raise BadInput(
                f"{file} is from the future, and its time cannot be set: {error.strerror}; 'touch' it, or set the clock"
            ) from None
