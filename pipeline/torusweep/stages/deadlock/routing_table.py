"""A routing, under a virtual-channel rule, as the bytes of a routing table."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import numpy as np
import pyarrow.csv

from torusweep.errors import BadInput
from torusweep.networks.topology import Topology
from torusweep.routing import GivenRouting, TableRouting
from torusweep.routing.forms import AdaptiveRouting
from torusweep.routing.tables.as_table import rows_of, table_of
from torusweep.routing.tables.columns import columns_of
from torusweep.stages.deadlock.routing_case import chooses, deadlock_case
from torusweep.tables.parquet import parquet

FORMATS = ("csv", "parquet", "matrix")


def routing_table(
    topology: Topology,
    *,
    routing: str | GivenRouting,
    vc_rule: str = "none",
    virtual_channels: int = 16,
    form: str = "csv",
) -> bytes:
    """The bytes of a file that `table(path=…)` reads as the same routing.

    vc_rule, virtual_channels   classes that the rule gives to hops, in the column virtual_channel
    form                        csv, parquet, or matrix (of next nodes, −1 where there is none)

    Raises BadInput where the parts do not fit each other, where the routing is adaptive, and for a matrix where a next
    node depends on more than node and destination; Refused where there are too many routes.
    """
    table = classified_table(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    if form == "matrix":
        return _matrix(table)
    columns = columns_of(topology, rows_of(table))
    if form == "parquet":
        return parquet(columns, {"topology": topology.spelling})
    sink = BytesIO()
    sink.write((",".join(columns.column_names) + "\n").encode())  # Arrow would put the names in quotes
    pyarrow.csv.write_csv(columns, sink, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
    return sink.getvalue()


def classified_table(
    topology: Topology, *, routing: str | GivenRouting, vc_rule: str, virtual_channels: int
) -> TableRouting:
    """A routing as a table that names the classes of a rule. Raises as `routing_table` does."""
    case = deadlock_case(topology, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels)
    if isinstance(case.form, AdaptiveRouting) or chooses(case.routing):
        raise BadInput(
            f"routing {case.routing}: expected an oblivious routing, got one that depends on the occupancy of channels;"
            " choose another, such as minimal"
        )
    if case.rule.bubble:
        raise BadInput("rule bubble: expected classes of virtual channels, got a flow control; choose rule none")
    classes = case.rule.within(virtual_channels)
    if case.rule.form is not None:
        return replace(
            case.rule.form, kind=classes[case.rule.form.kind, 0].astype(np.int16), kinds=int(classes.max()) + 1
        )
    return table_of(case.form, classes, case.rule.memory)


def _matrix(table: TableRouting) -> bytes:
    topology = table.topology
    if table.headers is not None or (table.many > 1).any() or table.kinds > 1:
        what = "states" if table.headers is not None else "shares" if (table.many > 1).any() else "virtual channels"
        raise BadInput(
            f"--format matrix: expected a routing with one next node for each node and destination, got one with"
            f" {what}; choose --format csv"
        )
    matrix = np.full((topology.nodes, topology.nodes), -1)
    matrix[table.at, table.destination] = topology.ports[table.at, table.port]
    lines = (",".join(map(str, row)) for row in matrix.tolist())
    return ("\n".join(lines) + "\n").encode()
