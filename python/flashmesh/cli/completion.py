"""Shell completion: commands, keys and their values, presets, named workloads, measures, files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

from flashmesh import _native
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import COMPLETING
from flashmesh.cli.output import stdout
from flashmesh.configuring.missing import PRESET_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONFIGURATIONS = (".toml",)
SAVED = (".toml", ".json", ".parquet")
FILES = {"workload.trace": (), "workload.fitted": CONFIGURATIONS}
"""Keys whose values are files, with the accepted suffixes; an empty tuple accepts any suffix."""
SHELLS = ("bash", "zsh", "fish")
BOOLEANS = ("true", "false")


def configs(ctx: click.Context, parameter: click.Parameter | None, incomplete: str) -> list[CompletionItem]:
    """Completes presets and configuration files."""
    return [*presets(incomplete), *paths(incomplete, CONFIGURATIONS)]


def configs_and_saved(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes presets, configuration files and saved results."""
    return [*presets(incomplete), *paths(incomplete, SAVED)]


def presets(incomplete: str) -> list[CompletionItem]:
    """Completes `preset:NAME`."""
    return beginning(incomplete, {f"{PRESET_PREFIX}{name}": about for name, about in _native.presets().items()})


def paths(incomplete: str, endings: Iterable[str] = ()) -> list[CompletionItem]:
    """Completes folders, and files with a suffix in `endings`; an empty `endings` accepts any suffix."""
    folder, start = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(Path(folder or ".").expanduser()), key=lambda entry: entry.name)
    except OSError:
        return []
    found = []
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start.startswith(".")):
            continue
        name = os.path.join(folder, entry.name)  # noqa: PTH118 - keeps the spelling of the typed path
        if entry.is_dir():
            found.append(CompletionItem(f"{name}/"))
        elif not endings or entry.name.endswith(tuple(endings)):
            found.append(CompletionItem(name))
    return found


def profiles(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes named workloads."""
    known = _native.profiles_by_paper().values()
    return beginning(incomplete, {name: about for summaries in known for name, about in summaries.items()})


def measures(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes measures and keys of results."""
    from flashmesh.report.measures.measure import NAMES

    keys = {key: meaning for key, _, meaning in _native.quantities()}
    return beginning(incomplete, {name.strip(): "" for name in NAMES} | keys)


def keys(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes sections of a configuration and, after the dot, the keys of a section."""
    return [CompletionItem(name, help=about or None) for name, about in keys_from(incomplete)]


def settings(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes `KEY=VALUE`."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        found = keys_from(incomplete)
        return [CompletionItem(name if name.endswith(".") else f"{name}=", help=about or None) for name, about in found]
    return prefixed(f"{key}=", values(key, value))


def axes(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completes `KEY=VALUE,VALUE` without repeating values."""
    key, equals, listed = incomplete.partition("=")
    if not equals:
        return settings(ctx, parameter, incomplete)
    before, comma, last = listed.rpartition(",")
    taken = before.split(",")
    fresh = [item for item in values(key, last) if item.value not in taken]
    return prefixed(f"{key}={before}{comma}", fresh)


def keys_from(incomplete: str) -> list[tuple[str, str]]:
    """Returns the keys with a prefix and their meanings; if several sections match, only the sections."""
    declared = {one["key"]: one["meaning"] for one in json.loads(_native.parameters()) if "NAME" not in one["key"]}
    matching = [key for key in declared if key.startswith(incomplete)]
    sections = dict.fromkeys(key.rpartition(".")[0] for key in matching)
    if "." in incomplete or len(sections) < 2:
        return [(key, declared[key]) for key in matching]
    about = dict(_native.sections())
    own = [(key, declared[key]) for key in matching if "." not in key]
    return own + [(f"{section}.", about.get(section, "")) for section in sections if section]


def values(key: str, incomplete: str) -> list[CompletionItem]:
    """Completes the values of a key: choices, truth values, files or named workloads; nothing for other types."""
    declared = {one["key"]: one for one in json.loads(_native.parameters())}
    found = declared.get(key)
    if key in FILES:
        return paths(incomplete, FILES[key])
    if key == "workload.profile":
        known = _native.profiles_by_paper().values()
        return beginning(incomplete, {name: about for summaries in known for name, about in summaries.items()})
    if found is None:
        return []
    if found["type"] == "boolean":
        return beginning(incomplete, dict.fromkeys(BOOLEANS, ""))
    return beginning(incomplete, dict(found["choices"]))


def beginning(incomplete: str, known: Mapping[str, str]) -> list[CompletionItem]:
    """Completes names with a prefix, each with the first sentence of its description."""
    found = ((name, about.split(". ")[0]) for name, about in known.items() if name.startswith(incomplete))
    return [CompletionItem(name, help=about or None) for name, about in found]


def prefixed(prefix: str, items: Iterable[CompletionItem]) -> list[CompletionItem]:
    """Returns each completion with `prefix` before it."""
    return [CompletionItem(f"{prefix}{item.value}", type=item.type, help=item.help) for item in items]


@add_completion_class
class Bash(BashComplete):
    """Completion in Bash, which splits words at `:` and `=`; so the script passes the whole line."""

    source_template = """\
%(complete_func)s() {
    local line="${COMP_LINE:0:COMP_POINT}" word part item kind value
    word="${line##*[[:space:]]}"
    part="${COMP_WORDS[COMP_CWORD]}"
    # A break that is a word of its own has nothing behind it yet.
    [[ $part == [:=] ]] && part=""
    part="${word%%"$part"}"
    COMPREPLY=()
    while IFS= read -r item; do
        kind="${item%%%%,*}" value="${item#*,}"
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            *) COMPREPLY+=("${value#"$part"}") ;;
        esac
    done < <(env FLASHMESH_LINE="$line" %(complete_var)s=bash_complete %(prog_name)s)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=./:,] ]]; then compopt -o nospace; fi
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Returns the complete words of the line, and the incomplete last one."""
        line = os.environ["FLASHMESH_LINE"]
        words = split_arg_string(line)[1:]
        if not words or line[-1:].isspace():
            return words, ""
        return words[:-1], words[-1]

    def source(self) -> str:
        """Returns the script without Click's check of the Bash version: Bash before 4.4 reports the problem itself."""
        return self.source_template % self.source_vars()


@command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes words in a shell.

    SHELL is bash, zsh or fish. See docs/installation.md for where to store the script; to try it in bash or zsh:
    eval "$(flashmesh completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.Command("flashmesh"), {}, "flashmesh", COMPLETING).source()
    with stdout() as stream:
        stream.write(script.rstrip("\n") + "\n")
