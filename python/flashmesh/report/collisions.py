"""Report, 80 characters wide, of read collisions: reads that arrive at a die on which other reads are outstanding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.report.sections import replication
from flashmesh.report.summary import pairs, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from flashmesh.report.terminal import Terminal
    from flashmesh.results import Collisions, Result

BAR = 24
DIES_SHOWN = 32
PAIRS_SHOWN = 10
HEAT = 64


def show(result: Result, terminal: Terminal) -> None:
    """Prints the collisions of a run."""
    found = result.collisions
    assert found is not None, "the run analysed its collisions"
    terminal.print(*sections(result, found, terminal))


def sections(result: Result, found: Collisions, terminal: Terminal) -> Iterator[RenderableType]:
    """Yields the parts of the report, from top to bottom."""
    yield Text(title(result), style="bold")
    yield Text(f"{result.requests:,} requests in {q.time(result.makespan_ps)} of simulated time, seed {result.seed}")
    if result.interrupted:
        yield Text("Interrupted: these figures cover what was simulated until then.", style="bold yellow")
    yield Text()
    yield overview(result, found)
    yield Text()
    yield ratios(found, terminal)
    yield Text()
    if found.collisions:
        yield kinds(found, terminal)
        yield Text()
    if found.repetitions:
        yield repetitions(found, terminal)
        yield Text()
        yield top_pairs(found, terminal)
        yield Text()
    yield dies(found, terminal)
    yield Text()
    yield Text("What replication would gain" if result.replication is None else "Replication", style="bold")
    yield pairs(gain(found) if result.replication is None else replication.rows(result))


def overview(result: Result, found: Collisions) -> RenderableType:
    """Returns rows on the reads, the outstanding reads, idle dies, pairs of colliding pages, and read latency."""
    read = result.latency_ps.read
    occ = "-" if found.average_occ is None else f"{found.average_occ:.1f}"
    rows = [
        ("reads", f"{found.reads:,} pages on {found.dies} dies"),
        ("average OCC", f"{occ} reads outstanding"),
        ("a die was idle", f"in {q.share(found.idle_die_share)} of observations"),
        ("collision pairs", f"{found.pairs:,}, repeated {mean_repetition(found)} times on average{kept(found)}"),
    ]
    if found.collisions_of_all > found.collisions:
        more = f"{found.reads_of_writes:,}; {found.collisions_of_all:,} collisions with them"
        rows.append(("reads of partial writes", more))
    if read is not None:
        rows.append(("read latency", f"mean {q.time(read.mean)}, p99 {q.time(read.p99)}"))
    return pairs(rows)


def mean_repetition(found: Collisions) -> str:
    """Returns how often a pair of pages collides on average, as text."""
    return q.NONE if found.mean_repetition is None else f"{found.mean_repetition:.2f}"


def kept(found: Collisions) -> str:
    """Returns the share of the pairs of colliding pages that were kept for the statistics; empty if all were kept."""
    return "" if found.pairs_kept_share == 1 else f" (from {found.pairs_kept_share:.3%} of them)"


def ratios(found: Collisions, terminal: Terminal) -> RenderableType:
    """Returns a table of collision ratios (per observation, per read): measured, and expected if dies were random."""
    table = terminal.table("collision ratio", "measured", "expected", "closed form", "measured/expected")
    rows = {
        "of observations": (
            found.collision_ratio,
            found.collision_ratio_expected,
            found.collision_ratio_closed_form,
        ),
        "of reads": (
            found.read_collision_ratio,
            found.read_collision_ratio_expected,
            found.read_collision_ratio_closed_form,
        ),
    }
    for name, (measured, expected, closed) in rows.items():
        times = q.ratio(measured, expected)
        table.add_row(name, q.share(measured), q.share(expected), q.share(closed), times)
    return table


def kinds(found: Collisions, terminal: Terminal) -> RenderableType:
    """Returns a table of the numbers of balanced and imbalanced collisions.

    A collision is imbalanced if its die has at least two more reads outstanding than the least loaded die.
    """
    table = terminal.table("collisions", "reads", "share", "")
    table.columns[3].justify = "left"
    for name, count in (("balanced", found.balanced), ("imbalanced", found.imbalanced)):
        share = count / found.collisions
        table.add_row(name, f"{count:,}", q.share(share), terminal.bar(share, BAR))
    return table


def repetitions(found: Collisions, terminal: Terminal) -> RenderableType:
    """Returns a table of the pairs of pages, in bins by the number of times that the two pages collided."""
    table = terminal.table("a pair repeated", "pairs", "share", "occurrences", "share", "")
    table.columns[5].justify = "left"
    all_pairs = sum(each.pairs for each in found.repetitions)
    all_occurrences = sum(each.occurrences for each in found.repetitions)
    for each in found.repetitions:
        last = 2 * each.times_min - 1
        name = f"{each.times_min:,} to {last:,} times" if last > each.times_min else "once"
        share = each.occurrences / all_occurrences
        table.add_row(
            name,
            f"{each.pairs:,}",
            q.share(each.pairs / all_pairs),
            f"{each.occurrences:,}",
            q.share(share),
            terminal.bar(share, 12),
        )
    return table


def top_pairs(found: Collisions, terminal: Terminal) -> RenderableType:
    """Returns a table of the page pairs that collided most often, and the share of occurrences of the top 5 %."""
    table = terminal.table("most repeated pairs", "logical pages", "", "times", left=1)
    for rank, each in enumerate(found.top_pairs[:PAIRS_SHOWN], start=1):
        table.add_row(str(rank), str(each.first), str(each.second), f"{each.occurrences:,}")
    table.add_row("the first 5 %", "", "", q.share(found.top_5_percent_share))
    return table


def dies(found: Collisions, terminal: Terminal) -> RenderableType:
    """Returns the reads of each die, and their relative standard deviation, as a table or as a line of blocks."""
    deviation = "-" if found.reads_per_die_rsd is None else f"{found.reads_per_die_rsd:.3f}"
    most = max(found.reads_per_die, default=0) or 1
    if found.dies > DIES_SHOWN:
        shares = [reads / most for reads in found.reads_per_die]
        lines = [terminal.heat(shares[at : at + HEAT]) for at in range(0, len(shares), HEAT)]
        return Text("\n").join(Text(line) for line in (f"reads of each die, rel. std. deviation {deviation}", *lines))
    table = terminal.table("die", "reads", f"relative standard deviation {deviation}")
    table.columns[2].justify = "left"
    for die, reads in enumerate(found.reads_per_die):
        table.add_row(str(die), f"{reads:,}", terminal.bar(reads / most, BAR))
    return table


def gain(found: Collisions) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the estimated gain of replication, from a run without replication."""
    would = found.replication
    share = q.share(would.imbalanced_avoided_share)
    ended = f"{would.evictions:,} evicted, {would.ended_by_writes:,} ended by writes"
    return [
        ("pages worth copying", f"{would.replications:,} copies; {ended}"),
        ("reads of copied pages", f"{would.reads:,}, {would.reads_moved:,} find the other die less loaded"),
        ("imbalanced collisions", f"{would.imbalanced_avoided:,} avoided ({share})"),
        ("waiting", f"{q.time(would.wait_saved_ps)} saved in all"),
    ]
