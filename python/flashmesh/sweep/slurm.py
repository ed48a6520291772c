"""Workers that Slurm starts, and what becomes of their jobs."""

from __future__ import annotations

import getpass
import subprocess
import time
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA = "pip install 'flashmesh[cluster]'"
FIRST_S = 2.0
"""After which time without a worker the queue is looked at first; then after twice the time, and so on."""
LONGEST_S = 60.0
"""The longest time between two looks."""
ASK_S = 10.0
"""How long `squeue` may take."""
LOOKS = 2
"""So many looks must find no job in the queue: one that has just been submitted may not be listed yet."""


def start(workers: int) -> Any:
    """Workers that Slurm starts, as ~/.config/dask/jobqueue.yaml describes them.

    Raises:
        ConfigError: When they cannot be described, or there is no Slurm.
    """
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as error:
        raise ConfigError(f"--dask slurm needs dask-jobqueue, which is not installed: {EXTRA}") from error
    try:
        cluster: Any = SLURMCluster()
        cluster.scale(jobs=workers)
    except (ValueError, OSError, RuntimeError) as error:
        raise ConfigError(
            f"--dask slurm: {str(error).splitlines()[0]}; say what a job is in ~/.config/dask/jobqueue.yaml: "
            "cores, memory, queue, walltime"
        ) from error
    return cluster


class JobWatch:
    """Looks after the jobs of a cluster while no worker is there."""

    def __init__(self, cluster: Any, jobs: int, tell: Callable[[str], None]) -> None:
        """Of a cluster for which so many jobs were submitted; `tell` gets what a person should know."""
        self.cluster = cluster
        self.jobs = jobs
        self.tell = tell
        self.empty = 0
        self.wait_s = self.quiet_s = FIRST_S
        self.next = time.monotonic() + FIRST_S
        self.told: str | None = None
        self.tell_next = 0.0

    def look(self, workers: int) -> None:
        """Tells how many jobs are left when no worker is there; looks again only after a while.

        Raises:
            ConfigError: When there is neither a worker nor a job that could become one.
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
        self.empty = self.empty + 1 if left == 0 else 0
        if self.empty >= LOOKS:
            raise ConfigError(
                f"--dask slurm: no worker is there, and none of the {self.jobs} jobs is in the queue any more: what "
                "they wrote says why (slurm-*.out, unless jobqueue.yaml names other files); what was finished is kept, "
                "and --resume goes on"
            )
        known = "squeue does not say how many jobs are left" if left is None else f"{left} of {self.jobs} jobs are left"
        if known != self.told:
            self.quiet_s = FIRST_S
        elif now < self.tell_next:
            return
        self.quiet_s *= 2
        self.told, self.tell_next = known, now + self.quiet_s
        self.tell(f"no worker of Slurm is there: {known}")

    def left(self) -> int | None:
        """How many jobs Slurm has, running or not, with those to be submitted; None when it does not say."""
        ids = {str(job_id) for job in self.cluster.workers.values() if (job_id := getattr(job, "job_id", None))}
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
        return len(ids & set(asked.stdout.split())) + max(self.jobs - len(ids), 0)
