"""Latency of virtual cut-through with contention, after Parhami & Kwai 2004 (section 5).

Every output channel is a queue in discrete time that forwards one packet a slot. In each slot, each of
`inputs` channels brings a packet with the same probability, and the node itself may bring another one
(`Arrivals`). From this follows r(i), the probability that i packets contend for the channel.

The functions take numbers or arrays that broadcast, and return float64 of the broadcast shape (a scalar
array for numbers). Symbols: degree d (channels that leave a node), mean distance Δ in hops (a node with
itself included), flits F = L/W, rate m in messages per node and cycle, utilization ρ, switch delay s in
cycles. From saturation on (ρ ≥ 1), delays are infinite and the probability of cutting through is 0.

The paper (section 3.E) assumes edge-transitive networks, in which every channel has the utilization
ρ = (m/d) FΔ. Pruned tori and many other networks are not edge-transitive. For these, the functions
`…_of_classes` use the paper's queue with a utilization for each link class. The share 1/(FΔ) of a channel's
packets that enter the network there, and the number of channels that feed it, stay the same. Our derivation:

- A channel of load l (flits per cycle if each node injects one flit per cycle, in the table `loads` for minimal
  routing and uniform traffic) has the utilization m F l. Equal loads are l = Δ/d and give the paper's ρ.
- A message makes h_c of its Δ hops over links of class c, and meets a queue of the class's mean load at each. It
  waits T_c = Σ_c h_c w(ρ_c), where w(ρ) is the paper's wait for one hop. A hop is of class c with probability
  h_c/Δ, so the probability that a message meets no wait at a hop is 1-p_w = Σ_c (h_c/Δ) (1-p_w(ρ_c)).
- T = [F + s(Δ-1)] (1-p_w) + T_c, which is the paper's formula if all classes are equally busy.
- The network saturates when its busiest channel does, at m = 1/(F max l), and T is infinite from there on. If
  the channels of a class are equally busy, as in the paper's networks, T grows without bound towards this rate.
  Otherwise the mean load of a class is less than its maximum, and T jumps to infinity.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]

PINS = 96  # pins of a node in the paper
QUADRATURE = 24  # points of the integral in `cut_through`: relative error 10⁻¹³ up to 99.99 % of saturation
SATURATED = 1 - 1e-12  # utilization from which a channel counts as always busy: 1, with room for rounding
LINEAR = 100.0  # scale from which on the integrand is nearly linear


class Arrivals(NamedTuple):
    """Packets that arrive at a channel's queue in a slot.

    inputs   number of channels that may bring a packet
    through  probability, for each of these channels, that it brings a packet
    local    probability that the node itself brings a packet
    """

    inputs: Floats
    through: Floats
    local: Floats

    @property
    def mean(self) -> Floats:
        """Mean number of packets that arrive in a slot, ρ."""
        return self.inputs * self.through + self.local

    @property
    def pairs(self) -> Floats:
        """E[A(A-1)], where A is the number of packets that arrive in a slot."""
        together = self.inputs * self.through
        return together * (self.inputs - 1) * self.through + 2 * together * self.local


def flits(message_bits: ArrayLike, width: ArrayLike) -> Floats:
    """Return the flits F = L/W, a real number, of a message of L bits on channels of W bits (in the paper, W = pins/d).

    Raises ValueError for a message of fewer bits than a channel, or a channel of less than one bit.
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
    """Return the latency without contention in cycles, F + s(Δ - 1): the time of the head and of the later flits."""
    return _array(flits) + _array(switch_delay) * (_array(mean_distance) - 1)


def store_and_forward(flits: ArrayLike, mean_distance: ArrayLike, switch_delay: ArrayLike) -> Floats:
    """Return the latency of store-and-forward without contention in cycles, sΔF."""
    return _array(switch_delay) * _array(mean_distance) * _array(flits)


def utilization(rate: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike) -> Floats:
    """Return the utilization of every channel if all channels are equally busy, ρ = (m/d) FΔ."""
    return _array(rate) / _array(degree) * _array(flits) * _array(mean_distance)


def saturation_rate(degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike) -> Floats:
    """Return the rate at which ρ = 1 if channels are equally busy, d/(FΔ), in messages per node and cycle."""
    return _array(degree) / (_array(flits) * _array(mean_distance))


def arrivals(
    utilization: ArrayLike, degree: ArrayLike, flits: ArrayLike, mean_distance: ArrayLike, *, directed: ArrayLike
) -> Arrivals:
    """Return the arrivals at a channel of utilization ρ < 1. ρ/(FΔ) come from its node, the rest from other channels.

    The other channels are d in a directed network. In an undirected network they are d - 1, as no packet turns back.
    Raises ValueError for ρ < 0, ρ ≥ 1, FΔ < 1, or an undirected network of degree 1, where nothing contends.
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


def arrival_distribution(arrivals: Arrivals) -> Floats:
    """Return q(i), the probability that i packets arrive in a slot, float64[…, most inputs + 2]; Σ i q(i) = ρ."""
    most = int(arrivals.inputs.max())
    found = np.zeros((*arrivals.inputs.shape, most + 2))
    found[..., 0], found[..., 1] = 1 - arrivals.local, arrivals.local
    for number in range(most):
        chance = np.where(number < arrivals.inputs, arrivals.through, 0.0)[..., None]
        found[..., 1:] = (1 - chance) * found[..., 1:] + chance * found[..., :-1]
        found[..., :1] *= 1 - chance
    return found


def contenders(arrivals: Arrivals, states: int) -> Floats:
    """Return r(i), the probability that i packets contend for a channel, float64[…, states].

    The paper's recurrence is written with positive terms only, so that nothing cancels near saturation:
    r(i+1) q(0) = r(0) P(A > i) + Σ_{j=1..i} r(j) P(A > i+1-j), with r(0) = 1 - ρ. It follows from the balance of the
    flow across the cut between the states i and i + 1. Σ r is 1 minus the probability of the states that are left out.
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
    """Return the probability that a packet need not wait at a channel: 1 - p_w = r(0) + Σ_{i≥1} r(i)/i.

    From R(z) = Σ r(i) z^i = (1-ρ)(1-z)Q(z)/(Q(z)-z), where Q(z) = Σ q(i) z^i, and from Σ_{i≥1} r(i)/i =
    ∫₀¹ (R(z) - r(0))/z dz, it is (1-ρ) ∫₀¹ dt / (1 - P(t)), where P(t) = (1 - Q(1-t))/t. All terms are positive. The
    substitution t = c (e^u - 1) removes the pole at distance c from t = 0 before Gauss-Legendre quadrature.
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
    """Return a message's waits over Δ hops in cycles, T_c = βΔ/ρ, where β = F Σ_{i≥2} (i-1) r(i); inf if ρ ≥ 1.

    In closed form T_c = ρ/(2(1-ρ)) [(a-1) FΔ + 2 - (a+1)/(FΔ)] / a, with a = d - 1 input channels (directed: d).
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
    """Return the probability that a packet does not wait at a channel, 1 - p_w (see `cut_through`); 0 if ρ ≥ 1."""
    busy = _array(utilization)
    found = cut_through(
        arrivals(np.where(busy < SATURATED, busy, 0.0), degree, flits, mean_distance, directed=directed)
    )
    return np.where(busy < SATURATED, found, 0.0)


def _array(value: ArrayLike) -> Floats:
    return np.asarray(value, np.float64)


def saturation_rate_of_classes(flits: ArrayLike, max_channel_load: ArrayLike) -> Floats:
    """Return the rate at which the busiest channel saturates, in messages per node and cycle: 1/(F max l).

    max_channel_load   largest load, > 0, in flits per cycle if each node injects one flit per cycle
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
    """Return mean latency T in cycles if link classes have different loads; inf if the busiest channel is saturated.

    Other parameters are numbers or arrays, as for the other functions.
    class_loads  float64[…, C]: mean load of each class's channels, in flits per cycle at one flit per cycle and node
    class_hops   float64[…, C]: mean number of a message's hops over each class, which add up to Δ
    returns      float64 of the broadcast shape without C
    Raises ValueError where `arrivals` does.
    """
    loads, hops = np.asarray(class_loads, np.float64), np.asarray(class_hops, np.float64)
    distance = hops.sum(axis=-1)
    sent = np.asarray(rate, np.float64) * np.asarray(flits, np.float64)
    saturated = sent * np.asarray(max_channel_load, np.float64) >= SATURATED
    over_classes = {"degree": degree, "flits": flits, "mean_distance": distance, "directed": directed}
    queue = {name: np.asarray(value)[..., None] for name, value in over_classes.items()}
    busy = np.where(saturated, 0.0, sent)[..., None] * loads  # a class's mean load is at most the greatest load
    share = hops / distance[..., None]
    through = (share * cut_through_probability(busy, **queue)).sum(axis=-1)
    waits = (share * contention_delay(busy, **queue)).sum(axis=-1)
    return np.where(saturated, np.inf, uncontended(flits, distance, switch_delay) * through + waits)
