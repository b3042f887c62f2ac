"""The site: built without a warning, every link in it leads somewhere, and a browser needs nothing from elsewhere."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import torusweep.library
import torusweep_kernels

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "source": "src",
    "iframe": "src",
}  # by a browser that opens a page
NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "copyright"}  # relations of <link>
NOT_OF_THE_INTERFACE = {"Listed", "Silent", "StepLines", "Terminal", "Notebook", "Method"}  # internal


def build(folder: Path, *options: str) -> Path:
    """Build the site as `make docs` does."""
    arguments = [
        "-c",
        "docs",
        "-d",
        str(folder / "doctrees"),
        "-W",
        "--keep-going",
        "-q",
        *options,
        ".",
        str(folder / "site"),
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=280
    )
    assert ended.returncode == 0, ended.stderr  # with -W, a warning is an error; a kernel may say something of its own
    return folder / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("site"), "-D", "nb_execution_mode=off")


class Page(HTMLParser):
    """What a page has: identifiers, links, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attributes if value is not None}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") not in NOT_LOADED:
            self.loaded.append(found[LOADED[tag]])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def broken(pages: dict[Path, Page]) -> list[tuple[str, str]]:
    """(page, link) of every link to a file or heading that is not there, or to an address that is none."""
    found = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                good = re.fullmatch(r"[\w.-]+\.[a-z]{2,}", parts.netloc) is not None
            elif parts.scheme:
                good = parts.scheme in ("data", "mailto")
            else:
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                good = target.is_file() and (
                    not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].ids
                )
            if not good:
                found.append((path.name, link))
    return found


def test_no_link_is_broken(pages):
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert broken(pages) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here"></a><a href="#gone"></a><a href="b.html"></a><a href="https://no/"></a>'
    )
    path = tmp_path / "a.html"
    assert [link for _, link in broken({path: Page(path)})] == ["#gone", "b.html", "https://no/"]


def test_pages_load_nothing_from_elsewhere(pages, site):
    assert [link for page in pages.values() for link in page.loaded if urlsplit(link).scheme not in ("", "data")] == []
    styles = "\n".join(path.read_text() for path in site.rglob("*.css"))
    assert "--color-background-primary" in styles
    assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^)]*", styles) == []


def test_the_root_leads_to_the_start_page(site):
    assert "url=docs/index.html" in (site / "index.html").read_text()
    assert (site / "docs" / "index.html").is_file()


def test_documents_docstrings_and_commands_can_be_searched_for(site):
    index = (site / "searchindex.js").read_text()
    for name in ("docs/tutorial", "README", "CONTRIBUTING", "benchmarks/README", "docs/decisions/2-symmetry-is-proved"):
        assert f'"{name}"' in index
    assert "all_pairs_distance" in index
    assert "torusweep-deadlock" in index


def test_the_reference_has_every_class_of_the_library(pages, site):
    """Also what a method returns, which is no name of `torusweep` itself."""
    found = set.union(*(pages[page].ids for page in (site / "docs" / "api").glob("*.html")))
    names = [f"torusweep.library.{module.name}" for module in pkgutil.iter_modules(torusweep.library.__path__)]
    classes = [
        thing
        for module in map(importlib.import_module, names)
        for thing in vars(module).values()
        if isinstance(thing, type) and thing.__module__ == module.__name__ and not thing.__name__.startswith("_")
    ]
    public = {f"torusweep.{name}": getattr(torusweep, name) for name in torusweep.__all__}
    missing = {
        thing.__qualname__
        for thing in classes
        if f"{thing.__module__}.{thing.__qualname__}" not in found and thing not in public.values()
    }
    assert missing == NOT_OF_THE_INTERFACE
    assert [name for name in public if name not in found] == []


def test_the_reference_has_every_kernel(pages, site):
    found = pages[site / "docs" / "api" / "kernels.html"].ids
    kernels = [module.name for module in pkgutil.iter_modules(torusweep_kernels.__path__) if module.ispkg]
    assert len(kernels) > 10
    assert [name for name in kernels if f"module-torusweep_kernels.{name}" not in found] == []


def test_the_list_of_decisions_is_complete():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d+-[\w-]+\.md)\)", (folder / "README.md").read_text())
    assert listed == sorted((path.name for path in folder.glob("[0-9]*.md")), key=lambda name: int(name.split("-")[0]))


@pytest.mark.slow
def test_the_site_executes_its_notebooks(tmp_path):
    site = build(tmp_path)
    notebooks = sorted((site / "docs" / "notebooks").glob("*.html"))
    assert len(notebooks) == len(list((ROOT / "docs" / "notebooks").glob("*.ipynb")))
    assert [page.name for page in notebooks if "cell_output" not in page.read_text()] == []
