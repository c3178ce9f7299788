"""Requests of a job: directions, sizes, region, and distribution.

Sources: fio's `io_u.c`, with `get_next_buflen` for sizes and `get_next_seq_offset` for sequential
jobs. A sequential job has separate positions for reads and for writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from nacre.base.text import size as shown_size
from nacre.interop.fio import numbers
from nacre.interop.fio.engine import Engine
from nacre.interop.fio.reader import Reader

READ, WRITE, TRIM = range(3)
SIZES_MAX = 256
"""Maximum number of different request sizes in a range."""
_PATTERNS = {
    "read": ("sequential", (READ,)),
    "write": ("sequential", (WRITE,)),
    "rw": ("sequential", (READ, WRITE)),
    "readwrite": ("sequential", (READ, WRITE)),
    "trim": ("sequential", (TRIM,)),
    "randread": ("uniform", (READ,)),
    "randwrite": ("uniform", (WRITE,)),
    "randrw": ("uniform", (READ, WRITE)),
    "randtrim": ("uniform", (TRIM,)),
}
"""Kind of pattern and directions for each value of `rw`."""

Sizes = list[tuple[Fraction, int]]
"""Request sizes with their shares. The shares add up to one."""


@dataclass
class Pattern:
    """Requests of a job without their arrival times."""

    kind: str
    directions: dict[int, Fraction]
    """Share of the requests for each direction."""
    sizes: dict[int, Sizes]
    start: int
    bytes: int
    """Size in bytes of the region. One pass also transfers this number of bytes."""
    modifier: str
    """Text after the colon in `rw`."""

    def mean(self, direction: int) -> Fraction:
        """Returns the mean request size of a direction in bytes."""
        return sum((share * size for share, size in self.sizes[direction]), Fraction(0))

    @property
    def mean_request(self) -> Fraction:
        """Mean request size over all directions in bytes."""
        shares = self.directions.items()
        return sum((share * self.mean(at) for at, share in shares), Fraction(0))

    @property
    def stride(self) -> int | None:
        """Stride of sequential requests in bytes if `rw` skips whole requests, otherwise None."""
        size = self.only_size
        skip = numbers.size(self.modifier, 1024) if self.kind == "sequential" else None
        is_whole = size is not None and skip and skip % size == 0
        return size + int(skip) if is_whole and size is not None and skip is not None else None

    @property
    def only_size(self) -> int | None:
        """Size of every request in bytes, or None if requests have different sizes."""
        found = {size for at in self.directions for _, size in self.sizes[at]}
        return found.pop() if len(found) == 1 else None


def _direction(job: Reader) -> tuple[str, tuple[int, ...], str]:
    """Returns the kind of pattern, the directions, and the modifier from `rw`."""
    setting = job.take("rw")
    rw, _, modifier = ("read" if setting is None else setting.value.strip()).partition(":")
    if rw not in _PATTERNS:
        known = ", ".join(_PATTERNS)
        job.wrong(
            "not-supported", "rw", "this pattern has no equivalent", f"known: {known}", setting
        )
        return "uniform", (READ,), ""
    kind, directions = _PATTERNS[rw]
    return kind, directions, modifier


def _sizes(job: Reader) -> dict[int, Sizes]:
    """Returns request sizes by direction, from `bssplit`, otherwise `bsrange`, otherwise `bs`."""
    plain = job.each("bs", "a size", "e.g. bs=4k")
    found: dict[int, Sizes] = {at: [(Fraction(1), size or 4096)] for at, size in enumerate(plain)}
    if 0 in plain:
        job.wrong("out-of-range", "bs", "a request has at least one byte", "write e.g. bs=4k")
    ranged, split = job.take("bsrange"), job.take("bssplit")
    if ranged is not None:
        for at, part in enumerate(numbers.spread(ranged.value.split(","))):
            ends = [numbers.size(end, ranged.kb_base) for end in numbers.listed(part or "")]
            if part is None:
                continue
            if len(ends) != 2 or not all(isinstance(end, int) and end > 0 for end in ends):
                job.wrong(
                    "invalid-value",
                    "bsrange",
                    "it is not a range of sizes",
                    "write e.g. 4k-64k",
                    ranged,
                )
                break
            found[at] = _steps(*sorted(end for end in ends if end is not None))
    if split is not None:
        for at, part in enumerate(numbers.spread(split.value.split(","))):
            shares = None if part is None else _shares(part, split.kb_base)
            if part is None:
                continue
            if shares is None:
                hint = "write sizes with percentages that add up to 100, e.g. 4k/60:64k/40"
                job.wrong(
                    "invalid-value",
                    "bssplit",
                    "it is not a list of sizes and percentages",
                    hint,
                    split,
                )
                break
            found[at] = shares
    return found


def _steps(least: int, most: int) -> Sizes:
    """Returns the sizes of a range with their shares.

    As in fio, a size is a random multiple of `least`, up to `most`.
    """
    found: dict[int, Fraction] = {}
    for lower in range(least, least + most, least):
        share = Fraction(min(lower + least, least + most) - lower, most)
        size = min(lower, most)
        found[size] = found.get(size, Fraction(0)) + share
        if len(found) > SIZES_MAX:
            break
    return [(share, size) for size, share in found.items()]


def _shares(text: str, kb_base: int) -> Sizes | None:
    """Parses sizes with percentages (`4k/60:64k/`).

    Sizes without a percentage share the remainder equally.
    """
    entries: list[tuple[int, int | None]] = []
    for entry in text.split(":"):
        size_text, _, percent = entry.partition("/")
        size = numbers.size(size_text, kb_base)
        if not size or isinstance(size, numbers.Percent) or (percent and not percent.isdigit()):
            return None
        entries.append((size, int(percent) if percent else None))
    given = sum(percent for _, percent in entries if percent is not None)
    open_ = sum(1 for _, percent in entries if percent is None)
    if given > 100 or (given < 100 and not open_):
        return None
    rest = Fraction(100 - given, 100 * open_) if open_ else Fraction(0)
    shares = [
        (rest if percent is None else Fraction(percent, 100), size) for size, percent in entries
    ]
    return [(share, size) for share, size in shares if share]


def pattern(job: Reader, engine: Engine) -> Pattern | None:
    """Converts the requests of a job to a pattern. Returns `None` after an error."""
    kind, directions, modifier = _direction(job)
    sizes = _sizes(job)
    mixed = Fraction(job.count("rwmixread", 50, least=0, most=100), 100)
    shares = (
        {READ: mixed, WRITE: 1 - mixed} if len(directions) > 1 else {directions[0]: Fraction(1)}
    )
    shares = {at: share for at, share in shares.items() if share}
    where = _region(job, engine, min(size for at in shares for _, size in sizes[at]))
    if job.problems or where is None:
        return None
    start, total = where
    for at in shares:
        sizes[at] = _that_fit(job, sizes[at], total)
    return None if job.problems else Pattern(kind, shares, sizes, start, total, modifier)


def _that_fit(job: Reader, sizes: Sizes, total: int) -> Sizes:
    """Omits sizes that are larger than the region.

    The other shares grow in proportion, because fio then selects another random size.
    """
    fit = [(share, size) for share, size in sizes if size <= total]
    if not fit:
        job.wrong(
            "conflicting-settings",
            "size",
            "it is smaller than one request",
            "increase size, or decrease bs",
        )
        return sizes
    whole = sum((share for share, _ in fit), Fraction(0))
    if len(fit) < len(sizes):
        gone = ", ".join(shown_size(size) for _, size in sizes if size > total)
        job.no("bssplit", f"requests of {gone} do not fit in {shown_size(total)} and are omitted")
    return [(share / whole, size) for share, size in fit]


def _region(job: Reader, engine: Engine, align: int) -> tuple[int, int] | None:
    """Returns the region of the job: first byte and length in bytes.

    Returns None after an error.
    """
    files = job.count("nrfiles", 1)
    filesize = job.size("filesize", job.capacity, "the device")
    file = None if filesize is None else filesize * files
    whole, of = (job.capacity, "the device") if file is None else (file, "its files")
    given = {key: job.settings[key].value for key in ("offset", "size") if key in job.settings}
    start = job.size("offset", whole, of) or 0
    if "%" in given.get("offset", ""):
        start -= start % align
    total = job.size("size", whole, of)
    if total is None and not job.problems:
        total = _all(job, file, on_device=engine.on_device)
    if job.problems or total is None:
        return None
    if file is not None or "%" in given.get("size", "") or "size" not in given:
        total = min(total, (whole or total) - start)
    if total <= 0:
        job.wrong(
            "conflicting-settings",
            "offset",
            "no space is left after it",
            "increase size, or decrease offset",
        )
        return None
    if files > 1:
        job.no("nrfiles", f"{files} files become one region")
    return start, total


def _all(job: Reader, file: int | None, *, on_device: bool) -> int | None:
    """Returns the default size of a job in bytes, i.e. the size of its files or of its device."""
    filename = job.settings["filename"].value.strip() if "filename" in job.settings else ""
    on_device = job.flag("fill_device") or on_device or filename.startswith("/dev/")
    if file is not None:
        return file
    if not on_device:
        job.wrong(
            "missing-setting",
            "size",
            "it is missing",
            "add the size of your file, e.g. size=1g",
        )
    elif job.capacity is None:
        job.wrong(
            "missing-setting",
            "size",
            "it is missing, and the device has no capacity",
            "add size=1g",
        )
    else:
        job.no("size", f"not given: {shown_size(job.capacity)}, the whole device")
    return job.capacity
