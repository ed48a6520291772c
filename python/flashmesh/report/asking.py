"""Answer of `flashmesh ask` as text: the changes that would help a drive most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.asking.answer import percent
from flashmesh.asking.causes import ALL, subject_of
from flashmesh.configuring.spare_space import reason
from flashmesh.report import quantities as q
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.notes.throttle import INTERVAL, OFF

if TYPE_CHECKING:
    from rich.table import Table

    from flashmesh.aggregate.estimate import Estimate
    from flashmesh.asking.answer import Answer, Row
    from flashmesh.report.terminal import Terminal

UNMOVED = "mean latency unchanged"
LESS_LOAD = "Less load, not a faster drive: fewer requests complete, and fewer are in flight"


def show(answer: Answer, terminal: Terminal) -> None:
    """Prints measures of the unchanged drive, the best changes of keys, all changes with an effect, and notes."""
    values = [f"{measure_named(name).text(found.mean)} {name}" for name, found in answer.base.items()]
    terminal.print(Text(f"As it is: {', '.join(values)}; {answer.bound}"), "")
    best = answer.best
    heading = f"The {len(best)} changes that help most" if len(best) > 1 else "The change that helps most"
    warning = f", but {answer.warning}" if answer.warning else ""
    told = f"{heading}{warning}:" if best else f"No change that was tried helps{warning}."
    terminal.print(Text(told, style="bold"))
    for row in best:
        cause = f": {row.cause.text}" if row.cause is not None else ""
        terminal.print(Text(f"  {answer.sentence(row)} (now {row.change.before}){cause}"))
    less_load = answer.less_load
    shown = [row for row in answer.rows if row.has_effect and row not in less_load]
    if shown:
        terminal.print("", table(answer, shown, terminal))
    if less_load:
        terminal.print("", Text(LESS_LOAD, style="bold"), table(answer, less_load, terminal))
    notes = list(remarks(answer))
    if notes:
        terminal.print("", *map(Text, notes))


def table(answer: Answer, rows: list[Row], terminal: Terminal) -> Table:
    """Returns a table with two lines for each row: the effects of the change, and the latency part that it moves.

    The second line is left out if the latency parts of the requests that the measures describe may be unknown.
    """
    are_all = subject_of(map(measure_named, answer.measures)) == ALL
    headings = [cell for name in answer.measures for cell in (name, "95 %")]
    found = terminal.table("change", "now", "seeds", *headings, left=2)
    for row in rows:
        cells: list[str] = []
        for name in answer.measures:
            effect = row.effects.get(name)
            cells += [q.NONE, ""] if effect is None else [effect.text, span(effect.ratio)]
        found.add_row(row.change.label, row.change.before, str(row.seeds), *cells)
        if are_all or row.cause is not None:
            found.add_row(f"  {UNMOVED if row.cause is None else row.cause.text}", style="dim")
    return found


def span(ratio: Estimate) -> str:
    """Returns the 95 % confidence interval of an effect as text; empty without one, or if its ends are equal."""
    if ratio.low is None or ratio.high is None or ratio.low == ratio.high:
        return ""
    return f"{percent(ratio.low - 1)} to {percent(ratio.high - 1)}"


def remarks(answer: Answer) -> list[str]:
    """Returns notes on side effects, and on keys and changes without effect, impossible, or not tried in time."""
    found = list(answer.notes)
    if INTERVAL in answer.bound:
        found.append(
            f"{INTERVAL} stays as it is in every change, and caps faster drives too; --set {INTERVAL}={OFF} removes it"
        )
    also: dict[str, list[str]] = {}
    for row in answer.rows:
        if row.also:
            also.setdefault(f"{row.also} ({reason([row.change.key])})", []).append(row.change.label)
    found += [f"{told}: with {', '.join(labels)}" for told, labels in also.items()]
    if answer.idle:
        found.append(f"no effect: {', '.join(changes[0].words for changes in answer.idle.values())}")
    if answer.unread:
        found.append(f"not tried, because unused or without another value: {', '.join(answer.unread)}")
    found += [f"not possible: {change.label}: {why}" for change, why in answer.impossible]
    if answer.untried:
        found.append(f"no time for: {', '.join(change.label for change in answer.untried)}; --limit allows more")
    return found
