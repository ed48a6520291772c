"""Report of a calibration for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.calibration.outcome import mean
from flashmesh.calibration.residuals import SERVED
from flashmesh.report import quantities as q
from flashmesh.report.validation import number, percent
from flashmesh.texts.printable import encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.table import Table

    from flashmesh.calibration.advice import Advice
    from flashmesh.calibration.outcome import Calibration, Fitted
    from flashmesh.calibration.searching.determined import KeyEstimate
    from flashmesh.report.terminal import Terminal


def show(found: Calibration, terminal: Terminal, next_step: str | None = None) -> None:
    """Prints tables of the calibrated keys, of the rows of a data sheet, and of other loads, then lines on the fit.

    The lines name undetermined keys, measurements that would determine them, and whatever the budget cut short.

    Args:
        found: The calibration.
        terminal: The terminal.
        next_step: The command that compares the written drive with the measurements; None if there is none.
    """
    table = terminal.table("key", "value", "from", "to", "determined", left=1)
    for key in found.keys:
        told = "yes" if key.is_determined else "no"
        table.add_row(key.key, key.value, key.low or q.NONE, key.high or q.NONE, told)
    terminal.print(table)
    if any(point.target.rows for point in found.points):
        terminal.print("", rows_table(found.points, terminal))
    if not all(point.target.rows for point in found.points):
        points = terminal.table("load", "fit error", "prediction error", left=1)
        for point in found.points:
            if not point.target.rows:
                points.add_row(point.target.name, q.share(point.fitted_error), q.share(point.predicted_error))
        terminal.print("", points)
    terminal.print("")
    drives = "1 drive" if found.tried == 1 else f"{found.tried} drives"
    lines = [f"{drives} tried; an error is the mean over the figures of a load"]
    lines += prediction_lines(found.points)
    if found.problem.critical:
        loads = ", ".join(found.problem.critical)
        lines.append(f"not fitted, because they just saturate the measured drive: {loads}")
    lines += undetermined_lines(found.undetermined, found.problem.unexercised, found.start, found.origin)
    lines += [advice_line(each) for each in found.advice]
    if found.best.unsettled:
        length = found.problem.length
        lines.append(
            f"mean latency not steady, or not known to within {length.precision}, after "
            f"{length.extent.requests:,} requests: {', '.join(found.best.unsettled)}; allow more with --requests"
        )
    if found.software_us:
        lines.append(
            f"host software: {found.software_us:g} us in each latency, which the written drive does not include: "
            f"give flashmesh validate --software-time {found.software_us:g}us"
        )
    lines += cut_lines(found.cut)
    terminal.print(Text("\n".join(lines)))
    if next_step is not None:
        # A command that is broken into lines could not be copied.
        terminal.stream.write(encodable(f"\nnext: {next_step}\n", terminal.stream))


def cut_lines(cut: Sequence[str]) -> list[str]:
    """Returns a line on the time limit, and one for each stage that ran out of time; nothing without such a stage."""
    heading = ["the time limit cut the calibration short: allow more with --budget"]
    return [*heading, *(f"- {each}" for each in cut)] if cut else []


def rows_table(points: Sequence[Fitted], terminal: Terminal) -> Table:
    """Returns a table of the rows of the data sheet, with the figures of the fitted drive and their differences."""
    found = terminal.table("what", "value", "fitted", "difference", "prediction error", left=1)
    for point in points:
        for row in point.target.rows:
            fitted = None if point.fitted is None else row.value_of(point.fitted)
            told = percent(None if fitted is None else fitted / row.value - 1.0)
            named = f"{row.what}, {row.unit}"
            found.add_row(named, number(row.value), number(fitted), told, q.share(point.predicted_error))
    return found


def undetermined_lines(
    keys: Sequence[KeyEstimate], unexercised: Mapping[str, str], start: Mapping[str, str], origin: str
) -> list[str]:
    """Returns lines on the keys that the measurements do not determine, why, and which have their initial values.

    Args:
        keys: The keys.
        unexercised: Those that no load exercises, each with a sentence that says why.
        start: The initial values.
        origin: The name of the initial values.
    """
    lines = [
        f"{why}: {', '.join(named)} {'keeps' if len(named) == 1 else 'keep'} {origin}"
        for why, named in grouped(unexercised.items())
    ]
    searched = [key for key in keys if key.key not in unexercised]
    for reason, named in grouped((key.key, key.reason) for key in searched):
        verb = "is" if len(named) == 1 else "are"
        lines.append(f"{', '.join(named)} {verb} not determined by these measurements: {reason}")
    kept = [key.key for key in searched if key.value == start[key.key]]
    if kept:
        lines.append(f"of the keys that are not determined, these keep {origin}: {', '.join(kept)}")
    return lines


def grouped(items: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Returns (text, names) for each distinct text of (name, text) pairs, in the order of their first occurrence."""
    found: dict[str, list[str]] = {}
    for first, second in items:
        found.setdefault(second, []).append(first)
    return [*found.items()]


def prediction_lines(points: Sequence[Fitted]) -> list[str]:
    """Returns lines on the prediction errors: their mean, and the loads whose refit found no better drive."""
    if len(points) < 2:
        return ["no prediction error: a single load leaves no other loads to fit"]
    known = [point for point in points if point.predicted_error is not None]
    if not known:
        return ["no prediction errors: no load was predicted by a fit to the other loads"]
    each = "each load is" if len(known) == len(points) else f"{len(known)} of {len(points)} loads,"
    errors = q.share(mean([point.predicted_error for point in known]))
    lines = [f"mean prediction error {errors}: {each} predicted by a fit to the other loads"]
    own = [point.target.name for point in known if not point.is_refitted]
    if own:
        named = ", ".join(own) if len(own) < len(points) else "all loads"
        lines.append(f"the fit to the other loads found no better drive than the fitted one: {named}")
    return lines


def advice_line(advice: Advice) -> str:
    """Returns a line that names an undetermined key, and the load whose measurement would determine it."""
    if advice.load is None:
        return f"{advice.key}: none of the usual loads would determine it"
    figure = "request rate" if advice.figure == SERVED else advice.figure.removesuffix("_us").replace("_", " ")
    change = f"{100 * advice.change:+.0f} %"
    low, high = advice.values
    return f"{advice.key}: measure {advice.load}; its {figure} changes by {change} from {low} to {high}"
