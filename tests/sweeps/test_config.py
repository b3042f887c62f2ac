"""Configurations: what is read, and the one line that refuses what is not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from torusweep.errors import BadInput
from torusweep.questions.stage import NetworkChoice, numbers_of
from torusweep.stages import STAGES
from torusweep.sweeps.configuration import load
from torusweep.sweeps.configuration.documentation import documentation, json_schema
from torusweep.sweeps.configuration.schema import PAPERS

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted([*ROOT.glob("config/*.yaml"), *ROOT.glob("config/papers/*.yaml")])
HEAD = "sweep: a\npapers: [P98]\n"


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "my.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path) -> str:
    """What load says against a configuration, without the path: 'line:column: …'."""
    with pytest.raises(BadInput) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}:"), message
    return message.removeprefix(f"{path}:").strip()


def outcome(path: Path) -> str:
    """'read', or what load says against a configuration; any other exception fails the test."""
    try:
        load(path)
    except BadInput as error:
        return str(error)
    return "read"


def test_everything_that_a_configuration_may_say(tmp_path):
    text = """\
sweep: mine
description: all of it
topologies:
  - torus(k=8, n=3)
  - {family: ring, k: {from: 4, to: 8}, skip_invalid: true, fault_nodes: 1}
  - require: {families: [ccc], except: [ring], nodes: 24, degree: {to: 3}, directed: false, parameters: {n: [3]}}
papers: [P98, C10, P98]
fault_nodes: 2
symmetry: false
backend: numpy
cluster:
  workers: 3
  memory_per_worker_gib: 1e-1
  batch_seconds: 5
  scheduler: "tls://host:8786"
limits: {points: 1_000, memory_gib: 0.5}
"""
    path = write(tmp_path, text)
    sweep = load(path)
    assert (sweep.sweep, sweep.papers, sweep.fault_nodes, sweep.symmetry, sweep.backend) == (
        "mine",
        ("P98", "C10"),
        2,
        False,
        "numpy",
    )
    assert (sweep.cluster.workers, sweep.cluster.memory_per_worker_gib) == (3, 0.1)
    assert (sweep.limits.points, sweep.limits.memory_gib) == (1000, 0.5)
    assert sweep.topologies[0] == "torus(k=8, n=3)"
    assert (sweep.topologies[1].family, sweep.topologies[1].model_extra) == ("ring", {"k": {"from": 4, "to": 8}})
    required = sweep.topologies[2].require
    assert (required.nodes.lowest, required.nodes.highest, required.degree.lowest, required.degree.highest) == (
        24,
        24,
        0,
        3,
    )
    assert (required.families, required.excluded, required.parameters) == (("ccc",), ("ring",), {"n": [3]})
    assert (sweep.source, sweep.text, sweep.digest) == (str(path), text, hashlib.sha256(text.encode()).hexdigest())


def test_defaults_are_the_safe_ones(tmp_path):
    sweep = load(write(tmp_path, HEAD))
    assert (sweep.backend, sweep.symmetry, sweep.fault_nodes) == ("auto", True, None)
    assert (sweep.cluster.workers, sweep.cluster.scheduler) == ("auto", None)


# text that is no configuration
TEXTS = [
    (b"", "1:1", "got nothing"),
    (b"# only a remark\n", "1:1", "got nothing"),
    (b"- 1\n", "1:1", "got a list"),
    (b"hello\n", "1:1", "got 'hello'"),
    (b"sweep: a\n\tpapers: [P98]\n", "2:1", "tab"),
    (b"\xef\xbb\xbfsweep: a\n", "1:1", "byte-order mark"),
    (b"sweep: a\x00\n", "1:9", "U+0000"),
    (b"sweep: a\ndescription: caf\xe9\n", "2:17", "0xe9"),
    (b"sweep: a\ndescription: \xc3\xa9\x1b[31m\n", "2:15", "U+001B"),
    (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "1:4", "anchor"),
    (b"sweep: *name\n", "1:8", "alias"),
    (b"sweep: !!python/object/apply:os.system [true]\n", "1:8", "tag"),
    (b"sweep: !name a\n", "1:8", "tag"),
    (b"sweep: a\nsweep: b\n", "2:1", "duplicate key 'sweep', first given at 1:1"),
    (b"sweep: a\n---\nsweep: b\n", "2:1", "one document"),
    (b"sweep: [a\n", "2:1", "expected"),
    (b"sweep: 'a\n", "2:1", "end of stream"),
    (b"? [a]\n: b\n", "1:3", "key"),
    (b"true: b\n", "1:1", "key"),
    (b"sweep: 2020-01-01\n", "1:8", "timestamp"),
    (b"sweep: a\ntopologies:\n  - twisted_torus(radices=[4, 2], twists={1: {0: 2}})\n", "3:52", "quotes"),
    (b"sweep: " + b"9" * 5000 + b"\n", "1:8", "40 characters"),
    (b"[" * 2000, "1:22", "at most 20"),
    (b"%YAML 3.0\n---\nsweep: a\n", "1:1", "version"),
    (b"%YAML 1.3\n---\nsweep: a\n", "1:1", "YAML"),
    (b"%YAML 1.1\n---\nsweep: a\n", "1:1", "YAML 1.2"),
    (b"%TAG ! tag:x,2000:\n---\nsweep: a\n", "1:1", "directive"),
]


@pytest.mark.parametrize(("content", "place", "says"), TEXTS, ids=[repr(row[0][:24]) for row in TEXTS])
def test_text_that_is_no_configuration_is_refused_where_it_fails(tmp_path, content, place, says):
    message = refusal(write(tmp_path, content))
    assert message.startswith(f"{place}: ")
    assert says in message


# keys and values
VALUES = [
    ("swep: a\npapers: [P98]\n", "1:1", "unknown key 'swep' (did you mean 'sweep'?)"),
    (HEAD + "cluster:\n  worker: 3\n", "4:3", "cluster: unknown key 'worker' (did you mean 'workers'?)"),
    (HEAD + "7: 8\n", "3:1", "unknown key '7'"),
    ("papers: [P98]\n", "1:1", "missing key 'sweep'"),
    ("sweep: a\n", "1:1", "expected topologies, papers or a design space"),
    ("sweep: a\ntopologies: []\n", "1:1", "expected topologies, papers or a design space"),
    ("sweep: ../a\npapers: [P98]\n", "1:8", "letters, digits"),
    ("sweep: /tmp/a\npapers: [P98]\n", "1:8", "letters, digits"),
    ('sweep: "a\\n"\npapers: [P98]\n', "1:8", "letters, digits"),
    ("sweep: </script>\npapers: [P98]\n", "1:8", "letters, digits"),
    ("sweep: é\npapers: [P98]\n", "1:8", "letters, digits"),
    ("sweep: -a\npapers: [P98]\n", "1:8", "letters, digits"),
    (f"sweep: {'a' * 65}\npapers: [P98]\n", "1:8", "letters, digits"),
    ("sweep: 1\npapers: [P98]\n", "1:8", "expected text, got 1"),
    ("sweep: my sweep\npapers: [P98]\n", "1:8", "got 'my sweep', which has a blank; write my-sweep"),
    (f"sweep: {'a' * 300}\npapers: [P98]\n", "1:8", "which has 300 characters"),
    ("sweep: a\ntopologies: [torus(k=8, n=2, ring(k=4)]\n", "2:14", "; put the whole in quotes"),
    ("sweep: a\ntopologies: [lattice(matrix=[[4, 1],[1, 4]])]\n", "2:29", "that holds brackets in quotes"),
    ("sweep: a\ntopologies: [{family: faulty, topology: torus(k=8, n=2)}]\n", "2:41", "; put the whole in quotes"),
    (HEAD + "simulation: [{loads: [0.1, -2]}]\n", "3:28", "simulation[0].loads[1]: expected a number 0 … 1,000"),
    (HEAD + "simulation: [{loads: [0.1, 0]}]\n", "3:22", "expected loads above 0, got loads[1] = 0"),
    (HEAD + "simulation: [{loads: {from: 0.1, to: 1}}]\n", "3:22", "with count or step, as in {from: 0.1, to: 0.9,"),
    (HEAD + "simulation: [{loads: {from: 0.1, to: 1, step: 0.1, count: 9}}]\n", "3:22", "count or step, as in"),
    (HEAD + "simulation: [{loads: {from: 0.1, to: 1, count: 10001}}]\n", "3:22", "at most 10,000 loads, got 10,001"),
    ("sweep: a\npapers: [P99]\n", "2:9", "expected papers of P98, P04, D90, C10, R05, got 'P99'"),
    ("sweep: a\npapers: P98\n", "2:9", "expected a list, got 'P98'"),
    ("sweep: a\ntopologies:\n  - 3\n", "3:5", "topologies[0]: expected a topology"),
    ("sweep: a\ntopologies:\n  - k: 3\n", "3:5", "topologies[0]: expected a topology"),
    ("sweep: a\ntopologies:\n  - {family: ring, require: {nodes: 3}}\n", "3:5", "expected a topology"),
    ("sweep: a\ntopologies:\n  - {topology: ring(k=8)}\n", "3:5", "topologies[0]: expected a label or a comparison"),
    ("sweep: a\ntopologies:\n  - {topology: ring(k=8), year: 2004}\n", "3:5", "expected a label with year, got none"),
    (
        "sweep: a\ntopologies:\n  - {topology: [ring(k=8), ring(k=9)], label: Cray}\n",
        "3:5",
        "topologies[0]: expected one topology with label, got 2; give each its own entry",
    ),
    ("sweep: a\ntopologies:\n  - {topology: ring(k=8), label: a, year: 0}\n", "3:43", "1 … 9,999 or null, got 0"),
    ("sweep: a\ntopologies:\n  - {topology: ring(k=8), labl: a}\n", "3:27", "did you mean 'label'?"),
    ("sweep: a\ntopologies:\n  - {topology: ring(k=8), require: {nodes: 3}}\n", "3:5", "expected a topology"),
    ("sweep: a\ntopologies:\n  - family: 3\n", "3:13", "topologies[0].family: expected text, got 3"),
    (
        "sweep: a\ntopologies:\n  - ring(k=8)\n  - require: {nodes: {from: 9, to: 3}}\n",
        "4:22",
        "topologies[1].require.nodes: expected from ≤ to",
    ),
    ("sweep: a\ntopologies:\n  - require: {nodes: {from: 9}}\n", "3:22", "missing key 'to'"),
    ("sweep: a\ntopologies:\n  - require: {nodes: -1}\n", "3:22", "0 … 2,147,483,647 or a mapping, got -1"),
    ("sweep: a\ntopologies:\n  - require: {nodes: {to: 1000000000000}}\n", "3:27", "0 … 2,147,483,647"),
    ("sweep: a\ntopologies:\n  - require: {nodes: 8, famillies: all}\n", "3:25", "did you mean 'families'?"),
    (
        "sweep: a\ntopologies:\n  - require: {nodes: 8, families: every}\n",
        "3:35",
        "expected all or a list, got 'every'",
    ),
    (HEAD + "fault_nodes: 0\n", "3:14", "a whole number ≥ 1 or null, got 0"),
    (HEAD + "fault_nodes: true\n", "3:14", "got true"),
    (HEAD + "fault_nodes: 1.5\n", "3:14", "got 1.5"),
    (HEAD + "fault_nodes: '2'\n", "3:14", "got '2'"),
    (HEAD + "symmetry: 1\n", "3:11", "expected true or false, got 1"),
    (HEAD + "symmetry: yes\n", "3:11", "expected true or false, got 'yes'"),
    (HEAD + "backend: cuda\n", "3:10", "auto or numpy or numba or cupy, got 'cuda'"),
    (HEAD + "limits: {memory_gib: .nan}\n", "3:22", "got nan"),
    (HEAD + "limits: {memory_gib: .inf}\n", "3:22", "got inf"),
    (HEAD + "limits: {memory_gib: 1e308}\n", "3:22", "got 1e+308"),
    (HEAD + "limits: {memory_gib: 0}\n", "3:22", "> 0"),
    (HEAD + "limits: {points: 1e3}\n", "3:18", "got 1000.0"),
    (HEAD + "limits: 5\n", "3:9", "expected a mapping, got 5"),
    (HEAD + "cluster: {workers: -1}\n", "3:20", "auto or a whole number 0 … 100,000, got -1"),
    (HEAD + "cluster: {workers: many}\n", "3:20", "got 'many'"),
    (HEAD + "cluster: {slurm: {memory: lots}}\n", "3:27", "as in 16GiB"),
    (HEAD + 'cluster: {slurm: {queue: "a\\nb"}}\n', "3:26", "one word"),
    (HEAD + "cluster: {slurm: {walltime: '90'}}\n", "3:29", "hours:minutes:seconds"),
]


@pytest.mark.parametrize(("text", "place", "says"), VALUES, ids=[row[0].replace("\n", " ")[-40:] for row in VALUES])
def test_keys_and_values_out_of_the_schema_are_refused_where_they_stand(tmp_path, text, place, says):
    message = refusal(write(tmp_path, text))
    assert message.startswith(f"{place}: ")
    assert says in message


SCHEDULERS = [
    ('scheduler: "tcp://127.0.0.1:8786"', None),
    ('scheduler: "tcp://[::1]:8786"', None),
    ('scheduler: "tcp://localhost:8786"', None),
    ('scheduler: "tcp://10.0.0.1:8786"', None),
    ('scheduler: "tcp://10.0.0.1:8786", insecure: true', "expected no 'insecure'"),
    ('scheduler: "tls://10.0.0.1:8786", tls: {ca: a.pem, cert: b.pem, key: c.pem}', "expected no 'tls'"),
    ('scheduler: "http://127.0.0.1:8786"', "expected an address"),
    ('scheduler: "tcp://127.0.0.1:99999"', "expected an address"),
    ('scheduler: "tcp://127.0.0.1"', "expected an address"),
    ('scheduler: "tcp://127.0.0.1:1", slurm: {}', "keep one"),
]


@pytest.mark.parametrize(("cluster", "says"), SCHEDULERS)
def test_a_scheduler_is_an_address_and_no_consent(tmp_path, cluster, says):
    path = write(tmp_path, HEAD + f"cluster: {{{cluster}}}\n")
    if says is None:
        assert load(path).cluster.scheduler.startswith("tcp://")
    else:
        assert says in refusal(path)


@pytest.mark.parametrize("kind", ["missing", "folder", "huge"])
def test_a_file_that_cannot_be_a_configuration(tmp_path, kind):
    path = tmp_path / "my.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "huge":
        path.write_bytes(b"# " + b"x" * 2**20)
    refusal(path)


def test_a_path_with_a_line_break_stays_on_one_line(tmp_path):
    with pytest.raises(BadInput) as caught:
        load(tmp_path / "a\nb.yaml")
    assert "\n" not in str(caught.value)


@given(
    st.one_of(
        st.binary(max_size=200), st.text(alphabet="abkn:-[]{},&*!|>'\"%@#?\t\n 01.e\\", max_size=120).map(str.encode)
    )
)
@settings(max_examples=300, deadline=None)
def test_arbitrary_bytes_are_refused_or_read(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "arbitrary.yaml"
    path.write_bytes(content)
    assert "\n" not in outcome(path)


_KEYS = st.sampled_from(
    [
        "sweep",
        "papers",
        "topologies",
        "cluster",
        "limits",
        "workers",
        "tls",
        "slurm",
        "family",
        "require",
        "nodes",
        "k",
        "<family>",
        "0",
    ]
)
_SCALARS = st.sampled_from(
    ["a", "1", "-1", "1.5", "true", "null", "P98", "all", "ring", "torus(k=4, n=2)", "'x'", ".nan"]
)
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.dictionaries(_KEYS, inner, max_size=4).map(
            lambda entries: "{" + ", ".join(f"{key}: {value}" for key, value in entries.items()) + "}"
        ),
    ),
    max_leaves=12,
)


@given(st.dictionaries(_KEYS, _TREES, max_size=5))
@settings(max_examples=300, deadline=None)
def test_arbitrary_trees_are_refused_or_read(tmp_path_factory, entries):
    path = tmp_path_factory.getbasetemp() / "tree.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in entries.items()))
    assert outcome(path).startswith(("read", f"{path}:"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configurations_are_named_after_their_sweep(path):
    assert load(path).sweep == path.stem


def test_each_paper_has_its_configuration():
    papers = {load(path).papers for path in CONFIGS if path.parent.name == "papers"}
    assert papers == {("P98",), ("P04",), ("D90",), ("C10",), ("R05",)}


def test_papers_are_those_whose_numbers_are_here():
    assert {path.stem.upper() for path in ROOT.glob("pipeline/torusweep/papers/expected/*.csv")} == set(PAPERS)


def test_documentation_is_current():
    """docs/config.md is made by 'make docs'."""
    assert (ROOT / "docs" / "config.md").read_text() == documentation()


def test_the_schema_for_editors_is_current_and_agrees():
    """config/schema.json is made by 'make docs'; the examples name it, and pass it."""
    text = (ROOT / "config" / "schema.json").read_text()
    assert text == json_schema()
    schema = jsonschema.Draft202012Validator(json.loads(text))
    for path in CONFIGS:
        first, _, _ = path.read_text().partition("\n")
        assert (path.parent / first.partition("$schema=")[2]).resolve() == ROOT / "config" / "schema.json"
        assert not list(schema.iter_errors(YAML(typ="safe").load(path)))
    wrong = {"sweep": "wrong", "topologies": ["ring(k=4)"], "loads": [{"routing": 3}], "latncy": []}
    assert {error.json_path for error in schema.iter_errors(wrong)} == {"$", "$.loads[0].routing"}


def test_every_key_is_documented():
    """In the first column of a table; those of all choices of networks once."""
    told = [line.split("`")[1] for line in documentation().splitlines() if line.startswith("| `")]
    assert [key for key in set(told) if told.count(key) > 1] == [
        "topologies"
    ]  # the sweep's, and those of them that an entry is about
    entries = {name: STAGES[name].Entry for name in ("loads", "deadlock", "layout", "simulation")}
    for section, entry in entries.items():
        assert {
            name if name in NetworkChoice.model_fields else f"{section}[].{name}" for name in entry.model_fields
        } <= set(told)
    assert {"topologies", "limits.points", "latency[].nodes", "simulation[].loads.from", "nodes.to"} <= set(told)
    assert not {"loads[].families", "simulation[].nodes.from"} & set(told)


def test_topologies_in_brackets_are_read_whole(tmp_path):
    """YAML splits [torus(k=8, n=2)] at its comma."""
    text = "sweep: a\ntopologies: [torus(k=8, n=2), 'ring(k=5)', faulty(torus(k=4,n=2), links=4), ring(k=6)]\n"
    assert load(write(tmp_path, text)).topologies == (
        "torus(k=8, n=2)",
        "ring(k=5)",
        "faulty(torus(k=4, n=2), links=4)",
        "ring(k=6)",
    )


@pytest.mark.parametrize(
    ("spread", "numbers"),
    [
        ("{from: 0.1, to: 0.5, step: 0.1}", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("{from: 0.1, to: 0.5, step: 0.15}", [0.1, 0.25, 0.4]),
        ("{from: 0.1, to: 0.5, count: 3}", [0.1, 0.3, 0.5]),
        ("{from: 0.5, to: 0.5, step: 0.1}", [0.5]),
    ],
)
def test_loads_have_a_step_or_a_count(tmp_path, spread, numbers):
    sweep = load(write(tmp_path, HEAD + f"simulation: [{{loads: {spread}}}]\n"))
    assert numbers_of(sweep.entries("simulation")[0].loads) == pytest.approx(tuple(numbers), abs=1e-15)
