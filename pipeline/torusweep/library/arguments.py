"""Arguments of the library's methods: what has another type is refused in a line, before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput, one_line
from torusweep.interchange import FORMATS
from torusweep.stages.deadlock.rules import RULES


def check_text(name: str, given: Any, known: Sequence[str]) -> None:
    """Raise BadInput for what is no text; known: some names, the first as an example."""
    if not isinstance(given, str):
        raise BadInput(f"{name}={_shown(given)}: expected a name such as '{known[0]}'; there are {', '.join(known)}")


def check_rule(vc_rule: Any, virtual_channels: Any) -> None:
    """Of `Network.routes`."""
    check_text("vc_rule", vc_rule, tuple(RULES))
    if not isinstance(virtual_channels, Integral) or isinstance(virtual_channels, bool):
        raise BadInput(f"virtual_channels={_shown(virtual_channels)}: expected 1 … 16, a whole number")


def check_export(format: Any, path: Any) -> None:
    """Of `Network.export`."""
    check_text("format", format, tuple(FORMATS))
    if path is not None and not isinstance(path, str | Path):
        raise BadInput(f"path={_shown(path)}: expected the name of a file or folder; leave it out")


def _shown(given: Any) -> str:
    return one_line(repr(given), 60)
