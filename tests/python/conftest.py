"""Shared parts of the tests: a small configuration, and the command as a separate process."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import durations
from commands import Commands
from flashmesh import provenance
from flashmesh.importers.fio import FioJobs, read_jobs
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import SYNTHETIC, device_text, workload_text

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs"
COMMAND = Path(sys.executable).with_name("flashmesh")
ENDLESS = "workload.requests=1_000_000_000_000"
REFERENCE = (sys.executable, "-I", "-c", "import asyncio, unittest.mock, http.server, xml.dom.minidom, sqlite3")
"""Command that starts Python with some packages, in about 0.1 s. Time limits are multiples of its
time, since machines differ in speed."""
TIMEOUT_S = 300
"""Time limit for anything on a machine that is busy with other work."""
SHARING = {
    path.stem for path in Path(__file__).parent.glob("test_*.py") if 'scope="' in path.read_text(encoding="utf-8")
}
"""Test files with fixtures that are expensive and shared."""
TOGETHER = {"test_site": "site", "test_site_pages": "site"}
"""Groups of test files that share an expensive fixture, by file."""
# The folder of saved states belongs to the user, and would make tests depend on each other.
os.environ["FLASHMESH_CACHE"] = "off"

SMALL_DRIVE = """preset = "venice-z-nand"
[geometry]
channels = 2
chips-per-channel = 2
blocks-per-plane = 64
pages-per-block = 16
"""
"""A drive that a few thousand writes fill."""

Cli: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
Tables: TypeAlias = dict[str, Any]
Import: TypeAlias = Callable[..., Tables]
Read: TypeAlias = Callable[[str], FioJobs]


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clears the command line that results record as their provenance.

    A test that calls the command in this process sets it, and results of later tests would contain it.
    """
    monkeypatch.setattr(provenance, "command", None)


def pytest_report_header() -> list[str]:
    """Returns a line about the tests that are skipped without a browser; none if there is one."""
    if shutil.which("chromium") and shutil.which("chromedriver"):
        return []
    return ["Pages of reports are not opened: there is no browser (apt-get install chromium chromium-driver)"]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Starts the parent processes of command runs before any test, so that no test is charged for their start."""
    is_controller = session.config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ
    if durations.VARIABLE in os.environ and not is_controller:
        run_in(ROOT, COMMAND, "--version")
        run_in(ROOT, COMMAND, "--version")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Starts the stopwatch of a test if durations are recorded."""
    if durations.VARIABLE in os.environ:
        item.stash[STOPWATCH] = durations.Stopwatch()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the processor time of a test to its last report (teardown)."""
    if call.when == "teardown" and STOPWATCH in item.stash:
        item.user_properties.append((durations.PROPERTY, item.stash[STOPWATCH].lap_s()))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Appends the processor time of a test to a file, if an environment variable names one."""
    file = os.environ.get(durations.VARIABLE)
    if file and report.when == "teardown" and "PYTEST_XDIST_WORKER" not in os.environ:
        cpu_s = dict(report.user_properties).get(durations.PROPERTY)
        # Doctests of the package have no stopwatch, because the hooks apply only to this folder.
        if cpu_s is not None:
            kind = "long" if "long" in report.keywords else "short"
            durations.append(Path(file), report.nodeid, kind, float(str(cpu_s)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Makes tests that share a fixture run in one process.

    Groups of xdist 3.8 have no effect under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        """Scheduler that distributes single tests, except for groups of tests that share a fixture."""

        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

    return Scheduling(config, log)


def group(test: str) -> str:
    """Returns the group of tests that must run in the same process as a test."""
    file = test.partition("::")[0]
    stem = Path(file).stem
    return TOGETHER.get(stem, file if stem in SHARING else test)


def environment() -> dict[str, str]:
    """Returns the environment of a shell without a terminal."""
    # Pytest sets a variable with the name of the running test, which would make every environment different.
    hidden = ("FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "FLASHMESH_DEBUG", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}


def cpu_s(
    command: Sequence[str | Path],
    folder: Path,
    times: int = 1,
    enough_s: float = 0.0,
    beside: dict[str, str] | None = None,
) -> float:
    """Returns the minimum processor time of a command in seconds, over `times` runs.

    Stops after a run below `enough_s`. The command is a child of this process; runs of `cli` are not, so their
    processor time is unknown here.
    """
    spent: list[float] = []
    while len(spent) < times and min(spent, default=enough_s) >= enough_s:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            command,
            cwd=folder,
            env=environment() | (beside or {}),
            capture_output=True,
            check=True,
            timeout=TIMEOUT_S,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


COMMANDS = Commands()
STOPWATCH = pytest.StashKey[durations.Stopwatch]()


def pytest_sessionfinish() -> None:
    """Ends the parent processes of command runs."""
    COMMANDS.close()


def run_in(
    folder: Path,
    *command: str | Path,
    preexec_fn: Callable[[], None] | None = None,
    beside: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder without a terminal and without input, with `beside` added to its environment."""
    if command[0] == COMMAND and preexec_fn is None:
        words = tuple(str(word) for word in command)
        done = COMMANDS.run(words, folder, environment(), beside or {}, TIMEOUT_S)
        if done is not None:
            return done
    return subprocess.run(
        command,
        cwd=folder,
        env=environment() | (beside or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        preexec_fn=preexec_fn,
    )


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Writes the configuration of a small run. Returns its path, in a folder of its own."""
    path = tmp_path / "drive.toml"
    path.write_text(
        'preset = "venice-z-nand"\n\n[fabric]\nkind = "bus"\n\n[workload]\nread-share = 0.7\nrequests = 20_000\n'
        "\n[replay]\noutstanding = 64\n"
    )
    return path


def build_site(pages: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Builds the documentation site as `make docs` does."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--builder", "html"]
    return subprocess.run([*command, str(pages), str(out)], capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the whole documentation site. Returns its folder."""
    out = tmp_path_factory.mktemp("site")
    done = build_site(PAGES, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Returns a function that runs the command in the folder of the test."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        done = run_in(tmp_path, COMMAND, *arguments)
        # Shown where the test fails.
        print(f"{' '.join(map(str, arguments)):.200}: exit code {done.returncode}\n{done.stderr}")
        return done

    return call


@pytest.fixture
def tables(tmp_path: Path) -> Import:
    """Returns a function that imports MQSim files and returns the configuration of the first scenario as tables."""

    def call(
        *flows: dict[str, str],
        physical: bool = False,
        requests_max: int = 0,
        **parts: dict[str, str],
    ) -> Tables:
        (tmp_path / "ssd.xml").write_text(device_text(**parts))
        (tmp_path / "work.xml").write_text(workload_text(list(flows) or [SYNTHETIC]))
        done = import_mqsim(
            tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out", physical=physical, requests_max=requests_max
        )
        return tomllib.loads(done.files[0].read_text())

    return call


@pytest.fixture
def jobs(tmp_path: Path) -> Read:
    """Returns a function that reads the text of a fio job file."""

    def call(text: str) -> FioJobs:
        (tmp_path / "job.fio").write_text(text)
        return read_jobs(tmp_path / "job.fio")

    return call


@pytest.fixture
def one(jobs: Read) -> Callable[[str], dict[str, Any]]:
    """Returns a function from the options of a single fio job to the keys that they set."""
    return lambda options: jobs(f"[job]\n{options}").settings


@pytest.fixture
def real_fio() -> None:
    """Skips a test where fio is missing; in CI such a test fails."""
    if shutil.which("fio") is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")
