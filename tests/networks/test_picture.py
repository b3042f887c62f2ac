"""Pictures of networks: known drawings; every link of a small network is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import FAMILIES, build, plan
from torusweep.networks.picture import ON_A_CIRCLE, SMALL, WIDTH, small_instance, text_picture
from torusweep.networks.picture_svg import svg_picture

TWISTED = """\
   ╎2  ╎3  ╎0  ╎1
  ╌●───●───●───●╌
   │   │   │   │
  ╌●───●───●───●╌
   │   │   │   │
  ╌●───●───●───●╌
   ╎2  ╎3  ╎0  ╎1
╎  goes round to the other side, to the column with the number next to it
╌  goes round to the other side"""

MANHATTAN = """\
   ↑   ↓   ↑   ↓
  ←●─←─●─←─●─←─●←
   ↑   ↓   ↑   ↓
  →●─→─●─→─●─→─●→
   ↑   ↓   ↑   ↓
  ←●─←─●─←─●─←─●←
   ↑   ↓   ↑   ↓
  →●─→─●─→─●─→─●→
   ↑   ↓   ↑   ↓
↑  at the edge: goes round to the other side
→  at the edge: goes round to the other side"""

MESH = """\
z = 0           z = 1
   ▲───▲           ▼───▼
   │   │           │   │
   ▲───▲           ▼───▼
▲  a link to the plane z + 1 only
▼  a link to the plane z − 1 only"""


@pytest.mark.parametrize(
    ("topology", "picture"),
    [
        ("mesh(k=2, n=1)", "   ●───●"),
        ("ring(k=4)", "  ╌●───●───●───●╌\n╌  goes round to the other side"),
        ("twisted_torus(radices=[4, 3], twists={1: {0: 2}})", TWISTED),
        ("directed_torus(k=4, n=2)", MANHATTAN),
        ("mesh(radices=[2, 2, 2])", MESH),
    ],
)
def test_known_drawings(topology: str, picture: str) -> None:
    assert text_picture(build(topology)) == picture


def test_links_that_are_not_drawn_are_counted_once() -> None:
    """13 of the 26 links of a circulant lie along the circle."""
    assert text_picture(build("circulant(n=13, steps=[1, 5])")).endswith("\n13 more links are not drawn")


@pytest.mark.parametrize(
    ("topology", "across", "down"),
    [("torus(k=4, n=2)", 12, 12), ("mesh(radices=[5, 3])", 12, 10), ("rtt(a=4)", 28, 24)],
)
def test_every_step_of_a_plane_is_drawn(topology: str, across: int, down: int) -> None:
    picture = text_picture(build(topology))
    assert picture.count("───") == across
    assert picture.count("│") == down


def test_faulty_links_are_missing() -> None:
    whole, damaged = (text_picture(build(t)) for t in ("mesh(k=6, n=2)", "faulty(mesh(k=6, n=2), links=7, seed=3)"))
    steps = [picture.count("───") + picture.count("│") for picture in (whole, damaged)]
    assert steps == [60, 53]


def test_a_failed_node_is_crossed_out_and_explained(tmp_path: Path) -> None:
    network = build("faulty(torus(k=4, n=2), links=3, nodes=2)")
    picture = text_picture(network)
    assert (picture.count("●"), picture.count("×")) == (14, 2 + 1)
    assert "×  a node that has failed" in picture.splitlines()
    svg = svg_picture(network)
    assert (svg.count("<circle"), svg.count("<title>a node that has failed")) == (14, 2)
    star = tmp_path / "star.edges"
    star.write_text("".join(f"0 {leaf}\n" for leaf in range(1, 9)))
    listed = text_picture(build(f'faulty(graph(path="{star}"), nodes=2)'))
    assert listed.count("×") == 2


def test_a_node_that_only_lost_its_links_has_not_failed() -> None:
    assert "×" not in text_picture(build("faulty(mesh(radices=[2, 2]), links=4)"))


@pytest.mark.parametrize(
    "topology",
    [
        "pdtt(a=16)",
        "torus(k=100, n=3)",
        "mh3dt(m=4, n=4, levels=2, q=0)",
        "ccc(n=9)",
        "hypercube(n=12)",
        "torus(radices=[40, 20])",
    ],
)
def test_large_networks_fit_the_terminal_and_say_what_is_shown(topology: str) -> None:
    picture = text_picture(build(topology))
    assert max(map(len, picture.splitlines())) <= WIDTH
    assert "a small one of its family" in picture.splitlines()[0] or "one corner of" in picture


def test_irregular_networks_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "star.edges"
    path.write_text("".join(f"0 {leaf}\n" for leaf in range(1, 21)))
    lines = text_picture(build(f'graph(path="{path}")')).splitlines()
    assert lines[0].split() == ["0", "─", *map(str, range(1, 13)), "and", "8", "more"]
    assert lines[1].split() == ["1", "─", "0"]
    assert lines[-1] == "… and 9 more nodes"


def test_every_family_but_graph_has_a_small_instance() -> None:
    assert set(FAMILIES) - set(SMALL) == {"graph"}
    for choices in SMALL.values():
        for spelling in choices.values():
            assert plan(spelling)[1].nodes <= 256
    assert small_instance(build("torus(k=9, n=2)")).spelling == "torus(k=4, n=2)"
    assert small_instance(build("torus(k=3, n=4)")).spelling == "torus(k=4, n=3)"
    assert small_instance(build("sequin(k=9, s=1, t=1)")).spelling == "sequin(k=5, s=1, t=2)"
    assert small_instance(build("faulty(torus(k=9, n=2), links=1)")).spelling == "faulty(torus(k=9, n=2), links=1)"


@pytest.mark.parametrize(
    "topology", [choices[0] for choices in SMALL.values()] + ["torus(k=4, n=2, directed=true)", "sequin(k=5, s=1, t=2)"]
)
def test_svg_has_every_node_and_every_link(topology: str) -> None:
    network = build(topology)
    root = ElementTree.fromstring(svg_picture(network))
    name = {"svg": "http://www.w3.org/2000/svg"}
    assert len(root.findall(".//svg:circle", name)) == network.works.sum()
    assert len(root.findall(".//svg:line", name)) == 2 * (~network.works).sum()
    paths = root.findall(".//svg:path", name)
    stubs = [path for path in paths if path.get("stroke-dasharray")]
    whole_links = [path for path in paths if not path.get("stroke-dasharray")]
    digits = network.addresses()
    tails, heads, _ = network.arcs
    twisted = sum((digits[v] != digits[u]).sum() > 1 for u, v in zip(tails, heads)) // (1 if network.directed else 2)
    if network.family in ON_A_CIRCLE:
        assert (len(whole_links), len(stubs)) == (network.links, 0)
    else:
        assert len(whole_links) - twisted + len(stubs) / 2 == network.links
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for path in paths:
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", path.attrib["d"])]
        assert all(left <= x <= left + width for x in numbers[::2])
        assert all(top <= y <= top + height for y in numbers[1::2])


def test_svg_of_a_large_network_without_a_small_one_is_refused() -> None:
    with pytest.raises(BadInput, match="expected at most 600 nodes to draw, got 961"):
        svg_picture(build("faulty(sequin(k=31, s=1, t=1), links=1)"))


def test_svg_escapes_the_spelling(tmp_path: Path) -> None:
    path = tmp_path / "<b>&.edges"
    path.write_text("0 1\n")
    text = svg_picture(build(f'graph(path="{path}")'))
    assert "<b>" not in text
    title = ElementTree.fromstring(text).findtext("{http://www.w3.org/2000/svg}title")
    assert title == build(f'graph(path="{path}")').spelling


@pytest.mark.parametrize(
    "spelling", ["hexagonal_torus(a=3, b=4)", "hexagonal_torus(a=2, b=3)", "random_regular(nodes=40, degree=3)"]
)
def test_listed_links_are_those_of_the_network_under_no_other_name(spelling):
    topology = build(spelling)
    lines = [line.split() for line in text_picture(topology).splitlines()[:-1]]
    tail, head, _ = topology.arcs
    for node, row in enumerate(lines):
        assert row[:2] == [str(node), "─"]
        assert set(map(int, row[2:])) == set(head[tail == node].tolist())


def test_a_network_is_no_small_one_of_itself():
    for name, choices in SMALL.items():
        for spelling in choices.values():
            assert "a small one" not in text_picture(build(spelling)), name
