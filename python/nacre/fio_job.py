"""fio's job files as scenarios, with a list of what has no equivalent here.

Source: the fio manual, "Job file format" and "Job file parameters" (version 3). A job describes
what is asked and not the device, so a scenario names a device of the catalogue beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from nacre import toml
from nacre.catalog import catalog
from nacre.errors import Problem, config_error, unknown
from nacre.scenario import standard_input
from nacre.text import numbered, printable

STACK = "tlc_nvme"
ENDLESS = 1_000_000_000
"""Requests of a job that time ends."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?\Z", re.IGNORECASE)
_TIME = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PATTERNS = {
    "read": ("sequential", 100),
    "write": ("sequential", 0),
    "rw": ("sequential", None),
    "readwrite": ("sequential", None),
    "trim": ("sequential", 0),
    "randread": ("uniform", 100),
    "randwrite": ("uniform", 0),
    "randrw": ("uniform", None),
    "randtrim": ("uniform", 0),
}
"""By `rw`: the workload, and the percent of reads where that says it."""
_SAYS_NOTHING = {
    "allow_mounted_write",
    "clat_percentiles",
    "cpus_allowed",
    "create_on_open",
    "description",
    "direct",
    "directory",
    "disk_util",
    "exitall",
    "filename",
    "filename_format",
    "fallocate",
    "group_reporting",
    "invalidate",
    "ioengine",
    "kb_base",
    "lat_percentiles",
    "log_avg_msec",
    "name",
    "percentile_list",
    "randrepeat",
    "randseed",
    "refill_buffers",
    "thread",
    "unified_rw_reporting",
    "unlink",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
}
"""What decides where and how fio runs, or what it prints: nothing that a device is asked."""


@dataclass(frozen=True)
class FioScenario:
    """A scenario made of a job, as TOML, and what of the job it is without."""

    text: str
    job: str
    without: tuple[str, ...]


def scenario(
    path: str | os.PathLike[str], *, job: str | None = None, stack: str = STACK
) -> FioScenario:
    """The scenario of a job of a file, on a device of the catalogue.

    A file with one job needs no name. Raises `ConfigError` with every mistake of the job.
    """
    devices = [entry.name for entry in catalog().values() if entry.family == "device"]
    if stack not in devices:
        raise config_error([unknown("no device called", stack, devices)])
    jobs = _jobs(Path(path))
    if job is None and len(jobs) > 1:
        hint = f"give one, as --job {next(iter(jobs))}"
        problem = f"it has {len(jobs)} jobs: {', '.join(jobs)}"
        raise config_error([Problem(path=printable(str(path)), problem=problem, hint=hint)])
    name = job or next(iter(jobs), "")
    if name not in jobs:
        raise config_error([unknown("no job called", name, list(jobs))])
    reader = _Job(printable(str(path)), name, jobs[name])
    reader.read()
    if reader.problems:
        raise config_error(reader.problems)
    return FioScenario(_text(reader, stack), name, tuple(reader.without))


def _jobs(path: Path) -> dict[str, dict[str, str]]:
    """By job, its settings, with those of the global sections before it."""
    shared: dict[str, str] = {}
    jobs: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    text = standard_input() if path == Path("-") else path.read_text(encoding="utf-8")
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1].strip()
            current = shared if name == "global" else jobs.setdefault(name, dict(shared))
            continue
        key, _, value = line.partition("=")
        key = key.strip().lower()
        if current is None or not re.fullmatch(r"[a-z_0-9]+(:[a-z_]+)?", key):
            problem = Problem(
                path=f"{printable(str(path))}:{number}",
                problem="it is no line of a job file",
                given=f'"{printable(line[:60])}"',
                hint="write [job], and below it name=value",
            )
            raise config_error([problem])
        current[key] = value.split(" ;")[0].strip()
    if not jobs:
        problem = Problem(path=printable(str(path)), problem="it has no job", hint="write [job]")
        raise config_error([problem])
    return jobs


@dataclass
class _Job:
    """Settings of a job as they are read, each once; what is left over has no equivalent."""

    path: str
    name: str
    settings: dict[str, str]
    problems: list[Problem] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    workload: dict[str, object] = field(default_factory=dict)
    arrival: dict[str, object] = field(default_factory=dict)
    run: dict[str, object] = field(default_factory=dict)

    def read(self) -> None:
        """Makes workload, arrival and run of them."""
        kind, reads = self._pattern()
        jobs, request = self._count("numjobs", 1), self._size("bs", 4096, "blocksize")
        total = self._size("size", None, "filesize")
        amount = self._size("io_size", total)
        footprint = total // request * request
        if self.problems:
            return
        if footprint != total:
            self._no("size", f"{footprint} of its bytes are used: whole requests")
        timed = "time_based" in self.settings and self._take("time_based") != "0"
        duration = self._duration()
        self.workload |= {
            "kind": kind,
            "requests": ENDLESS if timed else max(1, amount // request * jobs),
            "footprint": _exactly(footprint),
            "request": _exactly(request),
            "read_share": f"{reads} %",
        }
        if "trim" in self.settings["rw"]:
            self.workload["trim_share"] = "100 %"
        if duration is not None:
            self.run["duration"] = duration
        self._distribution(kind)
        self._arrivals(jobs, request)
        self._leftovers(kind, jobs, reads)

    def _pattern(self) -> tuple[str, int]:
        if "readwrite" in self.settings:
            self.settings.setdefault("rw", self.settings.pop("readwrite"))
        given = self.settings.setdefault("rw", "read")
        rw, _, every = given.partition(":")
        if every:
            self._no("rw", f'":{every}" of "{given}": offsets go on as without it')
        mix = self._count("rwmixread", 50)
        if "rwmixwrite" in self.settings:
            mix = 100 - self._count("rwmixwrite", 50)
        if rw not in _PATTERNS:
            known = ", ".join(_PATTERNS)
            self._wrong("rw", "this pattern is not known here", f"known: {known}")
            return "uniform", 0
        kind, reads = _PATTERNS[rw]
        self.settings["rw"] = rw
        return kind, mix if reads is None else reads

    def _distribution(self, kind: str) -> None:
        given = self._take("random_distribution")
        if given is None or kind != "uniform" or given == "random":
            return
        name, _, parameter = given.partition(":")
        if name == "zipf" and _is_number(parameter.split("/")[0]):
            self.workload |= {"kind": "zipf", "theta": float(parameter.split("/")[0])}
        else:
            self._no("random_distribution", f'"{given}": all places are equally likely here')

    def _arrivals(self, jobs: int, request: int) -> None:
        depth = self._count("iodepth", 1) * jobs
        rate = self._take("rate_iops")
        bandwidth = self._take("rate")
        if rate is None and bandwidth is not None:
            found = _size(bandwidth.split(",")[0])
            rate = None if found is None else str(max(1, found // request))
        if rate is not None:
            each = _size(rate.split(",")[0])
            if not each:
                self._wrong("rate_iops", "it is no number of requests", "give one, as 20000", rate)
                return
            poisson = self._take("rate_process") == "poisson"
            self.arrival |= {
                "kind": "poisson" if poisson else "periodic",
                "rate": f"{each * jobs} Hz",
            }
            at_once = f"{numbered(depth, 'request')} at once"
            self._no("iodepth", f"{at_once}: with a rate, there may be any number")
            return
        self._take("rate_process")
        self.arrival |= {"kind": "closed", "queue_depth": depth}
        if think := self._time("thinktime", "us"):
            self.arrival["think"] = think

    def _duration(self) -> str | None:
        return self._time("runtime", "s")

    def _leftovers(self, kind: str, jobs: int, reads: int) -> None:
        if kind != "sequential" and self._take("norandommap") is None:
            self._no(
                "norandommap", "it is not given: fio visits each block once, here any may repeat"
            )
        if kind == "sequential" and 0 < reads < 100:
            self._no("rw", "reads and writes go on from one place here, and from two in fio")
        if jobs > 1:
            self._no("numjobs", f"{jobs} jobs are one loop of all their depths, in one region")
        for key, value in self.settings.items():
            if key not in _SAYS_NOTHING and key != "rw":
                self._no(key, f'"{value}"' if value else "it is set")

    def _take(self, *keys: str) -> str | None:
        found = [self.settings.pop(key) for key in keys if key in self.settings]
        return found[0] if found else None

    def _count(self, key: str, default: int) -> int:
        given = self._take(key)
        if given is None:
            return default
        if not given.isdigit() or int(given) < (0 if key.startswith("rwmix") else 1):
            self._wrong(key, "it is no whole number", "write a number", given)
            return default
        return int(given)

    def _size(self, key: str, default: int | None, other: str = "") -> int:
        given = self._take(key, other)
        if given is None:
            if default is None:
                self._wrong(key, "it is missing", f"add {key}=1g: a device has no size of its own")
            return default or 1
        first, *rest = (part for part in given.split(",") if part)
        if any(part != first for part in rest):
            self._no(key, f'"{given}": all requests have the first of these sizes')
        found = _size(first)
        if found is None or found < 1:
            self._wrong(key, "it is no size", "write bytes, as 4k or 1g", given)
            return default or 1
        return found

    def _time(self, key: str, unit: str) -> str | None:
        given = self._take(key)
        if given is None:
            return None
        matched = re.fullmatch(r"(\d+)\s*([a-z]*)", given.lower())
        suffix = (matched[2] or unit) if matched else ""
        if not matched or suffix not in _TIME:
            self._wrong(key, "it is no time", "write a number, as 60 or 60s", given)
            return None
        return f"{Decimal(str(_TIME[suffix])) * int(matched[1])} s" if int(matched[1]) else None

    def _wrong(self, key: str, problem: str, hint: str, given: str | None = None) -> None:
        shown = self.settings.get(key, "") if given is None else given
        place = f"{self.path} [{self.name}] {key}"
        self.problems.append(
            Problem(path=place, problem=problem, hint=hint, given=f'"{shown}"' if shown else "")
        )

    def _no(self, key: str, what: str) -> None:
        self.without.append(f"{key}: {what}")


def _size(text: str) -> int | None:
    """Bytes as fio counts them: `4k` is 4096, `4kib` as well."""
    matched = _SIZE.fullmatch(text.strip())
    if not matched:
        return None
    power = " kmgtp".index(matched[2].lower() or " ")
    return int(Decimal(matched[1]) * 1024**power)


def _exactly(size: int) -> str:
    """A size in the largest unit that has a whole number of it."""
    power = next(power for power in (40, 30, 20, 10, 0) if size % (1 << power) == 0)
    unit = {40: "TiB", 30: "GiB", 20: "MiB", 10: "KiB", 0: "B"}[power]
    return f"{size >> power} {unit}"


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _text(job: _Job, stack: str) -> str:
    lines = [f'# The job "{job.name}" of {job.path}, a job file of fio.']
    if job.without:
        lines += ["#", "# Without an equivalent here:"]
        lines += [f"#   {each}" for each in job.without]
    lines += [
        "",
        f"name = {toml.value(job.name)}",
        "",
        "[workload]",
        *_rows(job.workload),
        f"arrival = {toml.value(job.arrival)}",
        "",
        "# fio measures the device it runs on; this one is of the catalogue.",
        "[stack]",
        f"preset = {toml.value(stack)}",
    ]
    if job.run:
        lines += ["", "[run]", *_rows(job.run)]
    return "\n".join(lines) + "\n"


def _rows(table: Mapping[str, object]) -> list[str]:
    write: Callable[[object], str] = toml.value
    return [f"{key} = {write(value)}" for key, value in table.items()]
