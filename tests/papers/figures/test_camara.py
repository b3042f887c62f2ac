"""Cámara et al. 2010: distances, saturation, use of the links, and applications."""

from __future__ import annotations

import pytest
from torusweep.papers.figures import drawable

from tests.papers.figures.values import Row, values


def test_camara_distances(rows: dict[str, list[Row]]) -> None:
    """Exact means for even a: 3a/4, 2a/3 - 1/(6a), a, 11a/12 - 1/(6a), 7a/8 - 1/(4a); the paper's limits."""
    exact: dict[str, tuple[float, float]] = {
        "RT": (3 / 4, 0),
        "RTT": (2 / 3, 1 / 6),
        "PT": (1, 0),
        "PTT": (11 / 12, 1 / 6),
        "PDTT": (7 / 8, 1 / 4),
    }
    for line, (limit, less) in exact.items():
        assert values(rows["c10-distances"], "a", "per_side", line=line) == pytest.approx(
            {a: limit - less / a**2 for a in (4, 8, 16)}
        )
        assert set(values(rows["c10-distances"], "a", "limit", line=line).values()) == {limit}


def test_camara_saturation(rows: dict[str, list[Row]]) -> None:
    found = {
        line: values(rows["c10-saturation"], "a", "per_side", line=line) for line in ("RT", "RTT", "PT", "PTT", "PDTT")
    }
    assert found["RT"] == pytest.approx({4: 4, 8: 4, 16: 4})
    assert found["PT"] == pytest.approx(found["RT"])
    assert found["RTT"] == pytest.approx({4: 4 * 1.5238095, 8: 8 * 0.7529412, 16: 16 * 0.3753666})
    assert found["PTT"] == pytest.approx(found["RTT"])
    assert found["PDTT"] == pytest.approx({4: 4 * 1.7454545, 8: 8 * 0.860987, 16: 16 * 0.4290503}, rel=1e-6)
    assert {row["line"]: row["limit"] for row in rows["c10-saturation"]} == {
        "RT": 4,
        "RTT": 6,
        "PT": 4,
        "PTT": 6,
        "PDTT": 48 / 7,
    }


def test_camara_use_of_the_links(rows: dict[str, list[Row]]) -> None:
    """Mean hops by dimension: a/2, a/4 of a straight torus; a/4 of z and (2a/3 - 1/(6a))/2 of x and y in a PTT."""
    found = {line: values(rows["c10-fig-10"], "class", "use", line=line) for line in ("RT", "RTT", "PT", "PTT", "PDTT")}
    z = (16 / 4) / ((2 * 16 / 3 - 1 / 96) / 2)
    expected = {"RT": (1, 0.5), "RTT": (1, 1), "PT": (1, 0.5, 0.5), "PTT": (1, 1, z), "PDTT": (1, 1, 1)}
    assert {line: tuple(use[name] for name in sorted(use)) for line, use in found.items()} == {
        line: pytest.approx(use) for line, use in expected.items()
    }


def test_applications_stand_beside_each_other_over_the_straight_torus(
    tables: dict[str, list[Row]], rows: dict[str, list[Row]]
) -> None:
    found = rows["c10-fig-14-simulated"]
    assert {(row["run"], row["line"]): row["time"] for row in found} == {
        (f"{name}_{place}", line): time
        for name in ("CG", "LU")
        for place, line, time in (("c", "RT", 1.0), ("c", "RTT", 0.75), ("r", "RT", 2.0), ("r", "RTT", 1.5))
    }
    part = [row for row in tables["simulation"] if row["placement"] != "random" or row["topology"] != "rtt(a=8)"]
    assert "c10-fig-14-simulated" not in {figure.id for figure, _ in drawable({"simulation": part})}
