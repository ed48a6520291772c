"""Translation of the flash array and of the channels: times, commands, and rules of programs.

docs/mqsim.md describes the computations of MQSim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.importers.toml_text import nanoseconds, rate

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.ledger import Section

READY_NS = 20
"""Time in nanoseconds from the end of a read in the array to the ready signal."""
SUSPEND_COMMAND_NS = 95
READ_COMMANDS = ("290ns", "940ns")
PROGRAM_COMMANDS = ("361ns", "1177ns")
ERASE_COMMANDS = ("220ns", "920ns")
"""Time of an erase command for one and for two planes; each additional plane adds the difference of these times."""
SUSPENSIONS = {"NONE": "off", "PROGRAM": "program", "ERASE": "erase", "PROGRAM_ERASE": "both"}


def times_and_rules(device: Section, flash: Section) -> None:
    """Sets the keys for times of the array and of commands, and for multi-plane and partial programs."""
    cells = flash.word("Flash_Technology")
    types = {"SLC": "one", "MLC": "mlc", "TLC": "tlc"}
    flash.set("flash.page-types", types[cells], "Flash_Technology")
    pages = {"LSB": "", "CSB": "middle-page-", "MSB": "upper-page-"}
    used = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}[cells]
    for page, prefix in pages.items():
        read, program = f"Page_Read_Latency_{page}", f"Page_Program_Latency_{page}"
        if page not in used:
            for tag in (read, program):
                flash.unused(tag, f"{cells} has no such pages")
            continue
        time = flash.whole(read)
        flash.set(
            f"flash.{prefix}read-time",
            None,
            read,
            compatible=nanoseconds(time + READY_NS),
            physical=nanoseconds(time),
            reason=f"MQSim adds {READY_NS} ns until the chip reports that it is ready",
        )
        flash.set(f"flash.{prefix}program-time", nanoseconds(flash.whole(program)), program)
    flash.set("flash.erase-time", nanoseconds(flash.whole("Block_Erase_Latency")), "Block_Erase_Latency")
    flash.unused("Block_PE_Cycles_Limit", "blocks do not wear out; MQSim does not use it either")
    device.word("Flash_Comm_Protocol")
    device.set("flash.read-command-time", READ_COMMANDS, "Flash_Comm_Protocol")
    device.set("flash.program-command-time", PROGRAM_COMMANDS, "Flash_Comm_Protocol")
    device.set("flash.erase-command-time", ERASE_COMMANDS, "Flash_Comm_Protocol")
    device.set("flash.multi-plane", "same-offset")
    device.set(
        "flash.plane-order",
        compatible="arrival",
        reason="in MQSim the planes of a read send their data in the order in which the reads came",
    )
    flash.set(
        "flash.die-interleaving",
        compatible=False,
        physical=True,
        reason="in MQSim a chip takes no command while any of its dies works or holds data",
    )
    flash.set(
        "flash.partial-program",
        compatible=True,
        physical=False,
        reason="MQSim moves only the sectors written of a page that is programmed",
    )

    flash.set(
        "flash.program-order",
        compatible="any",
        reason="MQSim programs the pages of a block in the order in which their turns come",
    )


def suspension(device: Section, flash: Section) -> None:
    """Sets the keys for the operations (program, erase) that reads may suspend."""
    asked = SUSPENSIONS[flash.word("CMD_Suspension_Support")]
    never = "MQSim never suspends: its condition for it is never true"
    flash.set("flash.suspension", None, "CMD_Suspension_Support", compatible="off", physical=asked, reason=never)
    times = {
        "program": ("Suspend_Program_Time", "Preferred_suspend_write_time_for_read"),
        "erase": ("Suspend_Erase_Time", "Prefered_suspend_erase_time_for_read"),
    }
    suspended = [kind for kind in times if asked in (kind, "both")]
    for kind, (taken, preferred) in times.items():
        if kind not in suspended:
            flash.unused(taken, f"{kind}s are not suspended")
            device.unused(preferred, f"{kind}s are not suspended")
    if suspended:
        durations = [times[kind][0] for kind in suspended]
        remainders = [times[kind][1] for kind in suspended]
        longest = max(flash.whole(tag) for tag in durations) + SUSPEND_COMMAND_NS
        least = max(device.whole(tag) for tag in remainders)
        flash.set("flash.suspend-time", None, *durations, physical=nanoseconds(longest), reason=never)
        device.set("flash.suspend-remaining-min", None, *remainders, physical=nanoseconds(least), reason=never)
        flash.set("flash.resume-time", physical="0ns", reason=never)
    device.unused("Preferred_suspend_erase_time_for_write", "a write suspends nothing")


def channel(device: Section) -> None:
    """Sets the key for the data rate of the channels."""
    width, transfers = device.whole("Flash_Channel_Width"), device.whole("Channel_Transfer_Rate")
    # MQSim rounds the time of one transfer to whole nanoseconds; two transfers move twice the channel width.
    pair_ns = 2 * (1000 // transfers)
    physical = rate(transfers * width * 10**6)
    compatible = rate(-(-2 * width * 10**9 // pair_ns)) if pair_ns else "unlimited"
    reason = "MQSim rounds the time of a transfer down to whole nanoseconds"
    tags = ("Flash_Channel_Width", "Channel_Transfer_Rate")
    device.set("fabric.kind", "bus")
    if compatible == physical:
        device.set("fabric.channel-rate", physical, *tags)
    else:
        device.set("fabric.channel-rate", None, *tags, compatible=compatible, physical=physical, reason=reason)
    if not pair_ns:
        device.ledger.warn(
            f"Channel_Transfer_Rate {transfers} is above 1000: MQSim moves data on the channels in no time; "
            f"--physical takes {physical}"
        )
    elif (acts := 1000 // (1000 // transfers)) != transfers:
        device.ledger.warn(f"Channel_Transfer_Rate {transfers} acts as {acts} in MQSim; --physical takes {transfers}")
