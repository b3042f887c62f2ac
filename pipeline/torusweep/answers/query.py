"""Answer one SQL SELECT over a sweep's result tables; it can read nothing else.

DuckDB's own settings (connection.py) bar a query from other files, the network, extensions and settings. The query runs
in a thread that is interrupted at limits of time and memory. DuckDB reads only the columns and row groups that a query
needs from the Parquet files. The digest of every file is checked first, because DuckDB does not detect an altered file.

Several sweeps may be read together: each table then has the rows of all sweeps, with a column `sweep`.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from torusweep.all_columns import schema_of
from torusweep.answers import table_text
from torusweep.answers.connection import (
    DEEPEST,
    OUT_OF_MEMORY,
    SWEEP,
    VIEW,
    VIEWED,
    Folders,
    Stored,
    column_names,
    connect,
    folders_of,
    lock,
    stored_table,
    sweep_names,
    view,
)
from torusweep.answers.joined import uncomputed
from torusweep.errors import BadInput, Refused, RunsOn, one_line, printable, writing

LONGEST_WAIT = 86_400  # seconds
TIME_LIMIT = 30.0  # seconds
MEMORY_GIB = 2.0  # for the query's work, and again for its answer
MOST_ROWS = 1_000_000
LONGEST = 20_000  # characters of SQL; more would only occupy the planner
# of files, and the style that each says
SUFFIXES = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table", "": "table"}
STEP = 0.02  # seconds between two looks at a query's time and memory
GRACE = 1.0  # seconds to heed an interrupt
_EXAMPLE = '"SELECT topology, diameter FROM static LIMIT 5"'


def query(
    sql: str,
    results_dir: Folders,
    *,
    time_limit: float = TIME_LIMIT,
    memory_gib: float = MEMORY_GIB,
    max_rows: int = MOST_ROWS,
    about: str | None = None,
) -> pa.Table:
    """Return the answer to one SELECT over a results folder's tables, named like their files, and the view `designs`.

    results_dir  one results folder, or several: then each table has the rows of all, with a column `sweep`
    about  for messages: the user's own condition, if the SQL contains one (`bracketed`); None if the user wrote the SQL

    Raises BadInput if there are no results, a table was altered, or the SQL is not one valid SELECT; Refused if the
    answer exceeds a limit; RunsOn if the query could not be stopped. Messages are one line.
    """
    if not 0 < time_limit <= LONGEST_WAIT:
        raise BadInput(f"time limit: expected more than 0 and at most {LONGEST_WAIT:,} seconds, got {time_limit}")
    if not isinstance(sql, str):
        raise BadInput(f"expected a SELECT as text, as in {_EXAMPLE}, got {one_line(repr(sql), 60)}")
    if not sql.strip():
        raise BadInput(f"expected one SELECT, as in {_EXAMPLE}, got nothing")
    if about is None and len(sql) > LONGEST:
        raise BadInput(f"expected a query of at most {LONGEST:,} characters, got {len(sql):,}")
    with connect(memory_gib) as connection:
        _check(connection, sql)
    tables = _tables(folders_of(results_dir), _words(sql))
    stored = [table for table in tables.values() if isinstance(table, Stored)]
    connection = connect(
        memory_gib, [file.path for table in stored for files in table.parts.values() for file in files]
    )
    try:
        return _answer(connection, sql, tables, time_limit, memory_gib, max_rows, about)
    except BadInput as refusal:
        unknown = isinstance(refusal.__context__, duckdb.CatalogException)  # the table
        if unknown and (why := uncomputed(results_dir, _words(sql))):
            raise BadInput(why) from None
        raise


def matching(table: pa.Table, where: str) -> pa.Table:
    """Return the rows of a table that meet an SQL condition on its columns. Raises as `query` does."""
    sql = f"SELECT * FROM rows WHERE {bracketed(where)}"
    most = max(1, table.num_rows)
    found = _answer(connect(MEMORY_GIB), sql, {"rows": table}, TIME_LIMIT, MEMORY_GIB, most, where)
    return found.cast(table.schema)


def bracketed(where: str) -> str:
    """Return a user's condition in brackets, for use in a query. Raises BadInput if it is not one SQL expression."""
    if len(where) > LONGEST:
        raise BadInput(f"expected a condition of at most {LONGEST:,} characters, got {len(where):,}")
    expected = f'--where: expected one SQL condition such as "nodes < 100", got {_shown(where)}'
    # a line of its own, because a condition may end with a remark
    bare, brackets = f"\n{where}\n", f"(\n{where}\n)"
    with connect(MEMORY_GIB) as connection:
        try:
            statements = _statements(connection, f"SELECT 1 WHERE {bare}")
        except ValueError as error:
            reason = str(error).replace('at or near "WHERE"', "at end of input")
            raise BadInput(f"{expected}: {reason}") from None
        try:
            _statements(connection, f"SELECT 1 WHERE {brackets}")
        except ValueError:  # what stands without brackets but not within them goes beyond an expression
            if len(statements) == 1 and where.rstrip().endswith(";"):
                raise BadInput(f"{expected}: it ends before its last character; leave out the semicolon") from None
            raise BadInput(f"{expected}: more than a condition; leave out what follows it") from None
    return brackets


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Raise BadInput if the SQL is anything but one SELECT."""
    try:
        statements = _statements(connection, sql)
    except ValueError as error:
        raise BadInput(f"the query cannot be read: {error}") from None
    if len(statements) != 1:
        raise BadInput(f"expected one SELECT, got {len(statements)} statements; run them one by one")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise BadInput(f"expected a SELECT, as in {_EXAMPLE}, got another statement; results are only read")


def _statements(connection: duckdb.DuckDBPyConnection, sql: str) -> list[duckdb.Statement]:
    """Return the statements of an SQL text. Raises ValueError, with a one-line reason, if it cannot be parsed."""
    try:
        sql.encode()  # of a lone surrogate, DuckDB says that an argument has another type
        return connection.extract_statements(sql)
    except (duckdb.Error, ValueError, RuntimeError) as error:
        if "expression depth" in str(error):  # DuckDB's remedy is a setting, which is locked
            raise ValueError(f"expected a depth of at most {DEEPEST} expressions; simplify it") from None
        raise ValueError(_one_line(error).removeprefix("Parser Error: ")) from None


def _answer(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    tables: Mapping[str, pa.Table | Stored],
    time_limit: float,
    memory_gib: float,
    max_rows: int,
    about: str | None,
) -> pa.Table:
    """Return the answer to a SELECT over the given tables, by their names. Raises the errors of `query`."""
    subject = "the query" if about is None else f"--where {_shown(about)}"
    try:
        for name, table in tables.items():
            if isinstance(table, Stored):
                connection.execute(f'CREATE VIEW "{name}" AS {table.sql}')
            else:
                connection.register(name, table)
        if VIEW in _words(sql) and VIEW not in tables and tables.keys() >= set(VIEWED):
            connection.execute(view({name: column_names(tables[name]) for name in VIEWED}))
        # it would print into the answer; where it is off, in a notebook, it can be set only with the package ipywidgets
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar = false")
        lock(connection)
        return _limited(connection, lambda: _fetch(connection, sql, max_rows, memory_gib), time_limit, memory_gib)
    except OUT_OF_MEMORY:
        raise Refused(_too_large(memory_gib)) from None
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.PermissionException) as error:
        raise BadInput(f"{subject} cannot be answered: {_one_line(error)}; {_remedy(error, about or sql)}") from None
    except (duckdb.Error, pa.ArrowException, OSError, ValueError, RuntimeError) as error:
        raise BadInput(f"{subject} cannot be answered: {_one_line(error)}") from None


def _limited(
    connection: duckdb.DuckDBPyConnection, work: Callable[[], pa.Table], time_limit: float, memory_gib: float
) -> pa.Table:
    """Run `work` in a thread that is interrupted at its limits. Raises the errors of `work`, and Refused.

    The process may grow by twice the memory plus half a GiB, because DuckDB counts neither the answer nor the memory of
    some functions (range, repeat). Some functions (levenshtein) ignore an interrupt: then RunsOn is raised, and the
    thread runs on.
    """
    answers: list[pa.Table] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as failure:
            failures.append(failure)

    process = psutil.Process()
    most = process.memory_info().rss + (2 * memory_gib + 0.5) * 2**30
    end = time.monotonic() + time_limit
    thread = threading.Thread(target=run, name="query", daemon=True)  # cli/__init__.py looks for the name
    refusal = ""
    thread.start()
    try:
        while thread.is_alive() and not refusal:
            thread.join(STEP)
            if process.memory_info().rss > most:
                refusal = _too_large(memory_gib)
            elif time.monotonic() > end:
                refusal = (
                    f"the query took more than {time_limit:g} seconds and was stopped;"
                    " narrow it, or allow more with --time-limit"
                )
    finally:
        latest = time.monotonic() + GRACE
        while thread.is_alive() and time.monotonic() < latest:
            connection.interrupt()  # repeatedly, because an interrupt between two steps is lost
            thread.join(STEP)
    if thread.is_alive():
        raise RunsOn(f"{refusal}; it heeds no interrupt and runs on, at most until this process ends")
    connection.close()
    if answers:
        return answers[0]
    if refusal:
        raise Refused(refusal)
    raise failures[0]


def _words(sql: str) -> set[str]:
    """Return the words of a query in lower case. They include the names of all tables that it reads."""
    return {word.lower() for word in re.findall(r"\w+", sql)}


def _too_large(memory_gib: float) -> str:
    """Return the message that refuses a query that needs too much memory."""
    return f"the query needs more than {memory_gib:g} GiB of memory and was stopped; select fewer rows or columns"


def _remedy(error: Exception, written: str) -> str:
    """Return the remedy for an unknown name or a file's name. To SQL, a word in double quotes is a column."""
    quoted = re.search(r'column "([^"]+)" not found', str(error))
    if quoted and f'"{quoted[1]}"' in written:
        return f"text stands in single quotes: '{quoted[1]}'"
    if isinstance(error, duckdb.PermissionException):
        return "a query reads the results' tables and no files; 'torusweep query --schema' lists them"
    text = quoted and re.search(rf"=\s*{re.escape(quoted[1])}\b", written)
    columns = "'torusweep query --schema' lists tables, 'torusweep query --schema TABLE' columns"
    return f"text stands in single quotes, as '{quoted[1]}'; {columns}" if quoted and text else columns


def _shown(condition: str) -> str:
    """Return a condition for use in a message: quoted, on one line, shortened to 80 characters."""
    text = printable(" ".join(condition.split()))
    return f"'{text if len(text) <= 80 else text[:79] + '…'}'"


def no_results(folder: Path) -> BadInput:
    """Return the error for a folder that has no table."""
    got = "no table" if folder.is_dir() else f"no such folder; paths are relative to {Path.cwd()}"
    return BadInput(
        f"{printable(folder)}: expected a sweep's results, got {got}; run 'torusweep run CONFIG' first, or name its"
        " folder with --results"
    )


def _tables(folders: Sequence[Path], mentioned: set[str]) -> dict[str, pa.Table | Stored]:
    """Return the folders' tables that a query mentions, checked; all tables if none is mentioned (SHOW TABLES)."""
    names, files = sweep_names(folders), dict[str, dict[str, Path]]()
    for sweep, folder in zip(names, folders):
        found = sorted(folder.glob("*.parquet"))
        if not found:
            raise no_results(folder)
        for path in found:
            files.setdefault(path.stem, {})[sweep] = path
    if VIEW in mentioned:
        mentioned = mentioned | set(VIEWED)
    wanted = [name for name in files if name.lower() in mentioned] or files
    stored = {name: stored_table(files[name]) for name in wanted}
    rows = {name: table.rows for name, table in stored.items()}
    empty = [name for name in rows if rows[name] == 0 and name != "verification"]
    if empty and not any(rows.values()):
        raise BadInput(
            uncomputed(folders, empty)
            or f"the table {empty[0]} is empty: no network of this sweep has been computed; run 'torusweep run CONFIG'"
            " first"
        )
    if VIEW in mentioned:  # a table that the sweep lacks has no rows in the view
        named = [] if names == [""] else [pa.field(SWEEP, pa.string())]
        lacking = {name: pa.schema([*named, *schema_of(name)]).empty_table() for name in VIEWED if name not in stored}
        return lacking | stored
    return dict(stored)


def style_of(style: str | None, out: Path | None) -> str:
    """Return the requested style, or that of the file's suffix. Raises BadInput if none fits the file."""
    suffix = out.suffix.lower() if out else ""
    if style is None and suffix not in SUFFIXES:
        known = ", ".join(filter(None, SUFFIXES))
        raise BadInput(f"--output {out}: expected a name that ends in {known}, got '{suffix}'; add --format")
    if style == "parquet" and out is None:
        raise BadInput("expected a file for --format parquet, got none; add --output FILE")
    return style or SUFFIXES.get(suffix, "table")


def print_table(table: pa.Table, style: str, out: Path | None = None, *, columns: bool = False) -> None:
    """Print a table in a style (table, csv or json), or write it to the file `out` (parquet, too).

    columns  whether the rows describe columns: then each row stays on one line even in a narrow terminal
    """
    if style == "parquet" and out is not None:
        sink = pa.BufferOutputStream()
        try:
            pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
        except pa.ArrowException as error:
            raise BadInput(
                f"expected columns that Parquet can hold, got: {_one_line(error)}; write CAST(x AS VARCHAR)"
            ) from None
        with writing(out):
            out.write_bytes(sink.getvalue().to_pybytes())
    elif out is None:
        _print(table, style, sys.stdout, columns)
    else:
        with writing(out), out.open("w", encoding="utf-8") as file:
            _print(table, style, file, columns)


def _print(table: pa.Table, style: str, file: Any, columns: bool) -> None:
    if style == "table":
        table_text.print_aligned(table, file, columns=columns)
    else:
        file.write(table_text.as_json(table) if style == "json" else table_text.as_csv(table))


def _fetch(connection: duckdb.DuckDBPyConnection, sql: str, max_rows: int, memory_gib: float) -> pa.Table:
    reader = connection.sql(sql).to_arrow_reader(50_000)
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows > max_rows:
            raise Refused(f"the answer has more than {max_rows:,} rows; add LIMIT, or aggregate")
        if size > memory_gib * 2**30:
            raise Refused(f"the answer takes more than {memory_gib:g} GiB; select fewer rows or columns")
    repeated = sorted({name for name in reader.schema.names if reader.schema.names.count(name) > 1})
    if repeated:
        raise BadInput(f"two columns of the answer are called {repeated[0]!r}; tell them apart with AS")
    return pa.Table.from_batches(batches, reader.schema)


def _one_line(error: object) -> str:
    """Return a DuckDB message as one line, without the excerpt of the query that follows it."""
    text = str(error).split("\nLINE ")[0]
    return printable(" ".join(text.split()))[:300]
