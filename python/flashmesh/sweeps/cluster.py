"""Runs tasks on a Dask cluster: one that is there already, or one that is started by Slurm."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from http.client import HTTPException
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.request import ProxyHandler, build_opener

from flashmesh._native import ConfigError, InternalError, WorkloadError, __version__
from flashmesh.execution import TICK_S, Progress
from flashmesh.extras import install
from flashmesh.provenance import workload_files
from flashmesh.sweeps import slurm
from flashmesh.sweeps.session import Outcome, as_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from distributed import Client, Future
    from distributed.security import Security

    from flashmesh.steady import UntilSteady
    from flashmesh.sweeps.tasks import Task

SLURM = "slurm"
CONNECT_S = 10
"""How long a scheduler may take to answer."""
FETCHES_MAX = 6
"""How often a result is asked for, `CONNECT_S` each time."""
DASHBOARD_S = 2
"""How long the page for browsers may take to answer, for its address to be told."""
PAGE_START = 4096
NO_DASHBOARD = b"Dask needs bokeh"
"""In the page of a scheduler that has nothing to draw with."""
WINDOW = 4
"""Runs that wait on the cluster for each that is under way: enough to keep workers busy."""
WINDOW_MIN = 64
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
ROLES = ("client", "scheduler", "worker")


def dashboard(client: Any) -> str | None:
    """Returns the address of the page for browsers; None where the scheduler has none, such as without Bokeh."""
    try:
        link: str = client.dashboard_link or ""
    except KeyError:
        return None
    if not link.startswith("http"):
        return link or None  # behind a proxy, which knows where it is
    try:
        # The scheduler answers directly, whatever stands between this machine and the internet.
        with build_opener(ProxyHandler({})).open(link, timeout=DASHBOARD_S) as page:
            text: bytes = page.read(PAGE_START)
    except (OSError, ValueError, HTTPException):
        return None
    return None if NO_DASHBOARD in text else link


class DaskCluster:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str, workers: int, tell: Callable[[str], None], tls: Path | None = None) -> None:
        """Connects to a scheduler, or has Slurm start workers.

        Args:
            address: The scheduler, such as tcp://host:8786, or `slurm`.
            workers: How many jobs Slurm is asked for.
            tell: Gets what a person should know who waits for workers.
            tls: The folder with the certificates of the cluster.

        Raises:
            ConfigError: When there is no such cluster.
        """
        try:
            from distributed import Client
        except ImportError as error:
            raise ConfigError(f"--dask needs Dask, which is not installed: {install('cluster')}") from error
        # What it would say of a lost connection is said by us.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        security = None if tls is None else security_of(tls)
        if security is not None and address != SLURM and not address.startswith("tls://"):
            raise ConfigError(f"--dask {address}: with --dask-tls an address begins with tls://")
        self.cluster: Any = slurm.start(workers, security) if address == SLURM else None
        self.jobs = slurm.JobWatch(self.cluster, workers, tell) if self.cluster is not None else None
        self.address = address
        target = self.cluster if self.cluster is not None else address
        try:
            self.client: Client = Client(target, timeout=CONNECT_S, set_as_default=False, security=security)
        except (OSError, ValueError, TypeError, ImportError) as error:
            told = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ConfigError(f"--dask {address}: no Dask scheduler answers there: {told}") from error
        link = dashboard(self.client)
        if link:
            tell(f"dashboard of the cluster: {link}")

    @property
    def places(self) -> int:
        """The threads of all workers there are now."""
        threads: int = max(sum(self.client.nthreads().values()), 1)
        return threads

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """See `Executor`.

        A run whose worker is lost is run again by another one.

        Raises:
            ConfigError: When the scheduler is lost, or all jobs of Slurm.
        """
        fleet = Fleet(self.client, tasks)
        try:
            while fleet.left:
                fleet.send(max(WINDOW_MIN, WINDOW * self.places))
                for outcome in fleet.ended():
                    take(outcome)
                if self.client.status not in ("running", "connecting"):
                    raise ConfigError(
                        f"--dask {self.address}: the scheduler is gone; what was finished is kept, and --resume goes on"
                    )
                if self.jobs is not None and fleet.left:
                    self.jobs.look(len(self.client.nthreads()))
                if on_progress is not None:
                    on_progress(fleet.progress(self.places))
        finally:
            fleet.give_up()

    def close(self) -> None:
        """Leaves the cluster; ends the workers that Slurm was asked for."""
        self.client.close(timeout=2)
        if self.cluster is not None:
            self.cluster.close(timeout=2)


def security_of(folder: Path) -> Security:
    """The certificates in a folder, for connections that are always encrypted.

    Raises:
        ConfigError: When one is not there.
    """
    from distributed.security import Security

    ca, cert, key = (folder / name for name in CERTIFICATES)
    for path in (ca, cert, key):
        if not path.is_file():
            raise ConfigError(
                f"--dask-tls {folder}: {path.name} is not there: the folder has {', '.join(CERTIFICATES)}"
            )
    of_role = {f"tls_{role}_{part}": str(path) for role in ROLES for part, path in (("cert", cert), ("key", key))}
    return Security(tls_ca_file=str(ca), require_encryption=True, **of_role)


class Fleet:
    """The runs that are on the cluster."""

    def __init__(self, client: Client, tasks: Sequence[Task]) -> None:
        """With none sent yet."""
        self.client = client
        self.total = self.left = len(tasks)
        self.waiting = iter(tasks)
        self.sent: dict[Future, Task] = {}
        self.done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self.fetches: Counter[Future] = Counter()

    def send(self, window: int) -> None:
        """Sends runs until so many are there."""
        while len(self.sent) < window:
            task = next(self.waiting, None)
            if task is None:
                return
            files = [(file["stream"], file["sha256"]) for file in workload_files(task.config)]
            future = self.client.submit(
                remote,
                __version__,
                task.config.to_toml(),
                files,
                task.check,
                task.fairness,
                task.until_steady,
                key=f"flashmesh-{task.index}-{task.name}",
                pure=False,
            )
            self.sent[future] = task
            future.add_done_callback(self.done.put)

    def ended(self) -> Iterator[Outcome]:
        """The runs that ended, waiting a moment for the first."""
        seconds = TICK_S
        while True:
            try:
                future = self.done.get(timeout=seconds)
            except queue.Empty:
                return
            seconds = 0.0
            outcome = Outcome(self.sent[future])
            try:
                outcome.document, outcome.wall_s = future.result(timeout=CONNECT_S)
            except TimeoutError as error:
                # A lost worker took the result with it: another one runs it again, behind other runs.
                self.fetches[future] += 1
                if self.fetches[future] < FETCHES_MAX:
                    future.add_done_callback(self.done.put)
                    continue
                outcome.error = lost(error)
            except Exception as error:  # whatever went wrong there, others may go on
                outcome.error = lost(error)
            del self.sent[future]
            self.left -= 1
            future.release()
            yield outcome

    def give_up(self) -> None:
        """Takes back the runs that have not ended."""
        if self.sent and self.client.status == "running":
            self.client.cancel(list(self.sent), force=True)
        self.sent.clear()

    def progress(self, places: int) -> Progress:
        """How far the runs are; of a run under way nothing is known, not even which of those sent they are."""
        done = self.total - self.left
        running = tuple(task.index for task in islice(self.sent.values(), places))
        return Progress(done, self.total, 0, done, self.total, opening=done == 0, running=running)


def lost(error: Exception) -> Exception:
    """What a run on the cluster failed with, as one of our errors."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return InternalError("every worker that ran it was lost: it may need more memory than they have")
    if isinstance(error, TimeoutError):
        waited_s = FETCHES_MAX * CONNECT_S
        return ConfigError(f"no worker gave its result within {waited_s} s: the network may be down; --resume goes on")
    return as_error(error)


_drives: Any = None
_lock = threading.Lock()


def remote(
    version: str,
    configuration: str,
    files: list[tuple[str, str]],
    check: bool,
    fairness: bool,
    until_steady: UntilSteady | None = None,
) -> tuple[str, float]:
    """One run, in a process of the cluster: its document, and how long it took.

    Args:
        version: What the sweep was started with.
        configuration: Every parameter, as TOML.
        files: The files that requests come from, by stream, with the hashes of their content.
        check: Whether the run is checked against the oracles.
        fairness: Whether each stream is run alone as well.
        until_steady: Whether the run goes on until it is steady.

    Raises:
        FlashmeshError: When the run fails, or the worker is not like the machine that has started it.
    """
    from flashmesh import _native, states
    from flashmesh.sweeps.tasks import Task
    from flashmesh.sweeps.work import simulate

    if _native.__version__ != version:
        raise ConfigError(f"a worker has flashmesh {_native.__version__}, and the sweep was started with {version}")
    config = _native.Config.from_str(configuration, "<sweep>", [])
    for file, (stream, sha256) in zip(workload_files(config), files, strict=True):
        if file["sha256"] != sha256:
            raise WorkloadError(f"{file['path']}: on a worker it is another file than where the sweep was started")
        assert file["stream"] == stream
    global _drives
    with _lock:
        if _drives is None:
            _drives = states.drives()
    started = time.monotonic()
    document = simulate(Task(0, {}, config, check, fairness, until_steady), _native.Control(), _drives)
    return document, time.monotonic() - started
