"""Read and check a job: the axes of its ranks, and the operations of each axis in a step.

For a step of training a transformer, the operations follow from the shape of the model. They are the collectives of
activations and gradients, which do not overlap. Biases, norms, the weights of the router, the loss, and the extra work
of the first and last stage are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from torusweep.documents import Document, Place, shown
from torusweep.errors import BadInput, nearest, one_line
from torusweep.quantities import bytes_of
from torusweep.questions.placement.machine import MEANING, JobOperation, Kind

AXES = {
    "dp": "data parallel: each replica has all parameters",
    "fsdp": "data parallel, parameters and gradients divided (ZeRO stage 3)",
    "tp": "tensor parallel",
    "ep": "expert parallel",
    "pp": "pipeline parallel",
}
MOST_AXES = 6
MOST_OPERATIONS = 1000
EXAMPLE = "axes: {ep: 16, tp: 8}, operations: [{axis: tp, operation: all_gather, bytes: 64MiB, times: 4}]"
USUAL = {  # name of an axis → its operations, if the user gave only the axes
    "tp": ("all_gather", "reduce_scatter"),
    "fsdp": ("all_gather", "reduce_scatter"),
    "ep": ("all_to_all",),
    "pp": ("exchange",),
}
USUAL_OTHER = ("all_reduce",)
USUAL_SIZE = "64MiB"


class Shape(BaseModel):
    """The shape of a transformer, and of a training step."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    layers: int = Field(ge=1, le=10**5, description="transformer layers")
    hidden: int = Field(ge=1, le=10**6, description="width of the residual stream")
    heads: int = Field(ge=1, le=10**5, description="attention heads")
    key_value_heads: int | None = Field(None, ge=1, le=10**5, description="heads of keys and values; null: as heads")
    feed_forward: int | None = Field(None, ge=1, le=10**7, description="inner width of a feed-forward; null: 4 hidden")
    feed_forward_matrices: int = Field(2, ge=2, le=3, description="matrices of a feed-forward; 3 with a gate")
    sequence: int = Field(ge=1, le=10**8, description="tokens in a sequence")
    batch: int = Field(ge=1, le=10**8, description="sequences in a step, of all replicas together")
    microbatches: int = Field(1, ge=1, le=10**6, description="parts into which a replica's sequences are divided")
    vocabulary: int | None = Field(None, ge=1, le=10**8, description="tokens in the vocabulary; null: no embedding")
    experts: int = Field(1, ge=1, le=10**5, description="experts in a layer; 1 for a dense model")
    top_k: int = Field(1, ge=1, le=10**4, description="experts that process a token")
    capacity_factor: float = Field(1.0, gt=0, le=100, description="capacity of experts relative to an equal share")
    bytes_per_value: int = Field(2, ge=1, le=16, description="bytes of an activation or a parameter")
    bytes_per_gradient: int = Field(2, ge=1, le=16, description="bytes of a gradient when it is reduced")
    sequence_parallel: bool = Field(True, description="tp divides the activations between layers along the sequence")


def operations_of(shape: Shape, axes: Mapping[str, int]) -> list[JobOperation]:
    """Return the collective operations in a training step of a transformer, by axis.

    tp   all-gathers and reduce-scatters of a microbatch's activations: two of each in a layer, forwards and backwards
         (Korthikanti et al. 2022, sec. 4.2.2); without sequence_parallel two all-reduces each (Shoeybi et al. 2019)
    fsdp all-gather of a layer's parameters, forwards and backwards, and reduce-scatter of its gradients, for every
         microbatch (Rajbhandari et al. 2020, sec. 7.2.2: 3 Ψ in total)
    dp   all-reduce of the gradients, once a step, layer by layer (the same paper, sec. 7.1: 2 Ψ in total)
    ep   all-to-all of the tokens to their experts and back, forwards and backwards (Lepikhin et al. 2021; the capacity
         factor: Fedus et al. 2022, sec. 2.2); all-reduce of the gradients of all parameters outside experts, because
         the ranks of ep also divide the tokens
    pp   for every microbatch, activations to the next stage and, at the same time, gradients to the previous stage
         (Narayanan et al. 2021, sec. 2.2 and 4.1)

    Raises BadInput if an axis has no meaning, or a size is not divisible by an axis (`check`).
    """
    check(shape, axes)
    dp, fsdp, tp, ep, pp = (axes.get(name, 1) for name in ("dp", "fsdp", "tp", "ep", "pp"))
    layers, parts = shape.layers // pp, shape.microbatches
    tokens = shape.sequence * (shape.batch // (dp * fsdp * ep * parts))
    activations = tokens * shape.hidden * shape.bytes_per_value
    own = activations // tp if shape.sequence_parallel else activations
    factor = shape.top_k * shape.capacity_factor if shape.experts > 1 else 1.0
    found: list[JobOperation] = []

    def add(axis: str, kind: str, number: float, times: int, why: str) -> None:
        if axes.get(axis, 1) > 1:
            found.append(JobOperation(axis, kind, ceil(number), times, why))

    halves = (("attention", 1.0), ("experts", factor)) if shape.experts > 1 else (("layers", 1.0),)
    passes = 4 * layers * parts // len(halves)  # for attention and feed-forward, each forwards and backwards
    for what, times in halves:
        for kind in ("all_gather", "reduce_scatter") if shape.sequence_parallel else ("all_reduce",):
            add("tp", kind, activations * times, passes, f"activations, {what}")
    add("ep", "all_to_all", own * factor, 4 * layers * parts, "tokens to experts and back")
    shared, experts = _parameters(shape, tp, ep)
    embedding = shape.hidden * (shape.vocabulary or 0) / tp
    for number, count, what in ((shared + experts, layers, "a layer"), (embedding, 1, "the embedding")):
        if number:
            add("fsdp", "all_gather", number * shape.bytes_per_value, 2 * count * parts, f"parameters of {what}")
            add("fsdp", "reduce_scatter", number * shape.bytes_per_gradient, count * parts, f"gradients of {what}")
            add("dp", "all_reduce", number / fsdp * shape.bytes_per_gradient, count, f"gradients of {what}")
    for number, count, what in ((shared, layers, "a layer, but for experts"), (embedding, 1, "the embedding")):
        if number:
            add("ep", "all_reduce", number / fsdp * shape.bytes_per_gradient, count, f"gradients of {what}")
    add("pp", "exchange", own, parts, "activations and their gradients between stages")
    return found


def check(shape: Shape, axes: Mapping[str, int]) -> None:
    """Raise BadInput if an axis has no meaning for a transformer, or does not divide the size that it must divide."""
    for name, size in axes.items():
        if name not in AXES and size > 1:
            raise BadInput(
                f"axes: expected {', '.join(AXES)} with a transformer, got '{name}'; rename it, or write its operations"
            )
    dp, fsdp, tp, ep, pp = (axes.get(name, 1) for name in ("dp", "fsdp", "tp", "ep", "pp"))
    replicas = dp * fsdp * ep
    parts = replicas * shape.microbatches
    needed = (
        (shape.layers % pp == 0, "layers", shape.layers, f"a multiple of pp = {pp}"),
        (shape.heads % tp == 0, "heads", shape.heads, f"a multiple of tp = {tp}"),
        (
            not shape.sequence_parallel or shape.sequence % tp == 0,
            "sequence",
            shape.sequence,
            f"a multiple of tp = {tp}",
        ),
        (shape.batch % parts == 0, "batch", shape.batch, f"a multiple of {parts:,}, replicas × microbatches"),
        (ep == 1 or shape.experts > 1, "experts", shape.experts, f"experts for the axis ep = {ep}"),
        (shape.experts % ep == 0 or shape.experts == 1, "experts", shape.experts, f"a multiple of ep = {ep}"),
        (shape.top_k <= shape.experts, "top_k", shape.top_k, f"at most the {shape.experts} experts"),
        (
            shape.heads % (shape.key_value_heads or shape.heads) == 0,
            "key_value_heads",
            shape.key_value_heads,
            f"a divisor of heads = {shape.heads}",
        ),
    )
    for holds, name, got, expected in needed:
        if not holds:
            raise BadInput(f"transformer.{name}: expected {expected}, got {got}; change it, or the axis")


def _parameters(shape: Shape, tp: int, ep: int) -> tuple[float, float]:
    """Return parameters outside experts, and parameters of experts, in a rank's part of a layer, before fsdp.

    Attention has hidden² parameters each for queries, output, keys and values, or fewer if keys have fewer heads.
    """
    hidden, inside = shape.hidden, shape.feed_forward or 4 * shape.hidden
    few = (shape.key_value_heads or shape.heads) / shape.heads
    attention = hidden**2 * (2 + 2 * few)
    feed_forward = shape.feed_forward_matrices * hidden * inside
    if shape.experts == 1:
        return (attention + feed_forward) / tp, 0.0
    return attention / tp, shape.experts / ep * feed_forward / tp


class Job(NamedTuple):
    """Sizes of a job's axes (the last varies fastest among ranks), and the successive operations of a step."""

    axes: dict[str, int]
    operations: list[JobOperation]


def job_of_axes(given: str | Mapping[str, Any]) -> Job:
    """Make a job from its axes, such as tp=8,dp=16. Each axis does the `USUAL` operations for its name once a step."""
    axes: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    for part in given.split(",") if isinstance(given, str) else ():
        name, _, size = (text.strip() for text in part.partition("="))
        if not name or not size.isdecimal():
            raise BadInput(f"expected names with sizes, as tp=8,dp=16, got '{one_line(part.strip(), 40)}'")
        if name in axes:
            raise BadInput(f"expected each axis once, got '{one_line(name, 40)}' twice; join its sizes")
        axes[name] = int(size)
    operations = [
        {"axis": name, "operation": kind, "bytes": USUAL_SIZE}
        for name in axes
        for kind in USUAL.get(str(name), USUAL_OTHER)
    ]
    return job_of(Document({"axes": axes, "operations": operations}, {}, {}, "axes", is_file=False))


def operations_in_words(job: Job) -> str:
    """Return the operations of a job that was given by its axes, as in 'tp all_gather, dp all_reduce, 64MiB each'."""
    done = [f"{one.axis} {one.kind}" for one in job.operations if job.axes[one.axis] > 1]
    return f"{', '.join(done)}, {USUAL_SIZE} each"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    axis: str = Field(description="name of one of the axes")
    operation: Kind = Field(description="operation that all groups of the axis do at the same time")
    bytes: int | str = Field(description="a size such as 64MiB, as nccl-tests define it for the operation")
    times: int = Field(1, ge=1, le=10**9, description="number of repetitions in a step")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    axes: dict[str, Annotated[int, Field(ge=1, le=10**6)]] = Field(
        min_length=1, max_length=MOST_AXES, description=f"name: size, of 1 … {MOST_AXES} axes"
    )
    operations: list[_Entry] = Field(
        default_factory=list, max_length=MOST_OPERATIONS, description=f"a list of at most {MOST_OPERATIONS:,}"
    )
    transformer: Shape | None = Field(None, description="the shape of a model, from which operations follow")


def job_of(document: Document) -> Job:
    """Check a job that was read from a file or given as a dictionary.

    Raises BadInput, in the form `name:line:column: key: expected …, got …; remedy`, without line for a dictionary.
    """
    data, refuse = document.data, document.refused
    if not isinstance(data, dict):
        found = "nothing" if data is None else shown(data)
        raise refuse(
            (), f"expected a mapping with 'axes' and 'operations' or 'transformer', got {found}; as in {EXAMPLE}"
        )
    file: _File = document.checked(_File)
    for axis in file.axes:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,31}", axis):
            raise refuse(("axes", axis), f"axes: expected a name of letters, digits and _, got '{axis}'; as in tp")
    operations = []
    for number, entry in enumerate(file.operations):
        place: Place = ("operations", number)
        if entry.axis not in file.axes:
            known = ", ".join(file.axes)
            guess = nearest(entry.axis, file.axes)
            message = (
                f"operations[{number}].axis: expected an axis of {known}, got '{entry.axis}'{guess}; add it to axes"
            )
            raise refuse((*place, "axis"), message)
        try:
            size = bytes_of(entry.bytes)
        except BadInput as wrong:
            message = f"operations[{number}].bytes: {wrong} ({entry.operation}: {MEANING[entry.operation]})"
            raise refuse((*place, "bytes"), message) from None
        operations.append(JobOperation(entry.axis, entry.operation, size, entry.times))
    if file.transformer is not None:
        try:
            operations += operations_of(file.transformer, file.axes)
        except BadInput as wrong:
            raise refuse(("transformer",), str(wrong)) from None
    if not any(file.axes[operation.axis] > 1 for operation in operations):
        raise refuse(
            (), "expected operations of an axis of two ranks or more, got none; write operations or transformer"
        )
    return Job(file.axes, operations)
