"""The check of dependencies between the top-level modules ("rooms") of the Rust crates."""

from __future__ import annotations

from pathlib import Path

import pytest

import import_rules


def problems(crates: Path, files: dict[str, str], crate: str = "flashmesh") -> list[str]:
    sources = crates / crate / "src"
    for name, text in files.items():
        path = sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = import_rules.check(sources, crate, import_rules.exported_macros(crates))
    return [problem.removeprefix(f"{sources}/") for problem in found]


@pytest.mark.parametrize("crate", import_rules.ROOMS)
def test_library_keeps_to_the_rules(crate: str) -> None:
    sources = import_rules.CRATES / crate / "src"
    assert import_rules.check(sources, crate, import_rules.exported_macros(import_rules.CRATES)) == []
    rooms = {path.name.removesuffix(".rs") for path in sources.iterdir()}
    assert rooms - {"lib"} <= {room for room, _ in import_rules.ROOMS[crate]}
    assert len(rooms) > 4


def test_the_rooms_of_every_crate_have_an_order(tmp_path: Path) -> None:
    request = {"request.rs": "", "readers/mod.rs": "use crate::request::IoRequest;\n"}
    assert problems(tmp_path, request, "flashmesh-workload") == []
    found = problems(tmp_path, {"request.rs": "use crate::readers::TraceStream;\n"}, "flashmesh-workload")
    assert [problem.split(", ")[0] for problem in found] == ["request.rs:1: request names readers"]


def test_a_macro_of_another_crate_belongs_to_the_room_that_exports_it(tmp_path: Path) -> None:
    exported = "#[macro_export]\nmacro_rules! quantities {\n    () => {};\n}\n"
    problems(tmp_path, {"results/mod.rs": exported}, "flashmesh-base")
    assert problems(tmp_path, {"measure.rs": "use crate::quantities;\n"}) == []
    found = problems(tmp_path, {"units.rs": "use crate::quantities;\n"})
    assert [problem.split(", ")[0] for problem in found] == ["units.rs:1: units names results"]


def test_guides_and_examples_name_what_is_public() -> None:
    assert import_rules.check_outside(import_rules.ROOT) == []


def test_a_guide_that_names_a_private_room_is_found(tmp_path: Path) -> None:
    files = {
        "crates/flashmesh/src/lib.rs": "pub mod config;\nmod rooms {\n    pub mod fabric;\n    pub mod ftl;\n}\n",
        "crates/flashmesh/examples/a.rs": "use flashmesh::config::Config;\nuse flashmesh::ftl::Ftl;\n",
        "CONTRIBUTING.md": "",
        "README.md": "`flashmesh::fabric::Fabric`\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = [problem.removeprefix(f"{tmp_path}/") for problem in import_rules.check_outside(tmp_path)]
    assert [problem.split(" is ")[0] for problem in found] == [
        "README.md:1: flashmesh::fabric",
        "crates/flashmesh/examples/a.rs:2: flashmesh::ftl",
    ]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("config/mod.rs", "use crate::units;\nuse crate::ftl::Ftl;\n", 2),
        ("config/mod.rs", "fn f() {\n    crate::ftl::g();\n}\n", 2),
        ("config/mod.rs", "use crate::{\n    units::{Time, Bytes},\n    ftl::{Ftl, units},\n};\n", 3),
        ("config/mod.rs", "use super::ftl::Ftl;\n", 1),
        ("config/a/b.rs", "use super::super::super::ftl::Ftl;\n", 1),
        ("config/mod.rs", "mod a {\n    use super::super::ftl::Ftl;\n}\n", 2),
        ("config/mod.rs", "#[cfg(test)]\nmod tests {\n    use crate::ftl;\n}\nuse crate::ftl;\n", 5),
        ("config/mod.rs", "/* a\n \" */ const A: char = '\"';\nuse crate::ftl;\n", 3),
        ("config.rs", 'const A: &str = "//"; use crate::ftl;\n', 1),
    ],
)
def test_a_room_that_names_one_behind_it_is_found(tmp_path: Path, name: str, text: str, line: int) -> None:
    found = problems(tmp_path, {name: text, "ftl/mod.rs": "use crate::config::Config;\n"})
    assert len(found) == 1
    assert found[0].startswith(f"{name}:{line}: config names ftl, which stands behind it")


def test_macros_belong_to_the_room_that_exports_them(tmp_path: Path) -> None:
    exported = "#[macro_export]\nmacro_rules! declare {\n    () => {};\n}\n"
    assert problems(tmp_path / "a", {"ftl/mod.rs": "use crate::declare;\n", "results.rs": exported}) == []
    found = problems(tmp_path / "b", {"results.rs": "use crate::declare;\n", "ftl/mod.rs": exported})
    assert [problem.split(", ")[0] for problem in found] == ["results.rs:1: results names ftl"]


def test_rooms_without_a_place_are_found(tmp_path: Path) -> None:
    found = problems(tmp_path, {"attic/mod.rs": "", "simulation/mod.rs": "use crate::attic;\n"})
    assert [problem.split(" ")[0] for problem in found] == ["attic/mod.rs:", "simulation/mod.rs:1:"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("simulation/mod.rs", "use crate::{units, ftl::Ftl};\nuse super::config::Config;\n"),
        ("config/mod.rs", '// crate::ftl\n//! [`crate::ftl`]\nconst A: &str = "crate::ftl";\n'),
        ("config/a.rs", "use super::ftl;\nuse crate::config::ftl;\nfn f<'a>(a: &'a str) -> &'a str { a }\n"),
        (
            "config/mod.rs",
            "#[cfg(test)]\nuse crate::ftl;\n#[cfg(test)]\nmod model;\n"
            "#[cfg(test)]\npub(crate) mod tests { use crate::ftl; }\n",
        ),
        ("config/mod.rs", "pub(in super::super) const A: u32 = 0;\npub(crate) fn f() {}\n"),
        ("lib.rs", "pub mod ftl;\nuse crate::ftl::Ftl;\n"),
    ],
)
def test_what_the_rules_allow_is_not_found(tmp_path: Path, name: str, text: str) -> None:
    model = {"config/model.rs": "use crate::ftl;\n", "config/model/deeper.rs": "use crate::ftl;\n"}
    with_model = model if "mod model" in text else {}
    assert problems(tmp_path, {name: text, "ftl/mod.rs": ""} | with_model) == []


def test_names_behind_a_literal_count(tmp_path: Path) -> None:
    text = "fn f() -> [char; 2] {\n    ['\\'', '{']\n}\nconst R: &str = r#\"a\"b\"#;\nuse crate::ftl;\n"
    found = problems(tmp_path, {"config/mod.rs": text, "ftl/mod.rs": ""})
    assert [problem.split(" ")[0] for problem in found] == ["config/mod.rs:5:"]
