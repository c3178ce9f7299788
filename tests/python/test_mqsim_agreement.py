"""Compares results of MQSim for its default drive with the imported scenario.

The numbers are from MQSim at 7ec40e3 with its `ssdconfig.xml`, with four settings changed: an ideal
mapping table, a cache of 32 MiB, and memory of that cache at 3,200 MT/s in bursts of 8 B. One flow
sends random (seed 798) or sequential requests of 8 KiB for a second.
"""

from __future__ import annotations

from pathlib import Path

import nacre
import pytest
from nacre.interop import mqsim
from nacre.simulate.simulated import mean_ns
from test_mqsim import DRIVE, SYNTHETIC, files

OF_MQSIM = DRIVE | {
    "Enabled_Preconditioning": "false",
    "Data_Cache_Capacity": str(32 << 20),
    "Data_Cache_DRAM_Data_Rate": "3200",
    "Data_Cache_DRAM_Data_Busrt_Size": "8",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
    "Overprovisioning_Ratio": "0.07",
    "Static_Wearleveling_Enabled": "true",
    "Flash_Channel_Count": "8",
    "Chip_No_Per_Channel": "4",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_MSB": "75000",
    "Page_Program_Latency_MSB": "750000",
    "Block_No_Per_Plane": "2048",
    "Page_No_Per_Block": "256",
}
FLOW = SYNTHETIC | {
    "Channel_IDs": "0,1,2,3,4,5,6,7",
    "Chip_IDs": "0,1,2,3",
    "Initial_Occupancy_Percentage": "75",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Stop_Time": "1000000000",
    "Total_Requests_To_Generate": "0",
}


def simulated(folder: Path, reads: int, depth: int, addresses: str) -> nacre.results.Record:
    """Imports the flow with these reads (in percent), depth, and addresses, and runs it."""
    flow = FLOW | {
        "Read_Percentage": str(reads),
        "Average_No_of_Reqs_in_Queue": str(depth),
        "Address_Distribution": addresses,
    }
    device, workload = files(folder, OF_MQSIM, flow)
    drive = mqsim.read_drive(device)
    found = mqsim.translate(drive, mqsim.read_flows(workload, drive)[0])
    (folder / "scenario.toml").write_text(found.text)
    return nacre.run(folder / "scenario.toml")


@pytest.mark.parametrize(
    ("reads", "depth", "addresses", "requests", "response_us", "within"),
    [
        # Results depend on the arbitration of channels and chips. In Nacre, a scheduled read keeps
        # its time.
        (100, 1, "RANDOM_UNIFORM", 9_762, 102, 0.01),
        (100, 4, "RANDOM_UNIFORM", 36_215, 110, 0.01),
        (100, 16, "RANDOM_UNIFORM", 106_206, 150, 0.02),
        (100, 64, "RANDOM_UNIFORM", 162_274, 394, 0.02),
        # Two planes are programmed in parallel.
        (0, 16, "STREAMING", 80_016, 200, 0.01),
        (0, 64, "STREAMING", 80_064, 799, 0.01),
        # With static allocation to planes, some chips are idle while others are busy.
        (0, 16, "RANDOM_UNIFORM", 37_883, 422, 0.04),
        (0, 64, "RANDOM_UNIFORM", 37_931, 1_688, 0.04),
        (70, 1, "RANDOM_UNIFORM", 10_232, 97, 0.06),
        (70, 4, "RANDOM_UNIFORM", 28_652, 139, 0.04),
        (70, 16, "RANDOM_UNIFORM", 67_025, 238, 0.01),
        (70, 64, "RANDOM_UNIFORM", 95_811, 668, 0.01),
    ],
)
def test_an_imported_flow_has_the_results_of_mqsim(
    tmp_path: Path,
    reads: int,
    depth: int,
    addresses: str,
    requests: int,
    response_us: float,
    within: float,
) -> None:
    record = simulated(tmp_path, reads, depth, addresses)
    assert record.requests.completed == pytest.approx(requests, rel=within)
    assert mean_ns(record) == pytest.approx(1e3 * response_us, rel=within)
