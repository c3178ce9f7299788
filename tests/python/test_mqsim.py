"""Tests the conversion of MQSim files into scenarios."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import nacre
import pytest
from nacre.interop import mqsim
from nacre.interop.mqsim import settings
from refusing import fails_with

DRIVE = {
    "PCIe_Lane_Bandwidth": "1.0",
    "PCIe_Lane_Count": "4",
    "Seed": "321",
    "Enabled_Preconditioning": "true",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": "65535",
    "Queue_Fetch_Size": "512",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": "1048576",
    "Data_Cache_DRAM_Row_Size": "8192",
    "Data_Cache_DRAM_Data_Rate": "800",
    "Data_Cache_DRAM_tRCD": "13",
    "Data_Cache_DRAM_tCL": "13",
    "Data_Cache_DRAM_tRP": "13",
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": "2097152",
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "Overprovisioning_Ratio": "0.2",
    "GC_Exec_Threshold": "0.05",
    "GC_Block_Selection_Policy": "RGA",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "false",
    "GC_Hard_Threshold": "0.005",
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Threshold": "100",
    "Preferred_suspend_erase_time_for_read": "700000",
    "Preferred_suspend_erase_time_for_write": "700000",
    "Preferred_suspend_write_time_for_read": "100000",
    "Flash_Channel_Count": "2",
    "Flash_Channel_Width": "1",
    "Channel_Transfer_Rate": "333",
    "Chip_No_Per_Channel": "2",
    "Flash_Comm_Protocol": "NVDDR2",
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "NONE",
    "Page_Read_Latency_LSB": "75000",
    "Page_Read_Latency_CSB": "75000",
    "Page_Read_Latency_MSB": "80000",
    "Page_Program_Latency_LSB": "750000",
    "Page_Program_Latency_CSB": "750000",
    "Page_Program_Latency_MSB": "900000",
    "Block_Erase_Latency": "3800000",
    "Block_PE_Cycles_Limit": "10000",
    "Suspend_Erase_Time": "700000",
    "Suspend_Program_Time": "100000",
    "Die_No_Per_Chip": "2",
    "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "64",
    "Page_No_Per_Block": "32",
    "Page_Capacity": "8192",
}
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1",
    "Die_IDs": "0,1",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": "70",
}
SYNTHETIC = FLOW | {
    "Working_Set_Percentage": "50",
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": "100",
    "Address_Distribution": "UNIFORM_RANDOM",
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": "16",
    "Seed": "798",
    "Average_No_of_Reqs_in_Queue": "4",
    "Stop_Time": "10000000000",
    "Total_Requests_To_Generate": "500",
}
TRACE = FLOW | {
    "File_Path": "traces\\small.trace",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
}


def _xml(tag: str, settings: dict[str, str]) -> str:
    return f"<{tag}>{''.join(f'<{k}>{v}</{k}>' for k, v in settings.items())}</{tag}>"


def files(
    folder: Path, drive: dict[str, str], *flows: dict[str, str], trace: bool = False
) -> tuple[Path, Path]:
    """Writes the two files of MQSim, with all flows in one I/O scenario. Returns their paths."""
    device, workload = folder / "ssd.xml", folder / "workload.xml"
    tables = _xml("Device_Parameter_Set", drive)
    device.write_text(f"<Execution_Parameter_Set>{tables}</Execution_Parameter_Set>")
    tag = f"IO_Flow_Parameter_Set_{'Trace_Based' if trace else 'Synthetic'}"
    entries = "".join(_xml(tag, flow) for flow in flows)
    scenario = f"<IO_Scenario>{entries}</IO_Scenario>"
    workload.write_text(f"<MQSim_IO_Scenarios>{scenario}</MQSim_IO_Scenarios>")
    return device, workload


def _translated(folder: Path, *flows: dict[str, str], trace: bool = False) -> mqsim.Translation:
    device, workload = files(folder, DRIVE, *flows, trace=trace)
    drive = mqsim.read_drive(device)
    return mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])


def test_a_drive_and_a_generated_flow_become_a_scenario_that_runs(tmp_path: Path) -> None:
    found = _translated(tmp_path, SYNTHETIC)
    table = tomllib.loads(found.text)
    stack, workload = table["stack"], table["workload"]
    # A chip executes one command at a time. For random writes, it programs one page.
    assert (stack["channels"], stack["ways"], stack["planes"]) == (2, 2, 1)
    assert (stack["blocks"], stack["page"], stack["bus"]) == (4 * 64, "8192 B", "333 MB/s")
    # The buffer holds one page for each of sixteen planes.
    assert stack["buffer"] == f"{16 * 8192} B"
    assert stack["read"] == ["75000 ns", "80000 ns"]
    assert stack["program"] == ["750000 ns", "900000 ns"]
    assert stack["over_provisioning"] == "25 %"
    assert (stack["registers"], stack["arbitration"]) == (1, "pages_first")
    assert stack["garbage_collection"] == {
        "policy": {"kind": "d_choices", "d": 6},
        "reserve": 13,
    }
    # The capacity is 0.8 of 256 MiB. 70 % of it is occupied, and half of the occupied part is
    # accessed with requests of 8 KiB.
    assert workload["footprint"] == f"{int(2**28 * 0.8 * 0.35) // 8192 * 8192} B"
    assert workload["arrival"] == {"kind": "closed", "queue_depth": 4}
    assert table["run"]["fill"] == {"share": "70 %"}
    (tmp_path / "found.toml").write_text(found.text)
    record = nacre.run(tmp_path / "found.toml")
    assert record.requests.reads == 500
    assert record.components[0].counters["unwritten_reads"] == 0
    # Without other requests, a read takes 77.5 us on average, and 8 KiB take 24.6 us on a channel.
    assert record.latency.read is not None
    assert record.latency.read.mean_ns > 102_000


def test_preemptible_garbage_collection_has_two_thresholds(tmp_path: Path) -> None:
    preempted = DRIVE | {"Preemptible_GC_Enabled": "true", "GC_Exec_Threshold": "0.12"}
    device, workload = files(tmp_path, preempted, SYNTHETIC)
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])
    # The thresholds are 0.5 % and 12 % of the 256 blocks of a chip. At least four blocks stay
    # erased.
    stack = found.table["stack"]
    assert isinstance(stack, dict)
    collection = stack["garbage_collection"]
    assert (collection["reserve"], collection["idle_reserve"]) == (4, 27)
    (tmp_path / "found.toml").write_text(found.text)
    assert nacre.run(tmp_path / "found.toml").requests.reads == 500


def test_pages_are_placed_by_address_if_blocks_are_large_enough(
    tmp_path: Path,
) -> None:
    large = DRIVE | {
        "Page_No_Per_Block": "64",
        "Plane_Allocation_Scheme": "PDWC",
        "Use_Copyback_for_GC": "true",
    }
    writes = SYNTHETIC | {"Read_Percentage": "0"}
    device, workload = files(tmp_path, large, writes)
    drive = mqsim.read_drive(device)
    flows = mqsim.read_flows(workload, drive)[0]
    found = mqsim.translate(drive, flows)
    stack = found.table["stack"]
    assert isinstance(stack, dict)
    assert stack["allocation"]["kind"] == "static"
    assert stack["allocation"]["order"] == "pwc"
    # A chip becomes a die. Each plane of this die has the blocks of the planes of two dies.
    assert (stack["planes"], stack["blocks"]) == (2, 128)
    assert stack["garbage_collection"]["reserve"] == 7
    assert stack["allocation"]["copyback"] is True
    assert not found.about("Plane_Allocation_Scheme") + found.about("Use_Copyback_for_GC")
    (tmp_path / "found.toml").write_text(found.text)
    assert nacre.run(tmp_path / "found.toml").requests.writes == 500
    # With a mapping table in flash, pages are also assigned to planes.
    cached = large | {"Ideal_Mapping_Table": "false", "CMT_Capacity": "8192"}
    device, workload = files(tmp_path, cached, writes)
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])
    assert not found.about("Plane_Allocation_Scheme")
    (tmp_path / "cached.toml").write_text(found.text)
    record = nacre.run(tmp_path / "cached.toml")
    assert record.requests.writes == 500
    assert record.components[0].counters["mapping_misses"] > 0
    # A cache that is larger than the table holds the whole table.
    device, workload = files(tmp_path, cached | {"CMT_Capacity": "2097152"}, writes)
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])
    (tmp_path / "whole.toml").write_text(found.text)
    record = nacre.run(tmp_path / "whole.toml")
    assert record.requests.writes == 500
    assert record.components[0].counters["units_mapping"] == 0
    # Sequential writes use superblocks.
    device, workload = files(tmp_path, large, writes | {"Address_Distribution": "STREAMING"})
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])
    assert "allocation" not in str(found.table["stack"])
    assert found.about("Plane_Allocation_Scheme")


def test_a_trace_of_mqsim_can_be_replayed(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    lines = [f"{number * 1000000} 0 {number * 16} 16 {number % 2}" for number in range(50)]
    (tmp_path / "traces" / "small.trace").write_text("\n".join(lines) + "\n")
    found = _translated(tmp_path, TRACE, trace=True)
    (tmp_path / "found.toml").write_text(found.text)
    record = nacre.run(tmp_path / "found.toml")
    assert (record.requests.reads, record.requests.writes) == (25, 25)


def test_settings_without_an_equivalent_are_named(tmp_path: Path) -> None:
    strange = SYNTHETIC | {
        "Priority_Class": "URGENT",
        "Channel_IDs": "0",
        "Request_Size_Distribution": "NORMAL",
    }
    found = _translated(tmp_path, strange, SYNTHETIC)
    said = "\n".join(map(str, found.missing))
    for name in ("Priority_Class", "Channel_IDs", "Request_Size", "CWDP"):
        assert name in said, said
    assert all(f"# - {line}" in found.text for line in found.missing)


def test_all_errors_are_reported_together(tmp_path: Path) -> None:
    wrong = DRIVE | {
        "Flash_Channel_Cout": "8",
        "Flash_Technology": "PLC",
        "Overprovisioning_Ratio": "1.5",
        "Plane_Allocation_Scheme": "CWDD",
        "Preemptible_GC_Enabled": "true",
        "GC_Hard_Threshold": "0.5",
        "GC_Exec_Threshold": "1.25",
        "Page_Capacity": "zero",
    }
    del wrong["Seed"]
    device, _ = files(tmp_path, wrong, SYNTHETIC)
    with pytest.raises(nacre.errors.ConfigError) as caught:
        mqsim.read_drive(device)
    said = str(caught.value)
    for words in (
        'no such setting "Flash_Channel_Cout"; did you mean "Flash_Channel_Count"?',
        "Flash_Technology: given",
        "Overprovisioning_Ratio: 1.5 of the flash is reserved",
        "Plane_Allocation_Scheme",
        "GC_Exec_Threshold: garbage collection starts at 1.25 of the blocks",
        'Page_Capacity: given "zero"; give a number',
        "Seed: it is missing",
    ):
        assert words in said, said


def test_preemptible_garbage_collection_starts_early(tmp_path: Path) -> None:
    wrong = DRIVE | {"Preemptible_GC_Enabled": "true", "GC_Hard_Threshold": "0.5"}
    device, _ = files(tmp_path, wrong, SYNTHETIC)
    with pytest.raises(nacre.errors.ConfigError, match=r"0\.5, not below GC_Exec_Threshold, 0\.05"):
        mqsim.read_drive(device)


def test_flows_without_requests_or_without_an_end_are_rejected(tmp_path: Path) -> None:
    idle = SYNTHETIC | {
        "Average_Request_Size": "0",
        "Working_Set_Percentage": "0",
        "Read_Percentage": "150",
        "Average_No_of_Reqs_in_Queue": "0",
        "Stop_Time": "0",
        "Total_Requests_To_Generate": "0",
        "Address_Distribution": "RANDOM_HOTCOLD",
        "Channel_IDs": "0,0",
    }
    paced = SYNTHETIC | {"Synthetic_Generator_Type": "BANDWIDTH"}
    device, workload = files(tmp_path, DRIVE, idle, paced)
    with pytest.raises(nacre.errors.ConfigError) as caught:
        mqsim.read_flows(workload, mqsim.read_drive(device))
    said = str(caught.value)
    for words in (
        "Average_Request_Size: it is 0",
        "Working_Set_Percentage: it is 0",
        "Read_Percentage: given 150; give 0 to 100",
        "Average_No_of_Reqs_in_Queue: it is 0",
        "Total_Requests_To_Generate: it is 0, and so is Stop_Time",
        "Percentage_of_Hot_Region: the hot region is 0 %",
        "Channel_IDs: it names 0 more than once",
        "Bandwidth: it is not above 0",
    ):
        assert words in said, said


def test_flows_outside_the_drive_and_other_files_are_rejected(tmp_path: Path) -> None:
    device, workload = files(tmp_path, DRIVE, SYNTHETIC | {"Chip_IDs": "0,1,2"})
    drive = mqsim.read_drive(device)
    with pytest.raises(
        nacre.errors.ConfigError, match="Chip_IDs: it names 2, and Chip_No_Per_Channel is 2"
    ):
        mqsim.read_flows(workload, drive)
    with pytest.raises(
        nacre.errors.ConfigError, match="where a <Execution_Parameter_Set> was expected"
    ):
        mqsim.read_drive(workload)
    device.write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><Execution_Parameter_Set/>")
    with fails_with("invalid-content", nacre.errors.ConfigError):
        mqsim.read_drive(device)
    device.write_text("{}")
    with fails_with("invalid-content", nacre.errors.ConfigError):
        mqsim.read_drive(device)


RESULTS = """<MQSim_Results><Host><Host.IO_Flow><Name>flow</Name><Request_Count>500</Request_Count>
<IOPS_Read>38000</IOPS_Read><IOPS_Write>0</IOPS_Write>
<Device_Response_Time>104</Device_Response_Time></Host.IO_Flow></Host></MQSim_Results>"""


def test_both_simulators_run_one_flow_if_mqsim_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device, workload = files(tmp_path, DRIVE, SYNTHETIC, SYNTHETIC | {"Read_Percentage": "0"})
    drive = mqsim.read_drive(device)
    flows = mqsim.read_flows(workload, drive)[0]
    found = mqsim.translate(drive, flows, flow=1)
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    with fails_with("missing-program"):
        mqsim.compare(device, flows[0], found, tmp_path)
    program = programs / "MQSim"
    given = f'cp "$4" {tmp_path}/given.xml'
    results = f'cat > "${{4%.xml}}_scenario_1.xml" <<END\n{RESULTS}\nEND'
    program.write_text(f"#!/bin/sh\n{given}\n{results}\n")
    program.chmod(0o755)
    rows = {row.name: row for row in mqsim.compare(device, flows[0], found, tmp_path)}
    assert (tmp_path / "given.xml").read_text().count("<IO_Flow_Parameter_Set_Synthetic>") == 1
    assert rows["requests"].nacre == 500
    assert rows["requests"].difference == 0
    reads = rows["reads a second"]
    assert reads.mqsim == 38_000
    assert reads.difference == pytest.approx(reads.nacre / 38_000 - 1)
    assert "reads agree" in rows["reads a second"].because
    assert "writes a second" not in rows, "neither writes"
    assert rows["processor time, s"].nacre > 0
    program.write_text("#!/bin/sh\necho no such geometry >&2\nexit 3\n")
    with pytest.raises(nacre.errors.Error, match="wrote no results; it printed: no such geometry"):
        mqsim.compare(device, flows[0], found, tmp_path)


def test_all_flows_of_a_scenario_are_tenants(tmp_path: Path) -> None:
    busy = SYNTHETIC | {"Average_No_of_Reqs_in_Queue": "16", "Read_Percentage": "50"}
    found = _translated(tmp_path, SYNTHETIC, busy)
    table = tomllib.loads(found.text)
    assert table["workload"]["kind"] == "tenants"
    assert [tenant["name"] for tenant in table["workload"]["tenant"]] == ["flow 1", "flow 2"]
    raw = 2 * 2 * 2 * 2 * 64 * 32 * 8192
    part = int(int(raw * 0.8) // 2 * 0.7) // 2**20 * 2**20
    assert [tenant["capacity"] for tenant in table["workload"]["tenant"]] == [f"{part} B"] * 2
    assert table["run"]["fill"] == {"share": "70 %"}
    path = tmp_path / "both.toml"
    path.write_text(found.text)
    record = nacre.run(path)
    assert [tenant.requests for tenant in record.tenants] == [500, 500]
    few, many = (tenant.latency.read for tenant in record.tenants)
    assert few is not None
    assert many is not None
    assert record.components[0].counters["unwritten_reads"] == 0


def test_one_selected_flow_has_a_note_about_the_others(tmp_path: Path) -> None:
    device, workload = files(tmp_path, DRIVE, SYNTHETIC, SYNTHETIC)
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0], flow=2)
    assert "flows other than the second: only this flow was requested" in map(str, found.missing)
    assert tomllib.loads(found.text)["workload"]["kind"] == "uniform"


def test_errors_of_both_files_are_reported_in_the_order_of_the_settings(
    tmp_path: Path,
) -> None:
    missing = ("Flash_Channel_Count", "Seed", "Die_No_Per_Chip")
    drive = {name: value for name, value in DRIVE.items() if name not in missing}
    flow = SYNTHETIC | {"Read_Percentage": "140"}
    device, workload = files(tmp_path, drive | {"Nonsense": "3"}, flow)
    with pytest.raises(nacre.errors.ConfigError) as caught:
        mqsim.read(device, workload)
    told = [problem["path"].split(": ")[-1] for problem in caught.value.problems]
    assert told[0] == str(device)
    in_order = [name for name in settings.DRIVE if name in missing]
    assert told[1:-1] == in_order
    assert told[-1] == "Read_Percentage"


def test_settings_without_a_possible_stack_are_named_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    wrong = {
        "Block_Erase_Latency": "0",
        "Block_No_Per_Plane": "99999999",
        "Block_PE_Cycles_Limit": "0",
        "Page_Capacity": "1048576000",
        "Page_Read_Latency_LSB": "99999999999999999999",
    }
    flow = SYNTHETIC | {
        "Average_No_of_Reqs_in_Queue": "99999999",
        "Synthetic_Generator_Type": "QUEUE_DEPTH",
    }
    device, workload = files(tmp_path, DRIVE | wrong, flow)
    made = tmp_path / "made.toml"
    words = ["import", "mqsim", str(device), str(workload), "-o", str(made)]
    done = subprocess.run([sys.executable, "-m", "nacre", *words], capture_output=True, text=True)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    for name in (*wrong, "Average_No_of_Reqs_in_Queue"):
        assert name in said, said
    assert "Block_Erase_Latency, in Nacre stack.erase" in said
    assert not made.exists()


def test_impossible_numbers_of_a_drive_or_a_flow_are_rejected(tmp_path: Path) -> None:
    numbers = {
        "IO_Queue_Depth": "0",
        "PCIe_Lane_Bandwidth": "0",
        "PCIe_Lane_Count": "0",
        "Seed": "99999999999999999999",
        "Static_Wearleveling_Enabled": "true",
        "Static_Wearleveling_Threshold": "0",
    }
    flow = SYNTHETIC | {"Initial_Occupancy_Percentage": "0"}
    device, workload = files(tmp_path, DRIVE | numbers, flow)
    with pytest.raises(nacre.errors.ConfigError) as caught:
        mqsim.read(device, workload)
    told = {problem["path"].split(": ")[-1] for problem in caught.value.problems}
    assert told == (numbers.keys() | {"Initial_Occupancy_Percentage"}) - {
        "Static_Wearleveling_Enabled"
    }
