"""Report of a calibration for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.calibration.outcome import mean
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.calibration.outcome import Calibration
    from flashmesh.report.terminal import Terminal


def show(found: Calibration, terminal: Terminal) -> None:
    """Prints the keys with their intervals, the loads with their errors, and the undetermined keys."""
    table = terminal.table("key", "value", "from", "to", "determined", left=1)
    for key in found.keys:
        told = "yes" if key.is_determined else "no"
        table.add_row(key.key, key.value, key.low or q.NONE, key.high or q.NONE, told)
    terminal.print(table)
    points = terminal.table("load", "error of the fit", "error predicted", left=1)
    for point in found.points:
        points.add_row(point.target.name, q.share(point.fitted_error), q.share(point.predicted_error))
    terminal.print("", points, "")
    lines = [f"{found.tried} drives tried; errors are means over the figures of a load"]
    predicted = mean([point.predicted_error for point in found.points])
    if predicted is not None:
        lines.append(f"predicted is each load by the fit to all others: {q.share(predicted)} off in the mean")
    reasons: dict[str, list[str]] = {}
    for key in found.undetermined:
        reasons.setdefault(key.reason, []).append(key.key)
    for reason, keys in reasons.items():
        verb = "is" if len(keys) == 1 else "are"
        lines.append(f"{', '.join(keys)} {verb} not determined by these measurements: {reason}")
    lines += [f"{text}: allow more with --budget" for text in found.cut]
    terminal.print(Text("\n".join(lines)))
