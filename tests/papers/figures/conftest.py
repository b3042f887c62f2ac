"""What the papers' sweeps hold, as far as the figures go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.papers.figures import drawable
from torusweep.papers.verification import verification_rows
from torusweep.questions.latency.table import ModelInputs, dally_columns, network_of, parhami_kwai_columns
from torusweep.questions.static.record import static_record

from tests.papers.figures.values import CLASSES, RADICES, Row
from tests.records import loads_record

TWISTED = tuple(f"{family}(a={a})" for family in ("rt", "rtt", "pt", "ptt", "pdtt") for a in (2, 4, 5, 8, 16))
RAHMAN = ("hypercube(n=12)", "mesh(k=64, n=2)", "ccc(n=9)", "tesh(m=2, levels=3, q=0)")
HIGHER = ("torus(k=6, n=4)", "pruned_torus(k=6, n=4)", "torus(k=12, n=4)", "pruned_torus(k=12, n=4)")
FIVE = ("torus(k=4, n=5)", "pruned_torus(k=4, n=5)", "torus(k=8, n=5)", "pruned_torus(k=8, n=5)")


def records(columns: dict[str, Any]) -> list[Row]:
    """Rows of columns; NaN is null."""

    def value(cell: Any) -> Any:
        plain = cell.item() if isinstance(cell, np.generic) else cell
        return None if isinstance(plain, float) and math.isnan(plain) else plain

    return [dict(zip(columns, map(value, cells))) for cells in zip(*columns.values(), strict=True)]


def at_96_pins(networks: list[ModelInputs], **asked: Any) -> dict[str, Any]:
    return parhami_kwai_columns(networks, [96 / network.degree for network in networks], **asked)


def made_up_simulations() -> list[Row]:
    """The columns of simulations that the figures read, with invented numbers."""
    patterns = ("uniform", "hot_region", "bit_complement", "bit_reversal", "perfect_shuffle")
    camara = [
        ("bluegene", name, 3, 64, 16, pattern)
        for name in ("rt(a=16)", "rtt(a=16)", "pt(a=8)", "ptt(a=8)", "pdtt(a=8)")
        for pattern in patterns
    ]
    mh3dt = "mh3dt(m=4, n=4, levels=2, q=2)"
    of_4096 = [
        (mh3dt, 2),
        ("h3dt(m=4, n=4, levels=2, q=2)", 2),
        ("tesh(m=2, levels=3, q=0)", 2),
        ("mesh(k=64, n=2)", 1),
        ("mesh(k=64, n=2)", 2),
    ]
    rahman = [("rahman-2005", name, many, flits, 16, "uniform") for name, many in of_4096 for flits in (2, 20)]
    rahman += [("rahman-2005", mh3dt, 2, 2, 64, "uniform"), ("rahman-2005", mh3dt, 3, 2, 16, "uniform")]
    columns = ("router", "topology", "virtual_channels", "buffer_flits", "packet_flits", "traffic")
    applications = [
        {
            "router": "bluegene",
            "topology": name,
            "workload": workload,
            "placement": placement,
            "delivery_time": time,
            "seeds": [0],
            "traffic": None,
        }
        | {"offered_load": None}
        for workload in ("cg", "lu(side=16)")
        for name, placement, time in (
            *(
                ("rt(a=8)", "consecutive", 200.0),
                ("rtt(a=8)", "consecutive", 150.0),
                ("rt(a=8)", "random", 400.0),
                ("rtt(a=8)", "random", 300.0),
            ),
            ("torus(k=8, n=2)", "random", 100.0),
        )
    ]
    return applications + [
        {
            **dict(zip(columns, asked, strict=True)),
            **{"workload": None, "placement": None, "delivery_time": None},
            "routing": "adaptive" if asked[0] == "bluegene" else "hierarchical",
            "offered_load": offered,
            "accepted_load": min(offered, 0.2),
            "network_latency": 40 + 100 * offered,
            "total_latency": 50 + 100 * offered,
            "saturated": offered > 0.2,
            "per_class_utilization": {name: {"mean": min(offered, 0.2) * 2, "max": 1.0} for name in "xyz"},
        }
        for asked in (*camara, *rahman)
        for offered in (0.1, 0.15, 0.3)
    ]


@pytest.fixture(scope="session")
def tables() -> dict[str, list[Row]]:
    """What the papers' sweeps hold, as far as the figures go."""
    four = {f"{family}(k={k}, n=3)": k for k in RADICES for family in CLASSES}
    hierarchies = tuple(f"{family}(m=4, n=4, levels=2, q={q})" for family in ("h3dt", "mh3dt") for q in (0, 2))
    static = [static_record(build(topology)) for topology in (*four, *HIGHER, *FIVE, *TWISTED, *RAHMAN, *hierarchies)]
    loads = [loads_record(build(topology)) for topology in (*four, *TWISTED)]
    by_name = {load["topology"]: load for load in loads}
    networks = {
        record["topology"]: network_of(record, by_name[record["topology"]])
        for record in static
        if record["topology"] in four
    }
    of_16 = [network for topology, network in networks.items() if four[topology] == 16]
    every = list(networks.values())
    latency = [
        *records(at_96_pins(of_16, message_bits=(96,), switch_delay=(3, 7), rates=[m / 1000 for m in range(83)])),
        *records(at_96_pins(of_16, message_bits=(384,), switch_delay=(3, 7), rates=[m / 4000 for m in range(83)])),
        *records(at_96_pins(every, message_bits=(96, 192, 288, 384), switch_delay=(3, 7), rates=[0.01])),
        *records(at_96_pins(every, message_bits=(96,), switch_delay=(3, 7), rates=[0.002, 0.005, 0.02, 0.03, 0.04])),
        *records(
            dally_columns(
                (2**8, 2**10, 2**14, 2**20), message_bits=(150,), wire_delay=("constant", "logarithmic", "linear")
            )
        ),
        *records(dally_columns((2**8,), message_bits=(100, 150), locality=(0.5, 1.0), whole=True)),
    ]
    verification = verification_rows({"static": static}, ["P04", "R05"])
    return {
        "static": static,
        "loads": loads,
        "latency": latency,
        "verification": verification,
        "simulation": made_up_simulations(),
    }


@pytest.fixture(scope="session")
def rows(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {figure.id: found for figure, found in drawable(tables)}
