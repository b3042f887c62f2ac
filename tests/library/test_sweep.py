"""`ts.sweep`: a dictionary is a file's twin, its plan is the command line's, its run makes what the command makes."""

from __future__ import annotations

import doctest
import json
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from torusweep.cli import torusweep
from torusweep.library import results as library_results
from torusweep.library import sweep
from torusweep.library import sweep as library_sweep
from torusweep.run import child, command, progress
from torusweep.sweeps.configuration import as_yaml

SMALL: dict[str, Any] = {
    "sweep": "small",
    "topologies": [{"family": "torus", "k": range(3, 5), "n": 2}],
    "loads": [{"routing": "minimal", "traffic": "uniform"}],
}


def file_of(given: Any, folder: Path) -> Path:
    """A YAML file of the same content, written by a library that ours has nothing to do with: JSON is YAML."""
    path = folder / "file.yaml"
    path.write_text(json.dumps(given, default=list))
    return path


def refusal(call: Any) -> str:
    with pytest.raises(ts.BadInput) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


# --- a dictionary is a file's twin ---------------------------------------------------------------


def test_a_dictionary_and_a_file_ask_for_the_same(tmp_path: Path):
    here, there = ts.sweep(SMALL), ts.sweep(file_of(SMALL, tmp_path))
    assert here.configuration.model_dump() == there.configuration.model_dump()
    assert here.plan().record == there.plan().record
    assert repr(here) == repr(there)
    assert (here.path, there.path) == (None, tmp_path / "file.yaml")
    assert (here.name, here.plan().points) == ("small", 4)


WRONG: list[dict[str, Any]] = [
    {},
    {"sweep": "mine"},
    {"sweep": "my sweep", "topologies": ["ring(k=4)"]},
    {"sweep": "mine", "topologie": ["ring(k=4)"]},
    {"sweep": "mine", "topologies": ["rimg(k=4)"]},
    {"sweep": "mine", "topologies": ["ring(k=4)", "ring(k=1)"]},
    {"sweep": "mine", "topologies": [{"family": "torus", "kk": 3}]},
    {"sweep": "mine", "topologies": ["ring(k=4)"], "loads": [{"routing": "minimall", "traffic": "uniform"}]},
    {"sweep": "mine", "topologies": ["ring(k=4)"], "loads": [{"routing": "minimal", "traffic": 3}]},
    {"sweep": "mine", "topologies": ["ring(k=4)"], "cluster": {"workers": -1}},
    {"sweep": "mine", "topologies": "ring(k=4)"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=json.dumps)
def test_a_dictionary_is_refused_in_the_words_of_a_file(tmp_path: Path, wrong: dict[str, Any]):
    path = file_of(wrong, tmp_path)
    of_file = refusal(lambda: ts.sweep(path).plan())
    of_dictionary = refusal(lambda: ts.sweep(wrong).plan())
    place, _, words = of_file.removeprefix(f"{path}:").partition(": ")
    assert place.replace(":", "").isdigit()
    assert of_dictionary == f"the sweep: {words}"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("sweep: mine\ntopologies: [ring(k=4)]\n", "expected the path of a configuration, or a dict, got the text"),
        ("nowhere.yaml", "nowhere.yaml: no such file"),
        (["ring(k=4)"], "expected the path of a configuration, or a dict, got list"),
        ({"sweep": "mine", "topologies": [{1.5: "ring"}]}, "topologies[0]: expected keys that are words"),
        ({"sweep": "mine", "topologies": [{"ring(k=4)"}]}, "topologies[0]: expected text, a number, a list or a dict"),
    ],
)
def test_what_is_no_configuration_is_refused(given: Any, says: str):
    assert says in refusal(lambda: ts.sweep(given))


def test_a_dictionary_that_is_too_deep_or_too_large_is_refused():
    deep: list[Any] = []
    deep.append(deep)
    assert "at most 20 mappings and lists" in refusal(lambda: ts.sweep({"sweep": "x", "topologies": deep}))
    many = ["ring(k=4)"] * 45_000
    assert "expected at most 512 KiB of YAML" in refusal(lambda: ts.sweep({"sweep": "x", "topologies": many}))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.integers(0, 99), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=8), plain, max_size=4))
def test_what_is_written_is_read_back(given: dict[str, Any]):
    """By ruamel itself, not by our reader."""
    assert YAML(typ="safe", pure=True).load(as_yaml(given).decode()) == given


def test_numbers_of_numpy_tuples_ranges_and_paths_are_plain():
    given = {"a": np.int64(3), "b": np.float32(0.5), "c": np.bool_(True), "d": (1, 2), "e": range(2), "f": np.arange(2)}
    read = YAML(typ="safe").load(as_yaml({**given, "g": Path("x/y")}).decode())
    assert read == {"a": 3, "b": 0.5, "c": True, "d": [1, 2], "e": [0, 1], "f": [0, 1], "g": "x/y"}
    assert [type(read[name]) for name in "abc"] == [int, float, bool]


# --- a run ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work") / "results"


@pytest.fixture(scope="module")
def results(folder: Path) -> ts.Results:
    """Of a run in this process; small enough to need no workers."""
    return ts.sweep(SMALL).run(folder, backend="numpy", workers=0, progress=False)


def test_a_run_makes_the_tables(results: ts.Results, folder: Path):
    assert results.folder == folder / "small"
    assert results.complete
    assert {"static", "loads", "points", "designs"} <= set(results.tables)
    rows = pq.ParquetFile(folder / "small" / "static.parquet").read().to_pylist()
    # of a torus: half of each of its two rings
    assert {row["topology"]: row["diameter"] for row in rows} == {"torus(k=3, n=2)": 2, "torus(k=4, n=2)": 4}
    assert results["static"].pandas()["diameter"].tolist() == [row["diameter"] for row in rows]


def test_the_command_line_goes_on_from_the_dictionarys_file(results: ts.Results, folder: Path):
    config = folder / "small" / "sweep.yaml"
    assert ts.sweep(config).configuration.model_dump() == ts.sweep(SMALL).configuration.model_dump()
    assert command.pending(config, folder, {"backend": "numpy", "workers": 0}) == []
    assert results.manifest["config"]["text"] == config.read_text()


def test_a_dictionary_that_is_the_same_is_not_written_again(results: ts.Results, folder: Path):
    before = (folder / "small" / "sweep.yaml").stat().st_mtime_ns
    command.write_configuration(ts.sweep(SMALL).configuration, folder)
    assert (folder / "small" / "sweep.yaml").stat().st_mtime_ns == before


def test_nothing_is_written_for_a_sweep_that_is_refused(tmp_path: Path):
    wrong = {"sweep": "mine", "topologies": ["rimg(k=4)"]}
    assert "did you mean 'ring'" in refusal(lambda: ts.sweep(wrong).run(tmp_path))
    assert "expected a path without any of" in refusal(lambda: ts.sweep(SMALL).run(tmp_path / "{x}"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "error"), [(1, ts.RunFailed), (130, KeyboardInterrupt)])
def test_a_run_that_does_not_end_well_raises(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, error: type[BaseException]
):
    def run(config: Path, results: Path, *, listener: child.Listener, **_: Any) -> tuple[int, Path]:
        listener("ring(k=5) failed: no memory\n")
        return status, results / "small"

    monkeypatch.setattr(command, "run", run)
    with pytest.raises(error) as raised:
        ts.sweep(SMALL).run(tmp_path, progress=False)
    assert f"torusweep run {tmp_path}/small/sweep.yaml --results {tmp_path}" in str(raised.value)
    assert ("ring(k=5) failed: no memory" in str(raised.value)) == (status == 1)


@pytest.mark.parametrize("module", [library_results, library_sweep], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_hold(
    monkeypatch: pytest.MonkeyPatch, results: ts.Results, folder: Path, module: ModuleType
):
    monkeypatch.chdir(folder.parent)
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried > 0


def test_the_plan_is_that_of_the_command_line(tmp_path: Path):
    path = file_of(SMALL, tmp_path)
    plan = ts.sweep(path).plan(workers=2)
    said = CliRunner().invoke(torusweep, ["plan", str(path), "--workers", "2", "--json"]).output
    assert json.loads(json.dumps(plan.record)) == json.loads(said)
    assert repr(plan) == CliRunner().invoke(torusweep, ["plan", str(path), "--workers", "2"]).output.rstrip("\n")
    assert plan._repr_html_().startswith("<pre>small: 4 points")


# --- what a run says -----------------------------------------------------------------------------

SPEAKER = """
import sys
print("static: begins", flush=True)
print('{"torusweep": {"title": "static", "done": 3, "total": 4, "left": ""}}', flush=True)
print("Building DAG of jobs...", file=sys.stderr, flush=True)
print("ring(k=5) is too large", file=sys.stderr, flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("in_a_thread", [False, True])
def test_the_listener_hears_all_but_the_chatter(tmp_path: Path, in_a_thread: bool):
    heard: list[tuple[str, int]] = []
    ended: list[int] = []

    def run() -> None:
        snakemake = child.Snakemake(
            [sys.executable, "-c", SPEAKER],
            tmp_path / ".lock",
            tmp_path,
            essential=True,
            listener=lambda line: heard.append((line, threading.get_ident())),
        )
        ended.append(snakemake.wait())

    thread = threading.Thread(target=run)
    if in_a_thread:
        thread.start()
        thread.join()
    else:
        run()
    assert ended == [3]
    lines = [line for line, _ in heard]
    assert {ident for _, ident in heard} == {thread.ident if in_a_thread else threading.get_ident()}
    assert lines[-1].startswith("a step ended with the error above; what is finished is kept")
    assert sorted(lines[:-1]) == sorted(
        ["static: begins", SPEAKER.splitlines()[3].split("'")[1], "ring(k=5) is too large"]
    )


def test_a_step_reports_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    monkeypatch.setenv(progress.REPORTS, "1")
    with progress.progress("static", total=10, done=2, cost=80.0) as shown:
        for seconds, points, cost in ((6.0, 1, 10.0), (12.0, 3, 30.0), (12.05, 2, 20.0), (13.0, 2, 20.0)):
            now = seconds
            shown.advance(points, cost)
        shown.say("a worker died")
    *reports, last = capsys.readouterr().out.splitlines()
    assert last == "a worker died"
    assert progress.how_far(last) is None
    assert [progress.how_far(line) for line in reports] == [
        ("static", 2, 10, "about 80 s left by the plan"),
        ("static", 3, 10, "about 70 s left by the plan"),
        ("static", 6, 10, "about 12 s left"),  # half of the cost is paid
        ("static", 10, 10, ""),  # nothing within a tenth of a second, but the end
    ]
    assert progress.how_far('{"torusweep": 3}') is None


def report(done: int) -> str:
    return json.dumps({"torusweep": {"title": "static", "done": done, "total": 4, "left": "about <1> s"}})


def test_lines_and_bars_say_the_same(capsys: pytest.CaptureFixture[str]):
    for shown in (sweep.StepLines(), sweep.Terminal(), sweep.Silent()):
        with shown:
            for line in (report(0), "a worker died", report(4)):
                shown(line)
        said = capsys.readouterr()
        assert said.out == ""
        silent = type(shown) is sweep.Silent
        assert ("a worker died" in said.err) != silent
        assert ("static: 4 of 4 points" in said.err) != silent
        assert shown.words == ["a worker died"]
    assert not sweep.in_notebook()
