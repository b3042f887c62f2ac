"""Numbers without end, and things of other types, in Python and in configurations: one line, at once."""

from __future__ import annotations

import pytest
import torusweep as ts
from torusweep.questions import FUNCTIONS, QUESTIONS, question_named
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork

ENDLESS = 10**5000
NUMBERS = [
    (name, one.name)
    for name in QUESTIONS
    for one in question_named(name).parameters
    if one.kind in (int, float) and not (name in FUNCTIONS and question_named(name).about == "")
]


@pytest.mark.parametrize(("name", "parameter"), NUMBERS)
def test_a_number_of_5001_digits_is_refused_by_its_digits(name: str, parameter: str):
    question = question_named(name)
    network = ts.network("ring(k=8)").topology
    with pytest.raises(ts.BadInput, match=rf"{parameter}: expected numbers below 2⁶⁴, got one of 5,001 digits$"):
        question.answer(
            network if question.about == "network" else [LazyNetwork.of(network)], How(), {parameter: ENDLESS}
        )


@pytest.mark.parametrize(
    ("sql", "folder", "words"),
    [
        (None, "results", "a SELECT as text"),
        (b"SELECT 1", "results", "a SELECT as text"),
        ("SELECT 1", None, "a folder of results"),
        ("SELECT 1", [3], "a folder of results"),
    ],
)
def test_a_query_of_another_type_is_refused(sql, folder, words):
    with pytest.raises(ts.BadInput, match=words):
        ts.query(sql, folder)


def test_a_range_of_design_spaces_is_not_written_out():
    space = {"family": "lattices", "dimensions": 3, "nodes": {"from": 2, "to": 2**31 - 1}}
    with pytest.raises(ts.BadInput, match="at most 1,000,000 design spaces, got 2,147,483,646"):
        ts.sweep({"sweep": "a", "screen": [space]})
