"""Analyzes traces, computes miss ratios, and fits workloads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, Unpack, cast

from nacre import _core
from nacre.base import quantity, toml
from nacre.base.progress import answering
from nacre.errors import ConfigError, Problem, TraceError, config_error
from nacre.results.curves import CacheCurves, MissRatioCurve
from nacre.results.traces import FittedWorkload, TraceInfo
from nacre.scenario.models import family
from nacre.traces.frames import readable
from nacre.traces.inputs import (
    Options,
    Paths,
    Progress,
    chosen_options,
    name_of,
    seed_in_range,
    whole,
)

_LOOK_BLOCKS = 4096
"""Number of blocks to sample for an estimate of the footprint of a trace."""
CachePolicy: TypeAlias = "str | Mapping[str, object] | type"
"""Name of a policy, table of its settings, or class of type `nacre.policies.Replacement`."""


def info(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> TraceInfo:
    """Analyzes a trace: requests, sizes, footprint, duration, and damage.

    `profile` contains details.

    Each table of the profile consists of columns of equal length, so
    `polars.DataFrame(info.profile.blocks)` is possible.
    """
    chosen = chosen_options(options)
    with readable(paths) as files:
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
    """Computes the miss ratios of LRU caches of every size in one pass.

    By default, all blocks of `block` bytes are tracked. A sample is a share of the blocks
    (`sample=0.01`) or a maximum number of blocks (`blocks=65536`). With a maximum number, the share
    decreases as the footprint grows.
    """
    chosen = chosen_options(options)
    if sample is not None and blocks is not None:
        raise TraceError(
            "both a share and a number of blocks to follow; give one", "conflicting-settings"
        )
    _share(sample)
    if blocks is not None:
        blocks = whole("blocks", blocks, 64, 2**30)
    block = _block(block)
    with readable(paths) as files:
        about, columns = _core.trace_misses(
            files, chosen, block, sample, blocks, seed_in_range(seed), answering(progress)
        )
    return MissRatioCurve(name_of(paths), json.loads(about), columns)


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
    """Computes the miss ratios of every policy and size in one pass, on all cores.

    A policy is a name, a table of settings, or your class (`nacre.policies.Replacement`). `"all"`
    selects every built-in policy. A size is text such as `"64 MiB"`, or a number of bytes. A single
    policy or size does not need a list. By default, there are ten sizes, each twice the previous
    size, up to the footprint of the trace. A short additional pass estimates the footprint. With
    `sample=0.01`, smaller caches are simulated: all accesses to 1 % of the blocks are tracked, in a
    cache of 1 % of the size.
    """
    chosen = chosen_options(options)
    share = _share(sample)
    block = _block(block)
    if isinstance(policies, str | type | Mapping):
        policies = [policies]
    sizes = [sizes] if isinstance(sizes, str | int) else sizes
    with readable(paths) as files:
        bytes_ = _default_sizes(files, chosen, block, share) if sizes is None else _sizes(sizes)
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
                seed_in_range(seed),
                answering(progress),
            )
        except ConfigError as error:
            # The core reads a policy as a setting, but this location has no meaning for the user.
            said = [cast("Problem", {**problem, "where": ""}) for problem in error.problems]
            raise config_error(said) from None
    return CacheCurves(name_of(paths), json.loads(text))


def fit(
    paths: Paths,
    *,
    seed: int = 1,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> FittedWorkload:
    """Fits a synthetic workload to the statistics of a trace.

    The workload contains no addresses of the trace.
    """
    chosen = chosen_options(options)
    with readable(paths) as files:
        text, found = _core.trace_fit(files, chosen, 4096, seed_in_range(seed), answering(progress))
    return FittedWorkload(text, json.loads(found))


def _named(policy: CachePolicy, functions: dict[str, type]) -> list[str]:
    """Returns the names by which the core finds a policy. "all" stands for all built-in policies.

    A class is added to `functions` under a name.
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


def _share(sample: float | None) -> float:
    """Returns the share of the blocks to track, which is 1 if `sample` is None."""
    share = 1.0 if sample is None else sample
    if not 0 < share <= 1:
        raise TraceError(
            f"the share of blocks to follow is {sample}; it is above 0, at most 1", "out-of-range"
        )
    return share


def _block(block: int) -> int:
    block = whole("block", block, 512, 2**20)
    if block & (block - 1):
        raise TraceError(f"block is {block}; it is a power of two, as 4096", "invalid-value")
    return block


def _sizes(sizes: Sequence[str | int]) -> list[int]:
    """Converts sizes to bytes. Returns distinct sizes in ascending order."""
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
    """Converts sizes to blocks. Raises `TraceError` for sizes that are too small to simulate."""
    least = _least(share)
    if not sizes or min(sizes) < least * block:
        given = f"{min(sizes):,} bytes" if sizes else "none"
        why = "" if share == 1 else f" for a sample of {100 * share:g} % of the blocks"
        raise TraceError(
            f"a size is {given}; the smallest is {least * block:,} bytes{why}"
            + ("" if share == 1 else ": give larger sizes, or a larger sample"),
            "out-of-range",
        )
    return [size // block for size in sizes]


def _least(share: float) -> int:
    """Returns the minimum size of a cache in blocks if this share of the blocks is tracked."""
    return 1 if share == 1 else math.ceil(_core.MINIATURE_BLOCKS_MIN / share)


def _default_sizes(
    files: list[str], chosen: dict[str, object], block: int, share: float
) -> list[int]:
    """Returns ten sizes up to the footprint, which is estimated from a sample.

    A small footprint gives fewer sizes.

    At least one of the sizes can be simulated with the given share of blocks.
    """
    if any(not Path(file).is_file() for file in files):
        raise TraceError(
            "a stream is read once, and sizes are chosen beforehand; give --sizes", "not-supported"
        )
    about, _ = _core.trace_misses(files, chosen, block, None, _LOOK_BLOCKS, 1, None)
    largest = int(json.loads(about)["largest_bytes"])
    least = _least(share) * block
    top = 1 << max(largest - 1, least - 1, block).bit_length()
    return [size for size in (top >> power for power in reversed(range(10))) if size >= least]
