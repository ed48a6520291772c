"""A copy of the tree with mutants compiled into it, each of which the environment variable `VARIABLE` turns on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutants import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mutants.sites import Mutant

BASE = "crates/flashmesh-base/src/lib.rs"
"""File of the crate that every mutated crate depends on."""
SWITCH = f"""
/// Returns whether a mutant is active.
#[allow(missing_docs)]
pub fn mutant(number: usize) -> bool {{
    static ACTIVE: std::sync::LazyLock<Vec<bool>> = std::sync::LazyLock::new(|| {{
        let mut active = vec![false; 100_000];
        for number in std::env::var("{VARIABLE}").unwrap_or_default().split(',').filter_map(|each| each.parse().ok()) {{
            let number: usize = number;
            active[number] = true;
        }}
        active
    }});
    ACTIVE[number]
}}
"""
"""Function of the base crate that guards the mutants."""
CARGO = os.environ.get("CARGO", "cargo")
MUTATED = ("flashmesh", "flashmesh-base", "flashmesh-workload")
"""Crates with mutants, below `crates`."""


@dataclass(frozen=True)
class Program:
    """A compiled test program."""

    name: str
    executable: str
    folder: Path
    """Folder in which cargo would run the program."""


class MutatedTree:
    """A copy of the files of a git repository, into which mutants are written."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Creates the folder of the copy. Compiled files of an earlier copy there are kept.

        Args:
            root: The root of the repository.
            folder: The folder of the copy.
        """
        self.root = root
        self.at = folder / "tree"
        self.target = folder / "target"
        self.at.mkdir(parents=True, exist_ok=True)
        shared = folder / "shared"
        if not shared.exists() and (root.parent / "shared").is_dir():
            shared.symlink_to(root.parent / "shared")

    def write(self, mutants: Sequence[Mutant]) -> dict[str, list[tuple[int, int, int]]]:
        """Copies the files that git knows, with mutants, which are numbered by their place in `mutants`, from 1.

        Returns:
            For each file, the bytes (start, end) of each mutant in the written file, with its number.
        """
        by_file: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
        for number, mutant in enumerate(mutants, 1):
            by_file[mutant.file].append((number, mutant))
        places: dict[str, list[tuple[int, int, int]]] = {}
        names = subprocess.run(["git", "ls-files", "-z"], cwd=self.root, stdout=subprocess.PIPE, text=True, check=True)
        for name in set(filter(None, names.stdout.split("\0"))) - by_file.keys() - {BASE}:
            replace(self.at / name, (self.root / name).read_bytes())
        for file, listed in by_file.items():
            crate = "crate" if file.startswith("crates/flashmesh-base/") else "flashmesh_base"
            source, written, done = (self.root / file).read_bytes(), b"", 0
            places[file] = found = []
            for number, mutant in sorted(listed, key=lambda each: (each[1].start, each[1].end)):
                written += source[done : mutant.start]
                begin = len(written)
                written += mutant.guarded(f"{crate}::mutant({number})")
                found.append((begin, len(written), number))
                done = mutant.end
            replace(self.at / file, written + source[done:])
        base = (self.at / BASE if BASE in by_file else self.root / BASE).read_text(encoding="utf-8")
        replace(self.at / BASE, (base + SWITCH).encode())
        return places

    def cargo(self, *arguments: str) -> list[dict[str, Any]]:
        """Runs cargo in the copy. Returns its messages."""
        done = subprocess.run(
            [CARGO, *arguments, "--locked", "--message-format=json"],
            cwd=self.at,
            env=os.environ | {"CARGO_TARGET_DIR": str(self.target), "RUSTFLAGS": "--cap-lints=allow"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def refused(self, places: dict[str, list[tuple[int, int, int]]]) -> set[int]:
        """Returns the numbers of the mutants that do not compile.

        Raises:
            RuntimeError: If code outside of mutants does not compile.
        """
        numbers: set[int] = set()
        # The first crate depends on the others. The feature adds functions that only tests use.
        for message in self.cargo("check", f"--package={MUTATED[0]}", "--features=internals"):
            found = message.get("message") or {}
            if message.get("reason") != "compiler-message" or found.get("level") != "error" or not found["spans"]:
                continue
            spans = [span for span in found["spans"] if span["is_primary"]] or found["spans"]
            inside = {
                number
                for span in spans
                for start, end, number in places.get(span["file_name"], ())
                if start <= span["byte_start"] < end
            }
            if not inside:
                raise RuntimeError(found["rendered"])
            numbers |= inside
        return numbers

    def programs(self) -> list[Program]:
        """Compiles the tests of the mutated crates. Returns their programs.

        Raises:
            RuntimeError: If the tests do not compile.
        """
        messages = self.cargo("test", "--no-run", *(f"--package={name}" for name in MUTATED))
        if not messages or not messages[-1].get("success"):
            raise RuntimeError("the mutated tests do not compile")
        return [
            Program(
                f"{Path(message['manifest_path']).parent.name}/{message['target']['name']}",
                message["executable"],
                Path(message["manifest_path"]).parent,
            )
            for message in messages
            if message["reason"] == "compiler-artifact" and message["profile"]["test"] and message["executable"]
        ]

    def build_module(self) -> None:
        """Compiles the Python module, and puts it into the package of the copy, beside the other files of a build.

        Raises:
            RuntimeError: If the module does not compile.
        """
        messages = self.cargo("build", "--profile", "quick", "--package", "flashmesh-py")
        built = [
            name
            for message in messages
            for name in message.get("filenames", ())
            if name.endswith(".so") and "flashmesh-py" in message["manifest_path"]
        ]
        if len(built) != 1:
            raise RuntimeError("the mutated module does not compile")
        package, copied = self.root / "python" / "flashmesh", self.at / "python" / "flashmesh"
        for path in package.glob("*.so"):
            shutil.copy2(path, copied / path.name)
        shutil.copytree(package / "examples", copied / "examples", dirs_exist_ok=True)
        shutil.copy2(built[0], copied / "_native.abi3.so")


def replace(path: Path, content: bytes) -> None:
    """Writes a file, unless it has this content already, so that cargo does not compile it again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
