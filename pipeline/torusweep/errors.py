"""What a person did that cannot be carried out, said in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadInput(Exception):
    """Input that is refused before anything is computed.

    The message is one line that says what was expected, what was got and what to do; the command
    line prints it on standard error and exits with status 2, without a traceback.
    """


class Refused(BadInput):
    """Input that is well formed but asks for more than the limits allow (memory, points, time)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """' did you mean 'x'?' for the closest known name, or nothing where none is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
