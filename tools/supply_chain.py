"""Licences, sources and duplicates of dependencies, and the bill of materials of a release.

Reads Cargo.lock through `cargo metadata`, and requirements.lock. Without arguments, it fails on a crate whose licence
is not in `LICENCES`, that does not come from a registry, or that is present in two versions without a reason in
`DUPLICATES`. It also fails on a crate that is compiled differently for the module and for the plugin of nbdkit, or for
the Rust tests and for the module that the Python tests run with, since a build then compiles the core twice, and on a
Python requirement without a version and a hash. With --sbom FILE, it writes a CycloneDX document instead.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LICENCES = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    # Licence of cbindgen, which writes the C header and is not part of any binary.
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
"""Licences under which a crate may be used. One acceptable licence among alternatives is enough."""
DUPLICATES: dict[str, str] = {
    "bitflags": "nbdkit, the bindings of its project, takes an older one",
    "getrandom": "bolero, which fuzz tests are made with, takes an older one",
    "r-efi": "bolero, which fuzz tests are made with, takes an older one",
    "rand": "bolero, which fuzz tests are made with, takes an older one",
    "rand_core": "bolero, which fuzz tests are made with, takes an older one",
    "rand_xoshiro": "bolero, which fuzz tests are made with, takes an older one",
    "toml_datetime": "bolero, which fuzz tests are made with, takes an older one",
    "winnow": "bolero, which fuzz tests are made with, takes an older one",
    "toml": "cbindgen, which writes the header for C and is in no binary, takes an older one",
    "syn": "macros of bolero, enum_dispatch and others take an older one; it is in no binary",
}
"""Reasons why some crates are present in several versions, by crate."""

INTERNALS = "flashmesh/internals"
"""Feature with which `make test` builds the module (the target `$(TESTED)` of the Makefile)."""


@dataclass(frozen=True, slots=True)
class Component:
    """A dependency of a release, or a tool that builds it."""

    kind: str
    name: str
    version: str
    licence: str | None
    source: str | None
    sha256: str | None = None


def crates() -> list[Component]:
    """Returns the crates of Cargo.lock that are not part of this workspace."""
    command = ["cargo", "metadata", "--all-features", "--locked", "--format-version", "1"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    metadata: dict[str, Any] = json.loads(text)
    own = set(metadata["workspace_members"])
    checksums = checksums_of((ROOT / "Cargo.lock").read_text())
    return [
        Component(
            "cargo",
            package["name"],
            package["version"],
            package["license"],
            package["source"],
            checksums.get((package["name"], package["version"])),
        )
        for package in metadata["packages"]
        if package["id"] not in own
    ]


def checksums_of(lock: str) -> dict[tuple[str, str], str]:
    """Returns the checksums of Cargo.lock by name and version."""
    import tomllib

    packages = tomllib.loads(lock)["package"]
    return {(one["name"], one["version"]): one["checksum"] for one in packages if "checksum" in one}


def requirements(lock: str) -> list[Component]:
    """Returns the Python packages of requirements.lock, each with one of its hashes."""
    found: list[Component] = []
    for entry in re.split(r"\n(?=[^ #\n])", lock):
        if (named := re.match(r"([A-Za-z0-9_.-]+)==([^ \\\n]+)", entry)) is not None:
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)
            found.append(Component("pypi", named[1], named[2], None, None, hashes[0] if hashes else None))
    return found


def allows(licence: str | None) -> bool:
    """Returns whether a licence expression is acceptable: every operand of `AND` must be, and one operand of `OR`."""
    if licence is None:
        return False
    parts = re.split(r"\s+AND\s+", licence.replace("(", " ").replace(")", " ").replace("/", " OR "))
    return all(any(one.strip() in LICENCES for one in re.split(r"\s+OR\s+", part)) for part in parts)


def features(*packages: str, edges: str = "normal,build", enabled: str = "") -> dict[str, set[str]]:
    """Returns the crates that packages depend on, each with the sets of features with which it is compiled.

    Without names in `packages`, covers all packages of the workspace. `enabled` is a feature to enable.
    """
    chosen = [f"--package={package}" for package in packages] or ["--workspace"]
    chosen += [f"--features={enabled}"] if enabled else []
    command = ["cargo", "tree", "--locked", *chosen, "--edges", edges, "--prefix", "none"]
    text = subprocess.run(
        [*command, "--format", "{p}|{f}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        crate, _, names = line.removesuffix(" (*)").partition("|")
        found.setdefault(crate, set()).add(names)
    return found


def tested() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Returns the crates that the tests of the workspace depend on, and those that the tests of the core depend on."""
    edges = "normal,build,dev"
    return features(edges=edges), features("flashmesh", edges=edges)


def compiled_twice(one: dict[str, set[str]], other: dict[str, set[str]], who: str) -> list[str]:
    """Returns a sentence for each crate in `one` and `other` whose sets of features in `other` are not all in `one`.

    Such a crate is compiled once more for `other`. `one` and `other` are results of `features`.
    """
    return [
        f"{crate}: {who} take it with other features; name them in both Cargo.toml"
        for crate in sorted(one.keys() & other.keys())
        if not other[crate] <= one[crate]
    ]


def problems(cargo: list[Component], python: list[Component]) -> list[str]:
    """Returns a sentence for every dependency that a release may not have."""
    found = [
        f"{one.name} {one.version}: licence {one.licence} is not among those allowed"
        for one in cargo
        if not allows(one.licence)
    ]
    found += [
        f"{one.name} {one.version}: comes from {one.source}, not from a registry"
        for one in cargo
        if not (one.source or "").startswith("registry+")
    ]
    found += [f"{one.name} {one.version}: Cargo.lock has no checksum of it" for one in cargo if one.sha256 is None]
    versions: dict[str, list[str]] = {}
    for one in cargo:
        versions.setdefault(one.name, []).append(one.version)
    for name, several in sorted(versions.items()):
        if len(several) > 1 and name not in DUPLICATES:
            found.append(f"{name}: is there in the versions {', '.join(sorted(several))}; give a reason, or take one")
        if len(several) == 1 and name in DUPLICATES:
            found.append(f"{name}: is there once; remove it from the duplicates")
    found += [f"{name}: is not there; remove it from the duplicates" for name in DUPLICATES if name not in versions]
    found += [f"{one.name}=={one.version}: requirements.lock has no hash of it" for one in python if one.sha256 is None]
    if not python:
        found.append("requirements.lock names nothing with a version")
    return found


def sbom(components: list[Component], version: str) -> dict[str, Any]:
    """Returns a bill of materials in the format of CycloneDX 1.6."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "flashmesh", "version": version}},
        "components": [
            {
                "type": "library",
                "name": one.name,
                "version": one.version,
                "purl": f"pkg:{one.kind}/{one.name}@{one.version}",
                "bom-ref": f"pkg:{one.kind}/{one.name}@{one.version}",
                **({"licenses": [{"expression": one.licence.replace("/", " OR ")}]} if one.licence else {}),
                **({"hashes": [{"alg": "SHA-256", "content": one.sha256}]} if one.sha256 else {}),
            }
            for one in components
        ],
    }


def main() -> int:
    """Checks the dependencies, or writes a bill of materials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sbom", type=Path, metavar="FILE", help="write a CycloneDX document and check nothing")
    arguments = parser.parse_args()
    cargo, python = crates(), requirements((ROOT / "requirements.lock").read_text())
    if arguments.sbom is not None:
        version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
        document = sbom([*cargo, *python], version[1] if version else "unknown")
        arguments.sbom.write_text(json.dumps(document, indent=2) + "\n")
        return 0
    found = problems(cargo, python)
    found += compiled_twice(features("flashmesh-py"), features("flashmesh-nbdkit"), "the module and the plugin")
    of_workspace, of_core = tested()
    found += compiled_twice(of_workspace, of_core, "tests of the workspace and of flashmesh alone")
    module = features("flashmesh-py", enabled=INTERNALS)
    found += compiled_twice(of_workspace, module, "the Rust tests and the module of the Python tests")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
