"""Texts of MQSim files: a small drive, a flow that draws requests, and a flow that replays a trace."""

from __future__ import annotations

FLASH = {
    "Flash_Technology": "SLC",
    "CMD_Suspension_Support": "NONE",
    "Page_Read_Latency_LSB": "3000",
    "Page_Program_Latency_LSB": "100000",
    "Block_Erase_Latency": "1000000",
    "Die_No_Per_Chip": "1",
    "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "64",
    "Page_No_Per_Block": "768",
    "Page_Capacity": "4096",
    "Page_Metadat_Capacity": "448",
}
DEVICE = {
    "Enabled_Preconditioning": "false",
    "Ideal_Mapping_Table": "true",
    "GC_Block_Selection_Policy": "GREEDY",
    "Channel_Transfer_Rate": "1000",
    "Chip_No_Per_Channel": "8",
}
HOST = {"PCIe_Lane_Bandwidth": "1.0", "PCIe_Lane_Count": "8"}
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Channel_IDs": "0,1,2,3,4,5,6,7",
    "Chip_IDs": "0,1,2,3,4,5,6,7",
    "Die_IDs": "0",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": "50",
}
SYNTHETIC = FLOW | {
    "Working_Set_Percentage": "80",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "70",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": "0",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": "8",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "8",
    "Variance_Request_Size": "0",
    "Seed": "12344",
    "Average_No_of_Reqs_in_Queue": "64",
    "Bandwidth": "262144",
    "Stop_Time": "0",
    "Total_Requests_To_Generate": "200000",
}
FEW = SYNTHETIC | {"Total_Requests_To_Generate": "100"}
TRACE = FLOW | {
    "File_Path": "traces/oltp.trace",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}
TRACE_TEXT = "".join(f"{number * 1000} 0 {number * 8} 8 1\n" for number in range(10))


def tags(values: dict[str, str]) -> str:
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def device_text(
    host: dict[str, str] | None = None, device: dict[str, str] | None = None, flash: dict[str, str] | None = None
) -> str:
    return (
        "<Execution_Parameter_Set>\n"
        f"<Host_Parameter_Set>\n{tags(HOST | (host or {}))}</Host_Parameter_Set>\n"
        f"<Device_Parameter_Set>\n{tags(DEVICE | (device or {}))}"
        f"<Flash_Parameter_Set>\n{tags(FLASH | (flash or {}))}</Flash_Parameter_Set>\n</Device_Parameter_Set>\n"
        "</Execution_Parameter_Set>\n"
    )


def workload_text(*scenarios: list[dict[str, str]]) -> str:
    text = ""
    for flows in scenarios:
        text += "<IO_Scenario>\n"
        for flow in flows:
            kind = "Trace_Based" if "File_Path" in flow else "Synthetic"
            text += f"<IO_Flow_Parameter_Set_{kind}>\n{tags(flow)}</IO_Flow_Parameter_Set_{kind}>\n"
        text += "</IO_Scenario>\n"
    return f"<MQSim_IO_Scenarios>\n{text}</MQSim_IO_Scenarios>\n"
