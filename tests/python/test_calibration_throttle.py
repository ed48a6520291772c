"""A calibration searches the write throttle where a load below saturation delays its writes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from flashmesh.calibration.engine import Problem, read_problem
from flashmesh.calibration.inputs.points import ClosedLoad, JobLoad, OpenLoad, Target
from flashmesh.calibration.residuals import SERVED, Held
from flashmesh.calibration.searching.search import new_search
from flashmesh.calibration.searching.throttle import INTERVAL, SHARE, SHARES, interval_of_delay_ps
from flashmesh.calibration.space import Space, free_key
from flashmesh.importers.fio import FioJobs
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.loads.workload import Extent
from flashmesh.validation.tables.measurements import bundled
from flashmesh.validation.tables.sheets import SheetLoad
from made_up_drive import csv_of
from test_calibration_exercised import Places, bench_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
LEAST_US = 12.0


def load(rate: float, mean_us: float, kind: str = "open") -> Target:
    held = (Held(SERVED, rate, 0.05), Held("write_mean_us", mean_us, 0.1))
    loads: dict[str, OpenLoad | ClosedLoad | JobLoad] = {
        "open": OpenLoad({}, is_saturated=False),
        "saturated": OpenLoad({}, is_saturated=True),
        "paced": JobLoad({}, FioJobs({"stream.w.replay.mode": "open"})),
        "unpaced": JobLoad({}, FioJobs({"stream.w.replay.mode": "stress"})),
        "closed": ClosedLoad({}, SheetLoad(0.0, 4096, "random", 1), Extent(2_000)),
    }
    return Target(kind, held, loads[kind])


def mean_wait_us(rate: float, interval_us: float) -> float:
    """Returns the mean wait in a simulated M/D/1 queue: 400,000 Poisson arrivals, with the interval as service time."""
    drawn, wait, total, count = random.Random(1), 0.0, 0.0, 400_000
    for _ in range(count):
        wait = max(wait + interval_us - drawn.expovariate(rate) * 1e6, 0.0)
        total += wait
    return total / count


@pytest.mark.parametrize(("rate", "interval_us"), [(60_000.0, 11.0), (60_000.0, 8.0), (20_000.0, 30.0)])
def test_the_interval_is_that_of_a_queue_with_the_measured_delay(rate: float, interval_us: float) -> None:
    delayed = load(rate, LEAST_US + mean_wait_us(rate, interval_us))
    found = interval_of_delay_ps([load(rate / 2, LEAST_US), delayed])
    assert found == pytest.approx(interval_us * 1e6, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "is_found"),
    [("open", True), ("paced", True), ("saturated", False), ("closed", False), ("unpaced", False)],
)
def test_only_loads_below_saturation_show_a_throttle(kind: str, is_found: bool) -> None:
    found = interval_of_delay_ps([load(20_000.0, LEAST_US), load(60_000.0, 2 * LEAST_US, kind)])
    assert (found is not None) is is_found


def test_a_delay_within_the_tolerances_shows_no_throttle() -> None:
    assert interval_of_delay_ps([load(20_000.0, LEAST_US), load(60_000.0, 1.2 * LEAST_US)]) is None


def problem_of(drive: str, rates: tuple[int, ...], folder: Path, facts: str = "") -> Problem:
    (known,) = (each for each in bundled() if each.drive == drive)
    table, stated = folder / "measured.csv", folder / "facts.toml"
    table.write_text(csv_of(replace(known, points=tuple(each for each in known.points if each.offered_iops in rates))))
    text = (EXAMPLES / "enterprise-tlc.toml").read_text()
    stated.write_text(text.replace("[cache]\n", f"[cache]\n{facts}"))
    return read_problem([table], stated, None, 100_000)


def test_the_throttle_of_a_measured_drive_is_searched_from_near_the_value_of_its_preset(tmp_path: Path) -> None:
    problem = problem_of("Samsung PM9A3", (40_000, 60_000, 200_000), tmp_path)
    keys = {key.key: key for key in problem.searched.keys}
    off, interval = keys[INTERVAL].choices
    assert quantity(INTERVAL, off).value == 0
    assert float(quantity(INTERVAL, interval).value) == pytest.approx(11.5e6, rel=0.15)
    assert keys[SHARE].choices == SHARES


def test_the_share_is_not_searched_where_no_load_delays_writes_or_the_facts_state_it(tmp_path: Path) -> None:
    undelayed = problem_of("Samsung PM9A3", (20_000, 40_000, 200_000), tmp_path)
    stated = problem_of("Samsung PM9A3", (40_000, 60_000, 200_000), tmp_path, "throttle-share = 0.62\n")
    for problem in (undelayed, stated):
        names = {key.key for key in problem.searched.keys}
        assert INTERVAL in names
        assert SHARE not in names


def test_shares_are_tried_only_in_drives_with_an_interval(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    interval = replace(free_key("x", {"key": INTERVAL, "range": "0.0us..30.0us", "off": "0.0us"}), alternative="10us")
    share = replace(free_key("x", {"key": SHARE, "choices": ["unset", "0.6"]}), needs=INTERVAL)
    keys = (interval, share, free_key("x", {"key": "cache.stall", "choices": ["writes", "commands"]}))
    bench = bench_of(monkeypatch, [load(1e4, LEAST_US)], Places(lambda task: 1e4))
    search = new_search(bench, bench, Space(keys), 1, 3600.0)
    off = {INTERVAL: "0us", SHARE: "unset", "cache.stall": "writes"}
    (without,) = bench.try_all([off])
    (throttled,) = bench.try_all([off | {INTERVAL: "10us"}])
    assert search.other_choices(without) == [off | {INTERVAL: "10us"}, off | {"cache.stall": "commands"}]
    assert off | {INTERVAL: "10us", SHARE: "0.6"} in search.other_pairs(without)
    assert off | {SHARE: "0.6", "cache.stall": "commands"} not in search.other_pairs(without)
    assert off | {INTERVAL: "10us", SHARE: "0.6"} in search.other_choices(throttled)


def test_a_share_returns_with_the_interval_without_which_it_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    interval = free_key("x", {"key": INTERVAL, "range": "0.0us..30.0us", "off": "0.0us"})
    share = replace(free_key("x", {"key": SHARE, "choices": ["unset", "0.6"]}), needs=INTERVAL)
    bench = bench_of(monkeypatch, [load(1e4, LEAST_US)], Places(lambda task: 1e4))
    search = new_search(bench, bench, Space((interval, share)), 1, 3600.0)
    (best,) = bench.try_all([{INTERVAL: "10us", SHARE: "0.6"}])
    start = {INTERVAL: "0us", SHARE: "unset"}
    returned, is_whole = search.return_to_start(start, best, [INTERVAL])
    assert (returned.settings, is_whole) == (start, True)
