"""Joined tables: the view of designs, fronts over several tables, and refusals of what is mixed. Rows are by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from torusweep.all_columns import schema_of
from torusweep.answers.choices import Choices, front_of, left_out, lister
from torusweep.answers.joined import join, remark, unnamed, words_of
from torusweep.answers.plot import plot
from torusweep.answers.query import query
from torusweep.errors import BadInput
from torusweep.tables.store import publish_table

COST = {"a": 8, "b": 6, "c": 4, "d": 2}
SATURATION = [  # network, routing, traffic, saturation load
    ("a", "valiant", "uniform", 0.5),
    ("a", "minimal", "uniform", 1.0),
    ("a", "minimal", "tornado", 3.0),
    ("b", "minimal", "uniform", 0.6),
    ("b", "valiant", "uniform", 0.8),
    ("c", "minimal", "tornado", 0.3),
    ("c", "minimal", "shuffle", 0.2),
]
LATENCY = [  # network, routing, offered load, latency
    ("a", "dimension_order", 0.1, 20.0),
    ("a", "dimension_order", 0.2, 30.0),
    ("a", "adaptive", 0.1, 18.0),
    ("b", "dimension_order", 0.1, 25.0),
    ("b", "dimension_order", 0.2, 26.0),
]
WIRES = [("a", "folded", 2), ("a", "straight", 7), ("b", "straight", 3)]  # network, placement, longest wire


def publish(folder: Path, table: str, rows: list[dict[str, Any]]) -> None:
    publish_table(folder, table, pa.Table.from_pylist(rows, schema=schema_of(table)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("joined")
    static = [
        {"topology": name, "nodes": 16, "cost": cost, "connected": True, "fault_nodes": faults, "fault_diameter": 9}
        for name, cost in COST.items()
        for faults in ([None, 1] if name == "a" else [None])
    ]
    loads = [dict(zip(("topology", "routing", "traffic", "saturation_load"), row)) for row in SATURATION]
    simulated = [dict(zip(("topology", "routing", "offered_load", "total_latency"), row)) for row in LATENCY]
    layout = [dict(zip(("topology", "placement", "wire_length_max"), row)) for row in WIRES]
    publish(path, "static", static)
    publish(path, "loads", loads)
    publish(path, "simulation", [{**row, "traffic": "uniform", "packets": 5} for row in simulated])
    publish(path, "layout", layout)
    return path


def test_the_view_has_a_row_a_network_which_names_its_routing_traffic_and_placement(folder: Path) -> None:
    columns = "topology, cost, routing, traffic, saturation_load, placement, wire_length_max"
    assert [tuple(row.values()) for row in query(f"SELECT {columns} FROM designs ORDER BY 1", folder).to_pylist()] == [
        ("a", 8, "minimal", "uniform", 1.0, "folded", 2),
        ("b", 6, "valiant", "uniform", 0.8, "straight", 3),
        ("c", 4, "minimal", "shuffle", 0.2, None, None),
        ("d", 2, None, None, None, None, None),
    ]
    assert query("SELECT fault_nodes FROM designs WHERE topology = 'a'", folder).to_pylist() == [{"fault_nodes": 1}]


def test_equally_good_routings_are_told_apart_by_name_not_by_rounding(tmp_path: Path) -> None:
    publish(tmp_path, "static", [{"topology": "a", "connected": True}])
    saturations = {"dimension_order": 1 + 1e-15, "minimal": 1.0, "valiant": 1.0}
    rows = [{"topology": "a", "routing": name, "saturation_load": load} for name, load in saturations.items()]
    publish(tmp_path, "loads", rows)
    assert query("SELECT routing FROM Designs", tmp_path).to_pylist() == [{"routing": "minimal"}]


def test_the_view_of_a_sweep_without_loads(tmp_path: Path) -> None:
    publish(tmp_path, "static", [{"topology": "a", "nodes": 4, "connected": True}])
    found = query("SELECT nodes, saturation_load, wire_length_max FROM designs", tmp_path).to_pylist()
    assert found == [{"nodes": 4, "saturation_load": None, "wire_length_max": None}]
    with pytest.raises(BadInput, match="saturation_load: expected the table loads, got a sweep without it; add"):
        front_of(tmp_path, minimise=["nodes"], maximise=["saturation_load"])


def ranked(folder: Path, *numbers: str, where: str | None = None, **chosen: str) -> list[tuple[Any, ...]]:
    found = front_of(folder, minimise=["cost"], maximise=numbers, where=where, choices=Choices(**chosen))
    names = [name for name in found.column_names if name not in ("nodes", "degree_max", "diameter", "networks")]
    return [tuple(row[name] for name in names) for row in found.to_pylist()]


def test_a_front_over_two_tables_of_one_routing_of_the_best_or_of_each(folder: Path) -> None:
    assert ranked(folder, "saturation_load", routing="minimal", traffic="uniform") == [
        ("b", 6, 0.6, "minimal", "uniform"),
        ("a", 8, 1.0, "minimal", "uniform"),
    ]
    best = [("b", 6, 0.8, "valiant", "uniform"), ("a", 8, 1.0, "minimal", "uniform")]
    assert ranked(folder, "saturation_load", routing="best", traffic="uniform") == best
    assert ranked(folder, "saturation_load", routing="all", where="traffic = 'uniform'") == best
    assert ranked(folder, "saturation_load", routing="best", where="traffic = 'tornado'") == [
        ("c", 4, 0.3, "minimal", "tornado"),
        ("a", 8, 3.0, "minimal", "tornado"),
    ]
    found = front_of(folder, minimise=["cost"], maximise=["saturation_load"], choices=Choices("minimal", "uniform"))
    assert left_out(found) == 2


def test_a_front_over_what_was_simulated_and_laid_out(folder: Path) -> None:
    condition = "offered_load = 0.1 AND placement = 'straight'"
    found = front_of(
        folder,
        minimise=["wire_length_max", "total_latency"],
        where=condition,
        choices=Choices(routing="dimension-order"),
    )
    assert [tuple(row.values())[:3] for row in found.to_pylist()] == [("b", 3, 25.0), ("a", 7, 20.0)]


def test_what_does_not_depend_on_the_routing_is_not_mixed(tmp_path: Path) -> None:
    publish(tmp_path, "static", [{"topology": name, "nodes": 4, "connected": True} for name in "ab"])
    rows = [
        {"topology": name, "routing": routing, "traffic": "uniform", "capacity": capacity, "saturation_load": load}
        for name, capacity, loads in (("a", 2.0, (2.0, 1.0)), ("b", 1.0, (1.0, 0.5)))
        for routing, load in zip(("minimal", "valiant"), loads)
    ]
    publish(tmp_path, "loads", rows)
    found = front_of(tmp_path, minimise=["nodes"], maximise=["capacity"])
    assert [(row["topology"], row["capacity"]) for row in found.to_pylist()] == [("a", 2.0)]
    with pytest.raises(BadInput, match="of one routing"):
        front_of(tmp_path, minimise=["nodes"], maximise=["saturation_load"])


def test_networks_of_one_value_are_one_row_of_each_routing_and_a_query_lists_them(tmp_path: Path) -> None:
    publish(tmp_path, "static", [{"topology": name, "nodes": 4, "connected": True} for name in "abc"])
    loads = [
        ("b", "minimal", 0.1 + 0.2),
        ("a", "minimal", 0.1 + 0.2),
        ("a", "valiant", 0.1 + 0.2),
        ("c", "minimal", 0.3),
    ]
    rows = [dict(zip(("topology", "routing", "saturation_load"), row)) for row in loads]
    publish(tmp_path, "loads", [row | {"traffic": "uniform"} for row in rows])
    for routing, where, expected in (
        ("all", None, [("a", "minimal", 2), ("a", "valiant", 1)]),
        ("minimal", "nodes < 5\nAND nodes > 3", [("a", "minimal", 2)]),
        ("minimal", "topology > 'a' -- and so on", [("b", "minimal", 1)]),
    ):
        found = front_of(tmp_path, minimise=[], maximise=["saturation_load"], where=where, choices=Choices(routing))
        assert [*zip(*(found[name].to_pylist() for name in ("topology", "routing", "networks")))] == expected
        listed = query(lister(found), tmp_path)["topology"].to_pylist() if lister(found) else None
        assert listed in (None if expected[0][-1] == 1 else ["a", "b"], ["b", "a"])


SCREENED = {"topology": "s", "nodes": 9, "connected": True, "diameter": 2, "degree": 4, "saturation_load": 2.0}


@pytest.mark.parametrize(
    ("static", "named", "where", "found"),
    [
        (False, "diameter", None, "s"),
        (
            False,
            "diameter",
            "nodes > 9",
            "expected connected networks with values of diameter where nodes > 9, got none",
        ),
        (False, "edge_connectivity", None, "static: not computed, as the configuration says static: none"),
        (True, "diameter", None, "a"),
        (True, "screen.diameter", "screen.degree = 4", "s"),
        (True, "degree", None, "s"),
        (True, "saturation_load", None, "s"),  # there is no table loads
        (
            True,
            "distance_sum",
            "family = 'ring'",
            "expected columns of one table, or of tables with rows for each network",
        ),
    ],
)
def test_a_front_of_the_table_screen(partly: Any, static: bool, named: str, where: str | None, found: str) -> None:
    folder = partly("static: none")
    (folder / "loads.parquet").unlink()
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["tables"]["loads"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    if static:
        publish(folder, "static", [{"topology": "a", "nodes": 9, "connected": True, "diameter": 3}])
    publish(
        folder, "screen", [SCREENED, SCREENED | {"topology": "t"}, SCREENED | {"topology": "r", "connected": False}]
    )
    if len(found) > 1:
        with pytest.raises(BadInput, match=f"^{found}"):
            front_of(folder, minimise=[named], where=where)
        return
    front = front_of(folder, minimise=[named], where=where)
    assert front["topology"].to_pylist() == [found]
    assert front["networks"].to_pylist() == [2 if found == "s" else 1]


def test_a_condition_may_name_columns_of_other_tables(folder: Path) -> None:
    assert ranked(folder, where="saturation_load > 0.7") == [("b", 6)]
    assert ranked(folder, where="loads.saturation_load > 0.9") == [("a", 8)]


@pytest.mark.parametrize(
    ("named", "where", "chosen", "says"),
    [
        (
            ["saturation_load"],
            None,
            {},
            "of one routing and one traffic, got routing minimal, valiant; traffic uniform, tornado, shuffle;"
            " add --routing minimal --traffic uniform, or --routing best (of each network), or --routing all",
        ),
        (["saturation_load"], "traffic = 'uniform'", {}, "of one routing, got routing minimal, valiant; add --routing"),
        (["saturation_load"], None, {"routing": "minimal"}, "of one traffic, got traffic uniform, tornado, shuffle;"),
        (["total_latency"], None, {"routing": "dimension_order"}, 'add --where "offered_load = 0.1"'),
        (["wire_length_max"], None, {}, "add --where \"placement = 'straight'\""),
        (
            ["saturation_load"],
            None,
            {"routing": "valiant", "traffic": "tornado"},
            "expected connected networks with values of cost and saturation_load, got none; torusweep query shows",
        ),
        ([], "nodes < 0", {}, "expected connected networks with values of cost where nodes < 0, got none;"),
        (["saturation_load"], None, {"routing": "up_down"}, "--routing up_down: expected one that the sweep has"),
        (["saturation_load"], None, {"routing": "minimall"}, "did you mean 'minimal'"),
        (["saturation_load"], None, {"traffic": "unifrom"}, "did you mean 'uniform'"),
        (["nodes"], None, {"model": "dally-1990"}, "--model dally-1990: expected a column that depends on the model"),
        (["saturation_laod"], None, {}, "unknown column 'saturation_laod' (did you mean 'saturation_load'?)"),
        (["static.saturation_load"], None, {}, "unknown column 'static.saturation_load'"),
        (["routing"], None, {}, "column 'routing': expected numbers, got string"),
        (["loads.saturation_load", "saturation_load"], None, {}, "named twice"),
    ],
)
def test_what_is_mixed_or_unknown_is_refused_in_one_line(
    folder: Path, named: list[str], where: str | None, chosen: dict[str, str], says: str
) -> None:
    with pytest.raises(BadInput) as caught:
        ranked(folder, *named, where=where, **chosen)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "words", "tables"),
    [
        (["cost"], [], ()),
        (["cost", "saturation_load"], [], ("loads",)),
        (["total_latency", "saturation_load"], [], ("loads", "simulation")),
        (["wire_length_max", "total_latency"], [], ("layout", "simulation")),
        (["offered_load", "packets"], [], ("simulation",)),
        (["simulation.packets"], [], ("simulation",)),
        (["cost"], ["placement"], ("layout",)),
        (["distance", "pairs"], ["nodes"], ("distances",)),
    ],
)
def test_the_fewest_tables_are_joined(wanted: list[str], words: list[str], tables: tuple[str, ...]) -> None:
    assert join(wanted, words=words).tables == tables


def test_a_column_that_two_tables_have_is_named_with_its_table() -> None:
    joined = join(["saturation_load", "simulation.packets"])
    assert joined.column("simulation.packets").name == "simulation_packets"
    assert joined.column("packets").table == "loads"
    assert joined.column("simulation_packets").table == "simulation"


def test_words_of_a_condition() -> None:
    assert words_of("nodes > 3 AND traffic = 'it''s uniform' -- cost") == ["nodes", "AND", "traffic"]
    assert words_of("loads.packets < 3") == ["loads.packets"]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT topology, saturation_load FROM static JOIN loads USING (topology)", "each routing and traffic, which"),
        ("SELECT cost FROM static s JOIN loads l USING (topology) WHERE l.traffic = 'uniform'", "each routing, which"),
        ("SELECT deadlock_free FROM static JOIN deadlock USING (topology)", "deadlock has a row for each routing"),
        ("SELECT routing, traffic, cost FROM static JOIN loads USING (topology)", ""),
        ("SELECT * FROM static JOIN loads USING (topology)", ""),
        ("SELECT 'join' FROM loads", ""),
        ("SELECT wire_length_max FROM static JOIN layout USING (topology)", ""),
    ],
)
def test_a_join_that_does_not_name_the_routing_is_remarked(sql: str, says: str) -> None:
    assert (says in unnamed(sql)) if says else unnamed(sql) == ""


@pytest.fixture
def partly(tmp_path: Path) -> Any:
    """A folder of two networks whose connectivity is not measured, or of none, as its configuration says."""

    def made(said: str) -> Path:
        rows = [] if said == "static: none" else [{"topology": name, "diameter": 3, "connected": True} for name in "ab"]
        publish(tmp_path, "static", rows)
        publish(tmp_path, "loads", [{"topology": "a", "routing": "minimal", "saturation_load": 1.0}])
        manifest = tmp_path / "manifest.json"
        content = json.loads(manifest.read_text())
        content["config"] = {"text": f"sweep: small\ntopologies: [ring(k=8)]\n{said}\n"}
        manifest.write_text(json.dumps(content))
        return tmp_path

    return made


MEASURED = "static: {measures: [distances]}"
WHY = "not computed, as the configuration says"
NOT_MEASURED = f"edge_connectivity: {WHY} {MEASURED}; add connectivity to these, and run it again"
STOPPED = "deadlock: not computed yet, as its run has not come to its end"
NOTHING = f"{WHY} static: none; say {MEASURED}, and run it again"


@pytest.mark.parametrize(
    ("said", "sql", "words"),
    [
        (MEASURED, "SELECT topology, edge_connectivity FROM static", NOT_MEASURED),
        (MEASURED, "SELECT topology FROM static WHERE edge_connectivity > 2", NOT_MEASURED),
        (MEASURED, "SELECT topology, diameter FROM static", ""),  # nothing is missing
        (MEASURED, "SELECT topology FROM loads WHERE saturation_load > 7", ""),  # computed, and none is so
        (MEASURED, "SELECT topology, wire_length_max FROM designs", "the configuration has no section layout; add it"),
        ("static: none", "SELECT topology, diameter FROM designs", f"designs: {NOTHING}"),
        ("static: 7", "SELECT topology, edge_connectivity FROM static", ""),  # of another version
    ],
)
def test_a_query_says_why_it_has_no_values_in_the_words_of_the_configuration(partly, said, sql, words):
    folder = partly(said)
    line = remark(sql, query(sql, folder), folder)
    assert words in line if words else line == ""


@pytest.mark.parametrize(
    ("said", "ask", "words"),
    [
        ("static: none", lambda folder: query("SELECT diameter FROM static", folder), f"static: {NOTHING}"),
        ("static: none", lambda folder: front_of(folder, minimise=["diameter"]), f"static: {NOTHING}"),
        ("static: none", lambda folder: query("SELECT * FROM distances", folder), f"distances: {NOTHING}"),
        (MEASURED, lambda folder: front_of(folder, minimise=["diameter", "edge_connectivity"]), NOT_MEASURED),
        (MEASURED, lambda folder: plot(folder, "diameter", "edge_connectivity"), NOT_MEASURED),
        (MEASURED, lambda folder: query("SELECT * FROM deadlock", folder), "has no section deadlock; add it"),
        (f"{MEASURED}\ndeadlock: []", lambda folder: query("SELECT * FROM deadlock", folder), "has no section"),
        (f"{MEASURED}\ndeadlock: [{{}}]", lambda folder: query("SELECT * FROM deadlock", folder), STOPPED),
        (
            MEASURED,
            lambda folder: query("SELECT * FROM best", folder),
            "best: not computed, as the configuration has no",
        ),
        (MEASURED, lambda folder: query("SELECT * FROM best", folder), "no section screen; add it"),
        (MEASURED, lambda folder: query("SELECT * FROM equal_cost", folder), "no sections cost and loads; add it"),
        (MEASURED, lambda folder: query("SELECT * FROM equal_cost", folder), "equal_cost: not computed, as the conf"),
        (
            "static: none",
            lambda folder: query("SELECT * FROM equal_cost", folder),
            "{measures: [distances, latencies]}",
        ),
        (
            "static: {measures: [distances, latencies]}\ncost: [{}]\nloads: [{}]",
            lambda folder: query("SELECT * FROM equal_cost", folder),
            "equal_cost: not computed yet",
        ),
        (MEASURED, lambda folder: query("SELECT * FROM channel_loads", folder), "torusweep loads --channels prints it"),
    ],
)
def test_what_was_not_computed_is_refused_in_the_words_of_the_configuration(partly, said, ask, words):
    folder = partly(said)
    with pytest.raises(BadInput) as refusal:
        ask(folder)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
