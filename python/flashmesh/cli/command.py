"""Commands and groups of the command line: what they share beside their options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EXIT_CODES = """Exit codes: 0 done; 1 internal error; 2 bad input, bad usage or a file that cannot be read or
written; 3 a check failed; 129 hung up; 130 interrupted; 141 stdout was closed by its reader; 143 terminated."""


class Command(click.Command):
    """A command that takes no option twice, of which one value would have no effect."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """As click has it, with the exit codes below the help."""
        super().__init__(*args, **{"epilog": EXIT_CODES} | options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the arguments."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            refuse_repeated(given, ctx)
        return super().parse_args(ctx, args)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command

    def __init__(self, *args: Any, **options: Any) -> None:
        """As click has it, with the exit codes below the help."""
        super().__init__(*args, **{"epilog": EXIT_CODES} | options)


def refuse_repeated(given: Iterable[click.Parameter], ctx: click.Context) -> None:
    """Refuses options with one value that are given twice."""
    seen: set[click.Parameter] = set()
    for parameter in given:
        if parameter in seen and isinstance(parameter, click.Option):
            raise click.UsageError(f"{parameter.opts[-1]} is given twice: one of the values would have no effect", ctx)
        if not parameter.multiple and not getattr(parameter, "is_flag", False):
            seen.add(parameter)


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """Makes a command of a function."""
    return click.command(name, cls=Command)
