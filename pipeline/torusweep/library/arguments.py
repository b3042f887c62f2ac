"""Arguments of the library's methods: what has another type is refused in a line, before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from torusweep_kernels.backend import BACKENDS

from torusweep.collectives.algorithms import ALGORITHMS
from torusweep.collectives.operations import OPERATIONS
from torusweep.errors import BadInput, nearest, one_line
from torusweep.interchange import FORMATS
from torusweep.stages.availability import MEASURES
from torusweep.stages.availability.request import ALL
from torusweep.stages.deadlock.rules import RULES


def check_text(name: str, given: Any, known: Sequence[str]) -> None:
    """Raise BadInput for what is no text; known: some names, the first as an example."""
    if not isinstance(given, str):
        raise BadInput(f"{name}={_shown(given)}: expected a name such as '{known[0]}'; there are {', '.join(known)}")


def check_whole(name: str, given: Any, remedy: str) -> None:
    """Raise BadInput for what is neither a whole number nor None."""
    if given is not None and (not isinstance(given, Integral) or isinstance(given, bool)):
        raise BadInput(f"{name}={_shown(given)}: expected a whole number, such as {name}={remedy}")


def check_number(name: str, given: Any, remedy: str) -> None:
    """Raise BadInput for what is neither a number nor None."""
    if given is not None and (not isinstance(given, Real) or isinstance(given, bool)):
        raise BadInput(f"{name}={_shown(given)}: expected a number, such as {name}={remedy}")


def check_backend(given: Any) -> None:
    """Raise BadInput for what is no backend of the kernels."""
    if not isinstance(given, str) or given not in BACKENDS:
        close = nearest(given, BACKENDS) if isinstance(given, str) else ""
        raise BadInput(f"backend={_shown(given)}: expected one of {', '.join(BACKENDS)}{close}; auto suits most")


def check_sampling(packets: Any, seed: Any, relative_error: Any) -> None:
    """Of `Network.loads`."""
    check_whole("packets", packets, "1_000_000")
    check_whole("seed", seed, "1")
    check_number("relative_error", relative_error, "0.01")


def check_rule(vc_rule: Any, virtual_channels: Any) -> None:
    """Of `Network.routes`."""
    check_text("vc_rule", vc_rule, tuple(RULES))
    if not isinstance(virtual_channels, Integral) or isinstance(virtual_channels, bool):
        raise BadInput(f"virtual_channels={_shown(virtual_channels)}: expected 1 … 16, a whole number")


def check_measures(measures: Any, backend: Any) -> None:
    """Of `Network.availability`."""
    for name in measures if isinstance(measures, list | tuple) else [measures]:
        check_text("measures", name, (*MEASURES, ALL))
    check_backend(backend)


def check_export(format: Any, path: Any) -> None:
    """Of `Network.export`."""
    check_text("format", format, tuple(FORMATS))
    if path is not None and not isinstance(path, str | Path):
        raise BadInput(f"path={_shown(path)}: expected the name of a file or folder; leave it out")


def check_collective(operation: Any, algorithms: Any, root: Any, simulate: Any) -> None:
    """Of `Network.collective`."""
    check_text("operation", operation, tuple(OPERATIONS))
    check_whole("root", root, "0")
    check_whole("simulate", simulate, "1000")
    if algorithms is not None:
        for name in algorithms if isinstance(algorithms, list | tuple) else [algorithms]:
            check_text("algorithms", name, tuple(ALGORITHMS))


def _shown(given: Any) -> str:
    return one_line(repr(given), 60)
