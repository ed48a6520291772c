"""`flashmesh reproduce` end to end: exact claims, resuming, pages, and bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment

EXACT = ("V01", "V02", "V33", "V34")


def test_exact_claims_are_met_and_nothing_is_run_twice(cli: Cli, tmp_path: Path) -> None:
    first = cli("reproduce", *EXACT, "--json", "out.json")
    assert first.returncode == 0, first.stderr
    assert "3 runs; " in first.stderr
    (venice,) = json.loads((tmp_path / "out.json").read_text())
    assert {name: claim["verdict"] for name, claim in venice["claims"].items()} == dict.fromkeys(EXACT, "met")
    assert venice["claims"]["V01"]["rows"][0]["values"] == [11.01]
    assert venice["claims"]["V02"]["rows"][0]["values"] == [7.01]
    assert max(map(len, first.stdout.splitlines())) <= 80
    again = cli("reproduce", *EXACT)
    assert "3 runs, 3 of them finished already" in again.stderr
    assert again.stdout == first.stdout


@pytest.mark.long
def test_an_interrupted_reproduction_goes_on(cli: Cli, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, "reproduce", *EXACT, "--jobs", "1"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    runs = tmp_path / "reproduction.results" / "runs"
    end = time.monotonic() + TIMEOUT_S
    while not list(runs.glob("*/*.json")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=TIMEOUT_S)
    kept = len(list(runs.glob("*/*.json")))
    # The process may have ended, with exit code 0, before the signal arrived.
    assert process.returncode in (130, 0), told
    again = cli("reproduce", *EXACT)
    assert again.returncode == 0
    assert f"3 runs, {kept} of them finished already" in again.stderr


@pytest.mark.long
def test_pages_agree_with_their_json_or_are_stale(cli: Cli, tmp_path: Path) -> None:
    assert cli("reproduce", "venice/table4", "-o", "pages").returncode == 0
    page = (tmp_path / "pages" / "venice.md").read_text()
    assert "V33 links of a mesh of 8 x 8 routers (112 links)" in page
    lacking = cli("reproduce", "--check", "pages")
    assert lacking.returncode == 2
    assert "lacks V01" in lacking.stderr


def write_volume(path: Path) -> None:
    """Writes a volume whose time stamps have no unit: a read of 4 KiB every 100 units."""
    path.parent.mkdir()
    path.write_text("".join(f"{100 * number} 0 {8 * number} 8 1\n" for number in range(300)))


@pytest.mark.long
def test_a_recorded_volume_is_replayed_beside_the_profiles_and_the_others_are_named(cli: Cli, tmp_path: Path) -> None:
    write_volume(tmp_path / "units" / "hm_0.ascii")
    read = ("--traces", "units", "--set", "workload.time-unit=us")
    ended = cli("reproduce", "V22", *read, "--json", "out.json", "-o", "pages")
    assert ended.returncode == 0, ended.stderr
    assert "venice: no volume for mds_0, " in ended.stderr
    assert "these workloads are generated from their profiles" in ended.stderr
    (venice,) = json.loads((tmp_path / "out.json").read_text())
    assert venice["traces"] == {"hm_0": "hm_0.ascii"}
    assert [row["regime"] for row in venice["claims"]["V22"]["rows"]][-1] == "real-traces"
    assert "Replayed: hm_0." in ended.stdout
    assert "`hm_0` from hm_0.ascii" in (tmp_path / "pages" / "venice.md").read_text()


@pytest.mark.long
def test_bad_input_is_one_sentence(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("")
    write_volume(tmp_path / "units" / "hm_0.ascii")
    for arguments, told in [
        (("venise",), "there is no paper, figure or claim 'venise': did you mean venice?"),
        (("venice/99",), "there is no figure 'venice/99': there are venice/"),
        (("XYZ",), "there is no paper, figure or claim 'XYZ': there are "),
        (("V01", "--traces", "nowhere"), "nowhere: no folder of traces can be read there"),
        (("V22", "--traces", "other"), "other: no file is named after a volume that is wanted: "),
        (("V22", "--traces", "units"), "do not say the unit of their time stamps, and an open replay depends on it"),
        (("V22", "--set", "seed=1"), "--set seed: the registry of claims determines the seeds"),
        (
            ("V22", "--set", "workload.time-unit=us"),
            "--set workload.time-unit is for reading the volumes of --traces, which is not given",
        ),
        (("V22", "--regime", "saturate"), "--regime: venice: there is no 'saturate': did you mean saturated?"),
        (("V22", "--regime", "none"), "--regime: venice: there is no 'none': there are as-specified, poisson, "),
        (("V22", "--set", "fabric.kind=bus"), "--set fabric.kind: the runs of venice already vary it (system: bus, "),
        (("K01", "--set", "venice.routing=xy"), "venice.routing has no effect in any of the "),
        (("K01", "--set", "nossd.rply=nearest"), "unknown key `rply` in [nossd]"),
        (("K01", "--fit", "--set", "nossd.reply=nearest"), "--fit chooses the regime and the keys by itself"),
        (("K01", "--drift", "--set", "seed=1"), "--drift measures stated readings: leave --fit, --set and --tra"),
        (("K09", "--fit"), "nossd12: these claims are exact by construction: no reading changes them"),
        (
            ("K01", "--regime", "as-specified", "--regime", "published-regime", "--set", "nossd.reply=nearest"),
            "--set changes one reading: give one --regime",
        ),
        (("V01", "-o", "file"), "file: cannot be written"),
        (("V01", "--json", "nowhere/out.json"), "nowhere/out.json: cannot be written"),
        (("V01", "--results", "other"), "other: contains other files"),
        (("V01", "--results", "file"), "file: cannot be written"),
        (("--check", "empty"), "empty: has no reproduction of a paper"),
    ]:
        ended = cli("reproduce", *arguments)
        assert ended.returncode == 2, arguments
        assert told in ended.stderr
        assert "Traceback" not in ended.stderr
        # No run was started. The message is one sentence, except for a table of units.
        assert "runs; " not in ended.stderr
        assert "units" in arguments or "--set" in arguments or ended.stderr.count("\n") == 1


def test_the_claims_can_be_listed(cli: Cli) -> None:
    listed = cli("reproduce", "--list", "V02").stdout
    assert "V02  Section 3.1: two reads on two channels, total service time" in listed


@pytest.mark.long
def test_one_regime_can_be_measured_and_a_changed_key_put_beside_it(cli: Cli, tmp_path: Path) -> None:
    ended = cli("reproduce", "K01", "K09", "--regime", "published-regime", "--json", "one.json")
    assert ended.returncode == 0, ended.stderr
    (paper,) = json.loads((tmp_path / "one.json").read_text())
    rows = {name: [row["regime"] for row in claim["rows"]] for name, claim in paper["claims"].items()}
    assert rows == {
        "K01": ["published-regime"],
        "K01.bus": ["published-regime"],
        "K01.nossd": ["published-regime"],
        "K09": ["any"],
    }
    changed = ("--regime", "published-regime", "--set", "nossd.reply=sender")
    ended = cli("reproduce", "K01", *changed, "--json", "two.json", "-o", "pages")
    assert ended.returncode == 0, ended.stderr
    assert "As published-regime, with nossd.reply=sender." in ended.stdout
    (paper,) = json.loads((tmp_path / "two.json").read_text())
    before, after = paper["claims"]["K01"]["rows"]
    assert (before["regime"], after["regime"]) == ("published-regime", "changed")
    assert before["values"] == json.loads((tmp_path / "one.json").read_text())[0]["claims"]["K01"]["rows"][0]["values"]
    # The changed key has an effect only with NoSSD.
    same, other = (paper["claims"][name]["rows"] for name in ("K01.bus", "K01.nossd"))
    assert same[0]["values"] == same[1]["values"]
    assert other[0]["values"] != other[1]["values"]
    assert (
        "| K01 | NoSSD, response time of IOZone over the bus | 0.864 x | "
        in (tmp_path / "pages" / "nossd12-changed.md").read_text()
    )


@pytest.mark.long
def test_a_fit_stands_beside_the_best_regime_and_says_what_it_is(cli: Cli, tmp_path: Path) -> None:
    arguments = ("reproduce", "K01", "K02", "K09", "--fit", "--trials", "4", "--json", "fit.json", "-o", "pages")
    ended = cli(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert "nossd12: reading 1 of 4: " in ended.stderr
    assert "fit, after the fact" in ended.stdout
    (paper,) = json.loads((tmp_path / "fit.json").read_text())
    assert paper["fit"]["trials"] == 4
    assert [row["regime"] for row in paper["claims"]["K01"]["rows"]] == ["as-specified", "published-regime", "fit"]
    page = (tmp_path / "pages" / "nossd12.md").read_text()
    assert "## Fit" in page
    assert "It knows what is published" in page
    kept = (tmp_path / "pages" / "nossd12-fit.json").read_text()
    assert "we can evaluate NoSSD efficiency in terms of response time, bandwidth, and throughput" in kept
    # The page is generated again from the JSON, and a repeated search finds nothing left to do.
    assert cli("reproduce", "--pages", "pages").returncode == 0
    assert (tmp_path / "pages" / "nossd12.md").read_text() == page
    again = cli(*arguments)
    assert json.loads((tmp_path / "fit.json").read_text()) == [paper]
    assert "finished already" in again.stderr
