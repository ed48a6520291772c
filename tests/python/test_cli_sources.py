"""Sources of a configuration, and errors for missing ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, ROOT, TIMEOUT_S, Cli, environment
from flashmesh import ConfigError, OutputError, configuration
from long_cases import in_part

SMALL = 'preset = "venice-z-nand"\n[workload]\nrequests = 100\n'


@pytest.mark.parametrize(
    ("given", "said"),
    in_part(
        3,
        [
            ("venice-z-nand", "venice-z-nand: there is no such file: did you mean preset:venice-z-nand?"),
            (".", ".: is a folder, not a configuration: `flashmesh show` shows the results in a folder"),
            ("znand.toml", "znand.toml: there is no such file: did you mean preset:venice-z-nand?"),
            ("drve.toml", "drve.toml: there is no such file: did you mean drive.toml?"),
            ("nowhere/drive.toml", "nowhere/drive.toml: there is no such file: there is no folder nowhere either"),
            ("xyzzy", "xyzzy: there is no such file"),
            (
                "hm_0",
                "hm_0: there is no such file: --profile hm_0 replays this workload on a drive, "
                "such as preset:venice-z-nand",
            ),
        ],
    ),
)
def test_a_missing_file_is_told_with_what_may_have_been_meant(cli: Cli, tmp_path: Path, given: str, said: str) -> None:
    (tmp_path / "drive.toml").write_text(SMALL)
    done = cli("run", given)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {said}\n")


@pytest.mark.parametrize(
    ("text", "is_trace"),
    [
        ("128166372003061629,hm,0,Read,383496192,32768,413\n", True),
        ("0 0 8 8 1\n1000 0 16 8 1\n", True),
        ("# a comment\n8,0 3 1 0.000000000 697 Q W 223490 + 8 [kjournald]\n", True),
        ("fio version 2 iolog\n/dev/sdb add\n", True),
        ('preset = "venice-z-nand"\nseed = one\n', False),
        ("[workload]\nrequests = 1 2 3\n", False),
        ("these are a few words\n", False),
    ],
)
def test_a_trace_in_place_of_a_configuration_is_told(text: str, is_trace: bool, tmp_path: Path) -> None:
    (tmp_path / "given.csv").write_text(text)
    with pytest.raises(ConfigError) as told:
        configuration.load(tmp_path / "given.csv")
    assert (f"this is a trace: --trace {tmp_path}/given.csv replays it" in str(told.value)) == is_trace


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("; jobs\n[global]\nioengine=libaio\n[a]\nrw=randread\n", "this is a job file of fio: --fio"),
        ("[a]\nreadwrite = randrw\n", "this is a job file of fio: --fio"),
        ('{"schema": 1}\n', "`flashmesh report` and `flashmesh show` take saved results"),
        ('[workload]\nrw = "read"\n', "unknown key"),
    ],
)
def test_a_job_file_or_results_in_place_of_a_configuration_are_told(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "given").write_text(text)
    with pytest.raises(ConfigError, match=said):
        configuration.load(tmp_path / "given")


def test_a_packed_trace_in_place_of_a_configuration_is_told() -> None:
    trace = ROOT / "examples/traces/shop.csv.xz"
    with pytest.raises(ConfigError, match="this is a trace: --trace"):
        configuration.load(trace)


def test_results_that_are_not_there_are_told_before_a_report_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashmesh.cli.results.report import report

    (tmp_path / "results.json").write_text("{}")
    monkeypatch.setattr("flashmesh.html.saved.read", None)
    with pytest.raises(OutputError, match=r"there is no such file or folder: did you mean .*results\.json"):
        report.main([str(tmp_path / "result.json")], standalone_mode=False)


def test_links_that_lead_to_no_file_are_told_as_what_they_are(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("other")
    (tmp_path / "other").symlink_to("circle")
    (tmp_path / "dangling").symlink_to("gone.toml")
    for given, said in [
        ("circle", "its symbolic links form a cycle"),
        ("dangling", f"is a symbolic link to {tmp_path.resolve()}/gone.toml, and there is no such file"),
    ]:
        done = cli("run", given)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {given}: {said}\n")


def test_files_of_mqsim_are_sent_to_their_importer(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ssdconfig.xml").write_text('<?xml version="1.0"?>\n<Execution_Parameter_Set/>\n')
    done = cli("run", "ssdconfig.xml")
    assert done.returncode == 2
    assert "import-mqsim" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command", [["run", "-"], ["compare", "-", "--vary", "fabric.kind=bus,ideal"], ["config", "-"]]
)
def test_a_configuration_is_read_from_standard_input(command: list[str]) -> None:
    def done(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *command],
            input=text,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    assert done(SMALL).returncode == 0
    wrong = done("[workload]\nrequest = 100\n")
    assert wrong.returncode == 2
    assert "<stdin>:2:1" in wrong.stderr


SWEEP = 'config = "preset:venice-z-nand"\nseeds = 2\n[axes]\nfabric.kind = ["bus", "ideal"]\n'
SEARCH = 'config = "preset:venice-z-nand"\ntrials = 2\n[space]\nfabric.kind = ["bus"]\n'
DRIVE_FILE = 'preset = "venice-z-nand"\n[workload]\nrequests = 10\n'


@pytest.mark.parametrize(
    ("command", "text", "words"),
    in_part(
        2,
        [
            ("run", SWEEP, "this is a sweep, not a configuration: `flashmesh sweep f.toml` runs it"),
            ("run", SEARCH, "this is a search, not a configuration: `flashmesh optimise f.toml` runs it"),
            ("sweep", SEARCH, "this is a search: `flashmesh optimise f.toml` runs it"),
            ("sweep", DRIVE_FILE, "this is a configuration: `flashmesh run f.toml` runs it"),
            ("optimise", SWEEP, "this is a sweep: `flashmesh sweep f.toml` runs it"),
            ("optimise", DRIVE_FILE, "this is a configuration: `flashmesh run f.toml` runs it"),
        ],
    ),
)
def test_a_file_of_another_command_is_told_its_command(
    cli: Cli, tmp_path: Path, command: str, text: str, words: str
) -> None:
    (tmp_path / "f.toml").write_text(text)
    done = cli(command, "f.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize("command", [("show", "nothere"), ("report", "nothere"), ("validate", "nothere")])
def test_a_missing_path_is_told_in_the_same_words_by_every_command(cli: Cli, command: tuple[str, ...]) -> None:
    done = cli(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothere: there is no such file" in done.stderr


def test_explaining_a_measure_names_the_command_that_does(cli: Cli) -> None:
    for name in ("iops", "p99", "write amplification"):
        done = cli("explain", name)
        assert done.returncode == 2
        assert "is a measure of results: flashmesh measures says what it is" in done.stderr


CLOSED = '[replay]\nmode = "closed"\noutstanding = 8\n[workload]\nrequests = 100\n'
UNUSED = 'note: f.toml: replay.outstanding has no effect: replay.mode is "closed"'


@pytest.mark.parametrize(
    ("text", "settings", "is_noted"),
    [
        (CLOSED, (), True),
        (CLOSED, ("replay.mode=stress",), False),
        ("[replay]\noutstanding = 8\n[workload]\nrequests = 100\n", (), False),
        ('preset = "samsung-pm9a3"\n[workload]\nrequests = 100\n', (), False),
    ],
)
def test_a_key_that_a_file_keeps_for_another_mode_is_noted(
    cli: Cli, tmp_path: Path, text: str, settings: tuple[str, ...], is_noted: bool
) -> None:
    (tmp_path / "f.toml").write_text(text)
    done = cli("run", "f.toml", *(part for setting in settings for part in ("--set", setting)))
    assert done.returncode == 0, done.stderr
    assert (UNUSED in done.stderr) == is_noted
    assert is_noted or "no effect" not in done.stderr


def test_a_printed_configuration_is_read_without_notes(cli: Cli, tmp_path: Path) -> None:
    printed = cli("config", "preset:samsung-pm9a3", "--set", "workload.requests=100")
    (tmp_path / "f.toml").write_text(printed.stdout)
    done = cli("run", "f.toml")
    assert (done.returncode, "no effect" in done.stderr) == (0, False), done.stderr
