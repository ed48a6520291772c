"""Command `flashmesh doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import IO, TYPE_CHECKING

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import STDOUT, output_option, results_option
from flashmesh.cli.output import stdout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashmesh.doctor import Finding

FAULTY = 3
"""Exit code of a faulty installation; equal to the exit code of a failed check."""


@command()
@results_option("json")
@output_option(
    "--json",
    "json_file",
    "Write the findings as JSON, to stdout instead of the text if no FILE is given.",
    bare=True,
)
def doctor(json_file: Path | None) -> int:
    """Check the installation and the resources of the machine.

    Checks versions, the compiled module, packages, cores, memory, limits, terminal, browser and folders, and runs a
    test. The exit code is 3 if something does not work; notes, such as on a package that only one command needs, do not
    count.
    """
    from flashmesh.doctor import examine

    found = list(examine())
    is_faulty = any(finding.level == "fault" for finding in found)
    document = json.dumps({"works": not is_faulty, "findings": [asdict(each) for each in found]}, indent=2) + "\n"
    if json_file is not None and json_file != STDOUT:
        from flashmesh.files import whole_file, write_text

        with whole_file(json_file) as target:
            write_text(target, document)
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(document)
        else:
            show(found, stream)
    return FAULTY if is_faulty else 0


def show(found: Sequence[Finding], stream: IO[str]) -> None:
    """Prints the findings by group, then the notes and faults."""
    width = max(len(finding.name) for finding in found)
    group = ""
    for finding in found:
        if finding.group != group:
            stream.write(f"{'' if not group else chr(10)}{finding.group}\n")
            group = finding.group
        mark = {"ok": "", "note": "  (note)", "fault": "  (FAULT)"}[finding.level]
        stream.write(f"  {finding.name:<{width}}  {finding.value}{mark}\n")
    stream.write("\n")
    remarks = [finding for finding in found if finding.level != "ok"]
    alike: dict[tuple[str, str, str], list[str]] = {}
    for finding in remarks:
        alike.setdefault((finding.level, finding.value, finding.remedy), []).append(finding.name)
    for (level, value, remedy), names in sorted(alike.items(), key=lambda each: each[0][0]):
        stream.write(f"{level}: {', '.join(names)}: {value}: {remedy}\n")
    faults = sum(finding.level == "fault" for finding in found)
    told = f"flashmesh does not work: {faults} fault{'s' if faults > 1 else ''}\n"
    stream.write(told if faults else "flashmesh works\n")
