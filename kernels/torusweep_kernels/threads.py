"""Python threads for code that releases the GIL, and Ctrl-C while compiled code runs."""

from __future__ import annotations

import signal
import threading
import time
from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
AGAIN_SECONDS = 0.005  # until Ctrl-C is tried again
RETURNING = ("numba.core.serialize", "namedtuple_")  # beginnings of the modules of Python code that compiled code calls


def thread_count(threads: int | None) -> int:
    """CPU threads to use: the requested number, by default all that Numba may use."""
    if threads:
        return threads
    from numba import config  # not at the top: a process that computes nothing needs no compiler

    settings: Any = config  # whose attributes are set when Numba is imported
    return int(settings.NUMBA_NUM_THREADS)


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], threads: int) -> list[Result]:
    """Call function(item) for every item, in several threads; return the results in the items' order.

    After an exception no thread begins another item. The exception is raised when all threads have ended.

    The caller's thread takes items, too. It does not wait until the other threads have started, as threading.Thread
    does, because that takes as long as a small item. Tracers and profilers of `threading` do not reach these threads.
    """
    if threads == 1 or len(items) == 1:
        return [function(item) for item in items]
    results: dict[int, Result] = {}
    failures: list[BaseException] = []
    left = iter(range(len(items)))  # next is atomic

    def take() -> None:
        for place in left:
            results[place] = function(items[place])

    def take_elsewhere(busy: LockType) -> None:
        try:
            take()
        except BaseException as failure:  # raised below in the caller's thread
            failures.append(failure)
            deque(left, maxlen=0)
        finally:
            busy.release()

    others: list[LockType] = []
    try:
        for _ in range(min(threads, len(items)) - 1):
            busy = allocate_lock()
            busy.acquire()
            start_new_thread(take_elsewhere, (busy,))
            others.append(busy)
        take()
    finally:
        deque(left, maxlen=0)
        for busy in others:
            busy.acquire()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(items))]


@contextmanager
def interruptible() -> Iterator[None]:
    """Within, Ctrl-C is KeyboardInterrupt, also while compiled code runs.

    Numba calls Python code to make arrays and named tuples of what compiled code returns, and does not look for its
    exceptions: of a signal meanwhile it would make a SystemError, or end the process. There, the signal is sent
    again a moment later. A handler of one's own stays.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return

    main = threading.get_ident()

    def interrupted(number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None:
            if str(at.f_globals.get("__name__")).startswith(RETURNING):
                start_new_thread(again, (number,))
                return
            at = at.f_back
        signal.default_int_handler(number, frame)

    def again(number: int) -> None:
        time.sleep(AGAIN_SECONDS)
        signal.pthread_kill(main, number)

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
