"""Runs one flow in MQSim and in Nacre, and compares the results."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from nacre.errors import Error
from nacre.interop.mqsim.scenario import Translation
from nacre.interop.mqsim.settings import Flow
from nacre.simulate.running import run
from nacre.simulate.simulated import mean_ns

PROGRAM = "MQSim"
_TIMEOUT_S = 3600
_KINDS = ("Read", "Write")
_TAGS = {True: "IO_Flow_Parameter_Set_Trace_Based", False: "IO_Flow_Parameter_Set_Synthetic"}


@dataclass(frozen=True)
class Row:
    """One result of both simulators, with possible reasons for a difference."""

    name: str
    mqsim: float
    nacre: float
    because: str

    @property
    def difference(self) -> float:
        """Relative difference of Nacre's value from MQSim's value."""
        return self.nacre / self.mqsim - 1 if self.mqsim else math.nan


def program() -> str:
    """Returns the path of MQSim. Raises `Error` if MQSim is not on PATH."""
    if found := shutil.which(PROGRAM):
        return found
    raise Error(
        f"there is no {PROGRAM} on the path; build it and put its folder into PATH",
        "missing-program",
    )


def compare(drive: Path, flow: Flow, found: Translation, folder: Path) -> list[Row]:
    """Runs both simulators.

    Trace paths are relative to `folder`, the folder of the workload file.
    """
    return _rows(_theirs(drive, flow, folder), _ours(found), flow, found)


@dataclass(frozen=True)
class _Served:
    """Results of one simulator by row, and its processor time in seconds."""

    numbers: Mapping[str, float]
    seconds: float


def _ours(found: Translation) -> _Served:
    with tempfile.TemporaryDirectory() as place:
        scenario = Path(place) / "scenario.toml"
        scenario.write_text(found.text)
        before = time.process_time()
        record = run(scenario)
        took = time.process_time() - before
    requests, seconds = record.requests, record.simulated_s
    numbers = {
        "requests": requests.completed,
        "reads a second": requests.reads / seconds,
        "writes a second": requests.writes / seconds,
        "mean response, us": (mean_ns(record) or math.nan) / 1e3,
    }
    return _Served(numbers, took)


def _theirs(drive: Path, flow: Flow, folder: Path) -> _Served:
    """Runs MQSim with one flow only, and returns its results."""
    before = _of_children()
    with tempfile.TemporaryDirectory() as place:
        workload = Path(place) / "workload.xml"
        workload.write_text(_alone(flow))
        # MQSim waits for a key when it ends, and reads its configuration from its own directory.
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
            lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            last = lines[-1] if lines else f"nothing, and exited with {done.returncode}"
            raise Error(f"{PROGRAM} wrote no results; it printed: {last}", "process-failed")
        said = _numbers(results.read_text(encoding="utf-8", errors="replace"))
    return _Served(_by_row(said, flow), _of_children() - before)


def _of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _by_row(said: Mapping[str, float], flow: Flow) -> dict[str, float]:
    """Returns MQSim's results by row.

    If a time limit ends the flow, rates refer to whole seconds, as in MQSim.
    """
    ends = 0 if flow.is_trace else flow.settings["Stop_Time"]
    if ends and not flow.settings["Total_Requests_To_Generate"]:
        rates = [said.get(f"{kind}_Request_Count", math.nan) * 1e9 / ends for kind in _KINDS]
    else:
        rates = [said.get(f"IOPS_{kind}", math.nan) for kind in _KINDS]
    return {
        "requests": said.get("Request_Count", math.nan),
        "reads a second": rates[0],
        "writes a second": rates[1],
        "mean response, us": said.get("Device_Response_Time", math.nan),
    }


def _alone(flow: Flow) -> str:
    """Returns a workload definition that contains only this flow."""
    root = ElementTree.Element("MQSim_IO_Scenarios")
    scenario = ElementTree.SubElement(root, "IO_Scenario")
    entry = ElementTree.SubElement(scenario, _TAGS[flow.is_trace])
    for name, text in flow.texts.items():
        ElementTree.SubElement(entry, name).text = text
    return ElementTree.tostring(root, encoding="unicode")


def _numbers(text: str) -> dict[str, float]:
    """Returns the results of the first flow in MQSim's output, by name."""
    flow = ElementTree.fromstring(text).find(".//Host.IO_Flow")  # noqa: S314  MQSim wrote it
    if flow is None:
        raise Error(f"{PROGRAM} wrote results without a flow", "process-failed")
    found: dict[str, float] = {}
    for entry in flow:
        try:
            found[entry.tag] = float(entry.text or "")
        except ValueError:
            continue
    return found


def _rows(theirs: _Served, ours: _Served, flow: Flow, found: Translation) -> list[Row]:
    why = dict.fromkeys(theirs.numbers, _reason(flow, found))
    why["requests"] = "MQSim counts generated requests, which it may not all have served"
    if flow.is_trace:
        why["requests"] += "; a request that spans two extents counts as two"
        rate = "MQSim divides by whole seconds, Nacre by the time since the first request"
        why |= {"reads a second": rate, "writes a second": rate}
    rows = [
        Row(name, of_mqsim, ours.numbers[name], why[name])
        for name, of_mqsim in theirs.numbers.items()
        if of_mqsim or ours.numbers[name]
    ]
    return [*rows, Row("processor time, s", theirs.seconds, ours.seconds, "start-up included")]


def _reason(flow: Flow, found: Translation) -> str:
    """Returns possible reasons for a difference, as text."""
    parts = []
    if flow.is_trace:
        parts.append("a partial page takes the channel time and buffer space of a page")
    if flow.settings.get("Read_Percentage") == 100:
        parts.append("reads agree within a few percent; a scheduled read keeps its time here")
    elif not flow.caches_writes:
        parts.append("MQSim completes writes when they are programmed, Nacre in a buffer")
    else:
        parts += found.about("Plane_Allocation_Scheme") or ["in MQSim, each chip has its own queue"]
        parts += found.about("Data_Cache_DRAM_*")
    return "; ".join(parts)
