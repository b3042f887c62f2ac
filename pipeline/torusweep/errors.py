"""Errors that a user can correct, each reported in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInput(Exception):
    """Invalid input, found before anything is computed.

    The message is one line: what was expected, what was got, what to do. The command line prints it
    on standard error, without a traceback, and exits with status 2.

    place   keys of the configuration's entry that it is about: ("routing",); () where it is about the whole entry
    """

    place: tuple[str, ...] = ()


class Refused(BadInput):
    """Valid input that exceeds a limit (memory, points, time)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the known name closest to `name`, or "" if none is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
