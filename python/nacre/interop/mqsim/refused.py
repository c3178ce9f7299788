"""Finds settings that are valid in MQSim, but for which Nacre cannot build a stack."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nacre.errors import ConfigError, Problem
from nacre.simulate.running import check

_SETTINGS = {
    "run.seed": "Seed",
    "stack.allocation": "Plane_Allocation_Scheme",
    "stack.blocks": "Block_No_Per_Plane",
    "stack.buffer": "Data_Cache_Capacity",
    "stack.bus": "Channel_Transfer_Rate and Flash_Channel_Width",
    "stack.channels": "Flash_Channel_Count",
    "stack.endurance": "Block_PE_Cycles_Limit",
    "stack.erase": "Block_Erase_Latency",
    "stack.garbage_collection.reserve": "GC_Exec_Threshold and Block_No_Per_Plane",
    "stack.garbage_collection.wear_spread": "Static_Wearleveling_Threshold",
    "stack.link": "PCIe_Lane_Bandwidth and PCIe_Lane_Count",
    "stack.mapping.size": "CMT_Capacity",
    "stack.over_provisioning": "Overprovisioning_Ratio",
    "stack.page": "Page_Capacity",
    "stack.pages": "Page_No_Per_Block",
    "stack.planes": "Plane_No_Per_Die",
    "stack.program": "Page_Program_Latency_LSB, _CSB and _MSB",
    "stack.queue.depth": "IO_Queue_Depth",
    "stack.read": "Page_Read_Latency_LSB, _CSB and _MSB",
    "stack.unit": "Page_Capacity",
    "stack.ways": "Chip_No_Per_Channel and Die_No_Per_Chip",
    "workload.arrival.queue_depth": "Average_No_of_Reqs_in_Queue",
    "workload.arrival.rate": "Bandwidth and Average_Request_Size",
    "workload.footprint": "Working_Set_Percentage and Average_Request_Size",
    "workload.request": "Average_Request_Size",
    "workload.requests": "Total_Requests_To_Generate",
}
"""Maps settings of the scenario to the MQSim settings from which they are computed."""


def refused(table: Mapping[str, object]) -> list[Problem]:
    """Returns the errors of `table`, a scenario that was converted from MQSim settings.

    Ignores missing trace files, which may be created later.
    """
    try:
        check(table)
    except ConfigError as error:
        return [_named(problem) for problem in error.problems if not _is_file(problem)]
    return []


def _named(problem: Problem) -> Problem:
    """Returns the error with the name of the MQSim setting and of its equivalent in Nacre."""
    path = problem["path"]
    plain = re.sub(r"workload\.tenant\[\d+\]\.workload", "workload", re.sub(r"\[\d+\]$", "", path))
    settings = _SETTINGS.get(plain, "its settings")
    return Problem(
        code=problem["code"],
        data=problem["data"],
        path=f"{settings}, in Nacre {path}",
        problem=problem["problem"],
        given=problem["given"],
        hint=problem["hint"],
    )


def _is_file(problem: Problem) -> bool:
    return problem["path"].endswith(".file")
