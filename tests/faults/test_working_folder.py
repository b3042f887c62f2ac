"""A working folder full of files that Python and libraries obey or import where they find them: nothing of it is.

What each command opens there is listed by an audit hook in all its processes (tests/faults/tracing), and where `strace`
is installed by the kernel, which sees what is no Python, too, and every name that is looked up.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import torusweep
import torusweep_kernels

TRACING = Path(__file__).parent / "tracing"
CONSOLE = Path(sys.executable).parent / "torusweep"
MODULES = [
    "sitecustomize",
    "usercustomize",
    "conftest",
    "torusweep",
    "torusweep_kernels",
    "numpy",
    "yaml",
    "json",
    "re",
    "typing",
    "os",
    "click",
    "rich",
    "numba",
    "llvmlite",
    "dask",
    "distributed",
    "dask_jobqueue",
    "snakemake",
    "pyarrow",
    "duckdb",
    "pandas",
    "polars",
    "igraph",
    "networkx",
    "scipy",
    "pymetis",
    "cupy",
    "IPython",
    "matplotlib",
    "altair",
    "vl_convert",
    "pydantic",
    "ruamel",
    "psutil",
    "tornado",
    "msgpack",
    "cloudpickle",
    "pulp",
    "git",
    "conda",
    "nox",
    "setup",
    "torusweep_plugin",
    "snakemake_executor_plugin_x",
    "snakemake_logger_plugin_x",
]
SPRINGS = "open({sprung!r}, 'a').write({name!r})\n"  # a trap, in Python
PROFILE = "__use_yte__: true\nset-resources:\n  stage:\n    machine: ?{spring}\ncores: ?{spring}\n"
# names from which libraries read settings, in a working folder or above one; most of them hold code or a path to code
SETTINGS = {
    **dict.fromkeys(["profiles/default/config.yaml", "default/config.yaml", "profiles/default/profile.yaml"], PROFILE),
    **dict.fromkeys(["slurm/config.yaml", "config.yaml", "config/config.yaml", "profile.yaml"], PROFILE),
    **dict.fromkeys(["Snakefile", "workflow/Snakefile", ".pythonrc.py", ".pdbrc", "python._pth"], "{spring}\n"),
    ".numba_config.yaml": "cache_dir: cache\ndisable_jit: 1\n",
    **dict.fromkeys(
        ["distributed.yaml", "dask.yaml", ".config/dask/distributed.yaml", ".dask/config.yaml", "jobqueue.yaml"],
        "distributed: {{worker: {{preload: [numpy.py]}}, scheduler: {{preload: [numpy.py]}}}}\n",
    ),
    ".duckdbrc": ".shell touch sprung\n",
    **dict.fromkeys([".condarc", "environment.yml", ".env", ".netrc", "pulp.cfg", ".igraphrc", "pip.conf"], "x = y\n"),
    **dict.fromkeys(["matplotlibrc", "setup.cfg", "tox.ini", "pyvenv.cfg", "pytest.ini"], "backend: module://numpy\n"),
    "pyproject.toml": "[tool.snakemake]\n",
    ".git/config": "[core]\n\tfsmonitor = touch sprung\n\tpager = touch sprung\n",
    ".gitconfig": "[core]\n\tfsmonitor = touch sprung\n",
    **dict.fromkeys([".jupyter/jupyter_config.py", ".ipython/profile_default/startup/00.py"], "{spring}\n"),
    ".cupy/config": "x\n",
    **dict.fromkeys(["libgomp.so.1", "libcuda.so.1", "libnvrtc.so", "libz.so.1"], "no library\n"),
    ".snakemake/pip-deployments/snakemake_executor_plugin_x/__init__.py": "{spring}\n",
    ".snakemake/pip-deployments/snakemake_logger_plugin_x/__init__.py": "{spring}\n",
    ".snakemake/pip-deployments/numpy.py": "{spring}\n",
    ".snakemake/iocache/latest.pkl": "cos\nsystem\n(S'touch sprung'\ntR.",
    "cache/x.nbi": "cos\nsystem\n(S'touch sprung'\ntR.",
}
EDGES = "0 1\n1 2\n2 3\n3 0\n"
FILES = {
    "g.edges": EDGES,
    "d.csv": "source,destination,demand\n0,1,1\n1,2,1\n2,3,1\n3,0,1\n",
    "t.csv": "message,source,destination,flits,depends_on\na,0,1,4,\nb,1,2,4,a\n",
    "job.yaml": "axes: {tp: 4}\noperations: [{operation: all_reduce, axis: tp, bytes: 1 MiB}]\n",
    "s.yaml": (
        "sweep: s\ntopologies: [g.edges, 'ring(k=4)']\nloads: [{traffic: [uniform, 'demand(path=\"d.csv\")']}]\n"
        "cluster: {workers: 0}\n"
    ),
}
STEP = ["s.yaml", "results/s"]
RESULTS = ["--results", "results/s"]
# a command, and what it opens of the user's files besides his results
COMMANDS: list[tuple[list[str], str]] = [
    (["topologies"], ""),
    (["completion", "bash"], ""),
    (["describe", "g.edges"], "g.edges"),
    (["distances", "torus(k=4, n=2)"], ""),
    (["loads", "g.edges", "--traffic", 'demand(path="d.csv")'], "g.edges d.csv"),
    (["capacity", "ring(k=4)"], ""),
    (["routes", "ring(k=4)", "-o", "r.csv"], "r.csv"),
    (["loads", "ring(k=4)", "--routing", 'table(path="r.csv")'], "r.csv"),
    (["deadlock", "ring(k=4)"], ""),
    (["collective", "ring(k=4)", "all_reduce"], ""),
    (["place", "torus(k=2, n=2)", "--job", "job.yaml"], "job.yaml"),
    (["availability", "ring(k=4)", "--links", "1"], ""),
    (["layout", "torus(k=4, n=2)"], ""),
    (["cost", "ring(k=4)"], ""),
    (["latency", "ring(k=4)", "--message-bits", "64"], ""),
    (["simulate", "ring(k=4)", "--load", "0.1", "--cycles", "100"], ""),
    (["simulate", "ring(k=4)", "--workload", 'file(path="t.csv")'], "t.csv"),
    (["export", "g.edges", "-o", "g.graphml"], "g.edges"),
    (["best", "--nodes", "16", "--dimensions", "2"], ""),
    (["screen", "ring(k=4)"], ""),
    (["search", "--nodes", "8", "--degree", "3", "--seconds", "0.1", "--results", "results/found"], ""),
    (["plan", "s.yaml"], "s.yaml g.edges d.csv"),
    (["step", "points", *STEP], "s.yaml g.edges d.csv"),
    (["step", "static", *STEP], "s.yaml g.edges"),
    (["step", "loads", *STEP], "s.yaml g.edges d.csv"),
    (["step", "derived", *STEP], "s.yaml g.edges d.csv"),  # their digests, again
    (["step", "report", *STEP], "s.yaml"),
    (["step", "check", *STEP], "s.yaml"),
    (["query", "SELECT topology, diameter FROM static", *RESULTS], ""),
    (["pareto", "--minimise", "diameter", *RESULTS], ""),
    (["compare", "results/s", "results/s"], ""),
    (["verify", *RESULTS], ""),
    (["report", *RESULTS, "-o", "page.html"], ""),
    (["plot", "nodes", "diameter", *RESULTS, "-o", "plot.svg"], "plot.svg"),
    (
        [
            "python",
            "import torusweep as ts; ts.network('g.edges').loads().json; ts.results('results/s')['static'].arrow(); "
            "ts.query('SELECT 1 AS one', 'results/s'); ts.sweep('s.yaml').plan()",
        ],
        "g.edges s.yaml d.csv",
    ),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with traps, in which `a/own` is the user's, with traps and his own files."""
    return trapped(tmp_path_factory.mktemp("traps"))


def trapped(base: Path) -> Path:
    spring = SPRINGS.format(sprung=str(base / "sprung"), name="{name}")
    work = base / "a/own"
    for folder in (base, base / "a", work):
        traps = {f"{name}.py": "{spring}\n" for name in MODULES} | {
            f"{name}/__init__.py": "{spring}" for name in MODULES[3:6]
        }
        for name, content in (traps | SETTINGS).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.format(spring=spring.format(name=str(path)).strip()))
    for name, content in FILES.items():
        (work / name).write_text(content)
    return base


def environment(base: Path, trace: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    home = base.parent / f"{base.name}-home"
    (home / ".config").mkdir(parents=True, exist_ok=True)
    return {**kept, "PYTHONPATH": str(TRACING), "TRACED": str(base), "TRACE": str(trace), "HOME": str(home)}


def opened(trace: Path) -> dict[str, tuple[str, set[str]]]:
    """By command: how it ended, and the files below the base that it opened, or did something else with."""
    found: dict[str, tuple[str, set[str]]] = {}
    words, files = "", defaultdict(set)
    for line in trace.read_text().splitlines():
        event, _, name = line.partition("\t")
        if event == "begin":
            words = name
        elif event == "end":
            found[words] = name, files.pop(words, set())
            words = ""
        elif event.startswith("os."):
            files[words].add(f"{name}/")
        else:
            files[words].add(name)
    return found | {"": ("0", files.get("", set()))}


def not_results(files: set[str]) -> set[str]:
    """Without what is in folders of results, which are the user's to name; temporary names are those of the file."""
    inside = {re.sub(r"^a/own/", "", name) for name in files}
    return {name for name in inside if not re.match(r"results/|a/own/?$|(.*/)?\.writing-", name)}


def call(base: Path, trace: Path, *command: str, given: str = "") -> str:
    """Call a command in the user's folder; what it said."""
    done = subprocess.run(
        command,
        input=given,
        cwd=base / "a/own",
        env=environment(base, trace),
        capture_output=True,
        text=True,
        timeout=580,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_an_editable_install_puts_no_relative_name_into_the_path():
    """As it does where a package has a folder without an `__init__.py`."""
    roots = [Path(package.__path__[0]) for package in (torusweep, torusweep_kernels)]
    held = {file.parent for root in roots for file in root.rglob("*") if file.is_file()}
    data = [folder for folder in held if "__pycache__" not in folder.parts and not (folder / "__init__.py").exists()]
    assert data == []


def test_a_command_opens_only_what_the_user_names(base: Path, tmp_path: Path):
    """One process runs all commands: its imports are looked for in a folder full of traps, too."""
    trace = tmp_path / "trace"
    call(base, trace, sys.executable, str(TRACING / "commands.py"), given=json.dumps([words for words, _ in COMMANDS]))
    found = opened(trace)
    wrong = {words: status for words, (status, _) in found.items() if status != "0"}
    assert wrong.keys() == {"verify --results results/s"}, wrong  # which has no papers to verify
    assert not_results(found.pop("")[1]) == set(), "while Python starts"
    assert {words: not_results(files) for words, (_, files) in found.items()} == {
        " ".join(words): set(names.split()) for words, names in COMMANDS
    }
    assert not (base / "sprung").exists()


RUN = "import torusweep as ts; ts.sweep('s.yaml').run(workers=2, progress=False)"


@pytest.mark.faults
@pytest.mark.parametrize(
    "command",
    [
        (str(CONSOLE), "run", "s.yaml", "--workers", "2"),
        (str(CONSOLE), "run", "s.yaml", "--results", "default", "--forceall"),
        (str(CONSOLE), "run", "s.yaml", "--dry-run"),
        (sys.executable, "-P", "-c", RUN),
    ],
    ids=["workers", "options", "dry", "library"],
)
def test_a_run_obeys_nothing_of_its_folder(tmp_path: Path, command: tuple[str, ...]):
    """Of the command, Snakemake, its steps and Dask's workers."""
    base = trapped(tmp_path / "base")
    trace = tmp_path / "trace"
    call(base, trace, *command)
    assert not (base / "sprung").exists(), (base / "sprung").read_text()
    files = not_results({name.replace("/default/", "/results/") for name in opened(trace)[""][1]})
    assert files - {".snakemake/metadata", ".snakemake/incomplete"} == {"s.yaml", "g.edges", "d.csv"}
    made = base / "a/own" / ("default" if "default" in command else "results") / "s"
    assert (made / "checked.txt").exists() == ("--dry-run" not in command)


# a name in a call, and the folder from which it begins, where the call has one: AT_FDCWD</its/own>, or 7</of/a/number>
NAMED = re.compile(r'(?:(?:(AT_FDCWD)|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
ONE_NAME = {"execve", "getcwd", "readlink", "readlinkat"}  # then come arguments, or what a link says
HARMLESS = {".numba_config.yaml"}  # Numba asks whether it is there, and has no reader for it


def of_kernel(log: Path, base: Path) -> tuple[set[str], set[str]]:
    """Files below the base that processes opened or executed, and names there that they looked up, as strace says."""
    opened, named = set[str](), set[str]()
    begun: dict[str, str] = {}
    folders: defaultdict[str, str] = defaultdict(lambda: f"{base}/a/own")  # in which processes are
    for line in log.read_text(errors="replace").splitlines():
        process, _, words = line.partition(" ")
        words = words.strip()
        if words.endswith("<unfinished ...>"):
            begun[process] = words.removesuffix("<unfinished ...>")
            continue
        if words.startswith("<... "):
            words = begun.pop(process, "") + words.partition("resumed>")[2]
        call, _, words = words.partition("(")
        for is_here, folder, name in NAMED.findall(words)[: 1 if call in ONE_NAME else 2]:
            if is_here:
                folders[process] = folder
            whole = os.path.normpath(os.path.join(folder or folders[process], name))
            if call == "chdir" and words.endswith(" = 0"):
                folders[process] = whole
            if f"{whole}/".startswith(f"{base}/a/own/") and whole != f"{base}/a/own":
                named.add(os.path.relpath(whole, base))
                if call in ("open", "openat", "execve") and " = -1 " not in words:
                    opened.add(os.path.relpath(whole, base))
    return opened, named


def can_trace() -> bool:
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.faults
@pytest.mark.skipif(not can_trace(), reason="expected strace, and leave to trace; install it")
def test_the_kernel_sees_no_other_file_opened(tmp_path: Path):
    """Arrow, DuckDB and igraph open files past Python; a name that is looked up for the first time is a new trap."""
    base = trapped(tmp_path / "base")
    asked = ["strace", "-f", "-y", "-qq", "-e", "trace=%file", "-e", "signal=none", "-o", str(tmp_path / "calls")]
    given = json.dumps([words for words, _ in COMMANDS])
    call(base, tmp_path / "trace", *asked, sys.executable, str(TRACING / "commands.py"), given=given)
    opened, named = of_kernel(tmp_path / "calls", base)
    own = {
        *FILES,
        "results",
        *HARMLESS,
        *(word for words, _ in COMMANDS for word in words),
    }  # "ring(k=4)" may be a file
    assert not_results(opened) <= own - HARMLESS
    assert not_results(named) <= own
