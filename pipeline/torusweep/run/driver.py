"""Give the points of a stage to workers in batches, until every point is finished or has failed.

A batch is a second or more of work. Its worker publishes a shard and returns a digest and counts, never arrays.
If a batch's worker dies, or hangs and is stopped, the batch is halved and tried again. A batch of a single point
whose workers die again and again is recorded as failed; the last attempt uses no GPU. The other points are computed.
"""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pyarrow as pa
from torusweep_kernels.backend import (
    BackendUnavailable,
    GpuLost,
    GpuOutOfMemory,
    backend_of_calls,
    backends_and_device,
    backends_run,
    resolved_backends,
    share_gpus,
)

from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.questions.how import How
from torusweep.questions.stage import attempt
from torusweep.run import tasks as this_worker
from torusweep.run.progress import progress
from torusweep.run.tasks import DIED, InProcess, TaskOutcome, Workers
from torusweep.sweeps.batches import Batch, Batches
from torusweep.sweeps.points import Partly, Point, networks_of, rows_of_many, stage_digest
from torusweep.tables import shards
from torusweep.tables.provenance import software

MOST_DEATHS = 3  # of its worker, after which a point alone in its batch is given up
MOST_LOSSES = 12  # of a GPU by a worker, after which a stage goes on without GPUs: each costs seconds
LOST = "lost its GPU"
GPU_BACKENDS = "auto", "cupy"
SAVE_SECONDS = 20.0  # after the first signal, for the batches that run: Slurm kills 30 s after its SIGTERM
FEW_SECONDS = 3.0  # estimated; local workers take longer to start than so little takes to compute here


class BatchOptions(NamedTuple):
    """Options for computing a stage's points; none changes a row. Workers must run code with the digest `code`."""

    folder: str
    backend: str
    use_symmetry: bool
    memory: int | None
    stage: str
    code: str
    config: str


class FailedPoint(NamedTuple):
    """A point without a row, and the reason."""

    point: Point
    reason: str

    def __str__(self) -> str:
        return f"{self.point} failed: {self.reason}"


class BatchResult(NamedTuple):
    """The result of a batch: the digest of its shard ('' if no point has a row), rows, seconds, failed points."""

    digest: str
    rows: int
    seconds: float
    failed: list[FailedPoint]


class Running(NamedTuple):
    """A batch on a worker, its starting time, and the number of seconds after which it counts as hanging."""

    batch: Batch
    since: float
    limit: float


class Ending(NamedTuple):
    """The end of a stage: the failed points, and the signal that stopped the stage (None if it was not stopped)."""

    failed: list[FailedPoint]
    stopped: int | None


def run_batch(points: Sequence[Point], keys: Sequence[str], options: BatchOptions) -> BatchResult:
    """Compute points and publish their rows as one shard. Runs on a worker.

    keys  the points' keys from the expansion of the sweep. A point fails if its files differ on this worker, before
          or after the computation, because a row of a changed file must not be kept
    Raises BadInput if this worker runs other code, CannotWrite if the shard cannot be published.
    """
    if stage_digest(options.stage) != options.code:
        raise BadInput(
            f"worker on {socket.gethostname()} runs torusweep {this_worker.code_version()}, the sweep needs code"
            f" {options.code[:12]}; install the same version on both"
        )
    share_gpus(this_worker.number_of_worker())
    start, clock, backend = time.time(), time.monotonic(), backend_of_calls(options.backend)
    how = How(backend, options.use_symmetry, this_worker.threads_of_worker(), options.memory)
    wrong = [attempt(_check_key, point, key) for point, key in zip(points, keys, strict=True)]
    with resolved_backends() as resolved:
        every = rows_of_many([point for point, error in zip(points, wrong) if error is None], how)
    ran = backends_run(backend, resolved)
    answers = iter(every)
    computed = [pair for point, error in zip(points, wrong) for pair in _parts(point, error or next(answers))]
    lost = next((rows for _, rows in computed if isinstance(rows, GpuLost)), None)
    if lost is not None and this_worker.is_worker():
        this_worker.end_worker(f"{LOST} ({' '.join(str(lost).split())})")
    on_cpu = [point for point, rows in computed if isinstance(rows, GpuOutOfMemory | GpuLost)]
    if on_cpu:
        ran.add("numba")
        again = iter(rows_of_many(on_cpu, how._replace(backend="numba")))
        computed = [
            pair for point, rows in computed for pair in _parts(point, next(again) if point in on_cpu else rows)
        ]
    tables, failed = _sorted_out(computed, frozenset(keys))
    seconds = time.monotonic() - clock
    digest, number = "", 0
    if tables:
        names, device = backends_and_device(ran)
        origin = {
            "backend": names,
            "device": device,
            "host": socket.gethostname(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
            "seconds": round(seconds, 6),
            "symmetry": options.use_symmetry,
            "stage": options.stage,
            "code": options.code,
            "config": options.config,
            **software(),
        }
        table = pa.concat_tables(tables)
        digest, number = shards.publish_shard(Path(options.folder), table, origin), table.num_rows
    return BatchResult(digest, number, seconds, failed)


def _sorted_out(
    computed: Iterable[tuple[Point, pa.Table | Exception]], keys: frozenset[str]
) -> tuple[list[pa.Table], list[FailedPoint]]:
    """Return the rows of the points that have any, and the points that failed. Raises BackendUnavailable."""
    tables: list[pa.Table] = []
    failed: list[FailedPoint] = []
    for point, found in computed:
        # a row's key is made after it is computed
        rows = found if isinstance(found, Exception) else attempt(_expect_keys, found, keys)
        if isinstance(rows, BackendUnavailable):
            raise rows
        if isinstance(rows, Exception):
            reason = str(rows) if isinstance(rows, BadInput) else f"{type(rows).__name__}: {rows}"
            failed.append(FailedPoint(point, " ".join(reason.split())))
        else:
            tables.append(rows)
    return tables, failed


def _parts(point: Point, found: pa.Table | Exception | Partly) -> list[tuple[Point, pa.Table | Exception]]:
    """Return a point with its outcome; if a run failed in part, its rows, and the error of each failed network."""
    if not isinstance(found, Partly):
        return [(point, found)]
    return [*([] if found.rows is None else [(point, found.rows)]), *found.failed.items()]


def _check_key(point: Point, key: str) -> None:
    """Raise BadInput if a point has changed since the sweep was expanded."""
    if point.key != key:
        raise BadInput(
            "a file that the point names, or a library of this worker, has changed since the sweep was expanded"
        )


def _expect_keys(rows: pa.Table, keys: frozenset[str]) -> pa.Table:
    """Return the rows. Raises BadInput if a row's key is not among `keys`, which the sweep's expansion gave."""
    if not keys.issuperset(rows.column(shards.KEY).unique().to_pylist()):
        raise BadInput("a file that the point names changed while it was computed; run the sweep again")
    return rows


def compute(estimates: Mapping[Point, float], done: shards.Members, options: BatchOptions, settings: Any) -> Ending:
    """Compute the points, or networks of a run, that are not done; write their shards. Call it under the folder's lock.

    estimates  point → estimated seconds (torusweep.sweeps.points.estimates)
    done       members that have rows
    settings   the configuration's cluster section
    Raises BadInput if there are no workers, if workers run other code, or if nothing can be written.
    """
    todo = _todo(estimates, done)
    if not todo:
        return Ending([], None)
    left = Batches(todo, settings.batch_seconds)
    if settings.workers == "auto" and left.cost < FEW_SECONDS:
        settings = settings.model_copy(update={"workers": 0})
    failed: list[FailedPoint] = []
    # before ours are set: dask_jobqueue sets a handler of Ctrl-C when it is imported
    connected = _connected(settings, options.backend, networks_of(todo))
    with _Stop() as stop, connected as workers:
        with progress(
            f"{options.stage} ({workers.description})",
            total=networks_of(estimates),
            done=networks_of(estimates) - networks_of(todo),
            cost=left.cost,
            workers=workers.places,
        ) as shown:
            running: dict[int, Running] = {}
            stop.running = True
            losses = 0
            while running or (left and not stop.signal):
                while left and not stop.signal and len(running) < workers.places:
                    batch = left.next(workers.places)
                    limit = left.limit(batch, settings.watchdog_seconds)
                    running[_submitted(batch, workers, options)] = Running(batch, time.monotonic(), limit)
                if stop.signal and stop.gives_up(running, shown):
                    break
                if isinstance(workers, Workers):
                    _watch(running, workers)
                    if not workers.present and stop.signal:
                        break  # nobody computes these batches
                outcome = workers.outcome(seconds=0.5)
                if outcome is None:
                    continue
                batch = running.pop(outcome.ticket).batch
                losses += outcome.died.startswith(LOST)
                if losses == MOST_LOSSES and options.backend in GPU_BACKENDS:
                    shown.say(f"GPUs were lost {MOST_LOSSES} times; what is left is computed by Numba")
                    options = _last_attempt(options)
                ended = _ended(batch, outcome, options, left, shown)
                if ended is None:
                    continue
                for failure in ended:
                    shown.say(str(failure))
                failed += ended
                shown.advance(networks_of(batch.points), batch.cost)
        return Ending(failed, stop.signal)


def _todo(estimates: Mapping[Point, float], done: shards.Members) -> dict[Point, float]:
    """Return the estimated seconds of the points, and of the parts of runs, that have no rows."""
    return {
        part: cost * part.count / point.count
        for point, cost in estimates.items()
        for first, last in shards.missing(point.wanted, done)
        for part in (point.part(first, last),)
    }


def _submitted(batch: Batch, workers: InProcess | Workers, options: BatchOptions) -> int:
    """Submit a batch to a worker, and return its ticket. The last attempt of a batch uses the CPU."""
    how = _last_attempt(options) if len(batch.deaths) == MOST_DEATHS - 1 else options
    return workers.submit(run_batch, batch.points, [point.key for point in batch.points], how)


def _ended(
    batch: Batch, outcome: TaskOutcome, options: BatchOptions, left: Batches, shown: Any
) -> list[FailedPoint] | None:
    """Return a batch's failed points, or None if the batch is tried again. Raises the batch's error, if any."""
    if outcome.died:
        return [] if _is_published(batch, options, shown) else _after_death(batch, outcome.died, left, shown)
    if outcome.error is not None:
        raise outcome.error
    left.took(batch, outcome.answer.seconds)
    failed: list[FailedPoint] = outcome.answer.failed
    return failed


def _connected(settings: Any, backend: str, tasks: int) -> AbstractContextManager[InProcess | Workers]:
    """Return a context with the workers, or with this process if the settings ask for no worker."""
    if not settings.scheduler and not settings.slurm and settings.workers == 0:
        return nullcontext(InProcess())
    from torusweep.run.workers import connect  # Dask takes long to import

    return connect(settings, backend=backend, tasks=tasks)


def _last_attempt(options: BatchOptions) -> BatchOptions:
    """Return the options with the CPU's backend instead of a GPU's."""
    return options._replace(backend="numba") if options.backend in GPU_BACKENDS else options


def _is_published(batch: Batch, options: BatchOptions, shown: Any) -> bool:
    """Return whether a batch's shard is complete, because its worker may die after publishing and before answering."""
    keys = {point.key for point in batch.points}
    found = shards.read_shards(Path(options.folder), options.stage, schema_of(options.stage), keys)
    for complaint in found.complaints:
        shown.say(complaint)
    members = shards.members_of(found.whole)
    return not any(shards.missing(point.wanted, members) for point in batch.points)


def _watch(running: dict[int, Running], workers: Workers) -> None:
    """Stop the workers whose batches hang. These batches are then treated as if their workers had died."""
    now = time.monotonic()
    for ticket, (batch, since, limit) in running.items():
        if now - since > limit:
            workers.stop(
                ticket,
                f"was stopped after {now - since:.0f} s of a batch that was to take {batch.cost:.2g} s"
                " (cluster.watchdog_seconds)",
            )
            running[ticket] = Running(batch, now, limit)


def _after_death(batch: Batch, why: str, left: Batches, shown: Any) -> list[FailedPoint] | None:
    """Put a dead worker's batch back, halved if it has several points. Returns the point if it is given up."""
    many = networks_of(batch.points)
    if many > 1:
        shown.say(f"a worker {why}; its batch of {many} points is halved and tried again")
        left.halve(batch)
        return None
    ((point,),) = (each.networks for each in batch.points)
    deaths = (*batch.deaths, why)
    if len(deaths) < MOST_DEATHS:
        shown.say(f"a worker {why} computing {point}; tried again")
        left.put_back(batch._replace(deaths=deaths))
        return None
    reasons = "; ".join(f"it {reason}" for reason in dict.fromkeys(deaths) if reason != DIED)
    reasons = reasons or "perhaps of more memory than cluster.memory_per_worker_gib allows"
    return [FailedPoint(point, f"its worker died {MOST_DEATHS} times: {reasons}")]


class _Stop:
    """Handler of Ctrl-C and SIGTERM: the first lets running batches finish and then stops, the second stops at once.

    signal, since   number of the first signal (None before), and its time (time.monotonic)
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.since = 0.0
        self.running = False  # once batches run, the first signal lets them finish
        self.told = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._on_signal)
        # writing to a worker that has just died must raise an error, not end this process
        self._before[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def gives_up(self, running: Mapping[int, Running], shown: Any) -> bool:
        """Say once that the stage stops. Returns whether the running batches have had their time to finish."""
        if not self.told:
            shown.say(
                f"stopping: batches that run are finished and saved, if they end within {SAVE_SECONDS:.0f} s;"
                " once more to stop at once"
            )
            self.told = True
        if time.monotonic() - self.since <= SAVE_SECONDS:
            return False
        lost = networks_of(point for entry in running.values() for point in entry.batch.points)
        shown.say(f"gave up {counted(lost, 'point')}")
        return True

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None or not self.running:
            raise SystemExit(128 + number)
        self.signal, self.since = number, time.monotonic()
