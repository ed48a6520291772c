"""Base classes of commands and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

EXIT_CODES = """Exit codes: 0 done; 1 internal error; 2 bad input, bad usage or a file that cannot be read or
written; 3 a check failed; 129 hung up; 130 interrupted; 141 stdout was closed by its reader; 143 terminated."""

WORDS = "flashmesh.words"
"""Key in Click's context of the raw arguments of the command."""
KEYS_SHOWN = 3
"""Number of keys suggested in place of an unknown option."""


class Command(click.Command):
    """A command that refuses single-value options given twice, since one of the values would have no effect."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Adds the exit codes below the help."""
        super().__init__(*args, **{"epilog": EXIT_CODES} | options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples, and the exit codes below them."""
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments; refuses repeated options, and suggests a key for an unknown option."""
        if not ctx.resilient_parsing:
            try:
                _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            except click.NoSuchOption as error:
                self.name_key(error, ctx)
                raise
            refuse_repeated(given, ctx)
            ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def name_key(self, error: click.NoSuchOption, ctx: click.Context) -> None:
        """Suggests `--set` with the full key if an unknown option is the name of a key, such as --requests."""
        if not any("--set" in parameter.opts for parameter in self.params):
            return
        from flashmesh.keys import keys_named

        keys = keys_named(error.option_name.lstrip("-"))
        if keys:
            told = " or ".join(f"--set {key}=VALUE" for key in keys[:KEYS_SHOWN])
            raise click.UsageError(f"no such option {error.option_name}: did you mean {told}?", ctx) from None


class Group(click.Group):
    """A group whose subcommands are of class `Command`."""

    command_class = Command

    def __init__(self, *args: Any, **options: Any) -> None:
        """Adds the exit codes below the help."""
        super().__init__(*args, **{"epilog": EXIT_CODES} | options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples, and the exit codes below them."""
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Writes the examples of a command, one on each line, since a broken line cannot be pasted."""
    from flashmesh.cli.shown_examples import examples_of

    shown = examples_of(ctx.command_path)
    if shown:
        with formatter.section("Examples"):
            for line in shown:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def refuse_repeated(given: Iterable[click.Parameter], ctx: click.Context) -> None:
    """Refuses options given twice that accept a single value."""
    seen: set[click.Parameter] = set()
    for parameter in given:
        if parameter in seen and isinstance(parameter, click.Option):
            raise click.UsageError(f"{parameter.opts[-1]} is given twice: one of the values would have no effect", ctx)
        if not parameter.multiple and not getattr(parameter, "is_flag", False):
            seen.add(parameter)


def words_of(ctx: click.Context, without: Collection[str]) -> list[str]:
    """Returns the given options of a command as words of a command line, without the options named in `without`."""
    given, _, _ = ctx.command.make_parser(ctx).parse_args(args=list(ctx.meta[WORDS]))
    words: list[str] = []
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Option) and parameter.name in given and parameter.name not in without:
            value = given[parameter.name]
            for each in value if parameter.multiple else [value]:
                words += [parameter.opts[-1]] if parameter.is_flag else [parameter.opts[-1], str(each)]
    return words


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """Returns a decorator that turns a function into a command named `name`, by default like the function."""
    return click.command(name, cls=Command)
