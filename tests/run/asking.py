"""What a sweep is asked for, and what is said where it cannot be."""

from __future__ import annotations

import sys

from tests.run.rings import Run


def plain(run: Run, code: str, *arguments: str) -> tuple[int, str]:
    process = run.start(*arguments, command=(sys.executable, "-c", code))
    said = process.communicate(timeout=280)[0]
    return process.returncode, said
