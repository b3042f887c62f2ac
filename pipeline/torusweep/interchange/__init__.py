"""Export networks in the formats of other tools: simulators, graph libraries, tables.

To add a format, write a module with a `Format`, and add the format to FORMATS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from torusweep.errors import BadInput, as_known, nearest, one_line
from torusweep.interchange import astra_sim, graphs, simulators
from torusweep.interchange.formats import Format, check_simulated, losses
from torusweep.networks.readers import SUFFIXES
from torusweep.networks.topology import Topology

FORMATS: dict[str, Format] = {
    "booksim": simulators.BOOKSIM,
    "sst": simulators.SST,
    "astra-sim": astra_sim.FORMAT,
    "caminos": simulators.CAMINOS,
    "graphml": graphs.GRAPHML,
    "networkx-json": graphs.NODE_LINK,
    "edgelist": graphs.EDGE_LIST,
    "parquet": graphs.PARQUET,
}
LONGEST_NAME = 80  # characters of a file's name that is made from a spelling


@dataclass(frozen=True, repr=False)
class Written:
    """The result of `export`: the files written, and notes on what the format cannot hold.

    format   name of the format
    files    written files, in the order in which the other tool reads them
    notes    lines that name the parts of the network that the format cannot hold, and remarks
    command  shell command that reads the files
    """

    format: str
    files: tuple[Path, ...]
    notes: tuple[str, ...]
    command: str

    def __repr__(self) -> str:
        lines = [*(f"written: {path}" for path in self.files), *self.notes]
        return "\n".join([*lines, f"to {'read' if FORMATS[self.format].suffix else 'run'}: {self.command}"])


def export(topology: Topology, format: str | None, path: str | Path | None = None) -> Written:
    """Write a network in the format of another tool.

    format  a name in FORMATS; by default the format of the path's suffix
    path    the file or, for formats of several files, the folder, which is created; by default named after the network

    Existing files are replaced. Raises BadInput for an unknown format, a network that the format cannot hold at all, or
    a path that cannot be written. The notes name the parts of a network that the format cannot hold.
    """
    name = format_name(format, path)
    chosen = FORMATS[name]
    place = default_path(topology, name) if path is None else Path(path)
    _check_place(place, name, folder=not chosen.suffix)
    if chosen.simulates:
        check_simulated(topology, name)
    chosen.check(topology)
    notes = [*losses(topology, chosen), *_read_otherwise(place, name)]
    files = chosen.write(topology, place)
    return Written(name, tuple(files), tuple(notes), chosen.command(files))


def _read_otherwise(place: Path, name: str) -> list[str]:
    """Return a remark if the file's suffix belongs to another format, as which it would be read; else []."""
    own, read_as = FORMATS[name].suffix, SUFFIXES.get(place.suffix.lower())
    if not own or read_as in (None, SUFFIXES.get(own)):
        return []
    return [f"{one_line(place.name)} is {name}, but its suffix is read as {read_as}; to read it back, name it *{own}"]


def _check_place(place: Path, name: str, *, folder: bool) -> None:
    """Raise BadInput if a path is a folder where a file is expected, or the reverse, or if its name is invalid."""
    try:
        is_folder, exists = place.is_dir(), place.exists()
    except (OSError, ValueError) as error:
        raise BadInput(f"{one_line(place)}: expected a path to write, got: {one_line(error)}; choose another") from None
    if "\0" in str(place):
        raise BadInput(f"{one_line(place)}: expected a path to write, got one with a NUL; choose another")
    if is_folder and not folder:
        raise BadInput(f"{one_line(place)}: expected a file for {name}, got a folder; add a file's name")
    if folder and exists and not is_folder:
        raise BadInput(f"{one_line(place)}: expected a folder for the files of {name}, got a file; choose another name")


def format_name(text: str | None, path: str | Path | None = None) -> str:
    """Return the name in FORMATS that a text means; case, hyphens and underscores do not matter.

    Without a text, the suffix of the path decides. Raises BadInput for an unknown format or suffix.
    """
    if text is None:
        suffixes = {suffix: name for suffix, name in SUFFIXES.items() if name in FORMATS}
        suffix = "" if path is None else Path(path).suffix.lower()
        if suffix not in suffixes:
            got = "neither" if path is None else repr(one_line(Path(path).name))
            raise BadInput(
                f"expected a format, one of {', '.join(FORMATS)}, or a file to write with a suffix of"
                f" {', '.join(suffixes)}, got {got}; choose a format"
            )
        return suffixes[suffix]
    name = as_known(text, FORMATS)
    if name not in FORMATS:
        raise BadInput(f"unknown format '{one_line(text, 60)}'{nearest(text, FORMATS)}; there are {', '.join(FORMATS)}")
    return str(name)


def default_path(topology: Topology, name: str) -> Path:
    """Return the path of a file or folder that is named after the network, in the current folder."""
    network = re.sub(r"[^A-Za-z0-9]+", "-", topology.spelling)[:LONGEST_NAME].strip("-")
    suffix = FORMATS[name].suffix
    return Path(f"{network}{suffix}" if suffix else f"{network}-{name}")


__all__ = ["FORMATS", "Format", "Written", "default_path", "export", "format_name"]
