"""The driver killed at random times, and by the batch system (rows 8, 12, 13).

Resumed, it gives the table of an undisturbed run.
"""

from __future__ import annotations

import random
import time

import pytest

from tests.run.rings import Run, until

SEED = 8


@pytest.mark.parametrize("kills", [pytest.param(6, marks=pytest.mark.faults), pytest.param(20, marks=pytest.mark.slow)])
def test_a_driver_killed_many_times(many: Run, clean_many: bytes, kills: int, capsys: pytest.CaptureFixture[str]):  # 8
    many.here("points")
    chance = random.Random(SEED)
    gained, before_any = 0, 0
    for kill in range(kills):
        kept = set(many.shards())
        step = "step", "static", str(many.config), str(many.folder), "--workers", "2"
        driver = many.start(*step, fault="slow 0.1")  # so slow that points are left for the last kill on any machine
        if kill % 2:
            until(lambda: set(many.shards()) - kept)  # noqa: B023
            time.sleep(chance.uniform(0, 0.5))
        else:
            time.sleep(chance.uniform(0, 4))  # seconds: from importing Python modules to computing
        driver.kill()
        said = driver.communicate()[0]
        assert driver.returncode == -9, said
        assert kept <= set(many.shards()), "nothing is lost"
        gained += kept < set(many.shards())
        before_any += kept == set(many.shards())
    assert gained >= kills // 2
    assert before_any > 0
    kept = set(many.shards())
    many.finish()
    assert many.static() == clean_many
    assert kept < set(many.shards())
    said = capsys.readouterr()
    assert "damaged" not in said.out + said.err


@pytest.mark.faults
def test_a_run_killed_and_resumed(rings: Run, clean: bytes):  # 8
    """The one kill that every `make test` makes: of all processes at once, as when a machine loses its power."""
    run = rings.start("run", "rings.yaml", "--workers", "2", fault="slow 0.1")
    until(lambda: len(rings.shards()) > 2)
    rings.end()
    kept = set(rings.shards())
    status, said = rings.forked("run", "rings.yaml", "--workers", "1")
    assert run.returncode == -9
    assert status == 0, said
    assert rings.static() == clean
    assert kept < set(rings.shards())
