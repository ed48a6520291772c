"""`flashmesh run` end to end: its output on each stream, its files, and its exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conftest import ENDLESS, Cli
from long_cases import in_part

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results.md"
PARTS = ("host", "firmware", "cache", "map_wait", "die_wait", "behind_gc", "path_wait", "array", "transfer")
OBJECTS = (
    "workload",
    "streams[].workload",
    "streams[].latency_ps",
    "streams[].breakdown_ps",
    "configuration",
    *(f"measured.{key}" for key in ("latency_ps", "gc", "flash")),
    *(f"breakdown_ps.{kind}.{part}" for kind in ("read", "write") for part in ("mean", "tail")),
    *(f"measured.breakdown_ps.{kind}" for kind in ("mean", "read", "write")),
    *(f"confidence.{key}" for key in ("iops", "bandwidth_bytes_per_s", "write_amplification", "dies_gc_mean")),
    *(f"confidence.breakdown_share.{part}" for part in PARTS),
    "measured.distribution",
    "streams[].confidence",
)
"""Keys of objects that are documented elsewhere."""
BELOW_OBJECTS = (
    "workload.",
    "streams[].confidence.",
    "epochs[]",
    "measured.streams[]",
    "host.queues[]",
    "power.constants[]",
    "area.constants[]",
    "provenance.files[]",
)
"""Documented keys whose content is not checked here."""
LISTS = (
    "streams",
    "fairness.streams",
    "collisions.repetitions",
    "collisions.top_pairs",
    "network.requests",
    "network.transfers",
    "network.holds",
    "network.scouts",
)
"""Lists whose objects are checked."""
RECORDED = ("precision.", "collisions.", "replication.", "network.", "chip_states.")
"""Keys that a run has only on request."""
NOT_OF_THE_SIMULATION = ("wall_s", "requests_per_wall_s", "peak_rss_bytes", "provenance")


def documented_keys() -> set[str]:
    table = RESULTS.read_text().split("## The log of requests")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE))


def keys(document: Any, prefix: str = "") -> set[str]:
    if prefix in LISTS and document:
        return {prefix}.union(*(keys(entry, f"{prefix}[]") for entry in document))
    if not isinstance(document, dict) or prefix in OBJECTS:
        return {prefix}
    below = set[str]().union(*(keys(value, f"{prefix}.{key}".lstrip(".")) for key, value in document.items()))
    named: tuple[str, ...] = (
        "latency_ps.",
        "breakdown_ps.",
        "path_conflict.causes.",
        "scouts",
        "cache",
        "power_cut",
        "persistence",
        "fairness",
        "slc",
    )
    named += (
        "confidence",
        "steadiness",
        "precision",
        "mapping_cache",
        "warm_up",
        "measured",
        "collisions",
        "replication",
        "network",
        "timeline",
    )
    return below | ({prefix} if prefix.startswith(named) and not prefix.endswith("[]") else set())


def assert_documented(document: Any, absent: tuple[str, ...]) -> None:
    """Checks that the document has exactly the documented keys, except for those that start with one of `absent`."""
    found = keys(document)
    patterns = {key: re.compile(re.escape(key).replace(r"\*", r"[^.]+")) for key in documented_keys()}
    assert {key for key in found if not any(pattern.fullmatch(key) for pattern in patterns.values())} == set()
    objects = {key[: at.start()] for key in found for at in re.finditer(r"\.|\[\]", key)}
    expected = {
        key: pattern for key, pattern in patterns.items() if not key.startswith((*absent, "timeline", *BELOW_OBJECTS))
    }
    assert {key for key, pattern in expected.items() if not any(map(pattern.fullmatch, found | objects))} == set()


def simulated(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in NOT_OF_THE_SIMULATION}


def test_summary_is_on_stdout_and_nothing_on_stderr(cli: Cli, config: Path) -> None:
    done = cli("run", config)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("IOPS", "bandwidth", "completion latency", "p99.99", "waiting for the path", "garbage collection"):
        assert words in done.stdout


def test_piped_summary_is_plain_ascii_within_80_columns(cli: Cli, config: Path) -> None:
    text = cli("run", config).stdout
    assert text.isascii()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\b(nan|inf)\b", text)


@pytest.mark.parametrize("fabric", ["bus", "venice"])
def test_json_has_exactly_the_documented_keys(cli: Cli, config: Path, tmp_path: Path, fabric: str) -> None:
    settings = ["--set", "workload.read-share=0.5", "--set", f"fabric.kind={fabric}"]
    settings += ["--set", "measure.warm-up=auto", "--set", "mapping.cache-capacity=64MiB"]
    assert cli("run", config, *settings, "--fairness", "--json", "result.json").returncode == 0
    absent = (*RECORDED, "cache.", "slc.", "power_cut.", "persistence.", *(["scouts."] if fabric == "bus" else []))
    assert_documented(json.loads((tmp_path / "result.json").read_text()), absent)


@pytest.mark.long
def test_json_of_a_cut_of_the_power_has_the_documented_keys_too(cli: Cli, config: Path, tmp_path: Path) -> None:
    settings = ["--set", "workload.read-share=0.5", "--set", "cache.capacity=1MiB", "--set", "power.cut=2ms"]
    settings += ["--set", "flash.page-types=mlc", "--set", "slc.blocks-per-plane=1"]
    done = cli("run", config, *settings, "--set", "persistence.policy=journal", "--json", "result.json")
    assert done.returncode == 0, done.stderr
    absent = (*RECORDED, "scouts.", "mapping_cache.", "warm_up.", "measured.", "fairness.")
    assert_documented(json.loads((tmp_path / "result.json").read_text()), absent)


def test_json_of_what_has_to_be_asked_for_has_the_documented_keys_too(cli: Cli, config: Path, tmp_path: Path) -> None:
    """Enables read collisions, replication, chip states and the network recording, which are off by default."""
    settings = ["--set", "fabric.kind=venice", "--set", "measure.network=true", "--set", "measure.collisions=true"]
    settings += ["--set", "replication.enabled=true", "--set", "workload.pattern=zipf"]
    settings += ["--set", "measure.chip-states=true"]
    settings += ["--set", "workload.footprint=2MiB", "--set", "workload.read-share=1"]
    done = cli("run", config, *settings, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    absent = (
        "cache.",
        "slc.",
        "power_cut.",
        "persistence.",
        "mapping_cache.",
        "warm_up.",
        "measured.",
        "fairness.",
        "precision.",
    )
    assert_documented(json.loads((tmp_path / "result.json").read_text()), absent)


def test_summary_tells_of_the_cache_and_of_the_cut_of_the_power(cli: Cli, config: Path) -> None:
    settings = ("--set", "workload.read-share=0.5", "--set", "cache.capacity=1MiB", "--set", "power.cut=2ms")
    for capacitors, words in (("true", "pages of the cache"), ("false", "acknowledged and lost")):
        text = cli("run", config, *settings, "--set", f"power.capacitors={capacitors}").stdout
        assert "device cache" in text
        assert words in text
        assert max(map(len, text.splitlines())) <= 100


def test_summary_tells_how_the_drive_is_back_after_a_cut_of_the_power(cli: Cli, config: Path) -> None:
    settings = ("--set", "workload.read-share=0.5", "--set", "power.cut=2ms", "--set", "persistence.policy=journal")
    text = cli("run", config, *settings).stdout
    for words in ("pages of journal", "after the power is back", "entries of the journal", "found by a scan"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.long
def test_summary_tells_what_capacitors_program_for_the_map(cli: Cli, config: Path) -> None:
    settings = ("--set", "workload.read-share=0", "--set", "power.cut=500us", "--set", "persistence.policy=journal")
    text = cli("run", config, *settings).stdout
    assert re.search(r"with capacitors +0 pages of the cache and 1 of journal and map\b", text), text


def test_summary_tells_that_the_run_ended_before_the_cut_of_the_power(cli: Cli, config: Path) -> None:
    text = cli("run", config, "--set", "power.cut=1000s").stdout
    assert re.search(r"power cut +none: the run ended before 1000s \(power.cut\)", text), text


def test_json_to_stdout_replaces_the_summary(cli: Cli, config: Path) -> None:
    done = cli("run", config, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["requests"] == 20_000


def test_same_seed_gives_the_same_json_and_another_seed_another(cli: Cli, config: Path) -> None:
    first, second, other = (
        simulated(json.loads(cli("run", config, "--seed", seed, "--json", "-").stdout)) for seed in ("7", "7", "8")
    )
    assert first == second
    assert first["seed"] == 7
    assert first["makespan_ps"] != other["makespan_ps"]


def test_request_log_holds_every_request_and_agrees_with_the_summary(cli: Cli, config: Path, tmp_path: Path) -> None:
    # Use more requests than one batch of the log holds, so that several batches are written.
    requests = 200_000
    done = cli("run", config, "--set", f"workload.requests={requests}", "--request-log", "log.parquet", "--json", "-")
    assert done.returncode == 0
    result = json.loads(done.stdout)
    log = pd.read_parquet(tmp_path / "log.parquet")
    latency = log["completed_ps"] - log["arrival_ps"]
    parts = ["host", "firmware", "cache", "map_wait", "die_wait", "path_wait", "array", "transfer", "behind_gc"]
    assert len(log) == result["requests"] == requests
    assert sorted(log["id"]) == list(range(requests))
    assert (log["completed_ps"] >= log["submitted_ps"]).all()
    assert (log["submitted_ps"] >= log["arrival_ps"]).all()
    assert (log[[f"{part}_ps" for part in parts]].sum(axis="columns") == latency).all()
    assert latency.mean() == pytest.approx(result["latency_ps"]["all"]["mean"], rel=1e-3)
    assert latency.max() == pytest.approx(result["latency_ps"]["all"]["max"], rel=1e-3)
    assert 1 - log["path_conflict"].mean() == pytest.approx(result["path_conflict"]["requests_free_share"])
    for cause, found in result["path_conflict"]["causes"].items():
        assert log[f"{cause}_conflict"].sum() == found["requests"]
    assert log["path_conflict"].sum() == log["channel_conflict"].sum() > 0
    for part in parts:
        assert log[f"{part}_ps"].mean() == pytest.approx(result["breakdown_ps"]["mean"][part], rel=1e-6, abs=1e-3)
    for kind in ("read", "write"):
        summary = result["latency_ps"][kind]
        assert (log["kind"] == kind).sum() == (summary["count"] if summary else 0)


def test_trace_is_summed_up_on_stderr_before_the_results(cli: Cli, config: Path, tmp_path: Path) -> None:
    lines = [f"{128166372003061629 + 1000 * at},hm,0,Read,{8192 * at},4096,413\n" for at in range(1000)]
    (tmp_path / "some.csv").write_text("".join(lines))
    done = cli("run", config, "--trace", "some.csv")
    assert done.returncode == 0, done.stderr
    assert "requests" in done.stderr
    assert "completion latency" in done.stdout
    quiet = cli("run", config, "--trace", "some.csv", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_trace_replays_at_its_time_stamps_whatever_the_file_says(cli: Cli, config: Path, tmp_path: Path) -> None:
    lines = [f"{128166372003061629 + 1000 * at},hm,0,Read,{8192 * at},4096,413\n" for at in range(1000)]
    (tmp_path / "some.csv").write_text("".join(lines))
    assert "outstanding = 64" in config.read_text()
    trace = ("run", config, "--trace", "some.csv", "--quiet")
    head = " ".join(cli(*trace).stdout.split())
    assert "requests at the time stamps of the trace (open replay)" in head
    assert "time stamps of the trace were ignored" not in head
    asked = " ".join(cli(*trace, "--set", "replay.outstanding=4").stdout.split())
    assert "4 requests always in flight (stress replay)" in asked
    assert "The time stamps of the trace were ignored" in asked
    scaled = cli(*trace, "--set", "replay.time-scale=4")
    assert scaled.returncode == 0, scaled.stderr
    assert "at the time stamps of the trace, times 4 (open replay)" in " ".join(scaled.stdout.split())
    varied = cli("compare", *trace[1:], "--vary", "replay.time-scale=1,2", "--measure", "p99")
    assert varied.returncode == 0, varied.stderr


def test_named_profile_is_replayed(cli: Cli, config: Path) -> None:
    done = cli("run", config, "--profile", "hm_0", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"] == 20_000


@pytest.mark.parametrize("fabric", in_part(2, ["bus", "pssd", "pnssd", "nossd", "venice", "ideal"]))
def test_oracles_stay_silent_on_every_interconnect_of_the_demo(cli: Cli, fabric: str) -> None:
    settings = ("--set", f"fabric.kind={fabric}", "--set", "workload.requests=3_000")
    done = cli("run", ROOT / "examples" / "venice.toml", "--check", *settings)
    assert (done.returncode, done.stderr) == (0, "")


def test_checks_do_not_change_the_result(cli: Cli, config: Path) -> None:
    plain, checked = (
        simulated(json.loads(cli("run", config, "--json", "-", *flags).stdout)) for flags in ([], ["--check"])
    )
    assert plain == checked


def test_preset_stands_in_for_a_file(cli: Cli) -> None:
    done = cli("run", "preset:venice-z-nand", "--set", "workload.requests=1000", "--json", "-")
    assert json.loads(done.stdout)["requests"] == 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    in_part(
        4,
        [
            (["--set", "geometry.chanels=8"], ["chanels", "channels"]),
            (["--set", "fabric"], ["key=value"]),
            (["--set", "ftl.policy=page", "--set", "mbm.rs=false"], ["mbm.rs has no effect", 'ftl.policy is "page"']),
            (["--profile", "hm_9999"], ["hm_9999"]),
            (["--trace", "nowhere.csv"], ["nowhere.csv"]),
            (["--trace", "empty.csv"], ["empty.csv"]),
            (["--trace", "empty.csv", "--profile", "hm_0"], ["exclude"]),
            (["--json", "nowhere/result.json", "--set", ENDLESS], ["nowhere/result.json", "cannot be written"]),
            (
                ["--request-log", "drive.toml/log.parquet", "--set", ENDLESS],
                ["drive.toml/log.parquet", "cannot be written"],
            ),
            (["--request-log", ".", "--set", ENDLESS], ["folder"]),
            (["--seed", "-1"], ["--seed"]),
        ],
    ),
)
def test_bad_input_names_what_is_wrong_and_writes_nothing(
    cli: Cli, config: Path, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    (tmp_path / "empty.csv").touch()
    before = sorted(tmp_path.iterdir())
    target = [] if "--json" in arguments else ["--json", "result.json"]
    done = cli("run", config, *target, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_misspelt_key_in_a_file_shows_the_place_and_the_likely_name(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('preset = "venice-z-nand"\n\n[geometry]\nchanels = 8\n')
    done = cli("run", "bad.toml", "--json", "result.json")
    assert (done.returncode, done.stdout) == (2, "")
    for words in ("bad.toml:4", "chanels = 8", "^", "channels"):
        assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_missing_configuration_is_bad_input(cli: Cli) -> None:
    done = cli("run", "nowhere.toml")
    assert done.returncode == 2
    assert "nowhere.toml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--request-log"])
def test_full_disk_is_an_error_without_a_traceback(cli: Cli, config: Path, option: str) -> None:
    done = cli("run", config, option, "/dev/full")
    assert done.returncode == 2
    assert "/dev/full: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_result_replaces_an_older_one_and_leaves_nothing_else(cli: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("old")
    assert cli("run", config, "--json", "result.json").returncode == 0
    assert json.loads((tmp_path / "result.json").read_text())["requests"] == 20_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.toml", "result.json"]


def test_resolved_configuration_can_be_run_again(cli: Cli, config: Path, tmp_path: Path) -> None:
    resolved = cli("config", config, "--set", "fabric.kind=ideal")
    assert resolved.returncode == 0
    (tmp_path / "resolved.toml").write_text(resolved.stdout)
    again = cli("run", "resolved.toml", "--json", "-")
    direct = cli("run", config, "--set", "fabric.kind=ideal", "--json", "-")
    assert simulated(json.loads(again.stdout)) == simulated(json.loads(direct.stdout))


def test_presets_and_profiles_are_listed(cli: Cli) -> None:
    assert "venice-z-nand" in cli("presets").stdout
    assert "assumed" in cli("profiles", "hm_0").stdout


def test_profiles_are_listed_under_their_papers(cli: Cli) -> None:
    sections = cli("profiles").stdout.split("\n\n")
    names = {section.splitlines()[0]: [line.split()[0] for line in section.splitlines()[1:]] for section in sections}
    assert [len(members) for members in names.values()] == [19, 6, 6, 35, 32, 4]
    assert "hm_0" in names["Venice (ISCA 2023), Table 2"]
    assert "mix1" in names["Venice (ISCA 2023), Table 3: mixes"]
    assert "nossd12/IOZone" in names["NoSSD (CAL 2012), section 4"]


def test_mix_is_replayed_with_a_stream_for_each_member(cli: Cli, config: Path, tmp_path: Path) -> None:
    footprint = ("--set", "workload.footprint=64MiB", "--set", "replay.mode=open")
    done = cli("run", config, "--profile", "mix1", *footprint, "--json", "-", "--request-log", "log.parquet")
    assert done.returncode == 0, done.stderr
    workload = json.loads(done.stdout)["workload"]
    assert (workload["kind"], workload["name"]) == ("profile", "mix1")
    assert set(pd.read_parquet(tmp_path / "log.parquet")["stream"]) == {0, 1}


@pytest.mark.parametrize(
    ("options", "words"),
    in_part(
        3,
        [
            (("--json", "out", "--request-log", "./out"), "--json and --request-log name the same file"),
            (("--json", "drive.toml"), "the configuration and --json name the same file"),
            (("--request-log", "link"), "the configuration and --request-log name the same file"),
            (("--trace", "some.csv", "--json", "some.csv"), "the trace and --json name the same file"),
            (
                ("--set", "workload.kind=trace", "--set", "workload.trace=some.csv", "--json", "some.csv"),
                "the trace and --json name the same file",
            ),
            (("--request-log", "-"), "cannot go to stdout"),
            (("--request-log", "log.csv"), "the option writes Parquet; name the file log.parquet"),
        ],
    ),
)
def test_output_that_would_overwrite_what_the_run_reads_or_writes_is_refused(
    cli: Cli, config: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "link").hardlink_to(config)
    (tmp_path / "some.csv").write_text("a trace\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = cli("run", config, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "preset:venice-z-nand", "--seed", "1", "--seed", "2"), "--seed is given twice"),
        (("run", "preset:venice-z-nand", "--json", "a.json", "--json", "b.json"), "--json is given twice"),
        (
            ("run", "preset:venice-z-nand", "--set", "seed=1", "--set", "seed=2"),
            "--set: seed is set twice, to 1 and to 2",
        ),
        (
            ("config", "preset:venice-z-nand", "--set", "seed=1", "--set", "seed=2"),
            "--set: seed is set twice, to 1 and to 2",
        ),
        (("trace", "generate", "a.toml", "-o", "a", "--output", "b"), "--out is given twice"),
    ],
)
def test_option_of_which_one_value_would_have_no_effect_is_refused(
    arguments: tuple[str, ...], said: str, cli: Cli, tmp_path: Path
) -> None:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr.replace("Invalid value for '--set'", "--set")
    assert not list(tmp_path.iterdir())
