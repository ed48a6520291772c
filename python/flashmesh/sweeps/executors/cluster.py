"""Executor for a Dask cluster: a running cluster, or workers that Slurm starts."""

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
from flashmesh.installation.extras import install
from flashmesh.provenance import workload_files
from flashmesh.sweeps.executors import slurm
from flashmesh.sweeps.executors.session import Outcome, as_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from distributed import Client, Future
    from distributed.security import Security

    from flashmesh.running.steady import UntilSteady
    from flashmesh.sweeps.tasks import Task

SLURM = "slurm"
CONNECT_S = 10
"""Timeout in seconds of a connection to the scheduler, and of a fetch of a result."""
FETCHES_MAX = 6
"""Maximum number of times that a result is fetched, with a timeout of `CONNECT_S` each."""
DASHBOARD_S = 2
"""Timeout in seconds for a request to the dashboard, whose address is printed only if it responds."""
PAGE_START = 4096
NO_DASHBOARD = b"Dask needs bokeh"
"""Text in the page of a scheduler without Bokeh, which draws the dashboard."""
WINDOW = 4
"""Number of runs in flight on the cluster for each worker thread; more than one, so that no thread idles."""
WINDOW_MIN = 64
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
ROLES = ("client", "scheduler", "worker")


def dashboard(client: Any) -> str | None:
    """Returns the address of the Dask dashboard; None if there is no dashboard, for instance without Bokeh."""
    try:
        link: str = client.dashboard_link or ""
    except KeyError:
        return None
    if not link.startswith("http"):
        # The link is a path behind a proxy. The address of the proxy is unknown, so the link cannot be tested.
        return link or None
    try:
        # Connect without a proxy: the scheduler is in the local network.
        with build_opener(ProxyHandler({})).open(link, timeout=DASHBOARD_S) as page:
            text: bytes = page.read(PAGE_START)
    except (OSError, ValueError, HTTPException):
        return None
    return None if NO_DASHBOARD in text else link


class DaskCluster:
    """Executor that runs tasks on the workers of a Dask cluster."""

    def __init__(self, address: str, workers: int, tell: Callable[[str], None], tls: Path | None = None) -> None:
        """Connects to a scheduler, or starts workers through Slurm.

        Args:
            address: The address of the scheduler, such as tcp://host:8786, or `slurm`.
            workers: The number of jobs submitted to Slurm.
            tell: Called with messages for the user while workers are awaited.
            tls: The folder with the certificates of the cluster.

        Raises:
            ConfigError: If there is no such cluster.
        """
        try:
            from distributed import Client
        except ImportError as error:
            raise ConfigError(f"--dask needs Dask, which is not installed: {install('cluster')}") from error
        # Lost connections are reported by `run`.
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
        """Number of threads of all current workers."""
        threads: int = max(sum(self.client.nthreads().values()), 1)
        return threads

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """Runs all tasks as described in `Executor`.

        A run is repeated by another worker if its worker is lost. After an exception, there are no partial results of
        the active runs.

        Raises:
            ConfigError: If the scheduler or all jobs of Slurm are lost.
        """
        fleet = Fleet(self.client, tasks)
        try:
            while fleet.left:
                fleet.send(max(WINDOW_MIN, WINDOW * self.places))
                for outcome in fleet.ended():
                    take(outcome)
                if self.client.status not in ("running", "connecting"):
                    raise ConfigError(
                        f"--dask {self.address}: the scheduler is gone; finished runs are kept: continue with --resume"
                    )
                if self.jobs is not None and fleet.left:
                    self.jobs.look(len(self.client.nthreads()))
                if on_progress is not None:
                    on_progress(fleet.progress(self.places))
        finally:
            fleet.give_up()

    def close(self) -> None:
        """Disconnects from the cluster, and ends workers that Slurm started."""
        self.client.close(timeout=2)
        if self.cluster is not None:
            self.cluster.close(timeout=2)


def security_of(folder: Path) -> Security:
    """Returns the certificates in a folder as security options of Dask; all connections are encrypted.

    Raises:
        ConfigError: If a certificate is missing.
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
    """Runs of a sweep: those still to be sent to the cluster, and those sent whose outcome is awaited."""

    def __init__(self, client: Client, tasks: Sequence[Task]) -> None:
        """Keeps the runs `tasks`; none of them is sent to the cluster yet."""
        self.client = client
        self.total = self.left = len(tasks)
        self.waiting = iter(tasks)
        self.sent: dict[Future, Task] = {}
        self.done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self.fetches: Counter[Future] = Counter()

    def send(self, window: int) -> None:
        """Sends pending runs until `window` runs are on the cluster, or none is pending."""
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
        """Yields the outcome of each run that has ended; waits up to `TICK_S` for the first."""
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
                # The result was lost with its worker. Another worker repeats the run after its other runs.
                self.fetches[future] += 1
                if self.fetches[future] < FETCHES_MAX:
                    future.add_done_callback(self.done.put)
                    continue
                outcome.error = lost(error)
            except Exception as error:  # an error of one run must not stop the other runs
                outcome.error = lost(error)
            del self.sent[future]
            self.left -= 1
            future.release()
            yield outcome

    def give_up(self) -> None:
        """Cancels the runs on the cluster that have not ended."""
        if self.sent and self.client.status == "running":
            self.client.cancel(list(self.sent), force=True)
        self.sent.clear()

    def progress(self, places: int) -> Progress:
        """Returns the progress, counted in runs instead of requests.

        Workers report neither the progress of a run nor which runs have started.
        """
        done = self.total - self.left
        running = tuple(task.index for task in islice(self.sent.values(), places))
        return Progress(done, self.total, 0, done, self.total, opening=done == 0, running=running)


def lost(error: Exception) -> Exception:
    """Returns the error of a run on the cluster as an error of flashmesh."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return InternalError("every worker that ran it was lost: it may need more memory than they have")
    if isinstance(error, TimeoutError):
        waited_s = FETCHES_MAX * CONNECT_S
        return ConfigError(
            f"no worker returned its result within {waited_s} s: the network may be down; continue with --resume"
        )
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
    """Runs one simulation in a worker process; returns its document and its duration in seconds.

    Args:
        version: The version of flashmesh that started the sweep.
        configuration: The complete configuration, as TOML.
        files: The workload files: their streams, and the hashes of their contents.
        check: Whether the run is checked against the oracles.
        fairness: Whether each stream is also run alone.
        until_steady: Condition for a run that continues until it is steady.

    Raises:
        FlashmeshError: If the run fails, or the worker differs from the submitting machine in version or files.
    """
    from flashmesh import _native
    from flashmesh.installation import states
    from flashmesh.sweeps.executors.work import simulate
    from flashmesh.sweeps.tasks import Task

    if _native.__version__ != version:
        raise ConfigError(f"a worker has flashmesh {_native.__version__}, and the sweep was started with {version}")
    config = _native.Config.from_str(configuration, "<sweep>", [])
    for file, (stream, sha256) in zip(workload_files(config), files, strict=True):
        if file["sha256"] != sha256:
            raise WorkloadError(
                f"{file['path']}: the file on a worker differs from the one where the sweep was started"
            )
        assert file["stream"] == stream
    global _drives
    with _lock:
        if _drives is None:
            _drives = states.drives()
    started = time.monotonic()
    document = simulate(Task(0, {}, config, check, fairness, until_steady), _native.Control(), _drives)
    return document, time.monotonic() - started
