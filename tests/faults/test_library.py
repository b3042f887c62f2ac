"""A sweep that is run from Python or a notebook, and stopped, or hurt, there."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from tests.run.rings import PRELOAD, Run, until

pytestmark = pytest.mark.faults
SWEEP = """\
import torusweep as ts
sweep = ts.sweep({"sweep": "rings", "topologies": [{"family": "ring", "k": range(3, 43)}],
                  "cluster": {"batch_seconds": 0.01}})
"""
RUN = "print(sweep.run(workers=2)['static'].arrow().num_rows, 'rows')\n"
GO_ON = RUN.replace("workers=2", "workers=1")


def test_ctrl_c_stops_a_script_and_run_goes_on(rings: Run, clean: bytes):
    script = rings.start(command=(sys.executable, "-c", SWEEP + RUN), fault="slow 0.2")
    until(rings.shards)
    kept = rings.shards()
    os.kill(script.pid, signal.SIGINT)
    said = script.communicate(timeout=120)[0]
    assert script.returncode in (130, -signal.SIGINT), said
    assert "static stopped; what is finished is kept" in said
    assert "KeyboardInterrupt: stopped; what is finished is kept, run() goes on from here" in said
    assert set(kept) <= set(rings.shards()), "the batches that had run are saved, perhaps with those that ran"
    assert 0 < len(rings.shards()) < 40
    script = rings.start(command=(sys.executable, "-c", SWEEP + GO_ON))
    said = script.communicate(timeout=280)[0]
    assert script.returncode == 0, said
    assert said.endswith("40 rows\n")
    assert rings.static() == clean


def test_a_point_that_fails_is_an_exception_with_its_words(rings: Run):
    script = rings.start(command=(sys.executable, "-c", SWEEP + RUN), fault="raise ring(k=7)")
    said = script.communicate(timeout=280)[0]
    assert script.returncode == 1, said
    *_, traceback = said.split("Traceback (most recent call last):\n")
    words = traceback.partition("torusweep.errors.RunFailed: ")[2]
    assert "ring(k=7)" in words, said
    assert "1 point failed" in words, said
    assert "what is finished is in results/rings; run() goes on from here, and so does 'torusweep run" in words
    assert list(rings.failed()) == ["ring(k=7)"]


@pytest.fixture
def kernel(rings: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[KernelManager, Any]]:
    """A Jupyter kernel in the sweep's folder, whose workers are slow."""
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", f'["{PRELOAD}"]')
    monkeypatch.setenv("FAULT", "slow 0.2")
    manager = KernelManager(kernel_name="python3")  # of this interpreter
    manager.start_kernel(cwd=str(rings.home))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_the_stop_button_of_a_notebook_stops_a_run_that_goes_on(
    kernel: tuple[KernelManager, Any], rings: Run, clean: bytes
):
    """A real kernel: what the notebook shows, its stop button, and the same cell again."""
    manager, client = kernel
    messages: list[dict[str, Any]] = []

    def interrupt_when_begun(message: dict[str, Any]) -> None:
        messages.append(message)
        if message["msg_type"] == "update_display_data" and not stopped and rings.shards():
            stopped.append(True)
            manager.interrupt_kernel()

    stopped: list[bool] = []
    reply = client.execute_interactive(SWEEP + RUN, timeout=280, output_hook=interrupt_when_begun)
    assert stopped
    assert reply["content"]["ename"] == "KeyboardInterrupt", messages
    assert "run() goes on from here" in reply["content"]["evalue"]
    kept = rings.shards()
    assert len(kept) > 0
    shown = [message["content"]["data"]["text/html"] for message in messages if "display_data" in message["msg_type"]]
    assert all("<progress " in html for html in shown)
    assert "0 of 40 points" in shown[0]
    printed = "".join(message["content"]["text"] for message in messages if message["msg_type"] == "stream")
    assert "rings: 40 points" in printed
    assert "stopped; the same command goes on from here" in printed

    messages.clear()
    reply = client.execute_interactive(
        GO_ON + "sweep.run(workers=1)['static']", timeout=280, output_hook=messages.append
    )
    assert reply["content"]["status"] == "ok", reply["content"]["evalue"]
    assert set(kept) < set(rings.shards())
    shown = [message["content"]["data"]["text/html"] for message in messages if "display_data" in message["msg_type"]]
    assert "40 of 40 points" in shown[-1]
    (result,) = [message["content"]["data"] for message in messages if message["msg_type"] == "execute_result"]
    assert "<table" in result["text/html"]
    assert result["text/plain"].startswith("static: 8 of 40 rows")
    assert rings.static() == clean
