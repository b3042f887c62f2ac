"""How traffic loads the channels of a network under a routing: exactly, or sampled.

Loads are flits per cycle, when terminals inject one flit per cycle on average, divided by the channel's
bandwidth: flits a cycle of a link, times the number of parallel links.
"""
