"""The short steps that the Snakefile's rules call; run/compute_table.py has the long step.

Every step gets the sweep, whose configuration was read once, and the sweep's folder. It returns an exit status.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa

from torusweep.all_columns import DECLARED, schema_of
from torusweep.errors import BadInput
from torusweep.papers.verification import COMPARED, summary, verification_rows
from torusweep.quantities import counted
from torusweep.run.compute_table import merge
from torusweep.run.progress import tell
from torusweep.sweeps.configuration import Sweep
from torusweep.sweeps.left_out import notes_of
from torusweep.sweeps.requested_points import (
    DERIVED,
    derived_rows,
    empty_stages,
    named_files,
    points_table,
    requested_derived,
    requested_stages,
    weighed_points,
)
from torusweep.tables import current, store
from torusweep.tables.provenance import software


def points(sweep: Sweep, folder: Path) -> int:
    """Write points.parquet, manifest.json and a copy of the configuration; remove tables that it no longer requests.

    Raises BadInput if a file that the configuration names changes during the step.
    """
    files = current.digests_of(named_files(sweep))
    weighed = weighed_points(sweep, folder)
    notes = list(notes_of(weighed))
    table = points_table(weighed)  # whose keys read the files again
    current.expect_same(files)
    about = {
        "sweep": sweep.sweep,
        "description": sweep.description,
        "papers": list(sweep.verified),
        "notes": notes,
        "config": {"sha256": sweep.digest, "text": sweep.text, "files": files},
        "software": software(),
    }
    asked = {*requested_stages(sweep), *requested_derived(sweep)}
    tables = {name: name in asked for name in DECLARED}
    store.publish_points(folder, table, about, tables)
    current.publish_configuration(folder, sweep.text.encode())
    return 0


def derived(sweep: Sweep, folder: Path) -> int:
    """Make an empty table for each stage without points, and then the derived tables, with verification last."""
    for name in empty_stages(sweep):
        merge(name, folder, [], sweep.digest)
    for name in requested_derived(sweep):
        STEPS[name](sweep, folder)
    current.expect_same(store.manifest_of(folder, sweep.digest)["config"].get("files", {}))
    return 0


def derived_table(name: str, sweep: Sweep, folder: Path) -> int:
    """Make the named table, which is derived from stages' tables."""
    listed = store.manifest_of(folder, sweep.digest)["tables"]
    wanted = [stage for stage in DECLARED[name].made_of if stage in requested_stages(sweep)]
    for stage in wanted:
        if stage not in listed:
            raise BadInput(
                f"{folder / store.MANIFEST} is damaged: expected the table {stage} in it;"
                " delete it and run the sweep again"
            )
    tables = {stage: store.open_file(folder / f"{stage}.parquet", schema_of(stage)) for stage in wanted}
    store.publish_table(folder, name, derived_rows(name, sweep, tables), config=sweep.digest)
    return 0


def verification(sweep: Sweep, folder: Path) -> int:
    """Write verification.parquet: the papers' numbers beside ours. If a number is unexplained, step `check` fails."""
    listed = store.manifest_of(folder, sweep.digest)["tables"]
    names = [name for name in COMPARED if name in listed and sweep.verified]
    tables = {name: store.open_current(folder / f"{name}.parquet", schema_of(name)) for name in names}
    rows = pa.Table.from_pylist(
        verification_rows(tables, sweep.verified, sweep.papers), schema=schema_of("verification")
    )
    store.publish_table(folder, "verification", rows, config=sweep.digest)
    return 0


def report(sweep: Sweep, folder: Path) -> int:
    """Write report.html, and those figures of the papers for which the sweep has numbers, as figures/*.svg."""
    # only this step draws, and the drawing library takes long to import
    from torusweep.answers.page import write_report
    from torusweep.papers.figures import write_figures

    store.manifest_of(folder, sweep.digest)
    write_figures(write_report(folder, folder / "report.html"), folder / "figures")
    return 0


def check(sweep: Sweep, folder: Path) -> int:
    """Write checked.txt if no point failed and no number is unexplained. Otherwise print each case and return 1."""
    failed = store.manifest_of(folder, sweep.digest).get("failed", [])
    rows = store.open_current(folder / "verification.parquet", schema_of("verification")).to_pylist()
    unexplained = [row for row in rows if row["verdict"] == "unexplained"]
    for failure in failed:
        tell(f"{failure['point']} failed: {failure['reason']}")
    for row in unexplained:
        tell(
            f"{row['paper']} {row['place']}, {row['row']}: {row['quantity']} of {row['topology']} is unexplained:"
            f" {row['reason']}"
        )
    if failed or unexplained:
        numbers = f"{counted(len(unexplained), 'number')} {'is' if len(unexplained) == 1 else 'are'} unexplained"
        tell(f"{counted(len(failed), 'point')} failed, {numbers}; the tables in {folder} are complete but for these")
        return 1
    counts = [f"{count} {verdict}" for verdict, count in summary(rows).items() if count]
    store.publish(folder / store.CHECKED, ((", ".join(counts) or "none were requested") + "\n").encode())
    return 0


STEPS: dict[str, Callable[[Sweep, Path], int]] = {
    "points": points,
    "derived": derived,
    **{name: partial(derived_table, name) for name in DERIVED},
    "verification": verification,
    "report": report,
    "check": check,
}
