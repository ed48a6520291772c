"""Check of a configuration before it is written: an error shows the tag that the refused key comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashmesh._native import Config, ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.importers.mqsim.ledger import Fate, Ledger
    from flashmesh.importers.problems import Source

PLACE = re.compile(r"^ *--> .*:([0-9]+):[0-9]+$", re.MULTILINE)
"""Pattern of the line of an error message that shows the file, line and column."""
TABLE = re.compile(r"\[(.+)\]")
KEY = re.compile(r"([\w-]+) = ")


def check(name: str, text: str, ledger: Ledger, sources: Sequence[Source]) -> None:
    """Loads a translated configuration, to report errors at the MQSim tag from which the refused key comes.

    Args:
        name: The name of the configuration file.
        text: The configuration.
        ledger: The record of the import.
        sources: The two files of MQSim, the drive file first.

    Raises:
        ConfigError: If the configuration does not load; the message shows a tag.
    """
    try:
        Config.from_str(text, name, [])
    except ConfigError as error:
        raise at_tag(str(error), text, ledger, sources) from None


def at_tag(message: str, text: str, ledger: Ledger, sources: Sequence[Source]) -> ConfigError:
    """Returns an error that shows the tag from which the refused key comes, or the drive if the key has no tag."""
    what = message.splitlines()[0].removeprefix("error: ")
    place = PLACE.search(message)
    key = key_at(text, int(place[1])) if place else ""
    fates = [fate for fate in ledger.fates if key in fate.keys]
    given = sorted((fate for fate in fates if fate.line), key=lambda fate: not fate.text[:1].isdigit())
    fate = given[0] if given else None
    source = next((source for source in sources if fate is not None and source.name == fate.source), sources[0])
    remedy = remedy_for(key, fates, fate)
    return source.problem(fate.line if fate else 1, f"the configuration cannot be used: {what}", remedy, mark_of(fate))


def remedy_for(key: str, fates: Sequence[Fate], given: Fate | None) -> str:
    """Returns advice for a refused key, as text: the tags of MQSim to change (`fates`), or the size of the drive.

    `given` is the tag in the file; None if MQSim's default was used.
    """
    tags = " and ".join(dict.fromkeys(f"<{fate.name}>" for fate in fates))
    if not tags:
        return f"{key} follows from the size of the drive: see <Flash_Parameter_Set> and <Overprovisioning_Ratio>"
    return f"{key} comes from {tags}: " + ("give another value" if given else "the default does not fit, give a value")


def mark_of(fate: Fate | None) -> str:
    """Returns the text to mark in the line of a tag: its content or, without content, its name."""
    return "" if fate is None else fate.text or fate.name


def key_at(text: str, line: int) -> str:
    """Returns the dotted key in a line of a configuration; empty if the line has none."""
    table = ""
    lines = text.splitlines()[:line]
    for row in lines:
        if found := TABLE.fullmatch(row.strip()):
            table = f"{found[1]}."
    key = KEY.match(lines[-1]) if lines else None
    return table + key[1] if key else ""
