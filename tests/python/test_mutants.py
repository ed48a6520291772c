"""Mutants that `tools/mutants` finds in a Rust file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mutants.sites import mutants_of

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """\
const LIMIT: u32 = 3 + 4;
pub fn next(now: u32) -> u32 {
    if !is_open(now) && now < LIMIT { now + 1 } else { now }
}
const fn twice(of: u32) -> u32 { of * 2 }
#[cfg(test)]
mod tests { fn sum() -> u32 { 1 + 2 } }
"""


def found(folder: Path, source: str) -> dict[str, bytes]:
    """Returns the guarded code of each mutant in `source`, by its description."""
    (folder / "src").mkdir()
    (folder / "src" / "lib.rs").write_text(source, encoding="utf-8")
    return {mutant.what: mutant.guarded("on()") for mutant in mutants_of(folder, "src")}


def test_operators_negations_and_bodies_are_mutated_but_not_constants_or_tests(tmp_path: Path) -> None:
    assert set(found(tmp_path, SOURCE)) == {
        *("next into return 0", "next into return 1", "&& into ||", "! into nothing"),
        *("< into <=", "< into >=", "+ into -", "+ into *"),
    }


def test_a_guard_keeps_the_code_where_the_mutant_is_off(tmp_path: Path) -> None:
    guarded = found(tmp_path, SOURCE)
    assert guarded["+ into -"] == b"(if on() { now - 1 } else { now + 1 })"
    assert guarded["next into return 1"] == b" if on() { return 1; }"


def test_modules_for_tests_only_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("#[cfg(test)]\nmod model;\nmod used;\n", encoding="utf-8")
    for name in ("model", "used"):
        (tmp_path / "src" / f"{name}.rs").write_text("fn f(a: u32) -> bool { a == 1 }\n", encoding="utf-8")
    assert {mutant.file for mutant in mutants_of(tmp_path, "src")} == {"src/used.rs"}
