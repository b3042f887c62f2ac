"""The notebooks are stored with their outputs, and show the same when they run again.

`python -m tests.docs.test_notebooks` runs them and stores what they show.

They run in this process, in IPython's own shell, with the formatters of a notebook: a kernel for each would take
longer, and the site's build (tests/docs/test_site.py) starts those.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
MEASURED = re.compile(r"\d[\d.,]*(?= ?(?:ms|s|min|h|cores?|workers?|[KMG]i?B)\b)")  # times, and this machine
MARKUP = re.compile(r"<style\b.*?</style>|<[^>]*>", re.DOTALL)
ADDRESS = re.compile(r"0x[0-9a-f]+")


class Quiet(DisplayHook):
    """Keeps a cell's result, and prints nothing."""

    def write_output_prompt(self) -> None:
        return

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        return

    def finish_displayhook(self) -> None:
        return


@contextmanager
def a_shell(folder: Path) -> Iterator[InteractiveShell]:
    """IPython's shell in a folder, where a notebook may write."""
    before, named = Path.cwd(), os.environ.get("IPYTHONDIR")
    os.chdir(folder)
    os.environ["IPYTHONDIR"] = str(folder / "ipython")
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(displayhook_class=Quiet)
    shell.display_formatter.active_types = list(shell.display_formatter.format_types)
    try:
        yield shell
    finally:
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()
        os.chdir(before)
        os.environ.pop("IPYTHONDIR")
        if named is not None:
            os.environ["IPYTHONDIR"] = named


def shown_by(shell: InteractiveShell, source: str, number: int) -> list[dict[str, Any]]:
    """What a cell shows, as a notebook stores it. Raises what the cell raises."""
    with capture_output() as captured, warnings.catch_warnings():
        warnings.simplefilter("error")
        ended = shell.run_cell(source)
    ended.raise_error()
    outputs: list[dict[str, Any]] = []
    if captured.stdout:
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(captured.stdout)})
    if ended.result is not None:
        data, metadata = shell.display_formatter.format(ended.result)
        texts = {kind: _lines(text) if isinstance(text, str) else text for kind, text in sorted(data.items())}
        outputs.append(
            {"data": texts, "execution_count": number, "metadata": metadata, "output_type": "execute_result"}
        )
    return outputs


def executed(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A notebook with what its cells show."""
    cells, number = [], 0
    with a_shell(folder) as shell:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                outputs = shown_by(shell, "".join(cell["source"]), number)
                cell = {**cell, "execution_count": number, "outputs": outputs}
            cells.append(cell)
    return {**notebook, "cells": cells}


def words_of(cell: dict[str, Any]) -> list[str]:
    """The words that a cell shows, those of pictures too, without what is measured."""
    found = []
    for output in cell.get("outputs", ()):
        data = {"text/plain": output["text"]} if output["output_type"] == "stream" else output["data"]
        for kind, lines in sorted(data.items()):
            text = "".join(lines) if isinstance(lines, list) else str(lines)
            words = MARKUP.sub(" ", text) if kind in ("text/html", "image/svg+xml") else text
            found.append(f"{kind}: {' '.join(ADDRESS.sub('', MEASURED.sub('#', words)).split())}")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_stores(path: Path, tmp_path: Path):
    stored = json.loads(path.read_text())
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert sum(bool(cell["outputs"]) for cell in code) >= len(code) / 2
    again = [cell for cell in executed(stored, tmp_path)["cells"] if cell["cell_type"] == "code"]
    for one, other in zip(code, again, strict=True):
        assert words_of(one) == words_of(other), "".join(one["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_stores_no_place_of_this_machine(path: Path):
    for place in (Path(__file__).resolve().parents[2], Path.home(), Path(tempfile.gettempdir())):
        assert f"{place}/" not in path.read_text()


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["own", "pod", "sweep"]


if __name__ == "__main__":
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as name:
            notebook = executed(json.loads(path.read_text()), Path(name))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
