"""What a row depends on besides its point: files by their contents, and the code that computes it, import by import.

A module's sources are found without importing it, in the text of each: import statements, also inside functions,
`#include`, and texts `"module:function"`, by which tables name what is imported when it is used. A kernel's folder
counts as a whole, since its backends are imported by name. Nothing is left out by the name of its file.
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
    """sha256 of a file's contents. Raises BadInput where it cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error, "a file") from None


@cache
def program_digest() -> str:
    """sha256 of all that makes tables and pages from the stages' tables: cheap, so that any change makes them anew."""
    return digest_of_code(file for file in source_files() if file.startswith("torusweep/"))


def digest_of_code(files: Iterable[str]) -> str:
    """sha256 of sources by their names inside the packages: the same wherever these are installed."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{file_digest(source_files()[name])}\0".encode())
    return digest.hexdigest()


def sources_of(module: str) -> set[str]:
    """Sources that a module's results depend on: its own, and those of all that it imports, directly or not."""
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
    """Sources of ours that a source imports or includes. Its text is searched: a syntax tree takes 20 times as long."""
    found: list[str] = []
    text = source_files()[file].read_text(encoding="utf-8")
    for package, names, module, header in _IMPORT.findall(text):
        for name in re.findall(r"\w+", re.sub(r" as \w+|#.*", "", names)):
            found += source_of(f"{package}.{name}") or source_of(package)
        found += source_of(module)
        found += _within(f"torusweep_kernels/{header}") if header else ()
    return found + [source for module in _NAMED.findall(text) for source in source_of(module)]


def source_of(name: str) -> list[str]:
    """The source of a module of ours."""
    path = name.replace(".", "/")
    return [file for file in (f"{path}.py", f"{path}/__init__.py") if file in source_files()]


@cache
def _within(start: str) -> list[str]:
    """Sources whose names start so."""
    return [file for file in source_files() if file.startswith(start)]


@cache
def source_files() -> dict[str, Path]:
    """Every source file of our packages; named as in torusweep_kernels/backend.py."""
    return {
        file.relative_to(root).as_posix(): file
        for package, root in _ROOTS.items()
        for file in (root / package).rglob("*")
        if file.suffix in _CODE
    }
