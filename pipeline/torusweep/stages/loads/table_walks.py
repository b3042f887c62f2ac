"""Packets of a routing table, counted on every channel."""

from __future__ import annotations

import numpy as np

from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.as_table import Draws, drawn_rows


def count_walks(
    routing: TableRouting, source: np.ndarray, destination: np.ndarray, group: np.ndarray, groups: int, draws: Draws
) -> np.ndarray:
    """int64[groups · N · P]: the packets of each group that pass each channel; `draws` as of `drawn_rows`."""
    ports = routing.topology.ports
    counts = np.zeros(groups * ports.size, np.int64)
    for packets, row in drawn_rows(routing, source, destination, draws):
        channel = routing.at[routing.owner[row]].astype(np.int64) * ports.shape[1] + routing.port[row]
        counts += np.bincount(group[packets] * ports.size + channel, minlength=len(counts))
    return counts
