"""Loaded into Dask workers by the tests (Dask's own `distributed.worker.preload`): points that misbehave.

FAULT says how, as in `kill ring(k=17); raise ring(k=9)`: `kill NAME` dies at the point NAME; `raise NAME` raises at it;
`print` prints, as native libraries do; `kill-often N` dies at one point in N, a different one each time; `slow SECONDS`
takes that long for each point; `hang FILE` makes the file and hangs; `hang-once FILE` does so only if the file is
missing; `hold FILE` waits while the file is there; `stuck NAME` hangs at the point NAME; `swell NAME` allocates memory
at it until it is stopped; `note FILE` writes a line to the file when a point begins. Records are made up: what is
tested is the sweep.
"""

from __future__ import annotations

import hashlib
import os
import signal
import time
from pathlib import Path

import pyarrow as pa
import torusweep.run.driver
from torusweep.networks.seed_runs import SeedRun
from torusweep.questions.stage import attempt
from torusweep.questions.static.columns import STATIC
from torusweep.sweeps.points import Partly, keyed

ZERO = {"string": "", "int64": 1, "double": 0.5, "bool": True, "list<int64>": [1, 2], "map<string, int64>": {"k": 8}}


def made_up(point, _options):
    for wanted in os.environ.get("FAULT", "").split("; "):
        fault, _, about = wanted.partition(" ")
        if fault == "kill" and point.topology == about:
            os.kill(os.getpid(), signal.SIGKILL)
        if (
            fault == "kill-often"
            and int(hashlib.sha256(f"{point.topology} {time.time_ns()}".encode()).hexdigest(), 16) % int(about) == 0
        ):
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "raise" and point.topology == about:
            raise ZeroDivisionError("a made-up defect")
        if fault == "print":
            os.write(1, b"printed by a worker\n")
        if fault == "note":
            with Path(about).open("a") as notes:
                notes.write(f"{point.topology}\n")
        if fault == "slow":
            time.sleep(float(about))
        if fault == "hang" or (fault == "hang-once" and not Path(about).exists()):
            Path(about).touch()
            time.sleep(600)
        if fault == "hold":
            while Path(about).exists():
                time.sleep(0.01)
        if fault == "stuck" and point.topology == about:
            time.sleep(600)
        if fault == "swell" and point.topology == about:
            swollen = []
            while True:
                swollen.append(b"x" * 2**24)
                time.sleep(0.02)
    record = {column.name: ZERO[column.type] for column in STATIC}
    own = {"topology": point.topology, "family": "ring", "distance_histogram": [1, len(point.topology)]}
    return keyed(point, [record | own])


def made_up_rows(points, options):
    """In place of `torusweep.sweeps.points.rows_of_many`."""
    return [outcome(point, options) for point in points]


def outcome(point, options):
    """The rows of a point, or why it has none; of a run, the rows of its networks, each of which may misbehave."""
    if not isinstance(point.topology, SeedRun):
        return attempt(made_up, point, options)
    networks = [attempt(made_up, network, options) for network in point.networks]
    whole = [rows for rows in networks if isinstance(rows, pa.Table)]
    rows = pa.concat_tables(whole).drop_columns(["key", "member"]) if whole else None
    if len(whole) == len(networks):
        return keyed(point, rows)
    failed = {network: why for network, why in zip(point.networks, networks) if isinstance(why, Exception)}
    done = [seed for seed, one in enumerate(networks, point.topology.first) if isinstance(one, pa.Table)]
    keys = [keyed(point, rows.slice(place, 1), seed) for place, seed in enumerate(done)]
    return Partly(pa.concat_tables(keys) if keys else None, failed)


def dask_setup(worker):
    """Called by Dask in a worker that was told to load this file."""
    torusweep.run.driver.rows_of_many = made_up_rows
