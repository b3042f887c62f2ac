"""The papers' numbers against ours: papers/expected/*.csv row by row, with a verdict for each.

A row names where a paper prints a number (paper, place, row), the network (topology, canonical spelling),
the quantity of ours that it is compared with, and how closely (value, tolerance, relation). `corrected` and
`reason` are given where the paper is in error: the true value, derived without this project's code, and why.
`waits_for` names what must be computed first. Simulated quantities are judged by sign, order and bound.
"""

from torusweep.papers.verification.quantities import is_deadlock, is_latency, is_layout, is_load, is_static
from torusweep.papers.verification.requests import (
    expected_latency,
    expected_requests,
    expected_topologies,
)
from torusweep.papers.verification.rows import COLUMNS, FOLDER, PAPER_NAMES, PAPERS, Expected, load_expected
from torusweep.papers.verification.simulated import is_simulated
from torusweep.papers.verification.verdicts import (
    VERDICTS,
    judge,
    judge_simulated,
    not_compared,
    summary,
    verification_rows,
    verify_folder,
)

__all__ = [
    "COLUMNS",
    "FOLDER",
    "PAPERS",
    "PAPER_NAMES",
    "VERDICTS",
    "Expected",
    "expected_latency",
    "expected_requests",
    "expected_topologies",
    "is_deadlock",
    "is_latency",
    "is_layout",
    "is_load",
    "is_simulated",
    "is_static",
    "judge",
    "judge_simulated",
    "load_expected",
    "not_compared",
    "summary",
    "verification_rows",
    "verify_folder",
]
