"""Converts fio job files into scenarios, and lists options without an equivalent.

Sources: the fio manual (version 3), "Job file format" and "Job file parameters". For behavior that
the manual does not describe: `parse.c`, `init.c`, and `io_u.c`. A job describes the requests and
not the device, so the scenario names a device of the catalog.

| module | holds |
|---|---|
| `grammar` | sections, comments, settings; what `kb_base` each was read under |
| `numbers` | sizes, counts, and times as fio reads them |
| `options` | names of options: aliases, those without an effect here, I/O engines |
| `reader` | the settings of one job, each taken once, and its problems |
| `engine` | the I/O engine: synchronous or not, device or file, through the page cache or not |
| `pattern` | which requests: direction, sizes, region, distribution |
| `zones` | writes of zones as a log |
| `pace` | when: depth, rate, pauses |
| `job` | a whole job as the tables of a scenario |
| `write` | these tables as TOML |
"""

from nacre.interop.fio.job import STACK, FioScenario, scenario

__all__ = ["STACK", "FioScenario", "scenario"]
