"""The conformance pack: exact numbers against plain loops, simulated ones against a new run, files against the pack."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
from torusweep.networks.families import build

from benchmarks import conformance, conformance_pack
from benchmarks.conformance_pack import EXPERIMENTS, FOLDER, Experiment, Number

BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}


def recorded(name: str) -> list[dict[str, str]]:
    with open(FOLDER / "numbers.csv", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["experiment"] == name]


# --- the exact numbers, from the words of the README -----------------------------------------------------


def step(at: int, to: int, side: int, wraps: bool) -> list[tuple[list[int], Fraction]]:
    """The ways along one axis: (places after each hop, share)."""
    forth = [(at + hop) % side for hop in range(1, (to - at) % side + 1)]
    back = [(at - hop) % side for hop in range(1, (at - to) % side + 1)]
    if not wraps:
        return [(forth if to > at else back, Fraction(1))] if to != at else [([], Fraction(1))]
    if len(forth) == len(back):
        return [(forth, Fraction(1, 2)), (back, Fraction(1, 2))] if forth else [([], Fraction(1))]
    return [(min(forth, back, key=len), Fraction(1))]


def on_grid(source: int, destination: int, sides: tuple[int, ...], wraps: bool) -> list[tuple[list[int], Fraction]]:
    """Dimension order: (nodes of the route, share)."""
    routes, unit = [([source], Fraction(1))], 1
    for side in sides:
        at, to = source // unit % side, destination // unit % side
        routes = [
            (nodes + [nodes[-1] + (place - at) * unit for place in places], share * part)
            for nodes, share in routes
            for places, part in step(at, to, side, wraps)
        ]
        unit *= side
    return routes


def on_twisted_torus(source: int, destination: int) -> list[tuple[list[int], Fraction]]:
    """8 × 4, (x, y + 4) is (x + 4, y): of all displacements to the destination, the shortest, x first."""
    away = defaultdict(list)
    for right in range(-8, 9):
        for up in range(-8, 9):
            x, y = source % 8 + right, source // 8 + up
            if (x + 4 * (y // 4)) % 8 + 8 * (y % 4) == destination:
                away[abs(right) + abs(up)].append((right, up))
    shortest = away[min(away)]
    routes = []
    for right, up in shortest:
        x, y, nodes = source % 8, source // 8, [source]
        for across, along in [(1 if right > 0 else -1, 0)] * abs(right) + [(0, 1 if up > 0 else -1)] * abs(up):
            x, y = x + across, y + along
            nodes.append((x + 4 * (y // 4)) % 8 + 8 * (y % 4))
        routes.append((nodes, Fraction(1, len(shortest))))
    return routes


def links_of_file() -> dict[int, list[int]]:
    there = defaultdict(list)
    for line in (FOLDER / "random.edges").read_text().splitlines():
        if not line.startswith("#"):
            a, b = map(int, line.split())
            there[a].append(b)
            there[b].append(a)
    return there


def up_down_routes() -> dict[tuple[int, int], list[tuple[list[int], Fraction]]]:
    """All shortest paths that never go up after they have gone down, by search from each node."""
    there = links_of_file()
    level, edge = {0: 0}, [0]
    while edge:
        edge = [b for a in edge for b in there[a] if level.setdefault(b, level[a] + 1) == level[a] + 1 and b != a]
        edge = [b for place, b in enumerate(edge) if b not in edge[:place] and level[b] == max(level.values())]
    found = {}
    for source in there:
        paths, shortest = [([source], False)], {source: [[source]]}
        length = 0
        while len(shortest) < len(there):
            length += 1
            paths = [
                (nodes + [b], fallen or not rises)
                for nodes, fallen in paths
                for b in there[nodes[-1]]
                for rises in [(level[b], b) < (level[nodes[-1]], nodes[-1])]
                if not (fallen and rises)
            ]
            reached = defaultdict(list)
            for nodes, _ in paths:
                reached[nodes[-1]].append(nodes)
            for node, routes in reached.items():
                if node not in shortest:
                    shortest[node] = routes
        for destination, routes in shortest.items():
            found[source, destination] = [(nodes, Fraction(1, len(routes))) for nodes in routes]
    return found


def routes_of(name: str) -> dict[tuple[int, int], list[tuple[list[int], Fraction]]]:
    if name == "random":
        return up_down_routes()
    if name == "twisted_torus":
        return {(s, d): on_twisted_torus(s, d) for s in range(32) for d in range(32)}
    grids = {"mesh": (8, 8), "torus": (8, 8), "ring": (16,), "hypercube": (2,) * 6}
    sides, wraps = grids[name], name in ("torus", "ring")
    nodes = prod(sides)
    return {(s, d): on_grid(s, d, sides, wraps) for s in range(nodes) for d in range(nodes)}


@pytest.mark.parametrize("name", BY_NAME)
def test_exact_numbers(name):
    routes = routes_of(name)
    nodes = 1 + max(source for source, _ in routes)
    load: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    hops = Fraction(0)
    for ways in routes.values():
        assert sum(share for _, share in ways) == 1
        for path, share in ways:
            hops += share * (len(path) - 1)
            for channel in pairwise(path):
                load[channel] += share / nodes
    mean = hops / (nodes * (nodes - 1))
    expected = {"max_channel_load": max(load.values()), "mean_hops": mean, "zero_load_latency": 5 * mean + 4}
    for row in recorded(name):
        if row["quantity"] in expected:
            value = expected.pop(row["quantity"])
            assert float(row["value"]) == pytest.approx(float(value), rel=1e-7)
            assert not row["fraction"] or Fraction(row["fraction"]) == value
            assert row["fraction"] or value.denominator > conformance_pack.LARGEST_DENOMINATOR
    assert not expected


def again(experiment: Experiment) -> list[list[str]]:
    return [number.row() for number in conformance_pack.numbers_of(experiment)]


def test_the_ring_is_simulated_again_to_the_last_digit():
    assert again(BY_NAME["ring"]) == [list(row.values()) for row in recorded("ring")]


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_all_are_simulated_again(name):
    assert again(BY_NAME[name]) == [list(row.values()) for row in recorded(name)]


@pytest.mark.parametrize("name", BY_NAME)
def test_numbers_lie_within_the_tolerances_of_what_is_known(name):
    """Low load: the formula; beyond it, no more than the channel bound, and no less latency than without load."""
    rows = recorded(name)
    one = {row["quantity"]: float(row["value"]) for row in rows}
    assert one["latency_low"] == pytest.approx(one["zero_load_latency"], rel=0.02)
    assert one["latency_half"] > one["zero_load_latency"]
    for row in rows:
        if row["quantity"] == "accepted":
            assert float(row["value"]) - float(row["error"]) <= min(1.0, 1.02 / one["max_channel_load"])


def test_files_for_booksim_are_those_of_the_pack():
    for experiment in EXPERIMENTS:
        for name, content in conformance_pack.booksim_files(experiment):
            assert (FOLDER / name).read_text() == content
    assert (FOLDER / "experiments.csv").read_text() == conformance_pack.experiments_csv()
    readme = (FOLDER / "README.md").read_text()
    numbers = [
        Number(
            row["experiment"],
            row["quantity"],
            float(row["offered_load"]) if row["offered_load"] else None,
            float(row["value"]),
            float(row["error"]),
            row["fraction"],
        )
        for name in BY_NAME
        for row in recorded(name)
    ]
    assert conformance_pack.table(numbers) in readme


@pytest.mark.parametrize("name", ["twisted_torus", "random"])
def test_anynet_is_the_network(name):
    """Read line by line: every link stands once, and there are no others."""
    links = set()
    for line in (FOLDER / f"{name}.anynet").read_text().splitlines():
        words = line.split()
        assert words[:4] == ["router", words[1], "node", words[1]]
        links |= {(int(words[1]), int(there)) for there in words[5::2]}
    topology = conformance_pack.network_of(BY_NAME[name])
    ports = topology.ports.tolist()
    assert links == {(a, b) for a, row in enumerate(ports) for b in row if a < b}
    read = build(f'graph(path="{FOLDER / f"{name}.anynet"}")')
    assert [sorted(row) for row in read.ports.tolist()] == [sorted(row) for row in ports]


def test_routes_of_anynet_are_shortest_paths():
    """Two ways round a ring of four: the lowest-numbered neighbour is first; the loads follow by hand."""
    following = conformance.routes_of_anynet(build("ring(k=4)"))
    assert following == [[0, 1, 1, 3], [0, 1, 2, 0], [1, 1, 2, 3], [0, 0, 2, 3]]
    # 1→0 carries 1 to 0, 2 to 0 and 1 to 3
    assert conformance.busiest_channel(following) == Fraction(3, 4)


def test_without_booksim_the_comparison_says_so(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["conformance"])
    assert conformance.main() == 2
    assert "expected BookSim2's program `booksim` on the PATH, got none; build it" in capsys.readouterr().err


FAKE = """#!/bin/sh
echo 'Packet latency average = 1 (1 samples)'
echo '====== Overall Traffic Statistics ======'
echo 'Packet latency average = 27.5 (1 samples)'
echo 'Accepted flit rate average = 0.25 (1 samples)'
"""


def test_the_comparison_reads_what_booksim_prints(tmp_path, monkeypatch, capsys):
    """A program that always says the same: 27.5 cycles and 0.25 flits per cycle."""
    program = tmp_path / "booksim"
    program.write_text(FAKE)
    program.chmod(0o755)
    rows = {row.quantity: row for row in conformance.compared(BY_NAME["ring"], str(program))}
    low, peak = rows["latency_low"], rows["peak_accepted"]
    assert (low.theirs, peak.theirs) == (27.5, 0.25)
    assert low.expected == pytest.approx((low.ours + 3) * 15 / 16 + 7 / 16)
    assert peak.verdict == "outside"
    program.write_text(FAKE + "echo 'WARNING: Possible network deadlock.'\n")
    assert {row.verdict for row in conformance.compared(BY_NAME["ring"], str(program))} == {"no end"}
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    program.write_text(FAKE)
    monkeypatch.setattr(sys, "argv", ["conformance", "--only", "ring"])
    assert conformance.main() == 1
    assert "| ring | latency_low | 0.01 |" in capsys.readouterr().out


def test_recorded_lines_replace_those_of_their_experiments(tmp_path, monkeypatch):
    monkeypatch.setattr(conformance, "FOLDER", tmp_path)
    (tmp_path / "README.md").write_text("a\n<!-- comparison -->\nold\n<!-- /comparison -->\nb\n")
    conformance.record([["ring", "x"], ["torus", "y"]])
    conformance.record([["mesh", "z"], ["ring", "w"]])
    with open(tmp_path / "booksim2.csv", newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [list(conformance.HEAD), ["mesh", "z"], ["torus", "y"], ["ring", "w"]]
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("a\n<!-- comparison -->\n| experiment |")
    assert text.endswith("| mesh | z |\n| torus | y |\n| ring | w |\n<!-- /comparison -->\nb\n")
