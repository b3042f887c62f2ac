"""Tables of a few rows, with text, maps, lists and nulls."""

from __future__ import annotations

import pyarrow as pa

STATIC = pa.table(
    {
        "topology": ["ring(k=8)", "torus(k=4, n=2)", "hypercube(n=4)", '</script>\x1b[31m"'],
        "nodes": [8, 16, 16, 1],
        "degree_max": [2, 4, 4, 0],
        "diameter": [4, 4, 4, 0],
        "cost": pa.array([8, 16, 16, None], pa.int64()),
        "mean_distance": [2.0, 2.0, 2.0, float("nan")],
        "connected": [True, True, True, None],
        "parameters": pa.array([[("k", 8)], [("k", 4), ("n", 2)], [("n", 4)], None], pa.map_(pa.string(), pa.int64())),
        "distance_histogram": [[8, 16, 16, 16, 8], [16, 64, 96, 64, 16], None, [1]],
    }
)
DISTANCES = pa.table({"topology": ["ring(k=8)", "ring(k=8)"], "distance": [0, 1], "pairs": [8, 16]})
