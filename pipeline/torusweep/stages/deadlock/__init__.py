"""Deadlock: the channel dependency graph of a routing under a virtual-channel rule, and a verdict with its argument."""

from torusweep.stages.deadlock.least_virtual_channels import candidate_rules
from torusweep.stages.deadlock.record import deadlock_record, is_proved_free, least_rule
from torusweep.stages.deadlock.routing_case import Case, chooses, deadlock_case, resolve_routing, routing_spelling
from torusweep.stages.deadlock.rules import RULES, rule_spelling

__all__ = [
    "RULES",
    "Case",
    "candidate_rules",
    "chooses",
    "deadlock_case",
    "deadlock_record",
    "is_proved_free",
    "least_rule",
    "resolve_routing",
    "routing_spelling",
    "rule_spelling",
]
