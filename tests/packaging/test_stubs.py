"""The type stubs name the parameters that methods and functions have. `make lint` tries them on calls (typed_calls)."""

from __future__ import annotations

import ast
import inspect

import torusweep as ts
from torusweep.questions import FUNCTIONS

from tests.packaging.stubs import stubs


def test_the_stubs_have_the_signatures_of_methods_and_functions():
    tree = ast.parse(stubs())
    methods = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == "Asked").body
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    assert {one.name for one in functions} == set(FUNCTIONS)
    assert {"static", "loads", "simulate"} < {one.name for one in methods}
    for place, found in ((ts.Network, methods), (ts, functions)):
        for one in found:
            signature = inspect.signature(getattr(place, one.name)).parameters.values()
            keyword_only = [each.name for each in signature if each.kind is inspect.Parameter.KEYWORD_ONLY]
            assert [each.arg for each in one.args.kwonlyargs] == keyword_only
            assert [each.arg for each in (*one.args.args, *one.args.kwonlyargs)] == [each.name for each in signature]
            needed = [each.name for each in signature if each.default is inspect.Parameter.empty]
            without = one.args.args[: len(one.args.args) - len(one.args.defaults)]
            without += [each for each, value in zip(one.args.kwonlyargs, one.args.kw_defaults) if value is None]
            assert [each.arg for each in without] == needed
