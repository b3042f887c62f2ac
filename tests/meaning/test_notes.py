"""The note on what an answer leaves out: for each who asks, where the network says it, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions import question_named
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork
from torusweep.run import command

from tests.faults.command_line import torusweep

SLOW = "with_links(ring(k=5), latencies=[9])"
FAST = 'with_links(ring(k=5), bandwidths=["100 Gb/s"])'
BEGINS = "this answer leaves out"


@pytest.mark.parametrize(
    ("question", "network", "options", "said"),
    [
        ("distances", SLOW, (), "latency (9 cycles)"),
        (
            "distances",
            'with_links(torus(k=3, n=2), latencies=["5 ns", "15 ns"])',
            (),
            "latency (1 … 3 cycles); clock (a cycle is 5 ns)",
        ),
        ("distances", "with_links(mesh(k=3, n=2), bandwidths=[1, 4])", (), "bandwidth (1 … 4 flits a cycle)"),
        (
            "capacity",
            'with_links(mesh(k=3, n=2), bandwidths=["100 Gb/s", "400 Gb/s"])',
            (),
            "unit (1 flit a cycle is 100 Gb/s)",
        ),
        (
            "deadlock",
            'with_links(mesh(k=3, n=2), bandwidths=["100 Gb/s", "400 Gb/s"])',
            (),
            "bandwidth (100 Gb/s … 400 Gb/s); unit (1 flit a cycle is 100 Gb/s)",
        ),
        ("loads", FAST, (), "unit (1 flit a cycle is 100 Gb/s)"),
        ("loads", FAST, ("--sends", "10Gb/s"), ""),
        ("layout", "concentrated(ring(k=5), terminals=2)", (), "terminals (10 at 5 of 5 nodes)"),
        ("loads", "directed_torus(k=4, n=2)", (), ""),
        ("distances", "ring(k=5)", (), ""),
    ],
)
def test_one_line_below_the_numbers_and_notes_in_json(question: str, network: str, options: tuple[str, ...], said: str):
    text = torusweep(question, network, *options).out
    noted = [line.removeprefix("note: ") for line in text.splitlines() if BEGINS in line]
    assert noted == ([f"{BEGINS}: {said}"] if said else [])
    assert text.splitlines()[-1:] == [f"note: {one}" for one in noted] or not noted
    notes = json.loads(torusweep(question, network, *options, "--json").out).get("notes") or ""
    assert notes.endswith(noted[0]) if noted else BEGINS not in notes


def test_several_networks_are_told_apart():
    found = ts.screen([SLOW, FAST, "ring(k=5)"])
    assert found.unheeded == {
        SLOW: f"{BEGINS} of {SLOW}: latency (9 cycles)",
        FAST: f"{BEGINS} of {FAST}: unit (1 flit a cycle is 100 Gb/s)",
    }
    assert repr(found).splitlines()[-1] == f"  note: {found.unheeded[FAST]}"


def test_a_sweep_says_which_tables_leave_out_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In its plan, its manifest, what a run prints last, and its results in Python; tests/answers has its page."""
    monkeypatch.chdir(tmp_path)
    names = f"['{SLOW}', '{FAST}', 'concentrated(ring(k=5), terminals=2)', 'ring(k=5)']"
    Path("a.yaml").write_text(
        f"sweep: a\ntopologies: {names}\nloads: [{{routing: minimal, traffic: uniform}}]\n"
        "layout: [{placement: folded}]\n"
    )
    notes = [
        "loads leaves out latency (1 network), unit (1 network)",
        "layout leaves out latency (1 network), terminals (1 network)",
    ]
    lines = [f"note: {note}" for note in notes]
    assert torusweep("plan", "a.yaml").out.splitlines()[-2:] == lines
    folder = Path("a")
    for step in ("points", "static", "loads", "layout", "derived", "verification", "check"):
        torusweep("step", step, "a.yaml", "a", "--workers", "0")
    assert command.outcome(folder)["notes"] == ts.results(folder).manifest["notes"] == notes
    assert [line for line in command.summary(folder).splitlines() if line.startswith("note")] == lines
    assert [
        line.split("note", 1)[1].strip() for line in repr(ts.results(folder)).splitlines() if "note" in line
    ] == notes


@pytest.mark.parametrize(
    ("question", "attribute"), [("latency", "bandwidth"), ("latency", "latency"), ("place", "direction")]
)
def test_what_is_refused_is_refused(question: str, attribute: str):
    network = {
        "bandwidth": "with_links(torus(k=4, n=2), bandwidths=[2])",
        "latency": SLOW,
        "direction": "directed_torus(k=4, n=2)",
    }
    asked = question_named(question)
    assert attribute in asked.refuses
    built = build(network[attribute])
    with pytest.raises(BadInput):
        asked.answer(
            [LazyNetwork.of(built)] if asked.about == "networks" else built,
            How(),
            {"axes": "tp=16"} if question == "place" else {},
        )


@pytest.mark.parametrize(
    ("question", "times"),
    [("loads", 1), ("capacity", 1), ("simulate", 1), ("distances", 0), ("describe", 1), ("place", 1)],
)
def test_a_number_that_was_assumed_is_said_once_by_all_who_heed_it(question: str, times: int, tmp_path: Path):
    """One of four links of a ring has no bandwidth. `distances` leaves bandwidths out, and says so."""
    path = tmp_path / "ring.csv"
    path.write_text("source,target,bandwidth\n0,1,2\n1,2,2\n2,3,2\n3,0,\n")
    options = {"simulate": ("--load", "0.1", "--cycles", "300"), "place": ("--axes", "tp=2,dp=2")}.get(question, ())
    asked = (f'graph(path="{path}")', *options)
    words = "1 link without bandwidth, taken as 1 flit a cycle"
    assert torusweep(question, *asked).out.count(words) == times
    assert torusweep(question, *asked, "--json").out.count(words) == times


def test_what_latency_refuses_other_questions_answer():
    """As its refusal says; the mean over the links of a torus of 4 × 4 is 32/15 hops."""
    network = "with_links(torus(k=4, n=2), latencies=[2])"
    said = torusweep("latency", network)
    assert (said.status, said.out) == (2, "")
    assert "'torusweep simulate', and without load 'torusweep describe --measures latencies'" in said.err
    found = json.loads(torusweep("describe", network, "--measures", "latencies", "--json").out)
    assert found["latency_mean"] == pytest.approx(2 * 32 / 15)
    slow, fast = (
        json.loads(torusweep("simulate", one, "--load", "0.1", "--cycles", "2000", "--json").out)
        for one in (network, "torus(k=4, n=2)")
    )
    assert slow[0]["network_latency"] > fast[0]["network_latency"] + 1.5
