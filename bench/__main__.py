"""`python -m bench`: measures every row, and compares with another build or with the previous run."""

from __future__ import annotations

import json
import statistics
import sys
import textwrap
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from bench import bounds, build, clean_build, measure, table
from bench.documents import differences, hash_of, result_of
from bench.rows import BOUNDS, LONG_ROWS, ROWS, Row
from bench.table import Line, Measured

FILE = build.ROOT / "out" / "bench" / "table.json"
SHOWN = 8
"""Number of differing fields that the output names."""
TROUBLE_LENGTH = 160
"""Maximum number of characters that the output shows of the error of a build."""


def measured(row: Row, builds: list[build.Build], runs: int, count: bool) -> list[tuple[Measured, dict[str, Any]]]:
    """Runs a row with all builds alternately. Returns (measurement, simulated result) for each build."""
    usages: list[list[measure.Usage]] = [[] for _ in builds]
    for _ in range(runs):
        for made, usage in zip(builds, usages, strict=True):
            environment = {"PYTHONPATH": str(made.python)}
            usage.append(measure.run(row.command(made, row.requests), environment))
    found = []
    for made, usage in zip(builds, usages, strict=True):
        reports = [{} if row.is_command else json.loads(run.stdout) for run in usage]
        results = [result_of(report) for report in reports]
        if any(result != results[0] for result in results):
            raise RuntimeError(f"{row.name}: runs of {made.name} with one seed differ")
        cpu = [run.cpu_s for run in usage]
        instructions = None
        if count and row.counted and measure.CAN_COUNT:
            short, long = (measure.instructions(row.command(made, times * row.counted)) for times in (1, 3))
            instructions = (long - short) / (2 * row.counted)
        numbers = Measured(
            cpu_s=statistics.median(cpu),
            cpu_spread=max(cpu) / min(cpu) - 1,
            peak_bytes=max((report["peak_rss_bytes"] for report in reports if report), default=None),
            requests=row.requests,
            instructions=instructions,
            hops_mean=results[0].get("links", {}).get("hops_mean"),
            result="" if row.is_command else hash_of(results[0]),
        )
        found.append((numbers, results[0]))
    return found


def trouble(made: build.Build, row: Row) -> str | None:
    """Returns the reason why a build cannot run a row, such as an unknown key; None if it can run the row."""
    try:
        measure.run(row.command(made, row.streams), {"PYTHONPATH": str(made.python)})
    except RuntimeError as error:
        return textwrap.shorten(str(error).partition("\n")[2], TROUBLE_LENGTH)
    return None


@click.command()
@click.option("--baseline", metavar="REVISION", help="Build this revision too, and run both in turns.")
@click.option("--only", multiple=True, metavar="TEXT", help="Measure the rows whose names hold the text.")
@click.option("--accept", multiple=True, metavar="TEXT", help="Let results of these rows differ; '' is all of them.")
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Runs of each build and row.")
@click.option("--count/--no-count", default=True, help="Count instructions, where valgrind is present.")
@click.option("--long", is_flag=True, help="Measure rows that take minutes as well.")
@click.option("--quick", is_flag=True, help="Build as `make build` does: sooner, and somewhat slower.")
@click.option("--file", default=FILE, type=click.Path(path_type=Path), help="The table to compare with and write.")
def main(
    baseline: str | None,
    only: tuple[str, ...],
    accept: tuple[str, ...],
    runs: int,
    count: bool,
    long: bool,
    quick: bool,
    file: Path,
) -> None:
    """Measure CPU time and instructions a request; fail where results changed."""
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    profile = "quick" if quick else "release"
    builds = [build.tree(profile), *([build.revision(baseline, profile)] if baseline else [])]
    earlier = {} if baseline else table.load(file)
    chosen = [row for row in ROWS + LONG_ROWS * long if not only or any(text in row.name for text in only)]
    builds_chosen = [*clean_build.PROFILES, *(clean_build.LONG_PROFILES if long else ())]
    builds_chosen = [name for name in builds_chosen if not only or any(text in name for text in only)]
    lines, failures, notes = [], [], []
    for row in track(chosen, "measuring", console=Console(stderr=True), transient=True):
        troubles = {made.name: why for made in builds[1:] if (why := trouble(made, row)) is not None}
        notes += [f"{row.name}: {name} cannot run it: {why}" for name, why in troubles.items()]
        able = [made for made in builds[1:] if made.name not in troubles]
        (now, result), *others = measured(row, [builds[0], *able], runs, count)
        before = others[0][0] if others else earlier.get(row.name)
        differ = differences(result, others[0][1]) if others else []
        if before is None:
            verdict = "the baseline cannot run it" if baseline else ""
        elif before.result == now.result:
            verdict = "same" if now.result else ""
        elif others and not differ:
            verdict = "same, other fields"
        elif any(text in row.name for text in accept):
            verdict = "DIFFERS, accepted"
        else:
            verdict = "DIFFERS"
            failures.append(f"{row.name}: another result than {before.result}, a different simulation")
            failures += [f"  {text}" for text in differ[:SHOWN]]
        lines.append(Line(row.name, now, before, verdict))
    table.show(lines, builds[1].name if baseline else "before", console)
    rows = {line.name: line.now for line in lines}
    for bound in BOUNDS:
        quotient = bounds.quotient(bound, bounds.in_turns(bound, rows, builds[0], runs))
        if quotient is not None:
            met = "ok" if quotient <= bound.most else "MISS"
            console.print(f"{bound.name:<34} {quotient:6.2f} at most {bound.most:g} {met}")
    clean_build.show(builds_chosen, file.with_name("builds.json"), console)
    for note in notes:
        console.print(note)
    if not measure.CAN_COUNT:
        console.print("instructions are not counted: valgrind is not installed")
    if failures:
        # Do not update the table, so that the next run is compared with the same results.
        sys.exit("\n".join(failures))
    table.save(file, builds[0].name, rows)


main()
