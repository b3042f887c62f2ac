"""SQL queries of a sweep's results: one SELECT that reads the tables and nothing else.

DuckDB runs without files, network, extensions, other statements, and table functions except a few
harmless ones. It runs in a process of its own with a memory limit, which is killed at its time limit:
some of DuckDB's functions ignore both an interrupt and its memory limit. The digest of every Parquet
file is checked first, because DuckDB does not detect an altered file.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import torusweep_kernels

from torusweep.errors import BadInput, Refused, printable
from torusweep.results import table_text
from torusweep.results.connection import connect, lock
from torusweep.results.query_limits import crashed, too_large, too_slow
from torusweep.results.view import VIEW, VIEWED, view
from torusweep.tables import store

LONGEST_WAIT = 86_400  # seconds
TIME_LIMIT = 30.0  # seconds
MEMORY_GIB = 2.0  # for the query's work, and again for its answer
MOST_ROWS = 1_000_000
LONGEST = 20_000  # characters of SQL; more would only occupy the planner
GRACE = 5.0  # seconds to start the process, and to end after an interrupt
TABLE_FUNCTIONS = {"range", "generate_series", "unnest"}
_EXAMPLE = '"SELECT topology, diameter FROM static LIMIT 5"'
CONDITION = "TRUE /* condition */"  # in a query: where a user's condition goes
# of the packages: the process imports the same ones, whatever else is installed
_ROOTS = [str(Path(file).parents[levels]) for file, levels in ((__file__, 2), (str(torusweep_kernels.__file__), 1))]
_REFUSED, _BAD = 3, 2  # exit statuses of the query process


def query(
    sql: str,
    results_dir: Path | str,
    *,
    time_limit: float = TIME_LIMIT,
    memory_gib: float = MEMORY_GIB,
    max_rows: int = MOST_ROWS,
    condition: str | None = None,
) -> pa.Table:
    """The answer to one SELECT over the tables of a results folder, each named as its file, and the view `designs`.

    condition  an SQL expression that stands where the query says CONDITION

    Raises BadInput where there are no results, a table was altered, or the SQL is not one valid
    SELECT, or the condition not one expression; Refused where the answer takes more than the limits. Messages are one
    line.
    """
    if not 0 < time_limit <= LONGEST_WAIT:
        raise BadInput(f"time limit: expected more than 0 and at most {LONGEST_WAIT:,} seconds, got {time_limit}")
    request = json.dumps(
        {
            "sql": sql,
            "folder": str(results_dir),
            "time_limit": time_limit,
            "memory_gib": memory_gib,
            "max_rows": max_rows,
            "condition": condition,
        }
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(_ROOTS))}
    command = [sys.executable, "-P", "-c", "from torusweep.results.query import serve; serve()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            content, message = process.communicate(request.encode(), timeout=time_limit + GRACE)
        except subprocess.TimeoutExpired:
            raise too_slow(time_limit) from None
        finally:
            process.kill()
    if process.returncode == 0:
        return pa.ipc.open_stream(content).read_all()
    if process.returncode in (_BAD, _REFUSED):
        raise (BadInput if process.returncode == _BAD else Refused)(message.decode().strip())
    raise crashed(process.returncode, message.decode(errors="replace"), memory_gib)


def serve() -> None:
    """The query process: reads a request from standard input, writes an Arrow stream, or a line of refusal."""
    request = json.load(sys.stdin)
    folder = Path(request.pop("folder"))
    try:
        table = answer(request.pop("sql"), folder, contained=True, **request)
    except BadInput as error:
        sys.stderr.write(str(error))
        sys.stderr.flush()
        # at once, because threads that ignore the interrupt may still run
        os._exit(_REFUSED if isinstance(error, Refused) else _BAD)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    sys.stdout.buffer.write(sink.getvalue())


def matching(table: pa.Table, condition: str) -> pa.Table:
    """The rows of a table that meet an SQL condition on its columns. Raises BadInput and Refused as `query` does."""
    sql = f"SELECT * FROM rows WHERE {CONDITION}"
    found = answer(
        sql,
        {"rows": table},
        time_limit=TIME_LIMIT,
        memory_gib=MEMORY_GIB,
        max_rows=max(1, table.num_rows),
        condition=condition,
    )
    return found.cast(table.schema)


def answer(
    sql: str,
    source: Path | Mapping[str, pa.Table],
    *,
    time_limit: float,
    memory_gib: float,
    max_rows: int,
    condition: str | None = None,
    contained: bool = False,
) -> pa.Table:
    """The answer, computed in this process. Raises as `query` does.

    source     a results folder, or tables by name
    contained  limit the whole process to memory_gib beyond its present memory, until it ends
    """
    if not sql.strip():
        raise BadInput(f"expected one SELECT, as in {_EXAMPLE}, got nothing")
    if len(sql) > LONGEST:
        raise BadInput(f"expected a query of at most {LONGEST:,} characters, got {len(sql):,}")
    with connect(memory_gib) as connection:
        try:
            with _deadline(connection, time_limit):
                if condition is not None:
                    _check_condition(connection, condition)
                    sql = sql.replace(CONDITION, f"(\n{condition}\n)")
                mentioned = _check(connection, sql)
                tables = source if isinstance(source, Mapping) else _tables(source, mentioned)
                for name, table in tables.items():
                    connection.register(name, table)
                if VIEW in mentioned and VIEW not in tables:
                    viewed = {name: tables[name].column_names for name in VIEWED}
                    connection.execute(view(viewed))
                lock(connection)
                if contained:
                    _contain(memory_gib)
                return _fetch(connection, sql, max_rows, memory_gib)
        except duckdb.InterruptException:
            raise too_slow(time_limit) from None
        except (duckdb.OutOfMemoryException, MemoryError):
            raise too_large(memory_gib) from None
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise BadInput(
                f"{_subject(condition)} cannot be answered: {_one_line(error)}; {_remedy(error, condition or sql)}"
            ) from None
        except (duckdb.Error, pa.ArrowException, ValueError, RuntimeError) as error:
            raise BadInput(f"{_subject(condition)} cannot be answered: {_one_line(error)}") from None


def _remedy(error: Exception, written: str) -> str:
    """What to do where a name is unknown. SQL takes a word in double quotes for a column."""
    quoted = re.search(r'column "([^"]+)" not found', str(error))
    if quoted and f'"{quoted[1]}"' in written:
        return f"text stands in single quotes: '{quoted[1]}'"
    return "'torusweep query --schema' lists tables, 'torusweep query --schema TABLE' columns"


def _subject(condition: str | None) -> str:
    """What a message is about: the user wrote the condition, or the whole query."""
    return "the query" if condition is None else f"--where {_shown(condition)}"


def _shown(condition: str) -> str:
    """A condition within a message."""
    text = printable(" ".join(condition.split()))
    return f"'{text if len(text) <= 80 else text[:79] + '…'}'"


def _contain(memory_gib: float) -> None:
    """Limit the memory of this process from now on: for the query, its answer and the threads' stacks."""
    most = psutil.Process().memory_info().vms + int((2 * memory_gib + 0.5) * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _tables(folder: Path, mentioned: set[str]) -> dict[str, pa.Table]:
    """The tables of a results folder that a query mentions, checked; all if it mentions none (a misspelt name)."""
    files = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
    if not files:
        shown = printable(str(folder))
        raise BadInput(
            f"{shown}: expected a sweep's results, got no table; run 'torusweep run CONFIG' first, or name its folder"
            " with --results"
        )
    if VIEW in mentioned:
        mentioned = mentioned | set(VIEWED)
    tables = {
        name: store.open_table(files[name]) for name in [name for name in files if name.lower() in mentioned] or files
    }
    empty = [name for name, table in tables.items() if table.num_rows == 0 and name != "verification"]
    if empty and not any(table.num_rows for table in tables.values()):
        raise BadInput(
            f"the table {empty[0]} is empty: no network of this sweep has been computed; run 'torusweep run CONFIG'"
            " first"
        )
    if VIEW in mentioned:  # a table that the sweep lacks has no rows in the view
        # only these columns need the stages, which take a second to import
        from torusweep.stages.all_columns import schema_of

        tables = {name: schema_of(name).empty_table() for name in VIEWED} | tables
    return tables


def print_table(table: pa.Table, style: str, out: Path | None = None, *, columns: bool = False) -> None:
    """Print a table (style table, csv or json), or write it to the file `out` (parquet too).

    columns  the rows describe columns: each stays a line in a narrow terminal
    """
    if style == "parquet":
        if out is None:
            raise BadInput("expected a file for --format parquet, got none; add --output FILE")
        sink = pa.BufferOutputStream()
        try:
            pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
        except pa.ArrowException as error:
            raise BadInput(
                f"expected columns that Parquet can hold, got: {_one_line(error)}; write CAST(x AS VARCHAR)"
            ) from None
        _write(out, sink.getvalue().to_pybytes())
    elif out is None:
        _print(table, style, sys.stdout, columns)
    else:
        with _writing(out), out.open("w", encoding="utf-8") as file:
            _print(table, style, file, columns)


def _print(table: pa.Table, style: str, file: Any, columns: bool) -> None:
    if style == "table":
        table_text.print_aligned(table, file, columns=columns)
    else:
        file.write(table_text.as_json(table) if style == "json" else table_text.as_csv(table))


def _write(path: Path, content: bytes) -> None:
    with _writing(path):
        path.write_bytes(content)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{path}: expected a file that can be written, got: {error.strerror}; choose another with --output"
        ) from None


@contextmanager
def _deadline(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt the connection after `seconds`, repeatedly, because an interrupt between two steps is lost."""
    done = threading.Event()

    def watch() -> None:
        if not done.wait(seconds):
            connection.interrupt()
            while not done.wait(0.05):
                connection.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> set[str]:
    """The tables that a query mentions.

    Raises BadInput for anything but one SELECT, and for table functions that could read more than the tables.
    """
    parsed = _parsed(connection, sql)
    if parsed["error"]:
        if parsed.get("error_type") == "not implemented":
            raise BadInput(f"expected a SELECT, as in {_EXAMPLE}, got another statement; results are only read")
        raise BadInput(f"the query cannot be read: {_one_line(parsed['error_message'])}")
    if len(parsed["statements"]) != 1:
        raise BadInput(f"expected one SELECT, got {len(parsed['statements'])} statements; run them one by one")
    mentioned: set[str] = set()
    for node in _nodes(parsed["statements"][0]):
        if node.get("type") == "TABLE_FUNCTION":
            name = node["function"]["function_name"].lower()
            if name not in TABLE_FUNCTIONS:
                raise BadInput(
                    f"expected a table of the results, got the function {name[:60]!r}; permitted are"
                    f" {', '.join(sorted(TABLE_FUNCTIONS))}"
                )
        if isinstance(node.get("table_name"), str):
            mentioned.add(node["table_name"].lower())
    return mentioned


def _check_condition(connection: duckdb.DuckDBPyConnection, condition: str) -> None:
    """Raise BadInput where a condition is not one SQL expression, which brackets cannot leave."""
    if len(condition) > LONGEST:
        raise BadInput(f"expected a condition of at most {LONGEST:,} characters, got {len(condition):,}")
    expected = f'--where: expected one SQL condition such as "nodes < 100", got {_shown(condition)}'
    bare, bracketed, model = (
        _parsed(connection, f"SELECT 1 WHERE {text}") for text in (f"\n{condition}\n", f"(\n{condition}\n)", "true")
    )
    more_than = f"{expected}: more than a condition; leave out what follows it"
    if bare.get("error_type") == "not implemented":  # DuckDB's word for a statement that is no SELECT
        raise BadInput(more_than)
    if bare["error"]:
        reason = _one_line(bare["error_message"]).replace('at or near "WHERE"', "at end of input")
        raise BadInput(f"{expected}: {reason}")
    ours, (whole, *others) = model["statements"][0]["node"], [each["node"] for each in bare["statements"]]
    more = [name for name in ours if name not in ("where_clause", "select_list", "from_table")]
    if others or whole["type"] != ours["type"] or any(whole[name] != ours[name] for name in more):
        raise BadInput(more_than)
    if bracketed["error"]:
        raise BadInput(f"{expected}: it ends before its last character; leave out the semicolon")


def _parsed(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    """DuckDB's syntax tree of a statement. Raises BadInput where it nests too deeply to be read."""
    answer = connection.execute("SELECT json_serialize_sql($1)", [sql]).fetchall()[0]
    try:
        return json.loads(answer[0])
    except RecursionError:
        raise BadInput("the query nests too deeply; simplify it") from None


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of a syntax tree."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


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
    """A message of DuckDB without the excerpt of the query below it."""
    text = str(error).split("\nLINE ")[0]
    return printable(" ".join(text.split()))[:300]
