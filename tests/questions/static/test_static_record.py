"""The row of the table `static`: its columns, its types, and its dependence on the network only."""

import json
import math

import networkx as nx
import pytest
from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import MEASURES, static_record, whole_numbers
from torusweep.questions.static.stage import StaticRequest
from torusweep.sweeps.points import Point

from tests.questions.static.networks import network

NETWORKS = [
    "torus(radices=[4, 3, 2])",
    "mesh(radices=[3, 5])",
    "torus(k=4, n=2, directed=true)",
    "pruned_torus(k=4, n=3)",
    "pruned_t2(k=4)",
    "pruned_xy(k=4)",
    "directed_torus(k=4, n=2)",
    "rtt(a=3)",
    "ptt(a=3)",
    "sequin(k=4, s=1, t=2)",
    "ccc(n=3)",
    "h3dt(m=3, n=2, levels=2, q=1)",
    "faulty(torus(k=4, n=2), links=2, seed=7)",
    "faulty(torus(k=4, n=2), nodes=2, seed=7)",
]


@pytest.mark.parametrize("spelling", NETWORKS)
def test_values_depend_only_on_the_network(spelling):
    topology = build(spelling)
    record = static_record(topology, fault_nodes=1)
    for way in ({"use_symmetry": False}, {"backend": "numpy"}, {"backend": "numba", "threads": 1}):
        assert static_record(build(spelling), fault_nodes=1, **way) == record


PYTHON = {"string": str, "int64": int, "double": float, "bool": bool, "list<int64>": list, "map<string, int64>": dict}


@pytest.mark.parametrize("spelling", NETWORKS)
def test_columns_and_types(spelling):
    record = static_record(build(spelling), fault_nodes=1)
    assert list(record) == [column.name for column in STATIC]
    for column in STATIC:
        value = record[column.name]
        assert value is None or type(value) is PYTHON[column.type], column.name
        assert not (isinstance(value, float) and not math.isfinite(value))
    assert json.loads(json.dumps(record)) == record
    assert all(type(count) is int for count in record["distance_histogram"])
    import pyarrow as pa

    assert pa.Table.from_pylist([record], schema=schema_of("static")).num_rows == 1


def test_one_row_in_full():
    record = static_record(build("pruned_torus(k=4, n=3)"), fault_nodes=1)
    assert record == {
        "topology": "pruned_torus(k=4, n=3)",
        "family": "pruned_torus",
        "parameters": {"k": 4, "n": 3},
        "nodes": 64,
        "terminals": 64,
        "links": 128,  # degree 4
        "directed": False,
        "degree_min": 4,
        "degree_max": 4,
        "ports_max": 5,  # with the terminal
        "diameter": 6,  # P04 Table 1
        "mean_distance": 3.375,
        "mean_distance_distinct": 216 / 63,
        "connected": True,
        "components": 1,
        "cost": 24,
        "edge_connectivity": 4,
        "edge_connectivity_method": "theorem (vertex-transitive: the degree)",
        "bisection_lower": 16,  # P04 Theorem 4: k²
        "bisection_upper": 16,
        "bisection_method": "exact: " + build("pruned_torus(k=4, n=3)").plan.bisection_source,
        "vertex_transitive": True,
        "edge_transitive": False,  # against P04 sec. 3.E
        "transitivity_method": "nodes: all nodes are equivalent (symmetry verified);"
        " links: distances and numbers of shortest paths from their two ends differ",
        "fault_nodes": 1,
        "fault_diameter": record["fault_diameter"],  # tests/static/test_fault_diameter.py
        "fault_sets": 64,
        "fault_method": "exhaustive",
        "distance_histogram": record["distance_histogram"],
        "notes": "",
        "routed_diameter": None,
        "routed_mean_distance": None,
        "routed_cost": None,
        "router_diameter": 6,  # every node has a terminal
        "router_mean_distance": 216 / 63,
        "latency_diameter": 6,  # every link takes a cycle
        "latency_mean": 216 / 63,
        "guarantee_lower": 0.5,  # half of uniform traffic's saturation: 16 flits over the 16 links of the bisection
        "guarantee_upper": 0.5,  # 32 flits over these
    }
    assert sum(record["distance_histogram"]) == 64**2
    assert sum(hops * pairs for hops, pairs in enumerate(record["distance_histogram"])) == 3.375 * 64**2


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        (
            network(1, []),
            {
                "nodes": 1,
                "links": 0,
                "degree_min": 0,
                "degree_max": 0,
                "diameter": 0,
                "mean_distance": 0.0,
                "mean_distance_distinct": 0.0,
            }
            | {
                "connected": True,
                "components": 1,
                "cost": 0,
                "edge_connectivity": 0,
                "bisection_lower": 0,
                "bisection_upper": 0,
            }
            | {"vertex_transitive": True, "edge_transitive": True, "distance_histogram": [1]},
        ),
        (
            network(3, []),
            {
                "nodes": 3,
                "links": 0,
                "diameter": 0,
                "mean_distance": 0.0,
                "mean_distance_distinct": 0.0,
                "connected": False,
                "components": 3,
            }
            | {
                "edge_connectivity": 0,
                "bisection_upper": 0,
                "vertex_transitive": True,
                "edge_transitive": True,
                "distance_histogram": [3],
            },
        ),
        (
            network(5, [(0, 1), (1, 2), (3, 4)]),
            {
                "connected": False,
                "components": 2,
                "diameter": 2,
                "mean_distance": 10 / 13,
                "mean_distance_distinct": 10 / 8,
                "degree_min": 1,
            }
            | {
                "degree_max": 2,
                "cost": 4,
                "edge_connectivity": 0,
                "vertex_transitive": False,
                "edge_transitive": False,
            },
        ),
        (
            network(2, [(0, 1)], directed=True),
            {
                "links": 1,
                "connected": False,
                "components": 2,
                "diameter": 1,
                "degree_min": 0,
                "mean_distance": 1 / 3,
                "mean_distance_distinct": 1.0,
            }
            | {"edge_connectivity": 0, "bisection_upper": 0, "vertex_transitive": False, "edge_transitive": True},
        ),
        (
            network(2, [(0, 1, 4)], terminals=[0, 0, 1]),
            {
                "terminals": 3,
                "links": 4,
                "degree_max": 4,
                "edge_connectivity": 4,
                "bisection_lower": 4,
                "bisection_upper": 4,
            }
            | {"mean_distance": 4 / 9, "mean_distance_distinct": 4 / 6, "distance_histogram": [5, 4]},
        ),
    ],
    ids=["single node", "no links", "two parts", "one way", "several terminals"],
)
def test_degenerate_networks(topology, expected):
    record = static_record(topology)
    assert {name: record[name] for name in expected} == expected
    assert record["fault_nodes"] is record["fault_diameter"] is record["fault_sets"] is record["fault_method"] is None


def test_faults_are_refused_before_the_long_work():
    with pytest.raises(BadInput, match="fault_nodes=64"):
        static_record(build("torus(k=4, n=3)"), fault_nodes=64)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("torus(radices=[4, 4])", {}),
        ("torus(k=4, n=2, directed=true)", {"k": 4, "n": 2}),
        ("faulty(torus(k=4, n=2), links=2, seed=7)", {"links": 2, "seed": 7}),
        ('graph(path="a.edges")', {}),
    ],
)
def test_parameters_are_the_whole_numbers_of_the_outer_network(spelling, expected):
    assert whole_numbers(spelling) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        (
            # links, diameter and mean recomputed from R05's construction; bisection 2^(q+1)·n²·n³
            "mh3dt(m=4, n=4, levels=3, q=0)",
            {
                "links": 811_008,
                "diameter": 26,
                "edge_connectivity": 6,
                "bisection_upper": 2048,
                "vertex_transitive": False,
            },
        ),
        (
            "pdtt(a=64)",
            {"nodes": 524_288, "diameter": 96, "mean_distance": 7 * 64 / 8 - 1 / 256, "edge_connectivity": 6},
        ),  # C10
        (
            "torus(k=100, n=3)",
            {"diameter": 150, "mean_distance": 75.0, "bisection_upper": 20_000, "edge_transitive": True},
        ),
    ],
)
def test_large_networks_take_seconds(spelling, expected):
    record = static_record(build(spelling))
    assert {name: record[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("spelling", "intact"),
    [
        ("faulty(torus(k=4, n=2), nodes=3, seed=1)", "torus(k=4, n=2)"),
        ("faulty(mesh(k=4, n=2), nodes=2, seed=5)", "mesh(k=4, n=2)"),
    ],
)
def test_failed_nodes_are_removed(spelling, intact):
    """The record is that of networkx's subgraph of the working nodes, without isolated nodes."""
    survivors = build(spelling).terminals.tolist()
    left = nx.Graph([(int(u), int(v)) for u, v in zip(*build(intact).arcs[:2])]).subgraph(survivors)
    record = static_record(build(spelling))
    assert (record["nodes"], record["links"]) == (len(left), left.number_of_edges())
    assert record["degree_min"] == min(degree for _, degree in left.degree)
    assert record["connected"] == nx.is_connected(left)
    assert record["components"] == nx.number_connected_components(left)
    assert record["edge_connectivity"] == nx.edge_connectivity(left)


@pytest.mark.parametrize(
    ("spelling", "notes"),
    [
        ("torus(k=4, n=2)", ""),
        ("faulty(torus(k=4, n=2), nodes=1)", "1 faulty node, 0 faulty links, seed 0"),
        (
            "faulty(faulty(torus(k=4, n=2), links=1), links=2, seed=7)",
            "0 faulty nodes, 1 faulty link, seed 0; 0 faulty nodes, 2 faulty links, seed 7",
        ),
    ],
)
def test_notes_reach_the_table(spelling, notes):
    assert static_record(build(spelling))["notes"] == notes


def test_fault_search_uses_symmetry_in_any_case():
    """130,816 sets with one source take a moment; with each of the 512 sources they would take minutes."""
    short, long = (
        static_record(build("pruned_torus(k=8, n=3)"), fault_nodes=2, use_symmetry=use) for use in (True, False)
    )
    assert short == long
    assert short["fault_method"] == "exhaustive"


ALWAYS = {  # columns that no measure has
    *("topology", "family", "parameters", "nodes", "terminals", "links", "directed", "degree_min", "degree_max"),
    *("ports_max", "connected", "components", "fault_nodes", "fault_diameter", "fault_sets", "fault_method", "notes"),
}


def test_every_column_is_of_one_measure_or_always_there():
    named = [column for measure in MEASURES.values() for column in measure.columns]
    assert sorted([*named, *ALWAYS]) == sorted(column.name for column in STATIC)


@pytest.mark.parametrize("measures", [*((name,) for name in MEASURES), ("distances", "connectivity")])
@pytest.mark.parametrize("spelling", [*NETWORKS, "fat_tree(k=2, n=2)", "mh3dt(m=3, n=2, levels=2, q=0)"])
def test_a_measure_alone_has_the_values_that_it_has_among_all(spelling, measures):
    """Whatever is left out is null, and notes names it; nothing else changes but the way of proving connectivity."""
    whole, part = static_record(build(spelling)), static_record(build(spelling), measures=measures)
    left_out = [name for name in MEASURES if name not in measures]
    notes = "; ".join(filter(None, [whole["notes"], f"not measured: {', '.join(left_out)}"]))
    assert {name: part[name] for name in ALWAYS} == {name: whole[name] for name in ALWAYS} | {"notes": notes}
    for name, measure in MEASURES.items():
        for column in set(measure.columns) - {"edge_connectivity_method"}:
            absent = "not measured" if column.endswith("_method") else None
            assert part[column] == (whole[column] if name in measures else absent), column
    assert (part["edge_connectivity_method"] == "not measured") == ("connectivity" in left_out)


def test_the_order_of_measures_and_hyphens_do_not_count():
    topology = build("torus(k=4, n=2)")
    one = static_record(topology, measures="own-routing, distances")
    assert one == static_record(topology, measures=["distances", "own_routing", "distances"])
    assert static_record(topology, measures="all") == static_record(topology)


def test_few_measures_are_estimated_to_take_less():
    def seconds(measures):
        return Point("static", "faulty(torus(k=16, n=2), links=2, seed=1)", StaticRequest(None, measures)).seconds

    whole = seconds(None)
    assert seconds(", ".join(MEASURES)) == whole
    assert all(seconds(name) < whole for name in MEASURES)
    assert seconds("distances, connectivity") < whole / 5
