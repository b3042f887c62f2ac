"""How an answer is computed, and what shows how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Protocol

Report = Callable[[float], None]


class Progress(Protocol):
    """What shows how far a computation is."""

    def share(self, work: str) -> AbstractContextManager[Report | None]:
        """A function to call with the share of the work that is done, 0 … 1."""
        ...

    def count(self, things: str, total: int | None = None) -> AbstractContextManager[Report | None]:
        """A function to call with the number of things done; total: how many there are at most, if known."""
        ...

    def found(self, things: str, total: int) -> AbstractContextManager[Callable[[str], None] | None]:
        """A function to call with what is found, in words, one of so many things after the other."""
        ...

    def wait(self, work: str) -> AbstractContextManager[None]:
        """Work of unknown length."""
        ...

    def say(self, line: str) -> None:
        """What whoever waits should know before long work begins."""
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
    """How an answer is computed; the answer does not depend on it.

    threads   None: all cores
    memory    bytes that a network's arrays may take; None: half the machine's
    """

    backend: str = "auto"
    use_symmetry: bool = True
    threads: int | None = None
    memory: int | None = None
    progress: Progress = Silence()
