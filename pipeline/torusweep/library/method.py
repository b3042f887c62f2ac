"""Make methods of `Network`, and functions, that ask questions; a question gives the signature and docstring.

An argument of a wrong type is refused in one line, before anything is computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, get_type_hints

from torusweep_kernels.backend import BACKENDS

from torusweep.errors import BadInput, as_known, nearest, one_line
from torusweep.interchange import FORMATS
from torusweep.questions import question_named
from torusweep.questions.answer import Answer
from torusweep.questions.deadlock.rules import RULES
from torusweep.questions.how import How
from torusweep.questions.parameters import Parameter, declared
from torusweep.questions.question import Askable
from torusweep.questions.stage import LazyNetwork


class Method:
    """A descriptor that makes a question a method of a class, as in `loads = Method("loads")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, network: Any, owner: type) -> Callable[..., Any]:
        asked = method_of(question_named(self.name))
        return asked if network is None else asked.__get__(network, owner)


@cache
def method_of(question: Any) -> Any:
    """Return the method that asks a question. It takes a network, the question's parameters and the backend."""
    return _function(question, "self" if question.about else "", lambda network, values: network)


def function_of(question: Any, network: Callable[[Any], Any]) -> Any:
    """Return the function that asks a question, with the question's parameters, the backend, and any networks first.

    network   function that makes a `Network` from a spelling, a file or a graph
    """

    def networks(given: Any, values: dict[str, Any]) -> list[LazyNetwork]:
        several = given if isinstance(given, list | tuple) else [given]
        meant = (question.network_meant(one, values) if isinstance(one, str) else one for one in several)
        return [LazyNetwork(one) if isinstance(one, str) else LazyNetwork.of(network(one).topology) for one in meant]

    return _function(question, "networks" if question.about else "", networks)


def _function(question: Any, first: str, networks: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Return a function that asks a question. Its first parameter is `first`, for networks; '' if it has none."""
    assert isinstance(question, Askable)
    called = question.method or question.command
    # a signature shows names and defaults; the docstring has meanings
    declarations = [one for one, _ in declared(type(question).ask, question.skipped)]
    taken = [one.replace(annotation=inspect.Parameter.empty) for one in declarations]
    if "backend" in question.how:
        taken.append(inspect.Parameter("backend", inspect.Parameter.KEYWORD_ONLY, default="auto"))
    default = () if first == "networks" else inspect.Parameter.empty
    own = [inspect.Parameter(first, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)] if first else []
    signature = inspect.Signature([*own, *taken], return_annotation=get_type_hints(type(question).ask).get("return"))

    def asked(*positional: Any, **named: Any) -> Answer:
        for name in named:
            if name not in signature.parameters:
                known = [one.name for one in taken]
                raise BadInput(f"{called}: unknown option '{name}'{nearest(name, known)}; it takes {', '.join(known)}")
        try:
            given = signature.bind(*positional, **named).arguments
        except TypeError as wrong:
            known = [name for name in signature.parameters if name != "self"]
            raise BadInput(f"{called}: {wrong}; it takes {', '.join(known)}") from None
        about: Any = networks(given.pop(first, ()), given) if first else None
        backend = as_known(given.pop("backend", "auto"), BACKENDS)
        if not isinstance(backend, str) or backend not in BACKENDS:
            close = nearest(backend, BACKENDS) if isinstance(backend, str) else ""
            shown = one_line(repr(backend), 60)
            raise BadInput(f"backend={shown}: expected one of {', '.join(BACKENDS)}{close}; auto suits most")
        if first != "self":
            return question.answer(about, How(backend), given)
        asked = [LazyNetwork.of(about.topology)] if question.about == "networks" else about.topology
        return question.answer(asked, How(backend), given).labelled(about.labels)

    asked.__name__ = asked.__qualname__ = called
    asked.__doc__ = _doc(question, first)
    asked.__signature__ = signature  # type: ignore[attr-defined]
    return asked


def _doc(question: Askable, first: str) -> str:
    """Return the question's docstring for its function, with the parameters described before the examples."""
    said, mark, examples = (inspect.getdoc(type(question).ask) or "").partition(">>>")
    meanings = {one.name: _meaning(one) for one in question.parameters}
    if first == "networks":
        meanings = {first: "a network, a spelling, a file or a graph, or a list of such", **meanings}
    width = max(map(len, meanings), default=0)
    lines = [f"{name:<{width}}  {meaning}" for name, meaning in meanings.items()]
    return "\n".join([said.rstrip(), "", *lines, "", mark + examples]).rstrip()


def _meaning(one: Parameter) -> str:
    usual = ", ".join(map(str, one.usual)) if isinstance(one.usual, tuple) else one.usual
    return one.meaning if usual in (None, "") else f"{one.meaning}; by default {usual}"


def check_text(name: str, given: Any, known: Sequence[str]) -> None:
    """Raise BadInput unless `given` is a text; the message lists the names in `known`, and suggests the first."""
    if not isinstance(given, str):
        raise BadInput(f"{name}={_shown(given)}: expected a name such as '{known[0]}'; there are {', '.join(known)}")


def check_rule(vc_rule: Any, virtual_channels: Any) -> None:
    """Raise BadInput for wrong arguments of `Network.routes`."""
    check_text("vc_rule", vc_rule, tuple(RULES))
    if not isinstance(virtual_channels, Integral) or isinstance(virtual_channels, bool):
        raise BadInput(f"virtual_channels={_shown(virtual_channels)}: expected 1 … 16, a whole number")


def check_export(format: Any, path: Any) -> None:
    """Raise BadInput for wrong arguments of `Network.export`."""
    if format is not None:
        check_text("format", format, tuple(FORMATS))
    if path is not None and not isinstance(path, str | Path):
        raise BadInput(f"path={_shown(path)}: expected the name of a file or folder; leave it out")


def _shown(given: Any) -> str:
    return one_line(repr(given), 60)
