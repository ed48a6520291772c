"""Builds of flashmesh: the working tree, and earlier revisions."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNNER = Path("crates/flashmesh/examples/run.rs")
MODULE = Path("python/flashmesh/_native.abi3.so")
QUICK = ['inherits="release"', 'lto="off"', "codegen-units=4", "debug=false"]
"""Settings of the cargo profile `quick`, for revisions whose Cargo.toml lacks this profile."""


@dataclass(frozen=True, slots=True)
class Build:
    """One build, ready to run."""

    name: str
    """Abbreviated revision; for the working tree, with a + if files differ from the revision."""
    runner: Path
    """Program (the example `run` of the crate) that runs a configuration and prints its report."""
    python: Path
    """Folder from which Python imports the package `flashmesh` of this build."""


def git(*arguments: str) -> str:
    """Returns the output of a git command in the repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def cargo(root: Path, profile: str, *arguments: str) -> Path:
    """Builds with cargo in the folder `root`, with a profile. Returns the folder of the built files."""
    target = root / "target"
    command = cargo_command(profile, target, *arguments)
    subprocess.run(command, cwd=root, check=True, env=os.environ | module_environment())
    return target / profile


def cargo_command(profile: str, target: Path, *arguments: str) -> list[str]:
    """Returns the command that builds with a profile into the folder `target`."""
    command = ["cargo", "build", "--profile", profile, "--locked", "--quiet", "--target-dir", str(target), *arguments]
    return command + [part for setting in QUICK for part in ("--config", f"profile.quick.{setting}")]


def module_environment() -> dict[str, str]:
    """Returns the environment for building the Python module like maturin, without linking libpython."""
    return {"PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}


def tree(profile: str) -> Build:
    """Builds the runner of the working tree. `make` has built the Python module."""
    built = cargo(ROOT, profile, "--package", "flashmesh", "--example", "run")
    name = git("rev-parse", "--short=9", "HEAD") + ("+" if git("status", "--porcelain") else "")
    return Build(name, built / "examples" / "run", ROOT / "python")


def revision(name: str, profile: str) -> Build:
    """Builds a revision under target/bench, unless it was built before."""
    name = git("rev-parse", "--short=9", f"{name}^{{commit}}")
    root = ROOT / "target" / "bench" / name
    if not root.is_dir():
        root.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", name], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(root, filter="data")
    # Compile the current runner against the library of the revision.
    source = (ROOT / RUNNER).read_bytes()
    if not (root / RUNNER).is_file() or (root / RUNNER).read_bytes() != source:
        (root / RUNNER).parent.mkdir(exist_ok=True)
        (root / RUNNER).write_bytes(source)
    built = cargo(root, profile, "--package", "flashmesh", "--package", "flashmesh-py", "--lib", "--example", "run")
    (root / MODULE).unlink(missing_ok=True)
    (root / MODULE).hardlink_to(built / "lib_native.so")
    return Build(name, built / "examples" / "run", root / "python")
