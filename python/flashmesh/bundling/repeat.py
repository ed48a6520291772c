"""Repeats the runs of a bundle, and prints whether the results are the same: python repeat.py [TRACES]."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import flashmesh

HERE = Path(__file__).parent
BESIDE = ("fairness", "configuration", "config_hash")
"""Keys of a result that are not compared: `fairness` needs additional runs, and the configuration (and so its hash)
contains file paths."""


def main() -> None:
    """Repeats every run; the exit code is 1 if a result differs."""
    described = json.loads((HERE / "bundle.json").read_text(encoding="utf-8"))
    if described["versions"]["flashmesh"] != flashmesh.__version__:
        print(f"made by flashmesh {described['versions']['flashmesh']}, and this is {flashmesh.__version__}")
    expected = {}
    for name in described["results"]:
        saved = flashmesh.load(HERE / name)
        for result in [saved] if isinstance(saved, flashmesh.Result) else [run.result for run in saved.runs]:
            expected[result.config_hash] = result
    differ = [run["configuration"] for run in described["runs"] if not repeats(run, expected[run["config_hash"]])]
    print(f"{len(described['runs']) - len(differ)} of {len(described['runs'])} runs are the same")
    sys.exit(1 if differ else 0)


def repeats(run: dict[str, Any], expected: flashmesh.Result) -> bool:
    """Repeats a run, and returns whether its results equal the saved ones; prints a line with the comparison."""
    overrides = {file["key"]: f"{found(file)}{file['suffix']}" for file in run["files"]}
    result = flashmesh.run(HERE / run["configuration"], overrides=overrides)
    is_same = outcome(result) == outcome(expected)
    print(f"{run['configuration']}: {'the same' if is_same else 'DIFFERS'}: {result!r}")
    return is_same


def found(file: dict[str, Any]) -> Path:
    """Returns the path of a workload file with the right hash, or ends the program.

    The file is searched at its original path, then by name in the folder on the command line.
    """
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    places = [Path(file["path"]), *(folder.rglob(Path(file["path"]).name) if folder is not None else [])]
    for place in places:
        if place.is_file() and digest(place) == file["sha256"]:
            return place.resolve()
    sys.exit(f"{Path(file['path']).name} (SHA-256 {file['sha256']}) is missing: name the folder that contains it")


def digest(path: Path) -> str:
    """Returns the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def outcome(result: flashmesh.Result) -> dict[str, Any]:
    """Returns the parts of a result that do not depend on the machine."""
    return {key: without_paths(value) for key, value in result.outcome().items() if key not in BESIDE}


def without_paths(value: Any) -> Any:
    """Returns a part of a result document without its file paths."""
    if isinstance(value, dict):
        return {key: without_paths(each) for key, each in value.items() if key not in ("path", "file")}
    return [without_paths(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main()
