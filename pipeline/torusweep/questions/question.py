"""Questions about a network. The signature of a question's function declares all its parameters.

The parameters' ranges, defaults and meanings are taken from the signature for the question's command, its method of
`torusweep.Network`, its section of a configuration and the requests of a sweep.
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
from torusweep.networks.families import FAMILIES
from torusweep.networks.topology import Plan, Topology
from torusweep.quantities import counted, duration
from torusweep.questions.answer import Answer
from torusweep.questions.entries import entry_of
from torusweep.questions.heeds import ATTRIBUTES, Heeds, heeds, left_out, note_of
from torusweep.questions.how import How, cores, interruptible
from torusweep.questions.parameters import grouped, parameters_of
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Rows, Stage, attempt, under

LONG_SECONDS = 60.0  # from this time on, the expected time is printed before the answer is computed


class Part(NamedTuple):
    """A table that the question's command can print alone: the property of the answer that has the option's name.

    without   names of parameters that do not affect the table; the command refuses them together with the option
    """

    meaning: str
    without: tuple[str, ...] = ()


class File(NamedTuple):
    """A file that a command writes if its option is given: the property of the answer that has the option's name.

    The property is a text or a table. A table is written as CSV, or as Parquet if the file's suffix is .parquet.

    suffixes  suffixes that the file may have, in lower case; () allows any
    needs   name of a parameter that must be given for the file to exist; "" if it always exists
    late    whether the file is written after the answer is printed, so that the answer is seen even if writing fails
    """

    meaning: str
    suffixes: tuple[str, ...] = ("", ".csv", ".parquet")
    needs: str = ""
    late: bool = False


CERTIFICATE = File(
    "a proof of the answer, which certify/check.py checks (docs/certificates.md)", suffixes=(), late=True
)


class Aside(NamedTuple):
    """An output that a command prints instead of its answer. `answer` makes it from the parameters' values by name."""

    meaning: str
    answer: Callable[[Mapping[str, Any]], Answer]


class Askable:
    """A question, whose command and Python function follow from the signature of `ask`.

    ask       function of the network (or a list of networks, or neither: see `about`), `How` and the parameters. The
              docstring is the command's help: a summary, paragraphs (indented ones keep their lines) and, at the end,
              examples in Python, which the help omits
    command   name of the command, and of the Python method or function
    method    name of the Python method if it differs from the command's; otherwise ""
    about     "network": asked by a method of `Network`; "": by a function of the package; "networks": by both
    heeds     attributes of a network that the answer depends on (torusweep.questions.heeds); a note names the others
    notes_of_files  whether the answer itself prints the notes on a network's file
    refuses   attributes for which the question refuses a network: all such networks, or some if it is in `heeds`, too
    how       fields of `How` that affect the computation: backend, symmetry
    examples  command lines for the help, each with its explanation
    parts     tables that the command can print alone (`Part`), by option
    written   files that the command can write (`File`), by option
    shorter   help of each option that shortens what is printed: the answer's property of that name
    asides    outputs that replace the answer (`Aside`), by option
    sized     (parameter, function from the text that names a network and the parameter's value to the spelling)
    writes    (suffixes of the files that `Answer.write` can write, what these files contain)
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
    sized: ClassVar[tuple[str, Callable[[str, Any], str]]] = ("", lambda text, value: text)
    writes: ClassVar[tuple[tuple[str, ...], str]] = ((), "")

    def __init__(self) -> None:
        self.skipped = 2 if self.about else 1  # parameters of `ask` that are not the question's
        self.parameters = parameters_of(type(self).ask, self.skipped)
        self.defaults = {one.name: one.default for one in self.parameters}

    def network_meant(self, text: str, values: Mapping[str, Any]) -> str:
        """Return the spelling of the network for a text from the user; it may depend on a parameter's value."""
        parameter, spelled = self.sized
        return spelled(text, values.get(parameter))

    def check_asked(self, network: Topology | None, how: How, values: Mapping[str, Any], files: Sequence[str]) -> None:
        """Raise BadInput or Refused for what can be refused before computing anything. Sweeps do not call this method.

        values     value of every parameter, by name
        files      names of the files that are wanted, too; one is refused if the answer is known to have none
        """
        if "certificate" in files and network is not None:
            check_derived(network)

    def is_quick(self, network: Topology | None, use_symmetry: bool, values: Mapping[str, Any]) -> bool:
        """Return whether NumPy computes the answer in less time than loading Numba takes; `auto` then chooses NumPy."""
        return False

    def estimate(self, network: LazyNetwork, values: Mapping[str, Any]) -> float:
        """Estimate the seconds for the answer on one core, within a factor of about five; 0 if no estimate is known.

        values   values of the given parameters, by name

        Raises Refused if the answer would not fit into memory. The network's arrays are not made for the estimate.
        """
        return 0.0

    def answer(
        self,
        asked: Topology | Sequence[LazyNetwork] | None,
        how: How,
        given: Mapping[str, Any],
        written: Callable[[str], str] = str,
        files: Sequence[str] = (),
    ) -> Answer:
        """Check the given values and return the question's answer. Raises BadInput for a wrong value.

        asked     what the question is about: a network, several networks, or None
        given     parameters' values by name, of any type; parameters that are missing take their default
        written   converts a parameter's name to the caller's spelling of it (such as --name), for error messages
        files     names of the files that the caller also wants
        """
        known = {one.name: one for one in self.parameters}
        network = asked if isinstance(asked, Topology) else None
        try:
            values = {name: known[name].check(value, network) for name, value in given.items()}
            self.check_asked(network, how, self.defaults | values, files)
            taken = self._taken(values)
            if network is not None:
                seconds = self.estimate(LazyNetwork.of(network), values) / cores()
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
        networks = [LazyNetwork.of(asked)] if isinstance(asked, Topology) else asked or ()
        told = self.notes({network.planned[0]: network for network in networks}, values, answer.heeded)
        return replace(answer, unheeded=told) if told else answer

    def notes(
        self, networks: Mapping[str, Plan | LazyNetwork], values: Mapping[str, Any], heeded: Sequence[str] = ()
    ) -> dict[str, str]:
        """Return notes on the attributes that the answer leaves out, by the spelling of each network that has one.

        networks   the networks, or their plans, by spelling
        values  values of the given parameters, by name
        heeded  attributes that this answer depends on in addition to `heeds`
        """
        values = self.defaults | dict(values) | {"networks": len(networks)}
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
    """A stage of a sweep whose requests, entries and rows follow from the signature of `ask`.

    phrase    function from a request's columns to words that follow the network's name in messages
    entry     base class of an entry in a configuration; None if the stage has no entries, but one request per network
    outermost parameters whose values vary slowest in the order of an entry's requests, the slowest first
    """

    phrase: ClassVar[Callable[..., str]] = "".format
    entry: ClassVar[type[NetworkChoice] | None] = NetworkChoice
    outermost: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__()
        # parameters that a configuration may give
        self.swept = [one for one in self.parameters if not one.sweep.never]

        self.Entry = getattr(type(self), "Entry", None) or (self.entry and self._entry())
        self.Request = getattr(type(self), "Request", None) or self._request()

    def estimate(self, network: LazyNetwork, values: Mapping[str, Any]) -> float:
        """Sum the seconds that a sweep estimates for the points; points that it cannot estimate count 0."""
        values, names = self.defaults | dict(values), [one.column for one in self.swept]
        given = [values[one.name] if isinstance(values[one.name], tuple) else (values[one.name],) for one in self.swept]
        each = [
            attempt(lambda one: self.seconds(network, self.Request(**dict(zip(names, one)))), one)
            for one in product(*given)
        ]
        return sum(seconds for seconds in each if isinstance(seconds, float))

    def _entry(self) -> type[NetworkChoice]:
        """Return the class of the entries in the stage's section, with a field for each parameter or group."""
        assert self.entry is not None
        return entry_of(self.entry, self.swept, self.command, title=self.name.title(), meaning=self.description)

    def _request(self) -> type[Any]:
        """Return the class of the stage's requests: a frozen dataclass with a field for each swept parameter."""
        columns = {column.name for column in self.columns}
        fields = []
        for one in self.swept:
            how: dict[str, Any] = {} if one.column in columns else {"metadata": {"meaning": one.meaning}}
            if not one.required:
                how["default"] = None if one.optional else one.default
            fields.append((one.column, one.kind | None if one.optional else one.kind, field(**how)))
        module = type(self).__module__
        body = {
            "__str__": lambda request: self.phrase(**vars(request)),
            "__reduce__": lambda request: (_request_of, (module, tuple(vars(request).values()))),
        }
        return make_dataclass(f"{self.name.title()}Request", fields, frozen=True, namespace=body)

    def values_of(self, entry: Any) -> dict[str, Sequence[Any]]:
        """Return the values that an entry gives for each parameter, in canonical spellings, by the parameter's name."""
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
        """Return the parameters' values in a request, or in its `parameters`, by name."""
        given = getattr(request, "parameters", request)
        return {one.name: getattr(given, one.column) for one in self.swept if hasattr(given, one.column)}

    def unheeded(self, network: LazyNetwork, request: Any) -> Sequence[str]:
        is_space = network.spelling.partition("(")[0] not in FAMILIES  # a design space has no plan
        if is_space or not any(attribute.said(network.plan) for attribute in ATTRIBUTES.values()):
            return ()
        return tuple(left_out(self.heeds, network.plan, self.defaults | self.values_in(request) | {"networks": 1}))

    def rows(self, network: LazyNetwork, request: Any, how: How) -> Rows:
        values = self.values_in(request)
        asked = [network] if self.about == "networks" else network.topology
        found = type(self).ask(asked, how, **self._taken(values)).json
        return found if isinstance(found, list) else [found]


def _request_of(module: str, values: tuple[Any, ...]) -> Any:
    """Rebuild a pickled request from its values. module: the module of the request's question."""
    return resolve_name(f"{module}:QUESTION").Request(*values)
