"""Spellings: parsing, canonical layout, and error messages with positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.errors import BadInput
from torusweep.networks.families import plan
from torusweep.networks.families.graph_files import files_of
from torusweep.networks.signature import resolve
from torusweep.networks.spelling import MAX_CHARACTERS, MAX_DEPTH, Spelling, Word, parse
from torusweep.networks.topology import Number, Whole


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
        ("f(tie=split, path='split')", 'f(tie=split, path="split")'),
        ("f(a=[ some,words ], b={0:one})", "f(a=[some, words], b={0: one})"),
        ("f(p=12.50, q=3.0, r=-0.5e1)", "f(p=12.5, q=3, r=-5)"),
        ("f(p=1e-7, q=1E22, r=0.1)", "f(p=1e-07, q=1e+22, r=0.1)"),
    ],
)
def test_parse_and_canonical_layout(text, canonical):
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
        ("torus(k=1e999, n=3)", 9, "a number of at most 40 characters"),
        ("f(p=0." + "1" * 40 + ")", 5, "a number of at most 40 characters"),
        ("f(a={1.5: 2})", 6, "a whole number"),
        ("graph(path=folder/a.edges)", 12, 'a value, with text in "quotes", got'),
        ("graph(path=a.edges)", 12, 'a value, with text in "quotes", got'),
        ("f(tie=split positive)", 7, "a value"),
        ("f(tie=bit-complement)", 7, "a value"),
        ("torus(k=1234567890123456789)", 9, "a whole number of at most 18 digits"),
        ("torus(radices=[8, 4)", 20, "',' or ']'"),
        ("twisted_torus(twists={1: {0: 8})", 32, "',' or '}'"),
        ("twisted_torus(twists={a: 1})", 23, "a dimension's number"),
        ("twisted_torus(twists={1: {0: 2}, 1: {0: 3}})", 34, "each dimension once"),
        ("twisted_torus(twists={1: {0: 2, 0: 3}})", 33, "each dimension once"),
        ('graph(path="a)', 12, "a value"),
        ("torus(k=__import__('os').system('true'), n=3)", 20, "a parameter's name"),
        ("torus(k=8; n=3)", 10, "',' or ')'"),
        ("torus(k=8, n=3)\x00", 16, "the end"),
        ("torus(k=²)", 9, "a value"),
        ("f(a=" + "[" * 20, 5 + MAX_DEPTH, f"at most {MAX_DEPTH} levels of nesting"),
    ],
)
def test_errors_name_the_position(text, position, expected):
    with pytest.raises(BadInput) as refusal:
        parse(text)
    assert f"character {position}: expected {expected}" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["f(" * 3000, "f(a=" + "[" * (MAX_CHARACTERS + 1), None, 8, "f(a=" + "1" * MAX_CHARACTERS + ")"]
)
def test_hostile_input_is_refused(text):
    with pytest.raises(BadInput):
        parse(text)


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
leaves = (
    st.booleans()
    | st.integers(-(10**18) + 1, 10**18 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | names.map(Word)
    | st.text(max_size=20)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 99), inner, max_size=3),
    max_leaves=6,
)
spellings = st.builds(
    Spelling,
    names,
    st.dictionaries(names, values, max_size=4),
    st.none() | st.builds(Spelling, names, st.dictionaries(names, leaves, max_size=2)),
)


@settings(derandomize=True, deadline=None)
@given(spellings)
def test_str_and_parse_are_inverse(spelling):
    assert parse(str(spelling)) == spelling
    assert str(parse(str(spelling))) == str(spelling)


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="torus(k=8,n3)[]{}:\"'\n ", max_size=40))
def test_any_text_is_parsed_or_refused_in_one_line(text):
    try:
        spelling = parse(text)
    except BadInput as refused:
        refusal = str(refused)
    else:
        assert parse(str(spelling)) == spelling
        refusal = ""
    assert "\n" not in refusal


# --- functions in a table (torusweep.networks.signature) --------------------------------------------------------------


def two_words(
    network: str,
    tie: Literal["split", "positive", "sign"] = "split",
    share: Annotated[float, Number(0, "share", maximum=1)] = 1,
):
    """A function with a choice and a decimal."""


def a_file(network: str, path: str, rows: Annotated[int, Whole(1, "rows")] = 2, only: Literal["even"] | None = None):
    """A function with a file name, which must be quoted."""


TABLE = {function.__name__: function for function in (two_words, a_file)}


def resolved(spelling):
    return resolve(spelling, TABLE, kind="rule", example="two_words(tie=sign)")


@pytest.mark.parametrize(
    ("spelling", "canonical", "values"),
    [
        ("two_words", "two_words", {}),
        (" two-words ", "two_words", {}),
        ("two-words ( )", "two_words", {}),
        ("two_words(tie=split)", "two_words", {"tie": "split"}),
        ('two-words(tie="positive")', "two_words(tie=positive)", {"tie": "positive"}),
        ("two_words(share=0.50, tie=sign)", "two_words(tie=sign, share=0.5)", {"tie": "sign", "share": 0.5}),
        ("two_words(share=1.0)", "two_words", {"share": 1}),
        ("two_words(share=-0.0)", "two_words(share=0)", {"share": 0}),
        ("two_words(share=0)", "two_words(share=0)", {"share": 0}),
        ('a-file(path="split")', 'a_file(path="split")', {"path": "split"}),
        ('a_file(only=even, path="a-b")', 'a_file(path="a-b", only=even)', {"path": "a-b", "only": "even"}),
    ],
)
def test_resolve(spelling, canonical, values):
    assert resolved(spelling) == (canonical, TABLE[canonical.partition("(")[0]], values)
    assert resolved(canonical)[0] == canonical


@pytest.mark.parametrize(
    ("spelling", "says"),
    [
        ("two-word", "unknown rule 'two_word' (did you mean 'two_words'?); there are two_words, a_file"),
        ("two words", "expected a rule such as two_words(tie=sign), got 'two words'"),
        ("", "expected a rule such as two_words(tie=sign), got ''"),
        ("two_words(tie=positiv)", "tie: expected split, positive or sign, got positiv (did you mean 'positive'?)"),
        ('two_words(tie="both")', 'tie: expected split, positive or sign, got "both"'),
        ("two_words(tie=true)", "tie: expected split, positive or sign, got true"),
        ("two_words(tie=1)", "tie: expected split, positive or sign, got 1"),
        ("two_words(share=1.5)", "share=1.5: expected 0 … 1 (share)"),
        ("two_words(share=2)", "share=2: expected 0 … 1 (share)"),
        ("two_words(share=true)", "share: expected a number, got true"),
        ("two_words(share=much)", "share: expected a number, got much"),
        (
            "two_words(share=1; tie=sign)",
            "rule 'two_words(share=1; tie=sign)', character 18: expected ',' or ')', got ';';"
            " write it like two_words(tie=sign)",
        ),
        ("a_file", "parameter 'path' is missing; a_file takes path, rows, only"),
        ("a_file(path=split)", 'path: expected a "string", got split; put text in quotes: path="split"'),
        ('a_file(path="x", rows=1.5)', "rows: expected a whole number, got 1.5"),
        ('a_file(path="x", rows=2.0)', "rows: expected a whole number, got 2.0"),
        ('a_file(path="x", rows=0)', "rows=0: expected ≥ 1 (rows)"),
        ('a_file(path="x", only=odd)', "only: expected even, got odd"),
        ("two_words(ring(k=4))", "expected only name=value arguments, got 'ring(k=4)'; two_words takes tie, share"),
        ("two_words(ties=sign)", "unknown parameter 'ties' (did you mean 'tie'?); two_words takes tie, share"),
        ("two_words(" + "tie=sign," * MAX_CHARACTERS, f"rule of 180010 characters; at most {MAX_CHARACTERS} are read"),
    ],
)
def test_resolve_refuses_in_one_line(spelling, says):
    with pytest.raises(BadInput) as refusal:
        resolved(spelling)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("spelling", "says"),
    [
        ("torus(k=8.5, n=3)", "k: expected a whole number, got 8.5"),
        ("torus(k=8.0, n=3)", "k: expected a whole number, got 8.0"),
        ("torus(k=1e300, n=3)", "k: expected a whole number, got 1e+300"),
        ("torus(k=nan, n=3)", "k: expected a whole number, got nan"),
        ("torus(radices=[4, four])", "radices: expected a list of whole numbers"),
        ("graph(path=square)", 'path: expected a "string", got square; put text in quotes: path="square"'),
    ],
)
def test_networks_take_whole_numbers_and_strings(spelling, says):
    with pytest.raises(BadInput) as refusal:
        plan(spelling)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("without(a-b.conf, nodes=[0])", 'without(graph(path="a-b.conf"), nodes=[0])'),
        ('without("a b.gml", nodes=[0])', 'without(graph(path="a b.gml"), nodes=[0])'),
        ("faulty(./net/links.edges, links=1)", 'faulty(graph(path="./net/links.edges"), links=1)'),
        (
            "with_links(concentrated(x.gml, terminals=2), bandwidths=[2])",
            'with_links(concentrated(graph(path="x.gml"), terminals=2), bandwidths=[2])',
        ),
        ("without(net/x)", 'without(graph(path="net/x"))'),
    ],
)
def test_a_file_stands_for_a_network(spelling, canonical):
    assert str(parse(spelling)) == canonical
    assert [str(file) for file in files_of(spelling)] == [str(Path(canonical.split('"')[1]))]


@pytest.mark.parametrize(("spelling", "path"), [("a_file(x-y.csv)", "x-y.csv"), ('a-file("x y.csv")', "x y.csv")])
def test_a_file_stands_for_the_path_of_what_takes_one(spelling, path):
    assert resolved(spelling)[2]["path"] == path


def test_a_file_stands_for_no_network_where_none_is_taken():
    with pytest.raises(BadInput, match="expected only name=value arguments, got a network; torus takes k, n"):
        plan("torus(x.csv)")
    with pytest.raises(BadInput, match="two_words takes tie, share"):
        resolved("two_words(x.csv)")
