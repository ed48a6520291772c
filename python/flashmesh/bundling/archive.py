"""Bundle: a ZIP file of results with a README on repeating them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh.bundling.contents import contents_of, json_text
from flashmesh.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.bundling.contents import Contents

REPEAT = Path(__file__).with_name("repeat.py")
TIME = (1980, 1, 1, 0, 0, 0)
"""Time stamp of all files in the archive. It is constant, so that the same results give the same bundle."""
SUMS = "SHA256SUMS"
README = "README.md"
COMMANDS_SHOWN = 20


def write_bundle(paths: Sequence[str | Path], target: str | Path) -> Path:
    """Writes results, and all files needed to repeat them, atomically into a ZIP file.

    Args:
        paths: Files and folders of results.
        target: The path of the ZIP file.

    Returns:
        The path of the ZIP file.

    Raises:
        OutputError: If a path has no results, or the file cannot be written.
    """
    target = Path(target)
    contents = contents_of([Path(path) for path in paths])
    with whole_file(target) as file:
        fill(file, contents)
    return target


def fill(file: Path, contents: Contents) -> None:
    """Writes all files of a bundle into the open ZIP file.

    Raises:
        OutputError: If a file of the results can no longer be read.
    """
    texts = {README: readme(contents), "bundle.json": json_text(contents.described())}
    texts |= {run.configuration: run.text for run in contents.runs.values()}
    sums: list[str] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(name: str, data: bytes) -> None:
            member = zipfile.ZipInfo(name, TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, data)
            sums.append(f"{hashlib.sha256(data).hexdigest()}  {name}\n")

        for name, text in texts.items():
            put(name, text.encode())
        if contents.runs:
            put(REPEAT.name, REPEAT.read_bytes())
        for name, path in contents.members.items():
            try:
                put(name, path.read_bytes())
            except OSError as error:
                raise OutputError(f"{path}: cannot be read: {error.strerror}") from error
        put(SUMS, "".join(sums).encode())


def readme(contents: Contents) -> str:
    """Returns the README of a bundle."""
    described = contents.described()
    lines = [
        "# Results of flashmesh",
        "",
        f"{counted(len(contents.runs), 'simulated run')} of flashmesh {described['versions']['flashmesh']}. "
        "One configuration and seed give one result, bit for bit.",
        "",
        "| file | what it holds |",
        "|---|---|",
        *(f"| `{name}` | results as they were saved |" for name in contents.results + contents.others),
    ]
    if contents.runs:
        lines += [
            "| `configurations/` | every parameter of each run, named by the hash of the configuration |",
            f"| `{REPEAT.name}` | repeats every run and compares the results |",
        ]
    lines += [
        "| `bundle.json` | versions, commands, runs and the files that requests came from |",
        f"| `{SUMS}` | the SHA-256 of each file: `sha256sum --check {SUMS}` |",
        "",
        "## Repeat",
        "",
        "```sh",
        f"pip install flashmesh-{described['versions']['flashmesh']}-*.whl",
        *(f"flashmesh show {name}" for name in contents.results),
        *([f"python {REPEAT.name}{' TRACES' if contents.files() else ''}"] if contents.runs else []),
        "```",
        "",
        "Wall time and memory differ from machine to machine; everything else must be identical.",
    ]
    if contents.files():
        lines += [
            "",
            "## Files that requests came from",
            "",
            "They are not in the bundle. `TRACES` is a folder that holds them under these names.",
            "",
            "| file | bytes | SHA-256 |",
            "|---|---:|---|",
            *(
                f"| `{Path(file['path']).name}` | {file['size_bytes']:,} | `{digest}` |"
                for digest, file in contents.files().items()
            ),
        ]
    if contents.commands:
        shown = list(contents.commands)[:COMMANDS_SHOWN]
        more = len(contents.commands) - len(shown)
        lines += ["", "## Commands that made the results", "", "```sh", *shown, "```"]
        lines += [f"\n{more:,} more are in `bundle.json`."] if more else []
    lines += ["", "## Versions", "", "| part | version |", "|---|---|"]
    lines += [f"| {name} | {version} |" for name, version in described["versions"].items()]
    return "\n".join(lines) + "\n"


def counted(count: int, what: str) -> str:
    """Returns a number with its noun `what`, in singular or plural."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
