"""Compute digests of all that a row depends on besides its point: contents of files, and the code that computes it.

The sources that a module uses are found without importing it, by searching texts for import statements (also inside
functions), `#include`, and strings `"module:function"`, which name what is imported on use. A kernel's folder counts as
a whole, because its backends are imported by name. No source is excluded by its file name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torusweep_kernels

import torusweep
from torusweep.errors import unreadable

_ROOTS = {package.__name__: Path(package.__path__[0]).parent for package in (torusweep, torusweep_kernels)}
_CODE = {".css", ".cu", ".cuh", ".h", ".html", ".js", ".py"}
_KERNEL = re.compile(r"torusweep_kernels/\w+/")
_NAMED = re.compile(r"[\"'](torusweep[\w.]*):\w+[\"']")
_IMPORT = re.compile(
    r"""^[ \t]*(?:from (torusweep[\w.]*) import (\([^)]*\)|.*)|import (torusweep[\w.]*)|\#include "([\w/]+\.cuh)")""",
    re.MULTILINE,
)


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file's contents. Raises BadInput if the file cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error, "a file") from None


@cache
def program_digest() -> str:
    """Return the SHA-256 of the whole program. Any change renews derived tables and pages, which take little time."""
    return digest_of_code(file for file in source_files() if file.startswith("torusweep/"))


def digest_of_code(files: Iterable[str]) -> str:
    """Return the SHA-256 of sources and of their names within the packages, which do not depend on the installation."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{file_digest(source_files()[name])}\0".encode())
    return digest.hexdigest()


def sources_of(module: str) -> set[str]:
    """Return the names of all sources on which a module's results depend: its own, and direct and indirect imports."""
    waiting, found = source_of(module), set[str]()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            kernel = _KERNEL.match(file)
            waiting += [*imports_of(file), *(_within(kernel[0]) if kernel else ())]
    return found


@cache
def imports_of(file: str) -> list[str]:
    """Return the sources of our packages that a source imports or includes. They are found by fast text search."""
    found: list[str] = []
    text = source_files()[file].read_text(encoding="utf-8")
    for package, names, module, header in _IMPORT.findall(text):
        for name in re.findall(r"\w+", re.sub(r" as \w+|#.*", "", names)):
            found += source_of(f"{package}.{name}") or source_of(package)
        found += source_of(module)
        found += _within(f"torusweep_kernels/{header}") if header else ()
    return found + [source for module in _NAMED.findall(text) for source in source_of(module)]


def source_of(name: str) -> list[str]:
    """Return the name of a module's source, in a list; [] for a module that is not in our packages."""
    path = name.replace(".", "/")
    return [file for file in (f"{path}.py", f"{path}/__init__.py") if file in source_files()]


@cache
def _within(start: str) -> list[str]:
    """Return the names of the sources that begin with a text."""
    return [file for file in source_files() if file.startswith(start)]


@cache
def source_files() -> dict[str, Path]:
    """Return the paths of all source files of our packages, by names that begin with the package."""
    return {
        file.relative_to(root).as_posix(): file
        for package, root in _ROOTS.items()
        for file in (root / package).rglob("*")
        if file.suffix in _CODE
    }
