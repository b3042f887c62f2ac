"""A network simulated flit by flit, cycle by cycle: a batch of experiments that differ in their packets.

Packets are made outside (when, where, how long) and their routes are settled at the source; this
kernel moves them and says when each entered and arrived. Everything is deterministic.

**Generation.** A packet is generated in the cycle that its `time` says. Where the batch has messages, a message's
packets are generated together: `delay` cycles after the last of the messages that it waits for was delivered, that is
the tail of the last of its packets; what was delivered in cycle t is known from t + 1 on. A message without packets is
a step of computation, delivered in the cycle in which it is generated, and known in that cycle. What is generated joins
the end of its node's source queue, in one cycle by the number of message and packet. A queue may be bounded by
`source_queue`: what is generated in a cycle and still stands there, after empty injection VCs have taken packets,
beyond so many packets is refused. It is gone.

**The router.** A node has an input port for each channel that leads to it, in the order of (node, port)
that the channel leaves, and behind these `injection_flits` injection ports. Every input port has V
virtual channels (VCs); those of a channel hold B flits, first in, first out. Outputs are the node's
ports, and ejection. A channel of capacity c ≤ V takes up to c flits a cycle, of different VCs. An injection VC
holds one packet whole; one that is empty takes the next packet of the node's source queue (VC 0 of every injection port
first, then VC 1 …). A cycle t has four steps; all nodes decide on what they see at its beginning:

1. Flits sent earlier arrive, credits return, empty injection VCs take packets generated at t or before.
   A packet whose head stands first in its VC, nothing of another packet before it, comes
   forward (with store-and-forward once it is there whole; where it is ejected, as soon as its head is); its
   route is known `route_delay` cycles later.
2. *VC allocation.* A head that is to leave by a channel chooses one of the VCs that its class may use:
   that are held by no packet and have room, the one with the most credits, the lowest of equal ones.
   Each output port grants one VC a cycle: to the first choosing input VC in round-robin order (input port,
   then VC) after the one granted last. The packet holds the VC until its tail is sent, and its flits may
   be sent from `vc_delay` cycles later on. Ejection needs no VC and is granted at once, to any number.
3. *Switch allocation*, separable, input first. Each input port nominates, of its VCs with a flit, a route, and a
   credit (ejection: without), the first `input_speedup` × capacity of its channel in round-robin order after the one
   that last sent (of several the last in that order; injection: capacity 1). Each output port takes, of the VCs
   nominated for it, as many as its channel's capacity: those of the first input port in round-robin order after the one
   that it last took from (of several the last in that order), in the order of nomination, then the next port's;
   ejection `ejection_flits` of them. With `transit_first` an injection port is taken (in both allocations) only where
   no channel's asks.
4. Winners send a flit. It arrives at the far end at t + switch_delay + delay of the channel; an ejected one
   is delivered at t + switch_delay. Its place is free to the sender at t + credit_delay. A tail frees the VC that the
   packet held for allocation at t + 1.

**Room.** wormhole: none is needed. virtual-cut-through, store-and-forward: credits for the whole packet.
With `bubble`, a packet on the escape VCs that goes on in its direction on the VC that it is in needs that;
any other choice of an escape VC (entering, turning, changing VC, leaving an adaptive one) needs room for the longest
packet of the experiment besides.

**Routes.** A packet's runs are taken in order, and its VCs are those of the class of the hop (see `Wiring`). With
`adaptive`, the VCs from `escape` on carry packets in the direction of any run that has hops left; a head chooses among
all of these first, and an escape VC only where none has room. Of equal credits it takes the run with most hops left,
which keeps its choice open for longest, then the earlier run, then the lower VC. Escape VCs take the first run
that has hops left, in the class for the rest of it: column 0 while this hop or a later one of the run crosses a
dateline, else column 1, whatever `memory` says (Duato 1993 needs a class that follows from node and destination). In
wormhole switching an adaptive VC must be empty to be chosen, so that a head never waits behind another packet there
(Duato 1993 lets a queue hold one message's flits).

**Latency of a lone packet** of L flits over H hops, in cycles from its generation to its delivery, where
B covers the credits' round trip or the whole packet:

    (H + 1) (route_delay + vc_delay + switch_delay) + the delays of its channels + (L − 1) × (store-and-forward: max(H,
    1); else 1)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.task import MEMORIES, REFUSED, SWITCHINGS, Batch, Messages, Router, Simulated, Wiring

__all__ = [
    "MEMORIES",
    "REFUSED",
    "SWITCHINGS",
    "Batch",
    "Messages",
    "Router",
    "Simulated",
    "Wiring",
    "simulate",
    "state_bytes",
]


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

    wiring, router, batch          see these
    direction, hops, phase         int8, int16, int8 [R, L]   of the runs of each row of routes; runs of 0 hops are
                                                              skipped
    cycles                         1 … 2³⁰
    measure_from                   first cycle that counts for `flits` and `occupancy`
    stall                          ≥ 1; every `stall` cycles, an experiment in which some flit has not moved for as long
                                   is searched for a deadlock: packets that wait for each other, and for no packet that
                                   can move. A deadlock ends the experiment
    backend                        auto, numpy, numba or cupy; results are the same
    threads                        CPU threads of numba, by default all that it may use; a thread runs an experiment.
                                   With two or more threads for each experiment, several threads run one that has at
                                   least 256 nodes and no messages
    progress                       numba calls it every `stall` cycles of an experiment with the share of all that has
                                   been simulated, 0 … 1. The share of an experiment is that of its cycles or of its
                                   delivered packets, whichever is larger

    Raises ValueError for arrays that contradict each other, a router that cannot work, or a route that does not lead
    to its packet's destination; `torusweep_kernels.backend.BackendUnavailable` for cupy without a GPU,
    `torusweep_kernels.backend.GpuOutOfMemory` where not even one experiment fits there.
    """
    task = checked(wiring, router, direction, hops, phase, batch, cycles, measure_from, stall, threads)
    chosen = backends.resolve(backend)
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
    backend: str = "numba",
) -> int:
    """Bytes that an experiment takes while it runs on one thread (with numba, an experiment a thread), beyond the
    arrays that `simulate` is given.

    packets, runs, shortest   so many, so many runs a route, and the shortest one's flits
    messages, waits           so many, and pairs of one that waits and one that it waits for
    backend                   numba, in memory, or cupy, in the GPU's
    """
    from torusweep_kernels.router import device, live

    how = wiring, router, packets, runs, shortest, messages, waits
    return sum(map(live.size, device.layout(*how) if backend == "cupy" else [live.layout(*how)]))
