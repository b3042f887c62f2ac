"""SQL reads the tables and nothing else: no file, no network, no extension, no setting.

Behind each protection there is a second one.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from torusweep.answers import query as queries
from torusweep.answers.connection import connect, lock
from torusweep.errors import BadInput
from torusweep.tables.store import publish_table

from tests.faults.command_line import settled, torusweep

SECRET = "the-secret-of-this-test"
ATTACKS = [
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM '{secret}'",
    'SELECT * FROM "{secret}"',
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM static WHERE topology IN (SELECT content FROM read_text('{secret}'))",
    "WITH t AS MATERIALIZED (FROM read_text('{secret}')) SELECT * FROM t",
    "FROM query('SELECT * FROM read_text(''{secret}'')')",
    "FROM query_table('{secret}')",
    "SELECT getenv('SECRET')",
    "DESCRIBE SELECT * FROM '{secret}'",
    "SUMMARIZE '{secret}'",
    "EXPLAIN ANALYZE SELECT * FROM read_text('{secret}')",
    "SELECT * FROM parquet_metadata('{folder}/static.parquet')",
    "COPY static TO '{folder}/written.csv'",
    "COPY static TO '{folder}/static.parquet'",
    "COPY (SELECT 2 AS nodes) TO '{folder}/static.parquet' (USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '{folder}/written.parquet'",
    "COPY static FROM '{secret}'",
    "EXPORT DATABASE '{folder}/written'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/written.db'",
    "ATTACH '{folder}/static.parquet' AS other",
    "CREATE TABLE written AS SELECT * FROM static",
    "CREATE MACRO m() AS TABLE SELECT * FROM read_text('{secret}')",
    "CREATE SECRET (TYPE http)",
    "INSERT INTO static SELECT * FROM static",
    "UPDATE static SET nodes = 0",
    "DELETE FROM static",
    "DROP TABLE static",
    "INSTALL httpfs",
    "LOAD '{folder}/evil.duckdb_extension'",
    "INSTALL spatial FROM 'http://127.0.0.1:{port}'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "PRAGMA enable_profiling",
    "CALL enable_logging()",
    "SELECT * FROM 'http://127.0.0.1:{port}/static.parquet'",
    "SELECT * FROM read_parquet('http://127.0.0.1:{port}/static.parquet')",
    "SELECT * FROM read_csv('s3://127.0.0.1:{port}/a.csv')",
    "FROM postgres_scan('host=127.0.0.1 port={port}', 'public', 't')",
    "FROM query('COPY static TO ''{folder}/written.csv'' ')",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{secret}'')'))",
    "FROM read_duckdb('{secret}')",
    "FROM enable_logging(storage='file', storage_path='{folder}')",
    "FROM enable_profiling('json', save_location='{folder}/written.json')",
    "SELECT 1; COPY static TO '{folder}/written.csv'",
    "SELECT 1 /* */ ; ATTACH '{folder}/written.db' --",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", SECRET)
    (tmp_path / "secret.csv").write_text(f"{SECRET}\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "evil.duckdb_extension").write_bytes(b"\x7fELF")
    publish_table(tmp_path / "results", "static", pa.table({"topology": ["a"], "nodes": [1]}))
    return tmp_path / "results"


class Listener:
    """A server on this machine that counts who comes."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.came = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:  # closed
                return
            self.came += 1
            connection.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.server.close()


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.parent.rglob("*") if path.is_file()}


def attack(sql: str, folder: Path, listener: Listener) -> str:
    return sql.format(secret=folder.parent / "secret.csv", folder=folder, port=listener.port)


@pytest.mark.faults
def test_nothing_else_is_read_written_loaded_or_called(folder: Path, listener: Listener):
    before = files(folder)
    for sql in ATTACKS:
        said = torusweep("query", attack(sql, folder, listener), "--results", str(folder), "--json")
        assert not settled(said), sql
        assert SECRET not in said.out + said.err, sql
    assert files(folder) == before
    assert listener.came == 0
    socket.create_connection(("127.0.0.1", listener.port)).close()
    assert torusweep("query", "SELECT nodes FROM static", "--results", str(folder), "--json").out == '[{"nodes": 1}]\n'


SAFE_BY_NATURE = (
    "INSERT",
    "UPDATE",
    "DELETE",
    "DROP",
    "CREATE TABLE",
    "CREATE MACRO",
    "EXPLAIN",
    "PRAGMA",
    "CALL",
)  # they touch this query's memory only


def test_without_the_first_wall_the_second_holds(folder: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch):
    """The statement is not looked at; DuckDB's own lock is all that is left."""
    monkeypatch.setattr(queries, "_check", lambda connection, sql: None)
    before = files(folder)
    for sql in ATTACKS:
        said, refused = reached(attack(sql, folder, listener), folder)
        assert SECRET not in said, sql
        assert refused or sql.startswith(SAFE_BY_NATURE), (sql, said)
    assert files(folder) == before
    assert listener.came == 0


@pytest.mark.faults
def test_no_function_of_the_database_reads_or_writes_a_file(folder: Path):
    """Each that this version has, called with the path of a file that is there, and of one that is not."""
    before = files(folder)
    functions = "SELECT DISTINCT function_name, function_type LIKE 'table%' FROM duckdb_functions() ORDER BY ALL"
    with connect(1) as connection:
        lock(connection)
        for function, is_table in connection.execute(functions).fetchall():
            for path in (f"'{folder.parent / 'secret.csv'}'", f"'{folder / 'written'}'"):
                for arguments in (path, f"{path}, {path}"):
                    call = f'"{function}"({arguments})'
                    try:
                        said = str(connection.execute(f"{'FROM' if is_table else 'SELECT'} {call}").fetchmany(9))
                    except (duckdb.Error, RuntimeError) as refusal:
                        said = str(refusal)
                    assert SECRET not in said, call
    assert files(folder) == before


def reached(sql: str, folder: Path) -> tuple[str, bool]:
    """What a query gives, and whether it is refused."""
    try:
        return str(queries.query(sql, folder, time_limit=60, memory_gib=1, max_rows=1000).to_pylist()), False
    except BadInput as refusal:
        return str(refusal), True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lock_configuration", "true"),
        ("enable_external_access", "false"),
        ("autoload_known_extensions", "false"),
        ("enable_progress_bar", "false"),
    ],
)
def test_settings_of_a_query(folder: Path, name: str, value: str):
    """A progress bar would be drawn into the answer of whatever takes more than two seconds."""
    (row,) = queries.query(f"SELECT current_setting('{name}')::VARCHAR AS v", folder).to_pylist()
    assert row == {"v": value}
