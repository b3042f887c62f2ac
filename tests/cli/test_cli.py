"""The command line: help with examples, one line on bad input, JSON that is JSON."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.shell_completion import BashComplete, split_arg_string
from torusweep.cli import COMMANDS, GROUPS
from torusweep.cli import torusweep as command_line_of_torusweep
from torusweep.cli.options import _latest_results
from torusweep.questions import ASKED
from torusweep_kernels import backend

from tests.faults import command_line


def torusweep(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torusweep", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "step"])
def test_help_has_examples(command):
    said = command_line.torusweep(command, "--help")
    assert (said.status, said.err) == (0, "")
    assert "Examples:\n    torusweep " in said.out


def test_help_documents_and_readme_list_the_commands_by_what_a_user_asks():
    root = Path(__file__).parents[2]
    said, rows = "", ""
    for asked, commands in GROUPS.items():
        said += f"\n{asked}\n" + "".join(f"  {name:12}  {line}\n" for name, (_, line) in commands.items())
        first = [f" {asked} ", *[" "] * len(commands)]
        rows += "".join(f"|{ask}| `{name}` | {line} |\n" for ask, (name, (_, line)) in zip(first, commands.items()))
    assert command_line.torusweep("--help").out.endswith(said)
    assert rows in (root / "docs" / "commands.md").read_text()
    assert [asked for asked in ASKED if f"**{asked}**" not in (root / "README.md").read_text()] == []
    assert sorted(name for commands in GROUPS.values() for name in commands) == sorted({*COMMANDS} - {"step"})


def test_help_imports_nothing_heavy():
    heavy = ("numba", "scipy", "dask", "pyarrow", "duckdb", "altair", "rich", "numpy")
    code = f"import sys, torusweep.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "threads"),
    [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2"), ({"OMP_NUM_THREADS": "3"}, "None")],
)
def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise(given: dict[str, str], threads: str):
    code = "import os, torusweep.cli as cli; cli.torusweep.main = lambda **_: print(os.environ.get(NAME)); cli.main()"
    others = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    asked = [sys.executable, "-c", code.replace("NAME", "'OPENBLAS_NUM_THREADS'")]
    assert subprocess.run(asked, capture_output=True, text=True, env=others | given).stdout.strip() == threads


@pytest.mark.parametrize(
    "arguments", [("decribe", "torus(k=8, n=3)"), ("query", "SELECT 1", "--results", "/no/such/folder")]
)
def test_bad_input_is_one_line_and_a_status(arguments):
    """Of a process; tests/refusals has the words of all others."""
    run = torusweep(*arguments)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert run.stderr.startswith("torusweep: ")


def test_cupy_without_a_gpu_is_refused():
    run = torusweep("describe", "ring(k=4)", "--backend", "cupy", CUDA_VISIBLE_DEVICES="")
    assert (run.returncode, run.stdout) == (2, "")
    assert "found none" in run.stderr
    assert run.stderr.count("\n") == 1


def test_describe_as_json_is_one_object():
    record = json.loads(command_line.torusweep("describe", "pdtt(a=16)", "--json").out)
    assert (record["diameter"], record["mean_distance"]) == (24, 13.984375)  # Cámara et al. 2010, Remark 11, a = 16


@pytest.mark.parametrize(
    ("arguments", "by"),
    [
        (["rtt(a=4)"], "numpy"),
        (["torus(k=16, n=3)"], "numpy"),
        (["rtt(a=4)", "--backend", "numba"], "numba"),
        (["rtt(a=4)", "--symmetry", "off"], "numba"),
        (["rtt(a=4)", "--fault-nodes", "1"], "numba"),
        (["torus(k=50, n=3)"], "numba"),
    ],
)
def test_backend_auto_takes_numpy_for_quick_answers(arguments, by, monkeypatch):
    monkeypatch.setattr(backend, "gpu_count", lambda: 0)
    said = command_line.torusweep("describe", *arguments, "--no-picture")
    assert f"computed by {by} on" in said.out


def test_describe_for_a_person():
    said = command_line.torusweep("describe", "rtt(a=4)")
    assert said.status == 0
    assert "\x1b" not in said.out, "colour where no terminal is"
    assert "diameter" in said.out
    assert "4 hops" in said.out  # diameter a, Cámara et al. 2010, Corollary 7


@pytest.mark.parametrize("arguments", [["topologies"], ["describe", "ring(k=4)"], ["describe", "ring(k=4)", "--json"]])
def test_a_full_disk_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        code = "from torusweep.cli import main; main()"
        run = subprocess.run(
            [sys.executable, "-c", code, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert run.returncode == 1
    assert (
        run.stderr
        == "torusweep: cannot write standard output: No space left on device; make room, or write elsewhere\n"
    )


@pytest.mark.parametrize(
    "arguments", [["describe", "x.csv"], ["run", "a.yaml"], ["place", "ring(k=4)", "--job", "a.yaml"]]
)
def test_a_working_folder_that_is_gone_is_one_line(arguments, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = command_line.torusweep(*arguments)
    assert (said.status, said.err) == (2, "torusweep: the working folder has been deleted; change to another one\n")


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command, which ends well, writes on a terminal as its standard error."""
    ours, its = pty.openpty()
    command = [sys.executable, "-m", "torusweep", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, env={**os.environ, **environment}) as process:
        os.close(its)
        read = bytearray()
        with contextlib.suppress(OSError):  # raised at the end of a terminal
            while some := os.read(ours, 4096):
                read += some
    os.close(ours)
    assert process.returncode == 0, read.decode()
    return read.decode()


def test_compilation_is_announced_once_on_a_terminal(tmp_path):
    said = [on_a_terminal("loads", "ring(k=4)", "--json", NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [text.count("compiling for this processor") for text in said] == [1, 0]


def test_threads_may_begin_with_a_kernel_on_a_terminal(tmp_path):
    search = ("search", "--nodes", "16", "--degree", "3", "--moves", "256", "--chains", "4")
    assert "searched" in on_a_terminal(*search, "--results", str(tmp_path))


def test_drawings_in_a_poor_encoding():
    run = torusweep("describe", "rtt(a=2)", PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stderr) == (0, "")
    assert "mean distance" in run.stdout


def test_a_named_pipe_is_refused(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for arguments in (("run", str(pipe)), ("loads", "ring(k=6)", "--traffic", f'demand(path="{pipe}")')):
        assert not command_line.settled(command_line.torusweep(*arguments))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    run = torusweep("completion", shell)
    assert "_TORUSWEEP_COMPLETE" in run.stdout


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        ("torusweep describe pruned_t", "pruned_t1("),
        ("torusweep topologies mh", "mh3dt"),
        ("torusweep loads ring(k=4) --routing up-", "up_down"),
        ("torusweep loads ring(k=4) --traffic bit-r", "bit_reversal"),
        ("torusweep deadlock ring(k=4) --vc-rule date", "dateline"),
        ("torusweep layout ring(k=4) --placement tr", "trellis"),
        ("torusweep simulate ring(k=4) --router rah", "rahman-2005"),
        ("torusweep simulate ring(k=4) --workload ring", "ring_all_reduce"),
        ("torusweep loads nosuch --method mon", "monte-carlo"),
        ("torusweep plot diam", "diameter"),
        ('torusweep describe "torus(', "torus(k="),
        ('torusweep describe "torus(k=8, ', "torus(k=8,n="),
        ('torusweep describe "faulty(torus(k=8, n=2), no', "faulty(torus(k=8,n=2),nodes="),
        ('torusweep describe "faulty(pruned_to', "faulty(pruned_torus("),
        ('torusweep describe "faulty(torus(k=8,', "faulty(torus(k=8,n="),
        ('torusweep loads "ring(k=4)" --traffic "hot_spot(', "hot_spot(node="),
        ("torusweep pareto --minimise cost,mean_dist", "cost,mean_distance"),
    ],
)
def test_completion_offers_names(words, offers, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(split_arg_string(words)) - 1))
    completion = BashComplete(command_line_of_torusweep, {}, "torusweep", "_TORUSWEEP_COMPLETE")
    assert f"plain,{offers}" in completion.complete().splitlines()


def test_a_shell_is_offered_names():
    run = torusweep(_TORUSWEEP_COMPLETE="bash_complete", COMP_WORDS="torusweep describe pruned_t", COMP_CWORD="2")
    assert "plain,pruned_t1(" in run.stdout.splitlines()


def test_default_results_folder(tmp_path, monkeypatch):
    """results/default if it exists, else the sweep in results/ that ran last."""
    monkeypatch.chdir(tmp_path)
    assert _latest_results(Path("mine")) == Path("mine")
    assert _latest_results(None) == Path("results/default")
    for age, name in ((50, "old"), (10, "new")):
        manifest = tmp_path / "results" / name / "manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text("{}")
        manifest.with_name("points.parquet").touch()
        os.utime(manifest, (1_700_000_000 - age, 1_700_000_000 - age))
    search = tmp_path / "results" / "search" / "manifest.json"  # what a search found is no sweep
    search.parent.mkdir()
    search.write_text("{}")
    assert _latest_results(None) == Path("results/new")
    (tmp_path / "results" / "default").mkdir()
    (tmp_path / "results" / "default" / "manifest.json").write_text("{}")
    assert _latest_results(None) == Path("results/default")


@pytest.mark.parametrize("name", ["DOR", "dor", "xy", "Dimension-Order"])
def test_other_names_of_a_routing(name):
    said = command_line.torusweep("loads", "Torus(k=4, n=2)", "--routing", name, "--json")
    assert (json.loads(said.out)["routing"], json.loads(said.out)["topology"]) == ("dimension_order", "torus(k=4, n=2)")


def test_a_comparison_says_which_network_is_best():
    """Bisection of 4 wires a node: F + s(Δ − 1) with F = 96/4, Δ = 12 against F = 96/1, Δ = 6, s = 3."""
    said = command_line.torusweep("latency", "torus(k=16, n=3)", "hypercube(n=12)", "--constant", "bisection").out
    assert "Best latency: torus(k=16, n=3), 57 cycles; hypercube(n=12) takes 94.7 % longer." in said
    assert ", the same." in said


@pytest.mark.parametrize(
    ("network", "longest", "placement"), [("mesh(k=8, n=2)", 1, "straight"), ("torus(k=8, n=2)", 2, "folded")]
)
def test_a_mesh_is_not_folded(network, longest, placement):
    record = json.loads(command_line.torusweep("layout", network, "--json").out)
    assert (record["placement"], record["wire_length_max_euclidean"]) == (placement, longest)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_ctrl_c_is_answered_at_the_key_press(backend: str):
    """On a terminal, in code that is compiled and in Python's: a simulation of many minutes ends within a second."""
    ours, its = pty.openpty()
    simulate = ("simulate", "torus(k=16, n=2)", "--load", "0.1", "--cycles", "3000000", "--backend", backend)
    command = [sys.executable, "-c", "from torusweep.cli import main; main()", *simulate]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True) as process:
        os.close(its)
        read = bytearray()
        while b"simulated" not in read:
            read += os.read(ours, 4096)
        time.sleep(1.0)
        before = os.times()
        pressed = sum(psutil.Process(process.pid).cpu_times()[:2])
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while some := os.read(ours, 4096):
                read += some
        assert process.wait(timeout=30) == 130
        after = os.times()
    os.close(ours)
    assert read.decode(errors="replace").rstrip().endswith("interrupted")
    assert "Traceback" not in read.decode(errors="replace")
    # it computes without a pause, so its seconds of processor time are those of a machine that has nothing else to do
    whole = after.children_user + after.children_system - before.children_user - before.children_system
    assert whole - pressed < 1.5  # 0.2


def test_a_wrong_spelling_waits_for_no_question():
    """It takes 0.25 s of CPU instead of 0.5: families need numpy, questions also pydantic."""
    code = "import sys\nfrom torusweep.cli import main\ntry: main()\nfinally: print('pydantic' in sys.modules)"
    for spelling, names in (("toruss(k=4, n=2)", True), ("toruss", True), ("torus(k=4)", False)):
        ended = subprocess.run([sys.executable, "-c", code, "describe", spelling], capture_output=True, text=True)
        assert ended.returncode == 2
        assert ended.stdout.strip() == str(not names)
        assert ("unknown topology 'toruss' (did you mean 'torus'?)" in ended.stderr) == names
