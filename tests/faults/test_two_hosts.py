"""Scheduler and workers on separate hosts (network namespaces made here); a link that is cut and comes back.

Needs root and CAP_NET_ADMIN; skipped, saying why, where either is missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.run.elsewhere import Elsewhere
from tests.run.rings import COMMAND, PRELOAD, Run, until

pytestmark = pytest.mark.faults

ADDRESSES = {"head": "10.77.0.1", "one": "10.77.0.2", "two": "10.77.0.3"}
SILENCE = 4  # seconds after which the scheduler gives a silent worker up


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Network:
    """Three hosts behind one switch: head, one, two."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def name(self, host: str) -> str:
        return f"torusweep-{os.getpid()}-{host}"

    def make(self) -> None:
        """Raises CalledProcessError where namespaces are not permitted."""
        for host in ("switch", *ADDRESSES):
            ip("netns", "add", self.name(host))
            self._made.append(host)
            ip("-n", self.name(host), "link", "set", "lo", "up")
        ip("-n", self.name("switch"), "link", "add", "bridge", "type", "bridge")
        ip("-n", self.name("switch"), "link", "set", "bridge", "up")
        for host, address in ADDRESSES.items():
            ip(
                "-n",
                self.name("switch"),
                "link",
                "add",
                host,
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                self.name(host),
            )
            ip("-n", self.name("switch"), "link", "set", host, "master", "bridge", "up")
            ip("-n", self.name(host), "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", self.name(host), "link", "set", "eth0", "up")

    def within(self, host: str) -> tuple[str, ...]:
        """What starts a process on a host, which knows its own name."""
        return (
            "ip",
            "netns",
            "exec",
            self.name(host),
            "unshare",
            "--uts",
            "sh",
            "-c",
            'hostname "$0"; exec "$@"',
            host,
        )

    def link(self, host: str, state: str) -> None:
        """Cut a host's cable (down), or put it back (up)."""
        ip("-n", self.name("switch"), "link", "set", host, state)

    def end(self) -> None:
        for host in self._made:
            ip("netns", "delete", self.name(host))


@pytest.fixture
def network() -> Iterator[Network]:
    missing = [program for program in ("ip", "unshare") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"expected the command {missing[0]}, found none; install iproute2 and util-linux to test two hosts")
    made = Network()
    try:
        try:
            made.make()
        except subprocess.CalledProcessError as refusal:
            pytest.skip(
                f"network namespaces are not permitted here ({refusal.stderr.strip()}); "
                "run as root with CAP_NET_ADMIN to test two hosts"
            )
        yield made
    finally:
        made.end()


@pytest.fixture
def elsewhere(network: Network, tmp_path: Path) -> Iterator[Elsewhere]:
    """A scheduler on the host `head`."""
    ttl = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{SILENCE}s"}
    there = Elsewhere(tmp_path, ADDRESSES["head"], network.within("head"), **ttl)
    yield there
    there.end()


def hosts_of(shards: list[Path]) -> set[str]:
    """Where shards were computed."""
    return {json.loads(pq.read_schema(path).metadata[b"origin"])["host"] for path in shards}


def test_a_cut_link_loses_nothing(network: Network, elsewhere: Elsewhere, many: Run, clean_many: bytes):
    slow = {"DASK_DISTRIBUTED__WORKER__PRELOAD": f'["{PRELOAD}"]', "FAULT": "slow 0.06"}
    held = many.home / "held"
    elsewhere.worker(ADDRESSES["one"], network.within("one"), **slow | {"FAULT": f"slow 0.06; hold {held}"})
    given_up = elsewhere.worker(ADDRESSES["two"], network.within("two"), **slow)
    many.config.write_text(
        many.config.read_text().partition("cluster:")[0] + "cluster:" + elsewhere.config().partition("cluster:")[2]
    )
    many.here("points")
    driver = many.start(
        "step", "static", str(many.config), str(many.folder), command=(*network.within("head"), *COMMAND)
    )
    until(lambda: hosts_of(many.shards()) == {"one", "two"})

    network.link("two", "down")  # so short that TCP sends again what was lost
    time.sleep(1)
    network.link("two", "up")

    network.link("two", "down")
    until(lambda: f"tls://{ADDRESSES['two']}" in elsewhere.log("scheduler0").partition("Remove worker")[2])
    before = set(many.shards())
    until(lambda: len(many.shards()) > len(before) + 2)
    held.touch()  # else `one` might have done everything before a worker of `two` is there
    assert driver.poll() is None, "the run ended before the link came back"
    network.link("two", "up")
    cut = set(many.shards())
    elsewhere.worker(ADDRESSES["two"], network.within("two"), **slow)
    until(lambda: "two" in hosts_of([path for path in many.shards() if path not in cut]))
    held.unlink()

    said = driver.communicate(timeout=280)[0]
    assert driver.returncode == 0, said
    assert many.static() == clean_many
    until(
        lambda: given_up.poll() is not None
    )  # it ends as soon as it hears of it, and comes back only where something starts it again


STRANGER = """
import sys
from distributed import Client
from distributed.security import Security
NAMES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
try:
    with Client(sys.argv[1], security=Security(**dict(zip(NAMES, sys.argv[2:])), require_encryption=True) \
if sys.argv[2:] else None, timeout=5):
        print("let in")
except (OSError, TypeError) as refusal:
    print("refused:", type(refusal).__name__)
"""


@pytest.mark.parametrize(
    ("certificates", "answer"), [((), "refused"), (("ca",), "refused"), (("ca", "cert", "key"), "let in")]
)
def test_a_stranger_on_the_network_is_refused(
    network: Network, elsewhere: Elsewhere, certificates: tuple[str, ...], answer: str
):
    address = elsewhere.address if certificates else elsewhere.address.replace("tls", "tcp")
    arguments = [address, *(elsewhere.tls[name] for name in certificates)]
    asked = subprocess.run(
        [*network.within("two"), sys.executable, "-c", STRANGER, *arguments], capture_output=True, text=True, timeout=60
    )
    assert asked.stdout.startswith(answer), asked.stdout + asked.stderr
    assert elsewhere.scheduler.poll() is None
