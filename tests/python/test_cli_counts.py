"""Numbers of requests in options of the command line, in the spellings of configuration keys."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

import click
import pytest

from flashmesh._native import Config, ConfigError
from flashmesh.cli.commands import COMMANDS
from flashmesh.cli.options.counts import Requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Cli

SPELLINGS = ["60000", "60_000", "60k", "60K", "6e4", "1.5M", "0x10", "+5"]


@pytest.mark.parametrize("text", SPELLINGS)
def test_option_reads_a_number_as_the_key_does(text: str) -> None:
    config = Config.from_str('preset = "venice-z-nand"', "test", [f"workload.requests={text}"])
    of_key = json.loads(config.to_json())["workload"]["requests"]
    assert Requests(min=1).convert(text, None, None) == of_key


@pytest.mark.parametrize("text", ["60kB", "2.5", "1,000", "many", "1__0", ""])
def test_option_refuses_what_the_key_refuses(text: str) -> None:
    with pytest.raises(ConfigError):
        Config.from_str('preset = "venice-z-nand"', "test", [f"workload.requests={text}"])
    with pytest.raises(click.BadParameter, match="60k"):
        Requests(min=1).convert(text, None, None)


def test_option_holds_its_own_range_in_every_spelling() -> None:
    for text in ("0", "0.5k"):
        with pytest.raises(click.BadParameter, match="is not in the range"):
            Requests(min=1000).convert(text, None, None)


def options_of(command: click.Command) -> Iterator[click.Parameter]:
    """Yields the options of a command and of its subcommands."""
    yield from command.params
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        yield from options_of(below)


def test_every_option_that_takes_a_number_of_requests_reads_it_so() -> None:
    found = {name: module for name, (module, _) in COMMANDS.items()}
    every = [
        option
        for name, module in found.items()
        for option in options_of(getattr(import_module(module), name.replace("-", "_")))
    ]
    counts = [
        option
        for option in every
        if isinstance(option.type, click.types.IntParamType) and "number of requests" in (option.help or "").lower()
    ]
    assert {option.opts[0] for option in counts} >= {"--steady-limit", "--requests", "--requests-max"}
    assert all(isinstance(option.type, Requests) for option in counts), counts


def test_limit_of_a_run_until_it_is_steady_takes_thousands(cli: Cli) -> None:
    options = ("--set", "workload.requests=100", "--until-steady", "--steady-limit", "0.5k", "--json", "-")
    done = cli("run", "preset:venice-z-nand", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"] == 500
    refused = cli("run", "preset:venice-z-nand", "--until-steady", "--steady-limit", "1kB")
    assert refused.returncode == 2
    assert "'1kB' is no number of requests" in refused.stderr
