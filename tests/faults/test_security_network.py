"""Who can reach a run: nobody from another machine by default, and nobody without the certificate."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from torusweep.run.consent import VARIABLE

from tests.faults.documented import BASH, PATH, start_scheduler, two_workers
from tests.run.elsewhere import Elsewhere, certificates
from tests.run.fake_slurm import FakeSlurm
from tests.run.rings import Run, until

LISTENING = "0A"  # state of a TCP socket in /proc/net


def bound(process: psutil.Process) -> set[tuple[str, str, int]]:
    """(protocol, address, port) of every socket on which a process tree receives, as the kernel lists them."""
    inodes = set()
    for member in [process, *process.children(recursive=True)]:
        with suppress(FileNotFoundError, ProcessLookupError):  # ended since
            for descriptor in Path(f"/proc/{member.pid}/fd").iterdir():
                with suppress(FileNotFoundError):  # closed since
                    found = re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink()))
                    inodes |= {found[1]} if found else set()
    sockets = set()
    for protocol in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        for line in Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (fields[3] == LISTENING or not protocol.startswith("tcp")):
                address, port = fields[1].split(":")
                words = bytes.fromhex(address)
                packed = b"".join(
                    words[place : place + 4][::-1] for place in range(0, len(words), 4)
                )  # the kernel writes words of the machine's order
                sockets.add((protocol, str(ipaddress.ip_address(packed)), int(port, 16)))
    return sockets


@pytest.fixture
def live(rings: Run, tmp_path: Path) -> set[tuple[str, str, int]]:
    """Sockets of a run with two workers that computes as long as the test lasts."""
    run = rings.start("run", "rings.yaml", "--workers", "2", fault=f"hang {tmp_path / 'begun'}")
    until((tmp_path / "begun").exists)
    return bound(psutil.Process(run.pid))


@pytest.mark.faults
def test_under_slurm_nothing_without_tls_listens_to_another_machine(rings: Run, tmp_path: Path):
    slurm = FakeSlurm(tmp_path / "slurm")
    rings.with_settings("slurm: {jobs: 1, cores: 2, memory: 2 GiB}")
    rings.here("points")
    home = tmp_path / "home"
    home.mkdir()
    try:
        step = rings.start(
            "step", "static", "rings.yaml", "results/rings", fault="slow 1", PATH=slurm.path, HOME=str(home)
        )
        until(rings.shards, seconds=150)
        sockets = bound(psutil.Process(step.pid)).union(*(bound(psutil.Process(job)) for job in slurm.jobs()))
        assert len(sockets) >= 3, "a scheduler and two workers"
        for protocol, address, port in sockets:
            if not ipaddress.ip_address(address).is_loopback:
                assert protocol in ("tcp", "tcp6")
                for context in strangers(tmp_path):
                    assert answer(port, context, address).startswith("refused"), (address, port)
        step.terminate()
        said = step.communicate(timeout=120)[0]
        assert step.returncode == 143, said
        assert "Exception ignored" not in said
        assert "Traceback" not in said
        assert list(home.glob(".torusweep-*")) == []
    finally:
        slurm.cancel()


@pytest.mark.faults
def test_a_cluster_started_as_documented_listens_to_no_other_machine_without_tls(rings: Run, tmp_path: Path):
    scheduler, port = start_scheduler(rings)
    started = [
        scheduler,
        rings.start(two_workers(port), command=BASH, fault="slow 0.5", PATH=PATH),
        rings.start("run", "rings.yaml"),
    ]
    until(rings.shards, seconds=150)
    there, working, ours = (bound(psutil.Process(process.pid)) for process in started)
    assert ("tcp", "0.0.0.0", port) in there, "other machines reach the scheduler"
    assert len(working) >= 4, "two workers and their nannies"
    assert [address for _, address, _ in ours if not ipaddress.ip_address(address).is_loopback] == []
    for protocol, address, number in there | working:
        if not ipaddress.ip_address(address).is_loopback:
            assert protocol in ("tcp", "tcp6")
            for context in strangers(tmp_path):
                assert answer(number, context, address).startswith("refused"), (address, number)


def test_sockets_are_read_as_the_kernel_lists_them():
    with (
        socket.create_server(("0.0.0.0", 0)) as everywhere,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as here,
    ):
        found = bound(psutil.Process())
        assert {("tcp", "0.0.0.0", everywhere.getsockname()[1]), ("tcp6", "::1", here.getsockname()[1])} <= found


@pytest.mark.faults
def test_a_run_listens_to_its_own_machine_and_to_nobody_without_its_certificate(
    live: set[tuple[str, str, int]], tmp_path: Path
):
    assert len(live) >= 3, "a scheduler and two workers"
    assert {(protocol, address) for protocol, address, _ in live} == {("tcp", "127.0.0.1")}
    answers = [answer(port, context) for _, _, port in live for context in strangers(tmp_path)]
    assert {said[:7] for said in answers} <= {"refused", "HTTP"}, answers
    assert sum(said.startswith("refused") for said in answers) >= 6, answers


def strangers(folder: Path) -> list[ssl.SSLContext]:
    """Somebody without a certificate, and somebody with one that he made himself."""
    without, impostor = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(2))
    own = certificates(folder)
    impostor.load_cert_chain(own["cert"], own["key"])
    for context in (without, impostor):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return [without, impostor]


def answer(port: int, context: ssl.SSLContext, address: str = "127.0.0.1") -> str:
    """What a port says to a stranger: 'HTTP' where it speaks that, else 'refused: why', or its first bytes."""
    with socket.create_connection(
        (address if address not in ("0.0.0.0", "::") else "127.0.0.1", port), timeout=60
    ) as plain:
        plain.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        try:
            if plain.recv(4) == b"HTTP":  # whether the process is alive, no more
                return "HTTP"
        except ConnectionError:
            pass
    try:
        with (
            socket.create_connection(
                (address if address not in ("0.0.0.0", "::") else "127.0.0.1", port), timeout=60
            ) as plain,
            context.wrap_socket(plain) as connection,
        ):
            connection.sendall(bytes(8))
            said = connection.recv(4)
            return repr(said) if said else "refused: closed"
    except (ssl.SSLError, ConnectionError) as refusal:
        return f"refused: {refusal}"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    there = Elsewhere(tmp_path)
    yield there
    there.end()


def test_a_scheduler_refuses_certificates_of_another_authority(
    rings: Run, elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (stranger := tmp_path / "stranger").mkdir()
    assert {answer(elsewhere.port, context)[:7] for context in strangers(stranger)} == {"refused"}
    own = rings.home / "own"
    own.mkdir()
    rings.config.write_text(elsewhere.config())
    certificates(own)
    monkeypatch.setenv(VARIABLE, os.environ[VARIABLE].replace(str(tmp_path), "own"))
    rings.here("points")
    status, said = rings.step("static")
    assert (status, said.count("\n")) == (2, 1), said
    assert f"no Dask scheduler answers at {elsewhere.address}" in said
    assert elsewhere.scheduler.poll() is None
