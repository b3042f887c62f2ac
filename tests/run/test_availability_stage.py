"""The table of availability: what is asked, what is refused before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import requested_points

from tests.run.asking import computed, refused_at_its_line
from tests.run.rings import Run

CONFIG = """
sweep: rings
topologies: ["ring(k=8)", "torus(k=4, n=2)"]
availability:
  - {failures: [0, 1, 2], measures: [connectivity, distances]}
  - {fails: [routers, cubes], failures: 1, measures: connectivity, families: [torus]}
  - {probability: [0.01, 0.1], draws: 100, seed: 7, families: [torus], measures: [connectivity]}
"""


def test_rows_are_those_asked_for_and_known(rings: Run):
    rings.config.write_text(CONFIG)
    rings.here("points")
    rows = computed(rings, "availability", workers=0)
    key = ("topology", "fails", "failures", "probability", "measure")
    found = {tuple(row[name] for name in key): row for row in rows}
    assert len(found) == len(rows) == 2 * 3 * 4 + 2 * 2 + 2 * 2
    assert found["ring(k=8)", "links", 1, None, "diameter"]["mean"] == 7
    assert found["ring(k=8)", "links", 2, None, "connected"]["mean"] == 0
    assert found["ring(k=8)", "links", 2, None, "diameter"]["mean"] is None
    assert found["ring(k=8)", "links", 0, None, "mean_distance"]["mean"] == 2
    assert found["torus(k=4, n=2)", "cubes", 1, None, "largest_component"]["mean"] == 0
    assert found["torus(k=4, n=2)", "routers", 1, None, "largest_component"]["mean"] == 15 / 16
    drawn = found["torus(k=4, n=2)", "links", None, 0.1, "connected"]
    assert (drawn["draws"], drawn["seed"], drawn["parts"]) == (100, 7, 32)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{fails: [link], failures: 1}", "fails: unknown part 'link' (did you mean 'links'?)"),
        ("{failures: 1, measures: distance}", "measures: unknown measure 'distance' (did you mean 'distances'?)"),
        ("{failures: 13}", "failures: failures=13: expected at most the 12 links of ring(k=12)"),
        ("{fails: cubes, failures: 1}", "cubes of ring(k=12): expected one of cube_pod, torus"),
    ],
)
def test_what_cannot_be_computed_is_refused_where_it_stands(tmp_path: Path, entry: str, says: str):
    assert says in refused_at_its_line(tmp_path, '["ring(k=12)"]', "availability", entry)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("{fails: links}", "expected failures or probability, got neither; add failures: [1, 2]"),
        ("{probability: 1.5}", "probability"),
        ("{failures: -1}", "failures"),
        ("{failures: 1, draws: 0}", "draws"),
    ],
)
def test_an_entry_that_makes_no_sense(tmp_path: Path, entry: str, says: str):
    path = tmp_path / "my.yaml"
    path.write_text(f'sweep: my\ntopologies: ["ring(k=8)"]\navailability: [{entry}]\n')
    with pytest.raises(Exception, match=says.replace("[", r"\[")):
        load(path)


def test_every_number_with_every_part(tmp_path: Path):
    path = tmp_path / "my.yaml"
    path.write_text(
        'sweep: my\ntopologies: ["torus(k=4, n=2)"]\n'
        "availability: [{fails: [links, routers], failures: [1, 2], probability: 0.5, measures: all}]\n"
    )
    asked = [str(point.request) for point in requested_points(load(path)) if point.stage == "availability"]
    assert asked == [
        "with 1 failed link",
        "with 2 failed links",
        "with each link failed with probability 0.5",
        "with 1 failed router",
        "with 2 failed routers",
        "with each router failed with probability 0.5",
    ]
