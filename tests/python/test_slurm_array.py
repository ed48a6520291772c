"""`flashmesh sweep --slurm-array`: its scripts, and arrays run by a replacement of sbatch."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from conftest import COMMAND, Cli, run_in
from flashmesh.sweeps.executors.jobarray import directive, indexes
from flashmesh.sweeps.executors.shards import shares
from long_cases import in_part
from slurm_files import fake_slurm
from sweep_files import DRIVE, SWEEP, kept, sweep_file

__all__ = ["sweep_file"]

ARRAY = ("--out", "out", "--slurm-array")


def lines_of(script: Path) -> list[str]:
    """Returns the lines of a script."""
    return script.read_text().splitlines()


def test_script_holds_what_slurm_and_a_task_need(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    options = ("--slurm-partition", "long", "--slurm-time", "4:00:00", "--slurm-memory", "4G", "--slurm-cpus", "8")
    more = ("--slurm-option", "account=a b", "--slurm-option", "--exclusive", "--check", "--set", "seed=3")
    done = cli("sweep", "s.toml", *ARRAY, "4%2", *options, *more)
    assert (done.returncode, done.stderr) == (0, "")
    script = lines_of(tmp_path / "out/slurm/array.sh")
    assert script[:10] == [
        "#!/bin/sh",
        "#SBATCH --job-name=flashmesh-s",
        "#SBATCH --array=1-4%2",
        "#SBATCH --partition=long",
        "#SBATCH --time=4:00:00",
        "#SBATCH --mem=4G",
        "#SBATCH --cpus-per-task=8",
        f"#SBATCH --output={tmp_path}/out/slurm/%A_%a.out",
        '#SBATCH --account="a b"',
        "#SBATCH --exclusive",
    ]
    words = shlex.split(script[-1])
    assert words[2:] == [
        *("-P", "-m", "flashmesh", "sweep", "s.toml", "--set", "seed=3", "--check", "--out", "out", "--resume"),
        *("--shard", "$SLURM_ARRAY_TASK_ID/4", "--jobs", "${SLURM_CPUS_PER_TASK:-8}"),
    ]
    last = lines_of(tmp_path / "out/slurm/last.sh")
    assert not any("--array" in line or "--shard" in line for line in last)
    assert done.stdout.splitlines() == [
        "4 tasks of at most 2 runs: out/slurm/array.sh",
        "submit:   job=$(sbatch --parsable out/slurm/array.sh)",
        "          sbatch --dependency=afterany:$job out/slurm/last.sh",
        "The second job runs what the tasks leave unfinished, and writes the table of all results.",
        "watch:    flashmesh sweep --watch out",
        "by hand:  flashmesh sweep s.toml --set seed=3 --check --out out --resume",
    ]
    assert not kept(tmp_path / "out")
    # Scripts that were not submitted may be overwritten.
    again = cli("sweep", "s.toml", *ARRAY, "9", "--jobs", "3")
    assert again.stdout.startswith("6 tasks of at most 1 run, as many as there are runs: ")
    assert lines_of(tmp_path / "out/slurm/array.sh")[-1].endswith('--shard "$SLURM_ARRAY_TASK_ID/6" --jobs 3')


def test_dry_run_prints_the_script_and_writes_nothing(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep_file, *ARRAY, "2", "--dry-run", "--submit")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("#!/bin/sh\n#SBATCH --job-name=flashmesh-s\n#SBATCH --array=1-2\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    in_part(
        4,
        [
            (("--slurm-array", "0"), "'0': expected the number of tasks, 1 or more"),
            (("--slurm-array", "4%0"), "'4%0': expected the number of tasks"),
            (("--slurm-array", "4", "--shard", "1/2"), "--slurm-array cannot be combined with --shard"),
            (("--slurm-array", "4", "--dask", "slurm"), "--slurm-array cannot be combined with --dask"),
            (("--submit",), "--submit is for a job array: add --slurm-array N"),
            (("--slurm-time", "5"), "--slurm-time is for a job array: add --slurm-array N"),
            (("--slurm-array", "4", "--slurm-option", "time=5"), "use --slurm-time for this option of sbatch"),
            (("--slurm-array", "4", "--slurm-option", "=5"), "'=5': expected an option of sbatch"),
            (("--slurm-array", "4", "--slurm-memory", "4G\nrm"), "expected a value of one line"),
            (("--slurm-array", "4", "--slurm-log", "a\\b"), "no logs to a path with a backslash"),
            (("--slurm-array", "4", "--submit"), "--submit: there is no sbatch on this machine"),
        ],
    ),
)
def test_what_makes_no_array_is_refused(sweep_file: Path, tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run_in(tmp_path, COMMAND, "sweep", sweep_file, *options, beside={"PATH": str(tmp_path / "empty")})
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "s.results").exists()


def test_array_larger_than_slurm_allows_is_refused(sweep_file: Path, tmp_path: Path) -> None:
    beside = fake_slurm(tmp_path / "bin", size=5)
    done = run_in(tmp_path, COMMAND, "sweep", sweep_file, *ARRAY, "5", "--submit", beside=beside)
    assert done.returncode == 2
    assert "--slurm-array 5: arrays have at most 4 tasks here (MaxArraySize = 5)" in done.stderr
    assert not (tmp_path / "out").exists()


def test_refusal_of_sbatch_is_told_and_the_array_can_be_submitted_again(sweep_file: Path, tmp_path: Path) -> None:
    beside = fake_slurm(tmp_path / "bin")
    (tmp_path / "bin/sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: invalid partition specified: x' >&2\nexit 1\n"
    )
    refused = run_in(tmp_path, COMMAND, "sweep", sweep_file, *ARRAY, "2", "--submit", beside=beside)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "error: out/slurm/array.sh: sbatch cannot submit it: invalid partition specified: x\n"
    (tmp_path / "bin/sbatch").write_text("#!/bin/sh\necho '12;cluster'\n")
    done = run_in(tmp_path, COMMAND, "sweep", sweep_file, *ARRAY, "2", "--submit", beside=beside)
    assert done.stdout.startswith("job 12: 2 tasks of at most 3 runs: out/slurm/array.sh\njob 12 follows: ")
    twice = run_in(tmp_path, COMMAND, "sweep", sweep_file, *ARRAY, "2", "--submit", beside=beside)
    assert (twice.returncode, twice.stdout) == (2, "")
    assert "out: job 12 was submitted for it: name another folder, or continue with --resume" in twice.stderr
    fake_slurm(tmp_path / "bin", squeue="#!/bin/sh\necho '1 RUNNING'\necho '2 PENDING'\n")
    early = run_in(tmp_path, COMMAND, "sweep", sweep_file, *ARRAY, "2", "--submit", "--resume", beside=beside)
    assert "out: Slurm's queue still has 2 of the tasks of job 12: wait for them, or end them with scancel 12" in (
        early.stderr
    )
    seen = run_in(tmp_path, COMMAND, "sweep", "--watch", "out", beside=beside).stdout.splitlines()
    assert seen == [
        "0 of 6 runs done (0 %), 0 running, 0 failed",
        "no process reports progress: 2 tasks of job 12 are in Slurm's queue",
        "0 of 2 shards done",
        "  shard 1: 0 of 3 runs done, running in Slurm's queue",
        "  shard 2: 0 of 3 runs done, pending in Slurm's queue",
    ]


def test_results_are_not_mixed_with_those_of_an_array(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "1/3", "--quiet").returncode == 0
    refused = cli("sweep", sweep_file, *ARRAY, "3")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "out: contains results already: continue with --resume" in refused.stderr


@pytest.mark.long
def test_killed_task_is_seen_and_its_runs_are_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "it's 100% #1"
    folder.mkdir()
    (folder / "drive.toml").write_text(DRIVE.replace("500", "100_000"))
    (folder / "a sweep.toml").write_text(SWEEP)
    beside = fake_slurm(tmp_path / "bin", killed=2)

    def sweep(*words: str) -> CompletedProcess[str]:
        return run_in(folder, COMMAND, "sweep", *words, beside=beside)

    done = sweep("a sweep.toml", *ARRAY, "3", "--submit")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("job 40: 3 tasks of at most 2 runs: ")
    calls = json.loads((tmp_path / "bin/calls.json").read_text())
    assert [call["words"] for call in calls] == [["--parsable"], ["--parsable", "--dependency=afterany:40"]]
    assert calls[0]["options"]["--output"] == f"{folder}/out/slurm/%A_%a.out".replace("100%", "100%%")
    before = kept(folder / "out")
    assert 4 <= len(before) < 6, (folder / "out/slurm/40_2.out").read_text()
    seen = sweep("--watch", "out").stdout.splitlines()
    assert seen[0].startswith(f"{len(before)} of 6 runs done")
    assert seen[1:3] == ["no process is running: --resume runs the rest", "2 of 3 shards done"]
    assert seen[3].startswith(f"  shard 2: {len(before) - 4} of 2 runs done, killed: the process is gone (")
    assert len(seen) == 4
    array = sweep("a sweep.toml", *ARRAY, "3", "--resume", "--dry-run")
    assert "#SBATCH --array=2\n" in array.stdout
    resumed = sweep("a sweep.toml", "--out", "out", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr.startswith(f"6 runs, {len(before)} of them finished already; ")
    after = kept(folder / "out")
    assert len(after) == 6
    assert before.items() <= after.items()
    assert pq.read_metadata(folder / "out/results.parquet").num_rows == 6
    assert sweep("--watch", "out").stdout == "6 of 6 runs done (100 %), 0 running, 0 failed\n"
    assert sweep("a sweep.toml", *ARRAY, "3", "--resume").stdout.startswith("all 6 runs are finished")


def test_shards_share_runs_evenly() -> None:
    names = ["a", "b", "a", "c", "a", "d"]
    assert shares(names, 2) == [["a", "c"], ["b", "d"]]
    assert shares(names, 5) == [["a"], ["b"], ["c"], ["d"], []]


def test_words_of_scripts_are_those_of_sbatch() -> None:
    assert indexes([1, 2, 3, 5, 8, 9]) == "1-3,5,8-9"
    assert directive("comment", 'a "b" \\ #') == '#SBATCH --comment="a \\"b\\" \\\\ #"'
    assert directive("A", "physics") == "#SBATCH -A physics"
    assert directive("exclusive", None) == "#SBATCH --exclusive"
