"""Shown points of a table, selected and sorted, and the mean of a measure over the seeds of each point."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.aggregate.estimate import Estimate, estimate, ratio_of
from flashmesh.aggregate.points import SEED, Point, grouped, is_repeated, keys_of, points_of
from flashmesh.configuration import value_text
from flashmesh.report.streams.bottleneck import bound_sentence, is_restated
from flashmesh.report.tables.marks import mark_of
from flashmesh.results.streams import names_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.axes import Value
    from flashmesh.comparing.normalised import Baseline
    from flashmesh.report.measures.measure import Measure

ROWS_MAX = 40
"""Default of the maximum number of shown points (combinations of varied keys)."""
A_FEW = 12
"""Maximum number of points for which tables show more than the key measures."""
ANY = "any"
"""Placeholder for the values of a key that a drive does not read."""


@dataclass(frozen=True)
class Choice:
    """Selection and order of the points (combinations of varied keys) that a table shows."""

    where: Mapping[str, str] = field(default_factory=dict)
    """Required values of varied keys, as texts."""
    sort: Measure | None = None
    """Measure by which points are sorted; None for the order of the runs."""
    is_descending: bool = False
    rows: int | None = ROWS_MAX
    """Maximum number of points; None for all."""


class View:
    """The points (combinations of varied keys) of a table of runs that are shown, and their measures."""

    def __init__(self, table: RunTable, choice: Choice | None = None, baseline: Baseline | None = None) -> None:
        """Selects and sorts points.

        Args:
            table: The runs.
            choice: The selection; by default the first points.
            baseline: The reference of ratios. If the baseline names a seed, each seed is a point of its own.

        Raises:
            ConfigError: If the choice names a key that is not varied, or a value that no run has.
        """
        self.table = table
        self.choice = choice = choice if choice is not None else Choice()
        self.baseline = baseline
        self.known: dict[str, list[float | None]] = {}
        self.marks: set[str] = set()
        """Marks that shown ratios have."""
        self.hides_intervals = False
        """Whether a grid leaves out intervals, since it would be too wide with them."""
        self.has_unsteady_marks = False
        """Whether a grid has marked some points as not steady."""
        self.of_shown: dict[str, dict[int, float | None]] = {}
        refuse_unvaried(table, choice.where)
        self.keys = keys_of(table.axes)
        group = points_of
        if baseline is not None and SEED in baseline.settings:
            self.keys, group = list(table.axes), grouped
        self.all_points = group(table.settings, range(len(table)))
        wanted = [number for number, settings in enumerate(table.settings) if self.is_wanted(settings)]
        self.points = collapsed(table, group([table.settings[number] for number in wanted], wanted))
        if not self.points:
            told = ", ".join(f"{key}={value}" for key, value in choice.where.items())
            raise ConfigError(f"--where: no run has {told} together")
        self.is_repeated = is_repeated(self.points)
        if choice.sort is not None:
            self.sort(choice.sort, choice.is_descending)
        self.chosen = self.points
        """All points that the choice selects; `points` are the first ones of these, which are shown."""
        self.points = self.chosen[: choice.rows]

    def is_wanted(self, settings: Mapping[str, Value]) -> bool:
        """Returns whether the choice selects runs with these settings."""
        return all(value_text(settings[key]) == value for key, value in self.choice.where.items())

    def sort(self, measure: Measure, is_descending: bool) -> None:
        """Sorts the points by the means of a measure; points without it come last."""
        means = {id(point): self.mean(measure, point) for point in self.points}
        sign = -1 if is_descending else 1
        self.points.sort(key=lambda point: ((mean := means[id(point)]) is None, sign * (mean or 0.0)))

    def values(self, measure: Measure) -> list[float | None]:
        """Returns a measure of all runs, None where a run lacks it; each measure is read once."""
        if measure.name not in self.known:
            (self.known[measure.name],) = self.table.values([measure])
        return self.known[measure.name]

    def read(self, measures: Sequence[Measure]) -> None:
        """Reads the measures that have columns in one pass over the table, which is faster than a pass for each."""
        wanted = [each for each in measures if each.name not in self.known and self.table.has_columns(each.keys)]
        self.known |= dict(zip((each.name for each in wanted), self.table.values(wanted), strict=True))

    def value(self, measure: Measure, number: int) -> float | None:
        """Returns a measure of the run with index `number`; None if the run lacks it.

        If the measure has no column, reads only the JSON results of the shown runs.
        """
        if measure.name in self.known or self.table.has_columns(measure.keys):
            return self.values(measure)[number]
        if measure.name not in self.of_shown:
            points = [*self.points, *(point for point in self.references if point is not None)]
            shown = list(dict.fromkeys(number for point in points for number in point.runs))
            values = map(measure.of_document, self.table.documents(shown))
            self.of_shown[measure.name] = dict(zip(shown, values, strict=True))
        found = self.of_shown[measure.name]
        return found[number] if number in found else self.values(measure)[number]

    @cached_property
    def streams(self) -> list[str]:
        """Names of the streams in the shown points; empty if no shown point has several."""
        documents = self.table.documents([point.runs[0] for point in self.points])
        return names_in(documents) if any(len(document["streams"]) > 1 for document in documents) else []

    def of_point(self, measure: Measure, point: Point[int]) -> list[float]:
        """Returns the values of a measure in the runs of a point; omits runs without a value."""
        return [value for number in point.runs if (value := self.value(measure, number)) is not None]

    def has(self, measure: Measure) -> bool:
        """Returns whether any shown point has a value of a measure, other than a length of runs extended until steady.

        Such a length says nothing about the drive.
        """
        if measure.is_of_length and self.table.until_steady:
            return False
        return any(self.of_point(measure, point) for point in self.points)

    def mean(self, measure: Measure, point: Point[int] | None) -> float | None:
        """Returns the mean of a measure over the seeds of a point; None without a value, or if one is not a number."""
        found = self.of_point(measure, point) if point is not None else []
        if not found or any(isinstance(value, str | bool) for value in found):
            return None
        return sum(found) / len(found)

    def estimate(self, measure: Measure, point: Point[int]) -> Estimate | None:
        """Returns the mean of a measure over the seeds of a point with the 95 % interval; None without a value.

        The interval of a single run is from batch means.
        """
        found = estimate(numbers(self.of_point(measure, point)))
        if found is None or len(point.runs) > 1 or measure.interval is None:
            return found
        low, high = (self.value(ends, point.runs[0]) for ends in self.ends_of(measure))
        return found if low is None or high is None else Estimate(found.mean, low, high, 1, "batches")

    def ends_of(self, measure: Measure) -> list[Measure]:
        """Returns the lower and the upper end of the confidence interval of a measure, as two measures."""
        keys = [f"{measure.interval}.{end}" for end in ("low", "high")]
        return [replace(measure, name=key, keys=(key,), of=None, interval=None) for key in keys]

    def ratio(self, measure: Measure, point: Point[int], reference: Point[int] | None) -> Estimate | None:
        """Returns the ratio of a point to its reference with its 95 % interval; None unless both are above zero.

        Points with several seeds are paired by seed, since runs with equal seeds share their random numbers.
        """
        from flashmesh.report.measures.measure import measure_named

        if reference is None:
            return None
        if measure.noise_of is not None and not self.is_repeated:
            measure = measure_named(measure.noise_of)
        before, after = (
            {self.seed(number): self.value(measure, number) for number in each.runs} for each in (reference, point)
        )
        pairs = [(value, before.get(seed)) for seed, value in after.items()]
        ratios = [value / base for value, base in pairs if value and base]
        if len(ratios) > 1:
            return estimate(ratios)
        found, base = self.estimate(measure, point), self.estimate(measure, reference)
        if found is None or base is None or found.mean <= 0 or base.mean <= 0:
            return None
        return ratio_of(found, base)

    def are_equally_long(self, point: Point[int], reference: Point[int] | None) -> bool:
        """Returns whether the runs of two points have equally many requests, or take equally long, on average."""
        from flashmesh.report.measures.measure import LENGTHS, are_equally_long, measure_named

        means = [[self.mean(measure_named(name), each) for name in LENGTHS] for each in (point, reference)]
        return are_equally_long(*means)

    def seed(self, number: int) -> str:
        """Returns the varied seed of a run as text; empty if the seed is not varied."""
        return value_text(self.table.settings[number].get(SEED, ""))

    def mark(self, measure: Measure, point: Point[int], reference: Point[int] | None, text: str) -> str:
        """Returns the mark of the ratio of a point to its reference, shown as `text`; empty for a clear difference."""
        if measure.is_exact or (reference is not None and point.runs == reference.runs):
            return ""
        found = self.ratio(measure, point, reference)
        told = mark_of(found, text) if found is not None else ""
        self.marks |= {told} - {""}
        return told

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any point has a confidence interval: from several seeds, or from the batch means of its run."""
        from flashmesh.report.measures.measure import measure_named

        return self.is_repeated or any(
            (found := self.estimate(measure, point)) is not None and found.low is not None
            for measure in (measure_named("IOPS"),)
            for point in self.points
        )

    @property
    def references(self) -> list[Point[int] | None]:
        """Points that the ratios of the shown points refer to."""
        return self.references_of(self.points)

    def references_of(self, points: Sequence[Point[int]]) -> list[Point[int] | None]:
        """Returns the point that the ratios of each point refer to: its baseline, else the first point.

        None if the baseline of a point has no result.
        """
        from flashmesh.comparing.normalised import partners

        if self.baseline is None:
            return [self.chosen[0]] * len(points)
        settings = [point.settings for point in self.all_points]
        numbers = partners(settings, self.baseline)
        by_settings = {names(point, self.keys): number for point, number in zip(self.all_points, numbers, strict=True)}
        found = [by_settings.get(names(point, self.keys)) for point in points]
        return [None if number is None else self.all_points[number] for number in found]

    def texts(self, point: Point[int]) -> list[str]:
        """Returns the values of the varied keys of a point as texts."""
        return [value_text(point.settings[key]) for key in self.keys]

    @cached_property
    def steady(self) -> list[bool | None]:
        """Whether the measured windows of each shown point were steady; None if no run of the point has a verdict."""
        return [self.table.whether_steady(point) for point in self.points]

    def sentences(self) -> list[str]:
        """Returns a sentence on the bottleneck of each shown point: the most frequent one among its seeds."""
        keys = ["bound.resource", "bound.sentence", "interrupted"]
        resources, told_sentences, interrupted = self.table.columns(keys)
        sentences = list(told_sentences)
        shown: list[tuple[int, int]] = []
        for point in self.points:
            common, count = Counter(resources[number] for number in point.runs).most_common(1)[0]
            shown.append((next(number for number in point.runs if resources[number] == common), count))
        restated = [number for number, _ in shown if is_restated(sentences[number])]
        for number, document in zip(restated, self.table.documents(restated), strict=True):
            sentences[number] = bound_sentence(document)
        found: list[str] = []
        for point, (number, count) in zip(self.points, shown, strict=True):
            told = str(sentences[number])
            if count < len(point.runs):
                told += f" (with {count} of {len(point.runs)} seeds)"
            if any(interrupted[number] for number in point.runs):
                told += " (interrupted)"
            found.append(told)
        return found


def numbers(values: Sequence[Any]) -> list[float]:
    """Returns those of the values that are numbers, not texts, truth values or None."""
    return [value for value in values if value is not None and not isinstance(value, str | bool)]


def names(point: Point[int], keys: Sequence[str]) -> tuple[str, ...]:
    """Returns the values of `keys` of a point as texts."""
    return tuple(value_text(point.settings[key]) for key in keys)


def collapsed(table: RunTable, points: Sequence[Point[int]]) -> list[Point[int]]:
    """Returns the points; joins those with identical runs, which differ only in keys that the runs do not read."""
    (hashes,) = table.columns(["config_hash"])
    found: dict[tuple[str, ...], list[Point[int]]] = {}
    for point in points:
        found.setdefault(tuple(str(hashes[number]) for number in point.runs), []).append(point)
    return [same[0] if len(same) == 1 else joined(same, table) for same in found.values()]


def joined(points: Sequence[Point[int]], table: RunTable) -> Point[int]:
    """Returns the points of identical runs merged into one.

    A key in which they differ gets all their values, joined, or `ANY` if these are all values of the key.
    """
    settings = dict(points[0].settings)
    for key in settings:
        values = list(dict.fromkeys(value_text(point.settings[key]) for point in points))
        if len(values) > 1:
            settings[key] = ANY if len(values) == len(table.axes[key]) else listed(values, JOINED_MAX)
    return Point(settings, points[0].runs)


def refuse_unvaried(table: RunTable, where: Mapping[str, str], origin: str = "--where") -> None:
    """Refuses keys that are not varied, and values that a varied key never has.

    Raises:
        ConfigError: If such a key or value is given; the message lists the valid ones.
    """
    for key, value in where.items():
        if key not in table.axes:
            raise ConfigError(f"{origin}: {key} is not varied; varied are {listed(table.axes)}")
        values = [value_text(known) for known in table.axes[key]]
        if value not in values:
            raise ConfigError(f"{origin}: {key} is never {value}; its values are {listed(values)}")


LISTED_MAX = 12
"""Maximum number of values that an error lists."""
JOINED_MAX = 3
"""Maximum number of values of a key that a joined point lists."""


def listed(values: Iterable[str], most: int = LISTED_MAX) -> str:
    """Returns the first `most` values separated by commas, and the number of the others, as text."""
    each = list(values)
    more = f" and {len(each) - most:,} more" if len(each) > most else ""
    return (", ".join(each[:most]) or "none") + more
