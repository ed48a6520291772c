"""Verdicts follow from measured and simulated figures: each tolerance is met at its limit and missed beyond it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flashmesh.report.validation import difference_of
from flashmesh.validation.figures import Figures
from flashmesh.validation.judging.outcome import PointOutcome, Validation, from_dict, to_dict
from flashmesh.validation.judging.verdict import Check, checks
from flashmesh.validation.tables.measurements import Measured, Measurements
from made_up_drive import figures

SATURATED = 95_000.0
"""Highest rate of requests that the measured drive served, in IOPS.

A load of at least 97 % of this rate (92,150 IOPS) is at saturation, one below 80 % (76,000 IOPS) is light. The rate of
a load is its offered writes plus 5,000 IOPS, the reads of the first stream.
"""
LIGHT, HEAVY, FULL, BEYOND = 40_000.0, 80_000.0, 88_000.0, 120_000.0


def measured() -> Measurements:
    points = [Measured(rate, figures(read_iops=5_000.0, write_iops=rate)) for rate in (LIGHT, HEAVY, FULL)]
    points.append(Measured(BEYOND, figures(read_iops=5_000.0, write_iops=SATURATED - 5_000.0)))
    return Measurements("made up", 1.0, tuple(points))


def at(found: tuple[Check, ...], tolerance: str, rate: float | None, figure: str) -> Check:
    (check,) = [each for each in found if (each.tolerance, each.offered_iops, each.figure) == (tolerance, rate, figure)]
    return check


def exact() -> list[Figures | None]:
    return [point.figures for point in measured().points]


def test_what_is_simulated_exactly_meets_every_tolerance() -> None:
    found = checks(measured(), exact())
    assert all(check.is_met and check.difference == 0 for check in found)
    held = {(check.tolerance, check.offered_iops) for check in found}
    assert held == {
        ("saturation", None),
        ("read-mean", LIGHT),
        ("read-mean", HEAVY),
        ("read-p99", LIGHT),
        ("read-p99", HEAVY),
        ("write-mean", LIGHT),
        ("at-saturation", FULL),
        ("at-saturation", BEYOND),
    }


@pytest.mark.parametrize(
    ("tolerance", "number", "figure", "limit"),
    [
        ("read-mean", 0, "read_mean_us", 0.10),
        ("read-mean", 1, "read_mean_us", 0.10),
        ("read-p99", 1, "read_p99_us", 0.15),
        ("write-mean", 0, "write_mean_us", 0.10),
        ("at-saturation", 2, "read_mean_us", 0.25),
        ("at-saturation", 3, "write_mean_us", 0.25),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_figure_is_met_up_to_its_limit(tolerance: str, number: int, figure: str, limit: float, sign: int) -> None:
    known = measured()
    value = known.points[number].figures.value(figure)
    assert value is not None
    for share, is_met in ((limit, True), (limit + 0.001, False)):
        simulated = exact()
        moved: Figures = replace(known.points[number].figures, **{figure: value * (1 + sign * share)})
        simulated[number] = moved
        found = checks(known, simulated)
        check = at(found, tolerance, known.points[number].offered_iops, figure)
        assert check.is_met is is_met
        assert check.difference == pytest.approx(sign * share)
        # No other verdict changes.
        assert sum(not each.is_met for each in found) == (not is_met)


@pytest.mark.parametrize(("served", "is_met"), [(99_750, True), (99_800, False), (90_250, True), (90_200, False)])
def test_the_saturation_rate_is_the_most_that_was_served(served: float, is_met: bool) -> None:
    simulated = exact()
    simulated[2] = figures(read_iops=5_000.0, write_iops=min(served, 90_000.0) - 5_000.0)
    simulated[3] = figures(read_iops=5_000.0, write_iops=served - 5_000.0)
    check = at(checks(measured(), simulated), "saturation", None, "iops")
    assert check.simulated == served
    assert check.is_met is is_met


def test_the_mean_of_writes_is_free_between_light_loads_and_saturation() -> None:
    simulated = exact()
    simulated[1] = replace(measured().points[1].figures, write_mean_us=1e6, write_p99_us=1e6, write_p999_us=1e6)
    assert all(check.is_met for check in checks(measured(), simulated))


def test_a_drive_that_no_load_saturated_has_no_saturation_to_hold_to() -> None:
    known = Measurements("made up", 1.0, measured().points[:2])
    found = checks(known, [point.figures for point in known.points])
    assert {check.tolerance for check in found} == {"read-mean", "read-p99", "write-mean"}
    assert {check.offered_iops for check in found if check.tolerance == "write-mean"} == {LIGHT, HEAVY}


def test_what_was_not_simulated_is_a_miss() -> None:
    found = checks(measured(), [None, *exact()[1:]])
    assert {check.tolerance for check in found if not check.is_met} == {"read-mean", "read-p99", "write-mean"}
    assert at(found, "read-mean", LIGHT, "read_mean_us").difference is None


def test_a_document_has_measured_and_simulated_figures_and_is_read_again() -> None:
    known = measured()
    points = tuple(
        PointOutcome(point, "fit", simulated, point.offered_iops, 2.5, 100)
        for point, simulated in zip(known.points, exact(), strict=True)
    )
    validation = Validation("drive", "A drive", known, points, 1.5, 2.0, 1_000)
    document = to_dict([validation])
    assert document["met"] is True
    first = document["points"][0]
    assert first["measured"]["read_p999_us"] == first["simulated"]["read_p999_us"] == 300.0
    assert first["measured"]["offered_iops"] == first["simulated"]["offered_iops"] == LIGHT
    assert first["role"] == "fit"
    assert from_dict(document) == [validation]


@pytest.mark.parametrize(
    ("simulated", "text"),
    [(0.85, "-15%"), (0.846, "-15.4%"), (0.84, "-16%"), (1.1504, "+15.04%"), (None, "not simulated")],
)
def test_a_miss_that_rounds_to_its_limit_has_decimal_places(simulated: float | None, text: str) -> None:
    assert difference_of(Check("data-sheet", "rate", None, 1.0, simulated, 0.15)) == text
