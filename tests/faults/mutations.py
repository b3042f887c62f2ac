"""Valid files and commands, altered, each by its number: python -m tests.faults.mutations --count 5000 --seed 1

Each input is altered in its words, numbers and structure, or in its bytes; `mutation(kind, number)` always makes the
same. A process that has loaded everything forks a child for each input, with limits of memory and time, in which the
real command line, or the checker of certificates, reads it. It must answer, or refuse in one line with status 2.
A line is printed for each input that did neither, and a table of how many were answered.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import pyarrow as pa
from torusweep import cli
from torusweep.answers.dataset import write_dataset
from torusweep.questions.screen.best import best_table
from torusweep.questions.screen.dataset import part_digests
from torusweep.questions.screen.spaces import Lattices, screen_space
from torusweep.tables import store
from torusweep.tables.parquet import Streamed

from certify import check
from tests.faults import test_input_results
from tests.faults.command_line import torusweep
from tests.workloads import chakra_files

SECONDS, BYTES = 20, 3 << 30  # of processor time, and of memory beside that of the loaded process, for one input
TRACEBACK = 99  # status of a child that raised

# --- how inputs are altered ----------------------------------------------------------------------

EXTREMES = [
    *("0", "-1", "1", "2", "3", "7", "0.5", "1000000000", "2147483648", "9223372036854775808", "-9223372036854775809"),
    *("nan", ".inf", "1e308", "-1e308", "1e-320", "1e400", "9" * 400, "null", "true", "", '""', "[]", "{}", "[[1]]"),
    *('"x"', "x", "'", "[", "}", "(", "\x00", "\u202e", "\x1b[2J", "\ud800", "é", "../x", "/dev/zero", "x" * 70_000),
]
WHOLE = ["0", "1", "2", "3", "4", "5", "6", "8"]
MILD = ["0.1", "0.5", "0.25", "1", "2.5"]
WORD = re.compile(r"[A-Za-z_][\w-]*|-?\d+(?:\.\d+)?(?:e-?\d+)?|\s+|.", re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _mild(text: str, chance: random.Random) -> str:
    """Another small number in place of one: most inputs are still valid."""
    places = list(NUMBER.finditer(text))
    if not places:
        return text
    one = chance.choice(places)
    return text[: one.start()] + chance.choice(MILD if "." in one[0] else WHOLE) + text[one.end() :]


def _words(text: str, chance: random.Random) -> str:
    """A word or number is replaced, left out, repeated, or changes places with another."""
    words = WORD.findall(text)
    solid = [place for place, word in enumerate(words) if not word.isspace()]
    if not solid:
        return chance.choice(EXTREMES)
    one, other = chance.choice(solid), chance.choice(solid)
    what = chance.randrange(5)
    if what == 0:
        words[one] = chance.choice(EXTREMES)
    elif what == 1:
        words[one] = ""
    elif what == 2:
        words[one] += chance.choice(["", " "]) + words[one]
    elif what == 3:
        words[one], words[other] = words[other], words[one]
    else:
        words[one] = words[other]
    return "".join(words)


def _numbers(text: str, chance: random.Random) -> str:
    """An extreme value in place of a number."""
    places = list(NUMBER.finditer(text))
    if not places:
        return _words(text, chance)
    one = chance.choice(places)
    return text[: one.start()] + chance.choice(EXTREMES) + text[one.end() :]


def _lines(text: str, chance: random.Random) -> str:
    """A line is left out, repeated, moved, or the end is missing."""
    lines = text.splitlines(keepends=True) or [text]
    one, what = chance.randrange(len(lines)), chance.randrange(4)
    if what == 0:
        del lines[one]
    elif what == 1:
        lines[one:one] = [lines[one]] * chance.choice([1, 1, 2, 500])
    elif what == 2:
        lines.insert(chance.randrange(len(lines)), lines.pop(one))
    else:
        del lines[one + 1 :]
    return "".join(lines)


def _bytes(content: bytes, chance: random.Random) -> bytes:
    """A byte is another, a piece is left out, stands twice, or the end is missing."""
    one, other = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    what = chance.randrange(5)
    if what == 0:
        return content[:one] + bytes([chance.randrange(256)]) + content[one + 1 :]
    if what == 1:
        return content[:one] + content[min(other, one + 8) :]
    if what == 2:
        return content[:other] + content[one:other] + content[other:]
    if what == 3:
        flipped = bytes([(content[one : one + 1] or b"\0")[0] ^ 1 << chance.randrange(8)])
        return content[:one] + flipped + content[one + 1 :]
    return content[:one]


def altered(content: bytes, chance: random.Random) -> bytes:
    """Alter a text: half of the time mildly, so that much of it is still read."""
    for _ in range(chance.choice([1, 1, 1, 1, 2, 3])):
        how = chance.choices([_mild, _words, _numbers, _lines, None], [12, 3, 3, 3, 1])[0]
        if how is None:
            content = _bytes(content, chance)
        else:
            content = how(content.decode("utf-8", "surrogateescape"), chance).encode("utf-8", "surrogatepass")
    return content


def altered_tree(content: bytes, chance: random.Random) -> bytes:
    """Alter a JSON text at one of its places: another value, a key less, more or twice, items in another order."""
    tree = json.loads(content)
    places: list[tuple[dict | list, str | int]] = []

    def walk(inner: object) -> None:
        if isinstance(inner, (dict, list)):
            for key in list(inner) if isinstance(inner, dict) else range(len(inner)):
                places.append((inner, key))
                walk(inner[key])  # type: ignore[index]

    walk(tree)
    if not places or chance.random() < 0.2:
        return altered(content, chance)
    inner, key = chance.choice(places)
    values = [None, True, 0, -1, 2**31, 2**63, 10**400, 1e308, float("nan"), "", "x", "\ud800", [], {}, [[]], {"a": 1}]
    what = chance.randrange(6)
    if what == 0:
        del inner[key]  # type: ignore[arg-type]
    elif what == 1 and isinstance(inner, list):
        chance.shuffle(inner)
    elif what == 2 and isinstance(inner, list):
        inner.append(inner[key])  # type: ignore[index]
    elif what <= 3 and isinstance(inner[key], int):  # type: ignore[index]
        inner[key] += chance.choice([-1, 1])  # type: ignore[index]
    elif what == 4:
        inner[key] = chance.choice(places)[0]  # type: ignore[index]
        with contextlib.suppress(ValueError):  # a tree in itself
            return json.dumps(tree).encode()
        return content[:-2]
    else:
        inner[key] = chance.choice(values)  # type: ignore[index]
    return json.dumps(tree).encode()


# --- what is altered -----------------------------------------------------------------------------

CONFIGURATIONS = [
    "sweep: any\ntopologies:\n  - {family: torus, k: {from: 3, to: 5}, n: 2}\n  - 'ring(k=6)'\n"
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


class Asked(NamedTuple):
    """What a child does in a folder of these files. command: arguments of torusweep, or `check` and the checker's."""

    kind: str
    number: int
    files: dict[str, bytes]
    command: list[str]


def _configuration(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    content = altered(chance.choice(CONFIGURATIONS).encode(), chance)
    return {"any.yaml": content}, chance.choice(
        [["plan", "any.yaml", "--json"], ["step", "points", "any.yaml", "out/any"]]
    )


def _command(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    line = chance.choice(COMMANDS)
    words = [part or word for part, word in re.findall(r'"([^"]*)"|(\S+)', line)]
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(len(words))
        what = chance.randrange(12)
        if what == 0:
            words.insert(place, chance.choice(words))
        elif what == 1 and len(words) > 2:
            del words[place]
        else:
            how = chance.choices([_mild, _words, _numbers], [4, 1, 1])[0]
            words[place] = how(words[place], chance).replace("\x00", "")
    return {}, [word.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape") for word in words][:40]


def _graph(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    name = chance.choice(list(GRAPHS))
    alter = altered_tree if name.endswith(".json") else altered
    question = chance.choice([["describe"], ["describe"], ["distances"], ["loads"], ["deadlock"], ["routes"]])
    return {name: alter(GRAPHS[name], chance)}, [*question, f'graph(path="{name}")']


def _demand(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    content = altered(chance.choice(DEMANDS["any.csv"]), chance)
    return {"any.csv": content}, ["loads", "ring(k=5)", "--traffic", 'demand(path="any.csv")', "--json"]


def _trace(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    sends = chakra_files.node(1, chakra_files.SEND, comm_size=64, comm_dst=1, comm_src=0)
    gets = chakra_files.node(1, chakra_files.RECEIVE, comm_size=64, comm_dst=1, comm_src=0)
    traces = [chakra_files.trace(one) for one in (sends, gets)]
    name = chance.choice(["any.csv", "any.goal", "any.0.et"])
    if name == "any.0.et":
        rank = chance.randrange(2)
        traces[rank] = _bytes(traces[rank], chance)
        files = {f"any.{rank}.et": content for rank, content in enumerate(traces)}
    else:
        files = {name: altered(MESSAGES if name == "any.csv" else GOAL, chance)}
    return files, ["simulate", "mesh(k=2, n=2)", "--workload", name, "--cycles", "3000", "--json"]


def _job(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    if chance.random() < 0.3:
        files, given = {"tasks.csv": altered(TASKS, chance)}, ["--tasks", "tasks.csv", "--restarts", "1"]
    else:
        files, given = {"job.yaml": altered(chance.choice(JOBS), chance)}, ["--job", "job.yaml"]
    return files, ["place", "mesh(radices=[4, 2])", *given, "--json"]


def _cost_model(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    files = {"any.yaml": altered(Path("template/model.yaml").read_bytes(), chance)}
    return files, ["cost", "slim_fly(q=5, terminals=2)", "--model", "any.yaml", "--json"]


def _certificate(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    """Most digests fit, so that the proof itself is looked at."""
    content = altered_tree(chance.choice(Path("template/certificates").read_bytes().splitlines()), chance)
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        given = json.loads(content)
        signed = json.dumps([given["kind"], given["claim"], given["proof"]], sort_keys=True)
        if chance.random() < 0.9:
            given["digest"] = hashlib.sha256(signed.encode()).hexdigest()
        content = json.dumps(given).encode()
    return {"any.json": content}, ["check", "any.json"]


def _data_set(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    """A file is altered; most of the time, what the others say of its digest is altered, too."""
    folder = Path("template/dataset")
    files = {
        f"data/{path.relative_to(folder)}": path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
    tables = [name for name in files if name.endswith(".parquet")]
    index = f"data/{store.INDEX}"
    if chance.random() < 0.5:
        files[index] = altered_tree(files[index], chance)
    else:
        name = chance.choice(tables)
        old, new = files[name], _bytes(files[name], chance)
        files[name] = new
        for a, b in ((old, new), (part_digests(old), part_digests(new))):
            for one, other in ((store.digest(a), store.digest(b)), (a.hex(), b.hex()), (str(len(a)), str(len(b)))):
                files[index] = files[index].replace(one.encode(), other.encode())
    return files, ["best", "--nodes", chance.choice(["12", "7"]), "--dimensions", "2", "--remote", "data", "--json"]


def _results(chance: random.Random) -> tuple[dict[str, bytes], list[str]]:
    """A shard, a table or the manifest is altered; most of the time, the manifest has the digest of what is there."""
    folder = test_input_results.TEMPLATE
    files = {
        f"results/any/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    files["any.yaml"] = test_input_results.CONFIG.encode()
    manifest = "results/any/manifest.json"
    if chance.random() < 0.5:
        files[manifest] = altered_tree(files[manifest], chance)
    else:
        name = chance.choice(sorted(name for name in files if name.endswith(".parquet")))
        old, new = store.digest(files[name]), _bytes(files.pop(name), chance)
        if chance.random() < 0.8:
            files[manifest] = files[manifest].replace(old.encode(), store.digest(new).encode())
            name = name.replace(old, store.digest(new))
        files[name] = new
    # a plot's renderer is not made for so little address space
    asked = chance.choice([asked for name, asked in test_input_results.ASKED.items() if name != "plot"])
    if chance.random() < 0.4:
        return files, ["step", chance.choice(test_input_results.STEPS), "any.yaml", "results/any"]
    return files, [*asked, "--results", "results/any"]


# kind: what makes one of its inputs, and how often it is drawn: what takes long is drawn less
KINDS: dict[str, tuple[Callable[[random.Random], tuple[dict[str, bytes], list[str]]], int]] = {
    "configuration": (_configuration, 6),
    "command": (_command, 6),
    "graph": (_graph, 6),
    "demand": (_demand, 4),
    "trace": (_trace, 4),
    "job": (_job, 4),
    "cost model": (_cost_model, 4),
    "certificate": (_certificate, 6),
    "data set": (_data_set, 1),
    "results": (_results, 3),
}


def mutation(kind: str, number: int) -> Asked:
    """The input of a kind and number, always the same; `template` in the working folder has what is altered."""
    return Asked(kind, number, *KINDS[kind][0](random.Random(f"{kind} {number}")))


def inputs(count: int, seed: int, only: list[str] | None = None) -> Iterator[Asked]:
    """`count` inputs of all kinds by turns; those of one seed are not those of another."""
    turns = [kind for kind, (_, often) in KINDS.items() if kind in (only or KINDS) for _ in range(often)]
    for place in range(count):
        yield mutation(turns[place * 7919 % len(turns)], seed * 1_000_000 + place)


# --- the loaded process and its children ---------------------------------------------------------


def load() -> None:
    """Make what is altered, and call what children call, so that they need not load it."""
    os.makedirs("template", exist_ok=True)
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
    for line in COMMANDS:
        said = torusweep(*(part or word for part, word in re.findall(r'"([^"]*)"|(\S+)', line)))
        assert said.status == 0, (line, said)


def _answer(asked: Asked, folder: Path) -> NoReturn:
    """In the child: put the files there, ask, and leave with the status."""
    status = 1
    try:
        for name, content in asked.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        os.chdir(folder)
        for stream, name in ((1, "said.out"), (2, "said.err")):
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600), stream)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + BYTES,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30,) * 2)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(4 * SECONDS)
        sys.stdout, sys.stderr = (open(stream, "w", encoding="utf-8", closefd=False) for stream in (1, 2))  # noqa: SIM115
        if asked.command[0] == "check":
            status = check.main(asked.command[1:])
        else:
            sys.argv = ["torusweep", *asked.command]
            cli.main()
            status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
        status = TRACEBACK
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(int(status))


def ended(asked: Asked, folder: Path) -> str:
    """How a child ended: 'answered', 'refused', or what is wrong with it, and what it said last."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        _answer(asked, folder)
    _, how = os.waitpid(child, 0)
    err = (folder / "said.err").read_text("utf-8", "replace") if (folder / "said.err").exists() else ""
    out = (folder / "said.out").read_text("utf-8", "replace") if (folder / "said.out").exists() else ""
    shutil.rmtree(folder, ignore_errors=True)
    status = os.waitstatus_to_exitcode(how)
    last = " / ".join(err.strip().splitlines()[-2:])[-400:]
    if status in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL):
        return f"hangs: {last}"
    if status < 0:
        return f"dies of {signal.Signals(-status).name}: {last}"
    if status == TRACEBACK or "Traceback" in err:
        return f"traceback: {last}"
    if asked.command[0] == "check":
        refused = "REFUSED" in out or err.startswith("usage")
        past = not re.search(r"malformed: (JSON|Unicode|Recursion)|digest is of another|each key once", out)
        return f"status {status}: {last}" if (status == 0) == refused else "answered" if past else "refused"
    if status == 0 or (status == 1 and asked.command[0] == "verify"):  # numbers that disagree with the papers
        return "answered" if all(one.isprintable() or one == "\n" for one in err) else f"control characters: {err!r}"
    if status == 1 and asked.command[0] == "step" and re.match("torusweep: ", err):
        return "refused"
    said = [line for line in err.splitlines() if line]
    if status != 2 or len(said) != 1 or not said[0].startswith("torusweep: ") or not said[0].isprintable():
        return f"status {status}, {len(said)} lines: {last}"
    return "refused"


def survey(
    count: int, seed: int, only: list[str] | None = None, say: Callable[[str], object] = print
) -> tuple[int, dict]:
    """How many inputs were neither answered nor refused in one line, and for each kind the counts of both."""
    wrong, found = 0, {kind: collections.Counter[str]() for kind in (only or KINDS)}
    with tempfile.TemporaryDirectory(prefix="mutations-") as home, contextlib.chdir(home):
        load()
        for asked in inputs(count, seed, only):
            how = ended(asked, Path(home) / "child")
            found[asked.kind][how if how in ("answered", "refused") else "wrong"] += 1
            if how not in ("answered", "refused"):
                wrong += 1
                say(f"{asked.kind} {asked.number} {asked.command}: {how}")
    return wrong, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=98_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--past", type=float, default=0.0, help="share of each kind that must get past parsing")
    parser.add_argument("--only", choices=list(KINDS), action="append", help="one kind; may be repeated")
    options = parser.parse_args()
    began = time.monotonic()
    wrong, found = survey(options.count, options.seed, options.only, lambda line: print(line, flush=True))
    for kind, counts in found.items():
        print(f"{kind:15} {counts.total():6} inputs, {counts['answered']} got past parsing, {counts['wrong']} wrong")
    print(f"{options.count} inputs of seed {options.seed} in {time.monotonic() - began:.0f} s, {wrong} wrong")
    few = [kind for kind, counts in found.items() if counts["answered"] < options.past * counts.total()]
    if few:
        print(f"less than {options.past:.0%} got past parsing: {', '.join(few)}")
    raise SystemExit(wrong > 0 or bool(few))


if __name__ == "__main__":
    main()
