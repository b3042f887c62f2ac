"""The pipeline's steps, one for each rule of the Snakefile: files in, files out.

Every step takes the configuration's path and the sweep's folder, and returns an exit status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.sweep.points import Point, stage_digest
from torusweep.tables import lock, store
from torusweep.tables.arrow_start import without_pandas
from torusweep.tables.provenance import software
from torusweep.tables.records import arrow_schema

if TYPE_CHECKING:
    from torusweep.sweep.configuration import Sweep

without_pandas()
LATER = ("loads", "deadlock", "layout", "simulation")  # stages whose tables a sweep may do without
Overrides = dict[
    str, Any
]  # backend, symmetry ("on" or "off") and workers, where the command line says otherwise than the configuration


def points(config: Path, folder: Path, overrides: Overrides) -> int:
    """points.parquet: what the configuration asks for, expanded and weighed; unless `torusweep run` has left it there under another name."""
    from torusweep.sweep.points_table import points_table, weighed_points

    store.publish_points(folder, points_table(weighed_points(_load(config), folder)))
    return 0


def static(config: Path, folder: Path, overrides: Overrides) -> int:
    """static.parquet and manifest.json: every network's record. What follows from an earlier one, and this sweep does not ask for, goes."""
    from torusweep.sweep.requested import latency_asked

    sweep = _load(config)

    def publish(rows: pa.Table, part: dict[str, Any], stages: set[str]) -> None:
        about = {"sweep": sweep.sweep, "description": sweep.description, "papers": list(sweep.papers)}
        store.replace_manifest(
            folder, {**about, "config": {"sha256": sweep.digest, "text": sweep.text}, "software": software(), **part}
        )
        store.publish_table(folder, "static", rows)
        for later in LATER:
            if later not in stages:
                (folder / f"{later}.parquet").unlink(missing_ok=True)
        if not latency_asked(sweep):
            (folder / "latency.parquet").unlink(missing_ok=True)

    return _computed("static", sweep, config, folder, overrides, publish)


def loads(config: Path, folder: Path, overrides: Overrides) -> int:
    """loads.parquet, and its part of the manifest: every network's channel loads under the routings and traffics asked for."""
    return _later("loads", config, folder, overrides)


def deadlock(config: Path, folder: Path, overrides: Overrides) -> int:
    """deadlock.parquet, and its part of the manifest: the dependency graphs of the routings under the virtual-channel rules asked for."""
    return _later("deadlock", config, folder, overrides)


def layout(config: Path, folder: Path, overrides: Overrides) -> int:
    """layout.parquet, and its part of the manifest: the wires of the networks under the placements asked for."""
    return _later("layout", config, folder, overrides)


def simulation(config: Path, folder: Path, overrides: Overrides) -> int:
    """simulation.parquet, and its part of the manifest: the networks simulated at the loads asked for."""
    return _later("simulation", config, folder, overrides)


def _later(stage: str, config: Path, folder: Path, overrides: Overrides) -> int:
    """A stage after static, whose table and part of the manifest join what is there."""

    def publish(rows: pa.Table, part: dict[str, Any], stages: set[str]) -> None:
        store.amend_manifest(folder, stage, part)
        store.publish_table(folder, stage, rows)

    return _computed(stage, _load(config), config, folder, overrides, publish)


Publish = Callable[
    [pa.Table, dict[str, Any], set[str]], None
]  # rows of a stage's table, its part of the manifest, all stages asked for


def _computed(stage: str, sweep: Sweep, config: Path, folder: Path, overrides: Overrides, publish: Publish) -> int:
    """Every point of a stage, computed where no shard has it, and published.

    Points that fail are named and have no row; the step `check` ends the run with an error for them.
    A run that was stopped by a signal returns 128 + signal, and publishes no table.
    """
    from torusweep.run import driver
    from torusweep.run.tasks import LostScheduler

    asked, stages = _asked(folder, stage)
    keys = [point.key for point in asked]
    manner = driver.Manner(
        folder=str(folder.resolve()),
        backend=overrides.get("backend", sweep.backend),
        use_symmetry=overrides["symmetry"] == "on" if "symmetry" in overrides else sweep.symmetry,
        memory=None if sweep.limits.memory_gib is None else int(sweep.limits.memory_gib * 2**30),
        stage=stage,
        code=stage_digest(stage),
        config=sweep.digest,
    )
    with lock.held(folder / store.LOCK):
        store.clean(folder)
        before = store.read_shards(folder, stage)
        for complaint in before.complaints:
            _say(complaint)
        done = {key for shard in before.whole for key in store.keys_of(shard.rows)}
        try:
            computed = driver.compute(asked, done, manner, sweep.cluster_under(overrides))
        except LostScheduler as lost:
            raise BadInput(f"{lost}; torusweep run {config} --results {folder.parent}") from None
        if computed.stopped:
            _say("stopped; what is finished is kept, and the same command goes on from here")
            return 128 + computed.stopped
        shards = store.read_shards(folder, stage).whole
        rows = store.finished(shards, keys, stage)
        if len(set(store.keys_of(rows))) + len(computed.failed) != len(asked):
            raise BadInput(f"shards disappeared from {folder / 'shards'} while the sweep ran; run it again")
        wanted = set(keys)
        used = [shard for shard in shards if not wanted.isdisjoint(store.keys_of(shard.rows))]
        part = {
            "stage": {stage: manner.code},
            "shards": [{"sha256": shard.digest, "rows": shard.rows.num_rows, **shard.origin} for shard in used],
            "failed": [
                {"stage": stage, **asdict(failure.point), "reason": failure.reason} for failure in computed.failed
            ],
        }
        publish(rows.drop_columns(["key"]), part, stages)
    return 0


def distances(config: Path, folder: Path, overrides: Overrides) -> int:
    """distances.parquet: the static table's histograms in long form."""
    import pyarrow.compute as pc

    table = store.open_table(folder / "static.parquet")
    histogram = table.column("distance_histogram")
    lengths = pc.list_value_length(histogram).to_numpy()
    pairs = pc.list_flatten(histogram).to_numpy()
    row = np.repeat(np.arange(len(lengths)), lengths)
    distance = np.arange(len(pairs)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    total = (
        np.add.reduceat(pairs, np.cumsum(lengths) - lengths) if len(pairs) else pairs
    )  # every network has a distance 0
    columns = [table.column("topology").take(pa.array(row, pa.int64())), distance, pairs, pairs / total[row]]
    store.publish_table(folder, "distances", pa.Table.from_arrays(columns, schema=arrow_schema("distances")))
    return 0


def latency(config: Path, folder: Path, overrides: Overrides) -> int:
    """latency.parquet: what the papers' models say of the networks, from static and, where they are there, loads and layout."""
    from torusweep.sweep.latency import latency_table

    there = store.read_manifest(folder)["tables"]
    later = {name: store.open_table(folder / f"{name}.parquet") for name in ("loads", "layout") if name in there}
    store.publish_table(
        folder, "latency", latency_table(_load(config), store.open_table(folder / "static.parquet"), **later)
    )
    return 0


def verification(config: Path, folder: Path, overrides: Overrides) -> int:
    """verification.parquet: the papers' numbers against ours. An unexplained row ends the run in the step `check`."""
    from torusweep.papers.verification import verification_rows

    manifest = store.read_manifest(folder)
    known = manifest.get("config", {}).get("sha256") == store.digest(
        config.read_bytes()
    )  # not where it was edited and no point changed
    papers = (
        manifest["papers"] if known and "papers" in manifest else _load(config).papers
    )  # an earlier version's says no papers
    later = {
        name: store.open_table(folder / f"{name}.parquet") for name in (*LATER, "latency") if name in manifest["tables"]
    }
    rows = verification_rows(store.open_table(folder / "static.parquet"), papers, **later)
    store.publish_table(folder, "verification", pa.Table.from_pylist(rows, schema=arrow_schema("verification")))
    return 0


def report(config: Path, folder: Path, overrides: Overrides) -> int:
    """report.html, and figures/*.svg: the papers' figures that the sweep has numbers for; from the tables and the manifest."""
    from torusweep.papers.figures.files import write_figures
    from torusweep.results.page import write_report

    write_figures(write_report(folder, folder / "report.html"), folder / "figures")
    return 0


def check(config: Path, folder: Path, overrides: Overrides) -> int:
    """checked.txt: nothing failed, nothing is unexplained. Status 1, naming what does, otherwise; tables and report stay."""
    from torusweep.papers.verification import summary

    rows = store.open_table(folder / "verification.parquet").to_pylist()
    failed = store.read_manifest(folder)["failed"]
    unexplained = [row for row in rows if row["verdict"] == "unexplained"]
    for failure in failed:
        _say(f"{_failed(failure)} failed: {failure['reason']}")
    for row in unexplained:
        _say(
            f"{row['paper']} {row['place']}, {row['row']}: {row['quantity']} of {row['topology']} is unexplained: {row['reason']}"
        )
    if failed or unexplained:
        what = f"{counted(len(failed), 'point')} failed, {counted(len(unexplained), 'number')} {'is' if len(unexplained) == 1 else 'are'} unexplained"
        _say(f"{what}; the tables in {folder} are complete but for these")
        return 1
    counts = [f"{count} {verdict}" for verdict, count in summary(rows).items() if count]
    store.publish(folder / "checked.txt", ((", ".join(counts) or "none were asked for") + "\n").encode())
    return 0


STEPS: dict[str, Callable[[Path, Path, Overrides], int]] = {
    "points": points,
    "static": static,
    "loads": loads,
    "deadlock": deadlock,
    "layout": layout,
    "simulation": simulation,
    "latency": latency,
    "distances": distances,
    "verification": verification,
    "report": report,
    "check": check,
}


def _load(config: Path) -> Sweep:
    """The configuration. Steps that follow from tables alone do not wait for pydantic."""
    from torusweep.sweep.configuration import load

    return load(config)


def _asked(folder: Path, stage: str) -> tuple[dict[Point, float], set[str]]:
    """(a stage's points in points.parquet, with the seconds that they will take; the stages that have points there).

    Raises BadInput where a key is not its row's: altered, or of other code or files.
    """
    asked, stages = {}, set()
    for row in store.read_points(folder).to_pylist():
        key, seconds = row.pop("key"), row.pop("estimated_seconds")
        point = Point(**row)
        stages.add(point.stage)
        if point.stage != stage:
            continue
        if point.key != key or not 0 < (seconds or 0) < inf:
            raise BadInput(
                f"{folder / 'points.parquet'} does not fit the code and files of now: delete it and run the sweep again"
            )
        asked[point] = seconds
    return asked, stages


def _failed(entry: dict[str, Any]) -> Point:
    """The point of an entry of the manifest's list of failures."""
    return Point(**{field.name: entry[field.name] for field in fields(Point)})


def _say(line: str) -> None:
    print(line, flush=True)
