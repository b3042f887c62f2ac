"""certify/check.py: what it derives, what it accepts, what it refuses, and that it stands alone."""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import inspect
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pytest
import torusweep as ts
from click.testing import CliRunner
from torusweep import cli
from torusweep.cli.questions import command_of
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions import question_named
from torusweep.questions.screen.certificate import certificate_of_size
from torusweep.sweeps.configuration import of_mapping
from torusweep.sweeps.requested_points import certificates, requested_derived
from torusweep.tables.parquet import TableFile, parquet

from tests.certify.show import ASKED, CHECKER, GUARANTEES, altered, check, is_refused, places, shown, signed

# --- it stands alone --------------------------------------------------------------------------------------


def test_it_imports_the_standard_library_only():
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"))
    modules = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert modules <= set(sys.stdlib_module_names)
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not called & {"eval", "exec", "__import__", "compile"}
    assert len(CHECKER.read_text(encoding="utf-8").splitlines()) <= 970


@pytest.mark.parametrize("options", [[], ["-P"], ["-I", "-S"]])
def test_it_runs_without_any_package(tmp_path: Path, options: list[str]):
    """Nor does it import what lies in the working folder."""
    (tmp_path / "one.json").write_text(text_of("all_reduce of a torus"), encoding="utf-8")
    for name in ("json", "hashlib", "argparse", "networks", "torusweep", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)")
    run = [sys.executable, *options, str(CHECKER), "one.json"]
    right = subprocess.run([*run, "--claim", '{"at_most": "15/32"}'], cwd=tmp_path, capture_output=True, text=True)
    assert (right.returncode, right.stdout.startswith('valid: {"kind": "collective"')) == (0, True)
    wrong = subprocess.run([*run, "--claim", '{"at_most": "1/4"}'], cwd=tmp_path, capture_output=True, text=True)
    assert (wrong.returncode, "nothing proves" in wrong.stdout) == (1, True)


@pytest.mark.parametrize("version", [0, 2, -1, "1", 1.0, True, None, [1], {}, "\x1b[2J" * 100, 10**30])
def test_an_unknown_version_is_refused_before_all_else(version: Any):
    content = json.loads(text_of("all_reduce of a torus")) | {"version": version}
    with pytest.raises(check.Invalid, match=r"expected (version 1 of the format, got [^\n]{1,20}; take|whole numbers)"):
        check.check(signed(content))
    if version not in (1.0, True):
        with pytest.raises(check.Invalid, match="expected version 1 of the format"):
            check.check(json.dumps({"version": version}))


def test_a_certificate_without_a_version_is_of_the_first():
    """As all were before the format had one: the digest is of kind, claim and proof."""
    content = json.loads(text_of("all_reduce of a torus"))
    assert content.pop("version") == 1
    text = json.dumps([content["kind"], content["claim"], content["proof"]], sort_keys=True)
    old = content | {"digest": hashlib.sha256(text.encode()).hexdigest()}
    assert check.check(json.dumps(old)) == {"kind": "collective", **content["claim"]}
    with pytest.raises(check.Invalid, match="the digest is of another text"):
        check.check(json.dumps(old | {"version": 1}))


def test_the_best_lattice_has_the_size_and_the_dimensions_that_were_searched():
    """The lattice of 22 nodes in three dimensions has a sum of distances of 41, as the best of 20 nodes in two."""
    content = json.loads(text_of("best of two dimensions"))
    for wrong in ("lattice(matrix=[[2, 0, 1], [0, 11, 3], [0, 0, 1]])", "circulant(n=20, steps=[3, 4])"):
        claim = content["claim"] | {"topology": wrong}
        with pytest.raises(check.Invalid, match="lattice"):
            check.check(signed({"kind": content["kind"], "claim": claim, "proof": content["proof"]}))


def test_the_classes_of_many_lattices_are_not_counted():
    """A prime p has 1 + p + p² lattices in three dimensions, each with 24 images to try."""
    claim = check.check(best(293, 3)())
    assert (claim["lattices"], claim["classes"]) == (1 + 293 + 293**2, None)


def test_a_lattice_that_is_not_the_best_is_refused():
    """The 5 × 4 torus: its sum of distances is 4 · (1 + 1 + 2 + 2) + 5 · (1 + 2 + 1) = 44, where 41 is possible."""
    content = json.loads(text_of("best of two dimensions"))
    claim = {"topology": "lattice(matrix=[[5, 0], [0, 4]])", "nodes": 20, "lattices": 42, "mean_distance": "11/5"}
    with pytest.raises(check.Invalid, match="another lattice has a smaller sum"):
        check.check(signed(content | {"claim": content["claim"] | claim}))


@pytest.mark.parametrize(
    ("content", "claim", "status"),
    [
        ("", {}, True),
        ("", {"deadlock_free": "yes"}, True),
        ("collective", {}, False),
        ("collective", {"kind": "collective"}, False),
        ("collective", {"kind": "capacity"}, True),
        ("collective", {"deadlokfree": None}, True),
    ],
)
def test_a_claim_must_be_said_by_a_certificate(tmp_path: Path, content: str, claim: dict[str, Any], status: bool):
    (tmp_path / "file").write_text(text_of("all_reduce of a torus") if content else "", encoding="utf-8")
    assert check.main([str(tmp_path / "file"), "--claim", json.dumps(claim)]) is status


# --- valid certificates of every kind -------------------------------------------------------------------


def collective(spelling: str, operation: str, root: int = 0) -> Callable[[], str]:
    return lambda: ts.network(spelling).collective(operation, algorithms="optimum", root=root).certificate


def capacity(spelling: str, traffic: str = "uniform", routes: str = "all") -> Callable[[], str]:
    return lambda: ts.network(spelling).capacity(traffic, routes=routes).certificate


def deadlock(spelling: str, routing: str, rule: str, channels: int) -> Callable[[], str]:
    return lambda: ts.network(spelling).deadlock(routing, rule, channels).certificate


def static(spelling: str, line: int) -> Callable[[], str]:
    return lambda: ts.network(spelling).static(measures=["distances"]).certificate.splitlines()[line]


def guarantee(spelling: str, kind: str) -> Callable[[], str]:
    return lambda: ASKED[kind][0](ts.network(spelling))


def best(nodes: int, dimensions: int) -> Callable[[], str]:
    return lambda: ts.best(nodes=nodes, dimensions=dimensions).certificate


# what a certificate is of → (its text, what it proves: of the interval, its two ends)
CASES: dict[str, tuple[Callable[[], str], tuple[Any, ...]]] = {
    # (N − 1) / links, and half of it: Nash-Williams 1961; Edmonds 1973
    "all_reduce of a torus": (collective("torus(k=4, n=2)", "all_reduce"), ("15/32", "15/32")),
    "all_reduce of unequal sides": (collective("torus(radices=[2, 3, 4])", "all_reduce"), ("23/60", "23/60")),
    "all_gather of a torus": (collective("torus(k=4, n=2)", "all_gather"), ("15/64", "15/64")),
    "reduce_scatter of a PDTT": (collective("pdtt(a=2)", "reduce_scatter"), ("15/96", "15/96")),
    # a corner of a mesh has two channels
    "all_gather of a mesh": (collective("mesh(k=3, n=2)", "all_gather"), ("4/9", "4/9")),
    "all_reduce of a mesh": (collective("mesh(k=3, n=2)", "all_reduce"), ("2/3", "2/3")),
    "broadcast in a torus": (collective("torus(k=3, n=3)", "broadcast", 5), ("1/6", "1/6")),
    "reduce in a directed torus": (collective("directed_torus(k=4, n=2)", "reduce", 3), ("1/2", "1/2")),
    "all_reduce, directed": (collective("torus(k=3, n=2, directed=true)", "all_reduce"), ("8/9", None)),
    "all_to_all of a torus": (collective("torus(k=4, n=2)", "all_to_all"), ("1/2", "1/2")),  # k / 8
    # Cámara et al. 2010 at a = 4, exact: 1.5238 and 1.7455; a torus: 8 / k; a mesh: 4 / k
    "capacity of an RTT": (capacity("rtt(a=4)"), ("32/21", "32/21")),
    "capacity of a PDTT": (capacity("pdtt(a=4)"), ("96/55", "96/55")),
    "capacity of a torus": (capacity("torus(k=4, n=3)"), ("2", "2")),
    "capacity of a mesh": (capacity("mesh(k=4, n=2)"), ("1", "1")),
    # 4 / k, not the d / Δ of Parhami & Kwai 2004
    "capacity of a pruned torus": (capacity("pruned_torus(k=4, n=3)"), ("1", "1")),
    "capacity of transpose": (capacity("torus(k=4, n=2)", "transpose", "minimal"), (None, None)),
    "capacity of tornado": (capacity("torus(k=5, n=2)", "tornado"), ("5/6", "5/6")),
    "deadlock without a rule": (deadlock("torus(k=4, n=2)", "dimension_order", "none", 1), ("no",)),
    "deadlock with datelines": (deadlock("torus(k=4, n=2)", "dimension_order", "dateline", 2), ("yes",)),
    "deadlock on a mesh": (deadlock("mesh(radices=[3, 2, 4])", "dimension_order", "none", 1), ("yes",)),
    "deadlock, one way": (deadlock("ring(k=4)", "dimension_order(tie=positive)", "none", 1), ("no",)),
    # of routings that the checker does not define: every hop that may follow another, as data
    "deadlock up and down": (deadlock("ccc(n=3)", "up_down(root=3)", "none", 1), ("yes",)),
    "deadlock by hops": (deadlock("torus(k=4, n=2)", "minimal", "hops", 5), ("yes",)),
    "deadlock of Valiant": (deadlock("torus(k=3, n=2)", "valiant", "phases_dateline", 4), ("yes",)),
    "deadlock by turns": (deadlock("mesh(k=4, n=2)", "west_first", "none", 1), ("yes",)),
    "deadlock, directed": (deadlock("torus(k=3, n=2, directed=true)", "dimension_order", "dateline", 2), ("yes",)),
    # Dally 1990; Parhami & Kwai 2004, Theorem 4; half of a hypercube's nodes
    "bisection of a torus": (static("torus(k=4, n=2)", 1), ("8", "8")),
    "bisection of a hypercube": (static("hypercube(n=4)", 1), ("8", "8")),
    "bisection of a pruned torus": (static("pruned_torus(k=4, n=3)", 1), ("16", "16")),
    "bisection of an odd mesh": (static("mesh(k=3, n=2)", 1), ("4", "4")),
    "symmetry of a CCC": (static("ccc(n=3)", 0), ("1", "1")),
    "symmetry of a mesh": (static("mesh(k=4, n=2)", 0), ("3", "3")),  # corners, edges, inner nodes
    # Σ_{d | N} d lattices in two dimensions; 21/8: tests/questions/screen
    "best of two dimensions": (best(32, 2), (63, 21, "21/8")),
    # six neighbours, and one node two hops away
    "best of three dimensions": (best(8, 3), (155, None, "1")),
    # the best of all oblivious routings, or of all routings: tests/capacity/test_guarantee.py
    "two phases of a torus": (guarantee("torus(k=4, n=2)", "two_phase"), ("1", "1")),
    "two phases of a mesh": (guarantee("mesh(k=3, n=2)", "two_phase"), ("6/7", "6/7")),
    "oblivious routings of a circulant graph": (
        guarantee("circulant(n=16, steps=[1, 6])", "oblivious"),
        ("32/29",) * 2,
    ),
    "a permutation of a torus": (guarantee("torus(k=4, n=2)", "permutation"), ("1", "1")),
    "a permutation of a mesh": (guarantee("mesh(k=4, n=2)", "permutation"), ("1/2", "1/2")),
}


@cache
def text_of(name: str) -> str:
    return CASES[name][0]()


def claim_of(text: str) -> dict[str, Any]:
    claim: dict[str, Any] = json.loads(text)["claim"]
    return claim


def proved(claim: dict[str, Any]) -> tuple[Any, ...]:
    names = {"at_least": ("at_least", "at_most"), "deadlock_free": ("deadlock_free",)}
    chosen = next((own for key, own in names.items() if key in claim), ("lattices", "classes", "mean_distance"))
    return tuple(claim[name] for name in chosen)


def number(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) and value not in ("yes", "no") else value


@pytest.mark.parametrize("name", CASES)
def test_it_accepts_what_is_proved(name: str):
    text, expected = text_of(name), CASES[name][1]
    kind = check.check(text)["kind"]
    assert kind == json.loads(text)["kind"]
    said = proved(claim_of(text))
    assert said.count(None) == 1 or kind not in GUARANTEES
    for one, known in zip(said, expected, strict=True):
        assert known is None or (one is None and kind in GUARANTEES) or number(one) == number(known)


LARGE = {
    "exhaustion": best(512, 2),
    "exhaustion in three dimensions": best(512, 3),
    "collective": collective("torus(k=8, n=3)", "all_gather"),
    "capacity": capacity("torus(k=8, n=3)"),
    "deadlock": deadlock("torus(k=8, n=3)", "dimension_order", "dateline", 2),
    "listed routing": deadlock("torus(k=8, n=3)", "up_down", "none", 1),
    "bisection": static("torus(k=8, n=3)", 1),
    "symmetry": static("torus(k=8, n=3)", 0),
}


@pytest.mark.parametrize("kind", LARGE)
def test_certificates_of_512_nodes_are_accepted_by_the_command(kind: str, tmp_path: Path):
    """What each takes stands in docs/certificates.md: no test is timed."""
    (tmp_path / "proof.json").write_text(LARGE[kind](), encoding="utf-8")
    run = [sys.executable, str(CHECKER), "proof.json"]
    assert subprocess.run(run, cwd=tmp_path, check=True, capture_output=True).stdout.startswith(b"valid: ")


@pytest.mark.parametrize("way", ["up and down", "by hops", "of Valiant", "by turns"])
def test_each_dependency_of_a_listed_routing_counts(way: str):
    """Every channel that a packet may request is later in the order: with any two of them exchanged, none is proved."""
    content = json.loads(text_of(f"deadlock {way}"))
    order, tables = content["proof"]["order"], content["proof"]["tables"]
    nodes = len(tables)
    pairs = set()
    for named, hops in tables:
        at = [*range(nodes), *named]
        for a, b, kind in hops:
            for c, d, other in hops:
                if b == c:
                    pairs.add(((at[a], at[b], kind), (at[c], at[d], other)))
    place = {tuple(channel): i for i, channel in enumerate(order)}
    assert all(place[held] < place[wanted] for held, wanted in pairs)
    for held, wanted in random.Random(1).sample(sorted(pairs), min(40, len(pairs))):
        moved = [channel for channel in order if tuple(channel) != wanted]
        moved.insert(place[held], list(wanted))
        content["proof"]["order"] = moved
        with pytest.raises(check.Invalid, match="a packet requests an earlier channel"):
            check.check(signed(content))


def test_each_of_several_channels_that_a_packet_may_request_counts():
    """On a 3-cube packets go z, y, x, and to node 7 any way: after (0, 1) to 3 or 5, by tables written here."""
    tables, needed = [], nx.DiGraph()
    for d in range(8):
        differ = {u: [bit for bit in (4, 2, 1) if (u ^ d) & bit] for u in range(8)}
        ways = {u: [u ^ bit for bit in (bits if d == 7 else bits[:1])] for u, bits in differ.items()}
        tables.append([[], [[u, v, 0] for u in range(8) for v in ways[u]]])
        needed.add_edges_from(((u, v), (v, w)) for u in range(8) for v in ways[u] for w in ways[v])
    digest = hashlib.sha256(json.dumps(tables).encode()).hexdigest()
    claim = {"topology": "hypercube(n=3)", "routing": f'listed(sha256="{digest}")', "vc_rule": "listed"}
    claim |= {"virtual_channels": 1, "deadlock_free": "yes"}

    def certified(graph: nx.DiGraph) -> str:
        order = [[u, v, 0] for u, v in nx.lexicographical_topological_sort(graph)]
        return signed({"kind": "deadlock", "claim": claim, "proof": {"order": order, "tables": tables}})

    assert check.check(certified(needed))["deadlock_free"] == "yes"
    for later in ((1, 3), (1, 5)):
        other = needed.copy()
        other.remove_edge((0, 1), later)
        other.add_edge(later, (0, 1))
        with pytest.raises(check.Invalid, match="a packet requests an earlier channel"):
            check.check(certified(other))


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("capacity") and "transpose" not in name])
def test_the_linear_program_for_lean_is_solved(name: str, monkeypatch: pytest.MonkeyPatch):
    """Feasible, with multipliers that prove as much: what lp-verify checks, in fractions."""
    monkeypatch.syspath_prepend(CHECKER.parent)
    to_lean = importlib.import_module("to_lean")
    claim, costs, entries, bounds, primal, rows, columns = to_lean.program(text_of(name))
    sums, stationary = [Fraction(0)] * len(bounds), [Fraction(cost) for cost in costs]
    for row, column, value in entries:
        sums[row] += value * primal[column]
        stationary[column] -= value * rows[row]
    assert stationary == columns
    assert min(*primal, *columns) >= 0
    assert all((low is None or low <= total) and total <= high for total, (low, high) in zip(sums, bounds))
    assert all(low == high or multiplier <= 0 for multiplier, (low, high) in zip(rows, bounds))
    assert sum(y * high for y, (_, high) in zip(rows, bounds)) == primal[-1] == 1 / Fraction(claim["at_most"])
    assert to_lean.lean(text_of(name)).startswith("import LPVerify")


@pytest.mark.skipif(shutil.which("coqc") is None, reason="needs Coq")
def test_coq_proves_a_capacity_and_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.syspath_prepend(CHECKER.parent)
    proof = importlib.import_module("to_lean").coq(ts.network("ring(k=5)").capacity("uniform").certificate)
    for name, text, status in (("right", proof, 0), ("wrong", proof.replace("-> (3 # 5) <=", "-> (4 # 5) <="), 1)):
        (tmp_path / f"{name}.v").write_text(text, encoding="utf-8")
        run = subprocess.run(["coqc", f"{name}.v"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout.count("Closed under the global context")) == (status, 0 if status else 2)


# --- what is altered is refused -------------------------------------------------------------------------


def field_of(text: str, way: tuple[Any, ...]) -> tuple[Any, ...]:
    return (json.loads(text)["kind"], *(part for part in way if isinstance(part, str)))


def drawn(count: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Certificates altered at random: each field of each kind as often."""
    draw = random.Random(42)
    by_field: dict[tuple[Any, ...], list[tuple[str, tuple[Any, ...]]]] = {}
    for text in map(text_of, CASES):
        for way in places(json.loads(text)):
            by_field.setdefault(field_of(text, way), []).append((text, way))
    fields = sorted(by_field)
    while count:
        text, way = draw.choice(by_field[fields[count % len(fields)]])
        content = altered(text, way, draw)
        if content is not None:
            count -= 1
            yield text, way, content


@cache
def a_thousand() -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    return list(drawn(1_000))


def test_a_thousand_altered_certificates_are_refused():
    assert [way for _, way, content in a_thousand() if not is_refused(json.dumps(content))] == []


def test_no_altered_certificate_proves_anything_false():
    """With a digest made anew, what is accepted is another proof of the same, or says what is true."""
    accepted = [(text, way, content["claim"]) for text, way, content in a_thousand() if not is_refused(signed(content))]
    forged = [(way, claim) for text, way, claim in accepted if way != ("digest",) and claim != claim_of(text)]
    assert [one for one in forged if not is_true(one[1])] == []
    assert len([way for _, way, _ in accepted if way != ("digest",)]) < 50


def is_true(claim: dict[str, Any]) -> bool:
    """Of claims with a proof that was another's: more virtual channels change no verdict; several lattices are best."""
    network = ts.network(claim["topology"])
    if claim.get("vc_rule") == "listed":
        text = next(text for text in map(text_of, CASES) if claim_of(text).get("routing") == claim["routing"])
        most = max(kind for _, _, kind in json.loads(text)["proof"]["order"])  # as many as the routing uses suffice
        channels = {"virtual_channels": claim["virtual_channels"]}
        return claim["virtual_channels"] > most and claim == claim_of(text) | channels
    if "deadlock_free" in claim:
        names = ("routing", "vc_rule", "virtual_channels")
        return bool(network.deadlock(*(claim[name] for name in names)).deadlock_free == claim["deadlock_free"])
    return "mean_distance" in claim and Fraction(claim["mean_distance"]) == Fraction(
        network.static().mean_distance or 0
    )


@pytest.mark.parametrize("name", CASES)
def test_a_claim_fitted_to_an_altered_proof_is_true(name: str):
    """As a forger would: the proof is altered, then the claim says what comes of it. Bounds may only be weaker."""
    text, draw, known = text_of(name), random.Random(name), [number(one) for one in CASES[name][1]]
    fields: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for way in places(json.loads(text)["proof"]):
        fields.setdefault((way[0], len(way)), []).append(("proof", *way))
    for way in [draw.choice(ways) for ways in fields.values() for _ in range(12)]:
        content = altered(text, way, draw)
        if content is not None:
            kind, claim, proof = (content[part] for part in ("kind", "claim", "proof"))
            try:
                fitted = check.KINDS[kind](check.network_of(claim["topology"]), copy.deepcopy(proof), **claim)
            except Exception:  # a check's refusal, or what makes it "malformed"
                continue
            claim |= {one: str(value) if isinstance(value, Fraction) else value for one, value in fitted.items()}
            if not is_refused(signed(content)):
                said = [number(one) for one in proved(claim)]
                if "at_least" in claim:
                    least, most = (one if one is None else Fraction(one) for one in said)
                    assert least is None or known[1] is None or least <= known[1], way
                    assert most is None or known[0] is None or most >= known[0], way
                else:
                    assert said == known, way


@pytest.mark.parametrize(("scale", "at_most"), [(0, "0"), (-1, "-{}"), (-2, "-{}/2")])
def test_flows_that_bring_nothing_attain_no_time(scale: int, at_most: str):
    """Which each of the demands is met by where the flit of the scale is none, or less: a time of 0, or below."""
    content = json.loads(text_of("all_to_all of a torus"))
    load = Fraction(content["claim"]["at_most"]) * content["proof"]["scale"]
    assert load.denominator == 1
    content["proof"]["scale"], content["claim"]["at_most"] = scale, str(Fraction(at_most.format(load)))
    with pytest.raises(check.Invalid, match="expected flows in a scale"):
        check.check(signed(content))


EASIER = ("hypercube(n=4)", "torus(k=4, n=2)", "torus(radices=[8, 2])", "mesh(k=4, n=2)", "rtt(a=4)", "ring(k=16)")


@pytest.mark.parametrize("other", EASIER)
def test_another_network_of_the_same_size_does_not_pass(other: str):
    """Nor one that is the same but for the nodes' names, as the binary 4-cube and the 4-ary 2-cube are."""
    for name in CASES:
        content = json.loads(text_of(name))
        own = content["claim"]["topology"]
        if own != other and build(own).nodes == 16:
            listed = content["claim"].get("vc_rule") == "listed"  # routes of a mesh are routes of a torus, too
            fits = listed and check.network_of(own).arcs.keys() <= check.network_of(other).arcs.keys()
            content["claim"]["topology"] = other
            assert is_refused(signed(content)) is not fits, name


def test_each_field_of_each_kind_is_altered():
    met = {field_of(text, way)[:3] for text, way, _ in a_thousand()}
    for kind, function in check.KINDS.items():
        net, proof, *claimed = inspect.signature(function).parameters
        assert {(kind, "claim", name) for name in claimed} <= met, (net, proof)


# --- commands, and what has no certificate ----------------------------------------------------------------


def test_the_command_writes_certificates(tmp_path: Path):
    file = tmp_path / "proof.json"
    options = ["torus(k=4, n=2)", "--no-picture", "--certificate", str(file)]
    command_of(question_named("describe")).main(options, standalone_mode=False)
    kinds = [json.loads(line)["kind"] for line in file.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["symmetry", "bisection"]
    assert check.main([str(file)]) is False


def test_a_sweep_has_a_table_of_certificates():
    """One for each claim, whatever the other columns; of what cannot be proved, why."""
    torus, none = "torus(k=4, n=2)", "dragonfly(a=2, p=1, h=1)"
    tables = {
        "static": pa.table({"topology": [torus, none]}),
        "loads": pa.table({"topology": [torus, torus], "traffic": ["uniform"] * 2, "routing": ["minimal", "romm"]}),
        "deadlock": pa.table(
            {
                "topology": [torus, torus],
                "routing": ["dimension_order"] * 2,
                "vc_rule": ["none", "dateline"],
                "virtual_channels": [1, 2],
            }
        ),
        "collectives": pa.table({"topology": [torus] * 2, "operation": ["all_reduce"] * 2, "algorithm": ["a", "b"]}),
        "screen": pa.table({"topology": ["", ""], "dimensions": [2, None], "nodes": [8, 9]}),
    }
    sweep = of_mapping({"sweep": "proved", "certificates": True, "topologies": [torus]})
    assert "certificates" in requested_derived(sweep)
    files = {name: TableFile(parquet(table, {})) for name, table in tables.items()}
    rows = certificates(sweep, files).to_pylist()
    refused = {row["topology"]: row["reason"] for row in rows if row["certificate"] is None}
    assert set(refused) == {none, None}
    assert all(" expected " in reason for reason in refused.values())
    proofs = [row for row in rows if row["certificate"] is not None]
    expected = ["symmetry", "bisection", "capacity", "deadlock", "deadlock", "collective", "exhaustion"]
    assert [row["kind"] for row in proofs] == expected
    for row in proofs:
        assert json.loads(row["claim"]).items() <= check.check(row["certificate"]).items()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: ts.network("dragonfly(a=2, p=1, h=1)").capacity("uniform"), "expected a family that certify/check.py"),
        (lambda: ts.network("torus(k=4, n=2)").deadlock("minimal", "none", 1), "got dependencies in a circle"),
        (lambda: ts.network("torus(k=4, n=2)").deadlock("adaptive", "dateline", 3), "expected an oblivious routing"),
        (lambda: ts.network("torus(k=4, n=2)").capacity("hot_region"), "expected one of uniform, bit_complement"),
        (lambda: ts.best(nodes=16, dimensions=2, minimise="diameter"), "by the least mean distance"),
    ],
)
def test_what_cannot_be_checked_has_no_certificate(ask: Callable[[], Any], words: str):
    answer = ask()
    with pytest.raises(BadInput, match=words):
        _ = answer.certificate


def test_routes_that_are_too_many_to_list_have_no_certificate(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torusweep.questions.deadlock.certificate.MOST_NUMBERS", 1_000)
    answer = ts.network("torus(k=4, n=2)").deadlock("minimal", "hops", 5)
    with pytest.raises(Refused, match="expected at most 333 hops to list"):
        _ = answer.certificate
    with pytest.raises(Refused, match="expected at most 3,000,000 lattices"):
        certificate_of_size(3, 2_048)


def test_lengths_prove_nothing_of_oblivious_routings_where_channels_lead_one_way():
    """Six nodes, all alike, of which two phases carry 9/13, and the best oblivious routing 3/4."""
    heads = [(1, 2), (3, 4), (5, 0), (0, 5), (2, 1), (4, 3)]
    network = check.Network(6, [(tail, head) for tail, both in enumerate(heads) for head in both], [6], directed=True)
    proof = {"generators": [], "lengths": [[tail, head, 1] for tail, head in sorted(network.arcs)]}
    with pytest.raises(check.Invalid, match="expected a channel back of each channel, of equal length"):
        check.oblivious(network, proof, "", None, None)


def test_a_guarantee_between_two_bounds_may_have_the_proof_of_uniform_traffic():
    """Of 2,050 nodes no permutation is sought: 8 / N of uniform traffic, which any routing carries at most."""
    lines = ts.network("ring(k=2050)").capacity("worst").certificate.splitlines()
    proofs = [check.check(line) for line in lines]
    assert [proof["kind"] for proof in proofs] == ["two_phase", "oblivious", "capacity"]
    assert [proofs[0]["at_least"], proofs[1]["at_most"], proofs[2]["at_most"]] == ["2/1025", "2/1025", "4/1025"]


@pytest.mark.parametrize("seed", range(8))
def test_odds_and_lengths_without_small_fractions_prove_nearly_as_much(tmp_path: Path, seed: int):
    file = tmp_path / "drawn.edges"
    graph = nx.gnm_random_graph(11, 20, seed=seed)
    nx.add_cycle(graph, range(11))
    nx.write_edgelist(graph, file, data=False)
    found = ts.network(str(file)).capacity("worst")
    proofs = {proof["kind"]: proof for proof in map(check.check, found.certificate.splitlines())}
    bounds = found.json
    assert float(Fraction(proofs["two_phase"]["at_least"])) == pytest.approx(bounds["guarantee_lower"], rel=2e-6)
    assert float(Fraction(proofs["permutation"]["at_most"])) == pytest.approx(bounds["guarantee_upper"], rel=2e-6)
    if bounds["guarantee_oblivious"] < bounds["guarantee_upper"]:
        by_lengths = float(Fraction(proofs["oblivious"]["at_most"]))
        assert by_lengths == pytest.approx(bounds["guarantee_oblivious"], rel=2e-6)


@pytest.mark.parametrize("kind", check.KINDS)
def test_rows_of_each_kind_are_valid_and_altered_ones_refused(kind: str):
    """Of 12 rows each; `python -m tests.certify.show` does the same of 1,000."""
    found = shown(kind, 12, random.Random(kind))
    assert (found["rows"], found["valid"], found["refused"]) == (12, 12, 12)


def test_an_exported_network_with_failed_nodes_is_certified(tmp_path):
    """The checker reads what the export wrote: the nodes that are left, numbered without gaps."""
    file, proof = tmp_path / "left.edges", tmp_path / "proof.json"
    whole = nx.convert_node_labels_to_integers(nx.grid_graph((6, 6), periodic=True), ordering="sorted")
    for command in (
        ["export", "faulty(torus(k=6, n=2), nodes=2)", "-o", str(file)],
        ["capacity", str(file), "--certificate", str(proof)],
    ):
        assert CliRunner().invoke(cli.torusweep, command, catch_exceptions=False).exit_code == 0
    left = nx.read_edgelist(file, nodetype=int)
    assert set(left) == set(range(34))
    # a torus looks the same from every node, so that one of the two that failed is any
    assert any(nx.is_isomorphic(whole.subgraph(set(whole) - {0, other}), left) for other in range(1, 36))
    claim = check.check(proof.read_text())
    assert claim["at_least"] == claim["at_most"]


def test_names_in_an_edge_list_have_a_remedy_of_their_own(tmp_path):
    file = tmp_path / "from_one.edges"
    file.write_text("1 2\n2 3\n3 1\n")
    with pytest.raises(BadInput, match="write its links with these numbers in place of names"):
        ts.network(str(file)).capacity().certificate  # noqa: B018
