"""The comparison with MQSim on random cases: parsing of its output, and explanations of deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench import mqsim_random
from bench.mqsim_drawn import drawn
from bench.mqsim_faults import FAULTS, Fault
from bench.mqsim_random import Endless, Flow, Outcome, compared, flows_of, judged, kind, needed, run_mqsim

if TYPE_CHECKING:
    from pathlib import Path

PRINTED = """Flow Host.IO_Flow.Synth.No_0 - total requests generated: 9 total requests serviced:8
{mean}                   - device response time: 12 (us) end-to-end request delay:13 (us)
"""


@pytest.mark.parametrize(
    ("mean", "flow"),
    [("", Flow(9, 8, 12_000, 1000)), ("mean: 12345 ns\n", Flow(9, 8, 12_345, 1))],
    ids=["MQSim", "its copy"],
)
def test_a_mean_is_read_as_precisely_as_it_is_printed(mean: str, flow: Flow) -> None:
    assert flows_of(PRINTED.format(mean=mean)) == [flow]


def test_a_mean_agrees_within_a_percent_of_what_the_printed_one_may_stand_for() -> None:
    flow = Flow(8, 8, 12_000, 1000)
    means = {12_000.0: "agrees", 13_100.0: "agrees", 13_200.0: "deviates", 11_800.0: "deviates"}
    assert {mean: judged(1, [flow], [(8, mean)]).verdict for mean in means} == means


def test_a_case_is_explained_by_faults_none_of_which_can_be_left_out() -> None:
    case = drawn(13)
    found = {fault.switch for fault in FAULTS if fault.may_show(case)}
    both = {"pieces", "modify"}
    assert both < found

    def agrees(without: list[Fault]) -> bool:
        return both <= {fault.switch for fault in without}

    assert {fault.switch for fault in needed(case, agrees)} == both
    assert needed(case, lambda _: False) == []


def program(folder: Path, body: str) -> Path:
    """Writes a shell script with `body`. Returns its path."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def test_a_run_that_does_not_end_is_a_verdict_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqsim_random, "LIMIT_S", 1)
    busy = program(tmp_path, "while :; do :; done")
    outcome = compared(busy, None, 1, tmp_path)
    assert (outcome.verdict, outcome.fault) == ("timeout", "MQSim does not end within 1 s")
    assert kind(outcome) == "not compared: MQSim does not end within 1 s"
    monkeypatch.setattr(mqsim_random, "WALL_LIMIT_S", 0.2)
    with pytest.raises(Endless):
        run_mqsim(program(tmp_path, "sleep 60"), tmp_path / "idle", drawn(1))


def test_a_case_that_mqsim_fails_is_not_counted_among_the_explained_ones(tmp_path: Path) -> None:
    assert compared(program(tmp_path, "exit 3"), None, 1, tmp_path).fault == "MQSim ends with 3 and no result"
    lost = Outcome(1, 1, "lost", "MQSim loses 7 requests")
    assert kind(lost) == "not compared: MQSim loses requests"
    assert kind(Outcome(1, 1, "deviates", "a fault")) == "explained: a fault"
    assert kind(Outcome(1, 1, "deviates")) == "not explained"
