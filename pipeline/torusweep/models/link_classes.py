"""Parhami & Kwai's latency where channels are not equally busy: their queue, once for each link class.

The paper (section 3.E) takes its networks for edge-transitive, so that every channel has the
utilization ρ = (m/d) FΔ. Pruned tori are not, and others need not be. What stays: the queue at a
channel, the share 1/(FΔ) of its packets that enter the network there, and the number of channels
that feed it. What changes is how busy it is. Own derivation:

- A channel of load l (flits per cycle at one flit injected per node and cycle: the table `loads`,
  minimal routing, uniform traffic) has the utilization m F l. Equal loads are l = Δ/d, the paper's ρ.
- A message makes h_c of its Δ hops over links of class c, and meets at each a queue of that class's
  mean load. It waits T_c = Σ_c h_c w(ρ_c), w(ρ) the paper's wait for one hop; and a hop is of class c
  with probability h_c/Δ, so that it is met free with probability 1-p_w = Σ_c (h_c/Δ) (1-p_w(ρ_c)).
- T = [F + s(Δ-1)] (1-p_w) + T_c, as in the paper, to which it reduces where all classes are equally busy.
- The network saturates where its busiest channel does, m = 1/(F max l), and T is infinite from there
  on. Where the channels of a class are equally busy, as in the paper's networks, T grows without
  bound towards it; elsewhere the mean of a class is less than its maximum, and T jumps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torusweep.models.parhami_kwai import SATURATED, Floats, contention_delay, cut_through_probability, uncontended


def saturation_rate(flits: ArrayLike, max_channel_load: ArrayLike) -> Floats:
    """1/(F max l) messages per node and cycle: the busiest channel is always busy.

    max_channel_load   > 0, flits per cycle at one flit injected per node and cycle
    """
    return 1 / (np.asarray(flits, np.float64) * np.asarray(max_channel_load, np.float64))


def mean_latency(
    rate: ArrayLike,
    degree: ArrayLike,
    flits: ArrayLike,
    switch_delay: ArrayLike,
    *,
    directed: ArrayLike,
    class_loads: ArrayLike,
    class_hops: ArrayLike,
    max_channel_load: ArrayLike,
) -> Floats:
    """T in cycles, over link classes of unequal loads; inf from the busiest channel's saturation on.

    rate, degree, flits, switch_delay, directed, max_channel_load: numbers or arrays, as in `parhami_kwai`
    class_loads  float64[…, C]: mean load of each class's channels, flits/cycle at one flit/cycle/node injected
    class_hops   float64[…, C]: mean hops of a message over each class, together Δ; 0 for an absent class
    returns      float64 of the broadcast shape, without C
    Raises ValueError as the printed model does.
    """
    loads, hops = np.asarray(class_loads, np.float64), np.asarray(class_hops, np.float64)
    distance = hops.sum(axis=-1)
    sent = np.asarray(rate, np.float64) * np.asarray(flits, np.float64)
    saturated = sent * np.asarray(max_channel_load, np.float64) >= SATURATED
    over_classes = {"degree": degree, "flits": flits, "mean_distance": distance, "directed": directed}
    queue = {name: np.asarray(value)[..., None] for name, value in over_classes.items()}
    busy = np.where(saturated, 0.0, sent)[..., None] * loads  # no class's mean is more than the maximum of all
    share = hops / distance[..., None]
    through = (share * cut_through_probability(busy, **queue)).sum(axis=-1)
    waits = (share * contention_delay(busy, **queue)).sum(axis=-1)
    return np.where(saturated, np.inf, uncontended(flits, distance, switch_delay) * through + waits)
