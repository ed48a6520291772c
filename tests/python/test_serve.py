"""Served drives: data, latencies, clients that die or send nonsense, and errors."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment, run_in
from durations import used_s
from flashmesh import configuration
from flashmesh.cli.entry import guarded
from flashmesh.serving import awake, nbdkit
from flashmesh.serving.probe import Probed, Step, probe
from flashmesh.texts import sizes
from long_cases import in_part
from nbd import FLUSH, READ, TRIM, WRITE, ZEROES, Serving, before_others, nonsense, require

MIB = 1 << 20
SECTOR = 512
DRIVE = 'preset = "venice-z-nand"\n[geometry]\nblocks-per-plane = 64\n'
VIRTUAL = ("drive.toml", "--time-scale", "0")


@pytest.fixture(autouse=True)
def drive(tmp_path: Path) -> Path:
    """Writes the configuration of the served drive. Returns its path."""
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def ran(folder: Path, *command: str | Path, prepare: Callable[[], None] | None = None) -> str:
    """Runs a client that must succeed. Returns its output."""
    done = run_in(folder, *command, preexec_fn=prepare)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def change_at_random(serving: Serving, seed: int, begin: int, size: int) -> bytes:
    """Changes a part of the drive with all kinds of requests over several connections. Returns the expected data."""
    draw, expected = random.Random(seed), bytearray(size)
    client = serving.client()
    for _ in range(150):
        at = draw.randrange(size)
        count = min(draw.choice((1, 700, SECTOR, 4096, 70_000)), size - at)
        match draw.choice((WRITE, WRITE, WRITE, TRIM, ZEROES, FLUSH, READ, None)):
            case None:
                client.leave(politely=draw.random() < 0.5)
                client = serving.client()
            case command if command in (TRIM, ZEROES):
                client.do(command, begin + at, count)
                expected[at : at + count] = bytes(count)
            case command if command == WRITE:
                data = draw.randbytes(count)
                client.write(begin + at, data)
                expected[at : at + count] = data
            case command if command == READ:
                assert client.read(begin + at, count) == expected[at : at + count]
            case _:
                client.do(FLUSH)
    client.leave()
    return bytes(expected)


@pytest.mark.parametrize("options", [(), ("--data", "data.img")])
def test_data_are_what_was_written_by_clients_in_parallel(tmp_path: Path, options: tuple[str, ...]) -> None:
    with Serving(tmp_path, *VIRTUAL, "--size", "3M", *options) as serving:
        with ThreadPoolExecutor(3) as clients:
            parts = clients.map(lambda n: change_at_random(serving, n, n * MIB, MIB), range(3))
        expected = b"".join(parts)
        client = serving.client()
        assert client.read(0, 3 * MIB) == expected
        client.leave(politely=False)
        assert serving.end()[0] == 0
    if options:
        assert (tmp_path / "data.img").read_bytes() == expected


def test_flushed_data_survive_the_death_of_the_server_and_are_served_again(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(MIB)
    options = (*VIRTUAL, "--size", "4M", "--data", "data.img")
    with Serving(tmp_path, *options) as serving:
        client = serving.client()
        client.write(MIB, data)
        client.do(FLUSH)
        os.kill(serving.nbdkit(), signal.SIGKILL)
        assert serving.process.wait(timeout=TIMEOUT_S) == 2
        assert (
            "nbdkit was killed with signal 9: there is no report; data that were written are in data.img"
            in serving.said
        )
        assert not serving.socket.exists()
    with Serving(tmp_path, *options) as serving:
        assert serving.client().read(MIB, MIB) == data


def test_nbdkit_ends_when_the_command_is_killed(tmp_path: Path) -> None:
    with Serving(tmp_path, *VIRTUAL, "--size", "1M", "--data", "data.img") as serving:
        client, child = serving.client(), serving.nbdkit()
        client.write(0, b"x" * SECTOR)
        serving.process.kill()
        serving.process.wait(timeout=TIMEOUT_S)
        end = time.monotonic() + TIMEOUT_S
        while (proc := Path(f"/proc/{child}/stat")).exists() and proc.read_text().split()[2] != "Z":
            assert time.monotonic() < end
            time.sleep(0.01)
    assert (tmp_path / "data.img").read_bytes()[:SECTOR] == b"x" * SECTOR


WRITER = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from nbd import Client
client = Client(Path(sys.argv[1]))
for n in range(1_000_000):
    client.write(n % 2048 * 4096, n.to_bytes(8, "big") * 512)
    print(n, flush=True)
"""


def test_drive_lives_on_when_a_client_is_killed_and_has_what_was_acknowledged(tmp_path: Path) -> None:
    with Serving(tmp_path, *VIRTUAL, "--size", "8M") as serving:
        code = WRITER.format(paths=[str(Path(__file__).parent)])
        writer = subprocess.Popen([sys.executable, "-c", code, serving.socket], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 300:
                break
        writer.kill()
        last = int((writer.stdout.read().split() or [line])[-1])
        writer.wait(timeout=TIMEOUT_S)
        writer.stdout.close()
        client = serving.client()
        for page in range(min(last, 2047) + 1):
            found = int.from_bytes(client.read(page * 4096, 4096)[:8], "big")
            # A write that was not acknowledged may have reached the drive too.
            assert found % 2048 == page
            assert found <= last + 1
        client.leave()
        assert serving.end()[0] == 0


def test_nonsense_is_refused_and_the_drive_lives_on(tmp_path: Path) -> None:
    draw = random.Random(1)
    with Serving(tmp_path, *VIRTUAL, "--size", "1M", "--json", "report.json") as serving:
        for count in (1, 18, 1000):
            nonsense(serving.socket, draw.randbytes(count))
        nonsense(serving.socket, b"\0\0\0\3IHAVEOPT\0\0\0\1\xff\xff\xff\xff\x1b]0;owned\x07")
        client = serving.client()
        assert client.ask(READ, MIB - SECTOR, 2 * SECTOR)[0] != 0
        assert client.ask(WRITE, 1 << 62, SECTOR, bytes(SECTOR))[0] != 0
        assert client.ask(77)[0] != 0
        assert client.read(0, SECTOR) == bytes(SECTOR)
        client.connection.sendall(b"no request at all, but longer than one is")
        assert serving.client().read(0, SECTOR) == bytes(SECTOR)
        assert serving.end()[0] == 0
        assert "\x1b" not in serving.said
    assert load(tmp_path / "report.json")["requests"] == 2


@pytest.mark.parametrize("scale", ["0", "1"])
def test_requests_fail_when_the_power_of_the_drive_is_cut(tmp_path: Path, scale: str) -> None:
    options = ("drive.toml", "--size", "1M", "--set", "power.cut=2ms", "--time-scale", scale)
    with Serving(tmp_path, *options) as serving:
        client = serving.client()
        errors = [client.ask(WRITE, 0, 4096, bytes(4096))[0] for _ in range(100)]
        assert (errors[0], errors[-1]) == (0, 5)
        assert serving.end()[0] == 0


def test_tools_that_people_use_read_what_they_wrote(tmp_path: Path) -> None:
    require("nbdcopy", "qemu-img", "nbdinfo")
    data = random.Random(1).randbytes(8 * MIB)
    (tmp_path / "image").write_bytes(data)
    with Serving(tmp_path, *VIRTUAL, "--size", "8M") as serving:
        info = json.loads(ran(tmp_path, "nbdinfo", "--json", serving.uri))["exports"][0]
        can = ("can_flush", "can_fua", "can_multi_conn", "can_trim", "can_zero")
        assert {name: info[name] for name in can} == dict.fromkeys(can, True)
        assert (info["export-size"], info["is_rotational"], info["is_read_only"]) == (8 * MIB, False, False)
        ran(tmp_path, "nbdcopy", "image", serving.uri)
        ran(tmp_path, "nbdcopy", serving.uri, "back")
        assert (tmp_path / "back").read_bytes() == data
        assert "identical" in ran(tmp_path, "qemu-img", "compare", "-f", "raw", "-F", "raw", "image", serving.uri)
        ran(tmp_path, "qemu-img", "convert", "-f", "raw", "-O", "qcow2", serving.uri, "copy.qcow2")
        assert "identical" in ran(tmp_path, "qemu-img", "compare", "image", "copy.qcow2")


def fio(
    folder: Path, serving: Serving, prepare: Callable[[], None] | None = None, **options: str | int
) -> dict[str, Any]:
    """Runs a fio job on the drive. Returns fio's report."""
    job = {"name": "job", "ioengine": "nbd", "uri": serving.uri, "output-format": "json", "output": "fio.json"}
    ran(folder, "fio", *(f"--{name}={value}" for name, value in (job | options).items()), prepare=prepare)
    found: dict[str, Any] = load(folder / "fio.json")["jobs"][0]
    assert found["error"] == 0
    return found


def test_fio_verifies_what_it_wrote_and_virtual_time_is_fast(tmp_path: Path) -> None:
    require("fio")
    with Serving(tmp_path, *VIRTUAL, "--size", "16M", "--json", "report.json") as serving:
        fio(tmp_path, serving, rw="randwrite", bs="4k", size="16M", iodepth=8, verify="crc32c")
        before_s = used_s(serving.process.pid)
        found = fio(tmp_path, serving, rw="randread", bs="4k", size="16M", iodepth=16, loops=4)
        # Compare with processor time of the server, because a busy machine lowers the rate of fio.
        # docs/how-to/mount-a-drive.md has the figures.
        assert found["read"]["total_ios"] > 5_000 * (used_s(serving.process.pid) - before_s)
        assert serving.end()[0] == 0
    assert load(tmp_path / "report.json")["requests"] >= 6 * 4096


def test_fio_sees_the_latencies_that_the_drive_reports(tmp_path: Path) -> None:
    require("fio")
    slow = ("drive.toml", "--set", "flash.read-time=5ms", "--set", "flash.program-time=8ms", "--size", "64M")
    differences: list[str] = []
    # Repeat: other work of the machine, or of the host of a virtual machine, may interfere.
    for attempt in range(6):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        (folder / "drive.toml").write_text(DRIVE)
        with Serving(folder, *slow, "--json", "report.json", prepare=before_others) as serving:
            found = fio(folder, serving, before_others, rw="randread", bs="4k", size="64M", iodepth=4, number_ios=500)
            assert serving.end()[0] == 0
        reported = load(folder / "report.json")["latency_ps"]["read"]
        assert reported["count"] == 500
        differences = []
        for name, key in (("p50", "50.000000"), ("p99", "99.000000")):
            seen_us, drive_us = found["read"]["clat_ns"]["percentile"][key] / 1e3, reported[name] / 1e6
            if abs(seen_us - drive_us) > 0.05 * drive_us + 20:
                differences.append(f"{name}: fio {seen_us:.0f} us, the drive {drive_us:.0f} us")
        if not differences:
            return
    pytest.fail("; ".join(differences))


@pytest.mark.skipif(not os.access(awake.WISHES, os.W_OK), reason=f"{awake.WISHES} cannot be written")
@pytest.mark.parametrize(("time_scale", "is_wished"), [("1", True), ("0", False)])
def test_processors_stay_awake_while_a_drive_is_served_in_real_time(
    tmp_path: Path, time_scale: str, is_wished: bool
) -> None:
    with Serving(tmp_path, "drive.toml", "--time-scale", time_scale, "--size", "64M") as serving:
        opened = {each.readlink() for each in Path(f"/proc/{serving.process.pid}/fd").iterdir()}
        assert (awake.WISHES in opened) == is_wished


def test_a_machine_that_takes_no_wish_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awake, "WISHES", tmp_path / "absent")
    kept = awake.Awake()
    assert not kept.begin()
    kept.end()
    assert list(tmp_path.glob("absent")) == []


def test_answers_that_come_late_are_told_with_by_how_much(tmp_path: Path) -> None:
    with Serving(tmp_path, "drive.toml", "--time-scale", "0.001", "--size", "64M") as serving:
        client = serving.client()
        for _ in range(4):
            client.read(0, 16 * MIB)
        serving.wait_for("real time does not hold")
        client.leave()
        code, _ = serving.end(signal.SIGINT)
    assert code == 0
    late = "were answered more than 100 us and 5 % of their latency late"
    told = re.search(rf"hold: \d of \d requests {late}, by up to (\S+) ms; --time-scale 0.01 gives", serving.said)
    assert told is not None
    assert float(told[1]) > 0.1
    assert re.search(rf"\d of 4 requests \(.*\) {late}", serving.said)


def test_log_is_replayed_on_the_same_and_on_another_design(tmp_path: Path, cli: Cli) -> None:
    with Serving(tmp_path, *VIRTUAL, "--size", "64M", "--log", "served.log", "--json", "report.json") as serving:
        client, draw = serving.client(), random.Random(1)
        for _ in range(300):
            at = draw.randrange(16_000) * 4096
            client.write(at, bytes(4096)) if draw.random() < 0.5 else client.read(at, 4096)
        client.do(TRIM, 0, MIB)
        client.do(FLUSH)
        code, output = serving.end()
    assert code == 0
    assert "requests of a program" in " ".join(output.split())
    assert "completion latency" in output
    served = load(tmp_path / "report.json")
    assert run_in(tmp_path, COMMAND, "show", "report.json").stdout == output
    replays = (("same.json",), ("other.json", "--set", "fabric.kind=ideal", "--set", "flash.program-time=200us"))
    for name, *settings in replays:
        replay = ("--trace", "served.log", "--set", "workload.flushes=true", "--quiet", "--json", name, *settings)
        done = cli("run", "drive.toml", *replay)
        assert done.returncode == 0, done.stderr
        replayed = load(tmp_path / name)
        kinds = ("all", "read", "write", "flush")
        assert [replayed["latency_ps"][kind]["count"] for kind in kinds] == [
            served["latency_ps"][kind]["count"] for kind in kinds
        ]
        served_us, replayed_us = (one["latency_ps"]["write"]["mean"] / 1e6 for one in (served, replayed))
        if name == "same.json":
            # The latencies agree only to 2 %, since the log has a resolution of a microsecond.
            assert replayed_us == pytest.approx(served_us, rel=0.02)
        else:
            assert replayed_us > served_us + 50


def test_a_file_system_on_the_drive_works_through_fuse(tmp_path: Path) -> None:
    require("nbdkit")
    if not all(map(shutil.which, ("nbdfuse", "mke2fs", "debugfs", "e2fsck"))) or not os.access("/dev/fuse", os.W_OK):
        pytest.skip("nothing can be mounted here: that takes nbdfuse, e2fsprogs and /dev/fuse")
    mounted, data = tmp_path / "mounted", random.Random(1).randbytes(MIB)
    mounted.touch()
    (tmp_path / "file").write_bytes(data)
    with Serving(tmp_path, *VIRTUAL, "--size", "16M") as serving:
        fuse = subprocess.Popen(
            ["nbdfuse", mounted, serving.uri], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
        )
        try:
            end = time.monotonic() + TIMEOUT_S
            while mounted.stat().st_size != 16 * MIB:
                if fuse.poll() is not None or time.monotonic() > end:
                    pytest.skip("nothing can be mounted here")
                time.sleep(0.02)
            ran(tmp_path, "mke2fs", "-q", "-F", "-t", "ext4", mounted)
            ran(tmp_path, "debugfs", "-w", "-R", "write file file", mounted)
            ran(tmp_path, "e2fsck", "-fn", mounted)
            ran(tmp_path, "debugfs", "-R", "dump file back", mounted)
            assert (tmp_path / "back").read_bytes() == data
        finally:
            run_in(tmp_path, "umount", mounted)
            fuse.terminate()
            fuse.communicate(timeout=TIMEOUT_S)


def test_probe_compares_what_a_client_sees_with_what_the_drive_takes() -> None:
    require("nbdkit")
    config = configuration.load("preset:venice-z-nand", overrides={"geometry.blocks-per-plane": 64})
    found = probe(config, 1, lambda note: pytest.fail(note), requests=100, targets=(20, 200))
    assert [step.target_us for step in found.steps] == [20, 200]
    # The server subtracts the transport time from the latency, but clients must not see much less than that latency.
    assert all(step.p50_us > 0.7 * step.target_us for step in found.steps)
    assert found.way.p50_us < found.steps[-1].p50_us


def test_real_time_holds_from_the_latency_on_above_which_it_always_does() -> None:
    steps = [Step(5, 16, 20), Step(10, 11, 30), Step(20, 40, 50), Step(50, 52, 60), Step(100, 104, 300)]
    assert [step.holds for step in steps] == [False, True, False, True, True]
    assert Probed(Step(0, 9, 12), tuple(steps)).lowest_us == 50
    assert Probed(Step(0, 9, 12), tuple(steps[:1])).lowest_us is None


@pytest.mark.parametrize(
    ("options", "told"),
    in_part(
        5,
        [
            (("--socket", "none/s"), "none/s: the folder {folder}/none does not exist"),
            (("--socket", "drive.toml"), "drive.toml: there is a file of this name"),
            (("--socket", "s" * 120), "the path of a socket has at most 107 bytes"),
            (
                ("--socket", "s", "--size", "1T"),
                "--size 1099511627776 is more than the 23965917184 bytes that the drive has",
            ),
            (("--socket", "s", "--size", "1000"), "--size 1000 is no positive multiple of the sector size, 512 bytes"),
            (("--socket", "s", "--size", "0"), "'0' is not a size: expected bytes, or a number with K, M, G or T"),
            (("--socket", "s", "--size", "1M", "--data", "drive.toml"), "drive.toml: the file has "),
            (("--socket", "s", "--data", "."), ".: is not a regular file"),
            (("--socket", "s", "--data", "none/d"), "none/d: the folder {folder}/none does not exist"),
            (("--socket", "s", "--log", "none/l"), "none/l: "),
            (("--socket", "s", "--time-scale", "-1"), "-1: expected 0 for virtual time, or 0.001 to 1,000,000"),
            (("--socket", "s", "--queue-depth", "0"), "0 is not in the range"),
            (("--socket", "s", "--set", "replay.mode=closed"), "replay.mode"),
            (("--probe", "--socket", "s"), "--socket has no effect with --probe"),
            ((), "Missing option '--socket'"),
        ],
    ),
)
def test_bad_input_is_refused_in_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    told: str,
) -> None:
    require("nbdkit")
    monkeypatch.chdir(tmp_path)
    # Call the command in this process, which is faster because it has loaded all modules.
    monkeypatch.setattr(sys, "argv", ["flashmesh", "serve", "drive.toml", *options])
    assert guarded() == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told.format(folder=tmp_path) in shown.err
    assert "Traceback" not in shown.err
    assert {path.name for path in tmp_path.iterdir()} == {"drive.toml"}
    assert (tmp_path / "drive.toml").read_text() == DRIVE


def test_streams_and_a_data_file_in_use_are_refused(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "two.toml").write_text('preset = "venice-z-nand"\n[stream.a]\n[stream.b]\n')
    require("nbdkit")
    done = cli("serve", "two.toml", "--socket", "s")
    assert (done.returncode, "a served drive has one: remove the sections [stream.*]" in done.stderr) == (2, True)
    with Serving(tmp_path, *VIRTUAL, "--size", "1M", "--data", "data.img"):
        done = cli("serve", *VIRTUAL, "--size", "1M", "--data", "data.img", "--socket", "s")
        assert (done.returncode, "data.img: another process serves this file" in done.stderr) == (2, True)


def test_missing_nbdkit_is_told_with_what_to_install(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    if not nbdkit.PLUGIN.exists():
        pytest.skip("there is a plugin on Linux only")
    monkeypatch.setenv("PATH", str(tmp_path))
    done = cli("serve", "drive.toml", "--socket", "s")
    assert done.returncode == 2
    assert done.stderr == "error: nbdkit is not installed: apt-get install nbdkit, or dnf install nbdkit-server\n"


def test_only_the_user_may_connect_and_read_the_data(tmp_path: Path) -> None:
    with Serving(tmp_path, *VIRTUAL, "--size", "1M", "--data", "data.img") as serving:
        # Nobody else may write to the socket, since write permission on a socket allows connecting.
        assert serving.socket.stat().st_mode & 0o022 == 0
        assert (tmp_path / "data.img").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("text", "size"), [("512", 512), ("4K", 4096), ("10G", 10 << 30), ("1 MiB", MIB)])
def test_sizes_are_read_as_other_tools_do(text: str, size: int) -> None:
    assert sizes.size_of(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "1.5G", "10GB", "0"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        sizes.size_of(text)
