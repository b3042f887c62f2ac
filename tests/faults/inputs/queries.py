"""Any SQL, any condition of a front: refused in a line, or answered."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from torusweep.tables import store

from tests.faults.command_line import settled, torusweep
from tests.faults.inputs.any_bytes import Properties

# --- SQL -----------------------------------------------------------------------------------------

WORDS = [
    "SELECT ",
    "FROM static ",
    "WHERE ",
    "*",
    "nodes",
    "topology",
    "1",
    "'a'",
    "(",
    ")",
    ",",
    ";",
    "--",
    "/*",
    "COPY ",
    " TO 'any.txt'",
    "ATTACH 'a.db'",
]
KINDS = [
    "DATE",
    "TIMESTAMP",
    "INTERVAL",
    "HUGEINT",
    "BLOB",
    "UUID",
    "DECIMAL(38, 37)",
    "TIME",
    "BIT",
    "JSON",
    "DOUBLE",
    "VARCHAR[]",
    "MAP(INTEGER[], INTEGER)",
]
CAST = st.tuples(
    st.sampled_from(["infinity", "290000-01-01", "1", "nan", "[]", "{[1]=2}", "\x1b[2J"]), st.sampled_from(KINDS)
)
QUERIES = (
    CAST.map(lambda cast: f"SELECT '{cast[0]}'::{cast[1]} AS v FROM static")
    | st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
    | st.text(max_size=40)
)


def a_query(sql: str) -> None:
    assume("\x00" not in sql and not sql.startswith("-"))
    if not Path("results").exists():
        store.publish_table(Path("results"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2]}))
    before = (Path("results/static.parquet").read_bytes(), sorted(Path().rglob("*")))
    for style in ("json", "table"):
        said = torusweep("query", sql, "--results", "results", "--format", style)
        if settled(said) and style == "json":
            json.loads(said.out, parse_constant=pytest.fail)
    assert (Path("results/static.parquet").read_bytes(), sorted(Path().rglob("*"))) == before, "something was written"


# --- conditions of a front -----------------------------------------------------------------------

PARTS = [
    "nodes",
    "topology",
    "1",
    " < ",
    " = ",
    "'a'",
    "(",
    ")",
    " AND ",
    " OR ",
    ";",
    "--",
    "/*",
    "SELECT 1",
    ",",
    "\n",
    "IN ",
]
CONDITIONS = st.lists(st.sampled_from(PARTS), max_size=10).map("".join) | st.text(max_size=40)


def a_condition(text: str) -> None:
    assume("\x00" not in text)
    if not Path("fronts").exists():
        store.publish_table(
            Path("fronts"), "static", pa.table({"topology": ["a", "b"], "nodes": [1, 2], "connected": [True, True]})
        )
    said = torusweep("pareto", "--minimise", "nodes", f"--where={text}", "--results", "fronts", "--json")
    if settled(said) and said.out.strip():
        assert {row["nodes"] for row in json.loads(said.out)} <= {1, 2}


PROPERTIES: Properties = {
    "query": (QUERIES, a_query, 20),
    "condition": (CONDITIONS, a_condition, 20),
}
