"""`torusweep best`: the answer first, how it was proved, what stands beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep.answers import best as best_module
from torusweep.cli import torusweep
from torusweep.cli.run import run_step
from torusweep.errors import BadInput


def said(*arguments: str) -> str:
    done = CliRunner().invoke(torusweep, ["best", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_answer_comes_first():
    lines = said("--nodes", "128").splitlines()
    assert lines[0].startswith("lattice(matrix=[[")
    assert lines[1].startswith("proved: least mean_distance of all 43,435 lattices (2,154 classes); attained by ")
    names = [line.split("  ")[0] for line in lines[4:]]
    assert names[:1] == ["best"]
    assert {"rectangular torus", "PDTT, the FCC lattice", "bound of 3D lattices", "bound of degree 6"} <= set(names)


def test_json_has_the_same():
    found = json.loads(said("--nodes", "32", "--dimensions", "2", "--maximise", "saturation_load", "--json"))
    assert found["lattices"] == 63
    assert found["objectives"] == [{"column": "saturation_load", "best": "greatest"}]
    assert found["rows"][0]["saturation_load"] >= max(row["saturation_load"] for row in found["known"])
    assert [row["name"] for row in found["known"]] == ["rectangular torus", "RTT"]


def test_costs_and_networks_of_other_families_stand_beside():
    """The front by every pair; the torus's price by hand: degree 4 and a terminal, 5 ports."""
    others = ["--beside", "hyperx(radices=[4, 4], terminals=2)", "--beside", "dragonfly(a=4, p=2, h=2)"]
    asked = ["--nodes", "32", "--dimensions", "2", "--cost-model", "2014-besta", *others]
    found = json.loads(said(*asked, "--json"))
    assert [row["topology"] for row in found["beside"]] == others[1::2]
    rows = [*found["rows"], *found["known"], *found["beside"]]
    values = [(row["cost_per_terminal"], row["mean_distance"], -min(1.0, row["saturation_load"])) for row in rows]
    for row, own in zip(rows, values):
        beaten = any(other != own and all(x <= y + 1e-9 for x, y in zip(other, own)) for other in values)
        assert row["on_front"] == (not beaten), row["topology"]
        assert row["saturation_per_cost"] == pytest.approx(-own[2] / own[0])
    torus = next(row for row in rows if row["topology"] == "torus(radices=[8, 4])")
    assert 350.4 * 5 - 892.3 < torus["cost_per_terminal"] < 350.4 * 5 - 892.3 + 2 * 40 * 7.2745
    text = said(*asked)
    assert sum(line.startswith("beside") for line in text.splitlines()) == 2
    assert "for 1,000" in text
    assert "beside" not in said("--nodes", "32", "--dimensions", "2")


def test_python_answers_the_same():
    """The rows of the winners, the known networks and those beside, as the command prints and has them in JSON."""
    asked = ["--nodes", "32", "--dimensions", "2", "--cost-model", "2014-besta", "--beside", "ring(k=9)"]
    found = json.loads(said(*asked, "--json"))
    answer = ts.best(nodes=32, dimensions=2, cost_model="2014-besta", beside="ring(k=9)")
    assert json.loads(json.dumps(answer.json)) == found
    rows = [*found["rows"], *found["known"], *found["beside"]]
    table = answer.table
    assert table["topology"].to_pylist() == [row["topology"] for row in rows]
    assert table["on_front"].to_pylist() == [row["on_front"] for row in rows]
    assert table["network"].to_pylist()[-3:] == ["rectangular torus", "RTT", "beside"]
    assert answer.topology == found["rows"][0]["topology"]
    lines = repr(answer).splitlines()
    assert lines[:2] == said(*asked).splitlines()[:2]
    assert "RTT" in answer._repr_html_()
    plain = ts.best(nodes=13, circulant_steps=2, minimise=["diameter", "mean_distance"], show=1)
    assert plain.topology == "circulant(n=13, steps=[1, 5])"
    assert plain.table["cost_per_terminal"].null_count == len(plain)
    assert "cost" not in repr(plain)


def test_more_winners_are_told_of():
    assert "more are as good; --show lists more" in said("--nodes", "64", "--minimise", "diameter", "--show", "1")


def test_the_best_of_circulants_is_proved():
    """C(6, 2) step sets of 13 nodes in 3 classes; 1 and 5 are least: 4 nodes at distance 1, 8 at distance 2."""
    lines = said("--nodes", "13", "--circulant-steps", "2").splitlines()
    assert lines[0] == "circulant(n=13, steps=[1, 5])"
    assert lines[1] == (
        "proved: least mean_distance of all 15 circulants (3 classes) of 2 steps; attained by 3 circulants (1 class)"
    )
    found = json.loads(said("--nodes", "13", "--circulant-steps", "2", "--json"))
    assert (found["space"], found["lattices"]) == ("circulants(steps=2, nodes=13)", 15)
    assert found["rows"][0]["distance_sum"] == 13 * (4 + 2 * 8)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    """The results of a sweep that screened the lattices of 48 nodes."""
    home = tmp_path_factory.mktemp("atlas")
    config = home / "atlas.yaml"
    entries = ("family: lattices, dimensions: 3, nodes: {from: 47, to: 49}", "family: circulants, steps: 3, nodes: 48")
    config.write_text(f"sweep: atlas\nscreen: [{', '.join(f'{{{entry}}}' for entry in entries)}]\n")
    for step in ("points", "static", "screen"):
        assert run_step(step, config, home / "results", {} if step == "points" else {"workers": 0}) == 0
    return home / "results"


@pytest.mark.parametrize("space", [(), ("--circulant-steps", "3")])
def test_an_atlas_gives_the_computed_answer(atlas, monkeypatch, space):
    asked = ("--nodes", "48", *space, "--maximise", "saturation_load", "--json")
    computed = said(*asked)
    assert said("--nodes", "50", "--results", str(atlas), "--json") == said("--nodes", "50", "--json")  # not in it
    monkeypatch.setattr(best_module, "screen_space", None)  # nothing is computed
    found, computed = (json.loads(text) for text in (said(*asked, "--results", str(atlas)), computed))
    assert (found.pop("proved"), computed.pop("proved")) == (
        False,
        True,
    )  # rows of a folder prove nothing by themselves
    assert found.pop("source").startswith("table screen, sha256 ")
    assert computed.pop("source") == ""
    assert found == computed


def test_an_altered_atlas_is_refused(atlas, tmp_path):
    folder = shutil.copytree(atlas, tmp_path / "altered")
    with (folder / "screen.parquet").open("ab") as file:
        file.write(b"x")
    done = CliRunner().invoke(torusweep, ["best", "--nodes", "48", "--results", str(folder)], standalone_mode=False)
    assert isinstance(done.exception, BadInput)
    assert "was altered" in str(done.exception)


def test_a_sweep_without_an_atlas_is_refused(tmp_path):
    asked = ["best", "--nodes", "48", "--results", str(tmp_path)]
    done = CliRunner().invoke(torusweep, asked, standalone_mode=False)
    assert isinstance(done.exception, BadInput)
    assert "expected a sweep with a section screen, or a data set, got none; leave it out" in str(done.exception)


def test_the_best_under_a_condition():
    found = json.loads(said("--nodes", "64", "--where", "diameter <= 5 AND degree = 6", "--show", "99", "--json"))
    free = json.loads(said("--nodes", "64", "--show", "99", "--json"))
    assert 0 < found["kept"] < found["measured"] == free["measured"]
    assert all(row["diameter"] <= 5 and row["degree"] == 6 for row in found["rows"])
    cheap = said("--nodes", "64", "--where", "degree = 4")
    kept = json.loads(said("--nodes", "64", "--where", "degree = 4", "--json"))["kept"]
    assert f" of the {kept} classes that meet the condition, of all 10,795 lattices (619 classes);" in cheap
    assert "proved: least mean_distance of the only lattice; attained by 1 lattice" in said("--nodes", "1")
    assert json.loads(said("--nodes", "64", "--where", "degree = 4", "--json"))["rows"][0]["degree"] == 4


def test_known_networks_that_do_not_meet_the_condition_are_marked():
    """A torus of 4³ nodes has diameter 3 × 2 and degree 6."""
    mark = "(does not meet the condition)"
    for condition, met in (("diameter <= 5", False), ("diameter <= 6", True), ("degree = 4", False), (None, True)):
        asked = ("--nodes", "64", *(("--where", condition) if condition else ()))
        (cube,) = [row for row in json.loads(said(*asked, "--json"))["known"] if row["name"] == "cube"]
        assert (cube["topology"], cube["meets_condition"]) == ("torus(k=4, n=3)", met)
        (line,) = [line for line in said(*asked).splitlines() if line.startswith("cube ")]
        assert line.endswith("torus(k=4, n=3)" if met else f"torus(k=4, n=3)  {mark}")
    assert mark not in said("--nodes", "64")
