"""Columns of the table `simulation`."""

from torusweep.tables.columns import Column

SIMULATION = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column(
        "vc_rule", "string", "", "canonical spelling of the virtual-channel rule; of adaptive routing, its escape's"
    ),
    Column("virtual_channels", "int64", "channels", "virtual channels of every physical one"),
    Column("switching", "string", "", "wormhole, virtual-cut-through or store-and-forward"),
    Column("buffer_flits", "int64", "flits", "buffer of every virtual channel"),
    Column("packet_flits", "int64", "flits", "length of every packet"),
    Column(
        "input_speedup",
        "int64",
        "channels",
        "virtual channels of an input port that may send in the same cycle, a flit each",
    ),
    Column("router", "string", "", "preset that gave the router's delays, and what was not asked for otherwise"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern; null of a workload"),
    Column(
        "injection",
        "string",
        "",
        (
            "when terminals generate packets: bernoulli, poisson or bursts, canonical spelling;"
            " null of messages and of a fixed batch"
        ),
    ),
    Column(
        "source_queue",
        "int64",
        "packets",
        "that the queue of a node's source holds; what is generated when it is full is refused; null: any number",
    ),
    Column(
        "packets_each",
        "int64",
        "packets",
        "of a fixed batch: packets of every terminal, all ready in cycle 0; null where packets keep coming",
    ),
    Column(
        "workload", "string", "", "canonical spelling of the messages that are sent, each once; null where packets are"
    ),
    Column(
        "placement", "string", "", "of the workload's tasks on terminals: consecutive, or random, anew for each seed"
    ),
    Column("messages", "int64", "messages", "of the workload, between different tasks"),
    Column("message_latency", "double", "cycles", "mean from a message's sending to its last packet's arrival"),
    Column("p99_message_latency", "int64", "cycles", "that 99 % of the messages do not exceed"),
    Column(
        "cycles",
        "int64",
        "cycles",
        "length of a run, the warm-up included; null of a workload that takes as many as it needs",
    ),
    Column(
        "warm_up",
        "int64",
        "cycles",
        "what does not count at its beginning: as given, or detected (MSER-5); the longest of the seeds'",
    ),
    Column("seeds", "list<int64>", "", "seeds of the runs that the row is about"),
    Column(
        "offered_load",
        "double",
        "flits/cycle/terminal",
        "load asked for, packets to their own source included; null of a fixed batch or a workload",
    ),
    Column("generated_load", "double", "flits/cycle/terminal", "load that the terminals did generate while measuring"),
    Column(
        "accepted_load",
        "double",
        "flits/cycle/terminal",
        "flits delivered while measuring; packets to their own source count, at once (not of a batch cut short)",
    ),
    Column(
        "accepted_load_error",
        "double",
        "flits/cycle/terminal",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column(
        "network_latency",
        "double",
        "cycles",
        "mean from a packet's head leaving the source queue to its tail's arrival",
    ),
    Column(
        "network_latency_error",
        "double",
        "cycles",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column(
        "total_latency",
        "double",
        "cycles",
        "mean from a packet's generation to its tail's arrival; grows with the run where saturated",
    ),
    Column(
        "total_latency_error",
        "double",
        "cycles",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column("p50_latency", "int64", "cycles", "total latency that half of the packets do not exceed"),
    Column("p99_latency", "int64", "cycles", "total latency that 99 % of the packets do not exceed"),
    Column(
        "latency_histogram",
        "list<struct<latency: int64, packets: int64>>",
        "cycles",
        "packets by total latency, of each bin its lower end: a bin a cycle up to 32, then 16 to every doubling",
    ),
    Column("packets", "int64", "packets", "packets delivered while measuring, all seeds together"),
    Column(
        "refused_packets",
        "int64",
        "packets",
        "generated while measuring when the source queue was full, all seeds together",
    ),
    Column(
        "saturated",
        "bool",
        "",
        (
            "accepted_load < 0.98 generated_load with 95 % confidence, or deadlocked;"
            " null where it is less without that confidence: run longer"
        ),
    ),
    Column(
        "simulated_saturation",
        "double",
        "flits/cycle/terminal",
        "highest offered load found that is not saturated; null where it was not sought",
    ),
    Column(
        "saturation_precision", "double", "flits/cycle/terminal", "a load that is saturated lies so much higher at most"
    ),
    Column(
        "mean_channel_utilization",
        "double",
        "flits/cycle",
        "over all channels (of parallel links, each link's), after a given warm-up, or in the second half of the run",
    ),
    Column("max_channel_utilization", "double", "flits/cycle", "of the busiest channel"),
    Column(
        "per_class_utilization",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "the same of each link class",
    ),
    Column(
        "vc_occupancy",
        "list<double>",
        "flits",
        "in the buffers of each virtual channel number, mean over time, all channels together",
    ),
    Column(
        "delivery_time",
        "double",
        "cycles",
        (
            "of a fixed batch or a workload: until the last packet has arrived, mean over seeds;"
            " null where cycles did not suffice"
        ),
    ),
    Column("deadlocked", "bool", "", "packets waited for each other and nothing moved any more"),
    Column("deadlock_cycle", "int64", "cycles", "cycle since which nothing moved, of the first seed that stopped"),
    Column(
        "waiting",
        "list<string>",
        "",
        "channels of a cyclic wait, in order: node, its digits, direction, virtual channel; null without deadlock",
    ),
)
