"""Cases that are refused, in one line: what does not suit, what is too large, what does not reach every terminal."""

from __future__ import annotations

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.deadlock.routing_case import deadlock_case


@pytest.mark.parametrize(
    ("network", "name", "rule", "number", "says"),
    [
        ("ring(k=4)", "dimension_order", "datline", 2, "did you mean 'dateline'"),
        ("ring(k=4)", "dimension_order", "dateline", 0, "virtual_channels=0: expected 1 … 16"),
        ("ring(k=4)", "dimension_order", "dateline", 17, "virtual_channels=17: expected 1 … 16"),
        ("ring(k=4)", "minimal", "dateline", 2, "rule dateline: expected a routing in directions"),
        ("ring(k=4)", "minimal", "bubble", 2, "rule bubble: expected a routing in directions"),
        ("ring(k=4)", "dimension_order", "r05_phases", 2, "rule r05_phases: expected routing hierarchical"),
        ("ring(k=4)", "valiant", "r05_wrap", 2, "rule r05_wrap: expected a routing of one pass"),
        ("ring(k=4)", "dimension_order", "r05_wrap(reading=lines)", 2, "expected dimension, path or will"),
    ],
)
def test_refusals_take_one_line(network, name, rule, number, says):
    with pytest.raises(BadInput, match=says.replace("(", r"\(")) as refusal:
        deadlock_record(build(network), routing=name, vc_rule=rule, virtual_channels=number)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("limit", "network", "name", "says"),
    [
        (
            "MAX_PAIRS",
            "tesh(m=2, levels=2, q=0)",
            "hierarchical",
            "need a walk of all 65,536 pairs of nodes; at most 0 are allowed",
        ),
        ("MAX_BYTES", "mesh(k=4, n=2)", "dimension_order", "at most 0 are"),
    ],
)
def test_refusals_of_what_is_too_large(monkeypatch, limit, network, name, says):
    monkeypatch.setattr(f"torusweep.questions.deadlock.dependencies.{limit}", 0)
    with pytest.raises(Refused, match=says):
        deadlock_record(build(network), routing=name, vc_rule="dateline", virtual_channels=2)


@pytest.mark.parametrize(
    ("network", "name"),
    [
        *(("pruned_xy(k=4)", name) for name in ("minimal", "minimal-ecmp", "up_down")),
        ("faulty(ring(k=6), links=2, seed=1)", "up_down"),  # shortest paths are judged for the pairs that have some
    ],
)
def test_refusal_of_a_routing_that_does_not_reach_every_terminal(network, name):
    with pytest.raises(BadInput, match="choose a connected network"):
        deadlock_case(build(network), routing=name, vc_rule="none", virtual_channels=1)
