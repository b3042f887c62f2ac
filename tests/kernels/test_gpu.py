"""What can be known about the GPU code: it compiles for every GPU, it launches rightly, its errors are ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torusweep_kernels
from torusweep_kernels import backend, cuda
from torusweep_kernels.distance import all_pairs_distance, gpu

from tests.kernels import fake_cupy, nvrtc, oracle

AsCupy = Callable[..., ModuleType]
SOURCES = sorted(Path(torusweep_kernels.__file__).parent.rglob("*.cu"))
OLDEST = {12: 70, 13: 75}


def compiles(source: Path, version: int, architecture: int, *constants: str) -> None:
    log, code = nvrtc.compile_for(version, architecture, source, (*cuda.OPTIONS, *constants))
    assert code[:4] == b"\x7fELF", f"sm_{architecture}: {log}"
    assert "warning" not in log.replace("warning: Architectures prior to", "")


ENDS = pytest.mark.parametrize(
    ("version", "choose"), [(min(OLDEST), min), (max(OLDEST), max)], ids=["oldest", "newest"]
)


@ENDS
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_sources_compile_for_the_oldest_and_the_newest_gpu(
    source: Path, version: int, choose: Callable[[Sequence[int]], int]
) -> None:
    """By the oldest compiler and by the newest; no source asks for its architecture: the others get the same text."""
    assert "__CUDA_ARCH__" not in cuda.cuda_source(source)
    compiles(source, version, choose(nvrtc.architectures(version, OLDEST[version])))


@pytest.mark.parametrize("degree", [1, 6, gpu.MOST_DEGREE])
@ENDS
def test_distances_compile_for_tables_of_predecessors(
    version: int, choose: Callable[[Sequence[int]], int], degree: int
) -> None:
    constants = (f"-DDEGREE={degree}", "-DREMOVED=0", "-DCHOSEN=0", "-DNEWS=0")
    compiles(gpu.SOURCE, version, choose(nvrtc.architectures(version, OLDEST[version])), *constants)


@pytest.mark.slow
@pytest.mark.parametrize("version", OLDEST)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_sources_compile_for_every_gpu(source: Path, version: int) -> None:
    for architecture in nvrtc.architectures(version, OLDEST[version]):
        compiles(source, version, architecture)


def test_the_compiler_would_refuse_nonsense(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text('extern "C" __global__ void wrong() { undeclared = 1; }')
    log, code = nvrtc.compile_for(13, 90, source, ())
    assert "undeclared" in log
    assert code == b""


def network() -> tuple[np.ndarray, list[int]]:
    return oracle.torus(16, 12, 4), oracle.torus_histogram(16, 12, 4)


@pytest.mark.parametrize("eccentricity", [False, True])
@pytest.mark.parametrize(
    ("device", "pieces"),
    [
        ({"cache": 2**30, "memory": 2**30}, 8),  # 768 sources: no more pieces of 128 than needed
        ({"cache": 2**16}, 2),  # as the cache holds, and not below 2
        ({"cache": 2**30, "free": 2 * (2 * 16 * 768)}, 1),  # as half of the free memory holds
        ({"multiprocessors": 132, "cache": 2**26}, 8),  # more threads than pieces of the network
    ],
)
def test_widths_and_launches(
    device: dict[str, int], pieces: int, eccentricity: bool, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports, from_one = network()
    used = []
    width = gpu.Network.width
    monkeypatch.setattr(gpu.Network, "width", lambda self, needed: used.append(width(self, needed)) or used[-1])
    as_cupy(**device)
    found = all_pairs_distance(ports, np.arange(768), np.zeros(768, int), eccentricity=eccentricity, backend="cupy")
    assert found.histogram.tolist() == [[768 * nodes for nodes in from_one]]
    assert used == [pieces]


@pytest.mark.parametrize("length", [15, 16, 17, 32, 33])
def test_as_many_levels_as_are_launched_at_once(length: int, as_cupy: AsCupy) -> None:
    as_cupy()
    line = np.append(np.arange(1, length + 1), -1)[:, None]  # the last of length + 1 nodes is `length` links away
    found = all_pairs_distance(line, np.zeros(1, int), np.zeros(1, int), backend="cupy")
    assert found.histogram.tolist() == [[1] * (length + 1)]


def launched(cupy: ModuleType, what: Callable[..., Any]) -> list[Any]:
    """Receives what(name, grid, block, arguments, words of shared memory) of each launch."""
    found: list[Any] = []
    launch = cupy.RawModule.launch
    cupy.RawModule.launch = lambda module, *how: found.append(what(*how)) or launch(module, *how)
    return found


def copied(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Receives the shape of each array that the host waits for."""
    found: list[tuple[int, ...]] = []
    get = fake_cupy.DeviceArray.get
    monkeypatch.setattr(fake_cupy.DeviceArray, "get", lambda array: found.append(array.shape) or get(array))
    return found


@pytest.mark.parametrize("how", ["groups", "lanes", "eccentricity"])
def test_the_host_waits_once_for_blocks_that_are_as_deep_as_the_first(
    how: str, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy, (ports, from_one) = as_cupy(cache=2**16), network()
    names, waits = launched(cupy, lambda name, *_: name), copied(monkeypatch)
    groups = np.arange(768) if how == "lanes" else np.zeros(768, int)
    found = all_pairs_distance(ports, np.arange(768), groups, eccentricity=how == "eccentricity", backend="cupy")
    assert found.histogram.sum(axis=0).tolist() == [768 * nodes for nodes in from_one]
    assert len(from_one) - 1 == 16  # and one more launch, which finds nothing
    # three blocks of 256 sources: the first 16 levels of the first, as many more; then the two others
    assert names.count("dense") == cuda.AHEAD + cuda.AHEAD + 18 + 18
    assert names.count("tally") == (names.count("dense") if how == "lanes" else 0)
    assert (names.count("clear"), names.count("seed")) == (3, 3)
    assert [blocks for blocks, _ in waits] == [1, 1, 2]


def test_counts_are_copied_in_bounded_memory(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    as_cupy(cache=2**12)
    monkeypatch.setattr(gpu, "COUNTS", 1500)
    waits, ports = copied(monkeypatch), oracle.torus(32, 40)
    found = all_pairs_distance(ports, np.arange(1280), np.zeros(1280, int), backend="cupy")
    assert found.histogram.tolist() == [[1280 * nodes for nodes in oracle.torus_histogram(32, 40)]]
    assert [blocks for blocks, _ in waits] == [1] * 3 + [1] * 4  # 1,072 bytes for 38 levels
    monkeypatch.setattr(gpu, "COUNTS", 3600)
    waits.clear()
    again = all_pairs_distance(ports, np.arange(1280), np.zeros(1280, int), backend="cupy")
    assert again.histogram.tolist() == found.histogram.tolist()
    assert [blocks for blocks, _ in waits] == [1] * 3 + [3, 1]


def test_counts_of_many_levels_that_do_not_fit(as_cupy: AsCupy) -> None:
    """4,096 bytes hold 4 levels of 128 lanes. Fewer levels are launched at once; rows are as wide as before."""
    cupy = as_cupy(memory=4096, free=2**30)
    names = launched(cupy, lambda name, *_: name)
    ring = (np.arange(70)[:, None] + 1) % 70
    found = all_pairs_distance(ring, np.arange(70), np.arange(70), backend="cupy")
    assert found.histogram.tolist() == [[1] * 70] * 70
    assert names.count("dense") == names.count("tally") == 18 * 4  # 70 launches, 4 at a time
    assert names.count("seed") == 1


@pytest.mark.parametrize(
    ("successors", "degree"),
    [
        ([[1], [2], [3], [0]], 1),
        ([[1, 2], [2, 3], [3, 0], [0, 1]], 2),
        ([[1, 2], [2, 3], [3, 2], [0]], 3),  # 7 links in a table of 12
        ([[1], [1], [1], [1]], 0),  # 4 links would be in a table of 16
        ([list(range(20))] * 20, 0),  # too many to be compiled for
        ([[], []], 0),
    ],
)
def test_predecessors_as_a_table_or_as_lists(successors: list[list[int]], degree: int, as_cupy: AsCupy) -> None:
    cupy, nodes = as_cupy(), len(successors)
    compiled = []
    build = cupy.RawModule.__init__
    cupy.RawModule.__init__ = lambda module, code, **how: compiled.append(code) or build(module, code, **how)
    cuda._module.cache_clear()
    ports = oracle.table(successors)
    how = {"sources": np.arange(nodes), "groups": np.arange(nodes)}
    found = [all_pairs_distance(ports, **how, backend=backend).histogram.tolist() for backend in ("cupy", "numpy")]
    assert found[0] == found[1]
    assert [code.split("\n")[0] for code in compiled] == [f"#define DEGREE {degree}"]


@pytest.mark.parametrize(
    ("ports", "method"),
    [(oracle.torus(288, 8), "sparse"), (np.random.default_rng(1).integers(0, 2304, (2304, 6)), "dense")],
    ids=["torus", "random"],
)
def test_the_method_is_chosen_by_the_first_block(
    ports: np.ndarray, method: str, as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "WIDE", 2)
    cupy = as_cupy(cache=2**12)
    names = launched(cupy, lambda name, *_: name)
    how = {"ports": ports, "sources": np.arange(2304), "groups": np.arange(2304) % 5, "eccentricity": True}
    found = all_pairs_distance(**how, backend="cupy")
    same = all_pairs_distance(**how, backend="numpy")
    assert found.histogram.tolist() == same.histogram.tolist()
    assert np.asarray(found.eccentricity).tolist() == np.asarray(same.eccentricity).tolist()
    blocks = [i for i, name in enumerate(names) if name == "seed"]
    assert len(blocks) == 10  # 256 sources each, in words of one group
    assert set(names[blocks[0] : blocks[1]]) == {"clear", "seed", "sparse"}
    assert set(names[blocks[1] :]) == {"clear", "seed", method}


def test_pieces_that_are_read(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """From node 0 of a ring of 8: neighbours of those that gained a bit, 2 + 3 + 4 + 3 of 4 levels."""
    shares = []
    read_share = gpu.Network.read_share
    monkeypatch.setattr(gpu.Network, "read_share", lambda self: shares.append(read_share(self)) or shares[-1])
    monkeypatch.setattr(gpu, "FEWEST", 0)
    monkeypatch.setattr(gpu, "WIDE", 1)
    as_cupy()
    found = all_pairs_distance(oracle.torus(8), np.zeros(1, int), np.zeros(1, int), backend="cupy")
    assert found.histogram.tolist() == [[1, 2, 2, 2, 1]]
    assert shares == [(2 + 3 + 4 + 3) / (4 * 8)]


def test_rows_with_news_that_do_not_fit(as_cupy: AsCupy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three buffers of 8 pieces do not fit, nor of 4; of 2 they do."""
    monkeypatch.setattr(gpu, "SPARSE", 1.0)
    monkeypatch.setattr(gpu, "FEWEST", 1)
    cupy, ports = as_cupy(cache=2**12, memory=3 * 32 * 1601, free=2**30), oracle.torus(40, 40)
    shifts = launched(cupy, lambda name, grid, block, arguments, shared: (name, int(arguments[-1])))
    found = all_pairs_distance(ports, np.arange(1600), np.zeros(1600, int), backend="cupy")
    assert found.histogram.tolist() == [[1600 * nodes for nodes in oracle.torus_histogram(40, 40)]]
    assert {shift for name, shift in shifts if name == "seed"} == {1}
    assert {name for name, _ in shifts} == {"clear", "seed", "sparse"}


def test_blocks_of_other_depths(as_cupy: AsCupy) -> None:
    """A cycle beside a line: each block is searched to its end, whatever the last one's depth."""
    as_cupy(cache=2**12)  # 4 words: blocks of 256 sources
    nodes, ring = 600, 80
    ports = np.full((nodes, 1), -1)
    ports[:ring, 0] = (np.arange(ring) + 1) % ring
    ports[300:310, 0] = np.arange(301, 311)
    sources, how = np.arange(nodes)[::-1], {"eccentricity": True, "backend": "cupy"}  # the shallow blocks first
    found = all_pairs_distance(ports, sources, sources // 100, **how)
    same = all_pairs_distance(ports, sources, sources // 100, **how | {"backend": "numpy"})
    assert found.histogram.tolist() == same.histogram.tolist()
    assert np.asarray(found.eccentricity).tolist() == np.asarray(same.eccentricity).tolist()
    assert same.histogram.shape[1] == ring


@pytest.mark.parametrize(
    ("registers", "threads", "blocks"),
    # NVIDIA's occupancy calculator (cuda_occupancy.h) for compute capability 9.0: 65,536 registers, 64 warps
    [(32, 256, 8), (40, 256, 6), (42, 256, 5), (48, 256, 5), (64, 512, 2), (96, 512, 1), (255, 256, 1), (16, 1024, 2)],
)
def test_blocks_that_fit(registers: int, threads: int, blocks: int) -> None:
    assert cuda.blocks_that_fit(registers, threads, 65_536, 64) == blocks


@pytest.mark.parametrize(("registers", "blocks"), [(0, 2 * 8), (32, 2 * 8), (40, 2 * 6), (48, 2 * 5)])
def test_no_more_blocks_are_launched_than_run_at_once(registers: int, blocks: int, as_cupy: AsCupy) -> None:
    """0: registers are not told."""
    cupy, ports = as_cupy(multiprocessors=2, registers=registers), oracle.torus(16, 12, 8)
    grids = launched(cupy, lambda name, grid, *_: (name, grid))
    found = all_pairs_distance(ports, np.arange(1536), np.arange(1536), eccentricity=True, backend="cupy")
    assert found.histogram.tolist() == [oracle.torus_histogram(16, 12, 8)] * 1536
    assert {grid for name, grid in grids if name == "dense"} == {blocks}
    assert {grid for name, grid in grids if name == "tally"} == {-(-1536 * 8 // 31 // 256)}  # 31 rows a thread


def test_the_stand_in_is_strict(as_cupy: AsCupy) -> None:
    cupy = as_cupy()
    device, host = cupy.arange(3), np.arange(3)
    for mixed in (lambda: device + host, lambda: cupy.take(host, device), lambda: device[host]):
        with pytest.raises(TypeError, match=r"numpy\.ndarray"):
            mixed()
    dense = cupy.RawModule(code=cuda.cuda_source(gpu.SOURCE), options=cuda.OPTIONS).get_function("dense")
    with pytest.raises(AssertionError, match="2 arguments for 16 parameters"):
        dense((1,), (1,), (device, device))
    with pytest.raises(AssertionError, match="argument 0 is int64, its parameter uint64"):
        dense((1,), (1,), (device,) * 16)
    assert fake_cupy.kind("const unsigned char* __restrict__ counted") == (True, np.dtype(np.uint8))


@pytest.mark.gpu
@pytest.mark.skipif(not backend.gpu_count(), reason="needs a GPU that CuPy can use; none found here")
@pytest.mark.parametrize("eccentricity", [False, True])
@pytest.mark.parametrize("removed", [0, 2])
def test_a_real_gpu_gives_the_same_bits(removed: int, eccentricity: bool) -> None:
    rng = np.random.default_rng(1)
    nodes, lanes = 3000, 5000
    ports, sources, groups = (
        rng.integers(-1, nodes, (nodes, 3)),
        rng.integers(0, nodes, lanes),
        rng.integers(0, 7, lanes),
    )
    gone = rng.integers(-1, nodes, (lanes, removed))
    gone = np.where(gone == sources[:, None], -1, gone)
    counted = rng.random(nodes) < 0.5
    here, there = (
        all_pairs_distance(
            ports,
            sources,
            groups,
            counted=counted,
            removed=gone if removed else None,
            eccentricity=eccentricity,
            backend=name,
        )
        for name in ("numba", "cupy")
    )
    assert here.histogram.tolist() == there.histogram.tolist()
    assert (here.eccentricity is None) == (there.eccentricity is None) == (not eccentricity)
    assert here.eccentricity is None or here.eccentricity.tolist() == there.eccentricity.tolist()
