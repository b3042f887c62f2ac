"""How far a sweep is: what is said, and what is not said too early."""

from __future__ import annotations

import pytest
from torusweep.run import progress


@pytest.mark.parametrize(
    ("cost", "paid", "seconds", "said"),
    [
        (90.0, 29.0, 5.0, "about 30 s left by the plan"),  # not a third yet: 61 s of one core for two workers
        (900.0, 0.0, 0.0, "about 8 min left by the plan"),
        (90.0, 29.0, 46.0, ""),  # the plan was wrong
        (90.0, 30.0, 5.0, "about 10 s left"),  # 60 more at 6 a second
        (90.0, 45.0, 300.0, "about 5 min left"),
        (90.0, 90.0, 5.0, ""),
    ],
)
def test_the_time_left_is_said_when_it_is_known(cost: float, paid: float, seconds: float, said: str) -> None:
    assert progress.time_left(cost, paid, seconds, 1 / 3, 2) == said
    # long points come first: what they cost says little of the many others
    early = progress.time_left(cost, paid, seconds, 0.33, 2)
    assert early.endswith("by the plan") if paid < cost and seconds <= cost / 2 else early == ""


def test_lines_come_every_five_seconds_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.progress("static", total=10, done=2, cost=80.0) as shown:
        for seconds, points, cost in ((1.0, 1, 10.0), (6.0, 1, 10.0), (12.0, 2, 20.0), (13.0, 4, 40.0)):
            now = seconds
            shown.advance(points, cost)
    assert capsys.readouterr().out.splitlines() == [
        "static: 4 of 10 points, 0.333 points/s, about 60 s left by the plan",  # a quarter of the cost
        "static: 6 of 10 points, 0.333 points/s, about 12 s left",
        "static: 10 of 10 points, 0.615 points/s",
    ]
