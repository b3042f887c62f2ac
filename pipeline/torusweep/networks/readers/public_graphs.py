"""Read text formats of graph libraries and collections: KONECT, GDF, TGF, LGF, VNA, LEDA, LGL, SIF, CAMINOS."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

from torusweep.errors import BadInput, printable
from torusweep.networks.families.graph_listing import Listing, named
from torusweep.networks.families.graph_numbers import known_names
from torusweep.networks.readers.draft import Draft, Rows, lines_of
from torusweep.networks.readers.fields import NUMBER, check_nodes

NODE_BYTES = 256  # memory of a node with its name
KONECT_WEIGHTS = (
    *("unweighted", "positive", "posweighted", "signed", "multisigned"),
    *("weighted", "multiweighted", "multiposweighted"),
)
WORDS = re.compile(r'"([^"]*)"|([^\s"]+)')  # names with blanks stand in quotes


def words_of(text: str) -> list[str]:
    """Split a line into words at blanks, and remove quotes around words."""
    return [quoted or plain for quoted, plain in WORDS.findall(text)]


def konect(path: Path) -> Listing:
    """Read a network of KONECT (out.*): links, with their weights or the number of times that they are repeated.

    The first line says whether links are directed (asym) or not (sym), or join two kinds of nodes (bip), which are
    called left and right. Times are not read. Networks whose links come and go (dynamic) are refused.
    Source: KONECT's handbook (konect.cc), format of out.* files, and its page "Edge weights"; without example files.
    """
    lines = lines_of(path)
    line, text = next(lines, (1, ""))
    kind = text.strip("% \t\r\n").split()
    draft = Draft(path, directed=kind[:1] == ["asym"])
    if len(kind) < 2 or kind[0] not in ("sym", "asym", "bip"):
        draft.fail(line, "sym, asym or bip and a kind of weights, as in '% sym unweighted'", text)
    if kind[1] not in KONECT_WEIGHTS:
        draft.fail(line, f"a kind of KONECT's weights for links that stay, {', '.join(KONECT_WEIGHTS)}", kind[1])
    for line, text in lines:
        words = text.split()
        if words[0].startswith("%"):
            continue
        if not 2 <= len(words) <= 4 or not all(map(NUMBER.fullmatch, words)):
            draft.fail(line, "two nodes, then at most a weight and a time", text)
        tail, head = (f"left {words[0]}", f"right {words[1]}") if kind[0] == "bip" else words[:2]
        weight = words[2] if len(words) > 2 else None
        numbers: dict[str, Any] = {"multiplicity": weight} if kind[1] == "positive" else {"weight": weight}
        if kind[1] in ("unweighted", "signed", "multisigned"):
            draft.left |= {"weights": None} if weight is not None else {}
            numbers = {}
        draft.left |= {"times": None} if len(words) > 3 else {}
        draft.link(draft.node(tail, line), draft.node(head, line), line, **numbers)
    return draft.listing()


def gdf(path: Path) -> Listing:
    """Read GDF, the format of GUESS: nodes by their names, and links with their known numeric attributes.

    Links are directed if the column `directed` says so, which must be the same for all links.
    Source: GUESS's manual, GDF; Gephi, ImporterGDF.java.
    """
    draft, columns, kind = Draft(path), list[str](), ""
    directed: set[bool] = set()
    called: dict[str, str] = {}
    for line, text in lines_of(path):
        if head := re.match(r"\s*(nodedef|edgedef)\s*>\s*(.*)", text):
            kind = head[1]
            columns = [part.split()[0].lower() for part in head[2].split(",") if part.split()]
            needed = ["name"] if kind == "nodedef" else ["node1", "node2"]
            if columns[: len(needed)] != needed:
                draft.fail(line, f"{', '.join(needed)} as first columns", text)
            with named(path):
                called = known_names(columns, draft.notes) if kind == "edgedef" else {}
            read = {*needed, "directed", *called.values()}
            draft.left |= dict.fromkeys(name for name in columns if name not in read)
            continue
        fields = [field.strip() for field in next(csv.reader([text.strip()], quotechar="'" if "'" in text else '"'))]
        if not kind or not len(columns[:1]) <= len(fields) <= len(columns):
            draft.fail(line, f"at most {len(columns)} fields, as in the heading", text)
        row = dict(zip(columns, fields))
        if kind == "nodedef":
            draft.declare(row["name"], line)
        else:
            if "node2" not in row:
                draft.fail(line, "two nodes", text)
            flag = row.get("directed", "false").lower()
            if flag not in ("true", "false"):
                draft.fail(line, "true or false as directed", flag)
            directed.add(flag == "true")
            numbers = {known: row.get(name) or None for known, name in called.items()}
            draft.link(draft.node(row["node1"], line), draft.node(row["node2"], line), line, **numbers)
    if len(directed) > 1:
        raise BadInput(f"{printable(path)}: expected every link directed, or none, got both; write both directions out")
    draft.directed = directed == {True}
    return draft.listing()


def tgf(path: Path) -> Listing:
    """Read the Trivial Graph Format: nodes with labels, a line #, directed links. Labels name the nodes if they differ.

    Labels of links are not read.
    Source: yEd's manual, "Trivial Graph Format", without example files. The manual calls edges neither directed nor
    undirected, and yEd draws them from the first node to the second.
    """
    draft, links = Draft(path, directed=True), list[tuple[int, list[str]]]()
    labels: dict[str, str] = {}
    behind = False
    for line, text in lines_of(path):
        words = text.split(maxsplit=2 if behind else 1)
        if words == ["#"] and not behind:
            behind = True
        elif not behind:
            if words[0] in labels:
                draft.fail(line, "each node once", words[0])
            labels[words[0]] = words[1].strip() if len(words) > 1 else ""
        elif len(words) < 2 or words[0] not in labels or words[1] not in labels:
            draft.fail(line, 'two nodes that stand above # in TGF (format="edgelist" reads a list of links)', text)
        else:
            links.append((line, words))
            draft.left |= {"labels of links": None} if len(words) > 2 else {}
    if not behind:
        raise BadInput(f"{printable(path)}: expected a line # between nodes and links of TGF, got none")
    plain = all(labels.values()) and len({*labels.values()}) == len(labels)
    numbers = {node: draft.declare(label if plain else node, 1) for node, label in labels.items()}
    draft.left |= {"labels of nodes": None} if not plain and any(labels.values()) else {}
    for line, words in links:
        draft.link(numbers[words[0]], numbers[words[1]], line)
    return draft.listing()


def lgf(path: Path) -> Listing:
    """Read LEMON's graph format: nodes by label, links with numeric attributes, as @arcs (directed) or @edges.

    Other maps and sections are not read.
    Source: lemon.cs.elte.hu, LEMON graph format; files that JGraphT's LemonExporter writes.
    """
    draft, section, columns, kinds = Draft(path), "", None, set[str]()
    called: dict[str, str] = {}
    for line, text in lines_of(path, "#"):
        words = words_of(text)
        if words[0].startswith("@"):
            section, columns = words[0], None
            kinds |= {section} & {"@arcs", "@edges"}
            draft.left |= {section: None} if section not in ("@nodes", "@arcs", "@edges") else {}
        elif section == "@nodes":
            if columns is None:
                columns = words
                if "label" not in words:
                    draft.fail(line, "a map label of nodes", text)
                draft.left |= dict.fromkeys(f"{name} of nodes" for name in words if name != "label")
            elif len(words) != len(columns):
                draft.fail(line, f"{len(columns)} fields of a node", text)
            else:
                draft.declare(words[columns.index("label")], line)
        elif section in ("@arcs", "@edges"):
            if columns is None:
                columns = [] if words == ["-"] else words
                with named(path):
                    called = known_names(columns, draft.notes)
                draft.left |= dict.fromkeys(name for name in columns if name not in (*called.values(), "label"))
            elif len(words) != len(columns) + 2:
                draft.fail(line, f"two nodes and {len(columns)} fields of a link", text)
            else:
                row = dict(zip(columns, words[2:]))
                numbers: dict[str, Any] = {known: row[name] for known, name in called.items()}
                draft.link(draft.known(words[0], line), draft.known(words[1], line), line, **numbers)
    if len(kinds) > 1:
        raise BadInput(f"{printable(path)}: expected @arcs or @edges, got both; list each edge as two arcs")
    draft.directed = kinds == {"@arcs"}
    return draft.listing()


def vna(path: Path) -> Listing:
    """Read NetDraw's VNA: nodes and ties. Ties are directed unless each has an equal tie in the other direction.

    The strength of a tie is a weight. Other columns, and how nodes are drawn, are not read.
    Source: NetDraw's guide, "VNA data file format"; files of Gephi's ImporterVNA and ExporterVNA.
    """
    draft, section, columns = Draft(path, directed=True), "", list[str]()
    for line, text in lines_of(path):
        words = words_of(text)
        if words[0].startswith("*"):
            section, columns = " ".join(words).lower(), []
            draft.left |= {section: None} if section not in ("*node data", "*tie data") else {}
        elif section not in ("*node data", "*tie data"):
            continue
        elif not columns:
            columns = [word.lower() for word in words]
            needed = 1 if section == "*node data" else 2
            draft.left |= dict.fromkeys(
                name for name in columns[needed:] if section == "*node data" or name != "strength"
            )
        elif len(words) != len(columns) or (section == "*tie data" and len(words) < 2):
            draft.fail(line, f"{len(columns)} fields, as in the heading", text)
        elif section == "*node data":
            draft.declare(words[0], line)
        else:
            weight = words[columns.index("strength")] if "strength" in columns else None
            draft.link(draft.node(words[0], line), draft.node(words[1], line), line, weight=weight)
    return draft.listing()


def leda(path: Path) -> Listing:
    """Read LEDA's graph format: nodes 1 … N, and links that are directed (-1) or not (-2). Labels are not read.

    Source: LEDA's writer (graph::write), and networkx, readwrite/leda.py.
    """
    draft = Draft(path)
    rows = Rows(draft, "#")
    for what in ("LEDA.GRAPH", "a type of nodes of LEDA", "a type of links of LEDA"):
        rows.take(what)
    line, (kind, *_) = rows.numbers("-1 (directed) or -2")
    if kind not in (-1, -2):
        draft.fail(line, "-1 (directed) or -2, as LEDA's files have it", kind)
    draft.directed = kind == -1
    for number in range(rows.numbers("the number of nodes")[1][0]):
        draft.declare(str(number + 1), rows.take("as many nodes as LEDA's file says")[0])
    for _ in range(rows.numbers("the number of links")[1][0]):
        line, text = rows.take("as many links as LEDA's file says")
        words = text.split(maxsplit=3)
        if len(words) < 3:
            draft.fail(line, "two nodes and the reversal of a link", text)
        draft.link(draft.known(words[0], line), draft.known(words[1], line), line)
    rows.end()
    draft.left["labels"] = None
    return draft.listing()


def lgl(path: Path) -> Listing:
    """Read igraph's LGL format: a line with # and a node, then a line for each neighbour, with or without a weight.

    Source: igraph, src/io/lgl.c (igraph_read_graph_lgl).
    """
    draft, node = Draft(path), -1
    for line, text in lines_of(path):
        words = text.split()
        if words[0] == "#" and len(words) == 2:
            node = draft.node(words[1], line)
        elif node < 0 or len(words) not in (1, 2) or words[0].startswith("#"):
            draft.fail(line, "# and a node, then its neighbours", text)
        else:
            draft.link(node, draft.node(words[0], line), line, weight=words[1] if len(words) > 1 else None)
    return draft.listing()


def sif(path: Path) -> Listing:
    """Read Cytoscape's SIF: lines with a node, the kind of its links and their targets, or with a node alone.

    Fields are separated by tabs if the file has a tab, otherwise by blanks. Links have both directions. Their kinds are
    not read, except that links of different kinds between two nodes are parallel links, and links of one kind are one
    link. Source: Cytoscape's manual, "Supported Network File Formats: SIF Format"; without example files.
    """
    draft, rows, seen = Draft(path), [*lines_of(path)], set[tuple[int, str, int]]()
    mark = "\t" if any("\t" in text for _, text in rows) else None
    for line, text in rows:
        words = [word.strip() for word in text.strip().split(mark)]
        if len(words) == 2:
            draft.fail(line, "a node, the kind of a link and nodes, or a node alone", text)
        node = draft.node(words[0], line)
        draft.left |= {"kinds of links": None} if words[1:] else {}
        for word in words[2:]:
            link = node, words[1], draft.node(word, line)
            if link not in seen:
                draft.link(node, link[2], line)
            seen.add(link)
    return draft.listing()


def caminos(path: Path) -> Listing:
    """Read CAMINOS' file of adjacencies: NODOS and GRADO, then for each router a line N and a line of its neighbours.

    Source: caminos-lib, src/topology/mod.rs (write_adjacencies_to_file).
    """
    draft = Draft(path, directed=True)
    rows = Rows(draft)
    line, (count, *_) = rows.numbers("NODOS and the number of routers", "NODOS")
    rows.numbers("GRADO and the largest number of links of a router", "GRADO")
    check_nodes(path, count, NODE_BYTES)
    for router in range(count):
        draft.declare(str(router), line)
    for router in range(count):
        line, named_routers = rows.numbers(f"N {router}", "N")
        if named_routers != [router]:
            draft.fail(line, f"N {router}", named_routers)
        line, others = rows.numbers("the neighbours of a router")
        for other in others:
            draft.link(router, draft.known(str(other), line), line)
    rows.end()
    return draft.listing()
