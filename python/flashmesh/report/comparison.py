"""Comparison as a table: points side by side if they fit, else one below the other.

A point (combination of the varied keys) has the mean over its seeds with the 95 % confidence interval; if it has one
seed, the interval is from the batch means of its run.
"""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flashmesh.aggregate.estimate import estimate
from flashmesh.aggregate.points import SEED
from flashmesh.aggregate.steadiness import JUDGED_MAX, remedy_of, unsteady_note
from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.measures.measure import MEASURES, Measure, measure_named
from flashmesh.report.measures.streams import MOST_SLOWED
from flashmesh.report.notes import scarce
from flashmesh.report.notes.capacity import capacity_notes
from flashmesh.report.notes.throttle import throttle_notes
from flashmesh.report.streams import slowdowns
from flashmesh.report.summary import KINDS, PARTS
from flashmesh.report.tables.cells import INTERVAL, UNSTEADY, against, has_interval, number_of
from flashmesh.report.tables.grid import GRID_MAX, columns_title, grid
from flashmesh.report.tables.marks import legends
from flashmesh.report.tables.stream_groups import hidden_streams, stream_groups
from flashmesh.report.tables.view import A_FEW, Choice, View, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.normalised import Baseline
    from flashmesh.report.terminal import Terminal

SIDE_BY_SIDE = 4
"""Maximum number of points (combinations of varied keys) that a table shows as columns side by side."""
TRACE = "workload.trace"
LONG = 24
"""Maximum number of characters of a trace path that is shown whole; longer paths are shortened to the file name."""
UNFINISHED_NAMED = 8
"""Maximum number of unfinished runs that a sentence on an interrupted comparison names."""
MEAN = "mean, 95 %"
"""Label of the row of means below a row for each seed."""
KEY_MEASURES = ("IOPS", "bandwidth", "mean", "p99")
"""Measures in a table of more than `A_FEW` points."""
SWEEP_MEASURES = KEY_MEASURES
"""Measures in the table that a sweep prints at its end."""
MOST = "max slowdown"
"""Measure of the largest slowdown. Tables name its stream in the row below."""
ASKED_FOR = (MOST,)
"""Measures that only some configurations produce; a table has their columns if a run has a value."""
AVERAGED = ("execution time", "IOPS", "mean", "p99", "average power")
"""Measures whose ratios to a baseline are averaged."""
MAIN_MEASURES = (
    "execution time",
    "IOPS",
    "bandwidth",
    "mean",
    "p99",
    "p99.9",
    "flush mean",
    "max slowdown",
    "unfairness",
    "map hit share",
    "read cache hit share",
    "write cache hit share",
    "free of path conflicts",
    "distance to the bound",
    "average power",
    "energy of events",
    "nominal energy",
    "links",
    "wires",
    "link area saved",
    "area added in chips",
    "area beside chips",
)
"""Measures in a table of at most `A_FEW` points that do not fit side by side."""


def show(
    table: RunTable,
    terminal: Terminal,
    measures: Sequence[str] = (),
    baseline: Baseline | None = None,
    choice: Choice | None = None,
    warning: str = "",
) -> None:
    """Prints a comparison, or some of its measures; ratios are relative to a baseline, by default the first point.

    Prints `warning`, if any, above it.
    """
    if warning:
        terminal.print(Text(warning, style="bold yellow"))
        terminal.print()
    if not len(table):
        show_failures(table, terminal)
        return
    named = list(map(measure_named, measures))
    sort = choice.sort if choice is not None else None
    table.refuse_unmeasured(named if sort is None else [*named, sort])
    view = View(table, choice, baseline)
    is_whole = False
    if measures:
        is_whole = show_measures(view, terminal, measures)
    else:
        show_failures(table, terminal)
        show_all(view, terminal)
        show_answer(view, terminal)
    show_notes(view, terminal, is_whole, has_groups=not measures)


def show_sweep(table: RunTable, terminal: Terminal) -> None:
    """Prints the main measures of a sweep without ratios, then its findings and notes."""
    view = View(table)
    for number, part in enumerate(fitting(view, list(map(measure_named, SWEEP_MEASURES)), terminal, ratios=False)):
        if number:
            terminal.print()
        terminal.print(part)
    for part in of_streams(view, terminal, ratios=False):
        terminal.print()
        terminal.print(part)
    show_answer(view, terminal)
    show_notes(view, terminal)


def show_answer(view: View, terminal: Terminal) -> None:
    """Prints the findings of a comparison as sentences, if all its points are shown and they are at most `GRID_MAX`."""
    from flashmesh.report.findings.sentences import findings

    points = len(view.table.points)
    if len(view.points) < points or points > GRID_MAX:
        return
    found = findings(view.table, has_notes=False)
    if found:
        first, *others = found
        terminal.print()
        terminal.print(Text(first, style="bold"), *map(Text, others))


def show_all(view: View, terminal: Terminal) -> None:
    """Prints the main measures and the bottleneck of each shown point; also mean ratios to a baseline, if any."""
    table = beside(view, terminal) if len(view.points) <= SIDE_BY_SIDE else None
    if table is not None and terminal.fits(table):
        tables = [table]
    else:
        tables = [*below(view, terminal), *of_streams(view, terminal)]
    for part in tables:
        terminal.print(part)
        terminal.print()
    if view.baseline is not None:
        terminal.print(averages(view, view.baseline, [measure_named(name) for name in AVERAGED], terminal))
        terminal.print()
    headings = [", ".join(name) for name in labels(view, terminal)]
    sentences = view.sentences()
    if max(map(len, headings), default=0) > terminal.width // 2:
        for heading, sentence in zip(headings, sentences, strict=True):
            terminal.print(Text(heading, style="bold", overflow="fold"), Padding(sentence, (0, 0, 0, 2)))
        return
    bounds = Table.grid(padding=(0, 2))
    bounds.add_column(no_wrap=True)
    bounds.add_column()
    for heading, sentence in zip(headings, sentences, strict=True):
        bounds.add_row(Text(heading, style="bold"), sentence)
    terminal.print(bounds)


def show_measures(view: View, terminal: Terminal, measures: Sequence[str]) -> bool:
    """Prints a table for each measure, with headings if there are several. Returns whether all tables are grids.

    A grid has all chosen points, any other table only the first ones (`Choice.rows`).
    """
    is_whole = True
    for number, name in enumerate(measures):
        if number:
            terminal.print()
        table = grid(view, name, terminal)
        columns = columns_title(view) if table is not None else ""
        if len(measures) > 1 or columns:
            terminal.print(Text(f"{name}{columns}", style="bold"))
        is_whole = is_whole and table is not None
        terminal.print(table if table is not None else rows(view, [measure_named(name)], terminal))
        if view.baseline is not None:
            terminal.print()
            terminal.print(averages(view, view.baseline, [measure_named(name)], terminal))
    return is_whole


def show_notes(view: View, terminal: Terminal, is_whole: bool = False, *, has_groups: bool = True) -> None:
    """Prints notes: host capacities, throttles, points that are not steady, meaning of marks, points left out.

    If the tables have groups of streams, also the number of streams left out.
    """
    notes = [*capacity_notes(view), *throttle_notes(view)]
    unsteady = [point for point, steady in zip(view.points, view.steady, strict=True) if steady is False]
    if unsteady:
        documents = view.table.documents([point.runs[0] for point in unsteady[:JUDGED_MAX]])
        mark = f"{UNSTEADY.strip()}: " if view.has_unsteady_marks else ""
        notes.append(f"{mark}{unsteady_note(len(unsteady), len(view.points), documents, remedy_of([view.table]))}")
    notes += legends(view.marks)
    if view.hides_intervals:
        notes.append("95 % intervals do not fit: flashmesh show FILE --where KEY=VALUE prints them for fewer points.")
    if view.streams and len(view.points) <= A_FEW:
        documents = view.table.documents([point.runs[0] for point in view.points])
        notes += filter(None, [scarce.first_note(documents), slowdowns.first_note(documents)])
    if has_groups and (hidden := hidden_streams(view)):
        streams = "stream is" if hidden == 1 else "streams are"
        notes.append(f"{hidden:,} more {streams} not shown: --measure streams.NAME.p99 prints a measure of any stream.")
    left_out = len(view.chosen) - len(view.points)
    if left_out and not is_whole:
        points = "point is" if left_out == 1 else "points are"
        notes.append(f"{left_out:,} more {points} not shown: flashmesh show takes --rows, --where and --sort.")
    if notes:
        terminal.print()
        terminal.print(*notes)


def interruption(table: RunTable) -> str:
    """Returns sentences on an interrupted comparison: how many planned runs are missing, and which are unfinished."""
    assert table.planned is not None
    missing = table.planned - len(table) - len(table.failures)
    runs = "run" if table.planned == 1 else "runs"
    told = [f"{missing:,} of {table.planned:,} {runs} {'is' if missing == 1 else 'are'} missing"] if missing else []
    if not table.unfinished:
        return f"Interrupted: {''.join(told) or 'no run is missing'}."
    named = [
        ", ".join(f"{key}={value_text(value)}" for key, value in table.settings[number].items())
        for number in table.unfinished[:UNFINISHED_NAMED]
    ]
    more = len(table.unfinished) - len(named)
    listed = "; ".join([*named, *([f"{more:,} more"] if more else [])])
    what = "tries of --until-steady" if table.until_steady else "runs"
    told.append(f"these are unfinished {what}, not results: {listed}")
    return f"Interrupted: {', and '.join(told)}."


def show_failures(table: RunTable, terminal: Terminal) -> None:
    """Prints the failed runs."""
    for failed in table.failures:
        settings = ", ".join(f"{key}={value_text(value)}" for key, value in failed.settings.items())
        terminal.print(Text(f"{settings} failed: {failed.error.splitlines()[0]}"))
    if table.failures:
        terminal.print()


def labels(view: View, terminal: Terminal) -> list[list[str]]:
    """Returns the values of the varied keys of each shown point, as texts.

    Long trace paths become file names if these are unique.
    """
    columns = [
        shortened(key, [value_text(point.settings[key]) for point in view.points], terminal) for key in view.keys
    ]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in view.points]


def shortened(key: str, values: list[str], terminal: Terminal) -> list[str]:
    """Returns the values of a varied key as texts; long trace paths become file names if these are unique."""
    if key != TRACE:
        return values
    ellipsis = "\N{HORIZONTAL ELLIPSIS}" if terminal.blocks else "..."
    short = [
        f"{ellipsis}/{value.rsplit('/', 1)[-1]}" if len(value) > LONG and "/" in value else value for value in values
    ]
    return short if len(set(short)) == len(set(values)) else values


def beside(view: View, terminal: Terminal) -> Table:
    """Returns a table with a row for each measure, and columns for each point with the ratio to its reference."""
    names = labels(view, terminal)
    interval = [INTERVAL] if view.has_intervals else []
    headings = [cell for name in names for cell in (", ".join(name), *interval, "")]
    del headings[1 + len(interval) : 2 + len(interval)]
    table = terminal.table(", ".join(view.keys), *headings)
    groups = stream_groups(view)
    view.read(MEASURES)
    shown = shown_kinds(view)
    for measure in MEASURES:
        if not measure.listed or (measure.kind is not None and measure.kind not in shown):
            continue
        if not view.has(measure):
            continue
        if measure.name == f"  {PARTS['host']}":
            table.add_row("mean latency, of it", *[""] * len(headings))
        table.add_row(measure.name, *cells_beside(view, measure))
        if measure.name == MOST:
            table.add_row(MOST_SLOWED.name, *cells_beside(view, MOST_SLOWED))
    for stream, measures in groups.items():
        table.add_row(f"stream {stream}", *[""] * len(headings))
        for measure in measures:
            table.add_row(f"  {measure.heading}", *cells_beside(view, measure))
    if any(steady is False for steady in view.steady):
        cells = []
        for place, steady in enumerate(view.steady):
            cells += [steady_text(steady), *[""] * (len(interval) + bool(place))]
        table.add_row("steady", *cells)
    return table


def cells_beside(view: View, measure: Measure) -> list[str]:
    """Returns the cells of a measure in a table of points side by side: means, intervals and ratios."""
    cells: list[str] = []
    for place, (point, reference) in enumerate(zip(view.points, view.references, strict=True)):
        mean, spread = number_of(view, measure, point)
        cells += [mean, spread] if view.has_intervals else [mean]
        if place:
            cells.append(against(view, measure, point, reference) if measure.ratio else "")
    return cells


def of_streams(view: View, terminal: Terminal, *, ratios: bool = True) -> list[Table]:
    """Returns a table for each stream with a row for each point, if there are at most `A_FEW` points."""
    tables: list[Table] = []
    for stream, measures in stream_groups(view).items():
        parts_of_stream = fitting(view, measures, terminal, ratios)
        for part in parts_of_stream:
            part.title, part.title_justify = Text(f"stream {stream}", style="bold"), "left"
        tables += parts_of_stream
    return tables


def steady_text(steady: bool | None) -> str:
    """Returns whether the measured window of a point is steady, as text: yes, NO, or a dash if unknown."""
    return q.NONE if steady is None else "yes" if steady else "NO"


def shown_kinds(view: View) -> set[str]:
    """Returns the kinds of requests whose latencies are shown.

    Includes `all` unless all points have one kind each.
    """
    found: set[str] = set()
    counts = {kind: measure_named(f"latency_ps.{kind}.count") for kind in ("all", *KINDS)}
    for point in view.points:
        there = [kind for kind in KINDS if view.mean(counts[kind], point)]
        together = len(there) != 1
        found |= {"all", *there} if together else set(there)
    return found


def below(view: View, terminal: Terminal) -> list[Table]:
    """Returns a row for each point with the main measures, in as many tables as the terminal width needs."""
    shown = MAIN_MEASURES if len(view.points) <= A_FEW else (*KEY_MEASURES, *ASKED_FOR)
    wanted = [measure_named(name) for name in shown]
    view.read(wanted)
    chosen = [measure for measure in wanted if view.has(measure)]
    return fitting(view, chosen, terminal)


def fitting(view: View, chosen: list[Measure], terminal: Terminal, ratios: bool = True) -> list[Table]:
    """Returns tables with a row for each point; each table has as many measures as the terminal width allows.

    If a point is not steady, each table has a column that says which points are steady. If this column does not fit
    next to a measure, it is in an additional table.
    """
    is_marked = any(steady is False for steady in view.steady)
    if is_marked and not all(terminal.fits(rows(view, [measure], terminal, ratios)) for measure in chosen):
        unmarked = parts(view, chosen, terminal, ratios, is_marked=False)
        return [*unmarked, rows(view, [], terminal, ratios)]
    return parts(view, chosen, terminal, ratios, is_marked=is_marked)


def parts(view: View, chosen: list[Measure], terminal: Terminal, ratios: bool, *, is_marked: bool) -> list[Table]:
    """Returns tables of as many measures as the terminal width allows; `is_marked` adds a column on steadiness."""
    tables: list[Table] = []
    while chosen:
        # Width grows with the number of measures, so bisection finds the largest number that fits.
        counts = range(2, len(chosen) + 1)
        count = 1 + bisect(
            counts,
            False,
            key=lambda count: not terminal.fits(rows(view, chosen[:count], terminal, ratios, is_marked=is_marked)),
        )
        tables.append(rows(view, chosen[:count], terminal, ratios, is_marked=is_marked))
        chosen = chosen[count:]
    return tables


def averages(view: View, baseline: Baseline, measures: Sequence[Measure], terminal: Terminal) -> Table:
    """Returns a table of the means of the ratios to the baseline, over all other varied keys."""
    from flashmesh.comparing.normalised import means

    others = [key for key in view.table.axes if key not in baseline.settings]
    own = ", ".join(baseline.settings)
    headings = ("runs", "mean", "geometric mean", "min", "max", "largest in", *(("max at",) if others else ()))
    table = terminal.table(own, f"ratio to {baseline}", *headings, left=2)
    pairs = list(zip(view.points, view.references, strict=True))
    for measure in measures:
        if measure.is_of_length and not all(view.are_equally_long(*pair) for pair in pairs):
            continue
        # Papers state speedup, the inverse ratio of times; mean speedup is not the inverse of the mean ratio.
        kinds_of_ratio = ((measure.name, False), ("speedup", True))
        for name, inverse in kinds_of_ratio if measure.name == "execution time" else kinds_of_ratio[:1]:
            for value, found in means(view.table.settings, view.values(measure), baseline, inverse).items():
                ratios = (found.arithmetic, found.geometric, found.smallest, found.largest)
                at = [", ".join(value_text(found.largest_at[key]) for key in others)] if others else []
                cells = (*(q.ratio(ratio, 1.0) for ratio in ratios), f"{found.largest_in} of {found.count}", *at)
                table.add_row(value, name.strip(), str(found.count), *cells)
    return table


def rows(
    view: View, chosen: Sequence[Measure], terminal: Terminal, ratios: bool = True, *, is_marked: bool | None = None
) -> Table:
    """Returns a row for each point with some measures; if only the seed is varied, a last row with the mean.

    Args:
        view: The points.
        chosen: The measures.
        terminal: The terminal.
        ratios: Whether measures have ratios.
        is_marked: Whether a column says which points are steady; by default if one is not.
    """
    is_marked = any(steady is False for steady in view.steady) if is_marked is None else is_marked
    headings = ["runs"] if view.is_repeated else []
    for measure in chosen:
        interval = [INTERVAL] if has_interval(view, measure) else []
        headings += [measure.heading or measure.name, *interval, *([""] if measure.ratio and ratios else [])]
    headings += ["steady"] if is_marked else []
    table = terminal.table(*view.keys, *headings, left=len(view.keys))
    shown = zip(labels(view, terminal), view.points, view.references, view.steady, strict=True)
    for name, point, reference, steady in shown:
        cells = [str(len(point.runs))] if view.is_repeated else []
        for measure in chosen:
            mean, spread = number_of(view, measure, point)
            cells += [mean, spread] if has_interval(view, measure) else [mean]
            if measure.ratio and ratios:
                cells.append(against(view, measure, point, reference))
        table.add_row(*name, *cells, *([steady_text(steady)] if is_marked else []))
    if view.keys == [SEED] and len(view.points) > 1:
        cells = []
        for measure in chosen:
            values = view.values(measure)
            found = estimate(numbers([value for value in values if value is not None]))
            cells.append(measure.text(None) if found is None else measure.text(found.mean))
            spread = "" if found is None else found.spread_text
            has_own = has_interval(view, measure)
            cells += [spread] if has_own else []
            if measure.ratio and ratios:
                cells.append("" if has_own else spread)
        table.add_row(MEAN, *cells, *([""] if is_marked else []))
    return table
