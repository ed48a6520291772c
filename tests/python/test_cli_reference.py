"""The reference of the command line follows from the commands."""

from __future__ import annotations

import cli_reference
from flashmesh.cli.commands import COMMANDS


def test_the_page_is_what_the_commands_say() -> None:
    stale = "run make generate"
    assert cli_reference.FILE.read_text(encoding="utf-8") == cli_reference.reference(), stale


def test_it_has_every_command_and_their_options() -> None:
    text = cli_reference.reference()
    assert all(f"\n## flashmesh {name}\n" in text for name in COMMANDS)
    assert "\n## flashmesh trace stat\n" in text
    assert "| `--seed INTEGER RANGE` |" in text
