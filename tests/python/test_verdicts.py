"""The rules of verdicts, on invented results."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashmesh
from flashmesh.reproduce.judging import verdict
from flashmesh.reproduce.judging.outcome import Fit, Outcome, Row, judge
from flashmesh.reproduce.judging.summary import Within, nearness, reading, summary
from flashmesh.reproduce.judging.texts import measured, published
from flashmesh.reproduce.judging.verdict import Spread, Verdict
from flashmesh.reproduce.pages.folder import lacking, stored
from flashmesh.reproduce.pages.page import page
from flashmesh.reproduce.points import needs_of
from flashmesh.reproduce.registry.paper import Judged, Paper
from flashmesh.reproduce.registry.reader import papers
from flashmesh.reproduce.registry.selection import select
from flashmesh.reproduce.running.engine import Selection
from made_up_paper import MADE_UP, written


@pytest.fixture
def made_up(tmp_path: Path) -> Paper:
    return written(tmp_path, MADE_UP)


def judged(published: float, *, tolerance: float = 0.1, neutral: float | None = 1.0, limit: str = "none") -> Judged:
    return Judged(published, tolerance, None, neutral, limit)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((2.65,), Verdict.MET),
        ((2.45, 2.55), Verdict.MET),
        ((1.5,), Verdict.DIRECTION),
        ((9.0,), Verdict.DIRECTION),
        ((1.5, 0.9), Verdict.MISSED),
        ((1.0,), Verdict.MISSED),
        ((1.01, 1.02), Verdict.MISSED),
        # The effect is 2.65 - 1. The direction holds from a quarter of the effect on, at 1.4125.
        ((1.41,), Verdict.MISSED),
        ((1.42, 1.42), Verdict.DIRECTION),
        ((1.42, 1.40), Verdict.MISSED),
        # The tolerance is a tenth of the effect (0.165), not of the value (0.265).
        ((2.49,), Verdict.MET),
        ((2.40,), Verdict.DIRECTION),
        ((0.99,), Verdict.MISSED),
        ((0.7, 0.9), Verdict.OPPOSITE),
    ],
)
def test_a_number_is_met_on_its_side_or_opposite(values: tuple[float, ...], expected: Verdict) -> None:
    assert verdict.number(Spread(values), judged(2.65)) == expected


def test_a_small_effect_is_not_met_without_one() -> None:
    # The effect is 0.08, so the tolerance is 0.008. A tenth of the value 1.08 would accept no effect at all.
    assert verdict.number(Spread((1.0,)), judged(1.08)) == Verdict.MISSED
    assert verdict.number(Spread((0.98,)), judged(1.08)) == Verdict.OPPOSITE
    assert verdict.number(Spread((1.02,)), judged(1.08)) == Verdict.DIRECTION
    assert verdict.number(Spread((1.074,)), judged(1.08)) == Verdict.MET
    # A published decrease of 1.7 % and a measured one of 8.4 %: only the direction holds.
    assert verdict.number(Spread((0.916,)), judged(0.983)) == Verdict.DIRECTION
    # The neutral value of a reduction is 0; absolute values have none.
    assert verdict.number(Spread((39.5,)), judged(43.6, neutral=0.0)) == Verdict.MET
    assert verdict.number(Spread((0.95,)), judged(1.0, neutral=None)) == Verdict.MET
    assert verdict.number(Spread((0.5,)), judged(1.0, neutral=None)) == Verdict.MISSED


def test_a_share_of_the_effect_widens_what_a_claim_allows_and_never_narrows_it() -> None:
    known = judged(2.0)
    assert verdict.allowance(known) == pytest.approx(0.1)
    assert verdict.allowance(known, 0.25) == pytest.approx(0.25)
    assert verdict.allowance(judged(2.0, tolerance=0.5), 0.25) == pytest.approx(0.5)
    assert verdict.number(Spread((1.8,)), known) == Verdict.DIRECTION
    assert verdict.number(Spread((1.8,)), known, share=0.25) == Verdict.MET
    assert verdict.number(Spread((1.4,)), known, share=0.25) == Verdict.DIRECTION
    # Every seed needs a quarter of the effect, even if the mean is close.
    assert verdict.number(Spread((1.2, 2.2)), known, share=0.5) == Verdict.MISSED


def test_exact_numbers_forgive_rounding_only() -> None:
    exact = judged(11.01, tolerance=0.0, neutral=None)
    assert verdict.number(Spread((11.01 + 1e-12,)), exact) == Verdict.MET
    assert verdict.number(Spread((11.011,)), exact) == Verdict.MISSED


def test_a_limit_is_met_on_one_side() -> None:
    assert verdict.number(Spread((2.0,)), judged(3.0, tolerance=0.0, limit="at-most")) == Verdict.MET
    assert verdict.number(Spread((4.0,)), judged(3.0, tolerance=0.0, limit="at-most")) == Verdict.MISSED
    assert verdict.number(Spread((4.0,)), judged(3.0, tolerance=0.0, limit="at-least")) == Verdict.MET
    assert verdict.number(Spread((2.0,)), judged(3.0, tolerance=0.0, limit="at-least")) == Verdict.MISSED


def test_a_tolerance_in_the_unit_takes_the_place_of_a_share() -> None:
    near = Judged(76.4, 0.1, 2.0, 0.0, "none")
    assert verdict.number(Spread((78.0,)), near) == Verdict.MET
    assert verdict.number(Spread((79.0,)), near) == Verdict.DIRECTION


def test_the_value_of_no_effect_may_be_measured() -> None:
    # The published value is 99.98, and 76.4 without the technique: an effect of 23.58.
    known = judged(99.98, tolerance=0.01, neutral=76.4)
    near = Spread((99.9, 99.8))
    assert verdict.number(near, known, Spread((77.0, 78.0))) == Verdict.MET
    assert verdict.number(near, known, Spread((99.0, 99.0))) == Verdict.MISSED
    # 83.0 exceeds the published value without the technique by a quarter of the effect, but not the measured one.
    assert verdict.number(Spread((83.0,)), known) == Verdict.DIRECTION
    assert verdict.number(Spread((83.0,)), known, Spread((78.8,))) == Verdict.MISSED
    # 58.0 is below the published value without the technique, but above the measured one.
    assert verdict.number(Spread((58.0,)), known) == Verdict.OPPOSITE
    assert verdict.number(Spread((58.0,)), known, Spread((50.0,))) == Verdict.DIRECTION
    assert verdict.number(Spread((50.0, 58.0)), known, Spread((58.0, 50.0))) == Verdict.MISSED


@pytest.mark.parametrize(
    ("values", "relation", "expected"),
    [
        ((1.0, 2.0, 3.0), "rises", Verdict.MET),
        # `rises` requires steps of at least 5 %.
        ((1.0, 2.0, 2.05), "rises", Verdict.DIRECTION),
        ((1.0, 2.0, 2.2), "rises", Verdict.MET),
        ((1.0, 1.02, 1.04), "rises", Verdict.MISSED),
        ((1.0, 3.0, 2.0), "rises", Verdict.DIRECTION),
        ((3.0, 2.0, 1.0), "rises", Verdict.OPPOSITE),
        ((1.0, 1.5, 1.0), "rises", Verdict.MISSED),
        ((3.0, 2.0, 1.0), "falls", Verdict.MET),
        ((1.0, 1.02, 0.99), "flat", Verdict.MET),
        ((1.0, 1.2, 1.0), "flat", Verdict.MISSED),
        ((2.6, 2.0, 1.9), "first-highest", Verdict.MET),
        ((2.0, 2.6, 1.9), "first-highest", Verdict.MISSED),
        ((1.0, 2.6, 1.9), "first-highest", Verdict.OPPOSITE),
        ((2.6, 2.55, 1.9), "first-highest", Verdict.MISSED),
        ((2.55, 2.6, 2.61), "first-highest", Verdict.MISSED),
        ((1.0, 2.6, 1.9), "first-lowest", Verdict.MET),
        ((1.0, 1.02, 1.9), "first-lowest", Verdict.MISSED),
    ],
)
def test_a_trend_of_values_has_its_verdict(values: tuple[float, ...], relation: str, expected: Verdict) -> None:
    assert verdict.trend(values, relation, 0.05) == expected


def test_a_relation_is_to_hold_with_every_seed(made_up: Paper) -> None:
    order = made_up.claims[1]
    assert judge(order, Row("as-specified", curves=(((1.0, 2.0), (1.0, 1.5)),))) == Verdict.MET
    # Only the mean of the two curves rises; the second curve falls.
    assert judge(order, Row("as-specified", curves=(((1.0, 3.0), (2.0, 1.9)),))) == Verdict.MISSED
    assert judge(order, Row("as-specified", curves=(((2.0, 1.0), (3.0, 1.0)),))) == Verdict.OPPOSITE
    assert judge(order, Row("as-specified", curves=(None,))) == Verdict.UNMEASURED
    assert verdict.joined([Verdict.MET, Verdict.DIRECTION]) == Verdict.DIRECTION
    assert verdict.joined([Verdict.MET, Verdict.OPPOSITE]) == Verdict.MISSED


def test_a_curve_levels_off_at_its_knee_or_elsewhere() -> None:
    assert verdict.trend((1.0, 2.0, 2.02, 2.0), "levels-off", 0.05, 1) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 2.02, 2.0), "levels-off", 0.05, 2) == Verdict.DIRECTION
    assert verdict.trend((1.0, 1.5, 2.02, 2.0), "levels-off", 0.05, 2) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 3.0, 3.0), "levels-off", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 2.0, 3.0, 4.0), "levels-off", 0.05, 1) == Verdict.MISSED
    # A curve that falls below its first value does not count as a rise.
    assert verdict.trend((0.0, -140.0, 5.0, 5.0), "levels-off", 0.05, 2) == Verdict.MISSED
    assert verdict.trend((0.0, 0.0, 0.0, 0.0), "levels-off", 0.05, 1) == Verdict.MISSED


def test_a_curve_of_next_to_nothing_is_no_evidence() -> None:
    assert verdict.trend((0.04, 0.04, 0.04), "flat", 0.1) == Verdict.MET
    assert verdict.trend((0.04, 0.04, 0.04), "flat", 0.1, least=1.0) == Verdict.MISSED
    assert verdict.trend((7.0, 7.1, 7.0), "flat", 0.1, least=1.0) == Verdict.MET


def test_a_curve_peaks_at_a_place_or_elsewhere() -> None:
    assert verdict.trend((1.0, 2.0, 3.0, 2.5), "peaks", 0.05, 2) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 3.0, 2.5), "peaks", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 2.0, 3.0, 4.0), "peaks", 0.05, 1) == Verdict.MISSED


def test_the_best_place_is_higher_than_the_ends_by_the_margin() -> None:
    assert verdict.trend((1.0, 1.1, 1.09, 1.0), "highest-at", 0.05, 1) == Verdict.MET
    assert verdict.trend((1.0, 1.09, 1.1, 1.0), "highest-at", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 1.02, 1.01, 1.0), "highest-at", 0.05, 1) == Verdict.MISSED
    assert verdict.trend((1.0, 1.01, 1.02, 1.03), "highest-at", 0.05, 1) == Verdict.MISSED


def test_numbers_along_an_axis_are_judged_by_their_effect() -> None:
    # The published number is 19 of 19 workloads, where chance gives 3.8.
    known = judged(19.0, tolerance=0.0, neutral=3.8)
    assert verdict.points(((19.0,), (19.0,)), (19.0,), known) == Verdict.MET
    assert verdict.points(((16.0,), (16.0,)), (19.0,), known) == Verdict.DIRECTION
    assert verdict.points(((16.0,), (16.0,)), (19.0,), known, 0.25) == Verdict.MET
    assert verdict.points(((16.0,), (3.0,)), (19.0,), known, 0.25) == Verdict.MISSED


def test_series_are_met_point_by_point_or_alike_in_direction() -> None:
    known = (16.0, 8.0, 4.0)
    assert verdict.series((15.0, 8.2, 4.1), known, 0.1) == Verdict.MET
    assert verdict.series((20.0, 12.0, 7.0), known, 0.1) == Verdict.DIRECTION
    assert verdict.series((4.0, 8.0, 16.0), known, 0.1) == Verdict.OPPOSITE


def test_several_parts_are_to_hold_together() -> None:
    assert verdict.joined([Verdict.MET, Verdict.MET]) == Verdict.MET
    assert verdict.joined([Verdict.MET, Verdict.DIRECTION]) == Verdict.DIRECTION
    # One part (the order of curves) holds and the other (a number) misses, so the whole misses.
    assert verdict.joined([Verdict.MET, Verdict.MISSED]) == Verdict.MISSED
    assert verdict.joined([Verdict.DIRECTION, Verdict.MISSED]) == Verdict.MISSED
    assert verdict.joined([Verdict.MET, Verdict.OPPOSITE]) == Verdict.MISSED
    assert verdict.joined([Verdict.OPPOSITE, Verdict.OPPOSITE]) == Verdict.OPPOSITE
    assert verdict.best([Verdict.OPPOSITE, Verdict.DIRECTION]) == Verdict.DIRECTION


BESIDE = MADE_UP.replace('compute = "speedup"\n', "").replace(
    'over = { system = "bus" }', 'over = { system = "bus" }\nneutral = 1.0'
)


def test_a_value_is_shown_with_what_it_is_set_beside_and_how_far_workloads_go(tmp_path: Path) -> None:
    claim = written(tmp_path, BESIDE).claims[0]
    row = Row("slow", (1.5, 1.7), beside=(1.0, 1.2), workloads={"hm_0": 0.9, "proj_3": 2.3})
    assert published(claim) == "2.00 x"
    assert measured(claim, row) == "1.60 +-0.10 x, bus 1.10 +-0.10 x (0.90 to 2.30)"
    assert judge(claim, row) == Verdict.DIRECTION
    assert judge(claim, Row("slow", (1.5, 1.7))) == Verdict.UNMEASURED


ALSO = MADE_UP.replace(
    'why = "Channels are busy {busy} of the time."\n',
    """why = "Channels are busy {busy} of the time."
[[claims.also]]
id = "max"
says = "largest gain"
published = 4.0
reduce = "max"
""",
)


def test_sub_values_are_judged_and_are_no_claims_of_their_own(tmp_path: Path) -> None:
    paper = written(tmp_path, ALSO)
    assert [(claim.id, claim.part_of) for claim in paper.claims] == [("A1", ""), ("A1.max", "A1"), ("A2", "")]
    whole, largest = paper.claims[:2]
    assert whole.measurement is not None
    assert largest.measurement is not None
    assert (whole.measurement.reduce, largest.measurement.reduce) == ("mean", "max")
    assert (largest.unit, largest.judged.neutral) == ("x", 1.0)
    rows = both(paper, {"A1": ((2.0,), (1.0,)), "A1.max": ((3.8,), (1.0,))}, ((1.0, 2.0),))
    counted = summary(Outcome(paper, "quick", rows))
    assert (counted.claims, counted.subs) == (2, 1)
    assert (counted.best.within, counted.best.subs) == ((2, 2, 2), (1, 1, 1))
    # Selecting a claim also selects its sub-values.
    assert [claim.id for claim in select({"made-up": paper}, ["A1"])["made-up"]] == ["A1", "A1.max"]


def both(
    paper: Paper, values: dict[str, tuple[tuple[float, ...], tuple[float, ...]]], curve: tuple[tuple[float, ...], ...]
) -> dict[str, tuple[Row, ...]]:
    """Returns rows of both regimes: given numbers for some claims, and one curve for the others."""
    found: dict[str, tuple[Row, ...]] = {}
    for claim in paper.claims:
        numbers = values.get(claim.id, (None, None))
        curves = () if claim.id in values else (curve,)
        found[claim.id] = tuple(
            Row(regime, number, curves=curves) for regime, number in zip(paper.regimes, numbers, strict=True)
        )
    return found


def test_the_headline_is_the_single_reading_in_which_most_claims_hold(tmp_path: Path) -> None:
    text = MADE_UP.replace('id = "A2"', 'id = "A3"')
    paper = written(tmp_path, MADE_UP + text[text.index('[[claims]]\nid = "A1"') :].replace('id = "A1"', 'id = "A4"'))
    assert [claim.id for claim in paper.claims] == ["A1", "A2", "A4", "A3"]
    # A1 holds as specified, A4 with a slow link, the orders in neither regime.
    rows = both(paper, {"A1": ((2.0,), (1.3,)), "A4": ((1.8,), (1.95,))}, ((1.0, 1.0),))
    counted = summary(Outcome(paper, "quick", rows))
    assert counted.best.regime == "as-specified"
    assert counted.best.within == (1, 2, 2)
    # The best regime for each claim separately would give two, but is no consistent reading of the paper.
    assert counted.any_regime == (2, 2, 2)
    assert counted.only_elsewhere == 1
    assert nearness(paper.claims[2], rows["A4"][0]) == 0.25
    # A fit is no reading of the text, however well it agrees.
    found = {name: (*each, Row("fit", (2.0,), curves=(((1.0, 2.0),),))) for name, each in rows.items()}
    assert summary(Outcome(paper, "quick", found)).best.regime == "as-specified"


def test_what_is_exact_by_construction_is_counted_apart(tmp_path: Path) -> None:
    text = MADE_UP.replace('kind = "ratio"', 'kind = "exact"\nby-construction = true')
    paper = written(tmp_path, text)
    (need, *_) = needs_of(paper, paper.claims[0], "any")
    assert need.regime == "as-specified"
    assert Selection(paper, paper.claims).regimes(paper.claims[0]) == ("any",)
    order = tuple(Row(regime, curves=(((1.0, 2.0),),)) for regime in paper.regimes)
    counted = summary(Outcome(paper, "quick", {"A1": (Row("any", (2.0,)),), "A2": order}))
    assert (counted.claims, counted.constructed, counted.constructed_met) == (2, 1, 1)
    assert counted.best.within == (1, 1, 1)
    missed = summary(Outcome(paper, "quick", {"A1": (Row("any", (2.1,)),), "A2": order}))
    assert (missed.constructed, missed.constructed_met) == (1, 0)


def test_every_claim_is_measured_in_every_regime(made_up: Paper) -> None:
    selection = Selection(made_up, made_up.claims)
    assert [(claim.id, regime) for claim, regime in selection.rows()] == [
        ("A1", "as-specified"),
        ("A1", "slow"),
        ("A2", "as-specified"),
        ("A2", "slow"),
    ]
    chosen = Selection(made_up, made_up.claims, chosen=("slow",))
    assert {regime for _, regime in chosen.rows()} == {"slow"}
    rows = both(made_up, {"A1": ((2.0,), (1.3,))}, ((1.0, 2.0),))
    assert lacking(Outcome(made_up, "quick", rows)) == []
    assert lacking(Outcome(made_up, "quick", rows | {"A2": rows["A2"][:1]})) == ["A2 in slow"]


def test_half_a_claim_is_not_met(tmp_path: Path) -> None:
    text = MADE_UP.replace('shown = "yes"', 'published = 25\nwithin = 15\nunit = "%"\njob = "runs"')
    text = text.replace('why = "It is so."', 'measure = "iops"\ncompute = "increase"\nwhy = "It is so."')
    text = text.replace('why = "It is so."', 'of = { system = "bus" }\nover = { system = "ideal" }\nwhy = "So."')
    claim = written(tmp_path, text).claims[1]
    order = (((1.0, 2.0),),)
    assert judge(claim, Row("slow", (12.0,), curves=order)) == Verdict.MET
    # The order holds. An increase of 2 % has no direction; 8 % has one, but misses the tolerance.
    assert judge(claim, Row("slow", (2.0,), curves=order)) == Verdict.MISSED
    assert judge(claim, Row("slow", (8.0,), curves=order)) == Verdict.DIRECTION
    assert judge(claim, Row("slow", (12.0,), curves=(((1.0, 1.0),),))) == Verdict.MISSED
    assert judge(claim, Row("slow", None, curves=order)) == Verdict.UNMEASURED
    assert measured(claim, Row("slow", (12.0,), curves=order)) == "12.00 %; ideal: 1.00, bus: 2.00 %"


def test_points_of_a_curve_are_shown_with_their_labels_and_what_they_are(tmp_path: Path) -> None:
    text = MADE_UP.replace('relation = "rises"', 'relation = "rises"\nsays = "time"')
    claim = written(tmp_path, text.replace('shown = "yes"', 'shown = "yes"\nunit = "s"')).claims[1]
    row = Row("as-specified", curves=(((1.0, 2.0), (2.0, 3.0)),))
    assert measured(claim, row) == "time: ideal: 1.50, bus: 2.50 s"


def test_pages_state_the_tolerances_that_are_not_the_common_ones(tmp_path: Path) -> None:
    rows: dict[str, tuple[Row, ...]] = {
        "A1": (Row("as-specified", (2.1,)),),
        "A2": (Row("as-specified", curves=(((1.0, 2.0),),)),),
    }
    assert "Tolerances" not in page(Outcome(written(tmp_path, MADE_UP), "quick", rows))
    text = MADE_UP.replace("published = 2.0", "published = 2.0\nwithin = 0.5")
    text = text.replace('relation = "rises"', 'relation = "rises"\nmargin = 0.2')
    told = "Tolerances other than 10 % of the effect and 5 % of a curve: 0.5 x (A1); 20 % of a curve (A2)."
    assert told in page(Outcome(written(tmp_path, text), "quick", rows))


def test_a_share_of_the_number_counts_apart_from_one_of_the_effect(made_up: Paper) -> None:
    def found(value: float) -> tuple[Within, Within]:
        rows: dict[str, tuple[Row, ...]] = {"A1": (Row("as-specified", (value,)),)}
        each = reading(Outcome(made_up, "quick", rows), "as-specified")
        return each.within, each.of_number

    # `within` counts claims by shares of the effect 1.0, `of_number` also by shares of the value 2.0.
    assert found(1.95) == ((1, 1, 1), (1, 1, 1))
    assert found(1.85) == ((0, 1, 1), (1, 1, 1))
    assert found(1.55) == ((0, 0, 1), (0, 1, 1))
    assert found(1.2) == ((0, 0, 0), (0, 0, 1))


def test_a_fit_over_other_keys_than_the_registry_has_is_left_out_of_the_index(made_up: Paper, tmp_path: Path) -> None:
    rows: dict[str, tuple[Row, ...]] = {"A1": (Row("as-specified", (2.0,)), Row("slow", (2.0,)))}
    outcome = Outcome(made_up, "quick", rows, fit=Fit({"a key": "1"}, 1, 100, "by hand"))
    (tmp_path / "made-up-fit.json").write_text(outcome.to_json())
    assert stored(tmp_path, [made_up], has_stale=True) == []
    with pytest.raises(flashmesh.OutputError, match="over other keys than the registry leaves open: fit it again"):
        stored(tmp_path, [made_up])


def test_a_fit_measures_in_full_what_did_best_and_all_starts() -> None:
    from flashmesh.reproduce.judging.summary import Reading
    from flashmesh.reproduce.running.fitting import FitSearch, Trial

    paper = papers()["nossd12"]
    search = FitSearch(paper, paper.claims, 1, lambda: pytest.fail("nothing is run"))

    def trial(name: str, met: int, start: str = "") -> Trial:
        return Trial({"key": name}, Reading("fit", (met, met, met), (0, 0, 0)), start)

    def chosen(*trials: Trial) -> list[str]:
        search.trials = list(trials)
        return [each.choices["key"] for each in search.best()]

    proposed = [trial("a", 5), trial("b", 4), trial("a", 5), trial("c", 3), trial("d", 2)]
    assert chosen(*proposed, trial("s", 1, "S"), trial("t", 0, "T")) == ["a", "b", "c", "d", "s", "t"]
    assert chosen(trial("s", 6, "S"), *proposed) == ["s", "a", "b", "c"]
    assert chosen(trial("s", 1, "S")) == ["s"]
