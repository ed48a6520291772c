"""Finds the mutants that a test detects, with few runs of the test.

All mutants that no test has found yet are active at once. Most runs pass, which rules out all of them for the test. If
a test fails, each half of the mutants is tested alone, and so on.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mutants.command import Command

SLOWER = 8.0
"""Limit of processor time of a test, after which it counts as hung, as a multiple of its duration without mutants.

A test may use several processors.
"""
SLOWER_S = 10.0
"""Seconds added to this limit, for tests that take only moments."""
UNTIMED_S = 900.0
"""Assumed duration of a test that was not timed without mutants, in seconds."""


class Judge:
    """Mutants that tests have found, and those that are left."""

    def __init__(self, numbers: Iterable[int], durations: Mapping[str, float]) -> None:
        """Begins with no mutant found.

        Args:
            numbers: The numbers of the mutants.
            durations: The duration of each test without mutants, in seconds by name.
        """
        self.durations = dict(durations)
        self.found: dict[int, str] = {}
        """Test that found each mutant, with what it printed."""
        self.passed: dict[str, int] = {}
        """Number of mutants that were found when a test passed with all others active, by the name of the test."""
        self.group_of = dict.fromkeys(numbers, 0)
        """Group of each mutant that is left. The mutants of a group are active at once."""
        self.on_found: Callable[[int, str], None] = lambda number, by: None
        """Callback when a test finds a mutant, with the number of the mutant, and the test and its output."""
        self.guard = threading.Lock()

    def kept(self) -> dict[str, Any]:
        """Returns what `restored` needs to continue, as JSON."""
        groups = list(self.group_of.items())
        return {"durations": self.durations, "found": self.found, "passed": self.passed, "groups": groups}

    @classmethod
    def restored(cls, kept: dict[str, Any]) -> Judge:
        """Returns the judge that `kept` described."""
        judge = cls((), kept["durations"])
        judge.found = {int(number): by for number, by in kept["found"].items()}
        judge.passed = kept["passed"]
        judge.group_of = dict(kept["groups"])
        return judge

    @property
    def left(self) -> list[int]:
        """Numbers of the mutants that no test has found."""
        return sorted(self.group_of)

    def groups(self) -> list[list[int]]:
        """Returns the mutants of each group."""
        groups = defaultdict(list)
        for number, group in sorted(self.group_of.items()):
            groups[group].append(number)
        return list(groups.values())

    def state(self) -> tuple[int, int]:
        """Returns two numbers that change whenever something is learned about a mutant."""
        return len(self.found), len(set(self.group_of.values()))

    def run(self, tests: Iterable[Command], jobs: int, on_passed: Callable[[], None]) -> None:
        """Runs tests until each has passed with all mutants active that are left then, the shortest test first.

        A test is repeated after a mutant was found, since this mutant may have hidden the effect of another one.

        Args:
            tests: The tests.
            jobs: The number of tests that run at once.
            on_passed: Called after each test that passed.
        """
        by_duration = sorted(tests, key=lambda test: self.durations.get(test.name, UNTIMED_S))

        def run(test: Command) -> None:
            found = len(self.found)
            if self.passed.get(test.name) == found or not self.group_of:
                return
            with self.guard:
                groups = self.groups()
            failed = [self.fails(test, group) for group in groups]
            if not any(failed):
                with self.guard:
                    self.passed[test.name] = found
                    on_passed()

        while self.group_of:
            before = self.state()
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(run, by_duration))
            if self.state() == before:
                return

    def fails(self, test: Command, numbers: Sequence[int]) -> bool:
        """Returns whether a test fails with some mutants active, and records the mutants that it detects.

        Mutants that were found before are not activated.
        """
        numbers = [number for number in numbers if number in self.group_of]
        if not numbers:
            return False
        limit_s = SLOWER * self.durations.get(test.name, UNTIMED_S) + SLOWER_S
        failure = test.first_failure(numbers, limit_s)
        if failure is None:
            return False
        if len(numbers) == 1:
            self.add(numbers[0], f"{test.name}: {failure}")
            return True
        first, second = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
        if not any([self.fails(test, first), self.fails(test, second)]):
            self.separate(first)
        return True

    def add(self, number: int, failure: str) -> None:
        """Records the test that found a mutant, unless another test has found the mutant already."""
        with self.guard:
            if self.group_of.pop(number, None) is not None:
                self.found[number] = failure
                self.on_found(number, failure)

    def separate(self, numbers: Iterable[int]) -> None:
        """Makes a group of mutants that fail a test only together: the test passes with each half."""
        with self.guard:
            group = max(self.group_of.values(), default=0) + 1
            self.group_of |= {number: group for number in numbers if number in self.group_of}


def timed(tests: Sequence[Command], jobs: int) -> dict[str, float]:
    """Runs tests without mutants. Returns their durations in seconds by name.

    Raises:
        RuntimeError: If a test fails.
    """

    def duration(test: Command) -> float:
        begun = time.monotonic()
        failure = test.first_failure((), float(60 * 60))
        if failure is not None:
            raise RuntimeError(f"without a mutant, {test.name}: {failure}")
        return time.monotonic() - begun

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip((test.name for test in tests), pool.map(duration, tests), strict=True))
