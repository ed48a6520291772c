"""`flashmesh calibrate` finds hidden values, names keys that measurements do not determine, and refuses bad input."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import time
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment
from flashmesh import ConfigError
from flashmesh.calibration.advice import advise
from flashmesh.calibration.engine import calibrate, read_problem
from flashmesh.calibration.inputs.facts import Facts, read_facts
from flashmesh.calibration.inputs.points import Length, OpenLoad, Target, targets_of, targets_of_rows
from flashmesh.calibration.outcome import Calibration
from flashmesh.calibration.residuals import SERVED, Held, held_figures, loss, residuals
from flashmesh.calibration.searching.bench import Bench
from flashmesh.calibration.searching.determined import found_keys
from flashmesh.calibration.searching.estimates import initial_values, suspend_time_ps
from flashmesh.calibration.searching.search import new_search
from flashmesh.calibration.space import SOFTWARE, UNSET, free_key, listed
from flashmesh.configuration import load
from flashmesh.keys import flat
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.drives import drives
from flashmesh.validation.figures import LATENCIES, Figures
from flashmesh.validation.loads.workload import Extent, drive_tables
from flashmesh.validation.tables.measurements import bundled
from flashmesh.validation.tables.sheets import SheetLoad, SheetRow
from made_up_drive import DRIVE, EXTENT, csv_of, figures, measurements, simulated, written

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
HIDDEN = {"flash.read-time": 47.0, "flash.program-time": 130.0}
"""Times in microseconds that the measurements follow from, and that a calibration has to find."""
FIXED = [key.key for key in listed() if key.key not in HIDDEN]
FACTS = (
    DRIVE.replace('read-time = "40us"\nprogram-time = "100us"\n', "") + f"\n[calibrate]\nfixed = {json.dumps(FIXED)}\n"
)
RATES = (8_000.0, 14_000.0, 40_000.0)


def hidden_drive() -> str:
    text = DRIVE
    for key, old in (("flash.read-time", "40us"), ("flash.program-time", "100us")):
        text = text.replace(f'"{old}"', f'"{HIDDEN[key]}us"')
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes measurements of a drive, and its facts without two times. Returns the folder."""
    found = tmp_path_factory.mktemp("calibration")
    (found / "measured.csv").write_text(csv_of(simulated(written(found, hidden_drive()), RATES)))
    (found / "facts.toml").write_text(FACTS)
    return found


@pytest.fixture(scope="module")
def found(folder: Path) -> Calibration:
    """Returns the calibration result."""
    problem = read_problem([folder / "measured.csv"], folder / "facts.toml", None, EXTENT.requests)
    return calibrate(problem, LocalThreads(2), budget_min=60.0)


@pytest.mark.long
def test_two_hidden_times_are_found_and_determined(found: Calibration) -> None:
    assert not found.cut
    assert {key.key for key in found.keys} == set(HIDDEN)
    for key in found.keys:
        assert key.is_determined, key.sentence
        assert quantity(key.key, key.value).value / 10**6 == pytest.approx(HIDDEN[key.key], rel=0.05)
        assert key.low is not None
        assert key.high is not None
        low, high = (float(quantity(key.key, end).value) / 10**6 for end in (key.low, key.high))
        assert low < HIDDEN[key.key] < high
    for point in found.points:
        assert point.predicted_error is not None
        assert point.predicted_error < 0.10, point.target.name


@pytest.mark.long
def test_the_same_seed_finds_the_same_and_what_is_kept_is_not_run_again(folder: Path, cli: Cli, tmp_path: Path) -> None:
    files = ("calibrate", folder / "measured.csv", "--facts", folder / "facts.toml")
    call = (*files, "--requests", "6000", "--trials", "4", "--quiet")
    first = cli(*call, "-o", "first.toml", "--json", "first.json")
    assert first.returncode == 0, first.stderr
    runs = sorted(path.name for path in (tmp_path / "calibration.results").rglob("*.json"))
    again = cli(*call, "-o", "again.toml")
    assert again.stdout == first.stdout.replace("validate first.toml", "validate again.toml")
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "first.toml").read_text()
    assert sorted(path.name for path in (tmp_path / "calibration.results").rglob("*.json")) == runs
    document = json.loads((tmp_path / "first.json").read_text())
    assert [point["name"] for point in document["points"]] == [f"{rate:,.0f} IOPS" for rate in RATES]
    # The fitted drive can be validated without changes.
    held = cli("validate", "first.toml", "--points", folder / "measured.csv", "--requests", "6000", "--quiet")
    assert held.returncode in (0, 3), held.stderr
    assert "first.toml: measured and simulated" in held.stdout


@pytest.mark.long
def test_a_key_that_no_figure_depends_on_is_not_determined(folder: Path, tmp_path: Path, cli: Cli) -> None:
    # No request waits as long as a second, so no age bound from 1 s on has an effect.
    (tmp_path / "facts.toml").write_text(FACTS + '[calibrate.search]\n"schedule.age-bound" = "1.0s..100.0s log"\n')
    ended = cli(
        "calibrate",
        folder / "measured.csv",
        *("--facts", "facts.toml", "-o", "out.toml", "--requests", "6000", "--trials", "4", "--json", "out.json"),
    )
    assert ended.returncode == 0, ended.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert {key["key"]: key["is_determined"] for key in document["keys"]}["schedule.age-bound"] is False
    told = (
        "schedule.age-bound is not determined by these measurements: no figure depends on it, 1s to 100s fits as well"
    )
    assert told in " ".join(ended.stdout.split())
    assert "schedule.age-bound" in (tmp_path / "out.toml").read_text()


@pytest.mark.long
def test_without_slopes_nothing_is_determined(found: Calibration) -> None:
    keys = found_keys(found.facts.space, found.best, None, [found.best], {}, is_cut=False)
    assert [key.is_determined for key in keys] == [False, False]
    assert all("there was no time to decide" in key.sentence for key in keys)


@pytest.mark.long
def test_a_drive_that_is_far_from_all_measurements_determines_nothing(found: Calibration) -> None:
    far = replace(found.best, rows=tuple(tuple(9.0 for _ in row) for row in found.best.rows))
    keys = found_keys(found.facts.space, far, None, [far], {}, is_cut=False)
    assert not any(key.is_determined for key in keys)
    assert "no tried drive is near the measurements" in keys[0].sentence


@pytest.mark.long
def test_an_interrupted_calibration_keeps_its_runs_and_goes_on(folder: Path, tmp_path: Path, cli: Cli) -> None:
    files = ("calibrate", folder / "measured.csv", "--facts", folder / "facts.toml", "-o", "out.toml")
    call = (*files, "--requests", "6000", "--trials", "4")
    process = subprocess.Popen(
        [COMMAND, *call], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    runs = tmp_path / "calibration.results" / "runs"
    end = time.monotonic() + TIMEOUT_S
    while not list(runs.glob("*/*.json")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=TIMEOUT_S)
    # The process may have ended before the signal arrived.
    assert process.returncode in (130, 0), told
    if process.returncode == 130:
        assert "run the same command to continue" in told
        assert not (tmp_path / "out.toml").exists()
    kept = {path: path.stat().st_mtime_ns for path in runs.glob("*/*.json")}
    assert kept
    assert cli(*call).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "what was kept is not run again"
    assert (tmp_path / "out.toml").is_file()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "[flash]",
            '[calibrate.search]\n"flash.read-time" = "20us..60us"\n[flash]\nread-time = "40us"',
            "states flash.read-time, which [calibrate.search] searches: remove one of them",
        ),
        ("fixed = [", 'fixed = ["gc.victim", ', "fixed has gc.victim, which is not searched"),
        ("[calibrate]", "[calibrate]\ncolour = 1", "[calibrate] colour is unknown"),
        ("[calibrate]", '[calibrate]\nsoftware-time = "fast"', "has a unit that ranges do not support"),
        ("[calibrate]", "[workload]\nrequests = 5\n[calibrate]", "[workload] describes a workload"),
        ("[calibrate]", '[calibrate]\nsearch = { "flash.colour" = "1..2" }', "flash.colour is not a configuration key"),
        ("[calibrate]", '[calibrate]\nsearch = { "gc.d" = "5..5" }', "gc.d: 5..5 has only one value"),
        ("[calibrate]", '[calibrate]\nsearch = { "gc.victim" = ["fifo"] }', "gc.victim: there is only one choice"),
        ("fixed = [", 'fixed = ["flash.read-time", "flash.program-time", ', "leaves nothing to fit"),
        ("[geometry]", "[geometry", "is not TOML"),
    ],
)
def test_bad_facts_are_refused_with_a_sentence(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in FACTS
    (tmp_path / "facts.toml").write_text(FACTS.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        read_facts(tmp_path / "facts.toml")
    assert told in str(caught.value)


def searched(folder: Path, text: str, *, with_rows: bool = False) -> dict[str, str]:
    """Returns the searched keys of facts, with their initial values."""
    (folder / "facts.toml").write_text(text)
    return read_facts(folder / "facts.toml", with_rows=with_rows).start()


@pytest.mark.long
def test_a_stated_value_is_a_fact_and_all_else_that_the_drive_reads_is_searched(tmp_path: Path) -> None:
    facts = DRIVE.replace('program-time = "100us"\n', "")
    found = searched(tmp_path, facts)
    assert "flash.read-time" not in found
    assert found["flash.program-time"] == "100us", "the value of the preset"
    assert "flash.middle-page-read-time" not in found, "the pages are alike"
    assert found["cache.destage-stripe"] == UNSET
    assert "firmware.read-time" not in found, "no rate of a data sheet determines it"
    assert "firmware.read-time" in searched(tmp_path, facts, with_rows=True)
    assert "flash.suspend-time" in found
    assert "flash.suspend-time" not in searched(tmp_path, facts.replace("[flash]", '[flash]\nsuspension = "off"'))
    assert "flash.program-time" not in searched(tmp_path, facts + '[calibrate]\nfixed = ["flash.program-time"]\n')


def test_facts_of_the_write_buffer_are_taken_with_and_without_its_capacity(tmp_path: Path) -> None:
    buffer = '\n[cache]\nhigh-mark = "10%"\nlow-mark = "5%"\n'
    open_capacity = searched(tmp_path, DRIVE + buffer)
    assert "cache.capacity" in open_capacity
    stated = searched(tmp_path, DRIVE + buffer + 'capacity = "4MiB"\n')
    assert set(open_capacity) - set(stated) == {"cache.capacity"}


def test_a_capacity_leaves_the_spare_space_to_search() -> None:
    found = read_facts(EXAMPLES / "enterprise-tlc.toml").space.keys
    domains = {key.key: key for key in found}
    spare = domains["geometry.blocks-per-plane"]
    blocks = 960197124096 / (64 * 1152 * 16 * 1024)
    assert spare.at(0.0) == str(math.ceil(1.04 * blocks))
    assert spare.at(1.0) == str(math.ceil(1.40 * blocks))
    word_line = 4 * 3 * 16 * 1024
    assert domains["cache.destage-stripe"].domain == (UNSET, f"{word_line}B", f"{16 * word_line}B")
    assert {"flash.middle-page-read-time", "flash.upper-page-read-time", "software-time"} <= set(domains)
    assert "geometry.over-provisioning" not in domains, "the capacity and the blocks determine it"


@pytest.mark.parametrize("preset", ["samsung-pm9a3", "sk-hynix-pe8110"])
def test_the_search_starts_near_the_preset_that_was_fitted_to_the_drive(preset: str, tmp_path: Path) -> None:
    drive = drives()[preset]
    (known,) = (each for each in bundled() if each.drive == drive.measured)
    fitted = [point for point in known.points if drive.is_fit_point(point.offered_iops)]
    table, sheet = tmp_path / "measured.csv", tmp_path / "sheet.csv"
    table.write_text(csv_of(replace(known, points=tuple(fitted))))
    rows = files("flashmesh.validation").joinpath("data", "datasheets.csv").read_text().splitlines()
    sheet.write_text("\n".join([rows[0], *(row for row in rows if row.startswith(known.drive))]))
    problem = read_problem([table], EXAMPLES / "enterprise-tlc.toml", None, None, data_sheet=sheet)
    start = initial_values(problem.facts, problem.targets)
    values = flat(tomllib.loads(load(f"preset:{preset}").to_toml()))
    for key, within in (
        ("flash.program-time", 0.15),
        ("flash.read-time", 0.15),
        ("flash.middle-page-read-time", 0.25),
        ("flash.upper-page-read-time", 0.25),
        ("fabric.channel-rate", 0.10),
        ("firmware.read-time", 0.01),
        ("geometry.blocks-per-plane", 0.02),
        ("flash.suspend-time", 0.5),
    ):
        begun, fit = (float(quantity(key, str(value)).value) for value in (start[key], values[key]))
        assert begun == pytest.approx(fit, rel=within), key


def test_without_a_saturated_load_the_suspension_time_has_no_estimate() -> None:
    def target(served: float, mean_us: float, is_saturated: bool) -> Target:
        held = (Held(SERVED, served, 0.05), Held("read_mean_us", mean_us, 0.1))
        return Target(f"{served:,.0f} IOPS", held, OpenLoad({}, is_saturated))

    light, half = target(10_000, 60.0, False), target(40_000, 100.0, False)
    assert suspend_time_ps([light, half]) is None
    assert suspend_time_ps([half, target(80_000, 60.0, True)]) == pytest.approx(80e6)


def test_a_suspension_time_with_choices_starts_at_its_first_choice(folder: Path, tmp_path: Path) -> None:
    facts = tmp_path / "choices.toml"
    text = (EXAMPLES / "enterprise-tlc.toml").read_text()
    facts.write_text(f'{text}\n[calibrate.search]\n"flash.suspend-time" = ["5us", "20us"]\n')
    problem = read_problem([folder / "measured.csv"], facts, None, EXTENT.requests)
    assert initial_values(problem.facts, problem.targets)["flash.suspend-time"] == "5us"


def test_a_load_that_just_saturates_the_drive_is_named_and_not_fitted(tmp_path: Path) -> None:
    (known,) = (each for each in bundled() if each.drive == "SK Hynix PE8110")
    table = tmp_path / "measured.csv"
    table.write_text(csv_of(known))
    problem = read_problem([table], EXAMPLES / "enterprise-tlc.toml", None, None)
    fitted = ["20,000 IOPS", "40,000 IOPS", "60,000 IOPS", "100,000 IOPS", "200,000 IOPS"]
    assert [target.name for target in problem.targets] == fitted
    assert problem.critical == ("80,000 IOPS",)


def test_facts_of_a_preset_keep_its_values_at_the_start(folder: Path) -> None:
    problem = read_problem([folder / "measured.csv"], folder / "facts.toml", None, EXTENT.requests)
    assert "preset" in problem.facts.stated
    assert initial_values(problem.facts, problem.targets) == problem.facts.start()


def test_the_time_of_host_software_slows_closed_loops_and_stays_out_of_the_configuration(tmp_path: Path) -> None:
    tables = drive_tables(written(tmp_path), {})
    load = SheetLoad(1.0, 4096, "random", 1)
    row = SheetRow("made up", "reads", "data sheet", 1e4, "IOPS", load, "rate")
    (target,) = targets_of_rows([row], tables, Length(Extent(2_000)))
    bench = Bench([target], 0.0, LocalThreads(2), None, lambda _: None)
    none, some = bench.try_all([{SOFTWARE: "0us"}, {SOFTWARE: "20us"}])
    (without,), (with_time,) = none.figures, some.figures
    assert without is not None
    assert with_time is not None
    assert without.read_mean_us is not None
    assert with_time.read_mean_us is not None
    assert with_time.read_mean_us == pytest.approx(without.read_mean_us + 20.0)
    assert with_time.iops == pytest.approx(1e6 / with_time.read_mean_us, rel=0.01)


def test_a_row_of_a_data_sheet_is_held_to_its_figure(tmp_path: Path) -> None:
    tables = drive_tables(written(tmp_path), {})
    reads, writes = SheetLoad(1.0, 4096, "random", 1), SheetLoad(0.0, 128 * 1024, "sequential", 8)
    rows = [
        SheetRow("made up", "rate", "data sheet", 12_000.0, "IOPS", reads, "rate"),
        SheetRow("made up", "mean", "data sheet", 80.0, "us", reads, "mean"),
        SheetRow("made up", "bandwidth", "data sheet", 131.072, "MB/s", writes, "rate"),
    ]
    targets = targets_of_rows(rows, tables, Length(Extent(2_000)))
    held = [[(each.figure, each.measured) for each in target.held] for target in targets]
    assert held == [[("iops", 12_000.0), ("read_mean_us", 80.0)], [("iops", pytest.approx(1_000.0))]]
    found = Figures(read_iops=12_000.0, write_iops=0.0, read_mean_us=80.0)
    assert residuals(targets[0].held, found) == [0.0, 0.0]


@pytest.mark.long
def test_a_run_ends_once_it_is_as_precise_as_asked_and_a_load_that_is_not_is_named(tmp_path: Path) -> None:
    tables = drive_tables(written(tmp_path), {})
    for requests, precision, is_settled in ((200_000, "20%", True), (2_000, "0.1%", False)):
        (target,) = targets_of(measurements((8_000.0,)), tables, Length(Extent(requests), precision))
        bench = Bench([target], 0.0, LocalThreads(2), None, lambda _: None)
        (candidate,) = bench.try_all([{}])
        assert candidate.unsettled == (() if is_settled else ("8,000 IOPS",))
        session = Session([Task(0, {}, target.config({}, 0.0))])
        session.run(bench.executor)
        document = json.loads(session.document(session.outcomes[0]) or "")
        assert (document["measured"]["requests"] < requests / 2) is is_settled


@pytest.mark.long
def test_a_load_is_named_that_determines_what_the_measurements_do_not(tmp_path: Path) -> None:
    # No request waits as long as a second, so no age bound from 1 s on has an effect.
    searched = '[calibrate]\nsoftware-time = "0us"\n[calibrate.search]\n"schedule.age-bound" = "1.0s..100.0s log"\n'
    (tmp_path / "facts.toml").write_text(DRIVE.replace('program-time = "100us"\n', "") + searched)
    facts = read_facts(tmp_path / "facts.toml")
    reads = SheetRow("made up", "reads", "data sheet", 60.0, "us", SheetLoad(1.0, 4096, "random", 1), "mean")
    length = Length(Extent(2_000))
    bench = Bench(targets_of_rows([reads], facts.tables, length), 0.0, LocalThreads(2), None, lambda _: None)
    search = new_search(bench, bench, facts.space, 1, 3600.0)
    bench.try_all([facts.start()])
    (program, age), is_whole = advise(
        search, facts.start(), ["flash.program-time", "schedule.age-bound"], facts, length
    )
    assert is_whole
    assert program.load is not None
    assert "0% reads" in program.load
    assert program.figure in ("iops", "write_mean_us", "write_p99_us")
    assert abs(program.change) > 0.5
    assert age.load is None


def test_a_time_too_short_for_a_single_drive_is_refused(folder: Path, cli: Cli) -> None:
    files = (folder / "measured.csv", "--facts", folder / "facts.toml", "-o", "out.toml")
    ended = cli("calibrate", *files, "--budget", "0.00001", "--requests", "4000000")
    assert ended.returncode == 2
    assert "minutes are too short for a single drive" in ended.stderr


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (("a.csv", "b.csv"), "give one table, or fio results"),
        (("missing.csv",), "missing.csv: cannot be read"),
        (("missing.json",), "its job file is missing"),
    ],
)
def test_files_that_are_no_measurements_are_refused(
    folder: Path, files: Sequence[str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_problem([tmp_path / name for name in files], folder / "facts.toml", None, 6_000)
    assert told in str(caught.value)


def test_residuals_are_logarithms_in_units_of_the_tolerance() -> None:
    known = figures()
    held = held_figures(known, is_saturated=False)
    assert [each.figure for each in held] == ["iops", *LATENCIES]
    exact = residuals(held, known)
    assert exact == [0.0] * len(held)
    assert loss([exact]) == 0.0
    assert known.read_p99_us is not None
    moved = Figures.from_dict({**known.to_dict(), "read_p99_us": known.read_p99_us * 1.15})
    distances = dict(zip((each.figure for each in held), residuals(held, moved), strict=True))
    assert distances["read_p99_us"] == pytest.approx(0.1398 / 0.15, rel=1e-3)
    assert sum(value != 0.0 for value in distances.values()) == 1
    assert all(value == 50.0 for value in residuals(held, None))


def test_a_value_lies_where_its_range_says() -> None:
    key = free_key("x", {"key": "flash.read-time", "range": "10.0us..1000.0us log"})
    assert key.at(0.5) == "100us"
    assert key.share_of("100us") == pytest.approx(0.5)
    assert key.share_of("0.1ms") == pytest.approx(0.5)
    assert key.share_of("1us") is None
    assert key.share_of("8KiB") is None
    assert (key.at(-1.0), key.at(2.0)) == ("10us", "1000us")


def test_every_listed_key_can_be_searched() -> None:
    assert len(listed()) >= 8
    assert len({key.key for key in listed()}) == len(listed())
    assert all(key.about for key in listed())


TLC = (EXAMPLES / "enterprise-tlc.toml").read_text()


def of_tlc(folder: Path, old: str, new: str) -> Facts:
    """Returns the facts of enterprise TLC drives with a change."""
    assert old in TLC
    (folder / "facts.toml").write_text(TLC.replace(old, new))
    return read_facts(folder / "facts.toml")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.92TB", 1920 * 10**9),
        ("1920GB", 1920 * 10**9),
        ("960 GB", 960 * 10**9),
        ("1T", 2**40),
        ("800GiB", 800 * 2**30),
    ],
)
def test_a_capacity_has_every_unit_that_the_key_accepts(text: str, size: int, tmp_path: Path) -> None:
    keys = {key.key: key for key in of_tlc(tmp_path, "960197124096B", text).space.keys}
    assert keys["geometry.blocks-per-plane"].at(0.0) == str(math.ceil(1.04 * size / (64 * 1152 * 16 * 1024)))


def test_a_capacity_may_exceed_the_array_if_blocks_are_searched(tmp_path: Path) -> None:
    keys = {key.key for key in of_tlc(tmp_path, "960197124096B", "1920383410176B").space.keys}
    assert {"geometry.blocks-per-plane", "cache.capacity"} <= keys


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "channels = 8 ",
            "blocks-per-plane = 300\nchannels = 8 ",
            "must lie between one page and the 337.5GiB of the array",
        ),
        ("960197124096B", "960 Gbyte", "`Gbyte` is not a unit of size"),
        ("page-size", "pagesize", "unknown key `pagesize` in [geometry]"),
    ],
)
def test_an_error_of_facts_names_their_line_and_the_real_reason(old: str, new: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        of_tlc(tmp_path, old, new)
    text = str(caught.value)
    assert told in text
    assert "has no effect" not in text
    lines = (tmp_path / "facts.toml").read_text().splitlines()
    place = re.search(r"facts\.toml:(\d+):", text)
    assert place is not None, text
    assert lines[int(place[1]) - 1] in text, "the line below [calibrate] is that of the file"


def test_lines_after_a_table_for_the_search_keep_their_numbers(tmp_path: Path) -> None:
    search = '[calibrate]\nfixed = [\n  "flash.read-time",\n]\n[calibrate.search]\n"gc.d" = "2..8"\n'
    with pytest.raises(ConfigError, match=r"facts\.toml:12:1") as caught:
        of_tlc(tmp_path, "[geometry]\n", f"{search}\n[geometry]\npagesize = 1\n")
    assert "unknown key `pagesize`" in str(caught.value)
