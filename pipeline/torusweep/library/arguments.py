"""Arguments of the library's methods: what has another type is refused in a line, before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, get_type_hints

from torusweep_kernels.backend import BACKENDS

from torusweep.errors import BadInput, nearest, one_line
from torusweep.interchange import FORMATS
from torusweep.library.simulation import SimulationOptions
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


def check_export(format: Any, path: Any) -> None:
    """Of `Network.export`."""
    check_text("format", format, tuple(FORMATS))
    if path is not None and not isinstance(path, str | Path):
        raise BadInput(f"path={_shown(path)}: expected the name of a file or folder; leave it out")


def check_simulation(backend: Any, precision: Any, packets_each: Any, options: dict[str, Any]) -> None:
    """Of `Network.simulate`; options that are no int, bool or str, or unknown, are judged elsewhere."""
    check_backend(backend)
    check_number("precision", precision, "0.01")
    check_whole("packets_each", packets_each, "100")
    words = {int: "a whole number", bool: "True or False", str: "a text"}
    types: dict[str, type] = {**get_type_hints(SimulationOptions), "workload": str}
    for name, value in options.items():
        kind = types.get(name)
        if kind is None or value is None:
            continue
        fits = isinstance(value, Integral) and not isinstance(value, bool) if kind is int else isinstance(value, kind)
        if not fits:
            raise BadInput(f"{name}={_shown(value)}: expected {words[kind]}; 'torusweep simulate --help' explains it")


def _shown(given: Any) -> str:
    return one_line(repr(given), 60)
