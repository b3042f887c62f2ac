"""What a sweep writes stays under its results folder; names are never executed, and the page shows them as text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from torusweep.run.workflow import SNAKEFILE
from torusweep.stages import STAGES

from tests.faults.command_line import settled, torusweep
from tests.run.rings import Run

SMALL = "sweep: rings\ntopologies: ['ring(k=3)', 'ring(k=4)']\n"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    ["../outside", "../../outside", "/tmp/outside", "a/../../outside", ".", "..", "~", "a\\nb", "$(touch outside)"],
)
def test_a_sweeps_name_leads_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(f'sweep: "{name}"\ntopologies: ["ring(k=4)"]\n')
    said = torusweep("run", "my.yaml", "--results", "deep/results")
    assert not settled(said)
    assert "my.yaml:1:8: " in said.err
    assert set(files(tmp_path)) == {"my.yaml"}


LINKS: dict[str, Callable[[Path], Path]] = {  # what somebody else put into the results folder, pointing out of it
    "the sweep's folder": lambda folder: folder,
    "its shards": lambda folder: folder / "shards",
    "its figures": lambda folder: folder / "figures",
    "its lock": lambda folder: folder / ".lock",
    "its manifest's lock": lambda folder: folder / ".manifest.lock",
}


@pytest.mark.parametrize("what", LINKS)
def test_a_link_that_leads_out_is_refused(rings: Run, what: str):
    rings.config.write_text(SMALL)
    outside = rings.home / "outside"
    outside.mkdir()
    (outside / "precious.svg").write_text("precious")
    (outside / f"{'0' * 64}.parquet").write_text("precious too")
    target = outside / "precious.svg" if "lock" in what else outside
    before = files(outside)
    rings.here("points")
    link = LINKS[what](rings.folder)
    if link == rings.folder:
        rings.folder.rename(outside / "rings")
        target, before = (
            outside / "rings",
            {**before, **{f"rings/{name}": content for name, content in files(outside / "rings").items()}},
        )
    link.unlink(missing_ok=True)  # the step `points` has made the locks
    link.symlink_to(target)
    said = torusweep("step", "static", str(rings.config), str(rings.folder), "--workers", "0")
    assert not settled(said)
    assert "expected no symbolic link" in said.err
    assert files(outside) == before


@pytest.mark.parametrize("name", ["points.parquet", "static.parquet", "manifest.json"])
def test_a_link_in_the_place_of_a_table_is_replaced_and_not_followed(rings: Run, name: str):
    rings.config.write_text(SMALL)
    precious = rings.home / "precious"
    precious.write_text("precious")
    rings.folder.mkdir(parents=True)
    (rings.folder / name).symlink_to(precious)
    assert rings.here("points") == rings.here("static", workers=0) == 0
    assert precious.read_text() == "precious"
    assert not (rings.folder / name).is_symlink()


TAGS = [
    "!!python/object/apply:os.system ['touch pwned']",
    "!!python/object/new:subprocess.Popen [['touch', 'pwned']]",
    "!!python/name:os.system",
    "!!python/module:antigravity",
    '!!python/object/apply:builtins.exec [\'open("pwned", "w")\']',
    "!!binary aGk=",
    "!!set {a}",
    "!custom a",
]


@pytest.mark.parametrize("tag", TAGS)
def test_yaml_makes_no_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tag: str):
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(f"sweep: a\ntopologies: [ring(k=4)]\ndescription: {tag}\n")
    said = torusweep("run", "my.yaml")
    assert not settled(said)
    assert "my.yaml:3:14: expected a plain value, got the tag" in said.err
    assert set(files(tmp_path)) == {"my.yaml"}


@pytest.mark.faults
def test_nor_does_snakemake_make_objects_of_it(rings: Run):
    rings.config.write_text(f"sweep: rings\ntopologies: [ring(k=4)]\ndescription: {TAGS[0]}\n")
    code = (
        f"from snakemake.cli import main; main(['--snakefile', {str(SNAKEFILE)!r}, "
        "'--cores', '1', *__import__('sys').argv[1:]])"
    )
    run = rings.start("--configfile", "rings.yaml", command=(sys.executable, "-c", code))
    said = run.communicate(timeout=150)[0]
    assert run.returncode != 0, said
    assert set(files(rings.home)) - {name for name in files(rings.home) if name.startswith(".snakemake")} == {
        "rings.yaml"
    }


class Page(HTMLParser):
    """Elements and attributes of a page as a browser's parser finds them, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._quiet = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._quiet = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._quiet = False

    def handle_data(self, data: str) -> None:
        if not self._quiet:
            self.text.append(data)


HOSTILE = [
    "</script><img src=x onerror=alert(1)>.edges",
    "\"onmouseover=alert(2) x='.edges",
    "$(touch pwned); `touch pwned` & {x}*.edges",
    "\u202e\x1b]0;pwned\x07.edges",
]


def graphs(home: Path, names: list[str]) -> str:
    """Graph files of these names, as a configuration's topologies."""
    entries = []
    for name in names:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("0 1\n1 2\n2 0\n")
        entries.append("  - '" + f"graph(path={json.dumps(name)})".replace("'", "''") + "'\n")
    return f"topologies:\n{''.join(entries)}"


@pytest.mark.faults
def test_hostile_names_are_text_in_every_table_and_on_the_page(rings: Run, monkeypatch: pytest.MonkeyPatch):
    rings.config.write_text(
        f"sweep: rings\ndescription: '<img src=x onerror=alert(3)> {HOSTILE[0]}'\n{graphs(rings.home, HOSTILE)}"
        "loads: [{traffic: uniform}]\ndeadlock: [{routing: up_down, vc_rule: none, virtual_channels: 1}]\n"
        "simulation: [{loads: 0.1, cycles: 200, routing: up_down, vc_rule: none}]\n"
    )
    monkeypatch.chdir(rings.home)
    for step in ("points", "static", "loads", "deadlock", "simulation", "distances", "verification", "report"):
        assert rings.here(step, **({"workers": 0} if step in STAGES else {})) == 0
    page = Page((rings.folder / "report.html").read_text())
    assert not [tag for tag, _ in page.elements if tag in ("img", "iframe", "object")]
    assert not [attributes for _, attributes in page.elements if any(name.startswith("on") for name in attributes)]
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"].count(None) == 1, (
        "the page's own program"
    )
    text = "".join(page.text)
    for name in HOSTILE[:3]:
        assert name.replace('"', '\\"') in text
    assert not {"\x1b", "\u202e", "\x07"} & set(text)
    for table in ("static", "loads", "deadlock", "simulation"):
        assert settled(torusweep("query", f"SELECT topology FROM {table}", "--results", str(rings.folder)))
    assert settled(
        torusweep(
            "plot", "nodes", "diameter", "--results", str(rings.folder), "--colour", "topology", "--output", "drawn.svg"
        )
    )
    drawn = Page(Path("drawn.svg").read_text())
    assert not [
        attributes
        for tag, attributes in drawn.elements
        if tag in ("img", "script") or any(name.startswith("on") for name in attributes)
    ]


def test_a_name_that_snakemake_would_fill_in_is_refused(rings: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(rings.home)
    rings.config.write_text(f"sweep: rings\n{graphs(rings.home, HOSTILE[:1])}")
    for arguments in (("rings.yaml",), ("rings.yaml", "--results", "{x}")):
        said = torusweep("run", *arguments)
        assert not settled(said)
        assert "expected a path without any of { } < >" in said.err
        rings.config.write_text(SMALL)
    for results in ("a: b", "a #b", "a:", '"a"', "a ", "a\x85b"):
        said = torusweep("run", "rings.yaml", "--results", results)
        assert not settled(said)
        assert "expected a folder without control characters" in said.err
    assert not (rings.home / "results").exists()


@pytest.mark.faults
def test_no_shell_carries_out_a_name(rings: Run):
    """Names of graph files, of the configuration and of the results folder go through Snakemake and its shells."""
    config = rings.home / "it's; touch pwned #$(touch pwned).yaml"
    config.write_text(f"sweep: rings\n{graphs(rings.home, ['$(touch pwned); `touch pwned` & *.edges', HOSTILE[1]])}")
    results = rings.home / "re'sults $(touch pwned) \" ;touch pwned"
    status, said = rings.call("run", config.name, "--results", results.name, "--workers", "0")
    assert status == 0, said
    assert not list(rings.home.rglob("pwned"))
    assert (results / "rings" / "checked.txt").exists()
