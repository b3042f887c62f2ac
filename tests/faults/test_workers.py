"""What workers may do: die, stop, hang, take too much memory (rows 1, 2, 4, 5, 6 of the table of faults)."""

from __future__ import annotations

import os
import re
import signal
import subprocess

import psutil
import pytest

from tests.run.rings import Run, until


def workers_of(driver: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that compute: those that multiprocessing has spawned for the driver."""
    children = psutil.Process(driver.pid).children(recursive=True)
    return [child for child in children if any("spawn_main" in word for word in child.cmdline())]


def at_work(run: Run) -> tuple[subprocess.Popen[str], psutil.Process]:
    """A step `static` with one worker, which is in the middle of its first batch and would never end it by itself."""
    run.here("points")
    begun = run.home / "begun"
    driver = run.start("step", "static", str(run.config), str(run.folder), "--workers", "1", fault=f"hang-once {begun}")
    until(begun.exists)
    (worker,) = workers_of(driver)
    return driver, worker


def test_a_worker_killed_in_the_middle_of_a_batch(rings: Run, clean: bytes):  # 1
    driver, worker = at_work(rings)
    worker.kill()
    said = driver.communicate(timeout=280)[0]
    assert driver.returncode == 0, said
    assert "a worker died" in said
    assert rings.static() == clean
    assert rings.failed() == {}


@pytest.mark.slow
def test_every_batch_may_kill_its_worker(many: Run, clean_many: bytes):  # 2
    many.here("points")
    driver = many.start("step", "static", str(many.config), str(many.folder), "--workers", "2", fault="kill-often 50")
    said = driver.communicate(timeout=280)[0]
    assert driver.returncode == 0, said
    assert "a worker died" in said
    assert many.failed() == {}
    assert many.static() == clean_many


@pytest.mark.faults
def test_a_worker_that_is_stopped_is_replaced(rings: Run, clean: bytes):  # 4
    rings.with_settings("worker_ttl_seconds: 12")
    driver, worker = at_work(rings)
    os.kill(worker.pid, signal.SIGSTOP)
    said = driver.communicate(timeout=280)[0]
    assert driver.returncode == 0, said
    assert "gave no sign of life for 6 s (cluster.worker_ttl_seconds) and was stopped; its batch" in said
    assert rings.static() == clean
    assert rings.failed() == {}


@pytest.mark.faults
def test_a_batch_that_hangs_is_tried_again(rings: Run, clean: bytes):  # 5
    rings.with_settings("watchdog_seconds: 3")
    rings.here("points")
    status, said = rings.step("static", "--workers", "1", fault=f"hang-once {rings.home / 'hung'}")
    assert status == 0, said
    assert "a worker was stopped after" in said
    assert "(cluster.watchdog_seconds); its batch of" in said
    assert "is halved and tried again" in said
    assert rings.static() == clean
    assert rings.failed() == {}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("fault", "settings", "says"),
    [
        ("stuck ring(k=17)", "watchdog_seconds: 3", r"was stopped after \d+ s of a batch that was to take .+ s "),
        (
            "swell ring(k=17)",
            "memory_per_worker_gib: 0.75",
            r"took .+ GiB of memory, more than it may \(cluster\.memory_per_worker_gib says how much\)",
        ),
    ],
)
def test_a_point_that_always_hangs_or_takes_too_much_is_found_and_named(
    rings: Run, clean: bytes, fault: str, settings: str, says: str
):  # 3, 5, 6
    rings.with_settings(settings)
    rings.here("points")
    status, said = rings.step("static", "--workers", "2", fault=fault)
    assert status == 0, said
    failed = rings.failed()
    assert list(failed) == ["ring(k=17)"]
    assert "its worker died 3 times" in failed["ring(k=17)"]
    assert re.search(f"it {says}", failed["ring(k=17)"])
    assert re.search(f"a worker {says}", said)
    after = [int(seconds) for seconds in re.findall(r"it was stopped after (\d+) s", failed["ring(k=17)"])]
    assert all(seconds >= least for seconds, least in zip(after, (3, 6, 12))), "longer each time"
    assert "computing ring(k=17); tried again" in said  # halved before, unless its batch had no other point
    rings.with_settings("")
    rings.here("points")
    rings.finish()
    assert rings.static() == clean


def test_a_memory_in_which_no_worker_can_start_is_refused(rings: Run):  # 6
    rings.with_settings("memory_per_worker_gib: 0.05")
    rings.here("points")
    status, said = rings.step("static", "--workers", "1")
    assert (status, said.count("\n")) == (2, 1), said
    assert "cluster.memory_per_worker_gib: expected" in said
    assert "GiB before it computes anything, got 0.05; allow more" in said
