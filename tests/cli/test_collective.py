"""`torusweep collective`: the optimum first, the same in JSON, times for sizes, bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from torusweep.cli import progress

from tests.faults.command_line import torusweep
from tests.run.rings import until


def test_the_answer_comes_first():
    said = torusweep("collective", "torus(k=4, n=2)", "all-gather")
    lines = said.out.splitlines()
    assert (said.status, lines[0]) == (0, "all_gather on torus(k=4, n=2)")
    assert lines[1].split() == ["optimum", "0.234375", "cycles/flit", "of", "the", "size"]
    assert "4 channels that enter node 0, for the data of 15 terminals" in said.out
    table = [line.split()[:2] for line in lines if line.endswith("→ 1") or " → " in line]
    assert [float(cycles) for _, cycles in [row for row in table if row[1] != "in"]] == sorted(
        float(cycles) for _, cycles in [row for row in table if row[1] != "in"]
    )


def test_bound_and_best_known_are_named_apart(tmp_path: Path):
    """On one-way channels the halves of an all-reduce on trees overlap, and take less than one after the other."""
    path = tmp_path / "one_way.edges"
    path.write_text("0 1\n0 3\n1 0\n1 2\n2 0\n2 3\n3 0\n")
    network = f'graph(path="{path}", directed=true)'
    said = torusweep("collective", network, "all_reduce")
    first = {line.split("  ")[0]: line.split() for line in said.out.splitlines() if line}
    assert "optimum" not in said.out
    assert first["bound"][1] == "1"
    assert first["best known"][2] == first["trees, in pieces"][3] == "1.25"
    rows = json.loads(torusweep("collective", network, "all_reduce", "--json").out)
    assert (rows[0]["algorithm"], rows[0]["cycles"]) == ("best_known", min(row["cycles"] for row in rows))
    for row in rows:
        assert (row["bound"], row["best_known"], row["optimum"], row["optimum_share"]) == (1, 1.25, None, None)
        assert row["bound_share"] == pytest.approx(1 / row["cycles"])
    alone = json.loads(torusweep("collective", network, "all_reduce", "--algorithm", "optimum", "--json").out)
    assert alone == rows[:1]


def test_one_channel_leaves():
    said = torusweep("collective", "ring(k=2)", "broadcast")
    assert "1 channel that leaves node 0, for all of the data" in said.out


def test_json_has_times():
    said = torusweep(
        *("collective", "ring(k=8)", "all_reduce", "--algorithm", "ring", "--json"),
        *("--bytes", "1MiB:4MiB", "--bandwidth", "1GB/s", "--latency", "2us"),
    )
    optimum, ring = json.loads(said.out)
    assert (optimum["algorithm"], ring["algorithm"], ring["steps"]) == ("optimum", "ring", 14)
    assert [time["bytes"] for time in ring["times"]] == [1 << 20, 1 << 21, 1 << 22]
    for time in ring["times"]:  # fourteen steps of one hop, 7/8 of the vector in each direction of a link
        seconds = 14 * 2e-6 + 7 / 8 * time["bytes"] / 1e9
        assert time["seconds"] == pytest.approx(seconds)
        assert time["bus_bandwidth"] == pytest.approx(2 * 7 / 8 * time["bytes"] / seconds)
    assert optimum["times"][0]["seconds"] == pytest.approx(7 / 8 * (1 << 20) / 1e9)


def test_times_are_of_the_links_own_speed_unless_another_is_asked_for(tmp_path: Path):
    """A ring of four at 100 and 200 Gb/s: 1.5 GB go round in half each way, over the slowest link at 12.5 GB/s."""
    path = tmp_path / "links.csv"
    path.write_text("source,target,bandwidth\n0,1,100Gb/s\n1,2,200Gb/s\n2,3,200Gb/s\n3,0,100Gb/s\n")
    asked = ("collective", str(path), "all_reduce", "--algorithm", "ring", "--bytes", "1GB", "--latency", "0")
    own, same, other = (
        torusweep(*asked, *more) for more in ((), ("--bandwidth", "12.5GB/s"), ("--bandwidth", "50GB/s"))
    )
    assert own.out == same.out
    assert "12.5 GB/s for a flit a cycle" in own.out
    assert "note" not in own.out
    assert other.out.endswith("note: this answer leaves out: unit (1 flit a cycle is 100 Gb/s)\n")
    for said, seconds in ((own, 0.75 / 12.5), (other, 0.75 / 50)):
        cells = next(line for line in said.out.splitlines() if line.startswith("1 GB")).split()
        assert cells[:2] == ["1", "GB"]
        assert float(cells[3].replace(",", "")) == pytest.approx(1e6 * seconds, rel=1e-3)


def test_terminals_get_links_of_their_own_as_the_remark_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Four routers in a ring, two terminals each: with a link each of one flit a cycle, none beats 2 · 7/8."""
    monkeypatch.chdir(tmp_path)
    network = "concentrated(ring(k=4), terminals=2)"
    said = torusweep("collective", network, "all_reduce", "--algorithm", "ring", "--json")
    assert json.loads(said.out)[0]["bound"] < 2 * 7 / 8
    export, collective = (words.split("'")[0] for words in said.err.split("'torusweep ")[1:])
    assert torusweep(*(network if word == "NETWORK" else word for word in export.split())).status == 0
    own = torusweep(*collective.split(), "all_reduce", "--algorithm", "ring", "--json")
    assert json.loads(own.out)[0]["bound"] == pytest.approx(2 * 7 / 8)
    assert "torusweep export" not in own.err


def test_algorithms_that_do_not_suit_are_named():
    said = torusweep("collective", "mesh(k=3, n=2)", "all_gather")
    assert said.status == 0
    assert "left out: algorithm rings on mesh(k=3, n=2): expected a Hamiltonian cycle, found none" in said.out
    assert "expected a power of 2 terminals, got 9" in said.out
    assert "ring: no Hamiltonian cycle is known here, so messages go up to 2 hops" in said.out


def test_a_simulation_stands_beside():
    said = torusweep(
        *("collective", "torus(k=4, n=2)", "all_gather", "--algorithm", "bucket", "--simulate", "256", "--json")
    )
    row = json.loads(said.out)[1]
    assert row["simulated_flits"] == 256 * 64
    assert row["simulated_cycles"] / row["simulated_flits"] == pytest.approx(row["cycles"], rel=0.05)


@pytest.mark.parametrize(("flits", "most"), [(64, 0.05), (512, 0.05)])
def test_a_short_pipeline_is_compared_with_its_own_fill(flits: int, most: float):
    """A single piece goes through the trees' steps alone, each of which loads few links: 0.8125 cycles a flit."""
    said = torusweep(*("collective", "torus(k=4, n=2)", "all_reduce", "--algorithm", "trees", "--simulate", str(flits)))
    line = next(line for line in said.out.splitlines() if line.startswith("trees"))
    assert abs(float(line.split()[-1].removesuffix("%"))) < 100 * most


def test_gpus_on_switches():
    said = torusweep(
        "collective", str(Path(__file__).parents[1] / "networks" / "cases" / "c6.graphml"), "all_reduce", "--json"
    )
    rows = {row["algorithm"]: row for row in json.loads(said.out)}
    assert rows["one_way_ring"]["cycles"] == pytest.approx(2 * 7 / 8 / 18)
    assert rows["one_way_ring"]["ring_order"] == list(range(8))
    assert rows["direct"]["ring_order"] is None


def test_what_is_found_is_shown_where_more_takes_long(capsys: pytest.CaptureFixture[str], monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr("torusweep.cli.progress.QUIET_SECONDS", 0.05)
    with progress.found("algorithms", 3) as found:
        found("optimum: 1 cycles/flit, all_reduce")
        until(lambda: shown.append(capsys.readouterr().err) or shown[-1])
        assert "".join(shown) == "optimum: 1 cycles/flit, all_reduce\n"
        found("ring: 2 cycles/flit")
        assert capsys.readouterr().err == "ring: 2 cycles/flit\n"
    monkeypatch.setattr("torusweep.cli.progress.QUIET_SECONDS", 60)
    with progress.found("algorithms", 1) as found:
        found("optimum: 1 cycles/flit, all_reduce")
    assert capsys.readouterr().err == ""
