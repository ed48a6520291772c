"""Imported MQSim files can be loaded and replayed, or are refused at a tag or a line of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import flashmesh
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import FEW, TRACE, TRACE_TEXT, device_text, workload_text

if TYPE_CHECKING:
    from pathlib import Path

CACHED = FEW | {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"}
ONE_PLANE = {"Channel_IDs": "0", "Chip_IDs": "0", "Plane_IDs": "0"}
ONE_CHIP = {"Flash_Channel_Count": "1", "Chip_No_Per_Channel": "1"}
TINY = {"Plane_No_Per_Die": "1", "Block_No_Per_Plane": "4", "Page_No_Per_Block": "1", "Page_Capacity": "512"}
NORMAL = {"Request_Size_Distribution": "NORMAL", "Variance_Request_Size": "65535"}


def refused(folder: Path, device: str, flow: dict[str, str], trace: str = TRACE_TEXT, physical: bool = False) -> str:
    """Returns the error message of a refused import, which writes nothing."""
    (folder / "ssd.xml").write_text(device)
    (folder / "work.xml").write_text(workload_text([flow]))
    (folder / "t").write_text(trace)
    with pytest.raises(flashmesh.ConfigError) as error:
        import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out", physical=physical)
    assert not (folder / "out").exists()
    return str(error.value)


@pytest.mark.parametrize(
    ("device", "flow", "physical", "shown"),
    [
        (device_text(device={"Data_Cache_Capacity": "1"}), CACHED, False, "<Data_Cache_Capacity>1<"),
        (device_text(device={"Ideal_Mapping_Table": "false", "CMT_Capacity": "1"}), FEW, False, "<CMT_Capacity>1<"),
        (device_text(flash={"Block_No_Per_Plane": "1048576"}), FEW, True, "<Block_No_Per_Plane>1048576<"),
        (device_text(device=ONE_CHIP | {"Overprovisioning_Ratio": "0.9"}, flash=TINY), FEW | ONE_PLANE, False, ">0.9<"),
        (device_text(), FEW | NORMAL, True, "<Average_Request_Size>8<"),
    ],
    ids=["cache", "mapping table", "blocks", "capacity", "sizes"],
)
def test_a_key_that_does_not_load_is_shown_at_its_tag(
    tmp_path: Path, device: str, flow: dict[str, str], physical: bool, shown: str
) -> None:
    message = refused(tmp_path, device, flow, physical=physical)
    assert shown in message
    assert ("work.xml:" if "Request" in shown else "ssd.xml:") in message
    assert ".toml" not in message


def test_a_key_without_a_tag_is_shown_at_the_drive(tmp_path: Path) -> None:
    device = ONE_CHIP | {"Ideal_Mapping_Table": "false"}
    flash = {"Plane_No_Per_Die": "1", "Block_No_Per_Plane": "4", "Page_No_Per_Block": "2"}
    message = refused(
        tmp_path, device_text(device=device, flash=flash), FEW | ONE_PLANE | {"Average_Request_Size": "1"}
    )
    assert "mapping.write-back-buffer (16B) holds no page" in message
    assert "ssd.xml:1:1" in message
    assert "follows from the size of the drive" in message


def test_a_request_that_is_larger_than_the_space_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, device_text(device=ONE_CHIP, flash=TINY), FEW | ONE_PLANE)
    assert "a request of 8 sectors is larger than the space of the flow, 3 sectors" in message
    assert "<Average_Request_Size>8<" in message


@pytest.mark.parametrize("percent", ["0", "100"])
def test_a_described_workload_has_a_hot_and_a_cold_region(tmp_path: Path, percent: str) -> None:
    flow = FEW | {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": percent}
    assert f"<Percentage_of_Hot_Region>{percent}<" in refused(tmp_path, device_text(), flow, physical=True)


@pytest.mark.parametrize(
    ("line", "physical", "words"),
    [
        ("8999 0 8 8 1", False, "the time stamp 8999 is earlier than 9000"),
        ("9000 0 8 0 1", False, "the size is 0 sectors"),
        ("9000 0 8 65536 1", False, "the size is 65536 sectors"),
        (f"{10**16} 0 8 8 1", False, "is beyond 9000000000000000 ns"),
        (f"9000 0 {2**64} 8 1", False, "which 64 bits do not hold"),
        ("9000 0 0x10 8 1", True, "the first sector is `0x10`, 16 in C"),
        ("9000 0 8 010 1", True, "the size is `010`, 8 in C"),
    ],
)
def test_a_line_of_a_trace_that_cannot_be_replayed_is_named(
    tmp_path: Path, line: str, physical: bool, words: str
) -> None:
    message = refused(tmp_path, device_text(), TRACE | {"File_Path": "t"}, f"{TRACE_TEXT}{line}\n", physical)
    assert "t:11: " in message
    assert words in message


def test_numbers_in_the_notation_of_c_are_replayed_as_mqsim_reads_them(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": "t"}]))
    (tmp_path / "t").write_text("010 0 0x10 010 1\n")
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")
    assert done.traces[0].read_text() == "10 0 16 8 1\n"
    assert flashmesh.run(done.files[0]).requests == 1


def test_a_folder_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assert "d` is a folder, not a trace" in refused(tmp_path, device_text(), TRACE | {"File_Path": "d"})


@pytest.mark.parametrize("encoding", ["klingon", "utf-7"])
def test_an_encoding_that_is_not_read_is_named_in_plain_words(tmp_path: Path, encoding: str) -> None:
    message = refused(tmp_path, f'<?xml version="1.0" encoding="{encoding}"?>\n{device_text()}', FEW)
    assert message.startswith("has an unsupported encoding")
    assert "save the file as UTF-8 or ASCII" in message
