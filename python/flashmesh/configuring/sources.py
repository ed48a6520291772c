"""Sources of configurations: files, pipes, presets, mappings and typed parameters, and their values as text."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from flashmesh._native import ConfigError
from flashmesh.configuring.missing import PRESET_PREFIX
from flashmesh.configuring.spelling import spelt_tables

T = TypeVar("T")
TEXT_MAX = 1 << 20
"""Maximum length of a configuration from a pipe, in characters. Files have the same limit, in bytes."""
STDIN = "-"
"""Path that stands for standard input in arguments that name a configuration."""


@runtime_checkable
class TomlTables(Protocol):
    """Interface of objects that provide the tables of a configuration file, with keys spelled as in files."""

    def to_toml_tables(self) -> Mapping[str, Any]:
        """Returns the tables; omitted parameters keep the value of the preset."""


ConfigSource: TypeAlias = str | Path | Mapping[str, Any] | TomlTables
"""Configuration: the path of a file, "-" for standard input, "preset:NAME", nested mappings, or typed parameters."""


@dataclass(frozen=True, slots=True)
class PipeText:
    """Text from a pipe or standard input, which can be read only once."""

    name: str
    text: str


def read_once(source: ConfigSource) -> ConfigSource | PipeText:
    """Returns a source that can be read repeatedly: for a pipe or standard input its text, otherwise the source itself.

    Raises:
        ConfigError: If the source cannot be read.
    """
    if not isinstance(source, str | Path) or str(source).startswith(PRESET_PREFIX):
        return source
    try:
        if str(source) == STDIN:
            # The type stubs of Python omit that a closed stream is None.
            stream: IO[str] | None = sys.stdin
            if stream is None:
                raise ConfigError("<stdin>: cannot be read: it is closed")
            return PipeText("<stdin>", interruptibly(lambda: read_text(stream, "<stdin>")))
        if not Path(source).is_fifo():
            return source
        return PipeText(str(source), interruptibly(lambda: read_pipe(Path(source))))
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{source}: cannot be read: {error}") from error
    except ValueError:
        return source  # not a valid path: loading the source reports the error


def read_pipe(path: Path) -> str:
    """Returns the text from a pipe.

    Raises:
        ConfigError: If the text is too long.
        OSError: If the pipe cannot be read.
    """
    with path.open(encoding="utf-8") as stream:
        return read_text(stream, str(path))


def read_text(stream: IO[str], name: str) -> str:
    """Returns the text of a configuration, with a limit on its length, since a pipe may never end.

    Raises:
        ConfigError: If the text is too long.
    """
    text = stream.read(TEXT_MAX + 1)
    if len(text) > TEXT_MAX:
        raise ConfigError(f"{name}: longer than {TEXT_MAX >> 20} MiB, which no configuration is")
    return text


def identity(source: ConfigSource | PipeText, overrides: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Returns a value that changes whenever the configuration does; None for tables, which the caller may modify."""
    if not isinstance(source, str | Path | PipeText):
        return None
    file = Path(source) if isinstance(source, str | Path) else None
    try:
        found = file.stat() if file is not None else None
    except (OSError, ValueError):
        found = None  # the source is a preset, or no such file exists
    changed = (found.st_mtime_ns, found.st_size, found.st_ino) if found is not None else None
    return str(source), changed, *(f"{key}={value_text(value)}" for key, value in overrides.items())


def place_of(source: ConfigSource | PipeText) -> str:
    """Returns the name of a source in errors: its path, preset or pipe, or `config` for tables."""
    match source:
        case PipeText():
            return source.name
        case str() | Path():
            return str(source)
        case _:
            return "config"


def toml_of(source: Mapping[str, Any] | TomlTables) -> str:
    """Returns tables as TOML.

    Raises:
        ConfigError: If TOML cannot represent a value.
    """
    import tomli_w

    tables = source if isinstance(source, Mapping) else source.to_toml_tables()
    try:
        text = tomli_w.dumps(plain(spelt_tables(tables)))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the configuration cannot be written as TOML: {error}") from error
    refuse_unspeakable(text)
    return text


def refuse_unspeakable(text: str) -> None:
    """Refuses texts with lone surrogates, which represent undecodable bytes in Python.

    Raises:
        ConfigError: If a text contains one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{text!r}: is not valid Unicode") from error


def interruptibly(read: Callable[[], T]) -> T:
    """Calls `read` in a thread, and returns its result.

    Ctrl-C abandons the thread, since a pipe may never deliver data.
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            found.append(read())
        except BaseException as error:  # the waiting thread raises it again
            failed.append(error)

    reader = threading.Thread(target=work, name="flashmesh-read", daemon=True)
    reader.start()
    reader.join()
    if failed:
        raise failed[0]
    return found[0]


def plain(value: Any) -> Any:
    """Returns a value with plain Python types in place of NumPy scalars and arrays, also within tables and lists."""
    match value:
        case Mapping():
            return {key: plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
    # Values of NumPy are recognised by the module of their type, so that NumPy is not imported here.
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value


def value_text(value: object) -> str:
    """Returns a value in the spelling of an override: text unchanged, everything else as TOML."""
    # Test the most frequent types first, since a study has millions of values.
    if type(value) is str:
        return value
    if type(value) in (int, float):
        return str(value)
    value = plain(value)
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return json.dumps(value)
        case _:
            return str(value)
