"""How traffic loads the channels of a network under a routing: exactly, or sampled.

Loads are in flits per cycle at one flit injected per terminal and cycle, on average over the
terminals, divided by the channel's bandwidth: flits a cycle of a link, times the number of parallel links.
"""

from torusweep.stages.loads.channels import ChannelLoads, MaximumEstimate, channel_table, record_of
from torusweep.stages.loads.exact import exact_loads
from torusweep.stages.loads.monte_carlo import sampled_loads

__all__ = [
    "ChannelLoads",
    "MaximumEstimate",
    "channel_table",
    "exact_loads",
    "record_of",
    "sampled_loads",
]
