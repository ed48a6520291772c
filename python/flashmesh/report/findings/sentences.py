"""Findings of a comparison: sentences computed from its numbers.

pssd is 1.84 times as fast as bus; beyond it the host link binds: ideal gains nothing more.

The first sentence names the winner under each condition if the conditions have different winners.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from flashmesh.aggregate.estimate import estimate
from flashmesh.aggregate.points import SEED
from flashmesh.aggregate.steadiness import JUDGED_MAX, remedy_of, unsteady_note
from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.findings import streams as stream_findings
from flashmesh.report.findings.answer import answer, effect, is_open_in
from flashmesh.report.findings.gains import (
    CLEAR,
    OTHERS_MAX,
    Gain,
    Pairing,
    binder,
    binder_of,
    figures_of,
    listed,
    text,
    verb,
)
from flashmesh.report.findings.winners import FASTEST, LOWEST, cause, parts, winners
from flashmesh.report.measures.chart_spec import axis_of
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.notes import scarce
from flashmesh.report.streams import slowdowns
from flashmesh.report.streams.bottleneck import bound_sentence, is_restated
from flashmesh.report.tables.view import A_FEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.asking.answer import Answer
    from flashmesh.report.measures.chart_spec import ChartAxis

FIGURES = ("IOPS", "p99")
"""Measures in a sentence on a single run, or on runs that differ only in their seed."""
FILES = ("workload.trace", "workload.fitted")
"""Ends of the keys whose values are paths of files; sentences show only the names of the files."""
REQUEST_SIZE = ".request-size"
"""End of the keys that set the request size; their effect is stated in bandwidth, since IOPS fall as requests grow."""


def findings(table: RunTable, has_notes: bool = True) -> list[str]:
    """Returns the findings as sentences, the most important first; empty for a single drive.

    Args:
        table: The runs.
        has_notes: Whether to end with notes on points that are not steady, and on a stream with too few requests.
    """
    axes = {key: axis_of(key, values) for key, values in table.axes.items() if key != SEED and len(values) > 1}
    if not axes or len(table) < 2:
        return []
    names = ("IOPS", "bandwidth", "mean", "p99")
    values = figures_of(table, [*map(measure_named, names), *stream_findings.measures_of_streams(table)])
    found: list[str] = []
    choice = next((key for key, axis in axes.items() if axis.numbers is None), None)
    load = next((key for key, axis in axes.items() if axis.numbers is not None), None)
    whole = answer(table, axes, values)
    if whole:
        found.append(whole)
    elif choice is not None:
        found += of_choice(table, choice, values)
    if load is not None and (not whole or len(axes[load].values) > 2):
        found += of_quantity(table, axes[load], values)
    idle = [key for key, axis in axes.items() if effect(table, axis, values) is None]
    found += stream_findings.sentences(table, list(axes.values()), values, idle)
    found = [with_file_names(sentence, table) for sentence in found]
    return found + (notes(table) if has_notes else [])


def notes(table: RunTable) -> list[str]:
    """Returns sentences on points that are not steady, and on a stream that has too few requests."""
    found: list[str] = []
    unsteady = [point for point in table.points if table.whether_steady(point) is False]
    if unsteady:
        documents = table.documents([point.runs[0] for point in unsteady[:JUDGED_MAX]])
        found.append(unsteady_note(len(unsteady), len(table.points), documents, remedy_of([table])))
    if len(table.points) <= A_FEW:
        documents = table.documents([point.runs[0] for point in table.points])
        found += filter(None, [scarce.first_note(documents), slowdowns.first_note(documents)])
    return found


def with_file_names(sentence: str, table: RunTable) -> str:
    """Returns a sentence with the names of traces instead of their paths, if these names differ."""
    paths = [value_text(value) for key, values in table.axes.items() if key.endswith(FILES) for value in values]
    names = [path.rpartition("/")[2] for path in paths]
    if len(set(names)) < len(set(paths)):
        return sentence
    # Replace the longest paths first, since one path may be the end of another.
    for path, name in sorted(zip(paths, names, strict=True), key=lambda pair: -len(pair[0])):
        sentence = sentence.replace(path, name)
    return sentence


def of_run(table: RunTable) -> list[str]:
    """Returns a sentence on throughput, p99 and bottleneck of a single run, with intervals, and notes on the run."""
    told = []
    for name, found in figures_of(table, [measure_named(name) for name in FIGURES]).items():
        if (figure := found.estimate(0)) is not None:
            told.append(f"{name} {measure_named(name).text(found[0])} {figure.spread_text}".rstrip())
    ((sentence,),) = table.columns(["bound.sentence"])
    if is_restated(sentence):
        (document,) = table.documents([0])
        sentence = bound_sentence(document)
    return [f"{'; '.join(filter(None, [', '.join(told), str(sentence or '')]))}.", *notes(table)]


def of_answer(answer: Answer) -> str:
    """Returns sentences on the changes that help most, and on the bottleneck of the unchanged drive."""
    best = "; ".join(answer.sentence(row) for row in answer.best)
    warning = f", but {answer.warning}" if answer.warning else ""
    told = f"What helps most{warning}: {best}." if best else f"No change that was tried helps{warning}."
    bound = f"the drive is {answer.bound}" if answer.bound.startswith("bound ") else answer.bound
    return f"{told} As it is, {bound}."


def of_seeds(table: RunTable) -> list[str]:
    """Returns a sentence on throughput and p99 of runs that differ only in their seed; empty without a seed axis."""
    if len(table.axes.get(SEED, ())) < 2:
        return []
    told = []
    for name in FIGURES:
        measure = measure_named(name)
        (values,) = table.values([measure])
        found = estimate([value for value in values if value is not None])
        if found is not None:
            told.append(f"{name} {measure.text(found.mean)} {found.spread_text}".rstrip())
    what = binder_of(table, range(len(table)))
    return [f"{', '.join(told)} over {len(table)} seeds{f'; {what} {verb(what)}' if what else ''}."] if told else []


def of_choice(table: RunTable, key: str, values: Mapping[str, Sequence[float | None]]) -> list[str]:
    """Returns a sentence on the gain of the fastest value of a key over the first value.

    The values of the key are names, such as interconnects, not quantities.
    """
    texts = [value_text(value) for value in table.axes[key]]
    first, *others = texts
    pairing = Pairing(table, key)
    speed = [gain for gain in (pairing.gain(first, each, values["IOPS"]) for each in others) if gain]
    if not speed:
        return []
    if is_open_in(table):
        return of_tail(pairing, texts, values, "All get the same arrivals")
    if any(gain.is_clear for gain in speed):
        found = winners(pairing, texts, values["IOPS"], 1)
        if found:
            why = [cause(table, pairing, winner, first) for winner in found]
            return [f"{'; '.join(parts(found, first, *FASTEST, why))}."]
        return [fastest(table, pairing, speed, values["IOPS"])]
    is_same = all(abs(gain.mean - 1) < CLEAR for gain in speed)
    start = "All serve the same load" if is_same else "Throughput differs by no more than noise does"
    return of_tail(pairing, texts, values, start)


def of_tail(
    pairing: Pairing, texts: Sequence[str], values: Mapping[str, Sequence[float | None]], start: str
) -> list[str]:
    """Returns a sentence on the p99 of the values of a key that have equal throughput; it begins with `start`."""
    first, *others = texts
    p99, whole = values["p99"], stream_findings.of_all(values)
    latency = [gain for gain in (pairing.gain(first, each, p99) for each in others) if gain]
    clear = [gain for gain in latency if gain.is_clear]
    if not clear:
        speed = [gain for gain in (pairing.gain(first, each, values["IOPS"]) for each in others) if gain]
        little = f"by less than {share(CLEAR)}, or " if any(gain.is_certain for gain in (*speed, *latency)) else ""
        told = f"{listed(others)} and {first} differ {little}by no more than noise explains"
        return [f"{told}, in throughput and in p99{whole}."]
    found = winners(pairing, texts, p99, -1)
    if found:
        told = "; ".join(parts(found, first, *LOWEST))
        return [f"{start}; {told}."]
    best = min(clear, key=lambda gain: gain.mean)
    if best.mean < 1:
        if " to " in best.times:
            return [f"{start}; the p99 of {best.value} is {best.times} times that of {first}{best.caveat}."]
        return [f"{start}; the p99 of {best.value} is {share(1 - best.mean)} below that of {first}{best.caveat}."]
    worst = max(clear, key=lambda gain: gain.mean)
    if not all(gain.is_clear for gain in latency):
        return [f"{start}; the p99 of {worst.value} is {worst.mean:.2f} times that of {first}{worst.caveat}."]
    return [f"{start}; {first} has the lowest p99, that of {worst.value} is {worst.mean:.2f} times it{worst.caveat}."]


def fastest(table: RunTable, pairing: Pairing, gains: Sequence[Gain], values: Sequence[float | None]) -> str:
    """Returns a sentence with the fastest value of a key, its gain over the first one, and its bottleneck.

    At least one of the gains is clear. The sentence says `fastest` only if all other values are clearly slower.

    Args:
        table: The runs.
        pairing: The pairs of runs that differ in the key.
        gains: The gains of the other values over the first one.
        values: The throughput of each run.
    """
    key = pairing.key
    first = value_text(table.axes[key][0])
    clear = [gain for gain in gains if gain.is_clear]
    most = max(gain.mean for gain in clear)
    if most < 1 + CLEAR:
        slow = min(clear, key=lambda gain: gain.mean)
        told = f"{slow.value} reaches {slow.mean:.2f} of the throughput of {first}{slow.caveat}."
        if len(clear) == len(gains):
            told = f"{first} is the fastest; {slow.value} reaches {slow.mean:.2f} of its throughput{slow.caveat}."
        return told + binding(table, key, first)
    # The first value with a gain near the largest gain; later values gain nothing more.
    best = next(gain for gain in clear if gain.mean >= most * (1 - CLEAR))
    told = f"{best.value} is {best.times} times as fast as {first}{best.caveat}"
    equal = [gain.value for gain in clear if gain is not best and abs(gain.mean / best.mean - 1) < CLEAR]
    what = binder(table, key, best.value)
    if equal:
        gain_verb = "gains" if len(equal) == 1 else "gain"
        beyond = f"beyond it {what} {verb(what)}: " if what else ""
        return f"{told}; {beyond}{listed(equal)} {gain_verb} nothing more."
    over_best = [pairing.gain(best.value, gain.value, values) for gain in gains if gain is not best]
    is_first = all(gain is not None and gain.is_clear and gain.mean < 1 for gain in over_best)
    rank = f", the fastest of {len(gains) + 1}" if is_first else ""
    return f"{told}{rank}{f'; {what} {verb(what)} it' if what else ''}."


def binding(table: RunTable, key: str, value: str) -> str:
    """Returns a sentence, after a space, that names the bottleneck of the runs with a value; empty if it is unknown."""
    what = binder(table, key, value)
    return f" {what[:1].upper()}{what[1:]} {verb(what)} it." if what else ""


def of_quantity(table: RunTable, axis: ChartAxis, values: Mapping[str, Sequence[float | None]]) -> list[str]:
    """Returns sentences on throughput along a quantity, such as queue depth: one for each combination of other keys.

    In open replay, the sentences describe the p99. Empty for more than `OTHERS_MAX` sentences.
    """
    curves: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for number, settings in enumerate(table.settings):
        name = tuple(value_text(value) for key, value in settings.items() if key not in (axis.key, SEED))
        curves.setdefault(name, {}).setdefault(text(settings, axis.key), []).append(number)
    if is_open_in(table):
        told = (of_latency(axis, name, curve, values["p99"]) for name, curve in curves.items())
    else:
        told = (of_curve(table, axis, name, curve, values) for name, curve in curves.items())
    found = list(islice(filter(None, told), OTHERS_MAX + 1))
    return found if len(found) <= OTHERS_MAX else []


def of_latency(
    axis: ChartAxis, name: tuple[str, ...], curve: Mapping[str, Sequence[int]], p99: Sequence[float | None]
) -> str | None:
    """Returns a sentence on the p99 along a quantity, for open replay, in which the arrivals set the throughput.

    None without values of the measure. `curve` has the runs at each value, `name` the settings of the curve.
    """
    places = [value_text(value) for value in axis.values if value_text(value) in curve]
    ends = [mean([p99[number] for number in curve[place]]) for place in (places[0], places[-1])]
    if len(places) < 2 or not all(ends):
        return None
    before, after = (q.time(end) for end in ends)
    who = f"{', '.join(name)}: " if name else ""
    return f"{who}p99 {before} with {axis.key}={places[0]}, {after} with {places[-1]}."


def of_curve(
    table: RunTable,
    axis: ChartAxis,
    name: tuple[str, ...],
    curve: Mapping[str, Sequence[int]],
    values: Mapping[str, Sequence[float | None]],
) -> str | None:
    """Returns a sentence that names the value at which throughput levels off, and the bottleneck from there on.

    None without values of the measure. `curve` has the runs at each value, `name` the settings of the curve.
    """
    places = [value_text(value) for value in axis.values if value_text(value) in curve]
    measure, rate = ("bandwidth", q.bandwidth) if axis.key.endswith(REQUEST_SIZE) else ("IOPS", iops)
    means = [mean([values[measure][number] for number in curve[place]]) for place in places]
    latency = [mean([values["p99"][number] for number in curve[place]]) for place in places]
    known = [value for value in means if value is not None]
    if len(known) < 2 or len(known) < len(means):
        return None
    least, most = min(known), max(known)
    who = f"{', '.join(name)}: " if name else ""
    if most < least * (1 + CLEAR):
        return f"{who}{axis.key} from {places[0]} to {places[-1]} does not change the throughput."
    knee = next(place for place, value in enumerate(known) if value >= most * (1 - CLEAR))
    if knee == 0:
        throughput = "throughput" if name else "Throughput"
        told = f"{who}{throughput} falls with {axis.key}, from {rate(known[0])} at {places[0]}"
        return f"{told} to {rate(known[-1])} at {places[-1]}."
    throughput = "throughput" if name else "Throughput"
    reached = f"{who}{throughput} grows with {axis.key} up to {places[knee]}, to {rate(known[knee])}"
    if knee == len(places) - 1:
        what = binder_of(table, curve[places[-1]])
        return f"{reached}, where {what} {verb(what)} it." if what else f"{reached}, and has not levelled off there."
    what = binder_of(table, [number for place in places[knee:] for number in curve[place]])
    if known[-1] < known[knee] * (1 - CLEAR):
        falls = f"it falls, to {rate(known[-1])} at {places[-1]}"
        beyond = f"; beyond that {falls}{f': {what} {verb(what)}' if what else ''}"
    else:
        beyond = f"; beyond it {what} {verb(what)}" if what else "; beyond it throughput stays"
    before, after = latency[knee], latency[-1]
    grown = after / before if before and after else 1.0
    more = f", and p99 grows {grown:.1f}-fold up to {places[-1]}" if grown >= 1 + 5 * CLEAR else ""
    return f"{reached}{beyond}{more}."


def mean(values: Sequence[float | None]) -> float | None:
    """Returns the mean of values; None if one is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def iops(value: float) -> str:
    """Returns a throughput as text, in IOPS."""
    return f"{q.scaled(value)} IOPS"


def share(value: float) -> str:
    """Returns a share as text, in whole percent."""
    return f"{value:.0%}".replace("%", " %")
