"""What a question is: one function, whose signature gives command, method, configuration and request.

`QUESTIONS` is the table of questions: the name of command and method → the module whose `QUESTION` it is, and a line of
help. A module is imported when its question is asked. Those in `FUNCTIONS` are not about a single network, and are
functions of `torusweep`.
"""

from pkgutil import resolve_name
from typing import Any

QUESTIONS = {
    "best": ("torusweep.answers.best", "The best network of a size, with proof."),
    "screen": (
        "torusweep.questions.screen.stage",
        "The few numbers that choose, of whole design spaces or of networks.",
    ),
    "search": ("torusweep.questions.search.question", "A graph with short distances, by simulated annealing."),
    "place": ("torusweep.questions.placement.question", "Where to put the axes of a job on a slice."),
    "cost": ("torusweep.questions.cost.stage", "What networks cost, and what they carry for it."),
    "latency": ("torusweep.questions.latency.question", "Mean latency by a paper's model, under load or by dimension."),
    "describe": ("torusweep.questions.static.stage", "Static properties of one network, and a picture."),
    "distances": ("torusweep.questions.static.distances", "Distances between all terminals of one network."),
    "capacity": ("torusweep.questions.loads.capacity", "The most that any routing can carry of a traffic, with proof."),
    "loads": ("torusweep.questions.loads.stage", "Load of every channel under a routing and a traffic pattern."),
    "deadlock": ("torusweep.questions.deadlock.stage", "Whether a routing can deadlock: a proof, or the cycle."),
    "collective": (
        "torusweep.questions.collectives.stage",
        "What a collective operation takes, beside what none can beat.",
    ),
    "availability": (
        "torusweep.questions.availability.stage",
        "What is left after failures of links, routers or cubes.",
    ),
    "layout": ("torusweep.questions.layout.stage", "Where nodes are placed, and how long and dense the wires are."),
    "simulate": (
        "torusweep.questions.simulation.stage",
        "Simulate a network flit by flit: accepted load, latency, saturation.",
    ),
}
FUNCTIONS = ("best", "cost", "latency", "screen", "search")


def question_named(name: str) -> Any:
    """The question of a name in `QUESTIONS`."""
    return resolve_name(f"{QUESTIONS[name][0]}:QUESTION")
