"""A stage is one folder and one line, a table made of its rows one file: both run in a copy of the packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = """
import pyarrow as pa

from torusweep.tables.columns import Column, arrow_schema
from torusweep.tables.table import Declaration

TABLE = Declaration(
    "toy",
    "a network and a factor: their product",
    (
        Column("topology", "string", "", "canonical spelling"),
        Column("factor", "int64", "", "factor"),
        Column("product", "int64", "nodes", "factor x nodes"),
    ),
    apart=("factor",),
)
DOUBLED = Declaration(
    "doubled",
    "a row of toy: its product, doubled",
    (Column("topology", "string", "", "canonical spelling"), Column("double", "int64", "nodes", "2 x product")),
    joined=False,
    made_of=("toy",),
    rows="torusweep.questions.toy.columns:doubled",
    sections=("toy",),
)


def doubled(tables):
    rows = tables["toy"].read(["topology", "product"]).to_pylist()
    doubles = [{"topology": row["topology"], "double": 2 * row["product"]} for row in rows]
    return pa.Table.from_pylist(doubles, schema=arrow_schema(DOUBLED.columns))
"""
TOY = '''
"""The stage `toy`: a number times the nodes of a network, a row for each factor below it."""

from dataclasses import dataclass

import pyarrow as pa
from pydantic import Field

from torusweep.charts.section import Chapter
from torusweep.errors import BadInput
from torusweep.questions.stage import NetworkChoice, under
from torusweep.questions.stage import Stage
from torusweep.questions.toy.columns import TABLE


class Toy(NetworkChoice):
    """Products of the sweep's networks."""

    factor: int = Field(ge=1, le=9, description="how many rows")


@dataclass(frozen=True)
class ToyRequest:
    factor: int

    def __str__(self):
        return f"times {self.factor}"


def section(tables):
    rows = tables.get("toy", ())
    return Chapter("toy", "Toys", [f"<p>{len(rows)} toys</p>"]) if rows else None


class ToyStage(Stage):
    name = "toy"
    columns = TABLE.columns
    Entry = Toy
    Request = ToyRequest
    description = "toys"
    section = staticmethod(section)

    def requests(self, entry):
        with under("factor"):
            if entry.factor == 7:
                raise BadInput("expected another factor than 7, got 7; choose one")
        yield ToyRequest(entry.factor)

    def seconds(self, network, request):
        return 1e-3

    def row_count(self, network, request):
        return request.factor

    def rows(self, network, request, options):
        topology = network.topology
        factors = range(1, request.factor + 1)
        products = [factor * topology.nodes for factor in factors]
        return pa.table({"topology": [topology.spelling] * len(factors), "factor": factors, "product": products})


QUESTION = ToyStage()
'''
CONFIG = """\
sweep: toys
topologies: ["ring(k=4)", "torus(k=3, n=2)"]
toy: [{factor: 2}, {factor: 3, families: [torus]}]
cluster: {batch_seconds: 0.01}
"""


def test_a_stage_is_one_folder_and_one_line(tmp_path: Path):
    for package in ("kernels/torusweep_kernels", "pipeline/torusweep"):
        shutil.copytree(
            ROOT / package,
            tmp_path / Path(package).name,
            ignore=shutil.ignore_patterns("torusweep_kernels-*"),  # Numba's cache, which is of no use elsewhere
        )
    (tmp_path / "torusweep/questions/toy").mkdir()
    (tmp_path / "torusweep/questions/toy/__init__.py").write_text('"""A toy."""\n')
    (tmp_path / "torusweep/questions/toy/columns.py").write_text(COLUMNS)
    (tmp_path / "torusweep/questions/toy/stage.py").write_text(TOY)
    table = tmp_path / "torusweep/stages.py"
    table.write_text(table.read_text().replace('"simulation",', '"simulation", "toy",'))
    (tmp_path / "toys.yaml").write_text(CONFIG)
    python = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": os.pathsep.join(python)}

    def torusweep(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from torusweep.cli import main; main()", *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    run = "run", "toys.yaml", "--workers", "0", "--backend", "numpy"  # Numba would compile everything for this folder
    ran = torusweep(*run)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    query = "SELECT topology, factor, product, diameter FROM toy JOIN static USING (topology) ORDER BY 1, 2"
    rows = json.loads(torusweep("query", query, "--results", "results/toys", "--json").stdout)
    assert [tuple(row.values()) for row in rows] == [
        *(("ring(k=4)", factor, 4 * factor, 2) for factor in (1, 2)),
        *(("torus(k=3, n=2)", factor, 9 * factor, 2) for factor in (1, 1, 2, 2, 3)),
    ]
    doubles = torusweep("query", "SELECT sum(double) AS all FROM doubled", "--results", "results/toys", "--json").stdout
    assert json.loads(doubles) == [{"all": 2 * (4 + 8 + 9 * (1 + 1 + 2 + 2 + 3))}]
    assert "7 toys" in (tmp_path / "results/toys/report.html").read_text()
    again = torusweep(*run)
    assert "Nothing to be done" in again.stdout + again.stderr
    (tmp_path / "toys.yaml").write_text(CONFIG.replace("factor: 2", "factor: 7"))
    refused = torusweep("run", "toys.yaml")
    assert refused.returncode == 2
    assert "toys.yaml:3:16: toy[0].factor: expected another factor than 7" in refused.stderr
