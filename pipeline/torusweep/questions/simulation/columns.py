"""Columns of the table `simulation`."""

from torusweep.tables.columns import LOST, LOST_TRAFFIC, Column
from torusweep.tables.table import By, Declaration

SIMULATION = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column("vc_rule", "string", "", "spelling of the virtual-channel rule; with adaptive routing, the escape's rule"),
    Column("virtual_channels", "int64", "channels", "virtual channels of every physical channel", "less"),
    Column("switching", "string", "", "wormhole, virtual-cut-through or store-and-forward"),
    Column("buffer_flits", "int64", "flits", "capacity of every virtual channel's buffer", "less"),
    Column("packet_flits", "int64", "flits", "length of every packet; the longest length of a mix", "neither"),
    Column("packet_mix", "string", "", "lengths of packets and their shares, as in 1:0.5,5:0.5; null for one length"),
    Column("flit_bytes", "int64", "bytes", "size of a flit, by which sizes in bytes are converted to flits", "neither"),
    Column(
        "cycle_ns",
        "double",
        "ns",
        "length of a cycle: the time that a flit takes over a link of one flit per cycle; null if the network has no"
        " units",
        "neither",
    ),
    Column(
        "input_speedup",
        "int64",
        "channels",
        "number of virtual channels of an input port that may send a flit in the same cycle",
        "neither",
    ),
    Column("router", "string", "", "preset that supplies the router's delays, and parameters that are not given"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern; null for a workload"),
    Column(
        "injection",
        "string",
        "",
        "canonical spelling of the process that generates packets (bernoulli, poisson or bursts); null for messages"
        " and for a fixed batch",
    ),
    Column(
        "source_queue",
        "int64",
        "packets",
        "capacity of a node's source queue; packets generated while it is full are refused; null if unlimited",
        "neither",
    ),
    Column(
        "packets_each",
        "int64",
        "packets",
        "packets that every terminal sends in a fixed batch, all ready in cycle 0; null for other traffic",
        "neither",
    ),
    Column(
        "workload",
        "string",
        "",
        "canonical spelling of the workload, each of whose messages is sent once; null for a traffic pattern",
    ),
    Column(
        "placement",
        "string",
        "",
        "placement of the workload's tasks on terminals: consecutive, or random and different for each seed",
    ),
    Column("messages", "int64", "messages", "number of the workload's messages between different tasks", "neither"),
    Column(
        "message_latency",
        "double",
        "cycles",
        "mean time from the sending of a message to the arrival of its last packet",
        "less",
    ),
    Column("p99_message_latency", "int64", "cycles", "message latency that 99 % of the messages do not exceed", "less"),
    Column(
        "cycles", "int64", "cycles", "length of a run, warm-up included; null for a workload without a limit", "neither"
    ),
    Column(
        "warm_up",
        "int64",
        "cycles",
        "cycles at the start of the runs that are not measured, given or detected",
        "neither",
    ),
    Column(
        "stationary",
        "bool",
        "",
        "whether the network fills within a fifth of the runs: the detected warm-up; null if it was given, or"
        " if no packet arrives in the second half",
    ),
    Column("seeds", "list<int64>", "", "seeds of the row's runs"),
    Column(
        "offered_load",
        "double",
        "flits/cycle/terminal",
        "requested load, including packets to their own source; null for a fixed batch or a workload",
        "neither",
    ),
    Column(
        "generated_load",
        "double",
        "flits/cycle/terminal",
        "load that the terminals generated during measurement",
        "neither",
    ),
    Column(
        "accepted_load",
        "double",
        "flits/cycle/terminal",
        "flits delivered during measurement; packets to their own source count, and are delivered at once, but not in"
        " an unfinished batch",
        "more",
    ),
    Column(
        "accepted_load_error",
        "double",
        "flits/cycle/terminal",
        "half the width of the 95 % confidence interval of accepted_load, by batch means, corrected for their"
        " correlation and skewness; null with fewer than two batches",
        "less",
    ),
    Column(
        "network_latency",
        "double",
        "cycles",
        "mean time from the departure of a packet's head from the source queue to the arrival of its tail",
        "less",
    ),
    Column(
        "network_latency_error",
        "double",
        "cycles",
        "half the width of the 95 % confidence interval of network_latency, computed like accepted_load_error; null"
        " with fewer than two batches, if the measurement is shorter than 20 mean latencies, or if not stationary",
        "less",
    ),
    Column(
        "total_latency",
        "double",
        "cycles",
        "mean time from the generation of a packet to the arrival of its tail; beyond saturation it grows with the run",
        "less",
    ),
    Column(
        "total_latency_error",
        "double",
        "cycles",
        "half the width of the 95 % confidence interval of total_latency, computed like accepted_load_error; null"
        " with fewer than two batches, if the measurement is shorter than 20 mean latencies, or if not stationary",
        "less",
    ),
    Column("p50_latency", "int64", "cycles", "total latency that half of the packets do not exceed", "less"),
    Column("p99_latency", "int64", "cycles", "total latency that 99 % of the packets do not exceed", "less"),
    Column(
        "latency_histogram",
        "list<struct<latency: int64, packets: int64>>",
        "cycles",
        "number of packets in each bin of total latency, by the bin's lower end: a bin per cycle up to 32, then 16 per"
        " doubling",
    ),
    Column(
        "packets", "int64", "packets", "packets delivered over links during measurement, all seeds together", "neither"
    ),
    Column(
        "refused_packets",
        "int64",
        "packets",
        "packets refused during measurement because the source queue was full, all seeds together",
        "less",
    ),
    Column(
        "saturated",
        "bool",
        "",
        "whether accepted_load < 0.98 generated_load with 95 % confidence, or packets deadlocked; null if"
        " accepted_load is less, but not with this confidence (a longer run may decide)",
    ),
    Column(
        "simulated_saturation",
        "double",
        "flits/cycle/terminal",
        "highest offered load found that is not saturated; null if it was not searched for",
        "more",
    ),
    Column(
        "saturation_precision",
        "double",
        "flits/cycle/terminal",
        "distance from simulated_saturation to the lowest load found that is saturated",
        "less",
    ),
    Column(
        "mean_channel_utilization",
        "double",
        "flits/cycle",
        "mean utilization of all channels (each parallel link), after a given warm-up or in the second half of the run",
        "less",
    ),
    Column("max_channel_utilization", "double", "flits/cycle", "utilization of the busiest channel", "less"),
    Column(
        "per_class_utilization",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "mean and largest utilization of each link class",
    ),
    Column(
        "vc_occupancy",
        "list<double>",
        "flits",
        "for each virtual-channel number, flits in its buffers: mean over time, sum over channels",
    ),
    Column(
        "delivery_time",
        "double",
        "cycles",
        "time until the last packet of a fixed batch or a workload has arrived, mean over seeds; null for other"
        " traffic or if the cycles did not suffice",
        "less",
    ),
    Column("deadlocked", "bool", "", "whether packets waited for each other in a circle"),
    Column(
        "deadlock_cycle",
        "int64",
        "cycles",
        "cycle since which the deadlocked packets have not moved, for the first seed that deadlocked",
        "neither",
    ),
    Column(
        "waiting",
        "list<string>",
        "",
        "channels of a circular wait, in order: node, its digits, direction, virtual channel; null without a deadlock",
    ),
    *LOST,
    LOST_TRAFFIC,
)
TABLE = Declaration(
    *("simulation", "a network, routing, traffic and offered load: latency, saturation", SIMULATION),
    always=("topology", "routing", "virtual_channels", "packet_flits"),
    apart=(
        *("routing", "vc_rule", "virtual_channels", "switching", "buffer_flits", "packet_flits", "packet_mix"),
        *("input_speedup", "router", "traffic", "injection", "source_queue", "packets_each", "workload", "placement"),
        *("cycles", "offered_load"),
    ),
    choose=("routing", "traffic", "router", "placement"),
    how=("vc_rule", "virtual_channels"),
    best=(
        By("lost_pairs", first=0),
        By("simulated_saturation", most=True),
        By("accepted_load", most=True),
        By("routing"),
    ),
    along="offered_load",
    of_curve=("simulated_saturation", "saturation_precision"),
)
