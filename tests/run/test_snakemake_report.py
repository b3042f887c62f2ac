"""snakemake --report: the page, the papers' figures and the verdicts in one archive, by category, with captions."""

from __future__ import annotations

import json
import re
import zipfile

from torusweep.run.workflow import SNAKEFILE

from tests.run.asking import plain
from tests.run.rings import Run

CONFIG = """\
sweep: rings
topologies:
  - {family: rt, a: {from: 4, to: 8, step: 2}}
  - {family: rtt, a: {from: 4, to: 8, step: 2}}
"""  # two of the networks that C10's figure of distances compares


def test_the_report_has_the_page_and_the_figures(rings: Run):
    rings.config.write_text(CONFIG)
    status, said = rings.call("run", "rings.yaml", "--workers", "0")
    assert status == 0, said
    snakemake = (
        f"from snakemake.cli import main; main(['--snakefile', {str(SNAKEFILE)!r}, *__import__('sys').argv[1:]])"
    )
    status, said = plain(rings, snakemake, "--configfile", "rings.yaml", "--report", "report.zip")
    assert status == 0, said
    with zipfile.ZipFile(rings.home / "report.zip") as archive:
        names = {name.rsplit("/", 1)[-1]: name for name in archive.namelist()}
        assert archive.read(names["c10-distances.svg"]).startswith(b"<svg")
        page = next(name for name in archive.namelist() if "/data/" in name and name.endswith("/report.html"))
        assert archive.read(page) == (rings.folder / "report.html").read_bytes()
        text = archive.read("report/report.html").decode()
    categories = json.loads(re.search(r"categories = ({.*?});", text)[1])
    assert {name: sorted(file for files in parts.values() for file in files) for name, parts in categories.items()} == {
        "The sweep": ["results/rings/checked.txt", "results/rings/report.html"],
        "The papers' figures": ["results/rings/figures/c10-distances.svg"],
    }
    assert "Figure <strong>distances</strong> of <strong>c10</strong>" in text
    assert text.count("docs/papers.md") == 1
    assert "{{" not in "".join(re.findall(r'"caption": "(.*?)"', text))
