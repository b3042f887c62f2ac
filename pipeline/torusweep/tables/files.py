"""Files of a table: one, or those of a folder if the table may be very large; and their digests."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from torusweep.tables.parquet import ROW_GROUP, Streamed, row_groups

FILE_GROUPS = 16
FILE_ROWS = FILE_GROUPS * ROW_GROUP  # of a file in the folder of a large table


def files_of(path: Path) -> list[Path]:
    """Return the files of a table, in the order of their rows: the one at this path, or those of a folder."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def remove(path: Path) -> None:
    """Remove a table, if it is there; of a link to a folder elsewhere, the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def in_files(table: pa.Table | Streamed) -> Iterator[Streamed]:
    """Yield the rows of each file of a large table. A file must be read to its end before the next."""
    groups = row_groups(table.schema.empty_table(), table.parts if isinstance(table, Streamed) else [table])
    for first in groups:
        yield Streamed(table.schema, chain([first], islice(groups, FILE_GROUPS - 1)))


def table_digest(digests: Sequence[str]) -> str:
    """Return the digest of a table: that of its only file, or the digest of its files' digests."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def footer_digest(path: Path) -> str:
    """Return the SHA-256 of a Parquet file's footer, with the places and ranges of its values; '' for other files.

    For a folder, the digest of its files' digests.
    """
    if path.is_dir():
        return table_digest([*map(footer_digest, files_of(path)), ""])
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        length = int.from_bytes(file.read(4), "little") + 8
        if file.read(4) != b"PAR1" or length > size:
            return ""
        file.seek(size - length)
        return hashlib.sha256(f"{size} ".encode() + file.read()).hexdigest()
