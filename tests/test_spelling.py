"""The grammar of networks: what is read, how it is written back, and where what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import BadInput
from pipeline.spelling import DEEPEST, LONGEST, Spelling, parse


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("torus(k=8,n=3)", "torus(k=8, n=3)"),
        ("  torus (\n k = 8 ,\tn = 3 ) ", "torus(k=8, n=3)"),
        ("ring(k=+5)", "ring(k=5)"),
        ("f(k=-5)", "f(k=-5)"),
        ("f()", "f()"),
        ("torus(radices=[8,4,4], directed=true)", "torus(radices=[8, 4, 4], directed=true)"),
        ("twisted_torus(radices=[16,8],twists={1:{0:8}})", "twisted_torus(radices=[16, 8], twists={1: {0: 8}})"),
        ("lattice(matrix=[[16,8],[0,8]])", "lattice(matrix=[[16, 8], [0, 8]])"),
        ("faulty(torus(k=8, n=3), links=4, seed=1)", "faulty(torus(k=8, n=3), links=4, seed=1)"),
        ("graph(path='a b.edges')", 'graph(path="a b.edges")'),
        (r'graph(path="q\"uote\\slash")', r'graph(path="q\"uote\\slash")'),
        ("f(a=[], b={}, c=false)", "f(a=[], b={}, c=false)"),
        ("f(k=999999999999999999)", "f(k=999999999999999999)"),
    ],
)
def test_read_and_written_back(text, canonical):
    assert str(parse(text)) == canonical
    assert parse(canonical) == parse(text)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 1, "a topology's name"),
        ("torus", 6, "'('"),
        ("torus(k=8, n=3", 15, "','"),
        ("torus(k=8, n=3))", 16, "the end"),
        ("torus(k=8 n=3)", 11, "','"),
        ("torus(k=8, k=9)", 12, "each parameter once"),
        ("torus(8, 3)", 7, "a parameter's name"),
        ("torus(k=)", 9, "a value"),
        ("torus(k=8.5, n=3)", 9, "a whole number"),
        ("torus(k=1e308, n=3)", 9, "a whole number"),
        ("torus(k=nan, n=3)", 12, "a value"),
        ("torus(k=1234567890123456789)", 9, "a whole number of at most 18 digits"),
        ("torus(radices=[8, 4)", 20, "','"),
        ("twisted_torus(twists={1: {0: 8})", 32, "','"),
        ("twisted_torus(twists={a: 1})", 23, "a dimension's number"),
        ('graph(path="a)', 12, "a value"),
        ("torus(k=__import__('os').system('true'), n=3)", 20, "a parameter's name"),
        ("torus(k=8; n=3)", 10, "','"),
        ("torus(k=8, n=3)\x00", 16, "the end"),
        ("torus(k=²)", 9, "a value"),
        ("f(a=" + "[" * 20, 5 + DEEPEST, f"at most {DEEPEST} levels of nesting"),
    ],
)
def test_refused_with_the_position(text, position, expected):
    with pytest.raises(BadInput) as refusal:
        parse(text)
    assert f"character {position}: expected {expected}" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["f(" * 3000, "f(a=" + "[" * (LONGEST + 1), None, 8, "f(a=" + "1" * LONGEST + ")"])
def test_hostile_sizes_and_kinds_are_refused(text):
    with pytest.raises(BadInput):
        parse(text)


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
leaves = st.booleans() | st.integers(-(10**18) + 1, 10**18 - 1) | st.text(max_size=20)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 99), inner, max_size=3),
    max_leaves=6,
)
spellings = st.builds(
    Spelling, names, st.dictionaries(names, values, max_size=4), st.none() | st.builds(Spelling, names, st.dictionaries(names, leaves, max_size=2))
)


@settings(derandomize=True, deadline=None)
@given(spellings)
def test_whatever_is_written_is_read_back(spelling):
    assert parse(str(spelling)) == spelling


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="torus(k=8,n3)[]{}:\"'\n ", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        spelling = parse(text)
    except BadInput as refused:
        refusal = str(refused)
    else:
        assert parse(str(spelling)) == spelling
        refusal = ""
    assert "\n" not in refusal
