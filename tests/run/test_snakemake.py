"""The whole pipeline under Snakemake: what is declared is made, kept and made again; stops, locks, Slurm (rows 9-13, 20, 21)."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from torusweep.errors import BadInput
from torusweep.run import snakemake
from torusweep.run.command import ROOT, SNAKEFILE
from torusweep.run.snakemake import Snakemake
from torusweep.tables import lock
from torusweep.tables.store import open_table

from tests.run.rings import Run, until

FILES = {
    "points.parquet",
    "static.parquet",
    "distances.parquet",
    "verification.parquet",
    "manifest.json",
    "report.html",
    "checked.txt",
}


def files(run: Run) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in run.folder.glob("[!.]*.*")}


def test_a_sweep_from_failure_to_repair(rings: Run, clean: bytes):
    status, said = rings.call("run", "rings.yaml", "--workers", "1", fault="raise ring(k=9)")
    assert status == 1, said
    assert set(files(rings)) == FILES - {"checked.txt"}, "the tables and the report are there"
    assert "ring(k=9) failed: ZeroDivisionError: a made-up defect" in said

    status, said = rings.call(
        "run", "rings.yaml", "--workers", "0"
    )  # the failed point alone, this time by the real code
    assert status == 0, said
    assert set(files(rings)) == FILES
    assert "results/rings/static.parquet   40 rows" in said
    assert "torusweep query" in said
    assert "Select jobs" not in said, "Snakemake's chatter"
    made = files(rings)

    status, said = rings.call("run", "rings.yaml")
    assert (status, files(rings)) == (0, made), said
    assert "Nothing to be done" in said

    (rings.folder / "manifest.json").unlink()  # 21
    path = rings.folder / "distances.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    shards = rings.shards()
    status, said = rings.call("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    assert rings.shards() == shards, "nothing was computed again"
    tables = json.loads((rings.folder / "manifest.json").read_bytes())["tables"]
    assert {f"{name}.parquet" for name in tables} == {name for name in FILES if name.endswith(".parquet")}
    assert [
        open_table(rings.folder / f"{name}.parquet").num_rows for name in ("static", "distances", "verification")
    ] == [40, 39 * 2 + 5, 0]

    path.write_bytes(path.read_bytes()[:-1] + b"?")  # 20
    with pytest.raises(BadInput, match=r"distances.parquet was altered"):
        open_table(path)


def test_kills_locks_and_a_stop(rings: Run, clean: bytes):
    run = rings.start(
        "run", "rings.yaml", "--workers", "2", fault="slow 1"
    )  # so long that two more runs are refused meanwhile
    until(rings.shards)
    driver = json.loads((rings.folder / ".lock").read_text())["pid"]
    (snakemake,) = [child for child in psutil.Process(run.pid).children() if "snakemake" in child.cmdline()]
    status, said = rings.call("run", "rings.yaml")  # 11
    assert (status, said.count("\n")) == (2, 1), said
    assert f"process {run.pid} " in said
    snakemake.kill()  # 9
    said = run.communicate(timeout=60)[0]
    assert run.returncode == 128 + signal.SIGKILL
    assert "Snakemake was killed (signal 9)" in said
    assert "stopped; what is finished is kept" in said
    assert not psutil.pid_exists(driver), "it has ended its batches, and goes with the run"
    kept = rings.shards()

    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")  # 10
    until(lambda: len(rings.shards()) > len(kept))
    os.kill(run.pid, signal.SIGINT)  # 12
    said = run.communicate(timeout=60)[0]
    assert run.returncode == 130, said
    assert "no Snakemake runs there: unlocked" in said
    assert "stopped; what is finished is kept" in said
    assert set(kept) < set(rings.shards())


def test_less_than_a_sweep_is_made_where_snakemake_is_asked_for_less(rings: Run):
    for options, made in (
        (["--summary"], set()),
        (["--until", "points"], {"points.parquet"}),
        (["-U", "distances"], {"distances.parquet"}),
    ):
        status, said = rings.call("run", "rings.yaml", *options)
        assert status == 0, said
        assert "results/rings: made as far as Snakemake was asked to" in said
        assert made <= set(files(rings)) <= FILES - {"report.html", "checked.txt"}


def test_plain_snakemake_knows_the_configuration_and_how(rings: Run):
    snakemake = f"from snakemake.cli import main; main(['--snakefile', {str(SNAKEFILE)!r}, '--cores', '1', *__import__('sys').argv[1:]])"
    dry = [
        "--configfile",
        "rings.yaml",
        "--dry-run",
        "--printshellcmds",
        "--config",
        "results=elsewhere",
        "backend=numpy",
        "symmetry=off",
        "workers=0",
    ]
    status, said = plain(rings, snakemake, *dry)
    assert status == 0, said
    steps = [line.partition("torusweep step ")[2] for line in said.splitlines() if "torusweep step " in line]
    folder = "rings.yaml elsewhere/rings"
    assert set(steps) == {
        f"static {folder} --backend numpy --symmetry off --workers 0",
        *(f"{name} {folder}" for name in ("points", "distances", "verification", "report", "check")),
    }
    status, said = plain(rings, snakemake, "--configfile", "rings.yaml", "--dry-run", "--config", "bakend=numpy")
    assert status != 0
    assert "unknown key 'bakend'; did you mean 'backend'?" in said


def test_a_configuration_is_found_from_another_working_directory_of_snakemake(rings: Run):
    status, said = rings.call(
        "run", "rings.yaml", "--results", str(rings.home / "results"), "--directory", "elsewhere", "--dry-run"
    )
    assert status == 0, said


def plain(run: Run, code: str, *arguments: str) -> tuple[int, str]:
    process = run.start(*arguments, command=(sys.executable, "-c", code))
    said = process.communicate(timeout=60)[0]
    return process.returncode, said


FAKE = '#!/bin/sh\nprintf \'%s\\n\' "$@" > {log}\necho "made up" >&2\nexit 1\n'


def test_the_slurm_profile_submits_the_table_as_one_job(rings: Run, tmp_path: Path):
    tools = tmp_path / "tools"
    tools.mkdir()
    log = tmp_path / "sbatch.log"
    contents = {"sbatch": FAKE.format(log=log), "sacctmgr": "#!/bin/sh\necho net\n"}
    for name in ("sbatch", "sacctmgr", "sinfo", "sacct", "squeue", "scontrol"):
        (tools / name).write_text(contents.get(name, "#!/bin/sh\n"))
        (tools / name).chmod(0o755)
    options = ["--profile", str(ROOT / "config/profiles/slurm"), "--slurm-init-seconds-before-status-checks", "1"]
    options += ["--default-resources", "slurm_account=net", "slurm_partition=batch", "runtime=120", "mem_mb=4000"]
    status, said = rings.call("run", "rings.yaml", *options, PATH=f"{tools}:{os.environ['PATH']}")
    assert status == 1
    assert "made up" in said
    submitted = log.read_text().splitlines()
    pairs = set(itertools.pairwise(submitted))
    assert {("-A", "net"), ("-p", "batch"), ("-t", "720"), ("--mem", "64000")} <= pairs
    assert "--cpus-per-task=32" in submitted
    (job,) = [line for line in submitted if line.startswith("--wrap=")]
    assert f"--snakefile '{SNAKEFILE}' --target-jobs 'static:' --allowed-rules static" in job
    assert f"--config 'config={rings.config}' 'results=./results'" in job
    assert (rings.folder / "points.parquet").exists(), "short steps run where Snakemake does"


def test_a_wrong_configuration_is_one_line_before_anything_is_written(rings: Run):
    rings.config.write_text("sweep: rings\ntopologies:\n  - toruss(k=4, n=2)\n")
    status, said = rings.call("run", "rings.yaml")
    assert (status, said.count("\n")) == (2, 1), said
    assert "rings.yaml:3:5: topologies[0]: unknown topology 'toruss'; did you mean 'torus'?" in said
    assert {path.name for path in rings.home.iterdir()} == {"rings.yaml"}


def test_what_lies_where_it_runs_is_not_taken_for_a_library(rings: Run, clean: bytes):
    """Python looks in the working directory first, where it is not told otherwise: Snakemake and workers are."""
    for name in ("json.py", "pipeline.py", "snakemake.py"):
        (rings.home / name).write_text("raise SystemExit('not a library')\n")
    command = (str(Path(sys.executable).parent / "torusweep"),)
    run = rings.start("run", "rings.yaml", "--workers", "2", command=command)
    said = run.communicate(timeout=280)[0]
    assert run.returncode == 0, said
    assert rings.static() == clean


def test_snakemake_ends_with_a_run_that_dies_before_it_is_let_run():
    """It loads while the points are counted, and hears of it when nobody is there any more to say so."""
    with Snakemake(essential=True) as waiting:
        process = psutil.Process(waiting._process.pid)
        waiting._gate.close()  # as it is when the run is killed
        assert process.wait(timeout=60) == 0
    with Snakemake(essential=True) as waiting:
        process = psutil.Process(waiting._process.pid)
    assert not process.is_running()


def test_a_snakemake_that_stays_though_it_was_asked_to_stop_is_killed_when_nobody_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(snakemake, "STAYS_SECONDS", 0.3)
    monkeypatch.setattr(snakemake, "A_WHILE", 0.05)

    def ended(seconds: int) -> int:
        waiting = Snakemake(essential=True)
        waiting._process = subprocess.Popen(
            [sys.executable, "-c", f"import time; time.sleep({seconds}); raise SystemExit(3)"], process_group=0
        )
        insisting = threading.Thread(target=waiting._insist, args=(tmp_path / ".lock",))
        insisting.start()
        status = waiting._process.wait(timeout=60)
        insisting.join(timeout=60)
        return status

    assert ended(600) == -signal.SIGKILL
    with lock.held(tmp_path / ".lock"):
        assert ended(1) == 3, "somebody computes"
