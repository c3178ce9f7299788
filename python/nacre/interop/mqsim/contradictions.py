"""Finds settings of MQSim that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from nacre.errors import SEED_MAX, Problem

Settings: TypeAlias = Mapping[str, Any]
"""Values by name. A value with an error is None."""

_NOT_ZERO = (
    "Flash_Channel_Count",
    "Flash_Channel_Width",
    "Channel_Transfer_Rate",
    "Chip_No_Per_Channel",
    "Die_No_Per_Chip",
    "Plane_No_Per_Die",
    "Block_No_Per_Plane",
    "Page_No_Per_Block",
    "Page_Capacity",
    "IO_Queue_Depth",
    "PCIe_Lane_Bandwidth",
    "PCIe_Lane_Count",
)
_LISTS = {
    "Channel_IDs": "Flash_Channel_Count",
    "Chip_IDs": "Chip_No_Per_Channel",
    "Die_IDs": "Die_No_Per_Chip",
    "Plane_IDs": "Plane_No_Per_Die",
}
"""Maps each setting of a flow that lists resources to the drive's setting with the number of these
resources."""

_ASKED = {
    "Average_Request_Size": "requests need at least one byte",
    "Working_Set_Percentage": "requests need at least one byte",
    "Initial_Occupancy_Percentage": "a generated flow accesses only occupied space",
}
"""Settings that must not be 0 for a generated flow, with reasons."""


def of_drive(path: Path, drive: Settings) -> list[Problem]:
    """Returns contradictions in the settings of a drive that was read from `path`."""
    found = []
    for name in _NOT_ZERO:
        if drive.get(name) == 0:
            found.append(at_setting(path, name, "it is 0, and a drive has some", "give at least 1"))
    if (seed := drive.get("Seed")) is not None and seed > SEED_MAX:
        found.append(at_setting(path, "Seed", f"given {seed}", f"give at most {SEED_MAX}"))
    if drive.get("Static_Wearleveling_Enabled") and drive.get("Static_Wearleveling_Threshold") == 0:
        problem = "it is 0, and Static_Wearleveling_Enabled is true"
        hint = "give erases, or turn static wear leveling off"
        found.append(at_setting(path, "Static_Wearleveling_Threshold", problem, hint))
    scheme = drive.get("Plane_Allocation_Scheme")
    if scheme is not None and sorted(scheme) != list("CDPW"):
        problem = f'given "{scheme}"'
        found.append(
            at_setting(path, "Plane_Allocation_Scheme", problem, "give an order of C, W, D and P")
        )
    hard, soft = drive.get("GC_Hard_Threshold"), drive.get("GC_Exec_Threshold")
    is_preempted = drive.get("Preemptible_GC_Enabled")
    if is_preempted and hard is not None and soft is not None and hard >= soft:
        problem = f"it is {hard}, not below GC_Exec_Threshold, {soft}"
        found.append(at_setting(path, "GC_Hard_Threshold", problem, "lower it"))
    if soft is not None and not 0 < soft < 1:
        problem = f"garbage collection starts at {soft} of the blocks"
        found.append(at_setting(path, "GC_Exec_Threshold", problem, "give a share between 0 and 1"))
    if (spare := drive.get("Overprovisioning_Ratio")) is not None and not 0 < spare < 1:
        problem = f"{spare} of the flash is reserved"
        found.append(
            at_setting(path, "Overprovisioning_Ratio", problem, "give a share between 0 and 1")
        )
    return found


def of_flow(path: Path, flow: Settings, drive: Settings) -> list[Problem]:
    """Returns contradictions in the settings of a flow from the file `path`, on the drive `drive`.

    Ignores limits from drive settings that have errors.
    """
    found = []
    for name, most in _LISTS.items():
        ids = flow.get(name) or ()
        count = drive.get(most)
        if count and (stray := [number for number in ids if number >= count]):
            problem = f"it names {stray[0]}, and {most} is {count}"
            found.append(at_setting(path, name, problem, f"name 0 to {count - 1}"))
        if twice := [number for number in ids if ids.count(number) > 1]:
            problem = f"it names {twice[0]} more than once"
            found.append(at_setting(path, name, problem, "name each once"))
    for name, value in flow.items():
        if "Percentage" in name and isinstance(value, int) and value > 100:
            found.append(at_setting(path, name, f"given {value}", "give 0 to 100"))
    found += [at_setting(path, *wrong) for wrong in _of_generator(flow)]
    return found


def at_setting(path: Path, name: str, problem: str, hint: str) -> Problem:
    """Returns an error in the setting `name` of the file at `path`."""
    return Problem(code="conflicting-settings", path=f"{path}: {name}", problem=problem, hint=hint)


def _of_generator(flow: Settings) -> Iterator[tuple[str, str, str]]:
    """Yields setting, problem, and remedy if a generated flow has no requests or never ends."""
    for name, what in _ASKED.items():
        if flow.get(name) == 0:
            yield name, f"it is 0, and {what}", "give at least 1"
    kind = flow.get("Synthetic_Generator_Type")
    if kind == "QUEUE_DEPTH" and flow.get("Average_No_of_Reqs_in_Queue") == 0:
        problem = "it is 0, and Synthetic_Generator_Type is QUEUE_DEPTH: there are no requests"
        yield "Average_No_of_Reqs_in_Queue", problem, "give at least 1"
    if kind == "BANDWIDTH" and not flow.get("Bandwidth", flow.get("Intensity")):
        problem = "it is not above 0, and Synthetic_Generator_Type is BANDWIDTH"
        yield "Bandwidth", problem, "give bytes a second, or use QUEUE_DEPTH"
    if flow.get("Total_Requests_To_Generate") == 0 and flow.get("Stop_Time") == 0:
        problem = "it is 0, and so is Stop_Time: the flow never ends"
        yield "Total_Requests_To_Generate", problem, "give one of them"
    if flow.get("Address_Distribution") == "RANDOM_HOTCOLD":
        hot = flow.get("Percentage_of_Hot_Region", 0)
        if hot is not None and not 0 < hot < 100:
            problem = f"the hot region is {hot} % with Address_Distribution RANDOM_HOTCOLD"
            yield "Percentage_of_Hot_Region", problem, "give 1 to 99, or use RANDOM_UNIFORM"
