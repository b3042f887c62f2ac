"""A network simulated flit by flit, cycle by cycle: a batch of experiments that differ in their packets.

The caller provides the packets (time, source, destination, length) and chooses their routes at the source. This
kernel moves the packets and returns when each packet entered the network and arrived. Everything is deterministic.

**Generation.** A packet is generated in the cycle of its `time`. If the batch has messages, the packets of a message
are generated together, `delay` cycles after the last of the messages that it waits for was delivered. A message is
delivered with the tail of its last packet; a delivery in cycle t is known from t + 1 on. A message without packets is a
step of computation: it is delivered in the cycle in which it is generated, and known in that cycle. Generated packets
join the end of their node's source queue; those of one cycle are ordered by the numbers of message and packet.
`source_queue` bounds the queue: first, empty injection VCs take packets; then the packets of this cycle that exceed the
bound are refused and dropped.

**The router.** A node has an input port for each channel that leads to it, in the order of (node, port) of the
channel's tail. `injection_flits` injection ports follow. Every input port has V virtual channels (VCs); those of a
channel hold B flits, first in, first out. The outputs are the node's ports, and ejection. A channel of capacity c ≤ V
carries up to c flits a cycle, of different VCs. An injection VC holds one whole packet. An empty one takes the next
packet of the node's source queue (first VC 0 of every injection port, then VC 1, …). A cycle t has four steps; all
nodes decide on the state at its beginning:

1. *Arrival.* Flits sent earlier arrive, credits return, and empty injection VCs take packets generated at t or before.
   Route computation begins when a packet's head is the first flit of its VC and no flit of another packet is left
   there (with store-and-forward: when the whole packet is there, unless it is ejected here). It ends `route_delay`
   cycles later.
2. *VC allocation.* A head that leaves by a channel requests one of the VCs that its class may use. The candidates are
   free and have room; it requests the one with the most credits, or the lowest of equals. Each output port grants one
   VC a cycle, to the first requesting input VC in round-robin order (input port, then VC) after the last granted one.
   The packet holds the VC until its tail is sent. Its flits may be sent from `vc_delay` cycles later on. Ejection
   needs no VC; any number of packets is granted it at once.
3. *Switch allocation* is separable, input first. Each input port nominates VCs that have a flit, a route and a credit
   (ejection needs none): the first `input_speedup` × capacity of its channel, in round-robin order after the VC that
   sent last (if several sent, after the last of them); an injection port nominates the first `injection_speedup`.
   Each output port takes as many of the VCs nominated for it as its channel's capacity. It begins with the first input
   port in round-robin order after the one that it took from last, takes its VCs in the order of nomination, and goes on
   with the next port. Ejection takes `ejection_flits` of them. With `transit_first`, both allocations take an injection
   port only where no channel's port requests.
4. *Switch traversal.* Winners send a flit. It arrives at the other end at t + switch_delay + delay of the channel; an
   ejected flit is delivered at t + switch_delay. The sender gets its credit back at t + credit_delay + back of the
   channel. After a tail, the VC that the packet held is free for allocation at t + 1.

**Room.** Wormhole switching needs no room; the other two kinds of switching need credits for the whole packet. With
`bubble`, a packet on an escape VC that continues in its direction and on its VC needs credits for the whole packet. Any
other use of an escape VC (after injection, a turn, another VC, an adaptive VC) also needs room for the longest
packet of the experiment.

**Routes.** A packet takes its runs in order; the class of a hop gives its VCs (see `Wiring`). With `adaptive`, the VCs
from `escape` on carry packets in the direction of any run that has hops left. A head chooses among all of these first,
and takes an escape VC only if none of them has room. If credits are equal, it takes the run with the most hops left,
which keeps its choice open for longest; then the earlier run; then the lower VC. Escape VCs take the first run that has
hops left, in the class for the rest of it: column 0 while this or a later hop of the run crosses a dateline, else
column 1, whatever `memory` is (Duato 1993 needs a class that follows from node and destination). In wormhole switching
a head takes an adaptive VC only where it is empty, so that it never waits there behind another packet (Duato 1993
allows a queue the flits of one message).

**Detours.** If a batch has `detours`, a packet chooses, when its route computation after k = 0, 1, … hops ends,
between what is left of its route and its detour after k hops, if it has one; the VC allocation of that cycle is the
first to know. Once on a detour, it chooses no more, and datelines that it crossed before count no longer. What it
compares is the state at the end of the cycle before. A channel is occupied by the flits that were sent over it and
whose credit has not returned, and by the flits that the fronts of the node's input VCs are still to send over it, if
their route computation has ended. With view local, a packet compares q · h of both routes: q flits occupy the route's
first channel, h hops are left. If both routes begin with the same channel, each counts the VCs of its phase's class
before a dateline only, and the fronts that may use these. (UGAL-L; Singh 2005, and for the shared channel Kim, Dally,
Scott and Abts 2008, sec. 4.3.) With view global, it compares the flits that occupy all channels of each route
(UGAL-G). It takes the detour if its own route's number exceeds the detour's by more than `threshold`. (Progressive
adaptive routing, Jiang, Kim and Dally 2009: detours after more than 0 hops.)

**Latency of a lone packet** of L flits over H hops, in cycles from its generation to its delivery, if B covers the
round trip of the credits or the whole packet:

    (H + 1) (route_delay + vc_delay + switch_delay) + the delays of its channels + (L − 1) · w,

w = max(H, 1) with store-and-forward, else 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.task import (
    MEMORIES,
    REFUSED,
    SWITCHINGS,
    VIEWS,
    Batch,
    Detours,
    Messages,
    Router,
    Simulated,
    Wiring,
)

__all__ = [
    "MEMORIES",
    "REFUSED",
    "SWITCHINGS",
    "VIEWS",
    "Batch",
    "Detours",
    "Messages",
    "Router",
    "Simulated",
    "Wiring",
    "simulate",
    "state_bytes",
]


LARGE = 2**13  # nodes of all experiments from which auto uses a GPU (estimated: benchmarks/README.md)


def simulate(
    wiring: Wiring,
    router: Router,
    direction: np.ndarray,
    hops: np.ndarray,
    phase: np.ndarray,
    batch: Batch,
    *,
    cycles: int,
    measure_from: int = 0,
    stall: int = 2000,
    backend: str = "auto",
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulated:
    """Run every experiment of the batch until all its packets are delivered, it is deadlocked, or `cycles` have passed.

    wiring, router, batch          see the classes `Wiring`, `Router` and `Batch`
    direction, hops, phase         int8, int16, int8 [R, L]: the runs of each route; runs of 0 hops are skipped
    cycles                         1 … 2³⁰
    measure_from                   first cycle that counts for `flits` and `occupancy`
    stall                          ≥ 1; every `stall` cycles, an experiment in which some flit has not moved for as long
                                   is searched for a deadlock: packets that wait for each other, and for no packet that
                                   can move. A deadlock ends the experiment
    backend                        auto, numpy, numba or cupy; results are the same. auto: cupy for 8,192 nodes or more
                                   in all experiments together if there is a GPU, otherwise numba
    threads                        CPU threads of numba, by default all that it may use; a thread runs an experiment.
                                   With two or more threads for each experiment, several threads run one that has at
                                   least 256 nodes and no messages
    progress                       numba calls it every `stall` cycles of an experiment with the share of all that has
                                   been simulated, 0 … 1. The share of an experiment is that of its cycles or of its
                                   delivered packets, whichever is larger

    Raises ValueError for arrays that contradict each other, a router that cannot work, or a route that does not lead
    to its packet's destination; `torusweep_kernels.backend.BackendUnavailable` for cupy without a GPU,
    `torusweep_kernels.backend.GpuOutOfMemory` if not even one experiment fits the GPU.
    """
    task = checked(wiring, router, direction, hops, phase, batch, cycles, measure_from, stall, threads)
    chosen = backends.resolve(backend, large=len(batch.first) * len(wiring.to) >= LARGE)
    return backends.implementation(__name__, chosen).simulated(task, threads, progress)


def state_bytes(
    wiring: Wiring,
    router: Router,
    *,
    packets: int,
    runs: int,
    shortest: int = 1,
    messages: int = 0,
    waits: int = 0,
    detours: int = 0,
    backend: str = "numba",
) -> int:
    """Return the bytes of an experiment that runs on one thread (with numba, one per thread), without those of
    the arguments of `simulate`.

    packets, runs, shortest   number of packets, of runs of a route, and of flits of the shortest packet
    messages, waits           number of messages, and of pairs of a message and another that it waits for
    detours                   number K of detours of a packet, as in `Detours`
    backend                   numba for main memory, cupy for the GPU's memory
    """
    from torusweep_kernels.router import gpu_state, state

    how = wiring, router, packets, runs, shortest, messages, waits
    if backend == "cupy":
        return sum(map(state.size, gpu_state.layout(*how, detours=detours)))
    return state.size(state.layout(*how, detours=detours))
