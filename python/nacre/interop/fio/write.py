"""Writes the scenario of a job as TOML. Comments list options without an equivalent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from nacre.base import toml
from nacre.interop.fio.pace import Pace
from nacre.interop.fio.reader import Reader


def text(job: Reader, name: str, workload: Mapping[str, object], pace: Pace, stack: str) -> str:
    """Returns the TOML text of a scenario for a job on a device of the catalog."""
    lines = [f'# The job "{name}" of {job.path}, a job file of fio.']
    if job.without:
        lines += ["#", "# Options without an equivalent:"]
        lines += [f"#   {each}" for each in job.without]
    lines += ["", f"name = {toml.value(name)}", "", "[workload]"]
    plain = {key: value for key, value in workload.items() if key != "part"}
    lines += _rows({"kind": plain.pop("kind"), "requests": pace.requests, **plain})
    lines += [f"arrival = {toml.value(pace.arrival)}"]
    for part in cast("list[Mapping[str, object]]", workload.get("part", [])):
        lines += ["", "[[workload.part]]", *_rows(part)]
    lines += [
        "",
        "# fio measures a real device; this device is from the catalog.",
        "[stack]",
        f"preset = {toml.value(stack)}",
    ]
    if pace.run:
        lines += ["", "[run]", *_rows(pace.run)]
    return "\n".join(lines) + "\n"


def _rows(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {toml.value(value)}" for key, value in table.items()]
