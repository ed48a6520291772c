"""Runs tests with active mutants, and says which test finds them."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mutants import VARIABLE
from test_times import DRAWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mutants.tree import MutatedTree, Program

SHORT = DRAWN
LONG = {"PROPTEST_RNG_SEED": "1"}
"""Environment of the random tests in `make test-long`."""
SLOWER = 4.0
"""Time limit of a test program, after which it counts as hung, as a multiple of its duration without mutants."""
SLOWER_S = 60.0
"""Seconds added to this time limit of a test program, for programs that take only moments."""
UNTIMED_S = 900.0
"""Assumed duration of a command that was not timed without mutants, in seconds: a program in the long form."""
MEMORY_MAX = 8 << 30
"""Limit of the address space of a test process, in bytes."""
MOST_FOUND = (("whole_drive", "golden_corpus"),)
"""Test programs with those of their tests that find most mutants. These run first, and again with their program."""
LEFT_OUT = ("architecture", "soak")
"""Test programs that read the source, which the mutants change, or that run only on demand."""


@dataclass
class Verdict:
    """Results of the tests of a mutant so far."""

    passed: list[str] = field(default_factory=list)
    """Names of the commands of which no test failed."""
    failure: str | None = None
    """Line of the first test that failed; None if none did."""

    def is_open(self, command: Command) -> bool:
        """Returns whether `command` is still to be run for the mutant."""
        return self.failure is None and command.name not in self.passed


@dataclass(frozen=True)
class Command:
    """A command that runs tests, and prints a line for each test that failed."""

    name: str
    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    failed: str
    """Text that is in the line of each failed test."""

    def first_failure(self, numbers: Sequence[int], limit_s: float) -> str | None:
        """Runs the command until a test fails, with mutants active. Returns the line of this test; None if all pass."""
        active = {VARIABLE: ",".join(map(str, numbers))}
        with subprocess.Popen(
            self.arguments,
            cwd=self.folder,
            env=os.environ | dict(self.environment) | active,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as run:
            # A mutant can allocate without end. Processes that this one begins have the limit too.
            resource.prlimit(run.pid, resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
            ended = threading.Event()

            def end() -> None:
                ended.set()
                kill(run)

            timer = threading.Timer(limit_s, end)
            timer.start()
            try:
                assert run.stdout is not None
                for line in run.stdout:
                    if self.failed in line:
                        kill(run)
                        return f"{self.name}: {line.strip()[:200]}"
            finally:
                timer.cancel()
        if ended.is_set():
            return f"{self.name}: did not end in {limit_s:.0f} s"
        return f"{self.name}: ended with {run.returncode}" if run.returncode else None


def kill(run: subprocess.Popen[str]) -> None:
    """Kills a process and all processes that it began."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)


def rust_commands(form: str, programs: Sequence[Program], drawn: Mapping[str, str], threads: int) -> list[Command]:
    """Returns the commands that run test programs of Rust.

    Args:
        form: The form of the tests, for the names of the commands; empty for the short form.
        programs: The programs.
        drawn: The environment of the random tests.
        threads: The number of tests that run at once.
    """
    return [
        Command(
            " ".join(filter(None, (each.name, chosen, form))),
            (each.executable, f"--test-threads={threads}", *chosen.split()),
            each.folder,
            drawn,
            " ... FAILED",
        )
        for each in programs
        if not each.name.endswith(LEFT_OUT)
        for chosen in (*(found for name, found in MOST_FOUND if each.name.endswith(name)), "")
    ]


def python_command(tree: MutatedTree, marked: str) -> Command:
    """Returns the command that runs Python tests.

    Args:
        tree: The tree with the mutated module.
        marked: The expression of marks that chooses the tests.
    """
    arguments = ("-m", "pytest", "--verbose", "--exitfirst", "-m", marked, "--numprocesses=2", "--dist=loadscope")
    return Command(
        f"pytest -m {marked!r}",
        (sys.executable, *arguments),
        tree.at,
        {"PYTHONPATH": str(tree.at / "python")},
        "FAILED",
    )


def timed(commands: Sequence[Command]) -> dict[str, float]:
    """Runs commands without mutants. Returns their durations in seconds by name.

    Raises:
        RuntimeError: If a test fails.
    """
    durations = {}
    for command in commands:
        begun = time.monotonic()
        failure = command.first_failure((), float(60 * 60))
        if failure is not None:
            raise RuntimeError(f"without a mutant: {failure}")
        durations[command.name] = time.monotonic() - begun
    return durations


def judge_each(
    commands: Sequence[Command],
    durations: Mapping[str, float],
    verdicts: Mapping[int, Verdict],
    jobs: int,
    on_judged: Callable[[int], None],
) -> None:
    """Runs the commands for each mutant until a test fails: each command for all mutants, the shortest command first.

    Args:
        commands: The commands.
        durations: The duration of each command without mutants, in seconds by name.
        verdicts: The verdict of each mutant, by its number. Commands that a mutant has passed are not run again.
        jobs: The number of mutants that are tested at once.
        on_judged: Called with the number of a mutant after its verdict has changed.
    """
    for command in sorted(commands, key=lambda command: durations[command.name]):
        limit_s = SLOWER * durations[command.name] * jobs + SLOWER_S

        def judge(number: int, command: Command = command, limit_s: float = limit_s) -> None:
            failure = command.first_failure((number,), limit_s)
            if failure is None:
                verdicts[number].passed.append(command.name)
            else:
                verdicts[number].failure = failure
            on_judged(number)

        left = [number for number, verdict in verdicts.items() if verdict.is_open(command)]
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(judge, left))


def found_together(
    commands: Sequence[Command],
    durations: Mapping[str, float],
    numbers: Sequence[int],
    on_run: Callable[[str], None],
) -> dict[int, str]:
    """Returns those of several mutants that the test commands kill, with the first failure of each.

    All mutants are active at once. If a test fails, each half of them is tested alone, and so on, so that few runs
    show that many mutants survive. A mutant that hides the effect of another can make both survive.
    """
    failure = None
    for command in commands:
        failure = command.first_failure(numbers, SLOWER * durations.get(command.name, UNTIMED_S) + SLOWER_S)
        if failure is not None:
            break
    on_run(f"{len(numbers)} active: {failure or 'all tests pass'}")
    if failure is None or len(numbers) <= 1:
        return {} if failure is None else {numbers[0]: failure}
    half = len(numbers) // 2
    found = found_together(commands, durations, numbers[:half], on_run)
    return found | found_together(commands, durations, numbers[half:], on_run)
