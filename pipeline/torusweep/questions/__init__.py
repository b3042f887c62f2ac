"""What a question is: one function, whose signature gives command, method, configuration and request.

`QUESTIONS` is the table of questions: the name of command and method → the module whose `QUESTION` it is, and a line of
help. A module is imported when its question is asked.
"""

from pkgutil import resolve_name
from typing import Any

QUESTIONS = {
    "loads": ("torusweep.stages.loads.stage", "Load of every channel under a routing and a traffic pattern."),
    "deadlock": ("torusweep.stages.deadlock.stage", "Whether a routing can deadlock: a proof, or the cycle."),
    "layout": ("torusweep.stages.layout.stage", "Where nodes are placed, and how long and dense the wires are."),
}


def question_named(name: str) -> Any:
    """The question of a name in `QUESTIONS`."""
    return resolve_name(f"{QUESTIONS[name][0]}:QUESTION")
