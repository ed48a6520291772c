"""Dependencies of the project, and the check of them."""

from __future__ import annotations

from pathlib import Path

import runtime_lock
import supply_chain
from supply_chain import Component

ROOT = Path(__file__).parents[2]
CRATE = Component("cargo", "a", "1.0.0", "MIT", "registry+https://example.org", "0" * 64)
PACKAGE = Component("pypi", "b", "2.0", None, None, "1" * 64)


def test_every_requirement_is_pinned_with_hashes() -> None:
    found = supply_chain.requirements((ROOT / "requirements.lock").read_text())
    assert len(found) > 20
    assert [one.name for one in found if one.sha256 is None] == []
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    named = [line for line in lines if line and line[0] not in "# "]
    assert len(named) == len(found)


def test_licences_are_read_as_they_are_written() -> None:
    allowed = ["MIT", "MIT OR GPL-3.0", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"]
    assert all(map(supply_chain.allows, allowed))
    refused = [None, "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1 OR GPL-2.0", "(MIT OR Apache-2.0) AND AGPL-3.0"]
    assert not any(map(supply_chain.allows, refused))


def test_every_fault_is_named() -> None:
    reasons = supply_chain.DUPLICATES
    twice = [Component("cargo", name, version, "MIT", "registry+x", "0") for name in reasons for version in ("1", "2")]
    assert supply_chain.problems([CRATE, *twice], [PACKAGE]) == []
    faults = [
        Component("cargo", "c", "1", "GPL-3.0", "registry+x", "0"),
        Component("cargo", "d", "1", "MIT", "git+https://example.org", "0"),
        Component("cargo", "e", "1", "MIT", "registry+x", None),
        Component("cargo", "f", "1", "MIT", "registry+x", "0"),
        Component("cargo", "f", "2", "MIT", "registry+x", "0"),
    ]
    found = supply_chain.problems([CRATE, *twice, *faults], [Component("pypi", "g", "1", None, None, None)])
    assert [problem.split(":")[0] for problem in found] == ["c 1", "d 1", "e 1", "f", "g==1"]
    once = supply_chain.problems([CRATE], [PACKAGE])
    assert len(once) == len(reasons)


def test_module_and_plugin_share_the_compiled_core() -> None:
    module, plugin = map(supply_chain.features, ("flashmesh-py", "flashmesh-nbdkit"))
    core = next(crate for crate in module if crate.startswith("flashmesh v"))
    assert core in plugin
    assert supply_chain.compiled_twice(module, plugin, "both") == []
    faults = supply_chain.compiled_twice(module | {core: {"internals"}}, plugin, "both")
    assert [fault.split(" ")[0] for fault in faults] == ["flashmesh"]


def test_tests_of_the_workspace_and_of_the_core_alone_share_what_is_compiled() -> None:
    workspace, alone = supply_chain.tested()
    assert len(alone) > 50
    assert supply_chain.compiled_twice(workspace, alone, "both") == []


def test_rust_tests_and_the_module_of_the_python_tests_share_the_compiled_core() -> None:
    workspace, _ = supply_chain.tested()
    module = supply_chain.features("flashmesh-py", enabled=supply_chain.INTERNALS)
    assert supply_chain.compiled_twice(workspace, module, "both") == []
    plain = supply_chain.features("flashmesh-py")
    assert any(fault.startswith("flashmesh v") for fault in supply_chain.compiled_twice(workspace, plain, "both"))


def test_bill_of_materials_names_each_component_with_its_hash() -> None:
    document = supply_chain.sbom([CRATE, PACKAGE], "1.2.3")
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["version"] == "1.2.3"
    assert document["components"][0] == {
        "type": "library",
        "name": "a",
        "version": "1.0.0",
        "purl": "pkg:cargo/a@1.0.0",
        "bom-ref": "pkg:cargo/a@1.0.0",
        "licenses": [{"expression": "MIT"}],
        "hashes": [{"alg": "SHA-256", "content": "0" * 64}],
    }
    assert document["components"][1]["purl"] == "pkg:pypi/b@2.0"


def test_image_installs_by_hashes_what_the_lock_has() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    found = supply_chain.requirements(runtime_lock.runtime_lock(lock))
    whole = {one.name: one for one in supply_chain.requirements(lock)}
    assert {"click", "pyarrow", "rich", "altair"} <= {one.name for one in found}
    assert not {"pytest", "ruff", "mypy", "maturin"} & {one.name for one in found}
    assert all(one.sha256 is not None and one == whole[one.name] for one in found)
    recipe = (ROOT / "Containerfile").read_text()
    installs = [line for line in recipe.splitlines() if "pip install" in line]
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
