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

MOST_COMPARED = 5000  # known names that are compared with a misspelt one; a comparison takes up to 0.1 ms
MOST_BYTES = 255  # of a file's name
FOLDER = "TORUSWEEP_FOLDER"  # environment variable of a run's processes: the folder in which its command was called


class BadInput(Exception):
    """Invalid input, found before anything is computed.

    The message is one line: what was expected, what was got, what to do. The command line prints it
    on standard error, without a traceback, and exits with status 2.

    place       keys at fault in the configuration's entry, such as ("routing",); () if the whole entry is at fault
    of_network  whether the error concerns one network only: the keys in `place` may suit other networks
    row         index of the link at fault in a list of links; None if the error is not about a single link
    """

    place: tuple[str, ...] = ()
    of_network: bool = False
    row: int | None = None


class Refused(BadInput):
    """Valid input that exceeds a limit (memory, points, time)."""


class RunsOn(Refused):
    """Work that exceeds a limit and cannot be stopped: its thread runs until the work or the process ends."""


class RunFailed(Exception):
    """A sweep that ended with an error after it began. Its results are kept; the message says how to continue."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name closest to `name`, or "" if none is close.

    Case, hyphens and underscores are ignored; otherwise the leading dashes alone would make two options close.
    """
    names: dict[str, str] = {}
    for one in islice(known, MOST_COMPARED):
        names.setdefault(_plain(one), one)
    close = difflib.get_close_matches(_plain(name), names, n=1, cutoff=0.6)
    return f" (did you mean '{names[close[0]]}'?)" if close else ""


def as_known(given: Any, known: Iterable[str]) -> Any:
    """Return the known name that equals `given` up to case, hyphens, underscores and blanks, or `given` itself."""
    return {_plain(one): one for one in known}.get(_plain(given), given) if isinstance(given, str) else given


def printable(text: object) -> str:
    """Return a text from outside the program with � for each unprintable character, as terminals may obey these."""
    return "".join(character if character.isprintable() else "�" for character in str(text))


def one_line(text: object, longest: int = 200) -> str:
    """Return a text (from a file, or a library's error) on one line for a message, cut to `longest` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def unreadable(path: Path, error: Exception, what: str) -> BadInput:
    """Return the error for a file that cannot be opened or read; `what` is the expected kind, as "a graph file"."""
    if isinstance(error, FileNotFoundError):
        return BadInput(f"{printable(path)}: no such file; paths are relative to {located('')}")
    return BadInput(f"{printable(path)}: expected {what}, got: {getattr(error, 'strerror', None) or error}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise BadInput for an OSError while a user's file is written, such as a full disk or a missing permission."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{printable(path)}: expected a writable file, got: {error.strerror}; choose another") from None


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Prefix a refusal raised in a `with` block with its subject, such as an option, or a routing and network."""
    try:
        yield
    except BadInput as refusal:
        raise type(refusal)(f"{what}: {refusal}") from None


def located(path: str | os.PathLike[str]) -> Path:
    """Return the path of a user's file. A relative path starts from the folder in which the user called the command.

    The processes of a run work in another folder (torusweep.run.place); in any other process the path is unchanged.
    """
    folder = os.environ.get(FOLDER)
    return Path(folder, path) if folder else Path(path) if str(path) else Path.cwd()


def called(path: Path) -> str:
    """Return a path that `located` returned, relative to the folder in which the user called the command."""
    folder = os.environ.get(FOLDER)
    return os.path.relpath(path, folder) if folder and path.is_relative_to(folder) else str(path)


def check_path(path: Path) -> None:
    """Raise BadInput if a name in a path is longer than file systems allow."""
    for part in path.parts:
        if len(os.fsencode(part)) > MOST_BYTES:
            raise BadInput(
                f"expected names of at most {MOST_BYTES} bytes, got '{one_line(part, 60)}' with"
                f" {len(os.fsencode(part)):,}; choose a shorter one"
            )


def _plain(name: str) -> str:
    """Return a name in lower case, without hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name.lower())
