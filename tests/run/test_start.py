"""What a step imports before it works: nothing that its sweep does not ask for."""

import json
import subprocess
import sys

import pytest

SLOW = ("pandas", "pydantic", "scipy", "numba", "igraph", "dask", "duckdb", "altair")
STATIC = "sweep: small\ntopologies: ['torus(k=4, n=2)']\n"
LOADS = STATIC + "loads: [{traffic: [uniform]}]\n"


def imported(code: str, *others: str) -> set[str]:
    """Those of SLOW, and others, that a process has imported after it has run the code, which ends with a table made."""
    code += f"\nimport json, sys; print(json.dumps([name for name in {SLOW + others} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(("config", "among_them"), [(STATIC, set()), (LOADS, {"scipy"})])
def test_the_table_of_points_needs_what_the_sweep_asks_for(config, among_them, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(config)
    code = f"from pathlib import Path\nfrom torusweep.run.steps import STEPS\nSTEPS['points'](Path({str(path)!r}), Path({str(tmp_path / 'small')!r}), {{}})"
    found = imported(code)
    assert (tmp_path / "small" / "points.parquet").exists()
    assert found & {"pandas", "scipy"} == among_them
    assert not found - {"pydantic", "scipy", "numba"}


def test_steps_from_tables_alone_wait_for_nothing_slow():
    assert imported("import torusweep.run.steps") == set()


def test_a_driver_waits_for_no_more_than_its_workers_need():
    assert imported("import torusweep.run.driver") <= {"scipy"}


@pytest.mark.parametrize("arguments", [["latency", "ring(k=5)"], ["run", "small.yaml"]])
def test_commands_that_make_tables_do_without_pandas(arguments, tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "small.yaml").write_text(STATIC)
    code = (
        f"import contextlib, io, os\nos.chdir({str(tmp_path)!r})\nfrom torusweep.cli import torusweep\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    torusweep.main({arguments}, standalone_mode=False)\nimport pyarrow"
    )
    assert "pandas" not in imported(code)


def test_pandas_is_there_for_whoever_asks_arrow_for_it():
    pytest.importorskip("pandas")
    code = (
        "import torusweep.run.steps, pyarrow as pa\nassert pa.table({'a': [1, 2]}).to_pandas()['a'].tolist() == [1, 2]"
    )
    assert "pandas" in imported(code)


def test_nothing_is_pandas_before_it_is_there():
    pytest.importorskip("pandas")
    begin = "from torusweep.run.snakemake_start import Later\nimport sys; sys.modules['pandas'] = Later()\nimport pandas as pd\n"
    assert (
        imported(f"{begin}assert not isinstance(3, (pd.DataFrame, pd.Series, pd.Index))\ndel sys.modules['pandas']")
        == set()
    )
    for use in (
        "frame = pd.DataFrame({'a': [1]}); assert isinstance(frame, pd.DataFrame)",
        "kept = pd.Series; import pandas; assert pandas.isna(None); assert isinstance(kept([1]), pandas.Series) and isinstance(kept([1]), kept)",
        "from pandas import DataFrame, isna; assert DataFrame.from_dict({'a': [1]}).shape == (1, 1)",
        "import importlib.util; assert importlib.util.find_spec('pandas') is not None; import pandas.api.types; assert pd.api.types.is_integer(3)",
    ):
        assert "pandas.core" in imported(begin + use, "pandas.core")


def test_snakemake_loads_without_pandas_until_its_report_on_slurm_wants_it():
    assert "pandas.core" not in imported("from torusweep.run.snakemake_start import load\nload()", "pandas.core")
    pytest.importorskip("snakemake_executor_plugin_slurm")
    code = "from torusweep.run.snakemake_start import load\nload()\nfrom snakemake_executor_plugin_slurm.efficiency_report import parse_maxrss"
    assert "pandas.core" in imported(f"{code}\nassert parse_maxrss('2M') == 2", "pandas.core")
