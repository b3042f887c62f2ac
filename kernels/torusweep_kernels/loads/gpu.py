"""GPU version of `minimal_loads` (flows.cuh): a block of threads follows one root, with all levels in one launch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from torusweep_kernels import cuda
from torusweep_kernels.loads.network import Arcs, Task, Totals, arcs
from torusweep_kernels.loads.reference import share

SOURCE = Path(__file__).with_name("flows.cu")  # numbers of nodes and distances have 16 bits
WIDE = Path(__file__).with_name("wide.cu")  # 32 bits
MOST_NARROW = 2**16 - 2  # nodes with numbers of 16 bits
# bytes of the rows of all lanes that are searched from at once; with 2**30, total_up would occupy a quarter of an H200
# on a network of 32,768 nodes
ROWS = 2**32
LANES, TILE = 32, 64  # see flows.cuh
TOTAL_THREADS = 1024  # of a block of total_up, of which 96 add up and the others read
OF_THREAD = 16  # nodes of a block's thread: about a tenth of the nodes are in the widest level
MOST_THREADS, ALONE = 512, 1024  # of a block; of a block that leaves no room for another on its multiprocessor
GATHERING = 2  # the fewest blocks of a multiprocessor that may keep what neighbours read in shared memory
REGISTERS = 64  # of a thread, where they are not told
RESERVED = 1024  # bytes of shared memory that a block takes beyond what it asks for


def loads(task: Task, threads: int | None = None) -> tuple[np.ndarray, np.ndarray | None, Totals]:
    """GPU version of `minimal_loads`: (load float64[N·P], what rounding left if exact, else None, `Totals`)."""
    with cuda.gpu_errors("torusweep_kernels.loads"):
        network = Network(task)

        def search(lanes: int) -> tuple[np.ndarray, np.ndarray | None, Totals]:
            network.make_room(lanes)
            for first in range(0, len(task.roots), lanes):
                network.search(first)
            return *network.load(), Totals(*network.totals.get().reshape(len(Totals._fields), -1))

        return cuda.halve_until_it_fits(network.lanes(), search)


class Network:
    """The channels on the device, and the rows that launches reuse."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.gpu = cuda.Gpu()
        self.cupy = cupy = self.gpu.cupy
        narrow = task.nodes <= MOST_NARROW and shared(task, np.uint16, gathered=False) <= self.gpu.shared
        self.index: Any = np.uint16 if narrow else np.int32
        self.gathered = narrow and self.together(shared(task, self.index, gathered=True)) >= GATHERING
        self.shared = shared(task, self.index, gathered=self.gathered)
        twice = "_twice" if task.how.exact else ""
        names = f"search{twice}", "total_up", f"add_up{twice}", f"add_shares{twice}"
        self.follow, self.total_up, self.add_up, self.add_shares = self.gpu.kernels(SOURCE if narrow else WIDE, *names)
        self.threads, self.blocks = self.block()
        toward, away = arcs(task)
        copies = {} if task.channels is None else task.channels.copies  # of these arcs
        if self.gpu.number not in copies:
            own = cupy.asarray(np.repeat(np.arange(task.nodes, dtype=self.index), np.diff(away.start)))
            copies[self.gpu.number] = self.on_device(toward), self.on_device(away), own
        self.toward, self.away, self.own = copies[self.gpu.number]
        self.channel = away.channel
        self.share = share(len(task.roots))
        self.total, self.left = cupy.zeros(len(away.node)), cupy.zeros(len(away.node))

    def on_device(self, side: Arcs) -> tuple[Any, Any, Any]:
        """Return (start, other, capacity) of a side as the kernels read them."""
        capacity = np.ones(1) if side.capacity is None else side.capacity
        arrays = side.start.astype(np.int32), side.node.astype(self.index), capacity
        return tuple(self.cupy.asarray(array) for array in arrays)

    def lanes(self) -> int:
        """Return the number of roots at once: as many as fit into ROWS and half of the free memory, but one per block
        at least. Of more roots, every block gets the same number.
        """
        wanted, roots = max(ROWS // self.row(), self.blocks), len(self.task.roots)
        fit = max(1, min(wanted, self.gpu.free() // 2 // self.row()))
        return roots if roots <= fit else fit - fit % self.blocks or fit

    def row(self) -> int:
        """Return the bytes of a lane: each node's count, unit, distance, two queue places, demand and remainder, and a
        part of the sums of a share, with their remainders.
        """
        exact, by_root = self.task.how.exact, self.task.demand.ndim == 2
        of_node = 16 + 3 * np.dtype(self.index).itemsize + 8 * exact + 8 * by_root
        return of_node * self.task.nodes + (8 + 8 * exact) * len(self.own) // self.share

    def together(self, memory: int) -> int:
        """Return how many blocks with this much shared memory fit on a multiprocessor."""
        return (self.gpu.shared + RESERVED) // (memory + RESERVED)

    def block(self) -> tuple[int, int]:
        """Return (threads of a block that searches, number of such blocks that run at once)."""
        threads = cuda.WARP * min(-(-self.task.nodes // (OF_THREAD * cuda.WARP)), MOST_THREADS // cuda.WARP)
        rooms = self.together(self.shared)
        if rooms == 1:
            threads = min(ALONE, cuda.WARP * -(-self.task.nodes // cuda.WARP))
        registers = getattr(self.follow, "num_regs", None) or REGISTERS
        fit = cuda.blocks_that_fit(registers, threads, self.gpu.registers or 2**16, self.gpu.warps)
        return threads, self.gpu.multiprocessors * max(1, min(fit, rooms))

    def make_room(self, lanes: int) -> None:
        """Allocate rows of this many lanes and a queue for each block, and set the loads to zero."""
        cupy, task = self.cupy, self.task
        self.lanes_at_once = lanes
        self.rows: list[Any] = []  # frees the rows of another width first
        self.sums: list[Any] = []
        self.distance: Any = None
        self.queue: Any = None
        self.rows = [cupy.empty(task.nodes * lanes) for _ in range(3 if task.how.exact else 2)]
        self.distance = cupy.empty(task.nodes * lanes, self.index)
        self.queue = cupy.empty(min(self.blocks, lanes) * (2 * task.nodes + 1), self.index)
        shares = min(-(-lanes // self.share) + 1, lanes)
        self.sums = [cupy.empty(shares * len(self.own)) for _ in range(2 if task.how.exact else 1)]
        of_root = np.zeros((len(Totals._fields), len(task.roots)))
        of_root[-1] = 1
        self.totals = cupy.asarray(of_root.ravel())
        self.total.fill(0)
        self.left.fill(0)

    def search(self, first: int) -> None:
        """Add the loads of the roots from `first` on, and fill in their totals."""
        cupy, task, all_roots = self.cupy, self.task, len(self.task.roots)
        roots, weights, demand = task.block(first, self.lanes_at_once)
        lanes = len(roots)
        stride = np.int64(task.nodes if task.demand.ndim == 2 else 0)
        weight, wanted = cupy.asarray(weights), cupy.asarray(demand)
        rows = self.rows[0], self.distance, *self.rows[1:]
        size = np.int32(task.nodes), np.int32(lanes)
        how = np.int32(task.how.by_hops), np.int32(task.capacity is not None)
        self.launch(
            self.follow,
            (min(self.blocks, lanes), self.threads, self.shared),
            *(*self.toward, *self.away, cupy.asarray(roots), weight, wanted, self.distance, *self.rows, self.queue),
            *(self.totals[3 * all_roots + first :], stride, *size, *how, np.int32(self.gathered)),
        )
        self.launch(
            self.total_up,
            (-(-lanes // LANES), TOTAL_THREADS, tiles(self.index)),
            *(self.distance, weight, wanted, self.totals[first:], stride, np.int64(all_roots), *size),
        )
        if len(self.own):
            self.add(first, lanes, (self.own, *self.away[1:], *rows), (*size, *how))

    def add(self, first: int, lanes: int, rows: tuple[Any, ...], size: tuple[Any, ...]) -> None:
        """Add the lanes to the loads, share by share. Shares are parts of all roots; lane 0 has root number `first`."""
        number, exact = len(self.own), self.task.how.exact
        begun = first % self.share  # lanes of the first share that have been added before
        shares = -(-(begun + lanes) // self.share)
        unfinished = not exact and (begun + lanes) % self.share > 0 and first + lanes < len(self.task.roots)
        blocks, arcs = -(-number // cuda.THREADS), np.int32(number)
        part = np.int32(begun), np.int32(self.share)
        self.launch(self.add_up, (blocks * shares, cuda.THREADS, 0), *rows, *self.sums, arcs, *size, *part)
        to = (self.total, self.left) if exact else (self.total,)
        left = () if exact else (np.int32(unfinished),)
        self.launch(self.add_shares, (blocks, cuda.THREADS, 0), *self.sums, *to, arcs, np.int32(shares), *left)

    def launch(self, kernel: Any, size: tuple[int, int, int], *arguments: Any) -> None:
        """Launch a kernel of `size`: (blocks, threads of a block, bytes of shared memory)."""
        blocks, threads, memory = size
        if memory:
            kernel.max_dynamic_shared_size_bytes = memory
        kernel((blocks,), (threads,), arguments, shared_mem=memory)

    def load(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the loads, float64[N·P], and what rounding left of them if exact, else None."""
        load, rest = np.zeros((2, self.task.ports.size))
        load[self.channel] = self.total.get()
        if not self.task.how.exact:
            return load, None
        rest[self.channel] = self.left.get()
        return load, rest


def shared(task: Task, index: Any, *, gathered: bool) -> int:
    """Return the bytes of shared memory of a block that searches: see search and search_twice in flows.cuh."""
    kept = (16 if task.how.exact else 8) * task.nodes if gathered else 0
    own = 0 if index == np.int32 else 2 * task.nodes + 4 * -(-task.nodes // 32)
    return -(-(kept + 12 + own) // 4) * 4


def tiles(index: Any) -> int:
    """Return the bytes of shared memory of a block of the kernel total_up."""
    return 2 * LANES * (8 * (TILE + 1) + np.dtype(index).itemsize * (TILE + 2))
