"""MQSim's files become configurations, and nothing in them is lost silently."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import flashmesh
from conftest import Cli
from flashmesh import configuration
from flashmesh.importers.mqsim import Mode, import_mqsim, translate
from mqsim_files import FEW, SYNTHETIC, TRACE, TRACE_TEXT, device_text, workload_text

GOLDEN = Path(__file__).parents[2].parent / "shared" / "golden" / "mqsim"


def refusal(tmp_path: Path, device: str, workload: str) -> str:
    """Returns the error message of a refused import."""
    (tmp_path / "ssd.xml").write_text(device)
    (tmp_path / "work.xml").write_text(workload)
    with pytest.raises(flashmesh.ConfigError) as error:
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    return str(error.value)


def test_a_configuration_that_does_not_load_ends_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([FEW]))
    monkeypatch.setattr("flashmesh.importers.mqsim.flash_array.READY_NS", -5000)
    with pytest.raises(flashmesh.ConfigError, match="read-time"):
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")


def test_no_number_of_a_part_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, device_text(), workload_text([SYNTHETIC | {"Channel_IDs": ","}]))
    assert "<Channel_IDs>" in message


@pytest.mark.parametrize("tag", [{}, {"Relay_Count": "2"}, {"Percentage_To_Be_Executed": "50"}])
def test_a_missing_trace_ends_the_import_with_the_places_looked_at(tmp_path: Path, tag: dict[str, str]) -> None:
    message = refusal(tmp_path, device_text(), workload_text([TRACE | tag]))
    assert "the trace `traces/oltp.trace` was not found" in message
    assert str(tmp_path / "traces" / "oltp.trace") in message
    assert "correct the path, or put the trace there" in message


def test_rounds_beyond_the_limit_of_requests_say_the_limit_that_suffices(tmp_path: Path) -> None:
    (tmp_path / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": "oltp.trace", "Relay_Count": "3"}]))
    with pytest.raises(flashmesh.ConfigError, match="--requests-max to 30"):
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out", requests_max=20)


def test_a_trace_behind_links_in_a_circle_is_no_fault_of_flashmesh(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    message = refusal(tmp_path, device_text(), workload_text([TRACE | {"File_Path": "circle"}]))
    assert "the trace `circle` was not found" in message


def test_a_file_that_is_no_trace_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "prose").write_text("It was a dark and stormy night\n")
    message = refusal(tmp_path, device_text(), workload_text([TRACE | {"File_Path": "prose"}]))
    assert "prose` does not begin with a line of a trace of MQSim" in message


def test_every_scenario_is_a_configuration_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC], [SYNTHETIC | {"Read_Percentage": "5"}]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=True)
    shares = [tomllib.loads(file.read_text())["workload"]["read-share"] for file in done.files]
    assert shares == [0.7, 0.05]
    assert done.report_file.read_text() == done.report


VARIED = [
    (),
    ({}, {"Ideal_Mapping_Table": "false", "HostInterface_Type": "SATA"}, {"Flash_Technology": "TLC"}),
    ({}, {"Caching_Mechanism": "SIMPLE"}, {"CMD_Suspension_Support": "PROGRAM_ERASE", "Flash_Technology": "MLC"}),
    ({}, {"GC_Block_Selection_Policy": "RGA", "Static_Wearleveling_Enabled": "false"}, {}),
]


@pytest.mark.parametrize("parts", VARIED)
@pytest.mark.parametrize("mode", Mode)
def test_every_tag_is_accounted_for(tmp_path: Path, parts: tuple[dict[str, str], ...], mode: Mode) -> None:
    normal = {"Request_Size_Distribution": "NORMAL", "Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "10000000"}
    cached = {"Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE", "Stop_Time": "5"}
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text(*parts))
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC, TRACE], [SYNTHETIC | normal, SYNTHETIC | cached]))
    for scenario in translate(tmp_path / "ssd.xml", tmp_path / "work.xml", mode):
        for fate in scenario.ledger.fates:
            assert fate.keys or fate.reason, fate.name
            assert all(key in scenario.ledger.settings for key in fate.keys), fate.name


def test_unknown_tags_are_named_with_what_may_have_been_meant(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(device={"Queue_Fetch_Sise": "16"}))
    flow = {("Intensity" if name == "Bandwidth" else name): value for name, value in FEW.items()}
    (tmp_path / "work.xml").write_text(workload_text([flow]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path)
    assert [(tag.name, tag.near) for tag in done.unknown] == [
        ("Queue_Fetch_Sise", "Queue_Fetch_Size"),
        ("Intensity", ""),
    ]
    assert "<Queue_Fetch_Sise>  did you mean <Queue_Fetch_Size>?" in done.report
    assert "<Intensity>" in done.report


def test_the_report_shows_how_the_modes_differ(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(device={"Channel_Transfer_Rate": "333"}))
    (tmp_path / "work.xml").write_text(workload_text([FEW]))
    for physical in (False, True):
        done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=physical)
        row = next(line for line in done.report.splitlines() if line.lstrip().startswith("fabric.channel-rate  "))
        assert row.split()[1:3] == ['"333333334B/s"', '"333MB/s"']


def test_a_trace_is_replayed_on_a_drive_that_was_written_before(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text(device={"Enabled_Preconditioning": "true"}))
    (tmp_path / "work.xml").write_text(workload_text([TRACE]))
    assert cli("import-mqsim", "ssd.xml", "work.xml", "-o", "out").returncode == 0
    done = cli("run", "out/work-1.toml", "--check", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["requests"] == 10


GOOD = device_text()
WORK = workload_text([FEW])


@pytest.mark.parametrize(
    ("device", "workload", "words"),
    [
        ("", WORK, ["ssd.xml:1:1", "is empty"]),
        ("preset = 1\n", WORK, ["is no XML"]),
        (WORK, GOOD, ["expected <Execution_Parameter_Set>", "the order is"]),
        (GOOD[:300], WORK, ["the file ends inside <", "is it cut off?"]),
        (GOOD.replace("</Seed>", ""), WORK.replace("</Seed>", "</Sed>"), ["mismatched tag", "work.xml:"]),
        (f'<!DOCTYPE a [<!ENTITY b "c">]>\n{GOOD}', WORK, ["a document type is not supported", "ssd.xml:1"]),
        (GOOD.replace("Host_Parameter_Set>", "Hosts>"), WORK, ["<Host_Parameter_Set> is missing"]),
        (device_text(flash={"Page_Capacity": "5000"}), WORK, ["a page of 5000 B", "power of two"]),
        (device_text(flash={"Plane_No_Per_Die": "0"}), WORK, ["0 is not between 1 and 8"]),
        (device_text(flash={"Page_No_Per_Block": "many"}), WORK, ["`many` is not a whole number"]),
        (device_text(flash={"Page_No_Per_Block": "9" * 5000}), WORK, ["is not between"]),
        (device_text(device={"Overprovisioning_Ratio": "nan"}), WORK, ["is not a number"]),
        (device_text(device={"Ideal_Mapping_Table": "yes"}), WORK, ["neither true nor false"]),
        (device_text(device={"Plane_Allocation_Scheme": "CWDD"}), WORK, ["`CWDD` is not one of CWDP,"]),
        (device_text(device={"Transaction_Scheduling_Policy": "FLIN"}), WORK, ["FLIN is not built"]),
        (device_text(device={"Address_Mapping": "HYBRID"}), WORK, ["HYBRID is not built"]),
        (GOOD.replace("<Die_No", "<Die_No_Per_Chip>2</Die_No_Per_Chip>\n<Die_No", 1), WORK, ["is given twice", "line"]),
        (GOOD, "<MQSim_IO_Scenarios></MQSim_IO_Scenarios>", ["holds no <IO_Scenario>"]),
        (GOOD, workload_text([]), ["this one has 0"]),
        (GOOD, workload_text([SYNTHETIC] * 9), ["this one has 9"]),
        (GOOD, WORK.replace("_Synthetic", "_Syntetic"), ["<IO_Flow_Parameter_Set_Syntetic> is no flow"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Seed"} | {"Plane_IDs": "0,2"}]),
            ["names 2"],
        ),
        (GOOD, workload_text([SYNTHETIC | {"Chip_IDs": "0;1"}]), ["expected numbers between commas"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Bandwidth"} | {"Read_Percentage": "101"}]),
            [],
        ),
        (GOOD, workload_text([SYNTHETIC | {"Total_Requests_To_Generate": "0"}]), ["the flow has no request"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Average_Request_Size"}]),
            ["<Average_Request_Size> is missing"],
        ),
        (
            GOOD,
            workload_text([SYNTHETIC | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "4095"}]),
            ["less than one request"],
        ),
        (GOOD, workload_text([TRACE | {"Time_Unit": "SECOND"}]), ["`SECOND` is not one of PICOSECOND"]),
        (GOOD, WORK.replace("<Seed>", "<Seed><Average>1</Average>", 1), ["<Average> lies inside <Seed>"]),
        (
            GOOD.replace("<PCIe_Lane_Count>", '<PCIe_Lane_Count x="1">', 1),
            WORK,
            ["<PCIe_Lane_Count> has an attribute `x`", "ssd.xml:"],
        ),
        (GOOD, WORK.replace("<IO_Scenario>", "<IO_Scenario name='a'>", 1), ["<IO_Scenario> has an attribute `name`"]),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, device: str, workload: str, words: list[str]
) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    message = refusal(tmp_path, device, workload)
    assert any(f"{name}.xml:" in message for name in ("ssd", "work"))
    for word in words:
        assert word in message


def test_entities_that_grow_are_not_expanded(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ENTITY a "aaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;">\n]>\n<a>&b;</a>\n'
    assert "a document type is not supported" in refusal(tmp_path, bomb, WORK)
    assert "deep" in refusal(tmp_path, "<Execution_Parameter_Set>" * 100, WORK)


def test_the_command_prints_the_report_and_names_what_it_wrote(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(GOOD)
    (tmp_path / "work.xml").write_text(WORK)
    done = cli("import-mqsim", "ssd.xml", "work.xml", "-o", "made/here")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "made" / "here" / "work-import.txt").read_text()
    assert "work-1.toml" in done.stderr
    refused = cli("import-mqsim", "work.xml", "ssd.xml", "-o", "made")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: expected <Execution_Parameter_Set>")


@pytest.mark.parametrize("parts", VARIED)
@pytest.mark.parametrize("physical", [False, True])
def test_what_is_written_is_a_configuration(tmp_path: Path, parts: tuple[dict[str, str], ...], physical: bool) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(*parts))
    cached = FEW | {"Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE", "Channel_IDs": "1,2"}
    bandwidth = FEW | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "10000000", "Stop_Time": "9"}
    (tmp_path / "work.xml").write_text(workload_text([FEW], [cached, bandwidth]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=physical)
    for file, scenario in zip(done.files, done.scenarios, strict=True):
        loaded = tomllib.loads(configuration.load(file).to_toml())
        for setting in scenario.settings():
            *tables, key = setting.key.split(".")
            place = loaded
            for name in tables:
                place = place[name]
            assert key in place, setting.key


@pytest.mark.parametrize("physical", [False, True])
def test_all_golden_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, physical: bool) -> None:
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is not there")
    devices = ["g_1000.xml", "g_1000_cmt.xml", "g_1000_prio.xml", "g_333.xml"]
    workloads = [path for path in GOLDEN.glob("g_*.xml") if path.name not in devices]
    assert len(workloads) >= 10
    # Write the traces that the workload files name, because they are not among the stored files.
    for name in {name for path in workloads for name in re.findall(r"<File_Path>(.*)</File_Path>", path.read_text())}:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TRACE_TEXT)
    monkeypatch.chdir(tmp_path)
    for device in devices:
        for workload in workloads:
            done = import_mqsim(GOLDEN / device, workload, tmp_path, physical=physical, requests_max=0)
            assert [tag.name for tag in done.unknown] == ["Preferred_suspend_erase_time_for_read"]
            assert len(done.files) == 1
