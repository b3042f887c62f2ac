"""Channel loads of a network under a routing and a traffic pattern, computed exactly or sampled.

A load is the flits per cycle over a channel, if terminals inject one flit per cycle on average, divided by the
channel's bandwidth (the flits per cycle of one link, times the number of parallel links).
"""
