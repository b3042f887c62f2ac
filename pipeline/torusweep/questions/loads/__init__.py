"""How traffic loads the channels of a network under a routing: exactly, or sampled.

Loads are in flits per cycle at one flit injected per cycle per terminal, on average over the
terminals, divided by the channel's bandwidth: flits a cycle of a link, times the number of parallel links.
"""
