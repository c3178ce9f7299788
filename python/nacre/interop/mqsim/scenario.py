"""Converts MQSim settings into a scenario, and lists settings without an equivalent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.base import toml
from nacre.interop.mqsim.contradictions import Settings
from nacre.interop.mqsim.settings import Flow

_SECTOR = 512
_MIB = 1 << 20
_UNITS_MIN = 64
"""Minimum number of mapping units per block for which each plane can have its own write
frontier."""


@dataclass(frozen=True)
class Missing:
    """An MQSim setting without an equivalent or with another meaning in Nacre, and the reason."""

    setting: str
    why: str
    value: str = ""
    """Value of the setting to which the note applies. Empty if the note applies to all values."""

    def __str__(self) -> str:
        return f"{f'{self.setting} {self.value}'.strip()}: {self.why}"


@dataclass(frozen=True)
class Translation:
    """A scenario as a table, and the settings without an equivalent."""

    table: Mapping[str, object]
    missing: tuple[Missing, ...]

    def about(self, setting: str) -> list[str]:
        """Returns the notes about an MQSim setting that apply to all of its values."""
        return [str(each) for each in self.missing if each.setting == setting and not each.value]

    @property
    def text(self) -> str:
        """Returns the scenario as TOML. Comments list the settings without an equivalent."""
        head = ["# From files of MQSim. These settings have no equivalent or another meaning:"]
        head += [f"# - {line}" for line in self.missing]
        return "\n".join(head) + "\n" + toml.document(self.table)


def translate(
    drive: Settings, flows: list[Flow], *, flow: int | None = None, folder: Path = Path()
) -> Translation:
    """Converts the drive and all flows, or one flow (a number from 1), into a scenario.

    Several flows become tenants. Each tenant has an equal part of the drive.
    """
    missing: list[Missing] = []
    if flow is None and len(flows) > 1:
        workload, chosen = _tenants(drive, flows, folder, missing), flows
    else:
        one = flows[(flow or 1) - 1]
        if len(flows) > 1:
            missing.append(
                Missing(f"flows other than the {_nth(flow or 1)}", "only this flow was requested")
            )
        workload, chosen = _workload(one, _capacity(drive), folder, missing), [one]
    stack = _stack(drive, chosen, missing)
    run: dict[str, object] = {"seed": drive["Seed"]}
    occupied = sum(each.settings["Initial_Occupancy_Percentage"] for each in chosen) / len(chosen)
    if drive["Enabled_Preconditioning"] and occupied > 0:
        run["fill"] = {"share": f"{occupied:.6g} %"}
        missing.append(
            Missing(
                "preconditioning",
                "the drive is filled in order; MQSim estimates the valid pages",
            )
        )
    endless = [
        each.settings.get("Stop_Time", 0)
        for each in chosen
        if not each.is_trace and not each.settings["Total_Requests_To_Generate"]
    ]
    if endless:
        run["duration"] = f"{max(endless)} ns"
    for each in chosen:
        _always(drive, each, missing)
    missing = list(dict.fromkeys(missing))
    table: dict[str, object] = {
        "schema": 1,
        "name": "mqsim",
        "workload": workload,
        "stack": stack,
        "run": run,
    }
    return Translation(table, tuple(missing))


def _workload(flow: Flow, capacity: int, folder: Path, missing: list[Missing]) -> dict[str, object]:
    """Returns the workload of one flow on `capacity` bytes."""
    return (_trace if flow.is_trace else _synthetic)(flow.settings, capacity, folder, missing)


def _tenants(
    drive: Settings, flows: list[Flow], folder: Path, missing: list[Missing]
) -> dict[str, object]:
    """Returns a workload with a tenant per flow.

    Each tenant has an equal part of the drive, and accesses the occupied share of its part.

    The occupied parts are contiguous from the first byte, because the initial fill of the drive is
    contiguous.
    """
    mine = _capacity(drive) // len(flows)
    tenants = []
    for number, flow in enumerate(flows, 1):
        share = flow.settings["Initial_Occupancy_Percentage"] / 100 or 1.0
        workload = _workload(flow, mine, folder, missing)
        capacity = max(_MIB, int(mine * share) // _MIB * _MIB)
        tenants.append(
            {"name": f"flow {number}", "capacity": f"{capacity} B", "workload": workload}
        )
    modes = {flow.settings["Device_Level_Data_Caching_Mode"] for flow in flows}
    if len(modes) > 1:
        missing.append(
            Missing("Device_Level_Data_Caching_Mode", "all flows use the mode of the first")
        )
    return {"kind": "tenants", "tenant": tenants}


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _planes_in_all(drive: Settings) -> int:
    chips = drive["Flash_Channel_Count"] * drive["Chip_No_Per_Channel"]
    return int(chips * drive["Die_No_Per_Chip"] * drive["Plane_No_Per_Die"])


def _raw(drive: Settings) -> int:
    pages = drive["Block_No_Per_Plane"] * drive["Page_No_Per_Block"]
    return int(_planes_in_all(drive) * pages * drive["Page_Capacity"])


def _capacity(drive: Settings) -> int:
    return int(_raw(drive) * (1 - drive["Overprovisioning_Ratio"]))


def _in_sequence(flows: list[Flow]) -> bool:
    return {flow.settings.get("Address_Distribution") for flow in flows} == {"STREAMING"}


def _is_by_plane(drive: Settings, flows: list[Flow]) -> bool:
    """Returns whether Nacre assigns pages to planes by address, as MQSim does.

    Returns False if writes are sequential, because all planes are then used in either case. Also
    returns False if a block has fewer than `_UNITS_MIN` mapping units.
    """
    page = drive["Page_Capacity"]
    units = drive["Page_No_Per_Block"] * page // (page & -page)
    return not _in_sequence(flows) and bool(units >= _UNITS_MIN)


def _planes(drive: Settings, flows: list[Flow], missing: list[Missing]) -> int:
    """Returns the number of planes per die in Nacre.

    A die in Nacre represents a chip of MQSim, which operates one die at a time.

    MQSim starts a command only on an idle chip, and a multi-plane command needs pages with equal
    numbers in its planes. Sequential writes to a die satisfy this condition. Random writes rarely
    satisfy it: of 38,000 programs of a saturated drive, 839 used two planes.
    """
    if _is_by_plane(drive, flows):
        missing.append(
            Missing(
                "in MQSim, a chip executes one command at a time",
                "a die represents a chip, and a plane has the "
                "blocks of that plane in all dies of the chip",
            )
        )
        return int(drive["Plane_No_Per_Die"])
    in_sequence = _in_sequence(flows)
    programs = "the planes of a die at once" if in_sequence else "one page at a time"
    missing.append(
        Missing(
            "in MQSim, a chip executes one command at a time",
            f"a die represents a chip and programs {programs}",
        )
    )
    return int(drive["Plane_No_Per_Die"]) if in_sequence else 1


def _allocation(
    drive: Settings, flows: list[Flow], stack: dict[str, object], missing: list[Missing]
) -> None:
    scheme = drive["Plane_Allocation_Scheme"]
    if not _is_by_plane(drive, flows):
        missing.append(
            Missing(
                "Plane_Allocation_Scheme",
                f"superblocks are striped over all dies, channels first, instead of {scheme}",
            )
        )
        missing.append(
            Missing("GC_Exec_Threshold", "the reserve is a number of superblocks, not per plane")
        )
        return
    # In Nacre, a way has only one die, so the position of D has no effect.
    order = str(scheme).replace("D", "").lower()
    allocation: dict[str, object] = {"kind": "static", "order": order}
    stack["allocation"] = allocation
    # A programmed page frees its buffer space, in any order.
    stack["buffer_places"] = "pool"
    if drive["Use_Copyback_for_GC"] and stack["unit"] == stack["page"]:
        allocation["copyback"] = True


def _buffer(drive: Settings, flow: Flow, operation: int, missing: list[Missing]) -> int:
    """Returns the maximum number of bytes that the drive has acknowledged but not yet programmed.

    MQSim's cache sends a new page to flash immediately. At most one page per plane is outstanding.
    """
    if not flow.caches_writes:
        missing.append(
            Missing("writes without a cache", "they complete in a buffer of two operations")
        )
        return 2 * operation
    if "READ" in flow.settings["Device_Level_Data_Caching_Mode"]:
        missing.append(
            Missing("Device_Level_Data_Caching_Mode", "the buffer does not cache data for reads")
        )
    missing.append(
        Missing(
            "Data_Cache_Capacity",
            "the buffer holds a page per plane, MQSim's limit of pages in flight; "
            "data that is overwritten in the meantime is programmed twice",
        )
    )
    on_its_way = drive["Page_Capacity"] * _planes_in_all(drive)
    return int(max(2 * operation, min(drive["Data_Cache_Capacity"], on_its_way)))


def _stack(drive: Settings, flows: list[Flow], missing: list[Missing]) -> dict[str, object]:
    spare = drive["Overprovisioning_Ratio"]
    places = {"SLC": ["LSB"], "MLC": ["LSB", "MSB"], "TLC": ["LSB", "CSB", "MSB"]}
    pages = places[drive["Flash_Technology"]]
    page = drive["Page_Capacity"]
    unit = page & -page
    planes = _planes(drive, flows, missing)
    blocks = drive["Block_No_Per_Plane"] * drive["Die_No_Per_Chip"]
    blocks = blocks * drive["Plane_No_Per_Die"] // planes
    operation = page * planes
    stack: dict[str, object] = {
        "kind": "ssd",
        "channels": drive["Flash_Channel_Count"],
        "ways": drive["Chip_No_Per_Channel"],
        "planes": planes,
        "blocks": blocks,
        "pages": drive["Page_No_Per_Block"],
        "page": f"{page} B",
        "unit": f"{unit} B",
        "read": [f"{drive[f'Page_Read_Latency_{place}']} ns" for place in pages],
        "program": [f"{drive[f'Page_Program_Latency_{place}']} ns" for place in pages],
        "erase": f"{drive['Block_Erase_Latency']} ns",
        # The channel transfers only the requested sectors of a page.
        "transfer": f"{min(_SECTOR, unit)} B",
        "bus": f"{drive['Channel_Transfer_Rate'] * drive['Flash_Channel_Width']} MB/s",
        "over_provisioning": f"{100 * spare / (1 - spare):.6g} %",
        # A chip holds its page until the transfer ends. Transfers have priority over commands.
        "registers": 1,
        "arbitration": "pages_first",
        "garbage_collection": _garbage_collection(drive, blocks, missing),
        "youngest_first": drive["Dynamic_Wearleveling_Enabled"],
        "endurance": drive["Block_PE_Cycles_Limit"],
        "buffer": f"{_buffer(drive, flows[0], operation, missing)} B",
        "link": f"{_link(drive):.6g} GB/s",
    }
    _allocation(drive, flows, stack, missing)
    if drive["Use_Copyback_for_GC"] and "copyback" not in str(stack.get("allocation")):
        missing.append(Missing("Use_Copyback_for_GC", "copies cross the channel"))
    if unit != page:
        missing.append(
            Missing("Page_Capacity", f"the mapping unit is {unit} B, the largest power of two")
        )
    if not drive["Ideal_Mapping_Table"]:
        stack["mapping"] = _cached_mapping(drive, stack, page)
    if drive["HostInterface_Type"] == "SATA":
        stack["queue"] = {"kind": "shared", "depth": drive["IO_Queue_Depth"]}
    _suspension(drive, stack, missing)
    return stack


def _cached_mapping(drive: Settings, stack: dict[str, object], page: int) -> dict[str, object]:
    """Returns the settings of a mapping table with a cache of single entries.

    An entry of the table contains a flash page number, and a bit for each sector of 512 B. A cached
    entry also contains its LPN. A miss reads one sector of the table.
    """
    sizes = ("channels", "ways", "planes", "blocks", "pages")
    pages = math.prod(int(str(stack[size])) for size in sizes)
    number, sectors = math.log2(pages), page // _SECTOR
    entry = math.ceil((number + sectors) / 8)
    cached = max(1, drive["CMT_Capacity"] // math.ceil((2 * number + sectors) / 8))
    return {"kind": "cached_entries", "size": f"{cached * entry} B", "entry": f"{entry} B"}


def _garbage_collection(drive: Settings, blocks: int, missing: list[Missing]) -> dict[str, object]:
    """Returns the garbage-collection settings for planes with this number of blocks."""
    exec_reserve = math.ceil(drive["GC_Exec_Threshold"] * blocks)
    found: dict[str, object] = {"policy": _policy(drive, missing), "reserve": max(4, exec_reserve)}
    if drive["Preemptible_GC_Enabled"]:
        reserve = max(4, math.ceil(drive["GC_Hard_Threshold"] * blocks))
        found |= {"reserve": reserve, "idle_reserve": max(1, exec_reserve - reserve)}
        missing.append(
            Missing("Preemptible_GC_Enabled", "here, a request stops GC until the drive is idle")
        )
    if drive["Static_Wearleveling_Enabled"] and drive["Static_Wearleveling_Threshold"]:
        found["wear_spread"] = drive["Static_Wearleveling_Threshold"]
    return found


def _link(drive: Settings) -> float:
    if drive["HostInterface_Type"] == "SATA":
        return 0.6
    return float(drive["PCIe_Lane_Bandwidth"] * drive["PCIe_Lane_Count"])


def _policy(drive: Settings, missing: list[Missing]) -> object:
    policy = drive["GC_Block_Selection_Policy"]
    if policy in ("GREEDY", "FIFO"):
        return policy.lower()
    if policy == "RGA":
        choices = max(1, int(math.log2(drive["Block_No_Per_Plane"])))
        return {"kind": "d_choices", "d": choices}
    missing.append(
        Missing("GC_Block_Selection_Policy", "replaced by a random choice", value=policy)
    )
    return {"kind": "d_choices", "d": 1}


def _suspension(drive: Settings, stack: dict[str, object], missing: list[Missing]) -> None:
    support = drive["CMD_Suspension_Support"]
    if support == "NONE":
        return
    if support == "ERASE":
        missing.append(Missing("CMD_Suspension_Support", "nothing is suspended", value="ERASE"))
        return
    stack["scheduling"] = {
        "kind": "suspension",
        "suspend": f"{drive['Suspend_Program_Time']} ns",
    }
    if support == "PROGRAM":
        missing.append(
            Missing("CMD_Suspension_Support", "erases are also suspended", value="PROGRAM")
        )
    elif drive["Suspend_Erase_Time"] != drive["Suspend_Program_Time"]:
        missing.append(Missing("Suspend_Erase_Time", "erases are suspended as fast as programs"))


def _always(drive: Settings, flow: Flow, missing: list[Missing]) -> None:
    """Records the settings that have no equivalent for any of their values.

    If there is a substitute, the note describes it.
    """
    whole = {
        "Channel_IDs": "Flash_Channel_Count",
        "Chip_IDs": "Chip_No_Per_Channel",
        "Die_IDs": "Die_No_Per_Chip",
        "Plane_IDs": "Plane_No_Per_Die",
    }
    missing += [
        Missing(name, "every die serves all data")
        for name, most in whole.items()
        if len(set(flow.settings[name])) < drive[most]
    ]
    missing.append(
        Missing("Transaction_Scheduling_Policy", "reads go before programs and erases on their die")
    )
    if flow.caches_writes and flow.settings.get("Read_Percentage") != 100:
        missing.append(_memory(drive))
    if flow.settings["Priority_Class"] != "HIGH":
        missing.append(Missing("Priority_Class", "there is one class"))
    if drive["Address_Mapping"] == "HYBRID":
        missing.append(Missing("Address_Mapping", "the mapping is by page", value="HYBRID"))


def _memory(drive: Settings) -> Missing:
    """Returns a note that Nacre does not model the DRAM bandwidth of MQSim's cache."""
    burst = drive.get("Data_Cache_DRAM_Data_Busrt_Size") or drive.get(
        "Data_Cache_DRAM_Data_Burst_Size"
    )
    if not burst or not drive["Data_Cache_DRAM_Data_Rate"]:
        return Missing("Data_Cache_DRAM_*", "the buffer adds no latency")
    first = drive["Data_Cache_DRAM_tRCD"] + drive["Data_Cache_DRAM_tCL"]
    bursts = drive["Page_Capacity"] // burst // 2
    us = (first + bursts * 1e3 / drive["Data_Cache_DRAM_Data_Rate"]) / 1e3
    return Missing(
        "Data_Cache_DRAM_*", f"the buffer adds no latency; in MQSim, a page takes {us:.3g} us"
    )


def _synthetic(
    flow: Settings, capacity: int, _folder: Path, missing: list[Missing]
) -> dict[str, object]:
    request = flow["Average_Request_Size"] * _SECTOR
    share = flow["Initial_Occupancy_Percentage"] * flow["Working_Set_Percentage"] / 10_000
    footprint = max(request, int(capacity * share) // request * request)
    kinds = {"RANDOM_HOTCOLD": "hot_cold", "STREAMING": "sequential"}
    workload: dict[str, object] = {
        "kind": kinds.get(flow["Address_Distribution"], "uniform"),
        "requests": flow["Total_Requests_To_Generate"] or 2**53,
        "footprint": f"{footprint} B",
        "request": f"{request} B",
        "read_share": f"{flow['Read_Percentage']} %",
    }
    if flow["Address_Distribution"] == "RANDOM_HOTCOLD":
        hot = flow["Percentage_of_Hot_Region"]
        workload["locality"] = f"{hot}/{100 - hot}"
    if flow["Request_Size_Distribution"] == "NORMAL":
        missing.append(
            Missing("Request_Size_Distribution", "every request has the mean size", value="NORMAL")
        )
    if flow["Synthetic_Generator_Type"] == "QUEUE_DEPTH":
        depth = flow["Average_No_of_Reqs_in_Queue"]
        workload["arrival"] = {"kind": "closed", "queue_depth": depth}
    else:
        rate = flow.get("Bandwidth", flow.get("Intensity", 0)) / request
        workload["arrival"] = {"kind": "poisson", "rate": f"{rate:.6g} /s"}
    return workload


def _trace(
    flow: Settings, _capacity: int, folder: Path, missing: list[Missing]
) -> dict[str, object]:
    units = {"NANOSECOND": "ns", "MICROSECOND": "us", "PICOSECOND": "ns"}
    workload: dict[str, Any] = {
        "kind": "trace",
        "file": str(folder / flow["File_Path"].replace("\\", "/")),
        "format": "ssdsim",
        "time_unit": units[flow["Time_Unit"]],
        "placement": "compact",
    }
    missing.append(
        Missing(
            "addresses of the trace", "extents lie side by side; MQSim takes them modulo the drive"
        )
    )
    if flow["Time_Unit"] == "PICOSECOND":
        missing.append(Missing("Time_Unit", "read as nanoseconds", value="PICOSECOND"))
    if flow["Percentage_To_Be_Executed"] != 100:
        missing.append(
            Missing("Percentage_To_Be_Executed", "the full trace is run; set run.requests")
        )
    if flow.get("Relay_Count", 1) != 1:
        missing.append(Missing("Relay_Count", "the trace runs once"))
    return workload
