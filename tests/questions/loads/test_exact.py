"""Stretch, progress, limits and spellings of exact loads."""

from __future__ import annotations

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.loads import source
from torusweep.questions.loads.exact import exact_loads
from torusweep.routing import canonical, routing
from torusweep.traffic import traffic


@pytest.mark.parametrize(
    ("network", "name", "pattern", "stretch"),
    [
        ("torus(k=4, n=2)", "minimal", "transpose", 1),
        ("torus(k=4, n=2)", "dimension_order", "uniform", 1),
        ("torus(k=4, n=2)", "valiant", "uniform", 2),  # two uniform halves
        ("ring(k=8)", "valiant", "neighbour", 4),  # twice k/4 hops instead of one
        # by plain loops: 4.444… hops, 3.851… on shortest paths
        ("pruned_torus(k=3, n=4)", "clustering", "uniform", (40 / 9) / (104 / 27)),
    ],
)
def test_stretch(network: str, name: str, pattern: str, stretch: float):
    assert exact_loads(build(network), routing=name, traffic=pattern).stretch == pytest.approx(stretch, rel=1e-12)


@pytest.mark.parametrize("network", ["torus(k=7, n=3)", "mesh(k=6, n=3)", "hypercube(n=6)"])
@pytest.mark.parametrize("use_symmetry", [True, False])
def test_minimal_routes_have_a_stretch_of_1_to_the_last_bit(network: str, use_symmetry: bool):
    for pattern in ("uniform", "uniform_other", "hot_spot(node=1, percent=20)"):
        found = exact_loads(build(network), routing="dimension_order", traffic=pattern, use_symmetry=use_symmetry)
        assert found.stretch == 1


@pytest.mark.parametrize("name", ["dimension_order", "valiant", "minimal", "up_down"])
def test_progress_increases_to_1(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source, "BLOCK", 64)
    shares: list[float] = []
    exact_loads(build("torus(k=4, n=2)"), routing=name, traffic="hot_region", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch):
    topology = build("mesh(k=4, n=2)")
    form = routing("dimension_order", topology)[1]
    assert source.pairs_followed(form, traffic("uniform", topology)[1]) == 256
    assert (
        source.pairs_followed(routing("dimension_order", build("torus(k=4, n=2)"))[1], traffic("uniform", topology)[1])
        == 16
    )
    assert source.pairs_followed(form, traffic("transpose", topology)[1]) == 16
    monkeypatch.setattr(source, "MAX_PAIRS", 255)
    with pytest.raises(
        Refused,
        match=r"at most 255 pairs of nodes to follow routes between, got 256; sample them: --method monte-carlo$",
    ):
        exact_loads(topology, routing="dimension_order")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("dimension-order(tie=split)", "dimension_order"),
        ("valiant(by=dimension-order)", "valiant(by=dimension_order)"),
        ("valiant(by='dimension-order')", None),
        (" up-down( root = 3, split = next-hops )", "up_down(root=3, split=next_hops)"),
    ],
)
def test_spellings_may_have_hyphens(written: str, name: str | None):
    if name is None:
        with pytest.raises(BadInput):  # quoted text stays unchanged
            canonical(written)
    else:
        assert canonical(written) == name
