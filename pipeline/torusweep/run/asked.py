"""What the Snakefile asks at its top: what a run is about.

It imports what reads configurations only where `torusweep run` has not read this one already and told us (torusweep.run.snakemake_start).
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.errors import BadInput, nearest

OVERRIDES = ("backend", "symmetry", "workers")  # how, never what: they change no result
CONFIG = "config"  # as --configfile, but that Snakemake does not read the file itself: of ten thousand networks for half a second
DEFAULT = "config/default.yaml"


class About(NamedTuple):
    """What follows from a configuration alone.

    sha256   the configuration's digest
    sweep    its name
    inputs   every other file that says what is computed or compared: graphs, demands, the papers' numbers
    later    the tables after static that it asks for: loads, deadlock, layout, simulation, latency
    code     by stage, the digest of the code that computes a point, so that another code computes again
    program  digest of all that makes tables and pages from it
    draft    the table of points that `torusweep run` has written into the sweep's folder, by its name there; '' for none
    """

    sha256: str
    sweep: str
    inputs: list[str]
    later: list[str]
    code: dict[str, str]
    program: str
    draft: str = ""


class Asked(NamedTuple):
    """What a Snakemake run is about.

    config   the configuration's path
    folder   the sweep's results
    inputs   the configuration, and the files of `About`
    options  overrides, as `torusweep step static` takes them
    points   the command that makes points.parquet: the draft's new name, or where there is none (any more), or an older one, the step
    path     quoted PATH on which this very torusweep comes first
    """

    config: str
    folder: Path
    inputs: list[str]
    options: str
    later: list[str]
    code: dict[str, str]
    program: str
    points: str
    path: str


told: list[About] = []  # by `torusweep run`, of its configuration


def asked(workflow: Any) -> Asked:
    """Read off Snakemake's command line: --configfile or --config config= (config/default.yaml without either), results=, backend=, …"""
    from snakemake.exceptions import WorkflowError

    atexit.register(gc.freeze)  # Snakemake ends without a last look through all that it imported, half a second
    try:
        given = dict(workflow.config_settings.config or {})
        named = [_word(given.pop(CONFIG) or "")] if CONFIG in given else []
        if "" in named:
            raise BadInput(f"--config {CONFIG}=: expected a configuration file, got nothing")
        files = [os.path.relpath(path) for path in named or workflow.config_settings.configfiles] or [DEFAULT]
        if len(files) > 1:
            raise BadInput(f"expected one --configfile, got {len(files)}: {', '.join(files)}; a sweep is one file")
        config = files[0]
        unknown = [name for name in given if name not in (*OVERRIDES, "results")]
        if unknown:
            known = ", ".join((*OVERRIDES, CONFIG))
            raise BadInput(
                f"--config: unknown key '{unknown[0]}'{nearest(unknown[0], OVERRIDES)}; expected results, {known}: the rest stands in {config}"
            )
        of_config = _about(config)
        folder = Path(given.get("results", "results")) / of_config.sweep
        return Asked(
            config=config,
            folder=folder,
            inputs=[config, *of_config.inputs],
            options=" ".join(f"--{name} {shlex.quote(_word(given[name]))}" for name in OVERRIDES if name in given),
            later=of_config.later,
            code=of_config.code,
            program=of_config.program,
            points=_command(config, folder, of_config.draft),
            path=f"{shlex.quote(str(Path(sys.executable).parent))}:$PATH",
        )
    except BadInput as refusal:
        raise WorkflowError(str(refusal)) from None


def _about(config: str) -> About:
    """As we were told, unless the configuration is another one, or has been changed since."""
    if told:
        try:
            content = Path(config).read_bytes()
        except OSError:
            content = b""
        if hashlib.sha256(content).hexdigest() == told[0].sha256:
            return told[0]
    from torusweep.run.command import about
    from torusweep.sweep.configuration import load

    return about(load(config))


def _command(config: str, folder: Path, draft: str) -> str:
    step = f"torusweep step points {shlex.quote(config)} {shlex.quote(str(folder))}"
    if not draft:
        return step
    there, table, read = (shlex.quote(str(path)) for path in (folder / draft, folder / "points.parquet", config))
    return f"[ {there} -nt {read} ] && mv -f -- {there} {table} 2>/dev/null || {step}"  # unless the configuration was edited after it was read


def _word(value: Any) -> str:
    """A value of --config as it was typed: Snakemake reads on and off as booleans."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
