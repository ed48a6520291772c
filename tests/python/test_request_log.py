"""The log of requests, written by a separate thread during the run."""

from __future__ import annotations

import threading
import time
from array import array

import pytest

from conftest import ENDLESS
from flashmesh import _native, configuration

BATCH = 65_536
"""Rows of every batch but the last."""


def run(requests: int | None, take: object, control: _native.Control | None = None) -> None:
    """Runs a small drive. Without a number of requests, it runs until it is stopped."""
    key, value = ENDLESS.split("=") if requests is None else ("workload.requests", str(requests))
    config = configuration.load("preset:venice-z-nand", overrides={"fabric.kind": "ideal", key: value})
    _native.Simulation(config).run(control or _native.Control(), take)  # type: ignore[arg-type]


@pytest.mark.parametrize("requests", [1, 4_096, BATCH, BATCH + 1, 3 * BATCH - 1])
def test_every_request_is_in_one_batch_in_the_order_of_completion(requests: int) -> None:
    sizes: list[int] = []
    completed = array("Q")
    threads: set[int] = set()

    def take(rows: int, columns: dict[str, bytes]) -> None:
        sizes.append(rows)
        completed.frombytes(columns["completed_ps"])
        threads.add(threading.get_ident())

    run(requests, take)
    assert sum(sizes) == len(completed) == requests
    assert all(size == BATCH for size in sizes[:-1])
    assert list(completed) == sorted(completed)
    assert threading.get_ident() not in threads
    assert len(threads) == 1


@pytest.mark.parametrize("requests", [1, BATCH + 1, None])
def test_what_the_log_raises_ends_the_run_and_is_raised(requests: int | None) -> None:
    calls = 0

    def take(rows: int, columns: dict[str, bytes]) -> None:
        nonlocal calls
        calls += 1
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        run(requests, take)
    assert calls == 1


def test_run_that_is_cancelled_logs_what_has_completed() -> None:
    control = _native.Control()
    rows_taken = 0

    def take(rows: int, columns: dict[str, bytes]) -> None:
        nonlocal rows_taken
        rows_taken += rows
        control.cancel()

    run(None, take, control)
    assert rows_taken == control.requests_done > BATCH


def test_run_waits_for_a_log_that_is_slower() -> None:
    control = _native.Control()
    ahead: list[int] = []
    taken = 0

    def take(rows: int, columns: dict[str, bytes]) -> None:
        nonlocal taken
        time.sleep(0.3)
        ahead.append(control.requests_done - taken - rows)
        taken += rows

    run(6 * BATCH, take, control)
    # A batch may wait for the thread, and completions are counted only at intervals.
    assert max(ahead) < 2 * BATCH
