"""Output of `flashmesh sweep --watch`: the progress of all processes of a sweep."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from flashmesh.cli.output import stdout
from flashmesh.cli.sweeping import duration
from flashmesh.report.terminal import Terminal
from flashmesh.sweeps.heartbeat import BEAT_S, watch

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.sweeps.heartbeat import Watched

RUNNING_SHOWN = 8


def show_progress(folder: Path) -> None:
    """Prints the progress of a sweep: on a terminal until it is over, elsewhere once.

    Raises:
        OutputError: If the folder does not belong to a sweep.
    """
    if not sys.stdout.isatty():
        with stdout() as stream:
            stream.writelines(f"{line}\n" for line in lines(watch(folder)))
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=Terminal(sys.stdout).console, refresh_per_second=4) as live:
        while True:
            found = watch(folder)
            live.update(Text("\n".join(lines(found))))
            if found.is_over:
                return
            time.sleep(BEAT_S)


def lines(found: Watched) -> list[str]:
    """Returns the progress of a sweep, as lines."""
    failed = sum(part.failed for part in found.parts)
    running = sum(part.running_count for part in found.live)
    of = f" of {found.total:,}" if found.total is not None else ""
    share = f" ({found.done / found.total:.0%})".replace("%", " %") if found.total else ""
    told = [f"{found.done:,}{of} runs done{share}, {running:,} running, {failed:,} failed"]
    if found.total is not None and found.done >= found.total:
        return told
    if not found.live:
        told.append("nobody works on it: no process goes on, and --resume does")
    elif found.left_s is not None:
        rate = sum(part.rate for part in found.live)
        told.append(f"about {duration(found.left_s)} left, at {rate * 60:.3g} runs a minute")
    for part in found.parts:
        state = f"not heard of for {duration(part.silent_s)}" if part.is_lost else f"{part.running_count} running"
        if part.is_gone:
            state = "killed: the process is gone"
        told.append(f"  {part.name}: {part.done:,} of its {part.runs:,} runs done, {part.failed:,} failed, {state}")
        told += [f"    {label}" for label in part.running[:RUNNING_SHOWN] if not part.is_lost]
    return told
