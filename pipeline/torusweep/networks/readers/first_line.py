"""Read files whose first line counts nodes and links: METIS, Chaco, and lists of links, where it may be a link."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from torusweep.errors import one_line, printable
from torusweep.networks.readers.fields import SHOWN, fail, text_lines, words_of

DIGITS = 10  # largest number of digits of a count


class FirstLine(NamedTuple):
    """The counts in the first line of a list of links, and the number of this line.

    first  the lowest number of a node: 0, or 1 if the highest number is `nodes`; None if nodes have names
    names  number of different nodes in the links
    """

    line: int
    nodes: int
    links: int
    first: int | None
    names: int

    @property
    def said(self) -> str:
        return f"{self.nodes:,} nodes, {self.links:,} links"


class _Links(NamedTuple):
    """What the lines after the first line contain.

    number  number of these lines; counting stops at one more than the limit
    width   number of fields in each line; None if lines differ
    ends    names of nodes; `whole` tells whether all of them are whole numbers
    """

    number: int
    width: int | None
    ends: set[str]
    whole: bool


def counts_of(path: Path, header: bool | None) -> FirstLine | None:
    """Return the counts in a list's first line; None if the line is a link.

    The line has the number of nodes, nodes and links, or nodes twice and links.

    header  whether the first line has counts; by default only if the other lines allow nothing else
    Raises BadInput if the line may be either and `header` is None, or if `header` is true and the counts are wrong.
    """
    lines = text_lines(path)
    line, text = next(lines, (0, ""))
    words, braces = words_of(text)
    numbers = [int(word) for word in words if _is_count(word)]
    if header is False or braces or not 1 <= len(words) <= 3 or len(numbers) < len(words):
        return None
    nodes, links = numbers[0], numbers[-1] if len(numbers) > 1 else None
    if len(numbers) == 3 and numbers[0] != numbers[1]:
        links = numbers[1]
        if not header:
            return None
    if not header and (nodes < 2 or links == 0):
        return None
    rest = _links(path, line, None if header else links)
    found = FirstLine(line, nodes, rest.number if links is None else links, _first(rest, nodes), len(rest.ends))
    wrong = ""
    if rest.number != found.links:
        wrong = f"{found.links:,} links after the first line, as it says, got {rest.number:,}"
    elif found.names > nodes or (rest.whole and found.first is None):
        wrong = f"{nodes:,} nodes, as the first line says, got {_most(rest)}"
    if header and wrong:
        fail(path, line, f"expected {wrong}; correct it, or say header=false where the first line is a link")
    if wrong or not rest.number:
        return None
    if header is None and rest.width == len(words) > 1 and rest.whole:
        shown = one_line(printable(text.strip()), SHOWN)
        fail(
            path,
            line,
            f"expected a link or counts, got '{shown}', which may be either; say header=true ({found.said}) or"
            f" header=false (a link between {words[0]} and {words[1]})",
        )
    return found


def _is_count(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= DIGITS


def _links(path: Path, first: int, most: int | None) -> _Links:
    """Read the lines after line `first`, but at most `most` + 1 of them; None: all."""
    number, widths, ends, whole = 0, set[int](), set[str](), True
    for line, text in text_lines(path):
        if line <= first:
            continue
        words = words_of(text)[0]
        widths.add(len(words))
        ends.update(words[:2])
        whole = whole and all(map(_is_count, words[:2]))
        number += 1
        if most is not None and number > most:
            break
    return _Links(number, widths.pop() if len(widths) == 1 else None, ends, whole)


def _first(rest: _Links, nodes: int) -> int | None:
    """Return the lowest possible number of a node, 0 or 1; None if nodes have names or numbers above the count."""
    if not rest.whole or not rest.ends:
        return None if rest.ends else 0
    numbers = [int(end) for end in rest.ends]
    if max(numbers) == nodes and min(numbers) > 0:
        return 1
    return 0 if max(numbers) < nodes else None


def _most(rest: _Links) -> str:
    return f"node {max(map(int, rest.ends)):,}" if rest.whole else f"{len(rest.ends):,}"


class Metis(NamedTuple):
    """A graph of METIS or Chaco. Each link is listed at both of its ends.

    tails, heads  int64[2M], nodes 1 … N
    weights       int64[2M]; None if the file gives no weights of links
    unread        other contents that are not read: weights and sizes of nodes
    labelled      whether lines begin with the number of their node, as in Chaco, and are not in order of these numbers
    """

    nodes: int
    tails: np.ndarray
    heads: np.ndarray
    weights: np.ndarray | None
    unread: tuple[str, ...]
    labelled: bool


def metis_of(path: Path) -> Metis:
    """Read a first line `nodes links [format [weights of a node]]`, then one line per node with its neighbours.

    % begins a comment line; an empty line is a node without links. Like METIS, raises BadInput for a file that does not
    fit its first line: other counts, a neighbour above the count, a link listed at only one of its nodes.
    Source: G. Karypis, METIS 5.1.0 manual, §4.1.1, "Graph file"; B. Hendrickson and R. Leland, Chaco 2.0 user's guide,
    §6.1: the first digit of the format says that lines begin with their node.
    """
    rows = _rows(path)
    line, words = next(((line, words) for line, words in rows if words), (1, []))
    if not 2 <= len(words) <= 4 or not all(map(_is_count, words)):
        fail(path, line, f"expected the numbers of nodes and links, got '{_shown(words)}'")
    nodes, links = int(words[0]), int(words[1])
    kinds = (words[2] if len(words) > 2 else "0").zfill(3)
    if len(kinds) > 3 or set(kinds) - {"0", "1"}:
        fail(path, line, f"expected a format of up to three digits 0 or 1, got '{_shown(words)}'")
    before, weighted = kinds[0] == "1", kinds[2] == "1"
    own = before + ((int(words[3]) if len(words) == 4 else 1) if kinds[1] == "1" else 0)
    lines = [(number, found) for number, found in rows if number > line]
    while len(lines) > nodes and not lines[-1][1]:
        lines.pop()
    if len(lines) != nodes:
        fail(path, line, f"expected {nodes:,} lines of neighbours, as the first line says, got {len(lines):,}")
    labels = [found[0] if before and found else "" for _, found in lines]
    labelled = before and sorted(labels, key=lambda label: (len(label), label)) == [str(n + 1) for n in range(nodes)]
    tails, heads, weights = list[int](), list[int](), list[int]()
    for place, (number, found) in enumerate(lines, 1):
        others = found[own:]
        if not all(map(_is_count, found)) or len(found) < own or (weighted and len(others) % 2):
            fail(path, number, f"expected neighbours{' and weights' if weighted else ''}, got '{_shown(found)}'")
        neighbours = [int(word) for word in (others[::2] if weighted else others)]
        if not all(1 <= neighbour <= nodes for neighbour in neighbours):
            fail(path, number, f"expected neighbours 1 … {nodes:,}, got '{_shown(found)}'")
        tails += [int(labels[place - 1]) if labelled else place] * len(neighbours)
        heads += neighbours
        weights += map(int, others[1::2]) if weighted else ()
    if len(heads) != 2 * links:
        fail(
            path,
            line,
            f"expected {links:,} links, as the first line says, each at both its nodes, got {len(heads):,} neighbours",
        )
    tail, head = np.array(tails, np.int64), np.array(heads, np.int64)
    number_of, back = tail * (nodes + 1) + head, head * (nodes + 1) + tail
    weight = np.array(weights, np.int64) if weighted else np.zeros(len(tail), np.int64)
    order, other = np.lexsort((weight, number_of)), np.lexsort((weight, back))
    wrong = np.flatnonzero((number_of[order] != back[other]) | (weight[order] != weight[other]))
    if len(wrong):
        at = order[wrong[0]]
        fail(
            path, line, f"expected each link at both of its nodes, and alike, got another of {tail[at]} and {head[at]}"
        )
    sizes = ["sizes of nodes"] if before and not labelled else []
    unread = tuple(sizes + (["weights of nodes"] if kinds[1] == "1" else []))
    in_order = labels == [str(n + 1) for n in range(nodes)]
    return Metis(nodes, tail, head, weight if weighted else None, unread, labelled and not in_order)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return (line number, words) of every line that is not a comment. Raises BadInput for text that is not ASCII."""
    with path.open("rb") as file:
        lines = [(number, raw) for number, raw in enumerate(file, 1) if raw.lstrip()[:1] != b"%"]
    for number, raw in lines:
        if not raw.isascii() or b"\0" in raw:
            fail(path, number, "expected whole numbers, got other characters")
    return [(number, raw.decode().split()) for number, raw in lines]


def _shown(words: list[str]) -> str:
    return one_line(printable(" ".join(words)), SHOWN)
