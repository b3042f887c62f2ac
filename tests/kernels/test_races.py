"""No kernel has a data race, leaves its arrays, or does what C++ does not define: every CUDA source under sanitizers.

For ThreadSanitizer, accesses are ordered only where CUDA orders them (race_shim.h). The results are compared, too.
Mutated sources show that reports are made, also where the results stay right.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from torusweep_kernels import backend, cuda
from torusweep_kernels.router import gpu as router_gpu
from torusweep_kernels.router import gpu_state

from tests.kernels import fake_cupy, racing
from tests.kernels.mutations import MUTATIONS, WRONG, Mutation
from tests.kernels.race_cases import CASES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parent.parent.parent / "kernels" / "torusweep_kernels"
TRIVIAL = '#include "{shim}"\nstatic void run_kernel(const char*, void**) {{}}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are kept."""
    made = tmp_path_factory.getbasetemp().parent / "races"
    made.mkdir(exist_ok=True)
    return made


@pytest.fixture(scope="module", params=[racing.THREAD, racing.MEMORY], ids=["races", "memory"])
def sanitizer(request: pytest.FixtureRequest, folder: Path) -> racing.Sanitizer:
    """Each of them; skips where it cannot be had."""
    return usable(request.param, folder)


@cache
def usable(sanitizer: racing.Sanitizer, folder: Path) -> racing.Sanitizer:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip(f"needs {sanitizer.name} on 64-bit Linux and x86; this machine is another")
    source, program = folder / "trivial.cpp", folder / "trivial"
    source.write_text(TRIVIAL.format(shim=racing.SHIM))
    try:
        racing.build(sanitizer, source, program, folder)
        racing.ran(sanitizer, program, "/dev/null", "/dev/null")
    except (fake_cupy.CompileException, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"needs {sanitizer.name} of {' '.join(sanitizer.command)}: {str(error)[:500]}")
    return sanitizer


@contextmanager
def sanitized(
    folder: Path, sanitizer: racing.Sanitizer, mutated: Callable[[str], str] = str, **device: Any
) -> Iterator[list[str]]:
    """A GPU of few threads, several blocks each; gives the reports."""
    with pytest.MonkeyPatch.context() as patch:
        cupy, found = racing.module(folder, sanitizer, mutated, **device)
        patch.setitem(sys.modules, "cupy", cupy)
        patch.setattr(cuda, "THREADS", 32)
        patch.setattr(cuda, "RESIDENT", 64)
        patch.setattr(cuda, "AHEAD", 4)
        with_gaps(patch)
        backend.gpu_count.cache_clear()
        try:
            yield found
        finally:
            backend.gpu_count.cache_clear()


def with_gaps(patch: pytest.MonkeyPatch) -> None:
    """Between the arrays of the router's states, which are one array on the device, there is room that is forbidden.

    Not where states are copied to shared memory, which copies that room, too."""
    patch.setattr(gpu_state, "GAP", 64)
    patch.setattr(racing, "gaps", {})
    init = router_gpu.Round.__init__

    def made(held: router_gpu.Round, *how: Any) -> None:
        init(held, *how)
        racing.gaps.pop(held.state.data.ptr, None)  # of an array that had this address before
        if router_gpu.IN_SHARED:
            return
        experiments, words = held.state.shape
        begins = [*(part.begin for part in held.parts.values()), 8 * words][1:]
        ends = [part.end for part in held.parts.values()]
        racing.gaps[held.state.data.ptr] = [
            (8 * words * e + end, 8 * words * e + begin) for e in range(experiments) for end, begin in zip(ends, begins)
        ]

    patch.setattr(router_gpu.Round, "__init__", made)


def test_every_source_is_run() -> None:
    assert {source for source, *_ in CASES.values()} == {str(path.relative_to(ROOT)) for path in ROOT.glob("*/*.cu")}


@pytest.mark.parametrize("name", CASES)
def test_no_kernel_is_reported(name: str, folder: Path, sanitizer: racing.Sanitizer) -> None:
    _, case, multiprocessors = CASES[name]
    expected = case("numba")
    with sanitized(folder, sanitizer, multiprocessors=multiprocessors) as found:
        arrays = case("cupy")
    assert found == []
    assert [array.tobytes() for array in arrays] == [array.tobytes() for array in expected]


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_orders_accesses_is_missed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported(MUTATIONS[name], usable(racing.THREAD, folder), folder, monkeypatch)


@pytest.mark.parametrize("name", WRONG)
def test_what_keeps_to_its_arrays_is_missed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation, report = WRONG[name]
    found = reported(mutation, usable(racing.MEMORY, folder), folder, monkeypatch)
    assert report in found[0]


def reported(
    mutation: Mutation, sanitizer: racing.Sanitizer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """A mutated program may be wrong, or never end: only the report counts."""
    monkeypatch.setattr(racing, "SECONDS", 20)
    _, case, multiprocessors = CASES[mutation.case]
    found: list[str] = []
    try:
        with sanitized(folder, sanitizer, mutation, multiprocessors=multiprocessors) as found:
            case("cupy")
    except (AssertionError, subprocess.TimeoutExpired):
        assert found, "it failed without a report"
    assert found
    return found
