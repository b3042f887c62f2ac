"""Read DL, the data language of UCINET."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from torusweep.networks.families.graph_listing import Listing
from torusweep.networks.readers.draft import Draft, lines_of
from torusweep.networks.readers.fields import NUMBER, check_nodes
from torusweep.networks.readers.public_graphs import NODE_BYTES, words_of
from torusweep.quantities import counted

Row = tuple[int, list[str]]  # a line's number and its words
DL_SECTION = re.compile(r"\s*((?:row |column |matrix )?labels( embedded)?|data)\s*:?\s*(.*)", re.IGNORECASE)


def ucinet(path: Path) -> Listing:
    """Read UCINET's DL: edgelist1, nodelist1 or fullmatrix, with labels or numbers of nodes.

    Entries of a matrix are weights. Links are directed unless each has an equal link in the other direction. Labels are
    compared without regard to capitals. A link without a value has the value 1, as the manual says; a note counts them.
    Source: UCINET's help, "DL language" (analytictech.com/ucinet/help/hs5000.htm), and "Data > Export > DL".
    """
    draft = Draft(path, directed=True)
    head, labels, rows = _sections(draft)
    embedded = labels is None
    said = {key.lower(): value.lower() for key, value in re.findall(r"(\w+)\s*=\s*(\w+)", head)}
    number, form = said.get("n", ""), said.get("format", "fullmatrix")
    if "diagonal" in head.lower():
        draft.fail(1, "DL with a diagonal in its matrix", head)
    if not number or said.get("nm", "1") != "1":
        draft.fail(1, "DL of one square matrix, as 'dl n=4 format=edgelist1'", head)
    count = draft.whole(number, 1, "the number n of nodes")
    check_nodes(path, count, NODE_BYTES)
    if embedded and form == "fullmatrix" and rows:
        labels, rows = _embedded_labels(draft, rows)
    if labels and len(labels) != count:
        draft.fail(1, f"{count} labels", f"{len(labels)} labels")
    if labels is not None:
        for label in labels or map(str, range(1, count + 1)):
            draft.declare(label, 1)
    if form == "fullmatrix":
        _add_matrix(draft, count, rows)
    elif form in ("edgelist1", "nodelist1"):
        _add_lists(draft, rows, pairs=form == "edgelist1", labels=labels or [], embedded=embedded)
    else:
        draft.fail(1, "the format edgelist1, nodelist1 or fullmatrix of DL", form)
    if len(draft.names) != count:
        draft.fail(1, f"{count} nodes", f"{len(draft.names)} nodes")
    return draft.listing()


def _embedded_labels(draft: Draft, rows: list[Row]) -> tuple[list[str], list[Row]]:
    """Return the labels of a matrix, and its rows without the labels before them. Case is ignored."""
    labels = rows[0][1]
    if [label.upper() for label in labels] != [words[0].upper() for _, words in rows[1:]]:
        draft.fail(1, "the same labels for rows as for columns", " ".join(labels))
    return labels, [(line, words[1:]) for line, words in rows[1:]]


def _sections(draft: Draft) -> tuple[str, list[str] | None, list[Row]]:
    """Return the head, labels and rows of data of a DL file. Labels embedded in the data are returned as None."""
    mode, head, labels, embedded = "head", "", list[str](), False
    rows: list[Row] = []
    for line, text in lines_of(draft.path):
        section = DL_SECTION.match(text)
        if section and (mode != "data" or section[2] is not None):
            mode, text = section[1].lower(), section[3]
            embedded |= section[2] is not None
        words = words_of(text.replace(",", " "))
        if mode == "head":
            head += f" {text}"
        elif mode == "labels":
            labels += words
        elif mode == "data" and words:
            rows.append((line, words))
        elif mode not in ("data", "labels embedded"):
            draft.fail(line, "labels of nodes, and data", text)
    return head, None if embedded else labels, rows


def _add_matrix(draft: Draft, count: int, rows: list[Row]) -> None:
    values = [(line, word) for line, words in rows for word in words]
    if len(values) != count * count:
        draft.fail(1, f"{count * count:,} entries of a matrix", f"{len(values):,} entries")
    for place, (line, value) in enumerate(values):
        if not NUMBER.fullmatch(value):
            draft.fail(line, "a number", value)
        if float(value):
            draft.link(*divmod(place, count), line, weight=value)


def _add_lists(draft: Draft, rows: list[Row], *, pairs: bool, labels: list[str], embedded: bool) -> None:
    """Add links. With `pairs`, a line is a link with or without a weight; otherwise a node and its neighbours."""
    weighted = pairs and any(len(words) == 3 for _, words in rows)
    without = sum(len(words) == 2 for _, words in rows) if weighted else 0
    if without:
        draft.notes.append(f"{counted(without, 'link')} without a value, which DL takes as 1")
    number = _numbering(draft, labels, embedded)
    for line, words in rows:
        if pairs and len(words) not in (2, 3):
            draft.fail(line, "two nodes and a weight or none", " ".join(words))
        ends = words[:2] if pairs else words
        first, *others = (number(end, line) for end in ends)
        for other in others:
            draft.link(first, other, line, weight=(words[2] if len(words) == 3 else "1") if weighted else None)


def _numbering(draft: Draft, labels: list[str], embedded: bool) -> Callable[[str, int], int]:
    """Return a function (word, line) → node. If `embedded`, words are labels; otherwise numbers of labels or nodes."""
    called = {label.upper(): label for label in reversed(draft.names)}
    if embedded:
        return lambda word, line: draft.node(called.setdefault(word.upper(), word), line)
    if not labels:
        return draft.known
    return lambda word, line: draft.known(labels[draft.whole(word, line, "a node", len(labels), least=1) - 1], line)
