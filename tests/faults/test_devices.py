"""GPUs that are not there, too small, broken, or whose compiler refuses (rows 29-31 of the table of faults)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from torusweep.all_columns import schema_of
from torusweep.tables.shards import read_shards
from torusweep_kernels import backend, cuda
from torusweep_kernels.distance import gpu

from tests.kernels import fake_cupy, nvrtc
from tests.kernels.conftest import as_cupy, built
from tests.run.rings import COMMAND, Run

__all__ = ["as_cupy", "built"]  # fixtures
SCHEMA = schema_of("static")

NETWORKS = 'sweep: rings\ntopologies: ["mesh(k=4, n=2)", "sequin(k=5, s=2, t=1)", "mesh(k=120, n=2)", "ring(k=9)"]\n'


def test_a_gpu_that_is_not_there(rings: Run, monkeypatch: pytest.MonkeyPatch):  # 29
    if backend.gpu_count():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    rings.here("points")
    status, said = rings.step("static", "--backend", "cupy")
    assert (status, said.count("\n")) == (2, 1), said
    assert "backend cupy: expected a GPU that CuPy can use, found none" in said
    assert rings.shards() == []
    assert (
        rings.step("static", "--backend", "auto", "--workers", "0", "--symmetry", "off")[0] == 0
    )  # with symmetry it is soon done by NumPy
    assert {shard.origin["backend"] for shard in read_shards(rings.folder, "static", SCHEMA).whole} == {"numba"}


def test_a_network_too_large_for_the_gpu_goes_to_the_cpu(
    rings: Run, as_cupy: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
):  # 30
    """Blocks are halved first: tests/kernels/test_out_of_memory.py."""
    rings.config.write_text(NETWORKS)
    rings.here("points")
    assert rings.here("static", workers=0, backend="numba") == 0
    expected = rings.static()
    rings.forget()
    rings.config.write_text(NETWORKS + "cluster: {batch_seconds: 0.01, workers: 0}\n")
    rings.here("points")
    monkeypatch.setattr(cuda, "AHEAD", 2)  # counters of many levels would be larger than the networks
    as_cupy(memory=20_000, free=2**20)
    assert rings.here("static", backend="cupy") == 0
    assert rings.static() == expected
    assert rings.failed() == {}
    ran = {
        name: shard.origin
        for shard in read_shards(rings.folder, "static", SCHEMA).whole
        for name in shard.rows.column("topology").to_pylist()
    }
    assert ran["mesh(k=120, n=2)"]["backend"] == "cupy, numba"
    assert ran["mesh(k=4, n=2)"]["device"] == "a processor that plays a GPU"
    assert "cupy" in {origin["backend"] for origin in ran.values()}, "small ones fit"


BROKEN = """
import sys
from pathlib import Path
from tests.kernels import fake_cupy

class Broken:
    def __init__(self, code, options, enable_cooperative_groups): pass
    def get_function(self, name): return self
    def __call__(self, grid, block, arguments, shared_mem=0): raise fake_cupy.CUDARuntimeError(700)

cupy = fake_cupy.module(Path())
cupy.RawModule = Broken
sys.modules["cupy"] = cupy
"""
IMPATIENT = "from torusweep.run import driver; driver.MOST_LOSSES = 2; from torusweep.cli import main; main()"


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """The environment of processes whose CuPy has a device on which every launch fails, as after an illegal address."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "cupy.py").write_text(BROKEN)
    root = Path(__file__).parent.parent.parent
    return {"PYTHONPATH": f"{folder}:{root}", "DASK_DISTRIBUTED__WORKER__PRELOAD": "[]"}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("command", "workers", "said"),
    [
        (COMMAND, "0", None),
        (COMMAND, "2", "a worker lost its GPU (torusweep_kernels.distance: expected a GPU that works, got: CUDA error"),
        ((*COMMAND[:2], IMPATIENT), "2", "GPUs were lost 2 times; what is left is computed by Numba"),
    ],
)
def test_a_gpu_whose_launches_fail_for_good_loses_no_point(
    rings: Run, broken: dict[str, str], command: tuple[str, ...], workers: str, said: str | None
):
    rings.config.write_text(NETWORKS + "cluster: {batch_seconds: 0.01}\n")
    rings.here("points")
    assert rings.here("static", workers=0, backend="numba") == 0
    expected = rings.static()
    rings.forget()
    step = "step", "static", str(rings.config), str(rings.folder), "--backend", "cupy", "--workers", workers
    process = rings.start(*step, command=command, **broken)
    heard = process.communicate(timeout=280)[0]
    assert process.returncode == 0, heard
    assert said is None or said in heard
    assert rings.static() == expected
    assert rings.failed() == {}
    ran = {shard.origin["backend"] for shard in read_shards(rings.folder, "static", SCHEMA).whole}
    assert ran == ({"cupy, numba"} if workers == "0" else {"numba"}), "the last attempt needs no GPU"


class NvidiasCompiler(fake_cupy.RawModule):
    """Sources go to NVIDIA's own run-time compiler first."""

    def build(self, code: str, source: Path, library: Path) -> None:
        source.write_text(code)
        log, machine_code = nvrtc.compile_for(13, 90, source, cuda.OPTIONS)
        if not machine_code:
            raise fake_cupy.CompileException(log)
        super().build(code, source, library)


def test_a_kernel_that_does_not_compile(
    rings: Run, as_cupy: Callable[..., ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):  # 31
    cupy = as_cupy()
    monkeypatch.setattr(
        cupy, "RawModule", type("RawModule", (NvidiasCompiler,), {"folder": tmp_path, "backwards": False})
    )
    wrong = tmp_path / "wrong.cu"
    wrong.write_text(gpu.SOURCE.read_text().replace("happened[level]", "undeclared[level]"))
    monkeypatch.setattr(gpu, "SOURCE", wrong)
    rings.config.write_text(NETWORKS)
    rings.here("points")
    assert rings.here("static", workers=0, backend="cupy") == 0
    failed = rings.failed()
    assert len(failed) == 4
    for reason in failed.values():
        assert "KernelCompileError: torusweep_kernels.distance: NVRTC could not compile its CUDA source:" in reason
        assert "error: " in reason
        assert "undeclared" in reason
    assert rings.here("verification") == 0
    assert rings.here("check") == 1
