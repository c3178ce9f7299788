"""Documents that show themselves: in a line at the prompt, as tables in a notebook."""

from __future__ import annotations

from nacre.base.table import Table
from nacre.base.text import (
    count,
    duration,
    numbered,
    size,
)
from nacre.base.toml import setting
from nacre.base.view import View
from nacre.results.origins import assumed


class TraceInfo(View):
    """What `nacre.trace.info` found out about a trace; its shape is in `profile`."""

    __slots__ = ()

    def __repr__(self) -> str:
        amount = size(self.footprint_bytes)
        span = f" in {duration(self.duration_s * 1e9)}" if self.duration_s else ""
        damage = f", {count(self.bad_records)} damaged" if self.bad_records else ""
        requests = f"{numbered(self.records, 'request')}{span}, {count(self.reads)} of them reads"
        return f"<nacre.TraceInfo {self.format}: {requests}; {amount} touched{damage}>"

    def _repr_html_(self) -> str:
        from nacre.pages.html import paragraphs, table
        from nacre.words.traces import request_sizes, trace_facts, trace_shape

        tables = [trace_facts(self), trace_shape(self), request_sizes(self)]
        notes = paragraphs(f"note: {line}" for line in self.warnings)
        return "".join(table(each) for each in tables if each.rows) + notes


class CheckedScenario(View):
    """Every value of a scenario without mistakes, with its origin: what `nacre.check` returns."""

    __slots__ = ()

    def table(self) -> Table:
        """A row per value: what it is, and where it comes from."""
        rows = [
            [o.path, setting(o.value), o["from"], o.confidence, o.source or o.place]
            for o in self.origins
        ]
        columns = ["value", "is", "from", "confidence", "source"]
        return Table("", columns, [False] * 5, rows, prose=["is", "source"])

    def __repr__(self) -> str:
        unknown = len(assumed(self.origins))
        return (
            f"<nacre.CheckedScenario {self.name}: no mistakes; {len(self.origins)} values,"
            f" {unknown} assumed>"
        )

    def _repr_html_(self) -> str:
        from nacre.pages.html import paragraphs, table

        unknown = len(assumed(self.origins))
        said = f"{self.name}: no mistakes; {len(self.origins)} values, {unknown} assumed"
        return paragraphs([said]) + table(self.table())
