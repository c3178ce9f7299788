"""Computes the settings of a flash drive from the figures of its data sheet.

A data sheet describes performance, not structure. Therefore, typical dies and channels for the cell
type are assumed. Each figure determines the setting that affects it most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nacre.base.quantity import parse
from nacre.errors import Problem, config_error

KIB, GIB = 1024, 1024**3
PAGE = 16 * KIB
_BUSES = {1.2e9: "1,200 MT/s of ONFI 4.1 and Toggle 4.0", 2.4e9: "2,400 MT/s of ONFI 5.0"}
"""Bandwidths of channel interfaces in bytes per second, with their names."""
_CHANNELS = 16
"""Maximum number of channels at 1,200 MT/s. For faster drives, 2,400 MT/s is assumed."""
_KEPT = 3.5
"""Average number of superblocks that are erased or open. Garbage collection starts at four erased
superblocks."""
PROCESSORS = 4
READ_SIZE = 4 * KIB
"""Size of a random read in bytes in all data sheets."""

Cells = Literal["mlc", "tlc", "qlc"]


FIGURES = {
    "capacity": "bytes",
    "read-iops": "per_s",
    "write-iops": "per_s",
    "sequential-read": "bytes_per_s",
    "sequential-write": "bytes_per_s",
    "read-latency": "s",
    "write-latency": "s",
    "endurance": "bytes",
    "unit": "bytes",
}
"""Figures of a data sheet, with their base units."""
REQUIRED = ("capacity", "read-iops", "write-iops", "sequential-read", "sequential-write")
_EXAMPLES = {"bytes": "3.84 TB", "per_s": "200000 /s", "bytes_per_s": "6.9 GB/s", "s": "80 us"}


def figure(text: str, base: str) -> float:
    """Parses a figure, e.g. `"3.84 TB"`. Raises `ValueError` with the reason.

    Numbers of requests per second need no unit.
    """
    if base == "per_s" and text.replace(",", "").replace("_", "").isdigit():
        text = f"{text.replace(',', '').replace('_', '')} /s"
    quantity = parse(text)
    if quantity.base != base or quantity.value <= 0:
        raise ValueError(f"it is not a positive number with a unit, as {_EXAMPLES[base]!r}")
    return float(quantity.value)


@dataclass(frozen=True)
class _Die:
    """Typical die with cells of one type. Times are in seconds."""

    size: int
    planes: int
    pages: int
    read: float
    program: float
    fastest: float
    slowest: float
    erase: float


_DIES: dict[Cells, _Die] = {
    "mlc": _Die(16 * GIB, 2, 512, 50e-6, 900e-6, 250e-6, 1.8e-3, 5e-3),
    "tlc": _Die(64 * GIB, 4, 1152, 60e-6, 900e-6, 350e-6, 1.8e-3, 10e-3),
    "qlc": _Die(128 * GIB, 4, 1536, 110e-6, 2.2e-3, 1.2e-3, 4.5e-3, 15e-3),
}


@dataclass(frozen=True)
class DataSheet:
    """Figures of a data sheet, in bytes, seconds, and amounts per second."""

    capacity: float
    read_iops: float
    """Number of random reads per second at a high queue depth. Each read has 4 KiB."""
    write_iops: float
    """Number of random writes per second in the steady state. Each write has `unit` bytes."""
    sequential_read: float
    sequential_write: float
    read_latency: float | None = None
    """Random read latency at queue depth 1, in seconds."""
    write_latency: float | None = None
    """Random write latency at queue depth 1, in seconds."""
    endurance: float | None = None
    """Number of bytes that may be written randomly over the lifetime."""
    cells: Cells = "tlc"
    unit: float = 4 * KIB
    """Size of the mapping unit (indirection unit) in bytes."""


@dataclass(frozen=True)
class _Value:
    text: str
    source: str
    confidence: Literal["assumed", "fitted"]
    note: str = ""

    def toml(self) -> str:
        note = f', note = "{self.note}"' if self.note else ""
        told = f'source = "{self.source}", confidence = "{self.confidence}"'
        return f"{{ value = {self.text}, {told}{note} }}"


@dataclass(frozen=True)
class Drive:
    """Structure and timing of a drive that match its data sheet."""

    sheet: DataSheet
    dies: int
    channels: int
    bus: float
    """Bandwidth of a channel in bytes per second."""
    blocks: int
    spare: float
    """Over-provisioning as a share of the capacity."""
    amplification: float
    program: float
    programs_at_once: int | None
    read: float
    firmware: float
    driver: float
    independent: bool

    @property
    def row(self) -> int:
        """Size in bytes of one page in every plane of every die."""
        return self.dies * _DIES[self.sheet.cells].planes * PAGE

    def whole(self) -> dict[str, str]:
        """Returns the settings of the whole drive that differ from those of the small drive."""
        die = _DIES[self.sheet.cells]
        return {
            "stack.pages": str(die.pages),
            "stack.blocks": str(self.blocks),
            "stack.erase": _time(die.erase),
            "stack.over_provisioning": _percent(self.spare),
        }

    def small(self) -> dict[str, str]:
        """Returns the settings of a drive with fewer pages per block, for a shorter precondition.

        The dies are those of the whole drive. Erase times decrease in proportion to the pages, so
        that erases take an unchanged share of time. Over-provisioning increases, because the number
        of erased or open blocks is fixed, and is a larger share of fewer blocks.
        """
        die, pages = _DIES[self.sheet.cells], 4
        blocks = max(320, 2 * GIB // (pages * self.row))
        kept = _KEPT / blocks - _KEPT / self.blocks
        spare = (1 + self.spare) / (1 - kept * (1 + self.spare)) - 1
        return {
            "stack.pages": str(pages),
            "stack.blocks": str(blocks),
            "stack.erase": _time(die.erase * pages / die.pages),
            "stack.over_provisioning": _percent(spare),
        }

    def footprint(self) -> int:
        """Capacity of the small drive in MiB."""
        small = self.small()
        spare = float(small["stack.over_provisioning"].rstrip(" %")) / 100
        flash = int(small["stack.blocks"]) * int(small["stack.pages"]) * self.row
        return int(flash / (1 + spare) / 2**20) - 1

    def scenario(self) -> str:
        """Returns the text of a scenario with the dies of the drive and with small blocks."""
        return _SCENARIO.format(
            figures=_figures(self.sheet),
            whole=" \\\n#     ".join(
                f"--set '{path}={text}'" for path, text in self.whole().items()
            ),
            memory=f"{_MEMORY_PER_UNIT * self.sheet.capacity / self.sheet.unit / 1e9:,.1f} GB",
            capacity=f"{self.sheet.capacity / 1e12:.6g} TB",
            footprint=self.footprint(),
            stack="\n".join(f"{name} = {value.toml()}" for name, value in self._values()),
        )

    def _values(self) -> Iterator[tuple[str, _Value]]:
        sheet, die = self.sheet, _DIES[self.sheet.cells]
        usual = f"usual for {sheet.cells.upper()} cells"

        def fitted(text: str, figure: str, note: str = "") -> _Value:
            return _Value(text, f"data sheet, {figure}", "fitted", note)

        def assumed(text: str, source: str = usual, note: str = "") -> _Value:
            return _Value(text, source, "assumed", note)

        yield "channels", assumed(str(self.channels), "enough for the sheet's rates")
        ways = self.dies // self.channels
        size = die.size // GIB
        small = {path.removeprefix("stack."): text for path, text in self.small().items()}
        fewer = f"{die.pages} in the drive"
        yield "ways", assumed(str(ways), f"{self.dies} dies of {size} GiB hold the capacity")
        page = max(PAGE, int(sheet.unit))
        together = page // PAGE
        note = f"pages of {together} of the {die.planes} planes, which hold a unit" * (together > 1)
        yield "planes", assumed(str(die.planes // together), usual, note)
        yield (
            "pages",
            assumed(small["pages"], "fewer than in the drive, for a fast steady state", fewer),
        )
        yield "page", assumed(f'"{page // KIB} KiB"', usual, note)
        fewer = f"{self.blocks} in the drive, by its capacity and spare flash"
        yield (
            "blocks",
            assumed(small["blocks"], "fewer than in the drive, for a fast steady state", fewer),
        )
        if sheet.unit != READ_SIZE:
            yield "transfer", assumed('"4 KiB"', "a codeword")
            yield "unit", fitted(f'"{sheet.unit / KIB:g} KiB"', "indirection unit")
        note = "in addition to driver, firmware, channel, and link"
        read = f'["{_time(self.read)}"]'
        known = sheet.read_latency is not None
        yield "read", fitted(read, "latency of a random read", note) if known else assumed(read)
        program = f'["{_time(self.program)}"]'
        if self.programs_at_once is None:
            yield "program", fitted(program, "sequential writes", "all dies program")
        else:
            yield "program", assumed(program)
            note = (
                "with all dies, writes would be faster: something else limits them, perhaps power"
            )
            yield (
                "programs_at_once",
                fitted(str(self.programs_at_once), "sequential writes", note),
            )
        share = f"{_time(die.erase)} in the drive, which has more pages per block"
        yield "erase", assumed(f'"{small["erase"]}"', usual, share)
        if sheet.endurance is not None:
            flash = self.row * die.pages * self.blocks
            cycles = max(1, round(sheet.endurance * self.amplification / flash))
            note = f"each byte is programmed {self.amplification:.3g} times"
            yield "endurance", fitted(str(cycles), "bytes that may be written", note)
        note = f"write amplification {self.amplification:.3g}, from random and sequential writes"
        spare = f'"{small["over_provisioning"]}"'
        yield "over_provisioning", fitted(spare, "random writes", note)
        yield "bus", assumed(f'"{self.bus / 1e9:g} GB/s"', _BUSES[self.bus])
        yield "buffer", assumed('"64 MiB"', "none published")
        yield "scheduling.kind", assumed('"suspension"', "usual in drives")
        yield "scheduling.suspend", assumed('"30 us"', "tens of microseconds, wu-he-2012")
        yield "scheduling.resume", assumed('"10 us"', "none published")
        if self.independent:
            note = "without it, the dies are too few for the random reads of the data sheet"
            yield "scheduling.independent_planes", fitted("true", "random reads", note)
        yield "link", fitted(f'"{sheet.sequential_read / 1e6:.6g} MB/s"', "sequential reads")
        yield "processors", assumed(str(PROCESSORS), "none published")
        yield "firmware", fitted(f'"{_time(self.firmware)}"', "random reads per second")
        known = sheet.write_latency is not None
        driver = f'"{_time(self.driver)}"'
        yield (
            "driver",
            fitted(driver, "latency of a random write", "in addition to firmware and link")
            if known
            else assumed(driver, "none published"),
        )
        cpus = max(16, math.ceil(1.5 * sheet.read_iops * self.driver))
        yield "cpus", assumed(str(cpus), "large enough that the host is not the bottleneck")


def drive(sheet: DataSheet) -> Drive:
    """Computes a drive from a data sheet. Raises `ConfigError` with all contradictory figures."""
    die = _DIES[sheet.cells]
    problems: list[Problem] = []
    most = die.planes * PAGE
    if sheet.unit % 1 or int(sheet.unit).bit_count() != 1 or sheet.unit > most:
        problems.append(
            _contradiction(
                "unit",
                f"a mapping unit of {sheet.unit:,.0f} bytes is not a power of two of at most "
                f"{most // KIB} KiB, the page of all planes of a die",
                "give 4, 16, 32, or 64 KiB",
            )
        )
        raise config_error(problems)
    dies = 2 ** max(3, math.ceil(math.log2(sheet.capacity * 1.02 / die.size)))
    # A page that garbage collection copies crosses the channel twice.
    needed = 1.2 * max(sheet.sequential_read, sheet.read_iops * READ_SIZE)
    needed = max(needed, 3.3 * sheet.sequential_write)
    bus = next((bus for bus in _BUSES if _CHANNELS * bus >= needed), max(_BUSES))
    channels = min(dies, max(4, 2 ** math.ceil(math.log2(needed / bus))))
    row = dies * die.planes * PAGE
    program, limit = row / sheet.sequential_write, None
    if program < die.fastest:
        most = row / die.fastest / 1e6
        problems.append(
            _contradiction(
                "sequential-write",
                f"{dies} dies of {sheet.cells.upper()} cells write {most:.4g} MB/s at most",
                "give the write rate after the SLC cache is full, or other --cells",
            )
        )
    elif program > die.slowest:
        program = die.program
        limit = max(1, round(sheet.sequential_write * program / (die.planes * PAGE)))
    costs = sheet.sequential_write / (sheet.write_iops * sheet.unit)
    # Reads and transfers of copied pages also occupy the dies. If programs are limited, this limit
    # hides the effect.
    reads = 0.0 if limit else (die.read + die.planes * PAGE / bus) / program
    amplification = (costs + reads) / (1 + reads)
    if not 1.05 < amplification < 30:
        problems.append(
            _contradiction(
                "write-iops",
                f"sequential writes are {costs:.3g} times as fast as random ones, and garbage "
                "collection explains 1.05 to 30 times",
                "give random writes in the steady state, and --unit if they are not of 4 KiB",
            )
        )
        raise config_error(problems)
    # For uniform writes and superblocks of many pages: u = exp(-a (1 - u)), A = 1 / (1 - u). The
    # solution for a is from desnoyers-2012.
    spare = -amplification * math.log1p(-1 / amplification) - 1
    blocks = math.ceil(sheet.capacity * (1 + spare) / (row * die.pages) + _KEPT)
    firmware = PROCESSORS / sheet.read_iops
    over_link = READ_SIZE / sheet.sequential_read
    driver = 5e-6
    if sheet.write_latency is not None:
        driver = sheet.write_latency - firmware - over_link
    read = die.read
    if sheet.read_latency is not None:
        read = sheet.read_latency - driver - firmware - 0.3e-6 - READ_SIZE / bus - over_link
    for option, time in (("write-latency", driver), ("read-latency", read)):
        if time <= 1e-6:
            told = "it is less than the time of firmware, link, and driver"
            problems.append(_contradiction(option, told, "remove it, or give more"))
    if problems:
        raise config_error(problems)
    return Drive(
        sheet=sheet,
        dies=dies,
        channels=channels,
        bus=bus,
        blocks=blocks,
        spare=blocks * die.pages * row / sheet.capacity - 1,
        amplification=amplification,
        program=program,
        programs_at_once=limit,
        read=read,
        firmware=firmware,
        driver=driver,
        independent=dies / read < 2 * sheet.read_iops,
    )


def _contradiction(option: str, problem: str, hint: str) -> Problem:
    return Problem(code="conflicting-settings", path=f"--{option}", problem=problem, hint=hint)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.4g} us" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def _percent(share: float) -> str:
    return f"{share * 100:.8g} %"


def _figures(sheet: DataSheet) -> str:
    latency = "".join(
        f", {name} {_time(value)}"
        for name, value in (("read", sheet.read_latency), ("write", sheet.write_latency))
        if value is not None
    )
    return (
        f"# {sheet.capacity / 1e12:.6g} TB; reads: {sheet.read_iops:,.0f} /s random, "
        f"{sheet.sequential_read / 1e6:,.6g} MB/s sequential;\n"
        f"# writes: {sheet.write_iops:,.0f} /s random with {sheet.unit / KIB:g} KiB, "
        f"{sheet.sequential_write / 1e6:,.6g} MB/s sequential{latency}."
    )


_MEMORY_PER_UNIT = 10
"""Memory of a simulation per written mapping unit, in bytes."""

_SCENARIO = """\
# A flash drive from its data sheet:
{figures}
# Values that are not on the data sheet are marked as assumed; replace those that you know.
#
# It has the dies of the drive, but fewer blocks and fewer pages per block, so that it reaches its
# steady state sooner. Rates and latencies are those of the drive; lifetime and capacity are not.
# A simulation that writes the whole drive needs about {memory} of memory:
#   nacre run FILE {whole}
schema = 1
name = "drive"
summary = "The dies of a flash drive of {capacity}, from its data sheet: 70 % reads of 4 KiB"

[workload]
kind = "uniform"
requests = 1_000_000
footprint = "{footprint} MiB"
request = "4 KiB"
read_share = "70 %"
arrival = {{ kind = "closed", queue_depth = 32 }}

[stack]
kind = "ssd"
{stack}

[run]
fill = "footprint"
until_steady = {{ tolerance = "5 %" }}
"""
