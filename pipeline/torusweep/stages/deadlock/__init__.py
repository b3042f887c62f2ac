"""Deadlock: the channel dependency graph of a routing under a virtual-channel rule, and a verdict with its argument."""

from torusweep.stages.deadlock.least_virtual_channels import CANDIDATE_RULES
from torusweep.stages.deadlock.record import deadlock_record, is_proved_free, least_rule
from torusweep.stages.deadlock.routing_case import Case, deadlock_case, routing_spelling
from torusweep.stages.deadlock.rules import RULES, rule_spelling

__all__ = [
    "CANDIDATE_RULES",
    "RULES",
    "Case",
    "deadlock_case",
    "deadlock_record",
    "is_proved_free",
    "least_rule",
    "routing_spelling",
    "rule_spelling",
]
