"""Tests statistics of traces, miss ratios of caches, and fitted workloads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nacre
import numpy as np
import polars as pl
import pytest
from nacre import traces
from nacre.words.traces import trace_shape
from refusing import fails_with

SAMPLES = os.environ.get("NACRE_SAMPLES")
"""Folder with published traces, which the repository does not contain."""


def nacre_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nacre", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=60, check=False)


def written(path: Path, blocks: list[int], writes: list[bool]) -> Path:
    """Writes a trace with an access to a block of 4 KiB every millisecond. Returns its path."""
    rows = [
        f"{128166372003061629 + 10_000 * i},hm,0,{'Write' if w else 'Read'},{4096 * b},4096,1"
        for i, (b, w) in enumerate(zip(blocks, writes, strict=True))
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def zipf(tmp_path: Path) -> Path:
    """Returns a trace with a Zipf distribution (exponent 0.8). One third of its requests are
    writes."""
    draw = np.random.default_rng(7)
    weights = np.arange(1, 2001) ** -0.8
    blocks = draw.choice(2000, 60_000, p=weights / weights.sum())
    places = draw.permutation(2000)
    return written(tmp_path / "zipf.csv", list(places[blocks]), list(draw.random(60_000) < 1 / 3))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Returns a trace of the blocks 1 2 3 1 2 3 3. The last two accesses are writes."""
    return written(tmp_path / "small.csv", [1, 2, 3, 1, 2, 3, 3], [False] * 5 + [True] * 2)


def lru_misses(blocks: list[int], size: int) -> int:
    held: list[int] = []
    misses = 0
    for block in blocks:
        if block in held:
            held.remove(block)
        else:
            misses += 1
            del held[: max(0, len(held) - size + 1)]
        held.append(block)
    return misses


def test_a_curve_has_the_misses_of_every_cache_size(zipf: Path) -> None:
    curve = traces.mrc(zipf, limit=5000)
    blocks = (traces.read(zipf, limit=5000)["address"] // 4096).to_list()
    for size in (1, 2, 10, 100, 500, 2000):
        assert curve.miss_ratio(size * 4096) == pytest.approx(lru_misses(blocks, size) / 5000)
    frame = curve.to_polars()
    assert frame.columns == ["bytes", "all", "reads", "writes"]
    assert frame["all"].is_sorted(descending=True)
    assert curve.steps()["blocks"].is_sorted()


def test_reads_and_writes_are_counted_separately_and_levels_share_one_stack(small: Path) -> None:
    curve = traces.mrc(small)
    assert [curve.hits(4096 * n) for n in (0, 1, 2, 3, 9)] == [0, 1, 1, 4, 4]
    assert (curve.hits(3 * 4096, "reads"), curve.hits(3 * 4096, "writes")) == (2, 2)
    assert curve.miss_ratio(4096, "writes") == 0.5
    assert curve.two_levels(4096, 2 * 4096) == (1 / 7, 3 / 7)
    with pytest.raises(ValueError, match="it is one of: all, reads, writes"):
        curve.hits(1, "trims")  # type: ignore[arg-type]


def test_a_sample_has_confidence_intervals(zipf: Path) -> None:
    exact = traces.mrc(zipf)
    for sample, blocks in ((0.2, None), (None, 400)):
        sampled = traces.mrc(zipf, seed=3, sample=sample, blocks=blocks)
        assert sampled.sampled
        assert sampled.about.sample_rate == pytest.approx(0.2, rel=0.15)
        assert "all_ci95" in sampled.to_polars().columns
        for size in (200 * 4096, 1000 * 4096):
            off = abs(sampled.miss_ratio(size) - exact.miss_ratio(size))
            assert off < 2 * sampled.ci95(size) < 0.3
    assert not exact.sampled
    assert exact.ci95(4096) == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json", "svg", "html"])
def test_a_curve_is_written_in_the_format_of_its_suffix(
    small: Path, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"curve.{suffix}"
    done = nacre_command("trace", "mrc", small, "-o", target)
    assert (done.returncode, done.stdout) == (0, f"{target}: 3 sizes\n"), done.stderr
    if suffix == "csv":
        assert pl.read_csv(target).equals(traces.mrc(small).to_polars())
    elif suffix == "json":
        assert json.loads(target.read_text()) == traces.mrc(small).to_dict()
    elif suffix in ("svg", "html"):
        assert "miss ratio" in target.read_text()


def test_invalid_arguments_for_a_curve_are_rejected_without_side_effects(
    small: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("old")
    done = nacre_command("trace", "mrc", small, "-o", kept)
    assert done.returncode == 2
    assert "does not say how to write a curve" in done.stderr
    assert kept.read_text() == "old"
    for wrong, expected in (
        ({"sample": 0.0}, "above 0, at most 1"),
        ({"sample": 0.1, "blocks": 100}, "give one"),
        ({"blocks": 3}, "from 64"),
        ({"block": 5000}, "power of two"),
    ):
        with pytest.raises(nacre.errors.TraceError, match=expected):
            traces.mrc(small, **wrong)


def test_a_profile_has_tables_of_one_length(zipf: Path) -> None:
    profile = traces.info(zipf).profile
    for name in ("blocks", "extents", "misses", "gaps", "reuse", "working_set", "timeline"):
        table = {key: list(v) for key, v in profile[name].items() if isinstance(v, tuple)}
        assert pl.DataFrame(table).height > 0, name
    assert profile.zipf_theta == pytest.approx(0.8, abs=0.04)
    counts = traces.read(zipf).group_by("address").len()["len"].to_numpy()
    counts = np.sort(counts)[::-1]
    for hottest, share in zip(profile.blocks.hottest, profile.blocks.accesses, strict=True):
        rank = round(hottest * len(counts))
        assert share == pytest.approx(counts[:rank].sum() / counts.sum())


def test_a_cache_of_a_small_share_has_at_least_one_block(tmp_path: Path) -> None:
    rows = "0,read,0,4096\n1,read,8192,4096\n2,read,8192,4096\n3,read,4096,4096\n"
    file = tmp_path / "few.csv"
    file.write_text("timestamp_us,op,offset,length\n" + rows)
    shown = {row[0]: row[1] for row in trace_shape(traces.info(file)).rows}
    assert shown["LRU cache of 1.0 %"] == "75.0 % misses (4 KiB)"


def test_a_cache_larger_than_the_curve_has_the_misses_of_its_end(tmp_path: Path) -> None:
    # Every block is accessed twice in a row. A cache of one block therefore has hits for half of
    # the accesses.
    file = written(tmp_path / "twice.csv", [i // 2 for i in range(2000)], [False] * 2000)
    shown = {row[0]: row[1] for row in trace_shape(traces.info(file)).rows}
    assert shown["LRU cache of 1.0 %"] == "50.0 % misses (40 KiB)"
    assert shown["LRU cache of 10.0 %"] == "50.0 % misses (400 KiB)"


def test_a_page_shows_all_tables_of_a_trace_and_is_self_contained(
    zipf: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    done = nacre_command("trace", "info", zipf, "--html", page)
    assert (done.returncode, done.stdout) == (0, f"{page}: 60,000 requests\n"), done.stderr
    text = page.read_text()
    assert text.count("<svg") == 7
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_a_trace_without_times_or_without_requests_is_described(tmp_path: Path) -> None:
    untimed = tmp_path / "untimed.lis"
    untimed.write_text("".join(f"{64 * i % 640} 8 0 {i}\n" for i in range(100)))
    info = traces.info(untimed, format="arc")
    assert info.profile.timeline is None
    assert info.profile.misses.bytes
    page = tmp_path / "page.html"
    done = nacre_command("trace", "info", untimed, "--format", "arc", "--html", page)
    assert done.returncode == 0, done.stderr
    assert page.read_text().count("<svg") == 3
    fitted = traces.fit(untimed, format="arc")
    assert "arrival" not in fitted.text
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    for command in ("info", "mrc", "fit"):
        done = nacre_command("trace", command, empty)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {empty}")


def test_a_trace_with_only_trims_has_no_curve_and_no_fit(tmp_path: Path) -> None:
    trims = tmp_path / "trims.iolog"
    trims.write_text("fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a trim 0 4096\n")
    assert traces.info(trims).trims == 1
    assert nacre_command("trace", "info", trims).returncode == 0
    for make in (traces.mrc, traces.fit):
        with fails_with("invalid-value", nacre.errors.TraceError):
            make(trims)


def test_a_fitted_workload_runs_and_has_no_address_of_the_trace(zipf: Path, tmp_path: Path) -> None:
    target = tmp_path / "shape.toml"
    done = nacre_command("trace", "fit", zipf, "-o", target)
    assert done.returncode == 0, done.stderr
    fitted = traces.fit(zipf)
    assert target.read_text() == fitted.text
    assert fitted.zipf_theta == pytest.approx(0.8, abs=0.04)
    for curve in ("misses", "read share", "request sizes"):
        assert fitted.closeness[curve] < 0.03, curve
    record = nacre.run(target, {"stack.preset": "network_store"})
    assert record.requests.completed == 60_000
    moved = tmp_path / "moved.csv"
    rows = [line.split(",") for line in zipf.read_text().splitlines()]
    shifted = [[*row[:4], str(int(row[4]) + 2**40), *row[5:]] for row in rows]
    moved.write_text("".join(",".join(row) + "\n" for row in shifted))
    assert traces.fit(moved).text == fitted.text, "where a trace lies leaves no mark"


@pytest.mark.skipif(SAMPLES is None, reason="needs NACRE_SAMPLES, see make test-samples")
@pytest.mark.parametrize(
    ("name", "tolerances"),
    [
        ("cloudphysics.vscsi", {"misses": 0.1, "read share": 0.01, "request sizes": 0.03}),
        ("mqsim_tpcc-small.trace", {"misses": 0.06, "popularity of blocks": 0.06}),
        ("umass_Financial1_prefix.ssdsim.ascii", {"misses": 0.16, "request sizes": 0.03}),
    ],
)
def test_fitted_workloads_are_similar_to_real_traces(
    name: str, tolerances: dict[str, float]
) -> None:
    closeness = traces.fit(Path(str(SAMPLES)) / name, limit=20_000).closeness
    for curve, most in tolerances.items():
        assert closeness[curve] <= most, closeness
