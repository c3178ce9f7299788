"""The same flow in MQSim and here, side by side."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from nacre.errors import Error
from nacre.mqsim.scenario import Translation
from nacre.mqsim.settings import Flow
from nacre.record import Record
from nacre.run import run
from nacre.simulated import mean_ns

PROGRAM = "MQSim"
_TIMEOUT_S = 3600
_TAGS = {True: "IO_Flow_Parameter_Set_Trace_Based", False: "IO_Flow_Parameter_Set_Synthetic"}


@dataclass(frozen=True)
class Row:
    """A number of both, and why they may differ."""

    name: str
    mqsim: float
    nacre: float
    because: str

    @property
    def difference(self) -> float:
        """How far ours is from MQSim's, as a share of that."""
        return self.nacre / self.mqsim - 1 if self.mqsim else math.nan


def program() -> str:
    """Where MQSim is; raises `Error` if it is not on the path."""
    if found := shutil.which(PROGRAM):
        return found
    raise Error(f"there is no {PROGRAM} on the path; build it and put its folder into PATH")


def compare(drive: Path, flow: Flow, found: Translation, folder: Path) -> list[Row]:
    """Runs both. Traces are looked for in `folder`, where the workload lies."""
    theirs = _served(drive, flow, folder)
    with tempfile.TemporaryDirectory() as place:
        scenario = Path(place) / "scenario.toml"
        scenario.write_text(found.text)
        record = run(scenario)
    return _rows(theirs, record, flow)


def _served(drive: Path, flow: Flow, folder: Path) -> dict[str, float]:
    """What MQSim says of one flow alone."""
    with tempfile.TemporaryDirectory() as place:
        workload = Path(place) / "workload.xml"
        workload.write_text(_alone(flow))
        # MQSim waits for a key at its end, and reads its configuration beside itself.
        config = Path(place) / "ssd.xml"
        config.write_bytes(drive.read_bytes())
        arguments = [program(), "-i", str(config), "-w", str(workload)]
        done = subprocess.run(  # noqa: S603  the program that the user put on the path
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=folder,
            timeout=_TIMEOUT_S,
            check=False,
        )
        results = Path(place) / "workload_scenario_1.xml"
        if not results.exists():
            said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            last = said[-1] if said else f"nothing, and ended in {done.returncode}"
            raise Error(f"{PROGRAM} wrote no results; it said: {last}")
        return _numbers(results.read_text(encoding="utf-8", errors="replace"))


def _alone(flow: Flow) -> str:
    """A workload with this flow and no other."""
    root = ElementTree.Element("MQSim_IO_Scenarios")
    scenario = ElementTree.SubElement(root, "IO_Scenario")
    entry = ElementTree.SubElement(scenario, _TAGS[flow.is_trace])
    for name, text in flow.texts.items():
        ElementTree.SubElement(entry, name).text = text
    return ElementTree.tostring(root, encoding="unicode")


def _numbers(text: str) -> dict[str, float]:
    """The first flow's numbers by name."""
    flow = ElementTree.fromstring(text).find(".//Host.IO_Flow")  # noqa: S314  MQSim wrote it
    if flow is None:
        raise Error(f"{PROGRAM} wrote results without a flow")
    found: dict[str, float] = {}
    for entry in flow:
        try:
            found[entry.tag] = float(entry.text or "")
        except ValueError:
            continue
    return found


def _rows(theirs: dict[str, float], record: Record, flow: Flow) -> list[Row]:
    # MQSim's percentages and depths decide which of the known differences may show.
    depth = flow.settings.get("Average_No_of_Reqs_in_Queue", 1)
    reads_only = flow.settings.get("Read_Percentage", 0) == 100
    if reads_only and depth <= 4:
        why = "reads at small depths agree within some percent"
    elif reads_only:
        why = "arbitration of the channels: a read that was told its time keeps it here"
    else:
        why = "writes: planes are allocated statically there, superblocks span all dies here"
    requests, seconds = record.requests, record.simulated_s
    response = (mean_ns(record) or math.nan) / 1e3
    lost = "MQSim counts what it generated, and may not have served all of it"
    return [
        Row("requests", theirs.get("Request_Count", math.nan), requests.completed, lost),
        Row("reads a second", theirs.get("IOPS_Read", math.nan), requests.reads / seconds, why),
        Row("writes a second", theirs.get("IOPS_Write", math.nan), requests.writes / seconds, why),
        Row("mean response, us", theirs.get("Device_Response_Time", math.nan), response, why),
    ]
