"""Columns of the table `simulation`."""

from torusweep.tables.columns import LOST, LOST_TRAFFIC, Column
from torusweep.tables.table import By, Declaration

SIMULATION = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column(
        "vc_rule", "string", "", "canonical spelling of the virtual-channel rule; of adaptive routing, its escape's"
    ),
    Column("virtual_channels", "int64", "channels", "virtual channels of every physical channel", "less"),
    Column("switching", "string", "", "wormhole, virtual-cut-through or store-and-forward"),
    Column("buffer_flits", "int64", "flits", "buffer of every virtual channel", "less"),
    Column("packet_flits", "int64", "flits", "length of every packet; of a mix, the longest", "neither"),
    Column("packet_mix", "string", "", "lengths of packets and their shares, as in 1:0.5,5:0.5; null: one length"),
    Column("flit_bytes", "int64", "bytes", "of a flit: sizes in bytes become flits by it", "neither"),
    Column(
        "cycle_ns",
        "double",
        "ns",
        "length of a cycle, the time of a flit over a link that carries a flit a cycle; null where the network has no"
        " units",
        "neither",
    ),
    Column(
        "input_speedup",
        "int64",
        "channels",
        "virtual channels of an input port that may each send a flit in the same cycle",
        "neither",
    ),
    Column(
        "router", "string", "", "preset of the router's delays, and of parameters that the configuration leaves out"
    ),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern; null for a workload"),
    Column(
        "injection",
        "string",
        "",
        "process that generates packets: bernoulli, poisson or bursts, canonical spelling; null for messages "
        "and for a fixed batch",
    ),
    Column(
        "source_queue",
        "int64",
        "packets",
        "capacity of a node's source queue; packets generated while it is full are refused; null: unlimited",
        "neither",
    ),
    Column(
        "packets_each",
        "int64",
        "packets",
        "of a fixed batch: packets of every terminal, all ready in cycle 0; null for other traffic",
        "neither",
    ),
    Column(
        "workload",
        "string",
        "",
        "canonical spelling of the workload, whose messages are sent once; null for a traffic pattern",
    ),
    Column(
        "placement",
        "string",
        "",
        "placement of the workload's tasks on terminals: consecutive, or random for each seed",
    ),
    Column("messages", "int64", "messages", "messages of the workload between different tasks", "neither"),
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
        "cycles at its start that are not measured, as given or detected (MSER-5); the longest over the seeds",
        "neither",
    ),
    Column("seeds", "list<int64>", "", "seeds of the row's runs"),
    Column(
        "offered_load",
        "double",
        "flits/cycle/terminal",
        "requested load, packets to their own source included; null for a fixed batch or a workload",
        "neither",
    ),
    Column(
        "generated_load",
        "double",
        "flits/cycle/terminal",
        "load that the terminals generated while measuring",
        "neither",
    ),
    Column(
        "accepted_load",
        "double",
        "flits/cycle/terminal",
        "flits delivered while measuring, packets to their own source included (delivered at once; left out "
        "of an unfinished batch)",
        "more",
    ),
    Column(
        "accepted_load_error",
        "double",
        "flits/cycle/terminal",
        "half the width of its 95 % confidence interval, by batch means, corrected for their correlation and"
        " skewness; null with fewer than two batches",
        "less",
    ),
    Column(
        "network_latency",
        "double",
        "cycles",
        "mean time from a packet's head leaving the source queue to its tail's arrival",
        "less",
    ),
    Column(
        "network_latency_error",
        "double",
        "cycles",
        "half the width of its 95 % confidence interval, by batch means, corrected for their correlation and"
        " skewness; null with fewer than two batches, or where the measured cycles are less than 20 latencies",
        "less",
    ),
    Column(
        "total_latency",
        "double",
        "cycles",
        "mean time from a packet's generation to its tail's arrival; grows with the run beyond saturation",
        "less",
    ),
    Column(
        "total_latency_error",
        "double",
        "cycles",
        "half the width of its 95 % confidence interval, by batch means, corrected for their correlation and"
        " skewness; null with fewer than two batches, or where the measured cycles are less than 20 latencies",
        "less",
    ),
    Column("p50_latency", "int64", "cycles", "total latency that half of the packets do not exceed", "less"),
    Column("p99_latency", "int64", "cycles", "total latency that 99 % of the packets do not exceed", "less"),
    Column(
        "latency_histogram",
        "list<struct<latency: int64, packets: int64>>",
        "cycles",
        "packets by total latency, as lower ends of bins and counts: a bin for each cycle up to 32, then 16 "
        "bins for each doubling",
    ),
    Column(
        "packets", "int64", "packets", "packets delivered over links while measuring, all seeds together", "neither"
    ),
    Column(
        "refused_packets",
        "int64",
        "packets",
        "packets refused while measuring because the source queue was full, all seeds together",
        "less",
    ),
    Column(
        "saturated",
        "bool",
        "",
        "accepted_load < 0.98 generated_load with 95 % confidence, or deadlocked; null if it is less without "
        "that confidence: run longer",
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
        "distance to the lowest load found that is saturated",
        "less",
    ),
    Column(
        "mean_channel_utilization",
        "double",
        "flits/cycle",
        "mean over all channels (each of parallel links), after a given warm-up, or in the second half of the run",
        "less",
    ),
    Column("max_channel_utilization", "double", "flits/cycle", "utilization of the busiest channel", "less"),
    Column(
        "per_class_utilization",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "utilization of each link class",
    ),
    Column(
        "vc_occupancy",
        "list<double>",
        "flits",
        "flits in the buffers of each virtual channel number, mean over time, sum over channels",
    ),
    Column(
        "delivery_time",
        "double",
        "cycles",
        "of a fixed batch or a workload: time until the last packet has arrived, mean over seeds; null if the"
        " cycles did not suffice",
        "less",
    ),
    Column("deadlocked", "bool", "", "packets waited for each other in a circle"),
    Column(
        "deadlock_cycle",
        "int64",
        "cycles",
        "cycle since which these packets have not moved, for the first seed that deadlocked",
        "neither",
    ),
    Column(
        "waiting",
        "list<string>",
        "",
        "channels of a circular wait, in order: node, its digits, direction, virtual channel; null without deadlock",
    ),
    *LOST,
    LOST_TRAFFIC,
)
TABLE = Declaration(
    *("simulation", "a network, routing, traffic and offered load: latency, saturation", SIMULATION),
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
