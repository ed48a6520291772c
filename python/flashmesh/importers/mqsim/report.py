"""Report on every tag of an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.ledger import Mode
from flashmesh.importers.toml_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from flashmesh.importers.mqsim.importer import Scenario
    from flashmesh.importers.mqsim.ledger import Fate, Ledger, Unknown
    from flashmesh.importers.toml_text import Value


def report(device: Path, workload: Path, scenarios: Sequence[Scenario], files: Sequence[Path]) -> str:
    """Returns the text of the report: unknown tags, warnings, and for each scenario its tags and differing keys."""
    mode = scenarios[0].mode
    lines = [f"{device} and {workload}, imported as {mode.value}"]
    lines += ["", *unknown_lines(dict.fromkeys(tag for scenario in scenarios for tag in scenario.ledger.unknown))]
    warnings = dict.fromkeys(text for scenario in scenarios for text in scenario.ledger.warnings)
    if warnings:
        lines += ["", "To know", *(f"  {text}" for text in warnings)]
    for scenario, file in zip(scenarios, files, strict=True):
        lines += ["", f"Scenario {scenario.number}: {file.name}", "", *fate_lines(scenario.ledger, mode)]
        lines += ["", *difference_lines(scenario)]
    return "\n".join(lines) + "\n"


def unknown_lines(unknown: Iterable[Unknown]) -> list[str]:
    """Returns a table of the tags that MQSim does not have."""
    rows = [
        (f"{tag.source}:{tag.line}", f"<{tag.name}>", f"did you mean <{tag.near}>?" if tag.near else "")
        for tag in unknown
    ]
    if not rows:
        return ["Every tag is one of MQSim's."]
    return ["Tags that MQSim does not know and ignores silently:", *table(rows)]


def fate_lines(ledger: Ledger, mode: Mode) -> list[str]:
    """Returns a table of all known tags, with the keys that each tag sets."""
    rows = [("line", "tag", "says", "became")]
    section = ""
    for fate in ledger.fates:
        if fate.section != section:
            section = fate.section
            rows.append(("", f"<{section}>", "", ""))
        rows.append((str(fate.line) if fate.line else "-", f"  {fate.name}", said(fate), became(fate, ledger, mode)))
    return table(rows)


def said(fate: Fate) -> str:
    """Returns the content of a tag for the report; if the tag is absent, MQSim's default."""
    return fate.text if fate.line else f"(absent: {fate.text})" if fate.text else "(absent)"


def became(fate: Fate, ledger: Ledger, mode: Mode) -> str:
    """Returns the keys that a tag sets in a mode, or the reason why the tag has no effect."""
    keys = list(dict.fromkeys(fate.keys))
    values = {key: setting.value(mode) for key in keys if (setting := ledger.settings.get(key)) is not None}
    parts = [f"{key} = {short(value)}" for key in keys if (value := values.get(key)) is not None]
    if keys and not parts:
        parts = [f"{key} unset" for key in keys]
    if fate.reason:
        parts.append(fate.reason if parts else f"no effect: {fate.reason}")
    return "; ".join(parts)


def short(value: Value) -> str:
    """Returns a value in TOML notation, cut to 48 characters."""
    text = value_text(value)
    return text if len(text) <= 48 else f"{text[:44]} ..."


def difference_lines(scenario: Scenario) -> list[str]:
    """Returns a table of the keys in which the two modes differ."""
    differences = scenario.differences()
    if not differences:
        return ["MQSim simulates what the files specify."]
    rows: list[tuple[str, ...]] = [("key", Mode.COMPATIBLE.value, Mode.PHYSICAL.value, "because")]
    for setting in differences:
        values = [short(v) if v is not None else "-" for v in (setting.compatible, setting.physical)]
        rows.append((setting.key, *values, setting.reason))
    return ["What MQSim simulates, and what the files specify:", "", *table(rows)]


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Returns rows aligned in columns; the width of the last column is not limited."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return [line.rstrip() for line in aligned(rows, widths)]


def aligned(rows: Sequence[tuple[str, ...]], widths: Sequence[int]) -> Iterator[str]:
    """Yields each row as a line, with columns of the given widths; the last column is not padded."""
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  " + "  ".join([*cells, row[-1]])
