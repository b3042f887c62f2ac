"""Arguments of another type, names of functions, and what results say that has no room."""

from __future__ import annotations

from pathlib import Path

import networkx
import pytest
import torusweep as ts
from torusweep.networks.families import build
from torusweep.questions.display import LONGEST, html_of, rows_html, value_text
from torusweep.routing.tables.objects import routing_of


def test_costs_have_the_currency_of_their_model():
    shown = str(ts.network("ring(k=4)").cost())
    assert "total_cost         858.464 USD\n" in shown  # 4 (3 · 350.4 − 892.3) + 4 · 40 (2 · 0.4079 + 0.5771)
    assert " currency" not in shown


def test_lambdas_have_names_that_tell_them_apart():
    topology = build("ring(k=3)")
    up, down = (lambda at, to: (at + 1) % 3), (lambda at, to: (at - 1) % 3)
    names = [str(routing_of(topology, one)) for one in (up, down, up)]
    assert names[0] == names[2] != names[1]
    assert all(name.startswith("lambda ") for name in names)


def test_a_deadlock_names_the_nodes_as_the_graph_does():
    letters = networkx.relabel_nodes(networkx.cycle_graph(5), dict(enumerate("vwxyz")))
    found = ts.network(letters).deadlock("minimal")
    after = dict(zip("vwxyz", "wxyzv"))
    assert found.cycle_nodes is not None
    around = dict(zip(found.cycle_nodes, found.cycle_nodes[1:] + found.cycle_nodes[:1]))
    assert around in (after, {other: one for one, other in after.items()})
    assert f"{' → '.join([*found.cycle_nodes, found.cycle_nodes[0]])}" in repr(found)
    numbers = ts.network("ring(k=5)").deadlock("minimal")
    assert numbers.cycle_nodes is not None
    assert sorted(numbers.cycle_nodes) == list(range(5))
    assert "cycle nodes" not in repr(numbers)
    assert ts.network("mesh(k=2, n=2)").deadlock("dimension_order").cycle_nodes is None


def test_a_collective_without_algorithms_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.collectives.schedule.MOST_TRANSFERS", 2)
    large = ts.network("dragonfly(p=2, a=4, h=2)").collective("all_gather")
    assert large.reason.startswith("expected an algorithm of at most 2 transfers of chunks, got more; choose a smaller")
    assert large.reason in repr(large)
    assert large.reason in large._repr_html_()
    monkeypatch.undo()
    ring = ts.network("ring(k=4)").collective("all_reduce")
    assert ring.reason == ""
    assert "no algorithm" not in repr(ring)


def test_what_is_cut_is_whole_in_a_tooltip():
    long = [f"word{number}" for number in range(40)]
    whole = ", ".join(long)
    assert len(value_text(long)) == LONGEST
    page = rows_html("heading", [{"a": long, "b": "short"}], ("a", "b"), ())
    assert f'title="{whole}"' in page
    assert page.count("title=") == 3  # of two columns' heads, and of the cell that is cut
    argument = ts.network("ring(k=5)").deadlock("minimal")
    assert argument.record["argument"] in argument._repr_html_()
    assert "title" in html_of("heading", [("name", "value", "meaning")])


def test_a_suffix_chooses_the_format(tmp_path: Path):
    written = ts.network("ring(k=4)").export(path=tmp_path / "ring.GraphML")
    assert written.format == "graphml"
    assert ts.network(written.files[0]).links == 4


def test_a_suffix_that_is_read_as_another_format_gives_a_note(tmp_path: Path):
    network = ts.network("ring(k=4)")
    wrong = network.export("networkx-json", tmp_path / "ring.graphml")
    expected = "ring.graphml is networkx-json, but its suffix is read as graphml; to read it back, name it *.json"
    assert wrong.notes[-1] == expected
    for format, name in (("networkx-json", "ring.json"), ("networkx-json", "ring"), ("graphml", "ring.xml")):
        assert not any("suffix" in note for note in network.export(format, tmp_path / name).notes)
