"""List everything that a sweep requests: points of all stages, derived tables, and what its papers' numbers need.

A derived table is made in one step from stages' tables, or from the configuration; it has no points. The table of
points lists all points with their estimated times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pyarrow as pa

from torusweep.all_columns import DECLARED, schema_of
from torusweep.errors import BadInput, called, located
from torusweep.networks.families import build, plan
from torusweep.networks.families.graph_files import files_of
from torusweep.papers.verification.rows import FOLDER as EXPECTED
from torusweep.papers.verification.rows import expected_requests, expected_topologies
from torusweep.quantities import counted
from torusweep.questions.stage import Stage
from torusweep.questions.static.columns import STATIC
from torusweep.questions.static.record import lacking
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import Sweep
from torusweep.sweeps.configuration.schema import Family, Labelled
from torusweep.sweeps.expansion import at, counted_requests, expand, expand_stage
from torusweep.sweeps.forecast import Forecast, disk_bytes, forecast
from torusweep.sweeps.latency import USED, has_latency, latency_requests, latency_stages, latency_table
from torusweep.sweeps.points import Point, estimates, networks_of
from torusweep.tables import store
from torusweep.tables.parquet import Streamed, TableFile


def latency(sweep: Sweep, tables: Mapping[str, TableFile]) -> pa.Table:
    """Make the derived table `latency`: the latencies of networks by the papers' models."""
    return latency_table(sweep, **{name: table.read(USED[name]) for name, table in tables.items()})


def labels(sweep: Sweep, _: Mapping[str, TableFile]) -> pa.Table:
    """Make the derived table `labels` from the labels of networks in the configuration."""
    columns = ("label", "year", "source", "note", "comparison")
    rows = [
        {"topology": plan(spelling)[0], **{name: getattr(entry, name) for name in columns}}
        for entry in _labelled(sweep)
        for spelling in entry.topology
    ]
    return pa.Table.from_pylist(rows, schema=schema_of("labels"))


def _labelled(sweep: Sweep) -> list[Labelled]:
    return [entry for entry in sweep.topologies if isinstance(entry, Labelled)]


def certificates(_: Sweep, tables: Mapping[str, TableFile]) -> pa.Table:
    """Make the derived table `certificates`: proofs of rows of stages' tables, or the reasons why rows have none."""
    rows = [row for name in tables for row in _certified(STAGES[name], tables[name])]
    return pa.Table.from_pylist(rows, schema=schema_of("certificates"))


def _certified(stage: Stage, table: TableFile) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `certificates` for each distinct proof that rows of a stage's table need."""
    declared = DECLARED[stage.name]
    names = [*(["topology"] if declared.joined else []), *(declared.certified or ())]
    distinct = table.read(names).group_by(names, use_threads=False).aggregate([])
    for asked in distinct.to_pylist():
        spelling = asked.pop("topology", None)
        own = {"topology": spelling, "stage": stage.name, "asked": json.dumps(asked)}
        none = dict.fromkeys(("kind", "claim", "certificate", "reason"))
        try:
            network = None if spelling is None else build(spelling)
            lines = stage.certificates(network, asked).splitlines()
        except BadInput as refusal:
            yield own | none | {"reason": str(refusal)}
            continue
        for line in lines:
            read = json.loads(line)
            claim = {"kind": read["kind"], "claim": json.dumps(read["claim"]), "certificate": line}
            yield own | none | claim | {"topology": read["claim"]["topology"]}


# table → (whether a sweep has it, function that makes it from the sweep and its stages' tables)
OF_SWEEPS: dict[str, tuple[Callable[[Sweep], Any], Callable[[Sweep, Mapping[str, TableFile]], pa.Table]]] = {
    "certificates": (lambda sweep: sweep.certificates, certificates),
    "labels": (_labelled, labels),
    "latency": (has_latency, latency),
}
DERIVED = [name for name, table in DECLARED.items() if table.rows or name in OF_SWEEPS]


def derived_rows(name: str, sweep: Sweep, tables: Mapping[str, TableFile]) -> pa.Table | Streamed:
    """Make a derived table from a sweep and from the stages' tables that `Declaration.made_of` names."""
    if name in OF_SWEEPS:
        return OF_SWEEPS[name][1](sweep, tables)
    made: pa.Table | Streamed = resolve_name(DECLARED[name].rows)(tables)
    return made


def _has(sweep: Sweep, name: str) -> bool:
    """Return whether a sweep has a derived table: it is requested, and `static` has the measures that it needs."""
    table = DECLARED[name]
    asked = OF_SWEEPS[name][0](sweep) if name in OF_SWEEPS else all(map(sweep.entries, table.sections))
    return bool(asked) and not lacking(sweep.choice("static"), table.measured)


def requested_derived(sweep: Sweep) -> list[str]:
    """Return the names of a sweep's tables besides those of its stages; the last is verification."""
    return [*(name for name in DERIVED if _has(sweep, name)), "verification"]


def requested_stages(sweep: Sweep) -> list[str]:
    """Return the names of the stages that a sweep, or its papers' numbers, need, in the order of STAGES."""
    requested = {name for name in STAGES if sweep.entries(name)}
    requested |= {name for name, stage in STAGES.items() if stage.Choice is not None}
    requested |= expected_requests(sweep.papers).keys()
    requested |= {*latency_stages(sweep)}
    return [name for name in STAGES if name in requested]


def empty_stages(sweep: Sweep) -> list[str]:
    """Return the names of the requested stages that the configuration alone shows to have no points."""
    chosen = [name for name in requested_stages(sweep) if STAGES[name].Choice and not sweep.papers]
    return [name for name in chosen if not list(STAGES[name].requests((sweep.choice(name), None)))]


def input_files(sweep: Sweep) -> list[str]:
    """Return the files on which results depend besides the configuration: files that it names, and papers' numbers."""
    return [
        *(str(located(file)) for file in named_files(sweep)),
        *(str(EXPECTED / f"{paper.lower()}.csv") for paper in sweep.verified),
    ]


def named_files(sweep: Sweep) -> list[str]:
    """Return the files that a configuration names (graphs, demands, costs, routing tables, messages), each once."""
    files: list[str] = []
    for entry in sweep.topologies:
        if isinstance(entry, str):
            files += map(called, files_of(entry))
        elif isinstance(entry, Labelled):
            files += [called(file) for spelling in entry.topology for file in files_of(spelling)]
        elif isinstance(entry, Family) and entry.family == "graph":
            paths = (entry.model_extra or {}).get("path", [])
            files += [paths] if isinstance(paths, str) else paths
    files += map(called, requested_files(sweep))
    return [*dict.fromkeys(files)]


def requested_files(sweep: Sweep) -> list[Path]:
    """Return the files that the requests of all stages name, each once. Raises BadInput with the place in the file."""
    found: dict[Path, None] = {}
    for name, stage in STAGES.items():
        for number, entry in enumerate(sweep.entries(name)):
            with at(sweep, (name, number)):
                for request in counted_requests(stage, entry, sweep.limits.points):
                    found |= dict.fromkeys(stage.files(request))
    return list(found)


def requested_points(sweep: Sweep) -> list[Point]:
    """Return all points of a sweep, by stage, each once. Raises BadInput or Refused with the place in the file."""
    if sweep.papers and (missing := lacking(sweep.choice("static"), [column.name for column in STATIC])):
        with at(sweep, ("papers",)):
            raise BadInput(f"expected all measures of static, got a sweep without {', '.join(missing)}; add them")
    networks = expand(sweep, expected_topologies=expected_topologies(sweep.papers))
    expected: dict[str, list[Any]] = {**expected_requests(sweep.papers)}
    for name, requests in latency_requests(sweep, networks).items():
        expected[name] = [*expected.get(name, ()), *requests]
    return [
        point
        for stage in STAGES.values()
        for point in expand_stage(sweep, stage, networks, expected=expected.get(stage.name, ()))
    ]


def of_papers(sweep: Sweep, points: Iterable[Point]) -> list[Point]:
    """Return the points that a sweep has only for its papers: what they need, and entries' points on their networks."""
    added = set(expected_topologies(sweep.papers)) - {network.topology for network in expand(sweep)}
    needed = {(name, *one) for name, some in expected_requests(sweep.papers).items() for one in some}
    return [
        point
        for point in points
        if point.topology in added or (point.entry is None and (point.stage, point.topology, point.request) in needed)
    ]


def forecast_of(sweep: Sweep, workers: int | None = None) -> Forecast:
    """Return the forecast of a sweep. workers: None for the configuration's number. Raises as `requested_points`."""
    points = requested_points(sweep)
    cluster = sweep.cluster_under({} if workers is None else {"workers": workers})
    return forecast(estimates(points), cluster, of_papers(sweep, points) if sweep.papers else ())


def weighed_points(sweep: Sweep, folder: Path) -> dict[Point, float]:
    """Return every point of a sweep with its estimated seconds.

    Raises BadInput for an error in the configuration, Refused for too many points or too little room in `folder`.
    """
    points = estimates(requested_points(sweep))
    store.check_room(
        folder, disk_bytes(points, sweep.cluster.batch_seconds), f"the sweep's {counted(networks_of(points), 'point')}"
    )
    return points


def points_table(points: Mapping[Point, float]) -> pa.Table:
    """Make the table `points`, with a row for every point; `points` maps each to its estimated seconds."""
    rows = [
        {**point.record(), "key": point.key, "entry": point.entry, "estimated_seconds": cost}
        for point, cost in points.items()
    ]
    return pa.Table.from_pylist(rows, schema=schema_of("points"))
