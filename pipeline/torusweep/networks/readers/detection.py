"""Find the text formats that a file fits: links, a matrix, METIS, graph6, an adjacency list."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from torusweep.errors import BadInput
from torusweep.networks.readers.fields import NUMBER, delimiter_of, fields_of, text_lines, without_comment
from torusweep.networks.readers.first_line import metis_of

ROWS = 4  # lines by which a list of links or a matrix is recognised
HEAD_ROWS = 1024  # lines that are searched for METIS's first line
METIS_ROWS = 64  # lines that are checked before the whole file is
GRAPH6 = re.compile(rb"\s*([?-~]+|:[?-~]*|&[?-~]+)\s*")


def lists_of(path: Path, head: bytes, rest: bool, suffix: str) -> list[str]:
    """Return the text formats that a file fits, the likeliest first.

    head    the beginning of the file
    rest    whether the file continues after `head`
    suffix  suffix of the file's name; the first line of a .csv file may have names of columns
    """
    if b"\0" in head:
        return []
    lines = (without_comment(line).strip() for line in head.decode(errors="ignore").splitlines())
    texts = list(islice((line for line in lines if line and not line.startswith("//")), ROWS))
    found = []
    if _is_metis(path, head):
        found.append("metis")
    if not rest and (match := GRAPH6.fullmatch(head)) and _is_graph6(match[1]):
        found.append("graph6")
    listed = _links_or_matrix(texts, rest, suffix == ".csv")
    if listed is not None and not (listed == "matrix" and found):
        found.append(listed)
    return [*found, "adjlist"] if "metis" not in found and _is_adjacency(head) else found


def _is_adjacency(head: bytes) -> bool:
    """Return whether lines have only whole numbers, begin with different numbers, and are not all equally long."""
    rows = [without_comment(line).split() for line in head.decode(errors="ignore").splitlines()[:METIS_ROWS]]
    rows = list(filter(None, rows))
    whole = all(word.isascii() and word.isdigit() for row in rows for word in row)
    return whole and len({row[0] for row in rows}) == len(rows) and len(set(map(len, rows))) > 1


def is_square(path: Path, *, symmetric: bool) -> bool:
    """Return whether a text is a square matrix: as many lines as numbers in each; if `symmetric`, also symmetric."""
    try:
        rows = [text.replace(",", " ").split() for _, text in text_lines(path)]
    except BadInput:
        return False
    if len({len(rows), *map(len, rows)}) > 1 or not all(NUMBER.fullmatch(word) for row in rows for word in row):
        return False
    return not symmetric or rows == [list(column) for column in zip(*rows)]


def is_plain(head: bytes, *, zero: bool) -> bool:
    """Return whether a file begins with numbers and blanks only. With `zero` false, none of these numbers may be 0."""
    rows = [row for row in head.split(b"\n")[:METIS_ROWS] if row.lstrip()[:1] not in (b"%", b"#")]
    words = [word for row in rows for word in row.replace(b",", b" ").split()]
    return all(NUMBER.fullmatch(word.decode(errors="ignore")) and (zero or word != b"0") for word in words)


def _links_or_matrix(texts: list[str], rest: bool, with_heading: bool) -> str | None:
    rows = [re.split(r"\s*[,;\t]\s*|\s+", text) for text in texts]
    if not rows:
        return None
    width = len(rows[0])
    if with_heading and len(rows) > 1 and width > 1 and rows[0][:2] == ["", rows[1][0]]:  # a data frame, with its index
        return "matrix"
    numbers = all(len(row) == width and all(map(NUMBER.fullmatch, row)) for row in rows)
    three = numbers and width == 3 == len(rows) and not rest and not any(float(row[i]) for i, row in enumerate(rows))
    if (numbers and width > 3) or three:
        return "matrix"
    return "edgelist" if all(map(_is_link, texts)) or _is_link_behind_a_count(texts) else None


def _is_link(text: str) -> bool:
    """Return whether a line has two nodes, and otherwise only a weight, numbers with units, or data in braces."""
    fields = fields_of(re.sub(r"\{.*\}$", "", text).strip(" ,"), delimiter_of(text.partition("{")[0]))
    return len(fields) in (2, 3) or (
        len(fields) > 3 and re.search(r"\d\s*[kMGT]?i?[bB](/s|ps|it/s)|\d\s*[num]?s\b", text) is not None
    )


def _is_link_behind_a_count(texts: list[str]) -> bool:
    return len(texts) > 1 and texts[0].isascii() and texts[0].isdigit() and all(map(_is_link, texts[1:]))


def _is_graph6(content: bytes) -> bool:
    """Return whether a word is as long as graph6 needs for its number of nodes; sparse6 may have any length."""
    if content[:1] == b":":
        return len(content) > 1
    square = content[:1] == b"&"
    values = [character - 63 for character in content[square:]]
    digits, start = (1, 0) if values[0] < 63 else (3, 1) if len(values) > 1 and values[1] < 63 else (6, 2)
    nodes = sum(value << 6 * place for place, value in enumerate(reversed(values[start : start + digits])))
    bits = nodes * nodes if square else nodes * (nodes - 1) // 2
    return len(values) - start - digits == -(-bits // 6)


def _is_metis(path: Path, head: bytes) -> bool:
    """Return whether a file has the lines and neighbours that its first line counts, and each link at both nodes."""
    rows = [row.split() for row in head.split(b"\n", HEAD_ROWS)[:HEAD_ROWS] if row.lstrip()[:1] != b"%"]
    first = next((row for row in rows if row), [])
    if not 2 <= len(first) <= 4 or not all(word.isdigit() for word in first):
        return False
    if not all(word.isdigit() for row in rows[:METIS_ROWS] for word in row):
        return False
    if len(first) == 2 and any(not 1 <= int(word) <= int(first[0]) for row in rows[1:METIS_ROWS] for word in row):
        return False
    try:
        metis_of(path)
    except BadInput:
        return False
    return True
