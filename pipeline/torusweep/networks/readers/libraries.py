"""Read graph files by igraph (GML, Pajek), and matrices by SciPy and NumPy (Matrix Market, .npz, .npy)."""

from __future__ import annotations

import csv
import html
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import igraph
import numpy as np
import scipy

from torusweep.errors import BadInput, Refused, one_line, printable
from torusweep.networks.families.graph_listing import (
    ENDPOINTS,
    TITLES,
    Listing,
    named,
    note_names,
    note_unread,
    text_of,
)
from torusweep.networks.families.graph_numbers import (
    ALSO_CALLED,
    KNOWN,
    known_names,
    set_column,
    set_numbers,
    set_terminals,
)
from torusweep.networks.readers.fields import SHOWN, fail, notes_on_signs, refuse, text_lines
from torusweep.networks.topology import default_memory

NODE_BYTES = 256  # memory of a node in igraph
LIST = "a list of links with more columns needs a heading such as source,target"
# what NumPy and zipfile raise on damaged files
DAMAGED = (
    *(ValueError, EOFError, MemoryError, KeyError, TypeError, IndexError, SyntaxError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)
OTHER_SECTIONS = re.compile(
    r"[ \t]*(\*(?:partition|vector|permutation|cluster|hierarchy))\b", re.IGNORECASE
)  # sections of Pajek's files that are not read
SPARSE = {"data", "indices", "indptr", "row", "col", "offsets", "format", "shape", "_is_array"}  # scipy.sparse.save_npz


def gml(path: Path) -> Listing:
    """Read GML by igraph. Nodes are named by their labels or names if all of these differ, otherwise by their ids.

    Data in brackets within a node or link, such as its place in a picture, are not read.
    Source: M. Himsolt, GML: a portable graph file format (1996): directed 1, else undirected; ids are whole numbers.
    """
    graph, warned = _read(path, igraph.Graph.Read_GML)
    nested = {of: re.findall(rf"Composite {of} attribute '([^']*)'", warned) for of in ("edge", "vertex", "graph")}
    for attribute in ("label", "name", "id"):
        names = graph.vs[attribute] if attribute in graph.vs.attributes() else [""]
        if attribute == "id":
            if any(name in ("", None) or name != name for name in names):
                raise BadInput(f"{printable(path)}: expected an id of every node of GML, got a node without")
            names = [int(name) for name in names]
        names = [html.unescape(name) if isinstance(name, str) else name for name in names]
        if all(name not in ("", None) for name in names) and len(set(map(str, names))) == graph.vcount():
            return _listing(path, graph, names, attribute, nested)
    return _listing(path, graph, [], "", nested)


def pajek(path: Path) -> Listing:
    """Read Pajek's network by igraph. Nodes are named by their labels if these differ, otherwise by number, 1 … N.

    Raises BadInput for several networks in one file, and for both arcs and edges, since only some links would have one
    direction then. Partitions and vectors are not read; several relations and times are refused.
    Source: Pajek's manual (mrvar.fdv.uni-lj.si/pajek/pajekman.pdf); igraph, src/io/pajek-parser.y.
    """
    text = text_of(path)
    text, unread = _without_partitions(text)
    sections = [section.lower() for section in re.findall(r"^\s*\*(\w+)[^\n]*\n(?=\s*\d)", text, re.MULTILINE)]
    if len({kind for section in sections for kind in ("arcs", "edges") if section.startswith(kind)}) > 1:
        raise BadInput(f"{printable(path)}: expected arcs or edges, got both; list each edge as two arcs")
    vertices = re.findall(r"^\s*\*vertices\s+(\d+)", text, re.MULTILINE | re.IGNORECASE)
    if len(vertices) > 1:
        raise BadInput(f"{printable(path)}: expected one network, got {len(vertices)}; keep one of them in the file")
    if vertices and int(vertices[0]) > min(2**31, default_memory() // NODE_BYTES):
        raise Refused(f"{printable(path)}: {int(vertices[0]):,} nodes are more than this machine's memory can hold")
    with NamedTemporaryFile("w", suffix=".net", encoding="utf-8") as file:
        # igraph drops everything after an empty line
        file.write("".join(line + "\n" for line in text.splitlines() if line.strip()))
        file.flush()
        graph, warned = _read(path, igraph.Graph.Read_Pajek, file.name)
    if "ignoring rest of file" in warned or "unknown section" in warned:
        raise BadInput(f"{printable(path)}: expected Pajek's network, got: {one_line(printable(warned))}")
    names = [name or "" for name in graph.vs["name"]] if "name" in graph.vs.attributes() else []
    labelled = "" not in names and len(set(names)) == graph.vcount()
    if not labelled:
        names = list(range(1, graph.vcount() + 1))
    listing = _listing(path, graph, names, "name", {"edge": [], "vertex": [], "graph": []})
    note_unread(listing, {"sections": unread})
    return listing


def _without_partitions(text: str) -> tuple[str, list[str]]:
    """Return a Pajek file without the sections that divide or weigh its nodes, and the names of these sections."""
    parts = re.split(
        r"^(?=[ \t]*\*(?:network|partition|vector|permutation|cluster|hierarchy)\b)", text, flags=re.M | re.I
    )
    left = [part for part in parts if not OTHER_SECTIONS.match(part)]
    names = [found[1] for part in parts if (found := OTHER_SECTIONS.match(part))]
    return "".join(left), names


def _read(path: Path, reader: Callable[[str], Any], place: str = "") -> tuple[Any, str]:
    """Let igraph read `place` (by default `path`). Return (graph, warnings). Raises BadInput, which names `path`."""
    text_of(path)  # other bytes make igraph fail, or crash
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            graph = reader(place or str(path))
            return graph, " ".join(str(warning.message) for warning in warned)
    except igraph.InternalError as error:
        reason = re.sub(r"^Error at [^ ]+: | -- .*$", "", one_line(error))
        raise BadInput(f"{printable(path)}: {one_line(printable(reason))}") from None
    except (ValueError, SystemError, MemoryError) as error:
        raise BadInput(f"{printable(path)}: expected a graph, got: {one_line(printable(error))}") from None


def _listing(path: Path, graph: Any, names: Sequence[Any], called_by: str, nested: dict[str, list[str]]) -> Listing:
    """Return the `Listing` of an igraph graph. Nodes are named by `names`, the values of attribute `called_by`.

    nested  for "edge", "vertex" and "graph", names of attributes that igraph leaves out, for a note
    """
    listing = Listing(directed=bool(graph.is_directed()), nodes=np.arange(graph.vcount()))
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    listing.tails, listing.heads = ends[:, 0], ends[:, 1]
    _name(path, listing, names)
    with named(path):
        called = known_names(graph.es.attributes(), listing.notes)
        columns = {known: [_value(value) for value in graph.es[name]] for known, name in called.items()}
        set_numbers(listing, {known: values for known, values in columns.items() if any(v is not None for v in values)})
        counts: Sequence[Any] = next(
            (graph.vs[name] for name in graph.vs.attributes() if name.lower() in ENDPOINTS), []
        )
        set_terminals(path, listing, [_value(count) for count in counts])
    own = {called_by, "id", *(name for name in graph.vs.attributes() if name.lower() in ENDPOINTS)}
    links = [name for name in graph.es.attributes() if name not in called.values()]
    unread = {
        "data of links": [*links, *nested["edge"]],
        "data of nodes": [*(name for name in graph.vs.attributes() if name not in own), *nested["vertex"]],
        "data of the graph": [*(name for name in graph.attributes() if name.lower() not in TITLES), *nested["graph"]],
    }
    note_unread(listing, unread, (*KNOWN, *ALSO_CALLED))
    return listing


def _value(value: Any) -> Any:
    """Return a link's value; None if it has no value, which igraph shows as an empty text or NaN."""
    return None if value in ("", None) or value != value else value


def _name(path: Path, listing: Listing, names: Sequence[Any]) -> None:
    """Give the nodes their names. Raises BadInput for a name that cannot be printed."""
    for name in names:
        if not str(name).isprintable():
            shown = one_line(printable(name), SHOWN)
            raise BadInput(f"{printable(path)}: expected names of printable characters, got '{shown}'")
    if names and all(isinstance(name, int) for name in names):
        listing.names = tuple(names)
    elif names:
        note_names(listing, {str(name): place for place, name in enumerate(names)})


def matrix_market(path: Path) -> Listing:
    """Read a Matrix Market file by SciPy: each entry that is not 0 is a link.

    Source: math.nist.gov/MatrixMarket/formats.html; scipy.io.mmread.
    """
    content = text_of(path).encode() + b"\n"  # SciPy 1.17 crashes on NUL, on a last line without end, and without rows
    try:
        rows, columns, entries, *_ = scipy.io.mminfo(BytesIO(content))
        if not rows or not columns or entries > len(content):
            raise ValueError(f"{rows:,} rows, {columns:,} columns and {entries:,} entries")
        if max(rows, columns) > default_memory() // NODE_BYTES:
            raise Refused(f"{printable(path)}: {rows:,} nodes are more than this machine's memory can hold")
        matrix = scipy.io.mmread(BytesIO(content))
    except (ValueError, OverflowError, TypeError, MemoryError) as error:
        raise BadInput(
            f"{printable(path)}: expected a matrix in the Matrix Market format, got: {one_line(printable(error))}"
        ) from None
    return listing_of(path, matrix)


def npy(path: Path) -> Listing:
    """Read an array of NumPy: a square matrix, or links as int[E, 2]. Arrays of objects (pickles) are refused."""
    return _of_arrays(path, lambda: {"": np.load(path, allow_pickle=False)})


def npz(path: Path) -> Listing:
    """Read a matrix that scipy.sparse.save_npz wrote, or the only array of numpy.savez. Objects are refused."""
    return _of_arrays(path, lambda: _arrays(path))


def _arrays(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        if (size := sum(member.file_size for member in archive.infolist())) > default_memory() // 8:
            raise Refused(f"{printable(path)}: {size / 2**30:.1f} GiB unpacked are more than the memory can hold")
    with np.load(path, allow_pickle=False) as arrays:
        if set(arrays) <= SPARSE and {"format", "shape", "data"} <= set(arrays):
            return {"": scipy.sparse.load_npz(path)}
        return {name: arrays[name] for name in arrays}


def _of_arrays(path: Path, read: Callable[[], dict[str, Any]]) -> Listing:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings on files that Python 2 wrote
            arrays = read()
    except DAMAGED as error:
        reason = "pickled objects, which are not read for safety" if "allow_pickle" in str(error) else error
        raise BadInput(f"{printable(path)}: expected arrays of NumPy, got: {one_line(printable(reason))}") from None
    if len(arrays) != 1:
        shown = one_line(printable(", ".join(arrays)), SHOWN) or "none"
        raise BadInput(f"{printable(path)}: expected one array, a matrix or links int[E, 2], got {shown}")
    (array,) = arrays.values()
    if not scipy.sparse.issparse(array) and array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu":
        if array.size and not 0 <= array.min() <= array.max() < 2**62:
            raise BadInput(f"{printable(path)}: expected nodes 0 … 2⁶², got {array.min()} … {array.max()}")
        ends = array.astype(np.int64)
        return Listing(tails=ends[:, 0], heads=ends[:, 1])
    return listing_of(path, array)


def listing_of(path: Path, matrix: Any, names: Sequence[Any] = ()) -> Listing:
    """Return the links of a square matrix, dense or sparse. Each entry that is not 0 is a link, and its value a weight.

    A symmetric matrix has each undirected link twice. For any other matrix the user must give `directed`.
    """
    shape = "×".join(map(str, matrix.shape))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise BadInput(f"{printable(path)}: expected a square matrix, a row and a column for each node, got {shape}")
    if matrix.dtype.kind not in "biuf":
        raise BadInput(f"{printable(path)}: expected a matrix of numbers, got {matrix.dtype}")
    entries = scipy.sparse.coo_array(matrix)
    entries.sum_duplicates()
    there = entries.data != 0
    row, column = (ends[there].astype(np.int64) for ends in entries.coords)
    values = entries.data[there].astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        wrong = values[~np.isfinite(values) | (values < 0)][0]
        raise BadInput(f"{printable(path)}: expected entries of 0 or more in the matrix, got {wrong}")
    listing = Listing(row, column, np.arange(matrix.shape[0]))
    nodes = np.int64(matrix.shape[0])
    alone = np.setdiff1d(row * nodes + column, column * nodes + row)
    if len(alone):
        tail, head = divmod(int(alone[0]), int(nodes))
        listing.unsaid = (
            f"expected a symmetric matrix, whose links have both directions, got an entry ({tail}, {head}) without"
            f" ({head}, {tail}); say directed=true, or directed=false for links listed once"
        )
    listing.mirrored = not len(alone)
    set_column(listing, "weight", values)
    _name(path, listing, names)
    return listing


def matrix(path: Path) -> Listing:
    """Read a matrix as text: N lines of N numbers, or pandas's form, with names of columns and rows."""
    inside = list[str]()
    lines = list(text_lines(path, inside))
    heading = lines[0][1].strip("\ufeff").lstrip()[:1] in (",", ";") if lines else False
    rows = [_fields(text) for _, text in lines]
    names = rows[0][1:] if heading else []
    if heading and [row[0] if row else "" for row in rows[1:]] != names:
        raise BadInput(f"{printable(path)}: expected the same names before the lines as above the columns")
    if len(set(names)) < len(names) or "" in names:
        raise BadInput(f"{printable(path)}: expected names that differ above the columns; rename one")
    width = len(rows) - heading
    values, empty = np.zeros((width, width)), 0
    for place, (line, row) in enumerate(zip(lines[heading:], rows[heading:])):
        numbers = row[heading:]
        if len(numbers) != width:
            fail(path, line[0], f"expected {width} numbers, as many as there are lines, got {len(numbers)}; {LIST}")
        try:
            values[place] = [float(word or 0) for word in numbers]
            empty += numbers.count("")
        except ValueError:
            refuse(path, line[0], "numbers", line[1].strip())
    listing = listing_of(path, values, names)
    listing.notes += notes_on_signs(inside)
    if empty:
        listing.notes.append(f"{empty:,} empty entries of the matrix read as no link")
    return listing


def _fields(text: str) -> list[str]:
    """Split a line into fields: at commas or semicolons if it has any, otherwise at blanks."""
    comma = next((mark for mark in ",;" if mark in text), None)
    return [word.strip() for word in next(csv.reader([text.strip()], delimiter=comma))] if comma else text.split()
