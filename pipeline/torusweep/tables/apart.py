"""Somebody else's file, read by a process of its own: it may die, hang, or want all memory, without this one.

Libraries that read Parquet end their process on some damaged files. The child gets a function's name, its arguments as
JSON and the file's bytes; it sends back JSON and a table, or why there is none.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import pyarrow as pa

from torusweep.errors import BadInput, Refused, one_line

SECONDS = 120.0  # that a child may take for its answer, a slow server's time included
SPARE = 1 << 30  # bytes that a child takes besides what it reads: its libraries and their threads
DIED = "it ended the process that read it ({}): it is damaged, or was made to do so"


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
    request = {"function": function, "arguments": dict(arguments), "memory": memory}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "torusweep.tables.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        said, _ = process.communicate(json.dumps(request).encode() + b"\n" + content, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"no answer within {seconds:.0f} s") from None
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # both are pipes
    if process.returncode < 0:
        raise ValueError(DIED.format(signal.Signals(-process.returncode).name))
    head, _, rest = said.partition(b"\n")
    if process.returncode or not head:
        raise ValueError(DIED.format(f"status {process.returncode}"))
    about = json.loads(head)
    if "refused" in about:
        raise (Refused if about["limit"] else BadInput)(about["refused"])
    if "failed" in about:
        raise ValueError(about["failed"])
    return Sent(about, pa.ipc.open_stream(pa.BufferReader(rest)).read_all() if rest else None)


def _serve() -> None:
    """The child: one request from standard input, one answer to standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    request = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    function = resolve_name(request["function"])
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
    answers.write(json.dumps(about).encode() + b"\n")
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
