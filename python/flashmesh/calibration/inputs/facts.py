"""Facts of a drive: a configuration without a workload, with a table `calibrate` for the search.

preset = "venice-z-nand"

[geometry]
channels = 8

[flash]
erase-time = "3ms"                # a value that is stated is not searched

[calibrate]
fixed = ["flash.program-time"]    # keys whose values in the preset are facts
software-time = "5us"             # time of host software; searched if it is not stated

[calibrate.search]                # further searched keys, and other ranges
"cache.low-mark" = "0.2..0.7"
"gc.victim" = ["greedy", "d-choices"]
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.calibration.derived import spare_blocks, stripes
from flashmesh.calibration.space import SOFTWARE, UNSET, FreeKey, Space, configured, free_key, listed
from flashmesh.configuring.sources import PipeText
from flashmesh.keys import flat
from flashmesh.validation.drives import software_us
from flashmesh.validation.loads.workload import SECTIONS, drive_tables

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.configuring.sources import ConfigSource

CALIBRATE = "calibrate"
HEADING = re.compile(r"\s*\[")
CALIBRATE_HEADING = re.compile(r"\s*\[\s*calibrate\s*[.\]]")
"""Lines of a file that begin a table, and those that begin `[calibrate]` or one of its tables."""
KNOWN = ("fixed", "software-time", "search")


@dataclass(frozen=True)
class Facts:
    """Known values of a drive, and the space of keys to search."""

    path: Path
    stated: dict[str, Any]
    """Tables of the file, without `[calibrate]`."""
    tables: dict[str, Any]
    """Complete configuration of the drive, as tables."""
    space: Space
    software_us: float

    def start(self) -> dict[str, str]:
        """Returns the initial values of the searched keys: those of the preset if allowed, else `FreeKey.first`."""
        known = flat(self.tables) if "preset" in self.stated else {}
        values = {key: configuration.value_text(value) for key, value in known.items()}
        found: dict[str, str] = {}
        for key in self.space.keys:
            text = values.get(key.key, "")
            if isinstance(key.domain, tuple):
                found[key.key] = text if text in key.domain else key.first
            else:
                found[key.key] = text if key.share_of(text) is not None else key.first
        return found


def read_facts(path: Path, *, with_rows: bool = False) -> Facts:
    """Reads the facts in a file, and the keys to search.

    Args:
        path: The file.
        with_rows: Whether the measurements include data-sheet rows, which determine further keys.

    Raises:
        ConfigError: If the file is invalid, states a key that it also searches, or leaves no key to search.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not TOML: {error}") from error
    about = tables.pop(CALIBRATE, {})
    workload = [section for section in SECTIONS if section in tables]
    if workload:
        raise ConfigError(f"{path}: [{workload[0]}] describes a workload, which the measurements define: remove it")
    for name in about:
        if name not in KNOWN:
            raise ConfigError(f"{path}: [calibrate] {name} is unknown: there are {', '.join(KNOWN)}")
    free = free_keys(path, tables, about, with_rows)
    drive = whole_drive(without_search(path, text, tables), path, free)
    free = [key for key in (*free, *stripes(drive, tables)) if key.key not in about.get("fixed", ())]
    found = tuple(key for key in free if is_read(drive, key, free))
    if not found:
        raise ConfigError(f"{path}: leaves nothing to fit: name keys and ranges in [calibrate.search]")
    added = software_us(f"{path}: [calibrate]", about.get(SOFTWARE, "0us"))
    return Facts(path, tables, drive, Space(found), added)


def free_keys(path: Path, stated: dict[str, Any], about: dict[str, Any], with_rows: bool) -> list[FreeKey]:
    """Returns the keys to search, including keys that have no effect in the drive.

    Raises:
        ConfigError: If a searched key is stated as well, or a fixed key is not searched.
    """
    given = {*flat(stated), *({SOFTWARE} & about.keys())}
    if "geometry.capacity" in given:
        given.add("geometry.over-provisioning")
    if flat(stated).get("flash.suspension") == "off":
        given.add("flash.suspend-time")
    keys = {key.key: key for key in (*listed(), *spare_blocks(stated)) if key.key not in given}
    asked: dict[str, FreeKey] = {}
    for name, domain in about.get("search", {}).items():
        form = {"choices": domain} if isinstance(domain, list) else {"range": domain}
        asked[name] = free_key(f"{path}: [calibrate.search]", {"key": name, **form})
        refuse_untrusted_choices(path, asked[name])
        if name in given:
            raise ConfigError(f"{path}: states {name}, which [calibrate.search] searches: remove one of them")
    fixed = about.get("fixed", [])
    known = {key.key for key in listed()} | set(asked) | set(keys)
    for name in fixed:
        if name not in known:
            raise ConfigError(
                f"{path}: [calibrate] fixed has {name}, which is not searched: {', '.join(sorted(known))} are"
            )
    keys = {name: key for name, key in keys.items() if with_rows or not key.needs_rows} | asked
    return [key for name, key in keys.items() if name not in fixed]


def whole_drive(source: ConfigSource | PipeText, path: Path, free: list[FreeKey]) -> dict[str, Any]:
    """Returns the complete drive as tables.

    If the stated keys alone are invalid because they need searched keys, searched keys are set to `first_value`.

    Args:
        source: The stated keys.
        path: The file of the facts.
        free: The searched keys, including keys that have no effect in the drive.

    Raises:
        ConfigError: If the drive is invalid with these values too.
    """
    settings: dict[str, str] = {}
    try:
        return drive_tables(source, settings, str(path))
    except ConfigError:
        pass
    for key in free:
        settings |= configured({key.key: first_value(key)})
        try:
            return drive_tables(source, configured({key.key: first_value(key)}), str(path))
        except ConfigError:
            continue
    while True:
        try:
            return drive_tables(source, settings, str(path))
        except ConfigError as error:
            idle = [key for key in settings if f"error: {key} has no effect" in str(error)]
            if not idle:
                raise
            settings = {key: value for key, value in settings.items() if key not in idle}


def without_search(path: Path, text: str, stated: dict[str, Any]) -> ConfigSource | PipeText:
    """Returns the text of the facts with empty lines in place of `[calibrate]`, so that errors name the user's lines.

    Returns the tables if the text cannot be split at its headings.

    Args:
        path: The file of the facts.
        text: The text of the file.
        stated: The tables of the file, without `[calibrate]`.
    """
    lines: list[str] = []
    is_left_out = False
    for line in text.splitlines():
        if HEADING.match(line):
            is_left_out = CALIBRATE_HEADING.match(line) is not None
        lines.append("" if is_left_out else line)
    kept = "\n".join(lines)
    try:
        is_whole = tomllib.loads(kept) == stated
    except tomllib.TOMLDecodeError:
        is_whole = False
    return PipeText(str(path), kept) if is_whole else stated


def first_value(key: FreeKey) -> str:
    """Returns the middle of a range, or the first choice."""
    return key.domain[0] if isinstance(key.domain, tuple) else key.at(0.5)


def refuse_untrusted_choices(path: Path, key: FreeKey) -> None:
    """Refuses choices that name policies in a file that is not trusted.

    Raises:
        ConfigError: If a choice names a policy, and the file is not trusted.
    """
    from flashmesh.policies.names import BUILT_IN
    from flashmesh.policies.trust import refuse_untrusted

    if key.key.startswith("policy.") and isinstance(key.domain, tuple):
        for choice in key.domain:
            if choice not in ("", BUILT_IN):
                refuse_untrusted(f"{path}: [calibrate.search]", key.key, choice)


def is_read(drive: dict[str, Any], key: FreeKey, free: list[FreeKey]) -> bool:
    """Returns whether `key` has an effect in the drive, for some value of it and of at most one other searched key."""
    if key.key == SOFTWARE:
        return True
    choices = [(other.key, each) for other in free for each in values_of(other)]
    for value in values_of(key):
        for beside in ({}, *({name: each} for name, each in choices if name != key.key)):
            try:
                varied = configured({**beside, key.key: value})
                if configuration.load(drive, varied=varied, typed={}).unread(key.key) is None:
                    return True
            except ConfigError:
                continue
    return False


def values_of(key: FreeKey) -> list[str]:
    """Returns the middle of a range, or all choices except `UNSET`."""
    domain = key.domain if isinstance(key.domain, tuple) else (key.at(0.5),)
    return [value for value in domain if value != UNSET]
