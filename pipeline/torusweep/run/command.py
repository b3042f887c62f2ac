"""Implement `torusweep run`: check the configuration, let Snakemake make the sweep, and report the results."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput, nearest, printable
from torusweep.papers.verification import summary as verdicts
from torusweep.quantities import counted
from torusweep.run import place as places
from torusweep.run.child import Listener, Snakemake, speak
from torusweep.run.consent import trusted
from torusweep.run.workflow import OVERRIDES, SNAKEFILE
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import Sweep, load
from torusweep.sweeps.forecast import LONG, Forecast, forecast
from torusweep.sweeps.requested_points import input_files, requested_stages, weighed_points
from torusweep.tables import current, provenance, store

QUIET = ["--quiet", "progress", "rules", "host", "reason"]
# options that say how much may run, and where
PLACED = ("--profile", "--executor", "-e", "--cores", "-c", "--jobs", "-j")
OURS = re.compile(r"--config|-[a-zA-Z]*C")  # what we say to Snakemake ourselves
PLACEHOLDERS = "{}<>"
# what Snakemake's --config, which strips quotes and reads the rest as YAML, takes for something else
ALTERED = re.compile(r"""[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|:\s|\s\#|[:'"\s]$""")
DRY = {"-n", "--dry-run", "--dryrun"}
SAYS = re.compile(r"-[nSDl]|--(dry-?run|(detailed-)?summary|(d3)?dag|(rule|file)graph|lint|list.*|print-compilation)")
CLOCK_SECONDS = 1.0  # by which clocks of a file system and of this machine may differ
RUN_LOCK = ".run.lock"  # held by `torusweep run` from beginning to end
READ = ".run.yaml"  # the configuration as a run has read it, for Snakemake: the file itself may be edited meanwhile


def run(
    config: Path,
    results: Path,
    *,
    overrides: Mapping[str, Any],
    options: Sequence[str],
    listener: Listener | None = None,
) -> tuple[int, Path]:
    """Run the whole pipeline on a configuration. Returns the exit status and the sweep's folder.

    results    folder that holds the sweeps' folders
    overrides  backend, symmetry ("on" or "off") and workers that replace the configuration's
    options    options for Snakemake. Without any, only Snakemake's errors and the steps' own lines are printed
    listener   called in this thread with each line of the run, including the steps' progress reports
               (torusweep.run.progress.how_far); None: all lines go to standard error
    returns    exit status (0; 1 if a step failed; 130 after Ctrl-C, 143 after SIGTERM) and the sweep's folder
    Raises BadInput, before anything is computed, if the configuration is wrong, or the folder is in use or cannot be
    written; at the end, if somebody altered a table.
    """
    say = listener or speak
    options = _checked_options(options)
    sweep, folder = _checked(config, results)
    if sweep.cluster.scheduler:
        trusted(sweep.cluster.scheduler)
    files = input_files(sweep)
    points = weighed_points(sweep, folder)
    with _hold(folder):
        _say_forecast(forecast(points, sweep.cluster_under(overrides)), sweep.sweep, config, folder, say)
        _set_future_times_to_now([*map(Path, files), *folder.glob("[!.]*.*")], say)
        store.publish(folder / READ, sweep.text.encode())
        command = [
            *_snakemake(folder / READ, results, overrides, options),
            *_forced(sweep, folder),
            *(options or QUIET),
        ]
        queued = bool(options or sweep.cluster.slurm or "SNAKEMAKE_PROFILE" in os.environ)
        with places.new_place(folder.absolute(), folder, queued=queued) as place:
            status = Snakemake(command, folder / store.LOCK, place, essential=not options, listener=listener).wait()
        if status == 0 and not is_dry(options) and (folder / store.CHECKED).exists():
            if not current.holds(folder, sweep.digest):
                raise BadInput(f"{folder / current.CONFIGURATION} changed while the sweep ran; run it again")
            store.check_tables(folder)  # one that nothing had to read again, too
    return status, folder


@contextlib.contextmanager
def _hold(folder: Path) -> Iterator[None]:
    """Lock a sweep's folder for a `with` block. Raises BadInput if a run, or a step that outlived its run, uses it."""
    with provenance.hold(folder / RUN_LOCK):
        if provenance.holder(folder / store.LOCK) is not None:
            raise BadInput(
                f"{folder} is in use by {provenance.describe_holder(folder / store.LOCK)};"
                " wait until it ends, or stop it, and run again"
            )
        yield


def write_configuration(sweep: Sweep, results: Path) -> Path:
    """Write a sweep that has no file yet to its folder, where the command line finds it. Returns the file's path.

    Raises BadInput if the folder cannot be written, or if a run is using it.
    """
    folder = results / sweep.sweep
    path = folder / current.CONFIGURATION
    _check_paths(sweep, path, results)
    with _hold(folder):
        current.publish_configuration(folder, sweep.text.encode())
    return path


def pending(config: Path, results: Path, overrides: Mapping[str, Any]) -> list[str]:
    """Return the names of the files that a run would make in the sweep's folder. Nothing is computed or written.

    Raises BadInput for a wrong configuration or folder, and if Snakemake refuses.
    """
    sweep, folder = _checked(config, results)
    command = [*_snakemake(config, results, overrides, ()), *_forced(sweep, folder), "--summary"]
    with tempfile.TemporaryDirectory() as place:
        places.take_records(folder.absolute(), folder, Path(place))
        done = subprocess.run(command, capture_output=True, text=True, cwd=place, env=places.environment())
    if done.returncode != 0:
        raise BadInput(f"Snakemake refuses: {' '.join(done.stderr.split())}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [Path(row[0]).name for row in rows if row[-1] == "update pending"]


def _checked(config: Path, results: Path) -> tuple[Sweep, Path]:
    """Load a configuration; return (sweep, sweep's folder). Raises BadInput for names that Snakemake would misread."""
    sweep = load(config)
    _check_paths(sweep, config, results)
    return sweep, results / sweep.sweep


def _check_paths(sweep: Sweep, config: Path, results: Path) -> None:
    """Raise BadInput for paths that Snakemake would not take literally."""
    _check_names(os.path.abspath(path) for path in (str(config), str(results), *input_files(sweep)))
    if ALTERED.search(whole := os.path.abspath(results)):
        raise BadInput(
            f"{printable(whole)}: expected a folder without control characters, ': ' or ' #', and none of : ' \""
            " or a blank at its end"
        )


def _say_forecast(expected: Forecast, sweep: str, config: Path, folder: Path, say: Listener) -> None:
    """Say how many points there are, how long they take and, above an hour, what the user can do about it."""
    say(f"{sweep}: {counted(expected.points, 'point')}, {expected.time} if none is finished → {folder}")
    if expected.seconds > LONG:
        say(f"'torusweep plan {shlex.quote(str(config))}' lists the most expensive points; Ctrl-C keeps finished ones")


def _snakemake(config: Path, results: Path, overrides: Mapping[str, Any], options: Sequence[str]) -> list[str]:
    """Return Snakemake's command line. Snakemake does not lock its folder, because the results folder has our lock."""
    given = {"results": os.path.abspath(results), **overrides}
    cores = [] if any(option.startswith(PLACED) for option in options) else ["--cores", "all"]
    return [
        *(sys.executable, "-P", "-m", "snakemake", "--snakefile", str(SNAKEFILE)),
        *("--configfile", os.path.abspath(config), "--config", *(f"{name}={value}" for name, value in given.items())),
        *("--resources", "machine=1", "--keep-going", "--rerun-incomplete", "--nolock", "--scheduler", "greedy"),
        "--force-use-threads",  # short steps run in Snakemake's process
        *cores,
    ]


def _forced(sweep: Sweep, folder: Path) -> list[str]:
    """Return Snakemake options that compute failed points again, and discard points of another configuration.

    The options name only our own stages' files. Snakemake would accept any existing points of which it has no records.
    """
    try:
        failed = {entry["stage"] for entry in store.read_manifest(folder).get("failed", [])}
    except BadInput:
        return []
    forced = [str(folder.absolute() / f"{stage}.parquet") for stage in requested_stages(sweep) if stage in failed]
    forced += [] if current.holds(folder, sweep.digest) else ["points"]
    return ["--forcerun", *forced] if forced else []


def is_dry(options: Sequence[str]) -> bool:
    """Return whether the options make Snakemake only report."""
    return any(map(SAYS.fullmatch, options))


def outcome(folder: Path) -> dict[str, Any]:
    """Return a finished run's results for `torusweep run --json`: rows of each table, report page, verdicts on papers.

    notes   attributes of networks that tables leave out
    """
    manifest = store.read_manifest(folder)
    tables = {name: entry["rows"] for name, entry in sorted(manifest["tables"].items())}
    rows = store.open_current(folder / "verification.parquet", schema_of("verification")).to_pylist()
    return {
        "results": str(folder),
        "rows": tables,
        "report": str(folder / "report.html"),
        "verdicts": verdicts(rows),
        "notes": manifest.get("notes", []),
    }


def summary(folder: Path) -> str:
    """Return a text on a finished run: its files, notes, verdicts on the papers' numbers, and a command to try next."""
    manifest = store.read_manifest(folder)
    tables = manifest["tables"]
    lines = [f"{folder / name}.parquet   {counted(entry['rows'], 'row')}" for name, entry in sorted(tables.items())]
    query = "SELECT topology, diameter, cost FROM static ORDER BY cost LIMIT 5"
    if not tables["static"]["rows"]:
        others = (name for name in STAGES if name in tables and tables[name]["rows"])
        query = f"SELECT * FROM {next(others, 'points')} LIMIT 5"
        if "best" in tables:
            query = "SELECT network, topology, mean_distance FROM best WHERE nodes = (SELECT max(nodes) FROM best)"
    return "\n".join(
        [
            *lines,
            f"{folder / 'report.html'}",
            *(f"note: {note}" for note in manifest.get("notes", [])),
            f"papers' numbers: {(folder / 'checked.txt').read_text().strip()}",
            f'next: torusweep query "{query}" --results {shlex.quote(str(folder))}',
        ]
    )


def _check_names(paths: Iterable[str]) -> None:
    """Raise BadInput for a path with characters that Snakemake would take for a pattern."""
    for path in paths:
        if set(path) & set(PLACEHOLDERS):
            raise BadInput(
                f"{printable(path)}: expected a path without any of {' '.join(PLACEHOLDERS)}, which Snakemake fills in;"
                " rename it"
            )


def _checked_options(options: Sequence[str]) -> list[str]:
    """Return the user's options for Snakemake, with absolute paths. Raises BadInput for unknown options, and for
    options that `torusweep run` itself gives to Snakemake.
    """
    if not options:
        return []
    found = places.options_of_snakemake()
    known = [name for one in found for name in one.names if name.startswith("--")]
    ours = [f"--{name}" for name in (*OVERRIDES, "results", "json")]
    for option in options:
        name = option.partition("=")[0]
        if name == "-d" or (len(name) > 4 and "--directory".startswith(name)):
            raise BadInput(f"{name}: expected none, as a run has a working folder of its own; leave it out")
        if OURS.match(option):
            raise BadInput(
                f"{option}: expected the configuration as the first argument, and --results, --backend, --symmetry or"
                " --workers after it"
            )
        if name.startswith("--") and name != "--" and not any(full.startswith(name) for full in known):
            raise BadInput(
                f"unknown option {name}{nearest(name, [*ours, *known])}; 'torusweep run --help' lists ours,"
                " 'snakemake --help' the others"
            )
    return places.with_absolute_paths(options, found)


def _set_future_times_to_now(files: Iterable[Path], say: Listener) -> None:
    """Set modification times in the future to now. Snakemake refuses such files; a clock may have been set back."""
    now = time.time()
    for file in files:
        try:
            if file.stat().st_mtime > now + CLOCK_SECONDS:
                os.utime(file, (now, now))
                say(f"{file} had a time in the future, which is now set to the present")
        except OSError as error:
            raise BadInput(
                f"{file} has a time in the future that cannot be set: {error.strerror}; 'touch' it, or set the clock"
            ) from None
