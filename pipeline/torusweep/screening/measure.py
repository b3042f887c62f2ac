"""Lattices in batches → an Arrow table of the numbers that choose a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from torusweep_kernels.lattices import measure_lattices

from torusweep.screening import bounds
from torusweep.screening.columns import SCREEN
from torusweep.tables.columns import arrow_schema


def screen_lattices(
    forms: np.ndarray,
    sizes: np.ndarray | None = None,
    *,
    spellings: pa.Array[Any] | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> pa.Table:
    """A row for each lattice, with the columns `SCREEN`.

    forms      int32[B, n, n]  Hermite normal forms of lattices of as many nodes each
    sizes      int32[B]        lattices of each one's class; null in the rows if None
    spellings  string[B]       of each one's network; as in lattice(matrix=[[4, 2], [0, 2]]) if None

    Raises BackendUnavailable for cupy without a GPU.
    """
    n = forms.shape[1]
    nodes = int(np.diagonal(forms[0]).astype(np.int64).prod()) if len(forms) else 1
    measured = measure_lattices(forms, backend=backend, threads=threads)
    degree, histogram = measured.degree.astype(np.int64), nodes * measured.histogram.astype(np.int64)
    diameter = (histogram > 0).sum(axis=1) - 1
    total = histogram @ np.arange(histogram.shape[1])
    busiest = measured.load.max(axis=1)
    of_graphs = {int(d): bounds.moore_levels(nodes, int(d)) for d in np.unique(degree)}
    of_lattices = bounds.lattice_levels(nodes, n)
    values = {
        "topology": lattice_spellings(forms) if spellings is None else spellings,
        "nodes": np.full(len(forms), nodes),
        "dimensions": np.full(len(forms), n),
        "matrix": _lists(forms.reshape(len(forms), n * n), np.full(len(forms), n * n)),
        "class_size": pa.nulls(len(forms)) if sizes is None else sizes,
        "degree": degree,
        "links": nodes * degree // 2,
        "connected": np.ones(len(forms), bool),
        "diameter": diameter,
        "distance_sum": total,
        "mean_distance": total / nodes**2,
        "mean_distance_distinct": total / max(nodes * (nodes - 1), 1),
        "distance_histogram": _lists(histogram, diameter + 1),
        "load": _lists(measured.load, np.full(len(forms), n)),
        "max_channel_load": busiest,
        "saturation_load": pa.array(1 / np.where(busiest > 0, busiest, 1), mask=busiest == 0),
        "diameter_bound": np.array([bounds.diameter(of_graphs[int(d)]) for d in degree], np.int64),
        "mean_distance_bound": np.array([bounds.distance_sum(of_graphs[int(d)]) / nodes for d in degree]),
        "lattice_diameter_bound": np.full(len(forms), bounds.diameter(of_lattices)),
        "lattice_mean_distance_bound": np.full(len(forms), bounds.distance_sum(of_lattices) / nodes),
    }
    schema = arrow_schema(SCREEN)
    arrays = [pa.array(values[field.name]).cast(field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _lists(rows: np.ndarray, lengths: np.ndarray) -> pa.Array[Any]:
    """A list for each row: its first `length` values."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat: pa.Array[Any] = pa.array(rows[np.arange(rows.shape[1]) < lengths[:, None]])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat)


def lattice_spellings(forms: np.ndarray) -> pa.Array[Any]:
    """The spelling that every command takes of each lattice, as in lattice(matrix=[[4, 2], [0, 2]])."""
    pieces: list[Any] = []
    for row in range(forms.shape[1]):
        pieces += ["], [" if row else "lattice(matrix=[[", *_listed(forms[:, row])]
    return pc.binary_join_element_wise(*pieces, "]])", "")


def circulant_spellings(steps: np.ndarray, nodes: int) -> pa.Array[Any]:
    """The spelling of each circulant graph, as in circulant(n=13, steps=[1, 5]); steps int32[B, k]."""
    return pc.binary_join_element_wise(f"circulant(n={nodes}, steps=[", *_listed(steps), "])", "")


def _listed(numbers: np.ndarray) -> list[Any]:
    """Arrays of strings which, joined, are each row's numbers with commas between them."""
    columns = [pa.array(column).cast(pa.string()) for column in numbers.T]
    return [piece for place, column in enumerate(columns) for piece in ([", "] if place else []) + [column]]
