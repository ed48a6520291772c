"""No foreign text reaches a terminal unescaped: from saved results, from files that are read, or from names."""

from __future__ import annotations

import copy
import io
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, Cli, environment
from flashmesh.cli.results.show import show_text
from flashmesh.report.measures.measure import MEASURES
from flashmesh.results.schema import MalformedError, check_comparison, check_result
from flashmesh.saved import open_runs
from flashmesh.sweeps.results.table import quantity_types
from flashmesh.texts.printable import PrintableStream, printable
from long_cases import in_part

EVIL = "a\x1b[31m\x07\r\x9b2J\u202e\u200b\u2066\udcffz"
ESCAPED = r"a\u001b[31m\u0007\u000d\u009b2J\u202e\u200b\u2066\udcffz"
TRACE = "".join(f"{1000 * number} 0 {8 * number} 8 1\n" for number in range(100))


def is_clean(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


def test_what_a_terminal_does_not_show_is_escaped_as_toml_and_json_spell_it() -> None:
    assert printable(EVIL) == ESCAPED
    assert printable("\U000e0001") == r"\U000e0001"
    assert printable("4 µs, 日本 █ \\ 'x'") == "4 µs, 日本 █ \\ 'x'"
    assert json.loads(f'"{printable(EVIL)}"') == EVIL


def test_a_guarded_stream_writes_no_character_that_its_encoding_lacks() -> None:
    content = io.BytesIO()
    stream = PrintableStream(io.TextIOWrapper(content, encoding="ascii", write_through=True))
    stream.writelines(["4 µs\n", f"{EVIL}\n"])
    assert content.getvalue().decode("ascii") == f"4 \\xb5s\n{ESCAPED}\n"
    assert not hasattr(stream, "buffer")


@pytest.fixture(scope="module")
def documents() -> tuple[dict[str, Any], ...]:
    """Returns a run with every possible part of a result, and a comparison."""
    full = flashmesh.run(
        {
            "preset": "venice-z-nand",
            "fabric": {"kind": "venice"},
            "geometry": {"channels": 2, "chips-per-channel": 2, "over-provisioning": 0.2},
            "cache": {"capacity": "1MiB"},
            "mapping": {"cache-capacity": "64KiB"},
            "persistence": {"policy": "journal"},
            "measure": {"collisions": True, "network": True, "chip-states": True, "epoch": "1ms"},
            "workload": {"requests": 1000, "read-share": 0.5},
            "stream": {"one": {}, "two": {"replay": {"mode": "closed"}}},
        },
        fairness=True,
    )
    compared = flashmesh.compare(
        {"preset": "venice-z-nand", "workload": {"requests": 100}}, vary={"fabric.kind": ["bus"]}
    )
    evil = compared.to_dict()
    evil["axes"] = {f"<key>{EVIL}": [f"<value>{EVIL}"]}
    evil["runs"][0]["settings"] = {f"<key>{EVIL}": f"<value>{EVIL}"}
    evil["failures"] = [{"settings": {f"<key>{EVIL}": f"<failed>{EVIL}"}, "error": f"<error>{EVIL}"}]
    return full.to_dict(), evil


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the paths to all texts in a document, and to all keys that are names."""
    if isinstance(value, dict):
        for key, each in value.items():
            if path and path[-1] in ("stream", "axes", "settings", "workload"):
                yield (*path, f"{key} (key)")
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        # Entries of a list are alike, so two are enough.
        for index, each in enumerate(value[:2]):
            yield from places(each, (*path, index))
    elif isinstance(value, str):
        yield path


class Terminal(io.TextIOWrapper):
    """A terminal in memory."""

    def isatty(self) -> bool:
        return True


def on_terminal(work: Callable[[Any], object]) -> str:
    """Returns the visible output without colours."""
    content = io.BytesIO()
    terminal = Terminal(content, encoding="utf-8", errors="strict", write_through=True, newline="")
    work(PrintableStream(terminal))
    return content.getvalue().decode("utf-8")


def put(document: Any, path: tuple[Any, ...], text: Any) -> None:
    """Puts a text at a place in a document."""
    for key in path[:-1]:
        document = document[key]
    if isinstance(path[-1], str) and path[-1].endswith(" (key)"):
        document[text] = document.pop(path[-1].removesuffix(" (key)"))
    else:
        document[path[-1]] = text


def refusal(check: Callable[[Any], None], document: Any, path: tuple[Any, ...]) -> str | None:
    """Returns the error for a document with a malicious text at one place; None if it is accepted."""
    is_key = str(path[-1]).endswith(" (key)")
    changed = copy.deepcopy(document) if is_key else document
    before = None if is_key else reduce(getitem, path, document)
    put(changed, path, EVIL)
    try:
        check(changed)
    except MalformedError as error:
        return str(error)
    finally:
        if not is_key:
            put(document, path, before)
    return None


@pytest.mark.parametrize("number", in_part(1, [0, 1]), ids=["run", "comparison"])
def test_no_text_of_a_saved_result_reaches_the_terminal_as_it_is(
    documents: tuple[dict[str, Any], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    # The runs of the comparison have no slowdowns, which need `--fairness`.
    left_out = ("slowdown", "fairness") if number == 1 else ()
    names = [
        name
        for name in (*(measure.name.strip() for measure in MEASURES), *quantity_types())
        if not any(word in name for word in left_out)
    ]
    document, check = copy.deepcopy(documents[number]), (check_result, check_comparison)[number]
    # Put a numbered text at every place that the schema accepts, so that the test can name the texts that are not
    # shown.
    taken: list[tuple[Any, ...]] = []
    refused = 0
    for path in reversed(list(places(document))):
        told = refusal(check, document, path)
        if told is None:
            put(document, path, f"<{len(taken)}>{EVIL}")
            taken.append(path)
            continue
        refused += 1
        assert is_clean(on_terminal(lambda stream, told=told: stream.write(told))), path  # type: ignore[misc]
    (tmp_path / "evil.json").write_text(json.dumps(document))
    found = open_runs(tmp_path / "evil.json")
    text = on_terminal(lambda stream: show_text(found, (), stream))
    text += on_terminal(lambda stream: show_text(found, names, stream))
    assert is_clean(text)
    marks = re.findall(r"<(\w+)>a\\u", text)
    shown = {str(taken[int(mark)][-1]) if mark.isdigit() else mark for mark in marks}
    assert shown >= ({"sentence", "version", "config_hash", "name"} if number == 0 else {"value"}), shown
    assert (len(taken) > 20, refused > 20) == (True, True), (taken, refused)


def evil_files(folder: Path) -> dict[str, tuple[str, ...]]:
    """Returns commands, each with a malicious text in a file that it reads, or in a name."""
    name = f"no\x1b[31m\u202e\x9bX{os.fsdecode(bytes([0xFF]))}"
    (folder / f"{name}.msr").write_text(TRACE)
    (folder / "drive.toml").write_text('preset = "venice-z-nand"\n[workload]\nrequests = 100\n')
    toml = name.encode("unicode_escape").decode().replace("\\x", "\\u00").replace("\\udcff", "")
    for key in ("workload.trace", "workload.fitted", "fabric.kind", "workload.profile"):
        (folder / f"{key}.toml").write_text(f'preset = "venice-z-nand"\n{key} = "{toml}"\n')
    (folder / "stream.toml").write_text(f'preset = "venice-z-nand"\n[stream."{toml}"]\nworkload.requests = 10\n')
    (folder / "sweep.toml").write_text(f'config = "{toml}"\n[axes]\nseed = [1, 2]\n')
    (folder / "axes.toml").write_text(f'config = "drive.toml"\n[axes]\n"{toml}" = [1, 2]\n')
    (folder / "key.toml").write_text(f'config = "drive.toml"\n"{toml}" = 1\n')
    (folder / f"{name}.toml").write_text('preset = "venice-z-nand"\n[workload]\nrequests = 100\n')
    (folder / "job.fio").write_text(f"[{name[:5]}]\nrw=read\nsize=1M\nnothing\x1b[2J=1\n", errors="surrogateescape")
    return {
        "trace that is not there": ("run", "workload.trace.toml"),
        "profile that is not there": ("run", "workload.fitted.toml"),
        "choice": ("run", "fabric.kind.toml"),
        "named profile": ("run", "workload.profile.toml"),
        "stream": ("run", "stream.toml"),
        "trace": ("run", "preset:venice-z-nand", "--trace", f"{name}.msr", "--set", "workload.format=ascii"),
        "statistics": ("trace", "stat", f"{name}.msr"),
        "conversion": ("trace", "convert", f"{name}.msr", f"{name}.ascii"),
        "profile": ("trace", "profile", f"{name}.msr", "-o", f"{name}.profile"),
        "configuration": ("run", f"{name}.toml"),
        "configuration that is printed": ("config", "print", f"{name}.toml"),
        "configuration that is not there": ("run", f"{name}.tom"),
        "preset": ("run", f"preset:{name}"),
        "override": ("run", "drive.toml", "--set", f"{name}=1"),
        "value": ("run", "drive.toml", "--set", f"fabric.kind={name}"),
        "option": ("run", "drive.toml", f"--{name}"),
        "command": (name,),
        "explain": ("explain", name),
        "measure": ("show", "drive.toml", "--measure", name),
        "saved": ("show", f"{name}.toml"),
        "report": ("report", f"{name}.toml", "-o", f"{name}.html"),
        "report that is written": ("report", "r.json", "-o", f"{name}.html", "--title", name),
        "folder": ("show", name),
        "sweep": ("sweep", "sweep.toml"),
        "axis": ("sweep", "axes.toml"),
        "key of a sweep": ("sweep", "key.toml"),
        "sweep that is not there": ("sweep", f"{name}.tom"),
        "comparison": ("compare", "drive.toml", "--vary", f"workload.trace={name}.msr,{name}", "--keep-going"),
        "labels": ("compare", "drive.toml", "--vary", f"workload.trace={name}.msr", "--set", "workload.format=ascii"),
        "search": ("optimise", f"{name}.toml"),
        "papers": ("reproduce", name),
        "jobs": ("run", "--fio", "job.fio"),
        "result that cannot be written": ("run", "drive.toml", "--json", f"{name}/r.json"),
        "mqsim": ("import-mqsim", f"{name}.toml", f"{name}.toml", "-o", f"{name}.out"),
    }


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_no_text_of_a_file_or_a_name_reaches_the_terminal_as_it_is(tmp_path: Path, cli: Cli, step: int) -> None:
    cases = list(evil_files(tmp_path).items())[::step]
    assert cli("run", "drive.toml", "--json", "r.json").returncode == 0
    showing = 0
    for what, command in cases:
        done = subprocess.run(
            [COMMAND, *map(os.fsencode, command)],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
        text = done.stdout.decode("utf-8", "surrogateescape")
        assert done.returncode in (0, 2), (what, text)
        assert is_clean(text), (what, text)
        showing += "\\u001b" in text
    assert showing > len(cases) / 3


def test_progress_and_colours_go_to_a_terminal_and_names_do_not(tmp_path: Path) -> None:
    name = "no\x1b[31mX\u202e.ascii"
    (tmp_path / name).write_text(TRACE)
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [
            COMMAND,
            "run",
            "preset:venice-z-nand",
            "--trace",
            name,
            "--set",
            "workload.format=ascii",
            "--set",
            "workload.time-unit=us",
        ],
        cwd=tmp_path,
        env=environment() | {"TERM": "xterm-256color"},
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    content = b""
    try:
        while piece := os.read(ours, 1 << 16):
            content += piece
    except OSError:
        pass
    os.close(ours)
    text = content.decode()
    assert done.wait(TIMEOUT_S) == 0, text
    assert "\x1b[1m" in text
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert "no\\u001b[31mX\\u202e.ascii" in text
