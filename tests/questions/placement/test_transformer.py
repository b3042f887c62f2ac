"""Collectives of a transformer: volumes by the papers' formulas, worked out by hand."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from torusweep.errors import BadInput
from torusweep.questions.placement.job import Shape, operations_of
from torusweep.questions.placement.machine import JobOperation

GPT3 = {"layers": 96, "hidden": 12288, "heads": 96, "sequence": 2048, "batch": 1536}
MIXTRAL = {
    **{"layers": 32, "hidden": 4096, "heads": 32, "key_value_heads": 8, "feed_forward": 14336},
    **{"feed_forward_matrices": 3, "sequence": 4096, "batch": 64, "experts": 8, "top_k": 2},
}


def found(shape: dict, axes: dict, axis: str, kind: str) -> list[JobOperation]:
    return [o for o in operations_of(Shape(**shape), axes) if (o.axis, o.kind) == (axis, kind)]


def volume(operations: list[JobOperation]) -> int:
    return sum(operation.bytes * operation.times for operation in operations)


def test_data_parallel_reduces_all_parameters_once():
    """ZeRO sec. 7.1: the gradients of Ψ = 12 L h² parameters, in an all-reduce (2 Ψ on the wire)."""
    assert volume(found(GPT3, {"dp": 4}, "dp", "all_reduce")) == 2 * 12 * 96 * 12288**2
    assert volume(found({**GPT3, "vocabulary": 51200}, {"dp": 4}, "dp", "all_reduce")) == 2 * (
        12 * 96 * 12288**2 + 51200 * 12288
    )


def test_zero_stage_3_moves_three_times_the_parameters():
    """ZeRO sec. 7.2.2: two all-gathers and one reduce-scatter of Ψ parameters."""
    parameters = 2 * 12 * 96 * 12288**2  # bytes
    assert volume(found(GPT3, {"fsdp": 8}, "fsdp", "all_gather")) == 2 * parameters
    assert volume(found(GPT3, {"fsdp": 8}, "fsdp", "reduce_scatter")) == parameters
    many = {**GPT3, "microbatches": 4}
    assert volume(found(many, {"fsdp": 8}, "fsdp", "all_gather")) == 8 * parameters
    # hybrid: replicas reduce what is left after fsdp divides it
    assert volume(found(GPT3, {"fsdp": 8, "dp": 4}, "dp", "all_reduce")) == parameters // 8


def test_tensor_parallel_is_four_collectives_a_layer():
    """Shoeybi et al. sec. 3: four all-reduces of b s h values a layer; Korthikanti et al.: as many pairs instead."""
    activations = 2 * 2048 * (1536 // 16) * 12288  # bytes of a replica's batch
    axes = {"dp": 16, "tp": 8}
    plain = {**GPT3, "sequence_parallel": False}
    assert found(plain, axes, "tp", "all_reduce") == [
        JobOperation("tp", "all_reduce", activations, 4 * 96, "activations, layers")
    ]
    assert found(plain, axes, "tp", "all_gather") == []
    for kind in ("all_gather", "reduce_scatter"):
        assert found(GPT3, axes, "tp", kind) == [JobOperation("tp", kind, activations, 4 * 96, "activations, layers")]
    # parts of a batch are smaller and more
    (part,) = found({**GPT3, "microbatches": 6}, axes, "tp", "all_gather")
    assert (part.bytes, part.times) == (activations // 6, 4 * 96 * 6)


def test_tensor_parallel_divides_the_gradients():
    assert volume(found(GPT3, {"dp": 4, "tp": 8}, "dp", "all_reduce")) == 2 * 12 * 96 * 12288**2 // 8


def test_experts():
    """GShard: tokens go to k experts and back, forwards and backwards; each rank has its sequences' tokens."""
    axes = {"ep": 8, "tp": 4}
    tokens = 4096 * 64 // 8
    (tokens_out,) = found(MIXTRAL, axes, "ep", "all_to_all")
    assert tokens_out.bytes == tokens // 4 * 2 * 4096 * 2  # a quarter of the sequence, two experts, two bytes
    assert tokens_out.times == 4 * 32
    (roomier,) = found({**MIXTRAL, "capacity_factor": 1.25}, axes, "ep", "all_to_all")
    assert roomier.bytes == tokens_out.bytes * 5 // 4
    gathered = found(MIXTRAL, axes, "tp", "all_gather")
    assert [(o.bytes, o.times) for o in gathered] == [
        (tokens * 4096 * 2, 2 * 32),
        (2 * tokens * 4096 * 2, 2 * 32),
    ]


def test_gradients_of_experts_stay_with_them():
    """Attention's 2 h² + 2 h² · 8/32 parameters are reduced over ep; experts' 3 h · f only over dp."""
    attention = 4096**2 * 2 + 4096**2 * 2 * 8 // 32
    experts = 3 * 4096 * 14336
    axes = {"ep": 8, "dp": 2}
    assert volume(found(MIXTRAL, axes, "ep", "all_reduce")) == 2 * 32 * attention
    assert volume(found(MIXTRAL, axes, "dp", "all_reduce")) == 2 * 32 * (attention + experts)
    assert volume(found(MIXTRAL, {"ep": 4, "dp": 4}, "dp", "all_reduce")) == 2 * 32 * (attention + 2 * experts)


def test_pipeline():
    """Narayanan et al.: a microbatch's activations, 1/tp of them from each tensor-parallel rank."""
    axes = {"pp": 8, "tp": 4, "dp": 2}
    shape = {**GPT3, "microbatches": 16}
    (stages,) = found(shape, axes, "pp", "exchange")
    assert (stages.bytes, stages.times) == (2 * 2048 * (1536 // 32) * 12288 // 4, 16)
    (gathered,) = found(shape, axes, "tp", "all_gather")
    assert gathered.times == 4 * (96 // 8) * 16


def test_axes_of_one_rank_do_nothing():
    assert operations_of(Shape(**GPT3), {"dp": 1, "tp": 1, "other": 1}) == []


@pytest.mark.parametrize(
    ("shape", "axes", "message"),
    [
        (GPT3, {"tensor": 8}, "expected dp, fsdp, tp, ep, pp with a transformer, got 'tensor'"),
        (GPT3, {"pp": 7}, "transformer.layers: expected a multiple of pp = 7, got 96"),
        (GPT3, {"tp": 64}, "transformer.heads: expected a multiple of tp = 64"),
        ({**GPT3, "sequence": 1001}, {"tp": 8}, "transformer.sequence"),
        (GPT3, {"dp": 1024}, "transformer.batch: expected a multiple of 1,024"),
        (GPT3, {"ep": 8}, "transformer.experts: expected experts for the axis ep = 8"),
        (MIXTRAL, {"ep": 16}, "transformer.experts: expected a multiple of ep = 16"),
        ({**MIXTRAL, "top_k": 9}, {"ep": 8}, "transformer.top_k: expected at most the 8 experts"),
        ({**MIXTRAL, "key_value_heads": 5}, {"ep": 8}, "transformer.key_value_heads: expected a divisor of heads"),
    ],
)
def test_what_does_not_divide_is_refused(shape, axes, message):
    with pytest.raises(BadInput) as refusal:
        operations_of(Shape(**shape), axes)
    assert message in str(refusal.value)


def test_unknown_keys_are_refused():
    with pytest.raises(ValidationError):
        Shape(**GPT3, hiden=3)
