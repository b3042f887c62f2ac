"""Refusals of queries that exceed a limit, or whose process ended without an answer."""

from __future__ import annotations

import signal

from torusweep.errors import Refused, one_line


def too_slow(time_limit: float) -> Refused:
    """A query beyond its time in seconds."""
    return Refused(
        f"the query took more than {time_limit:g} seconds and was stopped; narrow it, or allow more with --time-limit"
    )


def too_large(memory_gib: float) -> Refused:
    """A query beyond its memory."""
    return Refused(
        f"the query needs more than {memory_gib:g} GiB of memory and was stopped; select fewer rows or columns"
    )


def crashed(status: int, message: str, memory_gib: float) -> Refused:
    """Why the query process ended without an answer or a refusal: most often a library that got no memory."""
    last = (message.strip() or "no message").splitlines()[-1]
    if status < 0 and -status in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS):
        name = signal.Signals(-status).name
        return Refused(
            f"the query ended by {name}, as where {memory_gib:g} GiB of memory are too little;"
            " select fewer rows or columns"
        )
    if "MemoryError" in last or "bad_alloc" in last or "malloc" in last:
        return too_large(memory_gib)
    ended = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return Refused(f"the query ended {ended} and without an answer, saying: {one_line(last)}; run it again")
