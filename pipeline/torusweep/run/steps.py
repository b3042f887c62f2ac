"""The short steps of the pipeline, which the Snakefile's rules call; torusweep.run.compute_table is the long one.

Every step takes the configuration's path, the sweep's folder and overrides, and returns an exit status.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.papers.verification import summary, verification_rows
from torusweep.stages.all_columns import TABLES, schema_of
from torusweep.sweeps.configuration import load
from torusweep.sweeps.requested_points import DERIVED, points_table, requested_derived, requested_stages, weighed_points
from torusweep.tables import store
from torusweep.tables.provenance import software

# backend, symmetry ("on" or "off") and workers, where the command line says otherwise than the configuration
Overrides = dict[str, Any]


def points(config: Path, folder: Path, overrides: Overrides) -> int:
    """points.parquet and manifest.json: what the configuration requests. Other tables are removed."""
    sweep = load(config)
    about = {
        "sweep": sweep.sweep,
        "description": sweep.description,
        "papers": list(sweep.papers),
        "config": {"sha256": sweep.digest, "text": sweep.text},
        "software": software(),
    }
    requested = [*requested_stages(sweep), *requested_derived(sweep)]
    tables = {name: name in requested for name in TABLES.keys() - {"points"}}
    store.publish_points(folder, points_table(weighed_points(sweep, folder)), about, tables)
    return 0


def derived(config: Path, folder: Path, overrides: Overrides) -> int:
    """All tables made of stages' tables, one after the other: verification compares the others' numbers, too."""
    for name in requested_derived(load(config)):
        STEPS[name](config, folder, overrides)
    return 0


def derived_table(name: str, config: Path, folder: Path, overrides: Overrides) -> int:
    """A table made of stages' tables."""
    sweep, listed = load(config), store.read_manifest(folder)["tables"]
    wanted = [stage for stage in DERIVED[name].stages if stage in requested_stages(sweep)]
    for stage in wanted:
        if stage not in listed:
            raise BadInput(
                f"{folder / store.MANIFEST} is damaged: expected the table {stage} in it;"
                " delete it and run the sweep again"
            )
    tables = {stage: store.open_current(folder / f"{stage}.parquet", schema_of(stage)) for stage in wanted}
    store.publish_table(folder, name, DERIVED[name].rows(sweep, tables))
    return 0


def verification(config: Path, folder: Path, overrides: Overrides) -> int:
    """verification.parquet: the papers' numbers against ours. An unexplained row ends the run in the step `check`."""
    names = (store.read_manifest(folder)["tables"].keys() & TABLES.keys()) - {"points", "distances", "verification"}
    tables = {name: store.open_current(folder / f"{name}.parquet", schema_of(name)) for name in names}
    rows = verification_rows(tables, load(config).papers)
    store.publish_table(folder, "verification", pa.Table.from_pylist(rows, schema=schema_of("verification")))
    return 0


def report(config: Path, folder: Path, overrides: Overrides) -> int:
    """report.html, and figures/*.svg: the papers' figures that the sweep has numbers for."""
    # only this step draws, and the drawing library takes long to import
    from torusweep.answers.page import write_report
    from torusweep.papers.figures.files import write_figures

    write_figures(write_report(folder, folder / "report.html"), folder / "figures")
    return 0


def check(config: Path, folder: Path, overrides: Overrides) -> int:
    """checked.txt: nothing failed, nothing is unexplained. Otherwise status 1 and a line for each; tables stay."""
    rows = store.open_current(folder / "verification.parquet", schema_of("verification")).to_pylist()
    failed = store.read_manifest(folder).get("failed", [])
    unexplained = [row for row in rows if row["verdict"] == "unexplained"]
    for failure in failed:
        _say(f"{failure['point']} failed: {failure['reason']}")
    for row in unexplained:
        _say(
            f"{row['paper']} {row['place']}, {row['row']}: {row['quantity']} of {row['topology']} is unexplained:"
            f" {row['reason']}"
        )
    if failed or unexplained:
        numbers = f"{counted(len(unexplained), 'number')} {'is' if len(unexplained) == 1 else 'are'} unexplained"
        _say(f"{counted(len(failed), 'point')} failed, {numbers}; the tables in {folder} are complete but for these")
        return 1
    counts = [f"{count} {verdict}" for verdict, count in summary(rows).items() if count]
    store.publish(folder / "checked.txt", ((", ".join(counts) or "none were requested") + "\n").encode())
    return 0


STEPS: dict[str, Callable[[Path, Path, Overrides], int]] = {
    "points": points,
    "derived": derived,
    **{name: partial(derived_table, name) for name in DERIVED},
    "verification": verification,
    "report": report,
    "check": check,
}


def _say(line: str) -> None:
    print(line, flush=True)
