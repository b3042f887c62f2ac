"""Items side by side in threads: all of them, in order, and no more once one has failed."""

from __future__ import annotations

import threading
import time

import pytest
from torusweep_kernels.threads import in_threads


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_results_come_in_the_order_of_items(threads: int) -> None:
    def late(item: int) -> int:
        time.sleep(0.001 * (item % 3))
        return item * item

    assert in_threads(late, range(40), threads) == [item * item for item in range(40)]
    assert in_threads(late, range(1), threads) == [0]


@pytest.mark.parametrize("failing", [0, 7])
def test_nobody_begins_another_item_after_an_exception(failing: int) -> None:
    begun: list[int] = []

    def some(item: int) -> None:
        begun.append(item)
        if item == failing:
            raise ArithmeticError(item)
        time.sleep(0.001)

    with pytest.raises(ArithmeticError):
        in_threads(some, range(1000), 2)
    assert failing in begun
    assert len(begun) < 500


def test_an_exception_elsewhere_is_raised_here() -> None:
    elsewhere = threading.Event()

    def some(item: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            elsewhere.set()
            raise ArithmeticError(item)
        assert elsewhere.wait(60)  # else this thread might have ended before the other has begun
        begun.append(item)
        time.sleep(0.001)

    begun: list[int] = []
    with pytest.raises(ArithmeticError):
        in_threads(some, range(1000), 2)
    assert len(begun) < 500
