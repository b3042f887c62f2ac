"""How an answer is computed, how its progress is shown, and what stops it."""

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
AGAIN_SECONDS = 0.005  # until Ctrl-C is tried again
RETURNING = ("numba.core.serialize", "namedtuple_")  # beginnings of the modules of Python code that compiled code calls


class Progress(Protocol):
    """Shows the progress of a computation."""

    def share(self, work: str) -> AbstractContextManager[Report | None]:
        """Yield a function to call with the share of the work that is done, 0 … 1."""
        ...

    def count(self, things: str, total: int | None = None) -> AbstractContextManager[Report | None]:
        """Yield a function to call with the number of things done. total: upper bound of their number, if known."""
        ...

    def found(self, things: str, total: int) -> AbstractContextManager[Callable[[str], None] | None]:
        """Yield a function to call with the text of each thing that is found. total: their number."""
        ...

    def wait(self, work: str) -> AbstractContextManager[None]:
        """Show work of unknown length."""
        ...

    def say(self, line: str) -> None:
        """Show a line that the user should know before long work begins."""
        ...


class Silence:
    """Shows nothing."""

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
    """How to compute an answer, which does not depend on it.

    threads   number of threads; None: all cores
    memory    bytes that a network's arrays may take; None: half of the machine's
    """

    backend: str = "auto"
    use_symmetry: bool = True
    threads: int | None = None
    memory: int | None = None
    progress: Progress = Silence()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interruptible() -> Iterator[None]:
    """Make Ctrl-C a KeyboardInterrupt, even while compiled code runs. A handler that the program has set stays.

    Numba makes arrays and named tuples of compiled results in Python code, and does not look for its exceptions: a
    signal meanwhile would become a SystemError, or end the process. There, the signal is sent again a moment later.
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
