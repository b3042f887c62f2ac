"""Networks at equal cost: the best routing of each, the cheapest packing, and the Pareto front, by every pair."""

from __future__ import annotations

import random

import pytest
from torusweep.questions.cost.arithmetic import equal_cost


def near(topology, mean, cycles=None):
    keys = ("topology", "connected", "mean_distance", "latency_mean")
    return dict(zip(keys, (topology, topology != "parts", mean, mean + 0.5 if cycles is None else cycles)))


STATIC = [near(*row) for row in (("a", 2.0), ("a", 9.0), ("b", 3.0), ("c", 3.0), ("parts", 1.0), ("alone", 1.0))]


def load(topology, routing, saturation, traffic="uniform", ejection=1.0, lost=0):
    least = None if saturation is None else min(saturation, ejection)
    keys = ("topology", "routing", "traffic", "saturation_load", "terminal_saturation_load", "lost_pairs")
    return dict(zip(keys, (topology, routing, traffic, saturation, least, lost)))


def price(topology, cost, model="m", packing="numbers"):
    keys = ("topology", "cost_per_terminal", "cost_model", "packing", "terminals", "currency")
    return dict(zip(keys, (topology, cost, model, packing, 8, "USD")))


def test_rows_by_hand():
    loads = [
        load("a", "valiant", 0.7),
        load("a", "minimal", 0.7 - 1e-12),  # equal but for rounding: minimal counts
        load("a", "dimension_order", 0.5),
        load("a", "table", 0.9, lost=1),  # it does not carry the traffic of a pair
        load("b", "minimal", 3.0),  # its terminals are the limit
        load("c", "minimal", 0.5),
        load("parts", "minimal", 1.0),
        load("alone", "minimal", None),
        load("c", "minimal", 0.9, "hot", ejection=0.25),
    ]
    costs = [price("a", 100.0), price("a", 90.0, packing="groups"), price("b", 80.0), price("c", 80.0)]
    costs += [price("parts", 1.0), price("alone", 1.0), price("c", None, model="n")]
    found = {(row["traffic"], row["topology"]): row for row in equal_cost(STATIC, loads, costs)}
    assert list(found) == [("hot", "c"), ("uniform", "b"), ("uniform", "c"), ("uniform", "a")]
    a, b, c = (found["uniform", name] for name in "abc")
    assert (a["routing"], a["packing"], a["mean_distance"]) == ("minimal", "groups", 2.0)
    assert (a["latency"], c["latency"]) == (2.5, 3.5)
    assert a["saturation_per_cost"] == pytest.approx(0.7 / 90)
    assert (b["throughput"], b["saturation_per_cost"]) == (1.0, 1 / 80)
    assert found["hot", "c"]["throughput"] == 0.25
    assert [row["on_front"] for row in (a, b, c)] == [
        True,
        True,
        False,
    ]  # b carries more than c
    assert found["hot", "c"]["on_front"]


def test_the_front_is_what_no_other_network_beats():
    """By every pair; values repeat, so that there are equal networks."""
    draw = random.Random(1)
    names = [f"n{number}" for number in range(300)]
    static = [near(name, float(draw.randrange(1, 9)), draw.choice([None, 2.5, 4.5])) for name in names]
    loads = [load(name, "minimal", draw.randrange(1, 9) / 8) for name in names]
    costs = [price(name, float(draw.randrange(1, 9))) for name in names]
    rows = equal_cost(static, loads, costs)
    values = {row["topology"]: (-row["throughput"], row["latency"], row["cost_per_terminal"]) for row in rows}
    assert len(values) == 300
    for row in rows:
        own = values[row["topology"]]
        beaten = any(other != own and all(x <= y for x, y in zip(other, own)) for other in values.values())
        assert row["on_front"] == (not beaten)
    assert 0 < sum(row["on_front"] for row in rows) < 300


def test_links_of_several_cycles_count():
    """The nearer network in hops is farther in cycles, and so not on the front."""
    costs, loads = [price("a", 1.0), price("b", 1.0)], [load("a", "minimal", 1.0), load("b", "minimal", 1.0)]
    rows = equal_cost([near("a", 2.0, 20.0), near("b", 3.0, 4.0)], loads, costs)
    assert [(row["topology"], row["latency"], row["on_front"]) for row in rows] == [("a", 20, False), ("b", 4, True)]


def test_no_rows_without_loads_or_costs():
    assert equal_cost(STATIC, [], [price("a", 1.0)]) == equal_cost(STATIC, [load("a", "minimal", 1.0)], []) == []


def test_a_network_of_unknown_latency_is_left_out():
    """Its hops would look like cycles, and it would be nearer than it is."""
    unknown = {**near("b", 3.0), "latency_mean": None}
    found = equal_cost(
        [near("a", 2.0), unknown],
        [load("a", "minimal", 1.0), load("b", "minimal", 1.0)],
        [price("a", 5.0), price("b", 4.0)],
    )
    assert [row["topology"] for row in found] == ["a"]
