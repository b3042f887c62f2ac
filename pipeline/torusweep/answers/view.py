"""The view `designs`: one row for each network, with its best routing under uniform traffic and its shortest wires.

Nothing here imports the stages, which takes a second: a query of other tables needs none of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

VIEW = "designs"
SWEEP = "sweep"  # the column of several sweeps' tables that names a row's sweep
VIEWED = ("static", "loads", "layout")  # the tables whose columns the view has
# the best routing of a network is the first in this order, one that loses no pairs; loads that differ only by rounding
# are equal
BEST_ROUTING = {
    "loads": ("lost_pairs > 0", "round(saturation_load, 9) DESC NULLS LAST", "routing <> 'minimal'", "routing"),
    "simulation": (
        "lost_pairs > 0",
        "simulated_saturation DESC NULLS LAST",
        "accepted_load DESC NULLS LAST",
        "routing",
    ),
    "deadlock": ("lost_pairs > 0", "least_virtual_channels NULLS LAST", "routing"),
}
# which of a network's rows the view takes: the first by these columns
ORDER = {
    "static": ("fault_nodes NULLS LAST",),
    "loads": ("traffic <> 'uniform'", "traffic", *BEST_ROUTING["loads"]),
    "layout": ("block IS NOT NULL", "wire_length_max NULLS LAST", "placement"),
}


def view(present: Mapping[str, Sequence[str]]) -> str:
    """SQL that makes the view `designs`: one row for each network, of each sweep.

    present  the columns that each table of VIEWED has
    """
    keys = [key for key in (SWEEP, "topology") if all(key in columns for columns in present.values())]
    selected = list(keys)
    taken = set(keys)
    joins = ""
    for table in VIEWED:
        known = set(present[table])
        order = [*keys, *(term for term in ORDER[table] if known.intersection(re.findall(r"\w+", term)))]
        rows = f'(SELECT DISTINCT ON ({", ".join(keys)}) * FROM "{table}" ORDER BY {", ".join(order)}) AS "{table}"'
        joins += f" LEFT JOIN {rows} USING ({', '.join(keys)})" if joins else rows
        for column in present[table]:
            if column not in keys:
                name = f"{table}_{column}" if column in taken else column
                selected.append(f'"{table}"."{column}" AS "{name}"')
                taken.add(name)
    return f'CREATE VIEW "{VIEW}" AS SELECT {", ".join(selected)} FROM {joins}'
