"""Networks in formats of graphs: what other readers make of them, and that ours make the same network again."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from torusweep.errors import BadInput
from torusweep.interchange import FORMATS, default_path, export
from torusweep.networks.families import build
from torusweep.networks.topology import Topology

from tests.faults import command_line
from tests.interchange.networks import NETWORKS, Channels, channels, links

HOLD_ALL = ("graphml", "networkx-json", "parquet")


@pytest.fixture(scope="module")
def networks() -> dict[str, Topology]:
    return {name: make() for name, make in NETWORKS.items()}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("style", HOLD_ALL)
def test_read_back_to_the_identical_network(networks, style, name):
    topology = networks[name]
    written = export(topology, style, f"a{FORMATS[style].suffix}")
    again = build(str(written.files[0]))
    assert np.array_equal(again.ports, topology.ports)
    assert channels(again) == channels(topology)
    assert again.terminals.tolist() == topology.terminals.tolist()
    assert again.directed == topology.directed
    assert again.plan.classes == topology.plan.classes
    assert again.plan.notes == ()
    assert not [note for note in written.notes if note.startswith("not held") and "how the network is made" not in note]


def rows_of(path: str) -> tuple[Iterable[Mapping[str, Any]], bool, list[int]]:
    """(links, whether they have one direction, terminals of each node) of a file, by readers that are not ours."""
    if path.endswith(".parquet"):
        table = pq.read_table(path)
        about = {key.decode(): value.decode() for key, value in table.schema.metadata.items() if key != b"ARROW:schema"}
        nodes = json.loads(about["nodes"])
        terminals = Counter(json.loads(about.get("terminals", json.dumps(list(range(nodes))))))
        return table.to_pylist(), json.loads(about["directed"]), [terminals[node] for node in range(nodes)]
    graph = (
        nx.read_graphml(path, node_type=int)
        if path.endswith(".graphml")
        else nx.node_link_graph(json.loads(Path(path).read_text()), edges="edges")
    )
    assert sorted(graph) == list(range(len(graph)))
    rows = [{"source": source, "target": target, **data} for source, target, data in graph.edges(data=True)]
    return rows, graph.is_directed(), [graph.nodes[node]["endpoints"] for node in range(len(graph))]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("style", HOLD_ALL)
def test_other_readers_find_the_channels(networks, style, name):
    topology = networks[name]
    (path,) = export(topology, style, f"a{FORMATS[style].suffix}").files
    rows, directed, counts = rows_of(str(path))
    found: Channels = {}
    for row in rows:
        source, target = row["source"], row["target"]
        # networkx gives the ends of an undirected edge in either order; ours have the smaller number first
        if not directed:
            source, target = min(source, target), max(source, target)
        several = row.get("multiplicity", 1)
        found[source, row["port"]] = (target, row["link_class"], several)
        if not directed:
            kind = row.get("target_link_class", row["link_class"])
            found[target, row["target_port"]] = (source, kind, several)
    assert found == channels(topology)
    assert directed == topology.directed
    assert counts == [topology.terminals.tolist().count(node) for node in range(topology.nodes)]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("suffix", [".edges", ".csv"])
def test_edge_list(networks, suffix, name):
    topology = networks[name]
    written = export(topology, "edgelist", f"a{suffix}")
    lines = Path(f"a{suffix}").read_text().splitlines()[suffix == ".csv" :]
    graph = nx.parse_edgelist(
        lines,
        create_using=nx.MultiDiGraph if topology.directed else nx.MultiGraph,
        nodetype=int,
        delimiter="," if suffix == ".csv" else None,
    )
    times = Counter(graph.edges())
    if not topology.directed:
        times += Counter({(head, tail): count for (tail, head), count in times.items()})
    # nodes without links are not in the file, which the notes say; the others are numbered without them
    used = sorted({node for pair in links(topology) for node in pair})
    assert set(graph) == set(range(len(used)))
    assert {(used[tail], used[head]): several for (tail, head), several in times.items()} == links(topology)
    again = build(f'graph(path="a{suffix}", directed={str(topology.directed).lower()})')
    assert {(used[tail], used[head]): several for (tail, head), several in links(again).items()} == links(topology)
    assert ("nodes without links" in " ".join(written.notes)) == (len(used) < topology.nodes)


@pytest.mark.parametrize("name", NETWORKS)
def test_anynet_is_read_back(networks, name):
    topology = networks[name]
    if topology.directed or "faulty" in name:
        with pytest.raises(BadInput, match=r"links in both directions|in one piece"):
            export(topology, "booksim", "out")
        assert not Path("out").exists()
        return
    export(topology, "booksim", "out")
    again = build("out/network.anynet")
    assert set(links(again)) == set(links(topology))
    assert again.terminals.tolist() == topology.terminals.tolist()


@pytest.mark.parametrize(("names", "kept"), [("a b c", True), ("5 9 12", True), ("1a 2b 3c", False)])
@pytest.mark.parametrize("suffix", [".edges", ".csv"])
def test_an_edge_list_says_that_it_lacks_names_only_where_it_does(suffix, names, kept):
    one, two, three = names.split()
    nodes = ", ".join(f'{{"id": {name if name.isdigit() else json.dumps(name)}}}' for name in (one, two, three))
    edge = f'{{"source": {one}, "target": {two}}}' if one.isdigit() else f'{{"source": "{one}", "target": "{two}"}}'
    Path("named.json").write_text(f'{{"directed": false, "nodes": [{nodes}], "edges": [{edge}]}}')
    said = " ".join(export(build("named.json"), "edgelist", f"a{suffix}").notes)
    line = Path(f"a{suffix}").read_text().replace(",", " ").splitlines()[-1]
    assert line == (f"{one} {two}" if kept else "0 1")
    assert ("what nodes are called" in said) == (not kept)
    assert "1 node without links" in said
    assert ("later ones get smaller numbers" in said) == (not kept)


NOTES = [
    ("torus(k=4, n=2)", "booksim", ["port numbers", "link classes (x, y)", "how the network is made"]),
    ("torus(k=4, n=2)", "parquet", ["how the network is made"]),
    ("torus(k=4, n=2)", "caminos", ["link classes (x, y)", "how the network is made"]),
    ("directed_torus(k=4, n=2)", "edgelist", ["port", "link classes", "one direction", "how the network is made"]),
    ("parallel links", "sst", ["port numbers", "parallel links; 6 links become 4", "order of the terminals", "how"]),
    ("parallel links", "edgelist", ["port numbers", "terminals; 5 terminals", "order of the terminals", "how"]),
]


@pytest.mark.parametrize(("name", "style", "expected"), NOTES)
def test_what_a_format_cannot_hold_is_said(networks, name, style, expected):
    topology = networks[name] if name in networks else build(name)
    lost = [note for note in export(topology, style, "a").notes if note.startswith("not held: ")]
    assert len(lost) == len(expected)
    assert all(words in note for words, note in zip(expected, lost)), lost


def test_a_parallel_link_is_refused_by_no_format(networks):
    """CAMINOS alone refuses: nodes have different numbers of terminals."""
    with pytest.raises(BadInput, match="expected as many terminals at every node, got 0 to 2"):
        export(networks["parallel links"], "caminos", "a")


def test_places():
    topology = build("torus(k=4, n=2)")
    assert default_path(topology, "graphml") == Path("torus-k-4-n-2.graphml")
    assert default_path(topology, "sst") == Path("torus-k-4-n-2-sst")
    Path("folder").mkdir()
    Path("file").touch()
    with pytest.raises(BadInput, match="folder: expected a file for parquet, got a folder"):
        export(topology, "parquet", "folder")
    with pytest.raises(BadInput, match="file: expected a folder for the files of sst, got a file"):
        export(topology, "sst", "file")
    for name in ("a" * 300, "a\0b"):
        with pytest.raises(BadInput, match="expected a path to write"):
            export(topology, "sst", name)


def test_the_command_tells_the_format_by_the_suffix():
    said = command_line.torusweep("export", "ring(k=4)", "-o", "a.parquet", "--json")
    about = json.loads(said.out)
    assert (about["format"], about["files"], about["command"]) == (
        "parquet",
        ["a.parquet"],
        "torusweep describe a.parquet",
    )
    assert build("a.parquet").links == 4
    for suffix in ("csv", "EL", "ncol", "xml", "json"):  # all that are read as a format that is written
        assert command_line.torusweep("export", "ring(k=4)", "-o", f"b.{suffix}").status == 0
        assert build(f"b.{suffix}").links == 4
    said = command_line.torusweep("export", "ring(k=4)", "--format", "BookSim", "-o", "out")
    assert said.out.startswith("written: out/network.anynet\nwritten: out/booksim.cfg\n")
    assert "to run: cd out && booksim booksim.cfg" in said.out


@pytest.mark.parametrize(
    ("side", "seconds"),
    [(32, 2.0), pytest.param(69, 8.0, marks=pytest.mark.slow)],  # 101,376 links; 999,810
)
def test_a_million_links_in_seconds(side, seconds):
    """Seconds of this process's processor time: others may wait for the cores, too."""
    topology = build(f"torus(radices=[{side}, {side}, {side + 1}])")
    start = time.process_time()
    for style, path in (("parquet", "a.parquet"), ("edgelist", "a.edges")):
        export(topology, style, path)
    assert time.process_time() - start < seconds
    start = time.process_time()
    assert np.array_equal(build("a.parquet").ports, topology.ports)
    assert build("a.edges").links == topology.links
    assert time.process_time() - start < seconds
