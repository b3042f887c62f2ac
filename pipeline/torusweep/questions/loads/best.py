"""The best routing of a network under a traffic: the row of loads that counts where a reader wants a single one.

It loses no pairs and has the greatest saturation load. Among equals minimal routing wins, then the first by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

EQUAL = 9  # decimals; loads that differ only by rounding are equal
BEST_FIRST = ("lost_pairs > 0", f"round(saturation_load, {EQUAL}) DESC NULLS LAST", "routing <> 'minimal'", "routing")


def best_first(row: Mapping[str, Any]) -> tuple[bool, float, bool, str]:
    """The order of BEST_FIRST as a sort key."""
    load = row["saturation_load"]
    return (
        bool(row["lost_pairs"]),
        inf if load is None else -round(load, EQUAL),
        row["routing"] != "minimal",
        row["routing"],
    )
