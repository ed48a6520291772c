"""Progress bar on stderr, shown only on a terminal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING

import click

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as Bar

    from flashmesh.execution import Progress


def watched(stream: IO[str] | None) -> bool:
    """Returns whether a stream is open and connected to a terminal, so that a progress bar is visible."""
    return stream is not None and stream.isatty()


def new_bar() -> Bar:
    """Returns a new bar. Rich is imported only here, since the import is slow."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from flashmesh.report.terminal import PrintableConsole
    from flashmesh.texts.printable import unguarded

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[state]}"),
        TimeRemainingColumn(compact=True),
        console=PrintableConsole(file=unguarded(sys.stderr), highlight=False),
        transient=True,
        expand=True,
    )
    bar.add_task("opening", total=None, state="")
    return bar


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Progress of the runs: requests completed, their rate, simulated time and time left."""

    def __init__(self, quiet: bool = False) -> None:
        """Creates a bar, unless `quiet` or stderr is not a terminal."""
        self.quiet = quiet
        self.bar = None if quiet or not watched(sys.stderr) else new_bar()
        self.is_simulating = False

    def __enter__(self) -> ProgressBar:
        """Shows the bar."""
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the bar."""
        self.stop()

    def stop(self) -> None:
        """Removes the bar before other output."""
        if self.bar is not None:
            self.bar.stop()

    def on_open(self, summary: str | None) -> None:
        """Prints the summary of a trace above the bar; prints nothing for None."""
        if summary and not self.quiet:
            self.say(summary)

    def say(self, text: str) -> None:
        """Prints a sentence above the bar."""
        if self.bar is not None:
            self.bar.console.print(text, markup=False, soft_wrap=True)
        else:
            click.echo(text, err=True)

    def __call__(self, progress: Progress) -> None:
        """Shows the progress of a run in the bar."""
        if self.bar is None:
            return
        task = self.bar.tasks[0]
        if progress.opening:
            share = progress.preconditioned
            if share is None:
                self.bar.update(task.id, description="reading traces and setting up", total=None, state="")
            else:
                self.bar.update(
                    task.id, description="preconditioning", completed=share, total=1.0, state=q.share(share)
                )
            return
        if not self.is_simulating:
            # The estimate of the remaining time must not include the preparation.
            self.bar.reset(task.id)
            self.is_simulating = True
        done = q.scaled(progress.requests_done)
        of = f"/{q.scaled(progress.request_total)}" if progress.request_total else ""
        most = f" of at most {q.scaled(progress.requests_max)}" if progress.requests_max else ""
        rate = f"{q.scaled(task.speed)}/s" if task.speed else ""
        self.bar.update(
            task.id,
            description="simulating" if progress.runs == 1 else f"{progress.runs_done}/{progress.runs} runs",
            completed=progress.requests_done,
            # A limit is no total: the bar of a run that ends by itself would jump to its end.
            total=progress.request_total,
            state=f"{done}{of} requests{most}  {rate}  {q.time(progress.simulated_ps)} simulated",
        )
