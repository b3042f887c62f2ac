"""Traces of applications as workloads: GOAL schedules and Chakra execution traces.

A reader (`goal`, `chakra`) makes a `Trace` with the operations of each rank; `replay` turns all operations, including
collective operations, into messages.
"""

from torusweep.workloads.traces.chakra import chakra, rank_files
from torusweep.workloads.traces.goal import goal

__all__ = ["chakra", "goal", "rank_files"]
