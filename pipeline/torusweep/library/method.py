"""Methods of `Network` that ask questions: their signatures and docstrings come from the questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from torusweep_kernels.backend import BACKENDS

from torusweep.errors import BadInput, nearest, one_line
from torusweep.questions import question_named
from torusweep.questions.answer import Answer
from torusweep.questions.parameters import Parameter, declared
from torusweep.questions.question import How, Question


class Method:
    """A question as a method: `loads = Method("loads")`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, network: Any, owner: type) -> Callable[..., Any]:
        asked = method_of(question_named(self.name))
        return asked if network is None else asked.__get__(network, owner)


def method_of(question: Any) -> Any:
    """The function (network, the question's parameters …, backend) → its answer."""
    assert isinstance(question, Question)
    taken = [one for one, _ in declared(type(question).ask, question.skipped)]
    if "backend" in question.how:
        taken.append(inspect.Parameter("backend", inspect.Parameter.KEYWORD_ONLY, default="auto"))
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if question.about else []
    signature = inspect.Signature([*own, *taken], return_annotation=get_type_hints(type(question).ask).get("return"))

    def asked(*positional: Any, **named: Any) -> Answer:
        for name in named:
            if name not in signature.parameters:
                known = [one.name for one in taken]
                raise BadInput(
                    f"{question.command}: unknown option '{name}'{nearest(name, known)}; it takes {', '.join(known)}"
                )
        given = signature.bind(*positional, **named).arguments
        network, backend = given.pop("self", None), given.pop("backend", "auto")
        if not isinstance(backend, str) or backend not in BACKENDS:
            close = nearest(backend, BACKENDS) if isinstance(backend, str) else ""
            shown = one_line(repr(backend), 60)
            raise BadInput(f"backend={shown}: expected one of {', '.join(BACKENDS)}{close}; auto suits most")
        if network is None:
            return question.answer(None, How(backend), given)
        return question.answer(network.topology, How(backend), given).labelled(network.labels)

    asked.__name__ = asked.__qualname__ = question.command
    asked.__doc__ = _doc(question)
    asked.__signature__ = signature  # type: ignore[attr-defined]
    return asked


def _doc(question: Question) -> str:
    """The docstring of the question's function, with its parameters before the examples."""
    said, mark, examples = (inspect.getdoc(type(question).ask) or "").partition(">>>")
    width = max((len(one.name) for one in question.parameters), default=0)
    lines = [f"{one.name:<{width}}  {_meaning(one)}" for one in question.parameters]
    return "\n".join([said.rstrip(), "", *lines, "", mark + examples]).rstrip()


def _meaning(one: Parameter) -> str:
    usual = "" if one.usual is None else f"; by default {one.usual}"
    return f"{one.meaning}{usual}"
