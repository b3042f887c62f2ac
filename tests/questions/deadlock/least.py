"""The least number of virtual channels of a routing, sought once: the search is half of a record's work."""

from __future__ import annotations

from collections.abc import Callable

from torusweep.questions.deadlock.record import LeastVirtualChannels, least_virtual_channels
from torusweep.routing import Routing
from torusweep.routing.forms import AdaptiveRouting


def once() -> Callable[..., LeastVirtualChannels]:
    """Takes the place of `least_virtual_channels` where every rule and number is asked about a routing."""
    known: dict[tuple[str, str], LeastVirtualChannels] = {}

    def least(routing: str, form: Routing | AdaptiveRouting, *rest: object) -> LeastVirtualChannels:
        key = routing, form.topology.spelling
        if key not in known:
            known[key] = least_virtual_channels(routing, form, {})
        return known[key]

    return least
