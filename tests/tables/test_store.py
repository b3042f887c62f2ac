"""What is published is whole or absent, and what was altered is noticed (rows 14-24 of the table of faults)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from torusweep.all_columns import schema_of
from torusweep.errors import BadInput
from torusweep.questions.static.columns import STATIC
from torusweep.tables import provenance, shards, store
from torusweep.tables.parquet import arrow_buffer, parquet

SCHEMA = schema_of("static")
ZERO = {"string": "", "int64": 1, "double": 0.5, "bool": True, "list<int64>": [1, 2], "map<string, int64>": {"k": 8}}


def record(key: str, member: int = 0, **values: object) -> dict[str, object]:
    return {
        "key": key,
        "member": member,
        **{column.name: ZERO[column.type] for column in STATIC},
        "topology": f"ring(k={len(key)})",
        **values,
    }


def rows(*keys: str) -> pa.Table:
    return pa.Table.from_pylist([record(key) for key in keys], schema=shards.shard_schema(SCHEMA))


def rows_of(assembled: shards.Assembled) -> pa.Table:
    return pa.concat_tables(assembled.tables)


def all_of(*keys: str) -> list[shards.RowRange]:
    return [shards.RowRange(key) for key in keys]


def keys_of(table: pa.Table) -> list[str]:
    return [key for key, _ in groupby(table.column("key").to_pylist())]


def shard(folder: Path, *keys: str) -> Path:
    return folder / "shards" / f"{shards.publish_shard(folder, rows(*keys), {'host': 'here'})}.parquet"


def publish_static(folder: Path, *keys: str) -> Path:
    points = pa.Table.from_pylist([], schema=schema_of("points"))
    store.publish_points(folder, points, {"sweep": "test"}, {"static": True})
    store.publish_table(
        folder,
        "static",
        rows(*keys).drop_columns(["key", "member"]),
    )
    return folder / "static.parquet"


def test_rows_come_in_the_order_asked_for_each_once_and_no_others(tmp_path):
    shard(tmp_path, "c", "bb")
    shard(tmp_path, "a", "c")
    found = shards.read_shards(tmp_path, "static", SCHEMA)
    assert found.complaints == []
    finished = shards.finished(found.whole, all_of("a", "bb", "c", "missing"), SCHEMA)
    assert keys_of(rows_of(finished)) == ["a", "bb", "c"]
    assert finished.members == 3
    assert {part.origin["host"] for part in found.whole} == {"here"}


@pytest.mark.parametrize("block", [1, 3, 100])
def test_blocks_of_rows_make_the_same_table(tmp_path, monkeypatch, block):
    monkeypatch.setattr(shards, "BLOCK", block)
    names = [f"{index:0{length}}" for index, length in enumerate([1, 1, 2, 2, 2, 3, 1, 4, 4])]
    for part in (names[5:] + names[:2], names[1:7], [], ["other"]):
        shard(tmp_path, *part)
    found = shards.read_shards(tmp_path, "static", SCHEMA).whole
    by_key = [{key: list(rows) for key, rows in groupby(each.rows.to_pylist(), itemgetter("key"))} for each in found]
    asked = [*reversed(names[::2]), "missing", *names[1::2]]
    expected = [row for key in asked for row in next((rows[key] for rows in by_key if key in rows), [])]
    assert rows_of(shards.finished(found, all_of(*asked), SCHEMA)).to_pylist() == expected
    assert rows_of(shards.finished([], all_of(*asked), SCHEMA)).num_rows == 0
    for groups in (None, []):  # a table of points without rows
        assert rows_of(shards.finished(found, [], SCHEMA, groups)).num_rows == 0
    nothing = shards.finished(found, [], SCHEMA)
    assert (rows_of(nothing), *nothing[1:]) == (shards.shard_schema(SCHEMA).empty_table(), 0, [])


def test_a_points_rows_come_from_one_shard(tmp_path):
    shard(tmp_path, "a", "a", "bb")
    shard(tmp_path, "c", "a", "a", "a")
    found = shards.read_shards(tmp_path, "static", SCHEMA).whole
    of_a = found[0].rows.column("key").to_pylist().count("a")
    finished = shards.finished(found, all_of("c", "a"), SCHEMA)
    assert rows_of(finished).column("key").to_pylist() == ["c", *["a"] * of_a]
    assert finished.members == 2
    assert [keys_of(part.rows) for part in found] in ([["a", "bb"], ["c", "a"]], [["c", "a"], ["a", "bb"]])


@pytest.mark.parametrize("block", [1, 5, 1 << 16])
def test_members_of_runs_are_found_wherever_they_are(block, monkeypatch):
    """Beside a plain loop: shards that hold parts of runs, several times over, and intervals of them that are asked."""
    monkeypatch.setattr(shards, "BLOCK", block)
    random = Random(1)
    for _ in range(60):
        there = []
        for number in range(random.randrange(5)):
            has: list[dict[str, object]] = []
            for key in random.sample("pqr", random.randrange(4)):
                for member in sorted(random.sample(range(20), random.randrange(12))):
                    has += [record(key, member, nodes=100 * number + row) for row in range(random.randrange(1, 3))]
            schema = shards.shard_schema(SCHEMA)
            there.append(shards.Shard.of(str(number), parquet(pa.Table.from_pylist(has, schema=schema), {}), {}))
        listed = {part.digest: [(row["key"], row["member"], row) for row in part.rows.to_pylist()] for part in there}
        ends = {key: sorted(random.sample(range(-1, 25), 4)) for key in "pqrs"}
        wanted = [
            shards.RowRange(key, low + 1, high)
            for key in random.sample("pqrs", 4)
            for low, high in zip(ends[key], ends[key][1:])
        ]
        random.shuffle(wanted)
        expected, used, absent = [], set(), []
        for key, first, last in wanted:
            for member in range(first, last + 1):
                rows = {
                    digest: [row for *whose, row in part if whose == [key, member]] for digest, part in listed.items()
                }
                owner = next(filter(rows.get, rows), None)
                if owner is None:
                    absent.append((key, member))
                else:
                    used.add(owner)
                    expected += rows[owner]
        finished = shards.finished(there, wanted, SCHEMA)
        assert rows_of(finished).to_pylist() == expected
        groups = sorted(random.choices(range(3), k=len(wanted)))
        place = {(key, member): n for n, (key, first, last) in enumerate(wanted) for member in range(first, last + 1)}
        of_rows = [(row["key"], row["member"]) for row in expected]
        order = sorted(
            range(len(expected)), key=lambda n: (groups[place[of_rows[n]]], of_rows[n][1], place[of_rows[n]])
        )
        together = shards.finished(there, wanted, SCHEMA, groups)
        assert rows_of(together).to_pylist() == [expected[row] for row in order]
        assert {part.digest for part in finished.shards} == used
        assert finished.members == len({(row["key"], row["member"]) for row in expected})
        members = shards.members_of(there)
        gaps = [(one.key, *gap) for one in wanted for gap in shards.missing(one, members)]
        assert [(key, member) for key, first, last in gaps for member in range(first, last + 1)] == absent
        assert all(first <= last for _, first, last in gaps)


def test_rows_of_some_numbers_only(tmp_path, monkeypatch):
    monkeypatch.setattr("torusweep.tables.parquet.ROW_GROUP", 3)
    path = publish_static(tmp_path, *(f"{index:0{length}}" for index, length in enumerate([1, 1, 2, 2, 2, 3, 1, 4, 4])))
    whole = store.open_table(path)
    assert pq.ParquetFile(path).num_row_groups == 3
    for nodes in sorted({*whole["nodes"].to_pylist(), 77}):
        rows = store.open_table(path, {"nodes": nodes})
        assert rows.to_pylist() == [row for row in whole.to_pylist() if row["nodes"] == nodes]
        assert rows.schema.equals(whole.schema)


def test_a_table_is_the_same_bytes_however_its_rows_were_put_together(tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    keys = [f"{index:03}" for index in range(50)]
    shard(one, *keys)
    for key in reversed(keys):
        shard(many, key)
    content = [
        parquet(
            rows_of(shards.finished(shards.read_shards(folder, "static", SCHEMA).whole, all_of(*keys), SCHEMA)),
            {},
        )
        for folder in (one, many)
    ]
    assert content[0] == content[1]
    assert pq.read_table(pa.BufferReader(content[0])).to_pylist()[7]["parameters"] == [("k", 8)]


def test_a_table_declares_units_and_meanings_and_checksums_its_pages(tmp_path):
    path = publish_static(tmp_path, "a")
    for column in STATIC:
        field = pq.read_schema(path).field(column.name)
        assert field.metadata[b"unit"].decode() == column.unit
        assert field.metadata[b"meaning"].decode() == column.meaning
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    damaged = bytearray(path.read_bytes())
    damaged[column.dictionary_page_offset + column.total_compressed_size - 1] ^= (
        1  # the last byte of the column's last page
    )
    with pytest.raises(OSError, match=r"CRC checksum"):
        pq.read_table(pa.BufferReader(bytes(damaged)), page_checksum_verification=True)


DAMAGE = {
    "17 truncated": lambda content: content[: len(content) // 2],
    "18 empty": lambda content: b"",
    "19 one bit": lambda content: content[:100] + bytes([content[100] ^ 4]) + content[101:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_shard_is_named_and_its_points_are_missing(tmp_path, damage):
    kept, hurt = shard(tmp_path, "a"), shard(tmp_path, "bb")
    hurt.write_bytes(DAMAGE[damage](hurt.read_bytes()))
    found = shards.read_shards(tmp_path, "static", SCHEMA)
    assert [part.digest for part in found.whole] == [kept.stem]
    assert len(found.complaints) == 1
    assert hurt.name in found.complaints[0]
    assert shard(tmp_path, "bb") == hurt, "computed again, it has its old name"
    assert len(shards.read_shards(tmp_path, "static", SCHEMA).whole) == 2


def _other_columns(folder: Path) -> Path:
    content = parquet(pa.table({"key": ["a"]}), {"origin": "{}"})
    path = folder / "shards" / f"{store.digest(content)}.parquet"
    store.publish(path, content)
    return path


def _other_version(folder: Path) -> Path:
    rows = pa.Table.from_pylist([record("a")], schema=shards.shard_schema(SCHEMA))
    content = parquet(rows, {"origin": "{}", "schema_version": "0"})
    path = folder / "shards" / f"{store.digest(content)}.parquet"
    store.publish(path, content)
    return path


def _text(folder: Path) -> Path:
    path = folder / "shards" / f"{store.digest(b'hello')}.parquet"
    store.publish(path, b"hello")
    return path


def _notes(folder: Path) -> Path:
    store.publish(folder / "shards" / "notes.txt", b"hello")
    return folder / "shards" / "notes.txt"


@pytest.mark.parametrize("foreign", [_other_columns, _other_version, _text, _notes])
def test_a_foreign_file_among_the_shards_is_named_and_left_alone(tmp_path, foreign):  # 22
    shard(tmp_path, "bb")
    path = foreign(tmp_path)
    found = shards.read_shards(tmp_path, "static", SCHEMA)
    assert [keys_of(part.rows) for part in found.whole] == [["bb"]]
    assert len(found.complaints) == 1
    assert str(path) in found.complaints[0]
    assert path.exists()


def test_leftovers_of_a_dead_run_are_removed_and_never_read(tmp_path):  # 16
    whole = shard(tmp_path, "a")
    code = f"""
import os, signal
from pathlib import Path
from torusweep.tables import store
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
store.publish(Path({str(whole.parent / "x.parquet")!r}), b"half")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert len(list(whole.parent.iterdir())) == 2
    assert len(shards.read_shards(tmp_path, "static", SCHEMA).whole) == 1
    assert store.clean(tmp_path) == 1
    assert list(whole.parent.iterdir()) == [whole]


def test_disk_full_is_one_line_and_leaves_nothing_half_written(tmp_path):  # 14
    earlier = shard(tmp_path, "a")
    code = f"""
import resource
from pathlib import Path
from torusweep.tables import store
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    store.publish(Path({str(tmp_path / "shards" / "big.parquet")!r}), bytes(100_000))
except store.CannotWrite as refusal:
    print(refusal)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert run.stdout.count("\n") == 1
    assert "big.parquet (100,000 bytes): File too large; make room" in run.stdout
    assert list(earlier.parent.iterdir()) == [earlier]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):  # 15
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(BadInput, match=r"cannot write in .*file.*--results"),
        provenance.hold(tmp_path / "file" / "sweep" / store.LOCK),
    ):
        pytest.fail("computed")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            lambda folder: (folder / "static.parquet").write_bytes((folder / "static.parquet").read_bytes() + b" "),
            "static.parquet was altered",
        ),
        (lambda folder: (folder / "static.parquet").unlink(), "cannot read .*static.parquet"),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_text('{"tables": 3}'), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_bytes(b"\xff"), "manifest.json is damaged"),
        (lambda folder: (folder / "manifest.json").write_text("{}"), "not in its manifest"),
    ],
)
def test_a_table_that_is_not_its_manifests_is_refused_by_name(tmp_path, damage, says):  # 20, 21
    path = publish_static(tmp_path, "a", "bb")
    assert store.open_table(path).num_rows == 2
    damage(tmp_path)
    with pytest.raises(BadInput, match=says) as refusal:
        store.open_table(path)
    assert "\n" not in str(refusal.value)


def test_what_is_no_folder_has_no_manifest(tmp_path):
    (tmp_path / "file").write_text("{}")
    for name, got in (("file", "no folder"), ("none", "nothing of this name")):
        with pytest.raises(BadInput, match=f"{name}: expected a folder of results, got {got}; run the sweep first"):
            store.read_manifest(tmp_path / name)


def test_a_table_of_another_version_is_refused_by_name(tmp_path):
    path = publish_static(tmp_path, "a")
    assert store.open_current(path, SCHEMA).num_rows == 1
    store.publish_table(tmp_path, "static", store.open_table(path).drop_columns(["cost"]))
    assert store.open_table(path).num_rows == 1
    with pytest.raises(
        BadInput,
        match=r"static\.parquet is of another version of torusweep: it has no column cost; run the sweep again",
    ):
        store.open_current(path, SCHEMA)


def test_a_moved_folder_is_as_good(tmp_path):  # 24
    publish_static(tmp_path / "old", "a")
    shard(tmp_path / "old", "a")
    (tmp_path / "old").rename(tmp_path / "new")
    assert store.open_table(tmp_path / "new" / "static.parquet").num_rows == 1
    assert len(shards.read_shards(tmp_path / "new", "static", SCHEMA).whole) == 1


def test_tables_published_at_once_are_all_in_the_manifest(tmp_path):
    publish_static(tmp_path, "a")
    code = """
import sys
from pathlib import Path
import pyarrow as pa
from torusweep.tables import store
for index in range(10):
    store.publish_table(Path(sys.argv[1]), f"{sys.argv[2]}{index}", pa.table({"x": [index]}))
"""
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "pq"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert len(json.loads((tmp_path / "manifest.json").read_bytes())["tables"]) == 22


def test_a_second_run_is_told_who_the_first_is_and_a_dead_one_locks_nothing(tmp_path):  # 11
    path = tmp_path / store.LOCK
    code = f"""
import sys
from pathlib import Path
from torusweep.tables import provenance as lock
with lock.hold(Path({str(path)!r})):
    print("mine", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with (  # the other one ends only afterwards: who waited for it would wait for ever
            pytest.raises(BadInput, match=f"in use by process {first.pid} on {os.uname().nodename} since 20"),
            provenance.hold(path),
        ):
            pytest.fail("both hold the lock")
        first.kill()
    assert provenance.holder(path) is None
    with provenance.hold(path):
        assert (provenance.holder(path) or {})["pid"] == os.getpid()


def test_a_lock_on_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full() -> object:
        return open("/dev/full", "a")

    monkeypatch.setattr("torusweep.tables.provenance.open_for_writing", lambda path: full())
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    with pytest.raises(BadInput, match=r"cannot write .*\.lock: "), provenance.hold(tmp_path / ".lock"):
        pytest.fail("locked")


def test_arrow_reads_bytes_of_its_own():
    """Its threads outlive the interpreter's lock, which Python's bytes need when they are released."""
    content = bytes(range(256)) * 64
    references = sys.getrefcount(content)
    reader = pa.BufferReader(arrow_buffer(content))
    assert sys.getrefcount(content) == references
    assert reader.read() == content
    assert (pa.BufferReader(content), sys.getrefcount(content))[1] > references, "this test can fail"


def test_rows_of_a_large_table_are_read_without_the_digest_of_all(tmp_path, monkeypatch):
    """The digest of its footer and the checksums of the pages that are read hold: what is altered there is refused."""
    monkeypatch.setattr("torusweep.tables.parquet.ROW_GROUP", 3)
    monkeypatch.setattr(store, "LARGE", 1)
    path = publish_static(tmp_path, *(f"{index:0{1 + index}}" for index in range(9)))
    whole = path.read_bytes()
    wanted = [row for row in store.open_table(path).to_pylist() if row["nodes"] == 1]
    monkeypatch.setattr(store, "digest", None)  # the whole file's is not computed
    assert store.open_table(path, {"nodes": 1}).to_pylist() == wanted
    about = pq.read_metadata(path)
    column = about.row_group(0).column(about.schema.names.index("nodes"))
    for place in (column.data_page_offset + column.total_compressed_size - 1, len(whole) - 30):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BadInput, match="was altered: its digest is not its manifest's"):
            store.open_table(path, {"nodes": 1})


READERS = {
    "table": lambda folder, schema: store.open_table(folder / "static.parquet"),
    "columns": lambda folder, schema: store.open_file(folder / "static.parquet", schema).read(["stage"]),
    "groups": lambda folder, schema: [*store.open_file(folder / "static.parquet", schema).groups()],
    "places": lambda folder, schema: store.open_file(folder / "static.parquet", schema).take(np.array([1])),
}


@pytest.mark.parametrize("reader", READERS)
def test_texts_that_are_no_utf_8_are_refused_by_all_that_read_rows(tmp_path: Path, reader: str):
    """Arrow reads them, and whoever uses them ends in a UnicodeDecodeError."""
    schema = pa.schema([("stage", pa.string())])
    wrong = pa.table([pa.array([b"a", b"\xe3("], pa.binary()).view(pa.string())], schema=schema)
    store.publish_table(tmp_path, "static", wrong)
    with pytest.raises(BadInput, match=r"\.parquet is .*damaged.*: delete it and run the sweep again"):
        READERS[reader](tmp_path, schema)


def test_a_shard_whose_texts_are_no_utf_8_is_not_used(tmp_path: Path):
    schema = pa.schema([("stage", pa.string())])
    columns = [pa.array(["k"]), pa.array([0], pa.int64()), pa.array([b"\xe3("], pa.binary()).view(pa.string())]
    shards.publish_shard(tmp_path, pa.table(columns, schema=shards.shard_schema(schema)), {"stage": "static"})
    found = shards.read_shards(tmp_path, "static", schema)
    assert found.whole == []
    assert len(found.complaints) == 1
