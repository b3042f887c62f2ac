"""An existing Dask scheduler: certificates made on the spot, real `dask scheduler` and `dask worker` processes."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
import subprocess
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from torusweep.run.consent import VARIABLE

from tests.run.rings import until


def certificates(folder: Path) -> dict[str, str]:
    """An authority, and one certificate signed by it for scheduler, workers and us."""

    def signed(
        name: str, issuer: x509.Name | None, signer: ec.EllipticCurvePrivateKey | None
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
            )
            .sign(signer or key, hashes.SHA256())
        )
        return certificate, key

    authority, authority_key = signed("authority", None, None)
    certificate, key = signed("torusweep", authority.subject, authority_key)
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    contents = {
        "ca": authority.public_bytes(serialization.Encoding.PEM),
        "cert": certificate.public_bytes(serialization.Encoding.PEM),
        "key": key.private_bytes(*plain),
    }
    for name, content in contents.items():
        (folder / f"{name}.pem").write_bytes(content)
    return {name: str(folder / f"{name}.pem") for name in contents}


def entry(address: str, tls: dict[str, str]) -> str:
    """By which the user trusts a scheduler, with his certificates."""
    return ",".join([address, *(tls[name] for name in ("ca", "cert", "key"))])


class Elsewhere:
    """A real `dask scheduler` over TLS, and real `dask worker`s.

    host    address that it listens on
    within  command that starts a process there, as in `ip netns exec NAME`; empty: here
    """

    def __init__(self, home: Path, host: str = "127.0.0.1", within: tuple[str, ...] = (), **environment: str) -> None:
        self.tls = certificates(home)
        self.home = home
        self._options = [
            "--tls-ca-file",
            self.tls["ca"],
            "--tls-cert",
            self.tls["cert"],
            "--tls-key",
            self.tls["key"],
            "--protocol",
            "tls",
        ]
        self.processes: list[subprocess.Popen[bytes]] = []
        # a port that it finds free itself: one that is found for it may be taken before it begins
        self.scheduler = self._start(
            within, "scheduler", "--host", host, "--port", "0", "--no-dashboard", **environment
        )
        until(lambda: re.search(r"Scheduler at: +tls://\S+:\d+\n", self.log("scheduler0")))
        self.address = re.findall(r"Scheduler at: +(tls://\S+)", self.log("scheduler0"))[0]
        self.port = int(self.address.rpartition(":")[2])
        os.environ[VARIABLE] = entry(self.address, self.tls)  # the user trusts it

    def _start(
        self, within: tuple[str, ...], kind: str, *arguments: str, **environment: str
    ) -> subprocess.Popen[bytes]:
        command = [*within, sys.executable, "-m", "dask", kind, *self._options, *arguments]
        with (self.home / f"{kind}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.home, stdout=log, stderr=log, env={**os.environ, **environment}, process_group=0
            )
        self.processes.append(process)
        return process

    def log(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text()

    def worker(
        self, host: str = "127.0.0.1", within: tuple[str, ...] = (), nanny: str = "--no-nanny", **environment: str
    ) -> subprocess.Popen[bytes]:
        number = len(self.processes)
        options = ["--host", host, "--no-dashboard", "--nthreads", "1", nanny, "--local-directory", str(self.home)]
        process = self._start(within, "worker", self.address, *options, **environment)
        until(lambda: "Registered to" in self.log(f"worker{number}"))
        return process

    @property
    def cluster(self) -> str:
        """The section of a configuration."""
        return f"{{scheduler: '{self.address}', batch_seconds: 0.01}}"

    def config(self) -> str:
        return f"sweep: rings\ntopologies:\n  - {{family: ring, k: {{from: 3, to: 42}}}}\ncluster: {self.cluster}\n"

    def end(self) -> None:
        os.environ.pop(VARIABLE, None)
        for process in self.processes:
            process.kill()
            process.wait()
