"""The command `torusweep dataset`: write the lattices of a sweep as a folder that needs no other files.

It has Parquet files, a DuckDB file of views over them, an index, README, Croissant metadata, checksums and the licence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import distribution, metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from torusweep.answers.connection import write_views
from torusweep.errors import BadInput
from torusweep.quantities import counted
from torusweep.questions.screen.columns import BEST, SCREEN
from torusweep.questions.screen.dataset import FOLLOWING, PART, PARTS, DataFile, part_digests, stored, stored_columns
from torusweep.tables import store
from torusweep.tables.columns import Column, arrow_schema
from torusweep.tables.parquet import parquet, parquet_writer, row_groups
from torusweep.tables.store import INDEX, VIEWS
from torusweep.tables.table import quoted
from torusweep.version import __version__

LARGEST = 100_000_000  # bytes of a file: what hosts of data take without more ado
LEVEL = 9  # of zstd: files that are kept and sent may take longer to write
GROUP_FOOT = 4_000  # bytes of a row group in a file's footer, or more
SUMS = "SHA256SUMS"
CROISSANT_TYPES = {"string": "sc:Text", "bool": "sc:Boolean", "int64": "cr:Int64", "double": "cr:Float64"}
# words of Croissant that are its own, in the context of its metadata
OWN_WORDS = (
    *("citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated"),
    *("replace", "samplingRate", "separator", "source", "subField", "transform"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{word: f"cr:{word}" for word in OWN_WORDS},
}


def write_dataset(results: Path, out: Path, address: str = "", largest: int = LARGEST) -> list[DataFile]:
    """Write a sweep's lattices (table screen) to a new folder, by dimensions and nodes. Returns the Parquet files.

    address  URL of the future published folder, for views.sql and the metadata; with '' these name files of the folder
    largest  maximum size of a Parquet file, in bytes

    Raises BadInput if the table is missing, altered, unsorted or has no lattices, or if the folder is not empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out}: expected a new or empty folder, got one that holds files; name another")
    manifest = store.read_manifest(results)
    parts = store.open_file(results / "screen.parquet", arrow_schema(SCREEN)).groups()
    out.mkdir(parents=True, exist_ok=True)
    about = {"generator": f"torusweep {__version__}", "code": str(manifest.get("stage", {}).get("screen", ""))}
    files = _write_files(map(stored, parts), out, about, largest)
    if not files:
        raise BadInput(
            f"{results}: expected a sweep with lattices in its table screen, got none; see config/atlas.yaml"
        )
    tables = {"screen": [file.name for file in files]}
    if "best" in manifest["tables"]:
        best = store.open_current(results / "best.parquet", arrow_schema(BEST))
        store.publish(out / "best.parquet", parquet(best, about))
        tables["best"] = ["best.parquet"]
    listed = {**about, "files": [file.model_dump() for file in files]}
    store.publish(out / INDEX, json.dumps(listed, indent=1).encode() + b"\n")
    write_views(out / VIEWS, _views(tables).values())
    base = f"{address.rstrip('/')}/" if address else ""
    texts = {
        "views.sql": "\n".join(_views(tables, base).values()) + "\n",
        "README.md": _readme(files, about, address, "best" in tables),
        "LICENSE": _licence(),
    }
    for name, text in texts.items():
        store.publish(out / name, text.encode())
    described = json.dumps(croissant(out, tables, about, address), indent=1, ensure_ascii=False)
    store.publish(out / "croissant.json", described.encode() + b"\n")
    sums = "".join(f"{store.file_digest(path)}  {path.name}\n" for path in sorted(out.iterdir()))
    store.publish(out / SUMS, sums.encode())
    return files


def _write_files(tables: Iterator[pa.Table], out: Path, about: dict[str, str], largest: int) -> list[DataFile]:
    """Write row groups into Parquet files of at most `largest` bytes each."""
    files: list[DataFile] = []
    writer: Any = None
    sink: Any = None
    path, rows, groups, most, first, before = out, 0, 0, 0, (0, 0), (0, 0)

    def close() -> None:
        nonlocal writer
        writer.close()
        sink.close()
        content = path.read_bytes()
        parts = part_digests(content)
        store.publish(path.with_suffix(PARTS), parts)
        files.append(
            DataFile(
                name=path.name,
                bytes=len(content),
                rows=rows,
                sha256=store.digest(content),
                parts=store.digest(parts),
                first=first,
                last=before,
            )
        )
        writer = None

    def write(table: pa.Table) -> None:
        nonlocal writer, sink, path, rows, groups, most, first, before
        sizes = list(zip(table["dimensions"].to_numpy().tolist(), table["nodes"].to_numpy().tolist()))
        if sizes != sorted(sizes) or sizes[0] < before:
            raise BadInput("screen: expected rows sorted by dimensions, then nodes; sort the entries, as in atlas.yaml")
        if writer is not None and sink.tell() + most + GROUP_FOOT * (groups + 2) > largest:
            close()
        if writer is None:
            path, rows, first, groups = out / f"lattices-{len(files):03}.parquet", 0, sizes[0], 0
            sink = path.open("wb")
            schema = table.schema.with_metadata({**(table.schema.metadata or {}), **about})
            writer = parquet_writer(sink, schema, LEVEL)
        there = sink.tell()
        writer.write_table(table)
        rows, groups, before = rows + len(table), groups + 1, sizes[-1]
        most = max(most, sink.tell() - there)

    for group in row_groups(arrow_schema(stored_columns()).empty_table(), tables):
        dimensions = group["dimensions"].to_numpy()  # a group of several would be read for any size
        for here in np.split(np.arange(len(group)), np.flatnonzero(np.diff(dimensions)) + 1):
            if len(here):
                write(group.slice(here[0], len(here)))
    if writer is not None:
        close()
    return files


def _views(tables: dict[str, list[str]], base: str = "") -> dict[str, str]:
    """Return SQL that creates a view of each table. The view `screen` computes columns that the files lack."""
    terms = ", ".join(
        f"({FOLLOWING[column.name]}) AS {column.name}" if column.name in FOLLOWING else column.name for column in SCREEN
    )
    listed = {name: ", ".join(quoted(base + file) for file in files) for name, files in tables.items()}
    return {
        name: f"CREATE VIEW {name} AS SELECT {terms if name == 'screen' else '*'} FROM read_parquet([{files}]);"
        for name, files in listed.items()
    }


def croissant(out: Path, tables: dict[str, list[str]], about: dict[str, str], address: str) -> dict[str, Any]:
    """Return Croissant 1.0 metadata (MLCommons) of the files: a record set for each, its fields made from `Column`."""
    base = f"{address.rstrip('/')}/" if address else ""
    files = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "contentUrl": f"{base}{name}",
            "contentSize": f"{(out / name).stat().st_size} B",
            "encodingFormat": "application/x-parquet",
            "sha256": store.file_digest(out / name),
        }
        for names in tables.values()
        for name in names
    ]
    sets = [
        {
            "@type": "cr:RecordSet",
            "@id": name.removesuffix(".parquet"),
            "name": name.removesuffix(".parquet"),
            "description": f"Rows of the table {table} in {name}.",
            "field": [_field(name, column) for column in (stored_columns() if table == "screen" else BEST)],
        }
        for table, names in tables.items()
        for name in names
    ]
    return {
        "@context": dict(sorted(CONTEXT.items())),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": out.name,
        "description": "Lattice graphs (tori, twisted tori, circulants, crystal lattices), one of each class:"
        " distances, channel loads under uniform traffic, bounds.",
        "version": __version__,
        "license": _licence_url(),
        "url": address or "https://example.org/address-at-release",
        "datePublished": datetime.now(UTC).date().isoformat(),  # of this folder
        "creator": {"@type": "sc:Organization", "name": "torusweep contributors"},
        "citeAs": _cite(out.name, about),
        "distribution": files,
        "recordSet": sets,
    }


def _field(file: str, column: Column) -> dict[str, Any]:
    repeated = column.type.startswith("list<")
    kind = column.type[5:-1] if repeated else column.type
    of_numbers = {"float": "cr:Float32", "int8": "cr:Int8", "int16": "cr:Int16", "int32": "cr:Int32"}
    return {
        "@type": "cr:Field",
        "@id": f"{file.removesuffix('.parquet')}/{column.name}",
        "name": column.name,
        "description": f"{column.meaning} [{column.unit}]" if column.unit else column.meaning,
        "dataType": {**CROISSANT_TYPES, **of_numbers}[kind],
        **({"repeated": True} if repeated else {}),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }


def _cite(name: str, about: dict[str, str]) -> str:
    return f"torusweep contributors: {name}, a data set of lattice graphs, made by {about['generator']}"


def _licence() -> str:
    """Return the text of the project's licence."""
    return distribution("torusweep").read_text("licenses/LICENSE") or f"{metadata('torusweep')['License-Expression']}\n"


def _licence_url() -> str:
    return f"https://spdx.org/licenses/{metadata('torusweep')['License-Expression'] or 'MIT'}.html"


def _readme(files: list[DataFile], about: dict[str, str], address: str, with_best: bool) -> str:
    """Return the text of the README: the folder's contents, and how to read them."""
    rows, bytes_ = sum(file.rows for file in files), sum(file.bytes for file in files)
    place = address.rstrip("/") if address else "ADDRESS"
    ends = [f"{nodes:,} nodes in {counted(n, 'dimension')}" for n, nodes in (files[0].first, files[-1].last)]
    dimensions, size = files[-1].last  # which the examples ask for
    between = f"from {ends[0]} to {ends[1]}"
    listed = "\n".join(
        f"| {column.name} | {column.type} | {column.unit or '–'} | {column.meaning} |" for column in stored_columns()
    )
    views = "\n".join(f"| {name} | `{sql}` |" for name, sql in FOLLOWING.items())
    return f"""# Lattice graphs, one of each class

{rows:,} classes of lattices Zⁿ/L (tori, twisted tori, circulants, crystal lattices) {between}, sorted by
dimensions, then nodes: {counted(len(files), "Parquet file")} of {bytes_ / 1e6:,.1f} MB. A class has the lattices that
differ only in the names and directions of the dimensions.

Made by {about["generator"]} (digest of the code: {about["code"] or "unknown"}).
A row is made again from its spelling:
`torusweep describe "lattice(matrix=[[8, 4], [0, 4]])"`.

| file | what |
|---|---|
| lattices-*.parquet | a row for each class, compact |
{"| best.parquet | the winners of each size, networks that people know, the bound |" if with_best else ""}
| {VIEWS} | DuckDB: views over them, with every column that torusweep's table screen has |
| views.sql | the same as SQL, for the published files where their address is known |
| {INDEX} | the files, their sizes, digests, and first and last (dimensions, nodes) |
| lattices-*{PARTS} | digests of each {PART // 1024} KiB of a file, so that a part of it can be read and trusted |
| croissant.json | the same for machines (MLCommons Croissant 1.0) |
| {SUMS} | sha256 of every file: `sha256sum -c {SUMS}` |
| LICENSE | the licence |

## How to read it

    cd FOLDER
    duckdb {VIEWS} "SELECT topology, mean_distance FROM screen WHERE nodes = {size} ORDER BY mean_distance LIMIT 5"
    duckdb -c "SELECT topology FROM 'lattices-*.parquet' WHERE nodes = {size} ORDER BY distance_sum LIMIT 5"
    duckdb -c "SELECT min(distance_sum) FROM read_parquet('{place}/{files[0].name}') WHERE nodes = {files[0].last[1]}"
    pandas.read_parquet("{files[-1].name}", filters=[("nodes", "==", {size})])
    polars.scan_parquet("lattices-*.parquet").filter(polars.col("nodes") == {size}).collect()
    torusweep best --nodes {size} --dimensions {dimensions} --remote {place}

From another folder: `SET file_search_path = 'FOLDER'` in DuckDB. Readers fetch only the row groups of a size.
Whoever publishes this folder says the sha256 of {INDEX} elsewhere, too: `best --digest` takes it, and it vouches for
every part of every file.

## Columns

| column | type | unit | meaning |
|---|---|---|---|
{listed}

`load` has 7 digits; `max_channel_load` has all. The view screen computes the rest:

| column | from |
|---|---|
{views}

## How to cite

{_cite("lattices", about)}. It is exact in what it counts: integers are integers; loads are sums of floating-point
numbers, right to about 12 digits.
"""
