"""Make a stage's table: workers compute its points and publish shards, from which the table is made.

On a cluster a stage is computed in parts. Each part is a job that leaves its outcome in a file. When all parts are
done, their shards become the table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import ne
from pathlib import Path
from typing import Any

from torusweep_kernels.backend import gpu_count

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.run import driver
from torusweep.run.parts import StagePart, slices
from torusweep.run.progress import tell
from torusweep.sweeps.configuration import load
from torusweep.sweeps.points import Point, altered, listed, networks_of, stage_digest
from torusweep.tables import current, provenance, shards, store
from torusweep.tables.parquet import Streamed

BATCH = 1 << 12  # points that are read at once


def make_table(
    name: str, config: Path, folder: Path, overrides: Mapping[str, Any], part: StagePart | None = None
) -> int:
    """Compute the points that no shard has; make a stage's table and its manifest entry. Returns the exit status.

    part  compute only the points of this part, and write its outcome to a file (`outcome_of`) instead of the table

    A failed point is named and has no row; the step `check` later ends the run with an error for it.
    If a signal stopped the run, the status is 128 + signal, and no table is published.
    """
    sweep = load(config)
    store.manifest_of(folder, sweep.digest)
    estimates = _estimates(folder, name, part)
    options = driver.BatchOptions(
        folder=str(folder.resolve()),
        backend=overrides.get("backend", sweep.backend),
        use_symmetry=overrides["symmetry"] == "on" if "symmetry" in overrides else sweep.symmetry,
        memory=None if sweep.limits.memory_gib is None else int(sweep.limits.memory_gib * 2**30),
        stage=name,
        code=stage_digest(name),
        config=sweep.digest,
    )
    cluster = sweep.cluster_under(overrides)
    here = part is not None and not cluster.scheduler and not cluster.slurm  # a part that a job computes itself
    if here and options.backend == "cupy" and not gpu_count():
        tell("expected a GPU that CuPy can use, found none; Numba computes this part")
        options = options._replace(backend="numba")
    schema = schema_of(name)
    with provenance.hold(lock := _lock(folder, name, part, beside="cores" in overrides)):
        if lock.name == store.LOCK:  # nobody else writes
            store.clean(folder)
        keys = None if part is None else {point.key for point in estimates}
        before = shards.read_shards(folder, name, schema, keys)
        for complaint in before.complaints:
            tell(complaint)
        done = shards.members_of(before.whole)
        computed = driver.compute(estimates, done, options, cluster)
        if computed.stopped:
            tell(f"{name} stopped; what is finished is kept")
            return 128 + computed.stopped
        failed = [
            {**failure.point.record(), "point": str(failure.point), "reason": failure.reason}
            for failure in computed.failed
        ]
        count = networks_of(failure.point for failure in computed.failed)
        if part is None:
            _publish(name, folder, estimates, failed, count, sweep.digest, sweep.limits.points)
        else:
            content = {"points": networks_of(estimates), "failed": failed, "failed_points": count}
            store.publish(outcome_of(folder, name, part), json.dumps(content).encode())
    return 0


def merge(name: str, folder: Path, parts: Sequence[StagePart], config: str, most: int = 0) -> int:
    """Make a stage's table and its entry in the manifest from the shards of its parts. Returns exit status 0.

    config  digest of the configuration
    most    networks that the sweep may have (`store.publish_table`)
    Raises BadInput if a part or a shard is missing. Then the outcomes of all parts are removed, so that the next run
    computes the missing points.
    """
    outcomes, missing = [], []
    for part in parts:
        try:
            read = json.loads(outcome_of(folder, name, part).read_bytes())
            outcomes.append((list(read["failed"]), int(read["failed_points"])))
        except (OSError, ValueError, KeyError, TypeError):
            missing.append(part)
    if missing:
        files = [str(outcome_of(folder, name, part)) for part in missing]
        for file in files:
            Path(file).unlink(missing_ok=True)  # a damaged one
        raise BadInput(
            f"{counted(len(missing), 'part')} of {len(parts)} of {name} missing or damaged, as {files[0]};"
            " run the sweep again: what is finished is kept"
        )
    failed = [failure for failures, _ in outcomes for failure in failures]
    try:
        _publish(name, folder, _estimates(folder, name), failed, sum(count for _, count in outcomes), config, most)
    except BadInput:
        for part in parts:
            outcome_of(folder, name, part).unlink(missing_ok=True)
        raise
    for part in parts:
        _lock(folder, name, part, beside=True).unlink(missing_ok=True)  # nobody computes this stage any more
    return 0


def outcome_of(folder: Path, stage: str, part: StagePart) -> Path:
    """Return the path of a part's outcome, a file with the number of points computed, and the points that failed."""
    return folder / "parts" / stage / f"{part}.json"


def _lock(folder: Path, stage: str, part: StagePart | None, *, beside: bool) -> Path:
    """Return the path of a computing process's lock: of the folder, of a part, or (`beside` others) of a stage."""
    return folder / "-".join([store.LOCK, *([stage] if beside or part else []), *([str(part)] if part else [])])


def _publish(
    name: str,
    folder: Path,
    points: Iterable[Point],
    failed: list[dict[str, Any]],
    failed_points: int,
    config: str,
    most: int,
) -> None:
    """Publish a stage's table, and its entry in the manifest, from the stage's shards.

    config, most  digest of the configuration that requests the table, and networks that it may have
    Raises BadInput if a point has no row, or if the folder now has another configuration.
    """
    points, schema, code = list(points), schema_of(name), stage_digest(name)
    whole = shards.read_shards(folder, name, schema).whole
    # points of an entry that are of the same networks: their rows follow each other network by network
    alike = [(point.entry, point.topology) for point in points]
    groups = [0, *accumulate(map(ne, alike, alike[1:]))] if alike else []
    found = shards.finished(whole, [point.wanted for point in points], schema, groups)
    if found.members + failed_points != networks_of(points):
        current.expect_same(store.read_manifest(folder).get("config", {}).get("files", {}))
        raise BadInput(f"shards disappeared from {folder / 'shards'} while the sweep ran; run it again")
    origins = [{"sha256": shard.digest, "rows": shard.row_count, **shard.origin} for shard in found.shards]
    store.amend_manifest(folder, name, code, {"shards": origins, "failed": failed}, config=config)
    rows = Streamed(schema, (part.drop_columns([shards.KEY, shards.MEMBER]) for part in found.tables))
    store.publish_table(folder, name, rows, {"code": code}, config=config, most=most)


def _estimates(folder: Path, stage: str, part: StagePart | None = None) -> dict[Point, float]:
    """Return the points of a stage, or of one of its parts, in points.parquet, with their estimated seconds.

    Raises BadInput if a row's key is wrong: then the file was altered, or made by other code or from other files.
    """
    there, part = listed(folder, [stage])[stage], part or StagePart(1, 1)
    own = slices(there.seconds, there.counts, part.of)[part.number - 1]
    rows = store.open_file(folder / "points.parquet", schema_of("points")).take(there.rows[own.first : own.last])
    points = []
    for row in (row for batch in rows.to_batches(max_chunksize=BATCH) for row in batch.to_pylist()):
        points.append((Point.of_record(row), row["estimated_seconds"]))
        if points[-1][0].key != row["key"]:
            raise altered(folder)
    return own.of(points)
