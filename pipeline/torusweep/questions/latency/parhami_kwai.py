"""Latency under contention, virtual cut-through, after Parhami & Kwai 2004 (section 5).

Every output channel is a queue in discrete time that forwards one packet a slot. In a slot, each of
`inputs` channels brings it a packet with the same probability, and the node itself brings another
one (`Arrivals`); r(i), the probability that i packets contend for the channel, follows.

The functions take numbers or arrays that broadcast against each other, and return float64 of the
broadcast shape (a scalar array for numbers). Names: degree d (channels that leave a node),
mean_distance Δ in hops (divided by N), flits F = L/W, rate m in messages per node and cycle,
utilization ρ, switch_delay s in cycles. From saturation on, ρ ≥ 1, delays are infinite and the
probability of cutting through is 0.

The paper takes all channels as equally busy; the functions `…_of_classes` have its queue once for each link class.

It (section 3.E) takes its networks for edge-transitive, so that every channel has the
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

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]

PINS = 96  # per node, the paper's
QUADRATURE = 24  # points of the integral in `cut_through`: 10⁻¹³ relative up to 99.99 % of saturation
SATURATED = 1 - 1e-12  # utilization from which a channel counts as always busy: 1, but for rounding
LINEAR = 100.0  # from this scale on, the integrand is as good as linear


class Arrivals(NamedTuple):
    """Packets that arrive at a channel's queue in a slot.

    inputs   channels that may bring a packet
    through  probability that one of them does
    local    probability of a packet of the node itself
    """

    inputs: Floats
    through: Floats
    local: Floats

    @property
    def mean(self) -> Floats:
        """Packets a slot, ρ."""
        return self.inputs * self.through + self.local

    @property
    def pairs(self) -> Floats:
        """E[A(A-1)] of the packets A in a slot."""
        together = self.inputs * self.through
        return together * (self.inputs - 1) * self.through + 2 * together * self.local


# --- without contention ------------------------------------------------------------------------


def flits(message_bits: ArrayLike, width: ArrayLike) -> Floats:
    """F = L/W of a message of L bits over channels of W bits, the paper's pins/d; real-valued, as in the paper.

    Raises ValueError for a message that is narrower than a channel, or a channel narrower than a bit.
    """
    width = _array(width)
    if (width < 1).any():
        raise ValueError(
            f"channels of {width.min():g} bits: expected a bit at least; raise the budget (of pins, or another norm)"
        )
    found = _array(message_bits) / width
    if (found < 1).any():
        raise ValueError(
            f"messages of {found.min():g} flits: expected one flit at least; lengthen the messages or lower the budget"
        )
    return found


def uncontended(flits: ArrayLike, mean_distance: ArrayLike, switch_delay: ArrayLike) -> Floats:
    """F + s(Δ - 1) cycles: the head's way, and the rest behind it."""
    return _array(flits) + _array(switch_delay) * (_array(mean_distance) - 1)


def store_and_forward(flits: ArrayLike, mean_distance: ArrayLike, switch_delay: ArrayLike) -> Floats:
    """sΔF cycles, without contention."""
    return _array(switch_delay) * _array(mean_distance) * _array(flits)


# --- load --------------------------------------------------------------------------------------


def utilization(rate: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike) -> Floats:
    """ρ = (m/d) FΔ of every channel, all being equally busy."""
    return _array(rate) / _array(degree) * _array(flits) * _array(mean_distance)


def saturation_rate(degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike) -> Floats:
    """d/(FΔ) messages per node and cycle: ρ = 1."""
    return _array(degree) / (_array(flits) * _array(mean_distance))


def arrivals(
    utilization: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike, *, directed: ArrayLike
) -> Arrivals:
    """Arrivals at a channel of utilization ρ < 1: ρ/(FΔ) from its node, the rest from d - 1 channels (d if directed).

    In an undirected network no packet goes back to where it came from.
    Raises ValueError for ρ outside 0 … 1, FΔ < 1 or channels without an input (undirected, d = 1).
    """
    busy, degree = _array(utilization), _array(degree)
    length = _array(flits) * _array(mean_distance)
    inputs = np.where(np.asarray(directed, bool), degree, degree - 1)
    if (busy < 0).any() or (busy >= SATURATED).any():
        raise ValueError(
            f"utilization: expected 0 ≤ ρ < 1, got {busy.min():g} … {busy.max():g}; at ρ ≥ 1 there is no steady state"
        )
    if (length < 1).any():
        raise ValueError(
            f"flits x mean distance: expected 1 at least, got {length.min():g}; messages need a hop or more"
        )
    if (inputs < 1).any():
        raise ValueError(
            "degree: expected 2 channels a node at least (1 in a directed network), got fewer; nothing contends there"
        )
    busy, length, inputs = np.broadcast_arrays(busy, length, inputs)
    return Arrivals(inputs, busy * (1 - 1 / length) / inputs, busy / length)


# --- contention --------------------------------------------------------------------------------


def arrival_distribution(arrivals: Arrivals) -> Floats:
    """float64[…, most inputs + 2]: q(i), the probability of i packets in a slot; Σ i q(i) = ρ."""
    most = int(arrivals.inputs.max())
    found = np.zeros((*arrivals.inputs.shape, most + 2))
    found[..., 0], found[..., 1] = 1 - arrivals.local, arrivals.local
    for number in range(most):
        chance = np.where(number < arrivals.inputs, arrivals.through, 0.0)[..., None]
        found[..., 1:] = (1 - chance) * found[..., 1:] + chance * found[..., :-1]
        found[..., :1] *= 1 - chance
    return found


def contenders(arrivals: Arrivals, states: int) -> Floats:
    """float64[…, states]: r(i), the probability that i packets contend for a channel.

    The paper's recurrence with positive terms only, which does not cancel near saturation:
    r(i+1) q(0) = r(0) P(A > i) + Σ_{j=1..i} r(j) P(A > i+1-j), from r(0) = 1 - ρ. It follows from the
    balance of the flow across the cut between i and i + 1. Σ r = 1 up to the states left out.
    """
    chances = arrival_distribution(arrivals)
    more = chances[..., ::-1].cumsum(axis=-1)[..., ::-1]  # P(A ≥ i)
    longest = chances.shape[-1] - 1  # most packets in a slot
    found = np.zeros((*arrivals.inputs.shape, states))
    found[..., 0] = 1 - arrivals.mean
    for state in range(1, states):
        total = found[..., 0] * more[..., state] if state <= longest else np.zeros(arrivals.inputs.shape)
        for back in range(1, min(state, longest)):
            total = total + found[..., state - back] * more[..., back + 1]
        found[..., state] = total / chances[..., 0]
    return found


def cut_through(arrivals: Arrivals) -> Floats:
    """1 - p_w = r(0) + Σ_{i≥1} r(i)/i: the probability that a packet meets no wait at a channel.

    With R(z) = Σ r(i) z^i = (1-ρ)(1-z)Q(z)/(Q(z)-z), Q(z) = Σ q(i) z^i, and Σ_{i≥1} r(i)/i =
    ∫₀¹ (R(z) - r(0))/z dz, it is (1-ρ) ∫₀¹ dt / (1 - P(t)), P(t) = (1 - Q(1-t))/t. Only positive terms; the pole
    next to t = 0 is taken out by t = c (e^u - 1), c its distance, before Gauss-Legendre quadrature.
    """
    free = 1 - arrivals.mean
    scale = np.minimum(
        LINEAR,
        np.divide(2 * free, arrivals.pairs, out=np.full(free.shape, LINEAR), where=arrivals.pairs > free / LINEAR),
    )
    end = np.log1p(1 / scale)
    total = np.zeros(free.shape)
    for point, weight in zip(*np.polynomial.legendre.leggauss(QUADRATURE)):
        stretched = end * (1 + point) / 2
        t = scale * np.expm1(stretched)
        lost = -np.expm1(arrivals.inputs * np.log1p(-arrivals.through * t) + np.log1p(-arrivals.local * t)) / t
        total += weight * (scale + t) / (1 - lost)
    return free * total * end / 2


def contention_delay(
    utilization: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike, *, directed: ArrayLike
) -> Floats:
    """T_c = βΔ/ρ cycles of waiting over Δ hops, β = F Σ_{i≥2} (i-1) r(i), in the paper's closed forms; inf at ρ ≥ 1.

    T_c = ρ/(2(1-ρ)) [(a-1) FΔ + 2 - (a+1)/(FΔ)] / a, where a = d - 1 (directed: d) channels come in.
    """
    busy, degree = _array(utilization), _array(degree)
    length = _array(flits) * _array(mean_distance)
    inputs = np.where(np.asarray(directed, bool), degree, degree - 1)
    steady = np.where(busy < SATURATED, busy, 0)
    return np.where(
        busy < SATURATED,
        steady / (2 * (1 - steady)) * ((inputs - 1) * length + 2 - (inputs + 1) / length) / inputs,
        np.inf,
    )


def cut_through_probability(
    utilization: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike, *, directed: ArrayLike
) -> Floats:
    """1 - p_w of a channel of utilization ρ (`cut_through`); 0 at ρ ≥ 1, where every packet waits."""
    busy = _array(utilization)
    found = cut_through(
        arrivals(np.where(busy < SATURATED, busy, 0.0), degree, flits, mean_distance, directed=directed)
    )
    return np.where(busy < SATURATED, found, 0.0)


def _array(value: ArrayLike) -> Floats:
    return np.asarray(value, np.float64)


def saturation_rate_of_classes(flits: ArrayLike, max_channel_load: ArrayLike) -> Floats:
    """1/(F max l) messages per node and cycle: the busiest channel is always busy.

    max_channel_load   > 0, flits per cycle at one flit injected per node and cycle
    """
    return 1 / (np.asarray(flits, np.float64) * np.asarray(max_channel_load, np.float64))


def mean_latency_of_classes(
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

    rate, degree, flits, switch_delay, directed, max_channel_load: numbers or arrays, as of the other functions
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
