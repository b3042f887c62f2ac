"""What a question is: one function, whose signature gives command, method, configuration and request.

`QUESTIONS` is the table of questions: the name of command and method → the module whose `QUESTION` it is, and a line of
help. A module is imported when its question is asked. Those in `FUNCTIONS` are not about a single network, and are
functions of `torusweep`.
"""

from pkgutil import resolve_name
from typing import Any

QUESTIONS = {
    "best": ("torusweep.answers.best", "The best network of a size, with proof."),
    "screen": ("torusweep.stages.screen.stage", "The few numbers that choose, of whole design spaces or of networks."),
    "search": ("torusweep.graph_search.question", "A graph with short distances, by simulated annealing."),
    "place": ("torusweep.placements.question", "Where to put the axes of a job on a slice."),
    "cost": ("torusweep.stages.cost.stage", "What networks cost, and what they carry for it."),
    "latency": ("torusweep.models.question", "Mean latency by a paper's model, under load or by dimension."),
    "describe": ("torusweep.stages.static.stage", "Static properties of one network, and a picture."),
    "distances": ("torusweep.stages.static.distances", "Distances between all terminals of one network."),
    "capacity": ("torusweep.stages.loads.capacity", "The most that any routing can carry of a traffic, with proof."),
    "loads": ("torusweep.stages.loads.stage", "Load of every channel under a routing and a traffic pattern."),
    "deadlock": ("torusweep.stages.deadlock.stage", "Whether a routing can deadlock: a proof, or the cycle."),
    "collective": (
        "torusweep.stages.collectives.stage",
        "What a collective operation takes, beside what none can beat.",
    ),
    "availability": (
        "torusweep.stages.availability.stage",
        "What is left after failures of links, routers or cubes.",
    ),
    "layout": ("torusweep.stages.layout.stage", "Where nodes are placed, and how long and dense the wires are."),
    "simulate": (
        "torusweep.stages.simulation.stage",
        "Simulate a network flit by flit: accepted load, latency, saturation.",
    ),
}
FUNCTIONS = ("best", "cost", "latency", "screen", "search")


def question_named(name: str) -> Any:
    """The question of a name in `QUESTIONS`."""
    return resolve_name(f"{QUESTIONS[name][0]}:QUESTION")
