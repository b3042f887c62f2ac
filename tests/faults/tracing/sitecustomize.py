"""Python imports this when it starts, where this folder is in PYTHONPATH: an audit hook of a process and its children.

What they open, list, compile, execute or import below the folder TRACED is a line of the file TRACE.
"""

import os
import sys

EVENTS = {"open", "os.listdir", "os.scandir", "compile", "exec", "import", "ctypes.dlopen"}
BELOW = os.path.join(os.environ["TRACED"], "")
LOG = os.open(os.environ["TRACE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _name(event, arguments):
    if event == "exec":
        return arguments[0].co_filename
    return arguments[1] if event in ("compile", "import") else arguments[0]


def _is_removed():
    """Whether shutil.rmtree asks: it opens names within a folder that it has open, which no event says."""
    caller = sys._getframe().f_back.f_back
    return caller is not None and caller.f_code.co_name == "_rmtree_safe_fd"


def _hook(event, arguments):
    if event in EVENTS and not _is_removed():
        name = _name(event, arguments)
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if isinstance(name, (str, os.PathLike)):
            name = os.fspath(name) or ("." if event.startswith("os.") else "<nothing>")
            whole = os.path.abspath(name) if not name.startswith("<") else name
            if f"{whole}/".startswith(BELOW):
                os.write(LOG, f"{event}\t{whole[len(BELOW) :]}\n".encode(errors="replace"))


sys.addaudithook(_hook)
