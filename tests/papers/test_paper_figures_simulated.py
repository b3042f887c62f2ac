"""Claims of the simulated figures' captions, on the papers' networks; fewer loads and cycles than config/papers/."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from torusweep.networks.families import build
from torusweep.papers.figures import drawable
from torusweep.papers.verification import verification_rows
from torusweep.papers.verification.quantities import is_simulated
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

from tests.records import loads_record

pytestmark = pytest.mark.slow

Row = dict[str, Any]
Rows = dict[str, list[Row]]
PATTERNS = ("uniform", "hot_region", "bit_complement", "bit_reversal", "perfect_shuffle")
PLANE, SPACE = ("rt(a=16)", "rtt(a=16)"), ("pt(a=8)", "ptt(a=8)", "pdtt(a=8)")
MH3DT, H3DT, TESH, MESH = (
    "mh3dt(m=4, n=4, levels=2, q=2)",
    "h3dt(m=4, n=4, levels=2, q=2)",
    "tesh(m=2, levels=3, q=0)",
    "mesh(k=64, n=2)",
)


@pytest.fixture(scope="module")
def camara() -> dict[str, list[Row]]:
    simulation = []
    for networks, loads, cycles in (
        (PLANE, (0.02, 0.1, 0.2, 0.5, 1.0), 5000),
        (SPACE, (0.05, 0.2, 0.4, 0.8, 1.0), 4000),
    ):
        for topology in map(build, networks):
            for pattern in PATTERNS:
                long = (
                    2 * cycles if pattern == "uniform" else cycles
                )  # until queues are full, short dimensions are ahead of long ones
                simulation += simulation_records(
                    topology, Parameters(router="bluegene", traffic=pattern, cycles=long), loads=loads
                )
    return {"simulation": simulation, "loads": [loads_record(build(name)) for name in (*PLANE, *SPACE)]}


@pytest.fixture(scope="module")
def rahman() -> dict[str, list[Row]]:
    asked: list[Row] = []
    for buffer_flits in (2, 20):
        asked += [
            {"topology": name, "vc_rule": "r05_phases", "buffer_flits": buffer_flits} for name in (MH3DT, H3DT, TESH)
        ]
        asked += [
            {"topology": MESH, "vc_rule": "none", "buffer_flits": buffer_flits, "virtual_channels": many}
            for many in (1, 2)
        ]
    asked += [{"topology": MH3DT, "vc_rule": "r05_phases", "virtual_channels": many} for many in (3, 4)]
    asked += [
        {"topology": MH3DT, "vc_rule": "r05_phases", "packet_flits": flits, "cycles": 10_000} for flits in (64, 256)
    ]
    simulation = []
    for own in asked:
        parameters = Parameters(
            router="rahman-2005", **{"cycles": 5000, **{name: own[name] for name in own if name != "topology"}}
        )
        simulation += simulation_records(build(own["topology"]), parameters, loads=(0.004, 0.012, 0.03, 0.06, 0.08))
    return {"simulation": simulation}


def figures_of(tables: dict[str, list[Row]]) -> Rows:
    return {figure.id.removesuffix("-simulated"): rows for figure, rows in drawable(tables)}


def most(rows: list[Row]) -> dict[str, float]:
    """Largest accepted load by line."""
    found: dict[str, float] = {}
    for row in rows:
        found[row["line"]] = max(found.get(row["line"], 0.0), row["accepted"])
    return found


def by_load(rows: list[Row], column: str) -> dict[float, dict[str, float]]:
    """column by line, by offered load."""
    found: dict[float, dict[str, float]] = {}
    for row in rows:
        found.setdefault(row["offered"], {})[row["line"]] = row[column]
    return found


def test_camara_figs_8_and_9_the_more_twists_the_more_load_and_the_less_latency(camara: dict[str, list[Row]]) -> None:
    found = figures_of(camara)
    for part in "ab":
        throughput = list(most(found[f"c10-fig-8{part}"]).values())
        assert all(straight < twisted for straight, twisted in pairwise(throughput))
        capacity = {row["line"]: row["capacity"] for row in found[f"c10-fig-8{part}"]}
        # node-symmetric networks: nothing exceeds the load that the links can carry, and the router reaches most of it
        assert all(
            0.85 * capacity[line] < accepted <= capacity[line]
            for line, accepted in most(found[f"c10-fig-8{part}"]).items()
        )
        for own in by_load(found[f"c10-fig-9{part}"], "latency").values():
            straight = own.get("RT 32 × 16", own.get("PT 16 × 8 × 8", float("inf")))  # saturated: without latency
            assert all(latency < straight for line, latency in own.items() if not line.startswith(("RT ", "PT ")))
    twice = {
        load: own["PDTT 16 × 8 × 8"] / own["PTT 16 × 8 × 8"]
        for load, own in by_load(found["c10-fig-9b"], "latency").items()
        if len(own) == 3
    }
    # means of 7 and 7.33 hops: 4 cycles a hop, 3 at the end, 15 more flits; near saturation turns offset fewer hops
    assert twice[0.05] == pytest.approx((4 * 7 + 18) / (4 * 22 / 3 + 18), abs=0.01)
    assert max(twice.values()) < 1.01
    assert [len(most(found[f"c10-fig-8{part}"])) for part in "ab"] == [2, 3]


def test_camara_fig_10_links_unused_and_used_alike(camara: dict[str, list[Row]]) -> None:
    use: dict[str, dict[str, float]] = {}
    for row in figures_of(camara)["c10-fig-10"]:
        if "use" in row:
            use.setdefault(row["line"], {})[row["class"]] = row["use"]
    rt, rtt, pt, ptt, pdtt = (
        use[name] for name in ("RT 32 × 16", "RTT 32 × 16", "PT 16 × 8 × 8", "PTT 16 × 8 × 8", "PDTT 16 × 8 × 8")
    )
    # half, by symmetry: half as many hops over as many links; while queues fill a little more
    assert all(
        0.45 < short / long < 0.55 for short, long in ((rt["y"], rt["x"]), (pt["y"], pt["x"]), (pt["z"], pt["x"]))
    )
    assert rtt["y"] == pytest.approx(rtt["x"], rel=0.05)
    assert ptt["y"] == pytest.approx(ptt["x"], rel=0.05)
    assert ptt["z"] == pytest.approx(0.75 * ptt["x"], rel=0.05)
    assert [pdtt["y"], pdtt["z"]] == pytest.approx([pdtt["x"]] * 2, rel=0.05)


def test_camara_figs_11_and_12_what_adverse_traffic_leaves_of_the_gain(camara: dict[str, list[Row]]) -> None:
    found = figures_of(camara)
    for part in "ab":
        hot, uniform = (list(most(found[f"c10-fig-{number}{part}"]).values()) for number in (11, 8))
        assert all(1 < twisted / hot[0] < even / uniform[0] for twisted, even in zip(hot[1:], uniform[1:], strict=True))
    gains = {
        (row["line"].split()[0], row["traffic"]): row["gain"] for part in "ab" for row in found[f"c10-fig-12{part}"]
    }
    assert 0.15 < gains["RTT", "bit complement"] < 0.35
    assert max(gains["RTT", "bit reversal"], gains["RTT", "perfect shuffle"]) < 0.1
    for pattern in ("bit complement", "perfect shuffle"):
        assert 0.05 < gains["PTT", pattern] < gains["PDTT", pattern]
    assert gains["PTT", "bit reversal"] < 0.05 < gains["PDTT", "bit reversal"]
    assert {gain for (line, _), gain in gains.items() if line in ("RT", "PT")} == {0}


def test_rahman_fig_4_orders_of_time_and_throughput(rahman: dict[str, list[Row]]) -> None:
    found = figures_of(rahman)
    for part in "ab":
        least = by_load(found[f"r05-fig-4{part}"], "latency")[0.004]
        assert sorted(least, key=least.__getitem__)[:3] == ["MH3DT", "H3DT", "TESH"]
    small, large = (most(found[f"r05-fig-4{part}"]) for part in "ab")
    assert small["mesh, 2 VCs"] > small["MH3DT"] > small["H3DT"] > small["TESH"] > small["mesh, 1 VC"]
    assert large["TESH"] == pytest.approx(large["MH3DT"], rel=0.1)
    assert large["MH3DT"] > large["H3DT"]
    assert min(large["mesh, 1 VC"], large["mesh, 2 VCs"]) > large["MH3DT"]  # the paper has it the other way
    assert all(large[line] > 1.4 * small[line] for line in large)


def test_rahman_fig_5_longer_messages(rahman: dict[str, list[Row]]) -> None:
    rows = figures_of(rahman)["r05-fig-5"]
    assert list(by_load(rows, "latency")[0.004]) == ["16 flits", "64 flits", "256 flits"]
    per_flit = list(by_load(rows, "latency")[0.004].values())
    assert per_flit == sorted(per_flit, reverse=True)
    throughput = list(most(rows).values())
    assert throughput == sorted(throughput)


def test_rahman_fig_6_the_third_channel_helps_and_the_fourth_less(rahman: dict[str, list[Row]]) -> None:
    throughput = most(figures_of(rahman)["r05-fig-6"])
    third, fourth = (throughput[f"{many} VCs"] / throughput[f"{many - 1} VCs"] for many in (3, 4))
    assert third > 1.4
    assert 1 < fourth < 1.2


def test_nothing_that_is_simulated_is_unexplained(camara: dict[str, list[Row]], rahman: dict[str, list[Row]]) -> None:
    tables = {"loads": camara["loads"], "simulation": [*camara["simulation"], *rahman["simulation"]]}
    rows = [row for row in verification_rows(tables, ["C10", "R05"]) if is_simulated(row["quantity"])]
    assert [row for row in rows if row["verdict"] == "unexplained"] == []
    assert sum(row["verdict"] == "agrees" for row in rows) > sum(row["verdict"] == "departs" for row in rows) > 0
    here = [row["quantity"] for row in rows if row["verdict"] == "not run" and "papers-full" not in row["reason"]]
    assert all(
        quantity.startswith("delivery_time[") or "nearest_neighbour" in quantity for quantity in here
    )  # not simulated above
