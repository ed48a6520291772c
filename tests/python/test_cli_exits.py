"""Exit codes of errors that no input can cause."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

import flashmesh
from conftest import Cli
from flashmesh.cli import commands, entry
from flashmesh.cli.output import StdoutClosed
from flashmesh.cli.runs.run import run


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (RuntimeError("lost\nits way"), 1, "internal error: RuntimeError: lost its way"),
        (flashmesh.InternalError("index out of bounds"), 1, "internal error: InternalError: index out of bounds"),
        (flashmesh.ConfigError("no such key"), 2, "error: no such key"),
        (flashmesh.WorkloadError("no such trace"), 2, "error: no such trace"),
        (flashmesh.OutputError("disk full"), 2, "error: disk full"),
        (click.UsageError("no such option"), 2, "no such option"),
        (flashmesh.CheckError("a page was lost"), 3, "a page was lost"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (StdoutClosed(), 141, ""),
    ],
)
def test_every_error_is_a_message_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, words: str
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.delenv("FLASHMESH_DEBUG", raising=False)
    monkeypatch.setattr(commands.flashmesh, "main", fail)
    assert entry.guarded() == code
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert "Traceback" not in output.err


def test_debug_shows_where_a_fault_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.setenv("FLASHMESH_DEBUG", "1")
    monkeypatch.setattr(commands.flashmesh, "main", fail)
    assert entry.guarded() == 1
    assert "Traceback" in capsys.readouterr().err


def every(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yields a command and its subcommands, each with the words that name it."""
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from every(inner, (*path, name))


def test_every_help_tells_the_exit_codes_and_what_the_arguments_are() -> None:
    found = dict(every(commands.flashmesh))
    assert {("presets",), ("profiles",), ("config",), ("trace",), ("trace", "compare")} <= found.keys()
    for path, command in found.items():
        context = click.Context(command, info_name=" ".join(("flashmesh", *path)))
        usage, text = command.get_help(context).split("\n", 1)
        assert "Exit codes: 0 done;" in text, path
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                name = parameter.make_metavar(context).strip("[].")
                assert name in usage
                assert re.search(rf"\b{name}\b", text), (path, name)


def test_help_says_what_options_need() -> None:
    text = " ".join(run.get_help(click.Context(run, info_name="run")).split())
    assert "needs several streams" in text
    assert "needs --set measure.epoch=TIME" in text


def test_key_taken_for_an_option_is_named(cli: Cli) -> None:
    done = cli("run", "preset:venice-z-nand", "--requests", "5000")
    assert done.returncode == 2
    assert "no such option --requests: did you mean --set workload.requests=VALUE?" in done.stderr
    assert "--set" not in cli("show", "--requests", "5000").stderr
