"""A Dask cluster started with the commands of docs/scaling-out.md."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from torusweep.run.consent import VARIABLE

from tests.run.rings import Run

GUIDE = Path(__file__).parents[2] / "docs" / "scaling-out.md"
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
BASH = ("bash", "-ec")


def commands(words: str, replaced: Mapping[str, str]) -> str:
    """The block of shell commands that contains these words, with other values for some of them."""
    (block,) = (found for found in re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL) if words in found)
    for word, value in replaced.items():
        assert word in block
        block = block.replace(word, value)
    return str(block)


def free_port() -> int:
    """A free port of those that no process is given that asks for any, as all others here do."""
    (first, _) = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    for port in random.sample(range(max(1024, first - 10_000), first), 100):
        with contextlib.suppress(OSError), socket.create_server(("0.0.0.0", port)):
            return port
    pytest.fail("no port is free")


def start_scheduler(run: Run) -> tuple[subprocess.Popen[str], int]:
    """A scheduler with a certificate, which the run's configuration names; its process and its port."""
    if shutil.which("openssl") is None:
        pytest.skip("expected the command openssl, which makes the documented certificate; install it")
    subprocess.run(commands("openssl", {}), shell=True, cwd=run.home, check=True, capture_output=True)
    port = free_port()
    run.with_settings(f"scheduler: 'tls://127.0.0.1:{port}'")
    run.environment[VARIABLE] = f"tls://127.0.0.1:{port},cert.pem,cert.pem,key.pem"
    return run.start(commands("dask scheduler", {"8786": str(port)}), command=BASH, PATH=PATH), port


def two_workers(port: int) -> str:
    """The commands that start workers, for two on this machine."""
    return commands("dask worker", {"HEAD": "127.0.0.1", "8786": str(port), "--nworkers -1": "--nworkers 2"})
