"""Converts fio job files into scenarios, and lists options without an equivalent.

Sources: the fio manual (version 3), "Job file format" and "Job file parameters". For behavior that
the manual does not describe: `parse.c`, `init.c`, and `io_u.c`. A job describes the requests and
not the device, so the scenario names a device of the catalog.

| module | content |
|---|---|
| `grammar` | sections, comments, and settings, each with its `kb_base` |
| `numbers` | sizes, counts, and times as fio reads them |
| `options` | names of options: aliases, options without an effect on requests, I/O engines |
| `reader` | the settings of one job, each of which is read once, and their problems |
| `engine` | the I/O engine: synchronous or not, device or file, with page cache or not |
| `pattern` | the requests: directions, sizes, region, and distribution |
| `zones` | writes to zones as a log workload |
| `pace` | the times of the requests: queue depth, rates, and pauses |
| `parts` | the requests as a workload |
| `job` | a whole job as a scenario |
| `write` | the scenario as TOML |
"""

from nacre.interop.fio.job import STACK, FioScenario, scenario

__all__ = ["STACK", "FioScenario", "scenario"]
