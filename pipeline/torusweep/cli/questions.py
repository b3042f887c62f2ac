"""Make the commands that ask questions: arguments and options from a question's parameters, and the printed answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from torusweep_kernels.backend import backend_of_calls, backends_and_device, backends_run, resolved_backends

from torusweep.answers import table_text
from torusweep.cli import options, progress
from torusweep.errors import BadInput, naming, one_line, writing
from torusweep.networks.signature import signature_of
from torusweep.networks.spelling import Word, format_value
from torusweep.questions.answer import Answer
from torusweep.questions.console import open_console, print_note
from torusweep.questions.heeds import with_notes
from torusweep.questions.how import How
from torusweep.questions.parameters import Parameter
from torusweep.questions.question import Aside, Askable
from torusweep.questions.stage import LazyNetwork
from torusweep.tables.parquet import parquet


def command_of(question: Any) -> click.Command:
    """Return the command that asks a question."""
    assert isinstance(question, Askable)
    parameters, text = [*_parameters(question)], "\n\n".join(_help(question))
    return click.Command(question.command, callback=partial(_called, question), params=parameters, help=text)


def _parameters(question: Askable) -> Iterator[click.Parameter]:
    """Yield a command's arguments and options in the order of its help."""
    subject = {"network": [options.topology], "networks": [options.topologies], "": []}
    yield from map(_taken, subject[question.about])
    yield from map(_parameter, question.parameters)
    for name, part in question.parts.items():
        yield _flag(name, f"Print {part.meaning} as CSV (or JSON), and nothing else.")
    for name, file in question.written.items():
        only = f", with {_written(question, file.needs)}" if file.needs else ""
        yield _file([_dashed(name)], file.suffixes, f"Also write to this file{only}: {file.meaning}.")
    for name, aside in question.asides.items():
        yield _flag(name, f"{aside.meaning}, and nothing else.")
    for name, meaning in question.shorter.items():
        yield _flag(name, meaning)
    yield from map(_taken, [options.json_output, *(getattr(options, name) for name in question.how)])
    suffixes, meaning = question.writes
    if suffixes:
        yield _file(["-o", "--output"], suffixes, f"Write {meaning} to this file, {' or '.join(suffixes)}.")


def _called(question: Askable, as_json: bool, output: Path | None = None, **given: Any) -> None:
    """Ask a question with a command's arguments and options; print the answer, and write its files."""
    parts = [name for name in question.parts if given.pop(name)]
    files = {name: path for name in question.written if (path := given.pop(name)) is not None}
    asides = [aside for name, aside in question.asides.items() if given.pop(name)]
    shorter = [name for name in question.shorter if given.pop(name)]
    _check_together(question, parts, files, given)
    with resolved_backends() as resolved:
        answer, backend = _answered(question, asides, [*files], given)
    for name in shorter:
        answer = getattr(answer, name)
    if output is not None:
        answer.write(output)
    for remark in answer.remarks:
        click.echo(remark, err=True)
    _write(question, answer, files, late=False)
    if as_json and not parts:
        options.print_json(with_notes(answer.json, answer.unheeded))
    elif parts:
        _print_parts(answer, parts, table_text.as_json if as_json else table_text.as_csv)
    else:
        _print(answer, backends_run(backend, resolved) if "backend" in question.how else set())
    _write(question, answer, files, late=True)
    if output is not None and not as_json:
        click.echo(f"\nwritten: {output}", err=True)


def _check_together(question: Askable, parts: list[str], files: Mapping[str, Path], given: Mapping[str, Any]) -> None:
    """Raise BadInput for a part with an inapplicable parameter, or a file without a parameter that it needs."""
    if len(parts) > 1:
        raise BadInput(f"expected one of {', '.join(map(_dashed, parts))}, got both; leave one out")
    for part in parts:
        for name in filter(given.get, question.parts[part].without):
            raise BadInput(f"expected {_dashed(part)} or {_written(question, name)}, got both; leave one out")
    for name in files:
        needed = question.written[name].needs
        if needed and not given.get(needed):
            option = _written(question, needed)
            raise BadInput(f"{_dashed(name)}: expected with {option} only, got it alone; add {option}")


def _answered(question: Askable, asides: list[Aside], files: list[str], given: dict[str, Any]) -> tuple[Answer, str]:
    """Return the answer, or the first aside in place of the answer, and the backend that computed it."""
    backend = given.pop("backend") if "backend" in question.how else "auto"
    use_symmetry = "symmetry" not in question.how or given.pop("symmetry") == "on"  # search has another symmetry
    topology, topologies = given.pop("topology", None), given.pop("topologies", ())
    values = {name: value for name, value in given.items() if value is not None}
    chosen = backend if backend == "auto" else backend_of_calls(backend)
    networks = []
    for text in topologies if topology is None else (topology,):
        network = LazyNetwork(question.network_meant(text, values))
        question.estimate(network, values)  # which refuses it before arrays are made
        networks.append(network)
    first = networks[0].topology if networks else None
    if backend == "auto":
        chosen = "numpy" if question.is_quick(first, use_symmetry, values) else backend_of_calls(backend)
    if asides:
        return asides[0].answer(values), chosen
    how = How(chosen, use_symmetry, progress=progress)
    asked = networks if question.about == "networks" else first
    answer = question.answer(asked, how, values, partial(_written, question), files)
    return answer if first is None or topology is None else answer.labelled(first.plan.names), chosen


def _print(answer: Answer, backends: set[str]) -> None:
    """Print an answer as text. If `backends` is not empty, the last line names the backends that computed it."""
    computed_by = " on ".join(backends_and_device(backends)) if backends else ""
    with open_console() as console:
        answer.print(console, computed_by)
        for note in answer.notes_beside:
            print_note(console, note)


def _print_parts(answer: Answer, parts: list[str], as_text: Callable[[Any], str]) -> None:
    """Print tables of an answer on standard output, and notes on standard error."""
    click.echo("".join(as_text(getattr(answer, part)) for part in parts), nl=False)
    for note in answer.notes_beside:
        click.echo(note, err=True)


def _write(question: Askable, answer: Answer, files: Mapping[str, Path], *, late: bool) -> None:
    """Write texts and tables of an answer to files; a table is Parquet if the suffix is .parquet, otherwise CSV."""
    for name in [name for name in files if question.written[name].late == late]:
        path = files[name]
        with naming(_dashed(name)):
            content = getattr(answer, name)
            as_parquet = path.suffix.lower() == ".parquet" and not isinstance(content, str)
            text = content if isinstance(content, str) or as_parquet else table_text.as_csv(content)
            with writing(path):
                path.write_bytes(parquet(content, {}) if as_parquet else text.encode())


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(one: Parameter) -> str:
    """Return the name of a parameter's option."""
    return one.typed.option or _dashed(one.name)


def _written(question: Askable, name: str) -> str:
    """Return the option of the parameter with this name, or the name in the form of an option if there is none."""
    return {one.name: _option(one) for one in question.parameters}.get(name, _dashed(name))


def _flag(name: str, meaning: str) -> click.Option:
    return click.Option([_dashed(name)], is_flag=True, help=meaning)


def _taken(decorator: Any) -> click.Parameter:
    """Return the parameter that a click decorator adds to a command."""
    (parameter,) = decorator(lambda: None).__click_params__
    assert isinstance(parameter, click.Parameter)
    return parameter


def _writable(suffixes: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Return a callback that checks the path of a file to write, and its suffix; () allows any suffix."""

    def checked(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and suffixes and path.suffix.lower() not in suffixes:
            known = " or ".join(filter(None, suffixes))
            raise BadInput(f"{parameter.opts[-1]} {one_line(path)}: expected a file that ends in {known}; choose one")
        return options.writable(context, parameter, path)

    return checked


def _file(names: list[str], suffixes: tuple[str, ...], meaning: str) -> click.Option:
    """Return the option that names a file to write."""
    return click.Option(names, type=click.Path(path_type=Path), callback=_writable(suffixes), help=meaning)


def _parameter(one: Parameter) -> click.Parameter:
    """Return a question's parameter as an option or an argument. Help shows its default; the question applies it."""
    how: dict[str, Any] = {"is_flag": True} if one.kind is bool else {"type": _type(one)}
    how |= {"required": True} if one.required else {"required": False, "default": None}
    if one.spelled is not None and one.spelled.table:
        complete = options.complete_from if one.spelled.called else options.complete_name
        how["shell_complete"] = complete(one.spelled.table, skip=one.spelled.skip)
    if one.many or one.typed.reader:
        how |= {"multiple": one.many, "callback": _read(one)}
        how |= {"type": click.STRING, "metavar": one.typed.shown} if one.typed.reader else {}
    if one.typed.positional:
        return click.Argument([one.name], **how)
    meaning = f"{one.meaning[0].upper()}{one.meaning[1:]}{'; may be repeated' if one.many else ''}."
    if one.usual not in (None, (), "") and one.kind is not bool:
        usual = ", ".join(map(str, one.usual)) if isinstance(one.usual, tuple) else one.usual
        meaning += f"  [default: {usual}]"
    names = [_option(one), *([_dashed(one.typed.also)] if one.typed.also else []), one.name]
    return click.Option(names, help=meaning, **how)


def _type(one: Parameter) -> click.ParamType[Any]:
    if one.choices:
        return options.Choice(one.choices)
    if one.range is None:
        kinds: dict[type, click.ParamType[Any]] = {int: click.INT, float: options.Real(), str: click.STRING}
        kinds[Path] = click.Path(path_type=Path)
        return kinds[one.kind]
    if one.kind is int:
        return options.Integer(one.range.minimum, one.range.maximum)
    is_open = getattr(one.range, "open", False)
    above = is_open or getattr(one.range, "above", False)
    return options.Real(one.range.minimum, one.range.maximum, min_open=above, max_open=is_open)


def _read(one: Parameter) -> Any:
    """Return a callback that parses the text of an option into a value; None if the option is not given."""

    def value_of(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
        if given in (None, ()):
            return None
        if one.typed.reader:
            with naming(_option(one)):
                return resolve_name(one.typed.reader)(given)
        return tuple(options.listed(given)) if one.kind is str else given

    return value_of


def _help(question: Askable) -> Iterator[str]:
    """Yield the paragraphs of a command's help: the function's docstring, the names in its tables, and examples."""
    said = inspect.getdoc(type(question).ask) or ""
    for paragraph in said.partition(">>>")[0].strip().split("\n\n"):
        yield f"\b\n{paragraph}" if paragraph.startswith(" ") else paragraph
    for one in question.parameters:
        if one.spelled is not None and one.spelled.title:
            words = resolve_name(one.spelled.words) if one.spelled.words else None
            lines = [
                f"  {_call(name, function, one.spelled.skip)}\n      {words(name) if words else _meaning(function)}"
                for name, function in one.names.items()
            ]
            yield "\n".join(["\b", f"{one.spelled.title}:", *lines])
    yield "\n".join(["\b", "Examples:", *(f"  torusweep {example}" for example in question.examples)])


def _call(name: str, function: Any, skip: int) -> str:
    """Return how to call a function in a table: its name and parameters with choices, defaults, or … if required."""
    if not callable(function):
        return name
    written = []
    for one in signature_of(function)[skip:]:
        value = Word(one.default) if isinstance(one.default, str) else one.default
        if one.choices:
            written.append(f"{one.name}={'|'.join(one.choices)}")
        elif one.required or value is not None:
            written.append(f"{one.name}={'…' if one.required else format_value(value)}")
    return f"{name}({', '.join(written)})" if written else name


def _meaning(function: Any) -> str:
    """Return the description of a table's entry: a text, a meaning, or a function's first paragraph and constraint."""
    said = getattr(function, "meaning", "") or (
        (inspect.getdoc(function) or "") if callable(function) else str(function)
    )
    suits = re.search(r"^Constraint: (.*?)(?=\n\w+:|\Z)", said, re.DOTALL | re.MULTILINE)
    lines = [said.partition("\n\n")[0], f"Constraint: {suits[1]}" if suits else ""]
    return "\n      ".join(" ".join(line.split()) for line in lines if line)
