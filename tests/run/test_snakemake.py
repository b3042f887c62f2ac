"""The pipeline under Snakemake: declared files are made, kept, made again; stops, locks, Slurm (rows 9-13, 20, 21)."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.run import child, command
from torusweep.run.workflow import SNAKEFILE
from torusweep.tables.store import open_table

from tests.run import forks
from tests.run.rings import COMMAND, PRELOAD, Run, until

ROOT = Path(__file__).parents[2]

FILES = {
    "sweep.yaml",
    "points.parquet",
    "static.parquet",
    "distances.parquet",
    "verification.parquet",
    "manifest.json",
    "report.html",
    "checked.txt",
}


def files(run: Run) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in run.folder.glob("[!.]*.*")}


@pytest.mark.faults
def test_a_sweep_from_failure_to_repair(rings: Run, clean: bytes):
    status, said = rings.forked("run", "rings.yaml", "--workers", "1", fault="raise ring(k=9)")
    assert status == 1, said
    assert set(files(rings)) == FILES - {"checked.txt"}, "the tables and the report are there"
    assert "ring(k=9) failed: ZeroDivisionError: a made-up defect" in said

    status, said = rings.forked(
        "run", "rings.yaml", "--workers", "0"
    )  # the failed point alone, this time by the real code
    assert status == 0, said
    assert set(files(rings)) == FILES
    assert "results/rings/static.parquet   40 rows" in said
    assert "torusweep query" in said
    assert "Select jobs" not in said, "Snakemake's chatter"
    made = files(rings)

    status, said = rings.forked("run", "rings.yaml")
    assert (status, files(rings)) == (0, made), said
    assert "Nothing to be done" in said

    (rings.folder / "manifest.json").unlink()  # 21
    path = rings.folder / "distances.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    shards = rings.shards()
    status, said = rings.forked("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    assert rings.shards() == shards, "nothing was computed again"
    tables = json.loads((rings.folder / "manifest.json").read_bytes())["tables"]
    assert {f"{name}.parquet" for name in tables} == {name for name in FILES if name.endswith(".parquet")}
    assert [
        open_table(rings.folder / f"{name}.parquet").num_rows for name in ("static", "distances", "verification")
    ] == [40, 39 * 2 + 5, 0]

    path.write_bytes(path.read_bytes()[:-1] + b"?")  # 20
    with pytest.raises(BadInput, match=r"distances.parquet was altered"):
        open_table(path)


def test_less_than_a_sweep_is_made_where_snakemake_is_asked_for_less(rings: Run):
    for options, made in (
        (["--summary"], set()),
        (["--until", "points"], {"points.parquet"}),
        (["-U", "derived"], {"distances.parquet", "verification.parquet"}),
    ):
        status, said = rings.forked("run", "rings.yaml", "--workers", "0", *options)
        assert status == 0, said
        assert ("results/rings: made as far as Snakemake was asked to" in said) == bool(made)
        assert made <= set(files(rings)) <= FILES - {"report.html", "checked.txt"}


CONFIG = """\
sweep: rings
topologies:
  - {family: rt, a: {from: 4, to: 8, step: 2}}
  - {family: rtt, a: {from: 4, to: 8, step: 2}}
loads: [{traffic: uniform}]
"""  # two of the networks that C10's figures of distances and saturation compare


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A whole sweep with loads; nothing of it changes."""
    run = Run(tmp_path_factory.mktemp("made"))
    run.config.write_text(CONFIG)
    status, said = run.call("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    assert "12 points, about " in said
    assert "loads.parquet   6 rows" in said
    return run


def test_the_whole_pipeline_declares_its_tables_and_keeps_them(made: Run):
    tables = json.loads((made.folder / "manifest.json").read_bytes())["tables"]
    assert set(tables) == {"points", "static", "loads", "distances", "verification"}
    before = files(made)
    assert set(before) == FILES | {"loads.parquet"}
    status, said = made.forked("run", "rings.yaml")
    assert (status, files(made)) == (0, before), said
    assert "Nothing to be done" in said


def test_the_report_has_the_page_and_the_figures(made: Run):
    """snakemake --report: the page, the papers' figures and the verdicts in one archive, by category, with captions."""
    status, said = made.snakemake("--configfile", "rings.yaml", "--report", "report.zip")
    assert status == 0, said
    with zipfile.ZipFile(made.home / "report.zip") as archive:
        names = {name.rsplit("/", 1)[-1]: name for name in archive.namelist()}
        assert archive.read(names["c10-distances.svg"]).startswith(b"<svg")
        page = next(name for name in archive.namelist() if "/data/" in name and name.endswith("/report.html"))
        assert archive.read(page) == (made.folder / "report.html").read_bytes()
        text = archive.read("report/report.html").decode()
    categories = json.loads(re.search(r"categories = ({.*?});", text)[1])
    assert {name: sorted(file for files in parts.values() for file in files) for name, parts in categories.items()} == {
        "The sweep": ["results/rings/checked.txt", "results/rings/report.html"],
        "The papers' figures": [f"results/rings/figures/c10-{name}.svg" for name in ("distances", "saturation")],
    }
    assert "Figure <strong>distances</strong> of <strong>c10</strong>" in text
    assert text.count("docs/papers.md") == 2  # once for each figure
    assert "{{" not in "".join(re.findall(r'"caption": "(.*?)"', text))


REPORTER = ["snakemake_report_plugin_rocrate", "rocrate_validator"]
MISSING = [name for name in REPORTER if not importlib.util.find_spec(name)]
needs_reporter = pytest.mark.skipif(
    bool(MISSING), reason=f"needs {' and '.join(MISSING)}; pip install snakemake-report-plugin-rocrate roc-validator"
)


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path, str]:
    """A sweep that plain Snakemake made, its research object, unpacked, and what its reporter said."""
    folder, made = tmp_path_factory.mktemp("crate"), Run(tmp_path_factory.mktemp("plain"))
    made.config.write_text(CONFIG)
    shutil.copy(SNAKEFILE, made.home / "Snakefile")  # the reporter takes the working folder's
    options = ("--configfile", "rings.yaml")
    status, said = forks.called("snakemake", *options, "--cores", "1", "--force-use-threads", home=made.home)
    assert status == 0, said
    status, said = forks.called("snakemake", *options, "--reporter", "rocrate", home=made.home)
    assert status == 0 or "urlopen error" in said, said  # the archive is there before it is validated
    with zipfile.ZipFile(made.home / "ro-crate.zip") as archive:
        archive.extractall(folder)
    return made, folder, said


@needs_reporter
def test_a_research_object_has_the_tables_and_who_made_them(crate: tuple[Run, Path, str]):
    made, folder, _ = crate
    graph = {entity["@id"]: entity for entity in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}
    kept = {f"results/rings/{name}" for name in FILES | {"loads.parquet"}}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files >= kept | {"Snakefile", "ro-crate-metadata.json"}
    assert {part["@id"] for part in graph["./"]["hasPart"]} == files - {"ro-crate-metadata.json"}
    assert all((folder / name).read_bytes() == (made.home / name).read_bytes() for name in kept)

    def names(value: object) -> set[str]:
        return {one["@id"] for one in (value if isinstance(value, list) else [value])}

    actions = {key: one for key, one in graph.items() if one["@type"] == "CreateAction"}
    run = actions.pop("#action_workflow_run")
    assert graph["./"]["mainEntity"] == run["instrument"] == {"@id": "Snakefile"}
    jobs = {frozenset(names(one["result"])): one for one in actions.values()}
    assert {
        tuple(sorted(name.removeprefix("results/rings/") for name in result)): re.sub(r"_\d+$", "", one["name"])
        for result, one in jobs.items()
    } == {
        ("manifest.json", "points.parquet", "sweep.yaml"): "points",
        ("static.parquet",): "stage",
        ("loads.parquet",): "stage",
        ("distances.parquet", "verification.parquet"): "derived",
        ("report.html",): "page",
        ("checked.txt",): "check",
    }
    made_by = {name: one for result, one in jobs.items() for name in result}
    for one in actions.values():  # what a job read was there before it began
        assert run["startTime"] <= one["startTime"] <= one["endTime"] <= run["endTime"]
        read = names(one["object"])
        assert all(made_by[name]["endTime"] <= one["startTime"] for name in read), one["name"]


@needs_reporter
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the validator's, of rdflib
def test_a_research_object_is_valid(crate: tuple[Run, Path, str], tmp_path: Path):
    _, folder, said = crate
    if "urlopen error" in said:
        pytest.skip("the validator needs w3id.org for two JSON-LD contexts, once; then it keeps them in its cache")
    assert "RO-Crate validation succeeded" in said
    from rocrate_validator import models, services

    def wrong(root: Path, profile: str) -> list[str]:
        required = models.Severity.REQUIRED
        settings = services.ValidationSettings(
            rocrate_uri=root, profile_identifier=profile, requirement_severity=required
        )
        return [issue.message for issue in services.validate(settings).get_issues()]

    metadata = json.loads((folder / "ro-crate-metadata.json").read_text())
    (root,) = (entity for entity in metadata["@graph"] if entity["@id"] == "./")
    claimed = {"-".join(one["@id"].rsplit("/", 2)[-2:]) for one in root["conformsTo"]}
    assert claimed == {"process-0.5", "workflow-0.5", "provenance-0.5", "workflow-ro-crate-1.0"}
    profiles = ["ro-crate-1.1", "workflow-ro-crate-1.0", "workflow-run-crate-0.5", "provenance-run-crate-0.5"]
    assert {profile: wrong(folder, profile) for profile in profiles} == {profile: [] for profile in profiles}

    spoilt = tmp_path / "spoilt"  # the validator would say it
    shutil.copytree(folder, spoilt)
    for entity in metadata["@graph"]:
        if entity["@type"] == "CreateAction":
            del entity["instrument"]
    (spoilt / "ro-crate-metadata.json").write_text(json.dumps(metadata))
    assert any("instrument" in message for message in wrong(spoilt, "provenance-run-crate-0.5"))


def test_a_short_step_that_fails_says_why_in_one_line_and_no_table_is_lost(made: Run, rings: Run):
    shutil.copytree(made.home, rings.home, dirs_exist_ok=True)
    path = rings.folder / "verification.parquet"
    path.write_bytes(path.read_bytes() + b"?")
    (rings.folder / "checked.txt").unlink()
    status, said = rings.forked("run", "rings.yaml")
    assert status == 1, said
    _, *errors, last = said.splitlines()
    assert errors
    assert all(line.startswith(f"torusweep: {path} was altered") for line in errors), said
    assert last.startswith("a step ended with the error above")
    assert FILES - {"report.html", "checked.txt"} <= set(files(rings))


def test_plain_snakemake_knows_the_configuration_and_how(rings: Run):
    dry = ("--cores", "1", "--configfile", "rings.yaml", "--dry-run")
    overrides = ("results=elsewhere", "backend=numpy", "symmetry=off", "workers=0")
    status, said = rings.snakemake(*dry, "--printshellcmds", "--config", *overrides)
    assert status == 0, said
    steps = [line.partition("torusweep step ")[2] for line in said.splitlines() if "torusweep step " in line]
    log = "elsewhere/rings/logs/static.log"
    assert steps == [
        f"static --backend numpy --symmetry off --workers 0 --log {log} -- elsewhere/rings/sweep.yaml elsewhere/rings"
    ]
    status, said = rings.snakemake(*dry, "--config", "bakend=numpy")
    assert status != 0
    assert "unknown key 'bakend' (did you mean 'backend'?)" in said


@pytest.mark.parametrize("words", [["--directory", "elsewhere"], ["--direc=elsewhere"], ["-d", "elsewhere"]])
def test_a_run_has_a_working_folder_of_its_own(rings: Run, words: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(rings.home)
    with pytest.raises(BadInput, match="a run has a working folder of its own"):
        command.run(Path("rings.yaml"), Path("results"), overrides={}, options=words)


FAKE = '#!/bin/sh\nprintf \'%s\\n\' "$@" > {log}\necho "made up" >&2\nexit 1\n'


def test_the_slurm_profile_submits_a_small_table_as_one_job(rings: Run, tmp_path: Path):
    tools = tmp_path / "tools"
    tools.mkdir()
    log = tmp_path / "sbatch.log"
    contents = {"sbatch": FAKE.format(log=log), "sacctmgr": "#!/bin/sh\necho net\n"}
    for name in ("sbatch", "sacctmgr", "sinfo", "sacct", "squeue", "scontrol"):
        (tools / name).write_text(contents.get(name, "#!/bin/sh\n"))
        (tools / name).chmod(0o755)
    options = ["--profile", str(ROOT / "config/profiles/slurm"), "--slurm-init-seconds-before-status-checks", "1"]
    options += ["--retries", "0"]  # each trial asks for more
    options += ["--default-resources", "slurm_account=net", "slurm_partition=batch", "runtime=120", "mem_mb=4000"]
    status, said = rings.forked("run", "rings.yaml", *options, PATH=f"{tools}:{os.environ['PATH']}")
    assert status == 1
    assert said.splitlines()[-1].startswith("Slurm refused: made up; what is finished is kept")
    submitted = log.read_text().splitlines()
    pairs = set(itertools.pairwise(submitted))
    assert {("-A", "net"), ("-p", "batch"), ("-t", "11"), ("--mem", "1494")} <= pairs, "what its points need"
    assert "--cpus-per-task=1" in submitted
    (job,) = [line for line in submitted if line.startswith("--wrap=")]
    assert f"--snakefile '{SNAKEFILE}' --target-jobs 'stage:stage=static,part=1-of-1' --allowed-rules stage" in job
    assert f"'results={rings.home / 'results'}'" in job
    assert f"{rings.folder}/.run.yaml" in job.partition("--configfile")[2]
    assert (rings.folder / "points.parquet").exists(), "short steps run where Snakemake does"


def test_a_wrong_configuration_is_one_line_before_anything_is_written(rings: Run):
    rings.config.write_text("sweep: rings\ntopologies:\n  - toruss(k=4, n=2)\n")
    status, said = rings.forked("run", "rings.yaml")
    assert (status, said.count("\n")) == (2, 1), said
    assert "rings.yaml:3:5: topologies[0]: unknown topology 'toruss' (did you mean 'torus'?)" in said
    assert {path.name for path in rings.home.iterdir()} == {"rings.yaml"}


@pytest.mark.faults
def test_what_lies_where_it_runs_is_not_taken_for_a_library(rings: Run, clean: bytes):
    """Python looks in the working directory first, where it is not told otherwise: Snakemake and workers are."""
    for name in ("json.py", "pipeline.py", "snakemake.py"):
        (rings.home / name).write_text("raise SystemExit('not a library')\n")
    command = (str(Path(sys.executable).parent / "torusweep"),)
    run = rings.start("run", "rings.yaml", "--workers", "2", command=command)
    said = run.communicate(timeout=280)[0]
    assert run.returncode == 0, said
    assert rings.static() == clean


def test_a_snakemake_that_stays_though_it_was_told_to_end_is_killed_when_nobody_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(child, "STAYS_SECONDS", 0.5)
    stays = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open('begun', 'w'); time.sleep(600)"
    monkeypatch.chdir(tmp_path)
    waiting = child.Snakemake([sys.executable, "-c", stays], tmp_path / ".lock", tmp_path, essential=True)

    def stop() -> None:
        until((tmp_path / "begun").exists)
        os.kill(os.getpid(), signal.SIGTERM)

    stopping = threading.Thread(target=stop)
    stopping.start()
    assert waiting.wait() == 128 + signal.SIGTERM
    stopping.join()


def test_standard_output_is_the_commands_own(rings: Run):
    """What libraries print in workers goes where the steps talk."""
    with (rings.home / "said").open("w") as other:
        run = subprocess.run(
            [*COMMAND, "run", "rings.yaml", "--workers", "1", "--json"],
            cwd=rings.home,
            env={**os.environ, "DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{PRELOAD}"]', "FAULT": "print"},
            stdout=subprocess.PIPE,
            stderr=other,
            timeout=120,
            check=True,
        )
    assert json.loads(run.stdout)["rows"]["static"] == 40
    assert "printed by a worker" in (rings.home / "said").read_text()


@pytest.mark.faults
def test_two_sweeps_of_one_checkout_run_at_once(rings: Run):
    other = rings.home / "other.yaml"
    other.write_text(rings.config.read_text().replace("sweep: rings", "sweep: other"))
    runs = [rings.start("run", name, "--workers", "0") for name in ("rings.yaml", "other.yaml")]
    for run in runs:
        said = run.communicate(timeout=280)[0]
        assert run.returncode == 0, said


@pytest.mark.faults
def test_a_folder_whose_name_looks_like_an_option(rings: Run):
    status, said = rings.forked("run", "rings.yaml", "--results", "./-dash", "--workers", "0")
    assert status == 0, said
    assert (rings.home / "-dash" / "rings" / "checked.txt").exists()


def test_tables_are_folders_where_very_many_networks_are_allowed_and_files_again_elsewhere(rings: Run):
    few = rings.config.read_text()
    many = f"{few}limits: {{points: 2000000}}\n"
    rings.config.write_text(many)
    status, said = rings.forked("run", str(rings.config))
    assert status == 0, said
    (file,) = (rings.folder / "static.parquet").glob("*.parquet")
    whole = file.read_bytes()
    assert (rings.folder / "verification.parquet").is_file()
    assert "SELECT" in rings.forked("run", str(rings.config))[1], "finds everything done, and says what to do next"
    other = rings.home / "other"
    options = ("--cores", "1", "--force-use-threads", "--config", f"results={other}", "parts=3")
    assert rings.snakemake("--configfile", str(rings.config), *options)[0] == 0
    assert (other / "rings" / "static.parquet" / file.name).read_bytes() == whole
    assert "40" in rings.forked("query", "SELECT count(*) AS n FROM static", "--results", str(rings.folder))[1]
    rings.config.write_text(few)
    status, said = rings.forked("run", str(rings.config))
    assert status == 0, said
    assert rings.static() == whole
