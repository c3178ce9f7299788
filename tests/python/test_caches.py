"""Tests simultaneous simulation of several cache policies: exact and sampled, per block and per
byte."""

from pathlib import Path

import polars as pl
import pytest
from nacre import traces
from nacre.errors import ConfigError, TraceError
from nacre.results.curves import CacheCurves
from nacre.scenario.models import family
from refusing import fails_with

KiB, MiB = 1 << 10, 1 << 20
POLICIES = ("lru", "arc", "s3_fifo", "sieve")


@pytest.fixture(scope="module")
def curves() -> CacheCurves:
    return traces.caches("pgbench", POLICIES, ["16 MiB", "128 MiB"], limit=60_000)


def test_the_lru_curve_equals_the_stack_distance_curve(curves: CacheCurves) -> None:
    stack = traces.mrc("pgbench", limit=60_000)
    assert curves.sizes == [16 * MiB, 128 * MiB]
    for size in curves.sizes:
        for kind in curves.kinds():
            found = curves.miss_ratio("lru", size, kind)
            assert found == pytest.approx(stack.miss_ratio(size, kind), abs=1e-12)
            assert curves.ci95("lru", size, kind) == 0
    with pytest.raises(TraceError, match="no arc of 5 bytes was simulated"):
        curves.miss_ratio("arc", 5)


def test_policies_differ_and_the_frame_has_a_row_for_each(curves: CacheCurves) -> None:
    assert "byte_all" in curves.to_polars().columns
    frame = curves.to_polars("block")
    assert frame.columns == ["policy", "bytes", "all", "reads", "writes"]
    assert frame.height == 8
    assert frame.filter(pl.col("bytes") == 16 * MiB)["all"].n_unique() > 2
    assert repr(curves).startswith("<nacre.CacheCurves pgbench: lru, arc, s3_fifo, sieve at 2 ")


def test_one_policy_and_one_size_need_no_list() -> None:
    alone = traces.caches("pgbench", "lru", "1 MiB", limit=1000)
    assert (alone.policies, alone.sizes) == (["lru"], [MiB])
    every = traces.caches("pgbench", "all", MiB, limit=1000)
    assert len(every.policies) > 5


def test_byte_miss_ratios_are_weighted_by_the_requested_bytes(tmp_path: Path) -> None:
    # Computed by hand for a cache of two blocks. Accesses: 512 B of block 0, all of 1, of 0 again,
    # of 2 (evicts 1), and of 1.
    rows = [(0, 512), (1, 4096), (0, 4096), (2, 4096), (1, 1024)]
    file = tmp_path / "small.csv"
    text = "".join(f"{n},R,{block * 4096},{size},{n}\n" for n, (block, size) in enumerate(rows))
    file.write_text(text.replace("0,R", "0,R", 1))
    found = traces.caches(file, ["lru"], [8 * KiB], format="alibaba")
    assert found.miss_ratio("lru", 8 * KiB) == 5 / 5  # each line has a different volume
    one = "".join(f"0,R,{block * 4096},{size},{n}\n" for n, (block, size) in enumerate(rows))
    file.write_text(one)
    found = traces.caches(file, ["lru"], [8 * KiB], format="alibaba")
    assert found.miss_ratio("lru", 8 * KiB) == 4 / 5
    missed = 512 + 4096 + 4096 + 1024
    assert found.miss_ratio("lru", 8 * KiB, by="byte") == missed / sum(size for _, size in rows)


def test_a_sampled_curve_has_confidence_intervals(curves: CacheCurves) -> None:
    tenth = traces.caches("pgbench", POLICIES, ["128 MiB"], sample=0.1, limit=60_000)
    assert tenth.sampled
    off = 0.0
    for policy in POLICIES:
        whole, found = curves.miss_ratio(policy, 128 * MiB), tenth.miss_ratio(policy, 128 * MiB)
        within = tenth.ci95(policy, 128 * MiB)
        assert whole is not None
        assert found is not None
        assert within is not None
        assert 0 < within < 0.1
        off = max(off, abs(found - whole) / within)
    assert off < 2, "half-widths of 95 %"
    with pytest.raises(TraceError, match="the smallest is 2,621,440 bytes for a sample of 10 %"):
        traces.caches("pgbench", POLICIES, ["1 MiB"], sample=0.1)


def test_errors_are_reported() -> None:
    with pytest.raises(ConfigError, match=r'^policy: there is no replacement called "lruu"'):
        traces.caches("pgbench", ["lruu"], ["1 MiB"])
    with fails_with("invalid-value", TraceError):
        traces.caches("pgbench", ["lru"], ["1 ms"])
    with fails_with("missing-setting", TraceError):
        traces.caches("pgbench", [], ["1 MiB"])


def test_all_selects_every_policy_of_the_family() -> None:
    found = traces.caches("pgbench", ["all"], ["1 MiB"], limit=1000)
    kinds = [model.kind for model in family("replacement")]
    assert [*found.policies, "external"] == kinds


def test_policies_accept_settings_and_sizes_accept_several_forms(tmp_path: Path) -> None:
    given: list[str | dict[str, object]] = [{"kind": "two_q", "newcomers": "50 %"}, "two_q"]
    found = traces.caches("pgbench", given, ["16 MiB"], limit=20_000)
    assert len(found.policies) == 2
    for suffix in ("csv", "parquet", "json", "svg"):
        found.save(tmp_path / f"caches.{suffix}")
        assert (tmp_path / f"caches.{suffix}").stat().st_size > 100
    assert pl.read_csv(tmp_path / "caches.csv").columns[:3] == ["policy", "bytes", "all"]
    assert "<svg" in found._repr_html_()


def test_default_sizes_depend_on_the_footprint() -> None:
    found = traces.caches("pgbench", ["lru"], limit=20_000)
    assert len(found.sizes) == 10
    ratios = [found.miss_ratio("lru", size) or 1.0 for size in found.sizes]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] < ratios[0]


def test_a_trace_without_reuse_has_sizes_for_a_sample(tmp_path: Path) -> None:
    trace = tmp_path / "once.csv"
    rows = [f"{at},write,{at << 20},{1 << 20}" for at in range(256)]
    trace.write_text("\n".join(["timestamp_us,op,offset,length", *rows]))
    found = traces.caches(trace, "lru", sample=0.25)
    assert found.sizes
    assert {found.miss_ratio("lru", size) for size in found.sizes} == {1.0}
