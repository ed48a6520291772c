"""Properties of all commands: one option for outputs, examples in every help text, and lists as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from conftest import Cli
from flashmesh.cli.commands import flashmesh
from flashmesh.cli.shown_examples import EXAMPLES


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yields all commands, each with the words that name it."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


COMMANDS = {" ".join(words): command for words, command in commands(flashmesh)}


def test_every_command_has_examples_and_every_example_a_command() -> None:
    assert EXAMPLES.keys() == COMMANDS.keys() | {""}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_of_every_command_shows_examples_that_it_takes(name: str) -> None:
    shown = help_of(name)
    assert len(EXAMPLES[name]) >= 2
    for line in EXAMPLES[name]:
        assert f"\n  {line}\n" in shown
        words = shlex.split(line.partition(" | ")[0].partition(" > ")[0], comments=True)
        if words[0] == "eval":
            words = shlex.split(words[1].strip("$()"))
        assert words.pop(0) == "flashmesh"
        parse(flashmesh, words)


def help_of(name: str) -> str:
    """Returns the help text of a command."""
    command, context = flashmesh, click.Context(flashmesh, info_name="flashmesh")
    for word in name.split():
        found = command.get_command(context, word)
        assert found is not None
        context = click.Context(found, info_name=word, parent=context)
        command = found  # type: ignore[assignment]
    return context.get_help()


def parse(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    """Parses a command line like the command, without running it."""
    context = command.make_context(command.name or "", list(words), parent=parent)
    # Before version 9, click stores the name of a subcommand apart from its arguments.
    left = [*getattr(context, "_protected_args", []), *context.args]
    if isinstance(command, click.Group) and left:
        name, below, rest = command.resolve_command(context, left)
        assert below is not None, name
        parse(below, rest, context)


def outputs() -> list[str]:
    """Returns the commands that write a file or a folder of results."""
    return [
        name
        for name, command in COMMANDS.items()
        if any("--out" in parameter.opts or "--json" in parameter.opts for parameter in command.params)
    ]


@pytest.mark.parametrize("name", outputs())
def test_every_output_is_named_by_the_same_option(name: str) -> None:
    (option,) = [parameter for parameter in COMMANDS[name].params if "--out" in parameter.opts]
    assert option.opts == ["-o", "--out"]
    for spelling in ("-o", "--out", "--output"):
        arguments = [*["x" for each in COMMANDS[name].params if isinstance(each, click.Argument)], spelling, "out.json"]
        _, _, order = COMMANDS[name].make_parser(click.Context(COMMANDS[name])).parse_args(arguments)
        assert option in order, spelling


def test_the_former_spelling_of_out_writes_the_same_file(cli: Cli, tmp_path: Path) -> None:
    for spelling in ("-o", "--out", "--output"):
        assert cli("presets", spelling, f"{spelling.strip('-')}.json").returncode == 0
    texts = {path.read_text() for path in tmp_path.glob("*.json")}
    assert len(list(tmp_path.glob("*.json"))) == 3
    assert len(texts) == 1


@pytest.mark.long
def test_the_ending_of_an_output_tells_its_format(cli: Cli, tmp_path: Path) -> None:
    compare = ("compare", "preset:venice-z-nand", "--set", "workload.requests=100", "--vary", "seed=1,2", "--quiet")
    assert cli(*compare, "-o", "runs.csv").returncode == 0
    assert (tmp_path / "runs.csv").read_text().startswith("seed,")
    assert cli(*compare, "-o", "runs.json").returncode == 0
    assert len(json.loads((tmp_path / "runs.json").read_text())["runs"]) == 2
    refused = cli(*compare, "-o", "runs.html")
    assert refused.returncode == 2
    assert "-o/--out: runs.html: the suffix determines the format: use .json or .csv or .parquet" in refused.stderr


def test_an_output_that_is_named_twice_is_refused(cli: Cli, tmp_path: Path) -> None:
    done = cli("presets", "-o", "a.json", "--json", "b.json")
    assert done.returncode == 2
    assert "-o/--out a.json and --json b.json are both given" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["presets", "profiles", "measures"])
def test_lists_are_printed_as_json(name: str, cli: Cli) -> None:
    text = cli(name).stdout
    listed = json.loads(cli(name, "--json").stdout)
    assert len(listed) > 5
    assert all(each["name"] in text for each in listed)


def test_findings_of_doctor_are_printed_as_json(cli: Cli) -> None:
    assert json.loads(cli("doctor", "--json").stdout)["works"]


def test_states_are_printed_as_json(cli: Cli) -> None:
    assert json.loads(cli("cache", "--json").stdout)["states"] == []


def test_every_measure_has_its_meaning(cli: Cli) -> None:
    listed = {each["name"]: each for each in json.loads(cli("measures", "--json").stdout)}
    assert listed["wires"]["meaning"] == listed["area.wires"]["meaning"]
    assert listed["p99"]["meaning"] == "Latency of all requests: 99th percentile."
    assert all(each["meaning"] for each in listed.values())
    first = cli("measures").stdout.split("\n\n")[0]
    assert first.startswith("execution time  ")
    assert all(name in first for name in ("free of path conflicts", "distance to the bound"))


def test_a_workload_behind_json_is_no_file(cli: Cli, tmp_path: Path) -> None:
    done = cli("profiles", "--json", "hm_0")
    assert done.returncode == 2
    assert "put the workload before --json" in done.stderr
    assert not list(tmp_path.iterdir())
    (described,) = json.loads(cli("profiles", "hm_0", "--json").stdout)
    assert described["description"] == cli("profiles", "hm_0").stdout


def test_examples_are_written_once_and_never_over_others(cli: Cli, tmp_path: Path) -> None:
    done = cli("examples")
    assert done.returncode == 0
    assert all((tmp_path / line).is_file() for line in done.stdout.splitlines())
    assert "examples/traces/shop.csv.xz" in done.stdout.splitlines()
    assert "of them unchanged" in cli("examples").stderr
    (tmp_path / "examples" / "demo.toml").write_text("mine")
    refused = cli("examples")
    assert refused.returncode == 2
    assert "examples/demo.toml: exists already with other content" in refused.stderr
    assert (tmp_path / "examples" / "demo.toml").read_text() == "mine"


def test_an_example_that_is_missing_names_the_command_that_writes_it(cli: Cli) -> None:
    done = cli("run", "examples/demo.toml")
    assert done.returncode == 2
    assert "`flashmesh examples` writes the examples" in done.stderr


@pytest.mark.parametrize("command", ["presets", "measures"])
def test_lists_fit_a_terminal_of_80_columns(cli: Cli, command: str) -> None:
    assert max(map(len, cli(command).stdout.splitlines())) <= 80
