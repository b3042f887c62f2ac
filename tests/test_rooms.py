"""Which room may import which (docs/architecture.md), read off the sources."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("kernels/**/*.py"), *ROOT.glob("pipeline/**/*.py")])


def imports(path: Path) -> list[str]:
    """Full dotted names that a module imports, anywhere in it; import_module's literals too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ):
            found.append(str(node.args[0].value))
    return found


def users_of(*packages: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(name == package or name.startswith(package + ".") for name in imports(path) for package in packages)
    }


def test_kernels_know_nothing_of_the_pipeline():
    assert not {path for path in users_of("pipeline") if path.startswith("kernels/")}


@pytest.mark.parametrize(
    ("packages", "rooms"),
    [
        (("cupy",), {"kernels/torusweep_kernels/backend.py"}),
        (
            ("dask", "distributed", "dask_jobqueue"),
            {
                "pipeline/torusweep/run/workers.py",
                "pipeline/torusweep/run/forked.py",
                "pipeline/torusweep/run/tasks.py",
            },
        ),
        (("pyarrow.parquet",), {"pipeline/torusweep/tables/store.py", "pipeline/torusweep/results/query.py"}),
        (("duckdb",), {"pipeline/torusweep/results/query.py"}),
        (("click",), {str(path.relative_to(ROOT)) for path in SOURCES if "cli" in path.parts}),
    ],
)
def test_a_library_has_its_room(packages, rooms):
    allowed = (
        rooms | {str(path.relative_to(ROOT)) for path in ROOT.glob("kernels/*/gpu.py")} if "cupy" in packages else rooms
    )
    assert users_of(*packages) <= allowed


def test_nothing_imports_the_command_line():
    assert {path for path in users_of("torusweep.cli") if not path.startswith("pipeline/torusweep/cli/")} == set()


def test_no_room_without_an_idea():
    assert not [path for path in SOURCES if path.stem in {"utils", "util", "helpers", "helper", "common", "misc"}]


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = {path.name for path in (ROOT / "pipeline").glob("*.py")} - {"__init__.py"}
    rooms |= {
        f"{path.parent.name}/`"
        for path in SOURCES
        if path.name == "__init__.py" and path.parent.name not in ("pipeline", "kernels")
    }
    assert {room for room in rooms if room not in text} == set()
