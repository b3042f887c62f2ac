"""Make the derived table `latency` from a sweep's section `latency` and its tables static, loads and layout."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from math import prod
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build, plan
from torusweep.networks.seed_runs import SeedRun, count_of, first_of
from torusweep.networks.spelling import parse
from torusweep.papers.verification.rows import expected_latency
from torusweep.questions.latency.columns import LATENCY, TABLE
from torusweep.questions.latency.entries import ENTRIES
from torusweep.questions.latency.normalisation import BISECTION, NORMS, WIRING_VOLUME
from torusweep.questions.latency.question import across_both_ways, check_links, placement_of
from torusweep.questions.latency.table import DALLY, Columns, arrow_table, check, network_of, width_of
from torusweep.questions.layout.placements import check_suits
from torusweep.questions.layout.stage import LayoutRequest
from torusweep.questions.stage import Spread, numbers_of
from torusweep.questions.static.record import lacking
from torusweep.sweeps.configuration.schema import Sweep
from torusweep.sweeps.expansion import SweepNetwork, at, chosen, pass_over
from torusweep.tables.columns import arrow_schema

MOST_ROWS = 5_000_000  # greatest number of rows; each takes some 300 bytes while the table is made
INPUTS = ["topology", "nodes", "dimension", *TABLE.apart]  # rows with equal values in these columns are the same row
UNIFORM_MINIMAL = {"routing": "minimal", "traffic": "uniform", "method": "exact"}
USED = {
    "static": [
        *("topology", "nodes", "terminals", "connected", "directed", "degree_max", "mean_distance", "bisection_upper")
    ],
    "loads": ["topology", "per_class_load", "per_class_hops", "max_channel_load", *UNIFORM_MINIMAL],
    "layout": ["topology", "placement", "wire_length_total"],
}


def _entries(sweep: Sweep) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield (place in the configuration, entry) of the section's entries, then of entries for the papers' numbers."""
    yield from ((("latency", number), entry) for number, entry in enumerate(sweep.entries("latency")))
    for nodes, bits, delay in expected_latency(sweep.papers):
        yield ("papers",), ENTRIES[DALLY](model=DALLY, nodes=nodes, message_bits=bits, wire_delay=delay)


def has_latency(sweep: Sweep) -> bool:
    """Return whether the sweep has a table `latency`."""
    return any(_entries(sweep))


def latency_stages(sweep: Sweep) -> list[str]:
    """Return the stages that the sweep's table `latency` needs and not every sweep has."""
    return ["layout"] if any(map(_counts_wires, sweep.entries("latency"))) else []


def _counts_wires(entry: Any) -> bool:
    return entry.model != DALLY and entry.constraint.norm == WIRING_VOLUME


def latency_requests(sweep: Sweep, networks: Sequence[SweepNetwork]) -> dict[str, list[tuple[str | SeedRun, Any]]]:
    """Return further requests that the table `latency` needs, by stage: layouts for constant wiring_volume, each once.

    Raises, with the place in the file, BadInput for an entry that chooses no network, and for a placement that does not
    exist or is not defined for a network (unless skip_unsuitable); and Refused for more rows than MOST_ROWS.
    """
    total, layouts = 0, dict[tuple[str | SeedRun, Any], None]()
    for number, entry in enumerate(sweep.entries("latency")):
        with at(sweep, ("latency", number)):
            needed = [] if entry.model == DALLY else ["mean_distance", *NORMS[entry.constraint.norm].columns]
            if missing := lacking(sweep.choice("static"), needed):
                raise BadInput(f"expected the measures {', '.join(missing)} of static, got a sweep without; add them")
            total += _rows(entry, networks)
            if total > MOST_ROWS:
                raise Refused(
                    f"{total:,} rows of latency up to here; the limit is {MOST_ROWS:,}:"
                    " choose fewer networks, rates or message lengths"
                )
    for number, entry in enumerate(sweep.entries("latency")):
        with at(sweep, ("latency", number)):
            for topology in chosen(entry, networks) if _counts_wires(entry) else ():
                spelling = first_of(topology)  # a layout is defined for all networks of a run, or for none
                placement = placement_of(entry.constraint, parse(spelling).name)
                assert placement is not None
                try:
                    check_suits(placement, plan(spelling)[1], spelling)
                except BadInput as error:
                    pass_over(error, skip=entry.skip_unsuitable)
                else:
                    layouts[topology, LayoutRequest(placement)] = None
    return {"layout": list(layouts)}


def _rows(entry: Any, networks: Sequence[SweepNetwork]) -> int:
    if entry.model == DALLY:
        dimensions = sum(nodes.bit_length() - 2 for nodes in entry.nodes)
        return dimensions * prod(map(len, (entry.message_bits, entry.wire_delay, entry.locality)))
    found = sum(map(count_of, chosen(entry, networks)))
    if not found:
        raise BadInput(
            "expected at least one network, got none: none of the sweep's is chosen;"
            " widen families or nodes, or leave the entry out"
        )
    given = (entry.rates, entry.of_saturation)
    rates = (each.size() if isinstance(each, Spread) else len(numbers_of(each)) for each in given)
    return found * len(entry.message_bits) * len(entry.switch_delay) * sum(rates)


def latency_table(
    sweep: Sweep, static: pa.Table, loads: pa.Table | None = None, layout: pa.Table | None = None
) -> pa.Table:
    """Make the table `latency`, with each row once, in the order of the configuration.

    static, loads   the sweep's tables; a network without loads for minimal routing and uniform traffic has null in its
                    corrected columns
    layout          the sweep's table; only needed for entries with constant wiring_volume
    Raises BadInput, with the place in the file, for a network to which a model does not apply (unless skip_unsuitable).
    """
    parts = [arrow_schema(LATENCY).empty_table()]
    for place, entry in _entries(sweep):
        with at(sweep, place):
            try:
                columns = entry.columns() if entry.model == DALLY else _of_networks(entry, static, loads, layout)
            except ValueError as error:
                raise error if isinstance(error, BadInput) else BadInput(str(error)) from None
            parts.append(arrow_table(columns))
    table = pa.concat_tables(parts).combine_chunks()
    first = (
        table.select(INPUTS)
        .append_column("place", pa.array(range(table.num_rows), pa.int64()))
        .group_by(INPUTS, use_threads=False)
        .aggregate([("place", "min")])
    )
    return table.take(first["place_min"].combine_chunks().sort())


def _of_networks(entry: Any, static: pa.Table, loads: pa.Table | None, layout: pa.Table | None) -> Columns:
    records = {record["topology"]: record for record in static.select(USED["static"]).to_pylist()}
    uniform = [] if loads is None else _uniform_minimal(loads).to_pylist()
    carried = {record["topology"]: record for record in uniform}
    wires = [] if layout is None else layout.select(USED["layout"]).to_pylist()
    placed = {(row["topology"], row["placement"]): row for row in wires}
    networks, widths, placements = [], [], []
    for name in map(str, chosen(entry, [SweepNetwork(topology) for topology in records])):
        try:
            check_links(name, plan(name)[1])
            record = records[name]
            network = network_of(record, carried.get(name))
            placement = placement_of(entry.constraint, parse(name).name)
            if entry.constraint.norm == BISECTION and record["directed"] and record["bisection_upper"] is not None:
                record = across_both_ways(build(name), record)
            width = width_of(entry.constraint, record, placed.get((name, placement)))
            check(network, entry.message_bits, width)
        except ValueError as error:
            pass_over(BadInput(str(error)), skip=entry.skip_unsuitable)
        else:
            networks.append(network)
            widths.append(width)
            placements.append(placement)
    if not networks:
        raise BadInput(
            "expected at least one network that the model fits, got none;"
            " widen families or nodes, or leave the entry out"
        )
    columns: Columns = entry.columns(networks, widths, placements)
    return columns


def _uniform_minimal(loads: pa.Table) -> pa.Table:
    """Return the rows of `loads` that the model needs: exact loads for uniform traffic and minimal routing."""
    return loads.filter(reduce(operator.and_, (pc.field(name) == value for name, value in UNIFORM_MINIMAL.items())))
