"""Docstrings, which are plain text, as reStructuredText."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import docutils.core
import pytest
from docutils import nodes
from torusweep_kernels import distance

PATH = Path(__file__).parents[2] / "docs" / "site" / "docstrings.py"


@pytest.fixture(scope="module")
def docstrings():
    spec = importlib.util.spec_from_file_location("docstrings", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Loads of *all* channels_ |x|.", ["paragraph: Loads of *all* channels_ |x|."]),
        ("A `Plan` that `wire`s.", ["paragraph: A Plan that wires.", "literal: Plan", "literal: wire"]),
        (
            "ports    int32[N, P]   neighbour of each port,\n                       −1 = none\nreturns  hops",
            [
                "term: ports",
                "literal: ports",
                "classifier: int32[N, P]",
                "literal: int32[N, P]",
                "paragraph: neighbour of each port, −1 = none",
                "term: returns",
                "literal: returns",
                "paragraph: hops",
            ],
        ),
        ("It is\n\n    a = b * c\n", ["paragraph: It is", "literal_block: a = b * c"]),
        ("Two:\n  a = b\n    c", ["paragraph: Two:", "literal_block: a = b\n  c"]),
        ("One:\n  one    the first", ["paragraph: One:", "term: one", "literal: one", "paragraph: the first"]),
        (">>> 1 + 1\n2", ["doctest_block: >>> 1 + 1\n2"]),
        ("- first *\n- second", ["paragraph: first *", "paragraph: second"]),
        ("first\n  second, no list\nthird", ["paragraph: first second, no list third"]),
    ],
)
def test_a_docstring_means_itself(docstrings, text, shown):
    assert parts(docstrings, text) == shown


def test_arguments_of_a_kernel_are_a_list(docstrings):
    found = parts(docstrings, distance.all_pairs_distance.__doc__.replace("\n    ", "\n"))
    arguments = ["ports", "sources", "groups", "counted", "removed", "eccentricity", "backend", "threads"]
    assert [part for part in found if part.startswith("term: ")] == [f"term: {name}" for name in arguments]


def parts(docstrings, text: str) -> list[str]:
    """The paragraphs, terms, blocks and code of a docstring, as docutils reads it; a warning of it raises."""
    source = "\n".join(docstrings.restructured(text))
    tree = docutils.core.publish_doctree(source, settings_overrides={"halt_level": 2, "report_level": 2})
    kinds = (nodes.paragraph, nodes.term, nodes.classifier, nodes.literal, nodes.literal_block, nodes.doctest_block)
    flat = (node for node in tree.findall() if isinstance(node, kinds))
    return [f"{node.tagname}: {_one_line(node)}" for node in flat]


def _one_line(node: nodes.Element) -> str:
    return node.astext() if "block" in node.tagname else " ".join(node.astext().split("\n"))


def test_examples_of_a_command_keep_their_columns(docstrings):
    lines = ["Loads.", "", "| Examples:", '|   torusweep loads "a" --json', "|     more", ""]
    docstrings.set_literally(None, None, lines)
    assert lines == ["Loads.", "", "", "Examples::", "", '    torusweep loads "a" --json', "      more", "", ""]
    lines = ["|   axes: {tp: 8}", ""]
    docstrings.set_literally(None, None, lines)
    assert lines == ["::", "", "    axes: {tp: 8}", "", ""]
