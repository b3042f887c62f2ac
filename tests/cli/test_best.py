"""`torusweep best`: the answer first, how it was proved, what stands beside it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from torusweep.cli import torusweep
from torusweep.errors import BadInput


def said(*arguments: str) -> str:
    done = CliRunner().invoke(torusweep, ["best", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


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


def test_more_winners_are_told_of():
    assert "more are as good; --show lists more" in said("--nodes", "64", "--minimise", "diameter", "--show", "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nodes", "12", "--minimise", "diametre"], "did you mean 'diameter'"),
        (["--nodes", "12", "--minimise", "diameter,diameter"], "expected each column once"),
        (["--nodes", "12", "--minimise", "diameter", "--maximise", "diameter"], "expected each column once"),
        (["--nodes", "-4"], "nodes: expected 1 … 65,536, got -4"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    done = CliRunner().invoke(torusweep, ["best", *arguments], standalone_mode=False)
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
