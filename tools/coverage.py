"""Sums line coverage by folder: `python tools/coverage.py out/coverage.json`.

Reads the output of `cargo llvm-cov --json --summary-only`. Prints how many lines the tests reach in each folder of
`src` of the core, in each other crate and in total, and the files with the most lines that no test reaches.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

LEAST = 10
"""Number of listed files: those with the most lines that no test reaches."""


def name_of(file: str) -> str:
    """Returns the path of a file below `src`, with the name of its crate in front unless that is the core."""
    crate, _, path = file.rpartition("/crates/")[2].partition("/src/")
    return path if crate == "flashmesh" else f"{crate}/{path}"


def main() -> None:
    """Prints the tables."""
    files = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["data"][0]["files"]
    lines = {name_of(file["filename"]): file["summary"]["lines"] for file in files}
    folders: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, found in lines.items():
        folder = name.partition("/")[0].removesuffix(".rs")
        for total in (folders[folder], folders["in all"]):
            total[0] += found["covered"]
            total[1] += found["count"]
    total = folders.pop("in all")
    for folder, (covered, count) in [*sorted(folders.items()), ("in all", total)]:
        print(f"{folder:<20}{100 * covered / max(count, 1):6.1f} % of {count:6,} lines")
    print("\nlines that no test reaches")
    missed = sorted(((found["count"] - found["covered"], name) for name, found in lines.items()), reverse=True)
    for count, name in missed[:LEAST]:
        print(f"{count:6}  {name}")


if __name__ == "__main__":
    main()
