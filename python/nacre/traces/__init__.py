"""Block traces: what is in them, what caches would miss, other formats, smaller samples, frames.

Every function takes one path or several, or the name of a shipped trace. Several files of one
recording (blktrace writes one per processor) are merged by time. Parquet files with the columns
of `read` are traces too.
"""

from __future__ import annotations

import errno
import io
import json
import math
import operator
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast

from nacre import _core
from nacre.base import quantity, toml
from nacre.base.progress import answering
from nacre.base.text import printable
from nacre.base.view import View
from nacre.errors import SEED_MAX, ConfigError, Problem, TraceError, config_error, nearest
from nacre.files.atomic import look, look_apart, write_file
from nacre.results.curves import CacheCurves, MissRatioCurve
from nacre.results.traces import FittedWorkload, TraceInfo
from nacre.scenario.models import family

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Progress: TypeAlias = Callable[..., bool | None]
Sampling = Literal["block", "request", "first"]


class Options(TypedDict, total=False):
    """How to read a trace: what its name and content do not say.

    `page` is the distance between neighboring objects of an oracleGeneral or lcs trace, or the size
    of a page of an arc trace: text as `"512 B"`, or bytes.
    """

    format: str | None
    time_unit: str | None
    strict: bool
    action: str | None
    page: str | int | None
    limit: int | None


LIMIT_MAX = 2**63 - 1
OPS = ("read", "write", "trim", "flush")
PARQUET = "parquet"
NATIVE = "nacre"
_SHIPPED = Path(__file__).parent
_LOOK_BLOCKS = 4096
"""Blocks that are followed to see how much a trace touches."""
_SHIPPED_ENDING = ".nacre.zst"
_COMPRESSIONS = (".gz", ".zst", ".xz")
COLUMNS = ("arrival_ps", "address", "bytes", "volume", "op")
_CUT = (
    "requests are cut to the chosen blocks of 4 KiB, so they are smaller than in the whole trace;"
    " --by request keeps them whole"
)


def formats() -> list[View]:
    """The formats traces are read from and, where `writable`, written to."""
    return [View(row) for row in json.loads(_core.formats())]


def info(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> TraceInfo:
    """Requests, sizes, footprint, duration and damage of a trace; its shape is in `profile`.

    The tables of the profile are columns of one length: `polars.DataFrame(info.profile.blocks)`.
    """
    chosen = _options(options)
    with _readable(paths) as files:
        return TraceInfo(json.loads(_core.trace_info(files, chosen, answering(progress))))


def mrc(
    paths: Paths,
    *,
    block: int = 4096,
    sample: float | None = None,
    blocks: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> MissRatioCurve:
    """The misses of an LRU cache of every size, from one pass.

    All blocks of `block` bytes are followed, or a sample: a share of them (`sample=0.01`), or so
    many at most (`blocks=65536`, with a share that falls as the trace touches more).
    """
    chosen = _options(options)
    if sample is not None and blocks is not None:
        raise TraceError(
            "both a share and a number of blocks to follow; give one", "conflicting-settings"
        )
    if sample is not None and not 0 < sample <= 1:
        raise TraceError(
            f"the share of blocks to follow is {sample}; it is above 0, at most 1", "out-of-range"
        )
    if blocks is not None:
        blocks = _whole("blocks", blocks, 64, 2**30)
    block = _block(block)
    with _readable(paths) as files:
        about, columns = _core.trace_misses(
            files, chosen, block, sample, blocks, _seed(seed), answering(progress)
        )
    return MissRatioCurve(_name(paths), json.loads(about), columns)


def caches(
    paths: Paths,
    policies: CachePolicy | Sequence[CachePolicy] = ("lru", "arc", "s3_fifo", "sieve"),
    sizes: str | int | Sequence[str | int] | None = None,
    *,
    block: int = 4096,
    sample: float | None = None,
    seed: int = 1,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> CacheCurves:
    """What caches of every policy and size miss, simulated side by side in one pass on all cores.

    A policy is a name, a table of its settings, or a class of yours (`nacre.policies.Replacement`),
    and `"all"` every one that Nacre has; a size is text as `"64 MiB"`, or bytes; one of each needs
    no list. Without sizes there are ten, each twice the one before, up to what the trace touches,
    which takes a look beforehand. With `sample=0.01`,
    caches are simulated in miniature: of each block all accesses are followed or none, in a cache
    of a hundredth of the size.
    """
    chosen = _options(options)
    share = 1.0 if sample is None else sample
    if not 0 < share <= 1:
        raise TraceError(
            f"the share of blocks to follow is {sample}; it is above 0, at most 1", "out-of-range"
        )
    block = _block(block)
    if isinstance(policies, str | type | Mapping):
        policies = [policies]
    sizes = [sizes] if isinstance(sizes, str | int) else sizes
    with _readable(paths) as files:
        bytes_ = _default_sizes(files, chosen, block) if sizes is None else _sizes(sizes)
        functions: dict[str, type] = {}
        named = [name for each in policies for name in _named(each, functions)]
        if not named:
            raise TraceError(
                'there is no policy to simulate; give one, as "lru"', "missing-setting"
            )
        blocks = _in_blocks(bytes_, block, share)
        brought: list[tuple[str, Callable[..., Any]]] = list(functions.items())
        try:
            text = _core.trace_policies(
                files,
                chosen,
                named,
                brought,
                blocks,
                block,
                share,
                _seed(seed),
                answering(progress),
            )
        except ConfigError as error:
            # A policy is read as a setting would be, which nobody gave.
            said = [cast("Problem", {**problem, "where": ""}) for problem in error.problems]
            raise config_error(said) from None
    return CacheCurves(_name(paths), json.loads(text))


CachePolicy: TypeAlias = "str | Mapping[str, object] | type"
"""A name, a table of settings, or a class of `nacre.policies.Replacement`."""


def _named(policy: CachePolicy, functions: dict[str, type]) -> list[str]:
    """A policy as the core reads it; for "all", those of the replacement family with a model.

    A class goes to the `functions`, under its name.
    """
    if policy == "all":
        return [model.kind for model in family("replacement") if model.kind != "external"]
    if isinstance(policy, type):
        name = policy.__name__
        while functions.get(name, policy) is not policy:
            name += "+"
        functions[name] = policy
        return [name]
    return [policy if isinstance(policy, str) else toml.value(policy)]


def fit(
    paths: Paths,
    *,
    seed: int = 1,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> FittedWorkload:
    """A workload with the shape of a trace and none of its addresses, and how close it comes."""
    chosen = _options(options)
    with _readable(paths) as files:
        text, found = _core.trace_fit(files, chosen, 4096, _seed(seed), answering(progress))
    return FittedWorkload(text, json.loads(found))


def read(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pl.DataFrame:
    """The requests of a trace, one per row: arrival, address, bytes, volume, operation."""
    chosen = _options(options)
    files = located(paths)
    if len(files) == 1 and is_parquet(files[0]):
        frame = _read_parquet(files[0])
        return frame.head(options.get("limit") or frame.height)
    with _readable(files) as native:
        return _frame(_core.trace_columns(native, chosen, answering(progress)))


def convert(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    replace: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Writes a trace in another format; `to` defaults to what the name of `output` says.

    A file that is there is replaced, unless `replace` is false; never one of `paths`.
    """
    chosen = _options(options)
    target, kind = _target(output, replace, paths), _writable(to, Path(output))
    with _readable(paths) as files:
        if kind == PARQUET:
            columns = _core.trace_columns(files, chosen, answering(progress))
            return _write_parquet(columns, target, replace)
        text = _core.trace_convert(files, str(target), kind, chosen, answering(progress))
        return View(json.loads(text))


def sample(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    fraction: float | None = None,
    by: Sampling = "block",
    seed: int = 1,
    to: str | None = None,
    replace: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Writes a share of a trace: of its blocks (which keeps reuse) or of its requests.

    A request that touches both chosen blocks and others is cut to the chosen ones. With
    `by="first"` it is the first `limit` requests. A file that is there is replaced, unless
    `replace` is false.
    """
    chosen = _options(options) | {"fraction": fraction, "by": by, "seed": _seed(seed)}
    target, kind = _target(output, replace, paths), _writable(to, Path(output))
    with _readable(paths) as files:
        if kind != PARQUET:
            text = _core.trace_sample(files, str(target), kind, chosen, answering(progress))
            written: dict[str, Any] = json.loads(text)
        else:
            with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
                native = str(Path(scratch) / f"sample.{NATIVE}")
                _core.trace_sample(files, native, NATIVE, chosen, answering(progress))
                plain = _options({"format": NATIVE})
                columns = _core.trace_columns([native], plain, None)
            written = _write_parquet(columns, target, replace).to_dict()
    notes = [_CUT] if by == "block" else []
    return View({**written, "notes": [*written["notes"], *notes]})


def shipped() -> list[str]:
    """The names of the traces that come with Nacre."""
    return sorted(
        path.name.removesuffix(_SHIPPED_ENDING) for path in _SHIPPED.glob(f"*{_SHIPPED_ENDING}")
    )


def is_parquet(path: str) -> bool:
    """Whether the name says Parquet."""
    return path.endswith(f".{PARQUET}")


def _name(paths: Paths) -> str:
    """What a curve is of, in a word."""
    listed = located(paths)
    return Path(listed[0]).name.removesuffix(_SHIPPED_ENDING) + (
        f" and {len(listed) - 1} more" if len(listed) > 1 else ""
    )


def _block(block: int) -> int:
    block = _whole("block", block, 512, 2**20)
    if block & (block - 1):
        raise TraceError(f"block is {block}; it is a power of two, as 4096", "invalid-value")
    return block


def _sizes(sizes: Sequence[str | int]) -> list[int]:
    """Sizes in bytes, the smallest first, each once."""
    found = []
    for given in sizes:
        known = quantity.maybe(given)
        if isinstance(given, int) and not isinstance(given, bool):
            found.append(given)
        elif known is not None and known.base == "bytes":
            found.append(int(known.value))
        else:
            raise TraceError(
                f'{given!r} is not the size of a cache; write one as "64 MiB"', "invalid-value"
            )
    return sorted(set(found))


def _in_blocks(sizes: Sequence[int], block: int, share: float) -> list[int]:
    """Sizes in blocks; raises `TraceError` for those that are too small to simulate."""
    least = 1 if share == 1 else math.ceil(_core.MINIATURE_BLOCKS_MIN / share)
    if not sizes or min(sizes) < least * block:
        given = f"{min(sizes):,} bytes" if sizes else "none"
        why = "" if share == 1 else f" for a sample of {100 * share:g} % of the blocks"
        raise TraceError(
            f"a size is {given}; the smallest is {least * block:,} bytes{why}"
            + ("" if share == 1 else ": give larger sizes, or a larger sample"),
            "out-of-range",
        )
    return [size // block for size in sizes]


def _default_sizes(files: list[str], chosen: dict[str, object], block: int) -> list[int]:
    """Ten sizes up to what a trace touches, from a sample of its blocks."""
    if any(not Path(file).is_file() for file in files):
        raise TraceError(
            "a stream is read once, and sizes are chosen beforehand; give --sizes", "not-supported"
        )
    about, _ = _core.trace_misses(files, chosen, block, None, _LOOK_BLOCKS, 1, None)
    largest = int(json.loads(about)["largest_bytes"])
    top = 1 << max(largest - 1, block).bit_length()
    return [size for size in (top >> power for power in reversed(range(10))) if size >= block]


@contextmanager
def _readable(paths: Paths) -> Iterator[list[str]]:
    """The files with Parquet turned into the native format for as long as the block lasts."""
    files = located(paths)
    if not any(is_parquet(file) for file in files):
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
        native = []
        for index, file in enumerate(files):
            if is_parquet(file):
                frame, file = _read_parquet(file), str(Path(scratch) / f"{index}.{NATIVE}")
                _core.trace_from_columns(_columns(frame), file, NATIVE)
            native.append(file)
        yield native


def _read_parquet(file: str) -> pl.DataFrame:
    import polars as pl

    if not Path(file).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    try:
        frame = pl.read_parquet(file)
        missing = [name for name in COLUMNS if name not in frame.columns]
        if missing:
            raise TraceError(
                f"{file}: not a trace: no column {', '.join(missing)};"
                f" a trace has {', '.join(COLUMNS)}",
                "invalid-content",
            )
        return frame.select(
            pl.col("arrival_ps").cast(pl.UInt64),
            pl.col("address").cast(pl.UInt64),
            pl.col("bytes").cast(pl.UInt32),
            pl.col("volume").cast(pl.UInt32),
            pl.col("op").cast(pl.String).cast(pl.Enum(OPS)),
        )
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"{file}: {error}", "invalid-content") from None


def _frame(columns: dict[str, np.ndarray[Any, Any]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({name: columns[name] for name in COLUMNS})
    return frame.with_columns(pl.col("op").cat.to(pl.Enum(OPS)))


def _columns(frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    import polars as pl

    plain = frame.with_columns(pl.col("op").to_physical().cast(pl.UInt8))
    return {name: plain[name].to_numpy() for name in COLUMNS}


def _write_parquet(columns: dict[str, np.ndarray[Any, Any]], target: Path, replace: bool) -> View:
    frame = _frame(columns)
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    write_file(target, buffer.getvalue(), replace=replace)
    size = buffer.getbuffer().nbytes
    return View({"records": frame.height, "bytes": size, "complete": True, "notes": []})


def _target(output: str | os.PathLike[str], replace: bool, paths: Paths) -> Path:
    """Where to write; raises `TraceError` or `OSError` for what a file must not replace."""
    if not os.fspath(output):
        raise TraceError("the name of the file to write is empty", "missing-setting")
    target = Path(_text(str(Path(output).absolute())))
    if target.exists() and not target.is_file():
        raise TraceError(
            f"{output}: not a file; a trace is written to a file of its own", "not-a-file"
        )
    look_apart(Path(output), located(paths))
    look(Path(output), replace=replace)
    return target


def _writable(to: str | None, output: Path) -> str:
    """The format to write; raises `TraceError` for one that is unknown or only read."""
    rows = formats()
    known = [row.kind for row in rows if row.writable] + [PARQUET]
    endings = [ending for ending in output.suffixes if ending not in _COMPRESSIONS]
    suffix = endings[-1].removeprefix(".") if endings else ""
    if to is None:
        by_name = [row.kind for row in rows if row.writable and suffix in row.extensions]
        kind = PARQUET if suffix == PARQUET else by_name[0] if len(by_name) == 1 else None
        if kind is None:
            raise TraceError(
                f'the name "{output.name}" does not say which format to write;'
                f" say it with --to (`to=`): {', '.join(known)}",
                "missing-setting",
            )
        return str(kind)
    if to not in known:
        meant = nearest(to, known)
        hint = f'; did you mean "{meant}"?' if meant else ""
        raise TraceError(
            f'cannot write format "{to}"; known: {", ".join(known)}{hint}', "unknown-name"
        )
    return to


def located(paths: Paths) -> list[str]:
    """The files that paths and names of shipped traces stand for."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    files = [_located(os.fspath(path)) for path in paths]
    if not files:
        raise TraceError("no trace file given", "missing-setting")
    return files


def _located(name: str | bytes) -> str:
    """The path, or that of the shipped trace of this name."""
    name = _text(os.fsdecode(name))
    if name == "-":
        return "/dev/stdin"
    if not Path(name).exists() and Path(name).name == name:
        if name in shipped():
            return str(_SHIPPED / f"{name}{_SHIPPED_ENDING}")
        if meant := nearest(name, shipped()):
            what = f'no such file; did you mean the shipped trace "{meant}"?'
            raise FileNotFoundError(errno.ENOENT, what, name)
    return name


def _text(name: str) -> str:
    """The name of a file, which the model takes as text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise TraceError(
            f"{printable(name)}: its name is not UTF-8; rename it", "invalid-value"
        ) from None
    return name


def _options(options: Options) -> dict[str, object]:
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
        chosen["limit"] = _whole("limit", limit, 1, LIMIT_MAX)
    return chosen


def _page(page: str | int) -> int:
    """Bytes between neighboring objects, or of a page."""
    known = None if isinstance(page, int) else quantity.maybe(page)
    if known is not None and known.base == "bytes":
        return int(known.value)
    if isinstance(page, int) or page.isdigit():
        return int(page)
    raise TraceError(f'page is {page!r}; it is a size, as 512 or "4 KiB"', "invalid-value")


def _seed(seed: int) -> int:
    return _whole("seed", seed, 0, SEED_MAX)


def _whole(name: str, value: int, least: int, most: int) -> int:
    """The whole number, if it is one and in range."""
    number = operator.index(value)
    if not least <= number <= most:
        raise TraceError(
            f"{name} is {number}; it is a whole number from {least} to {most}", "out-of-range"
        )
    return number
