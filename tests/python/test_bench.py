"""Benchmarks that compare builds: equality of results, their stored table, bounds on time, and random MQSim cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.bounds import in_turns, quotient
from bench.build import Build
from bench.documents import differences, hash_of, result_of
from bench.measure import run
from bench.mqsim_drawn import drawn
from bench.rows import BOUNDS, LONG_ROWS, ROWS
from bench.table import Measured, load, save
from flashmesh import configuration
from flashmesh.importers.mqsim import Mode, translate

REPORT: dict[str, Any] = {"requests": 7, "latency": {"mean": 1.5, "p99": 3}, "epochs": [{"iops": 1}, {"iops": 2}]}


def changed(**parts: object) -> dict[str, Any]:
    return REPORT | parts


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (changed(), []),
        (changed(further=5), []),
        (changed(latency={"mean": 1.5, "percentile_99": 3}), []),
        (changed(latency={"mean": 1.6, "p99": 3}), ["latency.mean: 1.5 -> 1.6"]),
        (changed(latency={"mean": 1.5, "percentile_99": 4}), ["latency.p99: 3 is gone"]),
        (changed(epochs=[{"iops": 1}]), ["epochs[1].iops: 2 is gone"]),
    ],
    ids=["same", "added", "renamed", "changed", "renamed and changed", "lost"],
)
def test_a_difference_is_found_whatever_fields_are_called(now: dict[str, Any], found: list[str]) -> None:
    assert differences(now, REPORT) == found


def test_a_hash_leaves_out_what_the_machine_decides() -> None:
    other = REPORT | {"wall_s": 3.0, "peak_rss_bytes": 7}
    assert hash_of(result_of(other)) == hash_of(REPORT)
    assert hash_of(changed(requests=8)) != hash_of(REPORT)


def test_every_row_is_a_configuration() -> None:
    rows = ROWS + LONG_ROWS
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        settings = row.settings | {"workload.requests": row.requests // row.streams}
        configuration.load(row.path, overrides=settings)
    names = {row.name for row in rows}
    assert all({bound.row, bound.over} <= names for bound in BOUNDS)


def test_a_table_is_kept_and_added_to(tmp_path: Path) -> None:
    one = Measured(1.0, 0.1, 10_000_000, 1_000, 4_471.0, 2.0, "abc")
    other = Measured(3.0, 0.1, 10_500_000, 1_500, None, 1.0, "def")
    file = tmp_path / "out" / "table.json"
    save(file, "here", {"one": one})
    save(file, "here", {"other": other})
    assert load(file) == {"one": one, "other": other}
    bound = BOUNDS[0]
    assert quotient(bound, {bound.row: other, bound.over: one}) == pytest.approx(2.0)
    assert quotient(bound, {bound.row: other}) is None


def test_a_bound_on_time_runs_its_two_rows_in_turns_and_one_on_memory_none(tmp_path: Path) -> None:
    log, runner = tmp_path / "log", tmp_path / "runner"
    runner.write_text(f"#!/bin/sh\nfor key; do case $key in workload.requests=*) echo $key >> {log};; esac; done\n")
    runner.chmod(0o755)
    build = Build("fake", runner, tmp_path)
    on_memory, on_time = (next(bound for bound in BOUNDS if bound.of == of) for of in ("peak", "cpu"))
    names = {name for bound in (on_memory, on_time) for name in (bound.row, bound.over)}
    rows = {name: Measured(1e9, 0.1, 1, 1_000, None, None, "") for name in names}
    assert in_turns(on_memory, rows, build, 3) is rows
    assert not log.exists()
    again = in_turns(on_time, rows, build, 3)
    assert again.keys() == {on_time.row, on_time.over}
    assert all(measured.cpu_s < 10 for measured in again.values())
    requests = {row.name: f"workload.requests={row.requests}" for row in ROWS}
    lines = log.read_text().split()
    assert len(lines) == 6
    assert all(set(lines[at : at + 2]) == {requests[on_time.row], requests[on_time.over]} for at in (0, 2, 4))


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"ended with 3:\nno good"):
        run(["sh", "-c", "echo no good >&2; exit 3"])
    used = run(["sh", "-c", "pwd"], folder=Path("/"))
    assert used.stdout == "/\n"
    assert used.cpu_s < 10


def test_random_cases_of_mqsim_are_the_same_each_time_and_hold_its_tags_alone(tmp_path: Path) -> None:
    for seed in range(12):
        case = drawn(seed)
        assert case == drawn(seed)
        (tmp_path / "ssd.xml").write_text(case.device)
        (tmp_path / "work.xml").write_text(case.workload)
        (scenario,) = translate(tmp_path / "ssd.xml", tmp_path / "work.xml", Mode.COMPATIBLE)
        assert scenario.ledger.unknown == []
        assert len(scenario.ledger.replays) == len(case.flows)
    assert drawn(1) != drawn(2)
