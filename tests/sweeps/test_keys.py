"""What the key of a point depends on: the point, its files, and the code of its stage."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.networks.readers import FORMATS
from torusweep.questions.static.stage import StaticRequest
from torusweep.stages import STAGES
from torusweep.sweeps import points
from torusweep.sweeps.points import Point, stage_digest
from torusweep.tables import keys
from torusweep.tables.keys import sources_of

ROOT = Path(__file__).resolve().parents[2]


def static(topology: str, fault_nodes: int | None = None) -> Point:
    return Point("static", topology, StaticRequest(fault_nodes))


def test_a_key_depends_on_the_point_its_files_and_the_code(tmp_path, monkeypatch):
    file = tmp_path / "edges.txt"
    file.write_text("0 1\n1 2\n")
    point = static(f'graph(path="{file}")')
    keys = [point.key, static("ring(k=8)").key, static("ring(k=9)").key, static("ring(k=8)", 1).key]
    assert keys == [point.key, static("ring(k=8)").key, static("ring(k=9)").key, static("ring(k=8)", 1).key]
    file.write_text("0 1\n1 2\n2 3\n")
    keys.append(point.key)
    keys.append(static(f'faulty(graph(path="{file}"), links=0, seed=1)').key)
    monkeypatch.setattr(points, "stage_digest", lambda stage: "other code")
    keys.append(static("ring(k=8)").key)
    assert len(set(keys)) == len(keys)
    file.unlink()
    with pytest.raises(BadInput, match=r"edges\.txt"):
        _ = point.key


def test_a_point_is_its_record_again():
    point = static("ring(k=8)", 2)
    assert Point.of_record({**point.record(), "key": "", "routing": None}) == point


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the packages, whose digests are computed anew each time."""
    for package, root in dict(keys._ROOTS).items():
        shutil.copytree(root / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
        monkeypatch.setitem(keys._ROOTS, package, tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def forget():
    for known in (points.stage_digest, keys.imports_of, keys._within, keys.source_files):
        known.cache_clear()


def test_a_stages_digest_depends_on_its_sources_and_not_on_where_they_are(copy, monkeypatch):
    copied = {stage: stage_digest(stage) for stage in STAGES}
    monkeypatch.undo()
    forget()
    assert copied == {stage: stage_digest(stage) for stage in STAGES}


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("torusweep/networks/families/cubes.py", [*STAGES]),
        ("torusweep/networks/families/graph_parquet.py", [*STAGES]),  # imported by name
        ("torusweep/questions/static/bisection.py", ["static", "screen"]),
        ("torusweep/routing/tables/columns.py", [stage for stage in STAGES if stage != "layout"]),
        ("torusweep/traffic/permutations.py", [stage for stage in STAGES if stage != "layout"]),
        ("torusweep_kernels/router/switch_allocation.cuh", ["simulation", "collectives"]),
        ("torusweep_kernels/lattices/cpu.py", ["screen"]),  # imported by name
        ("torusweep/questions/static/section.py", []),
        ("torusweep/questions/loads/columns.py", ["static", "loads", "cost", "screen"]),
        ("torusweep/questions/static/printed.py", ["static"]),
        ("torusweep/answers/page/explorer.py", []),
        ("torusweep/networks/picture.py", ["static", "layout"]),
    ],
)
def test_a_change_of_a_source_changes_the_digests_of_stages_whose_rows_depend_on_it(copy, file, stages):
    before = {stage: stage_digest(stage) for stage in STAGES}
    (copy / file).write_text("# other\n" + (copy / file).read_text())
    forget()
    assert [stage for stage in STAGES if stage_digest(stage) != before[stage]] == [
        stage for stage in STAGES if stage in stages
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_every_reader_of_files_is_in_the_key_of_every_stage(format):
    """The row of a network of a file depends on the function that read it, wherever that stands."""
    (reader,) = keys.source_of(FORMATS[format].reader.partition(":")[0])
    for stage in STAGES:
        assert reader in sources_of(f"torusweep.questions.{stage}.stage"), stage


def test_a_mended_reader_changes_every_digest(copy):
    before = {stage: stage_digest(stage) for stage in STAGES}
    (copy / "torusweep/networks/readers/text.py").write_text("# mended")
    forget()
    assert not {*before.values()} & {stage_digest(stage) for stage in STAGES}


def modules() -> list[str]:
    return [file for file in keys.source_files() if file.endswith(".py")]


def test_imports_are_those_of_the_syntax_tree():
    """Also inside functions."""
    for file in modules():
        names = set()
        for node in ast.walk(ast.parse(keys.source_files()[file].read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, file
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                names |= {name if keys.source_of(name) else node.module for name in whole}
            elif isinstance(node, ast.Constant):
                names |= set(re.findall(r"^(torusweep[\w.]*):\w+$", str(node.value)))
        assert set(keys.imports_of(file)) == {source for name in names for source in keys.source_of(name)}, file


def test_what_is_imported_by_name_is_known():
    """Import statements do not show it: either its folder is among the sources as a whole, or no row depends on it."""
    by_name = {
        file
        for file in modules()
        if re.search(r"import_module\(|resolve_name\(", keys.source_files()[file].read_text())
    }
    assert by_name == {
        "torusweep_kernels/backend.py",  # the backends of a kernel; Numba, CuPy
        "torusweep_kernels/cuda.py",  # CuPy
        "torusweep/networks/families/graph_files.py",  # readers, which FORMATS names
        "torusweep/tables/apart.py",  # whoever asks names a function, which counts as an import
        "torusweep/__init__.py",
        "torusweep/library/results.py",
        "torusweep/cli/__init__.py",
        "torusweep/cli/options.py",
        "torusweep/cli/questions.py",
        "torusweep/all_columns.py",  # the table of tables: no stage reads it
        "torusweep/sweeps/requested_points.py",  # what makes a derived table of stages' tables
        "torusweep/stages.py",  # the table of stages: no stage reads it
        "torusweep/questions/__init__.py",  # the command line's and the library's way to a question
        "torusweep/questions/parameters.py",  # tables of names: their strings count as imports
        "torusweep/questions/question.py",
        "torusweep/questions/stage.py",  # parts of the page: no row depends on captions
    }


AMONG = {
    "static": {"torusweep_kernels/distance/__init__.py", "torusweep/questions/static/bisection.py"},
    "loads": {
        "torusweep_kernels/loads/__init__.py",
        "torusweep/traffic/demands.py",
        "torusweep/capacity/__init__.py",
    },
    "deadlock": {"torusweep_kernels/dependencies/cpu.py", "torusweep/questions/deadlock/rules.py"},
    "layout": {"torusweep/questions/layout/record.py", "torusweep/networks/families/algebra.py"},
    "collectives": {"torusweep/collectives/optimum.py", "torusweep_kernels/trees/__init__.py"},
    "cost": {
        "torusweep/questions/cost/arithmetic.py",
        "torusweep/documents.py",
        "torusweep/questions/layout/placements.py",
    },
    "availability": {
        "torusweep_kernels/failures/__init__.py",
        "torusweep/collectives/optimum.py",
        "torusweep/questions/deadlock/layers.py",
    },
    "screen": {
        "torusweep_kernels/lattices/__init__.py",
        "torusweep/questions/screen/spaces.py",
        "torusweep/questions/loads/exact.py",
    },
    "simulation": {
        "torusweep_kernels/router/__init__.py",
        "torusweep/questions/deadlock/rules.py",
        "torusweep/traffic/permutations.py",
    },
}


@pytest.mark.parametrize("stage", STAGES)
def test_among_the_sources_is_what_computes_rows(stage):
    assert AMONG[stage] <= sources_of(f"torusweep.questions.{stage}.stage")


def test_cuda_sources_count_as_code():
    cuda = ROOT.glob("kernels/torusweep_kernels/distance/*.cu")
    expected = {f"torusweep_kernels/distance/{path.name}" for path in cuda} | {"torusweep_kernels/cuda.cuh"}
    assert sources_of("torusweep.questions.static.stage") >= expected
    assert sources_of("torusweep.questions.loads.stage") >= {"torusweep_kernels/pairs/pairs.cuh"}
