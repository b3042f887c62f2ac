"""Runs that are too short for what is asked: no packet measured is no result."""

from __future__ import annotations

import json

import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

from tests.faults.command_line import torusweep


@pytest.mark.parametrize(
    ("network", "options", "says"),
    [
        (
            "torus(k=4, n=2)",
            ("--load", "0.2", "--cycles", "5"),
            "packets of 16 flits to arrive after the warm-up at load 0.2",
        ),
        (
            "mesh(k=4, n=2)",
            ("--load", "0.1", "--load", "0.5", "--cycles", "12"),
            "at load 0.1, got 12, in which none did",
        ),
        ("ring(k=4)", ("--load", "0.0001", "--cycles", "200"), "choose 4,000,000 or more"),
        ("ring(k=4)", ("--load", "0.2", "--cycles", "1000", "--warm-up", "999"), "got 1,000, in which none did"),
        ("ring(k=4)", ("--load", "1e-320", "--cycles", "200"), "choose a higher load"),
    ],
)
def test_no_packet_is_no_result(network: str, options: tuple[str, ...], says: str):
    said = torusweep("simulate", network, *options)
    *before, refusal = said.err.splitlines()
    assert (said.status, said.out) == (2, "")
    assert not any(line.startswith("torusweep: ") for line in before), "a slow compiler makes it say how far it is"
    assert "--cycles: expected enough for packets" in refusal
    assert says in refusal


def test_the_cycles_that_are_named_are_enough():
    with pytest.raises(BadInput, match=r"cycles: .*choose (1,000) or more"):
        ts.network("torus(k=4, n=2)").simulate(0.2, cycles=5)
    (row,) = ts.network("torus(k=4, n=2)").simulate(0.2, cycles=1000).rows
    assert row["packets"] > 50
    assert not row["saturated"]


def test_terminals_of_one_router_need_no_more_cycles():
    """Their packets never enter the network: all that is offered is accepted, a packet every 16 cycles."""
    (row,) = ts.network("xgft(down=[3], up=[1])").simulate(1.0, cycles=1600).rows
    assert (row["packets"], row["total_latency"]) == (0, None)
    assert row["accepted_load"] == pytest.approx(1, rel=0.2)


def test_a_handful_of_packets_is_no_verdict():
    """At a fifth of its capacity a torus is not saturated, whatever the first thirty cycles look like."""
    said = torusweep("simulate", "torus(k=4, n=2)", "--load", "0.2", "--cycles", "30", "--json")
    (row,) = json.loads(said.out)
    assert 0 < row["packets"] < 10
    assert row["saturated"] is None


def test_tables_do_not_call_it_saturated():
    (row,) = simulation_records(ts.network("torus(k=4, n=2)").topology, Parameters(cycles=5), loads=[0.2])
    assert (row["packets"], row["saturated"]) == (0, None)
