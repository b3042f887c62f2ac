"""Questions about networks. Each is a function; its command, method and configuration follow from its signature.

`ASKED` lists the commands under what a user wants to know, each with the module of its `QUESTION` and a line of help.
A command's module is imported only when it is used. Every command is also a method of `torusweep.Network`. Commands in
`FUNCTIONS`, which are not about a single network, are functions of `torusweep` instead.
"""

from pkgutil import resolve_name
from typing import Any

ASKED = {
    "How far?": {
        "describe": ("torusweep.questions.static.stage", "Distances, cuts and symmetry of a network, and a picture."),
        "distances": ("torusweep.questions.static.distances", "The distances alone, in less time."),
    },
    "How full?": {
        "loads": ("torusweep.questions.loads.stage", "Load of every channel, and where the network saturates."),
        "capacity": ("torusweep.questions.loads.capacity", "The most that any routing can carry, with proof."),
    },
    "Can it lock?": {
        "deadlock": ("torusweep.questions.deadlock.stage", "Whether a routing can deadlock: a proof, or the cycle.")
    },
    "How fast?": {
        "simulate": ("torusweep.questions.simulation.stage", "Latency and accepted load, simulated flit by flit."),
        "latency": ("torusweep.questions.latency.question", "Mean latency by a paper's formula, at equal cost."),
        "collective": ("torusweep.questions.collectives.stage", "Time of a collective operation, and its bound."),
    },
    "What does it cost?": {
        "cost": ("torusweep.questions.cost.stage", "Price, cables and power, and throughput per price."),
        "layout": ("torusweep.questions.layout.stage", "Where nodes are placed, and how long the wires are."),
    },
    "What if parts fail?": {
        "availability": ("torusweep.questions.availability.stage", "What is left when links, routers or cubes fail.")
    },
    "Which one?": {
        "best": ("torusweep.answers.best", "The best of all lattices of a size, with proof."),
        "search": ("torusweep.questions.search.question", "A graph with short distances, by simulated annealing."),
        "screen": ("torusweep.questions.screen.stage", "Distances and loads of many networks, to choose by."),
    },
    "Where does a job go?": {
        "place": ("torusweep.questions.placement.question", "The best order of a job's devices on a slice.")
    },
}
QUESTIONS = {name: entry for asked in ASKED.values() for name, entry in asked.items()}
FUNCTIONS = ("best", "cost", "latency", "screen", "search")


def question_named(name: str) -> Any:
    """Import and return the question that `QUESTIONS` lists under a name."""
    return resolve_name(f"{QUESTIONS[name][0]}:QUESTION")
