"""The progress bar: on a terminal only, and on stderr."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from types import TracebackType

    from flashmesh.execution import Progress


def watched(stream: IO[str] | None) -> bool:
    """Whether a stream is open and a terminal."""
    return stream is not None and stream.isatty()


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Requests done, their rate, simulated time and time left."""

    def __init__(self, quiet: bool = False) -> None:
        """Nothing is shown when quiet or when nobody watches."""
        console = Console(stderr=True, highlight=False)
        self.quiet = quiet
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=quiet or not watched(sys.stderr),
            transient=True,
            expand=True,
        )
        self.task = self.bar.add_task("opening", total=None, state="")

    def __enter__(self) -> ProgressBar:
        """Shows the bar."""
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Takes the bar away."""
        self.bar.stop()

    def on_open(self, summary: str | None) -> None:
        """Shows the summary of a trace, above the bar."""
        if summary and not self.quiet:
            self.bar.console.print(summary, markup=False, soft_wrap=True)

    def __call__(self, progress: Progress) -> None:
        """Shows how far the runs are."""
        if progress.opening:
            return
        task = self.bar.tasks[0]
        done = q.scaled(progress.requests_done)
        of = f"/{q.scaled(progress.request_total)}" if progress.request_total else ""
        rate = f"{q.scaled(task.speed)}/s" if task.speed else ""
        self.bar.update(
            self.task,
            description="simulating" if progress.runs == 1 else f"{progress.runs_done}/{progress.runs} runs",
            completed=progress.requests_done,
            total=progress.request_total,
            state=f"{done}{of} requests  {rate}  {q.time(progress.simulated_ps)} simulated",
        )
