"""Verdicts on made-up results, and what the registry refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import flashmesh
from flashmesh.reproduce import verdict
from flashmesh.reproduce.changing import changed, table
from flashmesh.reproduce.engine import Selection
from flashmesh.reproduce.expression import Expression
from flashmesh.reproduce.measuring import Measures
from flashmesh.reproduce.openkeys import fitted
from flashmesh.reproduce.outcome import Outcome, Row, judge
from flashmesh.reproduce.pages import lacking, page
from flashmesh.reproduce.paper import Judged, Overrides, Paper
from flashmesh.reproduce.points import Need, Point, needs_of, settings_of
from flashmesh.reproduce.registry import papers, read_paper
from flashmesh.reproduce.selection import select, short
from flashmesh.reproduce.summary import nearness, summary
from flashmesh.reproduce.texts import measured, published, why
from flashmesh.reproduce.verdict import Spread, Verdict
from flashmesh.reproduce.volumes import Volumes, pattern_of, volumes_of

MADE_UP = """
title = "A paper"
cite = "Made up"
overview = "Nothing of it is true."

[regimes.as-specified]
says = "As it is."

[regimes.slow]
says = "With a slow link."
supports = "It fits."
against = "It is not said."
set = { host.link-rate = "1GB/s" }
where.system.bus = { fabric.hold-path = true }

[axes.system]
bus = { fabric.kind = "bus" }
ideal = { fabric.kind = "ideal" }

[jobs.runs]
config = "preset:z-nand"
axes = ["system"]
workloads = ["hm_0", "proj_3"]
quick = { requests = 200, seeds = [0, 1] }

[evidence.busy]
job = "runs"
measure = "100 * utilisation.links_mean"
of = { system = "bus" }
digits = 1
unit = "%"

[[claims]]
id = "A1"
figure = "Figure 1a"
says = "gain"
kind = "ratio"
published = 2.0
unit = "x"
job = "runs"
measure = "makespan_ps"
compute = "speedup"
of = { system = "ideal" }
over = { system = "bus" }
why = "Channels are busy {busy} of the time."

[[claims]]
id = "A2"
figure = "Figure 1b"
says = "order"
kind = "order"
shown = "yes"
why = "It is so."
[[claims.trends]]
job = "runs"
measure = "makespan_ps"
axis = "system"
labels = ["ideal", "bus"]
relation = "rises"
"""


@pytest.fixture
def made_up(tmp_path: Path) -> Paper:
    return written(tmp_path, MADE_UP)


def written(folder: Path, text: str) -> Paper:
    path = folder / "made-up.toml"
    path.write_text(text)
    return read_paper(path)


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
        # A quarter of the way from 1 to 2.65 is 1.4125.
        ((1.41,), Verdict.MISSED),
        ((1.42, 1.42), Verdict.DIRECTION),
        ((1.42, 1.40), Verdict.MISSED),
        # A tenth of the value is 0.265, a tenth of the effect 0.165.
        ((2.49,), Verdict.MET),
        ((2.40,), Verdict.DIRECTION),
        ((0.99,), Verdict.MISSED),
        ((0.7, 0.9), Verdict.OPPOSITE),
    ],
)
def test_a_number_is_met_on_its_side_or_opposite(values: tuple[float, ...], expected: Verdict) -> None:
    assert verdict.number(Spread(values), judged(2.65)) == expected


def test_a_small_effect_is_not_met_without_one() -> None:
    # A tenth of 1.08 spans no effect at all; a tenth of its effect is 0.008.
    assert verdict.number(Spread((1.0,)), judged(1.08)) == Verdict.MISSED
    assert verdict.number(Spread((0.98,)), judged(1.08)) == Verdict.OPPOSITE
    assert verdict.number(Spread((1.02,)), judged(1.08)) == Verdict.DIRECTION
    assert verdict.number(Spread((1.074,)), judged(1.08)) == Verdict.MET
    # 1.7 % less is published and 8.4 % less measured: in the direction, and not met.
    assert verdict.number(Spread((0.916,)), judged(0.983)) == Verdict.DIRECTION
    # A reduction has 0 as its neutral value, an absolute value has none.
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
    # Every seed needs a quarter of the effect, however near the mean is.
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
    # Published are 99.98 and 76.4 without: an effect of 23.58.
    known = judged(99.98, tolerance=0.01, neutral=76.4)
    near = Spread((99.9, 99.8))
    assert verdict.number(near, known, Spread((77.0, 78.0))) == Verdict.MET
    assert verdict.number(near, known, Spread((99.0, 99.0))) == Verdict.MISSED
    # More than the published value without, and no more than the measured one.
    assert verdict.number(Spread((83.0,)), known) == Verdict.DIRECTION
    assert verdict.number(Spread((83.0,)), known, Spread((78.8,))) == Verdict.MISSED
    # Less than the published value without, and more than the measured one.
    assert verdict.number(Spread((58.0,)), known) == Verdict.OPPOSITE
    assert verdict.number(Spread((58.0,)), known, Spread((50.0,))) == Verdict.DIRECTION
    assert verdict.number(Spread((50.0, 58.0)), known, Spread((58.0, 50.0))) == Verdict.MISSED


@pytest.mark.parametrize(
    ("values", "relation", "expected"),
    [
        ((1.0, 2.0, 3.0), "rises", Verdict.MET),
        # Each neighbour is to be 5 % above the one before.
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
def test_relations_between_values(values: tuple[float, ...], relation: str, expected: Verdict) -> None:
    assert verdict.trend(values, relation, 0.05) == expected


def test_a_relation_is_to_hold_with_every_seed(made_up: Paper) -> None:
    order = made_up.claims[1]
    assert judge(order, Row("as-specified", curves=(((1.0, 2.0), (1.0, 1.5)),))) == Verdict.MET
    # The mean of the two rises.
    assert judge(order, Row("as-specified", curves=(((1.0, 3.0), (2.0, 1.9)),))) == Verdict.MISSED
    assert judge(order, Row("as-specified", curves=(((2.0, 1.0), (3.0, 1.0)),))) == Verdict.OPPOSITE
    assert judge(order, Row("as-specified", curves=(None,))) == Verdict.UNMEASURED
    assert verdict.over_seeds([Verdict.MET, Verdict.DIRECTION]) == Verdict.DIRECTION
    assert verdict.over_seeds([Verdict.MET, Verdict.OPPOSITE]) == Verdict.MISSED


def test_a_curve_levels_off_at_its_knee_or_elsewhere() -> None:
    assert verdict.trend((1.0, 2.0, 2.02, 2.0), "levels-off", 0.05, 1) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 2.02, 2.0), "levels-off", 0.05, 2) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 3.0, 3.0), "levels-off", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 2.0, 3.0, 4.0), "levels-off", 0.05, 1) == Verdict.MISSED


def test_a_curve_peaks_at_a_place_or_elsewhere() -> None:
    assert verdict.trend((1.0, 2.0, 3.0, 2.5), "peaks", 0.05, 2) == Verdict.MET
    assert verdict.trend((1.0, 2.0, 3.0, 2.5), "peaks", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 2.0, 3.0, 4.0), "peaks", 0.05, 1) == Verdict.MISSED


def test_the_best_place_is_the_highest_however_little() -> None:
    assert verdict.trend((1.0, 1.02, 1.01, 1.0), "highest-at", 0.05, 1) == Verdict.MET
    assert verdict.trend((1.0, 1.01, 1.02, 1.0), "highest-at", 0.05, 1) == Verdict.DIRECTION
    assert verdict.trend((1.0, 1.01, 1.02, 1.03), "highest-at", 0.05, 1) == Verdict.MISSED


def test_numbers_along_an_axis_are_judged_by_their_effect() -> None:
    # 19 workloads of 19, where chance gives 3.8.
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
    assert verdict.joined([Verdict.MET, Verdict.MISSED]) == Verdict.DIRECTION
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
    # Whoever names the claim means its sub-values as well.
    assert [claim.id for claim in select({"made-up": paper}, ["A1"])["made-up"]] == ["A1", "A1.max"]


def both(
    paper: Paper, values: dict[str, tuple[tuple[float, ...], tuple[float, ...]]], curve: tuple[tuple[float, ...], ...]
) -> dict[str, tuple[Row, ...]]:
    """Rows of both regimes: numbers of some claims, and the same curve for the others."""
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
    # A1 holds as specified, A4 with a slow link, the orders in neither.
    rows = both(paper, {"A1": ((2.0,), (1.3,)), "A4": ((1.8,), (1.95,))}, ((1.0, 1.0),))
    counted = summary(Outcome(paper, "quick", rows))
    assert counted.best.regime == "as-specified"
    assert counted.best.within == (1, 2, 2)
    # Each claim in the best of its regimes would be two: that is no reading.
    assert counted.any_regime == (2, 2, 2)
    assert counted.only_elsewhere == 1
    assert nearness(paper.claims[2], rows["A4"][0]) == 0.25
    # A fit is no reading of the text, however well it does.
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
    assert judge(claim, Row("slow", (2.0,), curves=order)) == Verdict.DIRECTION
    assert judge(claim, Row("slow", (12.0,), curves=(((1.0, 1.0),),))) == Verdict.DIRECTION
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


def test_numbers_are_normalised_reduced_and_spread_over_seeds(made_up: Paper) -> None:
    claim = made_up.claims[0]
    assert claim.measurement is not None
    # The bus takes 4 and 8 with the first seed, 2 and 4 with the second; the ideal one takes 2.
    times = {("bus", "hm_0", 0): 4.0, ("bus", "proj_3", 0): 8.0, ("bus", "hm_0", 1): 2.0, ("bus", "proj_3", 1): 4.0}
    values: dict[tuple[Point, str], float | None] = {}
    for system in ("bus", "ideal"):
        for workload in ("hm_0", "proj_3"):
            for seed in (0, 1):
                run = Point("made-up", "runs", "slow", (("system", system), ("workload", workload)), seed)
                values[run, "makespan_ps"] = times.get((system, workload, seed), 2.0)
    measures = Measures(made_up, "quick", values)
    assert measures.by_seed(claim.measurement, "slow", claim.measurement.of) == (3.0, 1.5)
    assert measures.by_workload(claim.measurement, "slow") == {"hm_0": 1.5, "proj_3": 3.0}
    trend = made_up.claims[1].trends[0]
    assert measures.curve(Need(trend.measurement, "slow", (trend.axis, trend.labels))) == ((2.0, 6.0), (2.0, 3.0))
    values[Point("made-up", "runs", "slow", (("system", "bus"), ("workload", "hm_0")), 1), "makespan_ps"] = None
    assert measures.by_seed(claim.measurement, "slow", claim.measurement.of) is None


def test_outcomes_read_back_have_the_verdicts_of_their_values(made_up: Paper, tmp_path: Path) -> None:
    rows = {
        "A1": (Row("as-specified", (2.1,)), Row("slow", (0.5,))),
        "A2": (Row("as-specified", curves=(((1.0, 2.0),),)),),
    }
    outcome = Outcome(made_up, "quick", rows)
    path = tmp_path / "made-up.json"
    # Whatever verdict the file has, that of the values counts.
    path.write_text(outcome.to_json().replace('"met"', '"opposite"'))
    again = Outcome.read(path, made_up)
    assert again == outcome
    assert [again.verdict(claim) for claim in made_up.claims] == [Verdict.MET, Verdict.MET]
    path.write_text("{}")
    with pytest.raises(flashmesh.OutputError, match="is no reproduction"):
        Outcome.read(path, made_up)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'kind = "ratio"',
            'kind = "ration"',
            "made-up.toml: claim A1: kind: there is no 'ration': did you mean ratio?",
        ),
        ("published = 2.0", "publisht = 2.0", "claim A1: needs published, a number"),
        ('unit = "x"', 'unti = "x"', "claim A1: unknown key unti: did you mean unit?"),
        ('of = { system = "ideal" }', "of = {}", "claim A1: of needs a label of system: bus, ideal"),
        ('of = { system = "ideal" }', 'of = { system = "idael" }', "there is no 'idael': did you mean ideal?"),
        ('over = { system = "bus" }', "", "compute = 'speedup' needs over"),
        (
            'compute = "speedup"',
            'compute = "value"',
            "claim A1: needs neutral: what is published of the labels in over",
        ),
        ('measure = "makespan_ps"', 'measure = "makespan"', "results have no 'makespan': did you mean makespan_ps?"),
        ('measure = "makespan_ps"', 'measure = "open(1)"', "is no measure: 'open"),
        ('why = "It is so."', 'why = { slwo = "So." }', "there is no 'slwo': did you mean slow?"),
        ('unit = "x"', 'undecidable = "x"', "claim A1: unknown key undecidable"),
        ("{busy}", "{idle}", "claim A1: why: there is no 'idle': there are busy"),
        ('supports = "It fits."', "", "regimes.slow: needs supports and against"),
        ('axes = ["system"]', 'axes = ["sytem"]', "jobs.runs: axes: there is no 'sytem': did you mean system?"),
        ('id = "A2"', 'id = "A1"', "claim A1: is there twice"),
        ("seeds = [0, 1]", "seeds = []", "seeds is a list of whole numbers from 0 on, at least one"),
        ("requests = 200", 'requests = "many"', "requests is a whole number, not 'many'"),
        ('labels = ["ideal", "bus"]', 'labels = ["ideal"]', "trends[0]: labels are at least two"),
        ('why = "It is so."', "", "claim A2: needs why"),
        ("[regimes.as-specified]", "[regimes.others]", "made-up.toml: needs [regimes.as-specified]"),
        ("title", "title =", "made-up.toml: is not TOML"),
    ],
)
def test_a_wrong_registry_file_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MADE_UP
    with pytest.raises(flashmesh.ConfigError, match=re.escape(message)):
        written(tmp_path, MADE_UP.replace(old, new, 1))


def test_measures_are_arithmetic_over_keys() -> None:
    document = {"gc": {"pages_moved": 4, "pages_copied": 3}, "links": {"busy_ps": [1, 5]}, "cache": None}
    assert Expression("100 * gc.pages_copied / gc.pages_moved").of(document) == 75.0
    assert Expression("max(links.busy_ps) - sum(links.busy_ps)").of(document) == -1.0
    assert Expression("gc.pages_copied > 2").of(document) == 1.0
    assert Expression("gc.pages_moved / (gc.pages_copied - 3)").of(document) is None
    assert Expression("cache.reads.hits + 1").of(document) is None


def test_names_select_papers_figures_and_claims(made_up: Paper) -> None:
    registry = {"made-up": made_up}
    assert [claim.id for claim in select(registry, [])["made-up"]] == ["A1", "A2"]
    assert [claim.id for claim in select(registry, ["a2"])["made-up"]] == ["A2"]
    assert [claim.id for claim in select(registry, ["fig. 1a"])["made-up"]] == ["A1"]
    assert [claim.id for claim in select(registry, ["made-up/1"])["made-up"]] == ["A1", "A2"]
    assert [claim.id for claim in select(papers(), ["nossd14/13"])["nossd14"]] == [
        "P14",
        "P14.max",
        "P15",
        "P16",
        "P16.max",
    ]
    assert [claim.id for claim in select(papers(), ["nossd14/13d", "mbm/fig12"])["nossd14"]][:1] == ["P16"]
    # A figure with parts may have claims of its own as well.
    assert [claim.id for claim in select(papers(), ["venice/9"])["venice"]][-1] == "V17"
    assert {claim.figure for claim in select(papers(), ["venice/9"])["venice"]} == {
        "Figure 9",
        "Figure 9a",
        "Figure 9b",
    }
    with pytest.raises(
        flashmesh.ConfigError, match=r"there is no figure 'made-up/7': there are made-up/1a, made-up/1b"
    ):
        select(registry, ["made-up/7"])
    with pytest.raises(flashmesh.ConfigError, match=r"there is no paper 'madeup': did you mean made-up\?"):
        select(registry, ["madeup/1"])
    assert [short(text) for text in ("Figure 9a", "Fig. 9a", "9a", "Section 3.1", "Table 2")] == [
        "9a",
        "9a",
        "9a",
        "section3.1",
        "table2",
    ]


def test_volumes_are_found_by_their_names(made_up: Paper) -> None:
    assert pattern_of("HM1").search("msr-hm_1.csv.gz")
    assert pattern_of("SRC2-1").search("src2_1.csv")
    assert pattern_of("hm_0").search("msr-hm_0-7k.csv")
    assert not pattern_of("hm_1").search("hm_10.csv")
    assert not pattern_of("web_1").search("cobweb_1.csv")
    found = volumes_of(made_up, ["hm_0", "proj_3"], [Path("a/msr-hm_0-7k.csv"), Path("a/README.md")])
    assert found.found == {"hm_0": Path("a/msr-hm_0-7k.csv")}
    assert found.missing == ("proj_3",)
    assert found.settings("hm_0") == {"workload.trace": "a/msr-hm_0-7k.csv", "workload.beyond": "wrap"}
    assert found.settings("proj_3") is None


def test_a_claim_over_recorded_volumes_tells_which_they_are(made_up: Paper) -> None:
    claim, row = made_up.claims[0], Row("real-traces", (1.5,), quoted={"busy": 12.3})
    some = Outcome(made_up, "quick", {"A1": (row,)}, {"hm_0": "hm_0.csv"})
    assert why(some, claim, row) == "Replayed: hm_0 and 1 by profile. Channels are busy 12.3 % of the time."
    both = Outcome(made_up, "quick", {"A1": (row,)}, {"hm_0": "hm_0.csv", "proj_3": "proj_3.csv"})
    assert why(both, claim, row).startswith("Replayed: hm_0, proj_3. ")


def test_the_registry_is_sound_and_says_what_is_published() -> None:
    for paper in papers().values():
        for claim in paper.claims:
            assert published(claim) != "-", claim.id


def test_claims_have_the_neutral_value_of_what_they_compare() -> None:
    for paper in papers().values():
        for claim in paper.claims:
            if claim.measurement is not None and claim.measurement.compute in ("ratio", "speedup"):
                assert claim.judged.neutral == 1.0, claim.id
            if claim.measurement is not None and claim.measurement.compute in ("reduction", "increase"):
                assert claim.judged.neutral == 0.0, claim.id
    exact = [claim.id for paper in papers().values() for claim in paper.claims if claim.is_constructed]
    assert set(exact) == {"V01", "V02", "V33", "V34", "V35", "V36", "P18", "K09", "K10", "C03", "C15", "C16", "C17"}
    assert sum(claim.part_of.startswith("V") for paper in papers().values() for claim in paper.claims) == 34


def test_a_value_between_two_roundings_is_shown_alike_of_a_run_and_from_its_json(
    made_up: Paper, tmp_path: Path
) -> None:
    # Just below 92,367.5, to which it is rounded as it is kept.
    rows: dict[str, tuple[Row, ...]] = {
        "A1": (Row.of("slow", [92367.4999999], None, [], {"hm_0": 92367.4999999}, {"busy": 12.3499999999}),),
        "A2": (Row.of("as-specified", None, None, [[[92367.4999999, 2.0]]], {}, {}),),
    }
    outcome = Outcome(made_up, "quick", rows)
    path = tmp_path / "made-up.json"
    path.write_text(outcome.to_json())
    again = Outcome.read(path, made_up)
    for claim in made_up.claims:
        row, stored = rows[claim.id][0], again.rows[claim.id][0]
        assert measured(claim, row) == measured(claim, stored)
        assert why(outcome, claim, row) == why(again, claim, stored)
    assert again == outcome


OPEN = """
[fit]
requests = 100

[[fit.open]]
name = "outstanding"
section = "Section 1"
quote = "Many requests."
leaves = "How many is not said."
key = "replay.outstanding"
range = "1..4 x2"

[[fit.open]]
name = "paths"
section = "Section 2"
quote = "A path."
leaves = "For how long is not said."
[fit.open.choices]
released = {}
held = { where = { system = { bus = { fabric.hold-path = true } } } }

[[fit.starts]]
name = "by hand"
origin = "Somebody tried it."
choices = { outstanding = "2", paths = "held" }

[[claims]]
id = "A1"
"""
FITTED = MADE_UP.replace('[[claims]]\nid = "A1"\n', OPEN, 1)


def test_open_keys_have_choices_and_the_sentence_that_leaves_them_open(tmp_path: Path) -> None:
    paper = written(tmp_path, FITTED)
    assert [(key.name, list(key.choices)) for key in paper.open] == [
        ("outstanding", ["1", "2", "4"]),
        ("paths", ["released", "held"]),
    ]
    found = fitted(paper, paper.starts[0].choices).overrides
    assert found.set == {"replay.outstanding": "2"}
    assert found.where == {"system": {"bus": {"fabric.hold-path": True}}}
    with pytest.raises(flashmesh.ConfigError, match="there is no '3'"):
        fitted(paper, {"outstanding": "3", "paths": "held"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('quote = "A path."\n', "", "fit: open[1]: needs quote, a text"),
        ('range = "1..4 x2"', 'values = ["1"]', "fit: open[0]: needs two choices or more"),
        ('outstanding = "2", paths', "paths", "fit: starts[0]: choices needs outstanding: one of 1, 2, 4"),
        ('paths = "held"', 'paths = "hled"', "there is no 'hled': did you mean held?"),
        ("requests = 100", 'base = "slwo"', "there is no 'slwo': did you mean slow?"),
        ("system = { bus = { fabric.hold-path", "system = { bsu = { fabric.hold-path", "there is no 'bsu'"),
    ],
)
def test_a_wrong_list_of_open_keys_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FITTED
    with pytest.raises(flashmesh.ConfigError, match=re.escape(message)):
        written(tmp_path, FITTED.replace(old, new, 1))


def test_readings_are_joined_key_by_key_and_a_change_comes_last(tmp_path: Path) -> None:
    paper = written(tmp_path, MADE_UP)
    first = Overrides({"a": 1, "b": 1}, {"runs": {"c": 1}}, {"system": {"bus": {"d": 1}}})
    other = first.joined(Overrides({"b": 2}, {"runs": {"e": 2}}, {"system": {"bus": {"f": 2}, "ideal": {"d": 2}}}))
    assert other == Overrides(
        {"a": 1, "b": 2}, {"runs": {"c": 1, "e": 2}}, {"system": {"bus": {"d": 1, "f": 2}, "ideal": {"d": 2}}}
    )
    made = changed(paper, paper.claims, "slow", {"host.link-rate": "2GB/s", "fabric.hold-path": "false"})
    run = Point("made-up", "runs", "changed", (("system", "bus"), ("workload", "hm_0")), 0)
    settings = settings_of(made, run, "quick", Volumes())
    assert (settings["host.link-rate"], settings["fabric.hold-path"]) == ("2GB/s", "false")
    before = settings_of(made, Point("made-up", "runs", "slow", run.labels, 0), "quick", Volumes())
    assert (before["host.link-rate"], before["fabric.hold-path"]) == ("1GB/s", "true")


def test_a_changed_key_is_shown_claim_by_claim(made_up: Paper) -> None:
    paper = changed(made_up, made_up.claims, "slow", {"host.link-rate": "2GB/s"})
    rows: dict[str, tuple[Row, ...]] = {
        "A1": (Row("slow", (2.0,)), Row("changed", (1.5,))),
        "A2": (Row("slow", curves=(((1.0, 2.0),),)), Row("changed", curves=(((2.0, 1.0),),))),
    }
    lines = table(Outcome(paper, "quick", rows), "slow")
    assert "* A1              10 %              50 %" in lines
    assert "      published 2.00 x: 2.00 x, changed 1.50 x" in lines
    assert "* A2              10 %              opposite" in lines
    assert lines[-1].startswith("claims within 10 / 25 / 50 % of the effect: slow 2 / 2 / 2; changed 0 / 0 / 1;")
