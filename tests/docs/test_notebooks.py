"""The notebooks: each runs from its first cell to its last, and is committed without outputs.

They run in this process, in IPython's own shell, with the formatters of a notebook: a kernel for each would take
longer, and the site's build (tests/docs/test_site.py) starts those.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.display_formatter.active_types = list(shell.display_formatter.format_types)
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, shell):
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    shown = 0
    for cell in cells:
        source = "".join(cell["source"])
        with capture_output() as captured, warnings.catch_warnings():
            warnings.simplefilter("error")
            ended = shell.run_cell(source)
        ended.raise_error()
        if ended.result is not None:
            data, _ = shell.display_formatter.format(ended.result)
            assert data["text/plain"], source
            shown += 1
        shown += bool(captured.stdout)
    assert shown >= len(cells) / 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(path):
    cells = json.loads(path.read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["own", "pod", "sweep"]
