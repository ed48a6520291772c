"""The baseline of a validation: a latency curve through the fitted loads of a drive.

It is exact for a queue, does not depend on the loads that it predicts, and is shown beside the simulation.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from flashmesh.report.validation import curve_lines
from flashmesh.validation.judging.baseline import curves
from flashmesh.validation.judging.held_out import compared
from flashmesh.validation.judging.outcome import PointOutcome, Validation, from_dict, to_json
from flashmesh.validation.pages import index
from flashmesh.validation.tables.measurements import FIT, HELD_OUT, Measured, Measurements
from made_up_drive import figures

SATURATION_IOPS = 100_000.0
LOADS = (15_000.0, 35_000.0, 55_000.0, 75_000.0, 115_000.0, 195_000.0)
ROLES = (FIT, HELD_OUT, FIT, HELD_OUT, FIT, HELD_OUT)


def queue_us(offered_iops: float) -> float:
    """Returns the latency of a queue with a mean service time of 80 us."""
    share = (offered_iops + 5_000.0) / SATURATION_IOPS
    return 80.0 + 20.0 * share / (1.0 - share)


def known() -> Measurements:
    points = []
    for offered in LOADS:
        served = min(offered + 5_000.0, SATURATION_IOPS)
        mean = queue_us(offered) if served < SATURATION_IOPS else 4_000.0
        rates = {"read_iops": 5_000.0, "write_iops": served - 5_000.0}
        points.append(Measured(offered, figures(**rates, read_mean_us=mean)))
    return Measurements("made up", 0.07, tuple(points))


def validation(error: float) -> Validation:
    """Returns a validation whose simulated mean latencies are too high by a share."""
    points = []
    for measured, role in zip(known().points, ROLES, strict=True):
        mean = measured.figures.read_mean_us
        assert mean is not None
        simulated = replace(measured.figures, read_mean_us=mean * (1.0 + error))
        points.append(PointOutcome(measured, role, simulated, measured.offered_iops, 2.0, 50))
    return Validation("drive", "A drive", known(), tuple(points), 0.0, None, 1_000)


def test_the_curve_of_a_queue_is_exact_at_loads_between_and_beyond_the_fitted_ones() -> None:
    found = curves(known(), ROLES)
    assert {offered for offered, _ in found} == {35_000.0, 75_000.0, 195_000.0}
    assert found[35_000.0, "read_mean_us"] == pytest.approx(queue_us(35_000.0))
    assert found[75_000.0, "read_mean_us"] == pytest.approx(queue_us(75_000.0))
    assert found[195_000.0, "read_mean_us"] == 4_000.0


def test_the_figures_of_a_load_do_not_change_its_own_curve() -> None:
    given = known()
    changed = [replace(each, figures=figures(read_mean_us=1.0)) if role == HELD_OUT else each
               for each, role in zip(given.points, ROLES, strict=True)]  # fmt: skip
    found = curves(replace(given, points=tuple(changed)), ROLES)
    assert found[35_000.0, "read_mean_us"] == pytest.approx(queue_us(35_000.0))


def test_without_fitted_loads_each_load_has_a_curve_through_all_others() -> None:
    found = curves(known(), [""] * len(LOADS))
    for offered in LOADS[:4]:
        assert found[offered, "read_mean_us"] == pytest.approx(queue_us(offered))


def test_errors_are_means_over_loads_below_saturation_that_were_not_fitted() -> None:
    found = compared([validation(0.1)], "read_mean_us")
    assert found is not None
    assert found.loads == 2
    assert found.simulated == pytest.approx(0.1)
    assert found.curve == pytest.approx(0.0, abs=1e-9)
    assert (
        compared([replace(validation(0.1), points=(), measurements=replace(known(), points=()))], "read_mean_us")
        is None
    )


def test_the_curve_stands_in_the_document_on_the_page_and_below_the_tables() -> None:
    shown = validation(0.1)
    document = json.loads(to_json([shown]))
    assert document["points"][1]["curve"]["read_mean_us"] == pytest.approx(queue_us(35_000.0), abs=1e-3)
    assert document["points"][0]["curve"] == {}
    assert from_dict(document) == [shown]
    assert "| mean of reads | 2 | 10 % | 0 % |" in index([shown])
    assert curve_lines(shown)[0] == (
        "mean of reads, 2 held-out loads below saturation: mean error 10% simulated, 0% by the curve"
    )
