"""Record the versions of the software that made a result, and lock results folders.

Only one run at a time may use a results folder. A second run is refused with the name of the first.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput
from torusweep.version import __version__

PACKAGES = (
    "numpy",
    "numba",
    "scipy",
    "igraph",
    "pymetis",
    "pyarrow",
    "dask",
    "distributed",
    "snakemake",
    "cupy-cuda12x",
    "cupy-cuda13x",
)
SOURCES = Path(__file__).resolve().parents[2]
ROOT = SOURCES.parent
MANIFEST = ".manifest.lock"  # lock file that is held while the manifest is updated
FOLDERS = "shards", "figures", "parts", "logs", "benchmarks"  # folders inside a results folder


@cache
def software() -> dict[str, Any]:
    """Return versions of torusweep, Python and the packages that compute results; `commit` is '' outside a clone."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"torusweep": __version__, "commit": _commit(), "python": platform.python_version(), "packages": packages}


def _commit() -> str:
    """Return the commit of the git clone with this file, and + if files differ from the commit; '' without a clone."""
    if not (ROOT / ".git").exists() or SOURCES != ROOT / "pipeline":  # installed inside another project's folder
        return ""
    try:
        described = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return described.stdout.strip()


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold a lock file for a `with` block, and write the holder's name into the file.

    The operating system releases the lock when its holder ends, so a leftover file locks nothing.
    Raises BadInput at once, with the name of the holder, if another process holds the lock.
    """
    with open_for_writing(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                f"{path.parent} is in use by {describe_holder(path)}; wait until it ends, or stop it, and run again"
            ) from None
        me = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "start": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            "command": " ".join(sys.argv),
        }
        try:
            file.truncate(0)
            file.write(json.dumps(me))
            file.flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                file.close()  # tries to write the remaining bytes again
            raise BadInput(
                f"cannot write {path}: {error.strerror}; make room, or choose another folder with --results"
            ) from None
        try:
            yield
        finally:
            file.truncate(0)


@contextlib.contextmanager
def wait_for(path: Path) -> Iterator[None]:
    """Wait for a lock that is held only briefly, such as the manifest's, and hold it for a `with` block."""
    with open_for_writing(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def holder(path: Path) -> dict[str, Any] | None:
    """Return who holds a lock file or a part's lock file (`…-NAME`): {} if not yet written, None if nobody does."""
    for place in [path, *path.parent.glob(f"{path.name}-*")]:
        with contextlib.suppress(OSError), place.open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                try:
                    return dict(json.loads(file.read()))
                except ValueError:
                    return {}
    return None


def describe_holder(path: Path) -> str:
    """Return the holder of a lock file, in words."""
    who = holder(path)
    if not who:
        return "another run"
    return f"process {who['pid']} on {who['host']} since {who['start']} ({who['command']})"


def open_for_writing(path: Path) -> Any:
    """Open or create a lock file. Raises BadInput if its folder cannot be written, or contains symbolic links."""
    for place in (path.parent, path, *(path.parent / name for name in (*FOLDERS, MANIFEST))):
        if place.is_symlink():
            raise BadInput(
                f"{place}: expected no symbolic link, got one to {os.readlink(place)};"
                " name another folder with --results, or remove the link"
            )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "a+", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o666))
    except OSError as error:
        raise BadInput(
            f"cannot write in {path.parent}: {error.strerror};"
            " choose another folder with --results, or make this one writable"
        ) from None
