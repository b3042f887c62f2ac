"""Rahman et al. 2005: the table of distances."""

from __future__ import annotations

import pytest

from tests.papers.figures.values import Row, values


@pytest.mark.parametrize(
    ("figure", "hops"),
    [
        (
            "r05-table-1-diameter",
            {
                "Hypercube": (12, None, 12),
                "2D mesh": (126, None, 126),
                "CCC": (20, None, 22),
                "TESH": (22, 32, 32),
                "H3DT(4,4,2,0)": (24, 25, 25),
                "MH3DT(4,4,2,0)": (18, 20, 20),
                "H3DT(4,4,2,2)": (18, 21, 21),
                "MH3DT(4,4,2,2)": (16, 18, 18),
            },
        ),
        (
            "r05-table-1-mean",
            {
                "Hypercube": (6, None, 6),
                "2D mesh": (42.65625, None, 42.67),
                "CCC": (12.100694444, None, 12.75),
                "TESH": (14.06884765625, 17.791015625, 17.80),
                "H3DT(4,4,2,0)": (12.123046875, 12.73828125, 12.74),
                "MH3DT(4,4,2,0)": (9.796875, 10.359375, 10.36),
                "H3DT(4,4,2,2)": (9.662109375, 10.76953125, 10.77),
                "MH3DT(4,4,2,2)": (8.8125, 9.375, 9.37),
            },
        ),
    ],
)
def test_rahman_table_1(figure: str, hops: dict[str, tuple[float | None, ...]], rows: dict[str, list[Row]]) -> None:
    """Graph, own routing, print; the paper's hierarchies are along its own routing."""
    found = {
        name: values(rows[figure], "measure", "hops", network=name)
        for name in dict.fromkeys(row["network"] for row in rows[figure])
    }
    assert list(found) == list(hops)
    for name, expected in hops.items():
        assert [found[name].get(measure) for measure in ("shortest", "own routing", "printed")] == [
            None if value is None else pytest.approx(value) for value in expected
        ]
    shorter = {name: own["own routing"] - own["shortest"] for name, own in found.items() if "own routing" in own}
    if figure == "r05-table-1-diameter":
        assert shorter == {"TESH": 10, "H3DT(4,4,2,0)": 1, "MH3DT(4,4,2,0)": 2, "H3DT(4,4,2,2)": 3, "MH3DT(4,4,2,2)": 2}
    cut = {row["network"] for row in rows[figure] if "cut" in row["label"]}
    assert cut == {"2D mesh"}
    assert all(row["shown"] == row["hops"] for row in rows[figure] if row["network"] != "2D mesh")
