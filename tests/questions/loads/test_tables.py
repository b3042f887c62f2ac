"""The rows of loads and of channels: complete, in their columns, with their saturation."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa
import pytest
from torusweep.all_columns import schema_of
from torusweep.networks.families import build
from torusweep.questions.loads.channels import channel_table
from torusweep.questions.loads.columns import CHANNEL_LOADS, LOADS
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of

from tests.questions.static.networks import as_networkx
from tests.records import loads_record


def test_a_record_fits_its_table():
    record = loads_record(build("pt(a=4)"), traffic="hot_spot(node=3)")
    assert list(record) == [column.name for column in LOADS]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    loads = pa.Table.from_pylist([record], schema=schema_of("loads"))
    with duckdb.connect() as connection:
        connection.register("loads", loads)
        found = connection.sql("SELECT per_class_load['x'].max, saturation_load, traffic FROM loads").fetchall()
    assert found == [(record["per_class_load"]["x"]["max"], record["saturation_load"], "hot_spot(node=3)")]


def test_the_table_has_every_channel():
    built = build("faulty(mesh(k=3, n=2), links=1, seed=2)")
    table = channel_table(exact_loads(built, traffic="neighbour"))
    assert table.column_names == [column.name for column in CHANNEL_LOADS]
    rows = table.to_pylist()
    assert {(row["from"], row["to"]) for row in rows} == set(as_networkx(built).to_directed().edges)
    assert len(rows) == 2 * 11
    assert {row["class"] for row in rows} == {"x", "y"}
    assert all((abs(row["from"] - row["to"]) == 1) == (row["class"] == "x") for row in rows)
    assert sum(row["load"] for row in rows) == pytest.approx(
        9 * record_of(exact_loads(built, traffic="neighbour"))["mean_hops"]
    )


@pytest.mark.parametrize(
    ("topology", "ejection"),
    [("lattice(matrix=[[1]])", 1.0), ("ring(k=8)", 1 / (8 * (0.9 / 8 + 0.1)))],
)
def test_terminals_saturate_too(topology, ejection):
    record = loads_record(build(topology), traffic="hot_spot")
    assert record["ejection_load"] == pytest.approx(ejection, rel=1e-13)
    assert record["terminal_saturation_load"] == pytest.approx(min(ejection, record["saturation_load"] or ejection))


def test_without_load_there_is_no_saturation():
    record = loads_record(build("lattice(matrix=[[1]])"))
    assert (
        record["max_channel_load"],
        record["saturation_load"],
        record["link_utilization"],
        record["per_class_load"],
    ) == (0, None, None, {})
