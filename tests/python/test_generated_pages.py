"""Pages generated from the commands and from the importer of MQSim's files."""

from __future__ import annotations

import cli_reference
import mqsim_keys
from flashmesh.cli.commands import COMMANDS
from flashmesh.importers.mqsim.tags import DEVICE, FLASH

STALE = "run make generate"


def test_the_reference_of_the_command_line_is_what_the_commands_say() -> None:
    assert cli_reference.FILE.read_text(encoding="utf-8") == cli_reference.reference(), STALE


def test_the_reference_has_every_command_and_its_options() -> None:
    text = cli_reference.reference()
    assert all(f"\n## flashmesh {name}\n" in text for name in COMMANDS)
    assert "\n## flashmesh trace stat\n" in text
    assert "| `--seed INTEGER RANGE` |" in text


def test_the_table_of_mqsim_tags_is_what_the_importer_makes_of_them() -> None:
    assert mqsim_keys.FILE.read_text(encoding="utf-8") == mqsim_keys.reference(), STALE


def test_the_table_has_every_tag() -> None:
    text = mqsim_keys.reference()
    assert all(f"| `{tag.name}` | `" in text or f"| `{tag.name}` | no effect: " in text for tag in (*DEVICE, *FLASH))
    assert "| `Flash_Channel_Count` | `geometry.channels` |" in text
