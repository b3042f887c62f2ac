"""The step that makes a stage's table: workers compute its points, and their shards become the table."""

from __future__ import annotations

from itertools import accumulate
from math import inf
from operator import ne
from pathlib import Path
from typing import Any

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.run import driver
from torusweep.run.tasks import LostWorkers
from torusweep.sweeps.configuration import load
from torusweep.sweeps.points import Point, networks_of, stage_digest
from torusweep.tables import provenance, shards, store


def make_table(name: str, config: Path, folder: Path, overrides: dict[str, Any]) -> int:
    """A stage's table and its part of the manifest: every point, computed where no shard has it.

    Points that fail are named and have no row; the step `check` ends the run with an error for them.
    A run that was stopped by a signal returns 128 + signal, and publishes no table.
    """
    sweep = load(config)
    estimates = _estimates(folder, name)
    options = driver.BatchOptions(
        folder=str(folder.resolve()),
        backend=overrides.get("backend", sweep.backend),
        use_symmetry=overrides["symmetry"] == "on" if "symmetry" in overrides else sweep.symmetry,
        memory=None if sweep.limits.memory_gib is None else int(sweep.limits.memory_gib * 2**30),
        stage=name,
        code=stage_digest(name),
        config=sweep.digest,
    )
    schema = schema_of(name)
    with provenance.hold(folder / store.LOCK):
        store.clean(folder)
        before = shards.read_shards(folder, name, schema)
        for complaint in before.complaints:
            _say(complaint)
        done = shards.members_of(before.whole)
        del before  # its rows may be millions
        try:
            computed = driver.compute(estimates, done, options, sweep.cluster_under(overrides))
        except LostWorkers as lost:
            raise BadInput(f"{lost}; torusweep run {config} --results {folder.parent}") from None
        if computed.stopped:
            _say(f"{name} stopped; what is finished is kept")
            return 128 + computed.stopped
        whole = shards.read_shards(folder, name, schema).whole
        # points of an entry that are of the same networks: their rows follow each other network by network
        alike = [(point.entry, point.topology) for point in estimates]
        groups = [0, *accumulate(map(ne, alike, alike[1:]))]
        found = shards.finished(whole, [point.wanted for point in estimates], schema, groups)
        if found.members + networks_of(failure.point for failure in computed.failed) != networks_of(estimates):
            raise BadInput(f"shards disappeared from {folder / 'shards'} while the sweep ran; run it again")
        part = {
            "shards": [{"sha256": shard.digest, "rows": shard.rows.num_rows, **shard.origin} for shard in found.shards],
            "failed": [
                {**failure.point.record(), "point": str(failure.point), "reason": failure.reason}
                for failure in computed.failed
            ],
        }
        store.amend_manifest(folder, name, options.code, part)
        store.publish_table(folder, name, found.rows.drop_columns([shards.KEY, shards.MEMBER]), {"code": options.code})
    return 0


def _estimates(folder: Path, stage: str) -> dict[Point, float]:
    """A stage's points in points.parquet, with the seconds that they will take.

    Raises BadInput where a key is not its row's: altered, or of other code or files.
    """
    estimates = {}
    for row in store.read_points(folder, schema_of("points")).to_pylist():
        key, seconds = row.pop("key"), row.pop("estimated_seconds")
        point = Point.of_record(row)
        if point.stage != stage:
            continue
        if point.key != key or not 0 < (seconds or 0) < inf:
            raise BadInput(
                f"{folder / 'points.parquet'} was made by other code or from other files:"
                " delete it and run the sweep again"
            )
        estimates[point] = seconds
    return estimates


def _say(line: str) -> None:
    print(line, flush=True)
