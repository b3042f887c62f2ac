"""Read a workload from a CSV or Parquet file: messages with their tasks, sizes and dependencies.

The module also orders steps that depend on each other, and reads both formats as rows of text.
"""

from __future__ import annotations

import csv
import heapq
from collections.abc import Iterator, Sequence
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types

from torusweep.errors import BadInput, Refused, located, nearest, one_line, printable
from torusweep.networks.names import has_no_numbers, number_of
from torusweep.networks.physical import FLIT_BYTES
from torusweep.networks.topology import Meaning, default_memory
from torusweep.quantities import counted
from torusweep.tables.parquet import content_of, foreign_table
from torusweep.workloads.messages import Target, Workload

MEMORY_PER_BYTE = 64  # peak memory per byte of CSV, measured in tests/workloads
MEMORY_PER_CELL = 256  # peak memory per value of Parquet, also measured there; a file's size says little about it
CELL = 8  # bytes per value that torusweep.tables.store assumes
COLUMNS = ("message", "source", "destination", "flits", "bytes", "depends_on", "delay")
MOST_FLITS, MOST_DELAY = 1 << 40, 1 << 29
MOST_DIGITS = 19  # of a number; Python refuses to read 4,300
MOST_NAMED = 8  # messages of a cycle that an error names
SHOWN = 60  # characters of a wrong value that an error repeats


def topological_order(dependencies: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Order steps so that each follows all steps that it depends on; return (order, cycle), lists of steps' numbers.

    If several steps could be next, the lowest number is next.
    dependencies  for each step, the numbers of the steps that it depends on
    cycle         [] or, if no such order exists, steps that each depend on the next one, and the last on the first
    """
    missing = [len(others) for others in dependencies]
    followers: list[list[int]] = [[] for _ in dependencies]
    for step, others in enumerate(dependencies):
        for other in others:
            followers[other].append(step)
    free, order = [step for step, many in enumerate(missing) if not many], list[int]()
    while free:
        step = heapq.heappop(free)
        order.append(step)
        for follower in followers[step]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(free, follower)
    return order, [] if len(order) == len(dependencies) else _cycle(missing, dependencies)


def _cycle(missing: Sequence[int], dependencies: Sequence[Sequence[int]]) -> list[int]:
    """Return a cycle of steps. Every step with missing > 0 depends on another step with missing > 0."""
    seen: dict[int, int] = {}
    step = next(step for step, many in enumerate(missing) if many)
    while step not in seen:
        seen[step] = len(seen)
        step = next(other for other in dependencies[step] if missing[other])
    return [other for other, place in seen.items() if place >= seen[step]]


def words_of_cycle(names: Sequence[str], most: int) -> str:
    """Return a cycle in words, such as 'a' waits for 'b' waits for 'a', with at most `most` names."""
    shown = [f"'{name}'" for name in (*names, names[0])]
    if len(shown) > most:
        shown[most - 1 : -1] = [f"… ({len(names) - most + 1:,} more)"]
    return " waits for ".join(shown)


class Row(NamedTuple):
    """A row of a file: texts by column, and for errors `where` (file and place) and `place` ('line 3', 'row 3')."""

    where: str
    place: str
    values: dict[str, str]


class FileRows(NamedTuple):
    """The rows of a file, at least one, its column names, and `head`, the place of these names for errors."""

    head: str
    columns: list[str]
    rows: Iterator[Row]


def rows_of(path: Path, where: str) -> FileRows:
    """Read the rows of a file.

    path       file that is read as CSV, or as Parquet if its suffix is .parquet
    where      name of the file for error messages

    In CSV, empty lines and lines that begin with # are skipped. In Parquet, columns hold text, whole numbers, or
    lists of these, whose items are joined by blanks; null is read as empty text.
    Raises BadInput if the file cannot be read in this format or has no row, Refused if it does not fit into memory.
    """
    most = default_memory() // MEMORY_PER_BYTE
    remedy = "; list fewer messages"
    content = content_of(path, what="a file of messages", most_bytes=most, remedy=remedy, where=f"{where}: ")
    return _of_parquet(content, where) if path.suffix.lower() == ".parquet" else _of_csv(content, where)


def _of_csv(content: bytes, where: str) -> FileRows:
    try:
        # spreadsheets write a byte-order mark
        lines = TextIOWrapper(BytesIO(content), "utf-8-sig", newline="").readlines()
    except UnicodeDecodeError:
        raise BadInput(f"{where}: expected text in UTF-8, got other bytes; write the messages as CSV") from None
    numbered = [
        (number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(numbered) < 2:
        raise BadInput(
            f"{where}: expected a line of column names and one for each message,"
            f" got {counted(len(numbered), 'line')}; add messages"
        )
    (first, head), *rest = numbered
    columns = _split(head, f"{where}:{first}")

    def rows() -> Iterator[Row]:
        for number, line in rest:
            values = _split(line, f"{where}:{number}")
            if len(values) != len(columns):
                raise BadInput(
                    f"{where}:{number}: expected {len(columns)} values, one a column, got {len(values)};"
                    " separate them by commas"
                )
            yield Row(f"{where}:{number}", f"line {number}", dict(zip(columns, values)))

    return FileRows(f"{where}:{first}", columns, rows())


def _split(line: str, where: str) -> list[str]:
    try:
        return [value.strip() for value in next(csv.reader([line]))]
    except csv.Error as error:
        raise BadInput(
            f"{where}: expected values separated by commas, got: {one_line(error)}; write the messages as CSV"
        ) from None


def _of_parquet(content: bytes, where: str) -> FileRows:
    try:
        table = foreign_table(content, default_memory() * CELL // MEMORY_PER_CELL)
        columns = table.column_names
    except Refused as refusal:
        raise Refused(f"{where}: {refusal}") from None
    # OSError: damaged Parquet; ValueError: names not in UTF-8
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(
            f"{where}: expected a Parquet file of messages, got: {one_line(error)}; write one, or CSV"
        ) from None
    if not table.num_rows:
        raise BadInput(f"{where}: expected a row for each message, got none; add messages")
    if table.nbytes * CELL > default_memory():
        raise Refused(
            f"{where}: {table.nbytes / 2**30:.1f} GiB of text are more than this machine's memory can hold;"
            " list fewer messages"
        )

    def rows() -> Iterator[Row]:
        texts = [_texts(table.column(place), f"{where}: {name}") for place, name in enumerate(columns)]
        for number, values in enumerate(zip(*texts), 1):
            yield Row(f"{where}: row {number}", f"row {number}", dict(zip(columns, values)))

    return FileRows(where, columns, rows())


def _texts(column: pa.ChunkedArray[Any], where: str) -> list[str]:
    kind = column.type
    inner = kind.value_type if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind) else kind
    if not any(
        fits(inner)
        for fits in (types.is_integer, types.is_floating, types.is_string, types.is_large_string, types.is_null)
    ):
        raise BadInput(f"{where}: expected text or whole numbers, got {kind}; write one of these")
    try:
        return [_text(value) for value in column.to_pylist()]
    except UnicodeDecodeError:
        raise BadInput(f"{where}: expected text in UTF-8, got other bytes; write that") from None


def _text(value: object) -> str:
    """Return a value as CSV text. Whole floats become integers, as pandas makes floats of integers beside gaps."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


File = Annotated[str, Meaning("the file, relative to the current directory")]


class _Message(NamedTuple):
    """A message of the file, with the names of the messages it depends on; `where` and `place` as in `Row`."""

    where: str
    place: str
    name: str
    source: int
    destination: int
    flits: int
    delay: int
    depends_on: list[str]


def file(target: Target, path: File) -> Workload:
    """Messages from a CSV or Parquet file with the columns message, source, destination, flits or bytes, depends_on and
    delay; messages.csv alone is the same as path="messages.csv".

    message       a name without blanks, different for each message
    source, destination   tasks, whole numbers from 0; the number of tasks is the largest plus 1. On a network from a
                  file or a graph, tasks are the names of its nodes, unless a node has several terminals
    flits, bytes  size of the message, in one of these two columns; a flit has 4 bytes unless the simulation
                  specifies another size. A message from a task to itself may have any size, and takes no time
                  except its delay
    depends_on    names of the messages that must be delivered before this one is sent, separated by blanks; optional
    delay         cycles between the delivery of these messages and the sending of this message; optional
    Empty lines of CSV, and lines that begin with #, are skipped. In Parquet, depends_on may be a list. Messages may
    be in any order.
    Source: the file.
    """
    terminals, where = target.terminals, printable(Path(path))
    messages = _read(located(path), where, target)
    tasks = 1 + max(max(one.source, one.destination) for one in messages)
    if tasks > terminals:
        far = next(one for one in messages if max(one.source, one.destination) == tasks - 1)
        raise BadInput(
            f"{far.where}: expected tasks of 0 … {terminals - 1}, a terminal for each, got {tasks - 1};"
            " choose a larger network"
        )
    dependencies = _dependencies(messages)
    order = _topological_order(messages, dependencies)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    waits = np.array([(g, h) for g, others in enumerate(dependencies) for h in others], np.int64).reshape(-1, 2)
    source, destination, flits, delay = (
        np.array([getattr(messages[g], name) for g in order], np.int64)
        for name in ("source", "destination", "flits", "delay")
    )
    names = tuple(messages[g].name for g in order)
    return Workload(tasks, source.astype(np.int32), destination.astype(np.int32), flits, delay, place[waits], names)


def _read(path: Path, where: str, target: Target) -> list[_Message]:
    head, columns, rows = rows_of(path, where)
    _check_columns(columns, head)
    return [_message(row, target) for row in rows]


def _check_columns(columns: Sequence[str], where: str) -> None:
    for name in columns:
        if name not in COLUMNS:
            shown = one_line(name, SHOWN)
            raise BadInput(f"{where}: unknown column '{shown}'{nearest(name, COLUMNS)}; there are {', '.join(COLUMNS)}")
    if len(set(columns)) < len(columns):
        raise BadInput(f"{where}: expected each column once, got {one_line(', '.join(columns))}; leave one out")
    missing = [name for name in COLUMNS[:3] if name not in columns]
    if missing or ("flits" in columns) == ("bytes" in columns):
        raise BadInput(
            f"{where}: expected the columns message, source, destination and flits or bytes,"
            f" got {', '.join(columns)}; rename them"
        )


def _message(row: Row, target: Target) -> _Message:
    """Read the message in a row. Whole numbers also denote tasks if the tasks' names are texts without numbers."""
    (where, place, values), names = row, target.names

    def whole(name: str, least: int, most: int) -> int:
        text = values[name]
        is_whole = text.isascii() and text.isdecimal() and len(text.lstrip("0")) <= MOST_DIGITS
        if not is_whole or not least <= int(text.lstrip("0") or "0") <= most:
            shown = one_line(text, SHOWN)
            raise BadInput(f"{where}: {name}: expected a whole number of {least} … {most}, got '{shown}'; correct it")
        return int(text.lstrip("0") or "0")

    if values["message"].split() != [values["message"]]:
        name = one_line(values["message"], SHOWN)
        raise BadInput(f"{where}: message: expected a name without blanks, got '{name}'; give it one")

    def task(name: str) -> int:
        text = values[name]
        if names is None or (has_no_numbers(names) and text.isdecimal() and text not in map(str, names)):
            return whole(name, 0, 2**31 - 2)
        return int(number_of(names, text, f"{where}: {name}"))

    source, destination = task("source"), task("destination")
    least = 0 if source == destination else 1
    if "flits" in values:
        flits = whole("flits", least, MOST_FLITS)
    else:
        flits = target.clock.flits(whole("bytes", least, FLIT_BYTES * MOST_FLITS))
    delay = whole("delay", 0, MOST_DELAY) if values.get("delay") else 0
    return _Message(
        where, place, values["message"], source, destination, flits, delay, values.get("depends_on", "").split()
    )


def _dependencies(messages: Sequence[_Message]) -> list[list[int]]:
    """List, for every message, the numbers of the messages that it depends on. Raises BadInput for a wrong name."""
    number: dict[str, int] = {}
    for g, one in enumerate(messages):
        if one.name in number:
            first = messages[number[one.name]].place
            name = one_line(one.name, SHOWN)
            raise BadInput(f"{one.where}: message '{name}' is also in {first}; give it another name")
        number[one.name] = g
    for one in messages:
        for name in one.depends_on:
            if name not in number:
                hint = nearest(name, number)
                waits, other = one_line(one.name, SHOWN), one_line(name, SHOWN)
                raise BadInput(
                    f"{one.where}: message '{waits}' depends on '{other}', which does not exist{hint}; add it"
                )
    return [[number[name] for name in one.depends_on] for one in messages]


def _topological_order(messages: Sequence[_Message], dependencies: Sequence[Sequence[int]]) -> list[int]:
    """Order messages by dependency, and otherwise as in the file. Raises BadInput for a cycle."""
    order, cycle = topological_order(dependencies)
    if cycle:
        words = words_of_cycle([one_line(messages[g].name, SHOWN) for g in cycle], MOST_NAMED)
        raise BadInput(
            f"{messages[cycle[0]].where}: expected messages that can all be sent, got a cycle: {words}; break it"
        )
    return order
