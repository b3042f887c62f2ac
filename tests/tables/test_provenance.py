"""Software versions of a result, in a clone and installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import torusweep
from torusweep.tables import provenance


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    provenance.software.cache_clear()
    yield
    provenance.software.cache_clear()


def test_no_package_needs_to_be_installed(monkeypatch: pytest.MonkeyPatch):
    """Sources on PYTHONPATH without an installation have a version, too."""

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(provenance, "version", missing)
    made_with = provenance.software()
    assert made_with["torusweep"] == torusweep.__version__
    assert made_with["packages"] == {}


def test_the_commit_is_that_of_the_clone_of_torusweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A package installed below another project's folder does not take that project's commit for its own."""
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setattr(provenance, "SOURCES", tmp_path / "site-packages")
    assert provenance.software()["commit"] == ""
