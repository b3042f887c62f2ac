"""Convert files, Arrow tables, data frames and matrices into the rows of a routing table, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from torusweep.errors import BadInput, located, one_line
from torusweep.networks.names import column_of, name_of, numbers_of
from torusweep.networks.topology import NO_PORT, Topology, default_memory
from torusweep.quantities import counted
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.dumps import rows_of_dump
from torusweep.routing.tables.rows import TableRows, table_routing
from torusweep.tables.parquet import expect_valid, numbers, read_foreign

COLUMNS = ("at", "destination", "to")  # columns that every table has; `port` may replace `to`
LEAST, MOST = 1e-100, 1e100  # of a share, so that sums and quotients stay in the range of float64
MOST_ROWS = 100_000_000
MOST_STATE = 2**31 - 1
MOST_CLASSES = 16  # of virtual channels


def table(topology: Topology, path: str) -> TableRouting:
    """The routing of a CSV or Parquet file, as rows of next hops or as a matrix of next nodes (docs/own-data.md).

    The columns are at, destination, and to (the next node) or port. Optional columns: from (the node that the packet
    comes from, empty where it is injected) or input_port; state and next_state, which the packet carries (0 where it is
    injected); virtual_channel (class of the next hop, for rule table); share (of packets, in any unit; by default all
    equal). A CSV file without a line of names is a matrix: line s, column t has the next node from s towards t, −1 if
    there is none. Nodes of a network from a file or a graph have the names in that file or graph; a matrix lists nodes
    in order.

    Two other kinds of file are recognised by their contents: InfiniBand's forwarding tables as ibroute, dump_fts and
    dump_lfts print them, if the network is ibnetdiscover's output; and Noxim's routing tables.

    Pairs of terminals without a row at the source have no route: a traffic that uses such a pair is refused.

    Constraint: rows for every injected packet, at each node on its way, and no loop.
    Source: the file.
    """
    dumped = rows_of_dump(topology, located(path), default_memory())
    if dumped is not None:
        return table_routing(topology, dumped, partial=True)
    found = read_foreign(
        located(path), what="routing table", columns=COLUMNS, most_rows=MOST_ROWS, memory=default_memory()
    )
    if isinstance(found, np.ndarray):
        return table_routing(topology, rows_of_matrix(topology, found), partial=True)
    return table_routing(topology, rows_of_table(topology, found), partial=True)


def rows_of_matrix(topology: Topology, matrix: np.ndarray) -> TableRows:
    """Read a matrix of next nodes, number[N, N], by [at, destination]. −1, or the node itself, stands for none."""
    nodes = topology.nodes
    if matrix.shape != (nodes, nodes):
        shape = " × ".join(map(str, matrix.shape))
        raise BadInput(
            f"expected a matrix of {nodes} × {nodes} next nodes, or a first line {','.join(COLUMNS)},"
            f" got {shape} numbers"
        )
    whole = matrix.astype(np.int64) if matrix.dtype.kind in "iub" else _whole(matrix)
    valid = (whole >= NO_PORT) & (whole < nodes) & (whole == matrix)
    expect_valid("next node", valid, matrix, f"-1 or numbers of nodes, 0 … {nodes - 1}")
    destination, at = np.nonzero(((whole != NO_PORT) & (whole != np.arange(nodes)[:, None])).T)
    own = np.arange(nodes)
    stays = whole[own, own]
    expect_valid("next node at the destination", (stays == NO_PORT) | (stays == own), stays, "-1 or the node itself")
    to = whole[at, destination]
    port = _ports_to(topology, at, to)
    if (port < 0).any():
        one = int(np.argmax(port < 0))
        raise BadInput(
            f"next node: expected a neighbour of {at[one]}, got {to[one]} in row {at[one] + 1}, column"
            f" {destination[one] + 1}; {_neighbours(topology, int(at[one]))}"
        )
    return TableRows(at, destination, port)


def _whole(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix's numbers as int64, rounded towards 0; −2 for a number that is not finite or too large."""
    return np.where(np.isfinite(matrix) & (np.abs(matrix) < 2**31), matrix, -2).astype(np.int64)


def rows_of_table(topology: Topology, table: pa.Table) -> TableRows:
    """Read the rows of a table with the columns of `table`. Raises BadInput, which names the wrong column and row."""
    names = _names(table)
    at, destination = (_nodes(topology, table, name) for name in ("at", "destination"))
    if "to" in names:
        to = _nodes(topology, table, "to")
        port = _ports_to(topology, at, to)
        _expect_link("to", (port >= 0) | (to == at) & (at == destination), to, (at, destination), topology)
    else:
        port = numbers(table.column("port"), "port", pa.int64())
        leads = (port >= 0) & (port < topology.ports.shape[1])
        leads &= topology.ports[at, np.where(leads, port, 0)] != NO_PORT
        _expect_link("port", leads, port, (at, destination), topology)
    state, following = (_counted(table, name, MOST_STATE) for name in ("state", "next_state"))
    share = None if "share" not in names else numbers(table.column("share"), "share", pa.float64())
    if share is not None:
        expect_valid("share", (share >= LEAST) & (share <= MOST), share, f"positive numbers, {LEAST:g} … {MOST:g}")
    entering = _inputs(topology, table, names, at)
    if entering is None and state is None:
        expect_valid("at", at != destination, at, "a node other than the destination, where packets leave the network")
    kind = _counted(table, "virtual_channel", MOST_CLASSES - 1)
    return TableRows(at, destination, port, entering, state, following, kind, share)


def _names(table: pa.Table) -> set[str]:
    """Return the names of a table's columns. Raises BadInput if a column is missing, or two exclude each other."""
    names = table.column_names
    got = one_line(", ".join(names)) or "none"
    for name in ("at", "destination"):
        if names.count(name) != 1:
            raise BadInput(f"expected the columns {', '.join(COLUMNS)}, got {got}")
    for one, other in (("to", "port"), ("from", "input_port")):
        if names.count(one) + names.count(other) > 1:
            raise BadInput(f"expected one column {one} or {other}, got {got}; leave the others out")
    if "to" not in names and "port" not in names:
        raise BadInput(f"expected the columns {', '.join(COLUMNS)} (or port instead of to), got {got}")
    for one, other in (("state", "next_state"), ("next_state", "state")):
        if one in names and other not in names:
            raise BadInput(f"expected a column {other} beside {one}, got {got}; add it, or leave out {one}")
    return set(names)


def _nodes(topology: Topology, table: pa.Table, name: str) -> np.ndarray:
    names, nodes = topology.plan.names, topology.nodes
    if names is not None:
        return numbers_of(names, table.column(name), name, "nodes")
    found = numbers(table.column(name), name, pa.int64())
    expect_valid(name, (found >= 0) & (found < nodes), found, f"numbers of nodes, 0 … {nodes - 1}")
    return found


def _counted(table: pa.Table, name: str, most: int) -> np.ndarray | None:
    if name not in table.column_names:
        return None
    found = numbers(table.column(name), name, pa.int64())
    expect_valid(name, (found >= 0) & (found <= most), found, f"whole numbers, 0 … {most}")
    return found


def _inputs(topology: Topology, table: pa.Table, names: set[str], at: np.ndarray) -> np.ndarray | None:
    """Return the node from which each row's packets come, int64[R], −1 = injected; None if no column gives it."""
    name = next((name for name in ("from", "input_port") if name in names), None)
    if name is None:
        return None
    column = table.column(name)
    given = np.asarray(column.is_valid())
    if not given.any():  # a column of nothing has no type of numbers
        return np.full(len(column), NO_PORT)
    if name == "from" and topology.plan.names is not None:
        found = np.full(len(column), NO_PORT, np.int64)
        found[given] = numbers_of(topology.plan.names, column.drop_null(), name, "nodes")
    else:
        found = numbers(pc.coalesce(column, pa.scalar(NO_PORT, column.type)), name, pa.int64())
    if name == "from":
        links = found >= 0
        links[links] = found[links] < topology.nodes
        links[links] = _ports_to(topology, found[links], at[links]) >= 0
        what = "a node with a link to the row's node, or nothing where it is injected"
        expect_valid(name, links | ~given, found, what)
        return found
    if topology.directed:
        raise BadInput("input_port: expected a network of bidirectional links, got a directed one; use the column from")
    leads = (found >= 0) & (found < topology.ports.shape[1])
    leads &= topology.ports[at, np.where(leads, found, 0)] != NO_PORT
    expect_valid(name, leads | ~given, found, "a port of the row's node with a link, or nothing where it is injected")
    return np.where(leads, topology.ports[at, np.where(leads, found, 0)], NO_PORT).astype(np.int64)


def _ports_to(topology: Topology, at: np.ndarray, to: np.ndarray) -> np.ndarray:
    """Return the lowest port of each node `at` that leads to the node `to`, int64[R]; −1 = no link."""
    port = np.full(len(at), NO_PORT, np.int64)
    for number in range(topology.ports.shape[1] - 1, -1, -1):
        port[topology.ports[at, number] == to] = number
    return port


def _expect_link(
    name: str, leads: np.ndarray, given: np.ndarray, row_of: tuple[np.ndarray, np.ndarray], topology: Topology
) -> None:
    """Raise BadInput for the first row that leads along no link. row_of: columns at and destination of the rows."""
    if leads.all():
        return
    row = int(np.argmin(leads))
    at, goal = (int(column[row]) for column in row_of)
    got = name_of(topology, int(given[row])) if name == "to" else given[row]
    what = "a neighbour" if name == "to" else "a port"
    raise BadInput(
        f"{name}: expected {what} of {name_of(topology, at)}, got {got} in row {row + 1},"
        f" towards {name_of(topology, goal)}; {_neighbours(topology, at)}"
    )


def _neighbours(topology: Topology, node: int) -> str:
    ports = enumerate(topology.ports[node].tolist())
    links = [f"{name_of(topology, to)} (port {port})" for port, to in ports if to != NO_PORT]
    shown = ", ".join(links[:8]) + (", …" if len(links) > 8 else "")
    faults = "" if topology.plan.whole is None else ", others have failed or never were"
    return f"its {counted(len(links), 'link')} {'leads' if len(links) == 1 else 'lead'} to {shown or 'nothing'}{faults}"


def columns_of(topology: Topology, rows: TableRows) -> pa.Table:
    """Return rows as a table that `rows_of_table` reads, without columns that are None."""
    return pa.table(dict(_columns(topology, rows)))


def _columns(topology: Topology, rows: TableRows) -> Iterator[tuple[str, pa.Array[Any]]]:
    names = topology.plan.names
    yield "at", column_of(names, rows.at)
    yield "destination", column_of(names, rows.destination)
    if rows.input is not None:
        known = column_of(names, rows.input)
        yield "from", pa.array(rows.input.astype(np.int32), mask=rows.input < 0) if names is None else known
    if rows.state is not None:
        yield "state", pa.array(rows.state.astype(np.int32))
    yield "to", column_of(names, np.where(rows.port == NO_PORT, rows.at, topology.ports[rows.at, rows.port]))
    if rows.following is not None:
        yield "next_state", pa.array(rows.following.astype(np.int32))
    if rows.kind is not None:
        yield "virtual_channel", pa.array(rows.kind.astype(np.int16))
    if rows.weight is not None:
        yield "share", pa.array(rows.weight)
