"""Make the folder in which Snakemake runs, anew for each run, because Snakemake obeys and imports files in its folder.

Such files are a profile (`profiles/default/config.yaml`, `default/config.yaml`), whose values may be code, and packages
in `.snakemake/pip-deployments`. The new folder is inside the sweep's folder, which a cluster's nodes see, and only this
user can read it. Of earlier runs, only Snakemake's records are copied: the inputs, code and parameters of each file.
They are JSON and are checked; Snakemake compares them and executes none of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from torusweep.errors import FOLDER, BadInput, located, printable

PLACES = ".run-*"  # in a sweep's folder
OF, ENDED = "folder", "ended"  # files in a place: the sweep's folder when its run began; nothing begins here any more
RECORDS, BEGUN = ".snakemake/metadata", ".snakemake/incomplete"
MOST_BYTES = 64 << 20  # of a record; one that lists 100,000 graph files has a quarter
TEXTS = "rule", "code", "shellcmd", "software_stack_hash"  # of a record
LISTS = "input", "log", "params"
NUMBERS = "record_format_version", "starttime", "endtime"
LIST_VARIABLES = "PATH", "PYTHONPATH"  # whose values may be relative to where we are
PATH_VARIABLES = "CUPY_CACHE_DIR", "DASK_CONFIG", "NUMBA_CACHE_DIR", "TMPDIR"
# the fields of every `SnakemakeOption`, asked in a folder without plugins
ASK = """
import json
from pathlib import Path
from snakemake.cli import get_argument_parser

FILES = {"FILE", "DIR", "PATH", "CSSFILE", "TESTPATH", "SCRIPT"}
MOST = {None: 1, "?": 1, "*": 1 << 30, "+": 1 << 30}

def fields(one):
    path = one.type is Path or one.metavar in FILES
    kind = "path" if path else "target" if one.metavar == "TARGET" else ""
    return [one.option_strings, MOST.get(one.nargs, one.nargs), str(one.const) if path and one.const else "", kind]

print(json.dumps([fields(one) for one in get_argument_parser()._actions if one.option_strings]))
"""


@contextlib.contextmanager
def new_place(folder: Path, called: Path, *, queued: bool = False) -> Iterator[Path]:
    """Make a new folder to run Snakemake in, with the records of earlier runs. Use it under the sweep folder's lock.

    folder  the sweep's folder, absolute
    called  the sweep's folder as the user names it, for old records: Snakemake once ran in the user's working folder
    queued  whether jobs may wait in a cluster's queue: they start in the new folder, so it stays if the run is killed
    Raises BadInput if the sweep's folder cannot be written.
    """
    earlier = earlier_places(folder)
    try:
        place = Path(tempfile.mkdtemp(prefix=PLACES[:-1], dir=folder))
        (place / OF).write_text(str(folder))
        if not queued:
            (place / ENDED).touch()
        take_records(folder, called, place)
    except OSError as error:
        raise BadInput(
            f"cannot write in {folder}: {error.strerror}; make room, or choose another folder with --results"
        ) from None
    for one in earlier:
        shutil.rmtree(one if (one / ENDED).exists() else one / ".snakemake", ignore_errors=True)
    yield place
    with contextlib.suppress(OSError):
        (place / ENDED).touch()


def earlier_places(folder: Path) -> list[Path]:
    """Return the folders in which Snakemake ran before, the newest last."""
    found = [place for place in folder.glob(PLACES) if place.is_dir() and not place.is_symlink()]
    return sorted(found, key=lambda place: place.stat().st_mtime_ns)


def take_records(folder: Path, called: Path, place: Path) -> None:
    """Copy the valid records of earlier runs to a new place, under the present paths of their files.

    If there is no earlier place, the records are read from the user's working folder.
    """
    for kind in (RECORDS, BEGUN):
        (place / kind).mkdir(parents=True)
    files = [file.name for file in folder.glob("[!.]*")]
    sources = [(one, _folder_of(one)) for one in earlier_places(folder) if one != place] or [(Path(), str(called))]
    for source, before in sources:
        for name in files:
            key = str(folder / name)
            record = record_of(source / RECORDS, f"{before}/{name}")
            if record is not None:
                _write(place / RECORDS, key, _moved(record, os.path.abspath(source / before), str(folder)))
            if _content(_record_path(source / BEGUN, f"{before}/{name}")) is not None:
                _write(place / BEGUN, key, {"external_jobid": None})


def record_of(records: Path, key: str) -> dict[str, Any] | None:
    """Return the valid parts of Snakemake's record of a file; None if there is no valid record."""
    content = _content(_record_path(records, key))
    try:
        found = json.loads(content or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    kept: dict[str, Any] = {name: found[name] for name in TEXTS if _is_text(found.get(name))}
    kept |= {name: found[name] for name in LISTS if _is_list(found.get(name))}
    kept |= {name: found[name] for name in NUMBERS if type(found.get(name)) in (int, float)}
    sums = found.get("input_checksums")
    if isinstance(sums, dict) and _is_list([*sums, *sums.values()]):
        kept["input_checksums"] = sums
    return kept if type(kept.get("record_format_version")) is int else None


def _is_text(value: Any) -> bool:
    """Return whether a value is a text without control characters other than tabs and line ends."""
    return isinstance(value, str) and printable(plain := value.translate({10: " ", 9: " "})) == plain


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _moved(record: dict[str, Any], before: str, now: str) -> dict[str, Any]:
    """Return a record with absolute paths, in which the sweep's present folder replaces its former folder."""

    def moved(path: str) -> str:
        whole = os.path.abspath(path)
        there = os.path.normpath(os.path.join(now, os.path.relpath(whole, before)))
        return there if whole.startswith(f"{before}/") or os.path.exists(there) else whole

    record |= {name: sorted(map(moved, record[name])) for name in ("input", "log") if name in record}
    sums = record.get("input_checksums", {})
    return record | {"input_checksums": {moved(path): digest for path, digest in sums.items()}}


def _folder_of(place: Path) -> str:
    """Return the path that the sweep's folder had when the place was made."""
    return (_content(place / OF) or b"")[:4096].decode(errors="replace") or str(place.parent)


def _content(path: Path) -> bytes | None:
    """Return a file's bytes; None unless it is a regular file of at most MOST_BYTES."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES else None
    except (OSError, ValueError):
        return None


def _record_path(records: Path, key: str) -> Path:
    """Return the path of Snakemake's record of a file: the name in base64, cut if long (snakemake.persistence.file)."""
    name = urlsafe_b64encode(key.encode(errors="surrogateescape")).decode()
    try:
        longest = os.pathconf(records, "PC_NAME_MAX") - 1
    except OSError:
        longest = 254  # nothing is there to be read
    *folders, last = [name[start : start + longest] for start in range(0, len(name), longest)]
    return records.joinpath(*(f"@{one}" for one in folders), last)


def _write(records: Path, key: str, content: dict[str, Any]) -> None:
    path = _record_path(records, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def environment() -> dict[str, str]:
    """Return the environment for processes in another folder: absolute paths, and no imports from that folder."""
    made = dict(os.environ)
    for name in LIST_VARIABLES:
        if name in made:
            parts = made[name].split(os.pathsep)
            made[name] = os.pathsep.join(os.path.abspath(part) for part in parts if part)
    made |= {name: os.path.abspath(made[name]) for name in PATH_VARIABLES if made.get(name)}
    return {**made, FOLDER: str(located("")), "PYTHONSAFEPATH": "1"}


class SnakemakeOption(NamedTuple):
    """An option of Snakemake.

    names   spellings, such as --report
    most    largest number of values that the option takes
    unsaid  path that the option uses if no value follows it; "" if there is none
    kind    "path" or "target" if the values are paths or targets, else ""
    """

    names: list[str]
    most: int
    unsaid: str
    kind: str


TARGETS = SnakemakeOption([], 1 << 30, "", "target")  # words that follow no option


@cache
def options_of_snakemake() -> tuple[SnakemakeOption, ...]:
    """Return the options of Snakemake and its plugins (takes a second once). Raises BadInput if it does not start."""
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-P", "-c", ASK]
        done = subprocess.run(command, cwd=empty, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        raise BadInput(f"Snakemake does not start: {' '.join(done.stderr.split())[-200:]}; install it again")
    return tuple(SnakemakeOption(*fields) for fields in json.loads(done.stdout))


def with_absolute_paths(words: Sequence[str], options: Sequence[SnakemakeOption]) -> list[str]:
    """Return the user's options for Snakemake with absolute paths, because Snakemake runs in another folder.

    Raises BadInput if a profile is given by name and a folder here has this name: Snakemake would not find the folder.
    """
    made: list[str] = []
    option, left = TARGETS, TARGETS.most
    for word in words:
        if word.startswith("-"):
            name, given, value = word.partition("=")
            made += [os.path.abspath(option.unsaid)] if option.unsaid and left else []
            named = [one for one in options if name in one.names]
            begun = [one for one in options if name[:2] == "--" and any(full.startswith(name) for full in one.names)]
            option = [*named, *begun, TARGETS][0]
            left = 0 if given else option.most
            made.append(f"{name}={_absolute(option, value)}" if given else word)
        else:
            if left == 0:
                option, left = TARGETS, TARGETS.most
            made.append(_absolute(option, word))
            left -= 1
    return made + ([os.path.abspath(option.unsaid)] if option.unsaid and left else [])


def _absolute(option: SnakemakeOption, value: str) -> str:
    """Return an option's value, absolute if it is a path. Profiles and targets with a separator are paths."""
    profile = not {"--profile", "--workflow-profile"}.isdisjoint(option.names)
    if profile and os.sep not in value and os.path.isdir(value):
        raise BadInput(
            f"{option.names[0]}: expected the name of a profile of yours, or a path, got {value}; write ./{value}"
        )
    if option.kind == "path" or (os.sep in value and (profile or option.kind == "target")):
        return os.path.abspath(value)
    return value
