"""A release: the source distribution and the wheel, built of a copy of the sources and checked. `make release` runs it.

    python -m tests.packaging.release --repository https://example.org/torusweep --output build/release

With --repository, where the sources are published, the links of the README lead there from the package index, and the
project's addresses are in the metadata. Without, both are left as they are: enough to see that all can be built.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.packaging.stubs import write_stubs

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "MANIFEST.in", "pyproject.toml"),
    *("Makefile", "Snakefile", "requirements", "kernels", "pipeline", "config", "docs", "tests", "benchmarks"),
    *("workflow", ".snakemake-workflow-catalog.yml", "Containerfile", "environment.yaml"),
    "results/README.md",
)
MADE = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")  # by running and building
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!https?://|#)(?P<path>[^)]+)\)")


def copy_sources(folder: Path) -> Path:
    """A copy of what a release is made of: building writes beside the sources."""
    for name in SOURCES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=MADE)
        else:
            shutil.copy(ROOT / name, folder / name)
    write_stubs(folder)
    write_stubs()  # the wheel is compared with the packages here
    return folder


def version_of(sources: Path) -> str:
    """The version that the sources say they are."""
    text = (sources / "pipeline" / "torusweep" / "version.py").read_text()
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert found, "torusweep/version.py has no __version__"
    return found[1]


def absolute_links(readme: str, repository: str, version: str) -> str:
    """A README whose relative links lead to the files of a tagged version: on the package index there are none."""

    def link(found: re.Match[str]) -> str:
        view = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({repository}/{view}/v{version}/{found['path']})"

    return LINK.sub(link, readme)


def enter_addresses(sources: Path, repository: str) -> None:
    """Make a copy of the sources name the place where they are published."""
    version = version_of(sources)
    readme = sources / "README.md"
    readme.write_text(absolute_links(readme.read_text(), repository, version))
    project = sources / "pyproject.toml"
    addresses = {
        "Repository": repository,
        "Documentation": f"{repository}/tree/v{version}/docs",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    before, heading, after = project.read_text().partition("[project.scripts]\n")
    assert heading
    project.write_text(f"{before}[project.urls]\n{lines}\n{heading}{after}")


def build(sources: Path, output: Path) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it; without an index and an environment of its own."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), str(sources)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (sdist,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


def check_metadata(*distributions: Path) -> None:
    """twine's checks: the metadata are complete, and the README can be rendered."""
    subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, distributions)], check=True
    )


def files_of_wheel(wheel: Path) -> set[str]:
    """What a wheel installs, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def files_of_sdist(sdist: Path) -> set[str]:
    """What a source distribution holds, without its first folder."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def files_of_packages() -> set[str]:
    """What the two packages hold here."""
    return {
        str(path.relative_to(root))
        for root in (ROOT / "kernels", ROOT / "pipeline")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.parts[-2].endswith(".egg-info")
    }


def main() -> None:
    """Build and check; a line for each file that was made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=lambda text: text.rstrip("/"), help="address of the published sources")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "release", help="folder to write to")
    given = parser.parse_args()
    if given.repository and not re.fullmatch(r"https://[^\s\"]+", given.repository):
        sys.exit(f"release: --repository: expected https://…, got {given.repository}")
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    version = version_of(ROOT)
    if cited is None or cited[1] != version:
        sys.exit(f"release: CITATION.cff: expected version {version}, as of torusweep/__init__.py")
    if not re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE):
        sys.exit(
            f"release: CHANGELOG.md: expected a heading '## {version}', got none; name the version under Unreleased"
        )
    shutil.rmtree(given.output, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        sources = copy_sources(Path(folder))
        if given.repository:
            enter_addresses(sources, given.repository)
        made = build(sources, given.output)
    check_metadata(*made)
    if files_of_wheel(made[1]) != files_of_packages():
        sys.exit("release: the wheel from the source distribution has other files than the packages here")
    for path in made:
        print(path)
    if not given.repository:
        print("without --repository: links of the README lead nowhere on a package index; give it to publish")


if __name__ == "__main__":
    main()
