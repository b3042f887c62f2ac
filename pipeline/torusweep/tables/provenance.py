"""What software made a result: versions, and the commit where the source is a clone."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from torusweep import __version__

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


@cache
def software() -> dict[str, Any]:
    """Versions of torusweep, Python and the packages that compute; `commit` is '' outside a clone."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "torusweep": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": packages,
    }


def _commit() -> str:
    """The clone's commit, with + where files differ from it."""
    if not (ROOT / ".git").exists() or SOURCES != ROOT / "pipeline":  # installed below a folder of another project
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
