"""What keeps the house small (docs/architecture.md). Read off the sources, as in test_rooms.py."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from torusweep.questions import QUESTIONS, question_named

from tests.measures import measures, modules, repeated_classes

MODULES = modules()
MOST_MODULES = 20  # of a folder
LEAST_LINES = 80  # of a module, but for one in SHORT
SHORT = 8
# what grows beyond these needs a line in CHANGELOG.md that says why; what shrinks takes its limit with it
LIMITS = {"modules": 374, "lines": 69_600, "arrows": 335, "command line and library, lines": 3_000}
SLACK = 0.03
# pareto asks of rows what best asks of lattices; the other is a public name of version 0.1
OTHERS = {"pareto", "front_of", "loads_record"}


@pytest.mark.parametrize("measure", LIMITS)
def test_the_house_does_not_grow(measure: str):
    value, most = measures(MODULES)[measure], LIMITS[measure]
    assert value <= most, f"{measure}: raise the limit only with a line in CHANGELOG.md that says why"
    assert value >= most * (1 - SLACK), f"{measure}: lower the limit to {value:,}"


def test_few_modules_are_short():
    short = [m.name for m in MODULES.values() if m.lines < LEAST_LINES and m.path.name != "__init__.py"]
    assert len(short) * SHORT <= len(MODULES), sorted(short)


def test_folders_have_few_modules():
    count = Counter(module.path.parent for module in MODULES.values())
    assert {folder: number for folder, number in count.items() if number > MOST_MODULES} == {}


def test_a_public_class_name_is_defined_once():
    assert repeated_classes(MODULES) == {}


@pytest.mark.parametrize("room", ["cli", "library", "sweeps", "answers"])
def test_parameters_of_questions_are_declared_with_them(room: str):
    """No reader of the declarations has a function with two or more of the parameters that only one question has."""
    owners = Counter(one.name for name in QUESTIONS for one in question_named(name).parameters)
    own = {name for name, count in owners.items() if count == 1}
    asked = {question_named(name).ask.__name__ for name in QUESTIONS} | OTHERS
    copies = {
        (module.name, function.name)
        for module in MODULES.values()
        if module.room == room
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_") and function.name not in asked
        if len(own & {argument.arg for argument in function.args.args + function.args.kwonlyargs}) > 1
    }
    assert copies == set()


def test_a_name_that_is_defined_twice_is_found_out():
    assert repeated_classes({"a": _module("a", "class Same: ..."), "b": _module("b", "class Same: ...")}) == {
        "Same": ["torusweep.a", "torusweep.b"]
    }


def _module(name: str, text: str):
    some = next(iter(MODULES.values()))
    return type(some)(f"torusweep.{name}", some.path, ast.parse(text), 1)
