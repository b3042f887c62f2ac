"""The command line in this process: its real entry, with what it says and its exit status."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import NamedTuple, NoReturn

import pytest
from torusweep.cli import main


class Said(NamedTuple):
    """How `torusweep ARGUMENTS` ended."""

    status: int
    out: str
    err: str


def torusweep(*arguments: str) -> Said:
    """Run the command line here. An exception that it does not turn into a line fails the test."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    pipe = signal.getsignal(signal.SIGPIPE)
    status = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["torusweep", *arguments])
        patch.setattr(os, "_exit", _leave)  # a step ends so
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            signal.signal(signal.SIGPIPE, pipe)
    return Said(status, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def _leave(status: int) -> NoReturn:
    raise SystemExit(status)


def settled(said: Said) -> bool:
    """Whether the command was answered; if it was refused, it said one line and ended with status 2, and no more.

    In both cases, the output has no control characters for a terminal.
    """
    assert said.status in (0, 2), said
    assert all(character.isprintable() or character == "\n" for character in said.out + said.err), said
    if said.status == 2:
        assert said.out == "", said
        assert said.err.startswith("torusweep: "), said
        assert said.err.count("\n") == 1, said
    return said.status == 0
