"""Read which Dask schedulers the user trusts. Answers are unpickled, so a scheduler can run code on this machine.

A configuration may come from anybody, so it may only name a scheduler. The user declares trust, and the certificates
to use, by an entry ADDRESS or ADDRESS,CA,CERT,KEY. The entry is given on the command line (`torusweep run
--trust-scheduler`), in the variable TORUSWEEP_TRUST_SCHEDULER, or as a line of the file `torusweep/schedulers` in
the user's configuration folder. An address tls:// needs the three files; tcp:// is not encrypted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from torusweep.errors import BadInput, located, printable

VARIABLE = "TORUSWEEP_TRUST_SCHEDULER"
MOST_BYTES = 1 << 20  # of the user's file


class Trusted(NamedTuple):
    """A scheduler that the user trusts. files: PEM files of the authority, certificate and key; () without TLS."""

    address: str
    files: tuple[str, ...] = ()


def own_file() -> Path:
    """Return the path of the user's list of schedulers. Each line is an entry or a # comment."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "torusweep" / "schedulers"


def trusted(address: str) -> Trusted:
    """Return the user's entry for a scheduler that a configuration names. Raises BadInput if there is none."""
    for text, source, folder in _entries():
        entry = _entry(text, source, folder)
        if entry.address.rstrip("/") == address.rstrip("/"):
            return entry
    files = ",CA,CERT,KEY" if address.startswith("tls:") else ""
    raise BadInput(
        "cluster.scheduler: expected an address that you trust, as a scheduler's answers may run code here, got"
        f" {address}; if it is yours, add --trust-scheduler {address}{files} to 'torusweep run', or write"
        f" {address}{files} into {VARIABLE} or {own_file()}"
    )


def _entries() -> Iterator[tuple[str, str, Path]]:
    """Yield each entry, its source, and the folder to which the entry's paths are relative."""
    if os.environ.get(VARIABLE):
        yield os.environ[VARIABLE], f"--trust-scheduler, {VARIABLE}", located("")
    path = own_file()
    try:
        with path.open(encoding="utf-8") as file:
            lines = file.read(MOST_BYTES).splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            yield line, str(path), path.parent


def _entry(text: str, source: str, folder: Path) -> Trusted:
    """Parse an entry ADDRESS or ADDRESS,CA,CERT,KEY. Raises BadInput for any other text."""
    address, *files = (part.strip() for part in text.split(","))
    if len(files) not in (0, 3) or "://" not in address or (address.startswith("tls:") and not files):
        raise BadInput(
            f"{source}: expected tcp://HOST:PORT, or tls://HOST:PORT,CA,CERT,KEY with three PEM files, got"
            f" '{printable(text)}'; write it so"
        )
    return Trusted(address, tuple(str(folder / Path(file).expanduser()) for file in files))
