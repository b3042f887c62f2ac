"""Columns of the table `latency`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

LATENCY = (
    Column("topology", "string", "", "canonical spelling; null for a cube whose radix is not a whole number"),
    Column(
        "model",
        "string",
        "",
        "parhami-kwai-2004: virtual cut-through, contention; dally-1990: constant bisection, no contention",
    ),
    Column("nodes", "int64", "nodes", "number of nodes", "more"),
    Column("degree", "int64", "channels", "greatest number of channels that leave a node", "less"),
    Column("directed", "bool", "", "whether links have one direction"),
    Column("mean_distance", "double", "hops", "mean distance over all pairs of nodes, equal ones included", "less"),
    Column("message_bits", "double", "bits", "length of a message, L", "neither"),
    Column(
        "constant",
        "string",
        "",
        "cost that is equal for compared networks: pins, bisection (always in dally-1990) or wiring_volume",
    ),
    Column(
        "budget",
        "double",
        "per node",
        "amount of the cost named in constant: pins, wires across the middle in both directions (of the cut"
        " bisection_upper), or pitches of all wires",
        "neither",
    ),
    Column("placement", "string", "", "placement (as in layout) by which wiring_volume counts wires, or null"),
    Column(
        "pins",
        "double",
        "pins",
        "pins of a node, one for each bit of its outgoing channels: degree x width; in dally-1990, for each bit of"
        " incoming and outgoing channels: n k",
        "less",
    ),
    Column(
        "switch_delay", "double", "cycles", "delay from a channel to the next one, s; null in dally-1990", "neither"
    ),
    Column(
        "wire_delay",
        "string",
        "",
        "in dally-1990: how the cycle time depends on the longest wire: constant, logarithmic or linear",
    ),
    Column("locality", "double", PURE, "in dally-1990: mean distance relative to that of uniform traffic", "neither"),
    Column("dimension", "int64", PURE, "in dally-1990: number of dimensions, n", "neither"),
    Column(
        "radix",
        "double",
        "nodes",
        "in dally-1990: radix k = N^(1/n), a real number; the largest radix if radices are whole",
        "neither",
    ),
    Column("radices", "string", "", "in dally-1990: whether radices are real, as in the paper, or whole"),
    Column("longest_wire", "double", "node pitches", "in dally-1990: longest wire as printed (Eq. 13)", "less"),
    Column(
        "longest_wire_corrected",
        "double",
        "node pitches",
        "longest wire in the paper's own layout of folded rings: twice longest_wire if rings have more than two nodes",
        "less",
    ),
    Column(
        "width",
        "double",
        "bits",
        "width of a channel, W: the budget over the cost of a bit (for pins: pins / degree); in dally-1990 k/2",
        "more",
    ),
    Column("flits", "double", "flits", "length of a message in flits, L/W", "less"),
    Column(
        "rate",
        "double",
        "messages/cycle/node",
        "rate at which a node sends messages, m; null in dally-1990, like all columns on contention",
        "neither",
    ),
    Column("load", "double", "flits/cycle/node", "rate in flits, m L/W", "neither"),
    Column(
        "utilization", "double", PURE, "utilization of a channel if all are equally busy: P04's rho = (m/d) F D", "less"
    ),
    Column(
        "utilization_max",
        "double",
        PURE,
        "utilization of the busiest channel: load x max_channel_load (table loads); null if it was not computed",
        "less",
    ),
    Column(
        "uncontended_latency",
        "double",
        "cycles",
        "latency of an empty network: F + s(D-1); in dally-1990 mean_latency",
        "less",
    ),
    Column(
        "store_and_forward_latency",
        "double",
        "cycles",
        "latency of an empty network in which every hop stores the whole message",
        "less",
    ),
    Column("cut_through_probability", "double", PURE, "probability of no wait at a hop, as printed: 1 - p_w", "more"),
    Column(
        "contention_delay",
        "double",
        "cycles",
        "sum of the waits along a path, as printed: T_c; infinite from saturation on",
        "less",
    ),
    Column("mean_latency", "double", "cycles", "mean latency as printed; infinite from saturation on", "less"),
    Column(
        "mean_latency_corrected",
        "double",
        "cycles",
        "mean latency if link classes are as busy as minimal routing makes them, null if loads were not computed; in"
        " dally-1990 mean latency with longest_wire_corrected",
        "less",
    ),
    Column("saturated", "bool", "", "whether mean_latency is infinite: rate >= saturation_rate"),
    Column("saturated_corrected", "bool", "", "whether mean_latency_corrected is infinite"),
    Column("saturation_rate", "double", "messages/cycle/node", "saturation rate as printed: d / (F D)", "more"),
    Column(
        "saturation_rate_corrected",
        "double",
        "messages/cycle/node",
        "rate at which the busiest channel saturates: 1 / (F max_channel_load)",
        "more",
    ),
    Column("saturation_bits", "double", "bits/cycle/node", "saturation_rate in bits, as printed: d W / D", "more"),
    Column(
        "saturation_bits_corrected",
        "double",
        "bits/cycle/node",
        "saturation_rate_corrected in bits: saturation_load (table loads) x width",
        "more",
    ),
    Column(
        "best_dimension",
        "int64",
        PURE,
        "in dally-1990: n with the least mean_latency for these nodes, message_bits, wire_delay and locality; the"
        " lowest if there are several",
        "neither",
    ),
    Column("best_dimension_corrected", "int64", PURE, "in dally-1990: n of least mean_latency_corrected", "neither"),
)
TABLE = Declaration(
    *("latency", "a network, model and rate: mean latency by a paper's model", LATENCY),
    title="Latency by a model",
    apart=(
        *("model", "constant", "budget", "placement", "message_bits", "switch_delay", "wire_delay", "locality"),
        *("radices", "rate"),
    ),
    choose=("model", "placement", "constant"),
    how=("budget",),
    usual={"model": "parhami-kwai-2004"},
    along="rate",
    made_of=("static", "loads", "layout"),
)
