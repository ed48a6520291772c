"""The mutants that `tools/mutants` finds in a Rust file, and its verdict on which of them tests detect."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.command import Command
from mutants.judge import Judge
from mutants.sites import mutants_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


@dataclass(frozen=True)
class Made(Command):
    """A test that fails when `fails` holds for the active mutants, and records its runs."""

    fails: Callable[[set[int]], bool] = lambda _: False
    runs: list[set[int]] = field(default_factory=list)

    def first_failure(self, numbers: Iterable[int], limit_s: float) -> str | None:
        active = set(numbers)
        self.runs.append(active)
        return "failed" if self.fails(active) else None


def made(name: str, fails: Callable[[set[int]], bool]) -> Made:
    """Returns a test that fails if `fails` holds for the active mutants."""
    return Made(name, (), Path(), {}, re.compile(""), fails)


def judged(count: int, *tests: Made) -> Judge:
    """Runs `tests` on mutants 1 to `count`. Returns the judge."""
    judge = Judge(range(1, count + 1), {})
    judge.run(tests, 2, lambda: None)
    return judge


def test_each_mutant_is_found_by_a_test_that_fails_with_it_alone_in_few_runs() -> None:
    one, three = made("one", lambda active: 17 in active), made("three", lambda active: bool(active & {5, 6, 150}))
    judge = judged(200, one, three)
    assert {number: by.partition(":")[0] for number, by in judge.found.items()} == {
        **{17: "one"},
        **dict.fromkeys((5, 6, 150), "three"),
    }
    assert judge.left == [number for number in range(1, 201) if number not in (5, 6, 17, 150)]
    assert len(one.runs) + len(three.runs) < 80


def test_a_mutant_that_another_one_hides_is_found_later() -> None:
    hidden = made("hidden", lambda active: 3 in active and 4 not in active)
    judge = judged(4, hidden, made("other", lambda active: 4 in active))
    assert sorted(judge.found) == [3, 4]
    assert judge.passed == {"hidden": 2, "other": 2}


def test_mutants_that_fail_only_together_are_parted_and_survive() -> None:
    pair = made("pair", {2, 7}.issubset)
    judge = judged(8, pair)
    assert not judge.found
    assert not any({2, 7} <= set(group) for group in judge.groups())
    assert sorted(number for group in judge.groups() for number in group) == list(range(1, 9))


def test_a_continued_judgement_repeats_no_test_that_passed() -> None:
    first = made("first", lambda active: 1 in active)
    judge = Judge.restored(json.loads(json.dumps(judged(3, first).kept())))
    assert (judge.left, list(judge.found)) == ([2, 3], [1])
    again = made("first", lambda active: 1 in active)
    judge.run([again], 1, lambda: None)
    assert not again.runs
