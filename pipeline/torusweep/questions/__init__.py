"""What a question is: one function, whose signature gives command, method, configuration and request.

`QUESTIONS` is the table of questions: the name of command and method → the module whose `QUESTION` it is, and a line of
help. A module is imported when its question is asked.
"""

from pkgutil import resolve_name
from typing import Any

QUESTIONS = {
    "loads": ("torusweep.stages.loads.stage", "Load of every channel under a routing and a traffic pattern."),
    "simulate": (
        "torusweep.stages.simulation.stage",
        "Simulate a network flit by flit: accepted load, latency, saturation.",
    ),
}


def question_named(name: str) -> Any:
    """The question of a name in `QUESTIONS`."""
    return resolve_name(f"{QUESTIONS[name][0]}:QUESTION")
