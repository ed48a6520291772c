"""Workers that Slurm starts, and the state of their jobs."""

from __future__ import annotations

import getpass
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.installation.extras import install

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed.security import Security

FIRST_S = 2.0
"""Seconds without a worker before the first check of the queue; the interval doubles with each check."""
LONGEST_S = 60.0
"""Maximum seconds between two checks of the queue."""
ASK_S = 10.0
"""Timeout of `squeue` in seconds."""
LOOKS = 2
"""Number of successive checks without a job in the queue, after which waiting for workers ends. One check is not
enough, since a new job may be listed late."""

NUMBER = re.compile(r"\d+")
TAIL_BYTES = 4096
LINES = 3
"""Number of last lines of a job's output that a message shows."""


def tail(path: Path) -> str:
    """Returns the last lines of a file; empty if the file cannot be read."""
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
        lines = file.read(TAIL_BYTES).decode("utf-8", "replace").splitlines()
        return " / ".join([line.strip() for line in lines if line.strip()][-LINES:])
    return ""


def changed(path: Path) -> float:
    """Returns the modification time of a file; 0 if the file does not exist."""
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def start(workers: int, security: Security | None = None) -> Any:
    """Starts workers through Slurm, as ~/.config/dask/jobqueue.yaml describes them, and returns their Dask cluster.

    Anybody who reaches the scheduler can run programs on the cluster. Without certificates, the scheduler therefore
    listens only on the network that the file names.

    Raises:
        ConfigError: If the workers are not described, or there is no Slurm.
    """
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as error:
        raise ConfigError(f"--dask slurm needs dask-jobqueue, which is not installed: {install('cluster')}") from error
    import dask

    if security is None and dask.config.get("jobqueue.slurm.interface", None) is None:
        raise ConfigError(
            "--dask slurm: without TLS the scheduler listens on one network only: name that of the nodes in "
            "~/.config/dask/jobqueue.yaml, such as interface: ib0, or give certificates with --dask-tls"
        )
    try:
        # The dashboard of the scheduler would be open to everybody.
        cluster: Any = SLURMCluster(security=security, scheduler_options={"dashboard": False})
        cluster.scale(jobs=workers)
    except (ValueError, OSError, RuntimeError) as error:
        raise ConfigError(
            f"--dask slurm: {str(error).splitlines()[0]}; describe a job in ~/.config/dask/jobqueue.yaml: "
            "cores, memory, queue, walltime"
        ) from error
    return cluster


class JobWatch:
    """Monitor of the jobs that Slurm runs for a cluster, while no worker has connected."""

    def __init__(self, cluster: Any, jobs: int, tell: Callable[[str], None]) -> None:
        """Monitors `jobs` submitted jobs of a cluster; `tell` is called with messages for the user."""
        self.cluster = cluster
        self.jobs = jobs
        self.tell = tell
        self.empty = 0
        self.wait_s = self.quiet_s = FIRST_S
        self.next = time.monotonic() + FIRST_S
        self.ids: set[str] = set()
        """Numbers of all jobs submitted so far; the cluster object forgets ended jobs."""
        self.unsubmitted = self.unsubmitted_before = 0
        self.told: str | None = None
        self.tell_next = 0.0

    def look(self, workers: int) -> None:
        """Reports the number of unfinished Slurm jobs if no worker is connected (`workers` is 0) and a check is due.

        Raises:
            ConfigError: If no worker is connected, and no Slurm job that could start a worker is left.
        """
        now = time.monotonic()
        if workers:
            self.empty, self.wait_s, self.next, self.told = 0, FIRST_S, now + FIRST_S, None
            return
        if now < self.next:
            return
        left = self.left()
        self.wait_s = min(2 * self.wait_s, LONGEST_S)
        self.next = time.monotonic() + self.wait_s
        # If all remaining jobs are unsubmitted in two successive checks, they will never be submitted.
        is_stuck = left is not None and left == self.unsubmitted == self.unsubmitted_before
        self.empty = self.empty + 1 if left == 0 or is_stuck else 0
        self.unsubmitted_before = self.unsubmitted
        if self.empty >= LOOKS:
            raise ConfigError(
                f"--dask slurm: no worker has connected, and none of the {self.jobs} jobs is in the queue any more: "
                f"{self.last_words()}; finished runs are kept: continue with --resume"
            )
        known = "squeue does not say how many jobs are left" if left is None else f"{left} of {self.jobs} jobs are left"
        if known != self.told:
            self.quiet_s = FIRST_S
        elif now < self.tell_next:
            return
        self.quiet_s *= 2
        self.told, self.tell_next = known, now + self.quiet_s
        self.tell(f"no Slurm worker has connected: {known}")

    def last_words(self) -> str:
        """Returns the last output of the most recent job as text, or a hint at the output files if none is found."""
        folders = {Path(getattr(self.cluster, "log_directory", None) or "."), Path()}
        written = [path for folder in folders for path in folder.glob("*") if self.ids & set(NUMBER.findall(path.name))]
        texts = {path: tail(path) for path in sorted(written, key=changed, reverse=True)}
        found = next(((path, text) for path, text in texts.items() if text), None)
        if found is None:
            return "their output says why (slurm-*.out, unless jobqueue.yaml names other files)"
        return f"the last one wrote to {found[0]}: {found[1]}"

    def left(self) -> int | None:
        """Returns the number of queued, running and unsubmitted jobs; None if `squeue` fails."""
        self.ids |= {str(job_id) for job in self.cluster.workers.values() if (job_id := getattr(job, "job_id", None))}
        try:
            asked = subprocess.run(
                ["squeue", "--noheader", "--user", getpass.getuser(), "--format", "%A"],
                capture_output=True,
                text=True,
                timeout=ASK_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        self.unsubmitted = max(self.jobs - len(self.ids), 0)
        return len(self.ids & set(asked.stdout.split())) + self.unsubmitted
