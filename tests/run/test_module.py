"""torusweep's Snakefile as a module of another workflow: the example of the documentation, in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML
from torusweep.run.workflow import SNAKEFILE

from tests.run import forks

ROOT = Path(__file__).parents[2]
EXAMPLE = re.search(
    r"## In another workflow.*?```python\n(.*?)```", (ROOT / "docs/scaling-out.md").read_text(), re.DOTALL
)[1]  # type: ignore[index]
CONFIG = re.search(r"\{\"sweep\".*", EXAMPLE)[0]  # type: ignore[index]


def snakemake(home: Path, *options: str) -> tuple[int, str]:
    return forks.called("snakemake", "--force-use-threads", *options, home=home)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The example, run, and what was said; nothing of it changes."""
    home = tmp_path_factory.mktemp("example")
    (home / "Snakefile").write_text(EXAMPLE)
    command = [sys.executable, "-m", "snakemake", "--force-use-threads", "--cores", "2", "--printshellcmds"]
    done = subprocess.run(command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)
    assert done.returncode == 0, done.stdout
    return home, done.stdout


@pytest.fixture
def made(example: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the example, run."""
    return shutil.copytree(example[0], tmp_path, dirs_exist_ok=True)


def test_the_example_of_the_documentation(example: tuple[Path, str]):
    home, said = example
    assert "torusweep step static --cores 2 " in said, "no more than Snakemake gives"
    lines = sorted((home / "summary.csv").read_text().splitlines())
    assert [line.rpartition(",")[2] for line in lines] == ["2", "4", "diameter"]  # of a ring: half of its nodes
    assert {path.name for path in home.iterdir()} >= {"graphs", "results"}
    status, said = snakemake(home, "--cores", "2")
    assert (status, "Nothing to be done" in said, "no such file yet" in said) == (0, True, False), said


def test_a_name_of_a_file_that_nothing_makes_is_told(made: Path):
    """Snakemake takes the tables that are there for made, and ends well."""
    wrong = EXAMPLE.replace('expand("graphs/', '["grphs/ring-5.edges"] + expand("graphs/')
    (made / "Snakefile").write_text(wrong)
    status, said = snakemake(made, "--cores", "2")
    missing = "grphs/ring-5.edges: no such file yet; unless a rule makes it"
    assert (status, said.count(missing)) == (0, 1), said
    (made / "Snakefile").write_text(f"{wrong}\n\nuse rule stage from torusweep as ts_stage with:\n    threads: 1\n")
    assert snakemake(made, "--cores", "2", "--dry-run")[1].count(missing) == 1


def test_a_rule_of_the_module_is_changed(tmp_path: Path):
    """Snakemake reads the module again for that rule alone."""
    changed = '\n\nuse rule stage from torusweep as ts_stage with:\n    conda:\n        "environment.yaml"\n'
    (tmp_path / "Snakefile").write_text(EXAMPLE + changed)
    status, said = snakemake(tmp_path, "--cores", "2", "--dry-run")
    assert (status, "rule ts_stage" in said) == (0, True), said
    (tmp_path / "environment.yaml").write_text("dependencies: [python]\n")
    assert "rule ts_stage" not in snakemake(tmp_path, "--lint")[1]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Their own configuration, folder and prefix."""
    config = 'config["networks"]\n    prefix:\n        "made"'
    text = EXAMPLE.replace(CONFIG, config).replace("results/rings", "made/tables/rings")
    (tmp_path / "Snakefile").write_text('configfile: "mine.yaml"\n' + text)
    (tmp_path / "mine.yaml").write_text(
        "networks:\n  sweep: rings\n  results: tables\n  cluster: {parts: 2}\n"
        "  topologies: [graphs/ring-5.edges, graphs/ring-8.edges, 'twisted_torus(radices=[4, 4],"
        " twists={1: {0: 2}})']\n"
    )
    return tmp_path


def test_paths_and_shell_are_theirs(theirs: Path):
    with (theirs / "Snakefile").open("a") as file:
        file.write("\n\nrule echo:\n    shell:\n        'echo PATH is $PATH'\n")
    status, said = snakemake(theirs, "--cores", "2")
    assert status == 0, said
    assert "localrules directive" not in said
    made = theirs / "made" / "tables" / "rings"
    assert {"sweep.yaml", "points.parquet", "static.parquet"} <= {path.name for path in made.iterdir()}
    assert (made / "logs" / "static" / "2-of-2.log").exists()
    assert not (theirs / "results").exists()
    assert not (theirs / "tables").exists()
    assert (theirs / "summary.csv").read_text().count("\n") == 4
    status, said = snakemake(theirs, "--cores", "2", "echo")
    assert (status, f"PATH is {os.environ['PATH']}\n" in said) == (0, True), said


def test_a_cluster_cuts_stages_when_the_files_are_there(theirs: Path):
    on_cluster = ("--cores", "2", "--jobs", "9", "--dry-run")
    status, said = snakemake(theirs, *on_cluster)
    assert (status, "rule ts_merge" in said, "rule ts_stage" in said) == (0, True, False), said
    assert snakemake(theirs, "--cores", "2", "graphs/ring-5.edges", "graphs/ring-8.edges")[0] == 0
    status, said = snakemake(theirs, *on_cluster)
    assert (status, said.count("rule ts_stage")) == (0, 2), said


def test_what_failed_fails_until_it_is_mended_and_the_log_has_the_remedy(made: Path):
    graph = made / "graphs" / "ring-8.edges"
    whole = graph.read_text()
    graph.write_text("0 1 2 3\n")
    for _ in range(2):
        status, said = snakemake(made, "--cores", "2")
        assert (status, "expected two nodes, got 4 fields" in said) == (1, True), said
    assert "isolated nodes go into an adjacency list" in (made / "results/rings/logs/points.log").read_text()
    graph.write_text(whole)
    status, said = snakemake(made, "--cores", "2")
    assert status == 0, said


def test_stages_run_at_once_where_each_has_some_of_the_cores(tmp_path: Path):
    more = CONFIG.replace('"rings",', '"rings", "cluster": {"workers": 0}, "screen": [{}],')
    (tmp_path / "Snakefile").write_text(EXAMPLE.replace(CONFIG, more))
    tables = [f"results/rings/{stage}.parquet" for stage in ("screen", "static")]
    status, said = snakemake(tmp_path, *tables, "--cores", "3", "--set-threads", "ts_stage=1")
    assert status == 0, said


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("{}", "module: expected config: with the keys of a sweep's configuration"),
        ("{'sweep': 'rings', 'topology': 'ring(k=5)'}", "the sweep: unknown key 'topology'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, given: str, refused: str):
    (tmp_path / "Snakefile").write_text(EXAMPLE.replace(CONFIG, given))
    status, said = snakemake(tmp_path, "--cores", "1")
    assert (status, refused in said) == (1, True), said


# --- the catalogue of workflows, and what Snakemake and torusweep are installed from -----------------------


def test_the_catalogue_finds_its_files(tmp_path: Path):
    assert (ROOT / "config/README.md").exists()
    usage = YAML().load(ROOT / ".snakemake-workflow-catalog.yml")["usage"]
    assert set(usage) == {"mandatory-flags", "software-stack-deployment", "report"}
    status, said = snakemake(
        tmp_path,
        *("--snakefile", str(ROOT / "workflow/Snakefile"), "--configfile", str(ROOT / "config/smoke.yaml")),
        *("--cores", "1", "--summary"),
    )
    assert (status, "results/smoke/static.parquet" in said) == (0, True), said
    assert SNAKEFILE.resolve() == ROOT / "Snakefile"


def test_environment_and_container_have_the_versions_of_requirements():
    (python, _, pip) = YAML().load(ROOT / "environment.yaml")["dependencies"]
    assert list(pip["pip"]) == ["-r requirements/run.txt"], "the lock file itself"
    recipe = (ROOT / "Containerfile").read_text()
    version = re.search(r"^FROM \S+python:([\d.]+)-slim$", recipe, re.MULTILINE)[1]  # type: ignore[index]
    assert python == f"python={version}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version in SpecifierSet(project["requires-python"])
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]
    (name,) = re.findall(r"requirements/\S+\.txt", recipe)
    for gpu in ("", "12", "13"):
        shown = subprocess.run(["sh", "-c", f"echo {name}"], env={"GPU": gpu}, capture_output=True, text=True).stdout
        assert shown == (f"requirements/gpu{gpu}.txt\n" if gpu else "requirements/run.txt\n")
        assert (ROOT / shown.strip()).exists()
    for line in re.findall(r"^COPY (.*) \S+$", recipe, re.MULTILINE):
        assert all((ROOT / file).exists() for file in line.split())
