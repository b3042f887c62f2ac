"""The papers' figures: their numbers against the papers' formulas, and the claims of their captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torusweep.charts import chart as figures
from torusweep.charts.lines import cut_above
from torusweep.models.table import Network, dally_columns, network_of, parhami_kwai_columns
from torusweep.networks.families import build
from torusweep.papers.figures import FIGURES, drawable
from torusweep.papers.figures.files import write_figures
from torusweep.papers.verification import verification_rows
from torusweep.results import page as report
from torusweep.results.page.papers import papers_section
from torusweep.stages.loads import loads_record
from torusweep.stages.static import static_record

from tests.results import vega_lite
from tests.results.test_report import Page

Row = dict[str, Any]
CLASSES = ("torus", "pruned_torus", "directed_torus", "pruned_directed_torus")
RADICES = (4, 6, 8, 12, 16, 20, 24, 28, 32)
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


def at_96_pins(networks: list[Network], **asked: Any) -> dict[str, Any]:
    return parhami_kwai_columns(networks, [96 / network.degree for network in networks], **asked)


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def rows(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {figure.id: found for figure, found in drawable(tables)}


def test_every_figure_has_its_numbers_and_none_has_any_without(rows: dict[str, list[Row]]) -> None:
    assert list(rows) == [figure.id for figure in FIGURES]
    assert len(rows) == len(FIGURES) == 37
    assert drawable({}) == []


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_a_figure_needs_the_tables_that_it_names_and_no_others(
    figure: Any, tables: dict[str, list[Row]], rows: dict[str, list[Row]]
) -> None:
    assert figure.rows({name: tables[name] for name in figure.tables}) == rows[figure.id]
    for missing in figure.tables:
        assert figure.rows({name: tables[name] for name in figure.tables if name != missing}) == []


@pytest.mark.parametrize("topology", ["torus(k=16, n=3)", "torus(k=12, n=4)", "rtt(a=16)"])
def test_one_network_is_no_figure(topology: str, tables: dict[str, list[Row]]) -> None:
    alone = {name: [row for row in found if row["topology"] == topology] for name, found in tables.items()}
    assert alone["static"]
    assert drawable(alone) == []


@pytest.mark.parametrize("missing", CLASSES)
def test_a_figure_of_four_classes_needs_all_four(missing: str, tables: dict[str, list[Row]]) -> None:
    """Of the missing class, one network is left: no line."""
    found = [
        row
        for row in tables["static"]
        if not row["topology"].startswith(f"{missing}(") or row["topology"] == f"{missing}(k=8, n=3)"
    ]
    assert not {"p04-fig-4", "p04-fig-4-excess"} & {figure.id for figure, _ in drawable({"static": found})}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
def test_a_figure_can_be_drawn_and_names_its_lines(figure: Any, rows: dict[str, list[Row]], tmp_path: Path) -> None:
    figures.save(figures.finished(figure.chart(rows[figure.id]), figure.title), tmp_path / "figure.svg")
    drawing = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    names = {row.get("line") or row["network"] for row in rows[figure.id]}
    assert len(names) > 1
    assert all(f">{name}<" in drawing for name in names)


def test_a_sweep_of_short_messages_alone(tables: dict[str, list[Row]]) -> None:
    short = [row for row in tables["latency"] if row["message_bits"] == 96 and row["switch_delay"] == 3]
    found = {figure.id: figure.chart(rows).to_dict() for figure, rows in drawable({**tables, "latency": short})}
    assert {"p04-fig-8", "p04-fig-13", "p04-fig-15"} <= set(found)
    assert not {"p04-fig-9", "p04-fig-10", "p04-fig-14", "p04-fig-16", "d90-fig-8"} & set(found)


def test_files_of_the_figures_that_a_sweep_has(tables: dict[str, list[Row]], tmp_path: Path) -> None:
    out = tmp_path / "figures"
    out.mkdir()
    (out / "of-an-earlier-sweep.svg").touch()
    written = write_figures({"static": tables["static"], "loads": tables["loads"]}, out)
    assert sorted(out.iterdir()) == sorted(written)
    assert {path.stem for path in written} >= {"p04-fig-4", "p04-fig-5", "p04-fig-7", "c10-saturation", "c10-fig-10"}
    assert not {path.stem for path in written} & {"p04-fig-8", "d90-fig-8", "r05-table-1-mean"}
    assert "Parhami &amp; Kwai 2004, Fig. 4" in (out / "p04-fig-4.svg").read_text(encoding="utf-8")


def test_a_line_has_no_more_marks_than_can_be_told_apart(rows: dict[str, list[Row]]) -> None:
    drawn = next(figure for figure in FIGURES if figure.id == "p04-fig-8").chart(rows["p04-fig-8"]).to_dict()
    marks = vega_lite.rows(drawn)[0]
    for variant in ("as printed", "corrected"):
        whole, shown = (
            values(found, "rate", "latency", line="torus", variant=variant) for found in (rows["p04-fig-8"], marks)
        )
        assert len(whole) == 83
        assert 30 <= len(shown) <= 46
        assert len(shown.items() - whole.items()) <= 1  # where the line leaves the axes
        assert min(shown) == min(whole)
        assert max(shown.values()) > drawn["layer"][0]["encoding"]["y"]["scale"]["domain"][1]  # and it does


def test_the_page_has_each_under_its_paper(tables: dict[str, list[Row]]) -> None:
    section = papers_section(tables)
    assert section is not None
    drawn, body = {panel.id: figures.specification(panel.chart) for panel in section.panels}, section.body
    assert list(drawn) == [figure.id for figure in FIGURES]
    vega_lite.check(drawn.values())
    places = [
        body.index(text)
        for text in ("Parhami &amp; Kwai 2004", "p04-fig-16", "Dally 1990", "Cámara et al. 2010", "Rahman et al. 2005")
    ]
    assert places == sorted(places)
    page = Page(report.page({"static": tables["static"][:8], "latency": tables["latency"]}, {}))
    assert {"p04-fig-4", "d90-fig-8"} <= {own.get("id") for _, own in page.elements}
    assert papers_section({}) is None


# --- Parhami & Kwai 2004: distances ---------------------------------------------------------------


def values(found: Iterable[Row], along: str, what: str, **chosen: Any) -> dict[Any, float]:
    """what by along, of the rows with these values."""
    return {row[along]: row[what] for row in found if all(row[name] == value for name, value in chosen.items())}


def test_fig_4_is_the_papers_table(rows: dict[str, list[Row]]) -> None:
    """P04 Table 1, exact for k a multiple of 4; its fit for the fourth class."""
    excess: dict[str, Callable[[int], float]] = {
        "torus": lambda k: 0,
        "pruned": lambda k: 2 / k - 2 / k**2,
        "directed": lambda k: 1 - 4 / k**3,
    }
    for line, formula in excess.items():
        found = values(rows["p04-fig-4-excess"], "k", "excess", line=line)
        assert found == pytest.approx(
            {k: formula(k) if (line, k) != ("directed", 6) else 5.06481 - 4.5 for k in RADICES}, abs=1e-5
        )
    both = values(rows["p04-fig-4"], "k", "mean_distance", line="both")
    assert all(2 < both[k] - 0.75 * k < 3.5 for k in RADICES)
    assert {k: both[k] for k in (4, 8, 16, 32)} == {4: 5.0625, 8: 8.8203125, 16: 15.2080078125, 32: 27.3648681640625}


def test_fig_5_pruning_costs_less_the_larger_and_more_in_five_dimensions(rows: dict[str, list[Row]]) -> None:
    lines = {
        name: values(rows["p04-fig-5"], "k", "mean_distance", line=name)
        for name in ("4D torus", "4D pruned", "5D torus", "5D pruned")
    }
    assert lines["4D torus"] == {6: 6, 12: 12}
    assert lines["5D torus"] == {4: 5, 8: 10}
    four = [lines["4D pruned"][k] - k for k in (6, 12)]
    five = [lines["5D pruned"][k] - 5 * k / 4 for k in (4, 8)]
    assert 0 < four[1] < four[0]
    assert four[0] < five[1] < five[0]


# --- Parhami & Kwai 2004: latency -----------------------------------------------------------------


def printed_latency(
    rate: float, degree: int, distance: float, message_bits: int, delay: int, *, directed: bool
) -> float:
    """P04 sec. 5 as it stands: the recurrence of r(i), summed; 96 pins."""
    flits = message_bits * degree / 96
    busy = rate / degree * flits * distance
    inputs = degree if directed else degree - 1
    through = busy * (1 - 1 / (flits * distance)) / inputs
    p = [math.comb(inputs, i) * (1 - through) ** (inputs - i) * through**i for i in range(inputs + 1)]
    own = busy / (flits * distance)
    q = [(1 - own) * a + own * b for a, b in zip([*p, 0], [0, *p])]
    r = [1 - busy]
    for i in range(400):
        known = r[0] * (q[i] if i < len(q) else 0) + sum(
            r[j] * q[i + 1 - j] for j in range(max(1, i + 2 - len(q)), i + 1)
        )
        r.append((r[i] - known) / q[0])
    waiting = sum((i - 1) * flits * r[i] for i in range(2, len(r))) * distance / busy if busy else 0.0
    free = r[0] + sum(r[i] / i for i in range(1, len(r)))
    return (flits + delay * (distance - 1)) * free + waiting


@pytest.mark.parametrize(("number", "message_bits", "delay"), [(8, 96, 3), (9, 96, 7), (10, 384, 3), (11, 384, 7)])
def test_figs_8_to_11_are_the_printed_model(
    number: int, message_bits: int, delay: int, rows: dict[str, list[Row]]
) -> None:
    shape = {"torus": (6, 12.0), "pruned": (4, 12.1171875), "directed": (3, 12.9990234375), "both": (2, 15.2080078125)}
    chosen = [row for row in rows[f"p04-fig-{number}"] if row["variant"] == "as printed" and row["utilization"] < 0.9]
    assert len(chosen) > 200
    for row in chosen[::7]:
        degree, distance = shape[row["line"]]
        expected = printed_latency(
            row["rate"], degree, distance, message_bits, delay, directed=row["line"] in ("directed", "both")
        )
        assert row["latency"] == pytest.approx(expected, rel=1e-6)


def test_fig_7_is_light_then_geometric(rows: dict[str, list[Row]]) -> None:
    light, medium, heavy = (
        values(rows["p04-fig-7"], "contenders", "probability", line=f"ρ = {busy}") for busy in (0.1, 0.5, 0.9)
    )
    assert [found[0] for found in (light, medium, heavy)] == pytest.approx([0.9, 0.5, 0.1])
    assert sum(light[i] for i in range(2, 13)) < 0.01
    decay = [heavy[i + 1] / heavy[i] for i in range(4, 12)]
    assert max(decay) - min(decay) < 0.02
    assert sum(medium.values()) == pytest.approx(1, abs=1e-6)


class Curves:
    """A figure's latencies by rate; beyond its saturation, a class's is infinite."""

    def __init__(self, found: list[Row], variant: str) -> None:
        self.lines = {
            line: values(found, "rate", "latency", line=line, variant=variant)
            for line in {row["line"] for row in found}
        }
        self.rates = sorted(max(self.lines.values(), key=len))

    def below(self, one: str, other: str) -> list[tuple[float, float]]:
        """The intervals of rates at which one's latency is less."""
        mine, others = self.lines[one], self.lines[other]
        found: list[list[float]] = []
        before = False
        for rate in self.rates:
            less = mine.get(rate, math.inf) < others.get(rate, math.inf)
            if less and not before:
                found.append([rate, rate])
            elif less:
                found[-1][1] = rate
            before = less
        return [(first, last) for first, last in found]


BOTH = "both"


def test_fig_8_either_alone_and_not_both(rows: dict[str, list[Row]]) -> None:
    """Short messages: either alone beats the torus up to near saturation; both together neither of them."""
    printed, corrected = (Curves(rows["p04-fig-8"], variant) for variant in ("as printed", "corrected"))
    assert printed.below("pruned", "torus") == [(0, 0.081)]
    assert printed.below("directed", "torus") == [(0, 0.071)]
    assert printed.below(BOTH, "pruned") == printed.below(BOTH, "directed") == []
    # against the plain torus, both together win in between only
    assert printed.below(BOTH, "torus") == [(0.020, 0.059)]
    # "at heavy loads, pruning is more effective than orientation": of the printed model only
    assert printed.below("pruned", "directed") == [(0, 0.038), (0.055, 0.082)]
    assert corrected.below("pruned", "directed") == [(0, 0.021)]
    assert corrected.below(BOTH, "directed") == []
    assert corrected.below(BOTH, "pruned") == [(0.038, 0.048)]
    assert corrected.below("pruned", "torus") == [(0, 0.050)]
    assert corrected.below("directed", "torus") == [(0, 0.071)]
    assert (max(printed.lines["pruned"]), max(corrected.lines["pruned"])) == (0.082, 0.062)  # 0.08253 and 0.0625
    assert corrected.lines["torus"] == pytest.approx(printed.lines["torus"])  # all links alike


def test_fig_9_a_slower_switch(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (Curves(rows["p04-fig-9"], variant) for variant in ("as printed", "corrected"))
    assert printed.below("directed", "torus") == [(0.018, 0.072)]
    assert printed.below("pruned", "directed") == [(0, 0.082)]
    assert printed.below("pruned", "torus") == [(0, 0.081)]
    assert corrected.below("pruned", "directed") == [(0, 0.038)]
    assert corrected.below("pruned", "torus")[0][1] > 0.038


@pytest.mark.parametrize(("number", "best", "from_rate"), [(10, (0.003, 0.0125), 0), (11, (0.0095, 0.0115), 0.00175)])
def test_figs_10_and_11_both_together_no_longer_as_bad(
    number: int, best: tuple[float, float], from_rate: float, rows: dict[str, list[Row]]
) -> None:
    """With long messages, both together beat the plain torus from light load on, and in between either alone."""
    printed = Curves(rows[f"p04-fig-{number}"], "as printed")
    (beats_torus,) = printed.below(BOTH, "torus")
    assert beats_torus[0] == from_rate
    (beats_directed,) = printed.below(BOTH, "directed")
    (beats_pruned,) = printed.below(BOTH, "pruned")
    assert (max(beats_directed[0], beats_pruned[0]), min(beats_directed[1], beats_pruned[1])) == best


def test_figs_10_and_11_pruning_against_direction(rows: dict[str, list[Row]]) -> None:
    """Pruning overtakes direction at heavy load in the printed model only."""
    assert Curves(rows["p04-fig-10"], "as printed").below("pruned", "directed") == [(0.01425, 0.0205)]
    assert Curves(rows["p04-fig-10"], "corrected").below("pruned", "directed") == []
    assert Curves(rows["p04-fig-11"], "as printed").below("pruned", "directed") == [(0, 0.00425), (0.014, 0.0205)]
    assert Curves(rows["p04-fig-11"], "corrected").below("pruned", "directed") == [(0, 0.00225)]


def test_fig_12_what_saturates_first(rows: dict[str, list[Row]], tables: dict[str, list[Row]]) -> None:
    corrected = Curves(rows["p04-fig-12"], "corrected")
    assert set(corrected.lines) == {"torus", "pruned", "directed"}
    assert {line: max(found) for line, found in corrected.lines.items()} == {
        "torus": 0.082,
        "pruned": 0.062,
        "directed": 0.076,
    }
    points = {row["topology"]: row for row in tables["latency"] if row["message_bits"] == 96}
    three = [points[f"{family}(k=16, n=3)"] for family in CLASSES[:3]]
    assert [row["saturation_rate"] for row in three] == pytest.approx([1 / 12, 1 / 12.1171875, 1 / 12.9990234375])
    assert [row["saturation_rate_corrected"] for row in three] == pytest.approx([1 / 12, 1 / 16, 1 / 12.9990234375])


def test_fig_13_long_messages_and_large_networks(rows: dict[str, list[Row]]) -> None:
    found = rows["p04-fig-13"]
    pruned, directed = (
        {bits: values(found, "k", "latency", line=line, variant="as printed", message_bits=bits) for bits in (96, 384)}
        for line in ("pruned", "directed")
    )
    assert all(abs(pruned[96][k] / directed[96][k] - 1) < 0.07 for k in RADICES)
    assert [k for k in RADICES if pruned[384][k] < directed[384][k]] == [28, 32]
    assert max(values(found, "k", "latency", line="pruned", variant="corrected", message_bits=384)) == 24
    assert max(values(found, "k", "latency", line="directed", variant="corrected", message_bits=384)) == 32


def ratios(found: list[Row], variant: str) -> dict[str, dict[int, float]]:
    return {
        line: values(found, "k", "ratio", line=line, variant=variant)
        for line in dict.fromkeys(row["line"] for row in found)
    }


def test_fig_14_the_gain_grows_with_size_and_length(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-14"], variant) for variant in ("as printed", "corrected"))
    assert list(printed) == ["F = 4", "F = 8", "F = 12", "F = 16"]
    for shorter, longer in pairwise(printed.values()):
        assert all(longer[k] < shorter[k] < 1 for k in RADICES)
    assert all(line[32] < line[4] for line in printed.values())
    assert max(printed["F = 4"].values()) - min(printed["F = 4"].values()) < 0.03
    assert all(printed["F = 16"][large] < printed["F = 16"][small] for small, large in pairwise(RADICES) if large < 32)
    assert all(ratio < 1 for line in ("F = 4", "F = 8") for ratio in corrected[line].values())
    assert corrected["F = 12"][24] < 1 < corrected["F = 12"][28]
    assert corrected["F = 16"][16] < 1 < corrected["F = 16"][20]
    assert max(corrected["F = 16"]) == 24  # then saturated
    assert all(corrected[line][k] >= printed[line][k] for line in corrected for k in corrected[line])


def test_fig_15_the_gain_grows_with_load(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-15"], variant) for variant in ("as printed", "corrected"))
    assert list(printed) == [f"m = {m}" for m in (0.002, 0.005, 0.01, 0.02, 0.04)]  # five of the six
    for lighter, heavier in pairwise(printed.values()):
        assert all(heavier[k] < lighter[k] for k in RADICES if k > 6)
    light, heavy = printed["m = 0.002"], printed["m = 0.04"]
    assert all(light[a] < light[b] for a, b in pairwise(RADICES))
    assert light[32] > 0.95
    assert (
        min(printed["m = 0.005"].values()) > printed["m = 0.005"][4] - 0.005
    )  # no more in large networks than in small ones
    assert heavy[32] < 0.65
    assert max(corrected["m = 0.04"]) == 24  # saturates at 1/k, where 4/(3k) is printed
    assert corrected["m = 0.04"][20] > 0.95


def test_fig_16_pruning_wins_against_a_slower_switch(rows: dict[str, list[Row]]) -> None:
    printed, corrected = (ratios(rows["p04-fig-16"], variant) for variant in ("as printed", "corrected"))
    assert all(ratio < 1 for line in printed.values() for ratio in line.values())
    assert all(ratio < 0.5 for k, ratio in printed["m = 0.002"].items())
    assert corrected["m = 0.04"][20] < 1 < corrected["m = 0.04"][24]


# --- Dally 1990 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "variant", "cycle", "best"),
    [
        ("d90-fig-8", None, lambda wire: 1.0, {256: (2, 33.75), 2**14: (4, 47.144), 2**20: (5, 56.25)}),
        (
            "d90-logarithmic",
            "as printed",
            lambda wire: 1 + math.log2(wire),
            {256: (2, 33.75), 2**14: (2, 129.34375), 2**20: (5, 393.75)},
        ),
        (
            "d90-logarithmic",
            "corrected",
            lambda wire: 1 + math.log2(wire),
            {256: (2, 67.5), 2**14: (3, 209.774), 2**20: (5, 450.0)},
        ),
        (
            "d90-linear",
            "as printed",
            lambda wire: wire,
            {256: (2, 33.75), 2**14: (2, 129.34375), 2**20: (2, 1023.29297)},
        ),
        ("d90-linear", "corrected", lambda wire: wire, {256: (2, 67.5), 2**14: (2, 258.6875), 2**20: (2, 2046.58594)}),
    ],
)
def test_dally_latency_and_its_least(
    figure: str,
    variant: str | None,
    cycle: Callable[[float], float],
    best: dict[int, tuple[int, float]],
    rows: dict[str, list[Row]],
) -> None:
    """T = T_c (n(k-1)/2 + 2L/k), k = N^(1/n), L = 150, wires of k^(n/2-1) (Eqs. 12 and 13), twice that if folded."""
    drawn = [row for row in rows[figure] if row.get("variant") == variant]
    for row in drawn:
        k, n = row["nodes"] ** (1 / row["dimension"]), row["dimension"]
        wire = k ** (n / 2 - 1) * (2 if variant == "corrected" and 2**n < row["nodes"] else 1)
        assert row["mean_latency"] == pytest.approx(cycle(wire) * (n * (k - 1) / 2 + 300 / k))
    assert {(row["nodes"], row["dimension"]) for row in drawn} == {
        (2**e, n) for e in (8, 14, 20) for n in range(2, e + 1)
    }
    assert len(drawn) == 7 + 13 + 19
    found = {row["nodes"]: (row["dimension"], row["mean_latency"]) for row in drawn if row["best"]}
    assert {nodes: dimension for nodes, (dimension, _) in found.items()} == {
        nodes: dimension for nodes, (dimension, _) in best.items()
    }
    assert [found[nodes][1] for nodes in best] == pytest.approx([cycles for _, cycles in best.values()], rel=1e-4)
    least = {
        nodes: min((r for r in drawn if r["nodes"] == nodes), key=lambda r: r["mean_latency"])["dimension"]
        for nodes in best
    }
    assert least == {nodes: dimension for nodes, (dimension, _) in best.items()}
    of_binary_cubes = [
        row["mean_latency"] / found[row["nodes"]][1] for row in drawn if 2 ** row["dimension"] == row["nodes"]
    ]
    if figure == "d90-logarithmic":  # they fall further behind than with a constant cycle (Fig. 8)
        assert all(
            now > then for now, then in zip(of_binary_cubes, (154 / 33.75, 157 / 47.144, 160 / 56.25), strict=True)
        )


def test_dally_pins(rows: dict[str, list[Row]]) -> None:
    pins = values(rows["d90-fig-7"], "dimension", "pins", nodes=2**20)
    assert (pins[2], pins[4]) == pytest.approx((2048, 128))
    assert {row["line"] for row in rows["d90-fig-7"]} == {"N = 256", "N = 16K", "N = 1M"}


def test_dally_wire_density(rows: dict[str, list[Row]]) -> None:
    """Every channel of the row counted: two between nodes whose numbers differ in one of ten bits."""
    crossing = [0] * 1025
    for node in range(1024):
        for bit in range(10):
            if not node >> bit & 1:
                for position in range(node + 1, node + (1 << bit) + 1):
                    crossing[position] += 2
    cube = values(rows["d90-fig-6"], "position", "wires", line="binary 20-cube")
    assert all(crossing[position] == wires for position, wires in cube.items())
    assert {position for position in range(2, 1024) if crossing[position] != crossing[position - 1]} <= set(cube)
    assert max(cube.values()) == cube[341] == 1364
    assert cube[512] == 1024
    assert values(rows["d90-fig-6"], "position", "wires", line="2D torus") == {1: 1024, 1023: 1024}


# --- Cámara et al. 2010 ---------------------------------------------------------------------------


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


# --- Rahman et al. 2005 ---------------------------------------------------------------------------


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


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_line_cut_above_the_axis_leaves_it_where_it_did(logarithmic: bool) -> None:
    heights = [1.0, 8.0, 4000.0, 9000.0, 5.0]  # up, beyond, further, and back in
    rows = [{"line": "a", "k": float(k), "cycles": height} for k, height in enumerate(heights)]
    cut = cut_above(rows, "k", "cycles", 10.0, logarithmic=logarithmic)
    assert [row["cycles"] for row in cut] == [1.0, 8.0, 20.0, 20.0, 5.0]
    scale = math.log10 if logarithmic else float
    for left, right, found in (
        (rows[1], rows[2], cut[2]),
        (rows[3], rows[4], cut[3]),
    ):  # on the straight line between the two
        slope = (scale(right["cycles"]) - scale(left["cycles"])) / (right["k"] - left["k"])
        assert scale(left["cycles"]) + slope * (found["k"] - left["k"]) == pytest.approx(scale(20.0))
    other = [{"line": "b", "k": 0.0, "cycles": 99.0}, {"line": "b", "k": 1.0, "cycles": 98.0}]
    assert cut_above([*rows, *other], "k", "cycles", 10.0, logarithmic=logarithmic) == cut


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
