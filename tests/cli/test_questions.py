"""Commands, functions and methods that follow from a question's signature."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Annotated

import click
import networkx as nx
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep import cli
from torusweep.cli.questions import command_of
from torusweep.errors import BadInput
from torusweep.library.method import method_of
from torusweep.networks.topology import Number, Topology, Whole
from torusweep.questions import FUNCTIONS, QUESTIONS, question_named
from torusweep.questions.answer import Record
from torusweep.questions.how import How, Silence, cores
from torusweep.questions.question import Question
from torusweep.questions.stage import LazyNetwork
from torusweep.stages import STAGES
from torusweep.tables.columns import Column


def torusweep(*arguments: str) -> str:
    run = CliRunner().invoke(cli.torusweep, arguments, catch_exceptions=False)
    assert run.exit_code == 0, run.output
    return run.stdout


# --- what every question has --------------------------------------------------------------------


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_a_command_and_a_function(name: str):
    question = question_named(name)
    assert question.command == name
    text = torusweep(name, "--help")
    assert (inspect.getdoc(type(question).ask) or "").split()[:3] == text.partition("\n\n")[2].split()[:3]
    assert {one.name for one in question.parameters} <= {one.name for one in command_of(question).params}
    for one in question.parameters:
        if one.spelled is not None and one.spelled.title:  # a table is its own help
            assert all(word in text for word in one.names)
    function = getattr(ts, name) if name in FUNCTIONS else getattr(ts.Network, question.method or name)
    assert {one.name for one in question.parameters} <= {*inspect.signature(function).parameters}


def test_stages_are_questions():
    for name, stage in STAGES.items():
        assert isinstance(stage, Question)
        assert (stage.name, question_named(stage.command)) == (name, stage)


def test_a_question_imports_its_own_stage():
    """A command about one network need not wait for the modules of all others."""
    code = "import sys; from torusweep.questions import question_named; question_named('describe'); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    stages = {name for name in run.stdout.split() if re.fullmatch(r"torusweep\.questions\.\w+\.stage", name)}
    assert stages == {"torusweep.questions.static.stage"}


# --- a toy --------------------------------------------------------------------------------------


class Longest(Record):
    columns = (
        Column("topology", "string", "", "canonical spelling"),
        Column("radices", "int64", "", "radices above the limit"),
        Column("share", "double", "", "their share", "more"),
    )
    main = ("radices", "share")


def longest(
    network: Topology,
    how: How,
    limit: Annotated[int, Whole(2, "radices above this count", 100)] = 4,
    *,
    weight: Annotated[float, Number(0, "of each", 1, open=True)] | None = None,
) -> Longest:
    """How many radices of a network are long."""
    above = sum(radix > limit for radix in network.plan.radices)
    share = above / len(network.plan.radices) * (weight or 1)
    return Longest({"topology": network.spelling, "radices": above, "share": share})


class Toy(Question):
    name = command = "longest"
    columns = Longest.columns
    ask = staticmethod(longest)
    phrase = "above {limit}".format
    how = ()


QUESTION = Toy()


def test_a_toy_question_has_all_its_doors():
    run = CliRunner().invoke(command_of(QUESTION), ["torus(radices=[3, 5, 8])", "--limit", "4", "--json"])
    assert json.loads(run.stdout) == {"topology": "torus(radices=[3, 5, 8])", "radices": 2, "share": 2 / 3}
    helped = CliRunner().invoke(command_of(QUESTION), ["--help"]).stdout
    assert "Radices above this count.  [default: 4]" in " ".join(helped.split()).replace("[default", " [default")
    asked = method_of(QUESTION)
    net = ts.network("torus(radices=[3, 5, 8])")
    assert asked(net, 4, weight=0.5).share == 1 / 3
    for given, words in (
        ({"limit": 1}, "limit=1: expected 2 … 100 (radices above this count)"),
        ({"limit": "x"}, "limit='x': expected a whole number"),
        ({"weight": 1}, "weight=1: expected > 0 and < 1"),
        ({"limt": 3}, "longest: unknown option 'limt' (did you mean 'limit'?)"),
    ):
        with pytest.raises(ts.BadInput) as refusal:
            asked(net, **given)
        assert str(refusal.value).startswith(words)
    entry = QUESTION.Entry(limit=5)
    (request,) = QUESTION.requests(entry)
    assert (str(request), request.weight) == ("above 5", None)
    (row,) = QUESTION.rows(LazyNetwork("torus(radices=[3, 5, 8])"), request, How())
    assert row["radices"] == 1
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        QUESTION.Entry(limit=1)


def test_a_refused_option_is_named():
    with pytest.raises(click.BadParameter, match=r"1 is not in the range 2<=x<=100"):
        command_of(QUESTION).main(["ring(k=4)", "--limit", "1"], standalone_mode=False)


# --- three commands that follow -------------------------------------------------------------------


def test_distances_are_those_of_networkx():
    spelling = "faulty(torus(k=4, n=2), links=3, seed=1)"
    found = json.loads(torusweep("distances", spelling, "--json"))
    assert found == ts.network(spelling).distances().record
    lengths = dict(nx.all_pairs_shortest_path_length(nx.Graph(ts.network(spelling).to_networkx())))
    every = sorted(hops for row in lengths.values() for hops in row.values())
    assert found["histogram"] == [every.count(hops) for hops in range(every[-1] + 1)]
    assert found["mean"] == pytest.approx(sum(every) / 256)
    assert found == json.loads(torusweep("distances", spelling, "--json", "--symmetry", "off"))


def test_capacity_is_the_closed_form():
    """8 / k for a k-ary n-cube under uniform traffic (Dally 1990)."""
    found = json.loads(torusweep("capacity", "torus(k=4, n=2)", "--json"))
    assert found["throughput"] == pytest.approx(8 / 4)
    assert found["bound"] == pytest.approx(8 / 4)
    assert found == ts.network("torus(k=4, n=2)").capacity().record
    assert "throughput" in torusweep("capacity", "mesh(k=3, n=2)", "--routes", "minimal")
    refused = CliRunner().invoke(cli.torusweep, ["capacity", "torus(k=16, n=3)", "--traffic", "random_permutation"])
    assert refused.exit_code
    assert "expected at most" in str(refused.exception)


def test_screened_circulants_are_those_of_networkx():
    asked = ["--family", "circulants", "--steps", "2", "--nodes", "13", "--each", "graph"]
    rows = json.loads(torusweep("screen", "ring(k=5)", *asked, "--json"))
    assert rows == ts.screen("ring(k=5)", family="circulants", steps=2, nodes=13, each="graph").rows
    assert rows[0] == ts.network("ring(k=5)").screen().record
    found = {row["topology"]: row["mean_distance_distinct"] for row in rows}
    expected = {"ring(k=5)": 1.5}
    for one, other in combinations(range(1, 7), 2):  # 13 is prime: all are connected
        graph = nx.circulant_graph(13, [one, other])
        expected[f"circulant(n=13, steps=[{one}, {other}])"] = nx.average_shortest_path_length(graph)
    assert found == pytest.approx(expected)
    assert "… 16 rows" in torusweep("screen", "ring(k=5)", *asked)


def test_listed_networks_are_screened_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own.edges").write_text("0 1\n1 2\n2 0\n2 3\n")
    rings = ["ring( k=5 )", "torus(k=2, n=3)", "mesh(k=3, n=2)", "circulant(n=9, steps=[1, 2])", "ring(k=5)"]
    hosts = "faulty(ring(k=6), links=2)", "kautz(d=2, k=2)", "with_links(ring(k=4), bandwidths=[2])"
    listed = [*rings, *hosts, str(tmp_path / "own.edges"), nx.petersen_graph(), ts.network("rtt(a=2)")]
    found = ts.screen(listed)
    assert found.rows == [ts.network(one).screen().record for one in listed]
    assert len(found.unheeded) == 0
    with monkeypatch.context() as unbuilt:
        unbuilt.setattr("torusweep.networks.families.realise", None)
        assert ts.screen(rings).rows == found.rows[: len(rings)]
        with pytest.raises(ts.BadInput, match=r"ring\(k=1\): k=1: expected ≥ 2"):
            ts.screen([*rings, "ring(k=1)"])


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        ("", {}, "expected a topology or a design space, got none"),
        ("--nodes 8", {"nodes": 8}, "nodes: expected with a design space only; add {}family lattices"),
        ("--steps 2 --nodes 8", {"steps": 2, "nodes": 8}, "steps with a design space only; add {}family circulants"),
        ("--family lattices --nodes 8", {"family": "lattices", "nodes": 8}, "dimensions and {}nodes of a design space"),
        (
            "--family lattices --dimensions 3 --nodes 1024 --each graph",
            {"family": "lattices", "dimensions": 3, "nodes": 1024, "each": "graph"},
            "expected at most 500,000 rows, got about",
        ),
    ],
)
def test_what_screen_refuses(arguments, given, says):
    refused = CliRunner().invoke(cli.torusweep, ["screen", *arguments.split()])
    assert says.format("--") in str(refused.exception)
    with pytest.raises(ts.BadInput) as refusal:
        ts.screen(**given)
    assert says.format("") in str(refusal.value)


UNPROVED = [  # what no certificate proves, and what its refusal says
    (
        "capacity",
        ("faulty(torus(k=4, n=2), links=3)", "--gap", "0.05"),
        "expected a family that certify/check.py derives",
    ),
    ("capacity", ("torus(k=4, n=2)", "--traffic", "hot_spot"), "expected one of uniform"),
    ("collective", ("dragonfly(a=2, p=1, h=1)", "all_reduce"), "expected a family that certify/check.py derives"),
    ("describe", ("hyperx(radices=[3, 3])",), "expected a family that certify/check.py derives"),
    ("deadlock", ("dragonfly(a=2, p=1, h=1)",), "expected a family that certify/check.py derives"),
    (
        "deadlock",
        ("torus(k=4, n=2)", "--routing", "dimension_order", "--traffic", "transpose"),
        "expected all pairs of terminals to send",
    ),
    ("best", ("--nodes", "32", "--maximise", "saturation_load"), "expected all lattices, by the least mean distance"),
    ("best", ("--nodes", "32", "--circulant-steps", "2"), "expected all lattices, by the least mean distance"),
    ("best", ("--nodes", "2048"), "lattices for the checker to search"),
]


@pytest.mark.parametrize(("command", "asked", "reason"), UNPROVED)
def test_a_certificate_that_cannot_be_is_refused_before_anything_is_computed(
    command, asked, reason, monkeypatch, tmp_path
):
    question = question_named(command)
    monkeypatch.setattr(type(question), "ask", staticmethod(lambda *_, **__: pytest.fail("it was computed")))
    file = tmp_path / "proof.json"
    done = CliRunner().invoke(cli.torusweep, [command, *asked, "--certificate", str(file)], standalone_mode=False)
    assert isinstance(done.exception, BadInput), done.exception
    assert str(done.exception).startswith("certificate")
    assert reason in str(done.exception)
    assert not file.exists()


def test_an_answer_is_told_where_only_its_computation_shows_that_no_certificate_proves_it(tmp_path):
    arguments = ["best", "--nodes", "32", "--where", "diameter <= 4", "--certificate", str(tmp_path / "proof.json")]
    done = CliRunner().invoke(cli.torusweep, arguments, standalone_mode=False)
    assert str(done.exception).startswith("--certificate: ")
    assert "lattice(matrix=" in done.output


# --- what takes minutes says so at its start ------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("distances", {}),
        ("describe", {}),
        ("loads", {"routing": "minimal"}),
        ("deadlock", {"routing": "up_down"}),
        ("collective", {"operation": "all_reduce"}),
    ],
)
def test_an_answer_that_takes_minutes_says_so_before_it_is_computed(name, values, monkeypatch):
    """Also where stderr is a file. The estimate of a sweep's point grows with the network."""
    question, said = question_named(name), []

    class Listening(Silence):
        def say(self, line: str) -> None:
            said.append(line)

    def ask(*_: object, **__: object) -> Record:
        said.append("computed")
        return Record({})

    given = {one.name: one.default for one in question.parameters} | values
    small, large = (LazyNetwork(f"faulty(torus(k={k}, n=2), links=1, seed=1)") for k in (4, 64))
    assert question.estimate(large, given) > 20 * question.estimate(small, given) > 0
    monkeypatch.setattr(type(question), "ask", staticmethod(ask))
    monkeypatch.setattr(type(question), "_taken", lambda self, values: {})
    how = How(progress=Listening())
    question.answer(small.topology, how, values)
    monkeypatch.setattr(type(question), "estimate", lambda self, network, values: 600.0 * cores())
    question.answer(small.topology, how, values)
    assert said == ["computed", f"about 10 min on {cores()} core{'s' * (cores() > 1)}; Ctrl-C stops it", "computed"]
