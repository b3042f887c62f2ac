"""Sweeps written out: which points, in which order, how many, and what their keys depend on."""

from __future__ import annotations

import ast
import importlib.util
import time
from itertools import product
from pathlib import Path

import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import parameters, plan
from torusweep.run.workflow import input_files
from torusweep.stages import STAGES
from torusweep.stages.static.stage import StaticRequest
from torusweep.sweep import points
from torusweep.sweep.configuration import load
from torusweep.sweep.configuration.schema import Requirement
from torusweep.sweep.derived_tables import labels, requested_derived
from torusweep.sweep.expansion import SweepNetwork, expand
from torusweep.sweep.network_search import meeting
from torusweep.sweep.parameter_values import values_of
from torusweep.sweep.points import Point, digest_of_code, sources, stage_digest
from torusweep.sweep.requested_points import requested_points

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted([*ROOT.glob("config/*.yaml"), *ROOT.glob("config/papers/*.yaml")])


def sweep_of(folder: Path, topologies: str, rest: str = ""):
    """A sweep of some YAML lines below 'topologies:'."""
    path = folder / "my.yaml"
    path.write_text("sweep: a\n" + rest + "topologies:\n" + "".join(f"  {line}\n" for line in topologies.splitlines()))
    return load(path)


def spellings(folder: Path, topologies: str, rest: str = "") -> list[str]:
    return [point.topology for point in expand(sweep_of(folder, topologies, rest))]


WRITTEN_OUT = [
    ("- torus( n = 3, k=8 )", ["torus(k=8, n=3)"]),
    ("- ring(k=8)\n- torus(k=4, n=2, directed=false)\n- ring(k=8)", ["ring(k=8)", "torus(k=4, n=2)"]),
    ("- {family: ring, k: {from: 4, to: 10, step: 3}}", ["ring(k=4)", "ring(k=7)", "ring(k=10)"]),
    (
        "- {family: torus, n: [1, 2], k: [3, 4]}",
        ["torus(k=3, n=1)", "torus(k=3, n=2)", "torus(k=4, n=1)", "torus(k=4, n=2)"],
    ),
    ("- {family: torus, radices: [4, 3]}", ["torus(radices=[4, 3])"]),
    ("- {family: torus, radices: [[4, 3], [5]]}", ["torus(radices=[4, 3])", "torus(radices=[5])"]),
    ("- {family: torus, k: 3, n: 2, directed: [true, false]}", ["torus(k=3, n=2, directed=true)", "torus(k=3, n=2)"]),
    ("- {family: lattice, matrix: [[4, 2], [0, 2]]}", ["lattice(matrix=[[4, 2], [0, 2]])"]),
    (
        "- {family: lattice, matrix: [[[4, 2], [0, 2]], [[3, 0], [0, 3]]]}",
        ["lattice(matrix=[[4, 2], [0, 2]])", "lattice(matrix=[[3, 0], [0, 3]])"],
    ),
    (
        "- {family: twisted_torus, radices: [4, 2], twists: {1: {0: 2}}}",
        ["twisted_torus(radices=[4, 2], twists={1: {0: 2}})"],
    ),
    (
        "- {family: faulty, topology: 'torus(k=4, n=2)', links: 1, seed: [1, 2]}",
        ["faulty(torus(k=4, n=2), links=1, seed=1)", "faulty(torus(k=4, n=2), links=1, seed=2)"],
    ),
    ("- {topology: 'torus(n=2, k=4)', label: A, year: 1999, source: S}", ["torus(k=4, n=2)"]),
    ("- {topology: [ring(k=8), ring(k=7), ring(k=8)], comparison: small}", ["ring(k=8)", "ring(k=7)"]),
    ("- {family: pruned_torus, k: [3, 4, 5], n: 4, skip_invalid: true}", ["pruned_torus(k=3, n=4)"]),
    ("- require: {families: [ring], nodes: {from: 4, to: 6}}", ["ring(k=4)", "ring(k=5)", "ring(k=6)"]),
    (
        "- require: {families: [faulty], nodes: 9, parameters: {topology: 'torus(k=3, n=2)', seed: 4, links: 1}}",
        ["faulty(torus(k=3, n=2), links=1, seed=4)"],
    ),
]


@pytest.mark.parametrize(("topologies", "expected"), WRITTEN_OUT, ids=[row[0] for row in WRITTEN_OUT])
def test_values_lists_ranges_and_requirements_are_written_out_in_order(tmp_path, topologies, expected):
    assert spellings(tmp_path, topologies) == expected


def test_the_papers_networks_come_last_and_once(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)", "papers: [P98]\n")
    assert [p.topology for p in expand(sweep, expected_topologies=["torus(n=2, k=4)", "ring(k=8)"])] == [
        "ring(k=8)",
        "torus(k=4, n=2)",
    ]


def test_a_network_with_and_without_faults_is_one_point_with_them(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)\n- {family: ring, k: [8, 9], fault_nodes: 1}\n- ring(k=9)\n- ring(k=10)")
    assert expand(sweep, expected_topologies=["ring(k=8)"]) == [
        SweepNetwork("ring(k=8)", 1),
        SweepNetwork("ring(k=9)", 1),
        SweepNetwork("ring(k=10)", None),
    ]


def test_the_sweeps_faults_are_every_networks_unless_it_has_its_own(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)\n- {family: ring, k: 9, fault_nodes: 1}", "fault_nodes: 2\n")
    expected = [SweepNetwork("ring(k=8)", 2), SweepNetwork("ring(k=9)", 1), SweepNetwork("ring(k=7)", 2)]
    assert expand(sweep, expected_topologies=["ring(k=7)", "ring(k=9)"]) == expected


def test_labels_are_a_table_and_change_no_point(tmp_path):
    said = "- {topology: 'torus(n=2, k=4)', label: A, year: 1999, source: S, note: N, comparison: C}"
    sweep = sweep_of(tmp_path, f"{said}\n- {{topology: [ring(k=8), ring(k=7)], comparison: C}}\n- ring(k=9)")
    assert "labels" in requested_derived(sweep)
    empty = {"label": "", "year": None, "source": "", "note": "", "comparison": "C"}
    assert labels(sweep, {}).to_pylist() == [
        {"topology": "torus(k=4, n=2)", "label": "A", "year": 1999, "source": "S", "note": "N", "comparison": "C"},
        {"topology": "ring(k=8)", **empty},
        {"topology": "ring(k=7)", **empty},
    ]
    found = [point.key for point in requested_points(sweep)]
    plain = sweep_of(tmp_path, "- torus(k=4, n=2)\n- ring(k=8)\n- ring(k=7)\n- ring(k=9)")
    assert found == [point.key for point in requested_points(plain)]
    assert "labels" not in requested_derived(plain)


def test_labelled_networks_are_counted_before_they_are_planned(tmp_path):
    sweep = sweep_of(tmp_path, "- {topology: [ring(k=8), ring(k=7)], comparison: C}", "limits: {points: 1}\n")
    with pytest.raises(Refused, match="2 networks here, 2 up to here"):
        expand(sweep)


def test_the_files_of_labelled_networks_are_inputs(tmp_path):
    sweep = sweep_of(tmp_path, "- {topology: ['graph(path=\"a.txt\")', ring(k=8)], comparison: C}")
    assert input_files(sweep) == ["a.txt"]


REFUSED = [
    ("- toruss(k=8, n=3)", "3:5: topologies[0]", "did you mean 'torus'?"),
    ("- ring(k=8)\n- torus(k=8, n=3", "4:5: topologies[1]", "character 15"),
    ("- __import__('os').system('true')", "3:5: topologies[0]", "character"),
    ("- family: toru\n  k: 8", "3:5: topologies[0]", "did you mean 'torus'?"),
    ("- family: torus\n  k: 8\n  nn: 3", "5:9: topologies[0].nn", "did you mean 'n'?"),
    ("- {family: pruned_torus, k: [3, 4], n: 4}", "3:5: topologies[0]", "k=4"),
    ("- {family: pruned_torus, k: [3, 4], n: 4}", "3:5: topologies[0]", "skip_invalid"),
    (
        "- {family: pruned_torus, k: [4, 5], n: 4, skip_invalid: true}",
        "3:5: topologies[0]",
        "all combinations are invalid",
    ),
    ("- {family: torus, k: -8, n: 3}", "3:5: topologies[0]", "≥ 2"),
    ("- {family: torus, k: true, n: 3}", "3:5: topologies[0]", "got true"),
    ("- {family: torus, k: .nan, n: 3}", "3:24: topologies[0].k", "got nan"),
    ("- {family: torus, k: 1e308, n: 3}", "3:24: topologies[0].k", "got 1e+308"),
    ("- {family: torus, k: 8.0, n: 3}", "3:24: topologies[0].k", "got 8.0"),
    ("- {family: torus, k: null, n: 3}", "3:24: topologies[0].k", "got None"),
    ("- {family: torus, k: eight, n: 3}", "3:5: topologies[0]", 'got "eight"'),
    ("- {family: torus, k: [], n: 3}", "3:24: topologies[0].k", "empty"),
    ("- {family: torus, k: {from: 4}, n: 3}", "3:24: topologies[0].k", "'from' and 'to'"),
    ("- {family: torus, k: {from: 4, to: 8, stp: 2}, n: 3}", "3:24: topologies[0].k", "did you mean 'step'?"),
    ("- {family: torus, k: {from: 4, to: 8, step: 0}, n: 3}", "3:24: topologies[0].k", "step ≥ 1"),
    (
        "- {family: torus, k: {from: 4, to: 8, count: 4}, n: 3}",
        "3:24: topologies[0].k",
        "with a count of 2 or more that",
    ),
    ("- {family: torus, k: {from: 8, to: 4}, n: 3}", "3:24: topologies[0].k", "from ≤ to"),
    ("- {family: torus, k: {from: 4, to: true}, n: 3}", "3:24: topologies[0].k", "got True"),
    ("- {family: faulty, topology: 3, links: 1, seed: 1}", "3:32: topologies[0].topology", "torus(k=8, n=3)"),
    ('- "toru\\e[31m(k=8, n=3)"', "3:5: topologies[0]", "expected '('"),
    ('- {family: "toru\\e[31m", k: 8}', "3:5: topologies[0]", "unknown topology 'toru�[31m'"),
    ("- {family: ring, k: 4, fault_nodes: 4}", "3:5: topologies[0]", "fewer than its 4 nodes"),
    ("- {family: ring, k: 8, fault_nodes: 1}\n- {family: ring, k: 8, fault_nodes: 2}", "4:5: topologies[1]", "1 and 2"),
    ("- require: {families: [rin], nodes: 8}", "3:5: topologies[0]", "did you mean 'ring'?"),
    ("- require: {except: [rin], nodes: 8}", "3:5: topologies[0]", "did you mean 'ring'?"),
    ("- require: {families: [graph], nodes: 8}", "3:5: topologies[0]", "path"),
    ("- require: {families: [sequin], nodes: 64}", "3:5: topologies[0]", "s and t"),
    ("- require: {nodes: 8, parameters: {kk: 3}}", "3:5: topologies[0]", "unknown parameter 'kk'"),
    ("- require: {nodes: 8, parameters: {k: [1.5]}}", "3:5: topologies[0]", "parameters.k"),
    ("- require: {families: [hypercube], nodes: {from: 5, to: 7}}", "3:5: topologies[0]", "no network meets it"),
]


@pytest.mark.parametrize(("topologies", "place", "says"), REFUSED, ids=[row[0] for row in REFUSED])
def test_networks_that_do_not_exist_are_refused_where_they_stand(tmp_path, topologies, place, says):
    with pytest.raises(BadInput) as caught:
        expand(sweep_of(tmp_path, topologies))
    message = str(caught.value)
    assert message.isprintable()
    assert message.startswith(f"{tmp_path}/my.yaml:{place}: ")
    assert says in message


TOO_MUCH = [
    ("- {family: torus, k: {from: 2, to: 1000000001}, n: 1}", "", "1,000,000,000 networks"),
    (
        "- {family: torus, k: {from: 2, to: 1001}, n: {from: 1, to: 30}, directed: [true, false]}",
        "limits: {points: 50000}\n",
        "60,000 networks",
    ),
    ("- ring(k=8)\n- ring(k=9)\n- ring(k=10)", "limits: {points: 2}\n", "limits.points is 2"),
    ("- {family: ring, k: [8, 9]}\n- {family: mesh, k: [8, 9], n: 2}", "limits: {points: 3}\n", "4 up to here"),
    ("- require: {nodes: {to: 2147483647}}", "", "2,147,483,646 networks"),
    (
        "- require: {nodes: {from: 100, to: 1200}, families: [ring]}",
        "limits: {points: 1000}\n",
        "more than 1,000 networks",
    ),
    (
        "- require: {nodes: 64, families: [torus], parameters: {k: {from: 2, to: 2000000}}}",
        "",
        "1,999,999 combinations up to torus",
    ),
    ("- torus(k=10000, n=3)", "", "1,000,000,000,000 nodes, about 149,011 GiB"),
    ("- torus(k=999999999999999999, n=30)", "", "10^540 nodes"),
    ("- torus(k=100, n=3)", "limits: {memory_gib: 0.1}\n", "the limit is 0.1 GiB"),
    ("- {family: torus, k: [2, 100], n: 3, skip_invalid: true}", "limits: {memory_gib: 0.1}\n", "the limit is 0.1 GiB"),
]


@pytest.mark.parametrize(("topologies", "rest", "says"), TOO_MUCH, ids=[row[0] for row in TOO_MUCH])
def test_too_much_is_refused_with_its_count_before_it_is_written_out(tmp_path, topologies, rest, says):
    sweep = sweep_of(tmp_path, topologies, rest)
    with pytest.raises(Refused) as caught:
        expand(sweep)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_expected_networks_are_checked_too(tmp_path):
    sweep = sweep_of(tmp_path, "- ring(k=8)", "limits: {memory_gib: 0.1}\n")
    with pytest.raises(Refused):
        expand(sweep, expected_topologies=["torus(k=100, n=3)"])


# --- requirements, against plain loops over every combination of small parameters ----------------

BOXES = {
    "ring": [{"k": k} for k in range(2, 700)],
    "torus": [{"k": k, "n": n} for n in range(1, 11) for k in range(2, 700 if n == 1 else 30)],
    "mesh": [{"k": k, "n": n} for n in range(1, 11) for k in range(2, 700 if n == 1 else 30)],
    "hypercube": [{"n": n} for n in range(1, 12)],
    "pruned_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(3, 12))],
    "partly_pruned_torus": [
        {"k": k, "n": n, "intact": i} for k, n, i in product(range(2, 30), range(3, 12), range(1, 12))
    ],
    "pruned_t1": [{"k": k} for k in range(2, 30)],
    "pruned_t2": [{"k": k} for k in range(2, 30)],
    "pruned_xy": [{"k": k} for k in range(2, 30)],
    "directed_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(2, 12))],
    "pruned_directed_torus": [{"k": k, "n": n} for k, n in product(range(2, 30), range(3, 12))],
    **{family: [{"a": a} for a in range(2, 30)] for family in ("rt", "rtt", "pt", "ptt", "pdtt")},
    "illiac": [{"k": k} for k in range(2, 30)],
    "ccc": [{"n": n} for n in range(3, 12)],
    "tesh": [{"m": m, "levels": levels, "q": q} for m, levels, q in product(range(1, 5), range(2, 5), range(4))],
    "h3dt": [
        {"m": m, "n": n, "levels": levels, "q": q}
        for m, n, levels, q in product(range(3, 20), range(2, 20), range(2, 7), range(3))
    ],
    "fat_tree": [{"k": k, "n": n} for n in range(2, 10) for k in range(2, 330 if n == 2 else 30)],
    "slim_fly": [{"q": q} for q in range(2, 30)],
    "polarfly": [{"q": q} for q in range(2, 30)],
    "kautz": [{"d": d, "k": k} for d, k in product(range(2, 30), range(2, 12))],
    "de_bruijn": [{"d": d, "k": k} for d, k in product(range(2, 30), range(2, 12))],
    "mh3dt": [
        {"m": m, "n": n, "levels": levels, "q": q}
        for m, n, levels, q in product(range(3, 20), range(2, 20), range(2, 7), range(3))
    ],
}


def by_plain_loops(family: str, low: int, high: int, degree: int, fixed: dict[str, int]) -> set[str]:
    found = set()
    for values in BOXES[family]:
        if any(values[key] != value for key, value in fixed.items() if key in values):
            continue
        try:
            canonical, planned = plan(f"{family}({', '.join(f'{key}={value}' for key, value in values.items())})")
        except BadInput:
            continue
        if low <= planned.nodes <= high and planned.degree <= degree:
            found.add(canonical)
    return found


@pytest.mark.parametrize(
    ("low", "high", "degree", "fixed"),
    [(0, 300, 99, {}), (100, 650, 6, {}), (512, 512, 99, {}), (60, 600, 8, {"n": 3, "q": 1})],
)
def test_requirements_find_what_plain_loops_find(low, high, degree, fixed):
    requirement = Requirement.model_validate(
        {"families": list(BOXES), "nodes": {"from": low, "to": high}, "degree": {"to": degree}, "parameters": fixed}
    )
    found = [canonical for canonical, _ in meeting(requirement, 100_000)]
    assert len(found) == len(set(found))
    assert set(found) == set().union(*(by_plain_loops(family, low, high, degree, fixed) for family in BOXES))


def test_every_family_with_a_size_is_asked():
    families = {
        canonical.partition("(")[0]
        for canonical, _ in meeting(
            Requirement.model_validate({"nodes": {"to": 5000}, "parameters": {"n": [3, 4]}}), 100_000
        )
    }
    assert families == set(BOXES)


def test_no_parameter_has_a_hidden_bound():
    requirement = Requirement.model_validate({"families": ["mh3dt"], "nodes": 27 * 100**3, "parameters": {"q": 1}})
    assert "mh3dt(m=3, n=100, levels=2, q=1)" in {canonical for canonical, _ in meeting(requirement, 1000)}


def test_directed_networks_only():
    requirement = Requirement.model_validate({"nodes": 64, "directed": True, "parameters": {"directed": [True, False]}})
    found = {canonical for canonical, _ in meeting(requirement, 1000)}
    assert found >= {"torus(k=8, n=2, directed=true)", "directed_torus(k=8, n=2)", "pruned_directed_torus(k=4, n=3)"}
    assert all(plan(canonical)[1].directed for canonical in found)


def test_a_million_nodes_are_found_quickly():
    """4000 to 4200 nodes or a million, the search is a few thousand plans."""
    start = time.process_time()
    requirement = Requirement.model_validate(
        {"nodes": {"from": 10**6, "to": 10**6 + 100}, "except": ["ring"], "parameters": {"n": {"from": 2, "to": 30}}}
    )
    found = [canonical for canonical, _ in meeting(requirement, 1000)]
    assert time.process_time() - start < 5
    assert {"torus(k=1000, n=2)", "torus(k=100, n=3)", "pruned_torus(k=100, n=3)"} <= set(found)


# --- keys ----------------------------------------------------------------------------------------


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


# --- costs and shipped sweeps --------------------------------------------------------------------


def test_costs_are_positive_and_grow_with_the_network():
    chain = ["ring(k=2)", "torus(k=8, n=3)", "torus(k=16, n=3)", "torus(k=64, n=3)", "torus(k=100, n=3)"]
    costs = [static(spelling).seconds for spelling in chain]
    assert costs == sorted(costs)
    assert 0 < costs[0] < 0.1
    assert costs[-1] < 60
    assert static("pruned_torus(k=8, n=3)", 3).seconds > static("pruned_torus(k=8, n=3)").seconds
    assert static("faulty(torus(k=16, n=3), links=1, seed=1)").seconds > static("torus(k=16, n=3)").seconds


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_sweeps_expand_and_are_small(path):
    from torusweep.papers.verification import expected_topologies

    sweep = load(path)
    found = expand(sweep, expected_topologies=expected_topologies(sweep.papers))
    assert len(found) <= 400
    assert {point.topology for point in found} >= set(expected_topologies(sweep.papers))
    assert sum(static(*network).seconds for network in found) < 200


def test_a_range_with_a_count_is_the_range_with_its_step():
    """{from: 4, to: 32, count: 8} is 4, 8, …, 32."""
    assert values_of(parameters("ring")[0], {"from": 4, "to": 32, "count": 8}) == range(4, 33, 4)


def test_values_that_a_parameter_never_has_are_not_searched():
    """A dimension is at most 30; ten thousand values took minutes."""
    wanted = {"nodes": 64, "families": ["torus"], "parameters": {"n": {"from": 2, "to": 9999}}}
    found = {name for name, _ in meeting(Requirement.model_validate(wanted), 100)}
    assert found == {"torus(k=8, n=2)", "torus(k=4, n=3)", "torus(k=2, n=6)"}
