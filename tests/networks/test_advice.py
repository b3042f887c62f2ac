"""Advice in a message about a file works when it is followed: each option that a message names, by a row.

The messages are found in the source of the readers, so that a new one without a row fails here.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torusweep.networks
from torusweep.errors import BadInput
from torusweep.networks.families import build

from tests.networks.test_file_formats import arcs_by_name
from tests.networks.test_what_files_mean import CYCLE, OSPF, PATH, RING, both, one_way, written
from tests.networks.tool_files import SNDLIB

pytestmark = pytest.mark.usefixtures("in_a_temporary_folder")

HERE = Path(torusweep.networks.__file__).parent
SOURCES = [*(HERE / "readers").glob("*.py"), *(HERE / "families").glob("graph_*.py")]
OPTION = re.compile(r"\b(?:format|header|weights|directed)=")
NAMED = re.compile(r'\b(?:format|weights)="[\w-]+"|\b(?:header|directed)=(?:true|false)')
NO_OPTION = {"DL of one square matrix, as 'dl n=4 format=edgelist1'": "a line of DL"}
TRIANGLE = both("0 1", "1 2", "0 2")
TWICE = both("2 4", "1 3", "2 4", "1 3")  # the lines of RING as links
MATRIX = io.BytesIO()
np.save(MATRIX, np.triu(np.ones((3, 3)), 1))
BESIDE = "0 1 {'bandwidth': 2, 'weight': 3}\n1 2 {'bandwidth': 4, 'weight': 5}\n"
Links = Counter[tuple[str, str]]


class Row(NamedTuple):
    """A file, its parameters, and what each option that the message advises gives; "": the named one is left out."""

    name: str
    content: str | bytes
    options: str
    advised: dict[str, Links]


REFUSED = [
    Row("ospf.graphml", OSPF, "", {f'weights="{by}"': TRIANGLE for by in ("bandwidth", "latency", "cost", "none")}),
    Row("ospf.graphml", OSPF, ', weights="none", directed=true', {"directed=false": TRIANGLE}),
    Row("gap.edges", "a b {'weight': 2}\nb c {}\n", ', weights="cost"', {'weights="none"': both("a b", "b c")}),
    Row("none.edges", "a b\nb c\n", ', weights="cost"', {"": both("a b", "b c")}),
    Row("signed.net", "*Vertices 3\n*Edges\n1 2 -1\n2 3 1\n", "", {'weights="none"': both("1 2", "2 3")}),
    Row("signed.csv", "source,target,weight\na,b,0\nb,c,2\n", "", {'weights="none"': both("a b", "b c")}),
    Row("beside.edges", BESIDE, ', weights="bandwidth"', {'weights="none"': both("0 1", "1 2")}),
    Row("nm.edges", "5 4\n0 1\n1 2\n2 3\n3 4\n", "", {"header=true": PATH, "header=false": PATH + both("5 4")}),
    Row("few.edges", "5 4\n0 1\n1 2\n", ", header=true", {"header=false": both("5 4", "0 1", "1 2")}),
    Row("left.csv", "left,right\na,b\nb,c\n", "", {
        "header=true": both("a b", "b c"), "header=false": both("left right", "a b", "b c")}),
    Row("tri.npy", MATRIX.getvalue(), "", {"directed=true": one_way("0 1", "0 2", "1 2"), "directed=false": TRIANGLE}),
    Row("ring.txt", "4 4\n" + RING, "", {'format="metis"': CYCLE, 'format="edgelist", header=false': TWICE}),
    Row("ring.edges", "4 4\n" + RING, "", {"header=true": TWICE, "header=false": TWICE, 'format="metis"': CYCLE}),
    Row("list.tgf", "0 1\n1 2\n#\n2 3\n", "", {'format="edgelist"': both("0 1", "1 2", "2 3")}),
    Row("names.gml", "a b\nb c\n", "", {'format="edgelist"': both("a b", "b c")}),
    Row("typed.edges", "a b\nb c\n", ', format="edglist"', {'format="edgelist"': both("a b", "b c")}),
    Row("star.what", "a b c d\ne a\n", "", {'format="adjlist"': both("a b", "a c", "a d", "e a")}),
]  # fmt: skip
NOTED = [
    Row("ring.snd", SNDLIB, "", {"directed=true": one_way("A B", "B C", "C D", "D A")}),
    Row("metis-ring.graph", "4 4\n" + RING, "", {'format="edgelist", header=false': TWICE}),
    Row("net.adj", "0 1 0 1\n1 0 1 0\n" * 2, "", {'format="adjlist"': both(*["0 1"] * 4)}),
]  # fmt: skip


def message_of(row: Row) -> str:
    """The refusal of a row, or its notes."""
    try:
        return "\n".join(build(written(row.name, row.content, row.options)).plan.notes)
    except BadInput as refusal:
        return str(refusal)


def options_in(message: str) -> set[str]:
    """The options that a message names, with those of which it says the values alone."""
    found = set(NAMED.findall(message))
    if "may mean either" in message:
        found |= {f'weights="{each}"' for each in re.findall(r'(?:, | or )"(\w+)"', message)}
    if (near := re.search(r"format='\w+': .*did you mean '([\w-]+)'", message)) is not None:
        found.add(f'format="{near[1]}"')
    if (some := re.search(r'say format="…", one of ([\w, -]+);', message)) is not None:
        found |= {f'format="{each}"' for each in some[1].split(", ")}
    return found


@pytest.mark.parametrize("row", [*REFUSED, *NOTED], ids=lambda row: f"{row.name}{row.options}")
def test_advice_works_when_followed(row: Row):
    """Each option that a message names, without those that it was about, gives the network that is meant."""
    if row in REFUSED:
        with pytest.raises(BadInput):
            build(written(row.name, row.content, row.options))
    message = message_of(row)
    named = options_in(message) - set(row.options.split(", "))
    advised = {option.split(",")[0] for option in row.advised if option}
    assert advised == named or ("one of" in message and advised <= named)
    for option, links in row.advised.items():
        key = (option or NAMED.findall(message)[0]).split("=")[0]
        rest = [given for given in row.options.split(", ") if given and given.split("=")[0] != key]
        followed = ", ".join(filter(None, [f'path="{row.name}"', option, *rest]))
        assert arcs_by_name(build(f"graph({followed})")) == links, option


class Message(NamedTuple):
    """A text of a source that names an option: its file and lines, and a pattern of what is said."""

    file: str
    lines: range
    pattern: str


@cache
def messages() -> tuple[Message, ...]:
    return tuple(message for path in SOURCES for message in _messages_of(path))


def _messages_of(path: Path) -> Iterator[Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    no_message = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    no_message |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for node in nodes:
        parts: list[Any] = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None for part in parts
        ]
        if id(node) in no_message or not any(texts) or not OPTION.search("…".join(text or "" for text in texts)):
            continue
        if "".join(text or "" for text in texts) not in NO_OPTION:
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            yield Message(path.name, lines, ".*".join(re.escape(text) if text else "" for text in texts))


def run_lines(row: Row) -> tuple[str, set[tuple[str, int]]]:
    """The message of a row, and the (file, line) of the readers that ran."""
    ran: set[tuple[str, int]] = set()
    names = {str(path): path.name for path in SOURCES}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        name = names.get(frame.f_code.co_filename)
        if name is not None:
            ran.add((name, frame.f_lineno))
        return trace if name is not None else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return message_of(row), ran
    finally:
        sys.settrace(before)


def test_every_message_that_names_an_option_has_a_row():
    """A message counts as said where its line ran, and its text stands in what the row says."""
    assert len(messages()) >= 15
    said = [run_lines(row) for row in (*REFUSED, *NOTED)]
    for message in messages():
        assert any(
            re.search(message.pattern, text, re.DOTALL) and any((message.file, line) in ran for line in message.lines)
            for text, ran in said
        ), f"{message.file}:{message.lines.start} names an option; add a row that follows it"
