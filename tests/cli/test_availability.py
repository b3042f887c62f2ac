"""The command availability: its table, its JSON, what it refuses."""

from __future__ import annotations

import json

import pytest
from torusweep import network
from torusweep.errors import Refused

from tests.faults.command_line import settled, torusweep


def test_a_line_for_each_measure():
    said = torusweep("availability", "ring(k=8)", "--links", "1,2", "--measure", "connectivity,distances")
    assert settled(said)
    one, two, *_ = said.out.split("\n\n")
    assert one.startswith("ring(k=8) with 1 failed link\n")
    (diameter,) = [line.split() for line in one.splitlines() if line.startswith("diameter ")]
    assert diameter == ["diameter", "4", "7", "exact", "7", "7", "7", "7", "8", "of", "8", "hops"]
    assert "all 8 combinations" in one
    assert "ring(k=8) with 2 failed links" in two
    (connected,) = [line.split() for line in two.splitlines() if line.startswith("connected ")]
    assert connected[:4] == ["connected", "1", "0", "exact"]


def test_rows_as_json():
    said = torusweep("availability", "hypercube(n=3)", "--routers", "1", "--links", "1%", "--draws", "50", "--json")
    rows = json.loads(said.out)
    assert [(row["fails"], row["failures"], row["probability"]) for row in rows] == [
        *[("links", None, 0.01)] * 5,
        *[("routers", 1, None)] * 5,
    ]
    assert rows[7]["measure"] == "diameter"
    assert rows[7]["mean"] == 3  # a cube less a node keeps the other three pairs of opposite ones
    assert rows[0]["draws"] == 50


def test_too_many_draws_are_refused_before_any_is_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.questions.availability.request.default_memory", lambda: 100_000)
    monkeypatch.setattr("torusweep.questions.availability.stage.availability_rows", None)
    with monkeypatch.context() as unbuilt:
        unbuilt.setattr("torusweep.networks.families.realise", None)
        said = torusweep("availability", "torus(k=8, n=3)", "--links", "1", "--draws", "2")
    assert not settled(said)
    assert "availability of torus(k=8, n=3) with 1 failed link: expected at most 0.0 GiB of memory" in said.err
    with pytest.raises(Refused, match="choose a smaller network, or fewer draws"):
        network("torus(k=8, n=3)").availability(links=1, draws=2)
