"""Arguments of another type, names of functions, and what results say that has no room."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import networkx
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.cli import torusweep as main
from torusweep.networks.families import build
from torusweep.questions.deadlock.stage import QUESTION as DEADLOCK
from torusweep.questions.display import LONGEST, html_of, rows_html, value_text
from torusweep.routing.tables.objects import routing_of


def test_costs_have_the_currency_of_their_model():
    found = ts.network("ring(k=4)").cost()
    shown = str(found)
    assert found.total_cost == pytest.approx(858.464)
    assert "total cost         858 USD\n" in shown  # 4 (3 · 350.4 − 892.3) + 4 · 40 (2 · 0.4079 + 0.5771)
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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("place", "; a network has it: network(…).place"),
        ("describe", "; a network has it: network(…).static"),
        ("netwrok", "(did you mean 'network'?)"),
        ("__wrapped__", "no attribute '__wrapped__'"),
    ],
)
def test_a_name_that_the_package_has_not_is_told_where_it_is(name: str, said: str):
    with pytest.raises(AttributeError) as refused:
        getattr(ts, name)
    assert str(refused.value).endswith(said)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("describe", "; it is .static"),
        ("distance", "(did you mean 'distances'?)"),
        ("_repr_png_", "no attribute '_repr_png_'"),
    ],
)
def test_a_name_that_a_network_has_not_is_told_where_it_is(name: str, said: str):
    with pytest.raises(AttributeError) as refused:
        getattr(ts.network("ring(k=3)"), name)
    assert str(refused.value).endswith(said)


def test_a_network_is_made_by_the_function_and_answers_name_the_nearest_column():
    with pytest.raises(ts.BadInput, match=r"got 'ring\(k=3\)'; torusweep\.network\('ring\(k=3\)'\) makes one"):
        ts.Network("ring(k=3)")  # type: ignore[arg-type]
    with pytest.raises(
        AttributeError, match=r"Static has no attribute 'diametr' \(did you mean 'diameter'\?\); columns: "
    ):
        _ = ts.network("ring(k=3)").static().diametr


def test_words_are_read_whatever_their_hyphens_and_case():
    ring = ts.network("ring(k=5)")
    assert ring.loads(method="Monte_Carlo", packets=100, backend="NumPy").method == "monte-carlo"
    assert ring.loads("dimension-order(tie=Positive)").routing == "dimension_order(tie=positive)"
    with pytest.raises(ts.BadInput, match=r"expected split, positive, sign or random, got psitive \(did you mean"):
        ring.loads("dimension_order(tie=psitive)")
    entry = {"sweep": "rings", "topologies": [], "screen": [{"family": "Circulants", "nodes": 9, "steps": 2}]}
    assert ts.sweep(entry).configuration.entries("screen")[0].family == "circulants"
    command = ["loads", "ring(k=5)", "--method", "MONTE_CARLO", "--packets", "100", "--backend", "NumPy", "--json"]
    done = CliRunner().invoke(main, command)
    assert json.loads(done.stdout)["method"] == "monte-carlo", done.stderr


def test_several_rows_have_no_record():
    several = ts.network("ring(k=3)").simulate([0.1, 0.2], cycles=100)
    assert not hasattr(several, "record")
    with pytest.raises(ts.BadInput, match=r"expected one row, got 2; take one of \.rows"):
        _ = several.record


def test_one_of_a_thing_is_no_plural():
    whole = ts.network("ring(k=5)").availability(links=0)
    assert {row["method"].partition(";")[0].partition(",")[0] for row in whole.rows} == {"the only combination"}
    assert str(DEADLOCK.Request("minimal", "none", 1)) == "under minimal, none with 1 virtual channel"
    assert str(DEADLOCK.Request("minimal", "none", 2)) == "under minimal, none with 2 virtual channels"


def test_what_an_export_wrote_reads_as_the_command_says_it(tmp_path: Path):
    written = ts.network("ring(k=5)").export(path=tmp_path / "ring.graphml")
    done = CliRunner().invoke(main, ["export", "ring(k=5)", "-o", str(tmp_path / "ring.graphml")])
    assert f"{written!r}\n" == done.stdout
    assert done.stdout.startswith(f"written: {tmp_path / 'ring.graphml'}\n")
    assert done.stdout.endswith(f"to read: torusweep describe {tmp_path / 'ring.graphml'}\n")


def test_nodes_without_the_attribute_that_others_have_are_told():
    graph = networkx.cycle_graph(5)
    assert ts.network(graph).notes == ()
    graph.nodes[1]["terminals"] = 2
    net = ts.network(graph)
    assert net.terminals.tolist() == [1, 1]
    assert net.notes == ("4 of 5 nodes have no attribute terminals, and no terminal",)
    networkx.set_node_attributes(graph, 1, "terminals")
    assert ts.network(graph).notes == ()


CTRL_C = """
import signal, sys, time
from torusweep.questions.how import interruptible

whole = []
try:
    with interruptible():
        exec("signal.raise_signal(signal.SIGINT); whole.append(True)", {**globals(), "__name__": sys.argv[1]})
        time.sleep(60)
except KeyboardInterrupt:
    print(len(whole), signal.getsignal(signal.SIGINT) is signal.default_int_handler)

heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
with interruptible():
    signal.raise_signal(signal.SIGINT)
print(heard == [signal.SIGINT])
"""


@pytest.mark.parametrize(("module", "left_alone"), [("numba.core.serialize", 1), ("elsewhere", 0)])
def test_ctrl_c_waits_for_what_compiled_code_calls_and_leaves_ones_own_handler(module: str, left_alone: int):
    """Python code of Numba's module is left alone; the signal comes again behind it."""
    command = [sys.executable, "-c", CTRL_C, module]  # in-process, where a test ran the command, it would end all tests
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == [str(left_alone), "True", "True"], done.stderr
