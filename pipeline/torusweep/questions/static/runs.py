"""Rows of the table `static` for a block of networks at once, from arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from torusweep_kernels.blocks import edge_connectivity

from torusweep.networks.families import build, family_of, plan
from torusweep.networks.seed_runs import SEED, Planned, SeedRun, count_of, of_seed
from torusweep.networks.topology import no_symmetries
from torusweep.questions.blocks import BlockNumbers, shape, table_of_block
from torusweep.questions.how import How
from torusweep.questions.stage import LazyNetwork
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.connectivity import MIN_CUT, NOT_CONNECTED, SINGLE_LINK, SINGLE_NODE
from torusweep.questions.static.guarantee import guarantee
from torusweep.questions.static.proofs import bisection, can_prove, may_prove, transitivity
from torusweep.questions.static.record import MEASURES, columns_of, measures_of, static_record, whole_numbers
from torusweep.routing import own_routing

PROVED = {"transitivity", "bisection"}  # measures for which a few networks of a block need a proof of their own
WITH_CUTS = {"connectivity", *PROVED}
SAMPLE = 918_273_645  # a seed whose digits occur in a note only where the note names the seed


def shape_of_static(network: LazyNetwork, request: Any) -> Hashable:
    """Return a key that networks share if their rows can be computed together; None for a network measured alone."""
    planned, measures = network.plan, measures_of(request.measures)
    proved = bool(PROVED.intersection(measures))
    if "distances" not in measures or request.fault_nodes is not None or len(set(planned.latencies)) > 1:
        return None
    if "own_routing" in measures and own_routing(family_of(network.spelling)) is not None:
        return None
    if proved and not may_prove(planned):
        return None
    if WITH_CUTS.intersection(measures) and planned.symmetries is not no_symmetries:
        return None  # cuts follow from symmetries
    own = shape(planned)
    return own and (own, planned.latencies[:1], planned.radices if proved else None)  # cuts are across addresses


def static_of_block(networks: Sequence[Planned], request: Any, how: How) -> pa.Table:
    """Return the rows of the table `static` for a block (`torusweep.questions.blocks.table_of_block`)."""
    measures, latencies = measures_of(request.measures), networks[0][1].latencies or (1,)

    def of_block(numbers: BlockNumbers) -> dict[str, Any]:
        parameters, notes = zip(*described(numbers))
        hops, nothing = numbers.hops, pa.nulls(numbers.many)
        found: dict[str, Any] = {name: [nothing] * len(MEASURES[name].columns) for name in measures}
        found["distances"] = MEASURES["distances"].values(numbers)
        if "guarantee" in measures:
            found["guarantee"] = guarantee(numbers)
        if "latencies" in measures:
            found["latencies"] = hops.diameter * latencies[0], hops.mean_distinct * latencies[0]
        cuts = connectivity(numbers) if WITH_CUTS.intersection(measures) else (nothing, nothing)
        if "connectivity" in measures:
            found["connectivity"] = cuts
        columns = columns_of(numbers, [*map(family_of, numbers.block.spellings)], parameters, notes, found)
        return columns | (_proved(numbers, measures, *cuts) if PROVED.intersection(measures) else {})

    return table_of_block(networks, STATIC, of_block, how, "guarantee" in measures)


def described(numbers: BlockNumbers) -> Iterator[tuple[dict[str, int], Sequence[str]]]:
    """Yield (whole-number parameters, notes) of each network; the block's arrays do not contain these."""
    place = 0
    for topology in numbers.topologies:
        if isinstance(topology, str):
            planned = numbers.block.plans[place]
            assert planned is not None
            yield whole_numbers(topology), planned.notes
        else:
            others, notes = whole_numbers(of_seed(topology.before, 0)), notes_of(topology)
            for seed in range(topology.first, topology.last + 1):
                yield others | ({SEED: seed} if seed else {}), notes(seed)
        place += count_of(topology)


def _proved(numbers: BlockNumbers, measures: Sequence[str], links: Any, method: Any) -> dict[str, list[Any]]:
    """Return the columns of requested measures in PROVED. With transitivity, add the columns of connectivity."""
    alike = can_prove(numbers)
    parts = []
    if "transitivity" in measures:
        decided, same = transitivity(numbers)
        columns = [*MEASURES["transitivity"].columns, *MEASURES["connectivity"].columns]
        parts.append((columns, alike & decided, [[*same, *cut] for cut in zip(links.tolist(), method)]))
    if "bisection" in measures:
        bounded, bounds = bisection(numbers, links, alike)
        parts.append(([*MEASURES["bisection"].columns], bounded, bounds))
    found: dict[str, list[Any]] = {}
    for columns, known, rows in parts:
        asked = [name for name in measures if not set(columns).isdisjoint(MEASURES[name].columns)]
        for place in np.flatnonzero(~known).tolist():
            record = static_record(build(numbers.block.spellings[place]), measures=asked, threads=numbers.how.threads)
            rows[place] = [record[column] for column in columns]
        columns_asked = [column for name in asked for column in MEASURES[name].columns]
        found |= {column: [row[at] for row in rows] for at, column in enumerate(columns) if column in columns_asked}
    return found


def connectivity(numbers: BlockNumbers) -> tuple[np.ndarray, np.ndarray]:
    """Return the edge connectivity, int64[B], and the method that would find it for the network alone, object[B]."""
    block, works, present = numbers.block, numbers.works, numbers.present
    links = edge_connectivity(block.ports, numbers.at_nodes, block.capacity, threads=numbers.how.threads)
    least = np.where(works, numbers.degrees, np.iinfo(np.int64).max).min(axis=1)
    if numbers.plan.directed:
        into = np.zeros((numbers.many, numbers.nodes), np.int64)
        network, tail, port = np.nonzero(present)
        capacity = 1 if block.capacity is None else block.capacity[network, tail, port]
        np.add.at(into, (network, block.ports[network, tail, port]), capacity)
        least = np.minimum(least, np.where(works, into, np.iinfo(np.int64).max).min(axis=1))
    nodes = works.sum(axis=1)
    cases = [nodes == 1, ~numbers.measured.connected, least == 1]
    method = np.select(cases, [SINGLE_NODE, NOT_CONNECTED, SINGLE_LINK], MIN_CUT).astype(object)
    # a node next to all others: a theorem may give the result
    for place in np.flatnonzero((present.sum(axis=2).max(axis=1) >= nodes - 1) & ~np.any(cases, axis=0)).tolist():
        record = static_record(build(block.spellings[place]), measures="connectivity")
        links[place], method[place] = record["edge_connectivity"], record["edge_connectivity_method"]
    return links, method


def notes_of(run: SeedRun) -> Callable[[int], Sequence[str]]:
    """Return a function from a seed to the notes of its network. Notes that differ only in the seed are made once."""

    def planned(seed: int) -> Sequence[str]:
        return plan(of_seed(run.before, seed))[1].notes

    def made(seed: int) -> Sequence[str]:
        return tuple(note.replace(str(SAMPLE), str(seed)) for note in sample)

    sample = planned(SAMPLE)
    return made if all(planned(seed) == made(seed) for seed in (run.first, run.last)) else planned
