"""The process in which the steps of a `torusweep run` run, one after another: what they import, and load of what is compiled, is loaded once.

Snakemake calls `torusweep step …` for each as ever. That asks here (`ask`), over a socket that its environment
names, and passes on what became of the step; where nobody answers, it is the step itself. The process is forked from the one
that local workers are forked from (torusweep.run.forking), which imports while Snakemake does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from torusweep.errors import BadInput
from torusweep.run.ending import end_now

ADDRESS = "TORUSWEEP_STEPS"  # in the environment of the steps: the socket
TAKEN = b"taken\n"


def ask(name: str, config: Path, folder: Path, overrides: Mapping[str, Any]) -> int | None:
    """Have a step run there; its exit status. None where nobody takes it: it has to be run here.

    Raises BadInput where the step does.
    """
    if ADDRESS not in os.environ:
        return None
    with socket.socket(socket.AF_UNIX) as there, there.makefile("rb") as talk:
        try:
            there.connect(os.environ[ADDRESS])
            there.sendall(
                json.dumps([os.getcwd(), os.getpgrp(), name, str(config), str(folder), dict(overrides)]).encode()
                + b"\n"
            )
            if talk.readline() != TAKEN:
                return None
        except OSError:
            return None
        try:
            answer = talk.readline()
        except OSError:
            answer = b""
    if not answer:
        sys.stderr.write(
            f"torusweep: the process of the steps ended in the middle of the step {name}: it was killed, perhaps for its memory\n"
        )
        return 1
    status, said, refused = json.loads(answer)
    if refused:
        raise BadInput(said)
    sys.stderr.write(said)
    return int(status)


class StepsProcess:
    """That process: what it is forked from is there from `prepare` on, itself from `start` on; at the end of `with` it is gone."""

    def __init__(self) -> None:
        self._prepared = False
        self._listener: socket.socket | None = None
        self._address = ""
        self._living: Any = None
        self._process: Any = None

    def __enter__(self) -> StepsProcess:
        self._before = signal.signal(signal.SIGTERM, self._die)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._living is not None:
                self._living.close()  # it ends when it has nothing to do
            if self._process is not None:
                if self._process.is_alive():
                    self._process.terminate()  # and where Snakemake was killed, it finishes what it began
                self._process.join()
        except BaseException:
            if self._process is not None:
                self._process.kill()
            raise
        finally:
            signal.signal(signal.SIGTERM, self._before)
            if self._listener is not None:
                self._listener.close()
                Path(self._address).unlink(missing_ok=True)

    def _die(self, number: int, _frame: FrameType | None) -> None:
        """As without a handler, but that no folder of temporary files stays. An exception could be lost in what is interrupted."""
        if self._process is not None:
            self._process.kill()
        if "multiprocessing.util" in sys.modules:
            from multiprocessing.util import get_temp_dir

            shutil.rmtree(get_temp_dir(), ignore_errors=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def prepare(self) -> None:
        """Have imported, meanwhile, what steps need. Without it every step is a process of its own."""
        from torusweep.run import forking

        self._prepared = forking.ready()

    def announce(self) -> dict[str, str]:
        """What the steps' environment has to say for `ask`. Whoever asks before the process is there waits for it."""
        if not self._prepared:
            return {}
        from multiprocessing.util import get_temp_dir

        self._address = os.path.join(get_temp_dir(), "steps")  # a folder that is ours alone
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            self._listener.bind(self._address)
            self._listener.listen()
        except OSError:
            self._listener.close()
            self._listener = None
            return {}
        return {ADDRESS: self._address}

    def start(self, group: int) -> None:
        """Start what was announced, in a process group, that of the Snakemake whose steps it runs; this waits until imports are done."""
        if self._listener is None:
            return
        from multiprocessing import get_context

        from torusweep.run import forking

        with (
            self._listener,
            contextlib.suppress(OSError, EOFError),
        ):  # who asks, and nobody is there, is to know, and runs the step itself
            if not forking.ready():  # again: what it is to be forked from may have been killed
                return
            context = get_context("forkserver")
            living, self._living = context.Pipe(duplex=False)
            with living:
                process = context.Process(target=_serve, args=(self._listener, living, group))
                process.start()
                self._process = process


def _serve(listener: socket.socket, living: Any, group: int) -> None:
    """Run the steps that are asked for, until the other end of `living` is closed, or one was stopped by a signal."""
    from multiprocessing.connection import wait

    from torusweep.run import forking

    with contextlib.suppress(OSError):  # that Snakemake is gone already
        os.setpgid(0, group)
    sys.stdout = sys.stderr  # as Snakemake's, and so a step's: standard output is the command's own
    forking.share()
    for name in ("torusweep.sweep.configuration", "pyarrow.compute"):  # while nobody asks
        importlib.import_module(name)
    try:
        signal.pthread_sigmask(
            signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM}
        )  # workers are born with them blocked
        going_on = True
        while going_on and listener in wait([listener, living]):
            asking = listener.accept()[0]
            with contextlib.suppress(OSError), asking:  # who asks may be gone before the step has ended
                with asking.makefile("rb") as talk:
                    request = talk.readline()
                if not request:
                    continue
                here, theirs, name, config, folder, overrides = json.loads(request)
                if (here, theirs) == (
                    os.getcwd(),
                    os.getpgrp(),
                ):  # not a job that a batch system has put on this machine
                    asking.sendall(TAKEN)
                    answer, going_on = _answer(name, config, folder, overrides)
                    asking.sendall(json.dumps(answer).encode() + b"\n")
    except KeyboardInterrupt:
        pass
    except Exception:  # a defect: steps to come are processes of their own
        traceback.print_exc()
    finally:
        end_now(0)


def _answer(name: str, config: str, folder: str, overrides: dict[str, Any]) -> tuple[tuple[int, str, bool], bool]:
    """((exit status of a step, what is to be said of it, whether that is a refusal), whether this process is fit for another one)."""
    from torusweep_kernels.backend import BackendUnavailable, gpu_count

    from torusweep.run.steps import STEPS

    sys.argv[1:] = ["step", name, config, folder]  # as a lock names its holder
    try:
        status = STEPS[name](Path(config), Path(folder), overrides)
    except (BadInput, BackendUnavailable) as refusal:
        return (2, str(refusal), True), True
    except SystemExit as stopped:
        return (int(stopped.code or 0), "", False), False
    except KeyboardInterrupt:
        return (128 + signal.SIGINT, "torusweep: interrupted\n", False), False
    except Exception:
        return (1, traceback.format_exc(), False), True
    return (
        status,
        "",
        False,
    ), "cupy" not in sys.modules or gpu_count() == 0  # or a GPU's memory and context would be kept from others
