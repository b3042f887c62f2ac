"""Valid files and commands, altered, each by its number: python -m tests.faults.mutations --count 5000 --seed 1

Each input is altered in its words, numbers and structure, or in its bytes; `mutation(kind, number)` always makes the
same. A process that has loaded everything forks children with limits of memory and time, in which the real command
line, or the checker of certificates, reads it. It must answer, or refuse in one line with status 2. Only what has
said that it takes a minute or more may take more than its limit of time.
A line is printed for each input that did neither, and a table of how many were answered.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import gc
import importlib
import io
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from torusweep.answers.dataset import write_dataset
from torusweep.questions.screen.best import best_table
from torusweep.questions.screen.dataset import PARTS, part_digests
from torusweep.questions.screen.spaces import Lattices, screen_space
from torusweep.tables import store
from torusweep.tables.parquet import Streamed

from certify import check
from tests.certify.show import signed
from tests.faults import altering, test_input_results
from tests.faults.altering import altered, altered_bytes, altered_tree
from tests.faults.children import Asked, judged, read_apart_by_forks
from tests.faults.command_line import torusweep
from tests.workloads import chakra_files

LOT = 16  # inputs that a child answers
RUN_SECONDS = 120  # of processor time, for each process of a run

# --- what is altered -----------------------------------------------------------------------------

CONFIGURATIONS = [
    "sweep: any\ntopologies:\n  - {family: torus, k: {from: 3, to: 4}, n: 2}\n  - 'ring(k=6)'\n"
    "loads:\n  - {traffic: [uniform, tornado], routing: minimal, nodes: {to: 64}, skip_unsuitable: true}\n"
    "deadlock:\n  - {routing: dimension_order, vc_rule: dateline, virtual_channels: 2, skip_unsuitable: true}\n"
    "simulation:\n  - {loads: [0.1], nodes: {to: 16}, cycles: 500, seeds: 2, skip_unsuitable: true}\n",
    "sweep: any\ntopologies: ['ring(k=4)', {family: mesh, k: [2, 3], n: 2}]\nstatic: {measures: [distances]}\n"
    "layout:\n  - {placement: [straight, folded], skip_unsuitable: true}\ncluster: {workers: 2, batch_seconds: 0.2}\n",
    "sweep: any\nscreen:\n  - {family: lattices, dimensions: [1, 2], nodes: {from: 2, to: 12}}\n",
]
COMMANDS = [
    'describe "torus(k=4, n=2)" --json',
    'distances "rtt(a=4)" --json',
    'loads "mesh(radices=[3, 4])" --traffic "shift(by=2)" --routing dimension_order --json',
    'deadlock "ring(k=4)" --routing dimension_order --vc-rule dateline --virtual-channels 2 --json',
    'simulate "ring(k=4)" --load 0.1 --cycles 300 --seed 1 --json',
    'collective "torus(k=3, n=2)" all_reduce --bytes 1MiB --bandwidth 50GB/s --latency 1us --json',
    'availability "torus(k=3, n=2)" --links 1 --json',
    'layout "mesh(k=3, n=2)" --placement folded --json',
    'cost "slim_fly(q=5, terminals=2)" --model 2014-besta --json',
    'latency "torus(k=4, n=2)" --json',
    "best --nodes 12 --dimensions 2 --minimise diameter,mean_distance --show 2 --json",
    'place "mesh(radices=[4, 2])" --axes tp=4,dp=2 --json',
    'capacity "ring(k=4)" --json',
    'describe "faulty(torus(k=3, n=2), links=1, seed=1)" --json',
    'export "dragonfly(a=3, p=1, h=1)" --format edgelist',
]
GRAPHS = {
    "any.edges": b"# a comment\n0 1\n1 2\n2 3\n3 0\n0 2\n",
    "any.adjlist": b"0 1 2\n1 2\n2 3\n3 0\n",
    "any.csv": b"source,target,bandwidth\n0,1,1\n1,2,2\n2,0,1\n",
    "any.anynet": b"router 0 node 0 router 1 2\nrouter 1 node 1 router 2\nrouter 2 node 2 router 0\n",
    "any.dot": b"graph {\n  a -- b [bandwidth=2];\n  b -- c;\n  c -- a;\n}\n",
    "any.gml": b'graph [\n  node [ id 0 label "a" ]\n  node [ id 1 label "b" ]\n  edge [ source 0 target 1 ]\n]\n',
    "any.graphml": b'<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    b'<graph edgedefault="undirected"><node id="0"/><node id="1"/><node id="2"/>\n'
    b'<edge source="0" target="1"/><edge source="1" target="2"/></graph></graphml>\n',
    "any.json": b'{"directed": false, "multigraph": false, "graph": {}, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],'
    b' "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}',
    "any.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "any.net": b'*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2\n2 3\n',
}
DEMANDS = {
    "any.csv": [
        b"source,destination,demand\n0,1,1.5\n1,2,2\n4,0,0.5\n",
        b"0,1,0,0,0\n0,0,1,0,0\n1,0,0,0,1\n0,2,0,0,0\n1,1,1,1,0\n",
    ],
}
MESSAGES = b"message,source,destination,flits,depends_on\nm0,0,1,4,\nm1,1,2,8,m0\nm2,2,3,2,m0 m1\n"
GOAL = (
    b"num_ranks 2\nrank 0 {\na: calc 9\ne: calc 30\nf: calc 12\n"
    b"b: send 8b to 1 tag 1\nb requires a\n}\nrank 1 {\nc: recv 8b from 0 tag 1\n"
    b"d: calc 5\ng: calc 7\nd requires c\n}\n"
)
JOBS = [
    b"axes: {tp: 4, dp: 2}\noperations:\n  - {axis: tp, operation: all_gather, bytes: 64MiB, times: 4}\n"
    b"  - {axis: dp, operation: all_reduce, bytes: 32MiB}\n",
]
TASKS = b"source,destination,demand\n0,1,1.5\n1,2,2\n2,3,1\n3,0,0.5\n"
RUNS = [
    "sweep: any\ntopologies: ['ring(k=4)', {family: mesh, k: [2, 3], n: 2}]\nstatic: {measures: [distances]}\n"
    "cluster: {workers: 0}\n",
    "sweep: any\ntopologies: ['ring(k=4)']\nloads:\n  - {traffic: [uniform, tornado], routing: minimal}\n"
    "cluster: {workers: 0, batch_seconds: 0.2}\n",
]
UNASKED = ["altair", "vl_convert", "torusweep.answers.page", "torusweep.charts", "torusweep.answers.plot"]


class Whole(NamedTuple):
    """Files and a command that is answered."""

    files: dict[str, bytes]
    command: list[str]


def _configurations() -> list[Whole]:
    asked = (["plan", "any.yaml", "--json"], ["step", "points", "any.yaml", "out/any"])
    return [Whole({"any.yaml": text.encode()}, command) for text in CONFIGURATIONS for command in asked]


def _runs() -> list[Whole]:
    return [Whole({"any.yaml": text.encode()}, ["run", "any.yaml", "--results", "out"]) for text in RUNS]


def _commands() -> list[Whole]:
    return [Whole({}, [part or word for part, word in re.findall(r'"([^"]*)"|(\S+)', line)]) for line in COMMANDS]


def _graphs() -> list[Whole]:
    links = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "a"], "bandwidth": [1.0, 2.0, 1.0]})
    questions = [["describe"], ["describe"], ["distances"], ["loads"], ["deadlock"], ["routes"]]
    return [
        Whole({name: content}, [*question, f'graph(path="{name}")'])
        for name, content in {**GRAPHS, "any.parquet": _written(links)}.items()
        for question in questions
    ]


def _demands() -> list[Whole]:
    asked = ["loads", "ring(k=5)", "--traffic", 'demand(path="any.csv")', "--json"]
    return [Whole({"any.csv": content}, asked) for content in DEMANDS["any.csv"]]


def _traces() -> list[Whole]:
    sends = chakra_files.node(1, chakra_files.SEND, comm_size=64, comm_dst=1, comm_src=0)
    gets = chakra_files.node(1, chakra_files.RECEIVE, comm_size=64, comm_dst=1, comm_src=0)
    chakra = {f"any.{rank}.et": chakra_files.trace(one) for rank, one in enumerate((sends, gets))}
    files = [{"any.csv": MESSAGES}, {"any.goal": GOAL}, chakra]
    asked = ["--cycles", "3000", "--json"]
    return [Whole(one, ["simulate", "mesh(k=2, n=2)", "--workload", next(iter(one)), *asked]) for one in files]


def _jobs() -> list[Whole]:
    asked = ["place", "mesh(radices=[4, 2])"]
    tasks = Whole({"tasks.csv": TASKS}, [*asked, "--tasks", "tasks.csv", "--restarts", "1", "--json"])
    return [tasks, *[Whole({"job.yaml": job}, [*asked, "--job", "job.yaml", "--json"]) for job in JOBS * 2]]


def _cost_models() -> list[Whole]:
    model = Path("template/model.yaml").read_bytes()
    return [Whole({"any.yaml": model}, ["cost", "slim_fly(q=5, terminals=2)", "--model", "any.yaml", "--json"])]


def _certificates() -> list[Whole]:
    proofs = Path("template/certificates").read_bytes().splitlines()
    return [Whole({"any.json": content}, ["check", "any.json"]) for content in proofs]


def _under(folder: Path, name: str) -> dict[str, bytes]:
    """Contents of a folder's files, under the folder's new name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in paths}


def _data_sets() -> list[Whole]:
    files = _under(Path("template/dataset"), "data")
    asked = ["--dimensions", "2", "--remote", "data", "--json"]
    return [Whole(files, ["best", "--nodes", nodes, *asked]) for nodes in ("12", "7")]


def _results() -> list[Whole]:
    files = _under(test_input_results.TEMPLATE, "results/any") | {"any.yaml": test_input_results.CONFIG.encode()}
    asked = [
        ["compare", "results/any", "results/any"] if name == "compare" else [*command, "--results", "results/any"]
        for name, command in test_input_results.ASKED.items()
    ]
    steps = [["step", name, "any.yaml", "results/any"] for name in test_input_results.STEPS]
    return [Whole(files, command) for command in [*asked, *steps, *steps]]


# --- how it is altered ---------------------------------------------------------------------------


def _file(whole: Whole, chance: random.Random) -> Whole:
    """One of the files is another."""
    name = chance.choice(list(whole.files))
    hows = {".json": altered_tree, ".et": _chakra, ".parquet": lambda *given: _table(*given)[0]}
    how = hows.get(Path(name).suffix, altered)
    return whole._replace(files=whole.files | {name: how(whole.files[name], chance)})


def _chakra(content: bytes, chance: random.Random) -> bytes:
    """A trace of other bytes, or with more nodes, most of them calculations, of which some depend on others."""
    if chance.random() < 0.3:
        return altered_bytes(content, chance)
    for number in range(2, 2 + chance.choice([1, 1, 2, 3])):
        after = [chance.choice([number - 1, number - 1, number, number + 1])] if chance.random() < 0.5 else []
        if chance.random() < 0.8:
            micros = chance.choice([0, 1, 1, 1, 2, 5, 10**6])
            node = chakra_files.node(number, chakra_files.COMPUTE, after, micros=micros)
        else:
            sizes = {"comm_size": chance.choice([0, 1, 64, 640]), "comm_dst": 1, "comm_src": 0}
            sizes |= {chance.choice(list(sizes)): chance.choice([0, 1, 2, 2**31, 2**63 - 1])}
            node = chakra_files.node(number, chance.choice([chakra_files.SEND, chakra_files.RECEIVE]), after, **sizes)
        content += chakra_files.number(len(node)) + node
    return content


def _line(whole: Whole, chance: random.Random) -> Whole:
    """The command's words are others."""
    words = list(whole.command)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(len(words))
        what = chance.randrange(12)
        if what == 0:
            words.insert(place, chance.choice(words))
        elif what == 1 and len(words) > 2:
            del words[place]
        else:
            ways = [altering.mild, altering.near, altering.alike, altering.words, altering.numbers]
            words[place] = chance.choices(ways, [4, 2, 2, 2, 2])[0](words[place], chance).replace("\x00", "")
    words = [word.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for word in words][:40]
    return whole._replace(command=words)


def _certificate(whole: Whole, chance: random.Random) -> Whole:
    """Most digests fit, so that the proof itself is looked at."""
    content = altered_tree(whole.files["any.json"], chance)
    with contextlib.suppress(ValueError, AttributeError, TypeError, RecursionError):
        given = json.loads(content)
        content = (signed(given) if chance.random() < 0.9 else json.dumps(given)).encode()
    return whole._replace(files={"any.json": content})


def _table(content: bytes, chance: random.Random) -> tuple[bytes, int | None]:
    """A Parquet file with another value or column, or of other bytes; its number of rows, where that is another."""
    if chance.random() < 0.4:
        return altered_bytes(content, chance), None
    table = pq.read_table(pa.BufferReader(content))
    if not table.num_rows:
        return altered_bytes(content, chance), None
    place, row = chance.randrange(table.num_columns), chance.randrange(table.num_rows)
    if chance.random() < 0.1:
        return _bomb(table, place, chance)
    if chance.random() < 0.2:
        return _other_columns(table, place, chance)
    column = table.column(place).to_pylist()
    given = chance.choice([*column, None, 0, 1, -1, ""])
    if isinstance(column[row], (int, float)) and chance.random() < 0.5:
        given = chance.choice([column[row] + 1, column[row] - 1, -column[row], 2**62])
    with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        changed = pa.array([*column[:row], given, *column[row + 1 :]], table.schema.field(place).type)
        table = table.set_column(place, table.schema.field(place), changed)
    return _written(table), None


def _other_columns(table: pa.Table, place: int, chance: random.Random) -> tuple[bytes, int | None]:
    """The table with another name or type of a column, one column more or less, or some of its rows again."""
    kinds = {
        "name": [*table.column_names, "", "x" * 10_000],
        "add": [*table.column_names, "", "extra"],
        "type": test_input_results.TYPES,
        "drop": [None],
        "rows": [0, 1, 2, 50],
    }
    kind = chance.choice(list(kinds))
    edit = test_input_results.Edit(kind, place, chance.choice(kinds[kind]))
    altered = test_input_results.edited(table, [edit])
    return _written(altered), altered.num_rows if kind == "rows" else None


def _bomb(table: pa.Table, place: int, chance: random.Random) -> tuple[bytes, int]:
    """The table's first row again and again, a column of which is a long text that a dictionary holds once."""
    rows = chance.choice([10, 1000, 20_000])
    many = table.take(pa.array([0] * rows))
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 10**6]))
    many = many.set_column(place, table.field(place).name, text)
    return _written(many, compression="zstd", store_schema=chance.random() < 0.5), rows


def _written(table: pa.Table, **how: Any) -> bytes:
    written = io.BytesIO()
    pq.write_table(table, written, **how)
    return written.getvalue()


def _with_rows(listing: bytes, table: bytes, rows: int | None) -> bytes:
    """A manifest or index without the digest of a table's footer, and with its number of rows."""
    tree = json.loads(listing)
    for entry in [*tree.get("tables", {}).values(), *tree.get("shards", []), *tree.get("files", [])]:
        if entry.get("sha256") == store.digest(table):
            entry.pop("footer_sha256", None)
            entry |= {} if rows is None else {"rows": rows}
    return json.dumps(tree).encode()


def _data_set(whole: Whole, chance: random.Random) -> Whole:
    """A file is altered; most of the time, what the others say of its digest is altered, too."""
    files = dict(whole.files)
    index, table = f"data/{store.INDEX}", "data/lattices-000.parquet"
    if chance.random() < 0.4:
        files[index] = altered_tree(files[index], chance)
        return whole._replace(files=files)
    old, (new, rows) = files[table], _table(files[table], chance)
    files |= {table: new, table.replace(".parquet", PARTS): part_digests(new)}
    for one, other in ((old, new), (part_digests(old), part_digests(new))):
        files[index] = files[index].replace(store.digest(one).encode(), store.digest(other).encode())
    files[index] = files[index].replace(b'"bytes": %d,' % len(old), b'"bytes": %d,' % len(new))
    files[index] = _with_rows(files[index], new, rows)
    return whole._replace(files=files)


def _result(whole: Whole, chance: random.Random) -> Whole:
    """A shard, a table or the manifest is altered; most of the time, the manifest has the digest of what is there."""
    files = dict(whole.files)
    manifest = "results/any/manifest.json"
    if chance.random() < 0.5:
        files[manifest] = altered_tree(files[manifest], chance)
    else:
        name = chance.choice(sorted(name for name in files if name.endswith(".parquet")))
        old, (new, rows) = store.digest(files[name]), _table(files.pop(name), chance)
        if chance.random() < 0.8:
            files[manifest] = files[manifest].replace(old.encode(), store.digest(new).encode())
            files[manifest] = _with_rows(files[manifest], new, rows)
            name = name.replace(old, store.digest(new))
        files[name] = new
    return whole._replace(files=files)


class Kind(NamedTuple):
    """What is altered and how, and how often it is drawn: what takes long is drawn less; 0: only when asked for."""

    wholes: Callable[[], list[Whole]]
    alter: Callable[[Whole, random.Random], Whole]
    often: int


KINDS = {
    "configuration": Kind(_configurations, _file, 6),
    "command": Kind(_commands, _line, 6),
    "graph": Kind(_graphs, _file, 6),
    "demand": Kind(_demands, _file, 4),
    "trace": Kind(_traces, _file, 4),
    "job": Kind(_jobs, _file, 4),
    "cost model": Kind(_cost_models, _file, 4),
    "certificate": Kind(_certificates, _certificate, 6),
    "data set": Kind(_data_sets, _data_set, 1),
    "results": Kind(_results, _result, 3),  # shards, tables and manifests
    "run": Kind(_runs, _file, 0),
}


@functools.cache
def wholes(kind: str) -> list[Whole]:
    """What is altered for a kind; `template` in the working folder has some of it."""
    return KINDS[kind].wholes()


def mutation(kind: str, number: int) -> Asked:
    """The input of a kind and number, always the same."""
    chance = random.Random(f"{kind} {number}")
    made = KINDS[kind].alter(chance.choice(wholes(kind)), chance)
    return Asked(kind, number, *made, *([RUN_SECONDS] if kind == "run" else []))


def inputs(count: int, seed: int, only: list[str] | None = None) -> Iterator[Asked]:
    """`count` inputs of all kinds by turns; those of one seed are not those of another."""
    turns = [kind for kind in only or KINDS for _ in range(max(KINDS[kind].often, only is not None))]
    for place in range(count):
        yield mutation(turns[place * 7919 % len(turns)], seed * 1_000_000 + place)


# --- the survey ----------------------------------------------------------------------------------


def load(only: list[str] | None) -> None:
    """Make what is altered, and ask all of it, so that children need not load or compile what answers.

    Not a run, which starts processes of its own, nor a page or plot: V8 has threads, which no child would have.
    """
    sys.dont_write_bytecode = False  # the page's script is then bundled once, by the first report
    read_apart_by_forks()
    os.makedirs("template", exist_ok=True)
    wholes.cache_clear()
    test_input_results.fresh()
    Path("template/model.yaml").write_text(torusweep("cost", "--print-model").out)
    proofs = []
    for asked in (
        ("collective", "torus(k=3, n=2)", "all_reduce"),
        ("capacity", "ring(k=4)"),
        ("deadlock", "ring(k=4)", "--routing", "dimension_order", "--vc-rule", "dateline", "--virtual-channels", "2"),
        ("describe", "ring(k=5)"),
    ):
        said = torusweep(*asked, "--certificate", "proof.json")
        assert said.status == 0, said
        proofs += [line for line in Path("proof.json").read_text().splitlines() if line.strip()]
    Path("template/certificates").write_text("\n".join(proofs))
    parts = [part.rows for n in (1, 2) for nodes in range(1, 13) for part in screen_space(Lattices(n, nodes))]
    folder = Path("template/atlas")
    store.publish_points(folder, pa.table({"stage": ["screen"]}), {"sweep": "atlas"}, {"screen": True, "best": True})
    store.publish_table(folder, "screen", Streamed(parts[0].schema, parts))
    store.publish_table(folder, "best", best_table(parts))
    write_dataset(folder, Path("template/dataset"))
    for module in UNASKED:
        importlib.import_module(module)
    for whole in [whole for kind in only or KINDS for whole in wholes(kind)]:
        if whole.command[0] in ("run", "report", "plot"):
            continue
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            for name, content in whole.files.items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_bytes(content)
            if whole.command[0] == "check":
                with contextlib.redirect_stdout(None):
                    assert check.main(whole.command[1:]) == 0, whole.files
            else:
                said = torusweep(*whole.command)
                assert said.status == 0 or whole.command[0] == "verify", (whole.command, said)
    gc.collect()
    gc.freeze()


def survey(
    count: int, seed: int, only: list[str] | None = None, say: Callable[[str], object] = print
) -> tuple[int, dict]:
    """How many inputs were neither answered nor refused in one line, and for each kind the counts of both."""
    done = wrong = 0
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory(prefix="mutations-") as home, contextlib.chdir(home):
        load(only)
        asked = inputs(count, seed, only)
        while lot := list(itertools.islice(asked, LOT)):
            for one, how in zip(lot, list(judged(lot, Path(home) / "child"))):
                if how not in ("answered", "announced", "refused"):
                    (alone,) = judged([one], Path(home) / "child")
                    say(f"{one.kind} {one.number} {one.command}: {how}; alone: {alone if alone != how else 'the same'}")
                    wrong, how = wrong + 1, "wrong"
                found[one.kind][how] += 1
                done += 1
                if done % 1000 == 0:
                    say(f"{done} inputs, {wrong} wrong")
    return wrong, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=95_000)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--past", type=float, default=0.0, help="share of each kind that must get past parsing")
    parser.add_argument("--only", choices=list(KINDS), action="append", help="one kind; may be repeated")
    options = parser.parse_args()
    began = time.monotonic()
    wrong, found = survey(options.count, options.seed, options.only, lambda line: print(line, flush=True))
    for kind, counts in found.items():
        past = counts["answered"] / counts.total()
        print(f"{kind:15} {counts.total():6} inputs, {past:4.0%} got past parsing, {counts['wrong']} wrong")
    print(f"{options.count} inputs of seed {options.seed} in {time.monotonic() - began:.0f} s, {wrong} wrong")
    few = [kind for kind, counts in found.items() if counts["answered"] < options.past * counts.total()]
    if few:
        print(f"less than {options.past:.0%} got past parsing: {', '.join(few)}")
    raise SystemExit(wrong > 0 or bool(few))


if __name__ == "__main__":
    main()
