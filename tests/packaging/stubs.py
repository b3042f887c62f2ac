"""Type stubs of the questions, for type checkers and editors: the methods of `Network`, the functions of `torusweep`.

    python -m tests.packaging.stubs             # writes pipeline/torusweep/library/asked.pyi
    python -m tests.packaging.stubs --editable  # and tells type checkers where the sources are

Methods and functions are made of the questions' declarations when they are first used, so that a type checker sees
none of them. The stubs are made of the same declarations. They are not kept in git: setting up .venv, `make lint` and
`make release` write them.
"""

from __future__ import annotations

import inspect
import sys
import sysconfig
import typing
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal

import numpy as np
from scipy.sparse import csr_array
from torusweep.library.method import Method
from torusweep.library.network import Network
from torusweep.questions import FUNCTIONS, question_named
from torusweep.questions.parameters import declared
from torusweep.routing import GivenRouting
from torusweep.traffic import GivenTraffic
from torusweep_kernels.backend import BACKENDS

ROOT = Path(__file__).parents[2]
PLACE = Path("pipeline/torusweep/library/asked.pyi")
HEAD = '''"""Made of the questions' declarations by tests/packaging/stubs.py."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy
{imports}

class _Table(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _Array(Protocol):
    def __array__(self) -> numpy.ndarray[Any, Any]: ...

class _Sparse(Protocol):
    def tocsr(self) -> Any: ...

_Backend = Literal{backends}
_Routing = str | {routing} | _Table | Mapping[str, Any] | _Array | Callable[[int, int], Any]
_Traffic = str | {traffic} | _Array | _Sparse | Sequence[Sequence[float]]
'''
# what a parameter takes in Python beyond its declared type
WIDER = {
    **{GivenRouting: "_Routing", GivenTraffic: "_Traffic", np.ndarray: "_Array", csr_array: "_Sparse", Real: "float"},
    **{Any: "Any", NoneType: "None"},
}


def spelled(hint: Any, modules: set[str]) -> str:
    """A type as it stands in a stub: without what is annotated, and a tuple of any length as one value or several."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return spelled(arguments[0], modules)
    if origin in (typing.Union, UnionType):
        parts = dict.fromkeys(spelled(one, modules) for one in arguments)
        return " | ".join(part for part in parts if part != "str" or parts.keys().isdisjoint(("_Routing", "_Traffic")))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is tuple and arguments[1:] == (Ellipsis,):
        each = spelled(arguments[0], modules)
        return f"{each} | Sequence[{each}]"
    if origin is not None:
        return f"{spelled(origin, modules)}[{', '.join(spelled(one, modules) for one in arguments)}]"
    if hint in WIDER:
        return WIDER[hint]
    if hint.__module__ in ("builtins", "collections.abc"):
        return str(hint.__name__)
    modules.add(hint.__module__)
    return f"{hint.__module__}.{hint.__qualname__}"


def stub_of(name: str, question: Any, first: str, modules: set[str]) -> str:
    """The stub of a method or function. first: the text of its first parameter, '' if it has none."""
    taken, only = [first] if first else [], False
    parameters = [(one, spelled(hint, modules)) for one, hint in declared(type(question).ask, question.skipped)]
    if "backend" in question.how:
        backend = inspect.Parameter("backend", inspect.Parameter.KEYWORD_ONLY, default="auto")
        parameters.append((backend, "_Backend"))
    for one, hint in parameters:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not only:
            only = True
            taken.append("*")
        taken.append(f"{one.name}: {hint}" + " = ..." * (one.default is not inspect.Parameter.empty))
    answer = spelled(typing.get_type_hints(type(question).ask)["return"], modules)
    return f"def {name}({', '.join(taken)}) -> {answer}: ..."


def stubs() -> str:
    """The text of the module of stubs."""
    modules = {GivenRouting.__module__, GivenTraffic.__module__}
    methods = [
        stub_of(name, question_named(one.name), "self", modules)
        for name, one in vars(Network).items()
        if isinstance(one, Method)
    ]
    questions = {name: question_named(name) for name in FUNCTIONS}
    functions = [
        stub_of(name, one, "networks: object = ..." if one.about else "", modules) for name, one in questions.items()
    ]
    names = {one: f"{one.__module__}.{one.__qualname__}" for one in (GivenRouting, GivenTraffic)}
    head = HEAD.format(
        imports="\n".join(f"import {module}" for module in sorted(modules)),
        backends=list(BACKENDS),
        routing=names[GivenRouting],
        traffic=names[GivenTraffic],
    )
    return "\n".join([head, "class Asked:", *(f"    {one}" for one in methods), "", *functions, ""])


def write_stubs(folder: Path = ROOT) -> None:
    """Write the stubs into the sources in a folder."""
    (folder / PLACE).write_text(stubs())


if __name__ == "__main__":
    write_stubs()
    if sys.argv[1:] == ["--editable"]:  # type checkers run no import hooks: they find sources by a file of their paths
        sources = "".join(f"{ROOT / name}\n" for name in ("pipeline", "kernels"))
        (Path(sysconfig.get_path("purelib")) / "torusweep-sources.pth").write_text(sources)
