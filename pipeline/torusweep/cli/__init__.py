"""The command line `torusweep`: parse arguments, call the library, print the answer.

Commands are loaded when they are called, so that `torusweep --help` does not import Numba, Dask or
DuckDB. For bad input, `main` prints one line on standard error and ends with exit status 2.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import resource
import signal
import sys
import threading
from typing import Any, NoReturn

import click

from torusweep.questions import ASKED, FUNCTIONS, QUESTIONS, question_named
from torusweep.version import __version__

# what a user asks → command → (module of this folder, or of the question; one-line help). The help stands here so that
# the list of commands needs no imports
GROUPS = {
    **ASKED,
    "Which networks are there, and for which tools?": {
        "topologies": ("topologies", "List the families of networks."),
        "export": ("networks", "Write a network in the format of another tool."),
        "routes": ("networks", "Write a routing as a table of next hops."),
    },
    "How do many networks compare?": {
        "plan": ("run", "What a sweep will take: points, time, memory, disk."),
        "run": ("run", "Run a sweep: tables, verification, report."),
        "query": ("query", "Query a sweep's tables in SQL."),
        "pareto": ("compare", "The designs that no other design beats."),
        "plot": ("report", "Draw any two columns, as SVG, PDF or PNG."),
        "report": ("report", "Write the HTML page of a sweep."),
        "verify": ("verify", "The papers' numbers beside ours."),
        "compare": ("compare", "Where two results differ."),
        "dataset": ("report", "Write a sweep's lattices as a data set."),
    },
    "How do I type less?": {"completion": ("options", "Print the shell completion script.")},
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
COMMANDS["step"] = ("run", "One step of the pipeline, as the Snakefile calls it.")  # which help does not list

CTRL_C = "ctrl-c"  # name of the thread that waits for it
CTRL_C_SECONDS = 0.2  # in which Python may end by itself


class Commands(click.Group):
    """A click group whose commands are imported only when they are called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for name in COMMANDS if name != "step"]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        if name in QUESTIONS:
            from torusweep.cli.questions import command_of

            return command_of(question_named(name))
        if COMMANDS[name][0] in ("query", "compare", "report", "verify"):
            # a table can stand for more than the machine's memory: to read it then fails, and no process is killed
            memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
            soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (memory if soft < 0 else min(soft, memory), hard))
        module = importlib.import_module(f"torusweep.cli.{COMMANDS[name][0]}")
        return getattr(module, name)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt as stopped:  # of this one, click would first print an empty line
            raise click.Abort from stopped

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from torusweep.errors import BadInput, nearest

            guess = nearest(args[0], self.list_commands(context))
            raise BadInput(f"unknown command '{args[0]}'{guess}; 'torusweep --help' lists all")
        if args and args[0] in QUESTIONS and args[0] not in FUNCTIONS and not context.resilient_parsing:
            _check_family("".join(args[1:2]))
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("\nCommands, by what you ask. 'torusweep COMMAND --help' explains one.\n")
        width = max(map(len, COMMANDS))
        for asked, commands in GROUPS.items():
            formatter.write(f"\n{asked}\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])


def _check_family(spelling: str) -> None:
    """Raise BadInput for a misspelt family before its question is imported, because the import takes longer."""
    name = spelling.partition("(")[0].strip().lower()
    if name.isidentifier() and not os.path.exists(spelling):
        from torusweep.networks.families import FAMILIES, plan

        if name not in FAMILIES:
            plan(spelling)  # raises


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, message="torusweep %(version)s")
def torusweep() -> None:
    """Compare interconnection networks: distances, channel loads, deadlock, latency and cost of one or of thousands.

    \b
    Examples:
      torusweep describe "torus(k=8, n=3)"             one network
      torusweep loads my.edges                         your own, from a file
      torusweep best --nodes 128 --dimensions 3        the best of all lattices of a size
      torusweep run config/default.yaml                a sweep: tables, verification, report
    """


def main() -> None:
    """Run the command line. Turn a refusal into a one-line message and an exit status."""
    from torusweep.errors import BadInput

    # those are the working folder's: that of python -m, empty parts of PYTHONPATH, names that an editable install adds
    sys.path[:] = [place for place in sys.path if os.path.isabs(place)]
    # what is imported stays; by default Python looks through many of these objects every 700 new ones
    gc.set_threshold(50_000)
    # threads that share a matrix of some hundred rows mostly wait for each other; NumPy's BLAS reads this when it loads
    if "numpy" not in sys.modules and "OMP_NUM_THREADS" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if hasattr(signal, "SIGPIPE") and sys.argv[1:2] not in (["run"], ["step"]):  # those have children to stop first
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `torusweep … | head` ends quietly
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # drawings in an encoding that lacks them
    answered = _ctrl_c_ends()
    try:
        if sys.stderr.isatty() and sys.argv[1:2] not in (["run"], ["step"]):  # those have progress of their own
            from torusweep_kernels.backend import when_compiling

            when_compiling(
                lambda: click.echo("compiling for this processor, once: later runs find it in Numba's cache", err=True)
            )
        torusweep.main(standalone_mode=False, prog_name="torusweep")
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout(141)
    except OSError as failure:
        if failure.errno == errno.ENOENT and failure.filename is None:  # os.getcwd's
            _say("the working folder has been deleted; change to another one")
            _end(2)
        if failure.errno != errno.ENOSPC:
            raise
        _say(f"cannot write standard output: {failure.strerror}; make room, or write elsewhere")
        _give_up_stdout(1)
    except BadInput as refusal:
        _say(str(refusal))
        _end(2)
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.ctx.get_help() if asked.ctx else "")
        sys.exit(2)
    except click.ClickException as refusal:
        context = getattr(refusal, "ctx", None)
        _say(refusal.format_message() + (f" ('{context.command_path} --help' explains)" if context else ""))
        sys.exit(2)
    except (KeyboardInterrupt, click.exceptions.Abort) as stopped:
        answered.set()
        remedy = str(stopped.__cause__ or stopped)
        if sys.stderr.isatty():
            sys.stderr.write("\r")  # the line is written over the terminal's ^C
        _say(f"interrupted; {remedy}" if remedy else "interrupted")
        _end(130)
    except Exception as failure:
        if type(failure).__name__ == "BackendUnavailable":  # torusweep_kernels.backend's, which takes long to import
            _say(str(failure))
            sys.exit(2)
        raise


def _ctrl_c_ends() -> threading.Event:
    """End the process soon after Ctrl-C, even while compiled code keeps Python busy. Set the returned event to stop.

    The commands run, step and search are exempt, because they save results before they end.
    """
    answered = threading.Event()
    if sys.argv[1:2] in (["run"], ["step"], ["search"]) or os.name != "posix":
        return answered
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)  # Python writes a signal's number here at once

    def watch() -> None:
        while os.read(heard, 1) != bytes([signal.SIGINT]):
            continue
        if not answered.wait(CTRL_C_SECONDS):
            if sys.stderr.isatty():
                sys.stderr.write("\r\x1b[2K\x1b[?25h")  # over a bar, which hides the cursor
            _say("interrupted")
            sys.stderr.flush()
            os._exit(130)

    threading.Thread(target=watch, name=CTRL_C, daemon=True).start()
    return answered


def _end(status: int) -> NoReturn:
    """Exit. Python's own shutdown is skipped after Ctrl-C, as compiled code delays it, and while a query ignores its
    interrupt, as Python would report what the query's thread holds.
    """
    at_once = {"query", CTRL_C} if status == 130 else {"query"}
    if any(thread.name in at_once for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _give_up_stdout(status: int) -> None:
    """Exit without the flush that Python attempts on exit, because it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(status)


def _say(message: str) -> None:
    """Print one line on standard error, in colour only on a terminal, without control characters."""
    from torusweep.errors import printable

    line = printable(" ".join(message.split()))
    plain = not sys.stderr.isatty() or "NO_COLOR" in os.environ
    sys.stderr.write(f"torusweep: {line}\n" if plain else f"\x1b[1;31mtorusweep:\x1b[0m {line}\n")
