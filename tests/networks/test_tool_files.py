"""Files of known tools: each is told by its contents, and is the network that the tool means, or is refused by name."""

from __future__ import annotations

import re
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.readers import FORMATS, NOT_READ, format_of
from torusweep.networks.topology import Topology

from tests.networks.tool_files import FILES, IBLINKINFO, REFUSED, Link, ToolFile, row_of

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

DOCS = Path(__file__).parents[2] / "docs" / "interchange.md"
# formats that say how many links they have, or where these end: a file that is cut is never a smaller network
WHOLE = {
    *("nccl", "nvidia-smi", "rocm-smi", "sndlib", "sndlib-xml", "repetita", "brite", "leda", "caminos"),
    *("cytoscape", "jgf", "netjson", "vis", "networkx-json", "miniedit"),
}


def links_of(topology: Topology) -> dict[str, Link]:
    """What each channel is, in the units of the file, by the names of its ends."""
    plan, found = topology.plan, {}
    names = [str(name).replace(" ", "_") for name in plan.names or range(topology.nodes)]
    for tail, head, port in zip(*(ends.tolist() for ends in topology.arcs)):
        kind = topology.link_class[tail, port]
        width = plan.bandwidths[kind] * (plan.rate or 1) if plan.bandwidths else plan.rate
        cycles = None if topology.latency is None else int(topology.latency[tail, port])
        time = None if cycles is None and plan.tick is None else Fraction(cycles or 1) * (plan.tick or 1)
        cost = None if topology.weight is None else float(topology.weight[tail, port])
        count = 1 if topology.capacity is None else int(topology.capacity[tail, port])
        found[f"{names[tail]} {names[head]}"] = Link(count, width, time, cost)
    return found


def in_both_directions(file: ToolFile) -> dict[str, Link]:
    back = {} if file.directed else {" ".join(reversed(ends.split())): link for ends, link in file.links.items()}
    return {**file.links, **back}


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
@pytest.mark.parametrize("renamed", [False, True], ids=["", "as.dat"])
def test_a_file_is_the_network_that_its_tool_means(file, renamed):
    """Under a name that says nothing, too, but for Rocketfuel's, whose names say what the numbers are, LGL and SIF."""
    path = Path(file.name)
    if renamed and file.format not in ("rocketfuel", "lgl", "sif"):
        path = Path("as.dat")
    path.write_text(file.text, encoding="utf-8")
    assert format_of(path) == file.format
    network = build(str(path))
    assert links_of(network) == in_both_directions(file)
    assert network.plan.directed == file.directed
    names = [str(name).replace(" ", "_") for name in network.plan.names or range(network.nodes)]
    hosts = sorted(names[node] for node in network.terminals.tolist())
    assert hosts == sorted(names if file.hosts is None else file.hosts.split())
    assert network.plan.hosts_end == file.ends
    for note in file.notes:
        assert any(note in said for said in network.plan.notes), network.plan.notes
    left = [said for said in network.plan.notes if said.startswith("not read")]
    assert len(left) <= 1


@pytest.mark.parametrize(("name", "text", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_file_that_is_no_network_is_refused_by_the_name_of_its_tool(name, text, words):
    Path(name).write_text(text)
    with pytest.raises(BadInput) as refusal:
        build(f'graph(path="{name}")')
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


# nodes, terminals and links by hand; a network of two dimensions has 200 GB/s in x and 100 GB/s in y
SPELLED = {
    "torus88": (64, 64, 128),
    "mesh88": (64, 64, 144),
    "fattree": (3 * 16, 64, 2 * 16 * 4),
    "flatfly": (16, 64, 48),
    "dragonfly": (36, 72, 36 * 5 // 2),
    "Ring.yml": (8, 8, 8),
    "Torus.yml": (12, 12, 24),
    "Full.yml": (5, 5, 10),
    "noxim.yaml": (12, 12, 17),
}


@pytest.mark.parametrize("name", SPELLED)
def test_the_spelling_that_a_refusal_gives_is_the_network(name):
    words = next(words for row, _, words in REFUSED if row == name)
    network = build(words.strip("'"))
    assert (network.nodes, len(network.terminals), network.links) == SPELLED[name]
    if name == "Torus.yml":
        x = network.ports == np.where(np.arange(12) % 4 == 3, np.arange(12) - 3, np.arange(12) + 1)[:, None]
        assert set(network.link_class[x]) == {0}
        assert [width * network.plan.rate for width in network.plan.bandwidths] == [1600 * 10**9, 800 * 10**9]
        assert [cycles * network.plan.tick for cycles in network.plan.latencies] == [
            Fraction(5, 10**8),
            Fraction(5, 10**7),
        ]


@pytest.mark.parametrize("place", range(len(IBLINKINFO.splitlines())))
def test_a_link_of_infiniband_is_read_where_one_end_lists_it(place):
    """All links of the file but those to the node whose header is left out, which are refused or read."""
    lines = IBLINKINFO.splitlines(keepends=True)
    if "==(" in lines[place]:
        Path("fabric.txt").write_text("".join(lines[:place] + lines[place + 1 :]))
        whole = next(file for file in FILES if file.name == "fabric.txt")
        assert len(links_of(build("fabric.txt"))) == 2 * len(whole.links)


@pytest.mark.parametrize("heading", ["from to", "from,to", "import export", "graph topology", "links nodes", "label x"])
def test_a_heading_of_a_list_of_links_is_no_tools_file(heading):
    Path("links.csv").write_text(f"{heading}\n0 1\n1 2\n")
    assert format_of(Path("links.csv")) == "edgelist"


LONG = [
    *(b"topology:\n" + line * 9_000 for line in (b" \n", b"\n", b" a\n")),
    *(
        word * 9_000
        for word in (b"topology:\n\n", b"==(", b"<!--", b'"""', b"<?", b'{"edges":[{', b"links:\n\n", b"GPU0 X")
    ),
    *(
        b"GPU0" + b"\n" * 60_000,
        b"A," + b"1" * 60_000,
        b"import a\n" + b"b\n" * 30_000,
        b"1|2|" * 9_000,
        b"a b\n" * 15_000,
    ),
]


@pytest.mark.parametrize("content", LONG)
def test_telling_a_format_takes_no_time(content):
    Path("long.txt").write_bytes(content)
    taken = []
    for _ in range(2):
        start = time.process_time()
        format_of(Path("long.txt"))
        taken.append(time.process_time() - start)
    assert min(taken) < 0.5


def test_every_format_has_a_row_in_the_docs_and_those_of_tools_a_file_here():
    rows = re.findall(r"^\| ([a-z][\w, -]+) \|[^|]+\|[^|]+\|[^|]+\|$", DOCS.read_text(), re.MULTILINE)
    names = [name for row in rows for name in row.split(", ") if name not in ("format", "data")]
    assert sorted(names) == sorted({**FORMATS, **NOT_READ})
    assert len({file.format for file in FILES}) >= 30


def test_every_format_says_in_the_docs_what_its_reader_was_checked_against():
    table = DOCS.read_text().partition("| source | formats |\n|---|---|\n")[2].partition("\n\n")[0]
    listed = [name for row in table.splitlines() for name in row.split("|")[2].strip().split(", ")]
    assert sorted(listed) == sorted(FORMATS)


def test_the_table_of_true_files_in_the_docs():
    """One row for each file here, in this order, and no other: nodes, links, units and notes."""
    rows = DOCS.read_text().partition("| file | format | nodes |")[2].partition("\n\n")[0].splitlines()[2:]
    for file in FILES:
        Path(file.name).write_text(file.text, encoding="utf-8")
    assert rows == [row_of(file, build(file.name)) for file in FILES]
    assert len(rows) >= 20


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_a_file_that_is_cut_or_garbled_is_read_or_refused_in_a_line(file):
    lines = file.text.splitlines(keepends=True)
    cut = ["".join(lines[:place]) for place in range(1, len(lines))]
    without = ["".join(lines[:place] + lines[place + 1 :]) for place in range(len(lines))]
    words = re.split(r"(\s+)", file.text)
    garbled = ["".join([*words[:place], "§-1e999", *words[place + 1 :]]) for place in range(0, len(words), 7)]
    for text in [*cut, *without, *garbled, file.text[: len(file.text) // 2]]:
        Path(file.name).write_text(text, encoding="utf-8")
        network, said = built(file)
        assert said.startswith((file.name, "read"))
        assert "\n" not in said
        if file.format in WHOLE and text in cut and network is not None:
            assert links_of(network) == in_both_directions(file)


def built(file: ToolFile) -> tuple[Topology | None, str]:
    """The network of a file, or the refusal."""
    try:
        return build(f'graph(path="{file.name}", format="{file.format}", weights="none")'), "read"
    except BadInput as refusal:
        return None, str(refusal)
