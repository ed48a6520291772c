"""The statements of SECURITY.md about hostile files, sentence by sentence."""

from __future__ import annotations

import ast
import gzip
import json
import lzma
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import test_cli_cache
import test_memory
import test_printable
import test_saved_door
import test_serve
from conftest import COMMAND, ENDLESS, TIMEOUT_S, Cli, environment, run_in
from long_cases import in_part
from mqsim_files import SYNTHETIC, device_text, workload_text
from watched import Watched

ROOT = Path(__file__).parents[2]
DANGEROUS = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "pickle.find_class")
"""Audit events of the interpreter that start a program."""
AUDITED = """
import json, os, sys
EVENTS = {events!r}
seen = []
def watch(event, arguments):
    if event in EVENTS or event == "socket.connect" or (event == "compile" and "pwned" in str(arguments[0])):
        seen.append(event)
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        print("WRITES", arguments[0], flush=True)
import flashmesh.cli.entry, flashmesh.report.summary, flashmesh.importers.fio, flashmesh.importers.mqsim
import tomllib, json, pandas
# Each command in a process of its own, forked before anything is watched.
for arguments in json.loads(sys.argv[1]):
    if child := os.fork():
        os.waitpid(child, 0)
        print("ENDED", flush=True)
        continue
    sys.addaudithook(watch)
    sys.argv = ["flashmesh", *arguments]
    try:
        flashmesh.cli.main()
    finally:
        print("SEEN", seen, flush=True)
    break
"""
HOSTILE_TEXTS = (
    "$(touch pwned)",
    "__import__('os').system('touch pwned')",
)


def audited(folder: Path, *commands: tuple[str, ...]) -> list[str]:
    """Runs commands. Returns the output of each, with every file opened for writing and every program started."""
    done = subprocess.run(
        [sys.executable, "-c", AUDITED.format(events=DANGEROUS), json.dumps(commands)],
        cwd=folder,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert "Traceback" not in done.stdout, done.stdout
    *shown, rest = done.stdout.split("ENDED\n")
    assert (len(shown), rest) == (len(commands), "")
    return shown


@pytest.mark.parametrize("text", [HOSTILE_TEXTS[0], pytest.param(HOSTILE_TEXTS[1], marks=pytest.mark.long)])
def test_nothing_in_a_file_is_executed(tmp_path: Path, text: str) -> None:
    (tmp_path / "drive.toml").write_text(f"preset = {text!r}\n[workload]\ntrace = {text!r}\n")
    (tmp_path / "trace").write_text(f"{text}\n1 0 8 8 1\n")
    (tmp_path / "job.fio").write_text(f"[a]\nrw=read\nexec_prerun={text}\nfilename={text}\nsize=1M\n")
    (tmp_path / "ssd.xml").write_text(device_text() + text)
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC | {"Address_Distribution": text.replace("<", "")}]))
    before = sorted(tmp_path.iterdir())
    calls = [
        ("run", "drive.toml"),
        ("run", "preset:venice-z-nand", "--trace", "trace"),
        ("run", "--fio", "job.fio"),
        ("import-mqsim", "ssd.xml", "work.xml", "-o", "."),
    ]
    for shown in audited(tmp_path, *calls):
        assert "SEEN []" in shown, shown
    assert sorted(tmp_path.iterdir()) == before


def test_fio_reads_no_variable_of_the_environment(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "4242")
    (tmp_path / "job.fio").write_text("[a]\nrw=read\nsize=${SECRET}k\n")
    done = cli("run", "--fio", "job.fio")
    assert "4242" not in done.stdout + done.stderr


def test_no_file_is_read_that_nobody_names(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "trace").write_text("".join(f"{1000 * n} 0 {8 * n} 8 1\n" for n in range(100)))
    (tmp_path / "drive.toml").write_text('preset = "venice-z-nand"\n[workload]\ntrace = "trace"\ntime-unit = "us"\n')
    others = ("flashmesh.toml", ".env", "pyproject.toml", "trace.toml", "trace.gz", "drive.json", "venice-z-nand.toml")
    for name in others:
        (tmp_path / name).write_text("nobody named this")
    # Linux updates an access time only on the first read after a change, so make all access times old.
    long_ago, now = 1_000_000_000, time.time()
    for path in tmp_path.iterdir():
        os.utime(path, (long_ago, now))
    done = cli("run", "drive.toml")
    assert done.returncode == 0, done.stderr
    was_read = {path.name for path in tmp_path.iterdir() if path.stat().st_atime != long_ago}
    if not was_read:
        pytest.skip("the file system does not note when files are read")
    assert was_read == {"drive.toml", "trace"}


def test_no_room_of_the_core_knows_the_network() -> None:
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        assert "std::net" not in path.read_text(encoding="utf-8"), path


@pytest.mark.long
def test_nothing_is_written_but_what_options_name_and_no_socket_is_connected(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text('preset = "venice-z-nand"\n[workload]\nrequests = 100\n')
    (shown,) = audited(tmp_path, ("run", "drive.toml", "--json", "result.json"))
    assert "SEEN []" in shown
    written = [line for line in shown.splitlines() if line.startswith("WRITES")]
    assert all("/proc/self/fd/" in line for line in written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.toml", "result.json"]


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "..", "a/b"])
def test_tags_of_mqsim_name_no_file_to_write(tmp_path: Path, cli: Cli, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "ssd.xml").write_text(device_text())
    (inner / "work.xml").write_text(workload_text([SYNTHETIC | {"Address_Distribution": name}]))
    cli("import-mqsim", "inner/ssd.xml", "inner/work.xml", "-o", "inner/out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inner"]
    assert {path.name for path in inner.iterdir()} <= {"ssd.xml", "work.xml", "out"}


def test_entities_of_xml_are_refused(tmp_path: Path, cli: Cli) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY b "&x;&x;">]>'
    (tmp_path / "ssd.xml").write_text(
        device_text().replace("?>", f"?>{bomb}", 1) if "?>" in device_text() else bomb + device_text()
    )
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC]))
    done = cli("import-mqsim", "ssd.xml", "work.xml", "-o", "out")
    assert done.returncode == 2
    assert "a document type is not supported" in done.stderr
    assert "root:" not in done.stdout + done.stderr


def test_files_that_are_too_long_are_refused_unread(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "drive.toml").write_text("#" * (1 << 20) + "\n")
    done = cli("run", "drive.toml")
    assert (done.returncode, "longer than 1 MiB" in done.stderr) == (2, True)
    for command in ("sweep", "optimise"):
        with (tmp_path / "large.toml").open("wb") as file:
            file.truncate((16 << 20) + 1)
        done = cli(command, "large.toml")
        assert (done.returncode, "is larger than 16 MiB" in done.stderr) == (2, True)
    with (tmp_path / "ssd.xml").open("wb") as file:
        file.truncate((16 << 20) + 1)
    done = cli("import-mqsim", "ssd.xml", "ssd.xml", "-o", "out")
    assert (done.returncode, "is larger than 16 MiB" in done.stderr) == (2, True)


@pytest.mark.parametrize("line", ['yes | "$0" run -', 'mkfifo pipe; yes > pipe & "$0" run pipe'])
def test_configuration_that_never_ends_is_refused(tmp_path: Path, line: str) -> None:
    done = run_in(tmp_path, "sh", "-c", line, COMMAND)
    assert (done.returncode, "longer than 1 MiB, which no configuration is" in done.stderr) == (2, True), done.stderr


@pytest.fixture
def sparse_line(tmp_path: Path) -> Path:
    """Writes a sparse file of 3 GB without a line end, which takes no disk space."""
    path = tmp_path / "endless"
    with path.open("wb") as file:
        file.write(b"1 0 8 8 1\n")
        file.truncate(3_000_000_000)
    return path


def peak_of(folder: Path, *arguments: str | Path) -> int:
    """Returns the peak memory of a command in bytes. The command must succeed."""
    code = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = run_in(folder, sys.executable, "-c", code, COMMAND, *arguments)
    done.check_returncode()
    code, kib = done.stdout.split()
    assert code == "0", done.stderr
    return int(kib) << 10


@pytest.mark.long
def test_packed_trace_takes_at_most_160_mib_more_than_a_plain_one(tmp_path: Path) -> None:
    lines = 6_000_000
    plain = b"".join(b"%08d 0 %08d 00008 1\n" % (n, 8 * (n % 512)) for n in range(lines))
    (tmp_path / "plain").write_bytes(plain)
    # The largest window that is accepted for unpacking, and more data than it holds.
    assert len(plain) > 128 << 20
    packed = lzma.compress(plain, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 128 << 20, "preset": 0}])
    (tmp_path / "packed.xz").write_bytes(packed)
    assert peak_of(tmp_path, "trace", "stat", "packed.xz") < peak_of(tmp_path, "trace", "stat", "plain") + (160 << 20)


@pytest.mark.parametrize("pack", in_part(1, [gzip.compress, lzma.compress]))
def test_packed_trace_is_not_unpacked_to_disk(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "packed").write_bytes(pack(b"".join(b"%d 0 %d 8 1\n" % (1000 * n, 8 * n) for n in range(100_000))))
    # Run a process that may not write a byte into any file.
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", COMMAND, "trace", "stat", "packed"],
        cwd=tmp_path,
        env=environment() | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def lines_out_of_order(count: int) -> str:
    """Returns a trace in reverse order of time except for each hundredth line, without repetitions."""
    return "".join(f"{1000 * (count - n % 100 * 7)} 0 {8 * n * 7919} {8 + n % 7} {n % 2}\n" for n in range(count))


def unusable_lines(count: int) -> str:
    """Returns a trace with several kinds of bad lines."""
    return "".join(f"{1000 * n} 0 {8 * n} {('8', '0', 'x' * (n % 50), '-1')[n % 4]} 1\n" for n in range(count))


@pytest.mark.parametrize("make", in_part(1, [lines_out_of_order, unusable_lines]))
def test_time_of_reading_is_in_proportion_to_the_file(tmp_path: Path, make: Callable[[int], str]) -> None:
    short, factor = 40_000, 16
    options = ("--tolerate", "--sort", "--set", "workload.format=ascii")

    def seconds(lines: int) -> float:
        (tmp_path / "trace").write_text(make(lines))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [COMMAND, "trace", "stat", "trace", *options],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Quadratic time would be more than a hundred times as long.
    assert seconds(factor * short) < 2 * factor * seconds(short)


@pytest.mark.parametrize("command", ["stat", "profile"])
def test_pages_far_from_each_other_take_little_memory(tmp_path: Path, command: str) -> None:
    draw, pages = random.Random(1), 100_000
    # Requests anywhere on the largest possible drive.
    lines = (f"{1000 * n} 0 {8 * draw.randrange(1 << 38)} 8 1\n" for n in range(pages))
    (tmp_path / "far").write_text("".join(lines))
    (tmp_path / "one").write_text("".join(f"{1000 * n} 0 0 8 1\n" for n in range(pages)))
    output = ("-o", "out") if command == "profile" else ()
    far, one = (peak_of(tmp_path, "trace", command, name, *output) for name in ("far", "one"))
    assert far < one + 1000 * pages


def test_line_that_does_not_end_takes_no_memory(tmp_path: Path, sparse_line: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    from mqsim_files import TRACE

    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": str(sparse_line)}]))
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", COMMAND, "import-mqsim", "ssd.xml", "work.xml", "-o", "out"],
        cwd=tmp_path,
        env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "endless:2: the line is longer than 4096 bytes" in done.stderr


def test_control_characters_of_files_do_not_reach_the_terminal(tmp_path: Path, cli: Cli) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    (tmp_path / "drive.toml").write_bytes(b'preset = "venice-z-nand"\nfabric = "' + evil.encode() + b'"\n')
    (tmp_path / "trace").write_bytes(evil.encode() + b" 0 8 8 1\n" * 3)
    (tmp_path / "job.fio").write_bytes(b"[a]\nrw=" + evil.encode() + b"\n")
    for call in (
        ("run", "drive.toml"),
        ("run", "preset:venice-z-nand", "--trace", "trace"),
        ("run", "--fio", "job.fio"),
    ):
        done = cli(*call)
        assert done.returncode == 2
        assert "\x1b" not in done.stdout + done.stderr, call
        assert "\x07" not in done.stdout + done.stderr, call


def test_run_can_be_bounded_from_outside(config: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    watched = Watched("run", config, "--set", ENDLESS, "--json", "result.json", cwd=tmp_path)
    watched.wait_for(b"requests")
    watched.process.send_signal(signal.SIGTERM)
    sent = time.monotonic()
    assert watched.finish()[0] == 143
    # The page promises a second, about one start of Python; a busy machine is slower at both.
    assert time.monotonic() - sent < 10 * (sent - begun)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.toml", "result.json"]
    assert json.loads((tmp_path / "result.json").read_text())["interrupted"] is True


def test_content_of_a_trace_appears_in_no_result(tmp_path: Path, cli: Cli) -> None:
    lines = (f"{128166372003061629 + 10 * n},confidential,0,Read,{4096 * n},4096,1\n" for n in range(100))
    (tmp_path / "trace.csv").write_text("".join(lines))
    (tmp_path / "drive.toml").write_text('preset = "venice-z-nand"\n')
    done = cli("run", "drive.toml", "--trace", "trace.csv", "--json", "result.json", "--request-log", "log.parquet")
    assert done.returncode == 0, done.stderr
    for name in ("result.json", "log.parquet"):
        assert b"confidential" not in (tmp_path / name).read_bytes()
    assert "confidential" not in done.stdout + done.stderr


def test_no_module_reads_pickles() -> None:
    package = ROOT / "python" / "flashmesh"
    for path in package.rglob("*.py"):
        names = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in [*node.names, ast.alias(name=getattr(node, "module", None) or "")]
        }
        assert not names & {"pickle", "marshal", "shelve", "dill", "joblib"}, path


def test_unsafe_code_is_where_the_page_says() -> None:
    page = (ROOT / "SECURITY.md").read_text()
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "crates").glob("*/src/**/*.rs") if is_unsafe(path)]
    assert files
    assert all(f"`{name}`" in page for name in files), files
    assert 'unsafe_code = "deny"' in (ROOT / "Cargo.toml").read_text()


def is_unsafe(path: Path) -> bool:
    return re.search(r"\bunsafe (\{|impl|fn)", path.read_text(encoding="utf-8")) is not None


PROMISES = {
    "Nothing in a file is executed.": (
        test_nothing_in_a_file_is_executed,
        test_fio_reads_no_variable_of_the_environment,
    ),
    "Nothing is written but the named outputs and kept states.": (
        test_nothing_is_written_but_what_options_name_and_no_socket_is_connected,
        test_tags_of_mqsim_name_no_file_to_write,
    ),
    "Files that are named are read, and only they.": (
        test_no_file_is_read_that_nobody_names,
        test_content_of_a_trace_appears_in_no_result,
    ),
    "XML has no entities.": (test_entities_of_xml_are_refused,),
    "Memory is bounded.": (
        test_files_that_are_too_long_are_refused_unread,
        test_configuration_that_never_ends_is_refused,
        test_line_that_does_not_end_takes_no_memory,
        test_packed_trace_takes_at_most_160_mib_more_than_a_plain_one,
        test_packed_trace_is_not_unpacked_to_disk,
        test_pages_far_from_each_other_take_little_memory,
        test_memory.test_runs_that_do_not_fit_are_refused_with_figures_and_keys,
    ),
    "Texts from outside do not reach the terminal as they are.": (
        test_control_characters_of_files_do_not_reach_the_terminal,
        test_printable.test_no_text_of_a_saved_result_reaches_the_terminal_as_it_is,
        test_printable.test_no_text_of_a_file_or_a_name_reaches_the_terminal_as_it_is,
        test_printable.test_progress_and_colours_go_to_a_terminal_and_names_do_not,
    ),
    "Kept states are trusted like the results of the user.": (
        test_cli_cache.test_a_full_drive_is_kept_read_shown_damaged_and_cleared,
    ),
    "Saved results are checked at the door.": (
        test_saved_door.test_no_wrong_value_in_a_saved_result_gets_past_the_door,
        test_saved_door.test_a_small_table_that_unpacks_to_much_is_refused,
    ),
    "Cells of CSV files are no formulas.": (test_saved_door.test_texts_in_csv_files_are_no_formulas,),
    "A client of a served drive reaches the data of that drive, and nothing else.": (
        test_serve.test_nonsense_is_refused_and_the_drive_lives_on,
        test_serve.test_only_the_user_may_connect_and_read_the_data,
    ),
    "A run does no network access": (
        test_nothing_is_written_but_what_options_name_and_no_socket_is_connected,
        test_no_room_of_the_core_knows_the_network,
    ),
    "Time is bounded by the file": (
        test_time_of_reading_is_in_proportion_to_the_file,
        test_run_can_be_bounded_from_outside,
    ),
}
"""Promises of the page, with the tests of each."""


def test_page_promises_what_is_tested_here() -> None:
    page = (ROOT / "SECURITY.md").read_text()
    assert re.findall(r"^- \*\*(.+?)\*\*", page, re.MULTILINE) == list(PROMISES)
    assert (ROOT / "crates/flashmesh-fuzz").is_dir()
