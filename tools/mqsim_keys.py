"""Writes docs/mqsim-keys.md, the table of MQSim's tags and their translation by `import-mqsim`. --check compares it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

from flashmesh.importers.mqsim.importer import translate
from flashmesh.importers.mqsim.ledger import Mode
from flashmesh.importers.mqsim.tags import DEVICE, FLASH, HOST, SYNTHETIC, TRACE

FILE = Path(__file__).parents[1] / "docs" / "mqsim-keys.md"
HEAD = """<!-- Generated from the importer by tools/mqsim_keys.py. -->

# Keys of MQSim

The tags of MQSim's two files, and the keys that `flashmesh import-mqsim` sets from each. Keys of a flow are those of
its stream where a scenario has several flows. Where a tag has no effect in a particular file, the report of the import
gives the reason.
"""
Texts = dict[str, str]
PARTS = (
    ("Host_Parameter_Set", HOST),
    ("Device_Parameter_Set", DEVICE),
    ("Flash_Parameter_Set", FLASH),
    ("IO_Flow_Parameter_Set_Synthetic", SYNTHETIC),
    ("IO_Flow_Parameter_Set_Trace_Based", TRACE),
)
SMALL = {"Block_No_Per_Plane": "512", "Page_No_Per_Block": "256", "Die_No_Per_Chip": "2"}
# Together, these files use every tag that can have an effect.
DRIVES: tuple[tuple[Texts, Texts], ...] = (
    ({}, SMALL | {"Flash_Technology": "TLC", "CMD_Suspension_Support": "PROGRAM_ERASE"}),
    ({"HostInterface_Type": "SATA", "Ideal_Mapping_Table": "true"}, SMALL),
    ({"Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER"}, SMALL),
)
SHARED = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1,2,3,4,5,6,7",
    "Chip_IDs": "0,1,2,3",
    "Die_IDs": "0,1",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": "50",
}
DRAWN = SHARED | {
    "Working_Set_Percentage": "50",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "50",
    "Address_Distribution": "RANDOM_HOTCOLD",
    "Percentage_of_Hot_Region": "20",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "16",
    "Request_Size_Distribution": "NORMAL",
    "Average_Request_Size": "16",
    "Variance_Request_Size": "4",
    "Seed": "1",
    "Average_No_of_Reqs_in_Queue": "16",
    "Bandwidth": "262144",
    "Stop_Time": "1000000",
    "Total_Requests_To_Generate": "0",
}
PACED = DRAWN | {"Synthetic_Generator_Type": "BANDWIDTH", "Total_Requests_To_Generate": "100", "Stop_Time": "0"}
REPLAYED = SHARED | {
    "File_Path": "small.trace",
    "Percentage_To_Be_Executed": "50",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}
PART = {"Channel_IDs": "0,1,2,3", "Chip_IDs": "0,1", "Die_IDs": "0", "Plane_IDs": "0"}
BOTH = (Mode.COMPATIBLE, Mode.PHYSICAL)
SCENARIOS: tuple[tuple[tuple[Mode, ...], tuple[Texts, ...]], ...] = (
    (BOTH, (DRAWN,)),
    (BOTH, (PACED,)),
    (BOTH, (REPLAYED,)),
    (BOTH, (DRAWN | PART, REPLAYED | PART)),
    ((Mode.COMPATIBLE,), (REPLAYED | {"Relay_Count": "2"},)),
)
"""Flows of each scenario, and the modes in which the importer accepts them."""


def reference() -> str:
    """Returns the text of docs/mqsim-keys.md."""
    keys = {(part, tag.name): set[str]() for part, tags in PARTS for tag in tags}
    reasons = dict.fromkeys(keys, "")
    with tempfile.TemporaryDirectory() as folder:
        device, workload = Path(folder, "ssdconfig.xml"), Path(folder, "workload.xml")
        Path(folder, "small.trace").write_text("0 0 0 8 1\n1000 0 8 8 0\n")
        for (drive, flash), (modes, flows) in product(DRIVES, SCENARIOS):
            device.write_text(device_text(drive, flash))
            workload.write_text(workload_text(flows))
            for mode in modes:
                for scenario in translate(device, workload, mode):
                    for fate in scenario.ledger.fates:
                        of = (fate.section, fate.name)
                        keys[of] |= {plain(key) for key in fate.keys}
                        reasons[of] = reasons[of] or fate.reason
    text = HEAD
    for part, tags in PARTS:
        text += f"\n## {part}\n\n| tag | keys |\n|---|---|\n"
        for tag in tags:
            # A flow drawn as in MQSim becomes a trace, whose key says less than the keys that describe the flow.
            described = keys[part, tag.name] - ({"workload.trace"} if len(keys[part, tag.name]) > 1 else set())
            found = ", ".join(f"`{key}`" for key in sorted(described))
            text += f"| `{tag.name}` | {found or 'no effect: ' + reasons[part, tag.name]} |\n"
    return text


def plain(key: str) -> str:
    """Returns a key without the number of the flow."""
    parts = key.split(".")
    return ".".join(parts[2:]) if parts[0] == "stream" else f"namespace.{parts[2]}" if parts[0] == "namespace" else key


def tags(values: Texts) -> str:
    """Returns tags with their texts, as XML."""
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def device_text(drive: Texts, flash: Texts) -> str:
    """Returns a device file of MQSim."""
    inner = f"<Flash_Parameter_Set>\n{tags(flash)}</Flash_Parameter_Set>\n"
    device = f"<Device_Parameter_Set>\n{tags(drive)}{inner}</Device_Parameter_Set>\n"
    return (
        f"<Execution_Parameter_Set>\n<Host_Parameter_Set>\n</Host_Parameter_Set>\n{device}</Execution_Parameter_Set>\n"
    )


def workload_text(flows: tuple[Texts, ...]) -> str:
    """Returns a workload file of MQSim with one scenario."""
    text = ""
    for flow in flows:
        kind = "Trace_Based" if "File_Path" in flow else "Synthetic"
        text += f"<IO_Flow_Parameter_Set_{kind}>\n{tags(flow)}</IO_Flow_Parameter_Set_{kind}>\n"
    return f"<MQSim_IO_Scenarios>\n<IO_Scenario>\n{text}</IO_Scenario>\n</MQSim_IO_Scenarios>\n"


def main() -> None:
    """Writes the page or, with --check, compares it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the page is stale, and write nothing")
    check = parser.parse_args().check
    text = reference()
    if not check:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit("docs/mqsim-keys.md is stale: run make generate")


if __name__ == "__main__":
    main()
