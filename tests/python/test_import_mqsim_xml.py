"""XML that MQSim's parser reads differently from the importer is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import flashmesh
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import FEW, device_text, workload_text

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.importers.mqsim.importer import MqsimImport

DEVICE = device_text()
WORK = workload_text([FEW])


def imported(folder: Path, device: str | bytes, work: str | bytes) -> MqsimImport:
    """Imports two files."""
    for name, text in {"ssd.xml": device, "work.xml": work}.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out")


def configuration(folder: Path, device: str | bytes, work: str | bytes) -> str:
    """Returns the imported configuration without the lines that name the files."""
    done = imported(folder, device, work)
    lines = done.files[0].read_text().splitlines() + done.traces[0].read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


def with_value(tag: str, value: str, text: str = DEVICE) -> str:
    """Returns a file with another value of a tag."""
    begin = text.index(f"<{tag}>") + len(tag) + 2
    return text[:begin] + value + text[text.index(f"</{tag}>") :]


READ_ALIKE: dict[str, tuple[str | bytes, str | bytes]] = {
    "declaration": ('<?xml version="1.0" encoding="us-ascii"?>\n' + DEVICE, WORK),
    "latin": (b'<?xml version="1.0" encoding="iso-8859-1"?><!-- \xe9 -->\n' + DEVICE.encode(), WORK),
    "mark": (b"\xef\xbb\xbf" + DEVICE.encode(), b"\xef\xbb\xbf" + WORK.encode()),
    "line ends": (DEVICE.replace("\n", "\r\n"), WORK.replace("\n", "\r\n")),
    "one line": (DEVICE.replace("\n", ""), WORK.replace("\n", "")),
    "indented": (DEVICE.replace("\n<", "\n\t  <"), WORK.replace("\n<", "\n\t  <")),
    "comments": (DEVICE.replace("<", "<!-- a --><"), WORK),
    "comment before a number": (with_value("Page_Capacity", "<!-- B -->4096"), WORK),
    "comment behind a number": (with_value("Page_Capacity", "4096<!-- B -->"), WORK),
    "instruction": (DEVICE.replace("<Page_Capacity>", "<?note?><Page_Capacity>"), WORK),
    "blanks around numbers": (with_value("Page_Capacity", "\n  4096\n"), WORK),
    "sign": (with_value("Page_Capacity", "+4096"), WORK),
    "zeros": (with_value("Page_Capacity", "004096"), WORK),
    "reference": (with_value("Page_Capacity", "&#52;096"), WORK),
    "lower case words": (with_value("Flash_Technology", "slc"), WORK.replace("HIGH", "high")),
    "upper case flags": (with_value("Ideal_Mapping_Table", "TRUE"), WORK.replace(">true<", ">TRUE<")),
    "exponent": (with_value("PCIe_Lane_Bandwidth", "1e0"), WORK),
    "blanks in a tag": (DEVICE.replace("<Page_Capacity>", "<Page_Capacity >"), WORK.replace("</Seed>", "</Seed >")),
    "trailing comma": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>0,1,<")),
    "comma in front": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>,0,1<")),
    "two commas": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>0,,1<")),
    "blanks in a list": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs> 0 , 1 <")),
    "order of a list": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>1,0,1<")),
    "unknown tag": (DEVICE.replace("<Page_Capacity>", "<Colour>red</Colour><Page_Capacity>"), WORK),
    "lower case tag": (DEVICE.replace("<Page_Capacity>", "<page_capacity>8192</page_capacity><Page_Capacity>"), WORK),
    "comment at the end": (DEVICE + "<!-- end -->\n\n", WORK + "\n\n<!-- end -->"),
    "names of namespaces": (DEVICE.replace("<Execution_Parameter_Set>", '<Execution_Parameter_Set xmlns="a">'), WORK),
}
"""Files that MQSim reads like the plain ones, by name."""
DEFAULTS = device_text(device={"Seed": "123", "Queue_Fetch_Size": "512"}, flash={"Suspend_Erase_Time": "700000"})

REFUSED: dict[str, tuple[str | bytes, str | bytes, str]] = {
    "blanks around a word": (with_value("Flash_Technology", " SLC"), WORK, "blanks or line ends around `SLC`"),
    "blanks around a flag": (with_value("Ideal_Mapping_Table", "false "), WORK, "blanks or line ends around `false`"),
    "empty number": (with_value("Page_Capacity", ""), WORK, "<Page_Capacity>: is empty: expected a whole number"),
    "empty tag": (DEVICE.replace("<Page_Capacity>4096</Page_Capacity>", "<Page_Capacity/>"), WORK, "is empty"),
    "empty word": (with_value("Flash_Technology", ""), WORK, "is empty: expected one of SLC, MLC, TLC"),
    "empty flag": (with_value("Ideal_Mapping_Table", ""), WORK, "is empty: expected true or false"),
    "empty list": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs><"), "is empty: expected numbers"),
    "blank list": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs> <"), "is empty: expected numbers"),
    "range": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>0-1<"), "`0-1` is not a whole number"),
    "semicolons": (DEVICE, WORK.replace("<Plane_IDs>0,1<", "<Plane_IDs>0;1<"), "`0;1` is not a whole number"),
    "decimals": (with_value("Page_Capacity", "4096.0"), WORK, "`4096.0` is not a whole number"),
    "unit": (with_value("Page_Capacity", "4KiB"), WORK, "`4KiB` is not a whole number"),
    "underscore": (with_value("PCIe_Lane_Bandwidth", "1_0.0"), WORK, "`1_0.0` is not a number"),
    "other digits": (with_value("PCIe_Lane_Bandwidth", "\u0661"), WORK, "is not a number"),
    "not a number": (with_value("PCIe_Lane_Bandwidth", "nan"), WORK, "`nan` is not a number"),
    "percent sign": (DEVICE, WORK.replace(">80<", ">80%<"), "`80%` is not a whole number"),
    "share for percent": (DEVICE, WORK.replace(">80<", ">0.8<"), "`0.8` is not a whole number"),
    "comment in a number": (with_value("Page_Capacity", "40<!-- -->96"), WORK, "MQSim reads `40` alone"),
    "instruction in a number": (with_value("Page_Capacity", "40<?a?>96"), WORK, "MQSim reads `40` alone"),
    "section": (with_value("Page_Capacity", "<![CDATA[4096]]>"), WORK, "MQSim ignores its content"),
    "stray text": (DEVICE.replace("<Device_Parameter_Set>", "x<Device_Parameter_Set>"), WORK, "`x` stands in"),
    "stray text between flows": (
        DEVICE,
        WORK.replace("<IO_Scenario>", "<IO_Scenario>x"),
        "`x` stands in <IO_Scenario>",
    ),
    "wide characters": (DEVICE.encode("utf-16"), WORK, "is UTF-16 or UTF-32"),
    "wide characters without a mark": (DEVICE.encode("utf-16-le"), WORK, "is UTF-16 or UTF-32"),
    "attribute": (DEVICE.replace("<Page_Capacity>", '<Page_Capacity unit="B">'), WORK, "has an attribute `unit`"),
    "value in an attribute": (
        DEVICE.replace("<Seed>", "<Seed>"),
        WORK.replace("<Seed>", '<Seed value="1">'),
        "`value`",
    ),
    "tag there twice": (DEVICE, WORK.replace("<Seed>", "<Seed>1</Seed><Seed>"), "<Seed> is given twice"),
    "missing tag": (DEVICE, WORK.replace("<Seed>12344</Seed>", ""), "<Seed> is missing in"),
    "tag in lower case alone": (DEVICE, WORK.replace("Seed>", "seed>"), "<Seed> is missing in"),
    "unclosed tag": (DEVICE.replace("</Page_Capacity>", ""), WORK, "is no well-formed XML"),
    "closed by another": (DEVICE, WORK.replace("</Seed>", "</Sed>"), "is no well-formed XML"),
    "two outermost tags": (DEVICE + DEVICE, WORK, "is no well-formed XML"),
    "cut off": (DEVICE[:-40], WORK, "is it cut off?"),
    "unknown entity": (with_value("Page_Capacity", "&page;"), WORK, "is no well-formed XML"),
    "nothing": ("", WORK, "is empty"),
    "null": (with_value("Page_Capacity", "40\x0096"), WORK, "is no well-formed XML"),
    "another kind of flow": (DEVICE, WORK.replace("_Synthetic>", "_Mixed>"), "is no flow"),
}
"""Files that MQSim reads differently from how they look, or not at all, with the error message of the importer."""


@pytest.mark.parametrize("name", READ_ALIKE)
def test_xml_that_mqsim_reads_like_plain_files_is_read_like_them(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "other").mkdir()
    expected = configuration(tmp_path / "plain", DEVICE, WORK)
    assert configuration(tmp_path / "other", *READ_ALIKE[name]) == expected


def test_absent_tags_have_the_defaults_of_mqsim(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "other").mkdir()
    assert "<Seed>123</Seed>" in DEFAULTS
    assert configuration(tmp_path / "other", DEFAULTS, WORK) == configuration(tmp_path / "plain", DEVICE, WORK)


@pytest.mark.parametrize("name", REFUSED)
def test_xml_that_mqsim_reads_otherwise_is_refused_with_file_and_line(tmp_path: Path, name: str) -> None:
    device, work, said = REFUSED[name]
    with pytest.raises(flashmesh.ConfigError) as raised:
        imported(tmp_path, device, work)
    message = str(raised.value)
    assert said in message
    assert ("ssd.xml:" if work == WORK else "work.xml:") in message
    assert not (tmp_path / "out").exists()
