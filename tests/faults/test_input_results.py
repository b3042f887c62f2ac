"""Any results folder: tables, shards, points and manifest of a hostile grammar, through the commands that read them.

A folder of results is copied and shared. Whoever alters a table can enter its digest in the manifest, too; so the
digests here fit, unless the manifest itself was altered. Each command refuses in one line, or answers, in time.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from torusweep.all_columns import DECLARED
from torusweep.answers.page import page
from torusweep.tables import store
from torusweep.tables.parquet import TableFile, parquet
from torusweep.tables.rows import StoredRows
from torusweep.tables.table import Declaration

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import Properties
from tests.faults.properties import FEW, MANY, hold

CONFIG = (
    "sweep: any\ntopologies: ['ring(k=4)', 'ring(k=6)', {family: torus, k: 3, n: 2}]\n"
    "loads:\n  - {traffic: [uniform, random_permutation], routing: minimal}\n"
    "layout:\n  - {placement: folded}\n"
    "deadlock:\n  - {routing: dimension_order, vc_rule: [none, dateline], virtual_channels: 2}\n"
    "collectives:\n  - {operation: [all_gather, all_to_all], algorithm: all, skip_unsuitable: true}\n"
    "latency:\n  - {model: dally-1990, nodes: 64, message_bits: 150}\n"
    "availability:\n  - {fails: links, failures: 1, draws: 10, measures: connectivity}\n"
    "cost:\n  - {model: 2014-besta, skip_unsuitable: true}\n"
    "simulation:\n  - {loads: [0.1], cycles: 500}\n"
)
STAGES = ("static", "loads", "layout", "deadlock", "collectives", "latency", "availability", "cost", "simulation")
STEPS = TABLES = ("points", *STAGES, "distances", "equal_cost", "verification")
TEMPLATE, FOLDER = Path("template/any"), Path("results/any")

EVIL = "<script>evil()</script>"
TEXTS = [
    *("", " ", "ring(k=4)", "ring(k=", "torus(k=9999999, n=9)", EVIL, "</script><img src=x onerror=evil()>", "a\nb"),
    *("\x1b[2J", "\u202e", "../../evil", "--snakefile=evil", "x" * 100_000, "minimal", "uniform", "{}", "nan"),
]
NUMBERS = [None, float("nan"), float("inf"), float("-inf"), -1.0, 0.0, 1e308, 2.0**63]
WHOLES = [None, 0, -1, 2**31, 2**63 - 1, -(2**63)]
TYPES = [
    *(pa.string(), pa.large_string(), pa.int64(), pa.uint8(), pa.float64(), pa.float16(), pa.bool_(), pa.binary()),
    *(pa.null(), pa.timestamp("ns", tz="UTC"), pa.date32(), pa.decimal128(38, 10), pa.list_(pa.int64())),
    *(pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.string()), pa.dictionary(pa.int32(), pa.string())),
]


class Edit(NamedTuple):
    """A change of a table. column: its place, modulo their number; with: a value, type or name."""

    kind: str
    column: int
    given: Any


def _edits(kind: str, given: st.SearchStrategy[Any]) -> st.SearchStrategy[Edit]:
    return st.builds(Edit, st.just(kind), st.integers(0, 40), given)


EDITS = st.lists(
    st.one_of(
        _edits("value", st.sampled_from([*TEXTS, *NUMBERS, *WHOLES, [], [1], {}, True, b"\xff"])),
        _edits("type", st.sampled_from(TYPES)),
        _edits("name", st.sampled_from(["topology", "key", "nodes", "", EVIL, "a\nb", '"', "x" * 10_000])),
        _edits("drop", st.none()),
        _edits("add", st.sampled_from(["extra", "topology", "Topology", EVIL, ""])),
        _edits("rows", st.sampled_from([0, 1, 2, 50])),
        _edits("metadata", st.sampled_from([b"", b"{}", b"\xff", b"[" * 5_000, EVIL.encode()])),
    ),
    max_size=3,
)


def edited(table: pa.Table, edits: list[Edit]) -> pa.Table:
    """A table with some changes. A value that does not suit its column's type changes the type."""
    for kind, place, given in edits:
        at = place % max(1, table.num_columns)
        if kind == "rows":
            table = table.slice(0, given) if given < 3 else pa.concat_tables([table] * given)
        elif kind == "metadata":
            table = table.replace_schema_metadata({b"torusweep": given, b"pandas": given, b"origin": given})
        elif kind == "add":
            table = table.append_column(given, pa.array([given] * table.num_rows, pa.string()))
        elif table.num_columns == 0:
            continue
        elif kind == "drop":
            table = table.remove_column(at)
        elif kind == "name":
            names = list(table.column_names)
            names[at] = given
            table = table.rename_columns(names)
        else:
            field = table.schema.field(at)
            table = table.set_column(at, field.name, _values(table.num_rows, field.type, kind, given))
    return table


def _values(rows: int, own: pa.DataType, kind: str, given: Any) -> pa.Array:
    if kind == "type":
        return pa.nulls(rows, given)
    if isinstance(given, bytes) and pa.types.is_string(own):
        return pa.array([given] * rows, pa.binary()).view(own)  # texts that are no UTF-8
    try:
        return pa.array([given] * rows, own)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Parquet holds no struct without members
        return pa.array([given or {"a": 1} if isinstance(given, dict) else given] * rows)


LEAVES = st.sampled_from([*TEXTS, *NUMBERS, *WHOLES, True, [], {}, "0" * 64, "static", "loads"])
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["static", "sha256", "rows", "stage", "../x", "", EVIL]), inner, max_size=3)
    ),
    max_leaves=6,
)
# places in a manifest, and what stands there instead
ALTERED = st.lists(st.tuples(st.lists(st.integers(0, 12), min_size=1, max_size=5), TREES), min_size=1, max_size=3)
WHOLE_MANIFESTS = st.sampled_from(
    [
        *(
            b"",
            b"{",
            b"null",
            b"[]",
            b"{}",
            b'"x"',
            b"\xff\xfe{}",
            b"\xef\xbb\xbf{}",
            b"[" * 100_000,
            b'{"a":' * 50_000,
        ),
        *(b'{"tables": {"static": {"sha256": "' + b"0" * 64 + b'", "rows": 1e400}}}', b"9" * 100_000, b"{}\x00"),
        b'{"tables": {}, "tables": {"static": {}}}',
    ]
)

ASKED = {
    "static": ("query", "SELECT * FROM static", "--json"),
    "designs": ("query", "SELECT * FROM designs"),
    "joined": ("query", "SELECT * FROM static JOIN loads USING (topology) ORDER BY ALL", "--format", "csv"),
    "schema": ("query", "--schema"),
    "report": ("report", "-o", "page.html"),
    "verify": ("verify", "--json"),
    "pareto": ("pareto", "--minimise", "cost", "--maximise", "saturation_load", "--traffic", "all", "--json"),
    "plot": ("plot", "nodes", "mean_distance", "-o", "plot.svg"),
    "compare": ("compare", str(FOLDER), str(TEMPLATE)),
}
READERS = st.sampled_from([*ASKED, *(f"step {name}" for name in STEPS)])


def ask(reader: str) -> None:
    """A command that reads the folder; what it says, and the page, hold no code of the folder's."""
    page = Path("page.html")
    page.unlink(missing_ok=True)
    if reader.startswith("step "):
        said = torusweep("step", reader.removeprefix("step "), "any.yaml", str(FOLDER))
    else:
        said = torusweep(*ASKED[reader], *(() if reader == "compare" else ("--results", str(FOLDER))))
    if not (reader in ("verify", "compare") and said.status == 1):  # numbers that differ
        settled(said)
    if page.exists():
        assert EVIL not in page.read_text()


def fresh() -> None:
    """The folder as a finished sweep leaves it."""
    if not TEMPLATE.exists():
        Path("any.yaml").write_text(CONFIG)
        for name, content in finished().items():
            (TEMPLATE / name).parent.mkdir(parents=True, exist_ok=True)
            (TEMPLATE / name).write_bytes(content)
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(TEMPLATE, FOLDER)


@functools.cache
def finished() -> dict[str, bytes]:
    """The files of the finished sweep."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        Path("any.yaml").write_text(CONFIG)
        for step in STEPS:
            assert settled(torusweep("step", step, "any.yaml", str(TEMPLATE)))
        return {str(path.relative_to(TEMPLATE)): path.read_bytes() for path in TEMPLATE.rglob("*") if path.is_file()}


def enter(part: str, old: str, name: str, content: bytes, rows: int) -> None:
    """Enter an altered table or shard in the manifest, so that its digest fits."""
    path = FOLDER / "manifest.json"
    manifest = json.loads(path.read_bytes())
    if part == "tables":
        manifest["tables"][name] = {"sha256": store.digest(content), "rows": rows}
    else:
        for shard in manifest["shards"]:
            if shard["sha256"] == old:
                shard |= {"sha256": store.digest(content), "rows": rows}
    path.write_text(json.dumps(manifest))


def a_table(drawn: tuple[str, list[Edit], str]) -> None:
    name, edits, reader = drawn
    fresh()
    path = FOLDER / f"{name}.parquet"
    table = edited(store.open_table(path), edits)
    content = parquet(table, {})
    path.write_bytes(content)
    enter("tables", "", name, content, table.num_rows)
    ask(reader)


def a_shard(drawn: tuple[int, list[Edit], bool, str]) -> None:
    """An altered shard is used for what its keys say, or computed again: the tables are there either way."""
    place, edits, entered, stage = drawn
    fresh()
    shards = sorted((FOLDER / "shards").glob("*.parquet"))
    path = shards[place % len(shards)]
    table = edited(pq.read_table(path), edits)
    content = parquet(table, dict(pq.read_schema(path).metadata or {}))
    path.unlink()
    (FOLDER / "shards" / f"{store.digest(content)}.parquet").write_bytes(content)
    if entered:
        enter("shards", path.stem, "", content, table.num_rows)
    (FOLDER / f"{stage}.parquet").unlink()
    ask(f"step {stage}")
    ask("static")


def a_manifest(drawn: tuple[Any, str]) -> None:
    altered, reader = drawn
    fresh()
    path = FOLDER / "manifest.json"
    if isinstance(altered, bytes):
        path.write_bytes(altered)
    else:
        manifest = json.loads(path.read_bytes())
        manifest["failed"] = [{"stage": "static", "topology": "ring(k=5)", "point": "ring(k=5)", "reason": "made up"}]
        for way, tree in altered:
            _replace(manifest, way, tree)
        path.write_text(json.dumps(manifest))
    ask(reader)


def _replace(tree: Any, way: list[int], wanted: Any) -> None:
    """Put a value at a place of a tree, each number choosing among the keys or items there."""
    for last, number in zip([*[False] * (len(way) - 1), True], way):
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
        if not keys:
            return
        key = keys[number % len(keys)]
        if last or not isinstance(tree[key], (dict, list)) or not tree[key]:
            tree[key] = wanted
            return
        tree = tree[key]


PROPERTIES: Properties = {  # as of tests/faults/test_input_any_bytes.py
    "table": (st.tuples(st.sampled_from(TABLES), EDITS, READERS), a_table, 5),
    "shard": (
        st.tuples(st.integers(0, 5), EDITS, st.booleans(), st.sampled_from(["static", "loads", "layout"])),
        a_shard,
        10,
    ),
    "manifest": (st.tuples(ALTERED | WHOLE_MANIFESTS, READERS), a_manifest, 5),
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("what", PROPERTIES)
def test_any_results_are_read_or_refused_in_one_line(what: str) -> None:
    hold(what, PROPERTIES, FEW)


@pytest.mark.faults
@pytest.mark.parametrize("what", PROPERTIES)
def test_many_more_results(what: str) -> None:
    hold(what, PROPERTIES, MANY)


FOUND = [  # that once ended in a traceback
    *(("static", [Edit("value", column, given)], "report") for column, given in ((2, " "), (3, ""), (4, ""))),
    *(("static", [Edit("value", 0, given)], "report") for given in (float("inf"), float("nan"))),
    ("static", [Edit("type", 2, pa.string())], "report"),
]


@pytest.mark.parametrize("drawn", FOUND, ids=str)
def test_columns_of_other_types_are_refused(drawn: tuple[str, list[Edit], str]) -> None:
    fresh()
    a_table(drawn)
    said = torusweep(*ASKED[drawn[2]], "--results", str(FOLDER))
    assert said.status == 2
    assert "static.parquet: column " in said.err


@pytest.mark.parametrize("reader", ["static", "report", "step verification"])
@pytest.mark.parametrize("place", [0.1, 0.99], ids=["page", "footer"])
def test_a_damaged_table_whose_digest_fits_is_refused(reader: str, place: float) -> None:
    fresh()
    path = FOLDER / "static.parquet"
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    at = footer + 1 if place > 0.5 else int(place * footer)
    content = whole[:at] + bytes(byte ^ 255 for byte in whole[at : at + 40]) + whole[at + 40 :]
    path.write_bytes(content)
    enter("tables", "", "static", content, store.open_table(TEMPLATE / "static.parquet").num_rows)
    ask(reader)


@pytest.mark.parametrize("reader", ASKED)
def test_a_column_whose_name_is_no_text_is_refused(reader: str) -> None:
    fresh()
    path = FOLDER / "static.parquet"
    content = path.read_bytes().replace(b"topology", b"topolog\xbb")
    path.write_bytes(content)
    enter("tables", "", "static", content, store.open_table(TEMPLATE / "static.parquet").num_rows)
    ask(reader)


def test_a_table_that_is_gone_though_its_manifest_names_it_is_one_line() -> None:
    fresh()
    enter("tables", "", "gone", b"", 0)
    said = torusweep("compare", str(FOLDER), str(FOLDER))
    assert said.status == 2
    assert "cannot read results/any/gone.parquet" in said.err


@pytest.mark.parametrize("reader", ASKED)
def test_two_columns_of_one_name_are_read_or_refused(reader: str) -> None:
    a_table(("points", [Edit("name", 0, "topology")], reader))


def test_a_family_that_is_a_number_is_drawn() -> None:
    a_table(("static", [Edit("value", 1, float("nan"))], "plot"))


def of_page() -> dict[str, Declaration]:
    return {name: table for name, table in DECLARED.items() if name in TABLES and (table.joined or table.title)}


@pytest.mark.faults
def test_a_row_without_a_value_that_every_row_has_is_refused():
    fresh()
    for name, table in of_page().items():
        for column in table.always:
            fresh()
            path, stored = FOLDER / f"{name}.parquet", pq.read_table(FOLDER / f"{name}.parquet")
            assert stored.num_rows, name
            content = parquet(with_last(stored, column, None), {})
            path.write_bytes(content)
            enter("tables", "", name, content, stored.num_rows)
            said = torusweep("report", "-o", "page.html", "--results", str(FOLDER))
            assert not settled(said)
            assert f"{name}.parquet: column {column}: expected a value in every row, got 1 row without" in said.err


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", of_page())
def test_the_page_of_a_table_with_any_value_in_any_column(name: str):
    """Each column in turn lacks its last value, lacks all, has a script for a text, and values that no sweep writes."""
    fresh()
    tables = {table: pq.read_table(FOLDER / f"{table}.parquet") for table in of_page()}
    odd = itertools.cycle(["", 0, float("nan"), -1, float("inf"), 2**62])
    for column in tables[name].column_names:
        lacking = [] if column in DECLARED[name].always else [None, ...]
        for given in [*lacking, EVIL, *itertools.islice(odd, 4)]:
            try:
                altered = with_last(tables[name], column, given)
            except (pa.ArrowException, TypeError, ValueError):
                continue
            rows = {table: StoredRows(TableFile(parquet(own, {}))) for table, own in (tables | {name: altered}).items()}
            assert EVIL not in page(rows, store.read_manifest(FOLDER)), (column, given)


def with_last(table: pa.Table, column: str, given: Any) -> pa.Table:
    """The table with another value in a column of its last row; `...`: without a value in any row."""
    field, values = table.schema.field(column), table.column(column).to_pylist()
    values = [None] * len(values) if given is ... else [*values[:-1], given]
    return table.set_column(table.column_names.index(column), field, pa.array(values, field.type))
