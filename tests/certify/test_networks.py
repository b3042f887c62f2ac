"""What certify/check.py reads as a network: spellings and edge lists, beside torusweep."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
import torusweep as ts
from torusweep.errors import BadInput
from torusweep.networks.certificates import DERIVED
from torusweep.networks.families import build

from tests.certify.show import check, signed

NETWORKS = (
    *("ring(k=2)", "ring(k=7)", "torus(k=2, n=3)", "torus(radices=[8, 2, 3])", "torus(k=4, n=2, directed=true)"),
    *("torus(radices=[2, 3], directed=true)", "mesh(k=3, n=3)", "mesh(radices=[2, 5])", "hypercube(n=5)", "rt(a=4)"),
    *("pt(a=3)", "rtt(a=4)", "rtt(a=3)", "ptt(a=3)", "pdtt(a=2)", "illiac(k=4)", "sequin(k=4, s=1, t=2)", "ccc(n=4)"),
    *("twisted_torus(radices=[4, 4, 6], twists={1: {0: 2}, 2: {0: 1, 1: 3}})", "lattice(matrix=[[1, 0], [0, 1]])"),
    *("twisted_torus(radices=[4, 6, 5], twists={0: {1: 3, 2: 2}, 2: {1: 5}})", "lattice(matrix=[[4, 1], [1, 4]])"),
    *("lattice(matrix=[[2, 7, 1], [0, 4, 3], [9, 1, 5]])", "circulant(n=17, steps=[1, 4])"),
    *("circulant(n=16, steps=[3, 2, 7])", "circulant(n=12, steps=[6, 4, 3])", "pruned_torus(k=6, n=4)"),
    *("pruned_torus(k=2, n=3)", "partly_pruned_torus(k=4, n=4, intact=2)", "pruned_t1(k=4)", "pruned_t2(k=4)"),
    *("pruned_t2(k=2)", "pruned_xy(k=4)", "directed_torus(k=4, n=3)", "directed_torus(k=2, n=3)"),
    *("pruned_directed_torus(k=4, n=3)", "pruned_directed_torus(k=6, n=4)", "tesh(m=2, levels=2, q=0)"),
    *("h3dt(m=3, n=3, levels=2, q=2)", "mh3dt(m=3, n=2, levels=2, q=1)", "mh3dt(m=3, n=2, levels=3, q=0)"),
)


@pytest.mark.parametrize("spelling", NETWORKS)
def test_it_derives_the_same_network(spelling: str):
    """Two programs that share nothing make the same links between the same numbers."""
    derived, network = check.network_of(spelling), build(spelling)
    tail, head, _ = network.arcs
    assert derived.arcs == dict.fromkeys(zip(tail.tolist(), head.tolist()), 1)
    assert derived.sides == list(network.plan.radices)


def test_it_derives_every_family_that_certificates_are_written_of():
    assert set(check.FAMILIES) == DERIVED == {spelling.partition("(")[0] for spelling in NETWORKS} | {"graph"}


def test_it_reads_an_edge_list_with_parallel_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("two.edgelist").write_text("0 1\n0 1\n1 2\n2 0\n", encoding="utf-8")
    network = ts.network("two.edgelist")
    assert check.network_of(str(network.spelling)).arcs[0, 1] == 2
    text = network.collective("all_reduce", algorithms="optimum").certificate
    assert json.loads(text)["claim"]["at_most"] == "1/2"  # two spanning trees of four links (Nash-Williams 1961)
    check.check(text)


def test_a_narrow_cut_of_one_way_links_proves_all_that_the_answer_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Three links join the halves, but only 2 → 0 leads back: every flit takes a cycle there, not two of three."""
    monkeypatch.chdir(tmp_path)
    links = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3), (2, 0)]
    Path("narrow.edgelist").write_text("\n".join(f"{tail} {head}" for tail, head in links), encoding="utf-8")
    answer = ts.network('graph(path="narrow.edgelist", directed=true)').collective("all_reduce", algorithms="optimum")
    halves = [set(half) for size in range(1, 4) for half in combinations(range(4), size)]
    narrowest = min(sum(tail in half and head not in half for tail, head in links) for half in halves)
    claim = json.loads(answer.certificate)["claim"]
    assert (claim["at_least"], answer.bound, narrowest) == ("1", 1, 1)
    check.check(answer.certificate)


TRIANGLE = {(0, 1): 1, (1, 2): 1, (0, 2): 1}
# a file → its links, or what the refusal says
EDGE_LISTS: dict[str, tuple[bytes, dict[tuple[int, int], int] | str]] = {
    "indented": (b"  0 1\n\t1 2\n 2 0  \n", TRIANGLE),
    "comments": (b"# links\n0 1 # one\n% of three\n1 2 %two\n   # more\n2 0\n", TRIANGLE),
    "byte order mark": (b"\xef\xbb\xbf0 1\n1 2\n2 0\n", TRIANGLE),
    "lines of Windows": (b"0 1\r\n1 2\r\n2 0\r\n", TRIANGLE),
    "commas": (b"0,1\n1, 2\n2 ,0\n,\n", TRIANGLE),
    "no last line": (b"0 1\n\n\n1 2\n2 0", TRIANGLE),
    "leading zeros": (b"00 01\n01 2\n2 0\n", TRIANGLE),
    "parallel": (b"0 1\n1 0\n0 1\n1 2\n2 0\n", TRIANGLE | {(0, 1): 2}),
    "to itself": (b"0 1\n1 1\n1 2\n2 0\n", TRIANGLE),
    "other blanks": ("0\u00a01\n1\u20032\n2\x0c0\n".encode(), TRIANGLE),
    "weights": (b"0 1 5\n1 2 5\n2 0 5\n", "'weights'"),
    "bandwidths": (b"0 1 100Gb/s\n1 2 100Gb/s\n2 0 100Gb/s\n", "without heading, weights"),
    "heading": (b"source,target\n0,1\n1,2\n2,0\n", "without heading, weights"),
    "columns": (b"source,target,rack\n0,1,a\n1,2,a\n2,0,b\n", "without heading, weights"),
    "names": (b"a b\nb c\nc a\n", "without heading, weights"),
    "quotes": (b'"0" "1"\n"1" "2"\n"2" "0"\n', "without heading, weights"),
    "data": (b"0 1 {}\n1 2 {}\n2 0 {}\n", "without heading, weights"),
    "heading under a comment": (b"# links\nu v\n0 1\n1 2\n2 0\n", "without heading, weights"),
    "heading and weights": (b"source,target,weight\n0,1,1\n1,2,1\n2,0,1\n", "without heading, weights"),
    "SNAP": (b"# Undirected graph: triangle\n0\t1\n1\t2\n2\t0\n", "without heading, weights"),
    "gaps": (b"1 2\n2 3\n3 1\n", "nodes 0 … n − 1"),
}


@pytest.mark.parametrize("name", EDGE_LISTS)
def test_it_reads_an_edge_list_as_torusweep_does_or_says_why_not(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What torusweep makes of each file is compared, too: a test of both readers against links written by hand."""
    monkeypatch.chdir(tmp_path)
    content, expected = EDGE_LISTS[name]
    Path("links.edgelist").write_bytes(content)
    weights = ', weights="none"' if name == "weights" else ""  # which torusweep wants to be told
    network = ts.network(f'graph(path="links.edgelist"{weights})')
    text = str(network.spelling)
    tail, head, port = (array.tolist() for array in build(text).arcs)
    links = build(text).capacity
    read = {(u, v): 1 if links is None else int(links[u, p]) for u, v, p in zip(tail, head, port)}
    known = expected if isinstance(expected, dict) else TRIANGLE
    assert read == known | {(v, u): number for (u, v), number in known.items()}
    if isinstance(expected, dict):
        assert check.network_of(text).arcs == read
        check.check(network.capacity("uniform").certificate)
    else:
        claim = {"topology": text, "traffic": "uniform", "routes": "all", "at_least": "1", "at_most": "1"}
        with pytest.raises(check.Invalid, match=expected):
            check.check(signed({"kind": "capacity", "claim": claim, "proof": {}}))
        with pytest.raises(BadInput, match="expected a family that certify/check"):
            _ = network.capacity("uniform").certificate


@pytest.mark.parametrize("parameter", ["directed=true", 'format="edgelist"', 'weights="none"', 'format="adjlist"'])
def test_a_certificate_is_written_only_where_the_checker_knows_the_parameters(
    parameter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("links.edgelist").write_bytes(b"0 1\n1 2\n2 0\n")
    answer = ts.network(f'graph(path="links.edgelist", {parameter})').capacity("uniform")
    if parameter in ("directed=true", 'format="edgelist"'):
        check.check(answer.certificate)
    else:
        with pytest.raises(BadInput, match="expected a family that certify/check"):
            _ = answer.certificate


def test_a_file_that_says_that_it_is_directed_is_not_read_as_undirected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """SNAP's comment: the ring one way has half of the channels."""
    monkeypatch.chdir(tmp_path)
    Path("ring.txt").write_bytes(b"# Directed graph: ring\n0 1\n1 2\n2 0\n")
    assert build('graph(path="ring.txt")').directed
    with pytest.raises(check.Invalid, match="without heading"):
        check.network_of('graph(path="ring.txt")')


@pytest.mark.parametrize(
    "content",
    ["0;1\n1;2\n2;0\n", "0 1\n1 1_0\n", "0 +1\n1 2\n", "0 1\n1 \u0662\n", "0|1\n", "0 1\r1 2\r"],
)
def test_what_is_no_edge_list_is_none_to_the_checker_either(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("links.csv").write_bytes(content.encode())
    with pytest.raises(BadInput):
        ts.network("links.csv")
    with pytest.raises(check.Invalid, match="without heading"):
        check.network_of('graph(path="links.csv")')


def test_a_link_listed_from_both_ends_is_one_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """From one end twice and from the other once, it is two parallel ones, as torusweep reads it."""
    monkeypatch.chdir(tmp_path)
    ring = [f"{node} {(node + step) % 8}" for node in range(8) for step in (1, 7)]
    Path("both.edgelist").write_text("\n".join([*ring, "3 2", ""]), encoding="utf-8")
    network = ts.network("both.edgelist")
    arcs = check.network_of(str(network.spelling)).arcs
    assert (arcs[0, 1], arcs[2, 3], arcs[3, 2], len(arcs)) == (1, 2, 2, 16)
    assert check.check(network.capacity("uniform").certificate)["at_most"] == "1"


@pytest.mark.parametrize(
    "spelling",
    [
        *("torus(k=4, n=2, closed=false)", "partly_pruned_torus(k=4, n=4, intact=2, base=1)"),
        *("lattice(matrix=[[20, 0], [0, 1]], basis=[[5, 0], [2, 4]])", "circulant(n=4, steps=[2])"),
    ],
)
def test_parameters_that_torusweep_does_not_know_are_refused(spelling: str):
    with pytest.raises((check.Invalid, TypeError)):  # of a certificate, each is a refusal
        check.network_of(spelling)


@pytest.mark.parametrize(
    "spelling",
    [
        # read as directed: twice the time, and half the channels, of what one sees
        *(f"torus(k=4, n=2, directed={word})" for word in ("no", "nope", "FALSE", '"FALSE"', "False", "2")),
        # shifts that were left out, or that are there twice, or whose dimensions are texts: a plain torus, or another
        *(
            f"twisted_torus(radices=[4, 4], twists={{{twists}}})"
            for twists in (
                "-1: {0: 2}",
                "1: {-2: 2}",
                "2: {0: 2}",
                "1: {1: 2}",
                "1: {0: 1}, 1: {0: 2}",
                '"1": {"0": 2}',
            )
        ),
        'twisted_torus(radices=[4, 4], twists={"1": {"0": 2}})',
        # 52 nodes, 16 and 10 in Python; comments; one letter for another; a file of another name
        *('torus(radices=b"44")', "ring(k=0x10)", "ring(k=1_0)", "ring(k=4) # k=8", "torus(k=4, #k=8\n n=2)"),
        *("ｒing(k=4)", "ring(k=4,)", "ring(k=2, k=4)", "ring(k=+4)", "torus(k=4, n=True)"),
        *(f'graph(path="{path}")' for path in ("links\\x2eedges", "lin\\ks.edges", "links\u202e.edges", 'a" "b')),
    ],
)
def test_a_spelling_is_read_as_torusweep_writes_it_or_not_at_all(
    spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("links.edges", "lin\\ks.edges", "links\u202e.edges", "ab"):
        Path(name).write_text("0 1\n1 2\n2 0\n", encoding="utf-8")
    with pytest.raises((check.Invalid, SyntaxError, TypeError)):  # of a certificate, each is a refusal
        check.network_of(spelling)


@pytest.mark.parametrize(
    "spelling",
    [
        'graph(path="/dev/zero")',
        'graph(path="{fifo}")',
        'graph(path="{folder}")',
        'graph(path="{sparse}")',
        "hypercube(n=1000000000)",
        "torus(k=2, n=1000000000)",
        "torus(k=0, n=4)",
        "mesh(k=1, n=1000000000)",
        "pruned_torus(k=4, n=1000000000)",
        "directed_torus(k=2, n=1000000000)",
        "h3dt(m=3, n=2, levels=2, q=-1000000000)",
        f"circulant(n=32768, steps={list(range(1, 400))})",
    ],
)
def test_a_network_without_bound_is_refused_at_once(spelling: str, tmp_path: Path):
    """In a process of little memory: neither a device nor a pipe is read, and nothing large is made."""
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    given = spelling.format(fifo=tmp_path / "fifo", folder=tmp_path, sparse=tmp_path / "sparse")
    content = json.dumps(["capacity", {"topology": given}, {}], sort_keys=True)
    certificate = {"kind": "capacity", "claim": {"topology": given}, "proof": {}}
    certificate["digest"] = hashlib.sha256(content.encode()).hexdigest()
    (tmp_path / "one.json").write_text(json.dumps(certificate))
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({1 << 29}, {1 << 29}));"
    checker = f"import runpy, sys; sys.argv[1:] = ['one.json']; runpy.run_path({check.__file__!r}, run_name='__main__')"
    run = [sys.executable, "-I", "-c", f"{limit} {checker}"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=10)
    assert (done.returncode, done.stderr) == (1, "")
    assert "REFUSED: expected" in done.stdout


@pytest.mark.parametrize("text", ['{"kind": "a", "kind": "b"}', '{"claim": {"topology": "a", "topology": "b"}}'])
def test_a_key_that_stands_twice_is_refused(text: str):
    with pytest.raises(check.Invalid, match="each key once"):
        check.check(text)
