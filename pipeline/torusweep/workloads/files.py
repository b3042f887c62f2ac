"""Workloads read from a file: messages, their tasks, sizes and dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput, nearest, one_line, printable
from torusweep.networks.names import has_no_numbers, number_of
from torusweep.networks.topology import Meaning
from torusweep.workloads.file_rows import Row, rows_of
from torusweep.workloads.messages import Workload, flits_of
from torusweep.workloads.order import topological_order, words_of_cycle

COLUMNS = ("message", "source", "destination", "flits", "bytes", "depends_on", "delay")
MOST_FLITS, MOST_DELAY = 1 << 40, 1 << 29
MOST_DIGITS = 19  # of a number; Python refuses to read 4,300
MOST_NAMED = 8  # messages of a cycle
SHOWN = 60  # characters of a wrong value that a message repeats

File = Annotated[str, Meaning("the file, relative to the current directory")]


class _Message(NamedTuple):
    """A row of the file; for `where` and `place` see `tables.Row`."""

    where: str
    place: str
    name: str
    source: int
    destination: int
    flits: int
    delay: int
    depends_on: list[str]


def file(terminals: int, path: File) -> Workload:
    """Messages from a CSV or Parquet file with the columns message, source, destination, flits or bytes, depends_on and
    delay; messages.csv alone is the same as path="messages.csv".

    message       a name without blanks, different for each message
    source, destination   tasks, whole numbers from 0; the number of tasks is the largest plus 1. On a network from a
                  file or a graph they are what it calls its nodes, unless a node has several terminals
    flits, bytes  size of the message, in one of the two columns; a flit has 4 bytes. A message of a task to
                  itself may have any size; it takes no time except its delay
    depends_on    names of the messages that must be delivered before, separated by blanks; optional
    delay         cycles from their delivery until the message is sent; optional
    Lines of CSV that begin with # and empty lines are skipped. In Parquet depends_on may be a list. Messages may
    be in any order.
    Source: the file.
    """
    return named_file(terminals, None, path)


def named_file(terminals: int, names: tuple[Any, ...] | None, path: str) -> Workload:
    """`file` on a network whose terminals have names.

    Where these are texts that are no numbers, whole numbers are tasks as well.
    """
    where = printable(Path(path))
    messages = _read(Path(path), where, names)
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


def _read(path: Path, where: str, names: tuple[Any, ...] | None) -> list[_Message]:
    head, columns, rows = rows_of(path, where)
    _check_columns(columns, head)
    return [_message(row, names) for row in rows]


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


def _message(row: Row, names: tuple[Any, ...] | None) -> _Message:
    where, place, values = row

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
    flits = whole("flits", least, MOST_FLITS) if "flits" in values else flits_of(whole("bytes", least, 4 * MOST_FLITS))
    delay = whole("delay", 0, MOST_DELAY) if values.get("delay") else 0
    return _Message(
        where, place, values["message"], source, destination, flits, delay, values.get("depends_on", "").split()
    )


def _dependencies(messages: Sequence[_Message]) -> list[list[int]]:
    """For every message, the numbers of the messages that it depends on."""
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
    """An order of the messages by dependency; among those that could be next, the first in the file is next."""
    order, cycle = topological_order(dependencies)
    if cycle:
        words = words_of_cycle([one_line(messages[g].name, SHOWN) for g in cycle], MOST_NAMED)
        raise BadInput(
            f"{messages[cycle[0]].where}: expected messages that can all be sent, got a cycle: {words}; break it"
        )
    return order
