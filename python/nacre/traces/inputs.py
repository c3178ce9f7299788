"""Input files of traces, and the options with which they are read."""

from __future__ import annotations

import errno
import operator
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict

from nacre.base import quantity
from nacre.base.text import printable
from nacre.errors import SEED_MAX, TraceError, nearest

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Progress: TypeAlias = Callable[..., bool | None]


class Options(TypedDict, total=False):
    """Options for reading a trace, for properties that its name and content do not determine.

    `page` is the address distance between objects in an oracleGeneral or lcs trace, or the page
    size of an arc trace. It is text such as `"512 B"`, or a number of bytes.
    """

    format: str | None
    time_unit: str | None
    strict: bool
    action: str | None
    page: str | int | None
    limit: int | None


LIMIT_MAX = 2**63 - 1
PARQUET = "parquet"
_SHIPPED = Path(__file__).parent
_SHIPPED_ENDING = ".nacre.zst"


def shipped() -> list[str]:
    """Returns the names of the built-in traces."""
    return sorted(
        path.name.removesuffix(_SHIPPED_ENDING) for path in _SHIPPED.glob(f"*{_SHIPPED_ENDING}")
    )


def is_parquet(path: str) -> bool:
    """Returns whether the suffix is that of a Parquet file."""
    return path.endswith(f".{PARQUET}")


def located(paths: Paths) -> list[str]:
    """Converts paths and names of built-in traces to file paths."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    files = [_located(os.fspath(path)) for path in paths]
    if not files:
        raise TraceError("no trace file given", "missing-setting")
    return files


def _located(name: str | bytes) -> str:
    """Returns the path of a file, or of the built-in trace with this name."""
    name = as_text(os.fsdecode(name))
    if name == "-":
        return "/dev/stdin"
    if not Path(name).exists() and Path(name).name == name:
        if name in shipped():
            return str(_SHIPPED / f"{name}{_SHIPPED_ENDING}")
        if meant := nearest(name, shipped()):
            what = f'no such file; did you mean the shipped trace "{meant}"?'
            raise FileNotFoundError(errno.ENOENT, what, name)
    return name


def as_text(name: str) -> str:
    """Checks that a file name is UTF-8, which the core requires.

    Raises `TraceError` if it is not.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise TraceError(
            f"{printable(name)}: its name is not UTF-8; rename it", "invalid-value"
        ) from None
    return name


def name_of(paths: Paths) -> str:
    """Returns the name under which curves show the trace."""
    listed = located(paths)
    return Path(listed[0]).name.removesuffix(_SHIPPED_ENDING) + (
        f" and {len(listed) - 1} more" if len(listed) > 1 else ""
    )


def chosen_options(options: Options) -> dict[str, object]:
    """Returns all options in the form that the core expects.

    Raises `TypeError` for an unknown option.
    """
    chosen: dict[str, object] = dict.fromkeys(Options.__annotations__)
    for name in options:
        if name not in chosen:
            meant = nearest(name, chosen)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise TypeError(f"there is no option {name!r}{hint} (options: {', '.join(chosen)})")
    chosen |= options
    if (page := options.get("page")) is not None:
        chosen["page"] = _page(page)
    if (limit := options.get("limit")) is not None:
        chosen["limit"] = whole("limit", limit, 1, LIMIT_MAX)
    return chosen


def _page(page: str | int) -> int:
    """Returns the address distance between objects, or the size of a page, in bytes."""
    known = None if isinstance(page, int) else quantity.maybe(page)
    if known is not None and known.base == "bytes":
        return int(known.value)
    if isinstance(page, int) or page.isdigit():
        return int(page)
    raise TraceError(f'page is {page!r}; it is a size, as 512 or "4 KiB"', "invalid-value")


def seed_in_range(seed: int) -> int:
    """Returns the seed. Raises `TraceError` if it is out of range."""
    return whole("seed", seed, 0, SEED_MAX)


def whole(name: str, value: int, least: int, most: int) -> int:
    """Returns the value as an int. Raises `TraceError` if it is out of range."""
    number = operator.index(value)
    if not least <= number <= most:
        raise TraceError(
            f"{name} is {number}; it is a whole number from {least} to {most}", "out-of-range"
        )
    return number
