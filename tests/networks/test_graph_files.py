"""Networks from files: all formats, normalisation and its notes, errors with file and line."""

from __future__ import annotations

import os
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, graph_files, graph_formats, plan
from torusweep.networks.families.graph_files import files_of
from torusweep.networks.symmetry import is_automorphism

from tests.networks.known_graphs import FLORENCE, PETERSEN, links_of

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")


def graph_file(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return f'graph(path="{name}")'


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("g.edgelist", lambda path: nx.write_edgelist(PETERSEN, path, data=False)),
        ("data.edgelist", lambda path: nx.write_edgelist(PETERSEN, path)),
        ("g.csv", lambda path: nx.write_edgelist(PETERSEN, path, data=False, delimiter=",")),
        ("g.adjlist", lambda path: nx.write_adjlist(PETERSEN, path)),
        ("g.graphml", lambda path: nx.write_graphml(PETERSEN, path)),
    ],
)
def test_files_written_by_networkx(name, write):
    write(name)
    topology = build(f'graph(path="{name}")')
    assert links_of(topology) == {(u, v) for a, b in PETERSEN.edges for u, v in ((a, b), (b, a))}
    assert topology.plan.notes == ()
    assert not topology.directed
    assert (topology.links, topology.plan.degree, topology.capacity) == (15, 3, None)


def test_directed_graphs_keep_their_arcs():
    graph = nx.gn_graph(12, seed=1)
    nx.write_graphml(graph, "d.graphml")
    nx.write_edgelist(graph, "d.edges", data=False)
    for spelling in ('graph(path="d.graphml")', 'graph(path="d.edges", directed=true)'):
        topology = build(spelling)
        assert topology.directed
        assert links_of(topology) == set(graph.edges)


BOOKSIM = """router 0 node 0 node 1 node 2 router 1
router 1 node 3 node 4 node 5
router 2 node 6 node 7 node 8 router 1 router 0
"""


def test_booksim_example():
    """The listing of BookSim2's own example: three routers, each with three nodes, all joined."""
    topology = build(graph_file("net.anynet", BOOKSIM))
    assert links_of(topology) == {(u, v) for u in range(3) for v in range(3) if u != v}
    assert topology.terminals.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_anynet_terminals_follow_the_nodes_numbers_and_switches_may_have_none():
    topology = build(
        graph_file(
            "net.anynet",
            "Router 9 router 4 15 node 20\nrouter 4 router 7 3 router 9\nnode 3 router 7\nnode 8 router 9\n",
        )
    )
    assert topology.terminals.tolist() == [1, 2, 2]  # nodes 3, 8, 20 on routers 7, 9, 9, which are 1, 2, 2
    assert links_of(topology) == {(0, 2), (2, 0), (0, 1), (1, 0)}
    cycles = {(u, v): int(topology.latency[u, port]) for u, v, port in zip(*(part.tolist() for part in topology.arcs))}
    assert cycles == {(0, 2): 15, (2, 0): 15, (0, 1): 3, (1, 0): 3}
    assert topology.plan.notes == (
        "node numbers 4 … 9 renumbered 0 … 2, in their order",
        "1 link listed from both ends, read once",
    )


def test_automorphisms_preserve_terminals():
    topology = build(
        graph_file("net.anynet", "router 0 node 0 node 1 router 1 node 2\nrouter 1 node 3 router 2\nrouter 2 node 4\n")
    )
    assert topology.terminals.tolist() == [0, 0, 0, 1, 2]
    # the reversal of the path preserves links but not terminals
    assert not is_automorphism(topology, np.array([2, 1, 0], np.int32))


def test_automorphisms_preserve_parallel_links():
    topology = build(graph_file("triangle.edges", "0 1\n0 1\n1 2\n2 0\n"))
    assert is_automorphism(topology, np.array([1, 0, 2], np.int32))
    assert not is_automorphism(topology, np.array([1, 2, 0], np.int32))


@pytest.mark.parametrize(
    ("name", "content", "links", "notes"),
    [
        ("plain.edges", "# a comment\n0 1\n\n1,2 % another\r\n", {(0, 1): 1, (1, 2): 1}, ()),
        ("bom.edges", "\ufeff0 1\n", {(0, 1): 1}, ()),
        (
            "gaps.edges",
            "7 3\n3 100\n",
            {(0, 1): 1, (0, 2): 1},
            ("node numbers 3 … 100 renumbered 0 … 2, in their order",),
        ),
        ("twice.edges", "0 1\n1 2\n0 1\n", {(0, 1): 2, (1, 2): 1}, ("1 link repeated, read as parallel links",)),
        ("both.edges", "0 1\n1 0\n", {(0, 1): 1}, ("1 link listed from both ends, read once",)),
        ("loop.edges", "0 0\n0 1\n", {(0, 1): 1}, ("1 link from a node to itself left out",)),
        ("alone.adjlist", "0 1\n1\n2\n", {(0, 1): 1}, ()),
        ("both.adjlist", "0 1 1 2\n1 0 0\n2 0\n", {(0, 1): 2, (0, 2): 1}, None),
        (
            "once.anynet",
            "router 0 node 0 router 1 router 1\n",
            {(0, 1): 1},
            ("1 link repeated, read once, as in BookSim2",),
        ),
    ],
)
def test_normalisation_and_notes(name, content, links, notes):
    topology = build(graph_file(name, content))
    tail, head, port = topology.arcs
    capacity = np.ones_like(topology.ports) if topology.capacity is None else topology.capacity
    found = {(u, v): c for u, v, c in zip(tail.tolist(), head.tolist(), capacity[tail, port].tolist())}
    assert found == links | {(v, u): c for (u, v), c in links.items()}
    assert topology.links == sum(links.values())
    assert notes is None or topology.plan.notes == notes


def test_isolated_nodes_and_no_links():
    topology = build(graph_file("alone.adjlist", "4\n5\n6\n"))
    assert (topology.nodes, topology.links, topology.plan.degree, topology.ports.shape) == (3, 0, 0, (3, 0))


GRAPHML = (
    '<?xml version="1.0"?>\n<graphml>\n<graph edgedefault="undirected">\n'
    '<node id="a"/>\n<node id="b"/>\n{}\n</graph>\n</graphml>\n'
)


@pytest.mark.parametrize(
    ("name", "content", "line", "reason"),
    [
        ("ragged.edges", "0 1\n1 2 3\n", 2, "expected two nodes, got 3 fields"),
        ("short.edges", "0 1\n1\n", 2, "expected two nodes, got 1 fields"),
        ("semicolons.csv", "source;target\na;b\n", 1, "got ';' in 'source;target'; write commas in its place"),
        ("names.edges", "0 1\nalice bob\n", 2, "expected a node's number (0 … 2⁶²), got 'alice'"),
        ("negative.edges", "0 -1\n", 1, "got '-1'"),
        ("huge.edges", "0 99999999999999999999\n", 1, "got '99999999999999999999'"),
        ("float.adjlist", "0 1.5\n", 1, "got '1.5'"),
        ("binary.edges", b"0 1\n\x00\x01\x02\n", 2, "binary"),
        ("latin.edges", b"0 1\n# caf\xe9\n", 2, "byte 0xe9 at position 6"),
        (
            "odd.anynet",
            "router 0 node 0\nrouter 1 switch 2\n",
            2,
            "expected 'router' or 'node' and a number, got 'switch 2'",
        ),
        ("cut.anynet", "router 0 node\n", 1, "expected 'router' or 'node' and a number, got 'node'"),
        ("two.anynet", "router 0 node 0\nrouter 1 node 0\n", 2, "got node 0 on routers 0 and 1"),
        ("nodes.anynet", "node 0 node 1\n", 1, "expected a router at one end"),
        ("cut.graphml", "<graphml>\n<graph edgedefault='undirected'>\n<node", 3, "expected well-formed XML"),
        ("ghost.graphml", GRAPHML.format('<edge source="a" target="c"/>'), 6, "expected a declared node, got 'c'"),
        (
            "mixed.graphml",
            GRAPHML.format('<edge source="a" target="b" directed="true"/>'),
            6,
            "expected every edge directed, or none",
        ),
        ("hyper.graphml", GRAPHML.format("<hyperedge/>"), 6, "got a hyperedge"),
        ("nested.graphml", GRAPHML.format('<graph edgedefault="directed"/>'), 6, "expected one graph"),
        ("twice.graphml", GRAPHML.format('<node id="a"/>'), 6, "got 'a' again"),
        ("bare.graphml", GRAPHML.format("<edge/>"), 6, "expected <edge> with the attribute source"),
        (
            "laughs.graphml",
            '<!DOCTYPE graphml [\n<!ENTITY lol "lol">\n]>\n<graphml/>\n',
            2,
            "without entity declarations",
        ),
        (
            "outside.graphml",
            '<!DOCTYPE g [\n<!ENTITY x SYSTEM "file:///etc/passwd">\n]>\n<g>&x;</g>\n',
            2,
            "without entity declarations",
        ),
    ],
)
def test_errors_name_file_and_line(name, content, line, reason):
    with pytest.raises(BadInput) as refusal:
        build(graph_file(name, content))
    assert f"{name}:{line}: " in str(refusal.value)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "content", "arguments", "reason"),
    [
        ("empty.edges", "", "", "got an empty file"),
        ("silent.anynet", "router 0 router 1\n", "", "expected at least one node"),
        ("no.graphml", "<graphml/>\n", "", "expected a <graph> element"),
        ("strange.xml", '<?xml version="1.0" encoding="klingon"?><graphml/>', "", "expected an encoding that is known"),
        ("unknown.txt", "a b c d\n", "", 'expected a graph file; say format="…", one of edgelist, adjlist'),
        ("unknown.txt", "0 1\n", ', format="csv"', "expected one of edgelist, adjlist, graphml, anynet"),
        ("und.graphml", GRAPHML.format(""), ", directed=true", "expected directed=false, as the file says"),
        ("und.anynet", BOOKSIM, ", directed=true", "expected directed=false, as the file says"),
    ],
)
def test_files_that_are_refused(name, content, arguments, reason):
    with pytest.raises(BadInput) as refusal:
        build(graph_file(name, content)[:-1] + arguments + ")")
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_tag_of_many_megabytes_is_refused_soon():
    """Expat reads an unfinished tag again with every chunk: 16 MB took 15 s."""
    start = time.process_time()
    spelling = graph_file("long.graphml", GRAPHML.format(f'<node id="{"a" * 50_000_000}"/>'))
    with pytest.raises(BadInput, match=r"long\.graphml:6: expected tags of at most 1 MiB"):
        build(spelling)
    assert time.process_time() - start < 5


def test_long_names_are_cut_in_messages():
    with pytest.raises(BadInput) as refusal:
        build(graph_file("long.graphml", GRAPHML.format(f'<edge source="a" target="{"b" * 10_000}"/>')))
    assert "got 'bbb" in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_missing_folder_and_device():
    for path, reason in (("none.edges", "no such file"), (".", "got a folder"), ("/dev/zero", "got a device")):
        with pytest.raises(BadInput, match=reason):
            build(f'graph(path="{path}")')
    for path, reason in ((".", "got a folder"), ("/dev/zero", "got a device"), ("a" * 300, "name too long")):
        with pytest.raises(BadInput, match=f"(?i){reason}"):
            build(f'graph(path="{path}", format="edgelist")')


def test_messages_have_one_line_for_any_file_name():
    with pytest.raises(BadInput) as refusal:
        build('graph(path="no\\nsuch.edges")')
    assert str(refusal.value).startswith("no\ufffdsuch.edges: no such file; paths are relative to ")
    assert "\n" not in str(refusal.value)


def test_format_instead_of_suffix():
    graph_file("net.txt", "0 1\n")
    assert build('graph(path="net.txt", format="edgelist")').links == 1


def test_a_huge_file_is_refused_before_reading():
    """A hundred million links take over a gigabyte of text; this is a sparse file of a terabyte."""
    with Path("vast.edges").open("wb") as file:
        os.truncate(file.fileno(), 2**40)
    with pytest.raises(Refused, match=r"a file of 1024\.0 GiB"):
        plan('graph(path="vast.edges")')


@pytest.mark.parametrize("spelling", ["{}", "faulty({}, links=1)", "faulty(topology=faulty({}), links=1)"])
def test_the_memory_limit_applies_to_files(spelling, monkeypatch):
    inner = graph_file("small.edges", "0 1\n" * 1000)
    with monkeypatch.context() as patch:
        patch.setattr(graph_files, "_read", None)  # reading would fail
        with pytest.raises(Refused, match=r"small\.edges: a file of .* raise limits\.memory_gib"):
            build(spelling.format(inner), memory=63_999)
    assert build(spelling.format(inner), memory=64_000).nodes == 2


def test_a_hub_that_needs_too_much_memory_is_refused():
    spelling = graph_file("star.edges", "".join(f"0 {i}\n" for i in range(1, 20_001)))
    with pytest.raises(Refused, match=r"20,001 nodes of up to 20,000 ports and needs about 6\.0 GiB"):
        build(spelling, memory=2**32)


def test_a_changed_file_is_read_again():
    spelling = graph_file("net.edges", "0 1\n")
    assert build(spelling).links == 1
    graph_file("net.edges", "0 1\n1 2\n")
    assert build(spelling).links == 2


def test_faults_of_parallel_links_and_of_switches():
    spelling = graph_file("twice.edges", "0 1\n0 1\n0 1\n1 2\n")
    for seed in range(6):
        topology = build(f"faulty({spelling}, links=2, seed={seed})")
        assert topology.links == 2
    spelling = graph_file("net.anynet", BOOKSIM)
    assert build(f"faulty({spelling}, nodes=1, seed=5)").terminals.tolist() in (
        [0] * 3 + [1] * 3,
        [0] * 3 + [2] * 3,
        [1] * 3 + [2] * 3,
    )


def test_faults_that_leave_no_terminal_are_refused():
    spelling = graph_file("net.anynet", "router 0 node 0 router 1\nrouter 1 router 2\n")
    outcomes = set()
    for seed in range(12):
        try:
            outcomes.add(build(f"faulty({spelling}, nodes=2, seed={seed})").terminals.tolist() == [0])
        except BadInput as refusal:
            outcomes.add("expected a terminal that works" in str(refusal))
    assert outcomes == {True}


def test_files_of_nested_spellings():
    assert files_of("x/my.graphml") == [Path("x/my.graphml")]
    assert files_of("torus(k=8, n=3)") == []
    assert files_of('graph(path="a b.edges")') == [Path("a b.edges")]
    assert files_of('faulty(faulty(graph(path="x/y.anynet", format="anynet"), links=1), nodes=1)') == [
        Path("x/y.anynet")
    ]
    assert files_of('faulty(topology=graph(path="z.edges"))') == [Path("z.edges")]


@pytest.mark.parametrize(
    "name", ["it's.edges", 'quo"te.edges', "back\\slash.edges", "tab\tnew\nline.edges", "ünï.edges"]
)
def test_awkward_names_survive_the_canonical_spelling(name):
    Path(name).write_text("0 1\n")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    topology = build(f'graph(path="{quoted}")')
    assert topology.links == 1
    assert build(topology.spelling).spelling == topology.spelling
    assert files_of(topology.spelling) == [Path(name)]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("florence.edgelist", nx.write_edgelist),
        ("florence.adjlist", nx.write_adjlist),
        ("florence.graphml", nx.write_graphml),
        (
            "florence.csv",
            lambda graph, path: path.write_text(
                "source,target\n" + "".join(map("{0[0]},{0[1]}\n".format, graph.edges))
            ),
        ),
    ],
)
def test_named_nodes_in_the_path_alone(name, write):
    """A file of names, as networkx writes it, given by its path."""
    write(FLORENCE, Path(name))
    topology = build(name)
    assert topology.spelling == f'graph(path="{name}")'
    assert nx.is_isomorphic(nx.Graph(links_of(topology)), FLORENCE)
    if name != "florence.graphml":
        assert (
            "named nodes numbered in the order of the file: 0 is Acciaiuoli, 1 is Medici, 2 is"
            in topology.plan.notes[0]
        )


def test_data_behind_an_edge_that_is_no_number_of_a_link_is_not_read():
    spelled = graph_file("data.edges", "0 1 {'weight': 3, 'name': 'a b'}\n1 2 {}\n")
    with pytest.raises(BadInput, match="got weight, which may mean either"):
        build(spelled)
    assert links_of(build(spelled.replace(")", ', weights="none")'))) == {
        (0, 1),
        (1, 0),
        (1, 2),
        (2, 1),
    }


def test_a_missing_file_is_refused_by_its_path():
    with pytest.raises(BadInput, match=r"^none\.graphml: no such file"):
        build("none.graphml")


def test_a_file_that_changes_after_it_was_planned_is_refused(tmp_path: Path) -> None:
    """Its plan, which is remembered, is of other links; the next one is of the new file."""
    path = tmp_path / "ring.edges"
    path.write_text("0 1\n1 2\n2 0\n")
    before = plan(f'graph(path="{path}")')[1]
    assert before.wire().ports.shape == (3, 2)
    path.write_text("0 1\n1 2\n2 3\n3 0\n")
    with pytest.raises(BadInput, match=r"expected the file that was planned, got another"):
        before.wire()
    assert plan(f'graph(path="{path}")')[1].wire().ports.shape == (4, 2)


LISTS = ["0 1\n", "0 1\n1 2\n2 0\n2 0\n", "7,9\r\n9 ,,\t7\r\n 9 007\n", "0 1 {}\n1 2\t{}\n", f"{10**18 - 1} 0\n0 5\n"]
OTHERS = [
    "0 1",
    "0 1\n\n1 2\n",
    "0 1 # one\n",
    "0 1 5\n",
    "0 1 {'weight': 3}\n",
    "a b\n",
    "\ufeff0 1\n",
    "0 1\n1\n",
    "0 -1\n",
]


@pytest.mark.parametrize("text", [*LISTS, *OTHERS, f"{10**18} 0\n", f"{2**62} 0\n", "0\u00a01\n", "0\n1\n", "\n", ""])
def test_plain_lists_are_read_whole_as_line_by_line(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("g.edgelist")
    path.write_bytes(text.encode())
    found = []
    for most in (1 << 20, -1):
        monkeypatch.setattr(graph_formats, "PLAIN_BYTES", most)
        try:
            listing = graph_formats.edge_list(path)
        except BadInput as refusal:
            found.append(str(refusal))
            continue
        assert isinstance(listing.tails, np.ndarray) == (most > 0 and text in LISTS)
        ends = [np.asarray(column, np.int64).tolist() for column in (listing.tails, listing.heads, listing.nodes)]
        found.append([ends, listing.names, listing.notes, listing.directed, listing.parallel, repr(listing.numbers)])
    assert found[0] == found[1]
