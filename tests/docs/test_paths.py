"""Files named in CONTRIBUTING, the architecture, docstrings and comments exist: none of them has moved away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [ROOT / "pipeline/torusweep", ROOT / "kernels/torusweep_kernels"]
BASES = [ROOT, *PACKAGES, PACKAGES[0] / "questions", ROOT / "tests", ROOT / "docs"]
MODULES = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
CODE = "\n".join(path.read_text() for path in [*MODULES, ROOT / "Snakefile", *(ROOT / "tests").rglob("*.py")])
OF_OTHERS = {  # files of other tools, and a file of any question
    "merlin.py",
    "topology/pymerlin-topo-any.py",
    "tests/anytopo_complete_4_test.py",
    "program.py",
    "columns.py",  # of each question
    "section.py",
}


def is_there(name: str, near: Path = ROOT) -> bool:
    """Whether a path exists, from one of BASES or beside the file that names it. `<name>` stands for any."""
    pattern = re.sub(r"<\w+>|PAPER", "*", name.strip("/"))
    return any(next(base.glob(pattern), None) for base in [*BASES, near.parent])


def paths_in(text: str) -> list[str]:
    return re.findall(r"(?<![\w/.:-])[\w<>-]+(?:/[\w<>-]+)*\.(?:py|cuh?)(?![\w.])", text)


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/the-way-of-a-row.md"])
def test_what_a_page_names_is_there(page: str):
    quoted = re.findall(r"`([^`\n]+)`", (ROOT / page).read_text())
    paths = [
        name for name in quoted if re.fullmatch(r"[\w<>./-]+(/|\.(py|cuh?|md))", name) and not name.startswith(".")
    ]
    assert len(paths) >= 20
    assert [name for name in paths if not (is_there(name) or next(ROOT.glob(f"*/**/{name}"), None))] == []
    names = [name for name in quoted if re.fullmatch(r"[A-Za-z_]\w+", name)]
    assert [name for name in names if not re.search(rf"\b{name}\b", CODE)] == []


def test_what_docstrings_and_comments_name_is_there():
    named = [(str(path.relative_to(ROOT)), name) for path in MODULES for name in paths_in(path.read_text())]
    assert ("pipeline/torusweep/answers/joined.py", "answers/choices.py") in named, "they are found"
    wrong = [(path, name) for path, name in named if name not in OF_OTHERS and not is_there(name, ROOT / path)]
    assert wrong == []
