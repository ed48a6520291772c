"""The prediction error of a calibration comes from fits to the other loads, and is left out without such fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flashmesh.calibration.inputs.points import OpenLoad, Target
from flashmesh.calibration.outcome import Fitted
from flashmesh.calibration.residuals import SERVED, Held
from flashmesh.calibration.searching.bench import Bench, Candidate, key_of
from flashmesh.calibration.searching.search import Search, new_search
from flashmesh.calibration.space import Space, free_key
from flashmesh.report.calibration import prediction_lines
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.validation.figures import Figures

RANGED = free_key("x", {"key": "flash.read-time", "range": "10.0us..1000.0us log"})
CHOICE = free_key("x", {"key": "gc.victim", "choices": ["greedy", "d-choices"]})
TARGETS = tuple(Target(f"{load}", (Held(SERVED, 100.0, 0.05),), OpenLoad({}, False)) for load in ("low", "high"))


def candidate(value: str, *residuals: float) -> Candidate:
    return Candidate({"key": value}, (None, None), tuple((each,) for each in residuals))


def searched(space: Space, tried: Sequence[Candidate], targets: Sequence[Target] = TARGETS) -> Search:
    bench = Bench(targets, 0.0, LocalThreads(1), None, lambda _: None)
    bench.tried = {key_of(each.settings): each for each in tried}
    return new_search(bench, bench, space, 1, 3600.0)


def test_without_slopes_the_values_of_ranges_are_not_fitted_to_the_other_loads() -> None:
    tried = [candidate("1", 1.0, 1.0), candidate("2", 0.0, 9.0)]
    assert searched(Space((RANGED,)), tried).refit(tried[0], None) is None


def test_choices_alone_are_fitted_to_the_other_loads_by_the_drives_that_were_tried() -> None:
    one, other = tried = [candidate("1", 1.0, 1.0), candidate("2", 0.0, 9.0)]
    assert searched(Space((CHOICE,)), tried).refit(one, None) == [one, other]
    assert searched(Space((CHOICE,)), tried[:1]).refit(one, None) is None, "a single drive is no fit to other loads"
    assert searched(Space((CHOICE,)), tried, TARGETS[:1]).refit(one, None) is None, "no other load is left"


def fitted(*, predicted: float | None, is_refitted: bool = False, name: str = "low") -> Fitted:
    found = None if predicted is None else Figures(read_iops=predicted, write_iops=0.0)
    return Fitted(replace(TARGETS[0], name=name), Figures(100.0, 0.0), found, is_refitted)


def test_the_lines_say_which_loads_are_predicted_by_a_fit_to_the_others() -> None:
    whole = [fitted(predicted=110.0, is_refitted=True), fitted(predicted=130.0, is_refitted=True)]
    assert prediction_lines(whole) == [
        "mean prediction error 20.0 %: each load is predicted by a fit to the other loads"
    ]
    own = [whole[0], fitted(predicted=130.0, name="high")]
    assert prediction_lines(own)[1:] == ["the fit to the other loads found no better drive than the fitted one: high"]
    failed = [whole[0], fitted(predicted=None)]
    assert prediction_lines(failed) == [
        "mean prediction error 10.0 %: 1 of 2 loads, predicted by a fit to the other loads"
    ]
    assert prediction_lines([fitted(predicted=None)] * 2) == [
        "no prediction errors: no load was predicted by a fit to the other loads"
    ]
    assert prediction_lines([fitted(predicted=None)]) == [
        "no prediction error: a single load leaves no other loads to fit"
    ]
