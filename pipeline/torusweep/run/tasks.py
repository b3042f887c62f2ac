"""Run tasks on workers, and report their outcomes: an answer, an error, or a dead worker with the reason.

A task is a function and a batch of points; its answer is a digest and counts.

A process that is a Dask worker finds its worker object here, without importing Dask.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, NamedTuple

from torusweep.errors import BadInput
from torusweep.stages import STAGES
from torusweep.sweeps.points import stage_digest
from torusweep.version import __version__

if TYPE_CHECKING:
    from distributed import Client

DIED = "died"  # for an unknown reason
GPU_LOST = "gpu-lost"  # topic of the events of workers that end themselves
NEVER = float("-inf")
ANSWER_SECONDS = 5.0  # in which an answer, a digest and counts, must arrive
SILENT_SECONDS = 15.0  # that the scheduler may take to say which workers it has; one that takes longer is lost
TICKETS = itertools.count()  # of all stages that this process drives: a scheduler may still know an earlier one's
LAST_WORDS_SECONDS = 1.0  # in which the scheduler must hear why a worker ends itself


def _kill(dask_worker: Any) -> None:
    """Kill a worker, even if its task hangs. The worker's nanny runs this function; without one, the worker does."""
    os.kill(getattr(dask_worker, "pid", os.getpid()), signal.SIGKILL)


class TaskOutcome(NamedTuple):
    """The outcome of a task: its answer, its exception, or why its worker died ('' if the worker is alive)."""

    ticket: int
    answer: Any = None
    error: BaseException | None = None
    died: str = ""


class LostWorkers(BadInput):
    """An error that says that the scheduler or all workers are gone. Published shards are kept."""


class LostScheduler(LostWorkers):
    """An error that says that the scheduler is gone, and all tasks with it."""

    def __init__(self) -> None:
        super().__init__(
            "lost the connection to the Dask scheduler; start it again and repeat the command: finished points are kept"
        )


class Patience(NamedTuple):
    """Rules for the time when there are no workers.

    seconds   time without workers after which new workers are requested, or the run ends
    renew     function that requests new workers; called at most once for each entry of `renewals`
    renewals  seconds that the workers may take to start, for each further request
    refused   function that returns why all recently requested workers are refused, or ""
    """

    seconds: float
    renew: Callable[[], None] = lambda: None
    renewals: tuple[float, ...] = ()
    refused: Callable[[], str] = lambda: ""


class InProcess:
    """A queue that runs tasks in this process. A task runs when its outcome is requested."""

    places = 1
    description = "this process"

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Callable[..., Any], tuple[Any, ...]]] = []
        self._tickets = itertools.count()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> int:
        self._waiting.append((next(self._tickets), function, arguments))
        return self._waiting[-1][0]

    def outcome(self, seconds: float) -> TaskOutcome | None:
        if not self._waiting:
            return None
        ticket, function, arguments = self._waiting.pop(0)
        try:
            return TaskOutcome(ticket, function(*arguments))
        except Exception as error:
            return TaskOutcome(ticket, error=error)


class Workers:
    """Dask workers. Each place has at most one task, so that no task waits behind another that kills its worker."""

    def __init__(self, client: Client, description: str, patience: Patience) -> None:
        self.description = description
        self._client = client
        self._patience = patience
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._stopped: dict[int, str] = {}  # tasks whose worker we stopped, and why
        self._lost: set[int] = set()  # tasks whose worker died before it answered: the scheduler starts them again
        self._present, self._counted = 1, NEVER
        self._seen = time.monotonic()  # when a worker was there

    @property
    def present(self) -> int:
        """The number of tasks that can run at once now; 0 if there are no workers at the moment. Raises LostWorkers."""
        now = time.monotonic()
        if now - self._counted > 1.0:
            with self._scheduler_alive():
                self._present, self._counted = sum(self._client.nthreads(callback_timeout=SILENT_SECONDS).values()), now
            if self._present:
                self._seen = now
            elif why := self._patience.refused():
                raise LostWorkers(f"cluster.slurm: sbatch refused: {why}; repeat the command: finished points are kept")
            elif now - self._seen > self._patience.seconds:
                self._renew(now - self._seen)
        return self._present

    @property
    def places(self) -> int:
        """The number of tasks to hand out; at least 1, because a task may wait for a worker."""
        return max(1, self.present)

    def _renew(self, seconds: float) -> None:
        """Request workers again. Raises LostWorkers if `renewals` is used up."""
        if not self._patience.renewals:
            raise LostWorkers(
                f"no worker for {seconds:.0f} s (cluster.worker_ttl_seconds), and points are left;"
                " start workers and repeat the command: finished points are kept"
            )
        self._patience.renew()
        first, *others = self._patience.renewals
        self._patience = self._patience._replace(seconds=first, renewals=tuple(others))
        self._seen = time.monotonic()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> int:
        ticket = next(TICKETS)
        with self._scheduler_alive():
            future = self._client.submit(function, *arguments, key=f"batch-{ticket}-{os.getpid()}", pure=False)
        self._futures[ticket] = future
        future.add_done_callback(lambda _: self._done.put(ticket))
        return ticket

    def outcome(self, seconds: float) -> TaskOutcome | None:
        """Return the next finished task, or None if no task finishes within `seconds`. Raises LostScheduler."""
        from distributed import KilledWorker

        for ticket in [ticket for ticket in self._lost if self._futures[ticket].done()]:
            self._lost.remove(ticket)
            self._done.put(ticket)
        try:
            ticket = self._done.get(timeout=seconds)
        except queue.Empty:
            with self._scheduler_alive():
                return None
        future = self._futures.pop(ticket)
        with self._scheduler_alive():
            if not future.done():
                self._come_back_to(ticket, future)
                return None
            if future.status == "finished":
                try:
                    return TaskOutcome(ticket, future.result(timeout=ANSWER_SECONDS))
                except TimeoutError:  # the worker died with the answer, and there is no other to compute it again
                    self._come_back_to(ticket, future)
                    return None
                except KilledWorker as death:  # with the answer; its shard, if published, is found later
                    return TaskOutcome(ticket, died=self._what_happened(ticket, death.last_worker.address))
            if future.status == "error":
                error = future.exception()
                if isinstance(error, KilledWorker):
                    return TaskOutcome(ticket, died=self._what_happened(ticket, error.last_worker.address))
                return TaskOutcome(ticket, error=error)
        raise LostScheduler  # a cancelled task: we cancel none

    def _come_back_to(self, ticket: int, future: Any) -> None:
        self._futures[ticket] = future
        self._lost.add(ticket)

    def stop(self, ticket: int, why: str) -> None:
        """Stop the worker of a task, if it has one. The task's outcome is then a dead worker, for the reason `why`."""
        future = self._futures[ticket]
        if future.done():
            return
        with self._scheduler_alive():
            key = future.key
            at = [address for address, keys in self._client.processing().items() if key in keys]
            if at:
                self._stopped[ticket] = why
                nanny = self._client.scheduler_info(n_workers=-1)["workers"].get(at[0], {}).get("nanny") is not None
                self._client.run(_kill, workers=at, nanny=nanny, on_error="ignore")  # it dies before it can answer

    def _what_happened(self, ticket: int, worker: str) -> str:
        """Return why a worker died, according to its nanny and the scheduler."""
        # one place less until another worker is there: a waiting task would be blamed for the next death
        self._counted = NEVER
        if ticket in self._stopped:
            return self._stopped.pop(ticket)
        for _, event in self._client.get_events(GPU_LOST):
            if event["worker"] == worker:
                return str(event["why"])
        for _, event in self._client.get_events("worker-restart-memory"):
            if event["worker"] == worker:
                taken = event["rss"] / 2**30
                return (
                    f"took {taken:.2f} GiB of memory, more than it may (cluster.memory_per_worker_gib says how much),"
                    " and was stopped"
                )
        for _, event in self._client.get_events("scheduler"):
            if event.get("action") == "worker-ttl-timed-out" and worker in event["workers"]:
                return f"gave no sign of life for {event['ttl']:g} s (cluster.worker_ttl_seconds) and was stopped"
        return DIED

    @contextlib.contextmanager
    def _scheduler_alive(self) -> Iterator[None]:
        """Guard requests to the scheduler in a `with` block: raise LostScheduler if it is gone."""
        if self._client.status != "running":
            raise LostScheduler
        try:
            yield
        except (OSError, CancelledError):
            raise LostScheduler from None


def _worker() -> Any | None:
    """Return this process's Dask worker, or None. When that worker ends, another process replaces it."""
    if "distributed" not in sys.modules:  # which takes long to import, and a worker has imported
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None


def is_worker() -> bool:
    """Return whether this process is a Dask worker."""
    return _worker() is not None


def threads_of_worker() -> int | None:
    """Return the number of threads that a task may use; None for all, outside a worker."""
    named = os.environ.get("NUMBA_NUM_THREADS")
    if named:
        return int(named)
    return 1 if is_worker() else None


def number_of_worker() -> int:
    """Return the number at the end of this worker's name, or the port if it has no name; 0 outside a worker."""
    worker = _worker()
    number = re.search(r"[0-9]+$", str(worker.name)) if worker is not None else None
    return int(number[0]) if number else 0


def end_worker(why: str) -> None:
    """End this worker's process, because it lost its GPU. Its nanny starts another; the batch counts as a death.

    why  reason, which completes the sentence "a worker …"
    """
    worker = _worker()
    assert worker is not None
    worker.log_event(GPU_LOST, {"why": why})
    time.sleep(LAST_WORDS_SECONDS)
    os._exit(1)


def code_version() -> str:
    """Return this process's version and the digests of its stages' code, such as 0.1.0 (code 1a2b3c4d, …)."""
    codes = dict.fromkeys(stage_digest(stage)[:12] for stage in STAGES)
    return f"{__version__} (code {', '.join(codes)})"
