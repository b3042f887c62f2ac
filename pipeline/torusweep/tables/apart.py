"""Read an untrusted file in a separate process, which may crash, hang or use up memory without harm to this process.

Libraries that read Parquet crash on some damaged files. A child process gets the name of a function, its arguments as
JSON, and the file's bytes. It sends back JSON and a table, or an error. Python and the libraries take a third of a
second to start, so a server process that has loaded them is kept, which forks a child for each file.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import pyarrow as pa

from torusweep.errors import BadInput, Refused, one_line

SECONDS = 120.0  # time limit of a child, which includes the time of a slow web server
SPARE = 1 << 30  # bytes of memory for a child's libraries and threads, in addition to what it reads
DIED = "it ended the process that read it ({}): it is damaged, or was made to do so"
_KEPT: list[Any] = []  # the server process, and the folder and environment in which it was started
_LOCK = threading.Lock()


class Sent(NamedTuple):
    """The result of a child: numbers and texts by name, and a table or None."""

    about: dict[str, Any]
    table: pa.Table | None


def apart(
    function: str, arguments: Mapping[str, Any], content: bytes = b"", *, memory: int, seconds: float = SECONDS
) -> Sent:
    """Call a function in a child process.

    function   "module:name" of a function that takes `content` and, by name, the arguments, and returns `Sent`
    arguments  arguments by name; JSON must be able to represent them
    content    bytes of the file; may be empty
    memory     bytes of memory that the function may take
    seconds    time limit after which the child is killed

    Raises BadInput and Refused if the function does, and ValueError if it fails, crashes or exceeds a limit.
    """
    request = {"function": function, "arguments": dict(arguments), "memory": memory, "seconds": ceil(seconds)}
    with _LOCK:
        process = _kept()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps({**request, "bytes": len(content)}).encode() + b"\n")
                process.stdin.write(content)
                process.stdin.flush()
            about = json.loads(process.stdout.readline())
            table = pa.ipc.open_stream(process.stdout).read_all() if about.get("table") else None
        except (ValueError, OSError, pa.ArrowException):  # the answer is incomplete
            status = process.wait(SECONDS)
            if status == 128 + signal.SIGALRM:
                raise ValueError(f"no answer within {seconds:.0f} s") from None
            how = signal.Signals(status - 128).name if status > 128 else f"status {status}"
            raise ValueError(DIED.format(how)) from None
        except BaseException:  # such as Ctrl-C
            end()
            raise
    if "refused" in about:
        raise (Refused if about["limit"] else BadInput)(about["refused"])
    if "failed" in about:
        raise ValueError(about["failed"])
    return Sent(about, table)


def _kept() -> Any:
    """Return the server process, after starting it if none runs. It ends when a child ends with an error.

    A new server is started if the folder or the environment has changed since the start.
    """
    folder = os.stat(".")
    here = folder.st_dev, folder.st_ino, dict(os.environ)
    if _KEPT and (_KEPT[1] != here or _KEPT[0].poll() is not None):
        end()
    if not _KEPT:
        command, pipe = [sys.executable, "-P", "-m", "torusweep.tables.apart"], subprocess.PIPE
        _KEPT[:] = (
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, process_group=0),
            here,
        )
    return _KEPT[0]


def end() -> None:
    """Kill the server process and its child."""
    if _KEPT:
        process = _KEPT[0]
        _KEPT.clear()
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()


def _forget() -> None:
    """Forget the server process in a fork of this process, because the server answers the original process only."""
    global _LOCK
    _LOCK = threading.Lock()
    for process in _KEPT[:1]:
        process.returncode = 0
    _KEPT.clear()


atexit.register(end)
os.register_at_fork(after_in_child=_forget)


def _serve() -> None:
    """Run the server: fork a child for each request on standard input. The child answers on standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps what libraries print out of the answers
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        content, function = sys.stdin.buffer.read(request["bytes"]), resolve_name(request["function"])
        child = os.fork()
        if child == 0:
            _answer(function, request, content, answers)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            os._exit(status if status > 0 else 128 - status)


def _answer(function: Callable[..., Sent], request: dict[str, Any], content: bytes, answers: Any) -> None:
    """Run a child: call the function within its limits, write its result or the reason why it failed, and exit."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(request["seconds"])
    limit = _memory_now() + len(content) + request["memory"] + SPARE
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most < 0 else min(limit, most), most))
    table = None
    try:
        about, table = function(content, **request["arguments"])
    except BadInput as refusal:
        about = {"refused": str(refusal), "limit": isinstance(refusal, Refused)}
    except MemoryError:
        about = {"failed": f"more than the {request['memory'] / 2**20:,.0f} MiB of memory that it may take"}
    except Exception as error:
        about = {"failed": one_line(error) or type(error).__name__}
    answers.write(json.dumps({**about, "table": table is not None}).encode() + b"\n")
    if table is not None:
        with pa.ipc.new_stream(answers, table.schema) as writer:
            writer.write_table(table)
    answers.flush()
    os._exit(0)  # at once, whatever the threads of a library that read the file do


def _memory_now() -> int:
    """Return the bytes of this process's data segment, as RLIMIT_DATA counts them."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    return SPARE


if __name__ == "__main__":
    _serve()
