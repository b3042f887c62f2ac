"""Programs in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def python(program: str, **environment: str) -> list[str]:
    """The words that a program prints. It runs in the repository's root, where it finds the package `tests`."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys\n{program}"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
