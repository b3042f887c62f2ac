"""The command torusweep layout: JSON, text, drawings, refusals."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from torusweep import cli
from torusweep.networks.families import build
from torusweep.questions.layout.drawing import svg_layout, text_layout
from torusweep.questions.layout.placements import place
from torusweep.questions.layout.record import layout_record

SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments: str) -> str:
    return (
        CliRunner().invoke(cli.torusweep, ["layout", *arguments], standalone_mode=False, catch_exceptions=False).output
    )


def test_json_is_the_record():
    found = json.loads(run("rtt(a=16)", "--placement", "trellis", "--block", "4,4", "--json"))
    assert found == layout_record(build("rtt(a=16)"), "trellis(block=[4, 4])")
    assert json.loads(run("torus(k=4, n=3)", "--dimensions", "2", "--json"))["placement"] == "folded(dimensions=2)"


def test_text_has_the_values_of_the_record():
    text = run("rtt(a=4)", "--placement", "trellis")
    assert "longest wire      3 pitches (2.23607 in a straight line); x 3, y 3" in text
    assert "least size        256 wire pitches squared" in text
    assert "8 channels at most, first after 1 pitch; 8 in the middle" in text
    assert "channel width     1 bit, with 8 pins a node" in text
    assert "2 bits, " in run("torus(k=8, n=2)")
    assert "0,0  7,0  0,1  3,3  1,1  2,3  1,2  2,2" in text
    assert "longest wire  none" in run("torus(k=4, n=2)", "--block", "4,4")
    assert "cables" in run("torus(k=4, n=2)", "--block", "2,2")
    assert "wire pitches cubed" in run("torus(k=4, n=3)")
    assert len(run("ring(k=30)", "--placement", "straight").splitlines()) < 40


def test_a_drawing_in_text_has_every_node_at_its_place():
    drawn = [line.split() for line in text_layout(build("torus(k=3, n=2)"), "folded").splitlines()]
    assert drawn == [["0,1", "2,1", "1,1"], ["0,2", "2,2", "1,2"], ["0,0", "2,0", "1,0"]]  # y upwards: 0, 2, 1
    assert text_layout(build("torus(k=4, n=2)"), "straight(block=[2, 4])").split() == ["0,0", "1,0"]
    assert text_layout(build("torus(k=4, n=3)"), "folded") == ""
    assert text_layout(build("ring(k=17)"), "folded") == ""


def test_a_drawing_in_svg_has_every_place_and_wire(tmp_path: Path):
    file = tmp_path / "drawn.svg"
    run("rtt(a=4)", "--placement", "trellis", "--svg", str(file))
    drawn = ET.parse(file).getroot()
    dots = {(int(dot.get("cx", "")), -int(dot.get("cy", ""))): dot[0].text for dot in drawn.iter(f"{SVG}circle")}
    network = build("rtt(a=4)")
    positions = place("trellis", network.plan, "").positions
    assert dots == {
        (x, y): ",".join(map(str, a)) for (x, y), a in zip(positions.tolist(), network.addresses().tolist())
    }
    assert len(list(drawn.iter(f"{SVG}path"))) == network.links
    assert drawn[0].text == "rtt(a=4), trellis"
    assert len(list(ET.fromstring(svg_layout(build("rtt(a=16)"), "trellis(block=[4, 4])")).iter(f"{SVG}path"))) == 64


def test_wires_between_neighbours_are_straight_and_longer_ones_bend():
    """The wire of length 3 passes its middle, 1.5, at 0.12 of its length: half of the curve's control point."""
    drawn = ET.fromstring(svg_layout(build("ring(k=4)"), "straight"))
    paths = {path.get("d") for path in drawn.iter(f"{SVG}path")}
    assert paths == {"M0 0L1 0", "M1 0L2 0", "M2 0L3 0", "M0 0Q1.50 0.72 3 0"}


@pytest.mark.parametrize(("spelling", "placed"), [("torus(radices=[5, 3])", "straight"), ("rtt(a=4)", "trellis")])
def test_a_drawing_in_svg_shows_all_that_is_drawn(spelling: str, placed: str):
    """The picture's box holds every circle, with the same margin on opposite sides."""
    drawn = ET.fromstring(svg_layout(build(spelling), placed))
    left, top, width, height = map(float, drawn.get("viewBox", "").split())
    circles = [[float(circle.get(at, "")) for at in ("cx", "cy")] for circle in drawn.iter(f"{SVG}circle")]
    (least_x, least_y), (most_x, most_y) = np.min(circles, axis=0), np.max(circles, axis=0)
    assert least_x - left == pytest.approx(left + width - most_x, abs=0.01)
    assert least_y - top == pytest.approx(top + height - most_y, abs=0.01)
    assert min(least_x - left, least_y - top) > 0.13
