"""A process that has imported the modules of the command, and forks a run of the command in each requested folder.

A line with a folder starts a run with the given arguments in a new process group, and is answered by the process id.
The next line waits for the end of the run, and is answered by its wait status.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn


class Forker:
    """Handle of the forking process."""

    def __init__(self, *arguments: str) -> None:
        """Starts the process. Its runs use these arguments."""
        self.process = subprocess.Popen(
            [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _ask(self, line: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    def start(self, folder: Path) -> int:
        """Starts a run in a folder. Returns its process id, which is also its group and stays reserved until `wait`."""
        return self._ask(str(folder))

    def wait(self) -> int:
        """Waits for the end of the run. Returns its exit code, or the negative signal number."""
        return os.waitstatus_to_exitcode(self._ask(""))

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


def run(folder: str) -> NoReturn:
    """Runs the command in a child process."""
    from flashmesh.cli import main

    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    sys.argv[0] = "flashmesh"
    main()


def serve() -> None:
    """Forks a run for each line of the input until the input ends."""
    # Also import what a run imports only on demand, to save that time in the forked runs.
    for module in (
        "pandas",
        "pyarrow.parquet",
        "flashmesh.cli.entry",
        "flashmesh.cli.runs.run",
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
