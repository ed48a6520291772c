"""`flashmesh trace` end to end: statistics of a trace, and conversion to another format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import flashmesh
from conftest import Cli
from long_cases import in_part

SPC = "0,8,4096,R,0.0\n1,16,8192,W,0.5\n0,0,512,r,1.0\n"
TRIMS = "fio version 3 iolog\n0 /a add\n1 /a read 0 512\n2 /a trim 0 512\n3 /a sync 0 0\n"


@pytest.fixture
def spc(tmp_path: Path) -> Path:
    path = tmp_path / "oltp.spc"
    path.write_text(SPC)
    return path


def test_stat_shows_what_is_in_a_trace_as_plain_ascii(cli: Cli, spc: Path) -> None:
    done = cli("trace", "stat", spc)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    rows = dict(line.split("  ", 1) for line in done.stdout.splitlines() if "  " in line)
    shown = {name: value.strip() for name, value in rows.items()}
    expected = {
        "trace": "oltp.spc",
        "format": "spc",
        "requests": "3",
        "reads": "66.7 %",
        "writes": "33.3 %",
        "mean read": "2.250 KiB",
        "mean write": "8.000 KiB",
        "footprint": "16.00 KiB",
        "highest address": "16.00 KiB",
        "span": "1.000 s",
        "mean interarrival": "500.0 ms",
        "arrivals": "2/s",
        "streams": "2",
    }
    assert expected.items() <= shown.items()


def test_stat_puts_traces_side_by_side_as_many_as_fit(cli: Cli, tmp_path: Path) -> None:
    names = [f"a-rather-long-name-of-a-trace-{number}.spc" for number in range(5)]
    for name in names:
        (tmp_path / name).write_text(SPC)
    done = cli("trace", "stat", *names)
    assert done.returncode == 0
    assert all(done.stdout.count(name) == 1 for name in names)
    assert done.stdout.count("mean interarrival") == 3
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_stat_names_lines_that_are_no_requests(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "trims.log").write_text(TRIMS)
    done = cli("trace", "stat", "trims.log")
    assert "trims.log:\n  1 sync line ignored, first at line 5." in done.stdout
    (tmp_path / "bad.spc").write_text(f"{SPC}oops\n")
    refused = cli("trace", "stat", "bad.spc")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "bad.spc:4:1: 1 of 4 lines (25.00 %) cannot be used" in refused.stderr
    tolerated = cli("trace", "stat", "bad.spc", "--tolerate")
    assert tolerated.returncode == 0
    assert "1 line rejected (number), first at line 4, column 1." in tolerated.stdout


def test_json_of_stat_has_the_keys_of_the_summary(cli: Cli, spc: Path, tmp_path: Path) -> None:
    done = cli("trace", "stat", spc, spc, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    traces = json.loads(done.stdout)["traces"]
    summary = flashmesh.trace_summary(spc)
    assert traces == [summary.document] * 2
    assert (summary.requests, summary.devices, summary.arrivals_per_s) == (3, 2, 2.0)
    assert cli("trace", "stat", spc, "--json", "stat.json").stdout.startswith("trace")
    assert json.loads((tmp_path / "stat.json").read_text())["traces"] == [summary.document]


def test_settings_say_how_to_read(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text("0 0 0 8 1\n5 0 0 8 0\n")
    found = flashmesh.trace_summary(
        tmp_path / "a.trace", overrides={"workload.time-unit": "ms", "workload.polarity": "read-is-0"}
    )
    assert found.span_ps == 5_000_000_000
    assert "5.000 ms" in cli("trace", "stat", "a.trace", "--set", "workload.time-unit=ms").stdout
    unknown = cli("trace", "stat", "a.trace", "--set", "workload.time-units=ms")
    assert unknown.returncode == 2
    assert "time-unit" in unknown.stderr


@pytest.mark.parametrize(
    "command", [("stat", "a"), ("convert", "a", "b"), ("profile", "a", "-o", "b"), ("compare", "a", "a")]
)
def test_settings_that_do_not_say_how_to_read_are_refused(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "a").write_text("0 0 0 8 1\n5 0 0 8 0\n")
    settings = ("--set", "workload.format=ascii", "--set", "fabric.kind=ideal", "--set", "replay.outstanding=3")
    done = cli("trace", *command, *settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert "fabric.kind, replay.outstanding: no effect on how a trace is read" in done.stderr
    assert not (tmp_path / "b").exists()


def test_a_profile_is_asked_for_no_flushes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 0 0 8 1\n5 0 0 8 0\n")
    done = cli("trace", "profile", "a", "-o", "b", "--set", "workload.flushes=true")
    assert done.returncode == 2
    assert "a profile has no flushes, which cover no bytes" in done.stderr
    assert cli("trace", "profile", "a", "-o", "b", "--set", "workload.flushes=false").returncode == 0


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".xz"])
@pytest.mark.parametrize("form", in_part(3, ["ascii", "msr"]))
def test_converted_traces_read_back_as_the_same_requests(
    cli: Cli, spc: Path, tmp_path: Path, form: str, suffix: str
) -> None:
    target = tmp_path / f"converted{suffix}"
    done = cli("trace", "convert", spc, target, "--format", form)
    assert (done.returncode, done.stdout) == (0, "")
    assert "3 requests, read as SPC." in done.stderr
    before, after = flashmesh.trace_summary(spc), flashmesh.trace_summary(target)
    assert after.format == form
    assert after.compression == {"": "plain", ".gz": "gzip", ".zst": "zstd", ".xz": "xz"}[suffix]
    same = ("requests", "reads", "read_bytes", "write_bytes", "span_ps", "footprint_bytes", "devices")
    assert [getattr(after, key) for key in same] == [getattr(before, key) for key in same]


def test_packed_output_is_what_gzip_reads(spc: Path, tmp_path: Path) -> None:
    conversion = flashmesh.convert_trace(spc, tmp_path / "a.trace.gz")
    assert conversion.written == 3
    with gzip.open(tmp_path / "a.trace.gz", "rt") as lines:
        assert lines.read() == "0 0 8 8 1\n500000000 1 16 16 0\n1000000000 0 0 1 1\n"


def test_what_no_format_can_say_is_refused_or_left_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "trims.log").write_text(TRIMS)
    refused = cli("trace", "convert", "trims.log", "out.trace")
    assert refused.returncode == 2
    assert "leave them out with --drop-unwritable" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trims.log"]
    done = cli("trace", "convert", "trims.log", "out.trace", "--drop-unwritable")
    assert done.returncode == 0
    assert "1 requests, read as fio iolog. Left out: 1 that deallocate." in done.stderr
    assert (tmp_path / "out.trace").read_text() == "0 0 0 1 1\n"


def test_what_is_left_out_is_counted_by_kind(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"{TRIMS}40 /a sync 0 0\n")
    conversion = flashmesh.convert_trace(
        tmp_path / "a.log", tmp_path / "out", overrides={"workload.flushes": True}, drop_unwritable=True
    )
    assert (conversion.written, conversion.left_out) == (1, flashmesh.LeftOut(1, 2, 0))


def test_a_generated_trace_tells_what_it_leaves_out(cli: Cli, tmp_path: Path) -> None:
    lines = "".join(f"{at} /a {'trim' if at % 3 == 0 else 'read'} {at * 4096} 4096\n" for at in range(1, 301))
    (tmp_path / "a.log").write_text(f"fio version 3 iolog\n0 /a add\n{lines}")
    assert cli("trace", "profile", "a.log", "-o", "a.toml").returncode == 0
    refused = cli("trace", "generate", "a.toml", "-o", "b.trace")
    assert refused.returncode == 2
    assert "the profile: holds requests that deallocate" in refused.stderr
    done = cli("trace", "generate", "a.toml", "-o", "b.trace", "--drop-unwritable")
    assert done.returncode == 0
    written = len((tmp_path / "b.trace").read_text().splitlines())
    assert 0 < written < 300
    assert f"b.trace: {written} requests. Left out: {300 - written} that deallocate.\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    in_part(
        3,
        [
            (("oltp.spc", "oltp.spc"), "IN and OUT name the same file"),
            (("oltp.spc", "-"), "a trace cannot go to stdout"),
            (("missing.spc", "out"), "missing.spc"),
            (("bad.spc", "out"), "bad.spc:4:1: 1 of 4 lines"),
            (("oltp.spc", "nowhere/out"), "nowhere/out: cannot be written"),
            (("oltp.spc", "."), "is a folder"),
            (("oltp.spc", "/dev/full"), "/dev/full: cannot be written"),
            (("oltp.spc", "out", "--format", "spc"), "'ascii', 'msr'"),
        ],
    ),
)
def test_what_cannot_be_converted_is_an_error_and_leaves_no_file(
    cli: Cli, spc: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "bad.spc").write_text(f"{SPC}oops\n")
    done = cli("trace", "convert", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.spc", "oltp.spc"]
    assert spc.read_text() == SPC


def test_an_existing_file_stays_when_the_conversion_fails(tmp_path: Path) -> None:
    (tmp_path / "bad.spc").write_text(f"{SPC}oops\n")
    (tmp_path / "out").write_text("precious\n")
    with pytest.raises(flashmesh.WorkloadError, match="1 of 4 lines"):
        flashmesh.convert_trace(tmp_path / "bad.spc", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "precious\n"


def test_missing_trace_is_named_with_a_near_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("0,h,0,Read,0,4096,0\n")
    near = cli("trace", "stat", "shp.csv")
    assert (near.returncode, near.stderr) == (2, "error: shp.csv: there is no such file: did you mean shop.csv?\n")
    for arguments in (("--trace", "absent.csv"), ("--set", "workload.trace=absent.csv")):
        done = cli("run", "preset:venice-z-nand", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "absent.csv" in done.stderr
        assert "os error" not in done.stderr


def test_stat_shows_slow_arrivals_per_hour_or_day(cli: Cli, tmp_path: Path) -> None:
    for gap_s, shown in ((4, "0.250/s"), (7_200, "0.500/h"), (864_000, "0.100/d")):
        (tmp_path / "slow.spc").write_text("".join(f"0,0,4096,R,{gap_s * number}\n" for number in range(3)))
        done = cli("trace", "stat", "slow.spc")
        row = next(line for line in done.stdout.splitlines() if line.strip().startswith("arrivals"))
        assert row.split()[-1] == shown
