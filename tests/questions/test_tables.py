"""Tables are declared once; what is derived from the declarations agrees with them."""

from pathlib import Path
from pkgutil import resolve_name

import duckdb
import pyarrow as pa
import pytest
from torusweep.all_columns import DECLARED, all_tables, markdown, schema_of
from torusweep.stages import STAGES
from torusweep.tables.table import By, order


@pytest.mark.parametrize("table", all_tables())
def test_schema_carries_units_and_meanings(table):
    schema = schema_of(table)
    assert schema.names == all_tables()[table].names
    for column in all_tables()[table].columns:
        metadata = schema.field(column.name).metadata
        stored = {} if column.stored == "by value" else {b"stored": b"by place"}
        assert metadata == {b"unit": column.unit.encode(), b"meaning": column.meaning.encode(), **stored}
        assert column.meaning


@pytest.mark.parametrize("name", all_tables())
def test_a_declaration_names_columns_and_stages_that_there_are(name):
    table, columns = all_tables()[name], {*all_tables()[name].names}
    assert table.name == name
    assert table.row
    assert columns >= {
        *table.apart,
        *table.usual,
        *table.of_curve,
        *(table.certified or ()),
        *(by.column for by in table.best),
    }
    assert {*table.apart} >= {*table.choose, *table.how, *filter(None, [table.along])}
    assert not {*table.choose} & {*table.how}
    assert {*table.made_of} <= {*STAGES}
    assert {*table.measured} <= {*DECLARED["static"].names}
    assert not table.joined or "topology" in columns


# a row a network, a search, a class of lattices, a point, a printed number
ONE_ROW = {"static", "search", "screen", "points", "verification"}


def test_a_table_says_what_tells_rows_apart_and_which_row_counts():
    tables = all_tables()
    assert {name for name, table in tables.items() if not table.apart} == ONE_ROW
    # where a reader takes one row of a network: the view `designs`, the best routing, the cheapest packing
    several = {name for name, table in tables.items() if table.designs or ("routing" in table.apart and table.joined)}
    assert {name for name, table in tables.items() if table.best} == several | {"cost"}


@pytest.mark.parametrize("name", sorted(name for name, table in DECLARED.items() if table.rows))
def test_a_table_made_of_others_names_what_makes_it(name):
    assert callable(resolve_name(DECLARED[name].rows))
    assert DECLARED[name].made_of


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_has_its_table(name):
    assert STAGES[name].columns is DECLARED[name].columns


def test_the_documentation_is_up_to_date():
    assert (Path(__file__).parents[2] / "docs" / "tables.md").read_text() == markdown(), "run 'make docs'"


NUMBERS = [None, 2.0, 1.0, 1.0 + 1e-12, None, 0.0]


@pytest.mark.parametrize(
    ("terms", "places"),  # the order of the rows whose x is in NUMBERS, and whose y counts down from 5, by hand
    [
        ((By("x"), By("y")), [5, 2, 3, 1, 4, 0]),
        ((By("x", most=True), By("y")), [1, 3, 2, 5, 4, 0]),
        ((By("x", digits=9), By("y")), [5, 3, 2, 1, 4, 0]),
        ((By("x", most=True, digits=9), By("y", most=True)), [1, 2, 3, 5, 0, 4]),
        ((By("x", first=1.0), By("y")), [2, 5, 4, 3, 1, 0]),
        ((By("x", first=None), By("y", most=True)), [0, 4, 1, 2, 3, 5]),
        ((By("word", first="it's"), By("y")), [1, 5, 4, 3, 2, 0]),
    ],
)
def test_sql_and_python_order_rows_in_the_same_way(terms, places):
    rows = [{"x": x, "y": 5 - i, "word": "it's" if i == 1 else None, "place": i} for i, x in enumerate(NUMBERS)]
    with duckdb.connect() as connection:
        connection.register("rows", pa.Table.from_pylist(rows))
        found = connection.execute(f"SELECT place FROM rows ORDER BY {order(terms)}").fetchall()
    assert [place for (place,) in found] == places
    ranked = DECLARED["loads"]._replace(best=terms)
    assert [row["place"] for row in sorted(rows, key=ranked.best_first)] == places
