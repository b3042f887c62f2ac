"""Compute the table `latency`, column by column, for every combination of networks and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from torusweep.questions.latency import dally, parhami_kwai
from torusweep.questions.latency import parhami_kwai as model
from torusweep.questions.latency.columns import LATENCY
from torusweep.questions.latency.dally import whole_radices
from torusweep.questions.latency.normalisation import BISECTION, NORMS, PINS, Constraint, channel_width
from torusweep.tables.columns import arrow_schema

Columns: TypeAlias = dict[str, Any]  # name → array or list; all have the same length, and NaN stands for null

PARHAMI_KWAI, DALLY = "parhami-kwai-2004", "dally-1990"
MODELS = (PARHAMI_KWAI, DALLY)
AS_PRINTED = Constraint(PINS, model.PINS)


class ModelInputs(NamedTuple):
    """A network's inputs for the model of Parhami & Kwai.

    degree            greatest degree of a node; the printed model assumes that every node has this degree
    class_loads, class_hops, max_channel_load
                      loads and hops by link class, for uniform traffic on minimal routes (table `loads`), or None
    """

    topology: str
    nodes: int
    degree: int
    directed: bool
    mean_distance: float
    class_loads: Sequence[float] | None = None
    class_hops: Sequence[float] | None = None
    max_channel_load: float | None = None


def network_of(static: Mapping[str, Any], loads: Mapping[str, Any] | None = None) -> ModelInputs:
    """Return the model's inputs for a network from its rows of `static` and, for minimal routes, of `loads`.

    Raises ValueError for a network that is not connected, or has nodes without terminals.
    """
    if not static["connected"]:
        raise ValueError(
            f"{static['topology']}: expected a connected network; the mean distance leaves out nodes that cannot reach"
            " each other"
        )
    if static["terminals"] != static["nodes"]:
        raise ValueError(
            f"{static['topology']}: expected every node to send, got {static['terminals']} terminals at"
            f" {static['nodes']} nodes"
        )
    network = ModelInputs(
        static["topology"], static["nodes"], static["degree_max"], static["directed"], static["mean_distance"]
    )
    if loads is None:
        return network
    by_class, hops = dict(loads["per_class_load"]), dict(loads["per_class_hops"])
    means = [by_class[name]["mean"] for name in hops]
    return network._replace(
        class_loads=means, class_hops=list(hops.values()), max_channel_load=loads["max_channel_load"]
    )


def width_of(constraint: Constraint, static: Mapping[str, Any], layout: Mapping[str, Any] | None = None) -> float:
    """Return the width of a network's channels in bits under a constraint, from its rows of `static` and `layout`.

    Raises ValueError, with the network's name, if a column that the constraint needs is missing, or the cost is 0.
    """
    name, columns = static["topology"], NORMS[constraint.norm].columns
    record = {**static, **(layout or {})}
    if any(record.get(column) is None for column in columns):
        where = f" placed {constraint.placement}" if constraint.placement else ""
        raise ValueError(f"{name}: expected its {', '.join(columns)}{where} with constant {constraint.norm}, got none")
    try:
        return float(
            channel_width(constraint.norm, constraint.budget, **{column: record[column] for column in columns})
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def check(network: ModelInputs, message_bits: Sequence[float], width: float) -> None:
    """Raise ValueError, with the network's name, if the model does not apply to it. width: bits of its channels."""
    try:
        if network.mean_distance < 1:
            raise ValueError(
                f"mean distance: expected a hop at least, got {network.mean_distance:g}; nothing is switched there"
            )
        model.arrivals(
            0.0, network.degree, model.flits(min(message_bits), width), network.mean_distance, directed=network.directed
        )
    except ValueError as error:
        raise ValueError(f"{network.topology}: {error}") from None


def parhami_kwai_columns(
    networks: Sequence[ModelInputs],
    widths: Sequence[float],
    *,
    message_bits: Sequence[float],
    switch_delay: Sequence[float],
    constraint: Constraint = AS_PRINTED,
    placements: Sequence[str | None] = (),
    rates: Sequence[float] = (),
    of_saturation: Sequence[float] = (),
) -> Columns:
    """Return the columns of rows for every network, message length, switch delay and rate; the rate varies fastest.

    widths         bits of each network's channels
    constraint     the cost that is equal for all networks, and determines their widths
    placements     placement of each network if the constraint counts wires; otherwise ()
    rates          messages per node and cycle
    of_saturation  further rates, as shares of each network's printed saturation_rate
    Raises ValueError if the model does not apply to a network (`check`).
    """
    for network, width in zip(networks, widths, strict=True):
        check(network, message_bits, width)
    shape = (len(networks), len(message_bits), len(switch_delay), len(rates) + len(of_saturation))
    which, bits, delay, choice = (index.reshape(-1) for index in np.indices(shape))

    def each(value: Callable[[ModelInputs], Any]) -> np.ndarray:
        return np.array([value(network) for network in networks])[which]

    degree, distance, directed = each(lambda n: n.degree), each(lambda n: n.mean_distance), each(lambda n: n.directed)
    length, delays = np.array(message_bits, np.float64)[bits], np.array(switch_delay, np.float64)[delay]
    width = np.array(widths, np.float64)[which]
    flits = model.flits(length, width)
    limit = model.saturation_rate(degree, flits, distance)
    rate = np.concatenate([np.array(rates, np.float64), np.array(of_saturation, np.float64)])[choice] * np.where(
        choice < len(rates), 1.0, limit
    )
    busy = model.utilization(rate, degree, flits, distance)
    contention = model.contention_delay(busy, degree, flits, distance, directed=directed)
    through = model.cut_through_probability(busy, degree, flits, distance, directed=directed)
    empty = model.uncontended(flits, distance, delays)
    latency = empty * through + contention
    known = {
        "topology": each(lambda n: n.topology).astype(object),
        "model": np.full(len(which), PARHAMI_KWAI, object),
        "nodes": each(lambda n: n.nodes),
        "degree": degree,
        "directed": directed,
        "mean_distance": distance,
        "message_bits": length,
        "constant": np.full(len(which), constraint.norm, object),
        "budget": np.full(len(which), float(constraint.budget)),
        "placement": np.array(placements or [None] * len(networks), object)[which],
        "pins": np.full(len(which), float(constraint.budget)) if constraint.norm == PINS else width * degree,
        "switch_delay": delays,
        "width": width,
        "flits": flits,
        "rate": rate,
        "load": rate * flits,
        "utilization": busy,
        "uncontended_latency": empty,
        "store_and_forward_latency": model.store_and_forward(flits, distance, delays),
        "cut_through_probability": through,
        "contention_delay": contention,
        "mean_latency": latency,
        "saturated": np.isinf(latency),
        "saturation_rate": limit,
        "saturation_bits": limit * length,
    }
    return _complete(known | _corrected(networks, which, known), len(which))


def _corrected(networks: Sequence[ModelInputs], which: np.ndarray, known: Columns) -> Columns:
    """Return the corrected columns, by the loads of link classes; null for networks whose loads are unknown."""
    most = max((len(network.class_hops or ()) for network in networks), default=0)
    loads, hops = np.zeros((2, len(networks), most))
    for number, network in enumerate(networks):
        if network.class_loads is not None and network.class_hops is not None:
            loads[number, : len(network.class_loads)], hops[number, : len(network.class_hops)] = (
                network.class_loads,
                network.class_hops,
            )
    highest = np.array([network.max_channel_load or np.nan for network in networks])[which]
    there = np.flatnonzero(~np.isnan(highest))
    numbers = {name: known[name][there] for name in ("rate", "degree", "flits", "switch_delay", "directed")}
    of_classes = {
        "class_loads": loads[which[there]],
        "class_hops": hops[which[there]],
        "max_channel_load": highest[there],
    }
    latency = np.full(len(which), np.nan)
    latency[there] = parhami_kwai.mean_latency_of_classes(**numbers, **of_classes) if len(there) else ()
    return {
        "utilization_max": known["load"] * highest,
        "mean_latency_corrected": latency,
        "saturated_corrected": np.where(np.isnan(latency), None, np.isinf(latency)),
        "saturation_rate_corrected": parhami_kwai.saturation_rate_of_classes(known["flits"], highest),
        "saturation_bits_corrected": known["width"] / highest,
    }


def dally_columns(
    nodes: Sequence[int],
    *,
    message_bits: Sequence[float],
    wire_delay: Sequence[str] = ("constant",),
    locality: Sequence[float] = (1.0,),
    whole: bool = False,
) -> Columns:
    """Return columns for every number of nodes, message length, wire delay, locality and dimension, the last fastest.

    whole   whether radices are whole numbers, mixed if necessary; otherwise k = N^(1/n) is a real number
    Raises ValueError where `dally.designs` does.
    """
    parts = [_cubes(count, message_bits, wire_delay, locality, whole) for count in nodes]
    return {column.name: np.concatenate([part[column.name] for part in parts]) for column in LATENCY}


def _cubes(
    nodes: int, message_bits: Sequence[float], wire_delay: Sequence[str], locality: Sequence[float], whole: bool
) -> Columns:
    designs = dally.designs(nodes, whole=whole)
    shape = (len(message_bits), len(wire_delay), len(locality), len(designs))
    which_bits, delay, which_locality, design = (index.reshape(-1) for index in np.indices(shape))
    dimensions = np.array([n for n, _ in designs])
    cube = dally.Cube(
        *(np.array([getattr(found, name) for _, found in designs])[design] for name in dally.Cube._fields)
    )
    bits, near = np.array(message_bits, np.float64)[which_bits], np.array(locality, np.float64)[which_locality]

    def cycles(latency: Callable[..., Any], cube: dally.Cube) -> np.ndarray:
        return np.stack([latency(cube, bits, delay=model, locality=near) for model in wire_delay])[
            delay, np.arange(len(delay))
        ]

    def best(latency: np.ndarray) -> np.ndarray:
        return np.repeat(
            dimensions[latency.reshape(shape).argmin(axis=-1)].reshape(-1), len(designs)
        )  # argmin takes the lowest dimension if several are best

    folded = cube.folded()
    latency, corrected = cycles(dally.wormhole, cube), cycles(dally.wormhole, folded)
    mixed = whole_radices(nodes) if whole else {}
    radices = [mixed[n] if whole else _equal(float(2 * found.width), n) for n, found in designs]
    known = {
        "topology": np.array([_cube_spelling(found) for found in radices], object)[design],
        "model": np.full(len(design), DALLY, object),
        "nodes": np.full(len(design), nodes),
        "directed": np.full(len(design), True),
        "degree": dimensions[design],
        "mean_distance": cube.mean_distance * near,
        "message_bits": bits,
        "constant": np.full(len(design), BISECTION, object),
        "budget": np.ones(len(design)),
        "pins": cube.pins,
        "wire_delay": np.array(wire_delay, object)[delay],
        "locality": near,
        "dimension": dimensions[design],
        "radix": 2 * cube.width,
        "radices": np.full(len(design), "whole" if whole else "real", object),
        "longest_wire": cube.longest_wire,
        "longest_wire_corrected": folded.longest_wire,
        "width": cube.width,
        "flits": bits / cube.width,
        "uncontended_latency": latency,
        "store_and_forward_latency": cycles(dally.store_and_forward, cube),
        "mean_latency": latency,
        "mean_latency_corrected": corrected,
        "best_dimension": best(latency),
        "best_dimension_corrected": best(corrected),
    }
    return _complete(known, len(design))


def _equal(radix: float, dimension: int) -> list[int] | None:
    return [int(radix)] * dimension if radix.is_integer() else None


def _cube_spelling(radices: Sequence[int] | None) -> str | None:
    if radices is None:
        return None
    equal = len(set(radices)) == 1
    return (
        f"torus(k={radices[0]}, n={len(radices)}, directed=true)"
        if equal
        else f"torus(radices={list(radices)}, directed=true)"
    )


def arrow_table(columns: Columns) -> pa.Table:
    """Convert columns to an Arrow table with the schema of the table `latency`."""
    schema = arrow_schema(LATENCY)
    return pa.Table.from_arrays(
        [pa.array(columns[field.name], field.type, from_pandas=True) for field in schema], schema=schema
    )


def _complete(known: Columns, rows: int) -> Columns:
    """Add null columns that a model does not compute, and put all columns into the table's order."""
    return {
        column.name: known.get(column.name, np.full(rows, np.nan if column.type == "double" else None))
        for column in LATENCY
    }
