"""What a network says moves every answer, or the answer's note names it: of every question and member of its tables.

The declarations of questions (`Askable.heeds`) are held to what answers do, and the matrix in the docs to both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions import question_named
from torusweep.questions.heeds import markdown

from tests.meaning.answers import moves, numbers
from tests.meaning.attributes import SAID
from tests.meaning.cases import NETWORKS, about_networks, cases, write_files

# an attribute that moves some numbers of an answer, while its note says that others leave it out
PARTLY = {
    "describe": ("bandwidth", "latency", "weight"),  # symmetries keep them; hops and bisection width do not heed them
}
CASES = [case for question in about_networks() for case in cases(question)]
# a part of them by turns in `make test`, the rest in `make test-slow`
OFTEN = 23


@pytest.fixture(autouse=True)
def _beside_files(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(folder(tmp_path_factory.getbasetemp()))


@cache
def folder(base: Path) -> Path:
    found = base / "meaning"
    found.mkdir(exist_ok=True)
    write_files(found)
    return found


def test_the_matrix_in_the_docs_is_current():
    page = Path(__file__).parents[2] / "docs" / "heeds.md"
    assert page.read_text() == markdown(), "run 'make docs'"


@cache
def asked_about(number: int) -> Topology:
    """The first of NETWORKS that a case suits."""
    case = CASES[number]
    for spelling in NETWORKS:
        network = build(spelling)
        if case.values.keys() & {"sends", "time_unit"}:
            network = SAID["unit"](network)[0]
        if "weighted" in str(case.values.get("routing")):
            network = SAID["weight"](network)[1]
        try:
            case.ask(network)
            return network
        except BadInput as refusal:
            reason = refusal
    raise AssertionError(f"{case}: give it a network in NETWORKS, or what it needs in BESIDE: {reason}")


def trials() -> Iterator[object]:
    """(case, attribute): all of a question's first case; of others one in OFTEN is quick."""
    for number, case in enumerate(CASES):
        first = number == 0 or CASES[number - 1].question != case.question
        for place, attribute in enumerate(SAID):
            quick = first or (number + place) % OFTEN == 0
            marks = () if quick else (pytest.mark.slow,)
            yield pytest.param(number, attribute, id=f"{case}-{attribute}".replace("/", " "), marks=marks)


@pytest.mark.parametrize(("number", "attribute"), [*trials()])
def test_what_a_network_says_moves_the_answer_or_is_in_its_note(number: int, attribute: str):
    case = CASES[number]
    try:
        answers = [case.ask(network) for network in SAID[attribute](asked_about(number))]
    except BadInput as refusal:
        if "deadlock-free" in str(refusal) or case.values.keys() & {
            "routing",
            "algorithms",
            "traffic",
            "vc_rule",
            "placement",
        }:
            return  # a member that does not suit such networks
        assert attribute in (*question_named(case.question).refuses, "terminals")
        return
    first, *others = map(numbers, answers)
    moved = any(moves(first, other) for other in others)
    if attribute == "terminal rate":  # links of hosts move other numbers, too: what a question declares is believed
        moved = attribute in question_named(case.question).heeds
    noted = any(f"{attribute} (" in note for answer in answers for note in answer.unheeded.values())
    if moved and noted:
        assert attribute in PARTLY.get(case.question, ()), "heeded, and the note says that it is not"
    else:
        assert moved or noted, "left out without a word"
