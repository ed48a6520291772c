"""A comparison as a table: runs side by side while they fit, one below the other when they are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.measures import MEASURES, Measure, measure_named
from flashmesh.report.summary import PARTS, kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.normalised import Baseline
    from flashmesh.report.terminal import Terminal
    from flashmesh.results import Result

SIDE_BY_SIDE = 4
"""How many runs fit side by side."""
TRACE = "workload.trace"
LONG = 24
"""From how many characters on the path of a trace is shown by the name of its file."""
A_FEW = 12
"""From how many runs on only the measures that matter most are shown."""
KEY_MEASURES = ("IOPS", "bandwidth", "mean", "p99")
"""What is shown of many runs."""
ASKED_FOR = ("max slowdown",)
"""What is there only where it was asked for, and is shown then of many runs too."""
AVERAGED = ("execution time", "IOPS", "mean", "p99", "average power")
"""The measures whose ratios to a baseline are averaged."""
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
"""What is shown of a few runs that do not fit side by side."""


def show(
    comparison: Comparison, terminal: Terminal, measures: Sequence[str] = (), baseline: Baseline | None = None
) -> None:
    """Prints the comparison, or some measures of it; ratios are against a baseline, or else against the first run."""
    if not comparison.runs:
        show_failures(comparison, terminal)
        return
    if measures:
        show_measures(comparison, terminal, measures, baseline)
        return
    show_failures(comparison, terminal)
    names = labels(comparison, terminal)
    references = references_of(comparison, baseline)
    table = beside(comparison, names, references, terminal) if len(comparison.runs) <= SIDE_BY_SIDE else None
    tables = [table] if table is not None and terminal.fits(table) else below(comparison, names, references, terminal)
    for table in tables:
        terminal.print(table)
        terminal.print()
    if baseline is not None:
        by_name = {measure.name: measure for measure in MEASURES}
        terminal.print(averages(comparison, baseline, [by_name[name] for name in AVERAGED], terminal))
        terminal.print()
    headings = [", ".join(name) for name in names]
    sentences = [
        run.result.bound.sentence + (" (interrupted)" if run.result.interrupted else "") for run in comparison.runs
    ]
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


def show_measures(
    comparison: Comparison, terminal: Terminal, measures: Sequence[str], baseline: Baseline | None
) -> None:
    """Prints a table for each measure, below its name where there are several."""
    for number, name in enumerate(measures):
        if number:
            terminal.print()
        if len(measures) > 1:
            terminal.print(Text(name, style="bold"))
        terminal.print(grid(comparison, name, terminal, baseline))
        if baseline is not None:
            terminal.print()
            terminal.print(averages(comparison, baseline, [measure_named(name)], terminal))


def show_failures(comparison: Comparison, terminal: Terminal) -> None:
    """Prints what failed, and whether more is missing."""
    for failed in comparison.failures:
        settings = ", ".join(f"{key}={value_text(value)}" for key, value in failed.settings.items())
        terminal.print(Text(f"{settings} failed: {failed.error.splitlines()[0]}"))
    if comparison.failures:
        terminal.print()


def labels(comparison: Comparison, terminal: Terminal) -> list[list[str]]:
    """The values that set each run apart; of long paths of traces the name of the file, while that tells them apart."""
    columns = [
        shortened(key, [value_text(run.settings[key]) for run in comparison.runs], terminal) for key in comparison.axes
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def shortened(key: str, values: list[str], terminal: Terminal) -> list[str]:
    """The values of an axis as they are shown."""
    if key != TRACE:
        return values
    ellipsis = "\N{HORIZONTAL ELLIPSIS}" if terminal.blocks else "..."
    short = [
        f"{ellipsis}/{value.rsplit('/', 1)[-1]}" if len(value) > LONG and "/" in value else value for value in values
    ]
    return short if len(set(short)) == len(set(values)) else values


def references_of(comparison: Comparison, baseline: Baseline | None) -> list[Result | None]:
    """What the ratios of each run are against; None where it has no baseline."""
    from flashmesh.normalised import partners

    if baseline is None:
        return [comparison.runs[0].result] * len(comparison.runs)
    return [None if partner is None else partner.result for partner in partners(comparison, baseline)]


def against(measure: Measure, value: float | None, reference: Result | None) -> str:
    """How many times that of its reference a value is."""
    return q.ratio(value, None if reference is None else measure.value(reference))


def beside(
    comparison: Comparison, names: list[list[str]], references: Sequence[Result | None], terminal: Terminal
) -> Table:
    """A row for each measure, and for each run but the first a column with the ratio to its reference."""
    runs = comparison.runs
    headings = [cell for name in names for cell in (", ".join(name), "")]
    del headings[1:2]
    table = terminal.table(", ".join(comparison.axes), *headings)
    shown = {kind for run in runs for kind in kinds(run.result)}
    for measure in MEASURES:
        if not measure.listed or (measure.kind is not None and measure.kind not in shown):
            continue
        values = [measure.value(run.result) for run in runs]
        if not any(value is not None for value in values):
            continue
        if measure.name == f"  {PARTS['host']}":
            table.add_row("mean latency, of it", *[""] * len(headings))
        cells = [measure.text(values[0])]
        for value, reference in list(zip(values, references, strict=True))[1:]:
            cells += [measure.text(value), against(measure, value, reference) if measure.ratio else ""]
        table.add_row(measure.name, *cells)
    return table


def below(
    comparison: Comparison, names: list[list[str]], references: Sequence[Result | None], terminal: Terminal
) -> list[Table]:
    """A row for each run, with the measures that matter most: in one table, or as many as it takes to fit."""
    shown = MAIN_MEASURES if len(comparison.runs) <= A_FEW else (*KEY_MEASURES, *ASKED_FOR)
    by_name = {measure.name: measure for measure in MEASURES}
    runs = comparison.runs
    chosen = [by_name[name] for name in shown if any(by_name[name].value(run.result) is not None for run in runs)]
    tables: list[Table] = []
    while chosen:
        count = len(chosen)
        table = rows(comparison, names, chosen, references, terminal)
        while count > 1 and not terminal.fits(table):
            count -= 1
            table = rows(comparison, names, chosen[:count], references, terminal)
        tables.append(table)
        chosen = chosen[count:]
    return tables


def averages(comparison: Comparison, baseline: Baseline, measures: Sequence[Measure], terminal: Terminal) -> Table:
    """The means of the ratios to the baseline over everything else that is varied."""
    from flashmesh.normalised import means

    others = [key for key in comparison.axes if key not in baseline.settings]
    own = ", ".join(baseline.settings)
    headings = ("runs", "mean", "geometric mean", "min", "max", "largest in", *(("max at",) if others else ()))
    table = terminal.table(own, f"ratio to {baseline}", *headings, left=2)
    for measure in measures:
        # Of times a paper's speedup is the other way round, and its mean is not the inverse of the mean.
        kinds_of_ratio = ((measure.name, False), ("speedup", True))
        for name, inverse in kinds_of_ratio if measure.name == "execution time" else kinds_of_ratio[:1]:
            for value, found in means(comparison, baseline, measure.value, inverse).items():
                ratios = (found.arithmetic, found.geometric, found.smallest, found.largest)
                at = [", ".join(value_text(found.largest_at[key]) for key in others)] if others else []
                cells = (*(q.ratio(ratio, 1.0) for ratio in ratios), f"{found.largest_in} of {found.count}", *at)
                table.add_row(value, name.strip(), str(found.count), *cells)
    return table


def grid(comparison: Comparison, name: str, terminal: Terminal, baseline: Baseline | None = None) -> Table:
    """One measure of all runs, or its ratio to a baseline.

    A row for each value of the first axis, a column for each combination of the others.
    """
    measure = measure_named(name)
    first, *others = comparison.axes
    references = references_of(comparison, baseline)
    cells: dict[str, dict[str, str]] = {}
    for run, reference in zip(comparison.runs, references, strict=True):
        row = cells.setdefault(value_text(run.settings[first]), {})
        column = ", ".join(value_text(run.settings[key]) for key in others) or name
        found = measure.value(run.result)
        row[column] = measure.text(found) if baseline is None else against(measure, found, reference)
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    table = terminal.table(first, *columns)
    for value, row in cells.items():
        table.add_row(value, *(row.get(column, "") for column in columns))
    if terminal.fits(table):
        return table
    return rows(comparison, labels(comparison, terminal), [measure], references, terminal)


def rows(
    comparison: Comparison,
    names: list[list[str]],
    chosen: list[Measure],
    references: Sequence[Result | None],
    terminal: Terminal,
) -> Table:
    """A row for each run, with some measures."""
    headings = [cell for measure in chosen for cell in ((measure.name, "") if measure.ratio else (measure.name,))]
    table = terminal.table(*comparison.axes, *headings, left=len(comparison.axes))
    for name, run, reference in zip(names, comparison.runs, references, strict=True):
        cells: list[str] = []
        for measure in chosen:
            value = measure.value(run.result)
            cells.append(measure.text(value))
            if measure.ratio:
                cells.append(against(measure, value, reference))
        table.add_row(*name, *cells)
    return table
