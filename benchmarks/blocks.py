"""Blocks of networks: tori less two links, built and measured together, beside a loop over igraph; rows of `loads`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from torusweep.networks.blocks import block_of_run
from torusweep.networks.seed_runs import SeedRun
from torusweep.questions.how import How
from torusweep.questions.loads.stage import LoadsRequest
from torusweep.sweeps.points import Point, rows_of_many
from torusweep_kernels.blocks import measure_networks

from benchmarks.igraph_loop import faulty_tori, torus
from benchmarks.race import Race

NUMBERS = {4: (20_000, 400), 8: (2000, 100), 16: (120, 12)}  # side → networks of ours, and of igraph's


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    for side, (number, fewer) in NUMBERS.items():
        failures = failed_links(side, fewer)
        for cores in (1, 2):
            contenders = {
                "torusweep": partial(ours, side, number, cores, fewer),
                "igraph": partial(theirs, side, failures),
            }
            case = f"{side} × {side} less two links, {cores} thread{'s' if cores > 1 else ''}"
            yield Race("blocks", case, side * side, contenders, float(number), "networks", {"igraph": fewer / number})
        contenders = {
            "torusweep": partial(rows_of_loads, side, number, fewer),
            "one by one": partial(rows_of_loads, side, fewer, fewer, alone=True),
            "igraph": lambda side=side, failures=failures: theirs(side, failures)[:, 2],
        }
        share = {"one by one": fewer / number, "igraph": fewer / number}
        case = f"{side} × {side} less two links, rows of loads, 1 thread"
        yield Race("blocks", case, side * side, contenders, float(number), "networks", share)


def ours(side: int, number: int, threads: int, compared: int) -> np.ndarray:
    """(diameter, mean distance of two nodes, greatest load, nodes at distance 1) of all networks; some are compared."""
    block = block_of_run(SeedRun(f"faulty(torus(k={side}, n=2), links=2", 0, number - 1))
    found = measure_networks(block.ports, block.terminals, threads=threads)
    assert found.load is not None
    hops, pairs = found.histogram @ np.arange(found.histogram.shape[1]), found.histogram[:, 1:].sum(axis=1)
    busiest = found.load.max(axis=(1, 2))
    answers = found.eccentricity.max(axis=1), hops / pairs, busiest, found.histogram[:, 1] / 2
    return np.column_stack(answers)[:compared]


def rows_of_loads(side: int, number: int, compared: int, *, alone: bool = False) -> np.ndarray:
    """The greatest loads of a run of networks, from the rows of the table `loads`."""
    run = Point(
        "loads",
        SeedRun(f"faulty(torus(k={side}, n=2), links=2", 0, number - 1),
        LoadsRequest("minimal", "uniform"),
    )
    batches = [[network] for network in run.networks] if alone else [[run]]
    found = [rows for batch in batches for rows in rows_of_many(batch, How("numba", threads=1))]
    tables = [rows for rows in found if isinstance(rows, pa.Table)]
    assert len(tables) == len(found)
    return pa.concat_tables(tables).column("max_channel_load").to_numpy()[:compared]


def theirs(side: int, failures: list[set[int]]) -> np.ndarray:
    """The same by igraph, a network after the other."""
    found = faulty_tori(side, failures)
    return np.array([(diameter, mean, load, pairs[0]) for pairs, diameter, mean, load in found])


def failed_links(side: int, number: int) -> list[set[int]]:
    """The places in `igraph_loop.torus` of the links that fail with each seed."""
    block = block_of_run(SeedRun(f"faulty(torus(k={side}, n=2), links=2", 0, number - 1))
    links = torus(side)
    return [
        {place for place, (tail, head) in enumerate(links) if head not in ports[tail]} for ports in block.ports.tolist()
    ]
