"""The lines that an answer prints: templates over columns, filled by hand; and each name in a question's lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torusweep as ts
from torusweep.questions.deadlock.printed import NOT_LOOKED_FOR
from torusweep.questions.display import facts
from torusweep.questions.simulation.printed import LINES, USUAL
from torusweep.tables.columns import Column

COLUMNS = [Column("hops", "int64", "hops", "a"), Column("pitches", "int64", "pitches", "b")]
COLUMNS += [Column("rate", "double", "flits/cycle", "c"), Column("links", "int64", "links", "d")]
COLUMNS += [Column("share", "double", "1", "e"), Column("note", "string", "", "f"), Column("linked", "bool", "", "g")]
ROW = {"hops": 1200, "pitches": 1, "rate": 1.0, "links": 3, "share": 0.25, "note": "[{x}] | y", "linked": True}
NETWORK = ts.network("torus(k=4, n=2)")


@pytest.mark.parametrize(
    ("line", "given", "printed"),
    [
        ("hops", {}, ("hops", "1,200", "a")),
        ("rate", {}, ("rate", "1 flit/cycle", "c")),
        ("pitches: {pitches:n} of {hops}", {}, ("pitches", "1 of 1,200 hops", "b")),
        ("wires: {pitches}", {}, ("wires", "1 pitch", "b")),
        ("wires: {links}, {share:.1%}", {}, ("wires", "3 links, 25.0%", "d")),
        ("wires: {rate:.2fu}, {hops:,u}", {}, ("wires", "1.00 flits/cycle, 1,200 hops", "c")),
        ("linked", {}, ("linked", "yes", "g")),
        ("linked", {"linked": False}, ("linked", "no", "g")),
        ("note", {}, ("note", "[{x}] | y", "f")),  # what a value says is no template
        ("a: {links:n}[ or {rate}]", {}, ("a", "3 or 1 flit/cycle", "d")),
        ("a: {links:n}[ or {rate}]", {"rate": None}, ("a", "3", "d")),
        ("a: {rate} | unknown", {"rate": None}, ("a", "unknown", "c")),
        ("a: {rate} | {note}", {"rate": None, "note": ""}, None),
        ("hops", {"hops": 0}, ("hops", "0", "a")),
        ("links", {"links": 7}, None),  # usual
        ("a: {share} or[ {rate}]", {"share": 1.0}, ("a", "1 or", "e")),  # the rate is the share
    ],
)
def test_a_line_is_filled(line: str, given: dict[str, Any], printed: tuple[str, str, str] | None):
    usual = {"links": 7, "rate": "share"}
    assert facts(ROW | given, COLUMNS, [line], usual) == ([] if printed is None else [printed])


@pytest.mark.parametrize(
    ("ask", "more"),
    [
        (lambda: [NETWORK.static()], ()),
        (lambda: [NETWORK.loads(traffic="ring_all_reduce")], ()),
        (
            lambda: [NETWORK.deadlock(layers=True), ts.network("ring(k=40)").deadlock()],
            (*NOT_LOOKED_FOR, "lost_traffic"),
        ),
        (lambda: [NETWORK.layout()], ()),
        (lambda: [NETWORK.cost()], ()),
        (lambda: [NETWORK.latency()], ()),
    ],
    ids=["static", "loads", "deadlock", "layout", "cost", "latency"],
)
def test_a_line_names_what_there_is(ask: Callable[[], list[Any]], more: tuple[str, ...]):
    """A name that neither a column nor the question has would leave its line out of every answer."""
    answers = ask()
    known = {name for one in answers for name in one.record | one.said()} | {*more}
    lines = [line if ": " in line else f"{{{line}}}" for line in answers[0].main]
    assert {name for line in lines for name in re.findall(r"{(\w+)", line)} <= known
    assert set(answers[0].usual) <= known


def test_a_line_of_a_simulation_names_what_there_is():
    row = NETWORK.simulate(packets_each=1, cycles=100).rows[0]
    named = {name for line in LINES for name in re.findall(r"{(\w+)", line)} | set(USUAL)
    assert named - row.keys() == {"flits", "message_time", "p99_message_time", "delivered"}
