"""Networks that a requirement finds, against plain loops over every combination of small parameters."""

from __future__ import annotations

from itertools import product

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import parameters, plan
from torusweep.sweeps.configuration.schema import Requirement
from torusweep.sweeps.network_search import meeting, values_of

BOXES = {
    "ring": [{"k": k} for k in range(2, 700)],
    "torus": [{"k": k, "n": n} for n in range(1, 11) for k in range(2, 700 if n == 1 else 30)],
    "mesh": [{"k": k, "n": n} for n in range(1, 11) for k in range(2, 700 if n == 1 else 30)],
    "hypercube": [{"n": n} for n in range(1, 12)],
    "pruned_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(3, 12))],
    "partly_pruned_torus": [
        {"k": k, "n": n, "intact": i} for k, n, i in product(range(2, 30), range(3, 12), range(1, 12))
    ],
    "pruned_t1": [{"k": k} for k in range(2, 30)],
    "pruned_t2": [{"k": k} for k in range(2, 30)],
    "pruned_xy": [{"k": k} for k in range(2, 30)],
    "directed_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(2, 12))],
    "pruned_directed_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(3, 12))],
    **{family: [{"a": a} for a in range(2, 30)] for family in ("rt", "rtt", "pt", "ptt", "pdtt")},
    "illiac": [{"k": k} for k in range(2, 30)],
    "ccc": [{"n": n} for n in range(3, 12)],
    "tesh": [{"m": m, "levels": levels, "q": q} for m, levels, q in product(range(1, 5), range(2, 5), range(4))],
    "h3dt": [
        {"m": m, "n": n, "levels": levels, "q": q}
        for m, n, levels, q in product(range(3, 20), range(2, 20), range(2, 7), range(3))
    ],
    "fat_tree": [{"k": k, "n": n} for n in range(2, 10) for k in range(2, 330 if n == 2 else 30)],
    "slim_fly": [{"q": q} for q in range(2, 30)],
    "polarfly": [{"q": q} for q in range(2, 30)],
    "hexagonal_torus": [{"a": a, "b": b} for a, b in product(range(75), range(1, 75))],
    "boardfly": [{}],  # all of its parameters have defaults
    "kautz": [{"d": d, "k": k} for d, k in product(range(2, 30), range(2, 12))],
    "de_bruijn": [{"d": d, "k": k} for d, k in product(range(2, 30), range(2, 12))],
    "mh3dt": [
        {"m": m, "n": n, "levels": levels, "q": q}
        for m, n, levels, q in product(range(3, 20), range(2, 20), range(2, 7), range(3))
    ],
}


def by_plain_loops(family: str, low: int, high: int, degree: int, fixed: dict[str, int]) -> set[str]:
    found = set()
    for values in BOXES[family]:
        if any(values[key] != value for key, value in fixed.items() if key in values):
            continue
        try:
            canonical, planned = plan(f"{family}({', '.join(f'{key}={value}' for key, value in values.items())})")
        except BadInput:
            continue
        if low <= planned.nodes <= high and planned.degree <= degree:
            found.add(canonical)
    return found


@pytest.mark.parametrize(
    ("low", "high", "degree", "fixed"),
    [(0, 300, 99, {}), (100, 650, 6, {}), (512, 512, 99, {}), (60, 600, 8, {"n": 3, "q": 1})],
)
def test_requirements_find_what_plain_loops_find(low, high, degree, fixed):
    requirement = Requirement.model_validate(
        {"families": list(BOXES), "nodes": {"from": low, "to": high}, "degree": {"to": degree}, "parameters": fixed}
    )
    found = [canonical for canonical, _ in meeting(requirement, 100_000)]
    assert len(found) == len(set(found))
    assert set(found) == set().union(*(by_plain_loops(family, low, high, degree, fixed) for family in BOXES))


def test_every_family_with_a_size_is_asked():
    families = {
        canonical.partition("(")[0]
        for canonical, _ in meeting(
            Requirement.model_validate({"nodes": {"to": 5000}, "parameters": {"n": [3, 4]}}), 100_000
        )
    }
    assert families == set(BOXES)


def test_no_parameter_has_a_hidden_bound():
    requirement = Requirement.model_validate({"families": ["mh3dt"], "nodes": 27 * 100**3, "parameters": {"q": 1}})
    assert "mh3dt(m=3, n=100, levels=2, q=1)" in {canonical for canonical, _ in meeting(requirement, 1000)}


def test_directed_networks_only():
    requirement = Requirement.model_validate({"nodes": 64, "directed": True, "parameters": {"directed": [True, False]}})
    found = {canonical for canonical, _ in meeting(requirement, 1000)}
    assert found >= {"torus(k=8, n=2, directed=true)", "directed_torus(k=8, n=2)", "pruned_directed_torus(k=4, n=3)"}
    assert all(plan(canonical)[1].directed for canonical in found)


def test_a_million_nodes_take_few_plans(monkeypatch: pytest.MonkeyPatch):
    """A hundred thousand for all families, some 6 s: a network of each size of each family would be a million."""
    made: list[object] = []

    def counted(spelling):
        made.append(spelling)
        return plan(spelling)

    monkeypatch.setattr("torusweep.sweeps.network_search.plan", counted)
    requirement = Requirement.model_validate(
        {"nodes": {"from": 10**6, "to": 10**6 + 100}, "except": ["ring"], "parameters": {"n": {"from": 2, "to": 30}}}
    )
    found = [canonical for canonical, _ in meeting(requirement, 1000)]
    assert len(made) < 150_000
    assert {"torus(k=1000, n=2)", "torus(k=100, n=3)", "pruned_torus(k=100, n=3)"} <= set(found)


def test_a_range_with_a_count_is_the_range_with_its_step():
    """{from: 4, to: 32, count: 8} is 4, 8, …, 32."""
    assert values_of(parameters("ring")[0], {"from": 4, "to": 32, "count": 8}) == range(4, 33, 4)


def test_values_that_a_parameter_never_has_are_not_searched():
    """A dimension is at most 30; ten thousand values took minutes."""
    wanted = {"nodes": 64, "families": ["torus"], "parameters": {"n": {"from": 2, "to": 9999}}}
    found = {name for name, _ in meeting(Requirement.model_validate(wanted), 100)}
    assert found == {"torus(k=8, n=2)", "torus(k=4, n=3)", "torus(k=2, n=6)"}


@pytest.mark.parametrize(
    ("family", "given", "nodes"), [("jellyfish", {"switches": 3}, 3), ("dragonfly", {"a": 4}, 4 * (4 * 1 + 1))]
)
def test_where_all_sizes_have_as_many_nodes_the_search_ends(family: str, given: dict[str, int], nodes: int):
    """Of given switches a jellyfish may have any number of ports, a dragonfly's router any number of terminals."""

    def asked(wanted: int) -> Requirement:
        return Requirement.model_validate({"families": [family], "nodes": wanted, "parameters": {**given, "seed": 1}})

    assert list(meeting(asked(nodes - 1), 100)) == []
    with pytest.raises(Refused, match=r"networks to look at; limits\.points is 100: narrow 'nodes'"):
        list(meeting(asked(nodes), 100))
