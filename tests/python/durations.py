"""Processor time of each test and of its child processes."""

from __future__ import annotations

import csv
import os
import resource
from pathlib import Path

VARIABLE = "FLASHMESH_DURATIONS"
"""Environment variable with the path of the file to append to."""
PROPERTY = "cpu_s"
"""Property of a test's report that holds the processor time."""
PROC = Path("/proc")


class Stopwatch:
    """Stopwatch for the processor time of this process and its descendants."""

    def __init__(self) -> None:
        """Starts the stopwatch."""
        self.used_s = used_s()

    def lap_s(self) -> float:
        """Returns the processor time since the last reading."""
        before, self.used_s = self.used_s, used_s()
        # Processor time of orphaned processes is lost when they end, so the sum can decrease.
        return max(self.used_s - before, 0.0)


def used_s(process: int | None = None) -> float:
    """Returns the processor time of a process (by default this one) and of its descendants.

    Without `/proc`, only the times of this process and of its ended children are known.
    """
    if (PROC / "self/task").is_dir():
        return sum(map(used_ticks, descendants(process or os.getpid()))) / os.sysconf("SC_CLK_TCK")
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def descendants(process: int) -> list[int]:
    """Returns the ids of a process and of all its living descendants."""
    found = [process]
    for parent in found:
        try:
            threads = list((PROC / str(parent) / "task").iterdir())
            found.extend(int(child) for thread in threads for child in (thread / "children").read_text().split())
        except OSError:
            continue
    return found


def used_ticks(process: int) -> int:
    """Returns the clock ticks used by a process and by its ended children; 0 if the process is gone."""
    try:
        text = (PROC / str(process) / "stat").read_text()
    except OSError:
        return 0
    # The name of the program, in parentheses, may contain spaces. Fields 14 to 17 are the times of the process and its
    # children.
    return sum(map(int, text.rpartition(")")[2].split()[11:15]))


def append(file: Path, test: str, form: str, cpu_s: float) -> None:
    """Appends a line to a file: the test, its form (`short` or `long`), and its processor time."""
    with file.open("a", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerow([test, form, f"{cpu_s:.2f}"])
