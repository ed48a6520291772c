"""A process that has imported what the command imports, and forks a run of it for each folder it is told.

A line with a folder starts the run that the arguments say, in a group of its own, and is answered by its process; the
next line has its end waited for, and is answered by how it ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn


class Forker:
    """Such a process, as the tests see it."""

    def __init__(self, *arguments: str) -> None:
        """Starts it, to run the command with these arguments."""
        self.process = subprocess.Popen(
            [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _ask(self, line: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def start(self, folder: Path) -> int:
        """Starts a run in a folder; gives its process, and group, which keeps its number until `wait`."""
        return self._ask(str(folder))

    def wait(self) -> int:
        """Waits for the end of the run; gives its exit code, or the signal below zero."""
        return os.waitstatus_to_exitcode(self._ask(""))

    def close(self) -> None:
        """Ends it."""
        self.process.kill()
        self.process.communicate()


def run(folder: str) -> NoReturn:
    """What a child does."""
    from flashmesh.cli import main

    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    sys.argv[0] = "flashmesh"
    main()


def serve() -> None:
    """Answers until there is nothing more to read."""
    # What a run imports only when it needs it.
    for module in (
        "pandas",
        "pyarrow.parquet",
        "flashmesh.cli.entry",
        "flashmesh.cli.run",
        "flashmesh.report.terminal",
    ):
        import_module(module)
    while folder := sys.stdin.readline().strip():
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            run(folder)
        os.setpgid(child, child)
        print(child, flush=True)
        sys.stdin.readline()
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    serve()
