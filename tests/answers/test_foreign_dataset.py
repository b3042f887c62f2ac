"""Data sets that somebody else wrote, sent or serves: damaged, altered, made to do harm, or by servers that misbehave.

No answer is called proved that is wrong; all else is one line, within bounds of memory and time.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.answers.dataset import write_dataset
from torusweep.errors import BadInput, Refused
from torusweep.questions.screen import before
from torusweep.questions.screen.before import class_size, computed_anew, meets_bounds, of_data_set
from torusweep.questions.screen.best import Objective, best_table
from torusweep.questions.screen.dataset import DataSet, part_digests
from torusweep.questions.screen.spaces import Lattices, screen_space
from torusweep.tables import apart, store
from torusweep.tables.apart import Sent

SPACE = Lattices(2, 12)
LEAST = (Objective("mean_distance", 1),)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of a few sizes."""
    home = tmp_path_factory.mktemp("foreign")
    parts = [part.rows for nodes in range(8, 17) for part in screen_space(Lattices(2, nodes), backend="numpy")]
    store.publish_points(home / "sweep", pa.table({"stage": ["screen"]}), {"sweep": "a"}, {"screen": True})
    store.publish_table(home / "sweep", "screen", pa.concat_tables(parts))
    store.publish_table(home / "sweep", "best", best_table(parts))
    write_dataset(home / "sweep", home / "data")
    return home / "data"


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    shutil.copytree(written, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads in this very process, which is quicker; what would end it is asked for elsewhere."""

    def call(function: str, given: dict[str, Any], content: bytes = b"", **_: object) -> Sent:
        assert function == "torusweep.questions.screen.before:read_data_set"
        return before.read_data_set(content, **json.loads(json.dumps(given)))

    monkeypatch.setattr(before, "apart", call)


def refused(address: Path | str, seconds: float = 60.0) -> str:
    began = time.monotonic()
    with pytest.raises(BadInput) as refusal:
        ts.best(nodes=SPACE.nodes, dimensions=2, results=(str(address),))
    assert "\n" not in str(refusal.value)
    assert time.monotonic() - began < seconds
    return str(refusal.value)


def rewritten(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Alter a data set as somebody does who can compute digests."""
    path = folder / "lattices-000.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    content = path.read_bytes()
    parts = part_digests(content)
    path.with_suffix(".parts").write_bytes(parts)
    index = json.loads((folder / "files.json").read_bytes())
    index["files"][0] |= {"bytes": len(content), "sha256": store.digest(content), "parts": store.digest(parts)}
    (folder / "files.json").write_text(json.dumps(index))


def with_value(table: pa.Table, column: str, row: int, value: Any) -> pa.Table:
    number = table.schema.get_field_index(column)
    values = table[column].to_pylist()
    values[row] = value
    return table.set_column(number, table.schema.field(number), pa.array(values, table.schema.field(number).type))


def row_of_winner(table: pa.Table) -> int:
    rows = table.to_pylist()
    of_size = [place for place, row in enumerate(rows) if row["nodes"] == SPACE.nodes]
    return min(of_size, key=lambda place: rows[place]["distance_sum"])


# --- words: what is said of whom ------------------------------------------------------------------------


def test_the_digest_from_elsewhere_says_whose_data_set_it_is(written: Path, here: None):
    digest = DataSet(written).digest
    assert digest == store.file_digest(written / "files.json")
    asked: dict[str, Any] = {"nodes": 14, "dimensions": 2, "maximise": ("saturation_load",)}
    computed = ts.best(**asked)
    assert ts.best(**asked, results=(str(written),), digest=digest).heading() == computed.heading()
    said = ts.best(**asked, results=(str(written),))
    assert (
        said.heading().splitlines()[1].startswith(f"best of this data set, sha256 {digest}: greatest saturation_load")
    )
    assert "proved" not in said.heading()
    assert [row["topology"] for row in said] == [row["topology"] for row in computed]
    assert said.json["proved"] is False
    with pytest.raises(BadInput, match=f"expected the data set of sha256 {'0' * 64}, got that of {digest}"):
        ts.best(**asked, results=(str(written),), digest="0" * 64)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"digest": "0" * 63}, "digest: expected 64 hexadecimal digits"),
        ({"digest": "0" * 64}, "digest: expected one folder of results or address, whose digest it is, got 0"),
    ],
)
def test_digests_that_are_none(given: dict[str, str], said: str):
    with pytest.raises(BadInput, match=said):
        ts.best(nodes=8, dimensions=2, **given)


def test_a_winner_that_meets_a_bound_is_proved_by_whomever(written: Path, here: None):
    """Of 13 nodes in two dimensions 1 + 4 + 8 are at distances 0, 1, 2: no lattice has less, whatever a table says."""
    found = ts.best(nodes=13, dimensions=2, results=(str(written),))
    assert found[0]["distance_sum"] == 13 * (4 + 16)
    assert re.match(
        "proved: least mean_distance of all lattices of this size, whose bound it meets; ",
        found.heading()[len(found.topology) + 1 :],
    )


@pytest.mark.parametrize("nodes", [8, 9, 12, 13, 16])
@pytest.mark.parametrize("column", ["mean_distance", "diameter", "saturation_load"])
def test_what_meets_a_bound_is_the_best_of_all(nodes: int, column: str):
    """Against all lattices, measured here."""
    (part,) = screen_space(Lattices(2, nodes), backend="numpy")
    rows = part.rows.to_pylist()
    sign = -1 if column == "saturation_load" else 1
    best = min(sign * row[column] for row in rows)
    for row in rows:
        if meets_bounds(row, Lattices(2, nodes), [Objective(column, sign)]):
            assert sign * row[column] == best


@pytest.mark.parametrize(("dimensions", "nodes"), [(1, 6), (2, 12), (3, 8)])
def test_sizes_of_classes_are_those_of_the_screen(dimensions: int, nodes: int):
    for part in screen_space(Lattices(dimensions, nodes), backend="numpy"):
        for row in part.rows.to_pylist():
            form = np.array(row["matrix"], np.int32).reshape(dimensions, dimensions)
            assert class_size(form) == row["class_size"]


# --- altered by somebody who computes digests ----------------------------------------------------------------


def test_one_altered_number_is_not_believed(folder: Path, here: None):
    """The first trial's: one distance_sum, and a wrong network was proved best, against its own printed bound."""
    worst = max(
        (
            place
            for place, row in enumerate(pq.read_table(folder / "lattices-000.parquet").to_pylist())
            if row["nodes"] == 12
        ),
        key=lambda place: pq.read_table(folder / "lattices-000.parquet")["distance_sum"][place].as_py(),
    )
    rewritten(folder, lambda table: with_value(table, "distance_sum", worst, 100))
    assert "the table says distance_sum 100, computed anew it is" in refused(folder)


MATRICES = {
    "diagonal 0": [0, 0, 0, 12],
    "too few": [12],
    "none": [],
    "another size": [4, 0, 0, 4],
    "no normal form": [4, 5, 0, 3],
    "lower": [4, 0, 1, 3],
    "negative": [-4, 0, 0, -3],
    "too large": [2**31 - 1, 0, 0, 1],
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
def test_matrices_that_are_no_lattice(folder: Path, here: None, matrix: list[int]):
    rewritten(folder, lambda table: with_value(table, "matrix", row_of_winner(table), matrix))
    assert "expected a lattice of lattices(dimensions=2, nodes=12) in Hermite normal form" in refused(folder)


@pytest.mark.parametrize("column", ["topology", "nodes", "matrix", "class_size", "distance_sum", "max_channel_load"])
def test_nulls(folder: Path, here: None, column: str):
    rewritten(folder, lambda table: with_value(table, column, row_of_winner(table), None))
    if column != "topology":  # which is not read
        assert f"a row without {column}" in refused(folder)
    with pytest.raises(BadInput, match=f"a row without {column}"):
        ts.best(nodes=SPACE.nodes, dimensions=2, results=(str(folder),), where="degree = 4")


ALTERED: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a list for a number": lambda table: table.set_column(
        1, "nodes", pa.array([[n] for n in table["nodes"].to_pylist()])
    ),
    "text for a number": lambda table: table.set_column(1, "nodes", table["nodes"].cast("string")),
    "a column less": lambda table: table.drop_columns(["matrix"]),
    "a column twice": lambda table: table.append_column("nodes", table["nodes"]),
    "rows twice": lambda table: pa.concat_tables([table, table]),
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED)
def test_other_columns(folder: Path, here: None, change: Callable[[pa.Table], pa.Table]):
    rewritten(folder, change)
    assert "expected a data set of 'torusweep dataset', got: " in refused(folder)


def test_names_are_no_code(folder: Path, here: None):
    """The topology of a row is not what is shown, priced or built: it is spelt anew from its matrix."""
    rewritten(
        folder, lambda table: with_value(table, "topology", row_of_winner(table), 'graph(path="/dev/zero")\x1b[2J')
    )
    found = ts.best(nodes=12, dimensions=2, results=(str(folder),), where="degree = 4")
    assert found.topology.startswith("lattice(matrix=[[")


# --- the index --------------------------------------------------------------------------------------------------


def listed(**changed: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda index: {**index, "files": [{**index["files"][0], **changed}]}


INDEXES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no files": lambda index: {"files": []},
    "no list": lambda index: {"files": 7},
    "nothing": lambda index: None,
    "files are texts": lambda index: {"files": ["a"]},
    "twice": lambda index: {**index, "files": index["files"] * 2},
    "above": listed(name="../data/lattices-000.parquet"),
    "absolute": listed(name="/etc/passwd"),
    "a folder": listed(name="a/b.parquet"),
    "NUL": listed(name="a\0.parquet"),
    "a list for a name": listed(name=["a"]),
    "huge": listed(bytes=2**63),
    "larger": listed(bytes=10**9),
    "negative": listed(bytes=-1),
    "a null": listed(rows=None),
    "rows": listed(rows=3),
    "digits": listed(rows=10**400),
    "no digest": listed(parts="x"),
    "first": listed(first=[2]),
    "last": listed(last=[2, "x"]),
}


@pytest.mark.parametrize("change", INDEXES.values(), ids=INDEXES)
def test_indexes_that_are_none(folder: Path, here: None, change: Callable[[dict[str, Any]], Any]):
    path = folder / "files.json"
    path.write_text(json.dumps(change(json.loads(path.read_bytes()))))
    assert "expected a data set of 'torusweep dataset', got: " in refused(folder)


TEXTS = {
    "brackets": b"[" * 100_000,
    "objects": b'{"files":' * 100_000,
    "digits": b'{"files": ' + b"9" * 10_000 + b"}",
    "empty": b"",
    "bytes": bytes(range(256)),
    "too long": b" " * (1 << 23),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_that_are_no_index(folder: Path, here: None, text: bytes):
    (folder / "files.json").write_bytes(text)
    assert "expected a data set of 'torusweep dataset', got: " in refused(folder)


@pytest.mark.parametrize("name", ["files.json", "lattices-000.parquet", "lattices-000.parts"])
def test_a_pipe_is_not_waited_for(folder: Path, here: None, name: str):
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert "no regular file" in refused(folder, 10)


# --- damage ---------------------------------------------------------------------------------------------------------


def flipped(folder: Path, name: str, bit: int) -> None:
    content = bytearray((folder / name).read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    (folder / name).write_bytes(content)


def flips(folder: Path, count: int, seed: int) -> None:
    """Single flips anywhere: with the right digest nothing is answered but what is right; without it nothing is proved
    that is wrong."""
    chance, digest = random.Random(seed), DataSet(folder).digest
    right = ts.best(nodes=SPACE.nodes, dimensions=2)
    names = ("lattices-000.parquet", "lattices-000.parts", "files.json")
    noticed = 0
    for _ in range(count):
        name = chance.choices(names, (8, 1, 1))[0]
        bit = chance.randrange(8 * (folder / name).stat().st_size)
        flipped(folder, name, bit)
        for given in ({}, {"digest": digest}):
            said = ""
            try:
                found = ts.best(nodes=SPACE.nodes, dimensions=2, results=(str(folder),), **given)
            except BadInput as refusal:
                said = str(refusal)
            assert "\n" not in said
            assert said or found.rows == right.rows, (name, bit, given)
            noticed += bool(said)
        flipped(folder, name, bit)
    assert noticed > count, "all of what is read"


def test_single_flips(folder: Path, here: None):
    flips(folder, 60, 7)


@pytest.mark.faults
def test_five_hundred_single_flips(folder: Path, here: None):
    flips(folder, 500, 8)


# --- the process that reads ---------------------------------------------------------------------------------------


MODULE = """
import signal, time
from torusweep.errors import Refused

def dies(_): signal.raise_signal(signal.SIGABRT)
def hangs(_): time.sleep(60)
def fills(_): bytearray(8 << 30)
def refuses(_): raise Refused("too much")
"""


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of functions that a child finds."""
    (tmp_path / "misbehaving.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("dies", ValueError, r"it ended the process that read it \(SIGABRT\): it is damaged, or was made to do so"),
        ("hangs", ValueError, "no answer within 2 s"),
        ("fills", ValueError, "more than the 1 MiB of memory that it may take"),
        ("refuses", Refused, "^too much$"),
    ],
)
@pytest.mark.usefixtures("misbehaving")
def test_a_process_that_dies_hangs_or_fills_memory(name: str, error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        apart.apart(f"misbehaving:{name}", {}, memory=1 << 20, seconds=2 if name == "hangs" else 60)


@pytest.mark.usefixtures("misbehaving")
def test_a_process_that_dies_is_one_line_of_the_command(written: Path, monkeypatch: pytest.MonkeyPatch):
    call = apart.apart
    monkeypatch.setattr(before, "apart", lambda function, given, **more: call("misbehaving:dies", {}, **more))
    assert "got: it ended the process that read it (SIGABRT)" in refused(written)


def test_a_data_set_is_read_by_another_process(written: Path):
    found = of_data_set(written, SPACE, LEAST)
    (part,) = found.parts
    assert (
        computed_anew(part.rows.to_pylist(), SPACE, found)[0]["distance_sum"]
        == ts.best(nodes=12, dimensions=2)[0]["distance_sum"]
    )


# --- servers --------------------------------------------------------------------------------------------------------

Sends = Callable[[socket.socket], None]


@contextmanager
def server(sends: Sends) -> Iterator[str]:
    """Answers every request by a function that has the connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                sends(connection)
            except OSError:  # it had enough
                return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        ended.set()
        listening.close()


def forever(connection: socket.socket, head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> None:
    connection.sendall(head)
    while True:
        connection.sendall(b" " * 65536)


def drips(connection: socket.socket, head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> None:
    connection.sendall(head)
    while True:
        connection.sendall(b" ")
        time.sleep(0.2)


def sending(content: bytes) -> Sends:
    return lambda connection: connection.sendall(content)


REDIRECTED = b"HTTP/1.1 302 x\r\nContent-Length: 0\r\nLocation: "
SERVERS: dict[str, Sends] = {
    "never ends": forever,
    "headers that never end": lambda connection: forever(connection, b"HTTP/1.1 200 OK\r\nX: "),
    "drips": drips,
    "drips headers": lambda connection: drips(connection, b"HTTP/1.1 200 OK\r\nX: "),
    "says nothing": lambda connection: time.sleep(30),
    "cuts": sending(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{"),
    "hangs up": lambda connection: None,
    "a bad status line": sending(b"HTTP/9.9 \xff\xff\r\n\r\n"),
    "no HTTP": sending(b"SSH-2.0-x\r\n"),
    "a status": sending(b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n"),
    "a length": sending(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
    "chunks": sending(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "itself": sending(REDIRECTED + b"/files.json\r\n\r\n"),
    "a file": sending(REDIRECTED + b"file:///etc/passwd\r\n\r\n"),
}
SLOW = {"drips", "drips headers", "says nothing"}


@pytest.mark.parametrize("name", SERVERS)
def test_servers_that_misbehave(name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    if name in SLOW:
        call = apart.apart
        monkeypatch.setattr(before, "apart", lambda function, given, **more: call(function, given, **more, seconds=2.0))
    else:
        request.getfixturevalue("here")
    with server(SERVERS[name]) as address:
        said = refused(address, 60)
    assert "expected a data set of 'torusweep dataset', got: " in said
    assert ("no answer within 2 s" in said) == (name in SLOW)


class Ranges(BaseHTTPRequestHandler):
    """A server of ranges of a data set that does one thing wrong."""

    folder: Path
    fault: str

    def do_GET(self) -> None:
        content = (self.folder / self.path.lstrip("/")).read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if wanted:
            content = content[int(wanted[1]) : int(wanted[2]) + 1]
            wrong = {"reversed": content[::-1], "less": content[:-1], "more": content + bytes(10**6)}
            content = wrong.get(self.fault, content)
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@pytest.mark.parametrize("fault", ["reversed", "less", "more"])
def test_ranges_that_are_wrong(written: Path, here: None, fault: str):
    handler = type("Handler", (Ranges,), {"folder": written, "fault": fault})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        assert "got: " in refused(f"http://127.0.0.1:{serving.server_port}")
        serving.shutdown()
