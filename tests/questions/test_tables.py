"""Tables are declared once; what is derived from the declaration agrees with it."""

from pathlib import Path

import pytest
from torusweep.all_columns import TABLES, markdown, schema_of


@pytest.mark.parametrize("table", TABLES)
def test_schema_carries_units_and_meanings(table):
    schema = schema_of(table)
    assert schema.names == [column.name for column in TABLES[table]]
    for column in TABLES[table]:
        metadata = schema.field(column.name).metadata
        stored = {} if column.stored == "by value" else {b"stored": b"by place"}
        assert metadata == {b"unit": column.unit.encode(), b"meaning": column.meaning.encode(), **stored}
        assert column.meaning


def test_the_documentation_is_up_to_date():
    assert (Path(__file__).parents[2] / "docs" / "tables.md").read_text() == markdown(), "run 'make docs'"
