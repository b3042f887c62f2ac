"""A job's file: what is read; any tree of values is read or refused in one line. Messages: tests/cli/test_place.py."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torusweep.documents import Document
from torusweep.errors import BadInput
from torusweep.questions.placement.job import Job, job_of
from torusweep.questions.placement.machine import JobOperation, Kind

_KEYS = st.sampled_from(
    [
        *(
            "axes",
            "operations",
            "transformer",
            "axis",
            "operation",
            "bytes",
            "times",
            "tp",
            "dp",
            "int",
            "str",
            "[key]",
        ),
        *("layers", "hidden", "heads", "sequence", "batch", "experts", "capacity_factor", "x\x1b[31m", "0"),
    ]
)
_SCALARS = st.one_of(
    st.sampled_from(["tp", "dp", "all_gather", "64MiB", "-1", "", None, True, float("nan"), float("inf"), 1.5]),
    st.integers(-2, 16),
    st.integers(-(10**30), 10**30),
)
_TREES = st.recursive(
    _SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4))
)
_ENTRIES = st.fixed_dictionaries(
    {
        "axis": st.sampled_from(["tp", "dp"]),
        "operation": st.sampled_from(get_args(Kind)),
        "bytes": st.integers(1, 10**6),
    },
    optional={"times": st.integers(1, 9), "why": st.just("x")},
)
_NEARLY = st.fixed_dictionaries(
    {"axes": st.just({"tp": 4, "dp": 2})},
    optional={
        "operations": st.one_of(st.lists(_ENTRIES, max_size=3), _TREES),
        "transformer": st.dictionaries(_KEYS, _SCALARS, max_size=9),
    },
)


@given(st.one_of(_TREES, st.dictionaries(_KEYS, _TREES, max_size=4), _NEARLY))
@settings(max_examples=500, deadline=None)
def test_any_tree_is_read_or_refused_in_one_line(tree):
    try:
        found = job_of(Document(tree, {}, {}, "job.yaml"))
    except BadInput as refusal:
        line = str(refusal)
        assert line.startswith("job.yaml:1:1: ")
        assert line.isprintable()
        assert len(line) < 500
    else:
        assert isinstance(found, Job)
        assert found.operations


def test_operations_keep_their_order():
    data = {
        "axes": {"dp": 2, "tp": 4},
        "operations": [
            {"axis": "tp", "operation": "all_gather", "bytes": "1.5KiB", "times": 3},
            {"axis": "dp", "operation": "broadcast", "bytes": 10},
        ],
        "transformer": {"layers": 1, "hidden": 4, "heads": 4, "sequence": 4, "batch": 2, "sequence_parallel": False},
    }
    job = job_of(Document(data, {}, {}, "job.yaml"))
    assert job.axes == {"dp": 2, "tp": 4}
    assert job.operations == [
        JobOperation("tp", "all_gather", 1536, 3),
        JobOperation("dp", "broadcast", 10),
        JobOperation("tp", "all_reduce", 4 * 4 * 2, 4, "activations, layers"),
        JobOperation("dp", "all_reduce", 12 * 4**2 // 4 * 2, 1, "gradients of a layer"),
    ]


def test_a_place_is_a_value_or_a_key():
    data = {"axes": {"tp": 4}, "operations": [{"axis": "tp", "operation": "permute", "byte": 1}]}
    places = {(): (1, 1), ("operations",): (2, 13), ("operations", 0): (2, 14), ("operations", 0, "byte"): (2, 50)}
    with pytest.raises(BadInput, match=r"job.yaml:2:44: operations\[0\]: unknown key 'byte' \(did you mean 'bytes'"):
        job_of(Document(data, places, {("operations", 0, "byte"): (2, 44)}, "job.yaml"))
