"""The parts of a section of the page."""

from __future__ import annotations

import pytest
from torusweep.charts.section import breakable


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
