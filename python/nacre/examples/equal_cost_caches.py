"""Which server cache is best at equal cost: flash, PCM, or both?

Kim et al. ask this question in "Evaluating Phase Change Memory for Enterprise Storage Systems"
(FAST '14). An application server caches blocks of a network store in a write-through LRU cache. A
gigabyte of PCM costs as much as four gigabytes of flash, so the following caches cost the same:

    64 G flash | 16 G PCM | 8 G PCM + 32 G flash | 4 G PCM + 48 G flash

The paper compares them at three sizes. In this example, a size is a share of the blocks that the
trace accesses (`--share`). The all-flash cache holds this share, and the other caches have equal
cost. The best cache depends on the skew of the requests. Therefore, the caches are also simulated
with Zipf-distributed requests (`--theta`). Their number, rate, kind, and footprint are those of the
trace.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nacre
from nacre.base.view import View
from nacre.results.record import Activity

BLOCK = 4096
PARTS_OF_BAR = {"PCM": "#009E73", "flash": "#0072B2", "network store": "#C8C8C8"}
SHARES = (0.25, 0.5, 1.0)
PARTS = 16  # capacities are in units of 1/16 of the all-flash cache


@dataclass(frozen=True)
class Cache:
    """PCM and flash capacities of a cache, in units of 1/16 of the all-flash capacity."""

    name: str
    pcm: int
    flash: int


CACHES = (
    Cache("64 flash", pcm=0, flash=16),
    Cache("16 PCM", pcm=4, flash=0),
    Cache("8 PCM + 32 flash", pcm=2, flash=8),
    Cache("4 PCM + 48 flash", pcm=1, flash=12),
)


@dataclass(frozen=True)
class Workload:
    """A workload, with its name and its footprint in bytes."""

    name: str
    table: dict[str, object]
    footprint: int


@dataclass(frozen=True)
class Result:
    """The record of one cache with one size, for one workload."""

    workload: str
    share: float
    cache: Cache
    part_bytes: int
    record: nacre.results.Record

    def read_us(self, statistic: str) -> float:
        """Returns a statistic of the read latency in microseconds, e.g. `mean` or `p99`."""
        summary = self.record.latency.read
        if summary is None:
            raise nacre.errors.Error(
                "the trace has no reads, so there is no read latency to compare"
            )
        return float(summary[f"{statistic}_ns"]) / 1000

    def hit_ratios(self) -> tuple[float, float]:
        """Returns the shares of block reads that hit in PCM and in flash."""
        counters = self.record.components[0].counters
        blocks = counters.read_hits + counters.read_misses + counters.read_merged
        levels = [counters.get(f"level{i}_read_hits", 0) / max(blocks, 1) for i in (0, 1)]
        return (levels[0], levels[1]) if self.cache.pcm else (0.0, levels[0])

    def row(self) -> dict[str, object]:
        """Returns the result as one row of a table."""
        pcm, flash = self.hit_ratios()
        latencies = {f"{name}_us": self.read_us(name) for name in ("mean", "p50", "p95", "p99")}
        return {
            "workload": self.workload,
            "share": self.share,
            "cache": self.cache.name,
            "pcm_bytes": self.cache.pcm * self.part_bytes,
            "flash_bytes": self.cache.flash * self.part_bytes,
            "cost": self.record.cost,
            "hit_ratio": pcm + flash,
            "pcm_hit_ratio": pcm,
            "flash_hit_ratio": flash,
            **latencies,
        }


def main() -> int:
    """Simulates every cache with every size, prints the table, and writes the figures."""
    options = parse()
    try:
        info = nacre.traces.info(options.trace)
        results = [
            simulate(options, workload, share, cache)
            for workload in workloads(options, info)
            for share in options.share
            for cache in CACHES
        ]
        if options.json:
            rows = [result.row() for result in results]
            print(json.dumps({"trace": options.trace, "rows": rows}, indent=2))
        else:
            show(options, info, results)
        if options.out:
            write(options.out, results)
    except (nacre.errors.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        user_errors = (nacre.errors.ConfigError, nacre.errors.TraceError, FileNotFoundError)
        return 2 if isinstance(error, user_errors) else 1
    return 0


def parse() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(
        description="Equal-cost server caches of flash, PCM and both, compared on a trace."
    )
    parser.add_argument(
        "--trace", default="pgbench", help="trace file, or name of a built-in trace"
    )
    parser.add_argument(
        "--share",
        type=share,
        action="append",
        help="share of the trace's blocks that the all-flash cache holds (repeatable)",
    )
    parser.add_argument(
        "--theta",
        type=float,
        default=0.9,
        help="exponent of the Zipf distribution; 0 omits the Zipf workload",
    )
    parser.add_argument("--warm-up", type=int, default=0, help="requests before measuring begins")
    parser.add_argument("--policy", default="lru", help="replacement policy of every level")
    parser.add_argument("--out", type=Path, help="write records and figures to this directory")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    options.share = options.share or SHARES
    return options


def share(text: str) -> float:
    """Parses a share above 0, up to 1."""
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share: give more than 0, at most 1")
    return value


def workloads(options: argparse.Namespace, info: View) -> list[Workload]:
    """Returns the trace, and a Zipf workload with its footprint, rate, and share of reads."""
    footprint = info.footprint_bytes // BLOCK * BLOCK
    trace = Workload("trace", {"kind": "trace", "file": options.trace}, footprint)
    if options.theta == 0:
        return [trace]
    zipf = {
        "kind": "zipf",
        "theta": options.theta,
        "footprint": f"{footprint} B",
        "read_share": info.reads / (info.reads + info.writes),
        "requests": info.reads + info.writes,
        "arrival": {"kind": "poisson", "rate": f"{info.records / info.duration_s} Hz"},
    }
    return [trace, Workload(f"zipf {options.theta:g}", zipf, footprint)]


def simulate(options: argparse.Namespace, workload: Workload, share: float, cache: Cache) -> Result:
    """Simulates one cache with one workload."""
    part = max(1, round(share * workload.footprint / PARTS / BLOCK)) * BLOCK
    levels = [
        {
            "device": {"preset": preset, "capacity": f"{parts * part} B"},
            "policy": options.policy,
        }
        for parts, preset in ((cache.pcm, "pcm_ssd"), (cache.flash, "emlc_ssd"))
        if parts
    ]
    scenario = {
        "schema": 1,
        "name": cache.name,
        "workload": workload.table,
        "stack": {
            "kind": "server_cache",
            "block": f"{BLOCK} B",
            "inclusion": "exclusive",
            "level": levels,
            "backing": {"preset": "network_store"},
        },
        "run": {"seed": 1, "warm_up": options.warm_up},
    }
    return Result(workload.name, share, cache, part, nacre.run(scenario, progress=True))


def show(options: argparse.Namespace, info: View, results: Sequence[Result]) -> None:
    """Prints a table for each workload and size, and names the fastest cache."""
    footprint = info.footprint_bytes / 2**20
    print(f"trace {options.trace}: {info.records:,} requests, {100 * info.read_share:.0f} % reads,")
    print(f"{footprint:,.0f} MiB touched; a write goes through to the network store")
    for (workload, size), group in grouped(results).items():
        capacity = PARTS * group[0].part_bytes / 2**20
        print(
            f"\n{workload}: all-flash cache of {capacity:,.0f} MiB, {100 * size:g} % of the blocks"
        )
        print(f"  {'cache':<18}{'cost':>7}{'hits':>8}{'PCM':>8}{'flash':>8}", end="")
        print(f"{'mean':>10}{'p50':>10}{'p95':>10}{'p99':>10}")
        for result in group:
            print_row(result)
        best = min(group, key=lambda result: result.read_us("mean"))
        print(f"  -> {verdict(best, group[0])}")


def grouped(results: Sequence[Result]) -> dict[tuple[str, float], list[Result]]:
    """Groups the results by workload and size."""
    groups: dict[tuple[str, float], list[Result]] = {}
    for result in results:
        groups.setdefault((result.workload, result.share), []).append(result)
    return groups


def print_row(result: Result) -> None:
    """Prints one line of the table."""
    pcm, flash = result.hit_ratios()
    cost = "-" if result.record.cost is None else f"{result.record.cost:.4g}"
    print(f"  {result.cache.name:<18}{cost:>7}", end="")
    print("".join(f"{100 * ratio:>6.1f} %" for ratio in (pcm + flash, pcm, flash)), end="")
    print("".join(f"{result.read_us(name):>7,.0f} us" for name in ("mean", "p50", "p95", "p99")))


def verdict(best: Result, flash: Result) -> str:
    """Returns a sentence about the cache with the lowest mean read latency."""
    if best is flash:
        return "flash alone reads fastest on average"
    less = 1 - best.read_us("mean") / flash.read_us("mean")
    return f"{best.cache.name} reads fastest on average, {100 * less:.0f} % below flash alone"


def write(out: Path, results: Sequence[Result]) -> None:
    """Saves the records and the figures."""
    from nacre import figures

    panels: dict[str, dict[str, dict[str, nacre.results.Record]]] = {}
    for (workload, size), group in grouped(results).items():
        records = {result.cache.name: result.record for result in group}
        name = f"{workload}-{size:g}".replace(" ", "-")
        for cache, record in records.items():
            record.save(out / "records" / name / cache.replace(" + ", "+").replace(" ", "-"))
        figures.save(nacre.compare(records).plot.latency("read"), out / f"latency-{name}")
        panel = f"all-flash cache of {100 * size:g} % of the blocks"
        panels.setdefault(workload, {})[panel] = records
    for workload, groups in panels.items():
        title = figures.title(
            headline([result for result in results if result.workload == workload]),
            f"write-through server caches over a network store, {workload} requests",
        )
        figure = figures.mean_latency(groups, part_of, PARTS_OF_BAR, title)
        figures.save(figure, out / f"mean-latency-{workload.replace(' ', '-')}")
    print(f"\nrecords and figures are in {out}", file=sys.stderr)


def part_of(name: str, activity: Activity) -> str:
    """Returns the part of the bar of the cache `name` to which an activity belongs."""
    if activity.component.startswith("stack.backing"):
        return "network store"
    has_pcm = next(cache.pcm for cache in CACHES if cache.name == name) > 0
    return "PCM" if has_pcm and activity.component.startswith("stack.level[0]") else "flash"


def headline(results: Sequence[Result]) -> str:
    """Returns the headline of the figure."""
    flash = {r.share: r.read_us("mean") for r in results if not r.cache.pcm}
    best = min(results, key=lambda result: result.read_us("mean") / flash[result.share])
    less = 100 * (1 - best.read_us("mean") / flash[best.share])
    if less <= 0:
        return "Flash alone has the fastest reads at every size"
    return f"At equal cost, {best.cache.name} reads in up to {less:.0f} % less time than flash"


if __name__ == "__main__":
    sys.exit(main())
