"""The question `place`: where to put the axes of a job on a slice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from torusweep import documents
from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.placements.answer import SUFFIXES, Placements
from torusweep.placements.job import Job, job_of
from torusweep.placements.machine import machine
from torusweep.placements.ranking import LinkSpeed, check_axes, rank
from torusweep.quantities import bandwidth_of, seconds_of
from torusweep.questions.entry import under
from torusweep.questions.how import How
from torusweep.questions.question import Askable


def place(
    network: Topology,
    how: How,
    job: Annotated[
        Path | str | Mapping[str, Any],
        Meaning("YAML file: the axes of the job, and what each does in a step; in Python also a dictionary"),
    ],
    *,
    bandwidth: Annotated[str, Meaning("of a link, in each direction")] = "50GB/s",
    latency: Annotated[str, Meaning("of each step of a collective")] = "1us",
    top: Annotated[int, Whole(1, "placements to show", 100)] = 10,
) -> Placements:
    """Where to put the axes of a job (tensor, expert, data, pipeline parallel) on a slice, by comparing all placements.

    A placement divides the dimensions of the slice among the axes, and orders the ranks of each axis: row-major, as a
    Hamiltonian cycle, a snake, or folded. Each operation runs in all groups of its axis at once; its time follows from
    the exact load of the busiest link. The network is a slice, torus, mesh or twisted torus of at most 8,192 nodes.

    The job has axes and operations (all_gather, reduce_scatter, all_reduce, all_to_all, broadcast, permute, exchange),
    or the shape of a transformer, from which they follow; docs/placement.md has both.

      axes: {ep: 16, tp: 8}
      operations:
        - {axis: tp, operation: all_gather, bytes: 64MiB, times: 4}
        - {axis: ep, operation: all_to_all, bytes: 32MiB, times: 4}

    The answer has the order of the devices, for jax.sharding.Mesh(numpy.array(devices)[order], axis_names): the number
    of the node, x fastest, of each rank.

    >>> import torusweep as ts
    >>> job = {"axes": {"tp": 16}, "operations": [{"axis": "tp", "operation": "all_gather", "bytes": "64MiB"}]}
    >>> ts.network("mesh(k=4, n=2)").place(job, top=1).devices.tolist()
    [0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4]
    """
    with under("bandwidth"):
        speed = bandwidth_of(bandwidth)
    with under("latency"):
        links = LinkSpeed(speed, seconds_of(latency))
    wanted = _job(job)
    slice_of = machine(network)
    check_axes(slice_of, wanted.axes)
    begun = perf_counter()
    with how.progress.wait("placements compared"):
        ranking = rank(slice_of, wanted.axes, wanted.operations, links, top=top)
    return Placements(slice_of, wanted, links, ranking, perf_counter() - begun)


def _job(given: Path | str | Mapping[str, Any]) -> Job:
    if isinstance(given, Mapping):
        return job_of(dict(given), "job")
    name = str(given)
    content = documents.read_bytes(Path(given), "job in YAML", "leave out what is no axis or operation")
    document = documents.parse(content, name)
    return job_of(document.data, name, document.values, document.keys)


class PlaceQuestion(Askable):
    ask = staticmethod(place)
    command = "place"
    how = ()
    writes = (SUFFIXES, "the best order of the devices")
    examples = (
        'place "slice(radices=[8, 16], wrap=[false, true])" --job job.yaml',
        'place "pod_slice(shape=[4, 4, 8], twisted=true)" --job job.yaml --bandwidth 45GB/s -o devices.npy',
        'place "torus(k=16, n=2)" --job job.yaml --top 3 --json',
    )


QUESTION = PlaceQuestion()
