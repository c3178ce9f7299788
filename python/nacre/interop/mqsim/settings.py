"""Reads and checks the two input files of MQSim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

from nacre.errors import Problem, config_error, unknown
from nacre.interop.mqsim.contradictions import Settings, at_setting, of_drive, of_flow

Kind: TypeAlias = Callable[[str], Any] | tuple[str, ...]
"""Parser of a value, or a tuple of the allowed words."""


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _number(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_count(part) for part in text.split(","))


_SHARING = ("SHARED", "EQUAL_PARTITIONING")
DRIVE: Mapping[str, Kind] = {
    "PCIe_Lane_Bandwidth": _number,
    "PCIe_Lane_Count": _count,
    "SATA_Processing_Delay": _count,
    "Enable_ResponseTime_Logging": _flag,
    "ResponseTime_Logging_Period_Length": _count,
    "Seed": _count,
    "Enabled_Preconditioning": _flag,
    "Memory_Type": ("FLASH",),
    "HostInterface_Type": ("NVME", "SATA"),
    "IO_Queue_Depth": _count,
    "Queue_Fetch_Size": _count,
    "Caching_Mechanism": ("SIMPLE", "ADVANCED"),
    "Data_Cache_Sharing_Mode": _SHARING,
    "Data_Cache_Capacity": _count,
    "Data_Cache_DRAM_Row_Size": _count,
    "Data_Cache_DRAM_Data_Rate": _count,
    "Data_Cache_DRAM_Data_Busrt_Size": _count,
    "Data_Cache_DRAM_Data_Burst_Size": _count,
    "Data_Cache_DRAM_tRCD": _count,
    "Data_Cache_DRAM_tCL": _count,
    "Data_Cache_DRAM_tRP": _count,
    "Address_Mapping": ("PAGE_LEVEL", "HYBRID"),
    "Ideal_Mapping_Table": _flag,
    "CMT_Capacity": _count,
    "CMT_Sharing_Mode": _SHARING,
    "Plane_Allocation_Scheme": str,
    "Transaction_Scheduling_Policy": ("OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER", "FLIN"),
    "Overprovisioning_Ratio": _number,
    "GC_Exec_Threshold": _number,
    "GC_Block_Selection_Policy": ("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO"),
    "Use_Copyback_for_GC": _flag,
    "Preemptible_GC_Enabled": _flag,
    "GC_Hard_Threshold": _number,
    "Dynamic_Wearleveling_Enabled": _flag,
    "Static_Wearleveling_Enabled": _flag,
    "Static_Wearleveling_Threshold": _count,
    "Preferred_suspend_erase_time_for_read": _count,
    "Preferred_suspend_erase_time_for_write": _count,
    "Preferred_suspend_write_time_for_read": _count,
    "Flash_Channel_Count": _count,
    "Flash_Channel_Width": _count,
    "Channel_Transfer_Rate": _count,
    "Chip_No_Per_Channel": _count,
    "Flash_Comm_Protocol": ("NVDDR2",),
    "Flash_Technology": ("SLC", "MLC", "TLC"),
    "CMD_Suspension_Support": ("NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE"),
    "Page_Read_Latency_LSB": _count,
    "Page_Read_Latency_CSB": _count,
    "Page_Read_Latency_MSB": _count,
    "Page_Program_Latency_LSB": _count,
    "Page_Program_Latency_CSB": _count,
    "Page_Program_Latency_MSB": _count,
    "Block_Erase_Latency": _count,
    "Block_PE_Cycles_Limit": _count,
    "Suspend_Erase_Time": _count,
    "Suspend_Program_Time": _count,
    "Die_No_Per_Chip": _count,
    "Plane_No_Per_Die": _count,
    "Block_No_Per_Plane": _count,
    "Page_No_Per_Block": _count,
    "Page_Capacity": _count,
    "Page_Metadat_Capacity": _count,
}
_DRIVE_OPTIONAL = {
    "SATA_Processing_Delay",
    "Caching_Mechanism",
    "Data_Cache_DRAM_Data_Busrt_Size",
    "Data_Cache_DRAM_Data_Burst_Size",
    "Enable_ResponseTime_Logging",
    "ResponseTime_Logging_Period_Length",
    "Page_Metadat_Capacity",
}
_TABLES = ("Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set")

_FLOW: dict[str, Kind] = {
    "Priority_Class": ("URGENT", "HIGH", "MEDIUM", "LOW"),
    "Device_Level_Data_Caching_Mode": (
        "WRITE_CACHE",
        "READ_CACHE",
        "WRITE_READ_CACHE",
        "TURNED_OFF",
    ),
    "Channel_IDs": _numbers,
    "Chip_IDs": _numbers,
    "Die_IDs": _numbers,
    "Plane_IDs": _numbers,
    "Initial_Occupancy_Percentage": _count,
}
SYNTHETIC: dict[str, Kind] = _FLOW | {
    "Working_Set_Percentage": _count,
    "Synthetic_Generator_Type": ("BANDWIDTH", "QUEUE_DEPTH"),
    "Read_Percentage": _count,
    "Address_Distribution": ("UNIFORM_RANDOM", "RANDOM_UNIFORM", "RANDOM_HOTCOLD", "STREAMING"),
    "Percentage_of_Hot_Region": _count,
    "Generated_Aligned_Addresses": _flag,
    "Address_Alignment_Unit": _count,
    "Request_Size_Distribution": ("FIXED", "NORMAL"),
    "Average_Request_Size": _count,
    "Variance_Request_Size": _count,
    "Seed": _count,
    "Average_No_of_Reqs_in_Queue": _count,
    "Intensity": _count,
    "Bandwidth": _count,
    "Stop_Time": _count,
    "Total_Requests_To_Generate": _count,
}
TRACE: dict[str, Kind] = _FLOW | {
    "File_Path": str,
    "Percentage_To_Be_Executed": _count,
    "Relay_Count": _count,
    "Time_Unit": ("PICOSECOND", "NANOSECOND", "MICROSECOND"),
}
_FLOW_OPTIONAL = {
    "Generated_Aligned_Addresses",
    "Address_Alignment_Unit",
    "Intensity",
    "Bandwidth",
    "Relay_Count",
    "Percentage_of_Hot_Region",
    "Variance_Request_Size",
}
_SYNTHETIC_TAG = "IO_Flow_Parameter_Set_Synthetic"
_TRACE_TAG = "IO_Flow_Parameter_Set_Trace_Based"


@dataclass(frozen=True)
class Flow:
    """One flow of an I/O scenario, replayed from a trace or generated."""

    is_trace: bool
    settings: Settings
    texts: Mapping[str, str]

    @property
    def caches_writes(self) -> bool:
        """Whether writes complete when they are in the cache of the drive."""
        return "WRITE" in self.settings["Device_Level_Data_Caching_Mode"]


def read_drive(path: Path) -> Settings:
    """Reads an SSD configuration. Raises `ConfigError` with all errors."""
    problems: list[Problem] = []
    found = _drive(path, problems)
    if problems:
        raise config_error(problems)
    return found


def read_flows(path: Path, drive: Settings) -> list[list[Flow]]:
    """Reads the flows of every I/O scenario of a workload file.

    Raises `ConfigError` with all errors.
    """
    problems: list[Problem] = []
    scenarios = _scenarios(path, drive, problems)
    if problems:
        raise config_error(problems)
    return scenarios


def read(drive: Path, workload: Path) -> tuple[Settings, list[list[Flow]]]:
    """Reads the drive file and the workload file. Raises `ConfigError` with all of their errors."""
    problems: list[Problem] = []
    found = _drive(drive, problems)
    scenarios = _scenarios(workload, found, problems)
    if problems:
        raise config_error(problems)
    return found, scenarios


def _drive(path: Path, problems: list[Problem]) -> Settings:
    root = _root(path, "Execution_Parameter_Set")
    leaves: list[ElementTree.Element] = []
    _leaves(root, leaves)
    found = _read(path, leaves, DRIVE, _DRIVE_OPTIONAL, problems)
    problems += of_drive(path, found)
    return found


def _scenarios(path: Path, drive: Settings, problems: list[Problem]) -> list[list[Flow]]:
    before = len(problems)
    scenarios = []
    for scenario in _root(path, "MQSim_IO_Scenarios"):
        if scenario.tag != "IO_Scenario":
            problems.append(_at(path, unknown("no such entry", scenario.tag, ["IO_Scenario"])))
            continue
        flows = [flow for entry in scenario if (flow := _flow(path, entry, drive, problems))]
        scenarios.append(flows)
    if len(problems) == before and not any(scenarios):
        problems.append(
            Problem(code="invalid-content", path=str(path), problem="it has no flow of requests")
        )
    return scenarios


def _flow(
    path: Path, entry: ElementTree.Element, drive: Settings, problems: list[Problem]
) -> Flow | None:
    if entry.tag not in (_SYNTHETIC_TAG, _TRACE_TAG):
        problems.append(_at(path, unknown("no flow is a", entry.tag, [_SYNTHETIC_TAG, _TRACE_TAG])))
        return None
    is_trace = entry.tag == _TRACE_TAG
    known = TRACE if is_trace else SYNTHETIC
    found = _read(path, list(entry), known, _FLOW_OPTIONAL, problems)
    problems += of_flow(path, found, drive)
    texts = {leaf.tag: (leaf.text or "").strip() for leaf in entry}
    return Flow(is_trace, found, texts)


def _root(path: Path, tag: str) -> ElementTree.Element:
    text = path.read_text(encoding="utf-8", errors="replace")
    wrong = Problem(code="invalid-content", path=str(path), hint="give a file of MQSim")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise config_error(
            [{**wrong, "problem": "it declares entities, which no file of MQSim does"}]
        )
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  entities are refused above
    except ElementTree.ParseError as error:
        raise config_error([{**wrong, "problem": f"it is not XML: {error}"}]) from None
    if root.tag != tag:
        problem = f"it is a <{root.tag}> where a <{tag}> was expected"
        raise config_error([{**wrong, "problem": problem}])
    return root


def _leaves(element: ElementTree.Element, leaves: list[ElementTree.Element]) -> None:
    for child in element:
        if child.tag in _TABLES:
            _leaves(child, leaves)
        else:
            leaves.append(child)


def _read(
    path: Path,
    leaves: Sequence[ElementTree.Element],
    known: Mapping[str, Kind],
    optional: set[str],
    problems: list[Problem],
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for leaf in leaves:
        text = (leaf.text or "").strip()
        if leaf.tag not in known:
            problems.append(_at(path, unknown("no such setting", leaf.tag, known)))
        elif leaf.tag in found:
            problems.append(at_setting(path, leaf.tag, "it occurs twice", "give it once"))
        else:
            found[leaf.tag] = _value(path, leaf.tag, text, known[leaf.tag], problems)
    for name in known:
        if name not in optional and name not in found:
            problems.append(at_setting(path, name, "it is missing", "MQSim's sample files have it"))
    return found


def _value(path: Path, name: str, text: str, kind: Kind, problems: list[Problem]) -> Any:
    if isinstance(kind, tuple):
        if text.upper() in kind:
            return text.upper()
        problems.append(
            at_setting(path, name, f'given "{text}"', f"it is one of {', '.join(kind)}")
        )
        return None
    try:
        return kind(text)
    except ValueError:
        wanted = "true or false" if kind is _flag else "a number that is not negative"
        problems.append(at_setting(path, name, f'given "{text}"', f"give {wanted}"))
        return None


def _at(path: Path, problem: Problem) -> Problem:
    return {**problem, "path": str(path)}
