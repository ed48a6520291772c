"""Standard output and output files: checks before the work, so that results are written completely or not at all."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from flashmesh import configuration
from flashmesh._native import FlashmeshError, OutputError
from flashmesh.cli.options.parameters import STDOUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TRACE = "workload.trace"


class StdoutClosed(Exception):  # noqa: N818 - a closed reader is not an error
    """A write to stdout after its reader closed the pipe."""


@contextmanager
def stdout() -> Iterator[IO[str]]:
    """Yields stdout, and flushes it when the block ends."""
    require_stdout()
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise StdoutClosed from error
    except OSError as error:
        raise OutputError(f"the results cannot be written to stdout: {error.strerror}") from error


def tell_nothing() -> None:
    """Says on stderr that an interrupted command has no results."""
    click.echo("no results", err=True)


def require_stdout() -> None:
    """Refuses to begin work if stdout is closed.

    Raises:
        OutputError: If the process was started with stdout closed.
    """
    # `sys.stdout` is None if stdout is closed; the type stubs of Python omit this.
    stream: IO[str] | None = sys.stdout
    if stream is None:
        raise OutputError("the results cannot be written to stdout: it is closed")


def refuse_stdout(option: str, path: Path | None, what: str = "a Parquet file") -> None:
    """Refuses `-` for an output that cannot go to stdout."""
    if path == STDOUT:
        raise click.BadParameter(f"{what} cannot go to stdout; give it a name", param_hint=option)


def refuse_missing(path: Path) -> None:
    """Refuses a path of results that does not exist, and suggests a similar name.

    Raises:
        OutputError: If there is no such file or folder.
    """
    from flashmesh.configuring.missing import beside

    try:
        is_there = path.exists()
    except (OSError, ValueError):
        return  # this error is reported when the path is read
    if not is_there:
        raise OutputError(f"{path}: there is no such file or folder{beside(path)}")


def refuse_suffix(option: str, path: Path | None, suffix: str) -> None:
    """Refuses a file name with the suffix of another format."""
    if path is not None and path.suffix.lower() not in ("", suffix):
        raise click.BadParameter(
            f"{path} has the wrong suffix: the option writes {suffix[1:].capitalize()}; "
            f"name the file {path.with_suffix(suffix)}",
            param_hint=option,
        )


def inputs(
    config: str, settings: Mapping[str, str], trace: Path | None, fio: Path | None, traces: Iterable[str] = ()
) -> dict[str, list[Path]]:
    """Returns the files that a command reads, by their names in messages, such as `the trace`."""
    files = [Path(name.strip('"')) for name in traces]
    if trace is not None:
        files.append(trace)
    is_preset = config.startswith(configuration.PRESET_PREFIX)
    if is_preset and TRACE in settings:
        files.append(Path(settings[TRACE].strip('"')))
    # Not for pipes: a pipe can be read only once, by the run.
    if is_preset or Path(config).is_file():
        # The run reports errors, and an axis may replace the invalid value.
        with suppress(FlashmeshError):
            files += configuration.load(config, overrides=settings, trace=trace, runs=False).traces()
    found = {"the trace": files, "the job file": [fio] if fio is not None else []}
    return found if is_preset else {"the configuration": [Path(config)], **found}


def refuse_overwriting(outputs: Mapping[str, Path | None], inputs: Mapping[str, list[Path]]) -> None:
    """Refuses an output that is also an input, or another output.

    Args:
        outputs: The output files, by their options.
        inputs: The input files, by their names in messages.

    Raises:
        click.UsageError: If two of these files are the same.
    """
    named: list[tuple[str, Path]] = [(name, path) for name, paths in inputs.items() for path in paths]
    for option, path in outputs.items():
        if path is None:
            continue
        for other, taken in named:
            if same_file(path, taken):
                raise click.UsageError(f"{other} and {option} name the same file")
        named.append((option, path))


def same_file(one: Path, other: Path) -> bool:
    """Returns whether two paths are the same regular file; devices such as /dev/null may receive several outputs."""
    if STDOUT in (one, other):
        return one == other
    try:
        if one.exists() and other.exists():
            return one.samefile(other) and one.is_file()
        return one.resolve() == other.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
