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
from tests.meaning.cases import NETWORKS, REQUIRED, Case, about_networks, cases, write_files

# an attribute that moves some numbers of an answer, while its note says that others leave it out
PARTLY = {
    "describe": ("bandwidth", "latency", "weight"),  # symmetries keep them; hops and bisection width do not heed them
}
# what a question heeds, and a member of its tables cannot show: a note would be noise. (question, member, attribute)
CANNOT = {
    ("deadlock", "nearest_neighbour", "forwarding"): "packets make one hop, and pass no host",
    ("collective", ("trees_in_network",), "forwarding"): "each message goes over one link",
}
CASES = [case for question in about_networks() for case in cases(question)]


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
def suited(number: int, place: int) -> Topology | None:
    """A network of NETWORKS, with what a case's values need, that the case suits; None where it does not."""
    case, network = CASES[number], build(NETWORKS[place])
    if case.values.keys() & {"sends", "time_unit"}:
        network = SAID["unit"](network)[0]
    if "weighted" in str(case.values.get("routing")):
        network = SAID["weight"](network)[1]
    try:
        case.ask(network)
    except BadInput:
        return None
    return network


def asked_about(number: int) -> Iterator[Topology]:
    """The networks of NETWORKS that a case suits."""
    found = (suited(number, place) for place in range(len(NETWORKS)))
    return (network for network in found if network is not None)


def trials() -> Iterator[object]:
    """(case, attribute): a question's first case is in `make test`, the others in `make test-faults`."""
    for number, case in enumerate(CASES):
        first = number == 0 or CASES[number - 1].question != case.question
        for attribute in SAID:
            marks = () if first else (pytest.mark.faults,)
            yield pytest.param(number, attribute, id=f"{case}-{attribute}".replace("/", " "), marks=marks)


def outcome(case: Case, attribute: str, networks: list[Topology]) -> str:
    """What becomes of what networks say: moved, noted, refused, or nothing: ""."""
    declared, answers, moved = question_named(case.question), [], False
    try:
        for network in networks:
            answers.append(case.ask(network))
            moved = bool(moves(numbers(answers[0]), numbers(answers[-1])))
            if moved:
                break  # the others need not be asked
    except BadInput as refusal:
        if "choose routing minimal with rule hops" in str(refusal) and "routing" not in case.values:
            remedy = {"routing": "minimal", "vc_rule": "hops", "virtual_channels": 12}
            return outcome(case._replace(values={**case.values, **remedy}), attribute, networks)
        return "refused"
    if attribute == "terminal rate":  # links of hosts move other numbers, too: what a question declares is believed
        moved = attribute in declared.heeds
    noted = any(f"{attribute} (" in note for answer in answers for note in answer.unheeded.values())
    if moved and noted:
        assert attribute in PARTLY.get(case.question, ()), "heeded, and the note says that it is not"
    return "moved" if moved else "noted" if noted else ""


@pytest.mark.parametrize(("number", "attribute"), [*trials()])
def test_what_a_network_says_moves_the_answer_or_is_in_its_note(number: int, attribute: str):
    """On the first network that the case suits, or, where no note stands and nothing moves, on a further one."""
    case, found = CASES[number], []
    cannot = any((case.question, member, attribute) in [*CANNOT] for member in case.values.values())
    for network in asked_about(number):
        found.append(outcome(case, attribute, SAID[attribute](network)))
        if found[-1] in ("moved", "noted") or cannot or (found[-1] == "refused" and is_of_a_member(case)):
            return
    assert found, f"{case}: give it a network in NETWORKS, or what it needs in BESIDE"
    assert {*found} == {"refused"}, "left out without a word"
    assert attribute in question_named(case.question).refuses, "refused, which the question does not declare"


def is_of_a_member(case: Case) -> bool:
    """Whether a routing, algorithm or another member of a table is asked for, which may not suit such networks."""
    return bool(case.values.keys() - REQUIRED.get(case.question, {}).keys())


def test_what_cannot_matter():
    for network in SAID["forwarding"](build(NETWORKS[0])):
        assert Case("loads", {"traffic": "nearest_neighbour"}).ask(network).record["mean_hops"] == 1
        for question, member, _ in CANNOT:
            assert question != "cost" or Case("cost", {"model": member}).ask(network).record["energy_per_bit"] is None
