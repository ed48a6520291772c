"""Chart of the speedup over the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.aggregate.estimate import Estimate, estimate, ratio_of
from flashmesh.plots import style
from flashmesh.plots.runs import SPAN, baselines
from flashmesh.report.measures.measure import LENGTHS, are_equally_long
from flashmesh.report.streams.replay import is_open
from flashmesh.report.tables.marks import LEGENDS, legends, mark_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.plots.runs import Run

LENGTH, RATE = "execution time", "throughput"
MEASURES = (LENGTH, RATE, "mean latency", "p99 latency")
LATENCIES = MEASURES[2:]
STATISTICS = {"mean latency": "mean", "p99 latency": "p99"}
"""Statistic in results of each latency measure."""
NEUTRAL = "#999999"
"""Colour of runs whose speedup rounds to 1, or has a mark of noise."""


def values_of(document: Mapping[str, Any]) -> dict[str, float | None]:
    """Returns the measures that speedups are computed from, by name; None for a measure that the result lacks."""
    latency = document["latency_ps"]["all"]
    mean, p99 = (latency["mean"], latency["p99"]) if latency else (None, None)
    per_request = 1 / document["iops"] if document["iops"] else None
    return dict(zip(MEASURES, (document[SPAN], per_request, mean, p99), strict=True))


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each run and measure with the speedup over the baseline run, and its 95 % interval.

    Runs of a point are paired by seed.
    """
    found: style.Values = []
    pairs_of_runs = list(zip(runs, baselines(runs), strict=True))
    has_length = all(
        run.document[SPAN] is not None
        and are_equally_long(*([document[key] for key in LENGTHS] for document in (run.document, baseline.document)))
        for run, baseline in pairs_of_runs
    )
    # Execution times of equally long runs repeat the throughput.
    measures = [each for each in MEASURES if each != (RATE if has_length else LENGTH)]
    for run, baseline in pairs_of_runs:
        before, after = (
            [values_of(document) for document in each.repeats or (each.document,)] for each in (baseline, run)
        )
        for measure in measures:
            pairs = [(was[measure], now[measure]) for was, now in zip(before, after, strict=False)]
            ratio = estimate([was / now for was, now in pairs if was and now])
            if ratio is None:
                continue
            if len(pairs) == 1 and run is not baseline:
                ratio = with_interval(ratio.mean, measure, baseline.document, run.document)
            text = f"{ratio.mean:.2f}x"
            mark = mark_of(ratio, text) if run is not baseline else ""
            row = {"run": run.name, "baseline": baseline.name, "measure": measure, "speedup": ratio.mean}
            if ratio.low is not None and ratio.high is not None:
                row |= {"low": ratio.low, "high": ratio.high}
            is_one = text == "1.00x"
            is_right = is_one or ratio.mean >= 1
            row |= {"text": f"{text} {mark}".rstrip(), "is_neutral": bool(mark) or is_one, "is_right": is_right}
            found.append(row)
    return found


def with_interval(speedup: float, measure: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Estimate:
    """Returns the speedup of a run over its baseline with the 95 % interval that follows from those of both runs.

    The interval of the execution time and of the throughput is that of the IOPS.
    """
    if measure in STATISTICS:
        figures = [latency(document, STATISTICS[measure]) for document in (before, after)]
    else:
        figures = [of_one(each["iops"], each["confidence"]["iops"]) for each in (after, before)]
    # A run that ends before its first completion has no IOPS.
    ratio = ratio_of(*figures) if all(figure.mean > 0 for figure in figures) else None
    if ratio is None or ratio.low is None or ratio.high is None:
        return Estimate(speedup, None, None, 1, "single")
    scale = speedup / ratio.mean
    return Estimate(speedup, ratio.low * scale, ratio.high * scale, 1, "batches")


def latency(document: Mapping[str, Any], statistic: str) -> Estimate:
    """Returns a latency statistic of all requests of a run with its 95 % interval, if the run has one."""
    return of_one(document["latency_ps"]["all"][statistic], document["confidence"]["latency_ps"]["all"][statistic])


def of_one(value: float, interval: Mapping[str, float] | None) -> Estimate:
    """Returns a figure of a single run with its 95 % interval, if the run has one."""
    if interval is None:
        return Estimate(value, None, None, 1, "single")
    return Estimate(value, interval["low"], interval["high"], 1, "batches")


def follows_arrivals(runs: Sequence[Run]) -> bool:
    """Returns whether any run uses open replay, whose execution time depends on the arrivals, not on the drive."""
    return any(is_open(run.configuration) for run in runs)


def title_of(runs: Sequence[Run]) -> str:
    """Returns the title of the chart of speedups."""
    return "Latency beside the baseline" if follows_arrivals(runs) else "Speedup"


def speedups(runs: Sequence[Run]) -> style.Plot:
    """Returns a bar chart of the speedup of each run over its baseline; bars start at 1."""
    arrives = follows_arrivals(runs)
    found = rows(runs)
    there = {row["measure"] for row in found}
    measures = [measure for measure in (LATENCIES if arrives else MEASURES) if measure in there] or LATENCIES
    values = [row for row in found if row["measure"] in measures]
    has_intervals = style.with_all_ends(values, "speedup")
    named, datasets = style.data(values)
    names = [run.name for run in runs]
    base = alt.Chart(named).encode(
        y=alt.Y("run:N", sort=names, axis=style.NAMES),
        tooltip=["run:N", "baseline:N", "measure:N", "speedup:Q"],
    )
    # Bars start at 1, and extend to the left for runs slower than the baseline.
    scale = alt.Scale(type="log", nice=False, padding=45)
    title = "times shorter" if arrives else "times faster"
    axis = alt.Axis(title=title, format="~g", labelOverlap="greedy", labelSeparation=10)
    x = alt.X("speedup:Q", scale=scale, axis=axis)
    # Draw all rows in one layer, with colour and side as expressions: if a filter left no row of a layer, the browser
    # would warn.
    faster, slower = alt.value("#0072b2"), alt.value("#d55e00")
    color = (
        alt.when("datum.is_neutral").then(alt.value(NEUTRAL)).when("datum.speedup >= 1").then(faster).otherwise(slower)
    )
    bars = base.mark_bar().encode(x=x, x2=alt.X2(datum=1), color=color)
    beside = base.transform_calculate(
        label="datum.is_right ? max(1, datum.speedup, datum.high || 0) : min(datum.speedup, datum.low || datum.speedup)"
    )
    align, dx = (alt.ExprRef(f"datum.is_right ? {right} : {left}") for right, left in (("'left'", "'right'"), (4, -4)))
    texts = beside.mark_text(align=align, dx=dx, fontSize=12)
    marks: list[alt.Chart] = [bars, texts.encode(x=alt.X("label:Q", scale=scale, axis=axis), text="text:N")]
    if has_intervals:
        rule = base.mark_rule(strokeWidth=2, color="#000000")
        marks.append(rule.encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"))
    measure = style.choice("measure", measures, "Speedup in")
    layers = alt.layer(*marks).add_params(measure).transform_filter("datum.measure == measure")
    told = "How many times faster than its baseline each run is: right of 1 faster, left of 1 slower."
    if arrives:
        told = "How many times shorter than in its baseline the latency of each run is: right of 1 shorter."
        told += " Requests arrive at their times, so that throughput and execution time say nothing of the drive."
    if has_intervals:
        told += " Black lines are 95 % intervals: where one crosses 1, the difference is undecided."
    shown = {mark for row in values for mark in LEGENDS if row["text"].endswith(mark)}
    if shown:
        told += f" Bars with a mark are grey. {' '.join(legends(shown))}"
    height = style.bar_height(names)
    return style.finished(layers, datasets, title=title_of(runs), description=told, height=height)
