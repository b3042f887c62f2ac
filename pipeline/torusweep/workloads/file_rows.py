"""The file of a workload, CSV or Parquet, as rows of text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import types

from torusweep.counts import counted
from torusweep.errors import BadInput, Refused, one_line
from torusweep.networks.topology import default_memory
from torusweep.tables.foreign import content_of
from torusweep.tables.parquet import foreign_table

MEMORY_PER_BYTE = 64  # peak memory per byte of CSV, measured in tests/workloads
MEMORY_PER_CELL = 256  # peak memory per value of Parquet, measured there too; the file size says little
CELL = 8  # bytes per value that torusweep.tables.store assumes


class Row(NamedTuple):
    """where: file and place, for error messages; place: 'line 3' or 'row 3'; values: text by column."""

    where: str
    place: str
    values: dict[str, str]


class FileRows(NamedTuple):
    """head: place of the column names, for error messages; columns: their names; rows: at least one."""

    head: str
    columns: list[str]
    rows: Iterator[Row]


def rows_of(path: Path, where: str) -> FileRows:
    """Read the rows of a file.

    path       CSV, or Parquet if its suffix is .parquet
    where      name of the file for error messages

    CSV: lines that begin with # and empty lines are skipped. Parquet: columns of text, of whole numbers, or of
    lists of these, whose items are joined by blanks; null is empty text.
    Raises BadInput if the file is not such a file or has no row, Refused if it does not fit into memory.
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
    """A value as CSV text. Whole floats become integers, since pandas turns integer columns with gaps into floats."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
