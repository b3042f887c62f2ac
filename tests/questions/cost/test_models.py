"""Cost models: those that come with the program, files of users, and what is wrong with a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep.errors import BadInput
from torusweep.questions.cost.arithmetic import Cables, Counts, prices
from torusweep.questions.cost.model import MODELS, cost_model

MINE = """\
description: mine
currency: EUR
bandwidth: 100
router: {products: [{ports: 8, price: 100}, {ports: 32, price: 90}, {ports: 64, price: 500}], date: 2026, source: shop}
electrical: {unit: cable, fixed: 10, per_metre: 2, longest: 3, date: 2026, source: shop}
optical: {unit: Gb/s, fixed: 1, per_metre: 0.1, date: 2026, source: shop}
racks:
  {routers: 2, terminals: 8, width: 1, depth: 2, inside: 1, overhead: 2, terminal_cable: 1.5, laying_inside: 1,
   laying_between: 4, date: 2026, source: hall}
"""


def counts(metres=(1.0, 3.0, 3.5), bandwidth=(1.0, 1.0, 2.0)) -> Counts:
    """Two routers of 4 ports, one of 9; 5 terminals; a cable inside, one between, three of twice the bandwidth."""
    cables = Cables(
        metres=np.array(metres),
        between=np.array([False, True, True]),
        circuit=np.zeros(3, bool),
        bandwidth=np.array(bandwidth),
        number=np.array([1, 1, 3]),
    )
    return Counts(np.array([4.0, 9.0]), np.array([2, 1]), 5, cables)


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    return str(path)


def test_prices_by_hand(mine: str):
    """The product of 32 ports is the cheapest for 4 ports, too. Cables: 12 + 1, 16 + 4, 3 · (270 + 4), 5 · (13 + 1)."""
    found = prices(cost_model(mine), counts())
    assert found.routers == 3 * 90
    assert (found.electrical, found.optical, found.terminal_cables) == (2, 3, 5)
    assert found.cables == pytest.approx((12 + 1) + (16 + 4) + 3 * (100 * (1 + 0.35) * 2 + 4) + 5 * (13 + 1))
    assert found.metres == pytest.approx(1 + 3 + 3 * 3.5 + 5 * 1.5)
    assert (found.watts, found.picojoules, found.circuits) == (None, None, 0)


def test_the_cheaper_cable_is_taken_where_no_length_is_given():
    """0.4079 x + 0.5771 = 0.0919 x + 7.2745 at 21.19 m."""
    model = cost_model("2014-besta")
    found = prices(model, counts(metres=(2.0, 21.19, 21.2), bandwidth=(1.0, 1.0, 1.0)))
    assert (found.electrical, found.optical) == (2, 3)


def test_published_lines():
    """A router and a cable of the published lines, by hand."""
    one = Cables(np.array([10.0]), np.array([True]), np.array([False]), np.array([1.0]), np.array([1]))
    found = prices(cost_model("2014-besta"), Counts(np.array([36.0]), np.array([1]), 0, one))
    assert found.routers == pytest.approx(350.4 * 36 - 892.3)
    assert found.cables == pytest.approx(40 * min(0.4079 * 10 + 0.5771, 0.0919 * 10 + 7.2745))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_names_its_sources(name: str):
    model = cost_model(name)
    assert model.dates()[:4] == name[:4]
    parts = [part for _, part in model if hasattr(part, "source")]
    assert all(len(part.source) > 10 for part in parts)
    assert (
        model.estimates()
        == {
            "2014-besta": ["racks"],
            "2023-circuits": ["router", "electrical", "optical", "circuit_switch", "power", "racks"],
        }[name]
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("currency: EUR\n", "", ":1:1: missing key 'currency': currency of all prices, as in USD; add it"),
        ("bandwidth: 100", "bandwidht: 100", ":3:1: unknown key 'bandwidht' (did you mean 'bandwidth'?)"),
        ("bandwidth: 100", "bandwidth: no", ":3:12: bandwidth: expected a number (Gb/s of a link"),
        ("bandwidth: 100", "bandwidth: 0", "bandwidth: expected a number ≥ 1e-09"),
        ("bandwidth: 100", "bandwidth: 1e-320", "bandwidth: expected a number ≥ 1e-09"),
        ("unit: cable", "unit: mile", "electrical.unit: expected 'cable' or 'Gb/s'"),
        ("fixed: 10", "fixd: 10", "electrical: unknown key 'fixd' (did you mean 'fixed'?)"),
        (
            "ports: 8",
            "ports: 0",
            "router.products[0].ports: expected a number ≥ 1 (ports of the router), got 0",
        ),
        ("routers: 2", "routers: 0", "racks.routers: expected a number ≥ 1"),
        (MINE, "", ":1:1: expected a mapping"),
        (MINE, "[1]", ":1:1: expected a mapping"),
        ("source: hall", "source: ''", "racks.source: expected text (who published the numbers, and where)"),
        ("per_metre: 0.1,", "per_metre: 0.1, longest: 4,", "leave optical.longest out"),
        ("optical:", "#", "add optical, or leave it out"),
        ("price: 100", "price: -1", "router.products[0].price: expected a number ≥ 0"),
        ("per_metre: 2", "per_metre: -2", "electrical.per_metre: expected a number ≥ 0"),
        ("router: {", "router: {per_port: 1, ", "router: expected a line (fixed, per_port) or products, got both"),
        (
            "{ports: 8, price: 100}, {ports: 32, price: 90}, {ports: 64, price: 500}",
            "",
            "router's price, got none; add",
        ),
        ("date: 2026, source: hall", "date: 2026-01-02, source: hall", "2026-01-02"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_line(mine: str, old: str, new: str, says: str):
    Path(mine).write_text(MINE.replace(old, new, 1))
    with pytest.raises(BadInput) as refusal:
        cost_model(mine)
    assert str(refusal.value).startswith(mine)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_names_that_are_no_model_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match=r"unknown cost model '2014-bista' \(did you mean '2014-besta'\?\); there are"):
        cost_model("2014-bista")
    with pytest.raises(BadInput, match="no such file"):
        cost_model(str(tmp_path / "none.yaml"))


def test_a_file_far_too_large_is_no_model_and_the_remedy_is_one_for_models(tmp_path: Path):
    path = tmp_path / "large.yaml"
    path.write_text("description: " + "a" * 2**19)
    with pytest.raises(
        BadInput, match=r"expected a cost model of at most 512 KiB, got more; leave out what is no price"
    ):
        cost_model(str(path))


def test_routers_beyond_the_largest_product_are_refused(mine: str):
    none = Cables(*(np.zeros(0, kind) for kind in (float, bool, bool, float, int)))
    with pytest.raises(BadInput, match="routers of at most 64 ports, the largest of the cost model's products, got 65"):
        prices(cost_model(mine), Counts(np.array([65.0]), np.array([1]), 0, none))


WORDS = MINE.replace("\n", " ").split(" ") + [
    *("null", "[]", "{}", "true", "-1", "1e999", ".nan", "'", ": ", "\n", "\x00"),
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(st.tuples(st.integers(0, len(MINE)), st.integers(0, 12), st.sampled_from(WORDS)), max_size=4),
    rest=st.binary(max_size=6),
)
def test_any_text_is_a_model_or_refused_in_a_line(tmp_path: Path, places: list[tuple[int, int, str]], rest: bytes):
    text = MINE
    for first, length, word in places:
        text = text[:first] + word + text[first + length :]
    path = tmp_path / "any.yaml"
    path.write_bytes(text.encode() + rest)
    said, model = "", None
    try:
        model = cost_model(str(path))
    except BadInput as refusal:
        said = str(refusal)
    assert "\n" not in said
    assert said.startswith(str(path)) if model is None else model.racks.routers >= 1
