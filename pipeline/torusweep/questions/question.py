"""A question: a function of a network, and all that follows from its signature.

Its section of the configuration, the request of a sweep's point, the command and the method of `torusweep.Network` have
its parameters, their ranges, defaults and meanings from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, make_dataclass, replace
from itertools import product
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Literal, NamedTuple

from torusweep.errors import BadInput
from torusweep.networks.certificates import check_derived
from torusweep.networks.topology import Plan, Topology
from torusweep.quantities import counted, duration
from torusweep.questions.answer import Answer
from torusweep.questions.entries import entry_of
from torusweep.questions.heeds import Heeds, heeds, left_out, note_of
from torusweep.questions.how import How, cores, interruptible
from torusweep.questions.parameters import grouped, parameters_of
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Rows, Stage, attempt, under

LONG_SECONDS = 60.0  # from which the time that an answer takes is said before it is computed


class Part(NamedTuple):
    """A table of an answer that its command can print alone: the answer's property of that name.

    without   parameters that say nothing of it
    """

    meaning: str
    without: tuple[str, ...] = ()


class File(NamedTuple):
    """What a command also writes to a file where its option is given: the answer's property of that name.

    The property is a text, or a table, which is written as CSV, or Parquet by the file's suffix.

    suffixes  of the files that are written, in small letters; () any
    needs   a parameter without which there is none
    late    written after the answer is printed, so that a refusal does not take it away: it takes computation
    """

    meaning: str
    suffixes: tuple[str, ...] = ("", ".csv", ".parquet")
    needs: str = ""
    late: bool = False


CERTIFICATE = File(
    "what proves the answer, which certify/check.py checks (docs/certificates.md)", suffixes=(), late=True
)


class Aside(NamedTuple):
    """Output of a command in place of an answer, whatever the network; answer: parameters by name → the output."""

    meaning: str
    answer: Callable[[Mapping[str, Any]], Answer]


class Askable:
    """A question: command and Python function follow from the signature of `ask`.

    ask       (network, how, its parameters …) → the answer; (networks, how, …) or (how, …) where it is about several
              networks or none. Its docstring is the help: what it says before the first empty line is a line of its
              own, paragraphs that begin with a blank keep their lines, and Python's examples come last
    command   its name on the command line, and of the method or function
    method    the name of the method, where it is another
    about     "network": a method of `LazyNetwork`; nothing: a function of the package; "networks": both
    heeds     what of a network the answer heeds (torusweep.questions.heeds); what else the network says is in a note
    notes_of_files  whether its answer has the notes of a network's file itself
    refuses   attributes of which networks that say them are refused: those heeded of which some are, others always
    how       what of `How` the answer's computation heeds: backend, symmetry
    examples  of its command, with what they show
    parts     see `Part`
    written   see `File`
    shorter   options that leave something out of what the command prints, and what they say: the answer's property of
              that name is the answer without it
    asides    see `Aside`, by the name of the command's option
    writes    the suffixes of the files that its answer can write (`Answer.write`), and what they hold
    """

    ask: Callable[..., Answer]
    command: ClassVar[str] = ""
    method: ClassVar[str] = ""
    about: ClassVar[Literal["network", "networks", ""]] = "network"
    heeds: ClassVar[Heeds] = {}
    notes_of_files: ClassVar[bool] = False
    refuses: ClassVar[tuple[str, ...]] = ()
    how: ClassVar[tuple[str, ...]] = ("backend", "symmetry")
    examples: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[Mapping[str, Part]] = {}
    written: ClassVar[Mapping[str, File]] = {}
    shorter: ClassVar[Mapping[str, str]] = {}
    asides: ClassVar[Mapping[str, Aside]] = {}
    writes: ClassVar[tuple[tuple[str, ...], str]] = ((), "")

    def __init__(self) -> None:
        self.skipped = 2 if self.about else 1  # parameters of `ask` that are not the question's
        self.parameters = parameters_of(type(self).ask, self.skipped)

    def network_meant(self, text: str, values: Mapping[str, Any]) -> str:
        """The spelling of the network that a text means, given the values of parameters."""
        return text

    def check_given(self, network: Topology | None, how: How, values: Mapping[str, Any]) -> None:
        """Raise BadInput or Refused, before anything is computed, for what a command refuses and a sweep explains."""

    def check_certificate(self, network: Topology | None, values: Mapping[str, Any]) -> None:
        """Raise BadInput or Refused, before anything is computed, for an answer that is known to have no certificate.

        values   of all parameters by name
        """
        if network is not None:
            check_derived(network)

    def check_plan(self, spelling: str, plan: Plan, values: Mapping[str, Any]) -> None:
        """Raise Refused, before a network's arrays are made, where its answer would not fit into memory."""

    def is_quick(self, network: Topology | None, use_symmetry: bool, values: Mapping[str, Any]) -> bool:
        """Whether NumPy answers sooner than Numba loads: the backend `auto` of a command then is NumPy."""
        return False

    def estimate(self, network: Topology, values: Mapping[str, Any]) -> float:
        """Seconds that the answer takes on one core, within a factor of about five; 0 where nothing is known."""
        return 0.0

    def answer(
        self,
        asked: Topology | Sequence[Topology] | None,
        how: How,
        given: Mapping[str, Any],
        written: Callable[[str], str] = str,
        certified: bool = False,
    ) -> Answer:
        """The answer to values by name, which may be of any type. Raises BadInput for one that is wrong.

        asked     the network, the networks, or None: what the question is about
        written   how whoever asks writes the name of a parameter: where a refusal is about it, or has it in `…`
        certified its certificate is wanted, too
        """
        known = {one.name: one for one in self.parameters}
        network = asked if isinstance(asked, Topology) else None
        try:
            values = {name: known[name].check(value, network) for name, value in given.items()}
            self.check_given(network, how, values)
            if certified:
                self.check_certificate(network, {name: one.default for name, one in known.items()} | values)
            taken = self._taken(values)
            if network is not None:
                seconds = self.estimate(network, {name: one.default for name, one in known.items()} | values) / cores()
                if seconds >= LONG_SECONDS:
                    how.progress.say(f"about {duration(seconds)} on {counted(cores(), 'core')}; Ctrl-C stops it")
            with interruptible():
                answer = type(self).ask(asked, how, **taken) if self.about else type(self).ask(how, **taken)
        except BadInput as refusal:
            words = re.sub("`(\\w+)`", lambda name: written(name[1]) if name[1] in known else name[0], str(refusal))
            words = f"{written(refusal.place[-1])}: {words}" if refusal.place else words
            if words == str(refusal):
                raise
            raise type(refusal)(words) from None
        networks = asked if isinstance(asked, Sequence) else [] if asked is None else [asked]
        told = self.notes({network.spelling: network for network in networks}, values, answer.heeded)
        return replace(answer, unheeded=told) if told else answer

    def notes(
        self, networks: Mapping[str, Plan | Topology], values: Mapping[str, Any], heeded: Sequence[str] = ()
    ) -> dict[str, str]:
        """By the spelling of each network that says more than the answer heeds: the note that names it.

        networks   or their plans, by their spelling
        values  of parameters by name; others are not given
        heeded  attributes that this answer heeds besides
        """
        values = {one.name: one.default for one in self.parameters} | dict(values) | {"networks": len(networks)}
        declared = {**self.heeds, **heeds(heeded)}
        several = len(networks) > 1
        found = {
            name: note_of(declared, one, values, name if several else "", assumed=not self.notes_of_files)
            for name, one in networks.items()
        }
        return {name: note for name, note in found.items() if note}

    def _taken(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return grouped(type(self).ask, self.skipped, values)


class Question(Askable, Stage):
    """A stage whose requests, entries and rows follow from the signature of `ask`.

    phrase    completes "<network> …" with a request's parameters
    entry     what its entries have besides its parameters; None: a configuration has none, each network is asked this
    outermost parameters of which an entry's several values vary slowest, the slowest first; the others vary as written
    """

    phrase: ClassVar[str] = ""
    entry: ClassVar[type[NetworkChoice] | None] = NetworkChoice
    outermost: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        # those that a configuration has
        self.swept = [one for one in self.parameters if not one.sweep.never]
        # a stage whose entries or requests have another form declares them itself
        self.Entry = getattr(type(self), "Entry", None) or (self.entry and self._entry())
        self.Request = getattr(type(self), "Request", None) or self._request()

    def estimate(self, network: Topology, values: Mapping[str, Any]) -> float:
        """The seconds that a sweep estimates for a point; 0 for requests of another form."""
        given = [values[one.name] if isinstance(values[one.name], tuple) else (values[one.name],) for one in self.swept]
        names, point = [one.column for one in self.swept], LazyNetwork(network.spelling)
        vars(point)["planned"] = network.spelling, network.plan
        each = [
            attempt(lambda one: self.seconds(point, self.Request(**dict(zip(names, one)))), one)
            for one in product(*given)
        ]
        return sum(seconds for seconds in each if isinstance(seconds, float))

    # --- the configuration --------------------------------------------------------------------------

    def _entry(self) -> type[NetworkChoice]:
        """The entries of its section: a field for each parameter, a mapping for those that stand inside one."""
        assert self.entry is not None
        return entry_of(self.entry, self.swept, self.command, title=self.name.title(), meaning=self.description)

    def _request(self) -> type[Any]:
        """A frozen dataclass of its parameters."""
        columns = {column.name for column in self.columns}
        fields = []
        for one in self.swept:
            how: dict[str, Any] = {} if one.column in columns else {"metadata": {"meaning": one.meaning}}
            if not one.required:
                how["default"] = None if one.optional else one.default
            fields.append((one.column, one.kind | None if one.optional else one.kind, field(**how)))
        module = type(self).__module__
        body = {
            "__str__": lambda request: self.said(request),
            "__reduce__": lambda request: (_request_of, (module, tuple(vars(request).values()))),
        }
        return make_dataclass(f"{self.name.title()}Request", fields, frozen=True, namespace=body)

    def said(self, request: Any) -> str:
        """The text that completes "<network> …" in messages."""
        return self.phrase.format(**vars(request))

    def values_of(self, entry: Any) -> dict[str, Sequence[Any]]:
        """The values of each parameter in an entry, in canonical spellings; all combinations are its requests."""
        values: dict[str, Sequence[Any]] = {}
        for one in self.swept:
            given = getattr(entry, one.sweep.inside or one.name)
            if one.sweep.inside:
                values[one.name] = [None if given is None else getattr(given, one.name)]
            elif given is None or not isinstance(given, tuple):
                values[one.name] = [given]
            elif one.spelled is not None and one.spelled.canonical:
                with under(one.name):
                    canonical = resolve_name(one.spelled.canonical)
                    values[one.name] = [canonical(spelling) for spelling in given]
            else:
                values[one.name] = given
        return values

    def requests(self, entry: Any) -> Iterator[Any]:
        values = self.values_of(entry)
        order = [*self.outermost, *(name for name in values if name not in self.outermost)]
        columns = {one.name: one.column for one in self.swept}
        for chosen in product(*(values[name] for name in order)):
            yield self.Request(**{columns[name]: value for name, value in zip(order, chosen)})

    def files(self, request: Any) -> list[Path]:
        values = self.values_in(request)
        spelled = [(one.spelled.files, values[one.name]) for one in self.swept if one.spelled is not None]
        return [file for files, text in reversed(spelled) if files and text for file in resolve_name(files)(text)]

    def values_in(self, request: Any) -> dict[str, Any]:
        """The values of parameters that a request has."""
        return {one.name: getattr(request, one.column) for one in self.swept if hasattr(request, one.column)}

    def unheeded(self, plan: Plan, request: Any) -> list[str]:
        """The attributes (torusweep.questions.heeds) that a network says and the rows of a request leave out."""
        defaults = {one.name: one.default for one in self.parameters}
        return list(left_out(self.heeds, plan, defaults | self.values_in(request) | {"networks": 1}))

    def rows(self, network: LazyNetwork, request: Any, how: How) -> Rows:
        values = self.values_in(request)
        asked = [network.topology] if self.about == "networks" else network.topology
        found = type(self).ask(asked, how, **self._taken(values)).json
        return found if isinstance(found, list) else [found]


def _request_of(module: str, values: tuple[Any, ...]) -> Any:
    """A request from another process, of the question that a module has."""
    return resolve_name(f"{module}:QUESTION").Request(*values)
