"""Errors that a user can correct, each reported in one line."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

MOST_COMPARED = 5000  # known names; a comparison takes up to 0.1 ms
MOST_BYTES = 255  # of a file's name
FOLDER = "TORUSWEEP_FOLDER"  # variable of a run's processes: the folder in which its command was called


class BadInput(Exception):
    """Invalid input, found before anything is computed.

    The message is one line: what was expected, what was got, what to do. The command line prints it
    on standard error, without a traceback, and exits with status 2.

    place       keys of the configuration's entry that it concerns: ("routing",); () if it concerns the whole entry
    of_network  whether it concerns one network only, although it names keys: other networks may suit them
    row         place of the link that it concerns in a list of links, if it concerns a single one
    """

    place: tuple[str, ...] = ()
    of_network: bool = False
    row: int | None = None


class Refused(BadInput):
    """Valid input that exceeds a limit (memory, points, time)."""


class RunsOn(Refused):
    """Work beyond a limit that cannot be stopped: its thread runs until it ends, or the process does."""


class RunFailed(Exception):
    """A sweep that ended with an error after it began. Its results are kept; the message says how to go on."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name closest to `name`, or "" if none is close.

    Case, hyphens and underscores do not count: `--nonsense` is not close to `--nosw` because both begin with dashes.
    """
    names: dict[str, str] = {}
    for one in islice(known, MOST_COMPARED):
        names.setdefault(_plain(one), one)
    close = difflib.get_close_matches(_plain(name), names, n=1, cutoff=0.6)
    return f" (did you mean '{names[close[0]]}'?)" if close else ""


def as_known(given: Any, known: Iterable[str]) -> Any:
    """Return the known name that a text means (case, hyphens, underscores and blanks do not count), or the text."""
    return {_plain(one): one for one in known}.get(_plain(given), given) if isinstance(given, str) else given


def printable(text: object) -> str:
    """A text from outside without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else "�" for character in str(text))


def one_line(text: object, longest: int = 200) -> str:
    """A text from outside (a file, a library's error) on one line, cut if it is long, for a message."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def unreadable(path: Path, error: Exception, what: str) -> BadInput:
    """The refusal of a file that cannot be opened, or read, as `what`: "a graph file"."""
    if isinstance(error, FileNotFoundError):
        return BadInput(f"{printable(path)}: no such file; paths are relative to {located('')}")
    return BadInput(f"{printable(path)}: expected {what}, got: {getattr(error, 'strerror', None) or error}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn errors of writing a user's file into refusals: the disk is full, or permission is missing."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{printable(path)}: expected a writable file, got: {error.strerror}; choose another") from None


def located(path: str | os.PathLike[str]) -> Path:
    """The path of a user's file, relative to the folder of the user's command, wherever this process works.

    A run's processes work in a folder of their own (torusweep.run.place); elsewhere the path stays as it is.
    """
    folder = os.environ.get(FOLDER)
    return Path(folder, path) if folder else Path(path) if str(path) else Path.cwd()


def called(path: Path) -> str:
    """The user's name of a file that `located` has found."""
    folder = os.environ.get(FOLDER)
    return os.path.relpath(path, folder) if folder and path.is_relative_to(folder) else str(path)


def check_path(path: Path) -> None:
    """Raise BadInput for a path that no file system takes."""
    for part in path.parts:
        if len(os.fsencode(part)) > MOST_BYTES:
            raise BadInput(
                f"expected names of at most {MOST_BYTES} bytes, got '{one_line(part, 60)}' with"
                f" {len(os.fsencode(part)):,}; choose a shorter one"
            )


def _plain(name: str) -> str:
    """A name without case, hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name.lower())
