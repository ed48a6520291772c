"""Option `-o/--out` of all commands: a file whose suffix selects the format, a page, a configuration or a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

STDOUT = Path("-")
"""Path that stands for stdout in the options of output files."""
STDOUT_NAMES = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
FORMER = "--output"
"""Former spelling of `--out`, which all commands accept but no help text mentions."""
META = "flashmesh.out"
"""Key in Click's context by which `-o` passes its file to the option of the format, such as `--json`."""
F = TypeVar("F", bound=Callable[..., Any])


class OutOption(click.Option):
    """Option `-o/--out`, with its former spelling."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Registers `--out` and its former spelling."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[FORMER], dest=self.name, action="store", nargs=1)


def out_option(name: str, text: str, *, metavar: str = "FILE", **options: Any) -> Callable[[F], F]:
    """Returns `-o/--out` for an output without another option: a page, a configuration, a trace or a folder."""
    return click.option(
        "-o", "--out", name, cls=OutOption, type=click.Path(path_type=Path), metavar=metavar, help=text, **options
    )


def results_option(*formats: str) -> Callable[[F], F]:
    """Returns `-o/--out` for results, whose suffix selects the format.

    Args:
        formats: The formats, each with an option of its own: `json` for `--json`.
    """
    told = (
        formats[0].upper() if len(formats) == 1 else f"{', '.join(map(titled, formats[:-1]))} or {titled(formats[-1])}"
    )
    by_ending = "" if len(formats) == 1 else ", by its suffix"

    def keep(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> None:
        if path is not None and not ctx.resilient_parsing:
            ctx.meta[META] = (format_of(path, formats, ctx), path)

    return out_option(
        "out_file", f"Write the results to FILE: {told}{by_ending}.", expose_value=False, callback=keep, is_eager=True
    )


def titled(form: str) -> str:
    """Returns the name of a format in help texts and messages, such as `JSON`."""
    return form.capitalize() if form == "parquet" else form.upper()


def format_of(path: Path, formats: tuple[str, ...], ctx: click.Context) -> str:
    """Returns the format that the suffix of a file selects; the first one for stdout or no suffix.

    Raises:
        click.BadParameter: If the suffix is of another format.
    """
    ending = path.suffix.lower().removeprefix(".")
    if not ending or is_stdout(path):
        return formats[0]
    if ending in formats:
        return ending
    known = " or ".join(f".{form}" for form in formats)
    raise click.BadParameter(f"{path}: the suffix determines the format: use {known}", ctx, param_hint="-o/--out")


def is_stdout(path: Path) -> bool:
    """Returns whether a path names stdout."""
    return path == STDOUT or str(path) in STDOUT_NAMES


def output_option(flag: str, name: str, text: str, *, bare: bool = False) -> Callable[[F], F]:
    """Returns the option of one format, such as `--json`.

    Args:
        flag: The option.
        name: The parameter of the command.
        text: The help.
        bare: Whether the option may be given without a file, for stdout.
    """
    optional = {"is_flag": False, "flag_value": str(STDOUT), "metavar": "[FILE]"} if bare else {"metavar": "FILE"}
    return click.option(flag, name, type=click.Path(path_type=Path), callback=file_of, help=text, **optional)


def file_of(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Returns the file of a format, including one given by `-o`; all names of stdout become `STDOUT`.

    Raises:
        click.UsageError: If `-o` and the option of the format are both given.
    """
    form, named = ctx.meta.get(META, (None, None))
    flag = parameter.opts[-1]
    if flag == f"--{form}":
        if path is not None:
            raise click.UsageError(f"-o/--out {named} and {flag} {path} are both given: one of them is enough", ctx)
        path = named
    return STDOUT if path is not None and is_stdout(path) else path
