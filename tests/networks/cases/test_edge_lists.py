"""Edge lists as networkx, pandas and spreadsheets write them: quotes, tuples, index columns, headings, braces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pandas
import pytest
import torusweep as ts
from torusweep.errors import BadInput

from tests.faults.command_line import torusweep

HERE = Path(__file__).parent
TORUS = nx.grid_2d_graph(4, 4, periodic=True)


def as_networkx(path: Path | str) -> Any:
    return ts.network(path).to_networkx()


@pytest.mark.parametrize("name", ["c1p.csv", "tuples.edges"])
def test_tuples(name: str):
    found = nx.relabel_nodes(TORUS, str)
    assert nx.utils.graphs_equal(nx.Graph(as_networkx(HERE / name).edges), nx.Graph(found.edges))


def test_an_index():
    found = as_networkx(HERE / "c1hi.csv")
    assert {frozenset(ends) for ends in found.edges} == {*map(frozenset, ["ab", "ad", "bc", "cd"])}


def test_a_heading():
    network = ts.network(HERE / "h5.csv")
    assert (network.nodes, network.links) == (4, 4)


@pytest.mark.parametrize("heading", ["node1,node2", "Source,Target", "FROM,TO", "start,end", "node_a, node_b"])
@pytest.mark.parametrize("names", [str, lambda place: f"chip{place}"])
def test_headings(tmp_path: Path, heading: str, names: Any):
    (tmp_path / "g.csv").write_text(
        heading + "\n" + "".join(f"{names(u)},{names(v)}\n" for u, v in nx.cycle_graph(5).edges)
    )
    network = ts.network(tmp_path / "g.csv")
    assert (network.nodes, network.links) == (5, 5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "left,right\n0,1\n1,2\n2,0\n"),
        ("g.csv", "left,right\ncpu,dram\ndram,npu\n"),
        ("g.edges", "left right\n0 1\n1 2\n2 0\n"),
        ("g.csv", "endpoint A,endpoint B\n0,1\n1,2\n"),
    ],
)
def test_an_unknown_heading_is_no_link(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    said = torusweep("describe", str(tmp_path / name))
    assert (said.status, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert ":1: expected" in said.err


def test_a_first_link_of_names_is_one(tmp_path: Path):
    """As long as another link has one of them, or the file is no CSV."""
    (tmp_path / "g.csv").write_text("cpu,dram\nnpu,dsp\ndsp,cpu\n")
    (tmp_path / "g.edges").write_text("cpu dram\nnpu dsp\n")
    assert ts.network(tmp_path / "g.csv").links == 3
    assert ts.network(tmp_path / "g.edges").links == 2


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("column", ["bandwidth", "Capacity", "bw"])
def test_tables_of_pandas(tmp_path: Path, index: bool, column: str):
    edges = nx.to_pandas_edgelist(nx.cycle_graph(["a a", "b", "c,c", "d"])).assign(**{column: 3.0, "colour": "red"})
    edges.to_csv(tmp_path / "g.csv", index=index)
    network = ts.network(tmp_path / "g.csv")
    assert network.loads().saturation_load == pytest.approx(6)
    assert {frozenset(ends) for ends in network.to_networkx().edges} == {
        frozenset(ends) for ends in nx.cycle_graph(["a a", "b", "c,c", "d"]).edges
    }
    assert "columns not read: colour" in network.notes


def test_a_misspelt_column_is_named_with_its_right_name(tmp_path: Path):
    for heading, note in (
        ("bandwith", "columns not read: bandwith (did you mean 'bandwidth'?)"),
        ("colour,Latancy", "columns not read: colour, Latancy (did you mean 'latency'?)"),
        ("colour", "columns not read: colour"),
    ):
        (tmp_path / "g.csv").write_text(f"source,target,{heading}\na,b{',1' * len(heading.split(','))}\n")
        assert note in ts.network(tmp_path / "g.csv").notes


def test_a_saved_index_under_its_name(tmp_path: Path):
    edges = nx.to_pandas_edgelist(nx.path_graph(4))
    edges.to_csv(tmp_path / "g.csv")
    pandas.read_csv(tmp_path / "g.csv").to_csv(tmp_path / "again.csv", index=False)  # "Unnamed: 0"
    assert ts.network(tmp_path / "again.csv").links == 3


def test_weights_and_gaps_in_a_table(tmp_path: Path):
    edges = nx.to_pandas_edgelist(nx.cycle_graph(4)).assign(weight=[2, 2, 2, 2], latency=[5, None, 5, 5])
    edges.to_csv(tmp_path / "g.csv", index=False)
    with pytest.raises(BadInput, match="got weight, which may mean either"):
        ts.network(tmp_path / "g.csv")
    network = ts.network(f'graph(path="{tmp_path}/g.csv", weights="bandwidth")')
    assert network.loads().saturation_load == pytest.approx(4)
    assert sorted(network.plan.latencies) == [1, 5]


@pytest.mark.parametrize(
    ("graph", "nodes"),
    [
        (nx.grid_2d_graph(3, 3), 9),
        (nx.relabel_nodes(nx.path_graph(4), lambda place: (place, "x")), 4),
        (nx.relabel_nodes(nx.path_graph(4), lambda place: f"chip_{place}"), 4),
        (nx.grid_graph((2, 2, 3)), 12),
    ],
)
@pytest.mark.parametrize("data", [True, False])
def test_lists_of_networkx(tmp_path: Path, graph: Any, nodes: int, data: bool):
    nx.set_edge_attributes(graph, 3, "bandwidth")
    nx.write_edgelist(graph, tmp_path / "g.edges", data=data)
    nx.write_adjlist(graph, tmp_path / "g.adj")
    links = {frozenset(map(str, ends)) for ends in graph.edges}
    for name in ("g.edges", "g.adj"):
        network = ts.network(tmp_path / name)
        assert network.nodes == nodes
        assert {frozenset(map(str, ends)) for ends in network.to_networkx().edges} == links
    assert ts.network(tmp_path / "g.edges").plan.bandwidths == ((3,) if data else ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("source,target,bandwidth\n0,1\n", ":2: expected 3 fields, as in the heading, got 2"),
        ("source,target,bandwidth\n0,,2\n", ":2: expected a node at both ends, got an empty field"),
        ("source,target,bandwidth\n0,1,fast\n", "bandwidth: expected flits a cycle above 0, got fast"),
        ("0 1 {'bandwidth': 'fast'}\n", "bandwidth: expected flits a cycle above 0, got fast"),
        ("0 1 {'bandwidth': __import__}\n", "expected data in braces as networkx writes it"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str):
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(BadInput, match=says):
        ts.network(tmp_path / "g.csv")


@pytest.mark.parametrize(
    "text",
    [
        "0 1 100Gb/s 5ns\n1 2 50Gb/s 10ns\n",
        "0 1 100 Gb/s 5 ns\n1 2 50 Gb/s 10 ns\n",
        "a,b,5ns,12.5GB/s\nb,c,.01us,50Gbps\n",
    ],
)
def test_units_say_what_a_field_without_a_heading_means(tmp_path, monkeypatch, text):
    """The slower link carries a flit a cycle, of 50 Gb/s; a cycle is what both times are multiples of."""
    monkeypatch.chdir(tmp_path)
    Path("links.edges").write_text(text.replace(".01us", "0.01us"))
    plan = ts.network("links.edges").topology.plan
    assert sorted(zip(map(int, plan.bandwidths), plan.latencies)) == [(1, 2), (2, 1)]
    assert plan.rate == 50 * 10**9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "0 1 100Gb/s\n1 2 50\n",
            "links.edges:2: expected bandwidth with a unit, as on the lines before, got '1 2 50'",
        ),
        ("0 1 100Gb/s\n1 2\n", "links.edges:2: expected bandwidth with a unit, as on the lines before, got '1 2'"),
        ("0 1\n1 2 5ns\n", "links.edges:2: expected no number with a unit, as on the lines before, got '1 2 5ns'"),
        ("0 1 100parsec\n1 2 1parsec\n", "other columns go under a heading, as source,target,bandwidth"),
        ("0 1 5ns 7ns\n", "a number with its unit (100Gb/s, 5ns)"),
        ("0 1 100\n1 2 50\n", 'got weight, which may mean either; say weights="bandwidth"'),
    ],
)
def test_other_third_fields_are_refused_with_the_remedy(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    Path("links.edges").write_text(text)
    with pytest.raises(BadInput) as refusal:
        ts.network("links.edges")
    assert words in str(refusal.value)
