"""Which room may import which (docs/architecture.md) and how large parts may be, read off the sources."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

import networkx
import pytest

from tests.measures import ROOT, circles, module_graph, modules, private_names, room_graph

# a room imports rooms of its own floor and of those below
FLOORS = (
    ("cli", "library"),
    ("run",),
    ("sweeps", "papers", "answers", "interchange"),
    ("all_columns",),
    ("stages", "questions/latency"),
    (
        "questions/static",
        "questions/loads",
        "questions/deadlock",
        "questions/layout",
        "questions/simulation",
        "questions/collectives",
        "questions/cost",
        "questions/availability",
        "questions/screen",
        "questions/search",
        "questions/placement",
    ),
    ("questions",),
    (
        "collectives",
        "capacity",
        "routing",
        "traffic",
        "workloads",
        "charts",
    ),
    ("networks",),
    ("tables",),
    ("documents",),
    ("errors", "quantities", "version"),
)
# what does not hold yet; each of these marks goes with the last exception
LONG: set[str] = set()
MOST_LINES = 400
MOST_PARAMETERS = 12


@cache
def rooms() -> networkx.DiGraph:
    return room_graph(modules())


def users_of(*libraries: str) -> set[str]:
    """Modules that import one of these libraries, anywhere in them."""
    return {
        module.name
        for module in modules().values()
        for name, _ in module.importing
        if any(f"{name}.".startswith(f"{library}.") for library in libraries)
    }


def test_every_room_has_a_floor():
    found = {room for room in rooms() if not room.startswith("kernels")}
    assert found == {room for floor in FLOORS for room in floor}


@pytest.mark.parametrize(
    ("room", "floor"),
    [(room, floor) for floor, rooms in enumerate(FLOORS) for room in rooms],
)
def test_a_room_imports_none_above_it(room: str, floor: int):
    above = {other for rooms in FLOORS[:floor] for other in rooms}
    assert set(rooms().successors(room)) & above == set()


def test_kernels_know_nothing_of_the_pipeline():
    assert not {name for name in users_of("torusweep") if name.startswith("torusweep_kernels")}


def test_rooms_form_no_circle():
    assert circles(rooms()) == []


def test_modules_form_no_circle():
    assert circles(module_graph(modules())) == []


@pytest.mark.parametrize(
    ("libraries", "own"),
    [
        (("dask", "distributed", "dask_jobqueue"), {"torusweep.run"}),
        (("snakemake",), {"torusweep.run"}),
        (("pyarrow.parquet",), {"torusweep.tables", "torusweep.answers.query"}),
        (("duckdb",), {"torusweep.answers.query", "torusweep.answers.connection", "torusweep.library"}),
        (("click",), {"torusweep.cli", "torusweep.questions.console"}),
        (("altair", "vl_convert"), {"torusweep.charts", "torusweep.answers.page"}),
        (("numba",), {"torusweep_kernels.backend"}),  # where it finds no settings of the working folder
        (("llvmlite",), {"torusweep_kernels"}),
        (("ruamel",), {"torusweep.sweeps", "torusweep.documents"}),
        (("google.protobuf",), {"torusweep.workloads.traces.chakra_messages"}),
        (
            ("cupy",),
            {"torusweep_kernels.backend", "torusweep_kernels.cuda", "*.gpu"},
        ),
    ],
)
def test_a_library_has_its_room(libraries: tuple[str, ...], own: set[str]):
    outside = {name for name in users_of(*libraries) if not any(fnmatchcase(f"{name}.", f"{room}.*") for room in own)}
    assert outside == set()


def test_imports_stand_at_the_top():
    """But for the commands, which are loaded when they are called, the kernels' backends, as NumPy needs no Numba,
    what draws, which only the step `report` needs, and Dask's workers, which a small stage does without.
    """
    inside = {
        (module.name, name)
        for module in modules().values()
        for name, within in module.importing
        if within and name.startswith("torusweep.") and not module.name.startswith("torusweep.cli")
    }
    drawing = re.compile(r"torusweep\.(charts|papers\.figures|answers\.page|questions\.\w+\.section)\b")
    assert {(module, name) for module, name in inside if not drawing.match(name)} == {
        ("torusweep.run.driver", "torusweep.run.workers.connect"),
    }


def test_modules_are_short():
    assert {module.name for module in modules().values() if module.lines > MOST_LINES} == LONG


def test_functions_have_few_parameters():
    many = {
        (module.name, function): count
        for module in modules().values()
        for function, count in module.parameters.items()
        if count > MOST_PARAMETERS
    }
    assert many == {}


def test_no_private_name_of_another_package_is_used():
    assert private_names(modules()) == set()


def test_no_module_without_an_idea():
    nameless = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert {name for name in modules() if name.rpartition(".")[2] in nameless} == set()


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert {room for room in rooms() if room and f"{room.removeprefix('kernels/')}" not in text} == set()


def test_a_graph_that_has_a_circle_is_found_out():
    """The tests above can fail."""
    assert circles(networkx.DiGraph([("sweeps", "run"), ("run", "sweeps"), ("run", "errors")])) == [{"sweeps", "run"}]
