"""How an answer is computed: backend, threads and memory, display of progress, and interruption by Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from traceback import walk_stack
from types import FrameType
from typing import NamedTuple, Protocol

Report = Callable[[float], None]
AGAIN_SECONDS = 0.005  # delay until the signal of Ctrl-C is sent again
RETURNING = ("numba.core.serialize", "namedtuple_")  # prefixes of modules with Python code that compiled code calls


class Progress(Protocol):
    """A display of the progress of a computation."""

    def share(self, work: str) -> AbstractContextManager[Report | None]:
        """Yield a function to call with the share of the work that is done, 0 … 1."""
        ...

    def count(self, things: str, total: int | None = None) -> AbstractContextManager[Report | None]:
        """Yield a function to call with the number of things done. total: an upper bound, or None."""
        ...

    def found(self, things: str, total: int) -> AbstractContextManager[Callable[[str], None] | None]:
        """Yield a function to call with a text for each thing found. total: number of things to find."""
        ...

    def wait(self, work: str) -> AbstractContextManager[None]:
        """Show, until the context ends, that work of unknown duration is under way."""
        ...

    def say(self, line: str) -> None:
        """Show the user a line of text before long work begins."""
        ...


class Silence:
    """A `Progress` that shows nothing."""

    def share(self, work: str) -> AbstractContextManager[None]:
        return nullcontext()

    def count(self, things: str, total: int | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def found(self, things: str, total: int) -> AbstractContextManager[None]:
        return nullcontext()

    def wait(self, work: str) -> AbstractContextManager[None]:
        return nullcontext()

    def say(self, line: str) -> None:
        return


class How(NamedTuple):
    """How to compute an answer. The answer itself does not depend on these settings.

    threads   number of threads; None for all cores
    memory    bytes that a network's arrays may take; None for half of the machine's memory
    """

    backend: str = "auto"
    use_symmetry: bool = True
    threads: int | None = None
    memory: int | None = None
    progress: Progress = Silence()


def cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt even while compiled code runs. A signal handler set by the program is kept.

    Numba converts compiled results to arrays and named tuples in Python code without checking for exceptions. A signal
    during the conversion would raise SystemError or end the process, so it is sent again a moment later.
    """
    main, usual = threading.main_thread(), signal.default_int_handler
    if threading.current_thread() is not main or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def interrupted(number: int, frame: FrameType | None) -> None:
        modules = [str(caller.f_globals.get("__name__")) for caller, _ in walk_stack(frame)] if frame else []
        if not any(module.startswith(RETURNING) for module in modules):
            usual(number, frame)
        threading.Timer(AGAIN_SECONDS, signal.pthread_kill, (main.ident, number)).start()

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
