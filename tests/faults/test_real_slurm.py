"""On a real Slurm of two nodes, without accounting (`sacct` fails): both ways in which a sweep uses Slurm.

Its GPUs are none: Slurm counts them, and CuPy is made up where a job should find one.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.run import slurm as slurm_jobs
from torusweep.run.compute_table import _estimates
from torusweep.run.parts import StagePart
from torusweep.tables import provenance
from torusweep.tables.shards import Shard, read_shards

from tests.faults.documented import BASH, PATH, commands, start_scheduler, two_workers
from tests.faults.real_slurm import NODES, RealSlurm, why_not
from tests.run.rings import Run, until

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.faults, pytest.mark.skipif(bool(why_not()), reason=why_not())]


@pytest.fixture(scope="module")
def slurm() -> Iterator[RealSlurm]:
    there = RealSlurm()
    yield there
    there.end()


@pytest.fixture
def table(rings: Run) -> bytes:
    """The table that this process makes by itself."""
    return rings.alone()


def test_dasks_workers_as_jobs(slurm: RealSlurm, rings: Run, clean: bytes):
    rings.with_settings("slurm: {jobs: 2, cores: 1, memory: 1GiB, walltime: '00:10:00', interface: lo}")
    status, said = rings.call("run", "rings.yaml")
    assert status == 0, said
    assert "Slurm jobs): 40 of 40 points" in said
    assert "Traceback" not in said
    assert rings.static() == clean
    assert slurm.command("squeue", "-h") == "", "the jobs ended with the run"


def test_documented_workers_as_jobs_serve_all_tables(slurm: RealSlurm, rings: Run, table: bytes):
    _, port = start_scheduler(rings)
    rings.config.write_text(rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n")
    (rings.home / "worker.sh").write_text(f"#!/bin/bash\n{two_workers(port)}")
    small = {"--cpus-per-task 32": "--cpus-per-task 1", "64G": "1G", "config/default.yaml": "rings.yaml"}
    run = rings.start(commands("sbatch", small), command=BASH, PATH=PATH, **REAL)
    said = run.communicate(timeout=200)[0]
    assert run.returncode == 0, said
    assert "static (the Dask scheduler" in said
    assert "loads (the Dask scheduler" in said
    assert said.count("Submitted batch job") == 1
    assert rings.static() == table
    until(lambda: slurm.command("squeue", "-h") == "")


def test_a_node_that_is_drained_is_said(slurm: RealSlurm, rings: Run, monkeypatch: pytest.MonkeyPatch):
    nodes = f"NodeName={','.join(NODES)}"
    slurm.command("scontrol", "update", nodes, "State=DRAIN", "Reason=test")
    try:
        monkeypatch.setattr(slurm_jobs, "SQUEUE_SECONDS", 3)
        monkeypatch.setattr(slurm_jobs, "START_SECONDS", 6)
        rings.with_settings("slurm: {jobs: 1, cores: 1, memory: 1GiB, interface: lo}")
        rings.here("points")
        with pytest.raises(BadInput, match=r"got none; 1 job PENDING \(.*(Nodes|Resources).*\)"):
            rings.here("static")
    finally:
        slurm.command("scontrol", "update", nodes, "State=RESUME")


PROFILE = str(ROOT / "config/profiles/slurm")


def test_snakemakes_profile(slurm: RealSlurm, rings: Run, table: bytes):
    """Each stage a job, with what its points need; its end is told by `squeue`: `sacct` knows nothing here."""
    accounting = subprocess.run(["sacct"], capture_output=True, text=True)
    assert accounting.returncode != 0, "this Slurm has accounting: the test would show nothing"
    rings.config.write_text(rings.config.read_text() + "loads: [{traffic: uniform, nodes: {to: 8}}]\n")
    status, said = rings.call("run", "rings.yaml", "--profile", PROFILE)
    assert status == 0, said
    assert said.count("has been submitted with SLURM jobid") == 2, "a part of each stage"
    submitted = [said.index(f"rule_stage/{stage}_1-of-1") for stage in ("loads", "static")]
    assert max(submitted) < said.index("(Rule: stage)"), "both stages at once"
    assert "runtime=11" in said
    assert rings.static() == table
    for job in slurm.jobs(said).values():
        assert (job["NumCPUs"], job["NumTasks"]) == ("1", "1")
        assert not any(name.startswith("TresPer") for name in job), "no GPU"


def test_a_killed_part_is_tried_again_and_computes_nothing_twice(slurm: RealSlurm, rings: Run, clean: bytes):
    """Three parts, jobs of one core; one is killed when it has published points, and goes on where it was."""
    rings.here("points")
    second = {point.topology for point in _estimates(rings.folder, "static", StagePart(2, 3))}
    notes = rings.home / "notes"
    fault = f"slow 0.5; note {notes}"
    run = rings.start("run", "rings.yaml", "--profile", PROFILE, "--parts", "3", "--workers", "1", fault=fault)
    try:
        until(lambda: _published(rings) & second)
        listed = [line.split() for line in slurm.command("squeue", "-h", "-o", "%i %C %k").splitlines()]
        assert {cores for _, cores, _ in listed} == {"1"}
        (killed,) = [job for job, _, what in listed if "static_2-of-3" in what]
        slurm.command("scancel", "--signal=KILL", "--full", killed)
        done = _published(rings)
        said = run.communicate(timeout=280)[0]
    finally:
        slurm.command("scancel", "--user=root")
    assert run.returncode == 0, said
    assert said.count("has been submitted with SLURM jobid") == 4, said
    assert rings.static() == clean
    times = Counter(notes.read_text().split())
    assert done & second < second, "it was killed between its first point and its last"
    assert all(times[topology] == 1 for topology in done), "what was published is not computed again"
    assert set(times) == {f"ring(k={k})" for k in range(3, 43)}
    assert (rings.folder / "logs/static/2-of-3.log").read_text().endswith(" ended\n"), "of the second trial"


REAL = {"DASK_DISTRIBUTED__WORKER__PRELOAD": "[]"}  # workers compute, instead of making rows up
CUPY = """
import os, sys
from pathlib import Path
from tests.kernels import fake_cupy

def note(word):
    with open(os.environ["NOTES"], "a") as file:
        file.write(f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {word}\\n")

class Broken:
    def __init__(self, code, options, enable_cooperative_groups): pass
    def get_function(self, name): return self
    def __call__(self, grid, block, arguments, shared_mem=0):
        note(fake_cupy.current[0])
        raise fake_cupy.CUDARuntimeError(700)

count = int(os.environ["DEVICES"])
if not count:
    note(sys.argv[sys.argv.index("--part") + 1])
elif "step" in sys.argv:
    from torusweep.run import driver
    driver.MOST_LOSSES = 2  # each costs seconds
cupy = fake_cupy.module(Path(), devices=count)
cupy.RawModule = Broken
sys.modules["cupy"] = cupy
"""


@pytest.fixture
def cards(tmp_path: Path) -> Callable[[int], dict[str, str]]:
    """The environment of jobs whose CuPy finds so many devices, on which launches fail; NOTES says what they saw."""
    (folder := tmp_path / "cards").mkdir()
    (folder / "cupy.py").write_text(CUPY)
    own = {"PYTHONPATH": f"{folder}:{ROOT}", "NOTES": str(tmp_path / "notes")} | REAL
    return lambda count: own | {"DEVICES": str(count)}


def test_gpus_are_one_key_of_one_node_and_lost_cards_lose_no_point(
    slurm: RealSlurm, rings: Run, cards: Callable[[int], dict[str, str]]
):
    """A job of two starts once, and waits for two of one node; its two workers have one each, which fail."""
    rings.with_settings("gpus: 2")
    rings.config.write_text(rings.config.read_text().replace("to: 42", "to: 6"))
    table, lost = rings.alone(), cards(2)
    options = ("--profile", PROFILE, "--backend", "cupy", "--workers", "2")
    other = slurm.command("sbatch", "--parsable", "--nodelist=n1", "--gpus=1", "--output=/dev/null", "--wrap=sleep 300")
    run = rings.start("run", "rings.yaml", *options, **lost)
    try:
        until(lambda: "PENDING Resources" in slurm.command("squeue", "-h", "-o", "%T %r"))  # two of two nodes are free
        slurm.command("scancel", other.strip())
        said = run.communicate(timeout=280)[0]
    finally:
        slurm.command("scancel", "--user=root")
    assert run.returncode == 0, said
    (job,) = slurm.jobs(said).values()
    assert job["TresPerJob"] == "gres:gpu:2", job
    assert (job["NodeList"], job["NumNodes"], job["NumTasks"]) == ("n1", "1", "1")
    log = (rings.folder / "logs/static/1-of-1.log").read_text()
    assert log.count(", process ") == 1
    assert "a worker lost its GPU" in log
    assert set(Path(lost["NOTES"]).read_text().splitlines()) == {"0,1 0", "0,1 1"}, "launches, by worker"
    assert rings.static() == table
    assert {shard.origin["backend"] for shard in _shards(rings)} == {"numba"}


def test_typed_gres_and_exclusive_nodes_and_a_card_that_is_none(
    slurm: RealSlurm, rings: Run, cards: Callable[[int], dict[str, str]], table: bytes
):
    """Three parts: a shared node, a node of its own, a partition of whole nodes. Numba computes them all."""
    rings.with_settings("gpus: 'gpu:a100:1'")
    none = cards(0)
    wishes = (
        'stage:slurm_extra={"2": "--exclusive"}.get(wildcards.part[0], "")',
        'stage:slurm_partition={"3": "whole"}.get(wildcards.part[0], "main")',
    )
    status, said = rings.call(
        *("run", "rings.yaml", "--profile", PROFILE, "--backend", "cupy", "--workers", "0", "--parts", "3"),
        *("--set-resources", *wishes),
        **none,
    )
    assert status == 0, said
    jobs = [job for _, job in sorted(slurm.jobs(said).items())]
    assert [job["TresPerNode"] for job in jobs] == ["gres:gpu:a100:1"] * 3
    assert [job["NodeList"] for job in jobs] == ["n1"] * 3
    assert [job["NumTasks"] for job in jobs] == ["1"] * 3
    assert [job["NumCPUs"] for job in jobs] == ["1", "2", "2"]
    assert [job["Partition"] for job in jobs] == ["main", "main", "whole"]
    seen = dict(reversed(line.split()) for line in Path(none["NOTES"]).read_text().splitlines())
    assert {part: card in ("0", "1") for part, card in seen.items()} == dict.fromkeys(
        ("1-of-3", "2-of-3", "3-of-3"), True
    ), "one card each, also of a whole node"
    for part in ("1", "2", "3"):
        log = (rings.folder / f"logs/static/{part}-of-3.log").read_text()
        assert "found none; Numba computes this part" in log
        assert log.count(", process ") == 1
    assert rings.static() == table
    assert {shard.origin["backend"] for shard in _shards(rings)} == {"numba"}


def test_groups_and_arrays_do_as_the_documentation_says(slurm: RealSlurm, rings: Run, table: bytes, tmp_path: Path):
    """What the pinned executor does with them; where it does otherwise, docs/scaling-out.md must say otherwise."""
    (tmp_path / "array").mkdir()
    (tmp_path / "stuck").mkdir()
    array, stuck = Run(tmp_path / "array"), Run(tmp_path / "stuck")
    rings.with_settings("gpus: 'gpu:1'")
    options = ("run", "rings.yaml", "--profile", PROFILE, "--workers", "0")
    try:
        hanging = stuck.start(*options, "--slurm-array-jobs", "stage", "--parts", "6", "--jobs", "2", **REAL)
        as_array = array.start(*options, "--slurm-array-jobs", "stage", "--parts", "2", **REAL)
        said = rings.call(*options, "--parts", "2", "--groups", "stage=g", "--group-components", "g=2", **REAL)[1]
        said_of_array = as_array.communicate(timeout=200)[0]
        hanging.terminate()
        said_of_stuck = hanging.communicate(timeout=60)[0]
    finally:
        array.end()
        stuck.end()
        slurm.command("scancel", "--user=root")
    (group,) = slurm.jobs(said).values()
    first, last = (_seconds_of(rings, part) for part in ("1-of-2", "2-of-2"))
    assert first[1] <= last[0] or last[1] <= first[0], "one by one"
    assert (group["NumCPUs"], group["TimeLimit"]) == ("2", "00:11:00"), "cores of all, the time of one"
    assert int(group["MinMemoryNode"].removesuffix("M")) > 2000, "memory of both"
    assert group["TresPerNode"] == "gres:gpu:1", "a gres is that of one"
    assert "Submitted array job" in said_of_array
    assert "Execute 2 jobs" in said_of_stuck
    assert slurm.jobs(said_of_stuck) == {}, "more parts than --jobs: none is submitted"
    assert rings.static() == array.static() == table


# of three parts, which Snakemake submits in no set order
REFUSALS = [
    "Batch job submission failed: Requested node configuration is not available",
    "Memory specification can not be satisfied",
    "Socket timed out",
]
BUSY = """#!/bin/sh
case "$*" in *static_2-of-3*) mkdir "$0.once" 2>&- && { echo "sbatch: error: Socket timed out" >&2; exit 1; };; esac
exec %s "$@"
"""


def test_what_sbatch_refuses_and_what_fails_is_tried_again_in_a_job_of_its_own(
    slurm: RealSlurm, rings: Run, tmp_path: Path
):
    """The first part asks for too much, the second is refused once, the third's job fails once."""
    (busy := tmp_path / "sbatch").write_text(BUSY % shutil.which("sbatch"))
    busy.chmod(0o755)
    memory = 'stage:mem_mb=10**9 if wildcards.part[0] == "1" else 1000 * attempt'
    log = rings.folder / "logs/static/3-of-3.log"
    options = ("--profile", PROFILE, "--workers", "0", "--parts", "3", "--set-resources", memory)
    run = rings.start("run", "rings.yaml", *options, PATH=f"{tmp_path}:{PATH}")
    until(lambda: list(rings.folder.glob(".run-*/.snakemake/log")))
    with provenance.hold(rings.folder / ".lock-static-3-of-3"):
        until(lambda: log.exists() and "refused: " in log.read_text())
    said = run.communicate(timeout=280)[0]
    assert run.returncode == 1
    last = said.splitlines()[-1]
    assert last.startswith("Slurm refused: "), said
    *reasons, kept = last.removeprefix("Slurm refused: ").split("; ")
    assert sorted(reasons) == REFUSALS, said
    assert kept == "what is finished is kept, and the same command goes on from here"
    assert said.count("error: Memory specification") == 3, "two retries"
    assert said.count("has been submitted with SLURM jobid") == 3, "of part 2 once, of part 3 twice"
    (of_first,) = rings.folder.glob(".run-*/.snakemake/slurm_logs/rule_stage/static_3-of-3/*.log")
    assert of_first.read_text().count("is in use by process") == 1, "no retries within a job"
    third = slurm.jobs(said)["rule_stage_wildcards_static_3-of-3"]
    assert (third["MinMemoryNode"], third["TimeLimit"], third["JobState"]) == ("2000M", "00:22:00", "COMPLETED")
    kept = {point for number in (2, 3) for point in _estimates(rings.folder, "static", StagePart(number, 3))}
    assert _published(rings) == {point.topology for point in kept}


def _seconds_of(rings: Run, part: str) -> tuple[str, str]:
    """When a part began and ended, by its log."""
    lines = (rings.folder / f"logs/static/{part}.log").read_text().splitlines()
    return lines[0].split()[0], lines[-1].split()[0]


def _shards(rings: Run) -> list[Shard]:
    return read_shards(rings.folder, "static", schema_of("static")).whole


def _published(rings: Run) -> set[str]:
    return {topology for shard in _shards(rings) for topology in shard.rows.column("topology").to_pylist()}
