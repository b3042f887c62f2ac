"""torusweep place: where to put the axes of a job on a slice."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

import click
import numpy as np

from torusweep import documents
from torusweep.cli import options
from torusweep.cli.place_text import as_json_value, print_placements
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.placements.job import Job, job_of
from torusweep.placements.machine import machine
from torusweep.placements.ranking import Links, Placement, check_axes, rank
from torusweep.quantities import bandwidth_of, seconds_of

SUFFIXES = (".npy", ".json")


def _read_job(path: Path) -> Job:
    name = str(path)
    document = documents.parse(
        documents.read_bytes(path, "job in YAML", "leave out what is no axis or operation"), name
    )
    return job_of(document.data, name, document.values, document.keys)


def _write(path: Path, axes: dict[str, int], placement: Placement) -> None:
    if path.suffix == ".npy":
        np.save(path, placement.devices)
        return
    value = {"axis_names": list(axes), "shape": list(axes.values()), "devices": placement.devices.tolist()}
    path.write_text(json.dumps(value) + "\n")


@click.command()
@options.topology
@click.option(
    "--job",
    "job_path",
    required=True,
    type=click.Path(path_type=Path),
    help="YAML file: the axes of the job, and what each does in a step.",
)
@click.option("--bandwidth", default="50GB/s", show_default=True, help="Of a link, in each direction.")
@click.option("--latency", default="1us", show_default=True, help="Of each step of a collective.")
@click.option("--top", type=click.IntRange(1, 100), default=10, show_default=True, help="Placements to show.")
@options.json_output
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    callback=options.writable,
    help="Write the best order of the devices to this file, .npy or .json.",
)
def place(
    topology: str, job_path: Path, bandwidth: str, latency: str, top: int, as_json: bool, output: Path | None
) -> None:
    """Where to put the axes of a job (tensor, expert, data, pipeline parallel) on a slice, by comparing all placements.

    A placement divides the dimensions of the slice among the axes, and orders the ranks of each axis: row-major, as a
    Hamiltonian cycle, a snake, or folded. Each operation runs in all groups of its axis at once; its time follows from
    the exact load of the busiest link. The network is a slice, torus, mesh or twisted torus of at most 8,192 nodes.

    The job's file has axes and operations (all_gather, reduce_scatter, all_reduce, all_to_all, broadcast, permute,
    exchange), or the shape of a transformer, from which they follow; docs/placement.md has both.

    \b
      axes: {ep: 16, tp: 8}
      operations:
        - {axis: tp, operation: all_gather, bytes: 64MiB, times: 4}
        - {axis: ep, operation: all_to_all, bytes: 32MiB, times: 4}

    The output is the order of the devices, for jax.sharding.Mesh(numpy.array(devices)[order], axis_names): the number
    of the node, x fastest, of each rank.

    \b
    Examples:
      torusweep place "slice(radices=[8, 16], wrap=[false, true])" --job job.yaml
      torusweep place "pod_slice(shape=[4, 4, 8], twisted=true)" --job job.yaml --bandwidth 45GB/s -o devices.npy
      torusweep place "torus(k=16, n=2)" --job job.yaml --top 3 --json
    """
    if output is not None and output.suffix not in SUFFIXES:
        raise BadInput(f"--output {output}: expected a file that ends in {' or '.join(SUFFIXES)}; choose one")
    links = Links(
        options.quantity("--bandwidth", bandwidth_of, bandwidth),
        options.quantity("--latency", seconds_of, latency),
    )
    job = _read_job(job_path)
    slice_of = machine(build(topology))
    check_axes(slice_of, job.axes)
    begun = perf_counter()
    ranking = rank(slice_of, job.axes, job.operations, links, top=top)
    took = perf_counter() - begun
    if output is not None:
        _write(output, job.axes, ranking.best[0])
    if as_json:
        options.print_json(as_json_value(slice_of, job, links, ranking, took))
    else:
        print_placements(slice_of, job, links, ranking, took)
        if output is not None:
            click.echo(f"\nwritten: {output}", err=True)
