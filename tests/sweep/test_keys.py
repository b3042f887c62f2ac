"""What the key of a point depends on: the point, its files, and the code of its stage."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.stages import STAGES
from torusweep.stages.static.stage import StaticRequest
from torusweep.sweep import points
from torusweep.sweep.points import Point, digest_of_code, sources, stage_digest

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


def test_a_stages_digest_depends_on_its_sources_and_not_on_where_they_are(tmp_path, monkeypatch):
    original = stage_digest("static")
    copied = {}
    for name, file in sources(STAGES["static"].sources).items():
        copied[name] = tmp_path / name
        copied[name].parent.mkdir(parents=True, exist_ok=True)
        copied[name].write_bytes(file.read_bytes())
    monkeypatch.setattr(points, "sources", lambda names: copied)
    digest_of_code.cache_clear()
    assert stage_digest("static") == original
    copied["torusweep/networks/families/cubes.py"].write_bytes(b"# other\n")
    digest_of_code.cache_clear()
    assert stage_digest("static") != original
    digest_of_code.cache_clear()


def imported(name: str) -> set[str]:
    """Modules of ours that a module imports, anywhere in it, with the packages that hold them."""
    spec = importlib.util.find_spec(name)
    found = set()
    for node in ast.walk(ast.parse(Path(spec.origin).read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        found |= {name for name in names if name.startswith(("torusweep.", "torusweep_kernels.")) and _is_module(name)}
    return found


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


# what no row depends on: messages, the configuration's entries, a file's digest, declarations of columns
BESIDES = {
    "torusweep/counts.py",
    "torusweep/errors.py",
    "torusweep/stages/entry.py",
    "torusweep/tables/__init__.py",
    "torusweep/tables/lock.py",
    "torusweep/tables/manifest.py",
    "torusweep/tables/parquet.py",
    "torusweep/tables/columns.py",
    "torusweep/tables/store.py",
}
AMONG = {
    "static": {"torusweep_kernels/distance/__init__.py", "torusweep/stages/static/bisection.py"},
    "loads": {
        "torusweep_kernels/loads/__init__.py",
        "torusweep/traffic/demands.py",
        "torusweep/capacity/throughput.py",
    },
    "deadlock": {"torusweep_kernels/dependencies/cpu.py", "torusweep/stages/deadlock/rules.py"},
    "layout": {"torusweep/stages/layout/wires.py", "torusweep/networks/families/hermite.py"},
    "collectives": {"torusweep/collectives/optimum.py", "torusweep_kernels/trees/__init__.py"},
    "cost": {"torusweep/costs/arithmetic.py", "torusweep/documents.py", "torusweep/stages/layout/placements.py"},
    "availability": {
        "torusweep_kernels/failures/__init__.py",
        "torusweep/collectives/optimum.py",
        "torusweep/stages/deadlock/layers.py",
    },
    "screen": {
        "torusweep_kernels/lattices/__init__.py",
        "torusweep/screening/measure.py",
        "torusweep/stages/loads/exact.py",
    },
    "simulation": {
        "torusweep_kernels/router/__init__.py",
        "torusweep/stages/deadlock/rules.py",
        "torusweep/traffic/bits.py",
    },
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_stages_sources_are_all_that_its_computation_imports(stage):
    """What computes a row is followed import by import."""
    waiting, seen = [f"torusweep.stages.{stage}.stage"], set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imported(name)
    files = {}
    for name in seen:
        package = importlib.import_module(name.partition(".")[0])
        files[Path(importlib.util.find_spec(name).origin).relative_to(Path(package.__path__[0]).parent).as_posix()] = (
            name
        )
    others = set(files) - set(sources(STAGES[stage].sources))
    assert {file for file in others if not file.startswith("torusweep/charts/")} <= BESIDES  # charts are of the page
    assert AMONG[stage] <= set(files)


@pytest.mark.parametrize("stage", STAGES)
def test_every_source_is_there(stage):
    assert all(sources([name]) for name in STAGES[stage].sources)


def test_cuda_sources_count_as_code():
    cuda = ROOT.glob("kernels/torusweep_kernels/distance/*.cu")
    expected = {f"torusweep_kernels/distance/{path.name}" for path in cuda} | {"torusweep_kernels/cuda.cuh"}
    assert set(sources(STAGES["static"].sources)) >= expected
