"""Sweeps whose processes are killed at random; their tables must equal an undisturbed run's, byte for byte.

    make soak                                            half an hour
    .venv/bin/python tests/faults/soak.py --minutes 5 --seed 3
    .venv/bin/python tests/faults/soak.py --sweep runs --kills 40

A sweep of networks, or of runs of seeds, is run as a user runs it, by `torusweep run`. Every few seconds a part is
killed: a worker, the driver of the workers, a step that Snakemake called, Snakemake, the command itself, or all at
once; or the sweep is asked to stop. Whenever it has ended, it is run again, until it is complete. Then its tables are
compared, everything is removed, and it begins again, for as many minutes or kills as were asked for. Shards must not
hold more batches twice than there were kills. Nothing here is a stand-in: networks, workers and files are real.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq
from torusweep.tables import provenance

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """
sweep: soak
topologies:
  - {family: torus, k: {from: 3, to: 8}, n: 2}
  - {family: mesh, k: {from: 3, to: 10}, n: 2}
  - {family: rtt, a: {from: 2, to: 6}}
  - {family: ring, k: {from: 3, to: 40}}
loads:
  - {traffic: [uniform, tornado], routing: [minimal, dimension_order], nodes: {to: 64}, skip_unsuitable: true}
deadlock:
  - {routing: dimension_order, vc_rule: dateline, virtual_channels: [1, 2], nodes: {to: 64}, skip_unsuitable: true}
layout:
  - {placement: [straight, folded], nodes: {to: 64}, skip_unsuitable: true}
simulation:
  - {loads: [0.1], nodes: {to: 16}, cycles: 500, skip_unsuitable: true}
cluster: {workers: 2, batch_seconds: 0.2}
"""
RUNS = """
sweep: soak
topologies:
  - {family: faulty, topology: "torus(k=4, n=2)", links: 2, seed: {from: 0, to: 4999}}
  - {family: random_regular, nodes: 8, degree: 3, seed: {from: 0, to: 999}}
static: {measures: [distances, connectivity]}
loads:
  - {}
  - {families: [random_regular], routing: up_down}
simulation:
  - {families: [random_regular], loads: [0.1], cycles: 60, warm_up: 20, routing: up_down, vc_rule: none,
     virtual_channels: 1}
cluster: {workers: 2, batch_seconds: 0.2}
"""
SWEEPS = {"networks": SWEEP, "runs": RUNS}
LONGEST_RUN = 600.0  # seconds; a run that takes longer hangs
SECONDS_BETWEEN = (0.3, 9.0)  # an undisturbed sweep takes about three times as long
VICTIMS = {
    "worker": 8,
    "driver": 4,
    "step": 1,
    "snakemake": 2,
    "command": 2,
    "everything": 2,
    "Ctrl-C": 1,
    "SIGTERM": 1,
}  # and how often


def processes(run: psutil.Process, home: Path) -> dict[str, list[psutil.Process]]:
    """The processes of a run by what they do."""
    holder = provenance.holder(home / "results" / "soak" / ".lock") or {}
    found = collections.defaultdict(list, {"command": [run], "everything": [run]})
    for process in run.children(recursive=True):
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        found["everything"].append(process)
        if process.pid == holder.get("pid"):
            found["driver"].append(process)
        elif any("spawn_main" in word for word in words):
            found["worker"].append(process)
        elif "step" in words and any("torusweep" in word for word in words):
            found["step"].append(process)
        elif "snakemake" in words:
            found["snakemake"].append(process)
    return found


def strike(run: psutil.Process, home: Path, victim: str, chance: random.Random) -> bool:
    """Kill one of the victims; False where there is none now."""
    found = processes(run, home)
    if victim in ("Ctrl-C", "SIGTERM"):
        run.send_signal(signal.SIGINT if victim == "Ctrl-C" else signal.SIGTERM)
        return True
    if not found[victim]:
        return False
    for process in found[victim] if victim == "everything" else [chance.choice(found[victim])]:
        kill(process)
    if victim in ("snakemake", "command"):  # what they leave behind holds the results a while, and is killed, too
        time.sleep(chance.uniform(0, 2))
        for process in found["everything"]:
            kill(process)
    return True


def kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def tables(home: Path) -> dict[str, str]:
    """Digests of the sweep's tables."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((home / "results" / "soak").glob("*.parquet"))
    }


def twice(home: Path) -> int:
    """Batches of which another has some rows, too."""
    seen: dict[str, np.ndarray] = {}
    found = 0
    for shard in sorted((home / "results" / "soak" / "shards").glob("*.parquet")):
        rows = pq.read_table(shard, columns=["key", "member"]).to_pandas()
        own = {str(key): np.unique(members) for key, members in rows.groupby("key")["member"]}
        found += any(key in seen and np.isin(members, seen[key]).any() for key, members in own.items())
        seen |= {key: np.union1d(members, seen.get(key, members)) for key, members in own.items()}
    return found


def start(home: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from torusweep.cli import main; main()", "run", "soak.yaml"]
    with (home / "log").open("ab") as log:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            command, cwd=home, env={**os.environ, "PYTHONPATH": path}, stdout=log, stderr=log, process_group=0
        )


def soak(home: Path, sweep: str, minutes: float, most: int, seed: int) -> int:
    """How many tables differed, or batches were computed twice without a kill, with a line for every completed sweep.

    minutes, most   for which it goes on, and kills after which it ends
    """
    (home / "soak.yaml").write_text(sweep)
    began = time.monotonic()
    if start(home).wait():
        raise SystemExit(f"the undisturbed run failed:\n{(home / 'log').read_text()[-4000:]}")
    clean, undisturbed = tables(home), time.monotonic() - began
    print(f"undisturbed: {len(clean)} tables in {undisturbed:.0f} s; seed {seed}", flush=True)
    chance = random.Random(seed)
    kills: collections.Counter[str] = collections.Counter()
    completed = wrong = starts = again = 0
    began = time.monotonic()
    end = began + 60 * minutes
    shutil.rmtree(home / "results")

    def goes_on() -> bool:
        return time.monotonic() < end and kills.total() < most

    while goes_on() or (home / "results").exists():  # the last one is completed
        run = start(home)
        starts += 1
        until = time.monotonic() + LONGEST_RUN
        pause = time.monotonic() + chance.uniform(*SECONDS_BETWEEN)
        while run.poll() is None:
            if time.monotonic() > until:
                raise SystemExit(f"a run hangs:\n{(home / 'log').read_text()[-4000:]}")
            # of runs, batches at work are what is killed; of networks, also what starts and ends
            if (
                pause < time.monotonic()
                and goes_on()
                and (sweep != RUNS or processes(psutil.Process(run.pid), home)["worker"])
            ):
                victim = chance.choices(list(VICTIMS), list(VICTIMS.values()))[0]
                kills[victim] += strike(psutil.Process(run.pid), home, victim, chance)
                pause = time.monotonic() + chance.uniform(*SECONDS_BETWEEN)
            time.sleep(0.05)
        if run.returncode == 0:
            completed += 1
            found = tables(home)
            differing = sorted(name for name in clean.keys() | found.keys() if clean.get(name) != found.get(name))
            wrong += len(differing)
            again += twice(home)
            elapsed = (time.monotonic() - began) / 60
            verdict = f"{', '.join(differing)} differ" if differing else "all tables equal"
            print(
                f"{elapsed:5.1f} min: sweep {completed} complete, {kills.total()} kills so far, {verdict}", flush=True
            )
            shutil.rmtree(home / "results")
    by_kind = ", ".join(f"{victim} {count}" for victim, count in kills.most_common())
    print(
        f"{kills.total()} kills survived ({by_kind}) in {(time.monotonic() - began) / 60:.1f} minutes: "
        f"{starts} starts, {completed} sweeps completed,"
    )
    print(f"{completed * len(clean) - wrong} tables equal to an undisturbed run's, {wrong} not; {again} batches twice")
    return wrong + max(0, again - kills.total())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--minutes", type=float, default=30.0)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--kills", type=int, default=10**6, help="after which it ends")
    arguments.add_argument("--sweep", choices=SWEEPS, default="networks")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as home:
        sys.exit(min(1, soak(Path(home), SWEEPS[asked.sweep], asked.minutes, asked.kills, asked.seed)))


if __name__ == "__main__":
    main()
