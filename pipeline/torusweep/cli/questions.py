"""Commands that ask questions: arguments and options come from the question's parameters, and the answer is printed.

A long computation shows its progress on standard error: as a bar on a terminal, elsewhere as a line every few seconds.
"""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from threading import Lock, Timer
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from torusweep_kernels.backend import backend_of_calls, backends_and_device, backends_run, resolved_backends

from torusweep.answers import table_text
from torusweep.cli import options
from torusweep.errors import BadInput, one_line, writing
from torusweep.networks.families import build
from torusweep.networks.signature import signature_of
from torusweep.networks.spelling import Word, format_value
from torusweep.questions.console import open_console, print_note
from torusweep.questions.heeds import with_notes
from torusweep.questions.how import How
from torusweep.questions.parameters import Parameter
from torusweep.questions.question import Askable
from torusweep.tables.parquet import parquet

LINE_SECONDS = 5.0  # between lines
BAR_COLUMNS = 10  # of a bar, so that most lines fit into 40 columns
QUIET_SECONDS = 1.0  # after which what has been found is shown, though more is to come

Report = Callable[[float], None]


@contextmanager
def count_progress(things: str, total: int | None = None) -> Iterator[Report]:
    """Yield a function to call with the number of things done so far. total: their largest number; None if unknown."""
    if sys.stderr.isatty():
        with _bar(things, MofNCompleteColumn(), total) as report:
            yield report
    else:
        yield _lines(lambda done: f"{things}: {int(done):,}" + ("" if total is None else f" of {total:,}"))


@contextmanager
def share_progress(work: str, total: float = 1.0) -> Iterator[Report]:
    """Yield a function to call with the amount of work done so far, 0 … total, which is shown in per cent."""
    if sys.stderr.isatty():
        with _bar(work, TaskProgressColumn(), total) as report:
            yield report
    else:
        yield _lines(lambda done: f"{work}: {100 * done / total:.0f} %")


@contextmanager
def wait_notice(work: str) -> Iterator[None]:
    """Show that work of unknown length runs: a spinner on a terminal, elsewhere one line if the work takes long."""
    if sys.stderr.isatty():
        with Console(stderr=True).status(work):
            yield
        return
    timer = Timer(LINE_SECONDS, lambda: print(work, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def found_progress(things: str, total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call with a text on each thing found. Slow work shows the texts, and a bar on a terminal."""
    waiting: list[str] | None = []
    number, lock = 0, Lock()

    def show() -> None:
        nonlocal waiting
        with lock:
            for line in waiting or ():
                print(line, file=sys.stderr, flush=True)
            waiting = None

    timer = Timer(QUIET_SECONDS, show)
    timer.daemon = True
    timer.start()
    try:
        with count_progress(things, total) if sys.stderr.isatty() else nullcontext() as report:

            def found(line: str) -> None:
                nonlocal number
                number += 1
                with lock:
                    if waiting is None:
                        print(line, file=sys.stderr, flush=True)
                    else:
                        waiting.append(line)
                if report is not None:
                    report(number)

            yield found
    finally:
        timer.cancel()


@contextmanager
def _bar(label: str, numbers: MofNCompleteColumn | TaskProgressColumn, total: float | None) -> Iterator[Report]:
    # a terminal that becomes narrower than a line breaks it in two, of which only the second is drawn anew
    columns = (TextColumn(label), BarColumn(bar_width=BAR_COLUMNS), numbers, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(text: Callable[[float], str]) -> Report:
    last = time.monotonic()

    def report(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LINE_SECONDS:
            last = now
            print(text(done), file=sys.stderr, flush=True)

    return report


class _OnTerminal:
    """How a question shows its progress on a terminal (torusweep.questions.how.Progress)."""

    share = staticmethod(share_progress)
    count = staticmethod(count_progress)
    found = staticmethod(found_progress)
    wait = staticmethod(wait_notice)

    @staticmethod
    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


ON_TERMINAL = _OnTerminal()


def command_of(question: Any) -> click.Command:
    """Return the command that asks a question."""
    assert isinstance(question, Askable)
    subject = {"network": options.topology, "networks": options.topologies}
    parameters: list[click.Parameter] = [_taken(subject[question.about])] if question.about else []
    parameters += map(_parameter, question.parameters)
    parameters += [
        click.Option([_dashed(name)], is_flag=True, help=f"Print {part.meaning} as CSV (or JSON), and nothing else.")
        for name, part in question.parts.items()
    ]
    written = {one.name: _option(one) for one in question.parameters}
    for name, file in question.written.items():
        only = f", with {written[file.needs]}" if file.needs else ""
        said, kind = f"Also write to this file{only}: {file.meaning}.", click.Path(path_type=Path)
        parameters.append(click.Option([_dashed(name)], type=kind, callback=_writable(file.suffixes), help=said))
    parameters += [
        click.Option([_dashed(name)], is_flag=True, help=f"{aside.meaning}, and nothing else.")
        for name, aside in question.asides.items()
    ]
    parameters += [click.Option([_dashed(name)], is_flag=True, help=said) for name, said in question.shorter.items()]
    shared = {"backend": options.backend, "symmetry": options.symmetry}
    parameters += [_taken(options.json_output), *(_taken(shared[name]) for name in question.how)]
    if question.writes[0]:
        parameters.append(_output(*question.writes))

    def called(as_json: bool, output: Path | None = None, **given: Any) -> None:
        parts = [name for name in question.parts if given.pop(name)]
        files = {name: given.pop(name) for name in question.written}
        asides = [aside for name, aside in question.asides.items() if given.pop(name)]
        shorter = [name for name in question.shorter if given.pop(name)]
        backend, symmetry = (given.pop(name, "auto") if name in question.how else "auto" for name in shared)
        topology, topologies = given.pop("topology", None), given.pop("topologies", ())
        values = {name: value for name, value in given.items() if value is not None}
        for part in parts:
            for name in question.parts[part].without:
                if values.get(name):
                    raise BadInput(f"expected {_dashed(part)} or {written[name]}, got both; leave one out")
        for name, file in question.written.items():
            if files[name] is not None and file.needs and not values.get(file.needs):
                needed = written[file.needs]
                raise BadInput(f"{_dashed(name)}: expected with {needed} only, got it alone; add {needed}")
        chosen = backend if backend == "auto" else backend_of_calls(backend)
        with resolved_backends() as resolved:
            checked = partial(question.check_plan, values=values)
            texts = topologies if topology is None else (topology,)
            networks = [build(question.network_meant(text, values), check=checked) for text in texts]
            asked = networks if question.about == "networks" else networks[0] if networks else None
            if backend == "auto":
                quick = question.is_quick(networks[0] if networks else None, symmetry != "off", values)
                chosen = "numpy" if quick else backend_of_calls(backend)
            how = How(chosen, symmetry != "off", progress=ON_TERMINAL)
            if asides:
                answer = asides[0].answer(values)
            else:
                certified = files.get("certificate") is not None
                answer = question.answer(asked, how, values, lambda name: written.get(name, _dashed(name)), certified)
                answer = answer if topology is None else answer.labelled(networks[0].plan.names)
        for name in shorter:
            answer = getattr(answer, name)
        if output is not None:
            answer.write(output)
        for remark in answer.remarks:
            click.echo(remark, err=True)

        def write_files(late: bool) -> None:
            for name in [one for one, file in question.written.items() if file.late == late and files[one]]:
                with named(_dashed(name)):
                    _write(files[name], getattr(answer, name))

        write_files(False)
        if parts:
            as_text = table_text.as_json if as_json else table_text.as_csv
            click.echo("".join(as_text(getattr(answer, part)) for part in parts), nl=False)
            for note in answer.notes_beside:
                click.echo(note, err=True)
        elif as_json:
            options.print_json(with_notes(answer.json, answer.unheeded))
        else:
            names, device = backends_and_device(backends_run(chosen, resolved))
            with open_console() as console:
                answer.print(console, f"{names} on {device}" if "backend" in question.how else "")
                for note in answer.notes_beside:
                    print_note(console, note)
        write_files(True)
        if output is not None and not as_json:
            click.echo(f"\nwritten: {output}", err=True)

    return click.Command(question.command, callback=called, params=parameters, help="\n\n".join(_help(question)))


def _write(path: Path, content: Any) -> None:
    """Write a text, or a table as CSV; if the file's suffix is .parquet, a table as Parquet."""
    as_parquet = path.suffix.lower() == ".parquet" and not isinstance(content, str)
    text = content if isinstance(content, str) or as_parquet else table_text.as_csv(content)
    with writing(path):
        path.write_bytes(parquet(content, {}) if as_parquet else text.encode())


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _option(one: Parameter) -> str:
    """Return the name of a parameter's option."""
    return one.typed.option or _dashed(one.name)


def _taken(decorator: Any) -> click.Parameter:
    """Return the parameter that a click decorator adds to a command."""

    def command() -> None:
        return

    (parameter,) = decorator(command).__click_params__
    taken: click.Parameter = parameter
    return taken


def _writable(suffixes: tuple[str, ...]) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """Return a callback that checks the path of a file to write, and its suffix; () allows any suffix."""

    def checked(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and suffixes and path.suffix.lower() not in suffixes:
            known = " or ".join(filter(None, suffixes))
            raise BadInput(f"{parameter.opts[-1]} {one_line(path)}: expected a file that ends in {known}; choose one")
        return options.writable(context, parameter, path)

    return checked


def _output(suffixes: tuple[str, ...], meaning: str) -> click.Option:
    """Return the option --output for the file that an answer writes."""
    meaning = f"Write {meaning} to this file, {' or '.join(suffixes)}."
    return click.Option(["-o", "--output"], type=click.Path(path_type=Path), callback=_writable(suffixes), help=meaning)


def _parameter(one: Parameter) -> click.Parameter:
    """Return a question's parameter as an option or an argument. Help shows the default, which is not passed on."""
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
    """Return a callback that turns an option's texts into a value; None if the option is not given."""

    def value_of(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
        if given in (None, ()):
            return None
        if one.typed.reader:
            with named(_option(one)):
                return resolve_name(one.typed.reader)(given)
        return tuple(options.listed(given)) if one.kind is str else given

    return value_of


@contextmanager
def named(option: str) -> Iterator[None]:
    """Put the option's name before the message of a refusal raised in a `with` block."""
    try:
        yield
    except BadInput as wrong:
        raise type(wrong)(f"{option}: {wrong}") from None


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
    """Return how to call a function in a table: its name and parameters, with choices or default, or … if required."""
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
