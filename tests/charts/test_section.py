"""The parts of a section of the page."""

from __future__ import annotations

import pytest
from torusweep.charts.section import Cell, Field, breakable, number, table


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("dimension_order", "dimension_<wbr>order"),
        ("torus(k=8, n=2)", "torus(<wbr>k=8, n=2)"),
        ("torus(directed=true)", "torus(<wbr>directed=<wbr>true)"),
        ("a/b,c", "a/<wbr>b,<wbr>c"),
        ("1,024 channels into 3 nodes", "1,024 channels into 3 nodes"),  # no number is broken
        ("f() _", "f() _"),  # no bracket stands on a line of its own
        ("counterexample", "counterexample"),
        ("acyclic (Dally & Seitz 1987)", "acyclic (Dally &amp; Seitz 1987)"),  # no bracket that opens ends a line
        ("<b>&_x", "&lt;b&gt;&amp;_<wbr>x"),
        ("", ""),
    ],
)
def test_words_are_broken_after_signs_only(text: str, html: str) -> None:
    assert breakable(text) == html


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (10169.6, 6, "10,169.6"),  # in a column with 2,603,418
        (1280.0, 5, "1,280"),
        (1234567, 4, "1,234,567"),
        (1234567.8, 4, "1,234,568"),
        (-90650.0, 5, "-90,650"),
        (100.0, 8, "100"),
        (0.25, 4, "0.25"),
        (1e-07, 4, "1e-07"),
        (0.0, 4, "0"),
        (None, 4, "–"),
    ],
)
def test_a_number_has_separators_whatever_its_type(value: float | None, digits: int, text: str) -> None:
    assert number(value, digits).text == text


def test_a_column_without_a_value_is_left_out() -> None:
    fields = [Field(name, lambda row, name=name: Cell(row[name])) for name in ("a", "b", "c")]
    rows = [{"a": "x", "b": "–", "c": ""}, {"a": "y", "b": "", "c": "z"}]
    text = table(fields, rows)
    assert [name for name in "abc" if f">{name}</button></th>" in text] == ["a", "c"]
    assert text.count("<td") == 4
