"""Command `flashmesh cache`: kept states of preconditioned drives."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from flashmesh.cli.command import Group
from flashmesh.cli.inputs.lists import JSON_HELP
from flashmesh.cli.options.parameters import STDOUT, output_option, results_option
from flashmesh.cli.output import stdout

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.installation.states import KeptState

UNITS_S = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
HEADS = ("drive", "capacity", "size", "made", "used", "")


class Age(click.ParamType[timedelta]):
    """Option type of a duration: a number with a unit of time."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Parses a duration."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([0-9]{1,6}) ?(s|min|h|d|w)", str(value))
        if found is None:
            self.fail(f"{value!r}: expected a number with a unit ({', '.join(UNITS_S)}), such as 30d", param, ctx)
        return timedelta(seconds=int(found[1]) * UNITS_S[found[2]])


@click.group(cls=Group, invoke_without_command=True)
@results_option("json")
@output_option("--json", "json_file", JSON_HELP, bare=True)
@click.pass_context
def cache(ctx: click.Context, json_file: Path | None) -> None:
    """List the saved states of preconditioned drives.

    A full drive (precondition.kind = "random") is simulated until it reaches its steady state. The slowest part of that
    is saved in a folder, so that the same drive is ready sooner the next time; results do not change. FLASHMESH_CACHE
    names another folder, or is "off"; FLASHMESH_CACHE_LIMIT, such as 20GiB, limits its size. See docs/kept-states.md.
    """
    if ctx.invoked_subcommand is not None:
        if json_file is not None:
            raise click.UsageError(f"--json has no effect with {ctx.invoked_subcommand}", ctx)
        return
    if json_file is not None and str(json_file) in cache.commands:
        raise click.UsageError(
            f"--json would write to a file named {json_file}, which is a command: leave --json out", ctx
        )
    from flashmesh.installation import states

    where, kept = states.folder(), states.kept()
    document = {
        "folder": None if where is None else str(where),
        "limit_bytes": states.limit(),
        "size_bytes": sum(state.size_bytes for state in kept),
        "states": [asdict(state) for state in kept],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if json_file is not None and json_file != STDOUT:
        from flashmesh.files import whole_file, write_text

        with whole_file(json_file) as target:
            write_text(target, text)
    with stdout() as stream:
        stream.write(text if json_file == STDOUT else shown(where, kept))


@cache.command()
@click.option(
    "--older-than",
    type=Age(),
    default="0s",
    metavar="AGE",
    help="Remove only states that were not used for this time, such as 30d.",
)
def clear(older_than: timedelta) -> None:
    """Remove saved states. The next run of such a drive takes as long as the first one."""
    from flashmesh.installation import states

    count, size = states.clear(older_than)
    with stdout() as stream:
        stream.write(f"{counted(count)} removed, {size_text(size)}\n")


def shown(where: Path | None, kept: list[KeptState]) -> str:
    """Returns a table of the kept states (saved states of preconditioned drives), with their folder."""
    from flashmesh.installation import states

    if where is None:
        return f"{states.VARIABLE} is {states.OFF}: no states are kept\n"
    size = sum(state.size_bytes for state in kept)
    lines = [f"{where}: {counted(len(kept))}, {size_text(size)} of at most {size_text(states.limit())}"]
    if kept:
        rows = [HEADS, *(row(state) for state in kept)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
        lines.append("")
        for cells in rows:
            padded = [
                f"{cell:<{width}}" if column == 0 else f"{cell:>{width}}"
                for column, (cell, width) in enumerate(zip(cells[:-1], widths, strict=False))
            ]
            lines.append("  ".join([*padded, cells[-1]]).rstrip())
    return "\n".join(lines) + "\n"


def row(state: KeptState) -> tuple[str, ...]:
    """Returns the table row of a kept state (saved state of a preconditioned drive)."""
    now = time.time()
    return (
        state.drive or state.key[:16],
        "-" if state.capacity_bytes is None else f"{state.capacity_bytes / 1e9:,.0f} GB",
        size_text(state.size_bytes),
        "-" if state.made_s is None else age_text(now - state.made_s),
        age_text(now - state.used_s),
        "" if state.is_current else "of another build",
    )


def counted(count: int) -> str:
    """Returns a number of states as text, with the noun in singular or plural."""
    return f"{count:,} state{'' if count == 1 else 's'}"


def size_text(size: int) -> str:
    """Returns a file size with its unit."""
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.1f} MiB"


def age_text(seconds: float) -> str:
    """Returns an age as text in a suitable unit, such as `3 h ago`."""
    for unit in ("d", "h", "min"):
        if seconds >= 2 * UNITS_S[unit]:
            return f"{seconds / UNITS_S[unit]:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"
