"""Commands in README.md and docs/: each runs and prints what the page shows."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

import flashmesh
from conftest import COMMAND, run_in
from documents import (
    ANY_SHELL,
    BLOCK,
    OF_THE_MACHINE,
    PAGES,
    ROOT,
    Command,
    commands,
    first_row,
    is_best,
    is_same_drawing,
    pictures,
    unsupported,
)
from flashmesh import configuration
from flashmesh.cli.commands import flashmesh as command_line
from shown_outputs import renewed, shortened

OTHERS = {
    ".",
    "apptainer",
    "callgrind_annotate",
    "dask",
    "docker",
    "fio",
    "nbdcopy",
    "nbdfuse",
    "perf",
    "python3",
    "qemu-img",
    "taplo",
    "valgrind",
}
"""Foreign programs on pages, whose options are not checked."""
COMMANDS = [command for page in PAGES for command in commands(page)]
RUN = {
    page: [command for command in commands(page) if command.runs and command.words[0] == "flashmesh"] for page in PAGES
}


SHORT = {"README.md"}
"""Pages whose commands `make test` runs. `make test-long` runs the others."""


REFERENCES = {"docs/cli.md", "docs/parameters.md", "docs/results.md", "docs/tests.md"}
"""Pages that are searched and not read from top to bottom."""
WORDS_MAX = 3_000


def named(page: Path) -> str:
    """Returns the name of a page in tests."""
    return page.relative_to(ROOT).as_posix()


TABLE = """fabric.kind        p99      95 %
--------------------------------
bus           1.211 ms   +-2.0 %
pssd          624.4 us   +-9.1 %
"""


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [("lowest", "pssd", True), ("lowest", "bus", False), ("highest", "bus", True), ("lowest", "venice", False)],
)
def test_a_row_that_a_page_calls_the_best_is_compared_in_every_column(kind: str, name: str, expected: bool) -> None:
    assert is_best(TABLE, kind, name) == expected


COLUMNS = """scale        bus       pssd
--------------------------
1       153.5 us   113.0 us
0.5     26.59 ms   177.2 us
"""


def test_a_column_may_be_the_best() -> None:
    assert is_best(COLUMNS, "lowest", "pssd")
    assert not is_best(COLUMNS.replace("177.2 us", "27.00 ms"), "lowest", "pssd")


def test_no_block_of_commands_is_overlooked() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == len(ANY_SHELL.findall(text)), page
    assert len(COMMANDS) > 60
    assert sum(len(found) for found in RUN.values()) > 40


def words_of(text: str) -> int:
    """Returns the number of words of a page, without the bars and rules of its tables."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def test_no_page_is_too_long_to_read() -> None:
    words = {named(page): words_of(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: count for name, count in words.items() if count > WORDS_MAX and name not in REFERENCES} == {}


@pytest.fixture
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder of saved states shared by all test processes, since several pages run the same drive."""
    mine = tmp_path_factory.getbasetemp()
    # Parallel test processes have separate folders with a common parent.
    return (mine.parent if os.environ.get("PYTEST_XDIST_WORKER") else mine) / "states"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=named(page), marks=[pytest.mark.long] * (named(page) not in SHORT))
        for page, found in RUN.items()
        if found
    ],
)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, tmp_path: Path, states: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in RUN[page]:
        printed = run(command, tmp_path, states)
        if command.shown:
            assert shows(command.shown, printed), f"{command.place} prints\n{printed}"
        assert first_row(printed)[: len(command.row)] == command.row, f"{command.place} prints\n{printed}"
        assert unsupported(command.quoting, printed) == [], f"{command.place} prints\n{printed}"
        assert command.best is None or is_best(printed, *command.best), f"{command.place} prints\n{printed}"
    for picture in pictures(page):
        made = (tmp_path / picture.made).read_text(encoding="utf-8")
        assert is_same_drawing(picture.file.read_text(encoding="utf-8"), made), (
            f"{picture.file}: make outputs renews it"
        )


def run(command: Command, folder: Path, states: Path) -> str:
    """Runs a command. Returns stdout without parts that depend on the machine."""
    words, file = redirected(command.words)
    done = run_in(folder, COMMAND, *words[1:], beside={"BROWSER": "true", "FLASHMESH_CACHE": str(states)})
    assert done.returncode == 0, f"{command.place}\n{done.stderr}"
    if file is not None:
        (folder / file).write_text(done.stdout)
        return ""
    return OF_THE_MACHINE.sub("", done.stdout).rstrip()


def redirected(words: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Returns a command without redirection, and the file to which its output is redirected; None without one."""
    return (words[:-2], words[-1]) if ">" in words[-2:-1] else (words, None)


def shows(shown: str, printed: str) -> bool:
    """Returns whether a page shows an output. A line `...` stands for any omitted lines."""
    parts = [part.strip("\n") for part in re.split(r"^\.\.\.$", OF_THE_MACHINE.sub("", shown), flags=re.MULTILINE)]
    if len(parts) == 1:
        return parts[0].rstrip() == printed
    at = 0
    for number, part in enumerate(parts):
        found = printed.find(part.rstrip(), at)
        if found < 0 or (number == 0 and found > 0):
            return False
        at = found + len(part.rstrip())
    return not parts[-1] or at == len(printed)


def test_an_output_is_renewed_in_the_parts_that_are_shown() -> None:
    printed = "a\n\nb\nWhy\nc\nd\ne"
    assert shortened(printed, "old\n...\nWhy\nold\n...") == "a\n...\nWhy\nc\n..."
    assert shortened(printed, "old\n\n...\nold") == "a\n\n...\ne"
    assert shortened(printed, "old") == printed


def test_a_part_that_an_output_no_longer_has_is_named_with_its_page() -> None:
    command = Command(ROOT / "docs" / "tutorial.md", 12, ("flashmesh", "run"), "a\n...\nWhy\n...", runs=True)
    assert renewed(command, "a\nb\nWhy\nc") == "a\n...\nWhy\n..."
    with pytest.raises(SystemExit) as ended:
        renewed(command, "a\nb\nc")
    assert ended.value.code == (
        "docs/tutorial.md:12: flashmesh run\nthe output has no line that begins the shown part `Why`; "
        "change what the page shows between two lines `...`"
    )


def test_page_that_names_the_first_row_has_it_checked() -> None:
    for page in PAGES:
        if "The first row" in page.read_text(encoding="utf-8"):
            assert any(command.row for command in commands(page)), page
    assert any(command.row for command in COMMANDS)


def test_first_row_is_that_below_the_headings() -> None:
    table = f"kind   IOPS\n{'-' * 24}\nbus    1.2M\nideal  2M\n"
    assert first_row(f"told\n\n{table}") == ("bus", "1.2M")
    assert first_row("no table") == ()


def test_figures_of_a_paragraph_are_those_of_the_output() -> None:
    printed = "waiting for the die   242.8 us  54%\nIOPS 163.4k +-1.9 %"
    assert unsupported("A read waits 243 us (54 %) at 163k IOPS; 16 dies.", printed) == []
    assert unsupported("A read waits 0.243 ms.", printed) == []
    assert unsupported("A read waits 141 us at 329k IOPS.", printed) == ["141 us", "329 k"]
    assert any(command.quoting for command in COMMANDS)


def test_what_is_shown_is_compared() -> None:
    assert shows("a\nb", "a\nb")
    assert shows("a\n...\nc", "a\nb\nc")
    assert shows("a\n...", "a\nb")
    assert not shows("a", "a\nb")
    assert not shows("b\n...", "a\nb")
    assert not shows("a\n...\nd", "a\nb\nc")


def test_a_drawing_may_move_a_little_and_change_nothing_else() -> None:
    drawing = '<svg><text x="10.5" y="3">bus</text></svg>'
    assert is_same_drawing(drawing, drawing.replace("10.5", "12"))
    assert not is_same_drawing(drawing, drawing.replace("10.5", "40"))
    assert not is_same_drawing(drawing, drawing.replace("bus", "pssd"))
    assert not is_same_drawing(drawing, drawing.replace("<text", "<path/><text"))


QUESTIONS = [page for page in PAGES if pictures(page)]


@pytest.mark.parametrize("page", QUESTIONS, ids=named)
def test_a_page_with_a_picture_begins_with_a_question(page: Path) -> None:
    assert page.read_text(encoding="utf-8").split("\n")[0].endswith("?")


def test_there_is_a_page_for_each_question_people_bring() -> None:
    assert len(QUESTIONS) >= 11
    shown = {picture.file for page in QUESTIONS for picture in pictures(page)}
    assert shown == set((ROOT / "docs/how-to/pictures").iterdir())


def test_no_two_pages_write_into_the_same_folder() -> None:
    written: dict[str, Path] = {}
    for command in COMMANDS:
        words = command.words
        for option in ("--out", "--plots"):
            if command.runs and words[0] == "flashmesh" and option in words:
                folder = words[words.index(option) + 1]
                assert written.setdefault(folder, command.page) == command.page, folder


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.place)
def test_a_command_has_options_that_exist(command: Command) -> None:
    program, *words = redirected(command.words)[0]
    match program:
        case "flashmesh":
            parsed(words)
        case "make":
            targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
            assert {word for word in words if "=" not in word} <= targets
        case "cargo":
            for kind, folder in (("--test", "tests"), ("--example", "examples")):
                if kind in words:
                    name = words[words.index(kind) + 1]
                    assert list((ROOT / "crates").glob(f"*/{folder}/{name}*"))
        case "pip":
            project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            for extras in re.findall(r"flashmesh\[([a-z,]+)\]", " ".join(words)):
                assert set(extras.split(",")) <= set(project["optional-dependencies"])
        case _:
            assert program in OTHERS or "=" in program or "/" in program


def parsed(words: list[str]) -> None:
    """Parses the options of a command and reads its configuration."""
    command: click.Command = command_line
    context: click.Context | None = None
    name = "flashmesh"
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        context = click.Context(command, info_name=name, parent=context)
        if command.get_command(context, words[0]) is None and name == "config":
            words = ["print", *words]
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, name
        command = found
    if words and isinstance(command, click.Group):
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(words) <= {*known, "--help", "--version"}
        return
    values = command.make_context(name, list(words), parent=context).params
    if name in ("run", "compare", "print") and (source := values.get("config")) and is_there(source):
        axes = values.get("axes", ())
        first = dict(values["settings"]) | {key: found[0] for key, found in axes}
        others = [first | {key: value} for key, found in axes for value in found[1:]]
        source = str(ROOT / source) if (ROOT / source).is_file() else source
        try:
            load(source, first, values)
        except flashmesh.ConfigError as error:
            # A key may have an effect only at some values of an axis, so it is accepted if any point accepts it.
            if " has no effect: " not in str(error) or not any(is_read(source, each, values) for each in others):
                raise


def load(source: str, settings: dict[str, Any], values: dict[str, Any]) -> None:
    """Reads the configuration of a command at one point of its axes."""
    configuration.load(source, overrides=settings, trace=values.get("trace"), profile=values.get("profile"))


def is_read(source: str, settings: dict[str, Any], values: dict[str, Any]) -> bool:
    """Returns whether a configuration can be read at one point of the axes of a command."""
    try:
        load(source, settings, values)
    except flashmesh.ConfigError:
        return False
    return True


def is_there(source: str) -> bool:
    """Returns whether a configuration is a preset or a file of the repository."""
    return source.startswith("preset:") or (ROOT / source).is_file()


def test_a_wrong_option_is_found() -> None:
    with pytest.raises(click.UsageError):
        parsed(["run", "--no-such-option", "preset:venice-z-nand"])
    with pytest.raises(flashmesh.ConfigError):
        parsed(["run", "preset:venice-z-nand", "--set", "fabric.kin=bus"])
    compared = ["compare", "preset:venice-z-nand", "--set", "nossd.injection=nearest", "--vary"]
    with pytest.raises(flashmesh.ConfigError):
        parsed([*compared, "fabric.kind=bus,pssd"])
    parsed([*compared, "fabric.kind=bus,nossd"])
    with pytest.raises(flashmesh.ConfigError):
        parsed([*compared, "fabric.kind=bsu,nossd"])
