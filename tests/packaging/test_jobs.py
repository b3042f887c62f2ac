"""Ten users' jobs (docs/jobs.md) with the installed wheel: short, right, and each in less than a minute."""

from __future__ import annotations

import sys

import pytest

from tests.packaging import jobs
from tests.packaging.conftest import Installed
from tests.packaging.jobs import Job

JOBS = jobs.jobs()


def test_there_are_ten_and_each_is_short():
    assert [job.number for job in JOBS] == [*range(1, 11)]
    for job in JOBS:
        assert 0 < len(job.lines) <= (jobs.MOST_LINES if job.language == "python" else jobs.MOST_COMMANDS), job.question
        assert all(len(line) <= 120 for line in job.lines)
        if job.language == "python":
            compile(job.code, job.question, "exec")


@pytest.mark.parametrize(
    ("expected", "said", "same"),
    [
        ("a 1\n", "a 1\n", True),
        ("a 1\n", "a 2\n", False),
        ("a …\nb\n", "a 17\nb\n", True),
        ("a …\nb\n", "a 17\nc\n", False),
        ("…\n", "anything\n", True),
        ("…\n", "\n", False),
    ],
)
def test_what_a_job_prints_is_compared(expected: str, said: str, same: bool):
    assert jobs.agrees(expected, said) == same


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=lambda job: str(job.number))
def test_a_job_gives_its_answer_in_less_than_a_minute(installed: Installed, job: Job):
    """In order: later jobs read what earlier ones wrote."""
    outcome = jobs.run(job, sys.executable, installed.work, installed.environment)
    assert outcome.status == 0, outcome.said
    assert jobs.agrees(job.said, outcome.said), outcome.said
    assert outcome.seconds < jobs.MOST_SECONDS
