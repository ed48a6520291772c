"""Charts described in one line: `p99 over replay.outstanding by fabric.kind`.

    MEASURE over KEY [and KEY] [by KEY, ...] [each KEY, ...] [where KEY=VALUE, ...]

`over` names the axis, or with `and` the two axes of a heat map; `by` draws a line or bar of its own colour for each
value, `each` a chart for each value; `where` selects runs. Runs that differ in their seeds only are averaged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from flashmesh._native import ConfigError
from flashmesh.aggregate.estimate import Estimate, estimate
from flashmesh.aggregate.points import SEED, grouped
from flashmesh.aggregate.steadiness import JUDGED_MAX, remedy_of, unsteady_note
from flashmesh.configuration import value_text
from flashmesh.keys import key_of
from flashmesh.report.measures.measure import Measure, measure_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.axes import Value

FORM = "MEASURE over KEY [and KEY] [by KEY, ...] [each KEY, ...] [where KEY=VALUE, ...]"
PANELS_MAX = 24
"""Maximum number of charts that one line may describe."""
WORDS = ("by", "each", "where")


@dataclass(frozen=True)
class ChartSpec:
    """Description of a chart, parsed from one line."""

    text: str
    measure: Measure
    over: tuple[str, ...]
    """Keys of the axes: one key, or two for a heat map."""
    by: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """File name of the chart, without suffix."""
        return re.sub(r"[^A-Za-z0-9]+", "-", self.text).strip("-").lower()


@dataclass(frozen=True)
class ChartAxis:
    """All values of a varied key, in the order of an axis."""

    key: str
    values: tuple[Value, ...]
    """Numbers and quantities in ascending order, other values in the order of the runs."""
    numbers: tuple[float, ...] | None
    """Values as numbers in the base unit (ps, B, B/s); None if they are not quantities."""
    unit: str
    """Unit of `numbers`: `ps`, `B`, `B/s`, `share`, or empty."""

    @property
    def is_logarithmic(self) -> bool:
        """Whether the values span a factor of 8 or more, as 1, 4, 16 do."""
        if self.numbers is None or len(self.numbers) < 3 or min(self.numbers) <= 0:
            return False
        return self.numbers[-1] / self.numbers[0] >= 8


@dataclass(frozen=True)
class ChartPoint:
    """A mark of a chart: the mean of the runs of one drive under one workload."""

    at: tuple[Value, ...]
    """Value of each key of `over`."""
    by: tuple[str, ...]
    each: tuple[str, ...]
    estimate: Estimate
    """Mean of the measure over the seeds, with its confidence interval."""
    is_steady: bool | None
    """Whether the measured windows of all runs of the mark were steady; None if no run has a verdict."""
    runs: tuple[int, ...]
    """Indices of the runs in the table."""


@dataclass(frozen=True)
class ChartData:
    """Data of a chart, selected from the runs of a table."""

    spec: ChartSpec
    """Description of the chart; varied keys that the line omits are added to `each`."""
    axes: tuple[ChartAxis, ...]
    """One axis for each key of `over`."""
    points: tuple[ChartPoint, ...]
    keys: tuple[str, ...]
    """All varied keys except the seed, in the order of the table."""
    notes: tuple[str, ...]
    """Notes below the chart: runs that are not drawn, and varied keys that the line omits."""

    @property
    def kind(self) -> Literal["lines", "bars", "heat map"]:
        """Kind of chart: a heat map for two axes, lines for an axis of numbers, otherwise bars."""
        if len(self.axes) == 2:
            return "heat map"
        return "bars" if self.axes[0].numbers is None else "lines"

    @property
    def is_repeated(self) -> bool:
        """Whether any point has a confidence interval."""
        return any(point.estimate.low is not None for point in self.points)

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Combinations of the values of `by`, in the order of the points: one line or bar for each."""
        return list(dict.fromkeys(point.by for point in self.points))

    @property
    def panels(self) -> list[tuple[str, ...]]:
        """Combinations of the values of `each`, in the order of the points: one panel for each."""
        return list(dict.fromkeys(point.each for point in self.points))


def read_chart(text: str, origin: str = "--chart") -> ChartSpec:
    """Reads the description of a chart.

    Args:
        text: The line.
        origin: The place that errors name.

    Raises:
        ConfigError: If the line describes no chart; the message shows the place.
    """
    from flashmesh.importers.problems import Source

    source = Source(origin, text)
    name, over, rest = (part.strip() for part in text.partition(" over "))
    if not over or not name or not rest:
        raise source.problem(1, "a chart is a measure over a key", f"write {FORM}")
    parts = re.split(rf"(?:^|\s+)({'|'.join(WORDS)})\s+", rest)
    given: dict[str, str] = {}
    for word, keys in zip(parts[1::2], parts[2::2], strict=True):
        if word in given:
            raise source.problem(1, f"`{word}` is given twice", f"write {FORM}", mark=f" {word} ")
        given[word] = keys
    try:
        measure = measure_named(name)
    except ConfigError as error:
        raise source.problem(1, str(error), "flashmesh measures lists them", mark=name) from None
    axes = tuple(map(key_of, re.split(r"\s+and\s+", parts[0].strip())))
    if len(axes) > 2:
        raise source.problem(1, "a chart has one axis, or two with `and`", f"write {FORM}", mark=parts[0])
    where: dict[str, str] = {}
    for setting in filter(None, given.get("where", "").split(",")):
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not key or not value:
            raise source.problem(1, f"{setting.strip()!r} is no setting", "write KEY=VALUE", mark=setting.strip())
        where[key_of(key)] = value
    by, each = (tuple(map(key_of, filter(str.strip, given.get(word, "").split(",")))) for word in ("by", "each"))
    named = [*axes, *by, *each, *where]
    twice = next((key for key in named if named.count(key) > 1), None)
    if twice is not None:
        raise source.problem(1, f"{twice} is named twice", "name each key once", mark=twice)
    return ChartSpec(text, measure, axes, by, each, where)


def select(spec: ChartSpec, table: RunTable) -> ChartData:
    """Returns the data that a chart draws.

    Varied keys that the chart does not name are added to `each`, so that different drives are never averaged.

    Raises:
        ConfigError: If a key is not varied, a value does not occur, or there would be too many charts.
    """
    for key in (*spec.over, *spec.by, *spec.each, *spec.where):
        refuse_unvaried(spec, table, key)
    for key, value in spec.where.items():
        there = [value_text(known) for known in table.axes[key]]
        if value not in there:
            raise ConfigError(f"{spec.text}: {key} is never {value}; its values are {', '.join(there)}")
    table.refuse_unknown_streams([spec.measure])
    (values,) = table.values([spec.measure])
    if any(isinstance(value, str | bool) for value in values):
        raise ConfigError(f"{spec.text}: {spec.measure.name.strip()} is no number: a chart needs one")
    notes: list[str] = []
    unnamed = [
        key
        for key, values in table.axes.items()
        if key not in (SEED, *spec.over, *spec.by, *spec.each, *spec.where) and len(values) > 1
    ]
    if unnamed:
        spec = replace(spec, each=(*spec.each, *unnamed))
        notes.append(f"A chart for each value of {', '.join(unnamed)}, which the line does not name.")
    numbers = [number for number, settings in enumerate(table.settings) if is_wanted(spec, settings)]
    named = (*spec.over, *spec.by, *spec.each)
    settings = [{key: table.settings[number][key] for key in named} for number in numbers]
    points: list[ChartPoint] = []
    empty = 0
    for point in grouped(settings, numbers):
        found = estimate([values[number] for number in point.runs])
        if found is None:
            empty += len(point.runs)
            continue
        by, each = (tuple(value_text(point.settings[key]) for key in keys) for keys in (spec.by, spec.each))
        at = tuple(point.settings[key] for key in spec.over)
        points.append(ChartPoint(at, by, each, found, table.whether_steady(point), point.runs))
    if empty:
        notes.append(f"{empty:,} of {len(numbers):,} runs have no {spec.measure.name.strip()}, and are not drawn.")
    unsteady = [point for point in points if point.is_steady is False]
    if unsteady:
        documents = table.documents([point.runs[0] for point in unsteady[:JUDGED_MAX]])
        notes.append(unsteady_note(len(unsteady), len(points), documents, remedy_of([table])))
    if not points:
        raise ConfigError(f"{spec.text}: no run has a {spec.measure.name.strip()}")
    axes = tuple(axis_of(key, [point.at[place] for point in points]) for place, key in enumerate(spec.over))
    keys = tuple(key for key in table.axes if key != SEED)
    data = ChartData(spec, axes, tuple(points), keys, tuple(notes))
    if len(data.panels) > PANELS_MAX:
        several = ", ".join(spec.each)
        raise ConfigError(
            f"{spec.text}: that would be {len(data.panels):,} charts, one for each value of {several}: "
            f"choose some with `where`, or tell them apart by colour with `by`"
        )
    return data


def refuse_unvaried(spec: ChartSpec, table: RunTable, key: str) -> None:
    """Refuses a key that the runs do not vary.

    Raises:
        ConfigError: If the key is not varied; the message suggests a similar varied key, or lists all varied keys.
    """
    from flashmesh.importers.problems import suggestion

    if key in table.axes:
        return
    last = [known for known in table.axes if known.rpartition(".")[2] == key.rpartition(".")[2]]
    near = last[0] if last else suggestion(key, table.axes)
    told = f"did you mean {near}?" if near else f"varied are {', '.join(table.axes) or 'none'}"
    raise ConfigError(f"{spec.text}: {key} is not varied: {told}")


def is_wanted(spec: ChartSpec, settings: Mapping[str, Value]) -> bool:
    """Returns whether a run with these settings meets the conditions (`where`) of a chart."""
    return all(value_text(settings[key]) == value for key, value in spec.where.items())


def axis_of(key: str, values: Sequence[Value]) -> ChartAxis:
    """Returns the axis of a key with these values."""
    each = list(dict.fromkeys(values))
    measured = [magnitude(value) for value in each]
    units = {unit for _, unit in filter(None, measured)}
    if None in measured or len(units) > 1:
        return ChartAxis(key, tuple(each), None, "")
    ranked = sorted(
        zip((found[0] for found in measured if found is not None), each, strict=True), key=lambda pair: pair[0]
    )
    return ChartAxis(key, tuple(value for _, value in ranked), tuple(number for number, _ in ranked), units.pop())


def magnitude(value: Value) -> tuple[float, str] | None:
    """Returns (value in its base unit, unit) of a quantity; None for any other value."""
    from flashmesh.sweeps.inputs.ranges import BASE_UNITS, quantity

    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    try:
        found = quantity("", value)
    except ConfigError:
        return None
    return float(found.value), BASE_UNITS[found.kind]
