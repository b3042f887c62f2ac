"""Commands of questions: arguments and options from the question's parameters, and the answer printed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import Any

import click
from torusweep_kernels.backend import backend_of_calls, backends_and_device, backends_run, resolved_backends

from torusweep.cli import options
from torusweep.cli.progress import ON_TERMINAL
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.signature import signature_of
from torusweep.networks.spelling import Word, format_value
from torusweep.questions.console import open_console
from torusweep.questions.parameters import Option, Parameter, Positional, Read
from torusweep.questions.question import How, Part, Question
from torusweep.results import table_text


def command_of(question: Any) -> click.Command:
    """The command that asks a question."""
    assert isinstance(question, Question)
    parameters: list[click.Parameter] = [_taken(options.topology)] if question.about else []
    parameters += map(_parameter, question.parameters)
    parameters += [_part(name, part) for name, part in question.parts.items()]
    written = {one.name: _option(one) for one in question.parameters}
    shared = {"backend": options.backend, "symmetry": options.symmetry}
    parameters += [_taken(options.json_output), *(_taken(shared[name]) for name in question.how)]

    def called(as_json: bool, backend: str = "auto", symmetry: str = "on", **given: Any) -> None:
        asked = {name: given.pop(name) for name in question.parts}
        parts = [name for name, part in question.parts.items() if asked[name] and not part.file]
        files = {name: asked[name] for name, part in question.parts.items() if asked[name] and part.file}
        topology = given.pop("topology", None)
        values = {name: value for name, value in given.items() if value is not None}
        for part in (*parts, *files):
            for name in question.parts[part].without:
                if values.get(name):
                    raise BadInput(f"expected {_dashed(part)} or {written[name]}, got both; leave one out")
            for name in question.parts[part].needs:
                if not values.get(name):
                    raise BadInput(f"{_dashed(part)}: expected with {written[name]} only; add that, or leave it out")
        chosen = backend_of_calls(backend)
        how = How(chosen, symmetry == "on", progress=ON_TERMINAL)
        with resolved_backends() as resolved:
            network = None if topology is None else build(topology)
            answer = question.answer(network, how, values, lambda name: written.get(name, _dashed(name)))
        for remark in answer.remarks:
            click.echo(remark, err=True)
        for part, file in files.items():
            file.write(table_text.as_csv(getattr(answer, part)))
        if parts:
            as_text = table_text.as_json if as_json else table_text.as_csv
            click.echo("".join(as_text(getattr(answer, part)) for part in parts), nl=False)
        elif as_json:
            options.print_json(answer.json)
        else:
            names, device = backends_and_device(backends_run(chosen, resolved))
            with open_console() as console:
                answer.print(console, f"{names} on {device}")

    return click.Command(question.command, callback=called, params=parameters, help="\n\n".join(_help(question)))


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(one: Parameter) -> str:
    """The name of a parameter's option."""
    named: Option | None = one.note(Option)
    return _dashed(one.name) if named is None else named.name


def _part(name: str, part: Part) -> click.Parameter:
    if part.file:
        file = click.File("w", encoding="utf-8", lazy=False)
        return click.Option([_dashed(name)], type=file, help=f"Write {part.meaning} to this file, as CSV.")
    return click.Option([_dashed(name)], is_flag=True, help=f"Print {part.meaning} as CSV (or JSON), and nothing else.")


def _taken(decorator: Any) -> click.Parameter:
    """The parameter that a decorator of click adds."""

    def command() -> None:
        return

    (parameter,) = decorator(command).__click_params__
    taken: click.Parameter = parameter
    return taken


def _parameter(one: Parameter) -> click.Parameter:
    """A parameter as an option, or an argument: its default is shown, and passed on only where it is given."""
    how: dict[str, Any] = {"is_flag": True} if one.kind is bool else {"type": _type(one)}
    if one.spelled is not None and one.spelled.table:
        complete = options.complete_from if one.spelled.called else options.complete_name
        how["shell_complete"] = complete(one.spelled.table)
    read: Read | None = one.note(Read)
    if one.many or read is not None:
        how |= {"multiple": one.many, "callback": _read(one, read)}
        how |= {} if read is None else {"type": click.STRING, "metavar": read.shown}
    if one.note(Positional) is not None:
        return click.Argument([one.name], required=one.required, default=None, **how)
    meaning = f"{one.meaning[0].upper()}{one.meaning[1:]}{'; may be repeated' if one.many else ''}."
    if one.usual not in (None, (), "") and one.kind is not bool:
        usual = ", ".join(map(str, one.usual)) if isinstance(one.usual, tuple) else one.usual
        meaning += f"  [default: {usual}]"
    return click.Option([_option(one), one.name], help=meaning, required=one.required, default=None, **how)


def _type(one: Parameter) -> click.ParamType[Any]:
    if one.choices:
        return click.Choice(one.choices)
    if one.range is None:
        kinds: dict[type, click.ParamType[Any]] = {int: click.INT, float: options.Real(), str: click.STRING}
        return kinds[one.kind]
    if one.kind is int:
        return click.IntRange(one.range.minimum, one.range.maximum)
    end = getattr(one.range, "open", False)
    above = end or getattr(one.range, "above", False)
    return options.Real(one.range.minimum, one.range.maximum, min_open=above, max_open=end)


def _read(one: Parameter, read: Read | None) -> Any:
    """A callback that makes a value of an option's texts; None where it is not given."""

    def value_of(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
        if given in (None, ()):
            return None
        if read is not None:
            with named(_option(one)):
                return resolve_name(read.reader)(given)
        return tuple(options.listed(given)) if one.kind is str else given

    return value_of


@contextmanager
def named(option: str) -> Iterator[None]:
    """Say in a refusal which option it is about."""
    try:
        yield
    except BadInput as wrong:
        raise type(wrong)(f"{option}: {wrong}") from None


def _help(question: Question) -> Iterator[str]:
    """The help's paragraphs: what the function's docstring says, the names of its tables, and examples."""
    said = inspect.getdoc(type(question).ask) or ""
    yield said.partition(">>>")[0].strip()
    for one in question.parameters:
        if one.spelled is not None and one.spelled.title:
            lines = [f"  {_call(name, function)}\n      {_meaning(function)}" for name, function in one.names.items()]
            yield "\n".join(["\b", f"{one.spelled.title}:", *lines])
    yield "\n".join(["\b", "Examples:", *(f"  torusweep {example}" for example in question.examples)])


def _call(name: str, function: Any) -> str:
    """How a function of a table is written: its parameters with their defaults, or … where they are required."""
    if not callable(function):
        return name
    written = []
    for one in signature_of(function)[1:]:
        value = Word(one.default) if isinstance(one.default, str) else one.default
        if one.required or value is not None:
            written.append(f"{one.name}={'…' if one.required else format_value(value)}")
    return f"{name}({', '.join(written)})" if written else name


def _meaning(function: Any) -> str:
    """What an entry of a table says of itself: the beginning of a function's docstring, or its text."""
    said = inspect.getdoc(function) if callable(function) else str(function)
    return " ".join((said or "").partition("\n\n")[0].split())
