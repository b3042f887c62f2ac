"""Any bytes as configuration, topology, graph, demand matrix, SQL or shard: one line and a status, or the right table.

What is drawn goes through the real command line. What is accepted is checked by oracles that share no code with it.
`corpus/` keeps small inputs that once broke it, or look as if they would: each is refused or answered as its name says.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from torusweep.tables import store

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs import configurations, demands, networks, queries, workloads
from tests.faults.inputs.any_bytes import CHANGES, Properties, changed
from tests.faults.properties import FEW, MANY, hold
from tests.run.faulty_worker import made_up_rows
from tests.run.rings import Run

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- the properties ------------------------------------------------------------------------------

PROPERTIES: Properties = {
    **networks.PROPERTIES,
    **demands.PROPERTIES,
    **configurations.PROPERTIES,
    **queries.PROPERTIES,
    **workloads.PROPERTIES,
}


@pytest.mark.parametrize("what", PROPERTIES)
def test_any_bytes_are_refused_in_one_line_or_read_right(what: str):
    hold(what, PROPERTIES, FEW)


@pytest.mark.faults
@pytest.mark.parametrize("what", PROPERTIES)
def test_many_more_bytes(what: str):
    hold(what, PROPERTIES, MANY)


@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.faults)])
def test_any_shard_is_whole_or_computed_again(rings: Run, monkeypatch: pytest.MonkeyPatch, examples: int):
    """The damaged file has its old name, or a name that matches its new content.

    In the first case, the digest shows the damage; in the second, only the content of the file can.
    """
    monkeypatch.setattr("torusweep.run.driver.rows_of_many", made_up_rows)
    rings.config.write_text("sweep: rings\ntopologies: ['ring(k=3)', 'ring(k=4)', 'ring(k=5)']\n")
    rings.here("points")
    rings.here("static", workers=0)
    clean, (path,) = rings.static(), rings.shards()
    whole = path.read_bytes()

    @example([(whole.index(b"ring", 4), 0)], None, True, None)  # a value among those that a column names once
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(CHANGES, st.none() | st.integers(0, len(whole)), st.booleans(), st.none() | st.binary(max_size=50))
    def always(changes: list[tuple[int, int]], length: int | None, renamed: bool, other: bytes | None) -> None:
        content = changed(whole, changes, length) if other is None else other
        for shard in rings.shards():
            shard.unlink()
        (path.parent / f"{store.digest(content) if renamed else path.stem}.parquet").write_bytes(content)
        assert rings.here("static", workers=0) == 0
        assert rings.static() == clean

    always()


# --- the corpus ----------------------------------------------------------------------------------

ASKED = {
    ".yaml": lambda path: ("step", "points", path, "out/a"),
    ".csv": lambda path: ("loads", "ring(k=5)", "--traffic", f'demand(path="{path}")'),
    ".parquet": lambda path: ("loads", "ring(k=5)", "--traffic", f'demand(path="{path}")'),
    ".sql": lambda path: ("query", Path(path).read_text(), "--json"),
    ".args": lambda path: json.loads(Path(path).read_text()),
}


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_the_corpus_is_refused_or_answered_as_its_names_say(path: Path):
    store.publish_table(Path("results/default"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2]}))
    Path("one.adjlist").write_text("0\n")
    asked = ASKED.get(path.suffix, lambda name: ("describe", f'graph(path="{name}")'))
    assert settled(torusweep(*asked(str(path)))) == path.name.startswith("answered-")
