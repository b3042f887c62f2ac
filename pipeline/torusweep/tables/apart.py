"""Somebody else's file, read by a process of its own: it may die, hang, or want all memory, without this one.

Libraries that read Parquet end their process on some damaged files. The child gets a function's name, its arguments as
JSON and the file's bytes; it sends back JSON and a table, or why there is none. Python and the libraries take a third
of a second to start. So one process is kept, which has them and reads no file: it forks the child for each.
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

SECONDS = 120.0  # that a child may take for its answer, a slow server's time included
SPARE = 1 << 30  # bytes that a child takes besides what it reads: its libraries and their threads
DIED = "it ended the process that read it ({}): it is damaged, or was made to do so"
_KEPT: list[Any] = []  # the process that is kept; the folder and the environment in which it began
_LOCK = threading.Lock()


class Sent(NamedTuple):
    """What a child found: numbers and texts, and a table (None where there is none)."""

    about: dict[str, Any]
    table: pa.Table | None


def apart(
    function: str, arguments: Mapping[str, Any], content: bytes = b"", *, memory: int, seconds: float = SECONDS
) -> Sent:
    """Call a function in a process of its own.

    function   "module:name" of one that takes the content and the arguments by name, and returns `Sent`
    arguments  that JSON can write
    content    bytes of the file, or none
    memory     bytes that what it reads may take
    seconds    after which the process is killed

    Raises BadInput and Refused as the function does, ValueError where it fails, dies, or takes too long or too much.
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
        except (ValueError, OSError, pa.ArrowException):  # the answer ends before its end
            status = process.wait(SECONDS)
            if status == 128 + signal.SIGALRM:
                raise ValueError(f"no answer within {seconds:.0f} s") from None
            how = signal.Signals(status - 128).name if status > 128 else f"status {status}"
            raise ValueError(DIED.format(how)) from None
        except BaseException:  # as Ctrl-C
            end()
            raise
    if "refused" in about:
        raise (Refused if about["limit"] else BadInput)(about["refused"])
    if "failed" in about:
        raise ValueError(about["failed"])
    return Sent(about, table)


def _kept() -> Any:
    """The process that is kept, started where there is none; it ends with a child that does not end well.

    It sees the folder and the environment in which it began, so that others need another one.
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
    """End the process that is kept, and a child that still reads."""
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
    """In a fork of ours: the process that is kept answers to us alone."""
    global _LOCK
    _LOCK = threading.Lock()
    for process in _KEPT[:1]:
        process.returncode = 0
    _KEPT.clear()


atexit.register(end)
os.register_at_fork(after_in_child=_forget)


def _serve() -> None:
    """The process that is kept: each request from standard input goes to a child, which answers to standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
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
    """The child, which has one file to read."""
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
    os._exit(0)  # no thread of a library that read the file has a say in how this ends


def _memory_now() -> int:
    """Bytes of this process's own data, as RLIMIT_DATA counts them."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    return SPARE


if __name__ == "__main__":
    _serve()
