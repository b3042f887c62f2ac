"""What papers' simulations are compared with: how a quantity is read, what it is of a table, and the verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from torusweep.errors import BadInput
from torusweep.papers.verification import judge_simulated, verification_rows
from torusweep.papers.verification.quantities import SETTINGS, SimulatedRows, is_simulated, read
from torusweep.papers.verification.rows import Expected, load_expected
from torusweep.questions.simulation.parameters import request_of
from torusweep.questions.simulation.presets import preset
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

ROOT = Path(__file__).resolve().parents[2]
ROWS = [row for row in load_expected(["C10", "R05"]) if is_simulated(row.quantity)]
UNIFORM = "max_accepted_load[bluegene, uniform]"


def row(topology: str, offered: float, accepted: float, traffic: str = "uniform", **other: Any) -> dict[str, Any]:
    """A row of the table of simulations, as far as it is looked at: C10's router."""
    return {
        "topology": topology,
        "router": "bluegene",
        "routing": "adaptive",
        "traffic": traffic,
        "virtual_channels": 3,
        "buffer_flits": 64,
        "packet_flits": 16,
        "offered_load": offered,
        "workload": None,
        "placement": None,
        "delivery_time": None,
        "accepted_load": accepted,
        "accepted_load_error": 0.001,
        "network_latency": 100 * offered,
        "saturated": accepted < 0.98 * offered,
        "per_class_utilization": {
            "x": {"mean": accepted, "max": 1.0},
            "y": {"mean": accepted * (1.0 if "tt" in topology else 0.5), "max": 1.0},
        },
        **other,
    }


SIMULATED = [
    row("rt(a=16)", 0.1, 0.1),
    row("rt(a=16)", 0.3, 0.2),
    row("rt(a=16)", 0.4, 0.19),
    row("rtt(a=16)", 0.1, 0.1, network_latency=8.0),
    row("rtt(a=16)", 0.5, 0.3),
    row("rtt(a=16)", 0.5, 0.4, buffer_flits=32),  # another router
    row("rt(a=16)", 0.2, 0.1, "hot_region"),
    row("rtt(a=16)", 0.2, 0.12, "hot_region"),
    row("pt(a=8)", 0.1, 0.1),  # nothing saturates it
    row("rtt(a=16)", 9.0, 9.0, offered_load=None, delivery_time=5.0),  # a fixed batch
    *(
        row(
            topology,
            0.5,
            0.4,
            traffic=None,
            offered_load=None,
            workload="lu(side=16, rounds=2)",
            placement=placement,
            delivery_time=time,
        )
        for topology, placement, time in (
            *(("rt(a=16)", "consecutive", 100.0), ("rt(a=16)", "random", 300.0)),
            *(("rtt(a=16)", "consecutive", 120.0), ("rtt(a=16)", "random", 270.0), ("pt(a=8)", "random", None)),
        )
    ),
]
DELIVERY = "delivery_time[bluegene, lu(side=16, rounds=2), placement"


@pytest.mark.parametrize(
    ("quantity", "topology", "value"),
    [
        (UNIFORM, "rt(a=16)", 0.2),
        (UNIFORM, "rtt(a=16)", 0.3),
        (f"{UNIFORM} / rt(a=16)", "rtt(a=16)", 1.5),
        (
            "max_accepted_load[bluegene, uniform, buffer_flits=32]",
            "rtt(a=16)",
            None,
        ),  # none of its loads is saturated by 2 %, but 0.4 < 0.49
        (f"max_accepted_load[bluegene, hot_region] / rt(a=16) over {UNIFORM} / rt(a=16)", "rtt(a=16)", 1.2 / 1.5),
        (f"{UNIFORM} / max_accepted_load[bluegene, hot_region] of rt(a=16)", "rtt(a=16)", 3.0),
        ("low_load_latency[bluegene, uniform] / rt(a=16)", "rtt(a=16)", 0.8),
        ("low_load_latency[bluegene, uniform]", "pt(a=8)", 10.0),
        ("channel_utilization[bluegene, uniform, link_class=y]", "rt(a=16)", 0.1),
        (f"{DELIVERY}=random]", "rtt(a=16)", 270.0),
        (f"{DELIVERY}=consecutive] / rt(a=16)", "rtt(a=16)", 1.2),
        (f"{DELIVERY}=random] / rt(a=16)", "rtt(a=16)", 0.9),
    ],
)
def test_quantities_of_a_table(quantity: str, topology: str, value: float | None) -> None:
    found = SimulatedRows(SIMULATED, ()).ours(quantity, topology)
    assert found.value == pytest.approx(0.4 if value is None else value)
    assert found.capacity is None
    assert not found.missing


def test_what_a_sweep_does_not_have_is_not_run() -> None:
    simulated = SimulatedRows(SIMULATED, ())
    assert simulated.ours(UNIFORM, "pdtt(a=8)").missing == "pdtt(a=8) with router bluegene, uniform is not in the sweep"
    assert (
        simulated.ours(UNIFORM, "pt(a=8)").missing
        == "no load of the sweep saturates pt(a=8) with router bluegene, uniform"
    )
    never = simulated.ours(f"{DELIVERY}=random]", "pt(a=8)")
    assert (
        never.missing
        == "pt(a=8) with router bluegene, lu(side=16, rounds=2), placement random has no delivery time in the sweep"
    )
    rows = [
        found
        for found in verification_rows({"simulation": SIMULATED}, ["C10", "R05"])
        if is_simulated(found["quantity"])
    ]
    assert len(rows) == len(ROWS)
    missing = [found for found in rows if found["our_value"] is None]
    assert {found["verdict"] for found in missing} == {"not run"}
    assert all(found["reason"].endswith(".yaml simulates it") for found in missing)
    assert {found["verdict"] for found in rows if found["our_value"] is not None} == {"agrees"}


def load_of(topology: str, traffic: str, **other: Any) -> dict[str, Any]:
    exact = {
        "routing": "minimal",
        "method": "exact",
        "saturation_load": 0.25,
        "terminal_saturation_load": 0.2,
        "capacity_minimal": 0.3,
    }
    return {"topology": topology, "traffic": traffic, **exact, **other}


def test_capacities_stand_beside() -> None:
    """Uniform: all shortest paths alike; other traffic: the linear program, where it was solved."""
    loads = [
        load_of("rt(a=16)", "uniform"),
        load_of("rtt(a=16)", "uniform", saturation_load=0.375),
        load_of("rt(a=16)", "uniform", method="monte-carlo", saturation_load=0.1),
        load_of("rt(a=16)", "hot_region"),
        load_of("rtt(a=16)", "hot_region", capacity_minimal=None),
    ]
    simulated = SimulatedRows(SIMULATED, loads)
    assert simulated.ours(f"{UNIFORM} / rt(a=16)", "rtt(a=16)").capacity == pytest.approx(1.5)
    assert simulated.ours("max_accepted_load[bluegene, hot_region]", "rt(a=16)").capacity == 0.3
    assert simulated.ours("max_accepted_load[bluegene, hot_region]", "rtt(a=16)").capacity is None
    assert (
        simulated.capacity({**SIMULATED[0], "routing": "dimension_order"}) is None
    )  # loads of another routing tell nothing


def test_obliviously_routed_networks_are_bounded_by_their_own_loads() -> None:
    mesh = row("mesh(k=64, n=2)", 0.05, 0.04, routing="dimension_order")
    loads = [
        load_of("mesh(k=64, n=2)", "uniform"),
        load_of("mesh(k=64, n=2)", "uniform", routing="dimension_order", saturation_load=0.06),
    ]
    assert SimulatedRows([mesh], loads).capacity(mesh) == 0.06


@pytest.mark.parametrize(
    ("relation", "value", "ours", "fits"),
    [
        ("sign", 1.243, 1.01, True),
        ("sign", 1.243, 0.99, False),
        ("sign", 1.243, 1.0, False),
        ("sign", 0.8, 0.99, True),
        (">", 1, 1.2, True),
        (">", 1, 1.0, False),
        ("<", 0.5, 0.49, True),
        ("<", 0.5, 0.5, False),
        ("<=", 0.25, 0.2, True),
        ("<=", 0.25, 0.26, False),
        ("~=", 1, 1.04, True),
        ("~=", 1, 1.06, False),
    ],
)
def test_signs_orders_and_bounds(relation: str, value: float, ours: float, fits: bool) -> None:
    tolerance = 0.05 if relation == "~=" else 0.0
    plain = Expected("C10", "Fig. 1", "a row", "rt(a=16)", UNIFORM, value, tolerance, relation, None, "", "a.yaml")
    assert judge_simulated(plain, ours)[0] == ("agrees" if fits else "unexplained")
    excused = plain._replace(reason="why")
    assert judge_simulated(excused, ours) == (("agrees", "") if fits else ("departs", "why"))


@pytest.mark.parametrize(
    ("quantity", "complaint"),
    [
        ("max_accepted_load[bluegene]", "expected max_accepted_load or"),
        ("max_accepted_load[bluegene, uniform, cycles=3]", "expected the settings virtual_channels"),
        ("channel_utilization[bluegene, uniform]", "expected the settings link_class, got none"),
        ("delivery_time[bluegene, cg]", "expected the settings placement, got none"),
        (f"{UNIFORM} / low_load_latency[bluegene] of rt(a=16)", "quantity 'low_load_latency[bluegene]'"),
    ],
)
def test_what_cannot_be_read(quantity: str, complaint: str) -> None:
    with pytest.raises(BadInput) as refusal:
        read(quantity, "rt(a=16)")
    assert complaint in str(refusal.value)


def test_each_row_is_simulated_by_the_configuration_that_it_names() -> None:
    """Networks, router, traffic and settings; of the largest, too, which nobody waits for."""
    simulated = {}
    for config in dict.fromkeys(expected.waits_for for expected in ROWS):
        points = [point for point in requested_points(load(ROOT / config)) if point.stage == "simulation"]
        simulated[config] = {(point.topology, *_asked(point.request.simulation)) for point in points}
    for expected in ROWS:
        for term, _ in read(expected.quantity, expected.topology):
            settings = {
                name: int(dict(term.settings).get(name, getattr(preset(term.router), name))) for name in SETTINGS
            }
            assert (
                term.topology,
                term.router,
                term.traffic,
                dict(term.settings).get("placement"),
                *settings.values(),
            ) in simulated[expected.waits_for], expected


def _asked(spelled: str) -> tuple[Any, ...]:
    parameters = request_of(spelled).parameters
    made = preset(parameters.router)
    sent = (parameters.workload or parameters.traffic, parameters.placement)
    return (parameters.router, *sent, *((getattr(parameters, name) or getattr(made, name)) for name in SETTINGS))
