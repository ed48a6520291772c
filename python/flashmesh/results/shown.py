"""Charts and tables of results and comparisons in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Chart


class Plots(ABC):
    """Charts of a result or a comparison, for notebooks and programs."""

    @abstractmethod
    def _runs(self) -> list[Run]:
        """Returns the runs that the charts show."""

    def plot_latency(self) -> Chart:
        """Returns a chart of the latency of each percentile, with a scale that expands the tail."""
        from flashmesh import plots

        return plots.tail(self._runs()).altair()

    def plot_latency_cdf(self) -> Chart:
        """Returns a chart of the share of requests that complete within a latency."""
        from flashmesh import plots

        return plots.cumulative(self._runs()).altair()

    def plot_breakdown(self) -> Chart:
        """Returns a chart of the parts of the latency."""
        from flashmesh import plots

        return plots.breakdown(self._runs()).altair()

    def plot_over_time(self) -> Chart:
        """Returns a chart of throughput, queue depth and more over time.

        Raises:
            ValueError: If there are no epochs, since `measure.epoch` was not set.
        """
        from flashmesh import plots

        plot = plots.over_time(self._runs())
        if plot is None:
            raise ValueError('there are no results over time: set measure.epoch, such as measure.epoch = "10us"')
        return plot.altair()

    def plot_conflicts(self) -> Chart:
        """Returns a chart of path conflicts by cause."""
        from flashmesh import plots

        return plots.conflicts(self._runs()).altair()

    def plot_energy(self) -> Chart:
        """Returns a chart of energy by component."""
        from flashmesh import plots

        return plots.energy(self._runs()).altair()


def shown_of(runs: Sequence[Run]) -> str:
    """Returns the main measures of runs, as an HTML table."""
    from html import escape

    from flashmesh.html import tables
    from flashmesh.html.study import points_of_runs

    shown = tables.rows(points_of_runs(runs))
    head = "".join(f'<th style="text-align:right">{escape(column.heading)}</th>' for column in tables.columns(shown))
    rows = [f"<thead><tr><th>run</th>{head}</tr></thead>"]
    for row in shown:
        numbers = "".join(f'<td style="text-align:right">{escape(cell.text)}</td>' for cell in row.cells)
        marked = f" <em>({tables.mark(row)})</em>" if tables.mark(row) else ""
        rows.append(f'<tr><th style="text-align:left">{escape(row.name)}{marked}</th>{numbers}</tr>')
    return f"<table>{''.join(rows)}</table>"
