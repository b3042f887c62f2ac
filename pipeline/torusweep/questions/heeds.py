"""Declare which attributes of a network an answer takes into account ("heeds"), and write notes on the others.

Attributes are properties of links, hosts and time, such as bandwidth and latency. A question declares the attributes
that its answer heeds (`Askable.heeds`). If a network has other attributes, a note tells the user, in commands, Python,
JSON and the plan of a sweep. docs/heeds.md prints these declarations as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from torusweep.networks.topology import Plan, Topology
from torusweep.quantities import counted, rate, time
from torusweep.questions import QUESTIONS, question_named
from torusweep.questions.stage import LazyNetwork

ABOUT = """# What each answer heeds

`make docs` makes this page from the questions' declarations (`heeds`). `tests/meaning/` tests every answer against it.

A network has attributes: bandwidth and latency of its links, their units, and which nodes send and which forward. Most
answers depend on some attributes only. The table shows on which.

- **yes**: the answer depends on the attribute. A condition such as *with `bytes`* tells when.
- **note**: the answer leaves the attribute out. If your network has it, a line below the numbers tells you:
  `note: this answer leaves out: latency (1 … 9 cycles)`. With `--json` the note is in `notes`. In Python it is printed
  with the answer and is in `answer.unheeded`. A network without the attribute gets no note. If the answer depends on a
  number that is missing in the network's file, the note also names the value that was taken for it.
- **refused**: the command refuses a network with the attribute, and names a remedy. *yes, or refused*: it refuses some
  of these networks.

Names of nodes, the order of lines in a file, and the format of the file change no number."""


ASSUMED = ", taken as "  # in notes on numbers that a file gives for some links or nodes, but not for all


class Attribute(NamedTuple):
    """An attribute that a network may have.

    meaning  meaning of the attribute, for docs/heeds.md
    said     function of a plan that returns the attribute's value in words; "" if the plan does not have it
    arrays   function that returns these words from a network's arrays, "" if they lack the attribute; None: as planned
    """

    meaning: str
    said: Callable[[Plan], str] = lambda plan: ""
    arrays: Callable[[Topology], str] | None = None


def _range(values: Iterable[Fraction | int], thing: str) -> str:
    """Return a range in words: '1 … 9 cycles', or '5 cycles' if all values are equal."""
    ordered = sorted(set(values))
    ends = [f"{float(value):g}" for value in (ordered[0], ordered[-1])]
    return f"{' … '.join(dict.fromkeys(ends))} {thing}{'' if ends == ['1', '1'] else 's'}"


def _bandwidths(plan: Plan) -> str:
    if set(plan.bandwidths) <= {1}:
        return ""
    if plan.rate is None:
        return f"{_range(plan.bandwidths, 'flit')} a cycle"
    ends = (rate(plan.rate * end) for end in (min(plan.bandwidths), max(plan.bandwidths)))
    return " … ".join(dict.fromkeys(ends))


def _latencies(plan: Plan) -> str:
    if plan.link_latencies:
        return "of each link"
    return "" if set(plan.latencies) <= {1} else _range(plan.latencies, "cycle")


def _terminals(topology: Topology) -> str:
    nodes = len(np.unique(topology.terminals))
    if nodes == len(topology.terminals) == topology.nodes:
        return ""
    return f"{len(topology.terminals):,} at {nodes:,} of {counted(topology.nodes, 'node')}"


def _terminals_planned(plan: Plan) -> str:
    return "" if plan.terminals in (None, plan.nodes) else f"{plan.terminals:,} at {counted(plan.nodes, 'node')}"


ATTRIBUTES = {
    "bandwidth": Attribute("bandwidth of each link", _bandwidths),
    "direction": Attribute("links of one direction", lambda plan: "links have one" if plan.directed else ""),
    "unit": Attribute(
        "bandwidth of one flit per cycle, as 100 Gb/s",
        lambda plan: "" if plan.rate is None else f"1 flit a cycle is {rate(plan.rate)}",
    ),
    "latency": Attribute("latency of each link", _latencies),
    "clock": Attribute(
        "length of a cycle, as 5 ns", lambda plan: "" if plan.tick is None else f"a cycle is {time(plan.tick)}"
    ),
    "terminals": Attribute(
        "how many terminals send and receive, and at which nodes", _terminals_planned, arrays=_terminals
    ),
    "terminal rate": Attribute(
        "rate of a host, the rate of its own links",
        lambda plan: "hosts send as fast as their links" if plan.hosts_end and not set(plan.bandwidths) <= {1} else "",
    ),
    "forwarding": Attribute("hosts forward nothing", lambda plan: "hosts forward nothing" if plan.hosts_end else ""),
    "weight": Attribute("routing weight of each link", lambda plan: "of each link" if plan.weighted else ""),
}


class When(NamedTuple):
    """The condition under which an answer takes an attribute into account.

    words   the condition in words, as in "with `bytes`"; "" for always
    holds   whether the condition holds, given the values of all parameters and, as `networks`, the number of networks
    """

    words: str
    holds: Callable[[Mapping[str, Any]], bool]


Heeds = Mapping[str, When]


def heeds(
    attributes: str | Sequence[str], words: str = "", holds: Callable[[Mapping[str, Any]], bool] = lambda values: True
) -> Heeds:
    """Declare that an answer takes some ATTRIBUTES into account, always or if a condition holds.

    attributes  names of ATTRIBUTES, in a list or in a text with commas
    words       the condition in words; "" for always
    """
    names = attributes.split(", ") if isinstance(attributes, str) else attributes
    return dict.fromkeys(names, When(words, holds))


def given(attributes: str, *parameters: str) -> Heeds:
    """Declare that an answer takes some ATTRIBUTES into account if at least one of these parameters is given."""
    words = f"with {' or '.join(f'`{name}`' for name in parameters)}"
    return heeds(attributes, words, lambda values: any(_is_given(values[name]) for name in parameters))


def _is_given(value: Any) -> bool:
    """Return whether a parameter has a value other than None and the empty tuple. The value may be an array."""
    return value is not None and not (isinstance(value, tuple) and not value)


def _weighted(by: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a condition: whether the routing is `weighted` by this attribute of links ("weight" or "latency")."""
    return lambda values: "weighted" in (how := str(values["routing"])) and ("latency" in how) == (by == "latency")


# declarations for questions that have the routing `weighted`
BY_WEIGHT: Heeds = heeds("weight", "with routing weighted", _weighted("weight"))
BY_LATENCY: Heeds = heeds("latency", "with routing weighted(by=latency)", _weighted("latency"))


def left_out(heeded: Heeds, network: Plan | LazyNetwork, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the ATTRIBUTES of a network that an answer does not take into account: name → value in words.

    heeded   declarations of the question
    network  the network, or its plan, which has terminals only if the family's parameters give them
    values   values of the parameters, by name
    """
    plan = network if isinstance(network, Plan) else network.plan
    found = {}
    for name, attribute in ATTRIBUTES.items():
        if not (name in heeded and heeded[name].holds(values)):
            arrays = "" if isinstance(network, Plan) or not attribute.arrays else attribute.arrays(network.topology)
            found[name] = arrays or attribute.said(plan)
    return {name: words for name, words in found.items() if words}


def note_of(
    heeded: Heeds, network: Plan | LazyNetwork, values: Mapping[str, Any], of: str = "", *, assumed: bool = True
) -> str:
    """Return the note to print with an answer: which attributes it leaves out, and which missing numbers were assumed.

    of       name of the network, if the answer is about several; otherwise ""
    assumed  whether to add the assumed numbers; False if the answer prints all notes on the file itself
    returns  "" if nothing is left out and no number was assumed
    """
    left = left_out(heeded, network, values)
    plan = network if isinstance(network, Plan) else network.plan
    taken = [note for note in plan.notes if assumed and ASSUMED in note and not any(name in note for name in left)]
    words = [f"{name} ({said})" for name, said in left.items()]
    out = [f"this answer leaves out{f' of {of}' if of else ''}: {'; '.join(words)}"] if words else []
    return "; ".join([*taken, *out])


def with_notes(found: Any, notes: Mapping[str, str]) -> Any:
    """Add notes (spelling of a network → its note) to an answer in JSON form, under the key `notes` of each row."""
    if not notes:
        return found
    if isinstance(found, list):
        return [with_notes(row, notes) for row in found]
    note = notes.get(found.get("topology", ""), next(iter(notes.values())) if len(notes) == 1 else "")
    if not note:
        return found
    there = found.get("notes") or ""
    return found | {"notes": [*there, note] if isinstance(there, list) else "; ".join(filter(None, [there, note]))}


def matrix(questions: Mapping[str, Any]) -> list[str]:
    """Return lines of a Markdown table: which questions heed which ATTRIBUTES. questions: by the command's name."""
    lines = [f"| | {' | '.join(ATTRIBUTES)} |", f"|---|{'---|' * len(ATTRIBUTES)}"]
    for command, question in questions.items():
        cells = []
        for name in ATTRIBUTES:
            left = "refused" if name in question.refuses else "note"
            when: When | None = question.heeds.get(name)
            always = "yes" if left == "note" else "yes, or refused"
            cells.append(left if when is None else f"{when.words}, else {left}" if when.words else always)
        lines.append(f"| `{command}` | {' | '.join(cells)} |")
    return lines


def markdown() -> str:
    """Return the text of docs/heeds.md: which attributes the answer to each question depends on."""
    questions = {name: question_named(name) for name in QUESTIONS}
    about = {name: question for name, question in questions.items() if question.about}
    meanings = [f"- **{name}**: {attribute.meaning}" for name, attribute in ATTRIBUTES.items()]
    return "\n".join([*ABOUT.splitlines(), "", *meanings, "", *matrix(about), ""])
