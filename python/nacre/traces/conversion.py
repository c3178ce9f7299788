"""Converts and samples traces."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, Unpack

from nacre import _core
from nacre.base.progress import answering
from nacre.base.view import View
from nacre.errors import TraceError, nearest
from nacre.files.atomic import look, look_apart
from nacre.traces.frames import NATIVE, readable, write_parquet
from nacre.traces.inputs import (
    PARQUET,
    Options,
    Paths,
    Progress,
    as_text,
    chosen_options,
    located,
    seed_in_range,
)

Sampling = Literal["block", "request", "first"]

_COMPRESSIONS = (".gz", ".zst", ".xz")
_CUT = (
    "requests are cut to the chosen blocks of 4 KiB, so they are smaller than in the whole trace;"
    " --by request keeps them whole"
)


def formats() -> list[View]:
    """Returns the supported trace formats. Formats with `writable` can also be written."""
    return [View(row) for row in json.loads(_core.formats())]


def convert(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    replace: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Converts a trace to another format. By default, the suffix of `output` determines the format.

    If `replace` is false, an existing file is not replaced. Files in `paths` are never replaced.
    """
    chosen = chosen_options(options)
    target, kind = _target(output, replace, paths), _writable(to, Path(output))
    with readable(paths) as files:
        if kind == PARQUET:
            columns = _core.trace_columns(files, chosen, answering(progress))
            return write_parquet(columns, target, replace)
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
    """Writes a sample of a trace: the requests to sampled blocks, or sampled requests.

    A sample of blocks preserves reuse. If a request accesses sampled and other blocks, only the
    part with the sampled blocks is written. With `by="first"`, the first `limit` requests are
    written. If `replace` is false, an existing file is not replaced.
    """
    chosen = chosen_options(options) | {"fraction": fraction, "by": by, "seed": seed_in_range(seed)}
    target, kind = _target(output, replace, paths), _writable(to, Path(output))
    with readable(paths) as files:
        if kind != PARQUET:
            text = _core.trace_sample(files, str(target), kind, chosen, answering(progress))
            written: dict[str, Any] = json.loads(text)
        else:
            with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
                native = str(Path(scratch) / f"sample.{NATIVE}")
                _core.trace_sample(files, native, NATIVE, chosen, answering(progress))
                plain = chosen_options({"format": NATIVE})
                columns = _core.trace_columns([native], plain, None)
            written = write_parquet(columns, target, replace).to_dict()
    notes = [_CUT] if by == "block" else []
    return View({**written, "notes": [*written["notes"], *notes]})


def _target(output: str | os.PathLike[str], replace: bool, paths: Paths) -> Path:
    """Returns the absolute output path.

    Raises `TraceError` or `OSError` if an existing file must not be replaced.
    """
    if not os.fspath(output):
        raise TraceError("the name of the file to write is empty", "missing-setting")
    target = Path(as_text(str(Path(output).absolute())))
    if target.exists() and not target.is_file():
        raise TraceError(f"{output}: not a file; a trace is written to its own file", "not-a-file")
    look_apart(Path(output), located(paths))
    look(Path(output), replace=replace)
    return target


def _writable(to: str | None, output: Path) -> str:
    """Returns the output format.

    Raises `TraceError` if the format is unknown or cannot be written.
    """
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
