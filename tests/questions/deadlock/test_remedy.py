"""The remedy of a cycle that no rule removes: files are read by plain loops, their graphs judged by networkx."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from itertools import pairwise, product
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep import cli

Route = tuple[int, ...]  # the nodes of a packet's way


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(cli.torusweep, ["deadlock", *arguments], standalone_mode=False)
    assert done.exception is None
    return done.stdout


def write_routes(path: Path, graph: nx.DiGraph, seed: int) -> dict[tuple[int, int], Route]:
    """Write a table of trees towards each destination, drawn at random; returns the route of each pair."""
    draw, rows, routes = random.Random(seed), [], {}
    for goal in graph:
        onwards, reached = {goal: goal}, [goal]
        while len(reached) < len(graph):
            at, to = draw.choice([(u, v) for v in reached for u in graph.predecessors(v) if u not in onwards])
            onwards[at] = to
            reached.append(at)
        for source in graph:
            way = [source]
            while way[-1] != goal:
                way.append(onwards[way[-1]])
            if source != goal:
                rows.append(f"{source},{goal},{onwards[source]}\n")
                routes[source, goal] = tuple(way)
    path.write_text("at,destination,to\n" + "".join(rows))
    return routes


def hops_of(path: Path, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """(node, next node, virtual channel) of every hop of each pair's packets, by a table without shares."""
    with path.open() as file:
        rows = {(row["at"], row["destination"], row.get("state") or "0"): row for row in csv.DictReader(file)}
    found = {}
    for source, goal in pairs:
        at, state, hops = str(source), "0", []
        while at != str(goal):
            row = rows[at, str(goal), state]
            hops.append((int(at), int(row["to"]), int(row.get("virtual_channel") or 0)))
            at, state = row["to"], row.get("next_state") or "0"
        found[source, goal] = hops
    return found


def is_acyclic(ways) -> bool:
    graph = nx.DiGraph()
    for hops in ways:
        graph.add_edges_from(pairwise(hops))
    return nx.is_directed_acyclic_graph(graph)


def graphs() -> dict[str, nx.DiGraph]:
    """Name → network; the links of a ring of 6 lead clockwise only."""
    found = {"ring": nx.cycle_graph(6, nx.DiGraph()), "petersen": nx.petersen_graph().to_directed()}
    found |= {f"random {seed}": nx.random_regular_graph(3, 8, seed=seed).to_directed() for seed in range(6)}
    return found | {"one way": nx.compose(nx.cycle_graph(7, nx.DiGraph()), nx.DiGraph([(0, 3), (5, 2), (4, 1)]))}


@pytest.mark.parametrize("name", graphs())
def test_both_remedies_have_no_cycle(name: str, tmp_path: Path):
    graph = graphs()[name]
    network, table, remedy, layers = (tmp_path / file for file in ("n.edges", "t.csv", "remedy.csv", "layers.csv"))
    routes = write_routes(table, graph, seed=len(graph))
    network.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in graph.edges))
    spelled = f'graph(path="{network}", directed=true)'
    options = ["--routing", f'table(path="{table}")', "--layers", "--layer-table", str(layers), "--json"]
    if is_acyclic([list(pairwise(route)) for route in routes.values()]):
        assert "remedy" not in json.loads(invoke(spelled, *options))
        return
    found = json.loads(invoke(spelled, *options, "--channel-table", str(remedy)))["remedy"]
    as_parquet = remedy.with_suffix(".parquet")
    invoke(spelled, *options, "--channel-table", str(as_parquet))
    assert pq.read_table(as_parquet).to_pylist() == pa.csv.read_csv(remedy).to_pylist()
    hops = hops_of(remedy, list(routes))
    assert {pair: (pair[0], *(to for _, to, _ in way)) for pair, way in hops.items()} == routes
    assert is_acyclic(hops.values())
    assert {channel for way in hops.values() for *_, channel in way} == set(range(found["virtual_channels"]))
    assert found["is_least"] == (found["virtual_channels"] == 2)
    with layers.open() as file:
        layer = {(int(row["source"]), int(row["destination"])): int(row["layer"]) for row in csv.DictReader(file)}
    assert set(layer) == set(routes)
    for number in range(found["layers"]):
        assert is_acyclic(list(pairwise(route)) for pair, route in routes.items() if layer[pair] == number)
    again = json.loads(
        invoke(
            spelled, "--routing", f'table(path="{remedy}")', "--vc-rule", "table", "--virtual-channels", "16", "--json"
        )
    )
    assert (again["deadlock_free"], again["least_virtual_channels"]) == ("yes", found["virtual_channels"])


def least_layers(routes: list[list[tuple[int, int]]], most: int) -> int:
    """By trying all assignments."""
    for number in range(1, most):
        for layer in product(range(number), repeat=len(routes)):
            if all(is_acyclic(r for r, own in zip(routes, layer) if own == one) for one in range(number)):
                return number
    return most


def least_channels(routes: list[list[tuple[int, int]]], most: int) -> int:
    """By trying all virtual channels of all hops but a route's only one, which no dependency has."""
    hops = sum(map(len, routes))
    for number in range(1, most):
        for chosen in product(range(number), repeat=hops):
            free = iter(chosen)
            if is_acyclic([(*hop, next(free)) for hop in route] for route in routes):
                return number
    return most


@pytest.mark.parametrize("size", [3, 4])
def test_what_is_called_the_least_is_the_least_of_all_assignments(size: int):
    """Packets round a ring in one direction: on 3 nodes, routes of two hops close the cycle; on 4, of two and three."""
    network = ts.network([(node, (node + 1) % size) for node in range(size)], directed=True)
    found = network.deadlock(lambda at, destination: (at + 1) % size).remedy
    ways = [[((s + i) % size, (s + i + 1) % size) for i in range(n)] for s in range(size) for n in range(2, size)]
    assert found.record["is_least"]
    shown = [way for way in ways if len(way) == 2]  # already these have the cycle
    assert found.virtual_channels == least_channels(shown, 2) == 2
    layers = least_layers(ways, 9)
    assert found.layers.lower <= layers <= found.layers.upper
    if found.record["is_least_layers"]:
        assert found.layers.upper == layers


def test_a_clockwise_ring_of_6_needs_two_virtual_channels_in_words(tmp_path: Path):
    table = tmp_path / "clockwise.csv"
    pairs = [(at, goal) for at in range(6) for goal in range(6) if at != goal]
    table.write_text("at,destination,to\n" + "".join(f"{at},{goal},{(at + 1) % 6}\n" for at, goal in pairs))
    words = invoke("ring(k=6)", "--routing", f'table(path="{table}")')
    assert "none of the built-in rules removes the cycle (tried up to 16 virtual channels)" in words
    assert "2 virtual channels (the least, as one has a cycle), changed only behind " in words
    assert "remedy by layers  3 layers of whole routes (suffice)" in words
    # the routes of five hops pass all nodes but two neighbours: a layer, which must spare a node, has those of two
    # neighbouring sources at most, so that six sources need three layers
    assert "the least" not in words.partition("3 layers of")[2]


def test_no_remedy_is_written_where_a_rule_removes_the_cycle(tmp_path: Path):
    arguments = ["deadlock", "ring(k=6)", "--routing", "dimension-order", "--channel-table", str(tmp_path / "x.csv")]
    done = CliRunner().invoke(cli.torusweep, arguments, standalone_mode=False)
    assert "--channel-table: expected a routing whose cycle no built-in rule removes" in str(done.exception)
    assert "dateline" in str(done.exception)


def test_a_network_with_names_has_its_datelines_by_name(tmp_path: Path):
    network, table = tmp_path / "n.csv", tmp_path / "t.csv"
    nodes = "abcd"
    network.write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in zip(nodes, "bcda")))
    rows = [f"{u},{w},{v}\n" for u, v in zip(nodes, "bcda") for w in nodes if u != w]
    table.write_text("at,destination,to\n" + "".join(rows))
    found = json.loads(
        invoke(f'graph(path="{network}", directed=true)', "--routing", f'table(path="{table}")', "--json")
    )
    (line,) = found["remedy"]["datelines"]
    assert line in {f"{u} → {v}" for u, v in zip(nodes, "bcda")}


@pytest.mark.parametrize(
    "asked",
    [
        ("torus(k=4, n=2)", "--routing", "dimension_order"),
        ("torus(k=4, n=2)", "--routing", "minimal"),  # a rule, or a table with fewer virtual channels
        ("torus(k=4, n=2)", "--routing", "valiant"),
        ("torus(k=4, n=2)", "--routing", "adaptive", "--virtual-channels", "2"),
        ("mh3dt(m=3, n=2, levels=2, q=0)", "--routing", "hierarchical"),
        ("dragonfly(a=3, p=1, h=1)", "--routing", "minimal"),
        ("torus(radices=[6], directed=true)", "--routing", "minimal"),
    ],
)
def test_the_options_that_are_named_make_it_acyclic(tmp_path: Path, asked: tuple[str, ...]):
    """Whether they are of a rule, or of a table that the command writes; and that table alone names its own."""
    file, said = tmp_path / "fix.csv", invoke(*asked)
    assert "deadlock-free     yes" not in said
    by_rule = re.search(r"acyclic from .*: add (--vc-rule .* --virtual-channels \d+)", said)
    by_table = re.search(r"--channel-table FILE writes it, --routing FILE (--vc-rule table .*) heeds it", said)
    assert by_rule or by_table
    if by_rule:
        assert "deadlock-free     yes" in invoke(*asked[:3], *shlex.split(by_rule[1]))
    if by_table:
        invoke(*asked, "--channel-table", str(file))
        asked = (asked[0], "--routing", str(file))
        again = re.search(r"acyclic from .*: add (--vc-rule .* --virtual-channels \d+), which heeds", invoke(*asked))
        assert again is not None
        assert again[1] == by_table[1]
        assert "deadlock-free     yes" in invoke(*asked, *shlex.split(by_table[1]))


def test_where_no_remedy_is_looked_for_the_text_names_routings_without_a_cycle():
    """324 routers are too many pairs, 18 hops too many for rule hops."""
    said = invoke("torus(k=18, n=2)")
    assert "not looked for" in said
    named = re.findall(r"--routing [\w -]+", said)
    assert [words.split()[1] for words in named] == ["dimension_order", "up_down"]
    for words in named:
        assert json.loads(invoke("torus(k=18, n=2)", *words.split(), "--json"))["acyclic"]
