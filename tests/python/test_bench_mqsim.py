"""The comparison with MQSim on random cases: what it reads, and how it explains a deviation."""

from __future__ import annotations

import pytest

from bench.mqsim_drawn import drawn
from bench.mqsim_faults import FAULTS, Fault
from bench.mqsim_random import Flow, flows_of, judged, needed

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
