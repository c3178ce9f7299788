"""Runs the examples, and checks that their output is consistent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EQUAL_COST = Path(__file__).parents[2] / "examples" / "equal_cost_caches.py"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EQUAL_COST), *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Returns a trace of three sequential passes over 640 blocks. Only a cache that holds all of
    these blocks has hits."""
    rows = (
        f"{128166372003061629 + 20_000 * i},hm,0,Read,{4096 * (i % 640)},4096,1"
        for i in range(1920)
    )
    file = tmp_path / "loop.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def test_caches_of_one_size_have_equal_cost_and_the_expected_hits(trace: Path) -> None:
    done = run("--trace", trace, "--share", "0.5", "--share", "1", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 2 * 2 * 4
    for share, parts in ((0.5, 20), (1.0, 40)):
        group = [row for row in rows if row["share"] == share]
        assert len({round(row["cost"], 9) for row in group}) == 1
        assert {row["flash_bytes"] for row in group} == {n * parts * 4096 for n in (16, 0, 8, 12)}
        for row in group:
            assert row["hit_ratio"] == pytest.approx(row["pcm_hit_ratio"] + row["flash_hit_ratio"])
    looped = {(row["share"], row["cache"]): row for row in rows if row["workload"] == "trace"}
    assert looped[1.0, "64 flash"]["hit_ratio"] == pytest.approx(2 / 3)
    others = [row["hit_ratio"] for key, row in looped.items() if key != (1.0, "64 flash")]
    assert others == [0.0] * 7


def test_the_table_names_the_fastest_cache_and_the_figures_are_written(
    trace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("--trace", trace, "--share", "1", "--theta", "0", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "-> flash alone reads fastest on average" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "latency-trace-1.png",
        "latency-trace-1.svg",
        "mean-latency-trace.png",
        "mean-latency-trace.svg",
        "records",
    ]
    assert len(list((out / "records").rglob("record.json"))) == 4


@pytest.mark.parametrize("arguments", [["--trace", "nowhere.csv"], ["--share", "2"]])
def test_an_error_is_reported_without_a_traceback(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
