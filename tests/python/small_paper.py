"""A paper with two figures and known results, for tests of reproductions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from nacre.cli import reproduce as command
from nacre.papers import work
from nacre.papers.result import Reproduction
from nacre.papers.running.runs import Runs
from nacre.papers.running.target import Target
from nacre.studies.engines.local import Local
from nacre.studies.engines.task import Base, Outcome, Task
from nacre.studies.keep.store import Memory

SCENARIO = """\
schema = 1
name = "small"
[workload]
kind = "uniform"
footprint = "1 MiB"
requests = 500
arrival = { kind = "closed", queue_depth = 1 }
[stack]
kind = "measured"
read = "10 us"
write = "20 us"
"""
PLAN = """\
[[runs]]
name = "depths"
scenario = "small.toml"
seconds = 2
[[runs.axis]]
name = "depth"
path = "workload.arrival.queue_depth"
values = [1, 2, 4]

[[runs]]
name = "alone"
scenario = "small.toml"
set = { "workload.arrival.queue_depth" = 1 }
"""
CLAIMS = """\
title = "A small paper"

[[claim]]
id = "alone"
figure = "fig1"
metric = "mean read latency"
published = 10_000
unit = "ns"
kind = "exact"
class = "arithmetic"
because = "the time of a read is an input"
source = "section 1"
measure = "latency.read.mean_ns"
of = { runs = "depths", depth = 1 }

[[claim]]
id = "rises"
figure = "fig1"
metric = "latency at depth 4 over depth 1"
published = "rises with depth"
kind = "trend"
class = "trend"
source = "section 2"
check = "ratio"
above = 1
measure = "latency.read.mean_ns"
of = { runs = "depths", depth = 4 }
to = { runs = "depths", depth = 1 }

[[claim]]
id = "rate"
figure = "rate"
metric = "requests a second"
published = 100_000
unit = "/s"
kind = "close"
class = "prediction"
source = "section 3"
measure = "throughput.iops"
of = { runs = "alone" }

[[claim]]
id = "contradicted"
figure = "rate"
metric = "requests a second, elsewhere"
published = 50_000
unit = "/s"
kind = "unclosed"
class = "unclosed"
note = "section 4 disagrees with section 3"
source = "section 4"
measure = "throughput.iops"
of = { runs = "alone" }

[figure.fig1]
title = "Latency rises with depth"
of = { runs = "depths" }
x = "depth"
measure = "latency.read.mean_ns"
y_title = "mean (ns)"

[figure.rate]
form = "bars"
title = "Requests a second"
"""


def written(folder: Path, claims: str = CLAIMS, plan: str = PLAN) -> Path:
    paper = folder / "tiny"
    paper.mkdir(parents=True, exist_ok=True)
    (paper / "claims.toml").write_text(claims)
    (paper / "plan.toml").write_text(plan)
    (paper / "small.toml").write_text(SCENARIO)
    return folder


def reproduced(folder: Path, name: str | None = None) -> Reproduction:
    return work.conduct(work.targets(name, folder), watch=None)


class Counting(Local):
    """Local engine that records the keys of its tasks."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        self.ran: list[str] = []

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        self.ran += [task.key for task in tasks]
        yield from super().outcomes(base, tasks)


@contextmanager
def running() -> Iterator[Runs]:
    with Local() as engine:
        yield Runs(engine, Memory(None))


def status(targets: Sequence[Target], out: Path | None = None, *, as_json: bool = False) -> int:
    try:
        command.carry_out(list(targets), out, as_json=as_json)
    except typer.Exit as end:
        return end.exit_code
    return 0
