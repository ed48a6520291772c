"""Memory that a run takes, and errors if less is available."""

from __future__ import annotations

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, environment
from flashmesh.configuration import load
from flashmesh.installation import memory

COMPUTED = {"geometry.blocks-per-plane": "4000", "precondition.kind": "sequential", "workload.requests": "10"}
LARGE = COMPUTED | {"persistence.policy": "journal"}
"""A drive whose map is stored in tables: its journal begins with the locations of all pages."""


def need_and_peak(drive: str, overrides: dict[str, str]) -> tuple[memory.Need, int]:
    """Returns the estimated memory of a run, and the peak memory that it takes in bytes."""
    code = f"import flashmesh; print(flashmesh.run({drive!r}, overrides={overrides!r}).peak_rss_bytes)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    return memory.need([load(drive, overrides=overrides)]), int(done.stdout)


@pytest.mark.long
def test_estimate_is_near_what_a_preconditioned_drive_takes() -> None:
    need, peak = need_and_peak("preset:venice-z-nand", LARGE)
    assert need.preconditioned > 1 << 30
    assert peak < need.used < 1.5 * peak


@pytest.mark.parametrize("kind", ["sequential", "random"])
def test_a_full_drive_whose_map_is_computed_is_said_to_need_little(kind: str) -> None:
    overrides = {"precondition.kind": kind, "workload.requests": "10", "measure.warm-up": "none"}
    need, peak = need_and_peak("preset:samsung-pm9a3", overrides)
    assert peak < need.used < 1 << 29


def test_runs_that_do_not_fit_are_refused_with_figures_and_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "limits", lambda: [memory.Limit("a limit of the test", 1 << 30)])
    with pytest.raises(flashmesh.ConfigError) as caught:
        flashmesh.run("preset:venice-z-nand", overrides=LARGE)
    text = str(caught.value)
    assert text.startswith("the run needs about ")
    assert "1.0 GiB are left (a limit of the test): lower geometry.*" in text
    assert "or precondition.fill (" in text
    flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 10})


def test_runs_side_by_side_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    config = load("preset:venice-z-nand", overrides=LARGE)
    one, two, four = (memory.need([config] * 4, at_once) for at_once in (1, 2, 4))
    assert (two.used, four.used) == (2 * one.used, 4 * one.used)
    monkeypatch.setattr(memory, "limits", lambda: [memory.Limit("a limit of the test", one.used)])
    memory.require([config] * 4, 1)
    with pytest.raises(flashmesh.ConfigError, match=r"^2 runs at once need .*: lower --jobs or geometry"):
        memory.require([config] * 4, 2)


@pytest.mark.parametrize("version", [1, 2])
def test_limits_of_control_groups_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    (tmp_path / "proc/self").mkdir(parents=True)
    root = tmp_path / "cgroup" if version == 2 else tmp_path / "cgroup/memory"
    inner = root / "job/step"
    inner.mkdir(parents=True)
    line = "0::/job/step\n" if version == 2 else "5:cpu,memory:/job/step\n"
    (tmp_path / "proc/self/cgroup").write_text(line)
    limit, usage = (
        ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    )
    (inner / limit).write_text("max\n" if version == 2 else f"{2**63 - 4096}\n")
    (inner.parent / limit).write_text("1000000\n")
    (inner.parent / usage).write_text("300000\n")
    (inner.parent / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    found = [one for one in memory.limits() if not one.of_address_space]
    assert found == [memory.Limit(str(inner.parent / limit), 800_000)]


def group_with_limit(limit: int) -> Path | None:
    """Creates a control group with a memory limit. Returns None if the system does not allow that."""
    for root, name in ((memory.CGROUPS / "memory", "memory.limit_in_bytes"), (memory.CGROUPS, "memory.max")):
        group = root / f"flashmesh-{uuid.uuid4()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / name).write_text(str(limit))
        except OSError:
            group.rmdir()
            continue
        return group
    return None


def test_limit_of_the_control_group_is_refused_before_the_work(config: Path) -> None:
    group = group_with_limit(600_000_000)
    if group is None:
        pytest.skip("no control group can be made here")

    def run(blocks: int) -> subprocess.CompletedProcess[str]:
        sizes = ("--set", f"geometry.blocks-per-plane={blocks}", "--set", "precondition.kind=sequential")
        tables = ("--set", "persistence.policy=journal")
        return subprocess.run(
            ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", COMMAND, "run", config, *sizes, *tables],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )

    try:
        fits, does_not = run(256), run(4000)
    finally:
        group.rmdir()
    assert fits.returncode == 0, fits.stderr
    assert does_not.returncode == 2
    assert f"MiB are left ({group}/memory." in does_not.stderr
    assert len(does_not.stderr.splitlines()) == 1


def peak_of_oracles(**settings: object) -> int:
    """Returns the bytes that oracles add to the memory of a run."""
    overrides = {"workload.requests": 200_000, "workload.read-share": 0.5, **settings}

    def peak(check: bool) -> int:
        call = f"flashmesh.run('preset:venice-z-nand', overrides={overrides!r}, check={check})"
        code = f"import flashmesh; print({call}.peak_rss_bytes)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=TIMEOUT_S
        )
        return int(done.stdout)

    return peak(True) - peak(False)


@pytest.mark.long
def test_oracles_take_memory_for_the_pages_touched_and_not_for_the_drive() -> None:
    few = {"workload.footprint": "64MiB"}
    small = peak_of_oracles(**few, **{"geometry.blocks-per-plane": 64})
    large = peak_of_oracles(**few, **{"geometry.blocks-per-plane": 4096})
    many = peak_of_oracles(**{"workload.footprint": "64GiB", "geometry.blocks-per-plane": 4096})
    assert large < small + (2 << 20)
    assert many > 1.4 * large


def test_configuration_says_how_much_memory_it_takes() -> None:
    done = subprocess.run(
        [
            COMMAND,
            "config",
            "preset:venice-z-nand",
            *(word for key, value in LARGE.items() for word in ("--set", f"{key}={value}")),
        ],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    last = done.stdout.splitlines()[-1]
    assert last.startswith("# A run takes at most about ")
    assert last.endswith(" GiB of it for preconditioning.")


def test_limit_of_address_space_is_refused_before_the_work(config: Path) -> None:
    done = subprocess.run(
        [
            "sh",
            "-c",
            'ulimit -v 1500000; exec "$@"',
            "sh",
            COMMAND,
            "run",
            config,
            "--set",
            "geometry.blocks-per-plane=20000",
        ],
        env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 2
    assert "of address space, and" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_allocation_that_fails_ends_with_a_sentence_and_an_exit_code() -> None:
    # Remove the estimate and exceed the memory: even memory that no estimate covers must not end in a backtrace.
    code = (
        "import resource; from flashmesh.installation import memory; memory.limits = lambda: []\n"
        "import flashmesh.results, flashmesh.simulate\n"
        "used = memory.fields(memory.PROC / 'self/status')['VmSize']\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28),) * 2)\n"
        "flashmesh.run('preset:venice-z-nand', overrides={'geometry.blocks-per-plane': 20000})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: out of memory: the system refused ")
    assert len(done.stderr.splitlines()) == 1
